// Symplectic Euler on an oscillator: the level line of the shadow energy on which its steps stay.

import { dot, handle, legend, line, NARROW, panel, rule } from "../kit/charts.js";
import { quantity } from "../kit/text.js";
import { integrate, SYSTEMS } from "../maths/mechanics.js";
import { upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const OSCILLATOR = SYSTEMS.HarmonicOscillator({ mass: 1, stiffness: 1 });
const [STEPS, HEIGHT, HEIGHT_IF_NARROW] = [60, 300, 225];
/** Of a step, above which the level lines of the shadow energy are open. */
const LONGEST = 2;
const HALF = 2.5;
const [DIRECTIONS, FARTHEST] = [720, 20];
const [LEAST, MOST] = [0.1, 100];
const NUDGE = 3;
const [ENERGY, SHADOW] = ["var(--cw-accent)", "var(--cw-series-2)"];

/** The shadow energy, over the true one, of all states in a direction. */
const shadowAt = (turn, dt) => 1 - (dt / 2) * Math.sin(2 * turn);

function derive({ dt, angle }) {
  const turn = (angle * Math.PI) / 180;
  const start = [Math.cos(turn), Math.sin(turn)];
  const run = integrate(OSCILLATOR, "symplectic_euler", [start[0]], [start[1]], dt, STEPS);
  const ratios = Array.from(run.energy, (energy) => energy / run.energy[0]);
  const shadow = shadowAt(turn, dt);
  return {
    ...{ start, ratios, shadow },
    points: ratios.map((_, n) => [run.q[n], run.p[n]]),
    low: shadow / (1 + (Math.sign(shadow) * dt) / 2),
    high: dt < LONGEST ? shadow / (1 - dt / 2) : Infinity,
  };
}

/** The level line of a shadow energy in pieces: of an ellipse one, of a hyperbola two. */
function levelLine(shadow, dt) {
  const pieces = [[]];
  for (const k of upTo(DIRECTIONS + 1)) {
    const turn = (2 * Math.PI * k) / DIRECTIONS;
    const square = shadow / shadowAt(turn, dt);
    const there = square > 0 && square < FARTHEST ** 2;
    const size = Math.sqrt(square);
    if (there) pieces.at(-1).push([size * Math.cos(turn), size * Math.sin(turn)]);
    else if (pieces.at(-1).length) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length > 1);
}

function phaseSpace({ points, start, shadow, angle, dt, low, high }, ui) {
  const to = (turn) => ui.set({ angle: (Math.round(turn) + 360) % 360 });
  const options = {
    name: "space",
    title: [
      "Phase space",
      legend([
        { text: "shadow energy", colour: SHADOW, width: 5 },
        { text: "true energy", colour: "var(--cw-ink)", dash: "5 4" },
      ]),
    ],
    says: `${STEPS} steps of symplectic Euler on ${dt < LONGEST ? "an ellipse" : "an open line"};
      they are ${quantity(Math.sqrt(low))} to ${quantity(Math.sqrt(high))} times as far from the
      middle as the start`,
    x: { ends: [-HALF, HALF], label: "position q" },
    y: { ends: [-HALF, HALF], label: "momentum p" },
    ...{ height: HEIGHT, equal: true, group: true },
  };
  return panel(ui, options, (frame) => {
    const radius = frame.x(1) - frame.x(0);
    return svg`<circle cx=${frame.x(0)} cy=${frame.y(0)} r=${radius} fill="none"
        stroke="var(--cw-ink)" stroke-width="1.5" stroke-dasharray="5 4"></circle>
      ${levelLine(shadow, dt).map((piece) => line(frame, piece, { colour: SHADOW, width: 8, opacity: 0.4 }))}
      <g clip-path=${frame.clip}>${points.map(
        ([q, p]) => svg`<circle cx=${frame.x(q)} cy=${frame.y(p)} r="3.5" fill=${ENERGY}></circle>`,
      )}</g>
      ${handle(frame, {
        point: start,
        label: `start at ${angle} degrees`,
        kind: "movable start",
        moveTo: ([q, p]) => to((Math.atan2(p, q) * 180) / Math.PI),
        moveBy: ([across, up]) => to(ui.now.angle + NUDGE * (up - across)),
      })}`;
  });
}

function energies({ ratios, low, high }, ui) {
  const options = {
    name: "energy",
    title: [
      "Energy, start = 1",
      legend([
        { text: "true", colour: ENERGY },
        { text: "shadow", colour: SHADOW },
        { text: "bounds", colour: "var(--cw-ink)", dash: "5 4", width: 1.5 },
      ]),
    ],
    says: `The true energy over ${STEPS} steps, from ${quantity(Math.min(...ratios))} to
      ${quantity(Math.max(...ratios))} times that of the start; the shadow energy stays`,
    x: { ends: [0, STEPS], label: "steps" },
    y: { ends: [LEAST, MOST], logarithmic: true, ticks: [0.1, 1, 10, 100] },
    ...{ height: ui.width("panels", NARROW) < NARROW ? HEIGHT_IF_NARROW : HEIGHT, grow: 1.3 },
  };
  return panel(ui, options, (frame) => {
    const curve = ratios.map((ratio, n) => [n, ratio]);
    const within = (ratio) => LEAST < ratio && ratio < MOST;
    return svg`${line(
      frame,
      [
        [0, 1],
        [STEPS, 1],
      ],
      { colour: SHADOW },
    )}
      ${[low, high].filter(within).map((y) => rule(frame, { y, colour: "var(--cw-ink)" }))}
      ${line(frame, curve, { colour: ENERGY, width: 1.5 })}
      ${curve.filter(([, ratio]) => within(ratio)).map((point) => dot(frame, point, { colour: ENERGY, r: 3 }))}`;
  });
}

function verdict({ dt, low, high }) {
  if (dt < LONGEST)
    return { kind: "good", text: `An ellipse: ${quantity(low)} to ${quantity(high)} times` };
  const level = dt > LONGEST ? "A hyperbola" : "Parallel lines";
  return { kind: "bad", text: `${level}: nothing holds it` };
}

const says = ({ dt }) =>
  dt < LONGEST
    ? "All steps land on one ellipse, a level line of the shadow energy. Its points have true energies between two bounds."
    : "The steps still keep the shadow energy. But its level line is open, and they run away along it.";

export default liveFigure({
  derive,
  panels: (now, ui) => [phaseSpace(now, ui), energies(now, ui)],
  asks: "Why does this error not grow?",
  terse: true,
  verdict,
  readings: ({ ratios, dt, low, high }) => [
    { name: "low", label: "energy allowed: at least", text: quantity(low) },
    ...(dt < LONGEST ? [{ name: "high", label: "at most", text: quantity(high) }] : []),
    { name: "most", label: `reached in ${STEPS} steps`, text: quantity(Math.max(...ratios)) },
  ],
  says,
  longest: () => says({ dt: 1 }),
  tour: { knob: "dt", from: 0.1, over: 2.1, seconds: 9 },
});
