// Tiny pictures of cases, on a square of side 1.

import { svg } from "../vendor/lit-html/lit-html.js";

const REACH = 2.4;

/** Where a point of the plane stands. @param {number[]} point */
export const placed = ([x, y]) => [0.5 + x / (2 * REACH), 0.5 - y / (2 * REACH)];

/** A dot at each point of the plane. @param {number[][]} points */
export const dots = (points, ink = "accent", r = 0.06) =>
  points.map((point) => {
    const [x, y] = placed(point);
    return svg`<circle cx=${x} cy=${y} r=${r} fill="var(--cw-${ink})"></circle>`;
  });

/** A line through points of the plane. @param {number[][]} points */
export const line = (points, ink = "accent", width = 0.03) =>
  svg`<path d="M${points.map((point) => placed(point).join(" ")).join("L")}" fill="none"
    stroke="var(--cw-${ink})" stroke-width=${width} stroke-linecap="round"></path>`;

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

/** A square for each entry of a matrix: the larger, the deeper; warm if negative. */
export const cells = (matrix) => {
  const [rows, columns] = [matrix.length, matrix[0].length];
  const largest = Math.max(1e-9, ...matrix.flatMap((row) => Array.from(row, Math.abs)));
  const [width, height] = [1 / columns, 1 / rows];
  return matrix.map((row, i) =>
    Array.from(
      row,
      (value, j) => svg`<rect x=${j * width} y=${i * height} width=${0.9 * width}
        height=${0.9 * height} opacity=${0.08 + 0.92 * (Math.abs(value) / largest)}
        fill="var(--cw-${value < 0 ? "warm" : "accent"})"></rect>`,
    ),
  );
};
