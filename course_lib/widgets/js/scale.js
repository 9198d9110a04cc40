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
