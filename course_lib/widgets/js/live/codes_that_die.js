// Eigenvalues of letters, and the noise that stands over some of them like water.

import { liveFigure } from "../../live_figure.js";
import { area, bars, handle, panel, rule, word } from "../charts.js";
import { clamp, sum, upTo } from "../maths/numerics.js";
import { left, prices } from "../maths/water.js";
import { quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const MOST = 40;
const HEIGHT = 280;
const DRY = "var(--cw-warm)";
const DROWNED = "var(--cw-edge)";
const WATER = "var(--cw-accent)";
const [QUIETEST, NOISIEST] = [0.002, 20];
const TICKS = [0.01, 0.1, 1, 10];
const NUDGE = 1.1;

const shownOf = (values) => Math.min(MOST, values.length);

function derive({ eigenvalues, noise, beta }) {
  const level = beta * noise;
  const costs = prices(eigenvalues, level);
  const total = sum(eigenvalues);
  return {
    level,
    costs,
    alive: eigenvalues.filter((value) => value > level).length,
    paid: sum(costs),
    lost: sum(left(eigenvalues, level)) / total,
  };
}

const colourOf = (values, level) => (i) => (values[i] > level ? DRY : DROWNED);

function eigenvalueBars({ eigenvalues, level, alive }, ui) {
  const count = shownOf(eigenvalues);
  const values = eigenvalues.slice(0, count);
  const turn = (to) => ui.set({ noise: clamp(to / ui.now.beta, QUIETEST, NOISIEST) });
  const options = {
    name: "eigenvalues",
    title: "Eigenvalues, and the noise as water",
    says: `${alive} of ${eigenvalues.length} eigenvalues stand above the water at ${quantity(level)}`,
    x: { ends: [0, count + 1], label: `direction, 1 to ${count} of ${eigenvalues.length}` },
    y: { ends: [QUIETEST, NOISIEST], logarithmic: true, ticks: TICKS, label: "variance" },
    ...{ height: HEIGHT, grow: 1.4, group: true, room: 14 },
  };
  const places = upTo(count).map((i) => i + 1);
  return panel(
    ui,
    options,
    (
      frame,
    ) => svg`${bars(frame, values, { colour: colourOf(values, level), base: QUIETEST, places })}
      ${area(
        frame,
        [
          [0, level],
          [count + 1, level],
        ],
        QUIETEST,
        { colour: WATER, opacity: 0.25 },
      )}
      ${rule(frame, { y: clamp(level, QUIETEST, NOISIEST), colour: WATER, dash: "" })}
      ${word(frame, [count, clamp(level, QUIETEST, NOISIEST)], "β s²", { colour: WATER, anchor: "end" })}
      ${handle(frame, {
        point: [count + 1, clamp(level, QUIETEST, NOISIEST)],
        label: `water at ${quantity(level)}`,
        kind: "movable level",
        moveTo: ([, to]) => turn(to),
        moveBy: ([, up]) => turn(ui.now.level * NUDGE ** up),
      })}`,
  );
}

function priceBars({ eigenvalues, costs, level, paid }, ui) {
  const count = shownOf(eigenvalues);
  const dearest = Math.max(...prices(eigenvalues, QUIETEST));
  const options = {
    name: "prices",
    title: "What each code costs",
    says: `Prices of the codes; all together ${quantity(paid)} nats a letter`,
    x: { ends: [0, count + 1], label: "code" },
    y: { ends: [0, dearest], label: "nats a letter" },
    height: HEIGHT,
  };
  const places = upTo(count).map((i) => i + 1);
  const shown = costs.slice(0, count);
  return panel(ui, options, (frame) =>
    bars(frame, shown, { colour: colourOf(eigenvalues, level), places }),
  );
}

function says({ alive, lost, eigenvalues }) {
  if (alive === 0)
    return "Under water lie all codes: the model draws the mean letter, and pays nothing.";
  const share = quantity(100 * lost, "%");
  if (alive === eigenvalues.length)
    return `No code is dead. Water still covers ${share} of the variance.`;
  return `The codes under water are dead. Water covers ${share} of the variance: that much is lost.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [eigenvalueBars(now, ui), priceBars(now, ui)],
  readings: ({ alive, paid, lost }) => [
    { name: "alive", label: "codes alive", text: String(alive) },
    { name: "paid", label: "price", text: quantity(paid, "nats a letter") },
    { name: "lost", label: "variance lost", text: quantity(100 * lost, "%") },
  ],
  says,
  tour: { knob: "noise", from: 0.005, seconds: 5 },
});
