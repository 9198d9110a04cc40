// The chart on which a curve is sketched.

import { middleOf, textWidth, widest } from "../kit/lettering.js";
import { dragging, pointIn } from "../kit/plane.js";
import { marks } from "../kit/scale.js";
import { quantity } from "../kit/text.js";
import { axis, between, curveOff, distance, isHit, stroked } from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { hand } from "./hand.js";
import { labelled } from "./line.js";

export const KNOTS = 25;
const HEIGHT = 250;
const [NARROWEST, RIGHT, TOP, BOTTOM] = [52, 16, 26, 44];
const FLOOR = HEIGHT - BOTTOM;
const KEY_STEP = 0.02;
const DIGITS = 4;
const DOTS = 32;
const SIZE = 13;
const BESIDE = 8;

/** On an axis a power of ten needs no factor of one. */
const tick = (value) => quantity(value).replace(/^1\.0·/, "");

const pathOf = (points) => `M${points.map((point) => point.map((p) => p.toFixed(1))).join("L")}`;

/** The chart's window in pixels. */
function frameOf(now, ui) {
  const width = ui.width("chart", 640);
  const [along, height] = [axis(now.across, now.xlog), axis(now.up, now.ylog)];
  const levels = marks(now.up, now.ylog, 4);
  const left = Math.max(NARROWEST, 12 + widest(levels.map(tick), SIZE));
  const across = (share) => left + share * (width - left - RIGHT);
  const up = (share) => FLOOR - share * (FLOOR - TOP);
  return {
    width,
    left,
    levels,
    along,
    height,
    across,
    up,
    knotAt: (x) => Math.round(clamp((x - left) / (width - left - RIGHT), 0, 1) * (KNOTS - 1)),
    shareAt: (y) => clamp((FLOOR - y) / (FLOOR - TOP), 0, 1),
    curve: pathOf(now.guess.map((v, i) => [across(i / (KNOTS - 1)), up(height.share(v))])),
    truth: now.x.map((x, i) => [across(along.share(x)), up(height.share(now.truth[i]))]),
  };
}

/** Draws from where the pen is, or where the curve ends, to a knot and a share of the height. */
function drawTo(ui, to, from = null) {
  const { guess, up, ylog, drawn } = ui.now;
  const height = axis(up, ylog);
  const known = guess.length ? guess.map(height.share) : new Array(KNOTS).fill(to[1]);
  const reach = guess.length ? (drawn ?? [0, KNOTS - 1]) : null;
  const end = reach && clamp(to[0], reach[0], reach[1]);
  const start = from ?? (reach && end !== to[0] ? [end, known[end]] : to);
  const after = stroked({ heights: known, drawn: reach }, start, to);
  const value = (share) => clamp(Number(height.at(share).toPrecision(DIGITS)), up[0], up[1]);
  const changed = after.heights.map((share, i) =>
    guess.length && share === known[i] ? guess[i] : value(share),
  );
  ui.set({ guess: changed, drawn: after.drawn, at: to[0], pen: to });
}

/** @param {number[]} step @param {any} ui */
function moveBy([dx, dy], ui) {
  const { at, guess, up, ylog } = ui.now;
  const knot = clamp(at + dx, 0, KNOTS - 1);
  const here = guess.length ? axis(up, ylog).share(guess[knot]) : 0.5;
  if (dy) drawTo(ui, [knot, clamp(here + KEY_STEP * dy, 0, 1)]);
  else ui.set({ at: knot });
}

function surface(now, ui, frame) {
  const { at, guess, revealed, unit, xlabel } = now;
  const place = (pixel) => [frame.knotAt(pixel[0]), frame.shareAt(pixel[1])];
  const grip = dragging({
    moveTo: (pixel) => drawTo(ui, place(pixel), ui.now.pen),
    moveBy: (step) => moveBy(step, ui),
  });
  const draw = (event) => {
    if (ui.now.revealed) return;
    if (event.key === "Enter" && ui.now.guess.length) ui.set({ revealed: true });
    grip(event);
    if (event.type !== "pointerdown") return;
    drawTo(ui, place(pointIn(event.currentTarget.ownerSVGElement, event)));
  };
  const x = quantity(frame.along.at(at / (KNOTS - 1)));
  const said = guess.length ? quantity(guess[at], unit) : "nothing yet";
  return svg`<g class=${revealed ? "cw-p-pen" : "cw-p-pen cw-handle"} role="button"
    tabindex=${revealed ? -1 : 0} aria-disabled=${revealed} aria-roledescription="curve to draw"
    aria-label="at ${xlabel || "x"} = ${x} you draw ${said}; left and right arrows walk, up and
      down draw" @pointerdown=${draw} @pointermove=${draw} @keydown=${draw}>
    <rect x=${frame.left} y=${TOP} width=${frame.width - frame.left - RIGHT}
      height=${FLOOR - TOP} fill="transparent"></rect>
    <path class="cw-p-cursor" d="M${frame.across(at / (KNOTS - 1))} ${TOP}V${FLOOR}"></path>
  </g>`;
}

function axes(now, { width, left, levels, along, height, across, up }) {
  const level = (v) => svg`<path d="M${left} ${up(height.share(v))}H${width - RIGHT}"></path>`;
  const text = (v) => svg`<text x=${left - 8} y=${up(height.share(v)) + 4}
    text-anchor="end">${tick(v)}</text>`;
  const foot = ({ text, middle }) =>
    svg`<text x=${middle} y=${FLOOR + 18} text-anchor="middle">${text}</text>`;
  const feet = labelled(now.across, now.xlog, (v) => across(along.share(v)), width, "", true);
  return svg`<g class="cw-p-axes">
    <rect x=${left} y=${TOP} width=${width - left - RIGHT} height=${FLOOR - TOP} rx="4"></rect>
    ${levels.map(level)}${levels.map(text)}${feet.map(foot)}
    <text x="2" y="14">${now.ylabel}</text>
    <text x=${width - RIGHT} y=${HEIGHT - 6} text-anchor="end">${now.xlabel}</text>
  </g>`;
}

function truthCurve({ truth, curve }, { guess }) {
  const line = pathOf(truth);
  const gap = guess.length
    ? svg`<path class="cw-p-gap" d="${curve}L${pathOf(truth.toReversed()).slice(1)}Z"></path>`
    : nothing;
  const dot = ([x, y]) => svg`<circle cx=${x} cy=${y} r="3.5"></circle>`;
  return svg`${gap}<path class="cw-p-truth" pathLength="1" d=${line}></path>
    <g class="cw-p-dots">${truth.length <= DOTS ? truth.map(dot) : nothing}</g>`;
}

/** Where the guess is farthest from the truth: a line from one to the other, and how long it is. */
function worst(frame, now) {
  if (!now.guess.length || isHit(now)) return nothing;
  const { x, truth, ylog, guess, up, unit } = now;
  const at = curveOff(now).worst;
  const height = axis(up, ylog);
  const said = height.at(between(guess.map(height.share), frame.along.share(x[at])));
  const off = distance(said, truth[at], ylog);
  const text = ylog ? `× ${quantity(off)}` : quantity(off, unit === "%" ? "points" : unit);
  const place = frame.across(frame.along.share(x[at]));
  const [from, to] = [said, truth[at]].map((value) => frame.up(height.share(value)));
  const half = textWidth(text, SIZE, 650) / 2;
  // The numbers of the axis stand to the left.
  const middle =
    place - half < frame.left
      ? place + BESIDE + half
      : middleOf(text, place, frame.width - RIGHT, SIZE, 650);
  return svg`<path class="cw-p-worst" d="M${place} ${from}V${to}"></path>
    <text class="cw-p-off cw-halo" x=${middle} y=${(from + to) / 2 + 4}
      text-anchor="middle">${text}</text>`;
}

/** The two lines in the middle, between which there is room for a word. @param {number[]} heights */
function midmost(heights) {
  const at = Math.max(0, Math.floor(heights.length / 2) - 1);
  return [heights[at] ?? FLOOR, heights[at + 1] ?? TOP];
}

/** A chart with the guess, and with the truth once it is revealed. @param {any} now @param {any} ui */
export function sketch(now, ui) {
  const frame = frameOf(now, ui);
  const [lower, upper] = midmost(frame.levels.map((level) => frame.up(frame.height.share(level))));
  const between = (lower + upper) / 2;
  const invitation = svg`<text class="cw-p-faint" x=${frame.across(0.5)} y=${between - 10}
    text-anchor="middle">draw here</text>
    ${hand([frame.across(0), frame.across(1)], between + 8)}`;
  return html`<div data-measure="chart">
    <svg viewBox="0 0 ${frame.width} ${HEIGHT}" role="group" aria-label="A chart to draw in">
      ${axes(now, frame)}
      ${now.revealed ? truthCurve(frame, now) : nothing}
      ${now.guess.length ? svg`<path class="cw-p-guess" d=${frame.curve}></path>` : nothing}
      ${now.revealed ? worst(frame, now) : nothing}
      ${now.guess.length || now.revealed ? nothing : invitation}
      ${surface(now, ui, frame)}
    </svg>
  </div>`;
}
