// A disc of pendulums, carried by a method step by step, and its area.

import {
  area,
  bars,
  handle,
  heightOf,
  legend,
  line,
  NARROW,
  panel,
  rule,
  word,
} from "../kit/charts.js";
import { number, quantity } from "../kit/text.js";
import { areaWithin, carriedRim, thinned } from "../maths/discs.js";
import { SYSTEMS } from "../maths/mechanics.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const PENDULUM = SYSTEMS.Pendulum({ mass: 1, length: 1, gravity: 1 });
const [RADIUS, STEPS] = [0.45, 24];
/** The true shape is only looked at: it takes shorter steps, and fewer points. */
const TRULY = { parts: 4, gap: 0.2 };
/** What is nearer in phase space is one place to the eye. */
const APART = 0.015;
const [HIGHEST, HEIGHT, TALL] = [2.6, 304, 262];
/** On a telephone the picture is nearly as high as elsewhere. */
const heightIn = (ui) =>
  ui.width("panels", NARROW) < NARROW ? (TALL / heightOf(ui, 1000)) * 1000 : HEIGHT;

const LEVELS = [0.3, 1, 2, 3.2];
/** Up to so many times the first area, its bar keeps its scale. */
const ROOMY = 1.8;
const NUDGE = 0.1;
const ROUND = 2 * Math.PI;
/** These keep every area, whatever the step: they shear q by p, and p by q. */
const SYMPLECTIC = ["symplectic_euler", "stoermer_verlet"];
/** So exactly an area is measured: what is nearer to the first cannot be told from it. */
const UNSEEN = 5e-6;
/** Behind the point; where all of them would be noughts, or nearly, more are shown. */
const [FEW, MANY] = [3, 5];
/** Off by less, an area looks as if it were kept. */
const NEARLY = 0.02;
const MINE = "var(--cw-warm)";
const TRUE = "var(--cw-series-2)";

function derive({ method, dt, steps, angle, momentum }, ui) {
  const disc = { centre: [angle, momentum], radius: RADIUS };
  const start = [angle, momentum, dt];
  const mine = ui.memo("mine", [...start, method], () =>
    carriedRim(PENDULUM, method, disc, dt, STEPS),
  );
  const truth = ui.memo("truth", start, () =>
    carriedRim(PENDULUM, "runge_kutta_4", disc, dt, STEPS, TRULY),
  );
  const known = ui.memo("areas", [mine], () => new Map());
  /** The area after so many steps, on the first; each is measured when it is asked for. */
  const ratioAt = (n) => {
    for (const k of [0, n])
      if (!known.has(k)) known.set(k, areaWithin(mine.states[k], mine.shares));
    return known.get(n) / known.get(0);
  };
  const off = mine.coarse[steps].map(([q, p], i) => {
    const [trueQ, trueP] = truth.coarse[steps][i];
    return Math.hypot(q - trueQ, p - trueP);
  });
  return {
    ...{ mine: mine.states, truth: truth.states, ratioAt, off: Math.max(...off) },
    ratio: ratioAt(steps),
  };
}

/** On its tour it glides from one step to the next: what lies before, after, and how far it is. */
function glide(at, { steps, tour }) {
  const moment = tour ? tour.share * tour.to : steps;
  return [at(Math.floor(moment)), at(Math.ceil(moment)), moment % 1];
}

/** Each point on a straight line. */
function shapeNow(states, now) {
  const [before, after, share] = glide((n) => states[n], now);
  const shape = before.map((point, i) => point.map((x, k) => x + share * (after[i][k] - x)));
  return thinned(shape, APART);
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
  return energy < 2 ? eye(frame, energy, half) : [1, -1].map(side);
}

/** A pendulum that swings has closed lines. */
function eye(frame, energy, half) {
  const far = Math.acos(1 - energy);
  const points = upTo(97).map((k) => {
    const q = far * Math.cos((2 * Math.PI * k) / 96);
    return [q, Math.sign(48 - k) * Math.sqrt(Math.max(0, 2 * (energy - (1 - Math.cos(q)))))];
  });
  return around(points, half).map((copy) =>
    line(frame, copy, { colour: "var(--cw-edge)", width: 0.75 }),
  );
}

/** An angle is the same after a whole turn: a shape at all its places within the window. */
function around(points, half) {
  const [left, right] = points.reduce(
    ([low, high], [q]) => [Math.min(low, q), Math.max(high, q)],
    [Infinity, -Infinity],
  );
  const first = Math.ceil((-half - right) / ROUND);
  const count = Math.floor((half - left) / ROUND) - first + 1;
  return upTo(Math.max(0, count)).map((k) => points.map(([q, p]) => [q + (first + k) * ROUND, p]));
}

/** Where most of it lies beyond half a turn it is a copy of what stands in the middle. */
const faded = (points) => {
  const mean = points.reduce((sum, [q]) => sum + q, 0) / points.length;
  return Math.abs(mean) > ROUND / 2 ? 0.35 : 1;
};

const closed = (points) => [...points, points[0]];

function phaseSpace(now, ui) {
  const { mine, truth, steps, angle, momentum } = now;
  const asked = heightIn(ui);
  const half = HIGHEST * Math.max(1.12, (ui.width("space", 400) - 40) / (heightOf(ui, asked) - 62));
  const move = ([q, p]) =>
    ui.set({ angle: clamp(q, -Math.PI, Math.PI), momentum: clamp(p, -2, 2) });
  const options = {
    name: "space",
    title: [
      "Phase space",
      legend([
        { text: "by the method", colour: MINE },
        { text: "in truth", colour: TRUE, dash: "5 4" },
      ]),
    ],
    says: `A disc of pendulums after ${steps} steps; its area is ${times(now)} what it was`,
    x: { ends: [-half, half], label: "angle q" },
    y: { ends: [-HIGHEST, HIGHEST], label: "momentum p" },
    ...{ height: asked, group: true },
  };
  const [shape, exact] = [mine, truth].map((states) => shapeNow(states, now));
  const before = upTo(Math.ceil(steps / 6)).map((k) => thinned(mine[6 * k], APART));
  return panel(
    ui,
    options,
    (frame) => svg`${LEVELS.map((energy) => level(frame, energy, half))}
      ${before
        .flatMap((points) => around(points, half))
        .map((points) => area(frame, points, points[0][1], { colour: MINE, opacity: 0.12 }))}
      ${around(shape, half).map(
        (copy) => svg`<g data-shape="method" opacity=${faded(copy)}>${area(
          frame,
          copy,
          copy[0][1],
          {
            ...{ colour: MINE, opacity: 0.4 },
          },
        )}
          ${line(frame, closed(copy), { colour: MINE, width: 1.5 })}</g>`,
      )}
      ${around(exact, half).map((copy) => {
        const rim = line(frame, closed(copy), { colour: TRUE, width: 1.8, dash: "5 4" });
        return svg`<g data-shape="truth" opacity=${faded(copy)}>${rim}</g>`;
      })}
      ${word(frame, [angle + RADIUS, momentum], "start")}
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

/** The area as a bar; a line marks that of the start, which the true motion keeps. */
function areas(now, ui) {
  const [before, after, share] = glide(now.ratioAt, now);
  const colour = SYMPLECTIC.includes(now.method) ? TRUE : MINE;
  const ratio = before + share * (after - before);
  const options = {
    name: "area",
    title: html`Area <strong data-reading="area">${told(now)}</strong>`,
    says: `A bar: ${times(now)} the first area`,
    x: { ends: [], names: [""] },
    y: { ends: [0, Math.max(ROOMY, 1.1 * ratio)], label: "first = 1" },
    ...{ height: heightIn(ui), grow: 0.27 },
  };
  return panel(ui, options, (frame) => [
    bars(frame, [ratio], { colour: () => colour }),
    rule(frame, { y: 1, colour: "var(--cw-ink)" }),
  ]);
}

/** An area that only looks as if it were kept has a digit more than those that do not tell. */
function told({ method, steps, ratio }) {
  const off = Math.abs(ratio - 1);
  if (SYMPLECTIC.includes(method) || steps === 0 || off > NEARLY) return number(ratio, FEW);
  return number(ratio, clamp(1 - Math.floor(Math.log10(off)), FEW, MANY));
}

const times = (now) => `${told(now)} times`;

function verdict(now) {
  const { method, steps, ratio } = now;
  if (steps === 0) return { kind: "open", text: "Here the disc starts" };
  if (SYMPLECTIC.includes(method))
    return { kind: "good", text: `Area kept: ${times(now)} what it was` };
  const off = Math.abs(ratio - 1);
  if (off < UNSEEN)
    return { kind: "open", text: "Off by less than 0.001 % so far: almost kept, but not kept" };
  const share = `${quantity(100 * off, "%")} ${ratio < 1 ? "lost" : "too much"}`;
  return off < NEARLY
    ? { kind: "bad", text: `${share}: almost kept, but not kept` }
    : { kind: "bad", text: `Area ${times(now)} what it was` };
}

function says({ steps, off, ratio, method }) {
  if (steps === 0) return "Move the disc, or let it go.";
  const seen = Math.abs(ratio - 1) < NEARLY ? "; the eye sees no difference" : "";
  const shape = off > 0.2 ? "The shape is wrong" : "The shape is nearly right";
  return SYMPLECTIC.includes(method)
    ? `${shape}, and the area is right.`
    : `${shape}. In truth the area is kept${seen}.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [phaseSpace(now, ui), areas(now, ui)],
  asks: "Does the method keep the area?",
  verdict,
  readings: () => [],
  says,
  tour: { knob: "steps", from: 0, seconds: 5 },
  step: ({ steps }, ui) => ui.set({ steps: steps < STEPS ? steps + 1 : 0 }),
});
