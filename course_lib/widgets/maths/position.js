import { dot, mean, sum } from "./numerics.js";

/**
 * The angle by which each pair of features turns from one position to the next: base^(−2i/d).
 * @param {number} d
 * @param {number} base
 * @returns {number[]}
 */
export function pairFrequencies(d, base) {
  return Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
}

/**
 * The sinusoids of a position, which may be a fraction: (sin ω₀t, cos ω₀t, sin ω₁t, cos ω₁t, …).
 * @param {number} position
 * @param {number} d
 * @param {number} base
 * @returns {number[]}
 */
export function sinusoidRow(position, d, base) {
  return pairFrequencies(d, base).flatMap((frequency) => [
    Math.sin(frequency * position),
    Math.cos(frequency * position),
  ]);
}

/**
 * Each pair (x, y) of a row turned by its angle ω·position, from x towards y.
 * @param {number[]} row
 * @param {number} position
 * @param {number} base
 * @returns {number[]}
 */
export function rotaryRow(row, position, base) {
  return pairFrequencies(row.length, base).flatMap((frequency, i) => {
    const [x, y] = handOf(row, i);
    const [cosine, sine] = [Math.cos(frequency * position), Math.sin(frequency * position)];
    return [x * cosine - y * sine, x * sine + y * cosine];
  });
}

/**
 * The sinusoids of t + offset from those of t: the one turn M_offset, whatever t is.
 * @param {number[]} row
 * @param {number} offset
 * @param {number} base
 */
export function shiftRow(row, offset, base) {
  return rotaryRow(row, -offset, base);
}

/**
 * The factor of the score at a position: the query or key `x`, its row of a table, or `x` rotated.
 * @param {string} kind
 * @param {number[]} x
 * @param {number} position
 * @param {{ base: number, learned: number[][] }} given
 * @returns {number[]}
 */
export function positionRow(kind, x, position, { base, learned }) {
  if (kind === "sinusoidal") return sinusoidRow(position, x.length, base);
  if (kind === "learned") return learned[position];
  return kind === "rotary" ? rotaryRow(x, position, base) : x;
}

/**
 * The score of each row of the query's side with each of the key's side.
 * @param {number[][]} queries
 * @param {number[][]} keys
 */
export function scoreMatrix(queries, keys) {
  return queries.map((query) => keys.map((key) => dot(query, key)));
}

/**
 * The two features of a pair: the tip of its clock hand.
 * @param {number[]} row
 * @param {number} pair
 */
export const handOf = (row, pair) => [row[2 * pair], row[2 * pair + 1]];

/**
 * What each pair of features adds to the score: the dot product of two hands.
 * @param {number[]} query
 * @param {number[]} key
 */
export function pairScores(query, key) {
  return Array.from({ length: query.length / 2 }, (_, i) => dot(handOf(query, i), handOf(key, i)));
}

/**
 * Least, mean and most of the scores with the same s − t, from −(T − 1) to T − 1.
 * @param {number[][]} scores
 */
export function byDifference(scores) {
  const last = scores.length - 1;
  return Array.from({ length: 2 * last + 1 }, (_, place) => {
    const alike = scores.flatMap((row, s) => row[s - place + last] ?? []);
    const mean = alike.reduce((sum, score) => sum + score, 0) / alike.length;
    return { least: Math.min(...alike), mean, most: Math.max(...alike), count: alike.length };
  });
}

/**
 * How much of the spread of the scores of two different positions, s behind t, the difference s − t
 * explains: from 0 to 1.
 * @param {number[][]} scores
 */
export function explainedByDifference(scores) {
  const below = scores.flatMap((row, s) =>
    row.slice(0, s).map((score, t) => ({ score, k: s - t })),
  );
  const values = below.map(({ score }) => score);
  // The rounding error of the mean would give equal scores a spread.
  if (Math.max(...values) === Math.min(...values)) return 0;
  const middle = mean(values);
  const means = scores.slice(1).map((_, i) => {
    const alike = below.filter(({ k }) => k === i + 1);
    return mean(alike.map(({ score }) => score));
  });
  const within = sum(below.map(({ score, k }) => (score - means[k - 1]) ** 2));
  return 1 - within / sum(values.map((score) => (score - middle) ** 2));
}

/**
 * The angle from one hand to another in degrees, −180 to 180, positive from the first axis towards
 * the second.
 * @param {number[]} from
 * @param {number[]} to
 */
export function handAngle([x0, y0], [x1, y1]) {
  return (Math.atan2(x0 * y1 - y0 * x1, x0 * x1 + y0 * y1) * 180) / Math.PI;
}

/** Three words in every order. */
export const ORDERS = [
  ["DOG", "BITES", "MAN"],
  ["MAN", "BITES", "DOG"],
  ["BITES", "DOG", "MAN"],
  ["BITES", "MAN", "DOG"],
  ["MAN", "DOG", "BITES"],
  ["DOG", "MAN", "BITES"],
];

/**
 * Where the third of three neighbours stands, beside or between two of them; null if there is no
 * such place.
 * @param {number} s
 * @param {number} t
 * @param {number} tokens
 * @param {number} wanted if there are two such places
 */
export function thirdPlace(s, t, tokens, wanted) {
  const [low, high] = [Math.min(s, t), Math.max(s, t)];
  if (high - low === 2) return low + 1;
  const beside = high - low === 1 ? [high + 1, low - 1] : [];
  const free = beside.filter((place) => place >= 0 && place < tokens);
  return free.includes(wanted) ? wanted : (free[0] ?? null);
}

/**
 * The score of the query at BITES with the key at DOG, for each order of three words from `first` on.
 * @param {number[][]} scores
 * @param {number} first
 */
export function orderScores(scores, first) {
  return ORDERS.map(
    (order) => scores[first + order.indexOf("BITES")][first + order.indexOf("DOG")],
  );
}

/**
 * How many of some numbers differ by more than a tolerance.
 * @param {number[]} values
 * @param {number} tolerance
 */
export function distinct(values, tolerance) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.filter((value, i) => !i || value - sorted[i - 1] > tolerance).length;
}
