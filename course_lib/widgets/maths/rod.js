import { between } from "./basis.js";
import { uniform } from "./generation.js";
import { clamp, upTo } from "./numerics.js";

/** The largest logarithm of a conductivity that can be drawn, and the largest heat. */
export const MOST = 3.5;

const MODES = 16;
const LENGTH = 0.1;
const BREADTH = 0.07;
const GAUSS = [
  [-Math.sqrt(3 / 5), 5 / 9],
  [0, 8 / 9],
  [Math.sqrt(3 / 5), 5 / 9],
];

/**
 * `solve` of elliptic.py: the finite-element solution of −(k u′)′ = f at the nodes, 0 at both ends.
 * The logarithm of k, and f, are straight between `places`, which lie in [0, 1].
 * @param {number[]} nodes
 * @param {number[]} places
 * @param {ArrayLike<number>} logarithm
 * @param {ArrayLike<number>} load
 */
export function solveRod(nodes, places, logarithm, load) {
  const last = nodes.length - 1;
  const [stiffness, right] = [new Float64Array(last), new Float64Array(last + 1)];
  for (let i = 0; i < last; i += 1) {
    const width = nodes[i + 1] - nodes[i];
    for (const [point, weight] of GAUSS) {
      const share = (1 + point) / 2;
      const x = nodes[i] + width * share;
      stiffness[i] += (Math.exp(between(x, places, logarithm)) * weight) / (2 * width);
      const heat = (between(x, places, load) * weight * width) / 2;
      right[i] += heat * (1 - share);
      right[i + 1] += heat * share;
    }
  }
  // Gauss on three diagonals, from the first inner node to the last and back.
  const [diagonal, u] = [new Float64Array(last), new Float64Array(last + 1)];
  for (let i = 1; i < last; i += 1) {
    diagonal[i] = stiffness[i - 1] + stiffness[i];
    if (i === 1) continue;
    const factor = stiffness[i - 1] / diagonal[i - 1];
    diagonal[i] -= factor * stiffness[i - 1];
    right[i] += factor * right[i - 1];
  }
  for (let i = last - 1; i > 0; i -= 1) u[i] = (right[i] + stiffness[i] * u[i + 1]) / diagonal[i];
  return Array.from(u);
}

/** `CosineSeries` of elliptic.py at the points. @param {number[]} points */
export const cosineSeries = (coefficients, points) =>
  points.map((x) =>
    coefficients.reduce(
      (sum, c, j) => sum + c * (j ? Math.SQRT2 * Math.cos(j * Math.PI * x) : 1),
      0,
    ),
  );

/** How much the modes of `random_series` vary, each a standard deviation. */
export function deviations() {
  const falling = upTo(MODES).map((j) => Math.exp(-((Math.PI * LENGTH * j) ** 2) / 4));
  const norm = Math.hypot(...falling);
  return falling.map((part) => part / norm);
}

/** Draws a rod as `random_rods` does: the coefficients of log k and f. @param {number} seed */
export function randomCoefficients(seed) {
  const normal = (i) =>
    Math.sqrt(-2 * Math.log(1 - uniform(seed, 2 * i))) *
    Math.cos(2 * Math.PI * uniform(seed, 2 * i + 1));
  return [0, MODES].map((from) => deviations().map((part, j) => part * normal(from + j)));
}

/** How far `found` is from `wanted`, as a share of that: in the norm of the places between ends. */
export function relativeError(found, wanted) {
  const size = Math.hypot(...wanted);
  return size > 0 ? Math.hypot(...wanted.map((u, i) => found[i] - u)) / size : Number.NaN;
}

/** The effect of a hand or a flame at a distance, relative to that at its place. */
const reach = (away) => Math.exp(-((away / BREADTH) ** 2) / 2);
const held = (height) => clamp(height, -MOST, MOST);

/** A random rod, as far as it can be drawn: log k and f at the points. */
export const randomRod = (seed, points) =>
  randomCoefficients(seed).map((coefficients) => cosineSeries(coefficients, points).map(held));

const FLAME = 2.5;

/** The heat at the places with a flame at one of them. @param {number[]} load */
export const warmedAt = (load, places, at) =>
  load.map((heat, i) => held(heat + FLAME * reach(places[i] - at)));

/** The logarithm of the conductivity with a plug of what conducts badly. @param {number[]} logarithm */
export const pluggedAt = (logarithm, places, at) =>
  logarithm.map((height, i) => held(height - FLAME * reach(places[i] - at)));

/**
 * A curve over `places` after a straight stroke: it runs along the stroke, and its neighbourhood
 * comes nearer to the nearest end. However often the hand goes there, it gets no higher than the hand.
 * @param {number[]} curve
 * @param {number[]} places
 * @param {number[]} from a place and a height
 * @param {number[]} to
 */
export function pulled(curve, places, [fromX, fromY], [toX, toY]) {
  const drawn = (old, place) => {
    const share = fromX === toX ? 1 : clamp((place - fromX) / (toX - fromX), 0, 1);
    const away = place - (fromX + share * (toX - fromX));
    const height = fromY + share * (toY - fromY);
    return old + (height - old) * reach(away);
  };
  return curve.map((old, j) => held(drawn(old, places[j])));
}
