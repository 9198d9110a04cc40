// The energy error of a run: its range in stretches of steps, and whether it grows.

import { envelope } from "./mechanics.js";
import { upTo } from "./numerics.js";

/** An error grows if it is this many times as large at the end as at the beginning. */
const GROWN = 1.5;
/** Above the first error the energy is not kept; below the second a growing error is still small. */
const [FAR, NEAR] = [0.5, 0.01];
// The rounding error of that many steps.
const ROUNDING = 1e-11;
const PART = 0.1;

/**
 * Where the stretches of a run of Python's begin, as `stretches` in energy_drift.py has it: early
 * ones are short, so that they can be looked at from near.
 * @param {number} total of states
 * @param {number} bins
 */
export const stretches = (total, bins) =>
  upTo(bins).map((k) => Math.max(k, Math.floor((total * k * k) / (bins * bins))));

/** The stretch that contains a step. @param {number[]} starts @param {number} step */
export const stretchOf = (starts, step) => {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= step) low = middle;
    else high = middle;
  }
  return low;
};

/**
 * The first `total` errors of a run in so many equal stretches at most: where each begins, and the
 * least and the largest in it; infinite, of either sign, where the run is lost.
 * @param {Float64Array} error
 * @param {number} total
 * @param {number} most
 */
export function beginning(error, total, most) {
  const bins = Math.min(most, total);
  const starts = upTo(bins).map((k) => Math.ceil((k * total) / bins));
  return { ...envelope(error.subarray(0, total), total, bins), starts, total };
}

/**
 * Whether a run keeps its energy: "kept", its error does not grow; "creeps", it grows and is still
 * small; "gone", it grows, or was large from the beginning.
 * @param {{ high: ArrayLike<number>, starts: ArrayLike<number>, total: number }} curve the largest
 *   errors of its stretches
 * @param {number} largest
 */
export function keeping({ high, starts, total }, largest) {
  if (!(largest < FAR)) return "gone";
  let [early, late] = [0, 0];
  for (let i = 0; i < high.length; i += 1) {
    const end = i + 1 < starts.length ? starts[i + 1] : total;
    if (starts[i] < PART * total) early = Math.max(early, high[i]);
    if (end > (1 - PART) * total) late = Math.max(late, high[i]);
  }
  if (late <= Math.max(GROWN * early, ROUNDING)) return "kept";
  return largest < NEAR ? "creeps" : "gone";
}
