// Eigenvalues of letters, and the noise that stands over some of them like water.

import { area, bars, handle, legend, panel, rule } from "../kit/charts.js";
import { inked } from "../kit/painted.js";
import { quantity } from "../kit/text.js";
import { clamp, sum, upTo } from "../maths/numerics.js";
import { left, pictureAt, prices } from "../maths/water.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const MOST = 150;
const HEIGHT = 270;
const DRY = "var(--cw-warm)";
const DROWNED = "var(--cw-edge)";
const WATER = "var(--cw-accent)";
const [QUIETEST, NOISIEST] = [0.002, 20];
const TICKS = [0.01, 0.1, 1, 10];
const NUDGE = 1.1;

const shownOf = (values) => Math.min(MOST, values.length);

function derive({ eigenvalues, levels, redrawn, noise, beta }, ui) {
  const level = beta * noise;
  const costs = prices(eigenvalues, level);
  const total = sum(eigenvalues);
  return {
    level,
    picture: ui.memo("picture", [redrawn, level], () => pictureAt(levels, redrawn, level)),
    alive: eigenvalues.filter((value) => value > level).length,
    paid: sum(costs),
    lost: sum(left(eigenvalues, level)) / total,
  };
}

const colourOf = (values, level) => (i) => (values[i] > level ? DRY : DROWNED);

function eigenvalueBars({ eigenvalues, level, alive }, ui) {
  const count = shownOf(eigenvalues);
  const values = eigenvalues.slice(0, count);
  const turn = (to) => ui.set({ noise: clamp(to / ui.now.beta, QUIETEST, NOISIEST) });
  const options = {
    name: "eigenvalues",
    title: [
      "Codes",
      legend([
        { text: "alive", colour: DRY },
        { text: "drowned", colour: DROWNED },
      ]),
    ],
    says: `${alive} of ${eigenvalues.length} eigenvalues stand above the water at ${quantity(level)}`,
    x: { ends: [0, count + 1], label: `direction, 1 to ${count} of ${eigenvalues.length}` },
    y: {
      ends: [QUIETEST, NOISIEST],
      logarithmic: true,
      ticks: TICKS,
      label: "variance (eigenvalue)",
    },
    ...{ height: HEIGHT, grow: 1.1, group: true, room: 44 },
  };
  const places = upTo(count).map((i) => i + 1);
  const look = { colour: colourOf(values, level), base: QUIETEST, places };
  // What lives stands before the water as a whole: a bar half under it is not half dead.
  const dry = Math.min(count, alive);
  return panel(
    ui,
    options,
    (frame) => svg`${bars(frame, values, look)}
      ${area(
        frame,
        [
          [0, level],
          [count + 1, level],
        ],
        QUIETEST,
        { colour: WATER, opacity: 0.3 },
      )}
      ${bars(frame, values.slice(0, dry), { ...look, places: places.slice(0, dry) })}
      ${rule(frame, { y: clamp(level, QUIETEST, NOISIEST), colour: WATER, dash: "" })}
      <text x=${frame.right + 14} y=${frame.y(clamp(level, QUIETEST, NOISIEST)) + 4}
        style="fill: ${WATER}">drag</text>
      ${handle(frame, {
        point: [count + 1, clamp(level, QUIETEST, NOISIEST)],
        label: `water at ${quantity(level)}`,
        kind: "movable level",
        moveTo: ([, to]) => turn(to),
        moveBy: ([, up]) => turn(ui.now.level * NUDGE ** up),
      })}`,
  );
}

/** A square picture, as it stands in a row of ink. */
function tile(ui, name, ink) {
  const side = Math.sqrt(ink.length);
  const matrix = ui.memo(`tile ${name}`, [ink], () =>
    upTo(side).map((row) => ink.slice(row * side, (row + 1) * side)),
  );
  return html`<figure>
    <canvas role="img" aria-label=${name} ${inked(ui, matrix, { width: side, ink: "ink" })}></canvas>
    <figcaption>${name}</figcaption>
  </figure>`;
}

/** The thing itself: a letter, and what is left of it above the water. */
function letters({ letter, picture, alive, lost }, ui) {
  const again = `from ${alive} ${alive === 1 ? "code" : "codes"}`;
  return html`<div class="cw-panel" style="flex-grow: 1; flex-basis: 9.5rem; align-self: flex-start">
    <p class="cw-panel-title">One letter, drawn again</p>
    <div class="cw-pair cw-live-letters">${tile(ui, again, picture)}${tile(ui, "the letter", letter)}</div>
    ${shares(lost)}
  </div>`;
}

/** What the water covers of all variance: no axis with powers of ten shows that. */
function shares(lost) {
  const [kept, gone] = [1 - lost, lost].map((share) => quantity(100 * share, "%"));
  const part = (share, colour) =>
    html`<span style="flex: ${share} 0 0; background: ${colour}"></span>`;
  return html`<p class="cw-panel-title" style="margin-top: 0.6rem">Variance: kept and lost</p>
    <div role="img" aria-label="Of the variance ${kept} is kept and ${gone} is lost"
      style="display: flex; height: 14px; border-radius: 3px; overflow: hidden">
      ${part(1 - lost, DRY)}${part(lost, WATER)}
    </div>`;
}

function verdict({ alive, eigenvalues }) {
  const all = eigenvalues.length;
  if (alive === 0)
    return { kind: "bad", text: "All codes are dead: only the mean letter is drawn" };
  const living = `${alive} ${alive === 1 ? "code" : "codes"} alive`;
  return alive === all
    ? { kind: "good", text: `${living}: none has drowned` }
    : { kind: "open", text: `${living}, ${all - alive} drowned` };
}

function fate({ alive, lost }) {
  if (alive === 0) return "Under water lie all codes: the model pays nothing.";
  return `Water covers ${quantity(100 * lost, "%")} of the variance: that much is lost.`;
}

function says(now) {
  const { beta, level, eigenvalues, alive } = now;
  const lifted =
    beta === 1 ? "" : ` β = ${quantity(beta)} moves the water from s² to ${quantity(level)}.`;
  const rise = alive === 1 ? "rises" : "rise";
  return `${fate(now)}${lifted} ${alive} of ${eigenvalues.length} codes ${rise} above the water.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [eigenvalueBars(now, ui), letters(now, ui)],
  asks: "Which codes outlive the noise?",
  verdict,
  readings: ({ alive, paid, lost }) => [
    { name: "alive", label: "codes alive", text: String(alive) },
    { name: "lost", label: "variance lost", text: quantity(100 * lost, "%") },
    { name: "paid", label: "price", text: quantity(paid, "nats a letter") },
  ],
  says,
  tour: { knob: "noise", from: 0.06, seconds: 5 },
});
