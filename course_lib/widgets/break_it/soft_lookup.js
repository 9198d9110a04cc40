import { percent } from "../kit/text.js";
import { softLookup } from "../maths/lookup.js";
import { sigmoid, softmax, sum } from "../maths/numerics.js";
import { breakIt } from "./break_it.js";
import { list, plain, positive, worst, written } from "./cases.js";
import { dots, sharesCompared } from "./pictures.js";

/** The weights of these scores; of gates, once they are divided by their sum. */
function shares(scores, gates) {
  if (!gates) return softmax(scores);
  const open = scores.map(sigmoid);
  return open.map((gate) => gate / sum(open));
}

/** @param {any} given */
const keysOf = ({ angle, length }, bend) =>
  angle.map((turn, i) => {
    const size = 1 + 0.9 * bend * length[i];
    return [size * Math.cos(turn), size * Math.sin(turn)];
  });

export const claims = {
  "softmax-shares": {
    axes: { score: ["guest"] },
    draw: (random, size) => {
      const [shift, ...score] = list(random, size + 1, 3);
      return { score, shift };
    },
    sides: ({ score, shift }, gates) =>
      [score.map((s) => s + shift), score].map((scores) => shares(scores, gates)),
    picture: sharesCompared,
    show: ({ score, shift }, sides) =>
      `Scores ${written(score)}. Add ${plain(shift)} to each: ${worst(sides, "guest")}.`,
  },
  "equal-lengths": {
    axes: { angle: ["key"], length: ["key"] },
    draw: (random, size) => ({
      query: list(random, 2),
      angle: list(random, size, 3),
      length: list(random, size, 1),
      temperature: positive(random, 1.1),
    }),
    valid: ({ temperature }) => temperature > 0,
    sides: ({ query, temperature, ...given }, bend) => {
      const keys = keysOf(given, bend);
      const weights = (similarity, tau) => softLookup(query, keys, [], similarity, tau).weights;
      return [weights("distance", temperature), weights("dot", temperature / 2)];
    },
    picture: (given, _, bend) => [dots(keysOf(given, bend)), dots([given.query], "ink", 0.09)],
    show: (given, sides, bend) => `Query ${written(given.query)}, keys
      ${written(keysOf(given, bend))}, τ = ${plain(given.temperature)}. By distance
      ${worst(sides, "key")} by the dot product.`,
    told: (bend) => `± ${percent(0.9 * bend)}`,
  },
};

export default breakIt(claims);
