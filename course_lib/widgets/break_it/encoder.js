import { percent } from "../kit/text.js";
import { upTo } from "../maths/numerics.js";
import { attended, looks } from "./attended.js";
import { breakIt } from "./break_it.js";
import { instead, table, written } from "./cases.js";
import { cells } from "./pictures.js";

/** Real tokens are seen; of the padding behind them nothing, unless it is open. */
const seen =
  ({ x, padding }, open) =>
  () =>
    x.length + open * padding.length;

const product = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const identity = (J, share = 1) => J.map((row, i) => row.map((_, j) => share * Number(i === j)));
const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));

export const claims = {
  padding: {
    axes: { x: ["token", "feature"], padding: ["pad", "feature"] },
    draw: (random, size) => ({ x: table(random, size, 2), padding: table(random, size - 1, 2) }),
    sides: (given, open) => {
      const beside = attended([...given.x, ...given.padding], seen(given, open));
      return [beside.slice(0, given.x.length), attended(given.x)];
    },
    picture: (given, _, open) => looks([...given.x, ...given.padding], seen(given, open)),
    show: ({ x, padding }, sides) =>
      `Tokens ${written(x)}, padded with ${written(padding)}: they get ${instead(sides)}.`,
  },
  "all-paths": {
    axes: { layers: ["layer", "feature", "feature"] },
    draw: (random, size) => ({
      layers: upTo(Math.min(size, 4)).map(() => table(random, 2, 2, 1)),
    }),
    sides: ({ layers }, narrower) => {
      const none = identity(layers[0]);
      const through = (after, J) => product(plus(identity(J, 1 - narrower), J), after);
      const paths = upTo(2 ** layers.length).map((chosen) =>
        layers.reduce((path, J, k) => ((chosen >> k) & 1 ? product(J, path) : path), none),
      );
      return [layers.reduce(through, none), paths.reduce(plus)];
    },
    picture: (_, [stack, paths]) => cells(stack.map((row, i) => [...row, Number.NaN, ...paths[i]])),
    show: ({ layers }, [stack, paths]) =>
      `Jacobians with the rows ${layers.map(written).join(" and ")}: the stack has ${written(stack)},
        the sum over paths ${written(paths)}.`,
    told: (bend) => percent(1 - bend),
  },
};

export default breakIt(claims);
