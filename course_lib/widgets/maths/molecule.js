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
const CHARGED = ["N", "O", "P", "S"];
const MASS = [12.011, 14.007, 15.999, 18.998, 30.974, 32.06, 35.45, 79.904, 126.904];
const HYDROGEN_MASS = 1.008;
const AROMATIC = 4;

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
 * The valences that an atom may have, and what its bonds take, each aromatic one `aromatic`.
 * @param {Drawing} drawing
 * @param {number} i
 */
function valence({ element, charge, bonds }, i) {
  const orders = bonds.filter((bond) => bond[0] === i || bond[1] === i).map((bond) => bond[2]);
  const add = CHARGED.includes(element[i]) ? charge[i] : 0;
  const places = (VALENCES[element[i]] ?? [1]).map((place) => place + add);
  const taken = (/** @type {number} */ aromatic) =>
    orders.reduce((sum, order) => sum + (order === AROMATIC ? aromatic : order), 0);
  return { places, taken, isAromatic: orders.includes(AROMATIC) };
}

/** The hydrogens beside an atom's bonds, by the usual rule. @param {Drawing} drawing @param {number} i */
export function freeValence(drawing, i) {
  const { places, taken, isAromatic } = valence(drawing, i);
  const place = (isAromatic ? places.slice(0, 1) : places).find((most) => most >= taken(1.5));
  return Math.floor((place ?? taken(1.5)) - taken(1.5));
}

/**
 * The drawing with as many hydrogens at the `touched` atoms as their bonds leave room for.
 * @param {Drawing} drawing
 * @param {number[]} touched
 */
export function filled(drawing, touched) {
  const hydrogens = drawing.hydrogens.map((count, i) =>
    touched.includes(i) ? freeValence(drawing, i) : count,
  );
  return { ...drawing, hydrogens };
}

/** The drawing without an atom. @param {Drawing} drawing @param {number} gone */
export function without(drawing, gone) {
  const [kept, touched] = [(_, i) => i !== gone, neighbours(drawing)[gone].map(([j]) => j)];
  const shifted = (i) => (i > gone ? i - 1 : i);
  const smaller = {
    ...drawing,
    element: drawing.element.filter(kept),
    hydrogens: drawing.hydrogens.filter(kept),
    charge: drawing.charge.filter(kept),
    place: drawing.place.filter(kept),
    bonds: drawing.bonds
      .filter(([i, j]) => i !== gone && j !== gone)
      .map(([i, j, order]) => [shifted(i), shifted(j), order]),
  };
  return filled(smaller, touched.map(shifted));
}

/**
 * The atoms with more bonds than chemistry allows, how many, and how many it allows. An aromatic
 * bond counts as one: the lone pair of a nitrogen may be the ring's.
 * @param {Drawing} drawing
 */
export function forbidden(drawing) {
  const counted = drawing.element.map((_, i) => {
    const { places, taken } = valence(drawing, i);
    return { i, given: taken(1), most: places[places.length - 1] };
  });
  return counted.filter(({ given, most }) => given > most);
}

/**
 * The distance of each atom from a first one in bonds; infinite if they are not connected.
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

/**
 * The features of each atom: its element, degree, hydrogens, charge, whether it has an
 * aromatic bond, whether it lies on a ring.
 * @param {Drawing} drawing
 */
export function atomFeatures(drawing) {
  const [bondsAt, ring] = [neighbours(drawing), inRing(drawing)];
  return drawing.element.map((symbol, i) => {
    const aromatic = bondsAt[i].some(([, order]) => order === AROMATIC);
    const counts = [bondsAt[i].length, drawing.hydrogens[i], drawing.charge[i]];
    return [...ELEMENTS.map((other) => Number(other === symbol)), ...counts, +aromatic, +ring[i]];
  });
}
