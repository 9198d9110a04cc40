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
 * Depth of colour of a weight. The root lifts small weights out of the ground.
 * @param {number} weight
 */
export const depth = (weight) => Math.sqrt(weight);

/** @param {boolean} on */
export const bold = (on) => (on ? 700 : 500);

/**
 * Where the cells of a square map stand, and its names if there is room for them.
 * @param {string[]} names
 * @param {number} width
 */
export function mapLayout(names, width) {
  const [count, side] = [names.length, Math.min(WIDEST, width)];
  const size = clamp((0.85 * (side - 30)) / count, SMALLEST_TYPE, 13);
  const room = Math.min(LONGEST_LABEL, side / 4);
  const labels = names.map((name) => shortened(name, room, size));
  const longest = widest(labels, size);
  const legible = (side - longest - AXES) / count >= NARROWEST_NAMED;
  const margin = AXES + (legible ? Math.ceil(longest) : 0);
  const cell = (side - margin) / count;
  const stairs = `M${margin + cell} ${margin}${`v${cell}h${cell}`.repeat(count - 1)}`;
  return { count, side, size, labels: legible ? labels : [], longest, margin, cell, stairs };
}

function namesOf({ labels, size, longest, margin, cell }, pointed) {
  const [row, column] = pointed;
  const flat = longest <= cell - 1;
  const style = (on) => `font-size: ${size}px; font-weight: ${bold(on)}`;
  return labels.map((label, i) => {
    const middle = margin + cell * (i + 0.5);
    const base = middle + 0.35 * size;
    const above = flat
      ? `translate(${middle} ${margin - 6})`
      : `translate(${base} ${margin - 5}) rotate(-90)`;
    return svg`<text x=${margin - 5} y=${base} text-anchor="end"
      style=${style(i === row)}>${label}</text>
      <text transform=${above} text-anchor=${flat ? "middle" : "start"}
      style=${style(i === column)}>${label}</text>`;
  });
}

/**
 * A square matrix of weights as a heat map, names beside its rows and above its columns.
 * @param {any} ui
 * @param {{ layout: ReturnType<typeof mapLayout>, matrix: (number[] | null)[],
 *   axes: [string, string], pointed: (number | null)[], stairs: boolean,
 *   point: (row: number | null, column: number | null) => void, choose: (row: number) => void,
 * }} map a row of `matrix` may be missing; `axes` ("name: meaning") and `pointed` are
 *   row and column; `stairs` mark the
 *   diagonal; `point` is told where the mouse is
 */
export function heatMap(ui, { layout, matrix, axes, pointed, stairs, point, choose }) {
  const { count, side, margin, cell } = layout;
  const [field, middle] = [side - margin, (margin + side) / 2];
  const at = (event) => {
    const inside = (x) => (x >= margin && x < side ? Math.floor((x - margin) / cell) : null);
    const [column, row] = pointIn(event.currentTarget, event).map(inside);
    return row === null ? [null, null] : [row, column];
  };
  const move = (event) => {
    const [row, column] = event.pointerType === "mouse" ? at(event) : [null, null];
    point(row, column);
  };
  const click = (event) => {
    const [row] = at(event);
    if (row !== null) choose(row);
  };
  const share = `${(100 * field) / side}%`;
  // Where there is no room for what an axis means, its first word stands alone.
  const [rows, columns] = axes.map((axis) =>
    textWidth(`${axis} →`, AXIS_TYPE, 600) < field ? axis : axis.split(":")[0],
  );
  return html`<div class="cw-heat" style="max-width: ${side}px">
    <canvas aria-hidden="true" style="width: ${share}; height: ${share}"
      ${inked(ui, matrix, { width: count, ink: "accent", opacity: depth })}></canvas>
    <svg aria-hidden="true" viewBox="0 0 ${side} ${side}" @click=${click} @pointermove=${move}
      @pointerleave=${() => point(null, null)}>
      <text class="cw-heat-axis" x=${middle} y="12">${columns} →</text>
      <text class="cw-heat-axis" transform="translate(12 ${middle}) rotate(-90)">← ${rows}</text>
      <rect x=${margin} y=${margin} width=${field} height=${field} fill="transparent"
        stroke="var(--cw-line)"></rect>
      ${namesOf(layout, pointed)}
      <path d=${layout.stairs} fill="none" stroke="var(--cw-edge)" stroke-dasharray="3 3"
        visibility=${stairs ? "visible" : "hidden"}></path>
      <rect x=${margin} y=${margin + cell * pointed[0]} width=${field} height=${cell} rx="2"
        fill="none" stroke="var(--cw-warm)" stroke-width="2"></rect>
    </svg>
  </div>`;
}
