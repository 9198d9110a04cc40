import { upTo } from "../maths/numerics.js";
import { attended, tokensOf, weightCells } from "./attended.js";
import { beside } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, percent, vectors } from "./telling.js";
import { table } from "./trials.js";

/** What real tokens get beside padding, and without it. */
function twoRooms({ x, padding }, open) {
  const seen = () => x.length + open * padding.length;
  return [attended([...x, ...padding], seen).output.slice(0, x.length), attended(x).output];
}

const product = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const identity = (J, share = 1) => J.map((row, i) => row.map((_, j) => share * Number(i === j)));
const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

/** The product of all I + J, where the way around may be narrower, and the sum over all paths. */
function twoGradients({ layers }, narrower) {
  const [first] = layers;
  const stack = layers.reduce(
    (after, J) => product(plus(identity(J, 1 - narrower), J), after),
    identity(first),
  );
  const paths = upTo(2 ** layers.length).map((chosen) =>
    layers.reduce((path, J, k) => ((chosen >> k) & 1 ? product(J, path) : path), identity(first)),
  );
  return [stack, paths.reduce(plus)];
}

export const claims = {
  padding: {
    axes: { x: ["token", "feature"], padding: ["pad", "feature"] },
    draw: (random, size) => ({ x: table(random, size, 2), padding: table(random, size - 1, 2) }),
    residual: (given, bend) => apart(...twoRooms(given, bend)),
    picture: ({ x, padding }, bend) =>
      weightCells([...x, ...padding], () => x.length + bend * padding.length),
    show: (given, bend) => {
      const [beside, alone] = twoRooms(given, bend);
      return `${tokensOf(given.x)}, padded with ${vectors(given.padding)}: they get ${vectors(beside)}
        in place of ${vectors(alone)}.`;
    },
  },
  "all-paths": {
    axes: { layers: ["layer", "feature", "feature"] },
    draw: (random, size) => ({
      layers: upTo(Math.min(size, 4)).map(() => table(random, 2, 2, 1)),
    }),
    residual: (given, bend) => apart(...twoGradients(given, bend).map((rows) => rows.flat())),
    picture: (given, bend) => beside(...twoGradients(given, bend)),
    show: (given, bend) => {
      const [stack, paths] = twoGradients(given, bend).map(vectors);
      return `Jacobians with the rows ${given.layers.map(vectors).join(" and ")}: the stack has ${stack},
        the sum over paths ${paths}.`;
    },
    told: (bend) => percent(1 - bend),
  },
};

export default breakIt(claims);
