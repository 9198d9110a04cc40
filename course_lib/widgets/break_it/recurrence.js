import { readText, rnnStep } from "../maths/recurrent.js";
import { joined } from "../maths/scan.js";
import { breakIt } from "./break_it.js";
import { instead, list, plain, table, whole, written } from "./cases.js";
import { cells } from "./pictures.js";

const [LETTERS, UNITS] = [2, 2];
const lettersOf = (text) => text.map((place) => "ab"[place]).join("");
const statesOf = (rows, text) =>
  readText("RNN", rows, LETTERS, UNITS, text).map(({ hidden }) => Array.from(hidden));

export const claims = {
  "read-in-pieces": {
    axes: { text: ["token"] },
    places: { cut: "token" },
    draw: (random, size) => ({
      rows: table(random, UNITS, LETTERS + UNITS + 2),
      text: list(random, size, 0).map(() => whole(random, 0, 1)),
      cut: whole(random, 1, size - 1),
    }),
    valid: ({ cut }) => cut > 0,
    sides: ({ rows, text, cut }, lost) => {
      const between = statesOf(rows, text.slice(0, cut))[cut - 1];
      let state = { hidden: between.map((h) => (1 - lost) * h) };
      for (const letter of text.slice(cut)) state = rnnStep(rows, LETTERS, letter, state);
      return [Array.from(state.hidden), statesOf(rows, text)[text.length - 1]];
    },
    picture: ({ rows, text }) => cells(statesOf(rows, text)),
    show: ({ text, cut }, sides) =>
      `${lettersOf(text.slice(0, cut))}, then ${lettersOf(text.slice(cut))}: the state ends at
        ${instead(sides)}.`,
  },
  "any-grouping": {
    axes: { keep: ["token"], add: ["token"] },
    draw: (random, size) => ({ keep: list(random, size + 1, 1), add: list(random, size + 1) }),
    sides: ({ keep, add }, squashed) => {
      const steps = keep.map((a, t) => [a, add[t]]);
      const join = (first, second) => {
        const [a, b] = joined(first, second);
        return [a, squashed ? Math.tanh(b) : b];
      };
      const left = steps.reduce(join);
      const right = steps.reduceRight((later, earlier) => join(earlier, later));
      return [left[1], right[1]];
    },
    picture: ({ keep, add }) => cells([keep, add]),
    show: ({ keep, add }, [left, right]) =>
      `a = ${written(keep)}, b = ${written(add)}: joined from the left ${plain(left)}, from the right
        ${plain(right)}.`,
  },
};

export default breakIt(claims);
