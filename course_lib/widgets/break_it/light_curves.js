import { percent } from "../kit/text.js";
import { phase } from "../maths/light_curves.js";
import { clamp, upTo } from "../maths/numerics.js";
import { attended } from "./attended.js";
import { breakIt } from "./break_it.js";
import { instead, plain, positive, table, tenths, whole, written } from "./cases.js";
import { bars, dots, onCircle } from "./pictures.js";

const MOST_OFF = 0.1; // by which share a period is too long in the end

export const claims = {
  "same-phase": {
    axes: {},
    draw: (random, size) => ({
      night: tenths(random, 20),
      period: positive(random, 4),
      turns: whole(random, 1, 5 * size),
    }),
    valid: ({ period }) => period > 0,
    // Phases are numbers of a circle: the second may be 1 less or more.
    sides: ({ night, period, turns }, bend) => {
      const folded = period * (1 + MOST_OFF * bend);
      const [later, first] = [night + turns * period, night].map((time) => phase(time, folded));
      return [later - Math.round(later - first), first];
    },
    picture: (_, phases) => [
      dots(
        upTo(24).map((k) => onCircle(k / 24)),
        "edge",
        0.015,
      ),
      dots(phases.map(onCircle), "accent", 0.08),
    ],
    show: ({ night, period, turns }, phases) => {
      const later = `${turns} ${turns === 1 ? "period" : "periods"} later`;
      const [other, one] = phases.map((turn) => plain(phase(turn, 1)));
      return `P = ${plain(period)} days, a night at ${plain(night)} days and another ${later}: the
        phases are ${one} and ${other}.`;
    },
    told: (bend) => percent(MOST_OFF * bend, 1),
  },
  // Tokens are a date and a magnitude; each adds to itself what it gets from the visible ones.
  "hidden-stay-hidden": {
    axes: { visible: ["night"] },
    draw: (random, size) => ({
      visible: table(random, size, 2),
      date: tenths(random),
      before: tenths(random),
      after: tenths(random),
    }),
    sides: ({ visible, date, before, after }, left) =>
      [after, before].map((magnitude) => {
        const tokens = [...visible, [date, left ? magnitude : 0]];
        const output = attended(tokens, () => visible.length);
        return tokens.map(([, own], i) => own + output[i][1]);
      }),
    picture: (_, sides) => {
      const [then, said] = sides.map((row) => row.map((x) => clamp(0.5 + x / 8, 0, 1)));
      return bars(said, then);
    },
    show: ({ visible, date, before, after }, sides) =>
      `Nights (date, magnitude) ${written(visible)}, and a hidden one at ${plain(date)} whose magnitude
        changes from ${plain(before)} to ${plain(after)}: what is said of all nights is
        ${instead(sides)}.`,
  },
};

export default breakIt(claims);
