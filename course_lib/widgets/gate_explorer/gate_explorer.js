import { bytesOf, decodeArray, plain, rows } from "../kit/array.js";
import { button, fold, select, series, slider, swatch, toggle } from "../kit/controls.js";
import { prefersStillness } from "../kit/play.js";
import { isStale, number, spelled, typingLine, unknownLetters, visible } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { clamp, ranking, upTo } from "../maths/numerics.js";
import {
  equation,
  exchange,
  halfLife,
  keptShare,
  levelAt,
  mindChanges,
  opinion,
  readText,
  votes,
} from "../maths/recurrent.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { coursePicture, layout, mapPicture, REACH, WIDTH } from "./picture.js";
import { exchanged, vessel } from "./vessel.js";

const SECONDS_A_LETTER = 1.3;
/** A letter that has been read is looked at for this share of its time. */
const REST = 0.4;
/** Letters that were typed faster than they pour in pour so many times as fast. */
const HURRY = 2;
const NAMES = {
  ...{ forget: "forget gate", input: "input gate", output: "output gate" },
  ...{ reset: "reset gate", update: "update gate", candidate: "candidate" },
  ...{ cell: "cell", hidden: "hidden state", vote: "vote" },
};
const ORDERS = {
  number: "number",
  value: "value at the letter",
  memory: "how long they remember",
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
  GRU: "Every gate has its own. h₋ is the hidden state one letter earlier.",
  LSTM: "Every gate has its own. c₋ is the cell one letter earlier.",
};
/** The gate that says how much of its state a unit keeps, and the state that it keeps. */
const KEEPERS = { GRU: ["update", "state"], LSTM: ["forget", "cell"] };

/** A matrix that travels in 16 bits an entry, as a list of rows. See `Rows` in gate_explorer.py. */
export function unpackRows({ shape: [height, width], steps, base64 }) {
  const step = decodeArray(steps).values;
  const counts = new Int16Array(bytesOf(base64).buffer);
  return upTo(height).map((row) =>
    Array.from(counts.subarray(row * width, (row + 1) * width), (count) => count * step[row]),
  );
}

/** What keeps the model from reading a text, in words; nothing if it can. */
export function proofread(text, alphabet, longest) {
  const letters = [...text];
  if (!letters.length) return "Type at least one letter.";
  const problem = unknownLetters(letters, [...alphabet]);
  if (problem || letters.length <= longest) return problem;
  return `That is ${letters.length} letters; ${longest} fit in here.`;
}

/** What the network does with the text, letter by letter, and what it thinks of it. */
function reading({ text, kind, alphabet, gates, labels, readout, quantities }) {
  const [letters, known] = [[...text], [...alphabet]];
  const units = gates[0].length - 2 - known.length;
  const places = letters.map((letter) => known.indexOf(letter));
  const voting = quantities.includes("vote");
  const pull = voting ? votes(readout, new Array(units).fill(1)) : [];
  const steps = readText(kind, gates, known.length, units, places).map((step) =>
    voting ? { ...step, pull, vote: votes(readout, step.hidden) } : step,
  );
  const opinions = steps.map(({ hidden }) => (labels.length ? opinion(readout, hidden) : []));
  return { letters, units, steps, pull, opinions, changes: mindChanges(opinions) };
}

/** By what the units can be sorted, but for their value at a letter. */
function standings({ steps, units }, kind) {
  const gates = (u) => steps.map((step) => step[KEEPERS[kind][0]][u]);
  const memory = kind in KEEPERS ? upTo(units).map((u) => keptShare(gates(u))) : [];
  return { number: upTo(units).map((u) => -u), memory };
}

/** What fills a patch, or reaches the rim: gates and hidden states never leave [-1, 1]. */
function fullest({ steps, pull }, quantity) {
  const largest = (values) => Math.max(...values.map(Math.abs));
  if (quantity === "vote") return largest(pull) || 1;
  if (quantity !== "cell") return 1;
  return Math.max(1, ...steps.map(({ cell }) => Math.ceil(largest(cell))));
}

const tonesOf = (quantity) => {
  if (quantity in OPENINGS) return ["ink", "ink"];
  return quantity === "vote" ? ["series-0", "series-1"] : ["series-2", "series-3"];
};

function derive(now, ui) {
  const { kind, quantity, order, hovered } = now;
  const course = ui.memo("course", [now.text], () => reading(now));
  const { letters, units, steps } = course;
  const letter = clamp(now.letter, 0, letters.length - 1);
  const standing = ui.memo("standing", [course], () => standings(course, kind));
  const values = standing[order] ?? steps[letter][quantity];
  const sorted = ui.memo("sorted", [values], () => ranking(values));

  const at = clamp(hovered?.letter ?? letter, 0, letters.length - 1);
  const unit = hovered?.unit ?? now.unit;
  const share = hovered ? 1 : Math.min(1, now.share);
  const read = at + Number(share >= 1);
  const flow = exchange(kind, steps[at], unit);
  const full = fullest(course, quantity);
  const place = `letter ${at + 1} of ${letters.length}, ${visible(letters[at])}`;
  const value = number(steps[at][quantity][unit], 3);
  return {
    ...course,
    letter,
    share,
    read,
    flow,
    level: levelAt(flow, exchanged(share)),
    rim: kind === "LSTM" ? REACH.cell : REACH.hidden,
    sorted,
    kept: standing.memory,
    at: { letter: at, unit, row: sorted.indexOf(unit), place, step: steps[at] },
    said: `${place}; unit ${unit + 1} of ${units}; ${NAMES[quantity]} ${value}`,
    title: `${NAMES[quantity]} of unit ${unit + 1}`,
    depth: (t, u) => steps[t][quantity][u] / full,
    tones: tonesOf(quantity),
    open: quantity in OPENINGS,
    bound: number(full, Number.isInteger(full) ? 0 : 2),
    lie: layout(letters.length, units, now.labels.length, ui.width("map", WIDTH), now.all_units),
  };
}

// What the reader does, and the reading of the page ----------------------------------------------

/** Pours the letter that is chosen, and those after it up to `goal`; readers may ask for stillness. */
function pour(ui, changes, goal) {
  const still = prefersStillness();
  ui.set({ ...changes, hovered: null, share: still ? 1 : 0, goal });
  ui.play(!still);
}

const lastOf = ({ letters }) => letters.length - 1;

/** Pours in what is new of a typed text, up to the letter behind which the cursor stands. */
function pourTyped(ui, text, caret) {
  const [before, typed] = [[...ui.now.text], [...text]];
  const end = typed.length - 1;
  const goal = clamp(caret - 1, 0, end);
  if (prefersStillness()) return pour(ui, { letter: goal, text }, goal);
  const change = typed.findIndex((letter, t) => letter !== before[t]);
  const first = Math.min(goal, change < 0 ? end : change);
  // A letter that is still on its way comes first.
  if (ui.now.playing && ui.now.letter < first) return ui.set({ text, goal });
  return pour(ui, { letter: first, text }, goal);
}

/** Reads from the first letter on to the one that an address asks for. */
const readUpTo = (ui, letter) =>
  pour(ui, { letter: 0 }, letter === lastOf(ui.now) ? Infinity : letter);

/** Reads all of the text from its first letter on. */
const readAll = (ui) => pour(ui, { letter: prefersStillness() ? lastOf(ui.now) : 0 }, Infinity);

/** Goes on where the reading was stopped, or begins again. */
function begin(ui) {
  const { letter, share } = ui.now;
  const [ended, done] = [letter >= lastOf(ui.now), share >= 1];
  const from = ended ? 0 : letter + Number(done);
  ui.set({ hovered: null, letter: from, share: ended || done ? 0 : share, goal: Infinity });
}

function readButton(ui) {
  if (prefersStillness()) return nothing;
  // A single letter that pours in is soon over; what can be stopped is the reading of all.
  const reading = ui.now.playing && ui.now.goal === Infinity;
  const press = () => {
    if (!reading) begin(ui);
    ui.play(!reading);
  };
  return button(reading ? "❚❚ Pause" : "▶ Read", press);
}

function advance({ share, letter, goal }, ui, seconds) {
  const behind = goal < Infinity && goal > letter + 1;
  const next = share + ((behind ? HURRY : 1) * seconds) / SECONDS_A_LETTER;
  if (goal < 0) begin(ui);
  else if (next < 1 + REST) ui.set({ share: next });
  else if (letter < Math.min(goal, lastOf(ui.now))) ui.set({ letter: letter + 1, share: 0 });
  else ui.play(false);
}

/** What a hand chooses is shown as it stands when the letter has been read. */
function choose(ui, { letter, unit }) {
  ui.play(false);
  ui.set({ hovered: null, share: 1, letter, unit });
}

const stepOn = (ui) => {
  const letter = ui.now.letter < lastOf(ui.now) ? ui.now.letter + 1 : 0;
  pour(ui, { letter }, letter);
};

// The picture ------------------------------------------------------------------------------------

const readSoFar = ({ counted, letters, read }) =>
  read ? `${counted} after ${spelled(letters.slice(0, read))}`.trim() : "No letter yet";

function opinionLine(now) {
  const { labels, opinions, read } = now;
  if (!labels.length) return nothing;
  const share = (label, i) => {
    const text = read ? number(opinions[read - 1][i]) : "–";
    return html`<span>${swatch(series(i))}${label}<strong>${text}</strong></span>`;
  };
  return html`<p class="cw-g-opinion"><span>${readSoFar(now)}</span>${labels.map(share)}</p>
    ${turns(now)}`;
}

function legend({ quantity, labels, open, bound, tones }) {
  const [positive, negative] = tones.map((name) => `var(--cw-${name})`);
  const voting = [`${labels[1]} ${bound}`, `${bound} ${labels[0]}`];
  const signed = quantity === "vote" ? voting : [`−${bound}`, `+${bound}`];
  const [low, high] = open ? ["0 closed", "1 open"] : signed;
  const ramp = `${open ? "" : `${negative}, `}transparent, ${positive}`;
  return html`<p class="cw-ramp">
      <span>${low}</span>
      <i style="background: linear-gradient(90deg, ${ramp})"></i>
      <span>${high}</span>
    </p>
    `;
}

const meaning = ({ quantity }) =>
  hint(MEANINGS[quantity] ?? `Full: the unit ${OPENINGS[quantity].join(". Faint: it ")}.`);

/** All equations of one unit at one letter; the quantity that the map shows stands out. */
function equations({ kind, quantities, quantity, at }) {
  const line = (name) => {
    const { symbols, numbers, value } = equation(kind, name, at.step, at.unit);
    return html`<tr class=${name === quantity ? "cw-g-shown" : ""}>
      <th scope="row">${NAMES[name]}</th>
      <td><span class="cw-g-symbols">${symbols}</span><span>= ${numbers}</span></td>
      <td class="cw-number">${number(value, 3)}</td>
    </tr>`;
  };
  return html`<table class="cw-weights cw-g-equations">
    <caption>Unit ${at.unit + 1} at ${at.place}</caption>
    <tbody>${quantities.map(line)}</tbody>
  </table>`;
}

const hint = (text) => html`<p class="cw-hint">${text}</p>`;

function memoryOf({ kind, kept, at }) {
  if (!kept.length) return nothing;
  const share = kept[at.unit];
  const half = halfLife(share);
  const ending = `half is gone after ${half > 99 ? "more than 99" : number(half, 1)} letters.`;
  return hint(`Over this text unit ${at.unit + 1} keeps ${number(share, 3)} of its
    ${KEEPERS[kind][1]} at each letter (geometric mean): ${ending}`);
}

function turns({ letters, changes, read }) {
  const places = changes.filter((t) => t < read);
  const named = places.map((t) => `${visible(letters[t])} (letter ${t + 1})`).join(", ");
  return hint(`So far it has ${named ? `changed its mind at ${named}` : "not changed its mind"}.`);
}

/** What the map of all units shows; folded, the equations of the one that is looked at. */
function everyUnit(now, ui) {
  const options = (names, given) => given.map((name) => [name, names[name]]);
  const told = html`${equations(now)}
    ${hint(`a comes from the letter and b from the hidden state before it, each with its bias.
      ${SUMS[now.kind] ?? ""}`)}
    ${memoryOf(now)} ${meaning(now)}
    ${hint(`Point at the map; click or tap to stay there. With the keyboard: Tab to it, then the
      arrow keys.`)}`;
  return html`<div class="cw-controls">
      ${select(ui, "quantity", { label: "Look at", options: options(NAMES, now.quantities) })}
      ${select(ui, "order", { label: "Sort units by", options: options(ORDERS, now.orders) })}
    </div>
    ${fold(`The equations of unit ${now.at.unit + 1}`, told)}`;
}

function view(now, ui) {
  const typing = {
    label: "Type a word",
    alphabet: now.alphabet,
    problemOf: (text) => proofread(text, now.alphabet, now.longest),
    still: spelled(now.letters),
    // The letter in the picture is the one behind which the reader's cursor stands.
    accept: (text, caret) => pourTyped(ui, text, caret),
    enter: () => readAll(ui),
  };
  const take = (chosen) => choose(ui, chosen);
  const unit = {
    ...{ label: "Unit", min: 0, max: now.units - 1 },
    format: (u) => `${u + 1} of ${now.units}`,
  };
  return html`<div class="cw-row">
      ${typingLine(ui, "text", typing)}
      <p class="cw-row">
        ${readButton(ui)} ${button("Next letter", () => stepOn(ui))}
      </p>
    </div>
    <div class=${isStale(ui, "text") ? "cw-g-stale" : ""}>
      ${opinionLine(now)}
      <div class="cw-columns">
        <div>${coursePicture(now, ui, take)}${now.all_units ? mapPicture(now, ui, take) : nothing}</div>
        <div>${vessel(now)}${now.all_units ? legend(now) : nothing}</div>
      </div>
      <div class="cw-controls">
        ${now.units > 1 ? slider(ui, "unit", unit) : nothing}
        ${toggle(ui, "all_units", { label: "All units, and the equations" })}
      </div>
      ${now.all_units ? everyUnit(now, ui) : nothing}
    </div>`;
}

function words(now) {
  const { labels, opinions, read, said } = now;
  if (!labels.length || !read) return said;
  const shares = labels.map((label, i) => `${label} ${number(opinions[read - 1][i])}`);
  return `${said}. ${readSoFar(now)}: ${shares.join(", ")}`;
}

export default widget({
  label: "Gate explorer: what a recurrent network remembers of a word",
  data: {
    ...{ kind: plain, alphabet: plain, longest: plain, gates: { decode: unpackRows } },
    ...{ labels: plain, counted: plain, readout: rows, quantities: plain, orders: plain },
  },
  controls: {
    ...{ text: plain, quantity: plain, order: plain, unit: plain, letter: plain },
    all_units: plain,
  },
  local: { hovered: null, typed: null, share: 1, goal: -1 },
  whole: ({ text, letter }) => letter < [...text].length,
  along: ({ text }) => (text === undefined ? {} : { letter: [...text].length - 1 }),
  atSight: (ui) => ui.play(true),
  derive,
  view,
  words,
  advance,
  entered: (ui) => ui.now.moving && !prefersStillness() && readUpTo(ui, ui.now.letter),
  began: ({ text, unit }) => `“${text}”, unit ${unit + 1}`,
});
