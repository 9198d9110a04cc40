import { softLookup } from "../maths/lookup.js";
import { memoryWeights } from "../maths/memory.js";
import { bars, dots } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, farthest, percent, plain, vector, vectors } from "./telling.js";
import { list } from "./trials.js";

const UNUSED = { decay: 1, keys: [], query: [] };

/** The weights of guests with these scores; of gates, once they are divided by their sum. */
function shares(score, gates) {
  const all = { guests: score.length, arrived: score.length, score, gate: score, door: 0 };
  const weights = memoryWeights(gates ? "gate" : "softmax", { ...all, ...UNUSED, temperature: 1 });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

const beforeAndAfter = ({ score, shift }, bend) => [
  shares(score, bend),
  shares(
    score.map((s) => s + shift),
    bend,
  ),
];

/** @param {any} given */
const keysOf = ({ angle, length }, bend) =>
  angle.map((turn, i) => {
    const size = 1 + 0.9 * bend * length[i];
    return [size * Math.cos(turn), size * Math.sin(turn)];
  });

/** The weights by distance, and by dot product at half the temperature. @param {any} given */
function twoLookups({ query, temperature, ...given }, bend) {
  const keys = keysOf(given, bend);
  const weights = (similarity, tau) =>
    softLookup(query, keys, given.angle, similarity, tau).weights;
  return [weights("distance", temperature), weights("dot", temperature / 2)];
}

export const claims = {
  "softmax-shares": {
    axes: { score: ["guest"] },
    draw: (random, size) => {
      const [shift, ...score] = list(random, size + 1, 3);
      return { score, shift };
    },
    residual: (given, bend) => apart(...beforeAndAfter(given, bend)),
    picture: (given, bend) => bars(...beforeAndAfter(given, bend)),
    show: (given, bend) => {
      const [before, after] = beforeAndAfter(given, bend);
      const { at } = farthest(before, after);
      return `Scores ${vector(given.score)}. Add ${plain(given.shift)} to each: the weight of
        guest ${at + 1} was ${plain(before[at])} and is ${plain(after[at])}.`;
    },
  },
  "equal-lengths": {
    axes: { angle: ["key"], length: ["key"] },
    draw: (random, size) => ({
      query: list(random, 2),
      angle: list(random, size, 3),
      length: list(random, size, 1),
      temperature: 0.1 + Math.round(10 * random()) / 10,
    }),
    valid: ({ temperature }) => temperature > 0,
    residual: (given, bend) => apart(...twoLookups(given, bend)),
    picture: (given, bend) => [dots(keysOf(given, bend)), dots([given.query], "ink", 0.09)],
    show: (given, bend) => {
      const [distance, product] = twoLookups(given, bend);
      const { at } = farthest(distance, product);
      return `Query ${vector(given.query)}, keys ${vectors(keysOf(given, bend))}, τ =
        ${plain(given.temperature)}. Distance gives key ${at + 1} the weight
        ${plain(distance[at])}, the dot product ${plain(product[at])}.`;
    },
    told: (bend) => `± ${percent(0.9 * bend)}`,
  },
};

export default breakIt(claims);
