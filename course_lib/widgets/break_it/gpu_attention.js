import { mergePartials, partialAttention, wholeRow } from "../maths/tiles.js";
import { breakIt } from "./break_it.js";
import { instead, list, ordered, orderOf, table, whole, written } from "./cases.js";
import { bars } from "./pictures.js";

const finish = ({ output, total }) => output.map((x) => x / total);
const exact = ({ query, key, value }) => wholeRow(query, key, value, 1, key.length);

/** Reports of single keys, one after another, which may be added as they are, without rescaling. */
function merged({ query, key, value, order }, added) {
  const reports = order.map((j) => partialAttention(query, [key[j]], [value[j]], 1, 1));
  const plus = (a, b) => ({
    total: a.total + b.total,
    output: a.output.map((x, i) => x + b.output[i]),
  });
  return finish(reports.reduce(added ? plus : mergePartials));
}

/** Two programs share the keys out; their reports are merged, or their outputs averaged. */
function shared({ query, key, value, cut }, averaged) {
  const parts = [key.slice(0, cut), key.slice(cut)].map((keys, second) =>
    partialAttention(query, keys, value.slice(second ? cut : 0), 1, keys.length),
  );
  if (!averaged) return finish(parts.reduce(mergePartials));
  const [a, b] = parts.map(finish);
  return a.map((x, i) => (x + b[i]) / 2);
}

/** The claim that keys that are read in this `way` give the attention of all. */
const attention = (way, how) => ({
  axes: { query: ["feature"], key: ["token", "feature"], value: ["token", "output"] },
  sides: (given, bend) => [way(given, bend), exact(given)],
  // With the unit vectors for values the output is the weight of each key.
  picture: (given, _, bend) => {
    const value = given.key.map((_, i) => given.key.map((_, j) => Number(i === j)));
    return bars(way({ ...given, value }, bend), exact({ ...given, value }));
  },
  show: (given, sides) =>
    `Query ${written(given.query)}, keys ${written(given.key)}, values ${written(given.value)},
      ${how(given)}: ${instead(sides)}.`,
});
const drawn = (random, size) => ({
  query: list(random, 2),
  key: table(random, size, 2),
  value: table(random, size, 2),
});

export const claims = {
  "order-of-tiles": {
    ...attention(merged, ({ order }) => `merged in the order ${ordered(order)}`),
    places: { order: "token" },
    draw: (random, size) => ({ ...drawn(random, size), order: orderOf(random, size) }),
  },
  "keys-shared-out": {
    ...attention(shared, ({ key, cut }) => `shared out as ${cut} and ${key.length - cut}`),
    places: { cut: "token" },
    draw: (random, size) => ({ cut: whole(random, 1, size - 1), ...drawn(random, size) }),
    valid: ({ cut }) => cut > 0,
  },
};

export default breakIt(claims);
