/** @typedef {(value: number) => number} Scale */

/** Equal distances are equal differences. @returns {Scale} */
export const linear =
  ([low, high], [from, to]) =>
  (value) =>
    from + ((value - low) / (high - low)) * (to - from);

/** Equal distances are equal ratios. @returns {Scale} */
export const logarithmic =
  ([low, high], [from, to]) =>
  (value) =>
    from + (Math.log(value / low) / Math.log(high / low)) * (to - from);

/**
 * Round numbers in [low, high], about `count` of them: 1, 2 or 5 times a power of ten apart.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

/** Round numbers on an axis: powers of ten where it is logarithmic, with others if those are few. */
export function marks(ends, logarithmic, count) {
  if (!logarithmic) return ticks(ends[0], ends[1], count);
  const inside = (value) => value >= ends[0] * (1 - 1e-6) && value <= ends[1] * (1 + 1e-6);
  const powers = ticks(Math.floor(Math.log10(ends[0])), Math.ceil(Math.log10(ends[1])), count);
  const decades = powers.filter(Number.isInteger).map((power) => 10 ** power);
  const found = decades.filter(inside);
  return found.length > 2 ? found : decades.flatMap((p) => [p, 2 * p, 5 * p]).filter(inside);
}
