import { readText, rnnStep } from "../maths/recurrent.js";
import { joined } from "../maths/scan.js";
import { cells } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, difference, percent, plain, vector } from "./telling.js";
import { list, table, whole } from "./trials.js";

const [LETTERS, UNITS] = [2, 2];
const lettersOf = (text) => text.map((place) => "ab"[place]).join("");

/** The state after a text read at once, and after its two pieces, of which the first hands it on. */
function twoEnds({ rows, text, cut }, lost) {
  const { hidden } = readText("RNN", rows, LETTERS, UNITS, text)[text.length - 1];
  const between = readText("RNN", rows, LETTERS, UNITS, text.slice(0, cut))[cut - 1].hidden;
  let state = { hidden: between.map((h) => (1 - lost) * h) };
  for (const letter of text.slice(cut)) state = rnnStep(rows, LETTERS, letter, state);
  return [hidden, state.hidden];
}

/** The last state of linear steps that are joined from the left, and from the right. */
function twoGroupings({ keep, add }, squashed) {
  const steps = keep.map((a, t) => [a, add[t]]);
  const join = (first, second) => {
    const [a, b] = joined(first, second);
    return [a, squashed ? Math.tanh(b) : b];
  };
  const left = steps.reduce(join);
  const right = steps.reduceRight((later, earlier) => join(earlier, later));
  return [left[1], right[1]];
}

export const claims = {
  "read-in-pieces": {
    axes: { text: ["token"] },
    least: { token: 2 },
    places: { cut: "token" },
    draw: (random, size) => ({
      rows: table(random, UNITS, LETTERS + UNITS + 2),
      text: list(random, size, 0).map(() => whole(random, 0, 1)),
      cut: whole(random, 1, size - 1),
    }),
    valid: ({ text, cut }) => cut > 0 && text.every((letter) => letter === 0 || letter === 1),
    residual: (given, bend) => apart(...twoEnds(given, bend)),
    picture: ({ rows, text }) =>
      cells(readText("RNN", rows, LETTERS, UNITS, text).map(({ hidden }) => hidden)),
    show: (given, bend) => {
      const { text, cut } = given;
      const [once, pieces] = twoEnds(given, bend).map(vector);
      return `${lettersOf(text.slice(0, cut))}, then ${lettersOf(text.slice(cut))}: the state ends at
        ${pieces} in place of ${once}.`;
    },
    told: percent,
  },
  "any-grouping": {
    axes: { keep: ["token"], add: ["token"] },
    draw: (random, size) => ({ keep: list(random, size + 1, 1), add: list(random, size + 1) }),
    residual: (given, bend) => difference(twoGroupings(given, bend)),
    picture: ({ keep, add }) => cells([keep, add]),
    show: (given, bend) => {
      const [left, right] = twoGroupings(given, bend).map(plain);
      return `a = ${vector(given.keep)}, b = ${vector(given.add)}: joined from the left ${left}, from
        the right ${right}.`;
    },
  },
};

export default breakIt(claims);
