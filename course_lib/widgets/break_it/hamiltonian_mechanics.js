import { percent } from "../kit/text.js";
import { integrate, SYSTEMS } from "../maths/mechanics.js";
import { breakIt } from "./break_it.js";
import { plain, positive, tenths } from "./cases.js";
import { dots, line } from "./pictures.js";

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
  return [0, 1].map((side) => {
    const [ahead, behind] = [NUDGE, -NUDGE].map((by) =>
      stepped("stoermer_verlet", side ? [q, p + by] : [q + by, p], h, friction),
    );
    return ahead.map((x, i) => (x - behind[i]) / (2 * NUDGE));
  });
}

const CORNERS = [
  [-1.2, -1.2],
  [1.2, -1.2],
  [1.2, 1.2],
  [-1.2, 1.2],
  [-1.2, -1.2],
];

const pendulum = {
  axes: {},
  draw: (random) => ({ q: tenths(random), p: tenths(random), h: positive(random, 1) }),
};
const from = ({ q, p, h }) => `Angle ${plain(q)}, momentum ${plain(p)}, step ${plain(h)}`;
/** @param {number} angle */
const rod = (angle, ink) => {
  const ends = [
    [0, 0],
    [2 * Math.sin(angle), -2 * Math.cos(angle)],
  ];
  return [line(ends, ink), dots(ends.slice(1), ink, 0.09)];
};
const there = ({ q, p, h }, bend) =>
  stepped(bend ? "symplectic_euler" : "stoermer_verlet", [q, p], h);

export const claims = {
  "step-areas": {
    ...pendulum,
    sides: (given, friction) => {
      const [[a, b], [c, d]] = carriedSquare(given, friction);
      return [a * d - b * c, 1];
    },
    picture: (given, _, friction) => {
      const [side, other] = carriedSquare(given, friction);
      const carried = CORNERS.map(([u, v]) => [0, 1].map((i) => u * side[i] + v * other[i]));
      return [line(CORNERS, "edge", 0.02), line(carried)];
    },
    show: (given, [area]) => `${from(given)}: a small square keeps ${percent(area)} of its area.`,
    told: plain,
  },
  "there-and-back": {
    ...pendulum,
    sides: ({ q, p, h }, bend) => {
      const [angle, momentum] = there({ q, p, h }, bend);
      const [back, reversed] = there({ q: angle, p: -momentum, h }, bend);
      return [
        [back, -reversed],
        [q, p],
      ];
    },
    picture: (given, [[back], [start]], bend) => [
      rod(there(given, bend)[0], "line"),
      rod(back, "warm"),
      rod(start, "accent"),
    ],
    show: (given, [[q, p]]) =>
      `${from(given)}. There and back it ends at the angle ${plain(q)} with the momentum ${plain(p)}.`,
  },
};

export default breakIt(claims);
