// Of all that a node hears through rounds of message passing: the share of each other node.

import { directed, passed } from "./graph_layers.js";
import { upTo } from "./numerics.js";

const [ROW, RING, LEVELS, SIDE] = [33, 32, 5, 7];

const row = () => ({
  places: upTo(ROW).map((i) => [i, 0]),
  edges: upTo(ROW - 1).map((i) => [i, i + 1]),
});

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

/** Half the sum of the differences: 0 where two hear the same, 1 where they share nothing. */
export const apart = (one, other) =>
  one.reduce((sum, share, i) => sum + Math.abs(share - other[i]) / 2, 0);
