// What follows from the state.

import { directed, passed } from "../maths/graph_layers.js";
import { distances, ELEMENTS, forbidden, neighbours, without } from "../maths/molecule.js";
import { answer, contributions, unpackNetwork } from "../maths/molecule_network.js";
import { clamp, upTo } from "../maths/numerics.js";
import { classes, histogram, weisfeilerLehman } from "../maths/weisfeiler_lehman.js";
import { EMPTY, orderOf } from "./editing.js";
import { fieldOf, partFor, swung } from "./picture.js";
import { CHANGED, MOST_ROUNDS, many } from "./words.js";

const INTEREST = 2; // of attention, in whatever is no carbon
const ARRIVAL = 0.75;
const USUAL_WIDTH = 560;

const chemistryOf = ({ place, name, ...chemistry }) => JSON.stringify(Object.values(chemistry));

/** All that does not depend on where atoms are drawn. */
function factsOf(drawing, layer) {
  const kinds = ELEMENTS.filter((symbol) => drawing.element.includes(symbol));
  const x = drawing.element.map((symbol) => kinds.map((kind) => (kind === symbol ? 1 : 0)));
  const interest = kinds.map((kind) => (kind === "C" ? 0 : INTEREST));
  const edges = directed(drawing.bonds);
  const history = passed(layer, x, edges, interest, MOST_ROUNDS + 1);
  return { kinds, edges, history, bondsAt: neighbours(drawing), strange: forbidden(drawing) };
}

/** The colours of both molecules in every round, from one common beginning. */
function comparison(drawing, another) {
  const here = drawing.element.length;
  const bonds = [
    ...neighbours(drawing),
    ...neighbours(another).map((row) => row.map(([j, order]) => [j + here, order])),
  ];
  const rounds = weisfeilerLehman([...drawing.element, ...another.element], bonds);
  return rounds.map((colours) => [colours.slice(0, here), colours.slice(here)]);
}

/**
 * What the colours say up to this round, and whether later rounds can say anything else: a reader is
 * told so once a round has been seen to bring no new colour.
 */
function verdictOf(pairs, rounds, other, name) {
  const counts = pairs.map(([here]) => classes(here));
  const now = counts[Math.min(rounds, counts.length - 1)];
  const told = `After ${many(rounds, "round")}: ${many(now, "colour")}`;
  const settled = pairs.length - 1;
  const rests = rounds > settled || (rounds === settled && rounds >= MOST_ROUNDS);
  if (other < 0) return { verdict: `${told}${rests ? ", and never more" : ""}.` };
  const differs = pairs.findIndex(([a, b]) => {
    const most = 1 + Math.max(...a, ...b);
    return String(histogram(a, most)) !== String(histogram(b, most));
  });
  const apart = differs >= 0 && differs <= rounds;
  const alike = `As many of each as in ${name}, `;
  const finding = apart
    ? `From round ${differs} on, ${name} has other numbers: the two are told apart.`
    : !rests
      ? `${alike}so far.`
      : `${alike}in this round and in every other: no message passing that begins with the ` +
        "elements can tell the two apart.";
  const decided = apart || rests || rounds >= MOST_ROUNDS;
  return { verdict: `${told}. ${finding}`, decided };
}

/** The atom to bond another one with: the chosen one, or else a neighbour, or else any. */
function mateOf(bondsAt, at, partner) {
  const others = upTo(bondsAt.length).filter((i) => i !== at);
  if (at < 0 || !others.length) return -1;
  return others.includes(partner) ? partner : (bondsAt[at][0]?.[0] ?? others[0]);
}

/** What the network says of the drawing, of the molecule that it was, and without an atom. */
function answers(
  { drawing, facts, weights, molecules, rings, other },
  ui,
  { chemistry, molecule, at },
) {
  const { memo } = ui;
  if (!facts || !drawing.element.length) return { said: null, parts: [] };
  const network = memo("network", [weights], () => unpackNetwork(facts, weights));
  const of = (name, given, inputs) =>
    memo(name, [network, ...inputs], () => answer(network, given));
  const said = of("answer", drawing, [chemistry]);
  const original = molecules[molecule]?.drawing;
  const another = molecules[other]?.drawing;
  return {
    said,
    before: original && of("before", original, [original]),
    elsewhere: another && of("elsewhere", another, [another]),
    ...(drawing.element.length > 1 && at >= 0
      ? {
          without: memo("without", [chemistry, network, at], () =>
            answer(network, without(drawing, at)),
          ),
        }
      : {}),
    parts:
      rings === "parts" && drawing.element.length > 1
        ? memo("parts", [chemistry, network], () => contributions(network, drawing))
        : [],
  };
}

export function derive(now, ui) {
  const { drawing, layer, rounds, atom, partner, other, molecules, flight } = now;
  const landing = now.playing ? now.landing : 1;
  const chemistry = chemistryOf(drawing);
  const { history, ...facts } = ui.memo("facts", [chemistry, layer], () => factsOf(drawing, layer));
  const atoms = drawing.element.length;
  const at = atom < atoms ? atom : -1;
  const mate = mateOf(facts.bondsAt, at, partner);
  const another = molecules[other]?.drawing ?? EMPTY;
  const pairs = ui.memo("pairs", [chemistry, another], () => comparison(drawing, another));
  const [colours, otherColours] = pairs[Math.min(rounds, pairs.length - 1)];
  // Two that are compared are as large as both pictures allow.
  const part = other < 0 ? 1 : partFor([drawing, another]);
  const molecule = molecules.findIndex((entry) => entry.drawing.name === drawing.name);
  const changed = molecule >= 0 && chemistryOf(molecules[molecule].drawing) !== chemistry;
  return {
    ...facts,
    ...answers(now, ui, { chemistry, molecule, at }),
    ...{ at, mate, molecule, changed, landing, colours, otherColours },
    graph: changed ? CHANGED : molecule,
    // A film tells the answer when the news has gone as far as the network listens.
    waiting: now.awaited && rounds < now.facts?.layers,
    known: history.known[rounds],
    next: history.known[rounds + 1],
    weights: history.weights[rounds],
    arrived: clamp((flight - ARRIVAL) / (1 - ARRIVAL), 0, 1),
    far: at < 0 ? drawing.element.map(() => Infinity) : distances(facts.bondsAt, at),
    found: 1 + Math.max(-1, ...colours, ...otherColours),
    otherBonds: neighbours(another),
    ...verdictOf(pairs, rounds, other, another.name),
    place: swung(fieldOf(drawing, ui.width("graph", USUAL_WIDTH), part), facts.bondsAt, landing),
    element: drawing.element[at],
    order: mate < 0 ? 0 : orderOf(drawing, at, mate),
  };
}
