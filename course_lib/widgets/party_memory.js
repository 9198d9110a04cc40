import { decodeArray, decodeRows } from "./js/old/array.js";
import { announcer, button, choices, select, slider } from "./js/old/controls.js";
import { html, number, svg, widgetRoot } from "./js/old/dom.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { blend, dot, sigmoid, softmax } from "./js/maths/numerics.js";

/**
 * The weight of each guest under one way of remembering. Of `guests`, the first `arrived` are there;
 * the others weigh nothing. `query` is the query vector, `keys` one row for each guest.
 */
export function memoryWeights(mode, { guests, arrived, decay, door, temperature, score, gate, keys, query }) {
  const present = Array.from({ length: arrived }, (_, i) => i);
  const weigh = {
    composite: () => present.map(() => 1),
    forgetting: () => present.map((i) => decay ** (arrived - 1 - i)),
    gate: () => present.map((i) => sigmoid(gate[i] + door)),
    softmax: () => softmax(present.map((i) => score[i]), temperature),
    query: () => softmax(present.map((i) => dot(keys[i], query)), temperature),
  };
  const weights = new Array(guests).fill(0);
  weigh[mode]().forEach((weight, i) => {
    weights[i] = weight;
  });
  return weights;
}

/** The picture that is left of all guests: Σᵢ weightᵢ imageᵢ, pixel by pixel. */
export function remember(weights, images) {
  return blend(weights, images);
}

const STEP_MILLISECONDS = 700;
const COLUMN = 100;
const SPREAD = 14;
const THREADS_HEIGHT = 64;
const THICKEST = 22;

/** A picture as one square of ink for each pixel, so that it follows the theme. */
function picture(height, width, label) {
  const pixels = Array.from({ length: height * width }, (_, i) =>
    svg("rect", { x: i % width, y: Math.floor(i / width), width: 1, height: 1 }),
  );
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "cw-picture", role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    ...pixels,
  );
  const ink = (values, full = 1) =>
    pixels.forEach((pixel, i) => pixel.setAttribute("fill-opacity", (values[i] / full).toFixed(4)));
  return { drawing, ink };
}

/** A thread from the middle of column `i` of `count` to its place at the rim of the memory below. */
function threadPath(i, count) {
  const from = (i + 0.5) * COLUMN;
  const to = (count * COLUMN) / 2 + (i - (count - 1) / 2) * SPREAD;
  const bend = THREADS_HEIGHT / 2;
  return `M${from} 0C${from} ${bend} ${to} ${bend} ${to} ${THREADS_HEIGHT}`;
}

function formula(...parts) {
  return html("span", { class: "cw-formula" }, ...parts);
}
const sub = (text) => html("sub", {}, text);
const sup = (text) => html("sup", {}, text);
const FORMULAS = {
  composite: () => formula("w", sub("i"), " = 1"),
  forgetting: () => formula("w", sub("i"), " = γ", sup("T−i")),
  gate: () => formula("w", sub("i"), " = σ(g", sub("i"), " + b)"),
  softmax: () => formula("w", sub("i"), " = softmax(s / τ)", sub("i")),
  query: () => formula("w", sub("i"), " = softmax(K q / τ)", sub("i")),
};

function render({ model, el }) {
  const names = model.get("names");
  const guests = names.length;
  const encoded = decodeArray(model.get("images"));
  const [, height, width] = encoded.shape;
  const area = height * width;
  const images = names.map((_, i) => Array.from(encoded.values.subarray(i * area, (i + 1) * area)));
  const score = Array.from(decodeArray(model.get("score")).values);
  const gate = Array.from(decodeArray(model.get("gate")).values);
  const keys = decodeRows(model.get("guest_keys"));
  const queries = decodeRows(model.get("queries"));
  const questions = model.get("questions");
  const modes = model.get("modes");
  const colour = (i) => `var(--cw-series-${i % 6})`;

  const cards = names.map((name, i) => {
    const portrait = picture(height, width, `picture of guest ${i + 1}, ${name}`);
    portrait.ink(images[i]);
    const bar = html("span", { class: "cw-bar", style: `--cw-bar: ${colour(i)}`, "aria-hidden": "true" });
    const weight = html("span", { class: "cw-guest-weight", "data-weight": i });
    const evidence = html("span", { class: "cw-guest-evidence" });
    const item = html("li", { class: "cw-guest" }, portrait.drawing, html("span", { class: "cw-guest-name" }, name), evidence, bar, weight);
    return { item, bar, weight, evidence };
  });
  const paths = names.map((_, i) =>
    svg("path", { d: threadPath(i, guests), fill: "none", stroke: colour(i), "vector-effect": "non-scaling-stroke" }),
  );
  const threads = svg(
    "svg",
    { viewBox: `0 0 ${guests * COLUMN} ${THREADS_HEIGHT}`, preserveAspectRatio: "none", class: "cw-threads", "aria-hidden": "true" },
    ...paths,
  );
  const memory = picture(height, width, "the remembered picture");
  const rule = html("p", { class: "cw-party-rule" });
  const total = html("strong", { "data-value": "" });
  const scale = html("p", { class: "cw-hint" });
  const { region, announce } = announcer(() => describe(current()));

  function current() {
    const mode = model.get("mode");
    const arrived = model.get("arrived");
    const query = queries[questions.indexOf(model.get("question"))];
    const weights = memoryWeights(mode, {
      guests, arrived, score, gate, keys, query,
      decay: model.get("decay"), door: model.get("door"), temperature: model.get("temperature"),
    });
    const sum = weights.reduce((a, b) => a + b, 0);
    return { mode, arrived, query, weights, sum, memory: remember(weights, images) };
  }

  /** What the weight of guest i is made of. */
  function evidenceOf(i, { mode, arrived, query }) {
    if (mode === "forgetting") return `${arrived - 1 - i} ago`;
    if (mode === "gate") return `g = ${number(gate[i], 1)}`;
    if (mode === "softmax") return `s = ${number(score[i], 1)}`;
    if (mode === "query") return `k·q = ${number(dot(keys[i], query), 1)}`;
    return `guest ${i + 1}`;
  }

  function describe({ mode, arrived, weights, sum }) {
    const asked = mode === "query" ? ` Question: ${model.get("question")}` : "";
    const shares = names.slice(0, arrived).map((name, i) => `${name} ${number(weights[i])}`).join(", ");
    return `${mode}, ${arrived} of ${guests} guests.${asked} Weights: ${shares}. Total ${number(sum)}.`;
  }

  const controls = {
    forgetting: slider(model, "decay", { label: "Keep γ", min: 0, max: 1, step: 0.01, format: (v) => number(v) }),
    gate: slider(model, "door", { label: "Door b", min: -8, max: 8, step: 0.1, format: (v) => number(v, 1) }),
    temperature: slider(model, "temperature", { label: "Temperature τ", min: 0.05, max: 20, logarithmic: true, format: (v) => number(v) }),
    query: select(model, "question", { label: "Ask", options: questions.map((question) => [question, question]) }),
  };

  let drawnMode = "";
  function drawMode(mode) {
    if (mode === drawnMode) return;
    drawnMode = mode;
    controls.forgetting.hidden = mode !== "forgetting";
    controls.gate.hidden = mode !== "gate";
    controls.query.hidden = mode !== "query";
    controls.temperature.hidden = mode !== "softmax" && mode !== "query";
    rule.replaceChildren("memory = Σ w", sub("i"), " x", sub("i"), ", ", FORMULAS[mode]());
  }

  function draw() {
    const state = current();
    drawMode(state.mode);
    cards.forEach(({ item, bar, weight, evidence }, i) => {
      const here = i < state.arrived;
      item.classList.toggle("cw-absent", !here);
      bar.style.setProperty("--cw-length", String(state.weights[i]));
      weight.textContent = here ? number(state.weights[i], 3) : "not yet here";
      evidence.textContent = here ? evidenceOf(i, state) : "";
      paths[i].setAttribute("stroke-width", (THICKEST * state.weights[i]).toFixed(2));
    });
    // A sheet holds one layer of full ink. Where more has been laid over it, brightness is scaled.
    const full = Math.max(1, state.sum);
    memory.ink(state.memory, full);
    memory.drawing.setAttribute("aria-label", `the remembered picture: ${describe(state)}`);
    total.textContent = number(state.sum, 3);
    scale.textContent =
      full > 1
        ? `Too much for one sheet: the picture is drawn ${number(full)} times fainter than it is.`
        : "The picture is drawn as it is: full ink is 1.";
    announce();
  }

  let timer = null;
  const play = button("▶ Let them arrive", () => (timer === null ? start() : pause()));
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ Let them arrive";
  }
  function arrive(count) {
    model.set("arrived", count);
    model.save_changes();
  }
  function start() {
    play.textContent = "■ Stop";
    arrive(1);
    timer = setInterval(() => {
      arrive(Math.min(guests, model.get("arrived") + 1));
      if (model.get("arrived") === guests || !el.isConnected) pause();
    }, STEP_MILLISECONDS);
  }

  const root = widgetRoot(
    el,
    "Party memory: how to remember the guests",
    choices(model, "mode", { label: "Remember by", options: modes.map((mode) => [mode, mode]) }),
    html(
      "div",
      { class: "cw-controls cw-party-controls" },
      html("div", { class: "cw-party-arrivals" }, slider(model, "arrived", { label: "Guests arrived", min: 1, max: guests, step: 1 }), play),
      ...Object.values(controls),
    ),
    html("ol", { class: "cw-guests", style: `--cw-guests: ${guests}` }, ...cards.map(({ item }) => item)),
    threads,
    html(
      "div",
      { class: "cw-memory" },
      memory.drawing,
      html("div", { class: "cw-memory-text" }, rule, html("p", { class: "cw-readout" }, "Total weight ", total), scale),
    ),
    region,
  );
  root.classList.add("cw-party");
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["mode", "decay", "door", "temperature", "question", "arrived"], request);
  return () => {
    pause();
    stop();
    unlisten();
  };
}

export default { render };
