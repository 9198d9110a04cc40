// Numbers of a case in words.

import { number } from "../kit/text.js";

/** As few digits as tell the number, three decimals at most. @param {number} x */
export const plain = (x) => number(x, 3).replace(/\.?0+$/, "");

/** @param {ArrayLike<number>} row */
export const vector = (row) => `(${Array.from(row, plain).join(", ")})`;

/** @param {ArrayLike<number>[]} rows */
export const vectors = (rows) => rows.map(vector).join(", ");

/** @param {number} share */
export const percent = (share, digits = 0) => `${number(100 * share, digits)} %`;

/** The largest difference of two lists, and where it is. */
export function farthest(a, b) {
  let [at, most] = [0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const off = Math.abs(a[i] - b[i]);
    if (!(off <= most)) [at, most] = [i, off];
  }
  return { at, most };
}

/** The largest difference of two lists, of rows too. */
export const apart = (a, b) => farthest(a.flat(), b.flat()).most;

/** @param {number[]} pair */
export const difference = ([one, other]) => Math.abs(one - other);
