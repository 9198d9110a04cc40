import { array, plain, rows, vector } from "../kit/array.js";
import { button, choices, select, series, slider } from "../kit/controls.js";
import { painted } from "../kit/painted.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { number, quantity } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { memoryWeights } from "../maths/memory.js";
import { blend, clamp, dot, ranking, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { drawing, OWN, withOwn } from "./drawing.js";
import { landed, onTheWay } from "./flight.js";

/** Until the first guest, of each one's ink in the air, and from guest to guest. */
const [SECONDS_BEFORE, SECONDS_OF_FLIGHT, SECONDS_A_GUEST] = [0.4, 1.3, 1.7];
/** From question to question; what flies to answer one is of all guests at once. */
const SECONDS_A_QUESTION = 2.5;
/** Of many questions so few are asked in turn, as far apart as they can be. */
const MOST_ASKED = 5;
/** Of a guest who weighs less, no ink is seen. */
const LEAST_INK = 0.01;
const COLUMN = 100;
const SPREAD = 14;
const THREADS_HEIGHT = 56;
const THICKEST = 22;
const MOST_CRISP = 64;
const LONGEST_RATIO = 6;
const NARROW = 44;
/** Shares that sum to one may exceed it by as much. */
const ROUNDING = 1e-9;
/** The height of the air that ink can fly through, in pixels; what is beyond the stage is cut. */
const AIR = 640;

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
  query: ({ guest_keys, query }, i) =>
    html`<span>k·q\u00a0=</span> <span>${number(dot(guest_keys[i], query), 1)}</span>`,
};

/** Each guest's picture, pixel by pixel. */
function pictures({ shape: [guests, height, width], values }) {
  const area = height * width;
  return upTo(guests).map((i) => Array.from(values.subarray(i * area, (i + 1) * area)));
}

/** Whether what flies, flies to answer a question and not because a guest has come. */
const isAsking = ({ mode, ahead }) => mode === "query" && ahead !== null;

/**
 * Whether the picture that answers is still on its way: what it says comes with it, and what flies
 * crosses nothing that is read.
 */
const isAnswering = ({ asking, flight }) => asking && flight < 1;

function derive(now, { memo }) {
  const { images, mode, decay, door, temperature, arrived, playing, waited } = now;
  const asking = isAsking(now);
  const query = now.queries[now.questions.indexOf(now.question)];
  const guests = memo("guests", [images, now.own, now.names, now.guest_keys, now.fits], () =>
    withOwn(now, pictures(images)),
  );
  const { portraits } = guests;
  const party = { ...now, guests: now.names.length, keys: guests.guest_keys, query };
  const known = [mode, decay, door, temperature, arrived, query];
  const sheetOf = (name, count) =>
    memo(name, [...known, portraits], () => {
      const weights = memoryWeights(mode, { ...party, arrived: count });
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      // A sheet holds one layer of full ink. Where more has been laid over it, all is drawn fainter.
      const full = total > 1 + ROUNDING ? total : 1;
      return { weights, total, full, ink: blend(weights, portraits).map((value) => value / full) };
    });
  const sheet = sheetOf("sheet", arrived);
  const flight = playing && arrived ? clamp(waited / SECONDS_OF_FLIGHT, 0, 1) : 1;
  // Each answer is drawn on a new sheet.
  const before = flight < 1 ? sheetOf("before", asking ? 0 : arrived - 1) : sheet;
  return { query, ...guests, flight, before, asking, ...sheet };
}

/** A picture as ink on paper. Its pixels are square, unless it is very long. */
function picture(ui, values, label) {
  const [, height, width] = ui.now.images.shape;
  const paint = (context) => {
    context.fillStyle = ui.theme.ink("ink");
    values.forEach((value, i) => {
      context.globalAlpha = clamp(value, 0, 1);
      context.fillRect(i % width, Math.floor(i / width), 1, 1);
    });
  };
  const cells = { width, height, inputs: [values], paint, cells: true };
  const ratio = clamp(width / height, 1 / LONGEST_RATIO, LONGEST_RATIO);
  const rendering = Math.max(width, height) > MOST_CRISP ? "auto" : "pixelated";
  return html`<canvas class="cw-picture" role="img" aria-label=${label}
    style="--cw-ratio: ${ratio}; image-rendering: ${rendering}" ${painted(ui, cells)}></canvas>`;
}

function guest(now, ui, i) {
  const { names, portraits, weights, mode, arrived } = now;
  const here = i < arrived;
  const waits = here && isAnswering(now);
  return html`<li class=${here ? "cw-guest" : "cw-guest cw-absent"}>
    <span class="cw-guest-name" title=${names[i]}>${names[i]}</span>
    <span class="cw-guest-evidence">${here ? EVIDENCE[mode](now, i) : ""}</span>
    ${picture(ui, portraits[i], `picture of guest ${i + 1}, ${names[i]}`)}
    <span class="cw-guest-weight" ?data-waits=${waits}>${here ? number(weights[i], 3) : "not yet here"}</span>
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

function threads({ weights, before, flight }) {
  const thread = (weight, i) => {
    const width = before.weights[i] + flight * (weight - before.weights[i]);
    return svg`<path d=${threadPath(i, weights.length)} fill="none" stroke=${series(i)}
      stroke-width=${(THICKEST * width).toFixed(2)} vector-effect="non-scaling-stroke"></path>`;
  };
  return html`<svg viewBox="0 0 ${weights.length * COLUMN} ${THREADS_HEIGHT}" class="cw-threads"
    preserveAspectRatio="none" aria-hidden="true">${weights.map(thread)}</svg>`;
}

/** The ink of the guest who comes, or of all who answer, on its way into the memory. */
function inkInTheAir({ arrived, asking, portraits, weights, flight, images }, ui) {
  const width = ui.width("stage", 600);
  const fly = (context, i) =>
    onTheWay(context, {
      ...{ guest: i, values: portraits[i].map((value) => value * weights[i]) },
      ...{ width: images.shape[2], share: flight, ink: ui.theme.ink(`series-${i % 6}`) },
    });
  const paint = (context) => {
    if (flight === 1) return;
    const seen = upTo(arrived).filter((i) => weights[i] >= LEAST_INK);
    for (const i of asking ? seen : [arrived - 1]) fly(context, i);
  };
  return painted(ui, { width, height: AIR, inputs: [flight], paint });
}

/** Whether the guest whom the memory looks at most is one who was asked for, if that is known. */
function outcomeOf({ names, weights, arrived, fits, questions, question }) {
  const row = fits[questions.indexOf(question)];
  if (!row?.length || !arrived) return { kind: "open", text: "" };
  const here = names.filter((_, i) => row[i] && i < arrived);
  if (row[ranking(weights)[0]]) return { kind: "good", text: "Right." };
  const text = here.length
    ? `Wrong: ${here.join(" or ")} is right.`
    : "Nobody here fits, and somebody gets the weight all the same.";
  return { kind: "bad", text };
}

const SIGNS = { good: "✓", bad: "✗" };

/** What the memory makes of a question: the guest whom it looks at most. */
function answer(now) {
  const { names, weights, arrived, question } = now;
  if (!arrived) return nothing;
  const { kind, text } = outcomeOf(now);
  const sign = SIGNS[kind] ? html`<span aria-hidden="true">${SIGNS[kind]}</span> ` : nothing;
  const waits = isAnswering(now);
  return html`<p class="cw-party-answer" data-outcome=${waits ? "open" : kind}><em>${question}</em>
      <span ?data-waits=${waits}>Looks most at
      <strong>${sign}<b>${names[ranking(weights)[0]]}</b></strong></span></p>
    ${text ? html`<p class="cw-party-verdict" ?data-waits=${waits}>${text}</p>` : nothing}`;
}

function memoryPanel(now, ui) {
  const { ink, before, full, flight, total, mode, images } = now;
  const drawn =
    full > 1
      ? `${quantity(full)} layers of ink, drawn at ${number(100 / full, 0)}\u00a0% strength.`
      : "The picture is drawn as it is: full ink is 1.";
  const shown =
    flight < 1
      ? ink.map((value, j) => {
          const share = landed(j, ink.length, images.shape[2], flight);
          return before.ink[j] + share * (value - before.ink[j]);
        })
      : ink;
  const within = (modes, control) =>
    html`<div class="cw-party-only" ?hidden=${!modes.includes(mode)}>${control}</div>`;
  const door = { label: "Door b", min: -8, max: 8, step: 0.1, format: (b) => number(b, 1) };
  const temperature = { label: "Temperature τ", min: 0.05, max: 20, logarithmic: true };
  const decay = { label: "Keep γ", min: 0, max: 1, step: 0.01, format: number };
  return html`<div class="cw-memory">
    ${picture(ui, shown, `the remembered picture: ${words(now)}`)}
    <div class="cw-memory-rule">
      <p class="cw-party-rule"><span>memory = Σ w<sub>i</sub> x<sub>i</sub>,</span>
        <span>${FORMULAS[mode]}</span></p>
      ${within(["forgetting"], slider(ui, "decay", decay))}
      ${within(["gate"], slider(ui, "door", door))}
      ${within(["softmax", "query"], slider(ui, "temperature", { ...temperature, format: number }))}
    </div>
    <div>
      ${mode === "query" ? answer(now) : nothing}
      <p class="cw-readout">Total weight <strong>${number(total, 3)}</strong></p>
      ${mode === "query" ? nothing : html`<p class="cw-hint">${drawn}</p>`}
    </div>
  </div>`;
}

/** Lets guests come in until so many are there. */
function begin(ui) {
  const all = ui.now.names.length;
  const still = prefersStillness();
  const waited = SECONDS_A_GUEST - SECONDS_BEFORE;
  ui.set({ arrived: still ? all : 0, until: all, waited, ahead: null });
}

/** Asks questions, one after the other, from the one that stands there back to it. */
function askAll(ui) {
  const { names, questions, question } = ui.now;
  const { length } = questions;
  const first = questions.indexOf(question);
  const asked = Math.min(length, MOST_ASKED);
  const turn = (k) => questions[(first + Math.round(((k + 1) * length) / asked)) % length];
  const still = prefersStillness();
  const waited = still ? SECONDS_OF_FLIGHT : 0;
  ui.set({ arrived: names.length, waited, ahead: still ? [] : upTo(asked).map(turn) });
}

function askNext(ui) {
  const { names, questions, question } = ui.now;
  const after = questions[(questions.indexOf(question) + 1) % questions.length];
  ui.set({ question: after, arrived: names.length, waited: 0, ahead: [] });
  ui.play(!prefersStillness());
}

/** The next guest; after the last one the room is empty again. */
function step(ui) {
  const arrived = (ui.now.arrived + 1) % (ui.now.names.length + 1);
  ui.set({ arrived, until: arrived, waited: 0, ahead: null });
  ui.play(arrived > 0 && !prefersStillness());
}

/** Questions are asked of those who are there: only where some are missing can they be let in. */
function controls({ names, questions, mode, arrived }, ui) {
  const set = (arrived) => {
    ui.play(false);
    ui.set({ arrived });
  };
  const asked = {
    label: "Ask",
    options: questions.map((question) => [question, question]),
    choose: (question) => {
      ui.play(false);
      ui.set({ question });
    },
  };
  if (mode === "query" && arrived === names.length)
    return html`<div class="cw-controls cw-party-questions">
      ${playButton(ui, { start: "Ask in turn", begin: () => askAll(ui) })}
      ${button("Next question", () => askNext(ui))}
      ${select(ui, "question", asked)}
    </div>`;
  return html`<div class="cw-controls cw-party-arrivals">
    ${playButton(ui, { start: "Let them arrive", begin: () => begin(ui) })}
    ${button("Next guest", () => step(ui))}
    ${slider(ui, "arrived", { label: "Guests", min: 0, max: names.length, set })}
  </div>`;
}

function advance(now, ui, seconds) {
  const { arrived, until, waited, names, ahead } = now;
  const passed = waited + seconds;
  if (isAsking(now)) {
    const [next, ...others] = ahead;
    if (passed < (next ? SECONDS_A_QUESTION : SECONDS_OF_FLIGHT)) ui.set({ waited: passed });
    else if (next) ui.set({ question: next, waited: 0, ahead: others });
    else ui.play(false);
    return;
  }
  if (passed < SECONDS_OF_FLIGHT || (passed < SECONDS_A_GUEST && arrived < until)) {
    ui.set({ waited: passed });
  } else if (arrived < Math.min(until, names.length)) {
    ui.set({ arrived: arrived + 1, waited: 0 });
  } else {
    ui.play(false);
  }
}

function view(now, ui) {
  const { names, modes } = now;
  const narrow = ui.width("guests", Infinity) < NARROW * names.length;
  return html`
    ${choices(ui, "mode", { label: "Remember by", options: modes.map((mode) => [mode, mode]) })}
    ${controls(now, ui)}
    <div style="position: relative; overflow: hidden" data-measure="stage">
    <ol class=${narrow ? "cw-guests cw-narrow" : "cw-guests"} data-measure="guests"
      style="--cw-guests: ${names.length}">${names.map((_, i) => guest(now, ui, i))}</ol>
    ${threads(now)} ${memoryPanel(now, ui)}
      <canvas class="cw-air cw-party-air" aria-hidden="true" ?hidden=${now.flight === 1}
        ${inkInTheAir(now, ui)}></canvas>
    </div>
    ${drawing(now, ui)}`;
}

function words(now) {
  const { names, mode, arrived, question, weights, total } = now;
  const came = mode === "query" ? ` ${outcomeOf(now).text}` : "";
  const asked = mode === "query" ? ` Question: ${question}` : "";
  const shares = names.slice(0, arrived).map((name, i) => `${name} ${number(weights[i])}`);
  const weighed = arrived ? `Weights: ${shares.join(", ")}. Total ${number(total)}.` : "";
  return `${mode}, ${arrived} of ${names.length} guests.${asked} ${weighed}${came}`;
}

export default widget({
  label: "Party memory: how to remember the guests",
  name: "cw-party cw-quiet",
  data: {
    ...{ images: array, names: plain, score: vector, gate: vector },
    ...{ guest_keys: rows, queries: rows, fits: rows, questions: plain, modes: plain },
  },
  controls: {
    ...{ mode: plain, decay: plain, door: plain },
    ...{ temperature: plain, question: plain, arrived: plain },
  },
  local: { waited: SECONDS_A_GUEST - SECONDS_BEFORE, until: Infinity, ahead: null, ...OWN },
  atSight: (ui) => {
    if (ui.now.mode === "query" && ui.now.arrived === ui.now.names.length) askAll(ui);
    ui.play(true);
  },
  derive,
  view,
  words,
  began: ({ mode, arrived, names }) => `${mode}, ${arrived} of ${names.length} guests`,
  advance,
});
