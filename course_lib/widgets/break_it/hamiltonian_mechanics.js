import { integrate, SYSTEMS } from "../maths/mechanics.js";
import { dots, line } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, percent, plain } from "./telling.js";
import { tenths, whole } from "./trials.js";

const PENDULUM = SYSTEMS.Pendulum({ mass: 1, length: 1, gravity: 1 });
// Half of the digits, for a central difference loses the square of its width.
const NUDGE = 1e-5;

/** One step from (q, p), and friction that takes its share of the momentum. */
function stepped(method, [q, p], h, friction = 0) {
  const run = integrate(PENDULUM, method, [q], [p], h, 1);
  return [run.q[1], run.p[1] * (1 - friction * h)];
}

/** The sides to which a small square at (q, p) is carried, divided by its side. */
function carriedSquare({ q, p, h }, friction) {
  return [
    [1, 0],
    [0, 1],
  ].map(([a, b]) => {
    const [ahead, behind] = [NUDGE, -NUDGE].map((nudge) =>
      stepped("stoermer_verlet", [q + nudge * a, p + nudge * b], h, friction),
    );
    return ahead.map((x, i) => (x - behind[i]) / (2 * NUDGE));
  });
}

/** @param {number[][]} sides */
const areaOf = ([side, other]) => side[0] * other[1] - side[1] * other[0];

/** There, and back with the momentum reversed. */
function thereAndBack({ q, p, h }, bend) {
  const method = bend ? "symplectic_euler" : "stoermer_verlet";
  const [there, momentum] = stepped(method, [q, p], h);
  const [back, reversed] = stepped(method, [there, -momentum], h);
  return { there: [there, momentum], back: [back, -reversed] };
}

const pendulum = {
  axes: {},
  draw: (random) => ({ q: tenths(random), p: tenths(random), h: whole(random, 1, 10) / 10 }),
  valid: ({ h }) => h > 0,
};
const from = ({ q, p, h }) => `Angle ${plain(q)}, momentum ${plain(p)}, step ${plain(h)}`;
/** @param {number} angle */
const rod = (angle, ink) => {
  const end = [2 * Math.sin(angle), -2 * Math.cos(angle)];
  return [line([[0, 0], end], ink), dots([end], ink, 0.09)];
};

export const claims = {
  "step-areas": {
    ...pendulum,
    residual: (given, bend) => Math.abs(areaOf(carriedSquare(given, bend)) - 1),
    picture: (given, bend) => {
      const [side, other] = carriedSquare(given, bend);
      const at = (u, v) => [0, 1].map((i) => (u - 0.5) * side[i] + (v - 0.5) * other[i]);
      const square = [
        [-0.5, -0.5],
        [0.5, -0.5],
        [0.5, 0.5],
        [-0.5, 0.5],
        [-0.5, -0.5],
      ];
      return [line(square, "edge", 0.02), line([at(0, 0), at(1, 0), at(1, 1), at(0, 1), at(0, 0)])];
    },
    show: (given, bend) =>
      `${from(given)}: a small square keeps ${percent(areaOf(carriedSquare(given, bend)))} of its
        area.`,
    told: (bend) => plain(bend),
  },
  "there-and-back": {
    ...pendulum,
    residual: (given, bend) => apart(thereAndBack(given, bend).back, [given.q, given.p]),
    picture: (given, bend) => {
      const { there, back } = thereAndBack(given, bend);
      return [rod(there[0], "line"), rod(back[0], "warm"), rod(given.q, "accent")];
    },
    show: (given, bend) => {
      const [q, p] = thereAndBack(given, bend).back;
      return `${from(given)}. There and back it ends at the angle ${plain(q)} with the momentum
        ${plain(p)}.`;
    },
  },
};

export default breakIt(claims);
