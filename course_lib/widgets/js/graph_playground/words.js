import { ELEMENTS } from "../maths/molecule.js";
import { number } from "../text.js";

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
  ["known", "elements it knows of"],
  ["colours", "Weisfeiler–Lehman colour"],
];
/** @type {[string, string]} */
export const PARTS = ["parts", "part in the answer"];
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

/** What chemistry would not allow. */
export const complaint = ({ drawing, strange }) =>
  strange
    .map(({ i, given, most }) => `${drawing.element[i]}${i + 1} has ${given} bonds of ${most}.`)
    .join(" ");
