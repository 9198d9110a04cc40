// How a softmax shares its weight among keys, in words.

/** More than so large a share is nearly all of the weight, and more than that one is most of it. */
const [NEARLY_ALL, MOST] = [0.9, 0.5];
/** Keys weigh nearly the same where the largest weight is at most so many times the smallest. */
const ALIKE = 1.2;

/**
 * Whether one key has the weight, all weigh alike, or some share it: a sentence without its end.
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
