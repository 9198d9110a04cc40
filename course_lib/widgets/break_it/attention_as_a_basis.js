import { between, hats, softmaxBasis } from "../maths/basis.js";
import { dot, softmax } from "../maths/numerics.js";
import { bars, dots, line } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, difference, farthest, percent, plain, vector } from "./telling.js";
import { list, tenths, whole } from "./trials.js";

/** Nodes from 0 on, some tenths apart. */
function nodesOf(random, count) {
  let at = 0;
  return list(random, count, 0).map((_, i) => {
    at += i && whole(random, 1, 9);
    return at / 10;
  });
}
const increasing = (nodes) => nodes.every((node, i) => i === 0 || node > nodes[i - 1]);

/** The blend at x, and the straight line between the neighbours. */
function twoValues({ nodes, y, x }, soft) {
  const h = (nodes[nodes.length - 1] - nodes[0]) / (nodes.length - 1);
  const [weights] = soft ? softmaxBasis([x], nodes, h * h) : hats([x], nodes);
  return [dot(weights, y), between(x, nodes, y)];
}

/** The softmax basis at x, and attention with a bias, or without a share of it. */
function twoBases({ nodes, x, temperature }, share) {
  const scores = nodes.map((node) => 2 * x * node - (1 - share) * node * node);
  return [softmaxBasis([x], nodes, temperature)[0], softmax(scores, temperature)];
}

/** Places on [0, 4.5] and values of ±2, in the plane of the pictures. */
const point = (x, y) => [x - 2.2, y];

export const claims = {
  "hats-are-straight": {
    axes: { nodes: ["node"], y: ["node"] },
    least: { node: 2 },
    draw: (random, size) => {
      const nodes = nodesOf(random, size);
      const x = whole(random, 0, Math.round(10 * nodes[size - 1])) / 10;
      return { nodes, y: list(random, size), x };
    },
    valid: ({ nodes, x }) => increasing(nodes) && nodes[0] <= x && x <= nodes[nodes.length - 1],
    residual: (given, bend) => difference(twoValues(given, bend)),
    picture: (given, bend) => {
      const { nodes, y, x } = given;
      return [
        line(nodes.map((node, i) => point(node, y[i]))),
        dots([point(x, twoValues(given, bend)[0])], "warm", 0.08),
      ];
    },
    show: (given, bend) => {
      const [blend, straight] = twoValues(given, bend).map(plain);
      return `Nodes ${vector(given.nodes)}, values ${vector(given.y)}: at ${plain(given.x)} the blend
        is ${blend}, the straight line ${straight}.`;
    },
  },
  "basis-is-attention": {
    axes: { nodes: ["node"] },
    least: { node: 2 },
    draw: (random, size) => ({
      nodes: list(random, size),
      x: tenths(random),
      temperature: whole(random, 1, 20) / 10,
    }),
    valid: ({ temperature }) => temperature > 0,
    residual: (given, bend) => apart(...twoBases(given, bend)),
    picture: (given, bend) => bars(...twoBases(given, bend)),
    show: (given, bend) => {
      const [basis, attention] = twoBases(given, bend);
      const { at } = farthest(basis, attention);
      return `Nodes ${vector(given.nodes)}, x = ${plain(given.x)}, τ = ${plain(given.temperature)}: node
        ${at + 1} weighs ${plain(basis[at])} in the basis, ${plain(attention[at])} in attention.`;
    },
    told: percent,
  },
};

export default breakIt(claims);
