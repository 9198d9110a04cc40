// Self-attention on tokens that are query, key and value at once.

import { upTo } from "../maths/numerics.js";
import { attend } from "../maths/transformer.js";
import { instead, ordered, orderOf, table, written } from "./cases.js";
import { cells, crossing } from "./pictures.js";

/** What a token sees: all, or under the causal mask those up to it. */
const all = (_, count) => count;
export const past = (i) => i + 1;

function answers(x, seen) {
  return x.map((token, i) => {
    const visible = x.slice(0, seen(i, x.length));
    return attend(token, visible, visible, 1);
  });
}

/**
 * What each token gets from the first `seen(i)` tokens.
 * @param {number[][]} x
 * @param {(i: number, count: number) => number} seen
 */
export const attended = (x, seen = all) =>
  answers(x, seen).map(({ blended }) => Array.from(blended));

/** The picture of where each token looks. */
export const looks = (x, seen = all) =>
  cells(answers(x, seen).map(({ weights: [row] }) => upTo(x.length).map((j) => row[j] ?? 0)));

/** The claim that a `layer` of tokens does not mind their order. */
export const anyOrder = (layer) => ({
  axes: { x: ["token", "feature"] },
  places: { order: "token" },
  draw: (random, size) => ({ x: table(random, size, 2), order: orderOf(random, size) }),
  sides: ({ x, order }, bend) => {
    const before = layer(x, bend);
    return [
      layer(
        order.map((i) => x[i]),
        bend,
      ),
      order.map((i) => before[i]),
    ];
  },
  picture: crossing,
  show: ({ x, order }, sides) =>
    `Tokens ${written(x)} in the order ${ordered(order)}: they get ${instead(sides)}.`,
});
