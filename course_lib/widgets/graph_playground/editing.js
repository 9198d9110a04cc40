// What the reader's hand does to a drawing: each function gives a new one.

import { filled } from "../maths/molecule.js";
import { clamp, upTo } from "../maths/numerics.js";

/** @typedef {import("../maths/molecule.js").Drawing} Drawing */

/** The half-sides of the field in which atoms are placed. */
export const REACH = [4, 3];
/** @type {Drawing} */
export const EMPTY = { name: "", element: [], hydrogens: [], charge: [], place: [], bonds: [] };
/** An atom at the rim is drawn whole, with what shines about it. */
const MARGIN = 0.55;
const DIRECTIONS = 24;
const USUAL_LENGTH = 1.1;
const [SMALLEST, LARGEST] = [8, 18];
/** So often atoms that are too near part; at first the held one stays where the hand is. */
const [SWEEPS, HELD_SWEEPS] = [200, 20];

/** @param {number[]} place */
const inside = (place) =>
  place.map((part, k) => {
    const rim = REACH[k] - MARGIN;
    return Number(Math.max(-rim, Math.min(rim, part)).toFixed(3));
  });

/** @returns {number} @param {number[]} a @param {number[]} b */
export const distance = ([x, y], [u, v]) => Math.hypot(x - u, y - v);

/** The length of a bond in the middle of all lengths. @param {Drawing} drawing */
export function bondLength({ place, bonds }) {
  const lengths = bonds.map(([i, j]) => distance(place[i], place[j])).sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || USUAL_LENGTH;
}

/** How large an atom is on a picture so wide, in pixels. @param {Drawing} drawing @param {number} width */
export const radiusOf = (drawing, width) =>
  clamp((0.25 * bondLength(drawing) * width) / (2 * REACH[0]), SMALLEST, LARGEST);

/**
 * The drawing with no two atoms nearer than a diameter: whatever is in the way of the held one gives
 * way, and at the rim, where nothing can, the held one does.
 * @param {Drawing} drawing
 * @param {number} held
 * @param {number} width of the picture, in pixels
 */
export function apart(drawing, held, width) {
  let now = drawing;
  for (const sweep of upTo(SWEEPS)) {
    const gap = (4 * REACH[0] * radiusOf(now, width)) / width;
    const place = [...now.place];
    for (const j of upTo(place.length)) {
      for (const i of upTo(j)) {
        const far = distance(place[i], place[j]);
        if (far >= gap) continue;
        const [[x, y], [u, v]] = [place[i], place[j]];
        const angle = far ? Math.atan2(v - y, u - x) : i + 2 * j;
        const own = sweep < HELD_SWEEPS && [i, j].includes(held) ? Number(i !== held) : 0.5;
        const push = [Math.cos(angle), Math.sin(angle)].map((part) => part * (1.02 * gap - far));
        place[i] = inside([x - own * push[0], y - own * push[1]]);
        place[j] = inside([u + (1 - own) * push[0], v + (1 - own) * push[1]]);
      }
    }
    if (place.every((spot, i) => spot === now.place[i])) return now;
    now = { ...now, place };
  }
  return now;
}

/** @param {Drawing} drawing @param {number} i @param {number[]} place */
export const moved = (drawing, i, place) => ({
  ...drawing,
  place: drawing.place.with(i, inside(place)),
});

/** A bond of an order between two atoms; none if the order is 0. @param {Drawing} drawing */
export function bonded(drawing, i, j, order) {
  const others = drawing.bonds.filter((bond) => !(bond.includes(i) && bond.includes(j)));
  const bonds = order ? [...others, [Math.min(i, j), Math.max(i, j), order]] : others;
  return filled({ ...drawing, bonds }, [i, j]);
}

/** The order of the bond between two atoms; 0 if there is none. @param {Drawing} drawing */
export const orderOf = ({ bonds }, i, j) =>
  bonds.find((bond) => bond[0] === Math.min(i, j) && bond[1] === Math.max(i, j))?.[2] ?? 0;

/** A carbon at a place, with a single bond to an atom if there is one. @param {Drawing} drawing */
export function added(drawing, place, to = -1) {
  const { element, hydrogens, charge, bonds } = drawing;
  const last = element.length;
  const larger = {
    ...drawing,
    element: [...element, "C"],
    hydrogens: [...hydrogens, 0],
    charge: [...charge, 0],
    place: [...drawing.place, inside(place)],
    bonds: to < 0 ? bonds : [...bonds, [to, last, 1]],
  };
  return filled(larger, [to, last]);
}

/** Another element in the place of an atom, without charge. @param {Drawing} drawing */
export const turnedInto = (drawing, i, symbol) =>
  filled(
    {
      ...drawing,
      element: drawing.element.with(i, symbol),
      charge: drawing.charge.with(i, 0),
    },
    [i],
  );

/** The place beside an atom, a bond away, that is farthest from all others. @param {Drawing} drawing */
export function freePlace(drawing, i) {
  const length = bondLength(drawing);
  const [x, y] = drawing.place[i] ?? [-length, 0];
  const room = (place) =>
    Math.min(Infinity, ...drawing.place.map((other) => distance(place, other)));
  const places = upTo(DIRECTIONS).map((k) => {
    const angle = (2 * Math.PI * k) / DIRECTIONS;
    return inside([x + length * Math.cos(angle), y + length * Math.sin(angle)]);
  });
  return places.reduce((best, place) => (room(place) > room(best) + 1e-9 ? place : best));
}
