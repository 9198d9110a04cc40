// A pair of eigenvalues in the reader's hand, the state that follows it, and the gradient.

import { liveFigure } from "../../live_figure.js";
import { dot, ground, handle, legend, line, panel, rule, word } from "../charts.js";
import { clamp, upTo } from "../maths/numerics.js";
import { matrixOf, runOf, spectralNorm } from "../maths/spectral.js";
import { number, quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const STEPS = 40;
const START = [0.8, 0.4];
const LARGEST = 2;
/** Half of the window on the state; what runs away leaves the wider one. */
const WINDOWS = [1.3, 4];
const [LEAST, MOST] = [1e-12, 1e12];
/** Far below the power of any radius that is much larger than 1. */
const MILD = 100;
const TICKS = [1e-12, 1e-6, 1, 1e6, 1e12];
const HEIGHT = 260;
const [RATE, KEY_STEP, KEY_TURN] = [12, 0.02, 2];

function derive({ radius, angle, stretch, tanh }, ui) {
  return ui.memo("run", [radius, angle, stretch, tanh], () => {
    const matrix = matrixOf(radius, angle, stretch);
    const norm = spectralNorm(matrix);
    const powers = (base) => upTo(STEPS + 1).map((lag) => [lag, base ** lag]);
    return {
      ...runOf(matrix, START, STEPS, tanh),
      ...{ norm, rate: powers(radius), bound: powers(norm) },
    };
  });
}

/**
 * The eigenvalue in the upper half of the plane that is nearest to a point.
 * @param {number[]} point
 */
const grasped = ([re, im]) => ({
  radius: Number(clamp(Math.hypot(re, im), 0, LARGEST).toFixed(2)),
  angle: Math.round((Math.atan2(Math.abs(im), re) * 180) / Math.PI),
});

function eigenvalues({ radius, angle }, ui) {
  const turned = (angle * Math.PI) / 180;
  const [re, im] = [radius * Math.cos(turned), radius * Math.sin(turned)];
  const ends = [-LARGEST - 0.1, LARGEST + 0.1];
  const options = {
    name: "plane",
    title: "Eigenvalues of W",
    says: `Plane of complex numbers: the eigenvalues have the modulus ${number(radius)} and the
      angles ±${angle}°`,
    x: { ends, ticks: [-2, -1, 0, 1, 2], label: "real part" },
    y: { ends, ticks: [-2, -1, 0, 1, 2], label: "imaginary part" },
    ...{ height: HEIGHT, group: true, equal: true },
  };
  return panel(ui, options, (frame) => {
    const [cx, cy] = [frame.x(0), frame.y(0)];
    const unit = frame.x(1) - cx;
    return svg`${ground(frame, (point) => ui.set(grasped(point)))}
      <circle cx=${cx} cy=${cy} r=${unit} fill="var(--cw-accent)" fill-opacity="0.12"
        stroke="var(--cw-accent)" stroke-width="1.5" pointer-events="none"></circle>
      <circle cx=${cx} cy=${cy} r=${unit * radius} fill="none" stroke="var(--cw-warm)"
        stroke-dasharray="2 4" pointer-events="none"></circle>
      <path d="M${cx} ${cy}L${frame.x(re)} ${frame.y(im)}" stroke="var(--cw-warm)"
        stroke-width="2"></path>
      ${word(frame, [0, -1.5], "radius 1", { anchor: "middle" })}
      ${dot(frame, [re, -im], { colour: "var(--cw-warm)", r: 6 })}
      ${handle(frame, {
        point: [re, im],
        label: `eigenvalue of modulus ${number(radius)} at ${angle} degrees`,
        kind: "movable eigenvalue",
        moveTo: (point) => ui.set(grasped(point)),
        moveBy: ([across, up]) =>
          ui.set({
            radius: Number(clamp(ui.now.radius + KEY_STEP * across, 0, LARGEST).toFixed(2)),
            angle: clamp(ui.now.angle + KEY_TURN * up, 0, 180),
          }),
      })}`;
  });
}

function orbit({ states, tanh, at, norm }, ui) {
  const edge = WINDOWS[Number(norm > LARGEST)];
  const ends = [-edge, edge];
  const end = states[STEPS].map((h) => quantity(h)).join(", ");
  const options = {
    name: "orbit",
    title: "The state, step by step",
    says: `The state of two units over ${STEPS} steps, ${tanh ? "with" : "without"} tanh, from
      ${START.join(", ")} to ${end}`,
    x: { ends, label: "unit 1" },
    y: { ends, label: "unit 2" },
    ...{ height: HEIGHT, equal: true },
  };
  const inside = ([a, b]) => Math.abs(a) < edge && Math.abs(b) < edge;
  return panel(
    ui,
    options,
    (frame) => svg`${line(frame, states.filter(finite), { width: 1.2, opacity: 0.6 })}
      ${states.filter(inside).map((state) => dot(frame, state, { colour: "var(--cw-accent)", r: 3.5 }))}
      ${inside(states[0]) ? word(frame, START, "start", { anchor: "end" }) : ""}
      ${inside(states[at]) ? dot(frame, states[at], { colour: "var(--cw-ink)", r: 6 }) : ""}`,
  );
}

/** A drawing has no room for a state that has left for good. */
const finite = (state) => Math.hypot(...state) < 1e4;

function gradients({ gradient, rate, bound, at }, ui) {
  const options = {
    name: "gradient",
    title: [
      "Gradient",
      legend([
        { text: "‖∂hₜ/∂h₀‖", colour: "var(--cw-warm)" },
        { text: "ρˡᵃᵍ", colour: "var(--cw-ink)", dash: "2 4" },
        { text: "‖W‖ˡᵃᵍ", colour: "var(--cw-series-2)", dash: "7 4" },
      ]),
    ],
    says: `Gradient against lag on a logarithmic axis; at lag ${STEPS} it is
      ${quantity(gradient[STEPS])}`,
    x: { ends: [0, STEPS], label: "lag" },
    y: { ends: [LEAST, MOST], logarithmic: true, label: "gradient", ticks: TICKS },
    ...{ height: HEIGHT, grow: 1.2 },
  };
  // A gradient of nothing at all would stand infinitely low.
  const visible = (points) => points.map(([lag, g]) => [lag, Math.max(g, LEAST ** 2)]);
  return panel(
    ui,
    options,
    (frame) => svg`${rule(frame, { y: 1, dash: "" })}
      ${line(frame, visible(bound), { colour: "var(--cw-series-2)", dash: "7 4", width: 2 })}
      ${line(frame, visible(gradient.map((g, lag) => [lag, g])), { colour: "var(--cw-warm)" })}
      ${line(frame, visible(rate), { colour: "var(--cw-ink)", dash: "2 4", width: 1.8 })}
      ${dot(frame, [at, clamp(gradient[at], LEAST, MOST)])}`,
  );
}

const at = (now) => clamp(Math.floor(now.lag), 0, STEPS);

function says({ radius, tanh, gradient }) {
  const [end, most] = [gradient[STEPS], Math.max(...gradient)];
  if (radius === 1 && !tanh) return "Radius 1: the gradient neither vanishes nor explodes.";
  if (radius <= 1 && end < 1) {
    return most > 1.05
      ? "At first the gradient grows, for the matrix stretches; then it shrinks all the same."
      : "The state dies out, and the gradient with it.";
  }
  if (radius > 1 && !tanh) return "The state runs away, and the gradient explodes.";
  return end < MILD
    ? "The tanh flattens what the matrix stretches: neither state nor gradient runs away."
    : "The tanh holds the state, and yet the gradient grows.";
}

export default liveFigure({
  local: { lag: STEPS },
  derive: (now, ui) => ({ ...derive(now, ui), at: at(now) }),
  panels: (now, ui) => [eigenvalues(now, ui), orbit(now, ui), gradients(now, ui)],
  readings: ({ radius, norm, gradient }) => [
    { name: "radius", label: "spectral radius ρ", text: number(radius) },
    { name: "norm", label: "‖W‖", text: quantity(norm) },
    { name: "gradient", label: `gradient over ${STEPS} steps`, text: quantity(gradient[STEPS]) },
  ],
  says,
  moment: ({ at }) => `lag ${at}`,
  advance: (now, ui, seconds) => walk(now, ui, RATE * seconds),
  step: (now, ui) => walk(now, ui, 1),
});

/** Some steps on, and from the last on to the first. */
function walk({ lag }, ui, steps) {
  ui.set({ lag: lag >= STEPS ? 0 : Math.min(STEPS, lag + steps) });
}
