// Panels of live figures: axes, and what is drawn in them. All marks take a frame, which knows
// where a value stands; `panel` makes it.

import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { shortened, textWidth } from "./lettering.js";
import { dragging, pointIn } from "./plane.js";
import { linear, logarithmic, marks } from "./scale.js";
import { digitsApart, quantity, superscript } from "./text.js";

const TYPE = 12;
const [TICK, LEAST_MARGIN, NARROWEST] = [8, 10, 30];
/** Pixels for a number below an axis, and beside one. */
const [WIDE, HIGH] = [45, 32];
/** Panels on a telephone, which stand one below the other, are narrower. */
export const NARROW = 420;
const [SMALL, LARGE] = [1e-3, 1e5];

/**
 * @typedef {object} Axis
 * @property {number[]} ends low and high, or of names: left out
 * @property {boolean} [logarithmic]
 * @property {string} [label] with its unit, if it has one
 * @property {number[]} [ticks] where marks stand, if not at round numbers; none if empty
 * @property {(value: number) => string} [format]
 * @property {string[]} [names] of things in a row, in place of numbers: the i-th stands at i
 *
 * @typedef {object} Frame where a value stands, in pixels of the page
 * @property {(value: number) => number} x
 * @property {(value: number) => number} y
 * @property {(pixel: number[]) => number[]} at the values at a place, within the axes
 * @property {number} left
 * @property {number} right
 * @property {number} top
 * @property {number} bottom
 * @property {string} clip for what may leave the axes: `clip-path=${frame.clip}`
 */

/** On a logarithmic axis what is far from 1 stands as a power of ten. */
function decade(value) {
  const power = Math.log10(value);
  const far = value < SMALL * 0.99 || value >= LARGE;
  return far && Math.abs(power - Math.round(power)) < 1e-9
    ? `10${superscript(Math.round(power))}`
    : quantity(value);
}

/**
 * An axis as all marks use it: where a value stands and back, and its ticks.
 * @param {Axis} axis
 * @param {number[]} span in pixels
 */
function measured(axis, span) {
  const [from, to] = span;
  const names = axis.names;
  const around = names && [-0.5, names.length - 0.5];
  // Names stand as they are read: from the left, and from the top.
  const ends = (from > to ? around?.reverse() : around) ?? axis.ends;
  /** @type {any} */
  const scale = axis.logarithmic ? logarithmic : linear;
  const count = Math.abs(to - from) / (from > to ? HIGH : WIDE);
  const ticks = names ? upTo(names.length) : (axis.ticks ?? marks(ends, axis.logarithmic, count));
  const back = (pixel) => {
    const share = clamp((pixel - from) / (to - from), 0, 1);
    return axis.logarithmic
      ? ends[0] * (ends[1] / ends[0]) ** share
      : ends[0] + share * (ends[1] - ends[0]);
  };
  const digits = digitsApart(ticks);
  const plain = axis.logarithmic ? decade : (tick) => quantity(tick, "", digits);
  const text = names ? (i) => names[i] : (axis.format ?? plain);
  return { at: scale(ends, [from, to]), back, ticks, texts: ticks.map((tick) => text(tick)) };
}

/** On a telephone, where panels stand one below the other, they are lower. @param {any} ui */
export const heightOf = (ui, height) =>
  ui.width("panels", NARROW) < NARROW ? Math.round(0.7 * height) : height;

/**
 * A panel with axes, `grow` times as wide as others beside it, and `height` pixels high.
 * @param {any} ui
 * @param {{ name: string, title?: unknown, says: string, x: Axis, y: Axis, height?: number,
 *   grow?: number, room?: number, margin?: number, group?: boolean, equal?: boolean }} options
 *   `says` is for those who do not see it; `room` is left free at the right, `margin` at least for
 *   the numbers at the left; a `group` holds handles; on `equal` axes a circle is round, and one of
 *   them reaches farther than asked
 * @param {(frame: Frame) => unknown} draw
 */
export function panel(ui, options, draw) {
  const { name, title, says, grow = 1, room = 0, margin = NARROWEST, group = false } = options;
  const height = heightOf(ui, options.height ?? 220);
  let { x, y } = options;
  const width = ui.width(name, 300);
  const foot = (x.label ? 20 : 4) + (x.ticks?.length === 0 ? 0 : 18);
  const [top, bottom] = [y.label ? 24 : 8, height - foot];
  let up = measured(y, [bottom, top]);
  const widest = Math.max(0, ...up.texts.map((text) => textWidth(text, TYPE)));
  const left = widest ? Math.max(margin, Math.ceil(widest) + TICK) : LEAST_MARGIN;
  const right = width - LEAST_MARGIN - room;
  if (options.equal) [x, y] = rounded([x, right - left], [y, bottom - top]);
  const along = measured(x, [left, right]);
  if (options.equal) up = measured(y, [bottom, top]);
  const clip = `${ui.id}-${name}`;
  const frame = {
    ...{ x: along.at, y: up.at, left, right, top, bottom, clip: `url(#${clip})` },
    at: ([px, py]) => [along.back(px), up.back(py)],
  };
  // A slim one may stand beside another on a telephone.
  const least = grow < 1 ? "; min-width: 0" : "";
  return html`<div class="cw-panel" style="flex-grow: ${grow}; flex-basis: ${9.5 * grow}rem${least}">
    ${title ? html`<p class="cw-panel-title">${title}</p>` : nothing}
    <div data-measure=${name}>
      <svg viewBox="0 0 ${width} ${height}" role=${group ? "group" : "img"}
        aria-label=${says}>
        <defs><clipPath id=${clip}><rect x=${left} y=${top} width=${Math.max(0, right - left)}
          height=${bottom - top}></rect></clipPath></defs>
        ${grid(frame, along, up, width)}${draw(frame)}${names({ x, y }, frame, [width, height])}
      </svg>
    </div>
  </div>`;
}

/** The texts below an axis, from the last on those for which there is room. */
function legible({ at, ticks, texts }, width) {
  const kept = [];
  let free = width;
  for (let i = ticks.length - 1; i >= 0; i -= 1) {
    const half = textWidth(texts[i], TYPE) / 2;
    const x = Math.min(at(ticks[i]), width - half);
    if (x + half > free) continue;
    kept.push({ text: texts[i], x });
    free = x - half - TICK;
  }
  return kept;
}

/** The texts beside an axis, from the first on those for which there is room. */
function stacked({ at, ticks, texts }) {
  const kept = [];
  ticks.forEach((tick, i) => {
    const y = at(tick);
    if (kept.every((other) => Math.abs(other.y - y) > TYPE)) kept.push({ text: texts[i], y });
  });
  return kept;
}

/** Two axes with ends so far apart that a unit is as long on both. */
function rounded(...axes) {
  const unit = Math.min(...axes.map(([{ ends }, length]) => length / (ends[1] - ends[0])));
  return axes.map(([axis, length]) => {
    const [middle, half] = [(axis.ends[0] + axis.ends[1]) / 2, length / unit / 2];
    return { ...axis, ends: [middle - half, middle + half] };
  });
}

function grid({ left, right, top, bottom }, along, up, width) {
  const level = (tick) => svg`<path d="M${left} ${up.at(tick)}H${right}"></path>`;
  const side = ({ text, y }) =>
    svg`<text x=${left - 6} y=${y + 4} text-anchor="end">${text}</text>`;
  const foot = ({ text, x }) =>
    svg`<text x=${x} y=${bottom + 16} text-anchor="middle">${text}</text>`;
  return svg`<g class="cw-axes">
    <rect x=${left} y=${top} width=${Math.max(0, right - left)} height=${bottom - top}
      rx="3"></rect>
    ${up.ticks.map(level)}${stacked(up).map(side)}${legible(along, width).map(foot)}
  </g>`;
}

function names({ x, y }, { right }, [width, height]) {
  const cut = (text, room) => shortened(text, Math.max(0, room), TYPE);
  return svg`<g class="cw-axes">
    <text x="0" y="13">${cut(y.label ?? "", width)}</text>
    <text x=${right} y=${height - 4} text-anchor="end">${cut(x.label ?? "", right)}</text>
  </g>`;
}

const path = (frame, points) =>
  `M${points.map(([x, y]) => `${frame.x(x).toFixed(1)} ${frame.y(y).toFixed(1)}`).join("L")}`;

/**
 * A line through points.
 * @param {Frame} frame
 * @param {number[][]} points
 * @param {{ colour?: string, width?: number, dash?: string, opacity?: number }} [look] `dash` tells
 *   lines apart without colours
 */
export const line = (
  frame,
  points,
  { colour = "var(--cw-accent)", width = 2.5, dash = "", opacity = 1 } = {},
) => svg`<path clip-path=${frame.clip} d=${path(frame, points)} fill="none" stroke=${colour}
  stroke-width=${width} stroke-dasharray=${dash || nothing} stroke-opacity=${opacity}
  stroke-linejoin="round"></path>`;

/** What lies between points and a level. @param {Frame} frame @param {number[][]} points */
export const area = (frame, points, level, { colour = "var(--cw-accent)", opacity = 0.2 } = {}) => {
  const [first, last] = [points[0], points[points.length - 1]];
  const round = [...points, [last[0], level], [first[0], level]];
  return svg`<path clip-path=${frame.clip} d="${path(frame, round)}Z" fill=${colour}
    fill-opacity=${opacity}></path>`;
};

/**
 * A bar from `base` to each value, the i-th at i or at `places[i]`, `wide` as measured on the axis.
 * @param {Frame} frame
 * @param {number[]} values
 * @param {{ colour?: (i: number) => string, wide?: number, places?: number[], base?: number }}
 *   [look]
 */
export function bars(
  frame,
  values,
  { colour = () => "var(--cw-accent)", wide = 0.7, places = upTo(values.length), base = 0 } = {},
) {
  const bar = (value, i) => {
    const [left, right] = [places[i] - wide / 2, places[i] + wide / 2].map(frame.x);
    const [from, to] = [base, value].map((v) => clamp(frame.y(v), frame.top, frame.bottom));
    return svg`<rect data-value=${value} x=${left} y=${Math.min(from, to)}
      width=${Math.max(0.5, right - left)} height=${Math.abs(from - to)} fill=${colour(i)}></rect>`;
  };
  return values.map(bar);
}

/** A dot at a point. @param {Frame} frame @param {number[]} point */
export const dot = (frame, [x, y], { colour = "var(--cw-ink)", r = 5 } = {}) =>
  svg`<circle cx=${frame.x(x)} cy=${clamp(frame.y(y), frame.top, frame.bottom)} r=${r}
    fill=${colour} stroke="var(--cw-paper)" stroke-width="1.5"></circle>`;

/**
 * A straight line over the whole panel at x or at y, with a word beside it.
 * @param {Frame} frame
 * @param {{ x?: number, y?: number, label?: string, late?: boolean, colour?: string,
 *   dash?: string }} look `late`: the word stands at the foot or at the right
 */
export function rule(
  frame,
  { x, y, label = "", late = false, colour = "var(--cw-edge)", dash = "5 4" },
) {
  const upright = x !== undefined;
  const at = upright ? frame.x(x) : frame.y(y);
  const way = upright
    ? `M${at} ${frame.top}V${frame.bottom}`
    : `M${frame.left} ${at}H${frame.right}`;
  const [tx, ty] = upright
    ? [at + 4, late ? frame.bottom - 6 : frame.top + 12]
    : [late ? frame.right - 6 : frame.left + 6, at - 5];
  const anchor = late && !upright ? "end" : "start";
  return svg`<path d=${way} stroke=${colour} stroke-width="1.5"
      stroke-dasharray=${dash || nothing}></path>
    ${label ? svg`<text class="cw-halo" x=${tx} y=${ty} text-anchor=${anchor}>${label}</text>` : nothing}`;
}

/**
 * Hides the part of a chart after x, so that a reader can guess it first.
 * @param {Frame} frame
 */
export const future = ({ x: across, right, top, bottom }, x) =>
  svg`<rect class="cw-future" x=${across(x)} y=${top} width=${Math.max(0, right - across(x))}
    height=${bottom - top} fill="var(--cw-panel)"></rect>`;

/** A word at a point. @param {Frame} frame @param {number[]} point @param {string} text */
export const word = (frame, [x, y], text, { colour = "var(--cw-ink)", anchor = "start" } = {}) =>
  svg`<text class="cw-halo" x=${frame.x(x)} y=${frame.y(y) - 6} text-anchor=${anchor}
    style="fill: ${colour}">${text}</text>`;

/**
 * What mouse, finger and arrow keys move: to a point of the axes, or by steps.
 * @param {Frame} frame
 * @param {{ point: number[], label: string, kind: string, moveTo: (point: number[]) => void,
 *   moveBy: (step: number[]) => void }} grip `label` tells its name and where it stands; `kind` is
 *   such as "movable eigenvalue"
 * @param {unknown} [shape] around (0, 0)
 */
export function handle(frame, { point: [x, y], label, kind, moveTo, moveBy }, shape = KNOB) {
  const grip = dragging({ moveTo: (pixel) => moveTo(frame.at(pixel)), moveBy });
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription=${kind}
    aria-label="${label}; arrow keys move it" transform="translate(${frame.x(x)} ${frame.y(y)})"
    @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="20" fill="transparent"></circle>${shape}
  </g>`;
}

const KNOB = svg`<circle r="8" fill="var(--cw-warm)" stroke="var(--cw-paper)"
  stroke-width="2"></circle>`;

/**
 * A press in a panel, as a handle takes it: spread over the panel behind the handles.
 * @param {Frame} frame
 * @param {(point: number[]) => void} moveTo
 */
export function ground(frame, moveTo) {
  const { left, right, top, bottom } = frame;
  const press = (event) => moveTo(frame.at(pointIn(event)));
  return svg`<rect x=${left} y=${top} width=${Math.max(0, right - left)} height=${bottom - top}
    fill="transparent" style="cursor: crosshair" @click=${press}></rect>`;
}

/**
 * A matrix as cells, the deeper the larger a value in [0, 1], on two axes of `names`.
 * @param {Frame} frame
 * @param {number[][]} matrix
 */
export function cells(frame, matrix, { colour = "var(--cw-accent)", depth = Math.sqrt } = {}) {
  return matrix.flatMap((row, i) =>
    row.map((value, j) => {
      const [left, right] = [frame.x(j - 0.5), frame.x(j + 0.5)];
      const [top, bottom] = [frame.y(i - 0.5), frame.y(i + 0.5)];
      return svg`<rect x=${left} y=${top} width=${right - left} height=${bottom - top}
        fill=${colour} fill-opacity=${depth(clamp(value, 0, 1))}></rect>`;
    }),
  );
}

/**
 * What the lines of a panel are, each with a piece of it.
 * @param {{ text: string, colour: string, dash?: string, width?: number }[]} lines
 */
export const legend = (lines) =>
  html`<span class="cw-legend">${lines.map(
    ({ text, colour, dash = "", width = 2.5 }) => html`<span>
    <svg viewBox="0 0 24 10" aria-hidden="true"><path d="M0 5H24" stroke=${colour}
      stroke-width=${width} stroke-dasharray=${dash || nothing}></path></svg>${text}</span>`,
  )}</span>`;
