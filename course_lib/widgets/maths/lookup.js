import { dot, softmax } from "./numerics.js";

/**
 * The similarity of a query and each key: dot product, cosine, or minus the squared distance.
 * @param {number[]} query
 * @param {number[][]} keys
 * @param {string} similarity
 * @returns {number[]}
 */
export function lookupScores(query, keys, similarity) {
  if (similarity === "dot") return keys.map((key) => dot(query, key));
  if (similarity === "cosine") {
    const length = (v) => Math.max(Math.hypot(...v), 1e-8);
    return keys.map((key) => dot(query, key) / (length(query) * length(key)));
  }
  return keys.map((key) => -key.reduce((sum, k, i) => sum + (query[i] - k) ** 2, 0));
}

/**
 * Soft lookup: softmax(score / temperature) weighs the keys; the values are blended with it.
 * @param {number[]} query
 * @param {number[][]} keys
 * @param {number[]} values
 * @param {string} similarity
 * @param {number} temperature
 */
export function softLookup(query, keys, values, similarity, temperature) {
  const weights = softmax(lookupScores(query, keys, similarity), temperature);
  return { weights, value: dot(weights, values) };
}
