import { plain, rows, vector } from "./js/array.js";
import { choices, slider } from "./js/controls.js";
import { upTo } from "./js/maths/numerics.js";
import {
  byDifference,
  handAngle,
  handOf,
  pairFrequencies,
  pairScores,
  positionRow,
  scoreMatrix,
  shiftRow,
} from "./js/maths/position.js";
import { clockRow, wavePicture } from "./js/position_explorer/clocks.js";
import { differenceChart } from "./js/position_explorer/differences.js";
import { KEY_INK, productPicture, QUERY_INK } from "./js/position_explorer/product.js";
import { number, scientific } from "./js/text.js";
import { html } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const WAVE_STEPS = 6;
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

function derive(state, { memo }) {
  const { kind, query_position: s, key_position: t } = state;
  const facts = memo(kind, [state.query, state.key, state.learned], () => factsOf(state));
  const shares = pairScores(facts.queries[s], facts.keys[t]);
  return { ...facts, s, t, pairs: state.d_model / 2, shares };
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

function positionControls({ kinds, s, t, tokens }, ui, go) {
  const options = NAMES.filter(([kind]) => kinds.includes(kind));
  const first = Math.min(s, t);
  const position = (name, label, accent) =>
    slider(ui, TRAITS[name], { label, accent, min: 0, max: tokens - 1 });
  return html`<div class="cw-controls">
    ${choices(ui, "kind", { label: "Order comes from", options })}
    ${position("s", "Query at s", QUERY_INK)} ${position("t", "Key at t", KEY_INK)}
    ${slider(ui, "shift", {
      label: "Shift both",
      min: 0,
      max: tokens - 1 - Math.abs(s - t),
      value: first,
      set: (start) => go({ s: s + start - first, t: t + start - first }),
      format: () => `${s}, ${t}`,
    })}
  </div>`;
}

function view(now, ui) {
  const { kind, pair, oneTable, fullRow, fullScore, scores, s, t } = now;
  const go = (chosen) =>
    ui.set(Object.fromEntries(Object.entries(chosen).map(([name, at]) => [TRAITS[name], at])));
  const width = ui.width("right", 480);
  const sum = `${PRODUCTS[kind]} = ${number(scores[s][t])}, summed over the pairs`;
  const features = oneTable
    ? `feature ${2 * pair} dashed, ${2 * pair + 1} solid`
    : `feature ${2 * pair + 1} of query and key`;
  return html`${positionControls(now, ui, go)}
    <p class="cw-pos-meaning">${MEANINGS[kind]}</p>
    <div class="cw-columns">
      <div class="cw-pos-left">
        ${productPicture(now, ui, PRODUCTS[kind], go)}
        <p class="cw-pos-legend" data-reading="scale">
          <span>−<span class="cw-pos-ramp"></span>+</span>full colour: ${number(fullRow)} in the
          tables, ${number(fullScore)} in the scores</p>
        <p class="cw-hint">Drag the square among the scores; click a clock, or a row or column of
          the tables. With the keyboard: Tab to the square or to the clocks, then the arrow
          keys.</p>
      </div>
      <div class="cw-pos-right" data-measure="right">
        <p class="cw-pos-title" data-reading="sum">${sum}</p>
        ${clockRow(now, width, go)}
        <p class="cw-pos-title" data-reading="title">Pair ${pair} by position: ${features}</p>
        ${wavePicture(now, width)}
        <p class="cw-pos-note cw-pos-turn" data-reading="turn">${turnInWords(now)}</p>
        <p class="cw-pos-title">Score of every pair of positions, against s − t</p>
        ${differenceChart(now, ui, width)}
        <p class="cw-pos-note" data-reading="verdict">${verdictInWords(now)}</p>
      </div>
    </div>`;
}

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
  },
  controls: { kind: plain, query_position: plain, key_position: plain, pair: plain },
  derive,
  view,
  words,
  began: ({ kind, query_position: s, key_position: t, pair }) =>
    `${NAMES.find(([name]) => name === kind)[1]}, s = ${s}, t = ${t}, pair ${pair}`,
});
