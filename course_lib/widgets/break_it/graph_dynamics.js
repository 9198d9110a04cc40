import { divergence } from "../maths/divergence.js";
import { energyAt, gradient, inModes, laplacianModes } from "../maths/graph_dynamics.js";
import { dot, upTo } from "../maths/numerics.js";
import { breakIt } from "./break_it.js";
import { edgesOf, joins, list, plain, positive, table, written } from "./cases.js";
import { cells, graph } from "./pictures.js";

/** All pairs of nodes, and what flows along each. */
const flows = ({ f, g }) => {
  const edges = upTo(f.length).flatMap((j) => upTo(j).map((i) => [i, j]));
  return { edges, flow: edges.map(([i, j]) => g[i][j]) };
};

export const claims = {
  adjoint: {
    axes: { f: ["node"], g: ["node", "node"] },
    draw: (random, size) => ({ f: list(random, size), g: table(random, size, size) }),
    sides: (given, lost) => {
      const { edges, flow } = flows(given);
      return [
        dot(given.f, divergence(flow, edges, given.f.length, lost)),
        dot(gradient(given.f, edges), flow),
      ];
    },
    picture: ({ g }) => cells(g.map((row, i) => row.map((flow, j) => (i < j ? flow : 0)))),
    show: (given, [nodes, along]) => {
      const { edges, flow } = flows(given);
      return `f = ${written(given.f)}, and g = ${written(flow)} on ${joins(edges)}: ${plain(nodes)} on
        the nodes, ${plain(along)} on the edges.`;
    },
  },
  "wave-energy": {
    axes: { q: ["node"] },
    places: { edges: "node" },
    draw: (random, size) => ({
      q: list(random, size),
      edges: edgesOf(random, size),
      t: positive(random, 5),
    }),
    sides: ({ q, edges, t }, bracket) => {
      const modes = laplacianModes(q.length, edges);
      const start = inModes(modes, q, new Float64Array(edges.length));
      const law = bracket ? "bracket" : "wave";
      return [0, t].map((time) => energyAt(law, modes.values, start, time).whole);
    },
    picture: ({ q, edges }) =>
      graph(q.length, edges, (i) => [q[i] < 0 ? "warm" : "accent", 0.03 + 0.05 * Math.abs(q[i])]),
    show: ({ q, edges, t }, [before, later]) =>
      `Heights ${written(q)}, springs ${joins(edges)}: the energy was ${plain(before)} and is
        ${plain(later)} at t = ${plain(t)}.`,
  },
};

export default breakIt(claims);
