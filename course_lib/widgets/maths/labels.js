import { sum } from "./numerics.js";

/** The least distance of a label from the edge. */
const RIM = 4;

/** @typedef {{ x: number, y: number, width: number, height: number }} Box its corner at the top left */

/** The area that two boxes share. @param {Box} a @param {Box} b */
export function overlap(a, b) {
  const shared = (side, size) =>
    Math.min(a[side] + a[size], b[side] + b[size]) - Math.max(a[side], b[side]);
  return Math.max(0, shared("x", "width")) * Math.max(0, shared("y", "height"));
}

/**
 * The place of a label that overlaps least with what is drawn already; of equals, the first.
 * @param {Box[]} places
 * @param {Box[]} taken
 */
export function clearest(places, taken) {
  const covered = places.map((place) => sum(taken.map((box) => overlap(place, box))));
  return places[covered.indexOf(Math.min(...covered))];
}

/**
 * Where a label may stand about a mark, within a square: below it, above, to its sides, at its
 * corners.
 * @param {number[]} mark its middle
 * @param {number} radius of the mark
 * @param {number} width of the label
 * @param {number} height of the label
 * @param {number} side of the square
 * @returns {Box[]}
 */
export function placesAbout([x, y], radius, width, height, side) {
  const within = (low, size) => Math.min(Math.max(low, RIM), side - RIM - size);
  const [middle, left, right] = [x - width / 2, x - radius - width, x + radius];
  const [level, above, below] = [y - height / 2, y - radius - height, y + radius];
  return [
    [middle, below],
    [middle, above],
    [right, level],
    [left, level],
    [right, below],
    [left, below],
    [right, above],
    [left, above],
  ].map(([across, down]) => {
    return { x: within(across, width), y: within(down, height), width, height };
  });
}
