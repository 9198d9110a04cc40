import { attended, past, reordering, tokensOf, weightCells } from "./attended.js";
import { breakIt } from "./strip.js";
import { apart, plain, vectors } from "./telling.js";
import { table, whole } from "./trials.js";

const seenBy = (x, ahead) => (i) => Math.min(x.length, past(i) + ahead);

/** What the tokens up to t get, and what they get once all later tokens are others. */
function twoFutures({ x, other, t }, bend) {
  const changed = x.map((token, i) => (i > t ? other[i] : token));
  return [x, changed].map((tokens) => attended(tokens, seenBy(x, bend)).output.slice(0, t + 1));
}

/** What the tokens get in another order, and in the first order, reordered. */
function twoOrders({ x, order }, bend) {
  const mixed = order.map((i) => x[i]);
  const outputs = (tokens) => attended(tokens, bend ? past : undefined).output;
  const before = outputs(x);
  return [outputs(mixed), order.map((i) => before[i])];
}

export const claims = {
  "causal-past": {
    axes: { x: ["token", "feature"], other: ["token", "feature"] },
    least: { token: 2 },
    places: { t: "token" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      other: table(random, size, 2),
      t: whole(random, 0, size - 2),
    }),
    valid: ({ x, t }) => t < x.length - 1,
    residual: (given, bend) => apart(...twoFutures(given, bend)),
    picture: ({ x }, bend) => weightCells(x, seenBy(x, bend)),
    show: (given, bend) => {
      const { x, other, t } = given;
      return `${tokensOf(x)}. Change those after token ${t + 1} to ${vectors(other.slice(t + 1))}:
        what comes before changes by ${plain(apart(...twoFutures(given, bend)))}.`;
    },
  },
  "any-order": reordering(twoOrders),
};

export default breakIt(claims);
