// Of all that a node hears through rounds of message passing: the share of each other node.

import { directed, passed } from "./graph_layers.js";
import { upTo } from "./numerics.js";

const [LINES, LINE, RING, LEVELS, SIDE] = [3, 11, 32, 5, 7];

/** A snake: each row begins where the last one ended. */
function row() {
  const places = upTo(LINES * LINE).map((i) => {
    const [line, along] = [Math.floor(i / LINE), i % LINE];
    return [line % 2 ? LINE - 1 - along : along, -2 * line];
  });
  return { places, edges: upTo(LINES * LINE - 1).map((i) => [i, i + 1]) };
}

const ring = () => ({
  places: upTo(RING).map((i) => {
    const angle = (2 * Math.PI * i) / RING;
    return [5 * Math.sin(angle), 5 * Math.cos(angle)];
  }),
  edges: upTo(RING).map((i) => [i, (i + 1) % RING]),
});

/** Every node but the leaves has two children; node 0 is the root. */
function tree() {
  const count = 2 ** (LEVELS + 1) - 1;
  const places = upTo(count).map((i) => {
    const level = Math.floor(Math.log2(i + 1));
    return [(32 * (i + 1.5 - 2 ** level)) / 2 ** level, -3 * level];
  });
  const edges = upTo(count - 1).map((i) => [i >> 1, i + 1]);
  return { places, edges };
}

function grid() {
  const all = upTo(SIDE * SIDE);
  const right = all.filter((i) => i % SIDE < SIDE - 1).map((i) => [i, i + 1]);
  const down = all.filter((i) => i + SIDE < SIDE * SIDE).map((i) => [i, i + SIDE]);
  const places = all.map((i) => [i % SIDE, -Math.floor(i / SIDE)]);
  return { places, edges: [...right, ...down] };
}

const GRAPHS = { row, ring, tree, grid };

/** Places of the nodes, and edges. @param {string} name */
export const graphOf = (name) => GRAPHS[name]();

/**
 * Shares [rounds][listener][speaker] after 0, 1, … rounds; those of each listener sum to 1.
 * @param {string} layer of graph_layers.js
 * @param {number} count of nodes
 * @param {number[][]} edges
 * @param {number} rounds
 */
export function sharesHeard(layer, count, edges, rounds) {
  const each = upTo(count).map((i) => upTo(count).map((j) => Number(i === j)));
  const { known } = passed(layer, each, directed(edges), [], rounds);
  return known.map((heard) =>
    heard.map((parts) => {
      const all = parts.reduce((sum, part) => sum + part, 0);
      return parts.map((part) => part / all);
    }),
  );
}

/** The overlap of what two nodes hear: 1 if they hear the same, 0 if they hear no common node. */
export const inCommon = (one, other) =>
  one.reduce((sum, share, i) => sum + Math.min(share, other[i]), 0);

/**
 * What a listener hears after so many rounds has come along edges, one a round: of all these steps,
 * the share of each edge, in both directions. They sum to 1 where no node hears itself.
 * @param {string} layer of graph_layers.js
 * @param {number} count of nodes
 * @param {number[][]} edges
 * @param {number} rounds
 * @param {number} listener
 */
export function alongEdges(layer, count, edges, rounds, listener) {
  const arrows = directed(edges);
  const ones = upTo(count).map(() => [1]);
  const { known, weights } = passed(layer, ones, arrows, [], rounds);
  const shares = edges.map(() => 0);
  const total = known[rounds][listener][0] * rounds;
  // The share of what a node holds now that will be heard: the same rounds in reverse order.
  let counts = upTo(count).map((i) => Number(i === listener));
  for (let round = rounds - 1; round >= 0; round -= 1) {
    const { own, edge } = weights[round];
    const before = counts.map((part, i) => own[i] * part);
    arrows.forEach(([s, t], e) => {
      before[s] += edge[e] * counts[t];
      // Both arrows of an edge stand side by side.
      shares[e >> 1] += (known[round][s][0] * edge[e] * counts[t]) / total;
    });
    counts = before;
  }
  return shares;
}
