// Scores of random vectors, and what the softmax makes of them. Compared with course_lib.attention.

import { normals } from "./latent.js";
import { ranking, upTo } from "./numerics.js";

/**
 * Scores q·k of random queries and as many random keys by their first features: the n-th table
 * holds those of the first `dimensions[n]`, which rise, a row for each query. Feature i of all queries,
 * then of all keys, are the next draws of the seed.
 * @param {number} seed
 * @param {number} count of queries, and of keys
 * @param {number[]} dimensions
 * @returns {number[][][]}
 */
export function randomScores(seed, count, dimensions) {
  const draws = normals(2 * count * dimensions[dimensions.length - 1], seed);
  const scores = upTo(count).map(() => new Array(count).fill(0));
  let feature = 0;
  return dimensions.map((dimension) => {
    for (; feature < dimension; feature += 1) {
      const query = 2 * count * feature;
      for (let i = 0; i < count; i += 1)
        for (let j = 0; j < count; j += 1)
          scores[i][j] += draws[query + i] * draws[query + count + j];
    }
    return scores.map((row) => [...row]);
  });
}

/**
 * The Frobenius norm of ∂w/∂s for w = softmax(s), of entries wᵢ(δᵢⱼ − wⱼ): how much gradient
 * comes through. Its square is Σ w² − 2 Σ w³ + (Σ w²)².
 * @param {number[]} weights
 */
export function gradientThrough(weights) {
  let [squares, cubes] = [0, 0];
  for (const w of weights) {
    squares += w * w;
    cubes += w ** 3;
  }
  // For a one-hot softmax only rounding of either sign is left.
  return Math.sqrt(Math.max(0, squares - 2 * cubes + squares * squares));
}

/**
 * Integers from low to high with nearly equal ratios.
 * @param {number} low
 * @param {number} high
 * @param {number} count of steps at most
 */
export const stops = (low, high, count = 60) => [
  ...new Set(upTo(count + 1).map((i) => Math.round(low * (high / low) ** (i / count)))),
];

/**
 * The index of the number whose ratio to a value is nearest to 1.
 * @param {number[]} numbers
 * @param {number} value
 */
export const nearestRatio = (numbers, value) =>
  ranking(numbers.map((one) => -Math.abs(Math.log(one / value))))[0];
