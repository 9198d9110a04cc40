import { decodeArray, decodeRows } from "./js/old/array.js";
import { announcer, choices, slider } from "./js/old/controls.js";
import { html, number, scientific, svg, widgetRoot } from "./js/old/dom.js";
import { draggable, pointIn } from "./js/old/drag.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { dot } from "./js/maths/numerics.js";
import { themeColours } from "./js/old/theme.js";

/** The angle by which each pair of features turns from one position to the next: base^(−2i/d). */
export function pairFrequencies(d, base) {
  return Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
}

/** The sinusoids of one position, fractions too: (sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …). */
export function sinusoidRow(position, d, base) {
  return pairFrequencies(d, base).flatMap((frequency) => [Math.sin(frequency * position), Math.cos(frequency * position)]);
}

/** Each pair (x, y) of a row turned by its angle ω·position, from x towards y. */
export function rotaryRow(row, position, base) {
  return pairFrequencies(row.length, base).flatMap((frequency, i) => {
    const [x, y] = [row[2 * i], row[2 * i + 1]];
    const [cosine, sine] = [Math.cos(frequency * position), Math.sin(frequency * position)];
    return [x * cosine - y * sine, x * sine + y * cosine];
  });
}

/** The sinusoids of t + offset from those of t: the one turn M_offset, whatever t is. */
export function shiftRow(row, offset, base) {
  return rotaryRow(row, -offset, base);
}

/** What the score multiplies at a position: the query or key `x` itself, its table's row, or `x` turned. */
export function positionRow(kind, x, position, { base, learned }) {
  if (kind === "sinusoidal") return sinusoidRow(position, x.length, base);
  if (kind === "learned") return learned[position];
  return kind === "rotary" ? rotaryRow(x, position, base) : x;
}

/** The score of each row of the query's side with each of the key's side. */
export function scoreMatrix(queries, keys) {
  return queries.map((query) => keys.map((key) => dot(query, key)));
}

/** What each pair of features adds to the score: the dot product of two hands. */
export function pairScores(query, key) {
  return Array.from({ length: query.length / 2 }, (_, i) => query[2 * i] * key[2 * i] + query[2 * i + 1] * key[2 * i + 1]);
}

/** Least, mean and most of the scores with the same s − t, from −(T − 1) to T − 1. */
export function byDifference(scores) {
  const last = scores.length - 1;
  return Array.from({ length: 2 * last + 1 }, (_, place) => {
    const difference = place - last;
    const alike = scores.flatMap((row, s) => (row[s - difference] === undefined ? [] : [row[s - difference]]));
    const mean = alike.reduce((sum, score) => sum + score, 0) / alike.length;
    return { least: Math.min(...alike), mean, most: Math.max(...alike), count: alike.length };
  });
}

/** The angle from one hand to another in degrees, −180 to 180, positive from the first axis towards the second. */
export function handAngle([x0, y0], [x1, y1]) {
  return (Math.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1) * 180) / Math.PI;
}

const MATRIX = 288;
const TABLE = 96;
const MARGIN = 42;
const GAP = 8;
const START = MARGIN + TABLE + GAP;
const SIDE = START + MATRIX + 2;
const FOOT = 18;
const CLOCKS_A_ROW = 8;
const WIDEST_CLOCK = 62;
const DIAL = 52;
const WAVE_STEPS = 6;
const CHART = 150;
const SAME = 1e-9;

const NAMES = [["none", "nothing"], ["sinusoidal", "sinusoids"], ["learned", "a learned table"], ["rotary", "rotation"]];
const PRODUCTS = { none: "q · k", sinusoidal: "pₛ · pₜ", learned: "Pₛ · Pₜ", rotary: "Rₛq · Rₜk" };
const MEANINGS = {
  none: "Every query is q and every key is k, wherever they stand.",
  sinusoidal: "Each position has a fixed row of sines and cosines, which is added to its token.",
  learned: "Each position has a row of trained parameters, which is added to its token.",
  rotary: "Nothing is added: each position turns the query and the key that stand there.",
};

const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const place = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
const between = (value, low, high) => Math.max(low, Math.min(high, value));
const largest = (rows) => rows.reduce((most, row) => row.reduce((m, v) => Math.max(m, Math.abs(v)), most), 0);
const handOf = (row, pair) => [row[2 * pair], row[2 * pair + 1]];
const degrees = (angle) => `${number(angle, Math.abs(angle) < 10 ? 2 : 1)}°`;
const QUERY_INK = "var(--cw-series-3)";
const KEY_INK = "var(--cw-series-2)";

/** A matrix as pixels: the colour is the sign, its depth the size. */
function paintMatrix(canvas, rows, full, [positive, negative]) {
  const [height, width] = [rows.length, rows[0].length];
  place(canvas, { width, height });
  const pixels = new ImageData(width, height);
  rows.forEach((row, i) => row.forEach((value, j) => {
    pixels.data.set([...(value < 0 ? negative : positive), Math.round((255 * Math.abs(value)) / full)], 4 * (i * width + j));
  }));
  canvas.getContext("2d").putImageData(pixels, 0, 0);
}

/** The query's rows times the key's columns: row s times column t is the score that stands in (s, t). */
function productPicture(tokens, pairs, handlers) {
  const cell = MATRIX / tokens;
  const wide = TABLE / pairs;
  const middle = (position) => START + (position + 0.5) * cell;
  const canvases = Object.fromEntries(["queries", "keys", "scores"].map((name) => [name, html("canvas", { "data-layer": name, "aria-hidden": "true" })]));
  const outline = (attributes) => svg("rect", { fill: "none", rx: 1.5, "stroke-width": 2, ...attributes });
  const halo = { stroke: "var(--cw-paper)", "stroke-width": 5 };
  const [rowHalo, row, columnHalo, column] = [outline(halo), outline({ stroke: QUERY_INK }), outline(halo), outline({ stroke: KEY_INK })];
  const [across, down] = [QUERY_INK, KEY_INK].map((stroke) => svg("path", { stroke, "stroke-width": 1.5 }));
  const guides = svg("path", { stroke: "var(--cw-paper)", "stroke-width": 4, "stroke-opacity": 0.7 });
  const diagonal = svg("path", { stroke: "var(--cw-ink)", "stroke-dasharray": "2 3", "stroke-opacity": 0.7 });
  const marks = svg("path", { stroke: "var(--cw-ink)", "stroke-width": 3 });
  const size = Math.max(11, cell + 3);
  const ring = (attributes) => outline({ x: -size / 2, y: -size / 2, width: size, height: size, rx: 3, ...attributes });
  const handle = svg("g", { class: "cw-handle", tabindex: 0, role: "button", "aria-roledescription": "movable pair of positions" },
    svg("circle", { r: 16, fill: "transparent" }), ring(halo), ring({ stroke: "var(--cw-ink)", "stroke-width": 2.5 }));
  const step = [1, 2, 4, 8, 16].find((s) => tokens / s <= 8);
  const ticks = upTo(tokens).filter((position) => position % step === 0);
  const small = (attributes, text) => svg("text", { class: "cw-pos-small", ...attributes }, text);
  const product = small({ x: MARGIN + TABLE / 2, y: MARGIN + 18, "text-anchor": "middle", "data-reading": "product" });
  const score = svg("text", { x: MARGIN + TABLE / 2, y: MARGIN + 54, "text-anchor": "middle", class: "cw-pos-score", "data-reading": "score" });
  const apart = small({ x: MARGIN + TABLE / 2, y: MARGIN + 78, "text-anchor": "middle", "data-reading": "difference" });
  const picture = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE + FOOT}`, role: "group", "aria-label": "Scores of all positions" },
    ...ticks.flatMap((position) => [
      small({ x: MARGIN - 6, y: middle(position) + 4, "text-anchor": "end" }, String(position)),
      small({ x: middle(position), y: MARGIN - 8, "text-anchor": "middle" }, String(position)),
    ]),
    small({ x: START + MATRIX / 2, y: 12, "text-anchor": "middle", class: "cw-pos-tip", style: `fill: ${KEY_INK}` }, "key at t →"),
    small({ transform: `translate(12 ${START + MATRIX / 2}) rotate(-90)`, "text-anchor": "middle", class: "cw-pos-tip", style: `fill: ${QUERY_INK}` }, "← query at s"),
    small({ x: MARGIN + TABLE / 2, y: SIDE + 14, "text-anchor": "middle" }, `${2 * pairs} features`),
    small({ x: START + MATRIX / 2, y: SIDE + 14, "text-anchor": "middle" }, "score of each query with each key"),
    product, score, apart, guides, diagonal, across, down, rowHalo, row, columnHalo, column, marks, handle);
  const view = html("div", { class: "cw-pos-product" }, ...Object.values(canvases), picture);
  const share = (length) => `${(100 * length) / SIDE}%`;
  const height = (length) => `${(100 * length) / (SIDE + FOOT)}%`;
  const lay = (canvas, left, top, w, h) => { canvas.style.cssText = `left: ${share(left)}; top: ${height(top)}; width: ${share(w)}; height: ${height(h)}`; };
  lay(canvases.queries, MARGIN, START, TABLE, MATRIX);
  lay(canvases.keys, START, MARGIN, MATRIX, TABLE);
  lay(canvases.scores, START, START, MATRIX, MATRIX);

  function paint({ queries, keys, scores, fullRow, fullScore }, colours) {
    paintMatrix(canvases.queries, queries, fullRow, colours);
    paintMatrix(canvases.keys, keys[0].map((_, feature) => keys.map((k) => k[feature])), fullRow, colours);
    paintMatrix(canvases.scores, scores, fullScore, colours);
  }
  function draw({ s, t, pair, kind, scores }) {
    const [x, y] = [middle(t), middle(s)];
    const box = { x: MARGIN, y: y - cell / 2, width: TABLE, height: cell };
    for (const rect of [rowHalo, row]) place(rect, box);
    for (const rect of [columnHalo, column]) place(rect, { x: x - cell / 2, y: MARGIN, width: cell, height: TABLE });
    across.setAttribute("d", `M${MARGIN + TABLE + 1} ${y}H${x - size / 2}`);
    down.setAttribute("d", `M${x} ${MARGIN + TABLE + 1}V${y - size / 2}`);
    guides.setAttribute("d", across.getAttribute("d") + down.getAttribute("d"));
    const first = Math.min(s, t);
    const left = tokens - 1 - Math.max(s, t);
    diagonal.setAttribute("d", `M${middle(t - first)} ${middle(s - first)}L${middle(t + left)} ${middle(s + left)}`);
    const from = MARGIN + pair * wide;
    marks.setAttribute("d", `M${from} ${START - 4}h${wide}M${START - 4} ${from}v${wide}`);
    handle.setAttribute("transform", `translate(${x} ${y})`);
    handle.setAttribute("aria-label", `query at ${s}, key at ${t}; arrow keys move them`);
    product.textContent = PRODUCTS[kind];
    score.textContent = number(scores[s][t]);
    score.style.fontSize = score.textContent.length > 6 ? "22px" : "";
    apart.textContent = `s − t = ${number(s - t, 0)}`;
  }

  /** Where a point falls: the matrix tells both positions, a table one of them and a pair. */
  function choose([x, y]) {
    const position = (at) => Math.floor((at - START) / cell);
    const feature = (at) => Math.floor((at - MARGIN) / wide);
    const within = (index, count) => index >= 0 && index < count;
    const chosen = { s: position(y), t: position(x) };
    if (within(chosen.s, tokens) && within(chosen.t, tokens)) handlers.go(chosen);
    else if (within(chosen.s, tokens) && within(feature(x), pairs)) handlers.go({ s: chosen.s, pair: feature(x) });
    else if (within(chosen.t, tokens) && within(feature(y), pairs)) handlers.go({ t: chosen.t, pair: feature(y) });
  }
  picture.addEventListener("click", (event) => choose(pointIn(picture, event)));
  picture.addEventListener("pointermove", (event) => {
    const pressed = event.pointerType === "mouse" && event.buttons === 1;
    if (pressed && !event.target.closest(".cw-handle")) choose(pointIn(picture, event));
  });
  draggable(handle, picture, {
    moveTo: (point) => {
      const [t, s] = point.map((at) => between(Math.floor((at - START) / cell), 0, tokens - 1));
      handlers.go({ s, t });
    },
    moveBy: handlers.moveBy,
  });
  return { view, paint, draw };
}

/** One clock for each pair of features, with the hands of the query and the key, and what they add. */
function clockRow(pairs, handlers) {
  const surface = svg("g", { class: "cw-handle", tabindex: 0, role: "slider", "aria-label": "Pair of features", "aria-valuemin": 0, "aria-valuemax": pairs - 1 });
  const picture = svg("svg", { class: "cw-pos-clocks" }, surface);
  const line = (stroke) => svg("line", { stroke, "stroke-width": 2.5, "stroke-linecap": "round" });
  const clocks = upTo(pairs).map(() => {
    const face = svg("circle", { fill: "var(--cw-panel)" });
    const parts = { face, tint: svg("circle", { "data-tint": "" }), hands: [line(KEY_INK), line(QUERY_INK)], text: svg("text", { class: "cw-pos-small", "text-anchor": "middle" }) };
    return { ...parts, group: svg("g", {}, face, parts.tint, ...parts.hands, parts.text) };
  });
  const ground = svg("rect", { fill: "transparent" });
  surface.append(ground, ...clocks.map(({ group }) => group));
  let cell = WIDEST_CLOCK;

  function layOut(width) {
    cell = Math.min(WIDEST_CLOCK, width / CLOCKS_A_ROW);
    const [columns, rows] = [Math.min(pairs, CLOCKS_A_ROW), Math.ceil(pairs / CLOCKS_A_ROW)];
    const tall = cell + 16;
    place(picture, { viewBox: `0 0 ${width} ${rows * tall}`, width, height: rows * tall });
    place(ground, { width: columns * cell, height: rows * tall });
    clocks.forEach(({ group, face, tint, text }, i) => {
      group.setAttribute("transform", `translate(${((i % CLOCKS_A_ROW) + 0.5) * cell} ${Math.floor(i / CLOCKS_A_ROW) * tall + cell / 2})`);
      for (const circle of [face, tint]) circle.setAttribute("r", cell / 2 - 4);
      text.setAttribute("y", cell / 2 + 9);
    });
  }
  function draw({ s, t, pair, queries, keys, shares, longest, fullShare, spoken }) {
    const radius = (cell / 2 - 6) / longest;
    clocks.forEach(({ face, tint, hands, text }, i) => {
      [keys[t], queries[s]].forEach((row, h) => {
        const [x, y] = handOf(row, i);
        place(hands[h], { x2: (radius * x).toFixed(3), y2: (-radius * y).toFixed(3) });
      });
      place(tint, {
        fill: shares[i] < 0 ? "var(--cw-accent)" : "var(--cw-warm)",
        "fill-opacity": ((0.4 * Math.abs(shares[i])) / fullShare).toFixed(4),
        stroke: i === pair ? "var(--cw-ink)" : "var(--cw-line)",
        "stroke-width": i === pair ? 2.5 : 1,
      });
      face.setAttribute("stroke", "none");
      text.textContent = number(shares[i]);
      text.classList.toggle("cw-pos-here", i === pair);
    });
    place(surface, { "aria-valuenow": pair, "aria-valuetext": spoken });
  }

  surface.addEventListener("click", (event) => {
    const [x, y] = pointIn(picture, event);
    const at = Math.floor(y / (cell + 16)) * CLOCKS_A_ROW + Math.floor(x / cell);
    if (at >= 0 && at < pairs) handlers.go({ pair: at });
  });
  surface.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!move) return;
    event.preventDefault();
    handlers.turnPair(move);
  });
  return { picture, layOut, draw };
}

/** The chosen clock, and the height of its hand along the positions. */
function wavePicture(tokens) {
  const top = DIAL + 10;
  const left = 2 * DIAL + 44;
  let width = 480;
  const dashed = { "stroke-width": 1.25, "stroke-dasharray": "3 3", "stroke-opacity": 0.7 };
  const trail = svg("path", { class: "cw-pos-dots", stroke: "var(--cw-edge)", "stroke-width": 3 });
  const axis = svg("path", { stroke: "var(--cw-line)" });
  const faint = svg("path", { stroke: "var(--cw-edge)", "stroke-dasharray": "4 3", "stroke-opacity": 0.8 });
  const waves = [svg("path", { stroke: KEY_INK, "stroke-width": 2 }), svg("path", { "stroke-width": 2 })];
  const sides = [KEY_INK, QUERY_INK].map((stroke) => ({
    hand: svg("line", { x1: top, y1: top, stroke, "stroke-width": 3.5, "stroke-linecap": "round" }),
    tip: svg("text", { fill: stroke, class: "cw-halo cw-pos-tip", "text-anchor": "middle", style: `fill: ${stroke}` }),
    level: svg("path", { stroke, ...dashed }),
    upright: svg("path", { stroke, "stroke-width": 1.25 }),
    spot: svg("circle", { r: 5, fill: stroke, stroke: "var(--cw-paper)", "stroke-width": 1.5 }),
    under: svg("text", { class: "cw-pos-tip", "text-anchor": "middle", style: `fill: ${stroke}` }),
  }));
  const all = (name) => sides.map((side) => side[name]);
  const picture = svg("svg", { class: "cw-pos-wave", "aria-hidden": "true" },
    svg("circle", { cx: top, cy: top, r: DIAL, fill: "var(--cw-panel)", stroke: "var(--cw-line)" }),
    axis, trail, faint, ...all("level"), ...all("upright"), ...waves, ...all("hand"), ...all("tip"), ...all("spot"), ...all("under"));

  const across = (position) => left + (position / (tokens - 1)) * (width - left - 10);
  const curve = (samples, height) => samples.map(([position, value], i) => `${i ? "L" : "M"}${across(position).toFixed(1)} ${height(value).toFixed(2)}`).join("");

  function layOut(room) {
    width = room;
    place(picture, { viewBox: `0 0 ${width} ${2 * top + 16}`, width, height: 2 * top + 16 });
    axis.setAttribute("d", `M${left} ${top}H${width - 10}M${top - DIAL} ${top}h${2 * DIAL}M${top} ${top - DIAL}v${2 * DIAL}`);
  }
  function draw({ s, t, pair, queries, keys, oneTable, sampled }) {
    const used = oneTable ? [queries] : [queries, keys];
    const reach = Math.max(...used.flatMap((rows) => rows.map((row) => Math.hypot(...handOf(row, pair))))) || 1;
    const height = (value) => top - (DIAL * value) / reach;
    const heights = (rows, feature) => rows.map(([position, row]) => [position, row[feature]]);
    waves[1].setAttribute("stroke", oneTable ? "var(--cw-ink)" : QUERY_INK);
    waves[1].setAttribute("d", curve(heights(sampled.queries, 2 * pair + 1), height));
    waves[0].setAttribute("d", oneTable ? "" : curve(heights(sampled.keys, 2 * pair + 1), height));
    faint.setAttribute("d", oneTable ? curve(heights(sampled.queries, 2 * pair), height) : "");
    trail.setAttribute("d", used.flat().map((row) => {
      const [x, y] = handOf(row, pair);
      return `M${(top + (DIAL * x) / reach).toFixed(2)} ${height(y).toFixed(2)}h0`;
    }).join(""));
    [[t, keys[t], "t"], [s, queries[s], "s"]].forEach(([position, row, name], i) => {
      const [x, y] = handOf(row, pair);
      const [tipX, tipY] = [top + (DIAL * x) / reach, height(y)];
      const { hand, tip, level, upright, spot, under } = sides[i];
      const beyond = 1 + 11 / (Math.hypot(tipX - top, tipY - top) || Infinity);
      place(hand, { x2: tipX.toFixed(2), y2: tipY.toFixed(2) });
      place(tip, { x: top + (tipX - top) * beyond, y: top + (tipY - top) * beyond + 4 });
      place(spot, { cx: across(position).toFixed(2), cy: tipY.toFixed(2) });
      level.setAttribute("d", `M${tipX} ${tipY}H${across(position)}`);
      upright.setAttribute("d", `M${across(position)} ${top - DIAL}V${top + DIAL}`);
      place(under, { x: across(position), y: 2 * top + 10 });
      tip.textContent = s === t ? "s, t" : name;
      under.textContent = s === t ? "s, t" : name;
      tip.setAttribute("visibility", s === t && i === 0 ? "hidden" : "visible");
      under.setAttribute("visibility", s === t && i === 0 ? "hidden" : "visible");
    });
  }
  return { picture, layOut, draw };
}

/** Each pair of positions as a dot: its score against how far the query stands behind the key. */
function differenceChart(tokens) {
  const [left, right, top, bottom] = [40, 10, 8, 26];
  let width = 480;
  const dots = (attributes) => svg("path", { class: "cw-pos-dots", ...attributes });
  const axis = svg("path", { stroke: "var(--cw-line)" });
  const band = svg("rect", { y: top, height: CHART - top - bottom, fill: "var(--cw-ink)", "fill-opacity": 0.08 });
  const mean = svg("path", { stroke: "var(--cw-edge)", "stroke-width": 1 });
  const every = dots({ stroke: "var(--cw-edge)", "stroke-width": between(112 / tokens, 2, 3.5), "data-layer": "every" });
  const alike = dots({ stroke: "var(--cw-ink)", "stroke-width": 4.5, "data-layer": "alike" });
  const here = svg("circle", { r: 6.5, fill: "none", stroke: "var(--cw-warm)", "stroke-width": 3, "data-layer": "here" });
  const small = (attributes, text = "") => svg("text", { class: "cw-pos-small", ...attributes }, text);
  const [high, low, zero] = upTo(3).map(() => small({ x: left - 6, "text-anchor": "end" }));
  const [first, last, middle, chosen] = upTo(4).map(() => small({ y: CHART - 8, "text-anchor": "middle" }));
  chosen.classList.add("cw-pos-here", "cw-halo");
  // Many dots that stay lie in a layer of their own, so that they are not painted anew with those that move.
  const layers = [[axis, mean, every], [band, alike, here, high, low, zero, first, last, middle, chosen]].map((parts) => svg("svg", {}, ...parts));
  const picture = html("div", { class: "cw-pos-chart", "aria-hidden": "true" }, ...layers);
  let heightOf = () => 0;
  const across = (difference) => left + ((difference + tokens - 1) / (2 * tokens - 2)) * (width - left - right);
  const dotsOf = (places) => places.map(([difference, score]) => `M${across(difference).toFixed(2)} ${heightOf(score).toFixed(2)}h0`).join("");

  /** What depends on the scores alone. */
  function layOut(room, { scores, differences }) {
    width = room;
    for (const layer of layers) place(layer, { viewBox: `0 0 ${width} ${CHART}`, width, height: CHART });
    const [least, most] = [Math.min(0, ...differences.map((d) => d.least)), Math.max(0, ...differences.map((d) => d.most))];
    const range = most - least || 1;
    heightOf = (score) => top + 5 + ((most - score) / range) * (CHART - top - bottom - 10);
    axis.setAttribute("d", `M${left} ${heightOf(0)}H${width - right}M${across(0)} ${top}V${CHART - bottom}`);
    mean.setAttribute("d", differences.map((d, i) => `${i ? "L" : "M"}${across(i - tokens + 1).toFixed(2)} ${heightOf(d.mean).toFixed(2)}`).join(""));
    every.setAttribute("d", dotsOf(scores.flatMap((row, s) => row.map((score, t) => [s - t, score]))));
    for (const [text, value] of [[high, most], [low, least], [zero, 0]]) {
      place(text, { y: heightOf(value) + 4 });
      text.textContent = number(value, 1);
    }
    for (const [text, value] of [[high, most], [low, least]]) text.setAttribute("visibility", Math.abs(heightOf(value) - heightOf(0)) < 14 ? "hidden" : "visible");
    for (const [text, value] of [[first, 1 - tokens], [middle, 0], [last, tokens - 1]]) {
      place(text, { x: across(value) });
      text.textContent = number(value, 0);
    }
    last.setAttribute("text-anchor", "end");
  }
  function draw({ s, t, scores }) {
    const difference = s - t;
    const column = (width - left - right) / (2 * tokens - 2);
    place(band, { x: across(difference) - Math.max(column, 10) / 2, width: Math.max(column, 10) });
    alike.setAttribute("d", dotsOf(upTo(tokens).flatMap((i) => (scores[i][i - difference] === undefined ? [] : [[difference, scores[i][i - difference]]]))));
    place(here, { cx: across(difference).toFixed(2), cy: heightOf(scores[s][t]).toFixed(2) });
    place(chosen, { x: across(difference) });
    for (const [text, value] of [[first, 1 - tokens], [middle, 0], [last, tokens - 1]]) text.setAttribute("visibility", Math.abs(across(value) - across(difference)) < 28 ? "hidden" : "visible");
    chosen.textContent = number(difference, 0);
  }
  return { picture, layOut, draw };
}

function render({ model, el }) {
  const [tokens, d, base] = ["tokens", "d_model", "base"].map((name) => model.get(name));
  const pairs = d / 2;
  const given = {
    base,
    learned: decodeRows(model.get("learned")),
    query: Array.from(decodeArray(model.get("query")).values),
    key: Array.from(decodeArray(model.get("key")).values),
  };
  const traits = { s: "query_position", t: "key_position", pair: "pair" };
  const read = (name) => model.get(traits[name]);

  function go(chosen) {
    const changed = Object.entries(chosen).filter(([name, value]) => value !== read(name));
    for (const [name, value] of changed) model.set(traits[name], value);
    if (changed.length) model.save_changes();
  }
  const within = (position) => between(position, 0, tokens - 1);
  const handlers = {
    go,
    moveBy: ([right, up]) => go({ s: within(read("s") - up), t: within(read("t") + right) }),
    turnPair: (move) => go({ pair: between(read("pair") + move, 0, pairs - 1) }),
  };

  const known = new Map();
  /** All that follows from the way in which order comes in; computed once for each. */
  function facts(kind) {
    if (known.has(kind)) return known.get(kind);
    const side = (x, positions) => positions.map((position) => positionRow(kind, x, position, given));
    const [queries, keys] = [side(given.query, upTo(tokens)), side(given.key, upTo(tokens))];
    const scores = scoreMatrix(queries, keys);
    const fine = upTo(kind === "learned" ? tokens : (tokens - 1) * WAVE_STEPS + 1).map((i) => (kind === "learned" ? i : i / WAVE_STEPS));
    const sampled = (x) => side(x, fine).map((row, i) => [fine[i], row]);
    const every = [...queries, ...keys];
    const found = {
      queries,
      keys,
      scores,
      differences: byDifference(scores),
      oneTable: kind === "sinusoidal" || kind === "learned",
      sampled: { queries: sampled(given.query), keys: sampled(given.key) },
      fullRow: largest(every) || 1,
      fullScore: largest(scores) || 1,
      longest: Math.max(...every.flatMap((row) => upTo(pairs).map((i) => Math.hypot(...handOf(row, i))))) || 1,
      fullShare: largest(queries.flatMap((q) => keys.map((k) => pairScores(q, k)))) || 1,
    };
    known.set(kind, found);
    return found;
  }
  function current() {
    const kind = model.get("kind");
    const [s, t, pair] = ["s", "t", "pair"].map(read);
    const found = facts(kind);
    return { kind, s, t, pair, ...found, shares: pairScores(found.queries[s], found.keys[t]) };
  }

  // The slider that moves both positions holds the first of them; the room behind the second ends it.
  const first = () => Math.min(read("s"), read("t"));
  const together = {
    get: first,
    set: (_, start) => go({ s: read("s") + start - first(), t: read("t") + start - first() }),
    on: (_, listener) => onChange(model, [traits.s, traits.t], listener),
    save_changes: () => {},
  };
  const position = (name, label, ink) => {
    const control = slider(model, traits[name], { label, min: 0, max: tokens - 1, step: 1 });
    control.style.setProperty("--cw-accent", ink);
    return control;
  };
  const both = slider(together, "shift", { label: "Shift both", min: 0, max: tokens - 1, step: 1, format: () => `${read("s")}, ${read("t")}` });
  const shiftInput = both.querySelector("input");

  const product = productPicture(tokens, pairs, handlers);
  const clocks = clockRow(pairs, handlers);
  const wave = wavePicture(tokens);
  const chart = differenceChart(tokens);
  const meaning = html("p", { class: "cw-pos-meaning" });
  const scale = html("p", { class: "cw-pos-legend", "data-reading": "scale" });
  const turn = html("p", { class: "cw-pos-note cw-pos-turn", "data-reading": "turn" });
  const verdict = html("p", { class: "cw-pos-note", "data-reading": "verdict" });
  const sum = html("p", { class: "cw-pos-title", "data-reading": "sum" });
  const title = html("p", { class: "cw-pos-title", "data-reading": "title" });
  const frame = html("div", { class: "cw-pos-right" }, sum, clocks.picture, title, wave.picture, turn,
    html("p", { class: "cw-pos-title" }, "Score of every pair of positions, against s − t"), chart.picture, verdict);
  let spoken = "";
  const { region, announce } = announcer(() => spoken);

  /** How the hand of the chosen pair gets from one position to others. */
  function turnInWords({ kind, s, t, pair, queries }) {
    if (kind === "none") return "The hands never move: nothing tells one position from another.";
    const k = s - t;
    const frequency = (180 / Math.PI) * pairFrequencies(d, base)[pair];
    const once = (hand) => `One position turns ${hand} hand by ${degrees(frequency)}`;
    if (kind === "rotary") return `${once("either")}. Shift both, and the angle between them stays.`;
    const starts = upTo(tokens).filter((start) => queries[start + k]);
    if (kind === "sinusoidal") {
      const miss = largest(starts.map((start) => shiftRow(queries[start], k, base).map((x, i) => x - queries[start + k][i])));
      return `${once("this")}, ${number(k, 0)} positions by ${degrees(k * frequency)}, from every t. One matrix does that to all pairs: M pₜ is pₛ up to ${scientific(miss)}.`;
    }
    const angles = starts.map((start) => -handAngle(handOf(queries[start], pair), handOf(queries[start + k], pair)));
    return `From t to s this hand turns by ${degrees(angles[starts.indexOf(t)])}. With the same s\u00a0−\u00a0t it turns by anything from ${degrees(Math.min(...angles))} to ${degrees(Math.max(...angles))}, depending on t.`;
  }
  function verdictInWords({ s, t, differences, fullScore }) {
    const { least, most, count } = differences[s - t + tokens - 1];
    const those = count === 1 ? "One pair of positions has" : `${count} pairs of positions have`;
    const lead = `${those} s − t = ${number(s - t, 0)}. `;
    if (most - least < SAME * fullScore) return `${lead}${count === 1 ? "Its score is" : "They all score"} ${number(most)}.`;
    return `${lead}Their scores run from ${number(least)} to ${number(most)}.`;
  }

  let laidOut = "";
  let painted = "";
  function draw() {
    const now = current();
    const { kind, s, t, pair, shares, scores } = now;
    const width = frame.clientWidth || 480;
    const ink = colours();
    const signature = `${kind} ${width}`;
    if (signature !== laidOut) {
      laidOut = signature;
      clocks.layOut(width);
      wave.layOut(width);
      chart.layOut(width, now);
      meaning.textContent = MEANINGS[kind];
      scale.replaceChildren(html("span", {}, "−", html("span", { class: "cw-pos-ramp" }), "+"), `full colour: ${number(now.fullRow)} in the tables, ${number(now.fullScore)} in the scores`);
    }
    const colouring = `${kind} ${ink.warm} ${ink.accent}`;
    if (colouring !== painted) {
      painted = colouring;
      product.paint(now, [ink.warm, ink.accent]);
    }
    shiftInput.max = String(tokens - 1 - Math.abs(s - t));
    shiftInput.value = String(first());
    const period = `pair ${pair} of 0 to ${pairs - 1}`;
    sum.textContent = `${PRODUCTS[kind]} = ${number(scores[s][t])}, summed over the pairs`;
    title.textContent = `Pair ${pair} by position: ${now.oneTable ? `feature ${2 * pair} dashed, ${2 * pair + 1} solid` : `feature ${2 * pair + 1} of query and key`}`;
    turn.textContent = turnInWords(now);
    verdict.textContent = verdictInWords(now);
    product.draw(now);
    clocks.draw({ ...now, spoken: `${period}, adds ${number(shares[pair])}` });
    wave.draw(now);
    chart.draw(now);
    spoken = `Query at ${s}, key at ${t}: score ${number(scores[s][t])}. ${verdict.textContent} Pair ${pair} adds ${number(shares[pair])}. ${turn.textContent}`;
    announce();
  }

  const kinds = model.get("kinds");
  const root = widgetRoot(
    el,
    "Position explorer: how order is put into attention",
    html("div", { class: "cw-controls" },
      choices(model, "kind", { label: "Order comes from", options: NAMES.filter(([kind]) => kinds.includes(kind)) }),
      position("s", "Query at s", QUERY_INK), position("t", "Key at t", KEY_INK), both),
    meaning,
    html("div", { class: "cw-columns" }, html("div", { class: "cw-pos-left" }, product.view, scale,
      html("p", { class: "cw-hint" }, "Drag the square among the scores; click a clock, or a row or column of the tables. With the keyboard: Tab to the square or to the clocks, then the arrow keys.")), frame),
    region,
  );
  const { colours, stop: forget } = themeColours(root, ["warm", "accent"], () => request());
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["kind", ...Object.values(traits)], () => request());
  const resized = new ResizeObserver(() => request());
  resized.observe(frame);
  return () => {
    stop();
    forget();
    unlisten();
    resized.disconnect();
  };
}

export default { render };
