import { distances } from "../maths/graph_dynamics.js";
import { directed, passed } from "../maths/graph_layers.js";
import { upTo } from "../maths/numerics.js";
import { ordered } from "./attended.js";
import { edgesOf, graphPicture, told } from "./graphs.js";
import { breakIt } from "./strip.js";
import { apart, plain, vectors } from "./telling.js";
import { orderOf, table, whole } from "./trials.js";

const ROUNDS = 2;
const after = (x, edges, rounds) => passed("sum", x, directed(edges), [], rounds).known[rounds];

/** What a layer makes of a graph that is renumbered, and its answer, renumbered. */
function twoNumberings({ x, edges, order }, share) {
  const numbered = (rows) => rows.map(([first, ...rest], i) => [first + share * i, ...rest]);
  const answer = (rows, pairs) => after(numbered(rows), pairs, 1);
  const there = edges.map((edge) => edge.map((i) => order.indexOf(i)));
  const before = answer(x, edges);
  const mixed = order.map((i) => x[i]);
  return [answer(mixed, there), order.map((i) => before[i])];
}

/** By how much node `from` moves the others that are more than two steps away. */
function reached({ x, edges, from }, joined) {
  const hub = x.length;
  const all = joined ? [...edges, ...upTo(hub).map((i) => [i, hub])] : edges;
  const rows = joined ? [...x, x[0].map(() => 0)] : x;
  const nudged = rows.map((row, i) => (i === from ? row.map((entry) => entry + 1) : row));
  const [before, now] = [rows, nudged].map((given) => after(given, all, ROUNDS));
  const moved = distances(x.length, edges, from).map((steps, i) =>
    steps > ROUNDS ? apart([before[i]], [now[i]]) : 0,
  );
  return moved.reduce((most, by, node) => (by > most.by ? { by, node } : most), {
    by: 0,
    node: from,
  });
}

export const claims = {
  renumbered: {
    axes: { x: ["node", "feature"] },
    least: { node: 2 },
    places: { edges: "node", order: "node" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      edges: edgesOf(random, size),
      order: orderOf(random, size),
    }),
    residual: (given, bend) => apart(...twoNumberings(given, bend)),
    picture: ({ x, edges }) => graphPicture(x.length, edges),
    show: (given, bend) => {
      const [there, here] = twoNumberings(given, bend);
      return `Nodes ${vectors(given.x)}, edges ${told(given.edges)}, in the order
        ${ordered(given.order)}: they get ${vectors(there)} in place of ${vectors(here)}.`;
    },
    told: plain,
  },
  "two-rounds": {
    axes: { x: ["node", "feature"] },
    least: { node: 2 },
    places: { edges: "node", from: "node" },
    draw: (random, size) => ({
      x: table(random, size + 2, 1),
      edges: edgesOf(random, size + 2),
      from: whole(random, 0, size + 1),
    }),
    residual: (given, bend) => reached(given, bend).by,
    picture: ({ x, edges, from }) => graphPicture(x.length, edges, from),
    show: (given, bend) => {
      const { by, node } = reached(given, bend);
      return `${given.x.length} nodes, edges ${told(given.edges)}. Raise node ${given.from + 1} by 1:
        after two rounds node ${node + 1} has moved by ${plain(by)}.`;
    },
  },
};

export default breakIt(claims);
