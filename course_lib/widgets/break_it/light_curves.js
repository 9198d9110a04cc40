import { phase } from "../maths/light_curves.js";
import { upTo } from "../maths/numerics.js";
import { attended } from "./attended.js";
import { bars, dots } from "./pictures.js";
import { breakIt } from "./strip.js";
import { apart, percent, plain, vector, vectors } from "./telling.js";
import { table, tenths, whole } from "./trials.js";

const MOST_OFF = 0.1; // by which share a period is too long in the end

/** The phase of a night, and of one some whole periods later, where the period may be too long. */
function twoPhases({ night, period, turns }, bend) {
  const folded = period * (1 + MOST_OFF * bend);
  return [night, night + turns * period].map((time) => phase(time, folded));
}

/** How far two phases are apart around the circle. @param {number[]} phases */
function around([one, other]) {
  const off = Math.abs(one - other);
  return Math.min(off, 1 - off);
}

const onCircle = (turn) => [2 * Math.sin(2 * Math.PI * turn), 2 * Math.cos(2 * Math.PI * turn)];

/**
 * What is said of each night with the one and the other hidden magnitude: tokens are a date and a
 * magnitude, and each adds to itself what it gets from the visible ones.
 */
function twoSayings({ visible, date, before, after }, left) {
  return [before, after].map((magnitude) => {
    const tokens = [...visible, [date, left ? magnitude : 0]];
    const { output } = attended(tokens, () => visible.length);
    return tokens.map(([, own], i) => own + output[i][1]);
  });
}

export const claims = {
  "same-phase": {
    axes: {},
    draw: (random, size) => ({
      night: tenths(random, 20),
      period: whole(random, 2, 40) / 10,
      turns: whole(random, 1, 5 * size),
    }),
    valid: ({ period, turns }) => period > 0 && Number.isInteger(turns),
    residual: (given, bend) => around(twoPhases(given, bend)),
    picture: (given, bend) => [
      dots(
        upTo(24).map((k) => onCircle(k / 24)),
        "edge",
        0.015,
      ),
      dots(twoPhases(given, bend).map(onCircle), "accent", 0.08),
    ],
    show: (given, bend) => {
      const [one, other] = twoPhases(given, bend).map(plain);
      const later = `${given.turns} ${given.turns === 1 ? "period" : "periods"} later`;
      return `P = ${plain(given.period)} days, a night at ${plain(given.night)} days and another
        ${later}: the phases are ${one} and ${other}.`;
    },
    told: (bend) => percent(MOST_OFF * bend, 1),
  },
  "hidden-stay-hidden": {
    axes: { visible: ["night", "feature"] },
    least: { feature: 2 },
    draw: (random, size) => ({
      visible: table(random, size, 2),
      date: tenths(random),
      before: tenths(random),
      after: tenths(random),
    }),
    residual: (given, bend) => apart(...twoSayings(given, bend)),
    picture: (given, bend) =>
      bars(
        ...twoSayings(given, bend).map((said) =>
          said.map((magnitude) => Math.min(1, Math.max(0, 0.5 + magnitude / 8))),
        ),
      ),
    show: (given, bend) => {
      const [said, then] = twoSayings(given, bend).map(vector);
      return `Nights (date, magnitude) ${vectors(given.visible)}, and a hidden one at
        ${plain(given.date)} whose magnitude changes from ${plain(given.before)} to
        ${plain(given.after)}: what is said of all nights was ${said} and is ${then}.`;
    },
  },
};

export default breakIt(claims);
