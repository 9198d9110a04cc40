// What a Prediction says of numbers, of the guess and of the truth.

import { curveOff, isHit, offBy, rightOption, shareOff } from "../maths/guesses.js";
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

const CLOSE = 0.05; // of the axis
const HIT = "You hit it";

/**
 * How far off the guess was: what comes before the number, the number, and what comes after it.
 * @param {any} now
 * @returns {string[]}
 */
export function verdict(now) {
  const { kind, guess, truth, unit, xlog, ylog, x, xlabel } = now;
  const [said, found] = [saidOf(now), truthOf(now)];
  if (!guess.length) return [`You looked without a guess. It is ${found}.`, "", ""];
  if (isHit(now)) return ["", HIT, hitInWords(now, said, found)];
  const off = offBy(now);
  if (kind === "choose") {
    const own = `${said}, with ${quantity(truth[guess[0]], unit)}`;
    return [`You said ${own}. It is ${found}: `, apart(off, unit), " apart."];
  }
  const factor = kind === "sketch" ? ylog : xlog;
  const gap = factor ? `a factor of ${quantity(off)}` : apart(off, unit);
  const lead = shareOff(now) <= CLOSE ? "Very close. " : "";
  if (kind === "sketch") {
    const where = `${xlabel || "x"} = ${quantity(x[curveOff(now).worst])}`;
    return [`${lead}Your curve is off by `, gap, ` on average, most at ${where}.`];
  }
  const way = guess[0] < truth[0] ? "low" : "high";
  return [`${lead}You said ${said}, it is ${found}: too ${way} by `, gap, "."];
}

function hitInWords({ kind }, said, found) {
  if (kind === "sketch") return ": your curve lies on the truth.";
  if (kind === "choose" || said === found) return `: it is ${found}.`;
  return `: it is ${found}, you said ${said}.`;
}
