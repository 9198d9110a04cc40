// What a Prediction says of numbers, of the guess and of the truth.

import { quantity } from "../kit/text.js";
import { curveOff, inSteps, isHit, isNear, offBy, rightOption } from "../maths/guesses.js";

/** A distance in a unit; that of two shares counts in points. */
const apart = (off, unit) => quantity(off, unit === "%" ? "percentage points" : unit);

const curve = (values, unit) =>
  `a curve from ${quantity(values[0], unit)} to ${quantity(values.at(-1), unit)}`;

/** A number on the line, with no more digits than the reader's steps have. */
export const placed = (value, { unit, step, xlog }) =>
  quantity(xlog ? value : inSteps(value, step), unit);

/** What the reader has guessed, if anything. @param {any} now */
export function saidOf(now) {
  const { kind, guess, options, unit } = now;
  if (!guess.length) return "";
  if (kind === "sketch") return curve(guess, unit);
  return kind === "place" ? placed(guess[0], now) : options[guess[0]];
}

/** The truth in a few words. @param {any} now */
export function truthOf(now) {
  const { kind, truth, options, unit } = now;
  if (kind === "sketch") return curve(truth, unit);
  if (kind === "place") return placed(truth[0], now);
  const right = rightOption(now);
  return `${options[right]}, with ${quantity(truth[right], unit)}`;
}

const HIT = "You hit it";

/** The distance of guess and truth, in a few signs. @param {any} now */
export const gapOf = (now) => {
  const factor = now.kind === "sketch" ? now.ylog : now.xlog;
  return factor ? `× ${quantity(offBy(now))}` : apart(distanceOf(now), now.unit);
};

/** How far off, with no more digits than the reader's steps have. @param {any} now */
const distanceOf = (now) =>
  now.kind === "place" && !now.xlog ? inSteps(offBy(now), now.step) : offBy(now);

/**
 * How a guess came out: a hit, nearly one, or a miss; nothing without one.
 * @param {any} now
 */
export function outcomeOf(now) {
  if (!now.guess.length) return "none";
  if (isHit(now)) return "hit";
  return now.kind !== "choose" && isNear(now) ? "near" : "miss";
}

/** The sign of an outcome, so that no colour says it alone. */
export const SIGNS = { hit: "✓", near: "≈", miss: "✗", none: "" };

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
    return xlog
      ? [`You said ${own}. It is ${found}: `, `a factor of ${quantity(off)}`, " apart."]
      : [`You said ${own}. It is ${found}: `, apart(off, unit), " apart."];
  }
  const factor = kind === "sketch" ? ylog : xlog;
  const gap = factor ? `a factor of ${quantity(off)}` : apart(distanceOf(now), unit);
  const reach = factor ? "a factor of 2" : "a tenth of the axis";
  const lead = isNear(now) ? `Close, within ${reach}. ` : "";
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
