import { softmax, upTo } from "./numerics.js";

/** The function whose values the nodes have: sin 2πx². */
export const target = (x) => Math.sin(2 * Math.PI * x * x);

/** @param {number} count @returns {number[]} even places from 0 to 1, both among them */
export const even = (count) => upTo(count).map((i) => i / (count - 1));

/** Nodes and the function there, as the trait has them. @param {number[]} nodes */
export const readOff = (nodes) => nodes.map((x) => [x, target(x)]);

/** The last interval that begins at or before x. */
function intervalOf(x, nodes) {
  let i = 0;
  while (i < nodes.length - 2 && nodes[i + 1] <= x) i += 1;
  return i;
}

/** Linear interpolation at x between increasing nodes. */
export function between(x, nodes, values) {
  const i = intervalOf(x, nodes);
  const share = (x - nodes[i]) / (nodes[i + 1] - nodes[i]);
  return (1 - share) * values[i] + share * values[i + 1];
}

/** `hat` of basis.py: points by nodes. @param {number[]} points @param {number[]} nodes */
export function hats(points, nodes) {
  return points.map((x) => {
    const row = new Array(nodes.length).fill(0);
    const i = intervalOf(x, nodes);
    row[i + 1] = (x - nodes[i]) / (nodes[i + 1] - nodes[i]);
    row[i] = 1 - row[i + 1];
    return row;
  });
}

/** `softmax_basis` of basis.py: points by nodes. @param {number[]} points @param {number[]} nodes */
export const softmaxBasis = (points, nodes, temperature) =>
  points.map((x) =>
    softmax(
      nodes.map((node) => -((x - node) ** 2)),
      temperature,
    ),
  );

/** The effective number of nodes: 1 / Σ αᵢ². @param {number[]} weights */
export const shared = (weights) => 1 / weights.reduce((sum, weight) => sum + weight * weight, 0);
