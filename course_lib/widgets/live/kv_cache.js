// What a decoder computes for one more letter, with keys and values kept and without.

import { dot, legend, line, panel, rule } from "../kit/charts.js";
import { quantity, visible } from "../kit/text.js";
import { upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 222;
const [NEW, KEPT, MINUS] = ["var(--cw-warm)", "var(--cw-accent)", "var(--cw-series-2)"];
const BYTES = 4;

/** For letter n: how many tokens a layer projects, and how many scores a head makes. */
export const costOf = (n, kept) => ({ tokens: kept ? 1 : n, scores: kept ? n : n * n });

/** The same for all letters up to n. */
export function totals(n, kept) {
  let [tokens, scores] = [0, 0];
  for (let i = 1; i <= n; i += 1) {
    const cost = costOf(i, kept);
    tokens += cost.tokens;
    scores += cost.scores;
  }
  return { tokens, scores };
}

function derive({ text, written, cached, layers, width }) {
  const n = Math.min(written, text.length);
  const bytes = cached ? 2 * layers * width * BYTES * n : 0;
  return { n, bytes, cost: costOf(n, cached), done: totals(n, cached) };
}

/** Keys above, values below: a column for each letter. */
function table(now, ui) {
  const { text, key_rows: keys, value_rows: values, n, cached } = now;
  const features = keys[0].length;
  const fresh = cached ? 1 : n;
  const options = {
    name: "table",
    title: "Keys and values of one head",
    says: `Keys and values of ${n} letters; for the last letter ${fresh} of them are computed`,
    x: { ends: [], names: text.map(visible) },
    y: {
      ends: [2 * features + 1, 0],
      ticks: [features / 2, 1.5 * features + 1],
      format: (at) => (at < features ? "keys" : "values"),
    },
    ...{ height: HEIGHT, grow: 1.5, margin: 48 },
  };
  const most = ui.memo("most", [keys, values], () =>
    Math.max(...[...keys, ...values].flat().map(Math.abs)),
  );
  return panel(ui, options, (frame) => {
    const column = (i) => {
      const [left, right] = [frame.x(i - 0.5) + 0.5, frame.x(i + 0.5) - 0.5];
      const cell = (value, row) => svg`<rect x=${left} width=${Math.max(0, right - left)}
        y=${frame.y(row)} height=${frame.y(row + 1) - frame.y(row) - 0.5}
        fill=${value < 0 ? MINUS : KEPT} fill-opacity=${Math.sqrt(Math.abs(value) / most)}></rect>`;
      return [keys[i].map(cell), values[i].map((value, row) => cell(value, features + 1 + row))];
    };
    const [from, to] = [n - fresh - 0.5, n - 0.5].map(frame.x);
    return svg`${upTo(n).map(column)}
      <rect x=${from} y=${frame.top} width=${to - from} height=${frame.bottom - frame.top}
        fill="none" stroke=${NEW} stroke-width="3" rx="3"></rect>`;
  });
}

function work(now, ui) {
  const { text, n, cached } = now;
  const lengths = upTo(text.length).map((i) => i + 1);
  const at = (kept) => lengths.map((i) => [i, totals(i, kept).tokens]);
  const most = totals(text.length, false).tokens;
  const ways = [
    { text: "without a cache", colour: NEW, dash: "6 3", kept: false },
    { text: "with a cache", colour: KEPT, dash: "", kept: true },
  ];
  const options = {
    name: "work",
    title: ["Work so far", legend(ways)],
    says: `A layer has projected ${totals(n, false).tokens} tokens without a cache and ${n} with one`,
    x: { ends: [1, text.length], label: "letters written" },
    y: { ends: [0, most], label: "tokens projected in a layer" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const way = ({
      kept,
      colour,
      dash,
    }) => svg`${line(frame, at(kept), { colour, dash, width: kept === cached ? 3.5 : 2 })}
      ${dot(frame, [n, totals(n, kept).tokens], { colour, r: kept === cached ? 7 : 4 })}`;
    return svg`${rule(frame, { x: n })}${ways.map(way)}`;
  });
}

function verdict({ n, cached, text }) {
  const last = visible(text[n - 1]);
  if (cached) return { kind: "good", text: `For ${last}: 1 new column, ${n - 1} kept` };
  return n > 1
    ? { kind: "bad", text: `For ${last}: all ${n} letters again` }
    : { kind: "open", text: `For ${last}: the only letter` };
}

function says({ n, cached, cost, done }) {
  const other = `${cached ? "without" : "with"} the cache, ${totals(n, !cached).tokens}`;
  return `To read letter ${n}, each layer projects ${cost.tokens === 1 ? "one token" : `${cost.tokens} tokens`}. So far: ${done.tokens}; ${other}.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [table(now, ui), work(now, ui)],
  asks: "What is computed for the last letter?",
  verdict,
  readings: ({ done, bytes }) => [
    { name: "tokens", label: "tokens projected", text: String(done.tokens), room: 3 },
    { name: "scores", label: "scores", text: String(done.scores), room: 4 },
    { name: "bytes", label: "kept", text: quantity(bytes, "bytes"), room: 12 },
  ],
  says,
  longest: (now) => says({ ...now, ...derive({ ...now, written: now.text.length }) }),
  tour: { knob: "written", from: 1, seconds: 7 },
});
