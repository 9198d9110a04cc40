// Self-attention on tokens that are query, key and value at once.

import { upTo } from "../maths/numerics.js";
import { attend } from "../maths/transformer.js";
import { cells, dots, line } from "./pictures.js";
import { apart, vectors } from "./telling.js";
import { orderOf, table } from "./trials.js";

/**
 * What each token gets from the first `seen(i)` tokens, and where it looked.
 * @param {number[][]} x
 * @param {(i: number) => number} seen
 */
export function attended(x, seen = (_) => x.length) {
  const answers = x.map((token, i) => attend(token, x.slice(0, seen(i)), x.slice(0, seen(i)), 1));
  return {
    output: answers.map(({ blended }) => Array.from(blended)),
    weights: answers.map(({ weights: [row] }) => upTo(x.length).map((j) => row[j] ?? 0)),
  };
}

/** What a token sees under the causal mask. */
export const past = (i) => i + 1;

export const weightCells = (x, seen) => cells(attended(x, seen).weights);

export const tokensOf = (x) => `Tokens ${vectors(x)}`;

/** Told as a reader counts, from 1. */
export const ordered = (order) => order.map((i) => i + 1).join(", ");

/** Lines from where each token stands to where it goes. */
const crossing = (order) =>
  order.map((from, to) =>
    [from, to].map((i, side) => [4 * side - 2, 2 - (4 * i) / (order.length - 1)]),
  );

/**
 * The claim that an order of the tokens does not matter: what they get in another order, and in the
 * first, reordered, is what `twoOrders` compares.
 */
export const reordering = (twoOrders) => ({
  axes: { x: ["token", "feature"] },
  least: { token: 2 },
  places: { order: "token" },
  draw: (random, size) => ({ x: table(random, size, 2), order: orderOf(random, size) }),
  residual: (given, bend) => apart(...twoOrders(given, bend)),
  picture: ({ order }) => [
    crossing(order).map((way) => line(way, "edge", 0.02)),
    dots(crossing(order).flat()),
  ],
  show: (given, bend) => {
    const [there, here] = twoOrders(given, bend);
    return `${tokensOf(given.x)} in the order ${ordered(given.order)}: they get ${vectors(there)}
      in place of ${vectors(here)}.`;
  },
});
