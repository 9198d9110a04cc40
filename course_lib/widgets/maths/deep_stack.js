// Stacks of small layers and how gradients go back through them. Compared with
// course_lib.models.deep_stacks and autograd.

import { dot } from "./numerics.js";
import { affine, erf, layerNorm } from "./transformer.js";

/**
 * @typedef {Float64Array} Vector
 * @typedef {(x: Vector) => { y: Vector, pull: (gradient: Vector) => Vector }} Step what becomes of a
 *   token, and of a gradient that comes back
 * @typedef {{ weight: Vector, bias: Vector }} Linear
 */

const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** Wᵀg; the rows of `weight` stand one after another. */
function affineBack(weight, gradient) {
  const columns = weight.length / gradient.length;
  const result = new Float64Array(columns);
  for (let row = 0, at = 0; row < gradient.length; row += 1)
    for (let i = 0; i < columns; i += 1, at += 1) result[i] += weight[at] * gradient[row];
  return result;
}

/** The MLP of a block. @param {{ expand: Linear, contract: Linear }} weights @returns {Step} */
const mlp =
  ({ expand, contract }) =>
  (x) => {
    const inner = affine(expand, x);
    const slope = new Float64Array(inner.length);
    // Loops, since this runs for every token of every layer while a slider moves.
    for (let i = 0; i < inner.length; i += 1) {
      const a = inner[i];
      const share = (1 + erf(a * Math.SQRT1_2)) / 2;
      slope[i] = share + a * density(a);
      inner[i] = a * share;
    }
    const pull = (gradient) => {
      const back = affineBack(contract.weight, gradient);
      for (let i = 0; i < back.length; i += 1) back[i] *= slope[i];
      return affineBack(expand.weight, back);
    };
    return { y: affine(contract, inner), pull };
  };

/** Layer norm as initialised, with scale 1 and shift 0. @type {Step} */
function norm(x) {
  const d = x.length;
  const plain = { weight: new Float64Array(d).fill(1), bias: new Float64Array(d) };
  const y = layerNorm(x, plain);
  const mean = x.reduce((sum, entry) => sum + entry, 0) / d;
  const spread = Math.sqrt(x.reduce((sum, entry) => sum + (entry - mean) ** 2, 0) / d + 1e-5);
  const pull = (gradient) => {
    const level = gradient.reduce((sum, g) => sum + g, 0) / d;
    const along = dot(gradient, y) / d;
    return gradient.map((g, i) => (g - level - along * y[i]) / spread);
  };
  return { y, pull };
}

/** @param {Step} first @param {Step} then @returns {Step} */
const after = (first, then) => (x) => {
  const inner = first(x);
  const last = then(inner.y);
  return { y: last.y, pull: (gradient) => inner.pull(last.pull(gradient)) };
};

/** @param {Step} step @returns {Step} */
const around = (step) => (x) => {
  const { y, pull } = step(x);
  const sum = (gradient) => pull(gradient).map((g, i) => g + gradient[i]);
  return { y: y.map((entry, i) => entry + x[i]), pull: sum };
};

/** Ways to put a layer into a stack. @type {Record<string, (f: Step) => Step>} */
const WAYS = {
  bare: (f) => f,
  norm: (f) => after(norm, f),
  around,
  post: (f) => after(around(f), norm),
  pre: (f) => around(after(norm, f)),
};
export const KINDS = Object.keys(WAYS);

/**
 * The layers that random draws make: for each the weights and biases of `expand`, which doubles the
 * width, and of `contract`. A weight has the standard deviation gain / √inputs, a bias that of
 * PyTorch's, 1 / √(3 inputs), or none.
 * @param {Vector} draws of N(0, 1)
 * @param {{ layers: number, d: number, gain: number, biases: boolean }} size
 */
export function layersOf(draws, { layers, d, gain, biases }) {
  let at = 0;
  const take = (count, scale) => {
    at += count;
    const taken = new Float64Array(count);
    for (let i = 0; i < count; i += 1) taken[i] = scale * draws[at - count + i];
    return taken;
  };
  const linear = (outputs, inputs) => ({
    weight: take(outputs * inputs, gain / Math.sqrt(inputs)),
    bias: take(outputs, biases ? 1 / Math.sqrt(3 * inputs) : 0),
  });
  return Array.from({ length: layers }, () => ({
    expand: linear(2 * d, d),
    contract: linear(d, 2 * d),
  }));
}

const size = (vectors) => Math.sqrt(vectors.reduce((sum, vector) => sum + dot(vector, vector), 0));

/** How far tokens differ, relative to their norm: 0 if all are equal. */
export function differenceLeft(tokens) {
  const mean = tokens[0].map((_, i) => tokens.reduce((sum, x) => sum + x[i] / tokens.length, 0));
  return size(tokens.map((x) => x.map((entry, i) => entry - mean[i]))) / size(tokens);
}

/**
 * Tokens up through a stack, and the gradient of ⟨covectors, tokens at the top⟩ down again. At each
 * height, from the bottom: the tokens, what is left of their differences, the root mean square of
 * their features, and the norm of the gradient in proportion to that at the top.
 * @param {string} kind one of KINDS
 * @param {{ expand: Linear, contract: Linear }[]} layers
 * @param {Vector[]} tokens
 * @param {Vector[]} covectors
 */
export function throughStack(kind, layers, tokens, covectors) {
  const floors = [tokens];
  const steps = layers.map((weights) => {
    const passed = floors[floors.length - 1].map(WAYS[kind](mlp(weights)));
    floors.push(passed.map(({ y }) => y));
    return passed;
  });
  let gradients = covectors;
  const gradient = [1];
  for (const passed of steps.reverse()) {
    gradients = passed.map(({ pull }, i) => pull(gradients[i]));
    gradient.unshift(size(gradients) / size(covectors));
  }
  const count = Math.sqrt(tokens.length * tokens[0].length);
  return {
    floors,
    left: floors.map(differenceLeft),
    loud: floors.map((floor) => size(floor) / count),
    gradient,
  };
}
