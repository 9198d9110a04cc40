import { number } from "../kit/text.js";
import { ELEMENTS } from "../maths/molecule.js";

export const MOST_ROUNDS = 6;
/** In the list of graphs: one that began as a molecule and has been changed. */
export const CHANGED = -2;

const NAMES = "carbon nitrogen oxygen fluorine phosphorus sulfur chlorine bromine iodine".split(
  " ",
);
/** @type {[number, string][]} */
export const ORDERS = [
  [0, "none"],
  [1, "single"],
  [2, "double"],
  [3, "triple"],
  [4, "aromatic"],
];
/** @type {[string, string][]} */
export const LAYERS = [
  ["sum", "sum"],
  ["normalized", "normalized (GCN)"],
  ["attention", "attention"],
];

/** @type {[string, string][]} */
export const RINGS = [
  ["known", "elements"],
  ["colours", "WL colour"],
];
/** @type {[string, string]} */
export const PARTS = ["parts", "part in answer"];
/** @type {[string, string][]} */
export const DRAGS = [
  ["moves", "moves it"],
  ["bonds", "draws a bond"],
];

/** @param {string} layer */
export const layerName = (layer) => LAYERS.find(([name]) => name === layer)[1];
export const RULES = {
  sum: "In each round an atom adds all that its neighbours know to what it knows.",
  normalized:
    "A message counts 1/√(d̂ᵤ d̂ᵥ), where d̂ is an atom’s number of neighbours and one more.",
  attention:
    "How much a message counts is a softmax over neighbours and the atom itself; what is " +
    "no carbon scores 2, carbon 0.",
};
export const HINTS = {
  moves:
    "Click an atom to see what it has heard of; click a bond, or two atoms, to change their bond. " +
    "With the keyboard: Tab to an atom, arrow keys move it, Delete rubs it out.",
  bonds:
    "Drag from atom to atom for a bond, again for a double one; into the open for a new atom. " +
    "Click in the open for an atom alone.",
};

/** @param {string} symbol */
export const elementName = (symbol) => NAMES[ELEMENTS.indexOf(symbol)];

export const many = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** What a graph is called, which is no longer the molecule that it was once it is changed. */
export const graphName = ({ drawing, changed }) =>
  changed ? `your own, from ${drawing.name}` : drawing.name || "your own";

/** An atom as its reader counts it. */
export const atomName = ({ drawing }, i) => `${drawing.element[i]}${i + 1}`;

/** A number that is added: with its sign. @param {number} value */
export const signed = (value) => `${value < 0 ? "" : "+"}${number(value)}`;

/** What a hand needs to know of an atom that nobody sees. */
export function spokenAtom(now, i) {
  const { element, hydrogens, charge } = now.drawing;
  const bonds = now.bondsAt[i].map(([j, order]) => `${ORDERS[order][1]} to ${atomName(now, j)}`);
  const parts = [
    hydrogens[i] && `${many(hydrogens[i], "hydrogen")}`,
    charge[i] && `charge ${charge[i] > 0 ? "plus" : "minus"} one`,
    bonds.length ? `bonds: ${bonds.join(", ")}` : "no bonds",
    now.rings === "colours" && `colour ${now.colours[i] + 1}`,
    now.parts.length > 0 && `adds ${signed(now.parts[i])}`,
    now.far[i] <= now.rounds && i !== now.at && `heard by ${atomName(now, now.at)}`,
  ];
  return `atom ${i + 1}, ${[elementName(element[i]), ...parts.filter(Boolean)].join(", ")}`;
}

/** Whether messages are on their way. */
export const inTheAir = ({ playing, flight, landing }) => landing === 1 && (playing || flight > 0);

/** Amounts of elements, largest first; those of the sum are numbers of walks. */
function listed(kinds, amounts, layer) {
  const told = kinds
    .map((kind, k) => ({ kind, amount: amounts[k] }))
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => other.amount - one.amount);
  return told
    .map(
      ({ kind, amount }) =>
        `${number(amount, layer === "sum" ? 0 : 2)}\u00a0×\u00a0${elementName(kind)}`,
    )
    .join(", ");
}

/** What the chosen atom hears in the coming round: what its neighbours know, as it counts. */
export function heard({ edges, weights, known, at }) {
  return known[at].map((_, k) =>
    edges.reduce((sum, [s, t], e) => (t === at ? sum + weights.edge[e] * known[s][k] : sum), 0),
  );
}

/** What happens in the picture, for one who sees it first. */
export function tale(now) {
  const { at, rounds, rings, kinds, edges, layer, far } = now;
  const what = rings === "colours" ? "its colour" : "what it knows";
  if (!far.length) return "";
  if (now.landing < 1)
    return `An oxygen atom joins ${atomName(now, at)}. Nobody has heard of it yet.`;
  if (inTheAir(now)) {
    const round = `Round ${rounds + 1}:`;
    const lead = `${round} each atom tells its neighbours ${what}.`;
    const from = edges.filter(([, t]) => t === at).map(([s]) => atomName(now, s));
    if (at < 0 || rings === "colours" || !from.length) return lead;
    const amounts = listed(kinds, heard(now), layer);
    const told = `${atomName(now, at)} hears ${amounts} from ${from.join(", ")}`;
    return `${round} ${told}${layer === "sum" ? ", once for each way it came" : ""}.`;
  }
  if (rounds === 0) return `Each atom knows only what it is. Press Step: it tells its neighbours.`;
  const told = {
    known: "A ring has the colours of all elements that its atom has heard of",
    colours: "Atoms of one colour have heard the same",
    parts: "An arc is as long as what its atom adds to the answer",
  };
  const most = rounds < MOST_ROUNDS ? "" : ` ${MOST_ROUNDS} rounds are the most.`;
  return `After ${many(rounds, "round")}. ${told[rings]}.${most}`;
}

/** What the figure asks. */
export function question({ drawing, facts, other, molecule }) {
  if (!drawing.element.length) return "Click into the empty field: your first atom.";
  if (other >= 0) return "Can messages tell the two molecules apart?";
  if (!facts) return "How far has the news come after each round?";
  if (molecule < 0) return "Your own molecule: does it dissolve?";
  return "What does one atom change?";
}

/** What chemistry would not allow. */
export const complaint = ({ drawing, strange }) =>
  strange
    .map(({ i, given, most }) => `${drawing.element[i]}${i + 1} has ${given} bonds of ${most}.`)
    .join(" ");
