// A claim on trial: random cases, and the smallest that breaks it, found as Hypothesis does.

import { uniform } from "../maths/generation.js";
import { upTo } from "../maths/numerics.js";

/**
 * @typedef {Record<string, any>} Case numbers and lists of numbers, by name
 *
 * @typedef {object} Claim
 * @property {Record<string, string[]>} axes of the lists in a case; what shares an axis shrinks with it
 * @property {Record<string, number>} [least] how short an axis may become, if not 1
 * @property {Record<string, string>} [places] what counts along an axis, as an order or edges do
 * @property {(random: () => number, size: number) => Case} draw
 * @property {(given: Case) => boolean} [valid]
 * @property {(given: Case, bend: number) => number} residual 0 if the claim holds, up to rounding;
 *   `bend` is how far its assumption is bent, from 0 to 1
 * @property {(given: Case, bend: number) => unknown} picture a tiny one, on a square of side 1
 * @property {(given: Case, bend: number) => string} show the case in numbers and words
 * @property {(bend: number) => string} [told] the bend, where it is no switch
 */

const NUMBERS_EACH = 4096;
const VISIBLE = 0.01;
const [FEWEST, MOST, CASES_A_SIZE] = [2, 6, 8];

/** Case n of a seed: the first are small. @param {Claim} claim @returns {Case} */
export function caseOf(claim, seed, n) {
  let at = n * NUMBERS_EACH - 1;
  const random = () => {
    at += 1;
    return uniform(seed, at);
  };
  return claim.draw(random, Math.min(MOST, FEWEST + Math.floor(n / CASES_A_SIZE)));
}

/** A number of −reach … reach with one decimal, so that a reader can follow. */
export const tenths = (random, reach = 2) => Math.round((2 * random() - 1) * reach * 10) / 10;

/** @returns {number[]} */
export const list = (random, count, reach) => upTo(count).map(() => tenths(random, reach));

/** @returns {number[][]} */
export const table = (random, rows, columns, reach) =>
  upTo(rows).map(() => list(random, columns, reach));

/** A whole number from `low` to `high`. */
export const whole = (random, low, high) => low + Math.floor(random() * (high - low + 1));

/** 0, 1, …, count − 1 in some other order, if there is one (Fisher and Yates). */
export function orderOf(random, count) {
  const order = upTo(count);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = whole(random, 0, i);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order.some((from, to) => from !== to) ? order : [...order.slice(1), 0];
}

/** @param {any} value @param {string[]} dims */
const without = (value, [first, ...rest], axis, k) =>
  first === undefined
    ? value
    : value.filter((_, i) => first !== axis || i !== k).map((part) => without(part, rest, axis, k));

/** Places along an axis from which `k` is gone; nothing if a single one was `k`. */
function renumbered(places, k) {
  const moved = (place) => place - Number(place > k);
  if (!Array.isArray(places)) return places === k ? null : moved(places);
  return places
    .filter((entry) => ![entry].flat().includes(k))
    .map((entry) => (Array.isArray(entry) ? entry.map(moved) : moved(entry)));
}

/** @param {any} value @param {string[]} dims */
const depth = (value, dims, axis) =>
  dims[0] === axis ? value.length : depth(value[0], dims.slice(1), axis);

/** The case with one entry less along an axis. */
function* shorter({ axes, least = {}, places = {} }, given) {
  for (const axis of new Set(Object.values(axes).flat())) {
    const [name, dims] = Object.entries(axes).find(([, all]) => all.includes(axis));
    const size = depth(given[name], dims, axis);
    for (let k = size - 1; k >= 0 && size > (least[axis] ?? 1); k -= 1) {
      const parts = Object.entries(given).map(([part, value]) => [
        part,
        places[part] === axis ? renumbered(value, k) : without(value, axes[part] ?? [], axis, k),
      ]);
      if (parts.every(([, value]) => value !== null)) yield Object.fromEntries(parts);
    }
  }
}

/** Whole numbers come first, then small ones, then those that are not negative. */
function isSimpler(a, b) {
  const [one, other] = [a, b].map((x) => [
    Number(!Number.isInteger(x)),
    Math.abs(x),
    Number(x < 0),
  ]);
  const at = one.findIndex((part, i) => part !== other[i]);
  return at >= 0 && one[at] < other[at];
}

const simpler = (x) =>
  [0, 1, Math.trunc(x), Math.round(5 * x) / 10, -x]
    .map((y) => y + 0)
    .filter((y) => isSimpler(y, x));

function* plainer(value) {
  if (!Array.isArray(value)) yield* simpler(value);
  else
    for (const [i, part] of value.entries())
      for (const one of plainer(part)) yield value.with(i, one);
}

/**
 * A case that is smaller by one step and breaks the claim as well, or nothing.
 * @param {Claim} claim
 * @param {Case} given
 * @returns {Case | null}
 */
export function smallerBroken(claim, given, bend, tolerance) {
  // A reader has to see that it fails: three decimals stand in the words.
  const least = Math.max(tolerance, Math.min(claim.residual(given, bend) / 2, VISIBLE));
  const breaks = (one) => (claim.valid?.(one) ?? true) && claim.residual(one, bend) > least;
  for (const one of shorter(claim, given)) if (breaks(one)) return one;
  for (const [name, value] of Object.entries(given)) {
    if (claim.places?.[name]) continue;
    for (const plain of plainer(value)) {
      const one = { ...given, [name]: plain };
      if (breaks(one)) return one;
    }
  }
  return null;
}

/**
 * @typedef {object} Run
 * @property {number} count of cases so far
 * @property {number} worst residual
 * @property {number} age in seconds
 * @property {{ n: number, path: Case[], small: Case, done: boolean } | null} broken by case n; the
 *   path leads from it to how small it has become
 */

/** @returns {Run} */
export const freshRun = () => ({ count: 0, worst: 0, age: 0, broken: null });

/**
 * The run after at most `cases` more, unless one breaks the claim or `late()`; and their residuals.
 * @param {Claim} claim
 * @param {Run} run
 * @param {{ seed: number, bend: number, about: { tolerance: number } }} given
 */
export function tried(claim, run, { seed, bend, about }, cases, late = () => false) {
  const residuals = [];
  let { count, worst, broken } = run;
  while (!broken && residuals.length < cases && !late()) {
    const one = caseOf(claim, seed, count);
    const residual = claim.residual(one, bend);
    residuals.push(residual);
    worst = Math.max(worst, residual);
    if (!(residual <= about.tolerance)) broken = { n: count, path: [one], small: one, done: false };
    count += 1;
  }
  return { run: { ...run, count, worst, broken }, residuals };
}

/** One step towards the smallest counterexample. @param {Run} run @returns {Run} */
export function shrunk(claim, run, { bend, about }) {
  const small = smallerBroken(claim, run.broken.small, bend, about.tolerance);
  const { broken } = run;
  const next = small ? { small, path: [...broken.path, small] } : { done: true };
  return { ...run, broken: { ...broken, ...next } };
}

/** All steps at once. @param {Run} run @returns {Run} */
export function settled(claim, run, given) {
  let last = run;
  while (last.broken && !last.broken.done) last = shrunk(claim, last, given);
  return last;
}
