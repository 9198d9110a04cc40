import { upTo } from "./numerics.js";

/**
 * @typedef {object} Drawing a molecule, or a graph of one's own; a list has an entry for each atom
 * @property {string} name of the molecule that it began as
 * @property {string[]} element
 * @property {number[]} hydrogens
 * @property {number[]} charge
 * @property {number[][]} place
 * @property {number[][]} bonds first atom, second atom, order: 1, 2, 3, or 4 for aromatic
 */

export const ELEMENTS = ["C", "N", "O", "F", "P", "S", "Cl", "Br", "I"];
const VALENCES = { C: [4], N: [3], O: [2], P: [3, 5], S: [2, 4, 6] };
const MASS = [12.011, 14.007, 15.999, 18.998, 30.974, 32.06, 35.45, 79.904, 126.904];
const HYDROGEN_MASS = 1.008;
const AROMATIC = 4;

/** @param {string} element @param {number} charge */
const valences = (element, charge) =>
  (VALENCES[element] ?? [1]).map((v) => v + (element === "C" ? -Math.abs(charge) : charge));

/** The bonds at each atom, as its neighbour and the order. @param {Drawing} drawing */
export function neighbours({ element, bonds }) {
  const at = element.map(() => /** @type {number[][]} */ ([]));
  for (const [i, j, order] of bonds) {
    at[i].push([j, order]);
    at[j].push([i, order]);
  }
  return at;
}

/**
 * How many electrons an atom gives to its bonds, and what chemistry allows. An aromatic atom gives
 * one for each aromatic bond, and one to the ring if it has one left.
 * @param {Drawing} drawing
 * @param {number} i
 */
export function valence(drawing, i) {
  const allowed = valences(drawing.element[i], drawing.charge[i]);
  const orders = neighbours(drawing)[i].map(([, order]) => order);
  const given = orders.reduce((sum, order) => sum + (order === AROMATIC ? 1 : order), 0);
  const toTheRing = orders.includes(AROMATIC) && given < allowed[0] ? 1 : 0;
  return { given: given + toTheRing, allowed };
}

/** The hydrogens that fill an atom's valence. @param {Drawing} drawing @param {number} i */
export function hydrogensOf(drawing, i) {
  const { given, allowed } = valence(drawing, i);
  return (allowed.find((v) => v >= given) ?? given) - given;
}

/** The atoms with more bonds than chemistry allows. @param {Drawing} drawing */
export const forbidden = (drawing) =>
  upTo(drawing.element.length).filter((i) => {
    const { given, allowed } = valence(drawing, i);
    return given > allowed[allowed.length - 1];
  });

/**
 * How many bonds part each atom from a first one; infinitely many if nothing joins them.
 * @param {number[][][]} bonds as `neighbours` gives them
 * @param {number} first
 * @param {number[]} [without] a bond that is not gone along
 */
export function distances(bonds, first, without = []) {
  const far = bonds.map(() => Infinity);
  far[first] = 0;
  const waiting = [first];
  for (const i of waiting) {
    for (const [j] of bonds[i]) {
      if (far[j] < Infinity || (without.includes(i) && without.includes(j))) continue;
      far[j] = far[i] + 1;
      waiting.push(j);
    }
  }
  return far;
}

/** Whether each atom lies on a ring: on a bond that is no bridge. @param {Drawing} drawing */
export function inRing(drawing) {
  const at = neighbours(drawing);
  const ring = at.map(() => false);
  for (const [i, j] of drawing.bonds) {
    if (distances(at, i, [i, j])[j] < Infinity) ring[i] = ring[j] = true;
  }
  return ring;
}

/** In grams for a mole. @param {Drawing} drawing */
export const molarMass = ({ element, hydrogens }) =>
  element.reduce(
    (sum, symbol, i) => sum + MASS[ELEMENTS.indexOf(symbol)] + HYDROGEN_MASS * hydrogens[i],
    0,
  );
