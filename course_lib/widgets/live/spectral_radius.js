// A pair of eigenvalues in the reader's hand, the signal that they carry, and the gradient.

import { area, bars, dot, ground, handle, line, NARROW, panel, rule, word } from "../kit/charts.js";
import { number, quantity } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { matrixOf, runOf, spectralNorm } from "../maths/spectral.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const STEPS = 40;
const START = [0.8, 0.4];
const LARGEST = 2;
/** Half of the window on the signal, which is the same for all; what runs away leaves it. */
const WINDOW = 1.3;
/** A drawing has no room for a state that has left for good. */
const BEYOND = 100;
/** Of the gradient: it neither vanishes nor explodes. */
const LIVELY = 3;
const [LEAST, MOST] = [1e-9, 1e9];
/** So many times as large or as small it is lost; below, it grows or shrinks. */
const MILD = 100;
const TICKS = [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9];
const HEIGHT = 212;
/** The kit makes panels on a telephone lower; here the three fates stand beside the plane. */
const HEIGHT_IF_NARROW = 240;
/** It may be slimmer than a panel that stands alone. */
const SLIM = 0.9;
/** For the names of curves, at the right. */
const [ROOM, LINE] = [76, 15];
/** Both drawings of the steps stand on the axis of the lower one. */
const MARGIN = 44;
/** Radii below, at and above 1, each with its signal in so many pixels. */
const FATES = [0.8, 1, 1.2];
const SPARK = [60, 30];
const DECADES = [10, 20, 30];
const dated = (frame) => DECADES.map((x) => rule(frame, { x, colour: "var(--cw-line)", dash: "" }));
const [KEY_STEP, KEY_TURN] = [0.02, 2];

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
    height: ui.width("panels", NARROW) < NARROW ? HEIGHT_IF_NARROW : HEIGHT,
    ...{ grow: SLIM, group: true, equal: true },
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

/** How far the signal goes that leaves its window. */
const beyond = (frame, most) =>
  [`↑ to ${quantity(most)}`, "↓"].map((text, i) =>
    word(frame, [STEPS + 1, i ? -WINDOW : 0.7 * WINDOW], text, { colour: "var(--cw-warm)" }),
  );

function signal({ states, tanh }, ui) {
  const heard = states.map(([h]) => h);
  const loud = states.map((state) => Math.hypot(...state));
  const most = Math.max(...heard.map(Math.abs));
  const options = {
    name: "signal",
    title: "The signal: unit 1, step by step",
    says: `The state of unit 1 over ${STEPS} steps, ${tanh ? "with" : "without"} tanh, from
      ${heard[0]} to ${quantity(heard[STEPS])}`,
    x: { ends: [-0.5, STEPS + 0.5], ticks: [] },
    y: { ends: [-WINDOW, WINDOW], ticks: [-1, 0, 1] },
    ...{ height: 108, room: ROOM, margin: MARGIN },
  };
  const rim = (sign) => loud.map((size, t) => [t, sign * Math.min(size, BEYOND)]);
  const colour = (t) => (Math.abs(heard[t]) > WINDOW ? "var(--cw-warm)" : "var(--cw-accent)");
  return panel(
    ui,
    options,
    (
      frame,
    ) => svg`${dated(frame)}${area(frame, [...rim(1), ...rim(-1).toReversed()], loud[0], { opacity: 0.12 })}
      ${bars(frame, heard, { colour, wide: 0.6 })}
      ${most > WINDOW ? beyond(frame, most) : ""}`,
  );
}

/** What is drawn of the gradient: each curve with its name, those that coincide once. */
function curvesOf({ gradient, rate, bound, stretch, tanh }) {
  const plain = stretch === 1 && !tanh;
  const points = gradient.map((g, lag) => [lag, g]);
  const curves = [
    { name: plain ? "= ρᵗ" : "gradient", points, colour: "var(--cw-warm)", dash: "" },
    { name: "ρᵗ", points: rate, colour: "var(--cw-ink)", dash: "2 4", hidden: plain },
    {
      name: "‖W‖ᵗ",
      points: bound,
      colour: "var(--cw-series-2)",
      dash: "7 4",
      hidden: stretch === 1,
    },
  ];
  return curves.filter(({ hidden }) => !hidden);
}

/** Names at the ends of curves, the lower pushed below the higher. */
function named(frame, curves) {
  const ends = curves.map((curve) => {
    const [, last] = curve.points[STEPS];
    return { ...curve, y: frame.y(clamp(last, LEAST, MOST)) };
  });
  ends.sort((a, b) => a.y - b.y);
  let free = frame.top + LINE / 2;
  return ends.map(({ name, colour, y }, i) => {
    const lowest = frame.bottom - LINE * (ends.length - i) + LINE / 2;
    const at = Math.max(free, Math.min(y, lowest));
    free = at + LINE;
    return svg`<text x=${frame.right + 6} y=${at + 4} style="fill: ${colour}">${name}</text>`;
  });
}

function gradients(now, ui) {
  const { gradient } = now;
  const curves = curvesOf(now);
  const options = {
    name: "gradient",
    title: "The gradient ‖∂hₜ/∂h₀‖",
    says: `Gradient over so many steps on a logarithmic axis; over ${STEPS} it is
      ${quantity(gradient[STEPS])}`,
    x: { ends: [-0.5, STEPS + 0.5], ticks: [0, 10, 20, 30, 40], label: "step t" },
    y: { ends: [LEAST, MOST], logarithmic: true, ticks: TICKS },
    ...{ height: 152, room: ROOM, margin: MARGIN },
  };
  // A gradient of nothing at all would stand infinitely low.
  const visible = (points) => points.map(([lag, g]) => [lag, Math.max(g, LEAST ** 2)]);
  return panel(
    ui,
    options,
    (frame) => svg`${dated(frame)}${rule(frame, { y: 1, dash: "" })}
      ${curves.map(({ points, colour, dash }) =>
        line(frame, visible(points), { colour, dash, width: dash ? 2 : 3 }),
      )}${named(frame, curves)}`,
  );
}

/** Whether the gradient that comes back over all steps is one to learn from. */
function verdict({ gradient }) {
  const [end, most] = [gradient[STEPS], Math.max(...gradient)];
  const told = quantity(end);
  if (most < LIVELY && end > 1 / LIVELY) return { kind: "good", text: `Lives: ${told} is left` };
  if (end < 1)
    return end < 1 / MILD
      ? { kind: "bad", text: `Vanishes: ${told} is left` }
      : { kind: "open", text: `Shrinks: ${told} is left` };
  return end > MILD
    ? { kind: "bad", text: `Explodes: ${told} times as large` }
    : { kind: "open", text: `Grows: ${told} times as large` };
}

function says({ radius, tanh, gradient }) {
  const [end, most] = [gradient[STEPS], Math.max(...gradient)];
  const lives = !tanh && most < LIVELY && end > 1 / LIVELY;
  if (lives) return "Near radius 1 the signal lives on, and the gradient with it.";
  if (radius <= 1 && end < 1) {
    return most > 1.05
      ? "At first the gradient grows, for the matrix stretches; then it shrinks all the same."
      : end < 1 / MILD
        ? "The signal dies out, and the gradient with it."
        : "The signal fades, and the gradient with it.";
  }
  if (!tanh && radius <= 1)
    return "The stretch makes the gradient larger; yet at this radius it does not run away.";
  if (!tanh)
    return end > MILD
      ? "The signal runs away, and the gradient explodes."
      : "The signal grows slowly, and the gradient with it.";
  return end < MILD
    ? "The tanh flattens what the matrix stretches: neither state nor gradient runs away."
    : "The tanh holds the state, and yet the gradient grows.";
}

/** What a signal comes to, by how loud it is in the end. */
function fateOf(states) {
  const [first, last] = [states[0], states[STEPS]].map((state) => Math.hypot(...state));
  if (last < first / LIVELY) return "dies out";
  return last > first * LIVELY ? "runs away" : "lives on";
}

/** Three radii, and the signal of each: a press takes one. */
function fates({ radius, angle, stretch, tanh }, ui) {
  const runs = ui.memo("fates", [angle, stretch, tanh], () =>
    FATES.map((one) => runOf(matrixOf(one, angle, stretch), START, STEPS, tanh).states),
  );
  const [wide, tall] = SPARK;
  const fate = (one, i) => {
    const states = runs[i];
    const high = ([h]) => (clamp(h, -WINDOW, WINDOW) * tall) / 2 / WINDOW;
    const bar = (state, t) => `M${((t + 0.5) * wide) / (STEPS + 1)} 0v${(-high(state)).toFixed(2)}`;
    const inks = { "runs away": "var(--cw-warm)" };
    return html`<button type="button" class="cw-button cw-fate" aria-pressed=${one === radius}
      @click=${() => ui.set({ radius: one })}>
      <svg viewBox="0 ${-tall / 2} ${wide} ${tall}" aria-hidden="true"><path d="M0 0H${wide}"
        stroke="var(--cw-line)"></path><path d=${states.map(bar).join("")} fill="none"
        stroke=${inks[fateOf(states)] ?? "var(--cw-accent)"} stroke-width="1.2"></path></svg>
      <span>ρ = ${number(one, 1)}</span> <span>${fateOf(states)}</span></button>`;
  };
  return html`<div class="cw-fates" role="group" aria-label="Three radii">${FATES.map(fate)}</div>`;
}

/** On a telephone the signal stands below the eigenvalues, else beside them. */
const below = (content) =>
  html`<div style="display: grid; flex: 2 1 19rem; gap: 0.4rem; min-width: 0">${content}</div>`;

export default liveFigure({
  derive,
  panels: (now, ui) => [
    html`<div class="cw-fates-above">${fates(now, ui)}${eigenvalues(now, ui)}</div>`,
    below([signal(now, ui), gradients(now, ui)]),
  ],
  asks: "Does the gradient survive?",
  verdict,
  terse: true,
  readings: ({ norm, stretch, gradient }) => [
    // Of a matrix that only turns and shrinks it is the radius once more.
    ...(stretch > 1 ? [{ name: "norm", label: "‖W‖", text: quantity(norm) }] : []),
    { name: "gradient", label: `gradient over ${STEPS} steps`, text: quantity(gradient[STEPS]) },
  ],
  says,
  tour: { knob: "radius", from: 0.7, over: 1.2, to: () => 1, seconds: 10 },
});
