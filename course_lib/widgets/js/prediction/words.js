// What a Prediction says of numbers, of the guess and of the truth.

import { curveOff, offBy, rightOption } from "../maths/guesses.js";
import { quantity } from "../text.js";

/** A distance in a unit; that of two shares counts in points. */
const apart = (off, unit) => quantity(off, unit === "%" ? "percentage points" : unit);

const curve = (values, unit) =>
  `a curve from ${quantity(values[0], unit)} to ${quantity(values.at(-1), unit)}`;

/** What the reader has guessed, if anything. @param {any} now */
export function saidOf({ kind, guess, options, unit }) {
  if (!guess.length) return "";
  if (kind === "sketch") return curve(guess, unit);
  return kind === "place" ? quantity(guess[0], unit) : options[guess[0]];
}

/** The truth in a few words. @param {any} now */
export function truthOf(now) {
  const { kind, truth, options, unit } = now;
  if (kind === "sketch") return curve(truth, unit);
  if (kind === "place") return quantity(truth[0], unit);
  const right = rightOption(now);
  return `${options[right]}, with ${quantity(truth[right], unit)}`;
}

/**
 * How far off the guess was: what comes before the number, the number, and what comes after it.
 * @param {any} now
 * @returns {string[]}
 */
export function verdict(now) {
  const { kind, guess, truth, unit, xlog, ylog, x, xlabel } = now;
  if (!guess.length) return [`You looked without a guess. It is ${truthOf(now)}.`, "", ""];
  const off = offBy(now);
  const factor = kind === "sketch" ? ylog : kind === "place" && xlog;
  const gap = factor ? `a factor of ${quantity(off)}` : apart(off, unit);
  if (kind === "sketch") {
    const where = `${xlabel || "x"} = ${quantity(x[curveOff(now).worst])}`;
    return ["Your curve is off by ", gap, ` on average, most at ${where}.`];
  }
  const both = `You said ${saidOf(now)}. It is ${truthOf(now)}`;
  if (off === (factor ? 1 : 0)) return [`${both}: `, "right", "."];
  if (kind === "choose") return [`${both}: off by `, gap, "."];
  return [
    `${both}: your guess is off by `,
    gap,
    guess[0] < truth[0] ? ", too low." : ", too high.",
  ];
}
