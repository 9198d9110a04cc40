// How a case is drawn at random, and how its numbers are written in words.

import { number } from "../kit/text.js";
import { upTo } from "../maths/numerics.js";

/** A number of −reach … reach with one decimal, so that a reader can follow. */
export const tenths = (random, reach = 2) => Math.round((2 * random() - 1) * reach * 10) / 10;

/** @returns {number[]} */
export const list = (random, count, reach) => upTo(count).map(() => tenths(random, reach));

/** @returns {number[][]} */
export const table = (random, rows, columns, reach) =>
  upTo(rows).map(() => list(random, columns, reach));

/** A whole number from `low` to `high`. */
export const whole = (random, low, high) => low + Math.floor(random() * (high - low + 1));

/** A number of 0.1 … most with one decimal. */
export const positive = (random, most) => whole(random, 1, 10 * most) / 10;

/** 0, 1, …, count − 1 in some other order, if there is one (Fisher and Yates). */
export function orderOf(random, count) {
  const order = upTo(count);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = whole(random, 0, i);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.some((from, to) => from !== to) ? order : [...order.slice(1), 0];
}

/** Pairs of nodes, each joined with a chance; neighbours on a path with a larger one. */
export const edgesOf = (random, count) =>
  upTo(count).flatMap((j) =>
    upTo(j)
      .filter((i) => random() < (j === i + 1 ? 0.8 : 0.15))
      .map((i) => [i, j]),
  );

/** As few digits as tell the number, three decimals at most. @param {number} x */
export const plain = (x) => number(x, 3).replace(/\.?0+$/, "");

/** A number, a row as (1, 2), or several rows. @param {any} value */
export function written(value) {
  if (typeof value === "number") return plain(value);
  if (typeof value[0] === "object") return Array.from(value, written).join(", ");
  return `(${Array.from(value, plain).join(", ")})`;
}

/** @param {any[]} sides */
export const instead = ([found, due]) => `${written(found)} in place of ${written(due)}`;

/** The entry of two lists that differs most. @param {number[][]} sides @param {string} name */
export function worst([found, due], name) {
  const off = found.map((x, i) => Math.abs(x - due[i]));
  const at = off.indexOf(Math.max(...off));
  return `${name} ${at + 1} gets ${instead([found[at], due[at]])}`;
}

/** Places, told as a reader counts, from 1. @param {number[]} order */
export const ordered = (order) => order.map((i) => i + 1).join(", ");

/** @param {number[][]} edges */
export const joins = (edges) => edges.map(([i, j]) => `${i + 1}–${j + 1}`).join(", ") || "none";
