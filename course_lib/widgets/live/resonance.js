// Four oscillators that attention couples weakly: who has the energy, step after step.

import { future, handle, line, NARROW, panel, rule, word } from "../kit/charts.js";
import { button, series } from "../kit/controls.js";
import { textWidth } from "../kit/lettering.js";
import { first as before } from "../kit/plane.js";
import { prefersStillness } from "../kit/play.js";
import { number, percent, quantity } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { coupledOscillators, TURN } from "../maths/symplectic_attention.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const [TOKENS, COUNT] = [4, 4000];
const [STEPS_A_SECOND, STEPS_A_PRESS, TRAIL] = [200, 20, 250];
// It begins where one has just begun to give, and has come long enough to have a trail.
const [DRAWN, FIRST_SHOWN] = [500, 200];
/** The part of the whole energy from which on it counts as handed on. */
const PART = 0.1;
/** Shares that are so near to equal ones have no first among them. */
const EVEN = 0.01;
const [HEIGHT, HEIGHT_IF_NARROW] = [240, 215];
/** Of a ball with all energy, in parts of the table; and where a digit has no room on it. */
const [LARGEST, LEAST, TYPE, ROOM] = [0.22, 3, 12, 9];
/** An arrow key moves a ball so far; no hand takes one farther than the end. */
const [NUDGE, END] = [0.1, 10];
/** By how much the panel is larger than the table: a ball at its rim is to be seen, too. */
const MARGIN = 1.1;

/** On a telephone the table stands alone, large enough for a finger. */
const TABLE_IF_NARROW = 355;

const heightFor = (ui, narrow = HEIGHT_IF_NARROW) =>
  ui.width("panels", NARROW) < NARROW ? narrow : HEIGHT;

function run(q, p, epsilon, apart) {
  const { energies, ...states } = coupledOscillators(q, p, epsilon, apart, COUNT);
  const steps = upTo(COUNT);
  const whole = steps.map((n) => upTo(TOKENS).reduce((sum, i) => sum + energies[4 * n + i], 0));
  // Where all four rest in the middle, there is none to be shared.
  const all = whole[0] || 1;
  const ends = upTo(TOKENS).map(() => [Infinity, -Infinity]);
  let first = COUNT;
  energies.forEach((energy, at) => {
    const end = ends[at % TOKENS];
    end[0] = Math.min(end[0], energy);
    end[1] = Math.max(end[1], energy);
    const moved = Math.abs(energy - energies[at % TOKENS]) / all;
    if (moved > PART) first = Math.min(first, Math.floor(at / TOKENS));
  });
  return {
    ...{ states, energies, whole, all, first },
    swing: Math.max(...ends.map(([low, high]) => high - low)) / all,
    off: Math.max(...whole.map((one) => Math.abs(one - whole[0]) / all)),
  };
}

function derive({ q, p, epsilon, apart, alike, start, placed, moment, moving }, ui) {
  const moved = placed.length === 2 * TOKENS;
  const begin = (rows, from) => {
    const row = moved ? placed.slice(from, from + TOKENS) : rows[start];
    return alike ? upTo(TOKENS).map(() => row[0]) : row;
  };
  const found = ui.memo("run", [q, p, epsilon, apart, alike, start, placed], () =>
    run(begin(q, 0), begin(p, TOKENS), epsilon, apart),
  );
  const at = clamp(Math.floor(moment), 0, COUNT - 1);
  return { ...found, at, known: seenOf(found, at, moving, ui) };
}

/** Up to which step a run has been seen: what nobody has seen yet is not drawn, if it will come. */
function seenOf(found, at, moving, { memo }) {
  const seen = memo("seen", [found], () => ({ to: 0 }));
  seen.to = Math.max(seen.to, at);
  const whole = !moving || prefersStillness() || seen.to + STEPS_A_PRESS >= COUNT;
  return whole ? COUNT : seen.to;
}

/** A state as it stands on a table that turns with the oscillators. */
function onTheTable({ q, p }, n, i) {
  const [x, y] = [q[TOKENS * n + i], p[TOKENS * n + i]];
  const [c, s] = [Math.cos(TURN * n), Math.sin(TURN * n)];
  return [x * c - y * s, x * s + y * c];
}

/** A small ball wears its number outside, away from the middle of the table. */
function beside([dx, dy], size, room) {
  const far = (size + room) / (Math.hypot(dx, dy) || 1);
  return [far * dx, far * dy];
}

/** A ball put elsewhere: from there, and from where the others are just now, all begin again. */
function put(ui, i, [x, y]) {
  const { states, at, alike } = ui.now;
  const rows = upTo(TOKENS).map((j) => (alike || j === i ? [x, y] : onTheTable(states, at, j)));
  const round = (value) => clamp(Number(value.toFixed(3)), -END, END);
  ui.set({ placed: [0, 1].flatMap((axis) => rows.map((row) => round(row[axis]))), moment: 0 });
}

function table(now, ui) {
  const { states, energies, all, at, alike, apart, held } = now;
  const rim = Math.sqrt(2 * all);
  // The table keeps its scale under a hand.
  const half = MARGIN * (held ?? rim);
  const together = alike && (apart === 0 || at === 0);
  const shares = upTo(TOKENS).map((i) => energies[TOKENS * at + i] / all);
  const options = {
    name: "table",
    title: "Drag a ball: size is energy",
    says: `Four balls, position and momentum on a table that turns, after ${at} steps;
      of the energy they have
      ${shares.map((share) => quantity(100 * share, "%")).join(", ")}`,
    x: { ends: [-half, half], ticks: [], label: "position q, on a table that turns" },
    y: { ends: [-half, half], ticks: [], label: "momentum p" },
    ...{ height: heightFor(ui, TABLE_IF_NARROW), equal: true, group: true },
  };
  const from = Math.max(0, at - TRAIL);
  return panel(ui, options, (frame) => {
    const [cx, cy, r] = [frame.x(0), frame.y(0), frame.x(rim) - frame.x(0)];
    const pixel = (i) => {
      const [x, y] = onTheTable(states, at, i);
      return [frame.x(x), frame.y(y)];
    };
    const ball = (i) => {
      const [x, y] = pixel(i);
      const size = Math.max(LEAST, LARGEST * r * Math.sqrt(shares[i]));
      const name = together ? `1–${TOKENS}` : `${i + 1}`;
      const room = Math.max(ROOM, textWidth(name, TYPE) / 2 + 3);
      const small = size < room;
      const [nx, ny] = small ? beside([x - cx, y - cy], size, room) : [0, 0];
      const ink = small ? nothing : `fill: var(--cw-paper); stroke: ${series(i)}`;
      return svg`<circle data-ball=${i} r=${size} fill=${series(i)} stroke="var(--cw-paper)"
          stroke-width="1.5"></circle>
        <text class="cw-halo" x=${nx} y=${ny + 4.5} text-anchor="middle" style=${ink}>${name}</text>`;
    };
    const taken = (i, label, shape) => {
      const moveBy = (step) => {
        const from = onTheTable(ui.now.states, ui.now.at, i);
        put(ui, i, [from[0] + NUDGE * step[0], from[1] + NUDGE * step[1]]);
      };
      const moveTo = (point) => put(ui, i, point);
      const point = onTheTable(states, at, i);
      return handle(frame, { point, label, kind: "movable ball", moveTo, moveBy }, shape);
    };
    // Those that begin alike are one to the hand, by whichever of them it takes.
    const allFour = () => {
      const [lastX, lastY] = pixel(TOKENS - 1);
      const shown = (together ? [TOKENS - 1] : upTo(TOKENS)).map((i) => {
        const [x, y] = pixel(i);
        return svg`<g transform="translate(${x - lastX} ${y - lastY})">
          <circle r="20" fill="transparent"></circle>${ball(i)}</g>`;
      });
      return taken(TOKENS - 1, "all four balls", svg`${shown}`);
    };
    const spoke = (i) => {
      const [x, y] = pixel(i);
      return svg`<path d="M${cx} ${cy}L${x} ${y}" stroke=${series(i)}
        stroke-opacity="0.5"></path>`;
    };
    const trail = (i) => {
      const points = upTo(at - from + 1).map((k) => onTheTable(states, from + k, i));
      return line(frame, points, { colour: series(i), width: 1.5, opacity: 0.6 });
    };
    return svg`<circle clip-path=${frame.clip} cx=${cx} cy=${cy} r=${r} fill="none" stroke="var(--cw-edge)"
        stroke-dasharray="5 4"></circle>
      ${upTo(TOKENS).map(trail)}${upTo(TOKENS).map(spoke)}
      <g @pointerdown=${before(() => ui.set({ held: rim }))}
        @lostpointercapture=${() => ui.set({ held: null })}>
        ${alike ? allFour() : upTo(TOKENS).map((i) => taken(i, `ball ${i + 1}`, ball(i)))}</g>`;
  });
}

/** Each ball's share of the energy, and above them the total. */
function layers({ energies, whole, all, at, off, known }, ui) {
  const options = {
    name: "layers",
    title: "Energy of each ball",
    says: `The energies of the four, and their total, over ${COUNT} steps;
      the total stays within ${within(off)}`,
    x: { ends: [0, COUNT], label: "steps" },
    y: { ends: [0, 118], ticks: [0, 25, 50, 75, 100], label: "share of the total, in %" },
    ...{ height: heightFor(ui), grow: 1.6 },
  };
  const some = upTo(DRAWN + 1).map((k) => Math.min(COUNT - 1, Math.round((k * COUNT) / DRAWN)));
  const share = (n, i) => (100 * energies[TOKENS * n + i]) / all;
  return panel(ui, options, (frame) => {
    const curve = (of, colour) =>
      line(
        frame,
        some.map((n) => [n, of(n)]),
        { colour, width: 2 },
      );
    const head = (i) => svg`<g transform="translate(${frame.x(at)} ${frame.y(share(at, i))})">
      <circle r="8" fill=${series(i)} stroke="var(--cw-paper)" stroke-width="1.5"></circle>
      <text y="4" text-anchor="middle" style="fill: var(--cw-paper)">${i + 1}</text></g>`;
    const ahead = frame.x(at);
    return svg`${upTo(TOKENS).map((i) => curve((n) => share(n, i), series(i)))}
      ${curve((n) => (100 * whole[n]) / all, "var(--cw-ink)")}${word(frame, [0, 100], " total")}
      <rect x=${ahead} y=${frame.top} width=${Math.max(0, frame.right - ahead)}
        height=${frame.bottom - frame.top} fill="var(--cw-paper)" fill-opacity="0.45"></rect>
      ${future(frame, known)}
      ${rule(frame, { x: at, colour: "var(--cw-ink)", dash: "" })}${upTo(TOKENS).map(head)}`;
  });
}

/** A share in percent that is not exceeded, in two digits. */
function within(off) {
  const percent = 100 * off;
  const unit = 10 ** (Math.floor(Math.log10(percent)) - 1);
  return quantity(percent > 0 ? Math.ceil(percent / unit) * unit : 0, "%");
}

/** Who has how much, just now. */
function verdict({ energies, all, at, alike, apart, swing }) {
  if (alike && apart === 0)
    return { kind: "open", text: `Each keeps its ${quantity(100 / TOKENS, "%")}` };
  const shares = upTo(TOKENS).map((i) => energies[TOKENS * at + i] / all);
  const most = shares.indexOf(Math.max(...shares));
  const held = swing < PART ? "Nearly all stays. " : "";
  const even = shares.every((share) => Math.abs(share - 1 / TOKENS) < EVEN);
  const told = even
    ? `All have ${quantity(100 / TOKENS, "%")}`
    : `Ball ${most + 1} has ${percent(shares[most])}`;
  return { kind: "open", text: `${held}${told}` };
}

function says({ swing, apart, alike, first }) {
  if (alike && apart === 0) return "Four that begin alike stay alike: nobody has anything to give.";
  if (swing < PART) return "Hardly any energy wanders.";
  if (apart > 0 && swing < 0.4)
    return "Out of tune, they hand on a part of the energy and get it back.";
  return `${first > 100 ? "Slowly the" : "The"} energy wanders from one to another.`;
}

export default liveFigure({
  local: { moment: FIRST_SHOWN, held: null },
  derive,
  panels: (now, ui) => [table(now, ui), layers(now, ui)],
  asks: "Who has the energy now?",
  terse: true,
  began: ({ epsilon, apart }) =>
    `ε = ${number(epsilon, 3)}, ${apart ? `out of tune by ${number(apart)}` : "in tune"}`,
  verdict,
  chooser: ({ q }, ui) => {
    const next = () => (ui.now.start + 1) % q.length;
    return button("Begin elsewhere", () => ui.set({ start: next(), placed: [], moment: 0 }));
  },
  readings: ({ swing, off }) => [
    { name: "swing", label: "largest swing of one ball", text: quantity(100 * swing, "% of all") },
    { name: "total", label: "total off by at most", text: quantity(100 * off, "%") },
  ],
  says,
  moment: ({ at }) => `step ${at}`,
  advance: (now, ui, seconds) => go(now, ui, STEPS_A_SECOND * seconds),
  step: (now, ui) => go(now, ui, STEPS_A_PRESS),
});

/** Some steps on, and from the last on to the first. */
function go({ moment, held }, ui, steps) {
  if (held !== null) return;
  ui.set({ moment: moment + steps < COUNT ? moment + steps : 0 });
}
