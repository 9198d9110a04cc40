import { ranking, softmax } from "./numerics.js";
import { emptyMemory, throughBlocks } from "./transformer.js";

/**
 * Reads texts, given as ids. The beginning that a text shares with the previous one is reused.
 * @param {any} decoder
 */
export function textReader(decoder) {
  const memory = emptyMemory(decoder);
  let known = [];
  let read = [];
  /** @param {number[]} ids */
  return (ids) => {
    let same = 0;
    while (same < known.length && known[same] === ids[same]) same += 1;
    for (const { keys, values } of memory) {
      keys.length = same;
      values.length = same;
    }
    read = read.slice(0, same);
    known = [...ids];
    for (const id of ids.slice(same)) {
      const [letter] = throughBlocks(decoder, memory, [id]);
      read.push({ ...letter, own: softmax(letter.logits) });
    }
    return read;
  };
}

/**
 * The distribution that the next letter is drawn from, `next_token_probabilities` of
 * course_lib.generation; the ids by rank, and how many of them top-k and then top-p leave.
 * @param {number[]} logits
 * @param {number} temperature
 * @param {number} topK
 * @param {number} topP
 */
export function chooseAmong(logits, temperature, topK, topP) {
  const order = ranking(logits);
  const rescaled = (ranked) => {
    const total = ranked.reduce((sum, p) => sum + p, 0);
    return ranked.map((p) => p / total);
  };
  const shares = softmax(
    order.map((id) => logits[id]),
    temperature,
  );
  let ranked = rescaled(shares.map((p, rank) => (rank < topK ? p : 0)));
  const leftByK = Math.min(topK, logits.length);
  let leftByP = leftByK;
  if (topP < 1) {
    let sum = 0;
    // Within a billionth of p counts as p, so that rounding does not decide.
    const reached = ranked.map((p) => {
      sum += p;
      return sum - p >= Math.max(topP - 1e-9, 1e-9);
    });
    if (reached.includes(true)) leftByP = Math.min(leftByP, reached.indexOf(true));
    ranked = rescaled(ranked.map((p, rank) => (reached[rank] ? 0 : p)));
  }
  /** @type {number[]} */
  const probability = new Array(logits.length);
  order.forEach((id, rank) => {
    probability[id] = ranked[rank];
  });
  return { order, probability, leftByK, leftByP };
}

/** A bijection of 32 bits in which every input bit stirs every output bit ("lowbias32"). */
function stirred(integer) {
  let h = integer >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Draw n of a seed: a number of [0, 1), the same whenever it is asked for.
 * @param {number} seed
 * @param {number} n
 */
export function uniform(seed, n) {
  return stirred(stirred(seed) + Math.imul(n + 1, 0x9e3779b9)) / 2 ** 32;
}

/**
 * The first id at which the probabilities add up to more than `u`; never one of probability 0.
 * @param {number[]} probability
 * @param {number} u
 */
export function drawFrom(probability, u) {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probability.length; id += 1) {
    if (probability[id] > 0) {
      last = id;
      sum += probability[id];
      if (u < sum) return id;
    }
  }
  return last;
}
