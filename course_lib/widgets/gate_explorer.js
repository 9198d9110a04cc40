import { decodeArray, decodeRows } from "./js/old/array.js";
import { html, number, svg, uniqueId, widgetRoot } from "./js/old/dom.js";
import { frameScheduler, onChange, whenQuiet } from "./js/old/frame.js";
import { dot, sigmoid, softmax } from "./js/maths/numerics.js";

/** A matrix that travels in 16 bits an entry, as a list of rows. See `Rows` in gate_explorer.py. */
export function unpackRows({ shape: [rows, columns], steps, base64 }) {
  const step = decodeArray(steps).values;
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const counts = new Int16Array(bytes.buffer);
  return Array.from({ length: rows }, (_, row) =>
    Array.from(counts.subarray(row * columns, (row + 1) * columns), (count) => count * step[row]),
  );
}

/**
 * The two sums that a step combines: `a` from the letter and `b` from the hidden state before it.
 * A row holds the weights of all letters, those of all units, and the bias of each sum.
 */
export function gateSums(rows, letters, letter, hidden) {
  const end = letters + hidden.length;
  return {
    a: rows.map((row) => row[letter] + row[end]),
    b: rows.map((row) => dot(hidden, row.slice(letters, end)) + row[end + 1]),
  };
}

/** One letter read by a plain network. */
export function rnnStep(rows, letters, letter, { hidden }) {
  const { a, b } = gateSums(rows, letters, letter, hidden);
  return { a, b, hidden: a.map((from, u) => Math.tanh(from + b[u])) };
}

/** One letter read by a GRU; rows in the order reset, update, candidate. */
export function gruStep(rows, letters, letter, { hidden }) {
  const { a, b } = gateSums(rows, letters, letter, hidden);
  const units = hidden.length;
  const reset = hidden.map((_, u) => sigmoid(a[u] + b[u]));
  const update = hidden.map((_, u) => sigmoid(a[units + u] + b[units + u]));
  const candidate = hidden.map((_, u) => Math.tanh(a[2 * units + u] + reset[u] * b[2 * units + u]));
  return { a, b, reset, update, candidate, hidden: hidden.map((h, u) => (1 - update[u]) * candidate[u] + update[u] * h) };
}

/** One letter read by an LSTM; rows in the order input, forget, candidate, output. */
export function lstmStep(rows, letters, letter, { hidden, cell }) {
  const { a, b } = gateSums(rows, letters, letter, hidden);
  const units = hidden.length;
  const gate = (place, squash) => hidden.map((_, u) => squash(a[place * units + u] + b[place * units + u]));
  const [input, forget, candidate, output] = [gate(0, sigmoid), gate(1, sigmoid), gate(2, Math.tanh), gate(3, sigmoid)];
  const next = cell.map((c, u) => forget[u] * c + input[u] * candidate[u]);
  return { a, b, input, forget, candidate, output, cell: next, hidden: next.map((c, u) => output[u] * Math.tanh(c)) };
}

const STEPS = { RNN: rnnStep, GRU: gruStep, LSTM: lstmStep };
/** Where the sums of a quantity stand among the rows, in units. */
const PLACES = { GRU: { reset: 0, update: 1, candidate: 2 }, LSTM: { input: 0, forget: 1, candidate: 2, output: 3 } };
/** The gate that says how much of its state a unit keeps, and the state that it keeps. */
const KEEPERS = { GRU: ["update", "state"], LSTM: ["forget", "cell"] };

/** Every step of a text, given as places in the alphabet; each knows the state `before` it. */
export function readText(kind, rows, letters, units, places) {
  let before = { hidden: new Array(units).fill(0), cell: new Array(units).fill(0) };
  return places.map((letter) => {
    const step = { ...STEPS[kind](rows, letters, letter, before), before };
    before = step;
    return step;
  });
}

/** What the model thinks: the softmax of the readout, whose rows end with their bias. */
export function opinion(readout, hidden) {
  return softmax(readout.map((row) => dot(hidden, row) + row[hidden.length]));
}

/** What each unit adds to the log-odds of the first of two labels. */
export function votes([first, second], hidden) {
  return hidden.map((h, u) => (first[u] - second[u]) * h);
}

/** The places at which another label takes the lead. */
export function mindChanges(opinions) {
  const leader = opinions.map((shares) => shares.indexOf(Math.max(...shares)));
  return leader.flatMap((label, t) => (t > 0 && label !== leader[t - 1] ? [t] : []));
}

/** The share of its state that a unit keeps at a letter: the geometric mean of a gate over the text. */
export function keptShare(gates) {
  return Math.exp(gates.reduce((sum, gate) => sum + Math.log(gate), 0) / gates.length);
}

/** After how many letters half is left of what loses the same share at each. */
export function halfLife(share) {
  return Math.LN2 / Math.abs(Math.log(share));
}

/** The places of the values, largest first; of equals, the earlier first. */
export function descending(values) {
  return values.map((_, u) => u).sort((u, v) => values[v] - values[u] || u - v);
}

/** What keeps the model from reading a text, in words; nothing if it can. */
export function proofread(text, alphabet, longest) {
  const known = [...alphabet];
  const letters = [...text];
  if (!letters.length) return "Type at least one letter.";
  const strange = [...new Set(letters)].filter((letter) => !known.includes(letter));
  if (strange.length) {
    return `The model has never seen ${spelled(strange, ", ")}. It knows ${spelled(known, " ")}.`;
  }
  if (letters.length > longest) return `That is ${letters.length} letters; ${longest} fit in here.`;
  return "";
}

const visibleLetter = (letter) => (letter === " " ? "␣" : letter);
const spelled = (letters, gap = "") => letters.map(visibleLetter).join(gap);

const two = (value) => number(value, 2);
const plus = (a, b) => (two(b).startsWith("−") ? `${two(a)} − ${two(b).slice(1)}` : `${two(a)} + ${two(b)}`);
const times = (a, b) => [a, b].map((value) => (two(value).startsWith("−") ? `(${two(value)})` : two(value))).join("·");
const squashed = (name, squash) => (a, b) => [`${name} = ${squash}(a + b)`, `${squash}(${plus(a, b)})`];
const EQUATIONS = {
  LSTM: {
    forget: squashed("f", "σ"),
    input: squashed("i", "σ"),
    candidate: squashed("g", "tanh"),
    cell: (a, b, s, u) => ["c = f·c₋ + i·g", `${times(s.forget[u], s.before.cell[u])} + ${times(s.input[u], s.candidate[u])}`],
    output: squashed("o", "σ"),
    hidden: (a, b, s, u) => ["h = o·tanh(c)", `${two(s.output[u])}·tanh(${two(s.cell[u])})`],
  },
  GRU: {
    reset: squashed("r", "σ"),
    update: squashed("z", "σ"),
    candidate: (a, b, s, u) => ["n = tanh(a + r·b)", `tanh(${two(a)} + ${times(s.reset[u], b)})`],
    hidden: (a, b, s, u) => ["h = (1 − z)·n + z·h₋", `${times(1 - s.update[u], s.candidate[u])} + ${times(s.update[u], s.before.hidden[u])}`],
  },
  RNN: { hidden: squashed("h", "tanh") },
};

/** How a quantity comes about in one unit at one letter: in symbols, and with its numbers. */
export function equation(kind, quantity, step, unit) {
  const sum = (PLACES[kind]?.[quantity] ?? 0) * step.hidden.length + unit;
  const [symbols, numbers] = EQUATIONS[kind][quantity](step.a[sum], step.b[sum], step, unit);
  return { symbols, numbers, value: step[quantity][unit] };
}

const NAMES = {
  forget: "forget gate", input: "input gate", output: "output gate", reset: "reset gate", update: "update gate",
  candidate: "candidate", cell: "cell", hidden: "hidden state", vote: "vote",
  number: "number", value: "value at the letter", memory: "how long they remember",
};
/** What a full and what a faint patch of a gate mean; what else the map shows. */
const OPENINGS = {
  forget: ["keeps its cell", "forgets"],
  input: ["lets the candidate into its cell", "shuts it out"],
  output: ["shows its cell to the others", "hides it"],
  reset: ["lets its candidate see the past", "starts afresh"],
  update: ["keeps its state", "takes the candidate"],
};
const MEANINGS = {
  candidate: "What the unit would write into its memory.",
  cell: "What the unit remembers. In a unit that counts, it climbs or falls letter by letter.",
  hidden: "What the unit shows to the others and to the readout.",
  vote: "What the unit adds to the log-odds. All votes and the bias make the opinion.",
};
const SUMS = {
  GRU: " Every gate has its own. h₋ is the hidden state one letter earlier.",
  LSTM: " Every gate has its own. c₋ is the cell one letter earlier.",
};

const LEFT = 38;
const RIGHT = 8;
const WIDEST = 46;
const BARS = 60;
const TRACE = 72;
const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const clamp = (value, last) => Math.max(0, Math.min(last, value));
const smallText = (attributes, ...text) => svg("text", { class: "cw-g-small", ...attributes }, ...text);
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** Letters across: the opinion above them, the units below, and one unit's course at the foot. */
function picture(units, labels, handlers) {
  const top = labels.length ? 16 : 0;
  const base = labels.length ? top + BARS : 0;
  const mapTop = base + 34;
  const rowHeight = Math.max(6, Math.min(24, 400 / units));
  const traceTop = mapTop + rowHeight * units + 32;
  const size = `font-size: ${Math.max(9, Math.min(11, rowHeight - 1))}px`;

  const band = svg("rect", { class: "cw-g-band", y: 0, height: traceTop + TRACE + 4, rx: 4 });
  const across = svg("rect", { class: "cw-g-row", x: LEFT - 2, height: rowHeight + 1 });
  const spot = svg("rect", { class: "cw-g-spot", height: rowHeight + 1, rx: 2 });
  const half = svg("path", { class: "cw-g-rule", "stroke-dasharray": "3 4", style: "stroke: var(--cw-paper)" });
  const rule = svg("path", { class: "cw-g-rule" });
  const line = svg("path", { class: "cw-g-line" });
  const dots = svg("path", { class: "cw-g-line", "stroke-linecap": "round", style: "stroke-width: 6" });
  const here = svg("circle", { r: 5.5, fill: "var(--cw-warm)" });
  const title = smallText({ x: LEFT, y: traceTop - 10, style: "text-anchor: start" });
  const ends = [traceTop + 4, traceTop + TRACE].map((y) => smallText({ x: LEFT - 7, y }));
  const names = upTo(units).map((r) => smallText({ x: LEFT - 7, y: mapTop + rowHeight * (r + 0.5) + 4, style: size }));
  const ground = svg("rect", { x: LEFT, y: mapTop, height: rowHeight * units, fill: "var(--cw-paper)" });
  const cells = svg("g");
  const surface = svg("g", { class: "cw-handle", tabindex: 0, role: "slider", "aria-label": "Letter and unit", "aria-valuemin": 1 }, ground, cells, across, spot);
  const heads = svg("g");
  const unheard = (...parts) => svg("g", { "aria-hidden": "true" }, ...parts);
  const drawing = svg("svg", { style: "touch-action: pan-y" }, unheard(band, heads, half), surface, unheard(rule, line, dots, here, title, ...ends, ...names));
  if (labels.length) heads.append(smallText({ x: LEFT - 7, y: top - 5 }, "%"));
  const columns = [];
  let geometry = { width: 0, count: 0, cell: 1 };

  function column() {
    const patches = upTo(units).map((r) => svg("rect", { y: r, width: 1, height: 0.93 }));
    const bars = labels.map((_, i) => svg("rect", { width: 1, fill: `var(--cw-series-${i})` }));
    const share = smallText({ y: top - 5, style: "text-anchor: middle" });
    const letter = svg("text", { y: base + 23, "text-anchor": "middle" });
    const parts = { patches, bars, share, letter, map: svg("g", {}, ...patches), stack: svg("g", {}, ...bars) };
    cells.append(parts.map);
    heads.append(parts.stack, share, letter);
    return parts;
  }

  const middle = (t) => LEFT + geometry.cell * (t + 0.5);

  function place(count, width) {
    if (geometry.width === width && geometry.count === count) return;
    const cell = Math.min(WIDEST, (width - LEFT - RIGHT) / count);
    geometry = { width, count, cell };
    while (columns.length < count) columns.push(column());
    columns.forEach(({ map, stack, share, letter }, t) => {
      for (const part of [map, stack, share, letter]) part.setAttribute("display", t < count ? "inline" : "none");
      const x = LEFT + cell * t;
      map.setAttribute("transform", `translate(${x} ${mapTop}) scale(${cell - 1} ${rowHeight})`);
      stack.setAttribute("transform", `translate(${x} ${base}) scale(${cell - 1} ${-BARS})`);
      for (const part of [share, letter]) part.setAttribute("x", middle(t));
    });
    const height = traceTop + TRACE + 8;
    setAll(drawing, { viewBox: `0 0 ${width} ${height}`, height });
    for (const part of [ground, across]) part.setAttribute("width", cell * count + 2);
    half.setAttribute("d", labels.length === 2 ? `M${LEFT} ${base - BARS / 2}h${cell * count}` : "");
    for (const part of [band, spot]) part.setAttribute("width", cell + 1);
    surface.setAttribute("aria-valuemax", count);
  }

  /** Units from the top as in `order`; `value(t, u)` lies in [-1, 1], and those below zero have a tone of their own. */
  function fill({ letters, opinions, changes, order, value, tones }) {
    letters.forEach((name, t) => {
      const { patches, bars, share, letter } = columns[t];
      letter.textContent = visibleLetter(name);
      patches.forEach((patch, r) => {
        const depth = value(t, order[r]);
        const style = { fill: `var(--cw-${tones[depth < 0 ? 1 : 0]})`, "fill-opacity": Math.abs(depth).toFixed(4) };
        // A letter typed at the end leaves most patches as they are.
        for (const name in style) if (patch.getAttribute(name) !== style[name]) patch.setAttribute(name, style[name]);
      });
      let below = 0;
      bars.forEach((bar, i) => {
        setAll(bar, { y: below, height: opinions[t][i] });
        below += opinions[t][i];
      });
      share.textContent = labels.length && geometry.cell > 19 ? number(100 * Math.max(...opinions[t]), 0) : "";
      share.classList.toggle("cw-g-here", changes.includes(t));
    });
    names.forEach((name, r) => { name.textContent = order[r] + 1; });
  }

  function point({ letter, unit, order, value, open, ends: [high, low], caption, spoken }) {
    const chosen = order.indexOf(unit);
    const [x, y] = [LEFT + geometry.cell * letter - 1, mapTop + rowHeight * chosen - 1];
    setAll(band, { x });
    setAll(across, { y });
    setAll(spot, { x, y });
    names.forEach((name, r) => {
      name.classList.toggle("cw-g-here", r === chosen);
      name.setAttribute("visibility", r === chosen || rowHeight > 9 ? "visible" : "hidden");
    });
    const heightOf = (depth) => traceTop + TRACE * (open ? 1 - depth : (1 - depth) / 2);
    const points = upTo(geometry.count).map((t) => [middle(t), heightOf(value(t, unit))]);
    line.setAttribute("d", `M${points.join("L")}`);
    rule.setAttribute("d", `M${LEFT} ${heightOf(0)}h${geometry.cell * geometry.count}`);
    dots.setAttribute("d", points.map((at) => `M${at}h0`).join(""));
    setAll(here, { cx: points[letter][0], cy: points[letter][1] });
    columns.forEach((column, t) => column.letter.classList.toggle("cw-g-letter-here", t === letter));
    title.textContent = caption;
    ends[0].textContent = high;
    ends[1].textContent = low;
    setAll(surface, { "aria-valuenow": letter + 1, "aria-valuetext": spoken });
  }

  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    const scale = geometry.width / box.width;
    const row = Math.floor(((event.clientY - box.top) * scale - mapTop) / rowHeight);
    const letter = Math.floor(((event.clientX - box.left) * scale - LEFT) / geometry.cell);
    return [clamp(letter, geometry.count - 1), row >= 0 && row < units ? row : null];
  };
  drawing.addEventListener("click", (event) => handlers.choose(...at(event)));
  drawing.addEventListener("pointermove", (event) => {
    if (event.buttons) handlers.choose(...at(event));
    else if (event.pointerType === "mouse") handlers.preview(...at(event));
  });
  drawing.addEventListener("pointerleave", () => handlers.preview());
  surface.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    handlers.moveBy(...move);
  });
  return { drawing, place, fill, point };
}

/** As `choices` of controls.js, whose other controls would cost the page more than the weights can spare. */
function radioRow(model, name, label, values) {
  const group = uniqueId("cw-choices");
  const radios = values.map((value) => {
    const id = uniqueId("cw-choice");
    const radio = html("input", { id, type: "radio", name: group, value });
    radio.addEventListener("change", () => {
      model.set(name, value);
      model.save_changes();
    });
    return { radio, item: html("span", { class: "cw-choice" }, radio, html("label", { for: id }, NAMES[value])) };
  });
  const row = html("fieldset", { class: "cw-choices" }, html("legend", {}, label), ...radios.map(({ item }) => item));
  row.hidden = radios.length === 1;
  return {
    row,
    show: () => radios.forEach(({ radio }) => { radio.checked = radio.value === model.get(name); }),
  };
}

function render({ model, el }) {
  const kind = model.get("kind");
  const alphabet = [...model.get("alphabet")];
  const rows = unpackRows(model.get("gates"));
  const labels = model.get("labels");
  const readout = decodeRows(model.get("readout"));
  const quantities = model.get("quantities");
  const units = (rows[0].length - 2) - alphabet.length;
  const [keeper, kept] = KEEPERS[kind] ?? [];
  const strongest = labels.length === 2 ? Math.max(...upTo(units).map((u) => Math.abs(readout[0][u] - readout[1][u]))) || 1 : 1;
  let hovered = {};
  let read = { text: null };

  /** All that follows from the text alone. */
  function reading() {
    const text = model.get("text");
    if (read.text === text) return read;
    const letters = [...text];
    const steps = readText(kind, rows, alphabet.length, units, letters.map((letter) => alphabet.indexOf(letter)));
    const opinions = steps.map(({ hidden }) => (labels.length ? opinion(readout, hidden) : []));
    if (quantities.includes("vote")) for (const step of steps) step.vote = votes(readout, step.hidden);
    const shares = keeper ? upTo(units).map((u) => keptShare(steps.map((step) => step[keeper][u]))) : [];
    const fullest = Math.max(1, ...steps.map(({ cell }) => Math.ceil(Math.max(...(cell ?? [0]).map(Math.abs)))));
    read = { text, letters, steps, opinions, shares, fullest, changes: mindChanges(opinions) };
    return read;
  }

  function state() {
    const now = reading();
    const [quantity, by] = [model.get("quantity"), model.get("order")];
    const last = now.letters.length - 1;
    const chosen = clamp(model.get("letter"), last);
    const sorted = { number: () => upTo(units), value: () => descending(now.steps[chosen][quantity]), memory: () => descending(now.shares) }[by]();
    const letter = clamp(hovered.letter ?? chosen, last);
    const unit = sorted[hovered.row] ?? model.get("unit");
    const scale = { cell: now.fullest, vote: strongest }[quantity] ?? 1;
    return { ...now, quantity, order: sorted, letter, unit, scale, open: quantity in OPENINGS };
  }

  function choose(letter, row) {
    const { order } = state();
    hovered = {};
    model.set("letter", letter);
    if (row !== null) model.set("unit", order[row]);
    model.save_changes();
    request();
  }
  const view = picture(units, labels, {
    choose,
    preview: (letter, row) => {
      hovered = { letter, row };
      request();
    },
    moveBy: (across, down) => {
      const { order, letters } = state();
      choose(clamp(model.get("letter") + across, letters.length - 1), clamp(order.indexOf(model.get("unit")) + down, units - 1));
    },
  });

  const [id, messageId] = [uniqueId("cw-text"), uniqueId("cw-message")];
  const field = html("input", { id, type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", "aria-describedby": messageId });
  const message = html("span", { id: messageId, class: "cw-complaint", role: "status" });
  const problemOf = (text) => proofread(text, model.get("alphabet"), model.get("longest"));
  field.addEventListener("input", () => {
    hovered = {};
    const text = field.value;
    if (!problemOf(text)) {
      // The letter in the picture is the one behind which the reader's cursor stands.
      model.set("letter", clamp([...text.slice(0, field.selectionStart)].length - 1, [...text].length - 1));
      model.set("text", text);
      model.save_changes();
    }
    request();
  });
  const follow = () => {
    if (field.value !== model.get("text")) field.value = model.get("text");
  };
  follow();

  const shareTexts = labels.map(() => html("strong"));
  const after = html("span");
  const opinions = html("p", { class: "cw-g-opinion" }, after, ...labels.map((label, i) =>
    html("span", {}, html("span", { class: "cw-swatch", style: `background: var(--cw-series-${i})` }), label, shareTexts[i])));
  const turns = html("p", { class: "cw-hint" });
  const low = html("span");
  const high = html("span");
  const ramp = html("span", { class: "cw-g-ramp" });
  const meaning = html("p", { class: "cw-hint" });
  // All equations of one unit at one letter; the quantity that the map shows stands out.
  const caption = html("caption");
  const lines = quantities.map((quantity) => {
    const [symbols, numbers] = [html("span", { class: "cw-g-symbols" }), html("span")];
    const result = html("td", { class: "cw-number" });
    return { quantity, symbols, numbers, result, line: html("tr", {}, html("th", { scope: "row" }, NAMES[quantity]), html("td", {}, symbols, numbers), result) };
  });
  const memory = html("p", { class: "cw-hint" });
  const frame = html("div", { class: "cw-g-picture" }, view.drawing);
  const radioRows = [radioRow(model, "quantity", "Look at", quantities), radioRow(model, "order", "Sort units by", model.get("orders"))];
  let spoken = "";
  const region = html("div", { class: "cw-announcer", role: "status", "aria-live": "polite" });
  const announce = whenQuiet(500, () => { region.textContent = spoken; });

  const voteEquation = (step, unit) => ({
    symbols: "v = w·h", numbers: times(readout[0][unit] - readout[1][unit], step.hidden[unit]), value: step.vote[unit],
  });

  function drawOpinion({ letters, opinions: shares, changes, letter }) {
    opinions.hidden = !labels.length;
    turns.hidden = !labels.length;
    if (!labels.length) return;
    after.textContent = `After ${spelled(letters.slice(0, letter + 1))}`;
    shareTexts.forEach((share, i) => { share.textContent = number(shares[letter][i]); });
    const places = changes.map((t) => `${visibleLetter(letters[t])} (letter ${t + 1})`);
    turns.textContent = places.length ? `The model changes its mind at ${places.join(", ")}.` : "The model never changes its mind.";
  }

  function draw() {
    const now = state();
    for (const { show } of radioRows) show();
    const { letters, steps, quantity, order, letter, unit, scale, open, shares } = now;
    const problem = problemOf(field.value);
    message.textContent = problem && `${problem} Below you still see ${spelled(letters)}.`;
    field.setAttribute("aria-invalid", problem !== "");
    root.classList.toggle("cw-g-stale", problem !== "");
    const value = (t, u) => steps[t][quantity][u] / scale;
    const bound = number(scale, Number.isInteger(scale) ? 0 : 2);
    view.place(letters.length, frame.clientWidth || 560);
    const tones = open ? ["ink"] : quantity === "vote" ? ["series-0", "series-1"] : ["series-2", "series-3"];
    view.fill({ letters, opinions: now.opinions, changes: now.changes, order, value, tones });
    ramp.style.background = `linear-gradient(90deg, ${tones[1] ? `var(--cw-${tones[1]}), ` : ""}transparent, var(--cw-${tones[0]}))`;
    const ends = quantity === "vote" ? [`${labels[1]} ${bound}`, `${bound} ${labels[0]}`] : [`−${bound}`, `+${bound}`];
    [low.textContent, high.textContent] = open ? ["0 closed", "1 open"] : ends;
    meaning.textContent = MEANINGS[quantity] ?? `Full: the unit ${OPENINGS[quantity].join(". Faint: it ")}.`;
    const step = steps[letter];
    const place = `letter ${letter + 1} of ${letters.length}, ${visibleLetter(letters[letter])}`;
    spoken = `${place}; unit ${unit + 1} of ${units}; ${NAMES[quantity]} ${number(step[quantity][unit], 3)}`;
    view.point({ letter, unit, order, value, open, ends: open ? ["1", "0"] : [`+${bound}`, `−${bound}`], caption: `${NAMES[quantity]} of unit ${unit + 1}`, spoken });
    caption.textContent = `Unit ${unit + 1} at ${place}`;
    for (const { quantity: name, symbols, numbers, result, line } of lines) {
      const found = name === "vote" ? voteEquation(step, unit) : equation(kind, name, step, unit);
      line.classList.toggle("cw-g-shown", name === quantity);
      symbols.textContent = found.symbols;
      numbers.textContent = `= ${found.numbers}`;
      result.textContent = number(found.value, 3);
    }
    drawOpinion(now);
    if (keeper) {
      const half = halfLife(shares[unit]);
      const lasting = half > 99 ? "more than 99 letters" : `${number(half, 1)} letters`;
      memory.textContent = `Over this text unit ${unit + 1} keeps ${number(shares[unit], 3)} of its ${kept} at each letter (geometric mean): half is gone after ${lasting}.`;
    }
    if (labels.length) spoken += `. ${after.textContent}: ${labels.map((label, i) => `${label} ${number(now.opinions[letter][i])}`).join(", ")}`;
    announce();
  }

  const root = widgetRoot(
    el,
    "Gate explorer: what a recurrent network remembers of a name",
    html("div", { class: "cw-typing" }, html("label", { for: id }, "Type a name"), field, message),
    html("div", { class: "cw-controls" }, ...radioRows.map(({ row }) => row)),
    html("div", { class: "cw-columns" },
      html("div", {}, opinions, frame, html("p", { class: "cw-g-legend" }, low, ramp, high), meaning),
      html("div", {}, html("table", { class: "cw-weights cw-g-equations" }, caption, html("tbody", {}, ...lines.map(({ line }) => line))),
        html("p", { class: "cw-hint" }, `a comes from the letter and b from the hidden state before it, each with its bias.${SUMS[kind] ?? ""}`),
        memory, turns,
        html("p", { class: "cw-hint" }, "Point at the map; click or tap to stay there. With the keyboard: Tab to it, then the arrow keys."))),
    region,
  );
  root.classList.add("cw-gates");
  const { request, stop } = frameScheduler(root, draw);
  model.on("change:text", follow);
  const unlisten = onChange(model, ["text", "quantity", "order", "unit", "letter"], () => request());
  const resized = new ResizeObserver(() => request());
  resized.observe(frame);
  return () => {
    stop();
    unlisten();
    model.off("change:text", follow);
    resized.disconnect();
  };
}

export default { render };
