import { gaussianLogLikelihood, klByIntegral, klOf } from "../maths/clouds.js";
import { breakIt } from "./break_it.js";
import { list, plain, positive, table, written } from "./cases.js";
import { bars, dots } from "./pictures.js";

export const claims = {
  "price-of-a-cloud": {
    axes: { mean: ["code"], sigma: ["code"] },
    draw: (random, size) => ({
      mean: list(random, size),
      sigma: list(random, size, 0).map(() => positive(random, 3)),
    }),
    valid: ({ sigma }) => sigma.every((s) => s > 0),
    sides: ({ mean, sigma }, mistaken) => [
      klOf(mean, mistaken ? sigma.map(Math.sqrt) : sigma),
      klByIntegral(mean, sigma),
    ],
    picture: ({ mean, sigma }) =>
      mean.map((m, i) =>
        dots([[m, (4 * (i + 0.5)) / mean.length - 2]], "accent", 0.02 + sigma[i] / 20),
      ),
    show: ({ mean, sigma }, [formula, integral]) =>
      `μ = ${written(mean)}, σ = ${written(sigma)}: the formula says ${plain(formula)} nats, the
        integral ${plain(integral)}.`,
  },
  // By how much one network is better than another: by reconstruction less β KL, and by β ELBO with
  // the noise β s², or with s², as it was.
  "beta-is-noise": {
    axes: { x: ["pixel"], guess: ["network", "pixel"], kl: ["network"] },
    draw: (random, size) => ({
      x: list(random, size),
      guess: table(random, 2, size),
      kl: [positive(random, 3), positive(random, 3)],
      variance: positive(random, 3),
      beta: positive(random, 4),
    }),
    valid: ({ variance, beta, kl }) => [variance, beta, ...kl].every((number) => number > 0),
    sides: ({ x, guess, kl, variance, beta }, stays) => {
      const gain = (noise, weight) => {
        const [one, other] = guess.map(
          (y, i) => gaussianLogLikelihood(x, y, noise) - weight * kl[i],
        );
        return one - other;
      };
      return [gain(variance, beta), beta * gain(stays ? variance : beta * variance, 1)];
    },
    picture: ({ kl }) => {
      const prices = kl.map((k) => k / 3);
      return bars(prices, prices);
    },
    show: ({ x, guess, variance, beta }, [left, right]) =>
      `x = ${written(x)}, guesses ${written(guess)}, s² = ${plain(variance)}, β = ${plain(beta)}: the
        first network is better by ${plain(left)} on the left, by ${plain(right)} on the right.`,
  },
};

export default breakIt(claims);
