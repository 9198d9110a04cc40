import { softmax, upTo } from "./numerics.js";

/**
 * The softmax of score / temperature from the softmax of score: w^(1/temperature), renormalised.
 * A weight of zero stays zero.
 * @param {ArrayLike<number>} weights
 * @param {number} temperature
 * @returns {number[]}
 */
export const retempered = (weights, temperature) =>
  softmax(Array.from(weights, Math.log), temperature);

/**
 * The causal softmax from the full one: the keys up to the query share all. Null if they have none.
 * @param {ArrayLike<number>} weights
 * @param {number} query
 */
export function masked(weights, query) {
  const past = Array.from(weights, (w, key) => (key <= query ? w : 0));
  const total = past.reduce((sum, w) => sum + w, 0);
  return total > 0 ? past.map((w) => w / total) : null;
}

/**
 * Where one array of weights differs most from another of its shape: at which layer, head, query
 * and key, at which step, and the two weights there.
 * @param {{ shape: number[], values: Float32Array }} before (steps,) layers, heads, queries, keys
 * @param {{ values: Float32Array }} after
 */
export function largestChange({ shape, values }, after) {
  let place = 0;
  const change = (i) => Math.abs(after.values[i] - values[i]);
  for (let i = 1; i < values.length; i += 1) if (change(i) > change(place)) place = i;
  const found = { from: values[place], to: after.values[place] };
  let left = place;
  const axes = ["key", "query", "head", "layer", "step"];
  const at = Object.fromEntries(axes.map((axis) => [axis, 0]));
  shape.toReversed().forEach((size, i) => {
    at[axes[i]] = left % size;
    left = Math.floor(left / size);
  });
  return { ...at, ...found };
}

/**
 * Queries by keys of one head at one step; a query with no weight on what it may see is null.
 * @param {{ shape: number[], values: Float32Array }} weights (steps,) layers, heads, queries, keys
 * @param {{ step: number, layer: number, head: number, temperature: number, causal: boolean }} chosen
 */
export function headRows({ shape, values }, { step, layer, head, temperature, causal }) {
  const [layers, heads, queries, keys] = shape.slice(-4);
  const start = ((step * layers + layer) * heads + head) * queries;
  return upTo(queries).map((query) => {
    const row = values.subarray((start + query) * keys, (start + query + 1) * keys);
    const allowed = causal ? masked(row, query) : row;
    return allowed && retempered(allowed, temperature);
  });
}
