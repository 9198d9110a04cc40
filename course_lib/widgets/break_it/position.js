import { dot } from "../maths/numerics.js";
import { rotaryRow, sinusoidRow } from "../maths/position.js";
import { attended, reordering } from "./attended.js";
import { line } from "./pictures.js";
import { breakIt } from "./strip.js";
import { difference, percent, plain, vector } from "./telling.js";
import { table, whole } from "./trials.js";

const BASE = 10_000;

/** The scores of query and key at their places, and farther on by `move`. */
function twoScores({ q, k, s, t, move }, bend) {
  return [0, move].map((by) => {
    const [query, key] = [
      rotaryRow(q.flat(), (1 + bend) * (s + by), BASE),
      rotaryRow(k.flat(), t + by, BASE),
    ];
    return dot(query, key);
  });
}

const hand = (pair, place, ink) => {
  const [x, y] = rotaryRow(pair, place, BASE);
  const length = Math.hypot(x, y) / 2 || 1;
  return line(
    [
      [0, 0],
      [x / length, y / length],
    ],
    ink,
    0.06,
  );
};

/** What tokens get in another order, and in the first, reordered; place t adds a share of p_t. */
function twoOrders({ x, order }, share) {
  const placed = (tokens) =>
    tokens.map((token, t) => {
      const p = sinusoidRow(t, 2, BASE);
      return token.map((entry, i) => entry + share * (p[i] ?? 0));
    });
  const outputs = (tokens) => attended(placed(tokens)).output;
  const before = outputs(x);
  return [outputs(order.map((i) => x[i])), order.map((i) => before[i])];
}

export const claims = {
  "places-do-not-matter": {
    ...reordering(twoOrders),
    told: percent,
  },
  "difference-alone": {
    axes: { q: ["pair", "side"], k: ["pair", "side"] },
    least: { side: 2 },
    draw: (random, size) => {
      const pairs = Math.ceil(size / 2);
      const place = () => whole(random, 0, 20);
      const places = { s: place(), t: place(), move: 1 + place() };
      return { q: table(random, pairs, 2), k: table(random, pairs, 2), ...places };
    },
    valid: ({ s, t, move }) => [s, t, move].every((place) => place >= 0 && Number.isInteger(place)),
    residual: (given, bend) => difference(twoScores(given, bend)),
    picture: ({ q, k, s, t }, bend) => [
      hand(q[0], (1 + bend) * s, "accent"),
      hand(k[0], t, "warm"),
    ],
    show: (given, bend) => {
      const { q, k, s, t, move } = given;
      const [here, there] = twoScores(given, bend).map(plain);
      return `Query ${vector(q.flat())} at ${s}, key ${vector(k.flat())} at ${t}: score ${here}. Both
        ${move} farther on: ${there}.`;
    },
    told: percent,
  },
};

export default breakIt(claims);
