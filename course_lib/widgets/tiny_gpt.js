import { button, choices, slider } from "./js/controls.js";
import { html, number, scientific, svg, uniqueId, widgetRoot } from "./js/dom.js";
import { frameScheduler, onChange, whenQuiet } from "./js/frame.js";
import { softmax } from "./js/numerics.js";

/** (2/√π) ∫₀ˣ e^(−t²) dt, by a series of positive terms: nothing cancels. */
export function erf(x) {
  const z = Math.abs(x);
  if (z > 6) return Math.sign(x);
  let [term, total] = [z, z];
  for (let n = 1; term > 1e-17 * total; n += 1) {
    term *= (2 * z * z) / (2 * n + 1);
    total += term;
  }
  return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * total;
}

/** x Φ(x), with the normal distribution function Φ. */
export function gelu(x) {
  return (x / 2) * (1 + erf(x * Math.SQRT1_2));
}

/** Mean 0 and variance 1 over the entries of `x`, then a scale and a shift for each. */
export function layerNorm(x, { weight, bias }) {
  const mean = x.reduce((sum, entry) => sum + entry, 0) / x.length;
  const variance = x.reduce((sum, entry) => sum + (entry - mean) ** 2, 0) / x.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  return x.map((entry, i) => (entry - mean) * scale * weight[i] + bias[i]);
}

/** Wx + b; the rows of `weight` stand one after another. */
export function affine({ weight, bias }, x) {
  const columns = x.length;
  const result = new Float64Array(weight.length / columns);
  for (let row = 0; row < result.length; row += 1) {
    let sum = bias ? bias[row] : 0;
    for (let i = 0, at = row * columns; i < columns; i += 1, at += 1) sum += weight[at] * x[i];
    result[row] = sum;
  }
  return result;
}

/** The frequency of each pair of `d` features: 10000^(−2i/d). */
const frequency = (pair, d) => 10000 ** ((-2 * pair) / d);

/** Rotary position: in each head, pair i turned by the angle ωᵢ t. */
export function turned(x, heads, position) {
  const d = x.length / heads;
  const result = Float64Array.from(x);
  for (let at = 0; at < x.length; at += 2) {
    const angle = position * frequency((at % d) / 2, d);
    result[at] = x[at] * Math.cos(angle) - x[at + 1] * Math.sin(angle);
    result[at + 1] = x[at] * Math.sin(angle) + x[at + 1] * Math.cos(angle);
  }
  return result;
}

/** The sinusoids of a position: sin ω₀t, cos ω₀t, sin ω₁t, … */
export function sinusoids(position, d) {
  return Array.from({ length: d }, (_, i) => {
    const angle = position * frequency(i >> 1, d);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** One query against all keys so far, in every head: its weights, and the values blended by them. */
export function attend(query, keys, values, heads) {
  const d = query.length / heads;
  const blended = new Float64Array(query.length);
  const weights = [];
  for (let from = 0; from < query.length; from += d) {
    const scores = keys.map((key) => {
      let score = 0;
      for (let i = from; i < from + d; i += 1) score += query[i] * key[i];
      return score / Math.sqrt(d);
    });
    const row = softmax(scores);
    row.forEach((weight, t) => {
      for (let i = from; i < from + d; i += 1) blended[i] += weight * values[t][i];
    });
    weights.push(row);
  }
  return { blended, weights };
}

/** The numbers behind a base64 text of whole numbers of `bits` bits each, and a step for each row. */
function* packedRows({ bits, steps, base64 }) {
  const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const [stream, halves] = [bytesOf(base64), bytesOf(steps)];
  const step = new DataView(new ArrayBuffer(4));
  const middle = 2 ** (bits - 1);
  let [byte, held, count] = [0, 0, 0];
  let columns = yield;
  for (let row = 0; ; row += 1) {
    // The upper half of a float32; its lower half is zero.
    step.setUint16(0, halves[2 * row] + 256 * halves[2 * row + 1]);
    const entries = new Float64Array(columns);
    for (let i = 0; i < columns; i += 1) {
      while (count < bits) {
        held = (held << 8) | stream[byte];
        byte += 1;
        count += 8;
      }
      count -= bits;
      entries[i] = ((held >> count) - middle) * step.getFloat32(0);
      held &= (1 << count) - 1;
    }
    columns = yield entries;
  }
}

/** The decoder that travelled, in the order in which `_shapes` of tiny_gpt.py sends its weights. */
export function unpackDecoder(facts, packed) {
  const rows = packedRows(packed);
  rows.next();
  const vector = (size) => rows.next(size).value;
  const { vocabulary, d_model: d, d_hidden: hidden, tokens, layers } = facts;
  const matrix = (count, columns) => {
    const all = new Float64Array(count * columns);
    for (let row = 0; row < count; row += 1) all.set(vector(columns), row * columns);
    return all;
  };
  const linear = (count, columns) => ({ weight: matrix(count, columns), bias: vector(count) });
  const norm = () => ({ weight: vector(d), bias: vector(d) });
  const token = matrix(vocabulary, d);
  const learned = facts.position === "learned" ? matrix(tokens, d) : null;
  const blocks = Array.from({ length: layers }, () => ({
    query: linear(d, d), key: linear(d, d), value: linear(d, d), output: linear(d, d), attentionNorm: norm(),
    expand: linear(hidden, d), contract: linear(d, hidden), mlpNorm: norm(),
  }));
  const last = facts.norm === "pre" ? norm() : null;
  return { ...facts, token, learned, blocks, last, readout: { weight: facts.tied ? token : matrix(vocabulary, d) } };
}

/** An empty memory of keys and values, for `readLetter` to fill. */
const emptyCache = ({ blocks }) => blocks.map(() => ({ keys: [], values: [] }));

/** Reads one letter after those in the cache: the logits of the next, and where every head looked. */
function readLetter(decoder, cache, id) {
  const { d_model: d, heads, position, last, readout } = decoder;
  const t = cache[0].keys.length;
  const pre = decoder.norm === "pre";
  const around = (x, norm, layer) => {
    const added = layer(pre ? layerNorm(x, norm) : x);
    const sum = x.map((entry, i) => entry + added[i]);
    return pre ? sum : layerNorm(sum, norm);
  };
  const place = position === "learned" ? decoder.learned.subarray(t * d, (t + 1) * d) : position === "sinusoidal" ? sinusoids(t, d) : null;
  const turn = (x) => (position === "rotary" ? turned(x, heads, t) : x);
  let x = decoder.token.slice(id * d, (id + 1) * d).map((entry, i) => Math.sqrt(d) * entry + (place ? place[i] : 0));
  const attention = decoder.blocks.map((block, layer) => {
    let looked;
    x = around(x, block.attentionNorm, (seen) => {
      const { keys, values } = cache[layer];
      keys.push(turn(affine(block.key, seen)));
      values.push(affine(block.value, seen));
      looked = attend(turn(affine(block.query, seen)), keys, values, heads);
      return affine(block.output, looked.blended);
    });
    x = around(x, block.mlpNorm, (seen) => affine(block.contract, affine(block.expand, seen).map(gelu)));
    return looked.weights;
  });
  return { logits: Array.from(affine(readout, last ? layerNorm(x, last) : x)), attention };
}

/** Reads texts, given as ids. What a text shares with the one before it is not read again. */
function textReader(decoder) {
  const cache = emptyCache(decoder);
  let known = [];
  let read = [];
  return (ids) => {
    let same = 0;
    while (same < known.length && known[same] === ids[same]) same += 1;
    for (const { keys, values } of cache) keys.length = values.length = same;
    read = read.slice(0, same);
    known = [...ids];
    for (const id of ids.slice(same)) {
      const letter = readLetter(decoder, cache, id);
      read.push({ ...letter, own: softmax(letter.logits) });
    }
    return read;
  };
}

/** All that the decoder makes of several texts in turn. */
export function readTexts(facts, packed, texts) {
  const read = textReader(unpackDecoder(facts, packed));
  return texts.map((ids) => read(ids));
}

/**
 * The distribution that the next letter is drawn from, `next_token_probabilities` of
 * course_lib.generation; the ids by rank, and how many of them top-k and then top-p leave.
 */
export function chooseAmong(logits, temperature, topK, topP) {
  const order = logits.map((_, id) => id).sort((a, b) => (logits[a] === logits[b] ? a - b : logits[b] - logits[a]));
  const rescaled = (ranked) => {
    const total = ranked.reduce((sum, p) => sum + p, 0);
    return ranked.map((p) => p / total);
  };
  let ranked = rescaled(softmax(order.map((id) => logits[id]), temperature).map((p, rank) => (rank < topK ? p : 0)));
  let leftByP = Math.min(topK, logits.length);
  if (topP < 1) {
    let sum = 0;
    // Within a billionth of p counts as p, so that no rounding decides.
    const reached = ranked.map((p) => {
      sum += p;
      return sum - p >= Math.max(topP - 1e-9, 1e-9);
    });
    leftByP = Math.min(leftByP, reached.includes(true) ? reached.indexOf(true) : leftByP);
    ranked = rescaled(ranked.map((p, rank) => (reached[rank] ? 0 : p)));
  }
  const probability = new Array(logits.length).fill(0);
  order.forEach((id, rank) => { probability[id] = ranked[rank]; });
  return { order, probability, leftByK: Math.min(topK, logits.length), leftByP };
}

/** A bijection of 32 bits in which every input bit stirs every output bit ("lowbias32"). */
function stirred(integer) {
  let h = integer >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Draw n of a seed: a number of [0, 1), the same whenever it is asked for. */
export function uniform(seed, n) {
  return stirred(stirred(seed) + Math.imul(n + 1, 0x9e3779b9)) / 2 ** 32;
}

/** The first id at which the probabilities add up to more than `u`; never one of probability 0. */
export function drawFrom(probability, u) {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probability.length; id += 1) {
    if (probability[id] > 0) {
      last = id;
      sum += probability[id];
      if (u < sum) return id;
    }
  }
  return last;
}

/** What keeps the model from reading a beginning, in words; nothing if it can. */
export function proofread(text, alphabet, start, stop, tokens) {
  const typed = [...text];
  const known = [...alphabet];
  const room = tokens - (start >= 0 ? 1 : 0);
  if (!typed.length && start < 0) return "Type at least one letter: the model has no mark of the start to read instead.";
  const marks = new Set([start, stop].filter((id) => id >= 0).map((id) => known[id]));
  const strange = [...new Set(typed)].filter((letter) => !known.includes(letter));
  if (strange.length) {
    return `The model has never seen ${strange.map(seen).join(", ")}. It knows ${known.filter((letter) => !marks.has(letter)).map(seen).join(" ")}.`;
  }
  const mark = typed.find((letter) => marks.has(letter));
  if (mark) return `${seen(mark)} stands for the start or the end of a text; it cannot stand within one.`;
  if (typed.length > room) return `That is ${typed.length} letters; the model has room for ${room}.`;
  return "";
}

const seen = (letter) => ({ " ": "␣", "\n": "⏎" })[letter] ?? letter;
const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const three = (value) => number(value, 3);
const LEFT = 30;
const NARROWEST = 11;
const WIDEST = 30;
const TOPS = [0.1, 0.25, 0.5, 1];
const PACE = 90;
const MOVES = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };

/** Sets what differs: an attribute that stays costs nothing. */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
}
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
/** Shows the first `count` of `nodes`, which only grow: what stays is not laid out again. */
function showFirst(parent, nodes, count) {
  while (nodes.length < count) nodes.push(html("span"));
  while (parent.children.length > count) parent.lastChild.remove();
  parent.append(...nodes.slice(parent.children.length, count));
}
function walk(element, moveBy, onEnter) {
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && onEnter) onEnter();
    else if (MOVES[event.key]) moveBy(MOVES[event.key]);
    else return;
    event.preventDefault();
  });
}

/** The text in tiles, each tinted by how probable the model found its letter. */
function textStrip(handlers) {
  const strip = html("div", { class: "cw-t-text", role: "slider", tabindex: 0, "aria-label": "Letter whose choice is shown" });
  const tiles = [];

  function draw({ names, kinds, shares, place, lead, first, last, spoken }) {
    showFirst(strip, tiles, names.length);
    names.forEach((name, i) => {
      say(tiles[i], name);
      setAll(tiles[i], {
        class: `cw-t-${kinds[i]}${i === place + lead ? " cw-t-here" : ""}`,
        style: shares[i] === null ? "" : `--share: ${Math.sqrt(shares[i]).toFixed(4)}`,
      });
    });
    setAll(strip, { "aria-valuemin": first + 1, "aria-valuemax": last + 1, "aria-valuenow": place + 1, "aria-valuetext": spoken });
  }
  strip.addEventListener("click", ({ clientX, clientY }) => {
    // A tap between two tiles means the nearer one.
    const away = [...strip.children].map((tile) => {
      const box = tile.getBoundingClientRect();
      return Math.hypot(clientX - box.x - box.width / 2, clientY - box.y - box.height / 2);
    });
    handlers.choose(away.indexOf(Math.min(...away)));
  });
  walk(strip, handlers.moveBy);
  return { strip, draw };
}

/** A bar for each letter of the alphabet: outlined what the model says, filled what is drawn from. */
function letterBars(names, handlers) {
  const drawing = svg("svg", { role: "slider", tabindex: 0, "aria-label": "Letter to look at; Enter writes it", "aria-valuemin": 1, "aria-valuemax": names.length });
  const axis = svg("path", { class: "cw-t-axis" });
  const cuts = svg("path", { class: "cw-t-cuts" });
  const captions = upTo(2).map(() => svg("text", { class: "cw-t-small cw-t-caption" }));
  const columns = names.map((name) => {
    const ring = svg("rect", { class: "cw-t-ring", rx: 3 });
    const fill = svg("rect", { class: "cw-t-fill", width: 1, height: 1, y: -1 });
    const outline = svg("rect", { class: "cw-t-outline" });
    const label = svg("text", { y: 16, "text-anchor": "middle" }, name);
    return { ring, fill, outline, label, group: svg("g", {}, ring, fill, outline, label) };
  });
  const tops = svg("g");
  drawing.append(axis, ...columns.map(({ group }) => group), tops, cuts, ...captions);
  let geometry = {};
  let shown = [];

  function place(width) {
    if (geometry.width === width) return;
    const rows = Math.ceil(names.length / Math.max(1, Math.floor((width - LEFT) / NARROWEST)));
    const each = Math.ceil(names.length / rows);
    const cell = Math.min(WIDEST, (width - LEFT) / each);
    const bar = rows > 1 ? 80 : 150;
    geometry = { width, rows, each, cell, bar, line: bar + 38 };
    setAll(drawing, { viewBox: `0 0 ${width} ${rows * geometry.line}` });
    for (const { ring, label } of columns) {
      setAll(ring, { x: 0.5, y: -bar - 2, width: cell - 1, height: bar + 24 });
      setAll(label, { x: cell / 2, style: `font-size: ${Math.min(15, cell + 1)}px` });
    }
    setAll(axis, { d: upTo(rows).map((row) => `M${LEFT - 4} ${at(row)}h${each * cell + 4}m${-each * cell - 4} ${-bar}h${each * cell + 4}`).join("") });
    tops.replaceChildren(...upTo(rows).flatMap((row) => [0, 1].map((end) => svg("text", { class: "cw-t-small", "text-anchor": "end", x: LEFT - 7, y: at(row) - end * bar + 4 }))));
  }
  const at = (row) => row * geometry.line + geometry.bar + 14;
  const spot = (i) => [LEFT + (i % geometry.each) * geometry.cell, at(Math.floor(i / geometry.each))];

  function draw({ order, own, choice, chosen, option, byRank, spoken }) {
    const { cell, bar } = geometry;
    const top = TOPS.find((limit) => limit >= Math.max(...own, ...choice.probability) - 1e-9) ?? 1;
    [...tops.children].forEach((text, i) => say(text, i % 2 ? String(top) : "0"));
    shown = order;
    order.forEach((id, i) => {
      const { ring, fill, outline, label, group } = columns[id];
      const cut = choice.probability[id] === 0;
      setAll(group, { style: `transform: translate(${spot(i).map((x) => `${x.toFixed(2)}px`).join(", ")})`, class: cut ? "cw-t-cut" : "" });
      setAll(fill, { style: `transform: translate(1.5px) scale(${(cell - 3).toFixed(2)}, ${((bar * choice.probability[id]) / top).toFixed(3)})` });
      const height = (bar * own[id]) / top;
      setAll(outline, { x: 1.5, y: (-height).toFixed(3), width: (cell - 3).toFixed(2), height: height.toFixed(3) });
      setAll(label, { class: id === chosen ? "cw-t-chosen" : "" });
      setAll(ring, { visibility: id === option ? "visible" : "hidden" });
    });
    const edges = [["top-k", choice.leftByK, names.length], ["top-p", choice.leftByP, choice.leftByK]].map(([name, left, of]) =>
      (byRank && left < of ? { name, where: spot(left - 1), left } : null));
    setAll(cuts, { d: edges.map((edge) => (edge ? `M${edge.where[0] + cell} ${edge.where[1]}v${-bar}` : "")).join("") });
    captions.forEach((caption, i) => {
      const edge = edges[i];
      say(caption, edge ? `${edge.name} keeps ${edge.left}` : "");
      if (!edge) return;
      const beyond = edge.where[0] + cell > geometry.width - 110;
      setAll(caption, { x: edge.where[0] + cell + (beyond ? -4 : 4), y: edge.where[1] - bar + 12 + 15 * i, "text-anchor": beyond ? "end" : "start" });
    });
    setAll(drawing, { "aria-valuenow": order.indexOf(option) + 1, "aria-valuetext": spoken });
  }

  const under = ({ clientX, clientY }) => {
    const box = drawing.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top].map((part) => (part * geometry.width) / box.width);
    const column = clamp(Math.floor((x - LEFT) / geometry.cell), 0, geometry.each - 1);
    const row = clamp(Math.floor(y / geometry.line), 0, geometry.rows - 1);
    return shown[clamp(row * geometry.each + column, 0, names.length - 1)];
  };
  drawing.addEventListener("click", (event) => handlers.take(under(event)));
  drawing.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") handlers.preview(under(event));
  });
  drawing.addEventListener("pointerleave", () => handlers.preview(null));
  walk(drawing, handlers.moveBy, () => handlers.take(null));
  return { drawing, place, draw };
}

/** What every head looked at: the text once for each, its letters tinted by their weights. */
function headCards(layers, heads) {
  const cards = upTo(layers).flatMap((layer) => upTo(heads).map((head) => {
    const most = html("strong");
    const body = html("div", { "aria-hidden": "true" });
    const card = html("div", { class: "cw-t-card", role: "img" }, html("p", {}, heads > 1 || layers > 1 ? `Layer ${layer + 1}, head ${head + 1}` : "The head", most), body);
    return { layer, head, most, body, card, letters: [] };
  }));
  const line = html("p", { class: "cw-hint cw-t-look" });
  const all = html("div", { class: "cw-t-cards" }, ...cards.map(({ card }) => card));
  const idle = "The bluer a letter, the harder the head looks at it. Point at one or tap it for its weight.";
  let now = null;

  function draw(names, attention) {
    now = { names, attention };
    for (const { layer, head, most, body, card, letters } of cards) {
      const row = attention[layer][head];
      showFirst(body, letters, row.length);
      row.forEach((weight, t) => {
        say(letters[t], names[t]);
        setAll(letters[t], { style: `--weight: ${Math.sqrt(weight).toFixed(4)}` });
      });
      const best = row.indexOf(Math.max(...row));
      say(most, `${names[best]} ${three(row[best])}`);
      setAll(card, { "aria-label": `Layer ${layer + 1}, head ${head + 1} looks most at ${names[best]}, place ${best + 1} of ${row.length}, weight ${three(row[best])}` });
    }
    say(line, idle);
  }
  function point({ target }) {
    const card = cards.find(({ body }) => body === target.parentNode);
    const t = card ? card.letters.indexOf(target) : -1;
    say(line, t < 0 ? idle : `Layer ${card.layer + 1}, head ${card.head + 1} looks at ${now.names[t]} (place ${t + 1} of ${now.names.length}) with weight ${three(now.attention[card.layer][card.head][t])}.`);
  }
  all.addEventListener("pointermove", point);
  all.addEventListener("click", point);
  return { all, line, draw };
}

function render({ model, el }) {
  const letters = [...model.get("alphabet")];
  const [start, stop, facts] = ["start", "stop", "facts"].map((name) => model.get(name));
  const lead = start >= 0 ? 1 : 0;
  const room = facts.tokens - lead;
  const read = textReader(unpackDecoder(facts, model.get("weights")));
  const ids = (text) => [...text].map((letter) => letters.indexOf(letter));
  const past = [];
  let hovered = null;

  function commit(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
    request();
  }
  /** Another text; the one before it can be had again. */
  function rewrite(prompt, written, more = {}) {
    const before = { prompt: model.get("prompt"), written: model.get("written") };
    if (before.prompt !== prompt || before.written !== written) past.push(before);
    hovered = null;
    commit({ place: -1, option: -1, prompt, written, ...more });
  }

  /** The text, which letter of it is looked at, and what the model knew before that letter. */
  function state() {
    const [prompt, written] = ["prompt", "written"].map((name) => ids(model.get(name)));
    const text = [...prompt, ...written];
    const finished = stop >= 0 && text[text.length - 1] === stop;
    const full = text.length > room;
    const last = finished || full ? text.length - 1 : text.length;
    const chosen = model.get("place");
    const place = chosen < 0 ? last : clamp(chosen, 1 - lead, last);
    const all = lead ? [start, ...text] : text;
    const results = read(all.slice(0, last + lead));
    const settings = ["temperature", "top_k", "top_p"].map((name) => model.get(name));
    const amongst = (i) => chooseAmong(results[i + lead - 1].logits, ...settings);
    return { prompt, written, text, finished, full, last, place, all, results, settings, amongst };
  }

  // Writing -------------------------------------------------------------------------------------

  /** Writes a letter, or begins anew where a text has ended; says whether more can follow. */
  function writeOne() {
    let now = state();
    if (now.last < now.text.length) {
      rewrite(model.get("prompt"), "");
      now = state();
    }
    const draws = model.get("draws");
    const id = drawFrom(now.amongst(now.last).probability, uniform(model.get("seed"), draws));
    rewrite(model.get("prompt"), model.get("written") + letters[id], { draws: draws + 1 });
    return id !== stop && now.text.length < room;
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;
  function pause() {
    clearInterval(timer);
    timer = null;
    writing.textContent = "▶ Write";
  }
  const writing = button("▶ Write", () => {
    if (timer !== null) {
      pause();
      return;
    }
    let more = writeOne();
    while (more && still.matches) more = writeOne();
    if (!more) return;
    writing.textContent = "■ Stop";
    timer = setInterval(() => {
      if (!el.isConnected || state().last < state().text.length || !writeOne()) pause();
    }, PACE);
  });
  const byHand = (deed) => (...given) => {
    pause();
    deed(...given);
  };
  const clear = button("Clear", byHand(() => rewrite(model.get("prompt"), "")));
  const undo = button("Undo", byHand(() => {
    const { prompt, written } = past.pop();
    commit({ place: -1, option: -1, prompt, written });
  }));
  /** The reader's own choice, in place of the letter that is looked at and of all after it. */
  const take = byHand((id) => {
    const { text, prompt, place } = state();
    const letter = id ?? lookedAt(state());
    const kept = text.slice(0, place);
    const spelled = (part) => part.map((i) => letters[i]).join("");
    rewrite(spelled(kept.slice(0, prompt.length)), spelled([...kept.slice(prompt.length), letter]));
  });
  const lookedAt = (now) => {
    if (hovered !== null) return hovered;
    if (model.get("option") >= 0) return model.get("option");
    return now.place < now.text.length ? now.text[now.place] : now.amongst(now.place).order[0];
  };

  // The picture ---------------------------------------------------------------------------------

  const look = (place) => {
    const { last } = state();
    commit({ place: place >= last ? -1 : Math.max(1 - lead, place), option: -1 });
  };
  const strip = textStrip({
    choose: byHand((tile) => look(tile - lead)),
    moveBy: byHand((move) => look(state().place + move)),
  });
  const shownOrder = (choice) => (model.get("order") === "probability" ? choice.order : upTo(letters.length));
  const bars = letterBars(letters.map(seen), {
    take,
    preview: (id) => {
      if (id === hovered) return;
      hovered = id;
      request();
    },
    moveBy: byHand((move) => {
      const now = state();
      const order = shownOrder(now.amongst(now.place));
      const to = clamp(order.indexOf(lookedAt(now)) + move, 0, order.length - 1);
      hovered = null;
      commit({ option: order[to] });
    }),
  });
  const cards = headCards(facts.layers, facts.heads);

  const [id, messageId] = [uniqueId("cw-prompt"), uniqueId("cw-message")];
  const field = html("input", { id, type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": messageId });
  const message = html("span", { id: messageId, class: "cw-t-message", role: "status" });
  const problemOf = (text) => proofread(text, model.get("alphabet"), start, stop, facts.tokens);
  field.addEventListener("input", byHand(() => {
    if (problemOf(field.value)) request();
    else rewrite(field.value, "");
  }));
  const follow = () => {
    if (field.value !== model.get("prompt")) field.value = model.get("prompt");
  };
  follow();

  const [heading, odds, readout, kept, remark] = upTo(5).map(() => html("p"));
  heading.className = "cw-t-heading";
  odds.className = "cw-t-odds";
  for (const line of [kept, remark]) line.className = "cw-hint";
  readout.className = "cw-t-readout";
  const frame = html("div", { class: "cw-t-bars" }, bars.drawing);
  let spoken = "";
  const region = html("div", { class: "cw-announcer", role: "status", "aria-live": "polite" });
  const announce = whenQuiet(500, () => { region.textContent = spoken; });

  const spelling = (part) => part.map((i) => seen(letters[i])).join("");

  /** What becomes of the model's say, in words. */
  function keptInWords({ leftByK, leftByP }, [temperature, topK, topP]) {
    const count = letters.length;
    const cut = [
      ...(leftByK < count ? [`top-k ${topK} leaves ${leftByK} of ${count} letters`] : []),
      ...(leftByP < leftByK ? [`top-p ${number(topP)} leaves ${leftByP}${leftByK < count ? " of them" : ` of ${count} letters`}`] : []),
    ];
    const words = cut.length ? `${cut.join(", ")}; the rest is cut.` : `None of the ${count} letters is cut.`;
    const cold = temperature <= 0.1 ? " This is the smallest temperature here: leads grow tenfold before the softmax. For the most probable letter alone, choose top-k 1." : "";
    const greedy = leftByP === 1 ? " One letter is left: the model has no choice." : "";
    return words[0].toUpperCase() + words.slice(1) + (greedy || cold);
  }

  function remarkOn({ finished, full }) {
    if (finished) return `${seen(letters[stop])} is the end: the text is finished. Write begins another one.`;
    if (full) return `The text is as long as it can be: the model has ${facts.tokens} positions. Write begins another one.`;
    return "";
  }

  function draw() {
    const now = state();
    const { prompt, text, place, last, all, results, settings } = now;
    const choice = now.amongst(place);
    const { own, attention } = results[place + lead - 1];
    const option = lookedAt(now);
    const problem = problemOf(field.value);
    say(message, problem && `${problem} Below you still see ${text.length ? spelling(text) : "the start"}.`);
    setAll(field, { "aria-invalid": problem !== "" });
    root.classList.toggle("cw-t-stale", problem !== "");

    const shares = all.map((letter, i) => (i > 0 ? results[i - 1].own[letter] : null));
    const coming = last === text.length;
    const here = place < text.length ? seen(letters[text[place]]) : null;
    const before = place ? spelling(text.slice(0, place)) : "the start";
    const who = place < prompt.length ? "you typed" : "the model wrote";
    say(heading, here ? `After ${before} ${who} ${here}, out of:` : `After ${before}, what comes next?`);
    spoken = here ? `letter ${place + 1} of ${text.length}, ${here}, which the model gave probability ${three(own[text[place]])}` : `letter ${place + 1}, still to come`;
    strip.draw({
      names: [...all.map((i) => seen(letters[i])), ...(coming ? ["?"] : [])],
      kinds: [...all.map((_, i) => (i < lead ? "mark" : i < lead + prompt.length ? "typed" : "written")), ...(coming ? ["coming"] : [])],
      shares: [...shares, ...(coming ? [null] : [])],
      place, lead, first: 1 - lead, last, spoken,
    });
    const known = shares.filter((share) => share !== null);
    say(odds, known.length
      ? `${lead ? "" : "Given its first letter, "}${lead ? "The" : "the"} model gives ${spelling(text)} the probability ${scientific(known.reduce((product, share) => product * share, 1))}: the product of the letters’ own.`
      : "Nothing is written yet.");

    bars.place(frame.clientWidth || 360);
    const numbers = `${seen(letters[option])}: the model says ${three(own[option])}, drawn with ${three(choice.probability[option])}`;
    bars.draw({ order: shownOrder(choice), own, choice, chosen: here ? text[place] : null, option, byRank: model.get("order") === "probability", spoken: numbers });
    say(readout, `${numbers}.`);
    say(kept, keptInWords(choice, settings));
    say(remark, remarkOn(now));
    cards.draw(all.slice(0, place + lead).map((i) => seen(letters[i])), attention);
    clear.disabled = now.written.length === 0;
    undo.disabled = past.length === 0;
    spoken = `${heading.textContent} ${numbers}. ${remark.textContent}`;
    announce();
  }

  const root = widgetRoot(
    el,
    "Tiny GPT: a language model that runs in this page",
    html("div", { class: "cw-t-prompt" }, html("label", { for: id }, "Type a beginning"), field, message),
    html("div", { class: "cw-t-line" }, strip.strip),
    html("div", { class: "cw-t-legend" }, html("p", { "aria-hidden": "true" }, "surprising", html("span"), "expected", html("u", {}, "typed"), html("b", {}, "written")), odds),
    html("div", { class: "cw-t-buttons" }, writing, button("One letter", byHand(() => writeOne())), clear, undo, remark),
    html("div", { class: "cw-controls" },
      slider(model, "temperature", { label: "Temperature", min: 0.1, max: 5, logarithmic: true, format: (t) => number(t) }),
      slider(model, "top_k", { label: "Top-k", min: 1, max: letters.length, step: 1, format: (k) => (k < letters.length ? String(k) : "all") }),
      slider(model, "top_p", { label: "Top-p", min: 0.05, max: 1, step: 0.05, format: (p) => (p < 1 ? number(p) : "all") })),
    html("div", { class: "cw-columns" },
      html("div", {}, heading, choices(model, "order", { label: "Letters by", options: [["probability", "probability"], ["alphabet", "alphabet"]] }), frame, readout, kept,
        html("p", { class: "cw-hint" }, "Outlined: the model’s own say. Filled: what is drawn from. Click a bar to write its letter.")),
      html("div", {}, html("p", { class: "cw-t-heading" }, "Where each head looked"), cards.all, cards.line)),
    region,
  );
  root.classList.add("cw-gpt");
  const { request, stop: rest } = frameScheduler(root, draw);
  model.on("change:prompt", follow);
  const unlisten = onChange(model, ["prompt", "written", "temperature", "top_k", "top_p", "place", "option", "order"], () => request());
  const resized = new ResizeObserver(() => request());
  resized.observe(frame);
  return () => {
    pause();
    rest();
    unlisten();
    model.off("change:prompt", follow);
    resized.disconnect();
  };
}

export default { render };
