import { boostedAlongBeam, momentumOf } from "../maths/boosts.js";
import { directionOf, flightOf, pairOf } from "../maths/jets.js";
import { blend, dot, mean, softmax } from "../maths/numerics.js";
import { ordered } from "./attended.js";
import { cells, dots } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, plain, vector, vectors } from "./telling.js";
import { list, orderOf, table, tenths, whole } from "./trials.js";

const PAIR = 2;
const NEAREST = 0.1; // of two particles' angles around the beam: at one place all is a floor
const SMALLEST = 1e-8; // what counts in place of 0, as in course_lib.jets

/** The particles of a case, as momenta. */
const momentaOf = ({ pt, y, phi, mass }) =>
  pt.map((_, i) => momentumOf({ pt: pt[i], y: y[i], phi: phi[i], mass: mass[i] }));

/** ln Δ, ln kT, ln z and ln m² of two momenta; Δ may be taken of pseudorapidities. */
function featuresOf(momenta, pseudo) {
  const [a, b] = momenta.map((momentum) => ({
    ...flightOf(momentum),
    ...(pseudo ? { y: directionOf(momentum).eta } : {}),
  }));
  return pairOf(a, b).map((value) => Math.log(Math.max(SMALLEST, value)));
}

/** The features for an observer at rest, and for one to whom the pair moves along the beam. */
function twoObservers(given, pseudo) {
  const momenta = momentaOf(given);
  const moved = momenta.map((momentum) => boostedAlongBeam(momentum, given.shift));
  return [featuresOf(momenta, pseudo), featuresOf(moved, pseudo)];
}

/**
 * Two numbers, the second moved if it lies too near.
 * @param {number} least
 * @param {number[]} pair
 */
const partedBy = (least, [a, b]) => [a, Math.abs(a - b) < least ? a + least : b];

/** What attention with a bias for each pair makes of a set, on average over its particles. */
function pooled(x, pairs) {
  const answers = x.map((query, i) =>
    blend(softmax(x.map((key, j) => dot(query, key) / Math.sqrt(query.length) + pairs[i][j])), x),
  );
  return x[0].map((_, k) => mean(answers.map((row) => row[k])));
}

/** The answer for particles in another order, whose pairs may stay, and for the first order. */
function twoOrders({ x, pairs, order }, left) {
  const moved = left ? pairs : order.map((i) => order.map((j) => pairs[i][j]));
  const mixed = order.map((i) => x[i]);
  return [pooled(mixed, moved), pooled(x, pairs)];
}

export const claims = {
  "pairs-boosted": {
    axes: { pt: ["particle"], y: ["particle"], phi: ["particle"], mass: ["particle"] },
    least: { particle: PAIR },
    draw: (random) => ({
      pt: list(random, PAIR).map(() => whole(random, 5, 50) / 10),
      y: list(random, PAIR),
      phi: partedBy(NEAREST, list(random, PAIR)),
      mass: list(random, PAIR).map(() => whole(random, 0, 30) / 10),
      shift: tenths(random),
    }),
    valid: ({ pt, phi, mass }) =>
      Math.min(...pt) >= 0.5 && Math.min(...mass) >= 0 && Math.abs(phi[0] - phi[1]) >= NEAREST,
    residual: (given, bend) => apart(...twoObservers(given, bend)),
    picture: ({ y, phi, shift }) => [
      dots(
        y.map((rapidity, i) => [rapidity, phi[i]]),
        "edge",
      ),
      dots(y.map((rapidity, i) => [rapidity + shift, phi[i]])),
    ],
    show: (given, bend) => {
      const [here, there] = twoObservers(given, bend);
      return `pT ${vector(given.pt)}, y ${vector(given.y)}, φ ${vector(given.phi)}, masses
        ${vector(given.mass)}, moved by ${plain(given.shift)}: ln Δ, ln kT, ln z, ln m² are
        ${vector(there)} in place of ${vector(here)}.`;
    },
  },
  "jet-order": {
    axes: { x: ["particle", "feature"], pairs: ["particle", "particle"] },
    least: { particle: 2 },
    places: { order: "particle" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      pairs: table(random, size, size),
      order: orderOf(random, size),
    }),
    residual: (given, bend) => apart(...twoOrders(given, bend)),
    picture: ({ pairs, order }, bend) =>
      cells(bend ? pairs : order.map((i) => order.map((j) => pairs[i][j]))),
    show: (given, bend) => {
      const [there, here] = twoOrders(given, bend);
      return `Particles ${vectors(given.x)}, pairs ${vectors(given.pairs)}, in the order
        ${ordered(given.order)}: the jet is ${vector(there)} in place of ${vector(here)}.`;
    },
  },
};

export default breakIt(claims);
