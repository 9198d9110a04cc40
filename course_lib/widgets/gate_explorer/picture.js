import { series } from "../kit/controls.js";
import { alongALine, inThePlane } from "../kit/keys.js";
import { painted } from "../kit/painted.js";
import { pointIn } from "../kit/plane.js";
import { number, visible } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { exchanged } from "./vessel.js";

const LEFT = 38;
const RIGHT = 8;
const [NARROWEST, WIDEST] = [3, 76];
const BARS = 60;
const TRACE = 72;
/** Above the rows of the map. */
const HEAD = 2;
/** Numbers, and those above columns that have room for larger ones. */
const [TYPE, LARGER, ROOMY] = [12, 14, 40];
/** How wide the picture is before it is measured. */
export const WIDTH = 320;
/** The scale of the glass and of the course, the same for all words: few cells go beyond. */
export const REACH = { cell: 3, hidden: 1, candidate: 1 };
const GAP = 0.07;
const FAINT = 0.25;

/**
 * Where all stands: letters across; their opinions above them; below one unit's course, or in
 * columns as wide the map of all units.
 * @param {number} letters
 * @param {number} units
 * @param {number} labels
 * @param {number} width
 * @param {boolean} mapped
 */
export function layout(letters, units, labels, width, mapped) {
  const cell = clamp((width - LEFT - RIGHT) / letters, NARROWEST, WIDEST);
  const top = labels ? 16 : 0;
  const base = labels ? top + BARS : 0;
  const traceTop = base + 52;
  const bottom = mapped ? base + 30 : traceTop + TRACE;
  const rowHeight = clamp(256 / units, 6, 20);
  const mapEnd = HEAD + rowHeight * units;
  return { width, cell, top, base, traceTop, bottom, rowHeight, mapEnd };
}

const middleOf = ({ cell }, t) => LEFT + cell * (t + 0.5);
const small = (x, y, text, { anchor = "end", here = false, size = TYPE } = {}) =>
  svg`<text class=${here ? "cw-small cw-strong" : "cw-small"} x=${x} y=${y}
    style="text-anchor: ${anchor}; font-size: ${size}px">${text}</text>`;

/** Each patch as full as its number, in the tone of its sign. */
function map({ letters, sorted, steps, quantity, depth, tones, playing, read, lie }, ui) {
  const { cell, rowHeight } = lie;
  const width = Math.ceil(cell * letters.length);
  const height = Math.ceil(rowHeight * sorted.length);
  const poured = playing ? read : letters.length;
  const paint = (context) => {
    const [positive, negative] = tones.map((name) => ui.theme.ink(name));
    for (const t of upTo(poured)) {
      sorted.forEach((unit, row) => {
        const share = depth(t, unit);
        context.fillStyle = share < 0 ? negative : positive;
        context.globalAlpha = Math.abs(share);
        context.fillRect(cell * t, rowHeight * row, cell - 1, rowHeight * (1 - GAP));
      });
    }
  };
  return html`<canvas aria-hidden="true"
    style="left: ${LEFT}px; top: ${HEAD}px; width: ${width}px; height: ${height}px"
    ${painted(ui, { width, height, inputs: [steps, quantity, sorted, cell, poured], paint })}></canvas>`;
}

/** The chosen letter from top to bottom. */
const band = ({ at, lie: { cell } }, top, bottom) =>
  svg`<rect fill="var(--cw-ink)" fill-opacity="0.08" x=${LEFT + cell * at.letter - 1} y=${top}
    width=${cell + 1} height=${bottom - top} rx="4"></rect>`;

const letterName = ({ letters, at, lie }, t, y) =>
  svg`<text class=${t === at.letter ? "cw-g-letter-here" : ""} x=${middleOf(lie, t)} y=${y}
    text-anchor="middle">${visible(letters[t])}</text>`;

/** A letter, and above it the opinion behind it, which is faint until the letter is read. */
function head(now, t) {
  const { opinions, changes, at, share, read, playing, lie } = now;
  const { cell, top, base } = lie;
  let filled = 0;
  const bars = opinions[t].map((part, i) => {
    filled += part;
    return svg`<rect class="cw-g-bar" x=${LEFT + cell * t} y=${base - BARS * filled}
      width=${cell - 1} height=${BARS * part} fill=${series(i)}></rect>`;
  });
  const come = t < read ? 1 : t > at.letter ? 0 : exchanged(share);
  // What is to come would give the answer away.
  const faint = playing ? 0 : FAINT;
  const lead =
    bars.length && cell > 19 && t < read ? number(100 * Math.max(...opinions[t]), 0) : "";
  const size = cell > ROOMY ? LARGER : TYPE;
  const options = { anchor: "middle", here: changes.includes(t), size };
  return svg`<g opacity=${faint + (1 - faint) * come}>${bars}</g>
    ${lead && small(middleOf(lie, t), top - 5, lead, options)} ${letterName(now, t, base + 23)}`;
}

/** The course of the shown quantity in the chosen unit, and how far the reading has come. */
function trace({ letters, steps, title, at, share, playing, open, quantity, lie }) {
  const { cell, traceTop, bottom } = lie;
  const values = steps.map((step) => step[quantity][at.unit]);
  const most = open ? 1 : Math.max(REACH[quantity] ?? 0, ...values.map(Math.abs)) || 1;
  const height = (value) => traceTop + TRACE * (open ? 1 - value : (1 - value / most) / 2);
  const points = values.map((value, t) => [middleOf(lie, t), height(value)]);
  const [here, last] = [points[at.letter], points[Math.max(0, at.letter - 1)]];
  const [x, y] = here.map((end, i) => last[i] + share * (end - last[i]));
  const past = [...points.slice(0, at.letter), [x, y]];
  return svg`<g fill="none" stroke="var(--cw-line)">
      <path d="M${LEFT} ${height(0)}h${cell * letters.length}"></path>
      <path visibility=${playing ? "hidden" : "visible"} d="M${points.join("L")}"></path></g>
    <path fill="none" stroke="var(--cw-ink)" stroke-width="1.5" d="M${past.join("L")}"></path>
    <path style="stroke-linecap: round" fill="none" stroke="var(--cw-ink)" stroke-width="6"
      data-top=${traceTop} data-reach=${most.toFixed(6)}
      d=${past.map((point) => `M${point}h0`).join("")}></path>
    <circle r="5.5" cx=${x} cy=${y} fill="var(--cw-warm)"></circle>
    ${small(LEFT, traceTop - 10, title, { anchor: "start" })}
    ${small(LEFT - 7, traceTop + 4, open ? "1" : `+${number(most, 1)}`)}
    ${small(LEFT - 7, bottom, open ? "0" : `−${number(most, 1)}`)}`;
}

function unitNames({ sorted, at, lie }) {
  const { rowHeight } = lie;
  const each = Math.ceil(TYPE / rowHeight);
  const name = (unit, row) => {
    const here = row === at.row;
    const text = small(LEFT - 7, HEAD + rowHeight * (row + 0.5) + 4, unit + 1, { here });
    const room = row % each === at.row % each;
    return svg`<g visibility=${room ? "visible" : "hidden"}>${text}</g>`;
  };
  return svg`<g class="cw-g-units">${sorted.map(name)}</g>`;
}

/** What mouse, finger and keys do in the picture: `choose` takes a letter and a unit. */
function hands(ui, choose) {
  const last = (list) => list.length - 1;
  const found = (event) => {
    const { letters, lie, sorted } = ui.now;
    const [x, y] = pointIn(event);
    const letter = clamp(Math.floor((x - LEFT) / lie.cell), 0, last(letters));
    const inTheMap = event.currentTarget.classList.contains("cw-g-rows");
    const row = inTheMap ? Math.floor((y - HEAD) / lie.rowHeight) : -1;
    return { letter, unit: sorted[row] ?? ui.now.unit };
  };
  const walk = (across, down) => {
    const { letter, letters, sorted, unit } = ui.now;
    const row = clamp(sorted.indexOf(unit) + down, 0, last(sorted));
    choose({ letter: clamp(letter + across, 0, last(letters)), unit: sorted[row] });
  };
  const arrows = inThePlane(([across, up]) => walk(across, -up));
  const ends = alongALine((step) => walk(step, 0));
  return {
    keep: (event) => choose(found(event)),
    point: (event) => {
      if (event.buttons) choose(found(event));
      else if (event.pointerType === "mouse" && !ui.now.playing) ui.set({ hovered: found(event) });
    },
    leave: () => ui.set({ hovered: null }),
    keys: (event) => (event.key.startsWith("Arrow") ? arrows : ends)(event),
  };
}

/** A part of the picture for hand and keyboard. */
function handle({ letters, at, said }, label, keys, content) {
  return svg`<g style="cursor: crosshair" tabindex="0" role="slider" aria-label=${label}
    aria-valuemin="1" aria-valuemax=${letters.length} aria-valuenow=${at.letter + 1}
    aria-valuetext=${said} @keydown=${keys}>${content}</g>`;
}

/** What the network thinks after each letter, and the course of one unit. */
export function coursePicture(now, ui, choose) {
  const { letters, labels, lie } = now;
  const { keep, point, leave, keys } = hands(ui, choose);
  const middle = `M${LEFT} ${lie.base - BARS / 2}h${lie.cell * letters.length}`;
  const surface = svg`<rect x=${LEFT} y=${lie.top} width=${lie.cell * letters.length}
    height=${lie.bottom - lie.top} fill="transparent"></rect>`;
  return html`<div class="cw-painted cw-g-picture" data-measure="map">
    <svg viewBox="0 0 ${lie.width} ${lie.bottom + 8}" height=${lie.bottom + 8}
      @click=${keep} @pointermove=${point} @pointerleave=${leave}>
      <g aria-hidden="true">
        ${band(now, 0, lie.bottom + 4)} ${labels.length ? small(LEFT - 7, lie.top - 5, "%") : nothing}
        ${letters.map((_, t) => head(now, t))}
        <path stroke="var(--cw-paper)" stroke-dasharray="3 4" d=${labels.length === 2 ? middle : ""}></path>
        ${now.all_units ? nothing : trace(now)}
      </g>
      ${handle(now, "Letter", keys, surface)}
    </svg>
  </div>`;
}

/** What each unit does at each letter. */
export function mapPicture(now, ui, choose) {
  const { letters, at, lie } = now;
  const { keep, point, leave, keys } = hands(ui, choose);
  const { cell, mapEnd, rowHeight } = lie;
  const across = cell * letters.length;
  const y = HEAD + rowHeight * at.row - 1;
  const surface = svg`<rect x=${LEFT} y=${HEAD} width=${across} height=${mapEnd - HEAD}
      fill="transparent"></rect>
    <rect fill="none" stroke="var(--cw-ink)" stroke-opacity="0.35" x=${LEFT - 2} y=${y}
      width=${across + 2} height=${rowHeight + 1}></rect>
    <rect fill="none" stroke="var(--cw-warm)" stroke-width="2.5" x=${LEFT + cell * at.letter - 1}
      y=${y} width=${cell + 1} height=${rowHeight + 1} rx="2"></rect>`;
  return html`<div class="cw-painted cw-g-picture">
    ${map(now, ui)}
    <svg class="cw-g-rows" viewBox="0 0 ${lie.width} ${mapEnd + 4}" height=${mapEnd + 4}
      @click=${keep} @pointermove=${point} @pointerleave=${leave}>
      ${handle(now, "Letter and unit", keys, surface)}
      <g aria-hidden="true">${unitNames(now)}</g>
    </svg>
  </div>`;
}
