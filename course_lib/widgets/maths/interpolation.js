// How far blends of even nodes on [0, 1] are off, by hats and by a softmax of distances.

import { upTo } from "./numerics.js";

const BROAD = 4;
/** Farther nodes weigh less than e⁻²⁵ of the nearest. */
const FAR = 5;

/** The functions that are interpolated. @type {Record<string, (x: number) => number>} */
export const FUNCTIONS = {
  wave: (x) => Math.sin(7 * x) + x,
  square: (x) => x * x,
  root: (x) => Math.sqrt(x),
};

/** τ in parts of h², by the rule that the reader chose. @type {Record<string, Function>} */
export const RULES = {
  fixed: (factor, count) => (factor / 1000) * count ** 2,
  ratio: (factor) => factor,
  logarithm: (factor, count) => (factor * Math.log(count)) / Math.PI ** 2,
};

/**
 * The number of points to an interval at which errors are measured; a broad softmax is smooth and
 * needs no more.
 */
export const finenessOf = (count, ratio) =>
  ratio > BROAD ? 3 * Math.ceil(192 / count) : 12 * Math.ceil(48 / count);

const tent = (share) => [1 - share, share];

/** Weights of the nodes from −reach to reach + 1, unequal to 0, `share` of the way from 0 to 1. */
function bell(share, ratio) {
  const reach = Math.ceil(FAR * Math.sqrt(ratio));
  const nearest = Math.min(share, 1 - share) ** 2;
  return upTo(2 * reach + 2).map((j) => Math.exp((nearest - (share - (j - reach)) ** 2) / ratio));
}

/** Values of even nodes, odd about both ends if `beyond` of them lie outside either. */
function valuesOf(u, count, beyond) {
  const at = (i) => u(i / count);
  return upTo(count + 1 + 2 * beyond).map((k) => {
    const i = k - beyond;
    if (i < 0) return 2 * at(0) - at(-i);
    return i > count ? 2 * at(count) - at(2 * count - i) : at(i);
  });
}

/**
 * The blend of even nodes less the function, at `finenessOf` points to an interval; ends
 * included. `ratio` is τ/h², or 0 for hats.
 * @returns {number[]}
 */
export function errorsOf(shape, count, ratio, reflected = false) {
  const u = FUNCTIONS[shape];
  const beyond = reflected ? count : 0;
  const values = Float64Array.from(valuesOf(u, count, beyond));
  const fineness = finenessOf(count, ratio);
  const errors = new Array(count * fineness + 1).fill(0);
  for (let offset = 0; offset < fineness; offset += 1) {
    const share = offset / fineness;
    const weights = Float64Array.from(ratio ? bell(share, ratio) : tent(share));
    const reach = weights.length / 2 - 1;
    for (let i = 0; i < count + (offset ? 0 : 1); i += 1) {
      const first = i + beyond - reach;
      const from = Math.max(0, -first);
      const to = Math.min(weights.length, values.length - first);
      let [sum, total] = [0, 0];
      for (let j = from; j < to; j += 1) {
        sum += weights[j] * values[first + j];
        total += weights[j];
      }
      errors[i * fineness + offset] = sum / total - u((i + share) / count);
    }
  }
  return errors;
}

/** The largest of errors on [0, 1], or on its middle half. @param {number[]} errors */
export function largestError(errors, middle = false) {
  const end = errors.length - 1;
  const [from, to] = middle ? [Math.ceil(end / 4), Math.floor((3 * end) / 4)] : [0, end];
  let largest = 0;
  for (let k = from; k <= to; k += 1) largest = Math.max(largest, Math.abs(errors[k]));
  return largest;
}
