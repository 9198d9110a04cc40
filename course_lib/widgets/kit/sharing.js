// A sentence about how a softmax distributes its weight among keys.

/** Above the first share a key has nearly all the weight, above the second most of it. */
const [NEARLY_ALL, MOST] = [0.9, 0.5];
/** Weights are nearly equal if the largest is at most this many times the smallest. */
const ALIKE = 1.2;

/**
 * Says whether one key has the weight, all share it equally, or several share it; no full stop.
 * @param {number[]} weights
 * @param {(key: number) => string} nameOf
 */
export function sharing(weights, nameOf) {
  const largest = Math.max(...weights);
  const name = nameOf(weights.indexOf(largest));
  if (largest > NEARLY_ALL) return `${name} has ${largest < 1 ? "nearly " : ""}all the weight`;
  if (largest <= ALIKE * Math.min(...weights)) {
    return "All keys weigh nearly the same: none is chosen";
  }
  return largest > MOST ? `${name} has most of the weight` : "Several keys share the weight";
}
