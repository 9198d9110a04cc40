import { divergence } from "../maths/divergence.js";
import { energyAt, gradient, inModes, laplacianModes } from "../maths/graph_dynamics.js";
import { dot, upTo } from "../maths/numerics.js";
import { edgesOf, graphPicture, told } from "./graphs.js";
import { cells } from "./pictures.js";
import { breakIt } from "./strip.js";
import { difference, percent, plain, vector } from "./telling.js";
import { list, table, whole } from "./trials.js";

/** All pairs of nodes, and what flows along each. */
const flows = ({ f, g }) => {
  const edges = upTo(f.length).flatMap((j) => upTo(j).map((i) => [i, j]));
  return { edges, flow: edges.map(([i, j]) => g[i][j]) };
};

/** ⟨f, δ*g⟩ on the nodes, and ⟨δf, g⟩ on the edges. */
function twoProducts(given, lost) {
  const { edges, flow } = flows(given);
  return [
    dot(given.f, divergence(flow, edges, given.f.length, lost)),
    dot(gradient(given.f, edges), flow),
  ];
}

/** The energy at the start, and after the time t. */
function twoEnergies({ q, edges, t }, bracket) {
  const modes = laplacianModes(q.length, edges);
  const start = inModes(modes, q, new Float64Array(edges.length));
  const at = (time) => energyAt(bracket ? "bracket" : "wave", modes.values, start, time).whole;
  return [at(0), at(t)];
}

export const claims = {
  adjoint: {
    axes: { f: ["node"], g: ["node", "node"] },
    least: { node: 2 },
    draw: (random, size) => ({ f: list(random, size), g: table(random, size, size) }),
    residual: (given, bend) => difference(twoProducts(given, bend)),
    picture: ({ g }) => cells(g.map((row, i) => row.map((flow, j) => (i < j ? flow : 0)))),
    show: (given, bend) => {
      const { edges, flow } = flows(given);
      const [nodes, along] = twoProducts(given, bend).map(plain);
      return `f = ${vector(given.f)}, and g = ${vector(flow)} on ${told(edges)}: ${nodes} on the nodes,
        ${along} on the edges.`;
    },
    told: percent,
  },
  "wave-energy": {
    axes: { q: ["node"] },
    least: { node: 2 },
    places: { edges: "node" },
    draw: (random, size) => ({
      q: list(random, size),
      edges: edgesOf(random, size),
      t: whole(random, 1, 50) / 10,
    }),
    valid: ({ t }) => t > 0,
    residual: (given, bend) => difference(twoEnergies(given, bend)),
    picture: ({ q, edges }) => graphPicture(q.length, edges, -1, q),
    show: (given, bend) => {
      const [before, after] = twoEnergies(given, bend).map(plain);
      return `Heights ${vector(given.q)}, springs ${told(given.edges)}: the energy was ${before} and
        is ${after} at t = ${plain(given.t)}.`;
    },
  },
};

export default breakIt(claims);
