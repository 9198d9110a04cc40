import { array, plain, rows, vector } from "./js/array.js";
import { choices, select, series, slider } from "./js/controls.js";
import { memoryWeights } from "./js/maths/memory.js";
import { blend, clamp, dot, upTo } from "./js/maths/numerics.js";
import { painted } from "./js/painted.js";
import { every, playButton } from "./js/play.js";
import { bar } from "./js/table.js";
import { number } from "./js/text.js";
import { html, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SECONDS_BETWEEN_GUESTS = 0.7;
const COLUMN = 100;
const SPREAD = 14;
const THREADS_HEIGHT = 64;
const THICKEST = 22;
const MOST_CRISP = 64;
const LONGEST_RATIO = 6;
const NARROW = 44;

const FORMULAS = {
  composite: html`w<sub>i</sub> = 1`,
  forgetting: html`w<sub>i</sub> = γ<sup>T−i</sup>`,
  gate: html`w<sub>i</sub> = σ(g<sub>i</sub> + b)`,
  softmax: html`w<sub>i</sub> = softmax(s / τ)<sub>i</sub>`,
  query: html`w<sub>i</sub> = softmax(K q / τ)<sub>i</sub>`,
};
/** What the weight of guest i is made of. */
const EVIDENCE = {
  composite: (_, i) => `guest ${i + 1}`,
  forgetting: ({ arrived }, i) => `${arrived - 1 - i} ago`,
  gate: ({ gate }, i) => `g = ${number(gate[i], 1)}`,
  softmax: ({ score }, i) => `s = ${number(score[i], 1)}`,
  query: ({ guest_keys, query }, i) => `k·q = ${number(dot(guest_keys[i], query), 1)}`,
};

/** Each guest's picture, pixel by pixel. */
function pictures({ shape: [guests, height, width], values }) {
  const area = height * width;
  return upTo(guests).map((i) => Array.from(values.subarray(i * area, (i + 1) * area)));
}

function derive(now, { memo }) {
  const { images, mode, decay, door, temperature, arrived } = now;
  const query = now.queries[now.questions.indexOf(now.question)];
  const weights = memo("weights", [mode, decay, door, temperature, arrived, query], () =>
    memoryWeights(mode, { ...now, guests: now.names.length, keys: now.guest_keys, query }),
  );
  const portraits = memo("portraits", [images], () => pictures(images));
  return {
    query,
    weights,
    portraits,
    total: weights.reduce((sum, weight) => sum + weight, 0),
    memory: memo("memory", [weights], () => blend(weights, portraits)),
  };
}

/**
 * A picture as ink on paper, at most `full` of it. Its pixels are square, unless it is very long.
 */
function picture(ui, values, full, label) {
  const [, height, width] = ui.now.images.shape;
  const paint = (context) => {
    context.fillStyle = ui.theme.ink("ink");
    values.forEach((value, i) => {
      context.globalAlpha = clamp(value / full, 0, 1);
      context.fillRect(i % width, Math.floor(i / width), 1, 1);
    });
  };
  const cells = { width, height, inputs: [values, full], paint, cells: true };
  const ratio = clamp(width / height, 1 / LONGEST_RATIO, LONGEST_RATIO);
  const rendering = Math.max(width, height) > MOST_CRISP ? "auto" : "pixelated";
  return html`<canvas class="cw-picture" role="img" aria-label=${label}
    style="--cw-ratio: ${ratio}; image-rendering: ${rendering}" ${painted(ui, cells)}></canvas>`;
}

function guest(now, ui, i) {
  const { names, portraits, weights, mode, arrived } = now;
  const here = i < arrived;
  return html`<li class=${here ? "cw-guest" : "cw-guest cw-absent"}>
    ${picture(ui, portraits[i], 1, `picture of guest ${i + 1}, ${names[i]}`)}
    <span class="cw-guest-name" title=${names[i]}>${names[i]}</span>
    <span class="cw-guest-evidence">${here ? EVIDENCE[mode](now, i) : ""}</span>
    ${bar(series(i), weights[i])}
    <span class="cw-guest-weight">${here ? number(weights[i], 3) : "not yet here"}</span>
  </li>`;
}

/**
 * A thread from the middle of column `i` of `count` to its place at the rim of the memory below.
 */
function threadPath(i, count) {
  const from = (i + 0.5) * COLUMN;
  const to = (count * COLUMN) / 2 + (i - (count - 1) / 2) * SPREAD;
  const bend = THREADS_HEIGHT / 2;
  return `M${from} 0C${from} ${bend} ${to} ${bend} ${to} ${THREADS_HEIGHT}`;
}

function threads({ weights }) {
  const thread = (weight, i) =>
    svg`<path d=${threadPath(i, weights.length)} fill="none" stroke=${series(i)}
      stroke-width=${(THICKEST * weight).toFixed(2)} vector-effect="non-scaling-stroke"></path>`;
  return html`<svg viewBox="0 0 ${weights.length * COLUMN} ${THREADS_HEIGHT}" class="cw-threads"
    preserveAspectRatio="none" aria-hidden="true">${weights.map(thread)}</svg>`;
}

function memoryPanel(now, ui) {
  // A sheet holds one layer of full ink. Where more has been laid over it, brightness is scaled.
  const full = Math.max(1, now.total);
  const drawn =
    full > 1
      ? `Too much for one sheet: the picture is drawn ${number(full)} times fainter than it is.`
      : "The picture is drawn as it is: full ink is 1.";
  return html`<div class="cw-memory">
    ${picture(ui, now.memory, full, `the remembered picture: ${words(now)}`)}
    <div class="cw-memory-text">
      <p class="cw-party-rule">memory = Σ w<sub>i</sub> x<sub>i</sub>, ${FORMULAS[now.mode]}</p>
      <p class="cw-readout">Total weight <strong>${number(now.total, 3)}</strong></p>
      <p class="cw-hint">${drawn}</p>
    </div>
  </div>`;
}

/** What can be set, where it matters. */
function controls({ mode, questions, names }, ui) {
  const within = (modes, control) =>
    html`<div class="cw-party-only" ?hidden=${!modes.includes(mode)}>${control}</div>`;
  const arrived = { label: "Guests arrived", min: 1, max: names.length };
  const door = { label: "Door b", min: -8, max: 8, step: 0.1, format: (b) => number(b, 1) };
  const temperature = { label: "Temperature τ", min: 0.05, max: 20, logarithmic: true };
  const decay = { label: "Keep γ", min: 0, max: 1, step: 0.01, format: number };
  const asked = { label: "Ask", options: questions.map((question) => [question, question]) };
  const begin = () => ui.set({ arrived: 1, waited: 0 });
  return html`<div class="cw-controls cw-party-controls">
    <div class="cw-party-arrivals">
      ${slider(ui, "arrived", arrived)} ${playButton(ui, { start: "Let them arrive", begin })}
    </div>
    ${within(["forgetting"], slider(ui, "decay", decay))}
    ${within(["gate"], slider(ui, "door", door))}
    ${within(["softmax", "query"], slider(ui, "temperature", { ...temperature, format: number }))}
    ${within(["query"], select(ui, "question", asked))}
  </div>`;
}

function advance({ arrived, names, waited }, ui, seconds) {
  const welcome = () => {
    const next = Math.min(names.length, arrived + 1);
    ui.set({ arrived: next });
    if (next === names.length) ui.play(false);
  };
  ui.set({ waited: every(SECONDS_BETWEEN_GUESTS, waited, seconds, welcome) });
}

function view(now, ui) {
  const { names, modes } = now;
  const narrow = ui.width("guests", Infinity) < NARROW * names.length;
  return html`
    ${choices(ui, "mode", { label: "Remember by", options: modes.map((mode) => [mode, mode]) })}
    ${controls(now, ui)}
    <ol class=${narrow ? "cw-guests cw-narrow" : "cw-guests"} data-measure="guests"
      style="--cw-guests: ${names.length}">${names.map((_, i) => guest(now, ui, i))}</ol>
    ${threads(now)} ${memoryPanel(now, ui)}`;
}

function words({ names, mode, arrived, question, weights, total }) {
  const asked = mode === "query" ? ` Question: ${question}` : "";
  const shares = names.slice(0, arrived).map((name, i) => `${name} ${number(weights[i])}`);
  const weighed = `Weights: ${shares.join(", ")}. Total ${number(total)}.`;
  return `${mode}, ${arrived} of ${names.length} guests.${asked} ${weighed}`;
}

export default widget({
  label: "Party memory: how to remember the guests",
  name: "cw-party",
  data: {
    ...{ images: array, names: plain, score: vector, gate: vector },
    ...{ guest_keys: rows, queries: rows, questions: plain, modes: plain },
  },
  controls: {
    ...{ mode: plain, decay: plain, door: plain },
    ...{ temperature: plain, question: plain, arrived: plain },
  },
  local: { waited: 0 },
  derive,
  view,
  words,
  began: ({ mode, arrived, names }) => `${mode}, ${arrived} of ${names.length} guests`,
  advance,
});
