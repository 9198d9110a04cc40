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

/** A square for each entry of a matrix: the larger, the stronger; warm if negative, none if NaN. */
export const cells = (matrix) => {
  const [rows, columns] = [matrix.length, matrix[0].length];
  const sizes = matrix.flatMap((row) => Array.from(row, (value) => Math.abs(value) || 0));
  const largest = Math.max(1e-9, ...sizes);
  const [width, height] = [1 / columns, 1 / rows];
  return matrix.map((row, i) =>
    Array.from(row, (value, j) =>
      Number.isNaN(value)
        ? ""
        : svg`<rect x=${j * width} y=${i * height} width=${0.9 * width}
        height=${0.9 * height} opacity=${0.08 + 0.92 * (Math.abs(value) / largest)}
        fill="var(--cw-${value < 0 ? "warm" : "accent"})"></rect>`,
    ),
  );
};

/** Two matrices on one scale, with room between them. */
export const beside = (one, other) => cells(one.map((row, i) => [...row, Number.NaN, ...other[i]]));

/** A square matrix, its diagonal, and frames about the two entries that differ most across it. */
export const mirrored = (matrix) => {
  const side = 1 / matrix.length;
  let [most, far] = [[0, 0], 0];
  for (const [i, row] of matrix.entries())
    for (let j = 0; j < i; j += 1) {
      const off = Math.abs(row[j] - matrix[j][i]);
      if (off > far + 1e-9) [most, far] = [[i, j], off];
    }
  const frame = ([i, j]) => svg`<rect x=${j * side} y=${i * side} width=${0.9 * side}
    height=${0.9 * side} fill="none" stroke="var(--cw-ink)" stroke-width="0.03"></rect>`;
  return [
    cells(matrix),
    svg`<path d="M0 0L1 1" stroke="var(--cw-muted)" stroke-width="0.012"></path>`,
    far > 0 ? [most, most.toReversed()].map(frame) : "",
  ];
};
