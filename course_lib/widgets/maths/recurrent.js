import { number } from "../kit/text.js";
import { dot, sigmoid, softmax } from "./numerics.js";

/**
 * @typedef {object} Step one letter read: its two sums, the gates, the state behind and before it
 * @property {number[]} a
 * @property {number[]} b
 * @property {number[]} hidden
 * @property {number[]} [cell]
 * @property {{ hidden: number[], cell: number[] }} [before]
 */

/**
 * The two sums that a step combines: `a` from the letter and `b` from the hidden state before it.
 * A row holds the weights of all letters, those of all units, and the bias of each sum.
 * @param {number[][]} rows
 * @param {number} letters how many there are
 * @param {number} letter
 * @param {number[]} hidden
 */
export function gateSums(rows, letters, letter, hidden) {
  const end = letters + hidden.length;
  return {
    a: rows.map((row) => row[letter] + row[end]),
    b: rows.map((row) => dot(hidden, row.slice(letters, end)) + row[end + 1]),
  };
}

/** One letter read by a plain network. @returns {Step} */
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
  const next = hidden.map((h, u) => (1 - update[u]) * candidate[u] + update[u] * h);
  return { a, b, reset, update, candidate, hidden: next };
}

/** One letter read by an LSTM; rows in the order input, forget, candidate, output. */
export function lstmStep(rows, letters, letter, { hidden, cell }) {
  const { a, b } = gateSums(rows, letters, letter, hidden);
  const units = hidden.length;
  const gate = (place, squash) =>
    hidden.map((_, u) => squash(a[place * units + u] + b[place * units + u]));
  const [input, forget, output] = [0, 1, 3].map((place) => gate(place, sigmoid));
  const candidate = gate(2, Math.tanh);
  const next = cell.map((c, u) => forget[u] * c + input[u] * candidate[u]);
  const shown = next.map((c, u) => output[u] * Math.tanh(c));
  return { a, b, input, forget, candidate, output, cell: next, hidden: shown };
}

const STEPS = { RNN: rnnStep, GRU: gruStep, LSTM: lstmStep };

/**
 * Every step of a text, given as places in the alphabet; each knows the state `before` it.
 * @param {string} kind
 * @param {number[][]} rows
 * @param {number} letters
 * @param {number} units
 * @param {number[]} places
 * @returns {Step[]}
 */
export function readText(kind, rows, letters, units, places) {
  let before = { hidden: new Array(units).fill(0), cell: new Array(units).fill(0) };
  return places.map((letter) => {
    const step = { ...STEPS[kind](rows, letters, letter, before), before };
    before = step;
    return step;
  });
}

/**
 * What a letter does to the state of a unit: `before` is that state, the unit keeps the share `keep`
 * of it and adds the share `gate` of what is `written`, which makes `state`. With an output gate,
 * `shown` is what others see of it.
 * @param {string} kind
 * @param {any} step
 * @param {number} unit
 */
export function exchange(kind, step, unit) {
  const of = (name) => step[name]?.[unit];
  if (kind === "LSTM") {
    const kept = { before: step.before.cell[unit], keep: of("forget"), state: of("cell") };
    const added = { gate: of("input"), written: of("candidate") };
    return { ...kept, ...added, output: of("output"), shown: of("hidden") };
  }
  const [before, state] = [step.before.hidden[unit], of("hidden")];
  if (kind === "RNN") return { before, keep: 0, gate: 1, written: state, state };
  return { before, keep: of("update"), gate: 1 - of("update"), written: of("candidate"), state };
}

/**
 * The state on its way through a letter: first what is forgotten runs out, then what is written
 * comes in.
 * @param {{ before: number, keep: number, state: number }} flow
 * @param {number} share of the way
 */
export function levelAt({ before, keep, state }, share) {
  const kept = keep * before;
  if (share < 0.5) return before + (kept - before) * 2 * share;
  return kept + (state - kept) * (2 * share - 1);
}

/**
 * The prediction: the softmax of the readout, whose rows end with their bias.
 * @param {number[][]} readout
 * @param {number[]} hidden
 */
export function opinion(readout, hidden) {
  return softmax(readout.map((row) => dot(hidden, row) + row[hidden.length]));
}

/**
 * What each unit adds to the log-odds of the first of two labels.
 * @param {number[][]} readout
 * @param {number[]} hidden
 */
export function votes([first, second], hidden) {
  return hidden.map((h, u) => (first[u] - second[u]) * h);
}

/** The places at which another label takes the lead. @param {number[][]} opinions */
export function mindChanges(opinions) {
  const leader = opinions.map((shares) => shares.indexOf(Math.max(...shares)));
  return leader.flatMap((label, t) => (t > 0 && label !== leader[t - 1] ? [t] : []));
}

/**
 * The share of its state that a unit keeps at a letter: the geometric mean of a gate over the text.
 * @param {number[]} gates
 */
export function keptShare(gates) {
  return Math.exp(gates.reduce((sum, gate) => sum + Math.log(gate), 0) / gates.length);
}

/**
 * The number of letters after which half is left, if each letter keeps the same share.
 * @param {number} share
 */
export function halfLife(share) {
  return Math.LN2 / Math.abs(Math.log(share));
}

const negative = (value) => number(value).startsWith("−");
const plus = (a, b) => `${number(a)} ${negative(b) ? "−" : "+"} ${number(b).replace("−", "")}`;
const factor = (value) => (negative(value) ? `(${number(value)})` : number(value));
const times = (a, b) => `${factor(a)}·${factor(b)}`;
const squashed = (name, squash) => (a, b) => [
  `${name} = ${squash}(a + b)`,
  `${squash}(${plus(a, b)})`,
];
const vote = (_a, _b, s, u) => ["v = w·h", times(s.pull[u], s.hidden[u])];

/** What a quantity is in symbols and in numbers, given both sums, the step and the unit. */
const EQUATIONS = {
  LSTM: {
    forget: squashed("f", "σ"),
    input: squashed("i", "σ"),
    candidate: squashed("g", "tanh"),
    cell: (_a, _b, s, u) => [
      "c = f·c₋ + i·g",
      `${times(s.forget[u], s.before.cell[u])} + ${times(s.input[u], s.candidate[u])}`,
    ],
    output: squashed("o", "σ"),
    hidden: (_a, _b, s, u) => [
      "h = o·tanh(c)",
      `${number(s.output[u])}·tanh(${number(s.cell[u])})`,
    ],
    vote,
  },
  GRU: {
    reset: squashed("r", "σ"),
    update: squashed("z", "σ"),
    candidate: (a, b, s, u) => [
      "n = tanh(a + r·b)",
      `tanh(${number(a)} + ${times(s.reset[u], b)})`,
    ],
    hidden: (_a, _b, s, u) => [
      "h = (1 − z)·n + z·h₋",
      `${times(1 - s.update[u], s.candidate[u])} + ${times(s.update[u], s.before.hidden[u])}`,
    ],
    vote,
  },
  RNN: { hidden: squashed("h", "tanh"), vote },
};
/** Where the sums of a quantity stand among the rows, in units. */
const PLACES = {
  GRU: { update: 1, candidate: 2 },
  LSTM: { forget: 1, candidate: 2, output: 3 },
};

/**
 * How a quantity comes about in one unit at one letter: in symbols, and with its numbers.
 * @param {string} kind
 * @param {string} quantity
 * @param {Step} step with the `pull` of each unit on the log-odds, if its vote is asked for
 * @param {number} unit
 */
export function equation(kind, quantity, step, unit) {
  const sum = (PLACES[kind]?.[quantity] ?? 0) * step.hidden.length + unit;
  const [symbols, numbers] = EQUATIONS[kind][quantity](step.a[sum], step.b[sum], step, unit);
  return { symbols, numbers, value: step[quantity][unit] };
}
