import { clamp } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { shortened, textWidth, widest } from "./lettering.js";
import { inked } from "./painted.js";
import { pointIn } from "./plane.js";

const WIDEST = 380;
const AXES = 24;
const LONGEST_LABEL = 84;
const AXIS_TYPE = 13;

/** In pixels. */
export const SMALLEST_TYPE = 10;
/** The narrowest cell, in pixels, to which a name can be set. */
export const NARROWEST_NAMED = 9;

/**
 * The opacity of a weight. The square root makes small weights visible.
 * @param {number} weight
 */
export const depth = (weight) => Math.sqrt(weight);

/** @param {boolean} on */
export const bold = (on) => (on ? 700 : 500);

/**
 * The layout of the cells of a map, with the names of its rows and columns if they fit.
 * @param {string[]} rows
 * @param {string[]} columns
 * @param {number} width
 */
export function mapLayout(rows, columns, width) {
  const [count, side] = [Math.max(rows.length, columns.length), Math.min(WIDEST, width)];
  const size = clamp((0.85 * (side - 30)) / count, SMALLEST_TYPE, 13);
  const room = Math.min(LONGEST_LABEL, side / 4);
  const labels = [rows, columns].map((names) => names.map((name) => shortened(name, room, size)));
  const longest = widest(labels.flat(), size);
  const legible = (side - longest - AXES) / count >= NARROWEST_NAMED;
  const margin = AXES + (legible ? Math.ceil(longest) : 0);
  const cell = (side - margin) / count;
  const stairs = `M${margin + cell} ${margin}${`v${cell}h${cell}`.repeat(count - 1)}`;
  const [wide, high] = [cell * columns.length, cell * rows.length];
  return { wide, high, size, labels: legible ? labels : [[], []], longest, margin, cell, stairs };
}

function namesOf({ labels, size, longest, margin, cell }, pointed) {
  const name = (label, i, axis) => {
    const middle = margin + cell * (i + 0.5);
    const base = middle + 0.35 * size;
    const [at, anchor] = !axis
      ? [`${margin - 5} ${base})`, "end"]
      : longest <= cell - 1
        ? [`${middle} ${margin - 6})`, "middle"]
        : [`${base} ${margin - 5}) rotate(-90)`, "start"];
    return svg`<text transform="translate(${at}" text-anchor=${anchor}
      style="font-size: ${size}px; font-weight: ${bold(i === pointed[axis])}">${label}</text>`;
  };
  return labels.map((names, axis) => names.map((label, i) => name(label, i, axis)));
}

/**
 * A matrix of weights as a heat map, names beside its rows and above its columns.
 * @param {any} ui
 * @param {{ layout: ReturnType<typeof mapLayout>, matrix: (number[] | null)[],
 *   axes: [string, string], pointed: (number | null)[], stairs: boolean,
 *   point: (row: number | null, column: number | null) => void, choose: (row: number) => void,
 * }} map a row of `matrix` may be missing; `axes` ("name: meaning") and `pointed` are
 *   row and column; `stairs` mark the diagonal; `point` gets the cell under the mouse
 */
export function heatMap(ui, { layout, matrix, axes, pointed, stairs, point, choose }) {
  const { wide, high, margin, cell } = layout;
  const [width, height] = [margin + wide, margin + high];
  const at = (event) => {
    const [x, y] = pointIn(event);
    const inside = (z, end) => (z >= margin && z < end ? Math.floor((z - margin) / cell) : null);
    const row = inside(y, height);
    return row === null ? [null, null] : [row, inside(x, width)];
  };
  const move = (event) => {
    const [row, column] = event.pointerType === "mouse" ? at(event) : [null, null];
    point(row, column);
  };
  const click = (event) => {
    const [row] = at(event);
    if (row !== null) choose(row);
  };
  // If the meaning of an axis does not fit, only its name is drawn.
  const [rows, columns] = axes.map((axis, i) =>
    textWidth(`${axis} →`, AXIS_TYPE, 600) < [high, wide][i] ? axis : axis.split(":")[0],
  );
  const canvas = `width: ${(100 * wide) / width}%; height: ${(100 * high) / height}%`;
  return html`<div class="cw-painted cw-heat" style="max-width: ${width}px">
    <canvas aria-hidden="true" style=${canvas}
      ${inked(ui, matrix, { width: Math.round(wide / cell), ink: "accent", opacity: depth })}></canvas>
    <svg aria-hidden="true" viewBox="0 0 ${width} ${height}" @click=${click} @pointermove=${move}
      @pointerleave=${() => point(null, null)}>
      <text class="cw-heat-axis" x=${margin + wide / 2} y="12">${columns} →</text>
      <text class="cw-heat-axis"
        transform="translate(12 ${margin + high / 2}) rotate(-90)">← ${rows}</text>
      <rect x=${margin} y=${margin} width=${wide} height=${high} fill="transparent"
        stroke="var(--cw-line)"></rect>
      ${namesOf(layout, pointed)}
      <path d=${layout.stairs} fill="none" stroke="var(--cw-edge)" stroke-dasharray="3 3"
        visibility=${stairs ? "visible" : "hidden"}></path>
      <rect x=${margin} y=${margin + cell * pointed[0]} width=${wide} height=${cell} rx="2"
        fill="none" stroke="var(--cw-warm)" stroke-width="2"></rect>
    </svg>
  </div>`;
}
