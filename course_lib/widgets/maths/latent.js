// Codes of typefaces, and the decoder of course_lib.models.typefaces that draws them.

import { uniform } from "./generation.js";
import { dot, upTo } from "./numerics.js";
import { packedRows } from "./transformer.js";

export const LETTERS = 26;
export const SIZE = 28;
export const PIXELS = SIZE * SIZE;
const [SHARPNESS, PAPER] = [4, -2];

/** The rows of a matrix one after another. */
function matrix(row, rows, columns, scale = 1) {
  const all = new Float32Array(rows * columns);
  for (let i = 0; i < rows; i += 1) all.set(row(columns), i * columns);
  return all.map((weight) => scale * weight);
}

/** Unpacks the codes of `count` typefaces, as lists. */
export function unpackCodes(packed, count, size) {
  const row = packedRows(packed);
  return upTo(count).map(() => Array.from(row(size)));
}

/** Unpacks the decoder; scale and shift of its last layer are already in the weights. */
export function unpackDecoder({ d_z, d_letter, d_hidden }, packed) {
  const row = packedRows(packed);
  return {
    sizes: [d_z, d_letter, d_hidden],
    style: matrix(row, LETTERS, d_letter * d_z),
    letter: matrix(row, LETTERS, d_letter),
    hidden: { weight: matrix(row, d_hidden, d_letter), bias: row(d_hidden) },
    pixels: {
      weight: matrix(row, PIXELS, d_hidden, SHARPNESS),
      bias: row(PIXELS).map((ink) => SHARPNESS * ink + PAPER),
    },
  };
}

const silu = (x) => x / (1 + Math.exp(-x));

/** SiLU of Wx + b, where rows of W begin at `at`. */
function layer(weight, bias, x, into, at = 0) {
  const columns = x.length;
  for (let row = 0; row < into.length; row += 1) {
    let sum = bias[row];
    const from = at + row * columns;
    for (let i = 0; i < columns; i += 1) sum += weight[from + i] * x[i];
    into[row] = silu(sum);
  }
}

/**
 * The ink of every pixel of one letter of each pair [letter, code], one after another.
 * @param {any} decoder
 * @param {[number, ArrayLike<number>][]} asked
 */
function decoded({ sizes, style, letter, hidden, pixels }, asked) {
  const [d_z, d_letter, d_hidden] = sizes;
  const ink = new Float32Array(asked.length * PIXELS);
  const [first, pair] = [new Float64Array(d_letter), [0, 1].map(() => new Float64Array(d_hidden))];
  // Two at a time, since their sums are independent; of an odd number the last is both.
  for (let one = 0; one < asked.length; one += 2) {
    const other = Math.min(one + 1, asked.length - 1);
    [one, other].forEach((which, k) => {
      const [place, code] = asked[which];
      const own = place * d_letter;
      layer(style, letter.subarray(own, own + d_letter), code, first, own * d_z);
      layer(hidden.weight, hidden.bias, first, pair[k]);
    });
    const [left, right] = pair;
    for (let pixel = 0, from = 0; pixel < PIXELS; pixel += 1, from += d_hidden) {
      let [a, b] = [pixels.bias[pixel], pixels.bias[pixel]];
      for (let i = 0; i < d_hidden; i += 1) {
        const weight = pixels.weight[from + i];
        a += weight * left[i];
        b += weight * right[i];
      }
      ink[one * PIXELS + pixel] = 1 / (1 + Math.exp(-a));
      ink[other * PIXELS + pixel] = 1 / (1 + Math.exp(-b));
    }
  }
  return ink;
}

/**
 * The ink of every pixel of every letter, letter after letter: what the decoder makes of a code.
 * @param {any} decoder
 * @param {ArrayLike<number>} z
 */
export function decodeAlphabet(decoder, z) {
  const code = Float64Array.from(z);
  return decoded(
    decoder,
    upTo(LETTERS).map((letter) => [letter, code]),
  );
}

/** The ink of one letter at each of several codes. @param {any} decoder @param {number} letter */
export const decodeLetter = (decoder, letter, codes) =>
  decoded(
    decoder,
    codes.map((code) => [letter, Float64Array.from(code)]),
  );

/** The code a share of the way from one to another, along a straight line. */
export const between = (from, to, share) => from.map((x, i) => x + share * (to[i] - x));

/** bold − regular + italic */
export const arithmetic = ([regular, bold, italic]) =>
  regular.map((x, i) => bold[i] - x + italic[i]);

export function distance(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

/** The place in a list of codes of the one that lies nearest to `z`. */
export function nearest(codes, z) {
  const far = codes.map((code) => distance(code, z));
  return far.indexOf(Math.min(...far));
}

/** Where a code falls on the plane of two orthogonal directions of length 1. */
export const projected = (z, directions) => directions.map((direction) => dot(direction, z));

/** The code that falls on `place`, and differs from `z` in the plane alone. */
export function movedTo(z, directions, place) {
  const here = projected(z, directions);
  return z.map((x, i) =>
    directions.reduce((sum, direction, k) => sum + (place[k] - here[k]) * direction[i], x),
  );
}

/** The code on the same ray at another distance from the middle; from the middle, the first axis. */
export function atDistance(z, radius) {
  const norm = Math.hypot(...z);
  return norm > 0 ? z.map((x) => (x * radius) / norm) : z.map((_, i) => (i ? 0 : radius));
}

/**
 * Of draws from N(0, I) in `size` dimensions, the share within a radius: the distribution function
 * of χ² at its square, x^a e^(−x) Σ xᵏ / Γ(a + k + 1) with x = radius²/2 and a = size/2.
 */
export function shareWithin(radius, size) {
  const [x, a] = [(radius * radius) / 2, size / 2];
  const odd = size % 2;
  let term = Math.exp(-x) * (odd ? 2 * Math.sqrt(x / Math.PI) : 1);
  for (let k = odd ? 1.5 : 1; k <= a; k += 1) term *= x / k;
  let total = term;
  for (let k = 1; term > 1e-17 * total; k += 1) {
    term *= x / (a + k);
    total += term;
  }
  return Math.min(1, total);
}

/** Draws from N(0, 1), those of a seed (Box and Muller, 1958). */
export function normals(count, seed) {
  return upTo(count).map((i) => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, 2 * i)));
    return radius * Math.cos(2 * Math.PI * uniform(seed, 2 * i + 1));
  });
}

const DARK = 0.35;
const EMPTY = [11, 17];

/** From where to where a letter has ink, across, in parts of a pixel: it moves as the ink does. */
export function inkSpan(ink, letter) {
  const most = new Float64Array(SIZE);
  for (let at = 0; at < PIXELS; at += 1) {
    most[at % SIZE] = Math.max(most[at % SIZE], ink[letter * PIXELS + at]);
  }
  const dark = upTo(SIZE).filter((x) => most[x] >= DARK);
  if (!dark.length) return EMPTY;
  /** Of the last column, how much is ink, by how steeply it rises there. */
  const part = (x, before) => (before < DARK ? (most[x] - DARK) / (most[x] - before) : 0);
  const [first, last] = [dark[0], dark[dark.length - 1]];
  return [first + 1 - part(first, most[first - 1] ?? 0), last + part(last, most[last + 1] ?? 0)];
}

/** A word of letters (0 to 25), `gap` pixels apart: where the box of each begins, and its width. */
export function spaced(ink, letters, gap) {
  let width = 0;
  const places = letters.map((letter) => {
    const [from, to] = inkSpan(ink, letter);
    const place = width - from;
    width += to - from + gap;
    return place;
  });
  return { places, width: width - gap };
}
