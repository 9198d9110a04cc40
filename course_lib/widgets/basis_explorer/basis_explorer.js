import { plain, rows } from "../kit/array.js";
import { button, choices, fold, slider, swatch } from "../kit/controls.js";
import { first } from "../kit/plane.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { finePercent, number } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { upTo } from "../maths/numerics.js";
import { randomRod } from "../maths/rod.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { derive, drawn, evenNodes, GRID } from "./bases.js";
import { basisPanel, canStand, drawnPanel, LOOKS, nodesPanel, solutionPanel } from "./panels.js";

/** How long the temperature swings, and a flame goes along the rod; a plug takes as long once more. */
const SECONDS = { phase: 12, flame: 4 };
const ENDS = { phase: 1, flame: 2 };
const UNBROKEN = "\u00a0";
/** @type {[string, string][]} */
const MODES = [
  ["nodes", "nodes and values"],
  ["rod", "a rod, and the field that learned"],
];
const CONDUCTIVITY = {
  label: "Conductivity k, logarithmic: draw here",
  ink: "series-3",
  levels: [0.1, 1, 10].map((k) => [Math.log(k), String(k)]),
};
const HEAT = {
  label: "Heat f put in: draw here",
  ink: "series-4",
  levels: [-2, 0, 2].map((f) => [f, number(f, 0)]),
};

const small = (value) => number(value, value < 0.01 ? 5 : 3);
const gapOf = ({ farthest }, i) => number(farthest[i].gap, 3);
const ASKS = "Is τ too cold, or too hot?";
/** A gap that is so much larger than at the best temperature is no longer about right. */
const RIGHT = 1.1;
/** By as much as the printed numbers show. */
const beaten = (now) => Number(gapOf(now, 1)) < Number(gapOf(now, 0));
/** How warm it is, for these nodes, and in words. */
function answer(now) {
  const { farthest, best, warmth } = now;
  if (beaten(now)) return { kind: "good", text: "Beats the hats" };
  if (farthest[1].gap <= RIGHT * best.gap) return { kind: "good", text: "About right" };
  return { kind: "bad", text: warmth < best.warmth ? "Too cold" : "Too hot" };
}
const aboutWarmth = (warmth) => `τ =${UNBROKEN}${small(warmth)}`;
const errorTold = (share) => (Number.isNaN(share) ? "no share of 0" : finePercent(share));

/** A rod drawn at random from the family that the field learned. */
function anotherRod(ui) {
  const seed = ui.now.seed + 1;
  const [log_conductivity, load] = randomRod(seed, GRID);
  ui.set({ seed, log_conductivity, load });
}

function warming(now, ui) {
  const line = { min: 1e-5, max: 10, logarithmic: true, format: small };
  return html`<div class="cw-controls cw-b-warmth">
    ${slider(ui, "temperature", {
      ...{ label: "Temperature τ", ...line, value: now.warmth },
      set: (temperature) => {
        hold(ui);
        ui.set({ temperature });
      },
    })}
    ${playButton(ui, { start: "Swing τ", stop: "❚❚ Hold τ" })}
  </div>
  <p class="cw-b-ends"><span>cold: nearest node</span><span>hot: mean of all</span></p>`;
}

const querying = (ui) =>
  slider(ui, "query", { label: "Query x", min: 0, max: 1, step: 0.01, format: number });

/** The question, and how it stands, with the numbers that decide it. */
function contest(now) {
  const { kind, text } = answer(now);
  const told = html`At best off by <span data-reading="best">${number(now.best.gap, 3)}</span>;
    now${readout("error", now, (_, i) => gapOf(now, i))}`;
  return headline(ASKS, { kind, text: `${text}.`, told });
}

const count = (shares) => `shared by ${number(shares, 1)} nodes`;

function baseRow(now, ui) {
  return html`<p class="cw-b-title"><span class="cw-b-at">At
      x =${UNBROKEN}<strong>${number(now.query)}</strong>
      and τ =${UNBROKEN}<strong>${small(now.warmth)}</strong></span>${
        now.mode === "nodes"
          ? html`, u(x):${readout("here", now, (here) => number(here))}`
          : nothing
      }</p>
    <div class="cw-columns cw-b-bases" data-warmth=${now.warmth}>
    ${now.bases.map((basis, i) =>
      basisPanel(
        now,
        ui,
        basis,
        `${basis.name === "learned" ? `, head ${now.head + 1}` : ""}: ${count(now.counts[i])}`,
      ),
    )}
  </div>`;
}

/** A line of numbers, one for each basis, each named in its colour. */
const readout = (reading, { bases }, of) =>
  html`<span data-reading=${reading}>${bases.map(
    ({ name, here }, i) =>
      html` <span style="color: var(--cw-${LOOKS[name].ink})">${name}</span
        >${UNBROKEN}<strong>${of(here, i)}</strong>`,
  )}</span>`;

function nodesView(now, ui) {
  return html`${contest(now)} ${nodesPanel(now, ui)}
    ${warming(now, ui)}
    ${baseRow(now, ui)}
    <div class="cw-controls cw-b-below">
      ${querying(ui)}
      ${slider(ui, "nodes", {
        ...{ label: "Number of nodes", min: 2, max: 16, value: now.points.length },
        set: (nodes) => {
          ui.play(false);
          ui.set({ points: evenNodes(nodes) });
        },
      })}
    </div>`;
}

/** How far each curve is from the solution, a line each; the nearest has its mark. */
function errorsOf({ bases, errors, warmth }) {
  const least = Math.min(...errors);
  const line = ({ name }, i) => {
    const { ink, rod } = LOOKS[name];
    const at = name === "softmax" ? ` at ${aboutWarmth(warmth)}` : "";
    return html`<span>${swatch(`var(--cw-${ink})`)} ${rod}${at}
      <output aria-live="off"><strong>${errorTold(errors[i])}</strong></output> <b class="cw-b-nearest"
        ?data-waits=${errors[i] > least}>✓${UNBROKEN}nearest</b></span>`;
  };
  return html`<p class="cw-b-errors" data-reading="error">${bases.map(line)}</p>`;
}

/** So many times as far off as on rods of its family is no longer what the field is used to. */
const ASTRAY = 2;

/** Whether the field is about as near as it usually is, where that is known. */
function fieldAsked({ facts, errors }) {
  if (facts.error === null) return nothing;
  const keeps = errors[2] <= ASTRAY * facts.error;
  const [kind, text] = keeps ? ["good", "It keeps up:"] : ["bad", "It is led astray:"];
  const told = `${errorTold(errors[2])}, usually ${errorTold(facts.error)}`;
  return headline("Does the field keep up?", { kind, text, told }, true);
}

const trained = (error) =>
  error === null
    ? ""
    : `On new rods of its family the field was off by ${errorTold(error)} on average, ` +
      "before its weights were rounded for this page.";

/** Sends a flame and then a plug along the rod, or puts them out. */
function lighting({ playing, flame }, ui) {
  const names = ["❚❚ Stop", "▶ Flame, plug"];
  const burns = playing && flame > 0;
  const [here, other] = burns ? names : names.toReversed();
  const press = () => (burns ? hold(ui) : burn(ui));
  return html`<span class="cw-b-lighting">${button(here, press, { other })}</span>`;
}

function rodView(now, ui) {
  const { facts } = now;
  const heads = upTo(facts.heads).map(
    (head) => /** @type {[any, string]} */ ([head, String(head + 1)]),
  );
  return html`${fieldAsked(now)}<div class="cw-columns cw-b-drawn">
      ${drawnPanel(now, ui, "log_conductivity", CONDUCTIVITY)} ${drawnPanel(now, ui, "load", HEAT)}
    </div>
    <p class="cw-b-title"><strong>Off from the solution u</strong> by</p>
    ${errorsOf(now)}
    ${solutionPanel(now, ui)}
    <div class="cw-controls cw-b-below">
      ${lighting(now, ui)}
      ${button("Another rod", () => anotherRod(ui))}
      ${button("Constant k", () => ui.set({ log_conductivity: GRID.map(() => 0) }))}
      ${button("Constant heat", () => ui.set({ load: GRID.map(() => 1) }))}
    </div>
    ${fold(
      "The weights behind each curve",
      html`${warming(now, ui)} ${querying(ui)}
        ${choices(ui, "head", { label: "Head", options: heads })} ${baseRow(now, ui)}`,
    )}`;
}

const HINTS = {
  nodes:
    "A curve is off by its largest gap to the dotted one, where the bar stands; at best is the least " +
    "for any τ. Drag a node, or Tab to it and use the arrow keys; drag ◂▸ to move the query. " +
    "A new number spaces them evenly.",
  rod:
    "The field keeps up as long as it is no more than twice as far off as on rods of its family. " +
    "Draw on k or f; with a finger or the arrow keys, pull the ring. The field and the finite " +
    "elements see both curves at the sensors alone. Hats and softmax blend the same values there, " +
    "those of the finite elements.",
};
const SHARED = "The weights at the query sum to one. Shared by n nodes means 1 / Σ αᵢ² = n.";

/** A temperature that swings out of sight would move a number for no reason that is seen. */
function hold(ui) {
  ui.play(false);
  ui.set({ phase: 0, flame: 0 });
}

/** When a rod is first seen, a flame goes along it once. */
function light(ui) {
  if (!ui.now.moving || prefersStillness()) return;
  ui.memo("lit", [], () => burn(ui));
}

function burn(ui) {
  ui.set({ flame: 1e-3 });
  ui.play(true);
}

function begin(ui) {
  hold(ui);
  if (ui.now.mode === "rod") light(ui);
}

function view(now, ui) {
  const choose = (mode) => {
    ui.set({ mode });
    begin(ui);
  };
  // Whatever a hand does to the rod, it does to the rod without a flame.
  const end = first(({ key, target }) => {
    const passes = ["Tab", "Shift"].includes(key) || target.closest(".cw-b-lighting");
    if (now.flame && !passes) hold(ui);
  });
  return html`<div data-flame=${now.flame} @pointerdown=${end} @keydown=${end}><div class="cw-controls">
      ${choices(ui, "mode", { label: "Show", options: MODES, choose })}
    </div>
    ${now.mode === "rod" ? rodView(now, ui) : nodesView(now, ui)}</div>`;
}

function words(now) {
  const { mode, bases, counts, errors, nodes, query, warmth } = now;
  const told = bases.map(({ name, here }, i) => {
    const off = mode === "rod" ? errorTold(errors[i]) : gapOf(now, i);
    return `${LOOKS[name][mode]}: ${number(here)}, weights ${count(counts[i])}, off by ${off}.`;
  });
  const asked = mode === "rod" ? "" : `${ASKS} ${answer(now).text}. `;
  const where = `${nodes.length} nodes, temperature ${small(warmth)}, at x = ${number(query)}.`;
  return `${asked}${where} ${told.join(" ")}`;
}

export default widget({
  label: "Basis explorer: hats, a softmax and learned weights blend values into a function",
  name: "cw-basis",
  data: { facts: plain, weights: plain },
  controls: {
    ...{ mode: plain, points: rows, temperature: plain, query: plain },
    ...{ log_conductivity: drawn, load: drawn, head: plain },
  },
  local: { phase: 0, flame: 0, seed: 0, hands: { log_conductivity: 0.3, load: 0.6 } },
  whole: ({ points }) => canStand(points),
  atSight: (ui) => (ui.now.mode === "nodes" ? ui.play(true) : light(ui)),
  derive,
  view,
  words,
  how: ({ mode, facts }) =>
    `${HINTS[mode]} ${SHARED} ${mode === "rod" ? trained(facts.error) : ""}`,
  entered: begin,
  began: ({ mode, points, temperature }) =>
    mode === "rod"
      ? "the first rod"
      : `the ${points.length} nodes, τ =${UNBROKEN}${small(temperature)}`,
  advance: (now, ui, seconds) => {
    const moves = now.flame ? "flame" : "phase";
    const next = now[moves] + seconds / SECONDS[moves];
    const over = next >= ENDS[moves];
    ui.set({ [moves]: over ? 0 : next });
    if (over) ui.play(false);
  },
});
