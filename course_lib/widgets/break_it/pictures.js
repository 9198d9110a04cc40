// Small pictures of cases, on a square of side 1.

import { upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const REACH = 2.4;

/** Where a point of the plane stands. @param {number[]} point */
const placed = ([x, y]) => [0.5 + x / (2 * REACH), 0.5 - y / (2 * REACH)];

/** A dot at each point of the plane. @param {number[][]} points */
export const dots = (points, ink = "accent", r = 0.06) =>
  points
    .map(placed)
    .map(([x, y]) => svg`<circle cx=${x} cy=${y} r=${r} fill="var(--cw-${ink})"></circle>`);

/** A line through points of the plane. @param {number[][]} points */
export const line = (points, ink = "accent", width = 0.03) =>
  svg`<path d="M${points.map((point) => placed(point).join(" ")).join("L")}" fill="none"
    stroke="var(--cw-${ink})" stroke-width=${width} stroke-linecap="round"></path>`;

/** A point of a circle. @param {number} turn as a share of the way around */
export const onCircle = (turn) => [
  2 * Math.sin(2 * Math.PI * turn),
  2 * Math.cos(2 * Math.PI * turn),
];

/**
 * Nodes on a circle, and a line for each edge.
 * @param {number} count
 * @param {number[][]} edges
 * @param {(node: number) => [string, number]} look of a node: its ink and its radius
 */
export const graph = (count, edges, look = () => ["accent", 0.08]) => [
  edges.map((edge) =>
    line(
      edge.map((i) => onCircle(i / count)),
      "edge",
      0.02,
    ),
  ),
  upTo(count).map((i) => dots([onCircle(i / count)], ...look(i))),
];

/** Lines from where each token stands to where it goes. @param {{ order: number[] }} given */
export const crossing = ({ order }) => {
  const ways = order.map((from, to) =>
    [from, to].map((i, side) => [4 * side - 2, 2 - (4 * i) / (order.length - 1)]),
  );
  return [ways.map((way) => line(way, "edge", 0.02)), dots(ways.flat())];
};

/** A bar for each value from 0 to 1, and a mark where another value is. */
export const bars = (values, others) => {
  const width = 1 / values.length;
  return values.map((value, i) => {
    const [x, y] = [i * width, 1 - others[i]];
    return svg`<rect x=${x} y=${1 - value} width=${0.8 * width} height=${value}
        fill="var(--cw-accent)"></rect>
      <path d="M${x} ${y}h${0.8 * width}" stroke="var(--cw-warm)" stroke-width="0.04"></path>`;
  });
};

/** The picture of a claim that compares two lists of shares. */
export const sharesCompared = (_, sides) => bars(...sides);

/** A square for each entry of a matrix: the larger, the stronger; warm if negative, none if NaN. */
export const cells = (matrix) => {
  const [width, height] = [1 / matrix[0].length, 1 / matrix.length];
  const sizes = matrix.flatMap((row) => Array.from(row, (value) => Math.abs(value) || 0));
  const largest = Math.max(1e-9, ...sizes);
  const cell = (value, i, j) => svg`<rect x=${j * width} y=${i * height} width=${0.9 * width}
    height=${0.9 * height} opacity=${0.08 + 0.92 * (Math.abs(value) / largest)}
    fill="var(--cw-${value < 0 ? "warm" : "accent"})"></rect>`;
  return matrix.map((row, i) =>
    Array.from(row, (value, j) => (Number.isNaN(value) ? "" : cell(value, i, j))),
  );
};
