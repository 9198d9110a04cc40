// A disc of pendulums, carried by a method step by step, and its area.

import { liveFigure } from "../../live_figure.js";
import { area, dot, handle, heightOf, legend, line, panel, rule } from "../charts.js";
import { carried, circle, polygonArea } from "../maths/discs.js";
import { SYSTEMS } from "../maths/mechanics.js";
import { clamp, upTo } from "../maths/numerics.js";
import { number, quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const PENDULUM = SYSTEMS.Pendulum({ mass: 1, length: 1, gravity: 1 });
const [RADIUS, RIM, STEPS, FINE] = [0.45, 200, 40, 8];
const [HIGHEST, HEIGHT] = [2.8, 270];
const LEVELS = [0.3, 1, 2, 3.2];
const [SMALLEST, LARGEST] = [0.5, 10];
const NUDGE = 0.1;
/** What is kept, but for the polygon that stands for a disc. */
const KEPT = 0.005;
const MINE = "var(--cw-warm)";
const TRUE = "var(--cw-series-2)";

function derive({ method, dt, steps, angle, momentum }, ui) {
  const rim = ui.memo("rim", [angle, momentum], () => circle([angle, momentum], RADIUS, RIM));
  const mine = ui.memo("mine", [rim, method, dt], () => carried(PENDULUM, method, rim, dt, STEPS));
  const truth = ui.memo("truth", [rim, dt], () =>
    carried(PENDULUM, "runge_kutta_4", rim, dt, STEPS, FINE),
  );
  const areas = ui.memo("areas", [mine], () => mine.map(polygonArea));
  const off = mine[steps].map(([q, p], i) =>
    Math.hypot(q - truth[steps][i][0], p - truth[steps][i][1]),
  );
  const ratios = areas.map((one) => one / areas[0]);
  return { mine, truth, ratios, ratio: ratios[steps], off: Math.max(...off) };
}

/** On its tour it glides from one step to the next, each point on a straight line. */
function shapeNow(states, { steps, tour }) {
  const at = tour ? tour.share * tour.to : steps;
  const [before, after] = [states[Math.floor(at)], states[Math.ceil(at)]];
  return before.map((point, i) => point.map((x, k) => x + (at % 1) * (after[i][k] - x)));
}

/** Where the energy is one value, above and below. */
function level(frame, energy, half) {
  const side = (sign) => {
    const points = upTo(161)
      .map((k) => -half + (k * half) / 80)
      .map((q) => [q, 2 * (energy - (1 - Math.cos(q)))])
      .filter(([, square]) => square >= 0)
      .map(([q, square]) => [q, sign * Math.sqrt(square)]);
    return line(frame, points, { colour: "var(--cw-edge)", width: energy === 2 ? 1.5 : 0.75 });
  };
  return energy < 2 ? eye(frame, energy) : [1, -1].map(side);
}

/** A pendulum that swings has closed lines. */
function eye(frame, energy) {
  const far = Math.acos(1 - energy);
  const points = upTo(97).map((k) => {
    const q = far * Math.cos((2 * Math.PI * k) / 96);
    return [q, Math.sign(48 - k) * Math.sqrt(Math.max(0, 2 * (energy - (1 - Math.cos(q)))))];
  });
  return line(frame, points, { colour: "var(--cw-edge)", width: 0.75 });
}

const closed = (points) => [...points, points[0]];

function phaseSpace(now, ui) {
  const { mine, truth, steps, angle, momentum, ratio } = now;
  const half =
    HIGHEST * Math.max(1.12, (ui.width("space", 400) - 40) / (heightOf(ui, HEIGHT) - 62));
  const move = ([q, p]) =>
    ui.set({ angle: clamp(q, -Math.PI, Math.PI), momentum: clamp(p, -2, 2), steps: 0 });
  const options = {
    name: "space",
    title: [
      "Phase space",
      legend([
        { text: "by the method", colour: MINE },
        { text: "in truth", colour: TRUE, dash: "5 4" },
      ]),
    ],
    says: `A disc of pendulums after ${steps} steps; its area is ${quantity(ratio)} times what it was`,
    x: { ends: [-half, half], label: "angle q" },
    y: { ends: [-HIGHEST, HIGHEST], label: "momentum p" },
    ...{ height: HEIGHT, grow: 1.5, group: true },
  };
  const [shape, exact] = [mine, truth].map((states) => shapeNow(states, now));
  const before = upTo(Math.floor(steps / 6)).map((k) => mine[6 * k]);
  return panel(
    ui,
    options,
    (frame) => svg`${LEVELS.map((energy) => level(frame, energy, half))}
      ${before.map((points) => area(frame, points, points[0][1], { colour: MINE, opacity: 0.12 }))}
      ${area(frame, shape, shape[0][1], { colour: MINE, opacity: 0.4 })}
      ${line(frame, closed(shape), { colour: MINE, width: 1.5 })}
      ${line(frame, closed(exact), { colour: TRUE, width: 1.8, dash: "5 4" })}
      ${handle(frame, {
        point: [angle, momentum],
        label: `disc around angle ${number(angle)}, momentum ${number(momentum)}`,
        kind: "movable disc",
        moveTo: move,
        moveBy: ([across, up]) =>
          move([ui.now.angle + NUDGE * across, ui.now.momentum + NUDGE * up]),
      })}`,
  );
}

function areaCurve({ ratios, steps, ratio }, ui) {
  const options = {
    name: "area",
    title: "Area, in parts of the first",
    says: `The area against the steps: ${quantity(ratio)} times the first after ${steps}`,
    x: { ends: [0, STEPS], label: "steps" },
    y: { ends: [SMALLEST, LARGEST], logarithmic: true, ticks: [0.5, 1, 2, 5, 10] },
    height: HEIGHT,
  };
  const points = ratios.map((one, n) => [n, one]);
  return panel(
    ui,
    options,
    (frame) => svg`${rule(frame, { y: 1 })}${line(frame, points, { colour: MINE, width: 1.5 })}
      ${dot(frame, [steps, clamp(ratio, SMALLEST, LARGEST)], { colour: MINE })}`,
  );
}

function says({ steps, ratios, ratio, off }) {
  if (steps === 0) return "Here the disc starts. Move it, or let it go.";
  if (ratios.slice(0, steps + 1).every((one) => Math.abs(one - 1) < KEPT)) {
    return off > 0.2
      ? "The shape is wrong, and the area is right."
      : "The area is kept, and the shape is nearly right.";
  }
  const last = ratio / ratios[steps - 1] - 1;
  const change = last > 0 ? "grew" : "shrank";
  return `${quantity(ratio)} times the area of the start; in the last step it ${change} by
    ${quantity(100 * Math.abs(last), "%")}.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [phaseSpace(now, ui), areaCurve(now, ui)],
  readings: ({ ratio, off }) => [
    { name: "area", label: "area", text: `${quantity(ratio)} times the first` },
    { name: "off", label: "farthest from the true shape", text: quantity(off) },
  ],
  says,
  tour: { knob: "steps", from: 0, seconds: 5 },
  step: ({ steps }, ui) => ui.set({ steps: steps < STEPS ? steps + 1 : 0 }),
});
