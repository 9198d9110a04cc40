// Four oscillators that attention couples weakly: who has the energy, window after window.

import { liveFigure } from "../../live_figure.js";
import { dot, legend, line, panel, rule } from "../charts.js";
import { series } from "../controls.js";
import { clamp, upTo } from "../maths/numerics.js";
import { coupledOscillators, TURN } from "../maths/symplectic_attention.js";
import { quantity } from "../text.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";

const [TOKENS, COUNT] = [4, 4000];
const [WINDOWS_A_SECOND, WINDOWS_A_STEP, TRAIL] = [200, 20, 250];
const [DRAWN, FIRST_SHOWN] = [500, 900];
/** The part of the whole energy from which on it counts as handed on. */
const PART = 0.1;
const HEIGHT = 270;
/** Of a ball with all energy, in parts of the table; and where a number has no room on it. */
const [LARGEST, ROOM] = [0.22, 9];
/** By how much the panel is larger than the table: a ball at its rim is to be seen, too. */
const MARGIN = 1.1;

function run(q, p, epsilon, apart) {
  const { energies, ...states } = coupledOscillators(q, p, epsilon, apart, COUNT);
  const windows = upTo(COUNT);
  const whole = windows.map((n) => upTo(TOKENS).reduce((sum, i) => sum + energies[4 * n + i], 0));
  const ends = upTo(TOKENS).map(() => [Infinity, -Infinity]);
  let first = COUNT;
  energies.forEach((energy, at) => {
    const end = ends[at % TOKENS];
    end[0] = Math.min(end[0], energy);
    end[1] = Math.max(end[1], energy);
    const moved = Math.abs(energy - energies[at % TOKENS]) / whole[0];
    if (moved > PART) first = Math.min(first, Math.floor(at / TOKENS));
  });
  return {
    ...{ states, energies, whole, first },
    swing: Math.max(...ends.map(([low, high]) => high - low)) / whole[0],
    off: Math.max(...whole.map((one) => Math.abs(one / whole[0] - 1))),
  };
}

function derive({ q, p, epsilon, apart, alike, start, moment }, ui) {
  const begin = (rows) => (alike ? upTo(TOKENS).map(() => rows[start][0]) : rows[start]);
  const found = ui.memo("run", [q, p, epsilon, apart, alike, start], () =>
    run(begin(q), begin(p), epsilon, apart),
  );
  return { ...found, at: clamp(Math.floor(moment), 0, COUNT - 1) };
}

/** A state as it stands on a table that turns with the oscillators. */
function onTheTable({ q, p }, n, i) {
  const [x, y] = [q[TOKENS * n + i], p[TOKENS * n + i]];
  const [c, s] = [Math.cos(TURN * n), Math.sin(TURN * n)];
  return [x * c - y * s, x * s + y * c];
}

/** A small ball wears its number outside, away from the middle of the table. */
function beside([dx, dy], size) {
  const far = (size + ROOM) / (Math.hypot(dx, dy) || 1);
  return [far * dx, far * dy];
}

function table({ states, energies, whole, at }, ui) {
  const rim = Math.sqrt(2 * whole[0]);
  const shares = upTo(TOKENS).map((i) => energies[TOKENS * at + i] / whole[0]);
  const options = {
    name: "table",
    title: "On a table that turns along",
    says: `Four balls in phase space after ${at} windows; of the energy they have
      ${shares.map((share) => quantity(100 * share, "%")).join(", ")}`,
    x: { ends: [-MARGIN * rim, MARGIN * rim], ticks: [] },
    y: { ends: [-MARGIN * rim, MARGIN * rim], ticks: [] },
    ...{ height: HEIGHT, equal: true },
  };
  const from = Math.max(0, at - TRAIL);
  return panel(ui, options, (frame) => {
    const [cx, cy, r] = [frame.x(0), frame.y(0), frame.x(rim) - frame.x(0)];
    const ball = (i) => {
      const place = onTheTable(states, at, i);
      const [x, y] = [frame.x(place[0]), frame.y(place[1])];
      const size = Math.max(3, LARGEST * r * Math.sqrt(shares[i]));
      const small = size < ROOM;
      const [nx, ny] = small ? beside([x - cx, y - cy], size) : [0, 0];
      const ink = small ? nothing : `fill: var(--cw-paper); stroke: ${series(i)}`;
      return svg`<path d="M${cx} ${cy}L${x} ${y}" stroke=${series(i)} stroke-opacity="0.5"></path>
        ${dot(frame, place, { colour: series(i), r: size })}
        <text class="cw-halo" x=${x + nx} y=${y + ny + 4.5} text-anchor="middle"
          style=${ink}>${i + 1}</text>`;
    };
    const trail = (i) => {
      const points = upTo(at - from + 1).map((k) => onTheTable(states, from + k, i));
      return line(frame, points, { colour: series(i), width: 1.5, opacity: 0.6 });
    };
    return svg`<circle cx=${cx} cy=${cy} r=${r} fill="none" stroke="var(--cw-edge)"
        stroke-dasharray="5 4"></circle>
      ${upTo(TOKENS).map(trail)}${upTo(TOKENS).map(ball)}`;
  });
}

/** The energies one upon the other: what one layer loses the others gain. */
function layers({ energies, whole, at }, ui) {
  const top = 1.15 * whole[0];
  const options = {
    name: "layers",
    title: legend([
      ...upTo(TOKENS).map((i) => ({ text: `token ${i + 1}`, colour: series(i) })),
      { text: "total", colour: "var(--cw-ink)" },
    ]),
    says: `The energies of the four, one upon the other, over ${COUNT} windows; the total stays`,
    x: { ends: [0, COUNT], label: "windows" },
    y: { ends: [0, top], label: "energy" },
    ...{ height: HEIGHT, grow: 1.6 },
  };
  const some = upTo(DRAWN + 1).map((k) => Math.min(COUNT - 1, Math.round((k * COUNT) / DRAWN)));
  const below = (n, i) => upTo(i).reduce((sum, j) => sum + energies[TOKENS * n + j], 0);
  return panel(ui, options, (frame) => {
    const edge = (i) =>
      some.map((n) => `${frame.x(n).toFixed(1)} ${frame.y(below(n, i)).toFixed(1)}`);
    const edges = upTo(TOKENS + 1).map(edge);
    const layer = (
      i,
    ) => svg`<path d="M${edges[i].join("L")}L${edges[i + 1].toReversed().join("L")}Z"
      fill=${series(i)} fill-opacity="0.75" stroke="var(--cw-paper)" stroke-width="1"></path>`;
    const ahead = frame.x(at);
    return svg`${upTo(TOKENS).map(layer)}
      ${line(
        frame,
        some.map((n) => [n, whole[n]]),
        { colour: "var(--cw-ink)", width: 2 },
      )}
      <rect x=${ahead} y=${frame.top} width=${Math.max(0, frame.right - ahead)}
        height=${frame.bottom - frame.top} fill="var(--cw-paper)" fill-opacity="0.45"></rect>
      ${rule(frame, { x: at, colour: "var(--cw-ink)", dash: "" })}`;
  });
}

function says({ swing, apart, alike, first }) {
  if (alike && apart === 0) return "Four that begin alike stay alike: nobody has anything to give.";
  if (swing < PART) return "Hardly any energy wanders, and the total stays.";
  if (apart > 0 && swing < 0.4)
    return "Out of tune, they hand on a part of the energy and get it back.";
  return first > 100
    ? "Slowly the energy wanders from one to another, and the total stays."
    : "The energy wanders from one to another, and the total stays.";
}

export default liveFigure({
  local: { moment: FIRST_SHOWN },
  derive,
  panels: (now, ui) => [table(now, ui), layers(now, ui)],
  readings: ({ swing, off, first }) => [
    { name: "swing", label: "largest swing of one token", text: quantity(100 * swing, "% of all") },
    { name: "total", label: "total off by at most", text: quantity(100 * off, "%") },
    {
      name: "first",
      label: "one has given or got a tenth of all after",
      text: `${first} windows${first < COUNT ? "" : ": not yet"}`,
    },
  ],
  says,
  moment: ({ at }) => `window ${at}`,
  advance: (now, ui, seconds) => go(now, ui, WINDOWS_A_SECOND * seconds),
  step: (now, ui) => go(now, ui, WINDOWS_A_STEP),
});

/** Some windows on, and from the last on to the first. */
function go({ moment }, ui, windows) {
  ui.set({ moment: moment + windows < COUNT ? moment + windows : 0 });
}
