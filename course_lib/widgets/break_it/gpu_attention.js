import { mergePartials, partialAttention, wholeRow } from "../maths/tiles.js";
import { ordered } from "./attended.js";
import { bars } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, vector, vectors } from "./telling.js";
import { list, orderOf, table, whole } from "./trials.js";

const asked = {
  axes: { query: ["feature"], key: ["token", "feature"], value: ["token", "output"] },
  least: { token: 2 },
};
const drawn = (random, size) => ({
  query: list(random, 2),
  key: table(random, size, 2),
  value: table(random, size, 2),
});

/** One report after another, each a tile of one key; `added` as they are if they do not rescale. */
function merged({ query, key, value, order }, added) {
  const reports = order.map((j) => partialAttention(query, [key[j]], [value[j]], 1, 1));
  const together = (a, b) => {
    const sum = mergePartials(a, b);
    if (!added) return sum;
    const output = a.output.map((x, i) => x + b.output[i]);
    return { ...sum, total: a.total + b.total, output };
  };
  return finish(reports.reduce(together));
}
const finish = ({ output, total }) => output.map((x) => x / total);

const exact = ({ query, key, value }) => wholeRow(query, key, value, 1, key.length);

/** Two programs share the keys out; their reports are merged, or their outputs averaged. */
function shared({ query, key, value, cut }, averaged) {
  const parts = [
    [0, cut],
    [cut, key.length],
  ].map(([from, to]) =>
    partialAttention(query, key.slice(from, to), value.slice(from, to), 1, to - from),
  );
  if (!averaged) return finish(parts.reduce(mergePartials));
  const [a, b] = parts.map(finish);
  return a.map((x, i) => (x + b[i]) / 2);
}

/** The weight that each key gets in this way of adding up, and the one that is its due. */
const weighed = (way) => (one, bend) => {
  const value = one.key.map((_, i) => one.key.map((_, j) => Number(i === j)));
  return bars(way({ ...one, value }, bend), exact({ ...one, value }));
};
const given = ({ query, key, value }) =>
  `Query ${vector(query)}, keys ${vectors(key)}, values ${vectors(value)}`;

export const claims = {
  "order-of-tiles": {
    ...asked,
    places: { order: "token" },
    draw: (random, size) => ({ ...drawn(random, size), order: orderOf(random, size) }),
    residual: (one, bend) => apart(merged(one, bend), exact(one)),
    picture: weighed(merged),
    show: (one, bend) => `${given(one)}, merged in the order ${ordered(one.order)}:
      ${vector(merged(one, bend))} in place of ${vector(exact(one))}.`,
  },
  "keys-shared-out": {
    ...asked,
    places: { cut: "token" },
    draw: (random, size) => ({ cut: whole(random, 1, size - 1), ...drawn(random, size) }),
    valid: ({ cut }) => cut > 0,
    residual: (one, bend) => apart(shared(one, bend), exact(one)),
    picture: weighed(shared),
    show: (one, bend) => `${given(one)}, shared out as ${one.cut} and ${one.key.length - one.cut}:
      ${vector(shared(one, bend))} in place of ${vector(exact(one))}.`,
  },
};

export default breakIt(claims);
