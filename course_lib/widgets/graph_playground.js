import { plain } from "./js/array.js";
import { button, choices, select, slider } from "./js/controls.js";
import {
  added,
  bonded,
  freePlace,
  moved,
  orderOf,
  removed,
  turnedInto,
} from "./js/graph_playground/editing.js";
import { knowledge, refinement } from "./js/graph_playground/panels.js";
import {
  classColour,
  disc,
  elementColour,
  fieldOf,
  letterOf,
  messages,
  receptiveField,
  skeleton,
} from "./js/graph_playground/picture.js";
import {
  atomName,
  complaint,
  elementName,
  LAYERS,
  many,
  ORDERS,
  spokenAtom,
} from "./js/graph_playground/words.js";
import { directed, passed } from "./js/maths/graph_layers.js";
import { distances, ELEMENTS, forbidden, neighbours } from "./js/maths/molecule.js";
import { clamp, upTo } from "./js/maths/numerics.js";
import { classes, histogram, weisfeilerLehman } from "./js/maths/weisfeiler_lehman.js";
import { dragging, pointIn } from "./js/plane.js";
import { playButton, prefersStillness } from "./js/play.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const [MOST_ATOMS, MOST_ROUNDS] = [24, 6];
const INTEREST = 2; // of attention, in whatever is no carbon
const ROUND_SECONDS = 1.2;
const ARRIVAL = 0.75;
const KEY_STEP = 0.1;
const EMPTY = { name: "", element: [], hydrogens: [], charge: [], place: [], bonds: [] };

const chemistryOf = ({ place, name, ...chemistry }) => JSON.stringify(Object.values(chemistry));

// What follows from the state --------------------------------------------------------------------

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

function verdictOf(pairs, rounds, other, name) {
  const counts = pairs.map(([here]) => classes(here));
  const told = `After ${many(rounds, "round")}: ${many(counts[Math.min(rounds, counts.length - 1)], "colour")}`;
  if (other < 0) return `${told}, and never more than ${counts.at(-1)}.`;
  const differs = pairs.findIndex(([a, b]) => {
    const most = 1 + Math.max(...a, ...b);
    return String(histogram(a, most)) !== String(histogram(b, most));
  });
  return differs < 0
    ? `${told}. As many of each as in ${name}, in this round and in every other: no message ` +
        "passing that begins with the elements can tell the two apart."
    : `${told}. From round ${differs} on, ${name} has other numbers: the two are told apart.`;
}

function derive({ drawing, layer, rounds, atom, partner, other, molecules, flight }, ui) {
  const chemistry = chemistryOf(drawing);
  const { history, ...facts } = ui.memo("facts", [chemistry, layer], () => factsOf(drawing, layer));
  const atoms = drawing.element.length;
  const [at, mate] = [atom, partner].map((i) => (i < atoms ? i : -1));
  const another = molecules[other]?.drawing ?? EMPTY;
  const pairs = ui.memo("pairs", [chemistry, another], () => comparison(drawing, another));
  const [colours, otherColours] = pairs[Math.min(rounds, pairs.length - 1)];
  const molecule = molecules.findIndex((entry) => entry.drawing.name === drawing.name);
  return {
    ...facts,
    ...{ at, mate: mate === at ? -1 : mate, molecule, colours, otherColours },
    known: history.known[rounds],
    next: history.known[rounds + 1],
    weights: history.weights[rounds],
    arrived: clamp((flight - ARRIVAL) / (1 - ARRIVAL), 0, 1),
    far: at < 0 ? drawing.element.map(() => Infinity) : distances(facts.bondsAt, at),
    found: 1 + Math.max(-1, ...colours, ...otherColours),
    otherBonds: neighbours(another),
    changed: molecule >= 0 && chemistryOf(molecules[molecule].drawing) !== chemistry,
    verdict: verdictOf(pairs, rounds, other, another.name),
    place: fieldOf(drawing, ui.width("graph", 560)),
    element: drawing.element[at],
    order: mate < 0 ? 0 : orderOf(drawing, at, mate),
  };
}

// What the reader does ---------------------------------------------------------------------------

/** Chooses an atom; the one before it is now the one to bond it with. */
function choose(ui, i) {
  if (ui.now.at !== i) ui.set({ atom: i, partner: ui.now.at });
}

function add(ui, place, to) {
  const { drawing } = ui.now;
  const last = drawing.element.length;
  if (last >= MOST_ATOMS)
    return ui.set({ said: `${MOST_ATOMS} atoms are all that fit; delete one first.` });
  return ui.set({ drawing: added(drawing, place, to), atom: last, partner: to, said: "" });
}

function erase(ui) {
  const { drawing, at, mate } = ui.now;
  const left = mate > at ? mate - 1 : mate;
  const atom = left < 0 ? Math.min(at, drawing.element.length - 2) : left;
  ui.set({ drawing: removed(drawing, at), atom, partner: -1, said: "" });
}

const bond = (ui, i, j, order) =>
  ui.set({ drawing: bonded(ui.now.drawing, i, j, order), atom: j, partner: i });

/** Ends a line that was drawn from an atom: at another one, in the open, or where it began. */
function drop(ui) {
  const { pen, place, drawing } = ui.now;
  if (!pen) return;
  ui.set({ pen: null });
  const near = ([x, y]) => Math.hypot(x - pen.to[0], y - pen.to[1]) < 1.3 * place.reach;
  const target = place.points.findIndex(near);
  if (target < 0) add(ui, place.field.toData(pen.to), pen.from);
  else if (target !== pen.from)
    bond(ui, pen.from, target, (orderOf(drawing, pen.from, target) % 4) + 1);
}

function gripOf(ui, i) {
  const move = (place) => ui.set({ drawing: moved(ui.now.drawing, i, place) });
  const grip = dragging({
    moveTo: (pixel) =>
      ui.now.drag === "moves"
        ? move(ui.now.place.field.toData(pixel))
        : ui.set({ pen: { from: i, to: pixel } }),
    moveBy: (step) => move(ui.now.drawing.place[i].map((part, k) => part + KEY_STEP * step[k])),
  });
  return (event) => {
    if (event.type === "focus") choose(ui, i);
    else if (event.type === "pointerup") drop(ui);
    else grip(event);
  };
}

function enter(ui, i) {
  const drawing = ui.now.molecules[i]?.drawing ?? EMPTY;
  const atom = drawing.element.length ? 0 : -1;
  ui.set({ drawing, atom, partner: -1, said: "", flight: 0 });
}

// The picture ------------------------------------------------------------------------------------

/** What an atom shows: the elements that it knows of, or its colour. @returns {[number, string][]} */
function mixOf({ rings, kinds, known, next, arrived, colours }, i) {
  if (rings === "colours") return [[1, classColour(colours[i])]];
  return kinds.map((kind, k) => [
    (1 - arrived) * known[i][k] + arrived * next[i][k],
    elementColour(kind),
  ]);
}

function handle(now, ui, i) {
  const { place, at, mate, strange, drawing, rings } = now;
  const [grip, radius] = [gripOf(ui, i), place.radii[i]];
  const text = rings === "colours" ? String(now.colours[i] + 1) : letterOf(drawing, i);
  const ring = (r, ink, dashes) =>
    svg`<circle r=${r} fill="none" stroke=${ink} stroke-width="2" stroke-dasharray=${dashes}></circle>`;
  return svg`<g class="cw-handle cw-g-atom" tabindex="0" role="button"
    aria-roledescription="movable atom" aria-pressed=${i === at} aria-label=${spokenAtom(now, i)}
    transform="translate(${place.points[i].join(" ")})" @pointerdown=${grip} @pointermove=${grip}
    @pointerup=${grip} @keydown=${grip} @focus=${grip}>
    <circle r=${place.reach} fill="transparent"></circle>
    ${disc(mixOf(now, i), rings === "colours" ? place.radius : radius, text)}
    ${i === at ? ring(place.radius + 3, "var(--cw-ink)", "none") : nothing}
    ${i === mate ? ring(place.radius + 3, "var(--cw-ink)", "3 3") : nothing}
    ${strange.includes(i) ? ring(place.radius + 6, "var(--cw-warm)", "6 3") : nothing}
  </g>`;
}

function picture(now, ui) {
  const { place, drawing, pen, flight, playing, drag } = now;
  const { width, height, points, field } = place;
  const touch = (event) => {
    if (event.target.closest(".cw-handle")) return;
    const [i, j] = event.target.closest("[data-bond]")?.dataset.bond.split(" ").map(Number) ?? [];
    if (j !== undefined) ui.set({ atom: j, partner: i });
    else if (drag === "bonds") add(ui, field.toData(pointIn(event.currentTarget, event)), -1);
  };
  const way = prefersStillness() ? 0.5 : flight * flight * (3 - 2 * flight);
  return html`<div class="cw-layers" data-measure="graph" style="aspect-ratio: 4 / 3">
    <svg viewBox="0 0 ${width} ${height}" role="group" aria-label="Atoms and their bonds"
      data-flight=${flight} style=${drag === "bonds" ? "cursor: crosshair" : nothing} @click=${touch}>
      ${receptiveField(now)}${skeleton(drawing, now.bondsAt, place)}
      ${playing || flight ? messages(now, (i) => mixOf({ ...now, arrived: 0 }, i), way) : nothing}
      ${
        pen
          ? svg`<path d="M${points[pen.from].join(" ")}L${pen.to.join(" ")}"
          stroke="var(--cw-accent)" stroke-width="3" stroke-dasharray="6 4"></path>`
          : nothing
      }
      ${drawing.element.map((_, i) => handle(now, ui, i))}
    </svg>
  </div>`;
}

function transport(now, ui) {
  const line = { label: "Rounds", min: 0, max: MOST_ROUNDS };
  const begin = () => ui.set({ rounds: now.rounds % MOST_ROUNDS, single: false });
  const step = () => {
    ui.set({ single: true });
    ui.play(true);
  };
  return html`<div class="cw-controls cw-g-transport">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin })}
    ${button("Step", step, { disabled: now.rounds >= MOST_ROUNDS })}
    ${slider(ui, "rounds", { ...line, set: (rounds) => ui.set({ rounds, flight: 0 }) })}
  </div>`;
}

function editing(now, ui) {
  const { drawing, at, mate } = now;
  const others = upTo(drawing.element.length).filter((i) => i !== at);
  const element = {
    label: at < 0 ? "" : `Atom ${at + 1} is`,
    options: ELEMENTS.map((symbol) => [symbol, elementName(symbol)]),
    choose: (symbol) => ui.set({ drawing: turnedInto(drawing, at, symbol) }),
  };
  const partner = {
    label: "Bond to",
    options: [[-1, "no atom"], ...others.map((i) => [i, atomName(now, i)])],
  };
  const order = { label: "Its order", options: ORDERS, choose: (o) => bond(ui, mate, at, o) };
  const drags = {
    label: "Dragging an atom",
    options: [
      ["moves", "moves it"],
      ["bonds", "draws a bond"],
    ],
  };
  return html`<div class="cw-controls cw-g-editing">
    ${at < 0 ? nothing : select(ui, "element", element)}
    ${at < 0 ? nothing : select(ui, "partner", partner)}
    ${mate < 0 ? nothing : select(ui, "order", order)}
    ${button("Add an atom", () => add(ui, freePlace(drawing, at), at))}
    ${button("Delete atom", () => erase(ui), { disabled: at < 0 })}
    ${choices(ui, "drag", drags)}
  </div>`;
}

function view(now, ui) {
  const molecules = now.molecules.map(({ drawing }, i) => [i, drawing.name]);
  const shown = [
    ["known", "the elements that it knows of"],
    ["colours", "its Weisfeiler–Lehman colour"],
  ];
  return html`<div class="cw-controls">
      ${select(ui, "molecule", {
        label: "Graph",
        options: [...molecules, [-1, "one of your own"]],
        choose: (i) => enter(ui, i),
      })}
      ${choices(ui, "layer", { label: "Layer", options: LAYERS })}
      ${choices(ui, "rings", { label: "Each atom shows", options: shown })}
    </div>
    <div class="cw-columns cw-g-columns">
      <div>${picture(now, ui)} ${transport(now, ui)} ${editing(now, ui)}
        <p class="cw-message">${now.said || complaint(now)}</p></div>
      <div>${knowledge(now)} ${refinement(now, ui)}</div>
    </div>`;
}

function words(now) {
  const { drawing, at, far, rounds } = now;
  const name = drawing.name || "A graph of your own";
  const heard = far.filter((steps) => steps <= rounds).length;
  const sight =
    at < 0 ? "" : ` ${atomName(now, at)} has heard of ${heard} of ${many(far.length, "atom")}.`;
  return `${name}${now.changed ? ", changed" : ""}.${sight} ${now.verdict} ${complaint(now)}`;
}

export default widget({
  label: "Graph playground: messages along the bonds of a molecule",
  name: "cw-graph",
  data: { molecules: plain },
  controls: Object.fromEntries(
    ["drawing", "layer", "rounds", "rings", "atom", "partner", "other", "drag"].map((n) => [
      n,
      plain,
    ]),
  ),
  local: { flight: 0, single: false, pen: null, said: "" },
  derive,
  view,
  words,
  began: ({ drawing, rounds, layer }) =>
    `${drawing.name || "your own graph"}, ${many(rounds, "round")}, ${layer}`,
  advance: ({ flight, rounds, single }, ui, seconds) => {
    const now = flight + seconds / ROUND_SECONDS;
    if (now < 1) return ui.set({ flight: now });
    ui.set({ rounds: Math.min(MOST_ROUNDS, rounds + 1), flight: 0 });
    return single || rounds + 1 >= MOST_ROUNDS ? ui.play(false) : undefined;
  },
});
