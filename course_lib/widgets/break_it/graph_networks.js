import { distances } from "../maths/graph_dynamics.js";
import { directed, passed } from "../maths/graph_layers.js";
import { upTo } from "../maths/numerics.js";
import { breakIt } from "./break_it.js";
import {
  edgesOf,
  instead,
  joins,
  list,
  ordered,
  orderOf,
  plain,
  table,
  whole,
  worst,
  written,
} from "./cases.js";
import { graph } from "./pictures.js";

const ROUNDS = 2;
const after = (x, edges, rounds) => passed("sum", x, directed(edges), [], rounds).known[rounds];

/** A layer that tells each node a share of its number. */
const numbered = (x, edges, share) =>
  after(
    x.map(([first, ...rest], i) => [first + share * i, ...rest]),
    edges,
    1,
  );

export const claims = {
  renumbered: {
    axes: { x: ["node", "feature"] },
    places: { edges: "node", order: "node" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      edges: edgesOf(random, size),
      order: orderOf(random, size),
    }),
    sides: ({ x, edges, order }, share) => {
      const there = edges.map((edge) => edge.map((i) => order.indexOf(i)));
      const before = numbered(x, edges, share);
      return [
        numbered(
          order.map((i) => x[i]),
          there,
          share,
        ),
        order.map((i) => before[i]),
      ];
    },
    picture: ({ x, edges }) => graph(x.length, edges),
    show: ({ x, edges, order }, sides) =>
      `Nodes ${written(x)}, edges ${joins(edges)}, in the order ${ordered(order)}: they get
        ${instead(sides)}.`,
    told: plain,
  },
  "two-rounds": {
    axes: { x: ["node"] },
    places: { edges: "node", from: "node" },
    draw: (random, size) => ({
      x: list(random, size + 2),
      edges: edgesOf(random, size + 2),
      from: whole(random, 0, size + 1),
    }),
    // What nodes have that are more than two steps away, as node `from` is raised and as it was.
    sides: ({ x, edges, from }, joined) => {
      const hub = x.length;
      const wires = joined ? [...edges, ...upTo(hub).map((i) => [i, hub])] : edges;
      const far = distances(hub, edges, from).map((steps) => steps > ROUNDS);
      return [1, 0].map((raise) => {
        const rows = [...x, ...(joined ? [0] : [])].map((height, i) =>
          i === from ? [height + raise] : [height],
        );
        return far.map((isFar, i) => (isFar ? after(rows, wires, ROUNDS)[i][0] : 0));
      });
    },
    picture: ({ x, edges, from }) =>
      graph(x.length, edges, (i) => [i === from ? "warm" : "accent", 0.08]),
    show: ({ x, edges, from }, sides) =>
      `${x.length} nodes, edges ${joins(edges)}. Raise node ${from + 1} by 1: after two rounds
        ${worst(sides, "node")}.`,
  },
};

export default breakIt(claims);
