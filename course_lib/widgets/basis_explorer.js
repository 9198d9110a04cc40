import { plain, rows, vector } from "./js/array.js";
import { derive, evenNodes, GRID } from "./js/basis_explorer/bases.js";
import {
  basisPanel,
  canStand,
  drawnPanel,
  LOOKS,
  nodesPanel,
  solutionPanel,
} from "./js/basis_explorer/panels.js";
import { button, choices, fold, slider } from "./js/controls.js";
import { upTo } from "./js/maths/numerics.js";
import { randomRod } from "./js/maths/rod.js";
import { playAtOnce, playButton } from "./js/play.js";
import { number } from "./js/text.js";
import { html } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SECONDS = 9;
const SEEDS = 1000;
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
const percent = (share) =>
  Number.isNaN(share)
    ? "no share of 0"
    : `${number(100 * share, share < 0.0995 ? 1 : 0)}${UNBROKEN}%`;

/** A rod drawn at random from the family that the field learned. */
function anotherRod(ui) {
  const seed = (ui.now.seed + 1) % SEEDS;
  const [log_conductivity, load] = randomRod(seed, GRID);
  ui.set({ seed, log_conductivity, load });
}

function warming(now, ui) {
  const still = (changes) => {
    ui.play(false);
    ui.set({ phase: 0, ...changes });
  };
  const line = { min: 1e-5, max: 10, logarithmic: true, format: small };
  return html`<div class="cw-controls cw-b-warmth">
    ${slider(ui, "temperature", {
      ...{ label: "Temperature τ", ...line, value: now.warmth },
      set: (temperature) => still({ temperature }),
    })}
    ${playButton(ui, { start: "Swing τ", stop: "❚❚ Hold τ" })}
    ${slider(ui, "query", { label: "Query x", min: 0, max: 1, step: 0.01, format: number })}
  </div>`;
}

const count = (shares) => `shared by ${number(shares, 1)}`;

function baseRow(now, ui) {
  return html`<p class="cw-b-title cw-b-at">Weights at x =${UNBROKEN}<strong>${number(now.query)}</strong>,
      those of the softmax at τ =${UNBROKEN}<strong>${small(now.warmth)}</strong></p>
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
const readout = (name, { mode, bases }, of) =>
  html`<span data-reading=${name}>${bases.map(
    (basis, i) =>
      html` <span style="color: var(--cw-${LOOKS[basis.name].ink})">${LOOKS[basis.name][mode]}</span>
        <strong>${of(basis, i)}</strong>`,
  )}</span>`;

function nodesView(now, ui) {
  const { farthest, points } = now;
  return html`${nodesPanel(now, ui)}
    <p class="cw-readout cw-b-readout">u(x) at the query:${readout("here", now, ({ here }) => number(here))}.
      Farthest from the dotted curve, the upright bars:
      ${readout("error", now, (_, i) => number(farthest[i].gap, 3))}</p>
    ${warming(now, ui)}
    ${baseRow(now, ui)}
    <div class="cw-controls cw-b-below">
      ${slider(ui, "nodes", {
        ...{ label: "Even nodes, read off", min: 2, max: 16, value: points.length },
        set: (nodes) => ui.set({ points: evenNodes(nodes) }),
      })}
    </div>`;
}

const trained = (error) =>
  error === null
    ? ""
    : `On new rods of its family the field was off by ${percent(error)} on average, ` +
      "before its weights were rounded for this page.";

function rodView(now, ui) {
  const { errors, facts } = now;
  const heads = upTo(facts.heads).map(
    (head) => /** @type {[any, string]} */ ([head, String(head + 1)]),
  );
  return html`<div class="cw-columns cw-b-drawn">
      ${drawnPanel(now, ui, "log_conductivity", CONDUCTIVITY)} ${drawnPanel(now, ui, "load", HEAT)}
    </div>
    <p class="cw-readout cw-b-readout">Temperature u along the rod. Off from the solution, the wide
      band:${readout("error", now, (_, i) => percent(errors[i]))}</p>
    ${solutionPanel(now, ui)}
    <div class="cw-controls cw-b-below">
      ${button("Another rod", () => anotherRod(ui))}
      ${button("Constant k", () => ui.set({ log_conductivity: GRID.map(() => 0) }))}
      ${button("Constant heat", () => ui.set({ load: GRID.map(() => 1) }))}
    </div>
    ${fold(
      "The weights behind each curve, head by head",
      html`${warming(now, ui)}
        ${choices(ui, "head", { label: "Head of the field", options: heads })} ${baseRow(now, ui)}`,
    )}
    <p class="cw-hint">${trained(facts.error)}</p>`;
}

const HINTS = {
  nodes: "Drag a node, or Tab to it and use the arrow keys; press elsewhere to move the query.",
  rod:
    "Draw on k or f; with a finger or the arrow keys, pull the ring. The field and the finite " +
    "elements see both curves at the sensors alone. Hats and softmax blend the same values there, " +
    "those of the finite elements.",
};
const SHARED = "The weights at the query sum to one. Shared by n means 1 / Σ αᵢ² = n.";

function view(now, ui) {
  if (now.moving) playAtOnce(ui);
  return html`<div class="cw-controls">
      ${choices(ui, "mode", { label: "Show", options: MODES })}
    </div>
    ${now.mode === "rod" ? rodView(now, ui) : nodesView(now, ui)}`;
}

function words({ mode, bases, counts, farthest, errors, nodes, query, warmth }) {
  const told = bases.map(({ name, here }, i) => {
    const off = mode === "rod" ? percent(errors[i]) : number(farthest[i].gap, 3);
    return `${LOOKS[name][mode]}: ${number(here)}, weights ${count(counts[i])}, off by ${off}.`;
  });
  return `${nodes.length} nodes, temperature ${small(warmth)}, at x = ${number(query)}. ${told.join(" ")}`;
}

export default widget({
  label: "Basis explorer: hats, a softmax and learned weights blend values into a function",
  name: "cw-basis",
  data: { facts: plain, weights: plain, moving: plain },
  controls: {
    ...{ mode: plain, points: rows, temperature: plain, query: plain },
    ...{ log_conductivity: vector, load: vector, head: plain },
  },
  local: { phase: 0, seed: 0, hands: { log_conductivity: 0.3, load: 0.6 } },
  whole: ({ points }) => canStand(points),
  derive,
  view,
  words,
  how: ({ mode }) => `${HINTS[mode]} ${SHARED}`,
  began: ({ mode, points, temperature }) =>
    mode === "rod" ? "the first rod" : `${points.length} nodes, τ = ${small(temperature)}`,
  advance: ({ phase }, ui, seconds) => {
    const next = phase + seconds / SECONDS;
    ui.set({ phase: next < 1 ? next : 0 });
    if (next >= 1) ui.play(false);
  },
});
