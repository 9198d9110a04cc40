// Light curves and their periodograms, as course_lib.light_curves and course_lib.light_curves.periodogram.

import { uniform } from "./generation.js";
import { clamp, dot, sum, upTo } from "./numerics.js";

const RIDGE = 1e-6; // keeps a fit with more numbers than nights solvable
const FLAT = 100 * Number.EPSILON; // a determinant or a spread below that is 0
const CONSTANT = 4 * Number.EPSILON; // a star that changes no more, beside its mean, is constant
const FINER = 20; // trial frequencies in one step of the grid, about the highest peak

/**
 * @typedef {{ time: number[], magnitude: number[], error: number[] }} Curve night for night: days,
 *   magnitudes (the larger, the fainter), and errors of these
 */

/** The phase of a star: (t / P) mod 1, in [0, 1). */
export function phase(time, period) {
  const turn = (time / period) % 1;
  const turns = turn < 0 ? turn + 1 : turn;
  return turns === 1 ? 0 : turns;
}

/** The nights that are not hidden. @param {Curve} curve @param {number[]} hidden @returns {Curve} */
export function visibleOf({ time, magnitude, error }, hidden) {
  const gone = new Set(hidden);
  const kept = (values) => values.filter((_, night) => !gone.has(night));
  return { time: kept(time), magnitude: kept(magnitude), error: kept(error) };
}

/** `count` nights of `nights`, at random, in order: those of a seed. */
export function drawnNights(nights, count, seed) {
  const drawn = upTo(nights).map((night) => [uniform(seed, night), night]);
  const first = drawn.sort(([a], [b]) => a - b).slice(0, count);
  return first.map(([, night]) => night).sort((a, b) => a - b);
}

/** Trial frequencies from 1/2T up to `highest`, in steps of 1 / (oversampling T), with T `days`. */
export function frequencyGrid(days, highest, oversampling = 5) {
  const [first, step] = [0.5 / days, 1 / (oversampling * days)];
  return upTo(Math.ceil((highest - first) / step)).map((i) => first + i * step);
}

/** Weights 1/σ² that sum to one, magnitudes less their weighted mean, and that mean. */
function weighed({ magnitude, error }) {
  const weight = error.map((sigma) => 1 / (sigma * sigma));
  const total = sum(weight);
  const share = weight.map((w) => w / total);
  const mean = dot(share, magnitude);
  const x = magnitude.map((m) => m - mean);
  const varies = Math.max(...x) - Math.min(...x) > CONSTANT * Math.abs(mean);
  return { weight: share, x: varies ? x : x.fill(0), mean };
}

/**
 * The share of the scatter that a constant and a sinusoid of each frequency take away, in [0, 1]:
 * Zechmeister and Kürster (2009), eqs. 5 to 15.
 * @param {Curve} curve
 * @param {number[]} frequencies
 */
export function lombScargle(curve, frequencies) {
  const { weight, x } = weighed(curve);
  const scatter = x.reduce((sum, value, n) => sum + weight[n] * value * value, 0);
  const farthest = Math.max(...curve.time.map(Math.abs));
  return frequencies.map((frequency) => {
    const rounded = Number.EPSILON * 2 * Math.PI * farthest * frequency;
    const flat = FLAT + rounded * rounded; // Angles and what is computed of them are rounded.
    let [c, s, xc, xs, cc, cs] = [0, 0, 0, 0, 0, 0];
    for (let n = 0; n < x.length; n += 1) {
      const angle = 2 * Math.PI * frequency * curve.time[n];
      const [cosine, sine, w] = [Math.cos(angle), Math.sin(angle), weight[n]];
      c += w * cosine;
      s += w * sine;
      xc += w * x[n] * cosine;
      xs += w * x[n] * sine;
      cc += w * cosine * cosine;
      cs += w * cosine * sine;
    }
    const ss = 1 - cc - s * s;
    cc -= c * c;
    cs -= c * s;
    const explained = ss * xc * xc + cc * xs * xs - 2 * cs * xc * xs;
    const [whole, spread] = [cc * ss - cs * cs, cc + ss];
    if (spread <= flat) return 0; // All nights have one phase.
    // On two phases sine and cosine are multiples of each other: one of them fits.
    const share = whole > flat * spread ? explained / whole : (xc * xc + xs * xs) / spread;
    return clamp(share / Math.max(scatter, Number.MIN_VALUE), 0, 1);
  });
}

/** The frequency of the highest power, refined in finer steps around it. */
export function highestPeak(curve, frequencies, power) {
  const best = power.indexOf(Math.max(...power));
  const step = frequencies[1] - frequencies[0];
  const finer = upTo(2 * FINER + 1)
    .map((i) => frequencies[best] + (i / FINER - 1) * step)
    .filter((frequency) => frequency > 0);
  const heights = lombScargle(curve, finer);
  const height = Math.max(...heights);
  return { frequency: finer[heights.indexOf(height)], power: height };
}

/** Frequencies that observations of one time of night hardly tell from `frequency`: |k ± f|. */
export const aliases = (frequency, highest) =>
  [1, 2]
    .flatMap((whole) => [Math.abs(whole - frequency), whole + frequency])
    .filter((f) => f > 0 && f < highest && Math.abs(f - frequency) > 1e-9);

/** 1, and sines and cosines of all multiples of a frequency, at one time. */
function waves(time, frequency, harmonics) {
  const row = [1];
  for (let k = 1; k <= harmonics; k += 1) {
    const angle = 2 * Math.PI * k * frequency * time;
    row.push(Math.sin(angle), Math.cos(angle));
  }
  return row;
}

/** x of Ax = b, for a symmetric matrix that is positive definite: by elimination. */
function solved(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const size = rows.length;
  for (let i = 0; i < size; i += 1) {
    for (let j = i + 1; j < size; j += 1) {
      const factor = rows[j][i] / rows[i][i];
      for (let k = i; k <= size; k += 1) rows[j][k] -= factor * rows[i][k];
    }
  }
  const x = new Array(size).fill(0);
  for (let i = size - 1; i >= 0; i -= 1) {
    let left = rows[i][size];
    for (let k = i + 1; k < size; k += 1) left -= rows[i][k] * x[k];
    x[i] = left / rows[i][i];
  }
  return x;
}

/**
 * Weighted least squares of a constant and some sinusoids: `c₀ + Σ aₖ sin 2πkft + bₖ cos 2πkft` has
 * the coefficients c₀, a₁, b₁, a₂, b₂, …
 * @param {Curve} curve
 */
export function fitHarmonics(curve, frequency, harmonics = 3) {
  const { weight, x, mean } = weighed(curve);
  const size = 2 * harmonics + 1;
  const square = upTo(size).map((i) => upTo(size).map((j) => (i === j ? RIDGE : 0)));
  const right = new Array(size).fill(0);
  curve.time.forEach((time, n) => {
    const row = waves(time, frequency, harmonics);
    for (let i = 0; i < size; i += 1) {
      right[i] += weight[n] * row[i] * x[n];
      for (let j = 0; j < size; j += 1) square[i][j] += weight[n] * row[i] * row[j];
    }
  });
  const [first, ...others] = solved(square, right);
  return [first + mean, ...others];
}

/** The value of a fitted series at one time. */
export const seriesAt = (coefficients, frequency, time) =>
  waves(time, frequency, (coefficients.length - 1) / 2).reduce(
    (sum, wave, i) => sum + coefficients[i] * wave,
    0,
  );

/**
 * The series that is likeliest if each coefficient is normal before, with some variance, and how
 * sure it is: the covariance of its coefficients, as course_lib.models.stars.posterior.
 * @param {Curve} curve
 * @param {number[]} variances of c₀, a₁, b₁, a₂, b₂, …
 */
export function posteriorOf(curve, frequency, variances) {
  const { x, mean } = weighed(curve);
  const size = variances.length;
  const square = variances.map((v, i) => upTo(size).map((j) => (i === j ? 1 / v : 0)));
  const right = new Array(size).fill(0);
  curve.time.forEach((time, n) => {
    const row = waves(time, frequency, (size - 1) / 2);
    const weight = 1 / (curve.error[n] * curve.error[n]);
    for (let i = 0; i < size; i += 1) {
      right[i] += weight * row[i] * x[n];
      for (let j = 0; j < size; j += 1) square[i][j] += weight * row[i] * row[j];
    }
  });
  const [first, ...others] = solved(square, right);
  const unit = (i) => upTo(size).map((j) => (i === j ? 1 : 0));
  const covariance = upTo(size).map((i) => solved(square, unit(i)));
  return { coefficients: [first + mean, ...others], covariance };
}

/** The standard deviation of a posterior at one time. */
export function spreadAt({ covariance }, frequency, time) {
  const row = waves(time, frequency, (covariance.length - 1) / 2);
  return Math.sqrt(
    dot(
      row,
      covariance.map((part) => dot(part, row)),
    ),
  );
}

/** The share of the variance that a fitted series explains. @param {Curve} curve */
export function explainedBy(curve, coefficients, frequency) {
  const { weight, x, mean } = weighed(curve);
  const square = (values) =>
    dot(
      weight,
      values.map((value) => value * value),
    );
  const left = curve.time.map((t, n) => x[n] + mean - seriesAt(coefficients, frequency, t));
  const whole = square(x);
  return whole > 0 ? 1 - square(left) / whole : 0;
}

/** The magnitude at one time on the straight line between neighbours; beyond the ends, theirs. */
export function betweenNeighbours({ time, magnitude }, when) {
  const next = time.findIndex((t) => t >= when);
  if (next < 0) return magnitude[magnitude.length - 1];
  if (next === 0) return magnitude[0];
  const share = (when - time[next - 1]) / (time[next] - time[next - 1]);
  return magnitude[next - 1] + share * (magnitude[next] - magnitude[next - 1]);
}

/** The root mean square error of guesses. @param {number[]} guesses */
export const errorOf = (guesses, truth) =>
  Math.sqrt(guesses.reduce((sum, m, i) => sum + (m - truth[i]) ** 2, 0) / guesses.length);

/** The brightness of a star relative to one of the magnitude `mean`: 10^(−0.4 (m − mean)). */
export const brightness = (magnitude, mean) => 10 ** (-0.4 * (magnitude - mean));
