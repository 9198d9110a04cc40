import { between, hats, softmaxBasis } from "../maths/basis.js";
import { dot, softmax } from "../maths/numerics.js";
import { breakIt } from "./break_it.js";
import { list, plain, positive, tenths, whole, worst, written } from "./cases.js";
import { dots, line, sharesCompared } from "./pictures.js";

/** Nodes from 0 on, some tenths apart. */
function nodesOf(random, count) {
  let at = 0;
  return list(random, count, 0).map((_, i) => {
    at += i && whole(random, 1, 9);
    return at / 10;
  });
}
const increasing = (nodes) => nodes.every((node, i) => i === 0 || node > nodes[i - 1]);

/** Places on [0, 4.5] and values of ±2, in the plane of the pictures. */
const point = (x, y) => [x - 2.2, y];

export const claims = {
  "hats-are-straight": {
    axes: { nodes: ["node"], y: ["node"] },
    draw: (random, size) => {
      const nodes = nodesOf(random, size);
      const x = whole(random, 0, Math.round(10 * nodes[size - 1])) / 10;
      return { nodes, y: list(random, size), x };
    },
    valid: ({ nodes, x }) => increasing(nodes) && nodes[0] <= x && x <= nodes[nodes.length - 1],
    sides: ({ nodes, y, x }, soft) => {
      const h = (nodes[nodes.length - 1] - nodes[0]) / (nodes.length - 1);
      const [weights] = soft ? softmaxBasis([x], nodes, h * h) : hats([x], nodes);
      return [dot(weights, y), between(x, nodes, y)];
    },
    picture: ({ nodes, y, x }, [blend]) => [
      line(nodes.map((node, i) => point(node, y[i]))),
      dots([point(x, blend)], "warm", 0.08),
    ],
    show: ({ nodes, y, x }, [blend, straight]) =>
      `Nodes ${written(nodes)}, values ${written(y)}: at ${plain(x)} the blend is ${plain(blend)},
        the straight line ${plain(straight)}.`,
  },
  "basis-is-attention": {
    axes: { nodes: ["node"] },
    draw: (random, size) => ({
      nodes: list(random, size),
      x: tenths(random),
      temperature: positive(random, 2),
    }),
    valid: ({ temperature }) => temperature > 0,
    sides: ({ nodes, x, temperature }, leftOut) => {
      const scores = nodes.map((node) => 2 * x * node - (1 - leftOut) * node * node);
      return [softmaxBasis([x], nodes, temperature)[0], softmax(scores, temperature)];
    },
    picture: sharesCompared,
    show: ({ nodes, x, temperature }, sides) =>
      `Nodes ${written(nodes)}, x = ${plain(x)}, τ = ${plain(temperature)}: in the basis
        ${worst(sides, "node")} in attention.`,
  },
};

export default breakIt(claims);
