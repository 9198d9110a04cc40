// A recurrent network of two units whose matrix has one complex pair of eigenvalues. Compared with
// course_lib.recurrent.

import { upTo } from "./numerics.js";

/** @typedef {number[][]} Matrix of two rows and two columns */

/**
 * The matrix S R S⁻¹ with eigenvalues r e^(±iθ), where R turns by θ and S stretches the first unit.
 * @param {number} radius
 * @param {number} degrees
 * @param {number} stretch
 * @returns {Matrix}
 */
export function matrixOf(radius, degrees, stretch) {
  const angle = (degrees * Math.PI) / 180;
  const [c, s] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  return [
    [c, -stretch * s],
    [s / stretch, c],
  ];
}

/** The largest singular value. @param {Matrix} matrix */
export const spectralNorm = ([[a, b], [c, d]]) =>
  (Math.hypot(a + d, b - c) + Math.hypot(a - d, b + c)) / 2;

/** @param {Matrix} first @param {Matrix} second @returns {Matrix} */
const product = ([[a, b], [c, d]], [[e, f], [g, h]]) => [
  [a * e + b * g, a * f + b * h],
  [c * e + d * g, c * f + d * h],
];

/**
 * The states after 0, 1, … `steps` steps h ↦ W h or h ↦ tanh(W h), and how much each depends on the
 * first: the norm of ∂h_t/∂h₀.
 * @param {Matrix} matrix
 * @param {number[]} start
 * @param {number} steps
 * @param {boolean} squashed
 */
export function runOf(matrix, start, steps, squashed) {
  const states = [start];
  let slopes = [
    [1, 0],
    [0, 1],
  ];
  const gradient = [1];
  for (const t of upTo(steps)) {
    const sums = matrix.map(([a, b]) => a * states[t][0] + b * states[t][1]);
    const state = squashed ? sums.map(Math.tanh) : sums;
    const steepness = state.map((h) => (squashed ? 1 - h * h : 1));
    const step = matrix.map((row, i) => row.map((w) => steepness[i] * w));
    slopes = product(step, slopes);
    states.push(state);
    gradient.push(spectralNorm(slopes));
  }
  return { states, gradient };
}
