import { blend, clamp, dot, softmax } from "./numerics.js";
import { registerBytes } from "./roofline.js";

/** @typedef {{ rows: number[], columns: number[], last: boolean }} Visit */
/** @typedef {{ maximum: number, total: number, output: number[] }} Partial */
/**
 * @typedef {{ query: number[][], key: number[][], value: number[][], scale: number,
 *   causal: boolean }} Given
 */

/**
 * The tiles in the order in which they are visited: `rows` and `columns` are `[first, end]`, and
 * `last` says that the rows have then seen all their keys. Under `causal` the last query sees the
 * last key, and tiles wholly in the future are skipped.
 * @returns {Visit[]}
 */
export function tileVisits(queries, keys, queryTile, keyTile, causal) {
  const visits = [];
  for (let start = 0; start < queries; start += queryTile) {
    const rows = [start, Math.min(start + queryTile, queries)];
    const end = causal ? rows[1] + keys - queries : keys;
    for (let first = 0; first < end; first += keyTile) {
      visits.push({
        rows,
        columns: [first, Math.min(first + keyTile, keys)],
        last: first + keyTile >= end,
      });
    }
  }
  return visits;
}

/** @param {number} d @returns {Partial} */
const ofNothing = (d) => ({ maximum: -Infinity, total: 0, output: new Array(d).fill(0) });

/**
 * exp(score − maximum), and 0 where both are −∞: nothing was seen there.
 * @param {number} score
 * @param {number} maximum
 */
export const expBelow = (score, maximum) => (score === -Infinity ? 0 : Math.exp(score - maximum));

/**
 * The partial result of one tile of keys for one query, which sees the first `visible` keys.
 * @returns {Partial}
 */
export function partialAttention(query, key, value, scale, visible) {
  const d = query.length;
  if (visible <= 0) return ofNothing(d);
  const scores = key.slice(0, visible).map((k) => scale * dot(query, k));
  const maximum = Math.max(...scores);
  const weights = scores.map((s) => Math.exp(s - maximum));
  return {
    maximum,
    total: weights.reduce((sum, w) => sum + w, 0),
    output: blend(weights, value.slice(0, visible)),
  };
}

/**
 * Two partial results merged: each is rescaled to the larger maximum, then they are added.
 * @param {Partial} first
 * @param {Partial} second
 * @returns {Partial}
 */
export function mergePartials(first, second) {
  const maximum = Math.max(first.maximum, second.maximum);
  const [a, b] = [expBelow(first.maximum, maximum), expBelow(second.maximum, maximum)];
  return {
    maximum,
    total: a * first.total + b * second.total,
    output: first.output.map((o, i) => a * o + b * second.output[i]),
  };
}

/** Softmax attention of one query to its first `visible` keys, from the whole row of scores. */
export function wholeRow(query, key, value, scale, visible) {
  const seen = key.slice(0, visible);
  return blend(softmax(seen.map((k) => scale * dot(query, k))), value.slice(0, visible));
}

/** The number of keys that a query sees. @param {Given} given @param {number} i */
const sightOf = ({ query, key, causal }, i) =>
  causal ? i + key.length - query.length + 1 : key.length;

/**
 * Softmax attention of every query, from its whole row of scores.
 * @param {Given} given
 */
export const wholeRows = (given) =>
  given.query.map((query, i) =>
    wholeRow(query, given.key, given.value, given.scale, sightOf(given, i)),
  );

/**
 * The run after `step` visits. For each query in hand: its report `before` the last visit, what the
 * `tile` said, and the report `after`; for each query written so far, its `output`.
 * @param {Given} given
 * @param {Visit[]} visits
 * @param {number} step
 */
export function tiledRun(given, visits, step) {
  const { query, key, value, scale } = given;
  const nothing = ofNothing(query[0].length);
  const output = new Array(query.length).fill(null);
  let inHand = visits[0].rows;
  let reports = query
    .slice(...inHand)
    .map(() => ({ before: nothing, tile: nothing, after: nothing }));
  for (const { rows, columns, last } of visits.slice(0, step)) {
    const [[start, stop], [first, end]] = [rows, columns];
    const [k, v] = [key.slice(first, end), value.slice(first, end)];
    inHand = rows;
    reports = query.slice(start, stop).map((q, r) => {
      const before = first === 0 ? nothing : reports[r].after;
      const visible = Math.min(end, sightOf(given, start + r)) - first;
      const tile = partialAttention(q, k, v, scale, visible);
      return { before, tile, after: mergePartials(before, tile) };
    });
    if (!last) continue;
    reports.forEach(({ after }, r) => {
      output[start + r] = after.output.map((o) => o / after.total);
    });
  }
  return { inHand, reports, output };
}

/**
 * The weights exp(score − running maximum) of one tile, in the matrix of all queries and keys; a
 * query that is not in hand has no row, and what is no part of the tile weighs nothing.
 * @param {Given} given
 * @param {Visit} visit
 * @param {{ after: Partial }[]} reports
 */
export function tileWeights(given, { rows: [start, stop], columns: [first, end] }, reports) {
  return given.query.map((q, i) => {
    if (i < start || i >= stop) return null;
    const [seen, { maximum }] = [Math.min(end, sightOf(given, i)), reports[i - start].after];
    return given.key.map((k, j) =>
      j >= first && j < seen ? Math.exp(given.scale * dot(q, k) - maximum) : 0,
    );
  });
}

/**
 * How many rows of S, P and O the naive algorithm has written after `step` of `steps` equal parts of
 * its way. It goes four times over all scores: S goes out; then it comes back while P goes out; then P
 * comes back, and O goes out.
 * @param {number} step
 * @param {number} steps
 * @param {number} queries
 */
export function naiveRows(step, steps, queries) {
  const rows = (from, passes) =>
    Math.floor((queries * clamp(4 * step - from * steps, 0, passes * steps)) / (passes * steps));
  return [rows(0, 1), rows(1, 2), rows(3, 1)];
}

/**
 * Numbers to and from memory after `step` visits. In tiles: each tile of queries is read once, the
 * keys and values of each visit are read, finished rows are written. The naive algorithm, as far on
 * its own way, reads Q, K and V and writes O once, and writes and reads S and P.
 * @param {Visit[]} visits
 * @param {number} step
 * @param {number} keys
 * @param {number} d
 */
export function numbersMoved(visits, step, keys, d) {
  if (step === 0) return { tiled: 0, naive: 0 };
  const { rows, last } = visits[step - 1];
  const written = last ? rows[1] : rows[0];
  const passed = visits
    .slice(0, step)
    .reduce((sum, { columns: [first, end] }) => sum + end - first, 0);
  const [s, p, o] = naiveRows(step, visits.length, visits.at(-1).rows[1]);
  const whole = Number(s > 0) + Number(o > 0);
  return {
    tiled: (rows[1] + written + 2 * passed) * d,
    naive: (s + o + whole * keys) * d + (s + 2 * p + o) * keys,
  };
}

/**
 * Bytes on chip: a tile of queries, of keys and of values, and in float32 scores and running three.
 */
export function onChipBytes(d, queryTile, keyTile, bytesEach) {
  return bytesEach * (queryTile + 2 * keyTile) * d + registerBytes(d, queryTile, keyTile);
}
