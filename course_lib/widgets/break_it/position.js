import { dot } from "../maths/numerics.js";
import { rotaryRow, sinusoidRow } from "../maths/position.js";
import { anyOrder, attended } from "./attended.js";
import { breakIt } from "./break_it.js";
import { plain, table, whole, written } from "./cases.js";
import { line } from "./pictures.js";

const BASE = 10_000;
const placed = (x, share) =>
  x.map((token, t) => {
    const p = sinusoidRow(t, 2, BASE);
    return token.map((entry, i) => entry + share * p[i]);
  });

/** A pair that was turned by its place, as a hand of one length. */
const hand = (pair, place, ink) => {
  const [x, y] = rotaryRow(pair, place, BASE);
  const length = Math.hypot(x, y) / 2 || 1;
  const [from, to] = [
    [0, 0],
    [x / length, y / length],
  ];
  return line([from, to], ink, 0.06);
};

export const claims = {
  "places-do-not-matter": anyOrder((x, share) => attended(placed(x, share))),
  "difference-alone": {
    axes: { q: ["pair"], k: ["pair"] },
    draw: (random, size) => {
      const pairs = Math.ceil(size / 2);
      const place = () => whole(random, 0, 20);
      const places = { s: place(), t: place(), move: 1 + place() };
      return { q: table(random, pairs, 2), k: table(random, pairs, 2), ...places };
    },
    sides: ({ q, k, s, t, move }, bend) =>
      [move, 0].map((by) => {
        const query = rotaryRow(q.flat(), (1 + bend) * (s + by), BASE);
        return dot(query, rotaryRow(k.flat(), t + by, BASE));
      }),
    picture: ({ q, k, s, t }, _, bend) => [
      hand(q[0], (1 + bend) * s, "accent"),
      hand(k[0], t, "warm"),
    ],
    show: ({ q, k, s, t, move }, [there, here]) =>
      `Query ${written(q.flat())} at ${s}, key ${written(k.flat())} at ${t}: score ${plain(here)}. Both
        ${move} farther on: ${plain(there)}.`,
  },
};

export default breakIt(claims);
