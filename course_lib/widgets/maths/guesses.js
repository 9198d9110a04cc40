// How far a guess is from the truth. Compared with course_lib/widgets/prediction/prediction.py.

import { clamp, ranking } from "./numerics.js";

/**
 * An axis from low to high: the share of its length at which a value stands, and the value at a
 * share. On a logarithmic axis equal distances are equal ratios.
 * @param {number[]} ends
 * @param {boolean} logarithmic
 */
export function axis([low, high], logarithmic) {
  const bent = logarithmic ? Math.log : Number;
  const straight = logarithmic ? Math.exp : Number;
  const [from, to] = [bent(low), bent(high)];
  return {
    /** @param {number} value */
    share: (value) => (bent(value) - from) / (to - from),
    /** @param {number} share */
    at: (share) => clamp(straight(from + share * (to - from)), low, high),
  };
}

const STEPS = 100;

/** The steps on a line, from 0, and the number at each. @param {any} now */
export function stepsOf({ across, xlog, step }) {
  const along = axis(across, xlog);
  const count = step > 0 && !xlog ? Math.round((across[1] - across[0]) / step) : STEPS;
  const digits = xlog ? 3 : 6;
  const at = (k) => clamp(Number(along.at(k / count).toPrecision(digits)), across[0], across[1]);
  return { along, count, at, of: (value) => Math.round(along.share(value) * count) };
}

/** Of heights at equal distances over [0, 1], that at a share: straight from one to the next. */
export function between(heights, share) {
  const place = clamp(share, 0, 1) * (heights.length - 1);
  const left = Math.min(Math.floor(place), heights.length - 2);
  return heights[left] + (place - left) * (heights[left + 1] - heights[left]);
}

/** The distance of two numbers, or their ratio on a logarithmic axis: 1 or more. */
export function distance(a, b, logarithmic) {
  return logarithmic ? Math.exp(Math.abs(Math.log(a / b))) : Math.abs(a - b);
}

/**
 * How far a sketched curve is off at each place x, and on average (as a geometric mean where the
 * axis up is logarithmic).
 */
export function curveOff({ guess, x, truth, across, up, xlog, ylog }) {
  const [along, height] = [axis(across, xlog), axis(up, ylog)];
  const heights = guess.map(height.share);
  const said = x.map((place) => height.at(between(heights, along.share(place))));
  const each = said.map((value, i) => distance(value, truth[i], ylog));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const off = ylog ? Math.exp(mean(each.map(Math.log))) : mean(each);
  return { off, worst: ranking(each)[0] };
}

/** The place of the option that is right: the first of equals. */
export const rightOption = ({ truth, wanted }) =>
  ranking(wanted === "largest" ? truth : truth.map((value) => -value))[0];

/** How far off a guess is, of any kind: `Prediction.off` in Python. */
export function offBy(now) {
  const { kind, guess, truth, xlog } = now;
  if (kind === "sketch") return curveOff(now).off;
  if (kind === "place") return distance(guess[0], truth[0], xlog);
  return distance(truth[rightOption(now)], truth[guess[0]], xlog);
}

/** How far off a guess of a number or a curve is, as a share of the axis. @param {any} now */
export function shareOff(now) {
  const [[low, high], logarithmic] =
    now.kind === "sketch" ? [now.up, now.ylog] : [now.across, now.xlog];
  return logarithmic ? Math.log(offBy(now)) / Math.log(high / low) : offBy(now) / (high - low);
}

/** How far off a guess of any kind is, from 0 to 1: a share of the axis, or of what the options differ. */
export function farOff(now) {
  if (now.kind !== "choose") return clamp(shareOff(now), 0, 1);
  const bent = now.xlog ? Math.log : Number;
  const spread = bent(Math.max(...now.truth)) - bent(Math.min(...now.truth));
  return spread > 0 ? (now.xlog ? Math.log(offBy(now)) : offBy(now)) / spread : 0;
}

/** A guess is close if it is off by at most this share of the axis. */
const CLOSE = 0.1;
/** On a logarithmic axis of many powers of ten a small share is a large factor. */
const CLOSE_FACTOR = 2;

/**
 * Whether a guess of a number or a curve is close to the truth: off by no more than a tenth of the
 * axis, and on a logarithmic one by no more than a factor of 2 either.
 * @param {any} now
 */
export function isNear(now) {
  const logarithmic = now.kind === "sketch" ? now.ylog : now.xlog;
  return shareOff(now) <= CLOSE && (!logarithmic || offBy(now) <= CLOSE_FACTOR);
}

const ALIKE = 0.2;

/**
 * On a logarithmic axis bars begin at a power of ten at most half as large as the smallest.
 * @param {number[]} values
 */
export const logarithmicEnds = (values) => ({
  low: 10 ** Math.floor(Math.log10(Math.min(...values) / 2)),
  high: Math.max(...values),
});

/**
 * Where bars of these lengths begin, and where the longest ends. They begin at 0; but where all lie
 * within a fifth of the largest, at a round number below the smallest, or all would look alike.
 * @param {number[]} values
 */
export function barEnds(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const spread = most - least;
  if (least <= 0 || spread === 0 || spread > ALIKE * most)
    return { low: Math.min(0, least), high: Math.max(0, most), cut: false };
  const round = 10 ** Math.floor(Math.log10(spread));
  const low = Math.floor((least - spread / 10) / round) * round;
  return { low: Number(low.toPrecision(6)), high: most, cut: true };
}

/**
 * A number as exactly as a reader can place it on a line of such steps, or half a step more so.
 * @param {number} value
 * @param {number} step
 */
export function inSteps(value, step) {
  if (!(step > 0)) return value;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / 2) - 1e-9));
  return Number(value.toFixed(digits));
}

/** This share of an axis is about the width of a pen. */
const PEN = 0.005;

/**
 * Whether a guess is as near to the truth as a hand can bring it: the right option, the step on the
 * line that is nearest to the truth, a curve that lies on it.
 * @param {any} now
 */
export function isHit(now) {
  const { kind, guess, truth } = now;
  if (kind === "choose") return truth[guess[0]] === truth[rightOption(now)];
  if (kind === "sketch") return shareOff(now) < PEN;
  const steps = stepsOf(now);
  return guess[0] === truth[0] || steps.of(guess[0]) === steps.of(truth[0]);
}

/**
 * Heights after a stroke from one knot and height to another. Beyond what was drawn, from its first
 * knot to its last, the curve runs on level.
 * @param {{ heights: number[], drawn: number[] | null }} curve
 * @param {number[]} from a knot and a height
 * @param {number[]} to
 */
export function stroked({ heights, drawn }, from, to) {
  const [[left, start], [right, end]] = from[0] <= to[0] ? [from, to] : [to, from];
  const reach = drawn ? [Math.min(drawn[0], left), Math.max(drawn[1], right)] : [left, right];
  const slope = right > left ? (end - start) / (right - left) : 0;
  const along = (knot) => (right > left ? start + slope * (knot - left) : to[1]);
  const touched = heights.map((height, knot) =>
    knot >= left && knot <= right ? along(knot) : height,
  );
  const level = (_, knot) => touched[clamp(knot, reach[0], reach[1])];
  return { heights: touched.map(level), drawn: reach };
}
