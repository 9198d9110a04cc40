// A claim on trial: random cases, and the smallest that breaks it, found as Hypothesis does.

import { uniform } from "../maths/generation.js";

/**
 * @typedef {Record<string, any>} Case numbers and lists of numbers, by name
 *
 * @typedef {object} Claim
 * @property {Record<string, string[]>} axes of the lists in a case; what shares an axis shrinks with it
 * @property {Record<string, string>} [places] what counts along an axis, as an order or edges do
 * @property {(random: () => number, size: number) => Case} draw
 * @property {(given: Case) => boolean} [valid]
 * @property {(given: Case, bend: number) => any[]} sides two numbers, lists or tables: equal, up to
 *   rounding, if the claim holds; `bend` is how far its assumption is bent, from 0 to 1
 * @property {(given: Case, sides: any[], bend: number) => unknown} picture on a square of side 1
 * @property {(given: Case, sides: any[], bend: number) => string} show the case in numbers and words
 * @property {(bend: number) => string} [told] the bend, where it is neither a switch nor a percentage
 */

const NUMBERS_EACH = 4096;
const VISIBLE = 0.01;
const [FEWEST, MOST, CASES_A_SIZE] = [3, 6, 8];

/** Case n of a seed: the first are small. @param {Claim} claim @returns {Case} */
export function caseOf(claim, seed, n) {
  let at = n * NUMBERS_EACH - 1;
  const random = () => {
    at += 1;
    return uniform(seed, at);
  };
  return claim.draw(random, Math.min(MOST, FEWEST + Math.floor(n / CASES_A_SIZE)));
}

/** How far the two sides of a claim are apart; not a number for a case that is none. */
export function errorOf(claim, given, bend) {
  const [one, other] = claim.sides(given, bend).map((side) => [side].flat(2));
  return Math.max(0, ...one.map((x, i) => Math.abs(x - other[i])));
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
function* shorter({ axes, places = {} }, given) {
  for (const axis of new Set(Object.values(axes).flat())) {
    const [name, dims] = Object.entries(axes).find(([, all]) => all.includes(axis));
    const size = depth(given[name], dims, axis);
    for (let k = size - 1; k >= 0 && size > 1; k -= 1) {
      const parts = Object.entries(given).map(([part, value]) => [
        part,
        places[part] === axis ? renumbered(value, k) : without(value, axes[part] ?? [], axis, k),
      ]);
      if (parts.every(([, value]) => value !== null)) yield Object.fromEntries(parts);
    }
  }
}

/** Whole numbers come first, then small ones, then those that are not negative. */
const rank = (x) => (Number.isInteger(x) ? 0 : 1000) + Math.abs(x) + (x < 0 ? 0.001 : 0);

const simpler = (x) =>
  [0, 1, Math.trunc(x), Math.round(5 * x) / 10, -x]
    .map((y) => y + 0) // no −0
    .filter((y) => rank(y) < rank(x));

function* plainer(value) {
  if (!Array.isArray(value)) yield* simpler(value);
  else
    for (const [i, part] of value.entries())
      for (const one of plainer(part)) yield value.with(i, one);
}

/** A case that is smaller by one step and breaks the claim as well, or nothing. */
function smallerBroken(claim, given, bend, tolerance) {
  // A reader has to see that it fails: three decimals stand in the words.
  const least = Math.max(tolerance, Math.min(errorOf(claim, given, bend) / 2, VISIBLE));
  const breaks = (one) => (claim.valid?.(one) ?? true) && errorOf(claim, one, bend) > least;
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
 * @property {number} age in seconds
 * @property {Case[]} path from the case that breaks the claim to how small it has become; none yet
 * @property {boolean} done whether it becomes no smaller
 */

/** @returns {Run} */
export const freshRun = () => ({ count: 0, age: 0, path: [], done: false });

/**
 * The run after at most `cases` more, unless one breaks the claim or `late()`; and their errors.
 * @param {Claim} claim
 * @param {Run} run
 * @param {{ seed: number, bend: number, about: { tolerance: number } }} given
 */
export function tried(claim, run, { seed, bend, about }, cases, late = () => false) {
  const errors = [];
  let { count, path } = run;
  while (!path.length && errors.length < cases && !late()) {
    const one = caseOf(claim, seed, count);
    errors.push(errorOf(claim, one, bend));
    if (!(errors.at(-1) <= about.tolerance)) path = [one];
    count += 1;
  }
  return { run: { ...run, count, path }, errors };
}

/** One step towards the simplest counterexample. @param {Run} run @returns {Run} */
export function shrunk(claim, run, { bend, about }) {
  const small = smallerBroken(claim, run.path.at(-1), bend, about.tolerance);
  return small ? { ...run, path: [...run.path, small] } : { ...run, done: true };
}

/** All steps at once. @param {Run} run @returns {Run} */
export function settled(claim, run, given) {
  let last = run;
  while (last.path.length && !last.done) last = shrunk(claim, last, given);
  return last;
}
