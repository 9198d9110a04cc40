import { ranking, softmax } from "./numerics.js";
import { emptyMemory, throughBlocks } from "./transformer.js";

/**
 * The softmax of the logits without the mask, whose probability is 0.
 * @param {number[]} logits
 * @param {number} mask
 */
export function withoutMask(logits, mask) {
  return softmax(logits.map((logit, id) => (id === mask ? -Infinity : logit)));
}

/**
 * The ids that the model sees: those of a word, with the mask at hidden places.
 * @param {number[]} ids
 * @param {number[]} hidden
 * @param {number} mask
 */
export function sightOf(ids, hidden, mask) {
  return ids.map((id, t) => (hidden.includes(t) ? mask : id));
}

/**
 * The distribution that the encoder expects at each place, and its attention there.
 * @param {any} encoder
 * @param {number[]} sight
 * @param {number} mask
 * @returns {{ probability: number[], attention: number[][][] }[]}
 */
export function expectAt(encoder, sight, mask) {
  return throughBlocks(encoder, emptyMemory(encoder), sight).map(({ logits, attention }) => ({
    attention,
    probability: withoutMask(logits, mask),
  }));
}

/**
 * Places that are hidden one after another, but for those that are `spared`: each time the one at
 * which the model is surest of its first guess.
 * @param {any} encoder
 * @param {number[]} ids
 * @param {number} mask
 * @param {number[]} spared
 * @param {number} count
 */
export function surestHoles(encoder, ids, mask, spared, count) {
  const holes = [];
  const sureness = (_, t) =>
    [...spared, ...holes].includes(t)
      ? -1
      : Math.max(...expectAt(encoder, sightOf(ids, [...holes, t], mask), mask)[t].probability);
  while (holes.length < Math.min(count, ids.length - spared.length)) {
    holes.push(ranking(ids.map(sureness))[0]);
  }
  return holes;
}

/**
 * The effective number of letters: the exponential of the mean entropy.
 * @param {number[][]} distributions
 */
export function unsureness(distributions) {
  const entropy = (p) =>
    p.reduce((sum, share) => sum - (share > 0 ? share * Math.log(share) : 0), 0);
  return Math.exp(distributions.reduce((sum, p) => sum + entropy(p), 0) / distributions.length);
}
