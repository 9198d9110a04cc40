import { array, plain, rows, vector } from "../kit/array.js";
import { button, choices, fold, slider, toggle } from "../kit/controls.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { number, percent, scientific } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { clamp, smoothstep, upTo } from "../maths/numerics.js";
import {
  byDifference,
  distinct,
  explainedByDifference,
  handAngle,
  handOf,
  ORDERS,
  orderScores,
  pairFrequencies,
  pairScores,
  positionRow,
  scoreMatrix,
  shiftRow,
  thirdPlace,
} from "../maths/position.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { clockRow, wavePicture } from "./clocks.js";
import { differenceChart } from "./differences.js";
import { KEY_INK, productPicture, QUERY_INK } from "./product.js";
import { clockPair, orderChart, pairAdds, sentence, swapped } from "./sentence.js";

const WAVE_STEPS = 6;
const [GLIDE_SECONDS, REST_SECONDS, TRAINING_SECONDS] = [0.8, 0.8, 8];
/** At the start all three words move on by so many positions together, in so many seconds. */
const [FAR, FAR_SECONDS] = [8, 3];
const SAME = 1e-9;
/** The shares of the spread that s − t explains where a table has found the row, or begins to. */
const [FOUND, DAWNING] = [0.5, 0.25];
/** @type {[string, string][]} */
const NAMES = [
  ["none", "nothing"],
  ["sinusoidal", "sinusoids"],
  ["learned", "a learned table"],
  ["rotary", "rotation"],
];
const PRODUCTS = { none: "q · k", sinusoidal: "pₛ · pₜ", learned: "Pₛ · Pₜ", rotary: "Rₛq · Rₜk" };
const MEANINGS = {
  none: "Every query is q and every key is k, wherever they stand.",
  sinusoidal: "Each position has a fixed row of sines and cosines, which is added to its token.",
  learned: "Each position has a row of trained parameters, which is added to its token.",
  rotary: "Nothing is added: each position turns the query and the key that stand there.",
};
/** What a way of putting order in tells of three neighbours, by the number of different scores. */
const TOLD = {
  none: [1, "Nobody knows who bites whom."],
  sinusoidal: [2, "They tell how far apart BITES and DOG stand, but not which comes first."],
  learned: [
    3,
    "They tell which two places BITES and DOG hold, but not which of them stands where.",
  ],
  rotary: [4, "They tell how far apart BITES and DOG stand, and which comes first."],
};
const ASKS = "Does it know the order?";
const TRAITS = { s: "query_position", t: "key_position", pair: "pair" };

const largest = (matrix) => Math.max(...matrix.flat().map(Math.abs));
const degrees = (angle) => `${number(angle, Math.abs(angle) < 10 ? 2 : 1)}°`;

/** What fills the colours and the axis. */
const scalesOf = (queries, keys, scores) => ({
  fullRow: largest([...queries, ...keys]) || 1,
  fullScore: largest(scores) || 1,
  least: Math.min(0, ...scores.flat()),
  most: Math.max(0, ...scores.flat()),
});

/** One scale for a table at all moments of its training, so that what training adds is seen. */
function scalesOfTraining(given) {
  const tables = upTo(given.before.shape[0] + 1).map((stage) => tableAt(given, stage));
  const each = tables.map((table) => scalesOf(table, table, scoreMatrix(table, table)));
  const most = (name) => Math.max(...each.map((scales) => scales[name]));
  return {
    fullRow: most("fullRow"),
    fullScore: most("fullScore"),
    least: Math.min(...each.map(({ least }) => least)),
    most: most("most"),
  };
}

/** All that follows from the way in which order comes in. */
function factsOf({ kind, tokens, query, key, base, learned }) {
  const side = (x, positions) =>
    positions.map((position) => positionRow(kind, x, position, { base, learned }));
  const [queries, keys] = [side(query, upTo(tokens)), side(key, upTo(tokens))];
  const scores = scoreMatrix(queries, keys);
  const fine =
    kind === "learned"
      ? upTo(tokens)
      : upTo((tokens - 1) * WAVE_STEPS + 1).map((i) => i / WAVE_STEPS);
  const sampled = (x) => side(x, fine).map((row, i) => [fine[i], row]);
  const every = [...queries, ...keys];
  const hands = every.flatMap((row) => upTo(row.length / 2).map((i) => handOf(row, i)));
  return {
    queries,
    keys,
    keyColumns: keys[0].map((_, feature) => keys.map((row) => row[feature])),
    scores,
    differences: byDifference(scores),
    explained: explainedByDifference(scores),
    oneTable: kind === "sinusoidal" || kind === "learned",
    sampled: { queries: sampled(query), keys: sampled(key) },
    ...scalesOf(queries, keys, scores),
    longest: Math.max(...hands.map((hand) => Math.hypot(...hand))) || 1,
    fullShare: largest(queries.flatMap((q) => keys.map((k) => pairScores(q, k)))) || 1,
  };
}

const between = (from, to, way) => from + way * (to - from);

/** Where the three words stand, and where they were; a word may have no place. */
function placesOf({ query_position: s, key_position: t, tokens, man, from, glide }) {
  const third = thirdPlace(s, t, tokens, man);
  const places = third === null ? { BITES: s, DOG: t } : { BITES: s, DOG: t, MAN: third };
  const together = third !== null;
  const low = Math.min(...Object.values(places));
  const first = together ? low : clamp(low, 0, Math.max(0, tokens - 3));
  const order = together ? Object.keys(places).sort((a, b) => places[a] - places[b]) : null;
  // Words that stand apart take the ends of the line, and one place holds both in its middle.
  const slot = (word) =>
    together ? places[word] - first : s === t ? 1 : (word === "BITES") === s > t ? 2 : 0;
  const way = smoothstep(glide);
  const words = Object.entries(places).map(([word, position]) => {
    const to = slot(word);
    return { word, position, to, from: from?.slots[word] ?? to };
  });
  const was = from ?? { s, t };
  const orderIndex = ORDERS.findIndex((each) => order?.join() === each.join());
  const span = Math.max(...Object.values(places)) - low;
  const start = Math.round(between(from?.first ?? first, first, way));
  return { first, start, order, orderIndex, words, way, was, low, span, man: third ?? man };
}

/** The rows of query and key on the way from where they stood to where they stand. */
function rowsBetween(state, { queries, keys }, { way, was }) {
  const { kind, query, key, base, learned, query_position: s, key_position: t } = state;
  const turned = (x, side, from, to) => {
    if (way === 1) return side[to];
    if (kind === "learned") return side[from].map((each, i) => between(each, side[to][i], way));
    return positionRow(kind, x, between(from, to, way), { base, learned });
  };
  return [turned(query, queries, was.s, s), turned(key, keys, was.t, t)];
}

/** The learned table as it was at the stage of its training. */
function tableAt({ learned, before }, stage) {
  const [moments, count, wide] = before.shape;
  if (stage >= moments) return learned;
  const row = (i) => Array.from(before.values.subarray(i * wide, (i + 1) * wide));
  return upTo(count).map((i) => row(stage * count + i));
}

/** Where query and key stand as the eye reads it: two that swap are in the one order or the other. */
function momentOf({ query_position: s, key_position: t }, { way, was }) {
  if (was.s - was.t !== s - t) return way < 0.5 ? { s: was.s, t: was.t } : { s, t };
  return { s: Math.round(between(was.s, s, way)), t: Math.round(between(was.t, t, way)) };
}

function derive(given, { memo }) {
  const { kind, query_position: s, key_position: t, pair, tokens, stage } = given;
  const learned = memo("table", [given.learned, given.before, stage], () => tableAt(given, stage));
  const state = { ...given, learned };
  const ofMoment = memo(kind, [state.query, state.key, learned], () => factsOf(state));
  const scales =
    kind === "learned"
      ? memo("scales", [given.learned, given.before], () => scalesOfTraining(given))
      : ofMoment;
  const facts = { ...ofMoment, scales };
  const shares = pairScores(facts.queries[s], facts.keys[t]);
  const places = placesOf(state);
  const rows = rowsBetween(state, facts, places);
  const moment = momentOf(state, places);
  const momentary = facts.scores[moment.s][moment.t];
  const share = pairScores(facts.queries[moment.s], facts.keys[moment.t])[pair];
  const ranks = tokens < 3 ? [] : orderScores(facts.scores, places.first);
  const following = {
    s,
    t,
    pairs: state.d_model / 2,
    shares,
    rows,
    moment,
    momentary,
    share,
    ranks,
  };
  return { ...facts, ...places, ...following, moved: movedInWords(state, facts) };
}

/** What the last move has done to the score. */
function movedInWords({ glide, from, query_position: s, key_position: t }, { scores, fullScore }) {
  if (!from || glide < 1) return "";
  const [before, after] = [scores[from.s][from.t], scores[s][t]];
  const same = Math.abs(after - before) < SAME * fullScore;
  const changed = `${number(before)}, is ${number(after)}${same ? ": the same" : ""}`;
  return `Was ${changed}.`;
}

function ordersInWords({ kind, ranks, fullScore }) {
  const count = distinct(ranks, SAME * fullScore);
  const [expected, told] = TOLD[kind];
  const scores = `${count} ${count === 1 ? "score" : "different scores"}`;
  return `Six orders, ${scores}. ${count === expected ? told : ""}`;
}

/** How the hand of the chosen pair gets from one position to others. */
function turnInWords({ kind, s, t, pair, queries, d_model, base, tokens }) {
  if (kind === "none") return "The hands never move: nothing tells one position from another.";
  const k = s - t;
  const frequency = (180 / Math.PI) * pairFrequencies(d_model, base)[pair];
  const once = (hand) => `One position turns ${hand} hand by ${degrees(frequency)}`;
  if (kind === "rotary") return `${once("either")}. Shift both, and the angle between them stays.`;
  const starts = upTo(tokens).filter((start) => queries[start + k]);
  if (kind === "learned" && k === 0) return "It is the same place: the hand does not turn.";
  if (kind === "sinusoidal") {
    const missed = (start) =>
      shiftRow(queries[start], k, base).map((x, i) => x - queries[start + k][i]);
    const several = k === 1 ? "" : `${number(k, 0)} positions by ${degrees(k * frequency)}, `;
    return (
      `${once("this")}, ${several}from every t. ` +
      `One matrix does that to all pairs: M pₜ is pₛ up to ${scientific(largest(starts.map(missed)))}.`
    );
  }
  const turned = (start) =>
    -handAngle(handOf(queries[start], pair), handOf(queries[start + k], pair));
  const angles = starts.map(turned);
  return (
    `From t to s this hand turns by ${degrees(turned(t))}. With the same s\u00a0−\u00a0t it turns by ` +
    `anything from ${degrees(Math.min(...angles))} to ${degrees(Math.max(...angles))}, depending on t.`
  );
}

function verdictInWords({ s, t, differences, fullScore, tokens }) {
  const { least, most, count } = differences[s - t + tokens - 1];
  const one = count === 1;
  const those = one ? "One pair has" : `${count} pairs have`;
  const lead = `${those} s\u00a0−\u00a0t\u00a0= ${number(s - t, 0)}.`;
  if (most - least >= SAME * fullScore) {
    return `${lead} Their scores run from ${number(least)} to ${number(most)}.`;
  }
  return `${lead} ${one ? "Its score is" : "They all score"} ${number(most)}.`;
}

/** Whether the scores tell that the places stand in a row, how that has come out, and in words. */
function foundInWords({ kind, explained, tokens, stage, before }) {
  if (kind === "none") return { kind: "bad", text: "All places are alike." };
  // One pair alone has no spread.
  if (tokens < 3) return { kind: "open", text: "Two places have one distance." };
  if (kind === "sinusoidal") return { kind: "good", text: "Only the distance counts." };
  if (kind === "rotary") return { kind: "good", text: "Only distance and order count." };
  // While it is trained nothing is decided: what has come may go again, or go on.
  if (stage < before.shape[0]) {
    if (explained > FOUND) return { kind: "open", text: "So far it knows over half." };
    const knows = explained > DAWNING ? "begins to find out" : "does not know";
    return { kind: "open", text: `So far it ${knows}.` };
  }
  if (explained > FOUND) return { kind: "good", text: "It has found out." };
  if (explained > DAWNING) return { kind: "open", text: "It has begun to find out." };
  return { kind: "open", text: "It does not know." };
}

// What the reader does, and the tour through the orders ------------------------------------------

/** Lets the words glide to other places; readers may ask for stillness. */
function glideTo(ui, changes, tour = [], seconds = GLIDE_SECONDS) {
  const { s, t, words, first } = ui.now;
  const slots = Object.fromEntries(words.map(({ word, to }) => [word, to]));
  const still = prefersStillness();
  const from = { s, t, slots, first };
  ui.set({ ...changes, from, glide: still ? 1 : 0, pace: seconds, rest: 0, tour });
  ui.play(!still);
}

const placesIn = (order, first) => {
  const [s, t, man] = ["BITES", "DOG", "MAN"].map((word) => first + order.indexOf(word));
  return { query_position: s, key_position: t, man };
};

const arrange = (ui, order, tour) => glideTo(ui, placesIn(order, ui.now.first), tour);

/** Sets what the reader's hand moves itself, without a way from there to here. */
function put(ui, changes) {
  ui.play(false);
  ui.set({ ...changes, from: null, glide: 1, tour: [] });
}

const nextOrder = (ui, tour = []) => {
  const { orderIndex } = ui.now;
  arrange(ui, ORDERS[(orderIndex + 1) % ORDERS.length], tour);
};

/** Where the words go, one after another: through all six orders. */
const sixOrders = ({ first, orderIndex }) =>
  ORDERS.map((_, i) => ({
    to: placesIn(ORDERS[(orderIndex + 1 + i) % ORDERS.length], first),
    seconds: GLIDE_SECONDS,
  }));

/** At first sight: two words change places, all move on, two change places, and all come back. */
function opening({ first, order, tokens }) {
  const there = Math.min(FAR, tokens - 3);
  const other = swapped(order, 0, 2);
  return [
    { to: placesIn(other, first), seconds: GLIDE_SECONDS },
    { to: placesIn(other, first + there), seconds: FAR_SECONDS },
    { to: placesIn(order, first + there), seconds: GLIDE_SECONDS },
    { to: placesIn(order, first), seconds: FAR_SECONDS },
  ];
}

/** The table is trained, from its first moment to its last. */
function train({ stage, before, trained }, ui, seconds) {
  const share = Math.min(1, trained + seconds / TRAINING_SECONDS);
  const reached = Math.floor(share * before.shape[0]);
  // Somebody else turns the knob.
  if (stage !== Math.floor(trained * before.shape[0]) || share === 1) ui.play(false);
  ui.set({ trained: share, ...(ui.now.playing || share === 1 ? { stage: reached } : {}) });
}

function advance(now, ui, seconds) {
  const { glide, pace, rest, tour } = now;
  if (isTraining(now)) train(now, ui, seconds);
  else if (glide < 1) ui.set({ glide: Math.min(1, glide + seconds / pace) });
  else if (!tour.length) ui.play(false);
  else if (rest < REST_SECONDS) ui.set({ rest: rest + seconds });
  else glideTo(ui, tour[0].to, tour.slice(1), tour[0].seconds);
}

const isTraining = ({ kind, everything, before }) =>
  everything && kind === "learned" && before.shape[0] > 0;

function begin(ui) {
  if (isTraining(ui.now)) ui.set({ stage: 0, trained: 0 });
  else if (!ui.now.order || ui.now.everything) return;
  else ui.set({ tour: opening(ui.now), rest: REST_SECONDS / 2 });
  ui.play(true);
}

function tourControls(now, ui) {
  const touring = now.playing && now.tour.length > 0;
  const press = () => {
    if (touring) return put(ui, {});
    ui.set({ tour: sixOrders(ui.now), rest: REST_SECONDS });
    ui.play(true);
  };
  return html`${
    prefersStillness() ? nothing : button(touring ? "❚❚ Pause" : "▶ All six orders", press)
  }
    ${button("Next order", () => nextOrder(ui))}`;
}

// The picture ------------------------------------------------------------------------------------

function position({ tokens }, ui, go, name, label, accent) {
  const set = (at) => go({ [name]: at });
  return slider(ui, TRAITS[name], { label, accent, min: 0, max: tokens - 1, set });
}

/** Where the words are just now, also while they move. */
function shift({ s, t, moment, low, start, span, tokens, man, way }, ui) {
  return slider(ui, "shift", {
    label: "Shift both",
    min: 0,
    max: tokens - 1 - span,
    value: way < 1 ? start : low,
    set: (to) => {
      const by = to - low;
      put(ui, { query_position: s + by, key_position: t + by, man: man + by });
    },
    format: () => `${moment.s}, ${moment.t}`,
  });
}

/** All positions at once: the score of each pair of them, and what it has to do with s − t. */
function everything(now, ui, go) {
  const { kind } = now;
  const { fullRow, fullScore } = now.scales;
  const width = ui.width("right", 300);
  const wide = ui.width("everything", 620);
  return html`<div class="cw-columns" data-measure="everything">
      <div>
        ${productPicture(now, ui, PRODUCTS[kind], go)}
        <p class="cw-ramp cw-pos-legend" data-reading="scale">
          −<i></i>+ tables
          ±${number(fullRow)}, scores ±${number(fullScore)}</p>
      </div>
      <div class="cw-pos-right" data-measure="right">
        <p class="cw-title cw-pos-title">Every score, against s\u00a0−\u00a0t</p>
        ${differenceChart(now, ui, width)}
        <p class="cw-pos-note">Distance alone explains
          <span data-reading="explained">${percent(now.explained)}</span> of the scores’
          spread. <span data-reading="verdict">${verdictInWords(now)}</span></p>
      </div>
    </div>
    <div class="cw-row cw-pos-folds">${fold(
      "Positions and features",
      html`<div class="cw-controls cw-pos-own">
          ${position(now, ui, go, "s", "Query at s", QUERY_INK)}
          ${position(now, ui, go, "t", "Key at t", KEY_INK)} ${shift(now, ui)}
        </div>
        ${features(now, wide, go)}`,
    )}
    ${fold(now.ranks.length ? "The three words" : "The two positions", threeWords(now, ui))}
    </div>`;
}

/** All pairs of features, what each adds to the score, and the chosen one along the positions. */
function features(now, width, go) {
  const { kind, pair, oneTable, scores, s, t } = now;
  const drawn = oneTable
    ? `feature ${2 * pair} dashed, ${2 * pair + 1} solid`
    : `feature ${2 * pair + 1} of query and key`;
  const sum = `${PRODUCTS[kind]} = ${number(scores[s][t])}, summed over the pairs`;
  return html`<p class="cw-title cw-pos-title" data-reading="sum">${sum}</p>
    ${clockRow(now, width, go)}
    <p class="cw-title cw-pos-title" data-reading="title">Pair ${pair} by position: ${drawn}</p>
    ${wavePicture(now, width)}
    <p class="cw-pos-note" style="min-height: 4.35em" data-reading="turn">${turnInWords(now)}</p>`;
}

const all = (ui) => toggle(ui, "everything", { label: "All positions and all pairs" });

/** Three words that change places, and the clocks of the two that are compared. */
function threeWords(now, ui) {
  const { kind, pairs, ranks } = now;
  const take = (order) => arrange(ui, order);
  const three = ranks.length > 0;
  const chosen = slider(ui, "pair", { label: "Pair of features", min: 0, max: pairs - 1 });
  return html`<div class="cw-columns">
      <div>${three ? sentence(now, ui, take) : nothing}</div>
      <div class="cw-pos-right">
        ${clockPair(now)}
        <div class="cw-controls cw-pos-own">${now.everything ? nothing : shift(now, ui)}</div>
      </div>
    </div>
    ${three ? orderChart(now, ui, take) : nothing}
    ${three ? html`<p class="cw-pos-note" data-reading="orders">${ordersInWords(now)}</p>` : nothing}
    <div class="cw-row">${three ? tourControls(now, ui) : nothing}
      ${fold(
        "More: the pair of features",
        html`<div class="cw-controls cw-pos-own">${pairs > 1 ? chosen : nothing}</div>
          ${pairAdds(now, PRODUCTS[kind])}`,
      )}
    </div>`;
}

/** The table at its moments of training, and how far its scores go by the difference. */
function training(now, ui) {
  const last = now.before.shape[0];
  return html`<div class="cw-controls">
    ${playButton(ui, { start: "Train", stop: "❚❚ Pause", begin: () => resume(ui) })}
    ${slider(ui, "stage", {
      label: "Training",
      min: 0,
      max: last,
      format: (stage) => percent(stage / last),
    })}
  </div>`;
}

/** From where the table stands, or, if it is trained, from its first moment. */
function resume(ui) {
  const { stage, before } = ui.now;
  const from = stage < before.shape[0] ? stage : 0;
  ui.set({ stage: from, trained: from / before.shape[0] });
}

function view(now, ui) {
  const go = (chosen) =>
    put(ui, Object.fromEntries(Object.entries(chosen).map(([name, at]) => [TRAITS[name], at])));
  const options = NAMES.filter(([name]) => now.kinds.includes(name));
  const meaning = html`<p class="cw-pos-meaning">${MEANINGS[now.kind]}</p>`;
  return html`${now.everything ? headline(ASKS, foundInWords(now), true) : nothing}
    ${choices(ui, "kind", { label: "Order by", options })}
    <div class=${isTraining(now) ? "cw-pos-scope cw-pos-film" : "cw-pos-scope"}>${
      isTraining(now) ? training(now, ui) : meaning
    } ${all(ui)}</div>
    ${now.everything ? everything(now, ui, go) : threeWords(now, ui)}`;
}

const HOW = {
  true:
    "Drag the square among the scores; click a clock, or a row or column of the tables. With the " +
    "keyboard: Tab to the square or to the clocks, then the arrow keys.",
  false:
    "Drag a word to another place, or press ⇄; click a bar for its order. With the keyboard: Tab " +
    "to the bars, then the arrow keys.",
};

function words(now) {
  const { s, t, pair, scores, shares } = now;
  const found = now.everything ? `${ASKS} ${foundInWords(now).text} ` : "";
  return (
    `${found}Query at ${s}, key at ${t}: score ${number(scores[s][t])}. ${verdictInWords(now)} ` +
    `Pair ${pair} adds ${number(shares[pair])}. ${turnInWords(now)}`
  );
}

export default widget({
  label: "Position explorer: how order is put into attention",
  name: "cw-pos",
  data: {
    tokens: plain,
    d_model: plain,
    base: plain,
    learned: rows,
    before: array,
    query: vector,
    key: vector,
    kinds: plain,
  },
  controls: {
    ...{ kind: plain, query_position: plain, key_position: plain, pair: plain },
    ...{ stage: plain, everything: plain },
  },
  local: { man: -1, from: null, glide: 1, pace: GLIDE_SECONDS, rest: 0, tour: [], trained: 1 },
  atSight: begin,
  derive,
  view,
  words,
  how: (now) => HOW[now.everything],
  advance,
  began: ({ kind, everything, query_position: s, key_position: t }) => {
    const places = everything ? `s = ${s}, t = ${t}` : `BITES at ${s}, DOG at ${t}`;
    return `${NAMES.find(([name]) => name === kind)[1]}, ${places}`;
  },
});
