import { decodeRows } from "./js/old/array.js";
import { announcer, button, slider, toggle } from "./js/old/controls.js";
import { html, number, say, scientific, setChanged, showFirst, svg, uniqueId, widgetRoot } from "./js/old/dom.js";
import { pointIn } from "./js/old/drag.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { blend, dot, softmax } from "./js/maths/numerics.js";

/**
 * The tiles in the order in which they are visited: `rows` and `columns` are `[first, end]`, and
 * `last` says that the rows have then seen all their keys. Under `causal` the last query sees the
 * last key, and tiles wholly in the future are skipped.
 */
export function tileVisits(queries, keys, queryTile, keyTile, causal) {
  const visits = [];
  for (let start = 0; start < queries; start += queryTile) {
    const rows = [start, Math.min(start + queryTile, queries)];
    const end = causal ? rows[1] + keys - queries : keys;
    for (let first = 0; first < end; first += keyTile) {
      visits.push({ rows, columns: [first, Math.min(first + keyTile, keys)], last: first + keyTile >= end });
    }
  }
  return visits;
}

const ofNothing = (d) => ({ maximum: -Infinity, total: 0, output: new Array(d).fill(0) });

/** exp(score − maximum), and 0 where both are −∞: nothing was seen there. */
const expBelow = (score, maximum) => (score === -Infinity ? 0 : Math.exp(score - maximum));

/** What one tile of keys says to one query. The query sees the first `visible` of these keys. */
export function partialAttention(query, key, value, scale, visible) {
  const d = query.length;
  if (visible <= 0) return ofNothing(d);
  const scores = key.slice(0, visible).map((k) => scale * dot(query, k));
  const maximum = Math.max(...scores);
  const weights = scores.map((s) => Math.exp(s - maximum));
  return { maximum, total: weights.reduce((sum, w) => sum + w, 0), output: blend(weights, value.slice(0, visible)) };
}

/** What is known after both: each is scaled to the larger maximum, then they add up. */
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

/**
 * The run after `step` visits. For each query in hand: its report `before` the last visit, what the
 * `tile` said, and the report `after`; for each query written so far, its `output`.
 */
export function tiledRun({ query, key, value, scale, causal }, visits, step) {
  const [queries, keys, d] = [query.length, key.length, query[0].length];
  const { rows: inHand } = visits[Math.max(0, step - 1)];
  const sees = (i, [first, end]) => (causal ? Math.min(end, i + keys - queries + 1) : end) - first;
  const output = new Array(queries).fill(null);
  let reports = [];
  visits.slice(0, step).forEach(({ rows: [start, stop], columns, last }) => {
    if (columns[0] === 0) reports = query.slice(start, stop).map(() => ({ after: ofNothing(d) }));
    reports = reports.map(({ after: before }, r) => {
      const [k, v] = [key.slice(...columns), value.slice(...columns)];
      const tile = partialAttention(query[start + r], k, v, scale, sees(start + r, columns));
      return { before, tile, after: mergePartials(before, tile) };
    });
    if (last) reports.forEach(({ after }, r) => { output[start + r] = after.output.map((o) => o / after.total); });
  });
  if (step === 0) reports = query.slice(...inHand).map(() => ({ before: ofNothing(d), tile: ofNothing(d), after: ofNothing(d) }));
  return { inHand, reports, output };
}

/**
 * Numbers to and from memory after `step` visits. In tiles: each tile of queries is read once, the
 * keys and values of each visit are read, finished rows are written. The naive algorithm reads Q, K
 * and V and writes O once, and writes and reads S and P, for the scores settled so far.
 */
export function numbersMoved(visits, step, queries, keys, d) {
  if (step === 0) return { tiled: 0, naive: 0 };
  const { rows, columns, last } = visits[step - 1];
  const written = last ? rows[1] : rows[0];
  const passed = visits.slice(0, step).reduce((sum, { columns: [first, end] }) => sum + end - first, 0);
  // The naive algorithm knows no skipped tiles: a finished row has all its scores.
  const reached = last ? keys : columns[1];
  const settled = rows[0] * keys + (rows[1] - rows[0]) * reached;
  const ends = rows[1] * d + written * d;
  return { tiled: ends + 2 * passed * d, naive: ends + 2 * (rows[0] > 0 ? keys : reached) * d + 4 * settled };
}

/** Bytes on chip: a tile of queries, of keys and of values, and in float32 scores and running three. */
export function onChipBytes(d, queryTile, keyTile, bytesEach) {
  return bytesEach * (queryTile + 2 * keyTile) * d + 4 * queryTile * (keyTile + d + 2);
}

const MATRIX = 264;
const LEFT = 34;
const TOP = 46;
const RIGHT = 34;
const BOTTOM = 20;
const STRIP = 11;
const FASTEST = 120;
const SLOWEST = 800;
const WHOLE_RUN = 14_000;
const MOST_SHOWN = 4;
const PLAY = "▶ Play";
const TO_THE_END = "▶ To the end";

const counted = (items) => `${items[0] + 1}${items[1] - items[0] > 1 ? `–${items[1]}` : ""}`;
const several = (one, more, items) => `${items[1] - items[0] > 1 ? more : one} ${counted(items)}`;
const grouped = (bytes) => bytes.toLocaleString("en");
const finite = (value, digits) => (value === -Infinity ? "−∞" : number(value, digits));

/** The score matrix between its queries and outputs, beneath its keys and values. */
function scorePicture(queries, keys, handlers) {
  const cell = MATRIX / Math.max(queries, keys);
  const [width, height] = [keys * cell, queries * cell];
  const hatch = uniqueId("cw-hatch");
  const pattern = svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("path", { d: "M0 0V6", stroke: "var(--cw-edge)", "stroke-width": 2 }));
  const box = (x, y, w, h) => `M${x} ${y}h${w}v${h}h${-w}z`;
  const tilePath = ({ rows, columns }) =>
    box(LEFT + columns[0] * cell, TOP + rows[0] * cell, (columns[1] - columns[0]) * cell, (rows[1] - rows[0]) * cell);
  const layer = (attributes) => svg("path", attributes);
  const ground = layer({ d: box(LEFT, TOP, width, height), fill: "var(--cw-panel)" });
  const skipped = layer({ fill: `url(#${hatch})`, "data-layer": "skipped" });
  const visited = layer({ fill: "var(--cw-accent)", "fill-opacity": 0.3, "data-layer": "visited" });
  const cells = svg("g", { fill: "var(--cw-warm)", "data-layer": "cells" });
  const cellGrid = layer({ fill: "none", stroke: "var(--cw-line)", "stroke-width": 0.5 });
  const tileGrid = layer({ fill: "none", stroke: "var(--cw-edge)", "stroke-width": 1 });
  const stairs = layer({ fill: "none", stroke: "var(--cw-ink)", "stroke-width": 1.5, "stroke-dasharray": "3 3" });
  stairs.setAttribute("d", `M${LEFT + (keys - queries + 1) * cell} ${TOP}${`v${cell}h${cell}`.repeat(Math.max(0, queries - 1))}`);
  const band = svg("rect", { fill: "none", stroke: "var(--cw-warm)", "stroke-width": 3, "data-layer": "band" });
  // Strips of memory: queries left, outputs right, keys and values above.
  const [beside, beyond] = [LEFT - STRIP - 6, LEFT + width + 6];
  const [keysAt, valuesAt] = [TOP - 2 * STRIP - 10, TOP - STRIP - 6];
  const across = box(LEFT, keysAt, width, STRIP) + box(LEFT, valuesAt, width, STRIP);
  const strips = layer({ d: box(beside, TOP, STRIP, height) + box(beyond, TOP, STRIP, height) + across, fill: "var(--cw-panel)", stroke: "var(--cw-edge)" });
  const onChip = layer({ fill: "var(--cw-warm)", "data-layer": "on-chip" });
  const running = layer({ fill: "none", stroke: "var(--cw-warm)", "stroke-width": 2 });
  const written = layer({ fill: "var(--cw-accent)", "data-layer": "written" });
  const words = [
    svg("text", { x: beside + STRIP / 2, y: TOP + height + 16, "text-anchor": "middle" }, "Q"),
    svg("text", { x: beyond + STRIP / 2, y: TOP + height + 16, "text-anchor": "middle" }, "O"),
    svg("text", { x: LEFT - 7, y: keysAt + STRIP - 1, "text-anchor": "end" }, "K"),
    svg("text", { x: LEFT - 7, y: valuesAt + STRIP - 1, "text-anchor": "end" }, "V"),
    svg("text", { x: LEFT, y: 10, class: "cw-tile-axis" }, "keys →"),
    svg("text", { transform: `translate(8 ${TOP}) rotate(-90)`, "text-anchor": "end", class: "cw-tile-axis" }, "← queries"),
  ];
  const surface = svg("g", { class: "cw-handle", tabindex: 0, role: "slider", "aria-label": "Tile in hand", "aria-valuemin": 0 },
    ground, visited, skipped, cells, cellGrid, tileGrid, stairs, band);
  const picture = svg("svg", { viewBox: `0 0 ${LEFT + MATRIX + RIGHT} ${TOP + height + BOTTOM}`, class: "cw-tile-picture" },
    svg("defs", {}, pattern), strips, onChip, running, written, ...words, surface);

  const every = (size, count) => Array.from({ length: Math.ceil(count / size) - 1 }, (_, i) => (i + 1) * size * cell);
  const lines = (down, right) => down.map((y) => `M${LEFT} ${TOP + y}h${width}`).join("") + right.map((x) => `M${LEFT + x} ${TOP}v${height}`).join("");
  const squares = [];
  cellGrid.setAttribute("d", lines(every(1, queries), every(1, keys)));

  function draw(visits, step, { queryTile, keyTile, causal }, weights) {
    const hand = step > 0 ? visits[step - 1] : null;
    const end = (visit) => (causal ? visit.rows[1] + keys - queries : keys);
    const future = visits.filter(({ last, columns }) => last && columns[1] < keys)
      .map((visit) => ({ rows: visit.rows, columns: [Math.ceil(end(visit) / keyTile) * keyTile, keys] }));
    skipped.setAttribute("d", future.map(tilePath).join(""));
    visited.setAttribute("d", visits.slice(0, Math.max(0, step - 1)).map(tilePath).join(""));
    tileGrid.setAttribute("d", box(LEFT, TOP, width, height) + lines(every(queryTile, queries), every(keyTile, keys)));
    stairs.setAttribute("visibility", causal ? "visible" : "hidden");
    band.setAttribute("visibility", hand ? "visible" : "hidden");
    const done = hand ? (hand.last ? hand.rows[1] : hand.rows[0]) : 0;
    written.setAttribute("d", done > 0 ? box(beyond, TOP, STRIP, done * cell) : "");
    const shares = weights.flat();
    showFirst(cells, squares, shares.length, () => svg("rect", { width: cell, height: cell }));
    if (!hand) {
      onChip.setAttribute("d", "");
      running.setAttribute("d", "");
      return;
    }
    const [[r0, r1], [c0, c1]] = [hand.rows, hand.columns];
    setChanged(band, { x: LEFT + c0 * cell, y: TOP + r0 * cell, width: (c1 - c0) * cell, height: (r1 - r0) * cell });
    shares.forEach((weight, i) => {
      const [down, right] = [Math.floor(i / (c1 - c0)), i % (c1 - c0)];
      setChanged(squares[i], { x: LEFT + (c0 + right) * cell, y: TOP + (r0 + down) * cell, "fill-opacity": weight.toFixed(4) });
    });
    const [x, w] = [LEFT + c0 * cell, (c1 - c0) * cell];
    const [y, h] = [TOP + r0 * cell, (r1 - r0) * cell];
    onChip.setAttribute("d", box(beside, y, STRIP, h) + box(x, keysAt, w, STRIP) + box(x, valuesAt, w, STRIP));
    running.setAttribute("d", box(beyond, y, STRIP, h));
  }

  const placeAt = (event) => pointIn(picture, event).map((at, axis) => Math.floor((at - (axis ? TOP : LEFT)) / cell));
  surface.addEventListener("click", (event) => handlers.choose(...placeAt(event)));
  surface.addEventListener("pointerdown", (event) => {
    if (event.button === 0) surface.setPointerCapture(event.pointerId);
  });
  surface.addEventListener("pointermove", (event) => {
    if (surface.hasPointerCapture(event.pointerId)) handlers.choose(...placeAt(event));
  });
  surface.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!move) return;
    event.preventDefault();
    handlers.moveBy(move);
  });
  return { picture, surface, draw };
}

/** The queries in hand, with what they know. */
function reportTable(features) {
  const shownFeatures = Math.min(features, MOST_SHOWN);
  const caption = html("caption");
  const heads = Array.from({ length: 4 + shownFeatures }, () => html("th", { scope: "col" }));
  const body = html("tbody");
  const table = html("table", { class: "cw-weights cw-tile-rows" }, caption, html("thead", {}, html("tr", {}, ...heads)), body);
  const rows = [];
  const newRow = () => html("tr", {}, html("th", { scope: "row" }), ...heads.slice(1).map(() => html("td", { class: "cw-number" })));

  function draw(title, { inHand, reports, output }, finished) {
    say(caption, title);
    const outputs = Array.from({ length: shownFeatures }, (_, i) => `o${"₁₂₃₄"[i]}${finished ? "/ℓ" : ""}`);
    ["query", "m", "factor", "ℓ", ...outputs].forEach((text, i) => say(heads[i], text));
    showFirst(body, rows, reports.length, newRow);
    reports.forEach(({ before, after }, r) => {
      const factor = before.maximum === -Infinity ? "–" : number(Math.exp(before.maximum - after.maximum), 3);
      const blended = finished ? output[inHand[0] + r] : after.output;
      const numbers = [finite(after.maximum, 2), factor, number(after.total), ...blended.slice(0, shownFeatures).map((o) => number(o))];
      [String(inHand[0] + r + 1), ...numbers].forEach((text, i) => say(rows[r].children[i], text));
      rows[r].classList.toggle("cw-rescaled", factor !== "–" && after.maximum > before.maximum);
    });
  }
  return { table, draw };
}

/** Bytes moved and held, in tiles and by the naive algorithm. */
function tally() {
  const line = (name, text, colour) => {
    const bar = html("span", { class: "cw-bar", style: `--cw-bar: ${colour}`, "data-bar": name });
    const cells = ["moved", "total", "held"].map((reading) => html("td", { class: "cw-number", "data-reading": `${name}-${reading}` }));
    const row = html("tr", {}, html("th", { scope: "row" }, text), ...cells);
    const barRow = html("tr", { "aria-hidden": "true" }, html("td", { colspan: 4, class: "cw-tile-bar" }, bar));
    return { cells, bar, rows: [row, barRow] };
  };
  const both = { tiled: line("tiled", "in tiles", "var(--cw-warm)"), naive: line("naive", "naive", "var(--cw-edge)") };
  const table = html("table", { class: "cw-weights cw-tile-tally" },
    html("caption", {}, "Bytes to and from memory"),
    html("thead", {}, html("tr", {}, ...["", "moved so far", "in the end", "held at once"].map((text) => (text ? html("th", { scope: "col" }, text) : html("td", {}))))),
    html("tbody", {}, ...both.tiled.rows, ...both.naive.rows));

  function draw(readings) {
    const longest = Math.max(...Object.values(readings).map(({ total }) => total));
    for (const [name, { moved, total, held }] of Object.entries(readings)) {
      both[name].cells.forEach((cell, i) => say(cell, grouped([moved, total, held][i])));
      both[name].bar.style.setProperty("--cw-length", String(moved / longest));
      both[name].bar.style.setProperty("--cw-full", String(total / longest));
    }
  }
  return { table, draw };
}

function render({ model, el }) {
  const [query, key, value] = ["query", "key", "value"].map((name) => decodeRows(model.get(name)));
  const [scale, bytesEach] = [model.get("scale"), model.get("bytes_each")];
  const [queries, keys, d] = [query.length, key.length, query[0].length];
  const tiling = () => ({ queryTile: model.get("query_tile"), keyTile: model.get("key_tile"), causal: model.get("causal") });
  const planned = () => {
    const { queryTile, keyTile, causal } = tiling();
    return tileVisits(queries, keys, queryTile, keyTile, causal);
  };
  // A host may report a new tiling before the step that fits it.
  const stepOf = (visits) => Math.min(model.get("step"), visits.length);
  const whole = (causal) => query.map((q, i) => wholeRow(q, key, value, scale, causal ? i + keys - queries + 1 : keys));

  function go(step) {
    model.set("step", step);
    model.save_changes();
  }
  function moveBy(move) {
    const visits = planned();
    go(Math.max(0, Math.min(visits.length, stepOf(visits) + move)));
  }
  /** One step on or back; from the end to the beginning, and the other way round. */
  function turn(move) {
    const visits = planned();
    const count = visits.length + 1;
    go((stepOf(visits) + move + count) % count);
  }
  function choose(column, row) {
    const [q, k] = [Math.max(0, Math.min(queries - 1, row)), Math.max(0, Math.min(keys - 1, column))];
    // In a skipped tile: the last visit of its row.
    const at = planned().findIndex(({ rows, columns, last }) => rows[0] <= q && q < rows[1] && (last || k < columns[1]));
    if (at + 1 !== model.get("step")) go(at + 1);
  }
  /** The model for controls that change the plan: the share of it that is done stays as it was. */
  const replanned = {
    get: (name) => model.get(name),
    on: (event, listener) => model.on(event, listener),
    save_changes: () => model.save_changes(),
    set: (name, chosen) => {
      const before = planned();
      const share = stepOf(before) / before.length;
      model.set(name, chosen);
      model.set("step", Math.round(share * planned().length));
    },
  };

  const scores = scorePicture(queries, keys, { choose, moveBy });
  const reports = reportTable(d);
  const bytes = tally();
  const story = html("p", { class: "cw-tile-story", "data-reading": "story" });
  const column = html("div", { class: "cw-tile-right", style: `--queries: ${queries}` }, reports.table, story);
  const verdict = html("p", { class: "cw-tile-verdict" });
  let spoken = "";
  const { region, announce } = announcer(() => spoken);

  /** The query that the last tile rescaled most, and how; in words. */
  function inWords({ inHand, reports: known }, hand) {
    if (!hand) return "Nothing is loaded yet: m = −∞, ℓ = 0, o = 0. Take the first tile.";
    if (hand.columns[0] === 0) return `First keys for ${several("query", "queries", inHand)}: the running three begin with this tile.`;
    const shrink = ({ before, after }) => Math.exp(before.maximum - after.maximum);
    const [most] = known.map((report, r) => ({ report, r })).sort((a, b) => shrink(a.report) - shrink(b.report));
    const { before, tile, after } = most.report;
    if (after.maximum === before.maximum) return "No score of this tile beats a running maximum: nothing is rescaled, the tile only adds.";
    const [old, added] = [shrink(most.report), expBelow(tile.maximum, after.maximum) * tile.total];
    return `Query ${inHand[0] + most.r + 1}: the maximum rises from ${number(before.maximum)} to ${number(after.maximum)}, so what was known shrinks by e^(${number(before.maximum - after.maximum)}) = ${number(old, 3)}, then the tile adds: ℓ\u00a0= ${number(old, 3)} · ${number(before.total)} + ${number(added)} = ${number(after.total)}.`;
  }

  function draw() {
    const visits = planned();
    const step = stepOf(visits);
    const plan = tiling();
    const hand = step > 0 ? visits[step - 1] : null;
    const run = tiledRun({ query, key, value, scale, causal: plan.causal }, visits, step);
    const weights = hand
      ? run.reports.map(({ after }, r) => key.slice(...hand.columns).map((k, j) => {
        const i = hand.rows[0] + r;
        const hidden = plan.causal && hand.columns[0] + j > i + keys - queries;
        return hidden ? 0 : Math.exp(scale * dot(query[i], k) - after.maximum);
      }))
      : [];
    scores.draw(visits, step, plan, weights);
    const place = hand ? `tile ${step} of ${visits.length}: ${several("query", "queries", hand.rows)}, ${several("key", "keys", hand.columns)}` : `before the first of ${visits.length} tiles`;
    setChanged(scores.surface, { "aria-valuemax": visits.length, "aria-valuenow": step, "aria-valuetext": place });
    const finished = hand?.last ?? false;
    column.style.setProperty("--tile", plan.queryTile);
    reports.draw(`${place[0].toUpperCase()}${place.slice(1)}${finished ? "; finished" : ""}`, run, finished);
    const words = inWords(run, hand);
    say(story, words);
    const [moved, total] = [step, visits.length].map((count) => numbersMoved(visits, count, queries, keys, d));
    const held = {
      tiled: onChipBytes(d, plan.queryTile, plan.keyTile, bytesEach),
      naive: bytesEach * queries * keys,
    };
    bytes.draw(Object.fromEntries(["tiled", "naive"].map((name) =>
      [name, { moved: bytesEach * moved[name], total: bytesEach * total[name], held: held[name] }])));
    const exact = whole(plan.causal);
    const written = run.output.filter((row) => row !== null).length;
    const off = run.output.flatMap((row, i) => (row ? row.map((o, f) => Math.abs(o - exact[i][f])) : []));
    verdict.replaceChildren(
      `Outputs written: ${written} of ${queries}. `,
      ...(written > 0 ? ["Largest difference from softmax over the whole row: ", html("strong", { "data-reading": "difference" }, scientific(Math.max(...off))), "."] : ["Each will be compared with softmax over its whole row."]),
    );
    spoken = `${place}. ${words} Moved ${grouped(bytesEach * moved.tiled)} bytes in tiles, ${grouped(bytesEach * moved.naive)} by the naive algorithm. ${verdict.textContent}`;
    announce();
  }

  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const idleText = () => (still.matches ? TO_THE_END : PLAY);
  let timer = null;
  const play = button(idleText(), () => (timer === null ? start() : pause()));
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = idleText();
  }
  function start() {
    const visits = planned();
    if (still.matches) {
      go(stepOf(visits) === visits.length ? 0 : visits.length);
      return;
    }
    turn(1);
    play.textContent = "■ Stop";
    timer = setInterval(() => {
      const now = planned();
      if (el.isConnected && stepOf(now) < now.length) go(stepOf(now) + 1);
      else pause();
    }, Math.max(FASTEST, Math.min(SLOWEST, WHOLE_RUN / visits.length)));
  }
  const byHand = (move) => () => {
    pause();
    turn(move);
  };

  const root = widgetRoot(
    el,
    "Tile stepper: softmax attention, tile by tile",
    html("div", { class: "cw-controls cw-tile-controls" },
      html("div", { class: "cw-tile-buttons" }, button("← Back", byHand(-1)), play, button("Next →", byHand(1)),
        ...(queries <= keys ? [toggle(replanned, "causal", { label: "Causal" })] : [])),
      slider(replanned, "query_tile", { label: "Queries a tile", min: 1, max: queries, step: 1 }),
      slider(replanned, "key_tile", { label: "Keys a tile", min: 1, max: keys, step: 1 })),
    html("div", { class: "cw-columns" },
      html("div", { class: "cw-tile-left" }, scores.picture,
        html("p", { class: "cw-tile-legend", "aria-hidden": "true" },
          ...[["warm", "on chip"], ["spent", "visited, forgotten"], ["written", "written"], ["hatched", "skipped"]].map(([kind, text]) =>
            html("span", {}, html("i", { class: `cw-swatch cw-tile-${kind}` }), text))),
        bytes.table),
      column),
    verdict,
    html("p", { class: "cw-hint" }, `Click or drag in the matrix, or Tab to it and use the arrow keys. The colour of the tile in hand is the weight e^(s − m). The naive algorithm writes S, reads it to write P = softmax(S), and reads P; its bytes so far are those for the scores that the tiles have settled, and it holds S in memory.${d > MOST_SHOWN ? ` The table shows ${MOST_SHOWN} of ${d} features.` : ""} A number takes ${bytesEach} byte${bytesEach > 1 ? "s" : ""}, on chip 4 where the tiles add up.`),
    region,
  );
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["query_tile", "key_tile", "causal", "step"], request);
  return () => {
    pause();
    stop();
    unlisten();
  };
}

export default { render };
