import { keptDraft } from "../maths/drafts.js";
import { attended, past, tokensOf, weightCells } from "./attended.js";
import { bars } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, farthest, percent, plain, vector } from "./telling.js";
import { list, table, whole } from "./trials.js";

/** All tokens read at once, and in two pieces with a cache, which may lose its first token. */
function twoReadings({ x, cut }, bend) {
  const whole = attended(x, past).output;
  const kept = x.slice(bend);
  const pieces = attended(kept, past).output.slice(cut - bend);
  return [whole.slice(cut), pieces];
}

/** Probabilities in the proportions of whole numbers. */
const shares = (counts) => counts.map((count) => count / counts.reduce((sum, x) => sum + x, 0));
const twoLaws = ({ p, q }, bend) => [keptDraft(shares(p), shares(q), bend), shares(p)];

export const claims = {
  "cache-pieces": {
    axes: { x: ["token", "feature"] },
    least: { token: 2 },
    places: { cut: "token" },
    draw: (random, size) => ({ x: table(random, size, 2), cut: whole(random, 1, size - 1) }),
    valid: ({ cut }) => cut > 0,
    residual: (given, bend) => apart(...twoReadings(given, bend)),
    picture: ({ x }) => weightCells(x, past),
    show: (given, bend) =>
      `${tokensOf(given.x)}, read as ${given.cut} and ${given.x.length - given.cut}: the second piece
        is off by ${plain(apart(...twoReadings(given, bend)))}.`,
  },
  "draft-and-judge": {
    axes: { p: ["letter"], q: ["letter"] },
    least: { letter: 2 },
    draw: (random, size) => {
      const counts = () => list(random, size, 0).map(() => whole(random, 1, 9));
      return { p: counts(), q: counts() };
    },
    valid: ({ p, q }) => [...p, ...q].every((count) => count > 0),
    residual: (given, bend) => apart(...twoLaws(given, bend)),
    picture: (given, bend) => bars(...twoLaws(given, bend)),
    show: (given, bend) => {
      const [found, p] = twoLaws(given, bend);
      const { at } = farthest(found, p);
      return `p = ${vector(p)}, q = ${vector(shares(given.q))}: letter ${at + 1} comes with
        probability ${plain(found[at])} in place of ${plain(p[at])}.`;
    },
    told: (bend) => `+ ${percent(bend)}`,
  },
};

export default breakIt(claims);
