// One step of a motion by a network: a SympNet of course_lib.symplectic or a perceptron.
// A layer is rows of numbers, one for each unit.

import { integrate, SYSTEMS } from "./mechanics.js";
import { dot } from "./numerics.js";

/** Σ weightsᵢ xᵢ + bias, of each unit; further entries are ignored. */
const affine = (layer, x) => layer.map((unit) => dot(x, unit) + unit[x.length]);

const MOVES = {
  /** `q += Kᵀ diag(a) tanh(Kp + b)`, then `p -= …` of q, and so on; a unit has its row of K, b, a. */
  SympNet(layers, q, p) {
    layers.forEach((layer, i) => {
      const [moved, x, sign] = i % 2 === 0 ? [q, p, 1] : [p, q, -1];
      affine(layer, x).forEach((sum, k) => {
        const push = sign * layer[k][x.length + 1] * Math.tanh(sum);
        for (let j = 0; j < moved.length; j += 1) moved[j] += push * layer[k][j];
      });
    });
  },
  /** `(q, p) += perceptron(q, p)`, with tanh between its layers; a unit has its weights and bias. */
  perceptron([first, ...others], q, p) {
    const change = others.reduce(
      (x, layer) => affine(layer, x.map(Math.tanh)),
      affine(first, [...q, ...p]),
    );
    for (let i = 0; i < q.length; i += 1) {
      q[i] += change[i];
      p[i] += change[q.length + i];
    }
  },
};

/**
 * A run of `steps` steps of a network from (q, p), as `integrate` gives it.
 * @param {{ kind: string, layers: number[][][], dt: number }} network
 * @param {{ name: string, parameters: any }} system whose energy it has
 * @param {ArrayLike<number>} q
 * @param {ArrayLike<number>} p
 * @param {number} steps
 */
export function learnedRun({ kind, layers, dt }, { name, parameters }, q, p, steps) {
  const step = (_system, qNow, pNow) => MOVES[kind](layers, qNow, pNow);
  return integrate(SYSTEMS[name](parameters), step, q, p, dt, steps);
}
