import { percent } from "../kit/text.js";
import { keptDraft } from "../maths/drafts.js";
import { sum } from "../maths/numerics.js";
import { attended, looks, past } from "./attended.js";
import { breakIt } from "./break_it.js";
import { instead, list, table, whole, worst, written } from "./cases.js";
import { sharesCompared } from "./pictures.js";

/** Probabilities in the proportions of whole numbers. */
const shares = (counts) => counts.map((count) => count / sum(counts));

export const claims = {
  "cache-pieces": {
    axes: { x: ["token", "feature"] },
    places: { cut: "token" },
    draw: (random, size) => ({ x: table(random, size, 2), cut: whole(random, 1, size - 1) }),
    valid: ({ cut }) => cut > 0,
    sides: ({ x, cut }, lost) => [
      attended(x.slice(lost), past).slice(cut - lost),
      attended(x, past).slice(cut),
    ],
    picture: ({ x }) => looks(x, past),
    show: ({ x, cut }, sides) =>
      `Tokens ${written(x)}, read as ${cut} and ${x.length - cut}: the second piece gets
        ${instead(sides)}.`,
  },
  "draft-and-judge": {
    axes: { p: ["letter"], q: ["letter"] },
    draw: (random, size) => {
      const counts = () => list(random, size, 0).map(() => whole(random, 1, 9));
      return { p: counts(), q: counts() };
    },
    valid: ({ p, q }) => [...p, ...q].every((count) => count > 0),
    sides: ({ p, q }, lenience) => [keptDraft(shares(p), shares(q), lenience), shares(p)],
    picture: sharesCompared,
    show: ({ p, q }, sides) =>
      `p = ${written(shares(p))}, q = ${written(shares(q))}: ${worst(sides, "letter")}.`,
    told: (bend) => `+ ${percent(bend)}`,
  },
};

export default breakIt(claims);
