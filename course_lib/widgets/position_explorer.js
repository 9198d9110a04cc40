import { plain, rows, vector } from "./js/array.js";
import { button, choices, fold, slider, toggle } from "./js/controls.js";
import { clamp, dot, upTo } from "./js/maths/numerics.js";
import {
  byDifference,
  distinct,
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
} from "./js/maths/position.js";
import { playAtOnce, prefersStillness } from "./js/play.js";
import { clockRow, wavePicture } from "./js/position_explorer/clocks.js";
import { differenceChart } from "./js/position_explorer/differences.js";
import { KEY_INK, productPicture, QUERY_INK } from "./js/position_explorer/product.js";
import { clockPair, orderChart, sentence } from "./js/position_explorer/sentence.js";
import { number, scientific } from "./js/text.js";
import { html, nothing } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const WAVE_STEPS = 6;
const [GLIDE_SECONDS, REST_SECONDS] = [0.7, 0.7];
const SAME = 1e-9;
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
  sinusoidal: [2, "They tell how far apart BITES and DOG stand, and not which comes first."],
  learned: [3, "They tell at which two places BITES and DOG stand, and not which at which."],
  rotary: [4, "They tell how far apart BITES and DOG stand, and which comes first."],
};
const TRAITS = { s: "query_position", t: "key_position", pair: "pair" };

const largest = (matrix) => Math.max(...matrix.flat().map(Math.abs));
const degrees = (angle) => `${number(angle, Math.abs(angle) < 10 ? 2 : 1)}°`;

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
    oneTable: kind === "sinusoidal" || kind === "learned",
    sampled: { queries: sampled(query), keys: sampled(key) },
    fullRow: largest(every) || 1,
    fullScore: largest(scores) || 1,
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
  const way = glide * glide * (3 - 2 * glide);
  const words = Object.entries(places).map(([word, position]) => {
    const to = slot(word);
    return { word, position, to, from: from?.slots[word] ?? to };
  });
  const was = from ?? { s, t };
  const orderIndex = ORDERS.findIndex((each) => order?.join() === each.join());
  const span = Math.max(...Object.values(places)) - low;
  return { first, order, orderIndex, words, way, was, low, span, man: third ?? man };
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

function derive(state, { memo }) {
  const { kind, query_position: s, key_position: t, pair, tokens } = state;
  const facts = memo(kind, [state.query, state.key, state.learned], () => factsOf(state));
  const shares = pairScores(facts.queries[s], facts.keys[t]);
  const places = placesOf(state);
  const rows = rowsBetween(state, facts, places);
  const momentary = dot(...rows);
  const share = dot(handOf(rows[0], pair), handOf(rows[1], pair));
  const ranks = tokens < 3 ? [] : orderScores(facts.scores, places.first);
  const following = { s, t, pairs: state.d_model / 2, shares, rows, momentary, share, ranks };
  return { ...facts, ...places, ...following, moved: movedInWords(state, facts) };
}

/** What the last move has done to the score. */
function movedInWords({ glide, from, query_position: s, key_position: t }, { scores, fullScore }) {
  if (!from || glide < 1) return "";
  const [before, after] = [scores[from.s][from.t], scores[s][t]];
  const same = Math.abs(after - before) < SAME * fullScore;
  const changed = `was ${number(before)} and is ${number(after)}${same ? ": the same" : ""}`;
  return `The words moved. The score ${changed}.`;
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
  if (kind === "sinusoidal") {
    const missed = (start) =>
      shiftRow(queries[start], k, base).map((x, i) => x - queries[start + k][i]);
    return (
      `${once("this")}, ${number(k, 0)} positions by ${degrees(k * frequency)}, from every t. ` +
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
  const those = one ? "One pair of positions has" : `${count} pairs of positions have`;
  const lead = `${those} s − t = ${number(s - t, 0)}.`;
  if (most - least >= SAME * fullScore) {
    return `${lead} Their scores run from ${number(least)} to ${number(most)}.`;
  }
  return `${lead} ${one ? "Its score is" : "They all score"} ${number(most)}.`;
}

// What the reader does, and the tour through the orders ------------------------------------------

/** Lets the words glide to other places; readers may ask for stillness. */
function glideTo(ui, changes, tour = 0) {
  const { s, t, words } = ui.now;
  const slots = Object.fromEntries(words.map(({ word, to }) => [word, to]));
  const still = prefersStillness();
  ui.set({ ...changes, from: { s, t, slots }, glide: still ? 1 : 0, rest: 0, tour });
  ui.play(!still);
}

function arrange(ui, order, tour) {
  const { first } = ui.now;
  const [s, t, man] = ["BITES", "DOG", "MAN"].map((word) => first + order.indexOf(word));
  glideTo(ui, { query_position: s, key_position: t, man }, tour);
}

/** Sets what the reader's hand moves itself, without a way from there to here. */
function put(ui, changes) {
  ui.play(false);
  ui.set({ ...changes, from: null, glide: 1, tour: 0 });
}

const nextOrder = (ui, tour) => {
  const { orderIndex } = ui.now;
  arrange(ui, ORDERS[(orderIndex + 1) % ORDERS.length], tour);
};

function advance({ glide, rest, tour }, ui, seconds) {
  if (tour === null) ui.set({ tour: ORDERS.length });
  else if (glide < 1) ui.set({ glide: Math.min(1, glide + seconds / GLIDE_SECONDS) });
  else if (!tour) ui.play(false);
  else if (rest < REST_SECONDS) ui.set({ rest: rest + seconds });
  else nextOrder(ui, tour - 1);
}

function tourControls(now, ui) {
  const touring = now.playing && now.tour;
  const press = () => {
    if (touring) return put(ui, {});
    ui.set({ tour: ORDERS.length, rest: REST_SECONDS });
    ui.play(true);
  };
  return html`${
    prefersStillness() ? nothing : button(touring ? "❚❚ Pause" : "▶ All six orders", press)
  }
    ${button("Next order", () => nextOrder(ui, 0))}`;
}

// The picture ------------------------------------------------------------------------------------

function position({ tokens }, ui, go, name, label, accent) {
  const set = (at) => go({ [name]: at });
  return slider(ui, TRAITS[name], { label, accent, min: 0, max: tokens - 1, set });
}

function shift({ s, t, low, span, tokens, man }, ui) {
  return slider(ui, "shift", {
    label: "Shift both",
    min: 0,
    max: tokens - 1 - span,
    value: low,
    set: (start) => {
      const by = start - low;
      put(ui, { query_position: s + by, key_position: t + by, man: man + by });
    },
    format: () => `${s}, ${t}`,
  });
}

/** All positions at once: the score of each pair of them, and what it has to do with s − t. */
function everything(now, ui, go) {
  const { kind, fullRow, fullScore } = now;
  const width = ui.width("right", 300);
  return html`<div class="cw-columns">
      <div class="cw-pos-left">
        ${productPicture(now, ui, PRODUCTS[kind], go)}
        <p class="cw-pos-legend" data-reading="scale">
          <span>−<span class="cw-pos-ramp"></span>+</span>full colour: ${number(fullRow)} in the
          tables, ${number(fullScore)} in the scores</p>
      </div>
      <div class="cw-pos-right" data-measure="right">
        <div class="cw-controls cw-pos-own">
          ${position(now, ui, go, "s", "Query at s", QUERY_INK)}
          ${position(now, ui, go, "t", "Key at t", KEY_INK)} ${shift(now, ui)}
        </div>
        <p class="cw-pos-title">Every score, against s − t</p>
        ${differenceChart(now, ui, width)}
        <p class="cw-pos-note" data-reading="verdict">${verdictInWords(now)}</p>
        ${fold("Each pair of features", features(now, width, go))}
        ${fold(now.ranks.length ? "The three words" : "The two positions", threeWords(now, ui))}
      </div>
    </div>`;
}

/** All pairs of features, what each adds to the score, and the chosen one along the positions. */
function features(now, width, go) {
  const { kind, pair, oneTable, scores, s, t } = now;
  const drawn = oneTable
    ? `feature ${2 * pair} dashed, ${2 * pair + 1} solid`
    : `feature ${2 * pair + 1} of query and key`;
  const sum = `${PRODUCTS[kind]} = ${number(scores[s][t])}, summed over the pairs`;
  return html`<p class="cw-pos-title" data-reading="sum">${sum}</p>
    ${clockRow(now, width, go)}
    <p class="cw-pos-title" data-reading="title">Pair ${pair} by position: ${drawn}</p>
    ${wavePicture(now, width)}
    <p class="cw-pos-note cw-pos-turn" data-reading="turn">${turnInWords(now)}</p>`;
}

/** Three words that change places, and the clocks of the two that are compared. */
function threeWords(now, ui) {
  const { kind, pairs, ranks } = now;
  const take = (order) => arrange(ui, order, 0);
  const three = ranks.length > 0;
  return html`<div class="cw-columns">
      <div class="cw-pos-left">
        ${three ? sentence(now, ui, take) : nothing}
        ${three ? orderChart(now, ui, take) : nothing}
      </div>
      <div class="cw-pos-right">
        ${clockPair(now, PRODUCTS[kind])}
        <div class="cw-controls cw-pos-own">
          ${pairs > 1 ? slider(ui, "pair", { label: "Pair of features", min: 0, max: pairs - 1 }) : nothing}
          ${now.everything ? nothing : shift(now, ui)}
        </div>
        ${three ? html`<p class="cw-pos-note" data-reading="orders">${ordersInWords(now)}</p>` : nothing}
        <p class="cw-pos-tour">${three ? tourControls(now, ui) : nothing}</p>
      </div>
    </div>`;
}

function view(now, ui) {
  if (now.moving) playAtOnce(ui);
  const go = (chosen) =>
    put(ui, Object.fromEntries(Object.entries(chosen).map(([name, at]) => [TRAITS[name], at])));
  const options = NAMES.filter(([name]) => now.kinds.includes(name));
  return html`${choices(ui, "kind", { label: "Order comes from", options })}
    <p class="cw-pos-meaning">${MEANINGS[now.kind]}</p>
    ${toggle(ui, "everything", { label: "All positions and all pairs" })}
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
  return (
    `Query at ${s}, key at ${t}: score ${number(scores[s][t])}. ${verdictInWords(now)} ` +
    `Pair ${pair} adds ${number(shares[pair])}. ${turnInWords(now)}`
  );
}

export default widget({
  label: "Position explorer: how order is put into attention",
  data: {
    tokens: plain,
    d_model: plain,
    base: plain,
    learned: rows,
    query: vector,
    key: vector,
    kinds: plain,
    moving: plain,
  },
  controls: {
    ...{ kind: plain, query_position: plain, key_position: plain, pair: plain },
    everything: plain,
  },
  local: { man: -1, from: null, glide: 1, rest: 0, tour: null },
  derive,
  view,
  words,
  how: (now) => HOW[now.everything],
  advance,
  began: ({ kind, query_position: s, key_position: t, pair }) =>
    `${NAMES.find(([name]) => name === kind)[1]}, s = ${s}, t = ${t}, pair ${pair}`,
});
