// The chart on which a curve is sketched.

import { panel } from "../kit/charts.js";
import { middleOf, textWidth } from "../kit/lettering.js";
import { dragging, pointIn } from "../kit/plane.js";
import { marks } from "../kit/scale.js";
import { quantity } from "../kit/text.js";
import { axis, between, curveOff, distance, isHit, stroked } from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { hand } from "./hand.js";

export const KNOTS = 25;
const HEIGHT = 250;
const KEY_STEP = 0.02;
const DIGITS = 4;
const DOTS = 32;
const SIZE = 13;
const BESIDE = 8;

const pathOf = (frame, points) =>
  `M${points.map(([x, y]) => `${frame.x(x).toFixed(1)},${frame.y(y).toFixed(1)}`).join("L")}`;

/** The value at each knot. */
const knotsOf = ({ across, xlog }) => {
  const along = axis(across, xlog);
  return (knot) => along.at(knot / (KNOTS - 1));
};

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
  const [along, height] = [axis(now.across, now.xlog), axis(now.up, now.ylog)];
  const place = (pixel) => {
    const [x, y] = frame.at(pixel);
    return [Math.round(along.share(x) * (KNOTS - 1)), height.share(y)];
  };
  const grip = dragging({
    moveTo: (pixel) => drawTo(ui, place(pixel), ui.now.pen),
    moveBy: (step) => moveBy(step, ui),
  });
  const draw = (event) => {
    if (ui.now.revealed) return;
    if (event.key === "Enter" && ui.now.guess.length) ui.set({ revealed: true });
    grip(event);
    if (event.type !== "pointerdown") return;
    drawTo(ui, place(pointIn(event)));
  };
  const here = knotsOf(now)(at);
  const x = quantity(here);
  const said = guess.length ? quantity(guess[at], unit) : "nothing yet";
  return svg`<g class=${revealed ? "cw-p-pen" : "cw-p-pen cw-handle"} role="button"
    tabindex=${revealed ? -1 : 0} aria-disabled=${revealed} aria-roledescription="curve to draw"
    aria-label="at ${xlabel || "x"} = ${x} you draw ${said}; left and right arrows walk, up and
      down draw" @pointerdown=${draw} @pointermove=${draw} @keydown=${draw}>
    <rect x=${frame.left} y=${frame.top} width=${frame.right - frame.left}
      height=${frame.bottom - frame.top} fill="transparent"></rect>
    <path class="cw-p-cursor" stroke="var(--cw-edge)" stroke-dasharray="2 4"
      d="M${frame.x(here)} ${frame.top}V${frame.bottom}"></path>
  </g>`;
}

function truthCurve(frame, sketched, { x, truth }) {
  const points = x.map((place, i) => [place, truth[i]]);
  const gap = sketched.length
    ? svg`<path fill="var(--cw-warm)" fill-opacity="0.13"
      d="${pathOf(frame, [...sketched, ...points.toReversed()])}Z"></path>`
    : nothing;
  const dot = ([x, y]) => svg`<circle cx=${frame.x(x)} cy=${frame.y(y)} r="3.5"></circle>`;
  return svg`${gap}<path class="cw-p-truth" pathLength="1" fill="none"
      stroke="var(--cw-accent)" stroke-width="3" stroke-linejoin="round"
      d=${pathOf(frame, points)}></path>
    <g fill="var(--cw-accent)">${points.length <= DOTS ? points.map(dot) : nothing}</g>`;
}

/** Where the guess is farthest from the truth: a line from one to the other, and how long it is. */
function worst(frame, now) {
  if (!now.guess.length || isHit(now)) return nothing;
  const { x, truth, across, xlog, ylog, guess, up, unit } = now;
  const at = curveOff(now).worst;
  const [along, height] = [axis(across, xlog), axis(up, ylog)];
  const said = height.at(between(guess.map(height.share), along.share(x[at])));
  const off = distance(said, truth[at], ylog);
  const text = ylog ? `× ${quantity(off)}` : quantity(off, unit === "%" ? "points" : unit);
  const place = frame.x(x[at]);
  const [from, to] = [said, truth[at]].map(frame.y);
  const half = textWidth(text, SIZE, 650) / 2;
  // The numbers of the axis stand to the left.
  const middle =
    place - half < frame.left
      ? place + BESIDE + half
      : middleOf(text, place, frame.right, SIZE, 650);
  return svg`<path class="cw-p-worst" stroke="var(--cw-warm)" stroke-width="2"
      d="M${place} ${from}V${to}"></path>
    <text class="cw-p-off cw-halo" x=${middle} y=${(from + to) / 2 + 4}
      text-anchor="middle">${text}</text>`;
}

/** A chart with the guess, and with the truth once it is revealed. @param {any} now @param {any} ui */
export function sketch(now, ui) {
  const { guess, revealed, across, up, xlog, ylog, xlabel, ylabel } = now;
  const sketched = guess.map((value, knot) => [knotsOf(now)(knot), value]);
  const levels = marks(up, ylog, 4);
  const ends = [...new Set([...marks(across, xlog, 7), ...across])].sort((a, b) => a - b);
  const x = { ends: across, logarithmic: xlog, label: xlabel, ticks: ends };
  const y = { ends: up, logarithmic: ylog, label: ylabel, ticks: levels };
  const says = "A chart to draw in";
  return panel(ui, { name: "chart", says, x, y, height: HEIGHT, group: true }, (frame) => {
    // Between the two lines in the middle there is room for a word.
    const at = Math.max(0, Math.floor(levels.length / 2) - 1);
    const middle = (frame.y(levels[at] ?? up[0]) + frame.y(levels[at + 1] ?? up[1])) / 2;
    const invitation = svg`<text class="cw-p-faint" x=${(frame.left + frame.right) / 2}
      y=${middle - 10} text-anchor="middle">draw here</text>
      ${hand([frame.left, frame.right], middle + 8)}`;
    return svg`${revealed ? truthCurve(frame, sketched, now) : nothing}
      ${
        guess.length
          ? svg`<path fill="none" stroke="var(--cw-warm)" stroke-width="3"
        stroke-dasharray="7 5" stroke-linejoin="round" pointer-events="none"
        d=${pathOf(frame, sketched)}></path>`
          : nothing
      }
      ${revealed ? worst(frame, now) : nothing}
      ${guess.length || revealed ? nothing : invitation}
      ${surface(now, ui, frame)}`;
  });
}
