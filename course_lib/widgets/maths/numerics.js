export function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i += 1) total += a[i] * b[i];
  return total;
}

/**
 * softmax(score / temperature). The largest score is subtracted first, so no exponential overflows.
 */
export function softmax(score, temperature = 1) {
  let largest = -Infinity;
  for (const s of score) if (s > largest) largest = s;
  const weights = new Array(score.length);
  let total = 0;
  for (let i = 0; i < score.length; i += 1) {
    weights[i] = Math.exp((score[i] - largest) / temperature);
    total += weights[i];
  }
  for (let i = 0; i < weights.length; i += 1) weights[i] /= total;
  return weights;
}

export function sigmoid(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** Σᵢ weightᵢ rowᵢ */
export function blend(weights, rows) {
  const blended = new Array(rows[0].length).fill(0);
  weights.forEach((weight, i) => {
    for (let j = 0; j < blended.length; j += 1) blended[j] += weight * rows[i][j];
  });
  return blended;
}

/** @param {number} value */
export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

/** A share of a way that begins and ends slowly: 0 at 0, 1 at 1. @param {number} share */
export const smoothstep = (share) => share * share * (3 - 2 * share);

export const plus = (a, b) => a.map((entry, i) => entry + b[i]);

/** @param {number[]} values */
export const sum = (values) => values.reduce((total, value) => total + value, 0);

/** @param {number[]} values */
export const mean = (values) => sum(values) / values.length;

/** 0, 1, …, count − 1. @param {number} count @returns {number[]} */
export const upTo = (count) => Array.from({ length: count }, (_, i) => i);

/**
 * The places of numbers by size, that of the largest first; of equals, the earlier first.
 * @param {ArrayLike<number>} values
 */
export const ranking = (values) =>
  upTo(values.length).sort((a, b) => values[b] - values[a] || a - b);

/**
 * Whether two lists have identical entries.
 * @param {unknown[]} a
 * @param {unknown[]} b
 */
export const same = (a, b) =>
  a.length === b.length && a.every((entry, i) => Object.is(entry, b[i]));
