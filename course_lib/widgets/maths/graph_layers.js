import { softmax, upTo } from "./numerics.js";

/** @typedef {{ own: number[], edge: number[] }} Weights of an atom's own features, of each edge's */

/** Both directions of each bond: source, target. @param {number[][]} bonds */
export const directed = (bonds) =>
  bonds.flatMap(([i, j]) => [
    [i, j],
    [j, i],
  ]);

/** GraphConv with θ₁ = θ₂ = 1: the sum over neighbours and the node itself. @returns {Weights} */
const sum = (x, edges) => ({ own: x.map(() => 1), edge: edges.map(() => 1) });

/** The same with θ₁ = 0: the sum over neighbours only. @returns {Weights} */
const neighbours = (x, edges) => ({ own: x.map(() => 0), edge: edges.map(() => 1) });

/** Kipf and Welling: 1 / √(d̃ᵢ d̃ⱼ), with an edge from each node to itself. @returns {Weights} */
function normalized(x, edges) {
  const degree = x.map(() => 1);
  for (const [, target] of edges) degree[target] += 1;
  return {
    own: degree.map((d) => 1 / d),
    edge: edges.map(([s, t]) => 1 / Math.sqrt(degree[s] * degree[t])),
  };
}

/**
 * Graph attention with W = 1 and a = (0, `interest`): the softmax, over a node and those that speak
 * to it, of LeakyReLU(interest · xⱼ).
 * @param {number[][]} x
 * @param {number[][]} edges
 * @param {number[]} interest
 * @returns {Weights}
 */
export function attentive(x, edges, interest) {
  const score = x
    .map((row) => row.reduce((total, entry, k) => total + entry * interest[k], 0))
    .map((given) => (given > 0 ? given : 0.2 * given));
  const [own, edge] = [x.map(() => 0), edges.map(() => 0)];
  for (const t of upTo(x.length)) {
    const heard = upTo(edges.length).filter((e) => edges[e][1] === t);
    const weights = softmax([score[t], ...heard.map((e) => score[edges[e][0]])]);
    own[t] = weights[0];
    heard.forEach((e, k) => {
      edge[e] = weights[k + 1];
    });
  }
  return { own, edge };
}

const LAYERS = { sum, neighbours, normalized, attention: attentive };

/**
 * The features of each node after 0, 1, …, `rounds` rounds, and the weights of each round.
 * @param {string} layer
 * @param {number[][]} x
 * @param {number[][]} edges
 * @param {number[]} interest of attention, in each feature
 * @param {number} rounds
 */
export function passed(layer, x, edges, interest, rounds) {
  const known = [x];
  const weights = [];
  for (const round of upTo(rounds)) {
    const now = known[round];
    const { own, edge } = LAYERS[layer](now, edges, interest);
    const next = now.map((row, i) => row.map((entry) => own[i] * entry));
    edges.forEach(([s, t], e) => {
      now[s].forEach((entry, k) => {
        next[t][k] += edge[e] * entry;
      });
    });
    known.push(next);
    weights.push({ own, edge });
  }
  return { known, weights };
}
