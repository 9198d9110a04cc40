import { anyOrder, attended, looks, past } from "./attended.js";
import { breakIt } from "./break_it.js";
import { instead, table, whole, written } from "./cases.js";

const ahead = (by) => (i, count) => Math.min(count, past(i) + by);

export const claims = {
  "causal-past": {
    axes: { x: ["token", "feature"], other: ["token", "feature"] },
    places: { t: "token" },
    draw: (random, size) => ({
      x: table(random, size, 2),
      other: table(random, size, 2),
      t: whole(random, 0, size - 2),
    }),
    valid: ({ x, t }) => t < x.length - 1,
    sides: ({ x, other, t }, bend) => {
      const changed = x.map((token, i) => (i > t ? other[i] : token));
      return [changed, x].map((tokens) => attended(tokens, ahead(bend)).slice(0, t + 1));
    },
    picture: ({ x }, _, bend) => looks(x, ahead(bend)),
    show: ({ x, other, t }, sides) =>
      `Tokens ${written(x)}. Change those after token ${t + 1} to ${written(other.slice(t + 1))}:
        those before get ${instead(sides)}.`,
  },
  "any-order": anyOrder((x, causal) => attended(x, causal ? past : undefined)),
};

export default breakIt(claims);
