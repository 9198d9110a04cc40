import { series } from "../controls.js";
import { alongALine, inThePlane } from "../keys.js";
import { clamp } from "../maths/numerics.js";
import { painted } from "../painted.js";
import { pointIn } from "../plane.js";
import { number, visible } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const LEFT = 38;
const RIGHT = 8;
const [NARROWEST, WIDEST] = [3, 46];
const BARS = 60;
const TRACE = 72;
/** How wide the picture is before it is measured. */
export const WIDTH = 560;
const GAP = 0.07;

/**
 * Where all stands: letters across; their opinions above the map, one unit's course below it.
 * @param {number} letters
 * @param {number} units
 * @param {number} labels
 * @param {number} width
 */
export function layout(letters, units, labels, width) {
  const cell = clamp((width - LEFT - RIGHT) / letters, NARROWEST, WIDEST);
  const top = labels ? 16 : 0;
  const base = labels ? top + BARS : 0;
  const mapTop = base + 34;
  const rowHeight = clamp(400 / units, 6, 24);
  const mapEnd = mapTop + rowHeight * units;
  const traceTop = mapEnd + 32;
  const bottom = traceTop + TRACE;
  return { width, cell, top, base, mapTop, rowHeight, mapEnd, traceTop, bottom };
}

const middleOf = ({ cell }, t) => LEFT + cell * (t + 0.5);
const small = (x, y, text, { anchor = "end", here = false, size = 11 } = {}) =>
  svg`<text class=${here ? "cw-g-small cw-g-here" : "cw-g-small"} x=${x} y=${y}
    style="text-anchor: ${anchor}; font-size: ${size}px">${text}</text>`;

/** Each patch as full as its number, in the tone of its sign. */
function map({ letters, sorted, steps, quantity, depth, tones, lie }, ui) {
  const { cell, rowHeight, mapTop } = lie;
  const width = Math.ceil(cell * letters.length);
  const height = Math.ceil(rowHeight * sorted.length);
  const paint = (context) => {
    const [positive, negative] = tones.map((name) => ui.theme.ink(name));
    for (const t of letters.keys()) {
      sorted.forEach((unit, row) => {
        const share = depth(t, unit);
        context.fillStyle = share < 0 ? negative : positive;
        context.globalAlpha = Math.abs(share);
        context.fillRect(cell * t, rowHeight * row, cell - 1, rowHeight * (1 - GAP));
      });
    }
  };
  return html`<canvas aria-hidden="true"
    style="left: ${LEFT}px; top: ${mapTop}px; width: ${width}px; height: ${height}px"
    ${painted(ui, { width, height, inputs: [steps, quantity, sorted, cell], paint })}></canvas>`;
}

/** The chosen letter from top to bottom, but for the map, which lies beneath. */
function band({ at, lie }) {
  const { cell, mapTop, mapEnd, bottom } = lie;
  const stripe = (y, end) => svg`<rect class="cw-g-band" x=${LEFT + cell * at.letter - 1} y=${y}
    width=${cell + 1} height=${end - y} rx="4"></rect>`;
  return [stripe(0, mapTop - 1), stripe(mapEnd + 1, bottom + 4)];
}

/** A letter, and above it the opinion behind it. */
function head({ letters, opinions, changes, at, lie }, t) {
  const { cell, top, base } = lie;
  let filled = 0;
  const bars = opinions[t].map((share, i) => {
    filled += share;
    return svg`<rect class="cw-g-bar" x=${LEFT + cell * t} y=${base - BARS * filled}
      width=${cell - 1} height=${BARS * share} fill=${series(i)}></rect>`;
  });
  const lead = bars.length && cell > 19 ? number(100 * Math.max(...opinions[t]), 0) : "";
  const options = { anchor: "middle", here: changes.includes(t) };
  return svg`${bars}${lead && small(middleOf(lie, t), top - 5, lead, options)}
    <text class=${t === at.letter ? "cw-g-letter-here" : ""} x=${middleOf(lie, t)} y=${base + 23}
      text-anchor="middle">${visible(letters[t])}</text>`;
}

/** The course of the shown quantity in the chosen unit. */
function trace({ letters, title, at, open, bound, depth, lie }) {
  const { cell, traceTop, bottom } = lie;
  const height = (share) => traceTop + TRACE * (open ? 1 - share : (1 - share) / 2);
  const points = letters.map((_, t) => [middleOf(lie, t), height(depth(t, at.unit))]);
  const [x, y] = points[at.letter];
  return svg`<path class="cw-g-rule" d="M${LEFT} ${height(0)}h${cell * letters.length}"></path>
    <path class="cw-g-line" d="M${points.join("L")}"></path>
    <path class="cw-g-line cw-g-dots" d=${points.map((point) => `M${point}h0`).join("")}></path>
    <circle r="5.5" cx=${x} cy=${y} fill="var(--cw-warm)"></circle>
    ${small(LEFT, traceTop - 10, title, { anchor: "start" })}
    ${small(LEFT - 7, traceTop + 4, open ? "1" : `+${bound}`)}
    ${small(LEFT - 7, bottom, open ? "0" : `−${bound}`)}`;
}

function unitNames({ sorted, at, lie }) {
  const { mapTop, rowHeight } = lie;
  const size = clamp(rowHeight - 1, 9, 11);
  const name = (unit, row) => {
    const here = row === at.row;
    const text = small(LEFT - 7, mapTop + rowHeight * (row + 0.5) + 4, unit + 1, { here, size });
    return svg`<g visibility=${here || rowHeight > 9 ? "visible" : "hidden"}>${text}</g>`;
  };
  return svg`<g class="cw-g-units">${sorted.map(name)}</g>`;
}

/** What mouse, finger and keys do in the picture. */
function hands(ui) {
  const last = (list) => list.length - 1;
  const choose = ({ letter, row }) =>
    ui.set({ hovered: null, letter, unit: ui.now.sorted[row] ?? ui.now.unit });
  const found = (event) => {
    const { letters, lie } = ui.now;
    const [x, y] = pointIn(event.currentTarget, event);
    const letter = clamp(Math.floor((x - LEFT) / lie.cell), 0, last(letters));
    return { letter, row: Math.floor((y - lie.mapTop) / lie.rowHeight) };
  };
  const walk = (across, down) => {
    const { letter, letters, sorted, unit } = ui.now;
    const row = clamp(sorted.indexOf(unit) + down, 0, last(sorted));
    choose({ letter: clamp(letter + across, 0, last(letters)), row });
  };
  const arrows = inThePlane(([across, up]) => walk(across, -up));
  const ends = alongALine((step) => walk(step, 0));
  return {
    keep: (event) => choose(found(event)),
    point: (event) => {
      if (event.buttons) choose(found(event));
      else if (event.pointerType === "mouse") ui.set({ hovered: found(event) });
    },
    leave: () => ui.set({ hovered: null }),
    keys: (event) => (event.key.startsWith("Arrow") ? arrows : ends)(event),
  };
}

/** What is chosen in the map, for hand and keyboard. */
function surface({ letters, at, said, lie }, keys) {
  const { cell, mapTop, mapEnd, rowHeight } = lie;
  const across = cell * letters.length;
  const y = mapTop + rowHeight * at.row - 1;
  return svg`<g class="cw-g-map" tabindex="0" role="slider" aria-label="Letter and unit"
    aria-valuemin="1" aria-valuemax=${letters.length} aria-valuenow=${at.letter + 1}
    aria-valuetext=${said} @keydown=${keys}>
    <rect x=${LEFT} y=${mapTop} width=${across} height=${mapEnd - mapTop} fill="transparent"></rect>
    <rect class="cw-g-row" x=${LEFT - 2} y=${y} width=${across + 2} height=${rowHeight + 1}></rect>
    <rect class="cw-g-spot" x=${LEFT + cell * at.letter - 1} y=${y} width=${cell + 1}
      height=${rowHeight + 1} rx="2"></rect>
  </g>`;
}

/** What the network thinks, what each unit does, and what one of them does. */
export function gatePicture(now, ui) {
  const { letters, labels, lie } = now;
  const { keep, point, leave, keys } = hands(ui);
  const middle = `M${LEFT} ${lie.base - BARS / 2}h${lie.cell * letters.length}`;
  return html`<div class="cw-g-picture" data-measure="map">
    ${map(now, ui)}
    <svg viewBox="0 0 ${lie.width} ${lie.bottom + 8}" height=${lie.bottom + 8}
      @click=${keep} @pointermove=${point} @pointerleave=${leave}>
      <g aria-hidden="true">
        ${band(now)} ${labels.length ? small(LEFT - 7, lie.top - 5, "%") : nothing}
        ${letters.map((_, t) => head(now, t))}
        ${labels.length === 2 ? svg`<path class="cw-g-half" d=${middle}></path>` : nothing}
      </g>
      ${surface(now, keys)}
      <g aria-hidden="true">${trace(now)} ${unitNames(now)}</g>
    </svg>
  </div>`;
}
