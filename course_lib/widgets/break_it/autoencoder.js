import { gaussianLogLikelihood, klByIntegral, klOf } from "../maths/clouds.js";
import { bars, dots } from "./pictures.js";
import { breakIt } from "./strip.js";
import { difference, plain, vector, vectors } from "./telling.js";
import { list, table, whole } from "./trials.js";

/** The price by the formula, in which σ may stand for σ², and by the integral. */
const twoPrices = ({ mean, sigma }, mistaken) => [
  klOf(mean, mistaken ? sigma.map(Math.sqrt) : sigma),
  klByIntegral(mean, sigma),
];

/**
 * By how much one network is better than another: by reconstruction less β KL, and by β ELBO with
 * the noise β s², or with one that stays nearer to s².
 */
function twoGains({ x, guess, kl, variance, beta }, stays) {
  const gain = (noise, weight) => {
    const [one, other] = guess.map((y, i) => gaussianLogLikelihood(x, y, noise) - weight * kl[i]);
    return one - other;
  };
  return [gain(variance, beta), beta * gain(variance * beta ** (1 - stays), 1)];
}

const positive = (random, count) => list(random, count, 0).map(() => whole(random, 1, 30) / 10);

export const claims = {
  "price-of-a-cloud": {
    axes: { mean: ["code"], sigma: ["code"] },
    draw: (random, size) => ({ mean: list(random, size), sigma: positive(random, size) }),
    valid: ({ sigma }) => sigma.every((s) => s > 0),
    residual: (given, bend) => difference(twoPrices(given, bend)),
    picture: ({ mean, sigma }) =>
      mean.map((m, i) =>
        dots([[m, (4 * (i + 0.5)) / mean.length - 2]], "accent", 0.02 + sigma[i] / 20),
      ),
    show: (given, bend) => {
      const [formula, integral] = twoPrices(given, bend).map(plain);
      return `μ = ${vector(given.mean)}, σ = ${vector(given.sigma)}: the formula says ${formula} nats,
        the integral ${integral}.`;
    },
  },
  "beta-is-noise": {
    axes: { x: ["pixel"], guess: ["network", "pixel"], kl: ["network"] },
    least: { network: 2 },
    draw: (random, size) => ({
      x: list(random, size),
      guess: table(random, 2, size),
      kl: positive(random, 2),
      variance: whole(random, 1, 30) / 10,
      beta: whole(random, 1, 40) / 10,
    }),
    valid: ({ variance, beta, kl }) => [variance, beta, ...kl].every((number) => number > 0),
    residual: (given, bend) => difference(twoGains(given, bend)),
    picture: ({ kl }) =>
      bars(
        kl.map((k) => k / 3),
        kl.map((k) => k / 3),
      ),
    show: (given, bend) => {
      const { x, guess, variance, beta } = given;
      const [one, other] = twoGains(given, bend).map(plain);
      return `x = ${vector(x)}, guesses ${vectors(guess)}, s² = ${plain(variance)}, β = ${plain(beta)}:
        the first network is better by ${one} on the left, by ${other} on the right.`;
    },
  },
};

export default breakIt(claims);
