import { boostedAlongBeam, momentumOf } from "../maths/boosts.js";
import { directionOf, flightOf, pairOf } from "../maths/jets.js";
import { blend, dot, mean, softmax } from "../maths/numerics.js";
import { breakIt } from "./break_it.js";
import { instead, list, ordered, orderOf, plain, table, tenths, whole, written } from "./cases.js";
import { cells, dots } from "./pictures.js";

const NEAREST = 0.1; // of two particles' angles around the beam: at one place all is a floor
const SMALLEST = 1e-8; // what counts in place of 0, as in course_lib.jets

/** ln Δ, ln kT, ln z and ln m² of two momenta; Δ may be taken of pseudorapidities. */
function featuresOf(momenta, pseudo) {
  const [a, b] = momenta.map((momentum) => ({
    ...flightOf(momentum),
    ...(pseudo ? { y: directionOf(momentum).eta } : {}),
  }));
  return pairOf(a, b).map((value) => Math.log(Math.max(SMALLEST, value)));
}

/** Two numbers, the second moved if it lies too near. @param {number[]} pair */
const parted = ([a, b]) => [a, Math.abs(a - b) < NEAREST ? a + NEAREST : b];

/** What attention with a bias for each pair makes of a set, on average over its particles. */
function pooled(x, pairs) {
  const answers = x.map((query, i) =>
    blend(softmax(x.map((key, j) => dot(query, key) / Math.sqrt(query.length) + pairs[i][j])), x),
  );
  return x[0].map((_, k) => mean(answers.map((row) => row[k])));
}

const pairsIn = ({ pairs, order }, left) =>
  left ? pairs : order.map((i) => order.map((j) => pairs[i][j]));

export const claims = {
  "pairs-boosted": {
    axes: {},
    draw: (random) => {
      const two = (low, high) => [0, 1].map(() => whole(random, low, high) / 10);
      return {
        pt: two(5, 50),
        y: list(random, 2),
        phi: parted(list(random, 2)),
        mass: two(0, 30),
        shift: tenths(random),
      };
    },
    valid: ({ pt, phi }) => Math.min(...pt) >= 0.5 && Math.abs(phi[0] - phi[1]) >= NEAREST,
    sides: ({ pt, y, phi, mass, shift }, pseudo) => {
      const momenta = [0, 1].map((i) =>
        momentumOf({ pt: pt[i], y: y[i], phi: phi[i], mass: mass[i] }),
      );
      const moved = momenta.map((momentum) => boostedAlongBeam(momentum, shift));
      return [moved, momenta].map((seen) => featuresOf(seen, pseudo));
    },
    picture: ({ y, phi, shift }) =>
      [0, shift].map((by) =>
        dots(
          y.map((rapidity, i) => [(rapidity + by) / 2, phi[i] / 2]),
          by ? "accent" : "edge",
        ),
      ),
    show: ({ pt, y, phi, mass, shift }, sides) =>
      `pT ${written(pt)}, y ${written(y)}, φ ${written(phi)}, masses ${written(mass)}, moved by
        ${plain(shift)}: ln Δ, ln kT, ln z, ln m² are ${instead(sides)}.`,
  },
  "jet-order": {
    axes: { x: ["particle", "feature"], pairs: ["particle", "particle"] },
    places: { order: "particle" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      pairs: table(random, size, size),
      order: orderOf(random, size),
    }),
    sides: ({ x, pairs, order }, left) => {
      const mixed = order.map((i) => x[i]);
      return [pooled(mixed, pairsIn({ pairs, order }, left)), pooled(x, pairs)];
    },
    picture: (given, _, left) => cells(pairsIn(given, left)),
    show: ({ x, pairs, order }, sides) =>
      `Particles ${written(x)}, pairs ${written(pairs)}, in the order ${ordered(order)}: the jet is
        ${instead(sides)}.`,
  },
};

export default breakIt(claims);
