// How much of each mode of the digits' graph a flow has left after a time, and how many digits are
// recognised from it.

import { area, dot, legend, line, panel, rule } from "../kit/charts.js";
import { quantity } from "../kit/text.js";
import { modeAt } from "../maths/graph_dynamics.js";
import { mean } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const FLOWS = ["heat", "wave", "bracket"];
const HEIGHT = 250;
/** Of the powers of two for which digits were recognised. */
const FIRST = -2;
/** A group of modes with less left counts as forgotten. */
const FORGOTTEN = 0.1;
/** In percent: so near to its best a flow still recognises the digits. */
const NEAR = 5;
const [SLOW, FAST] = ["var(--cw-warm)", "var(--cw-accent)"];

const timeAt = (power) => 2 ** power;

function derive({ power, flow, rates, slow, recognised }) {
  const time = timeAt(power);
  const factors = rates.map((rate) => modeAt(flow, rate, 1, 0, time)[0]);
  const sizes = factors.map(Math.abs);
  const curve = recognised[FLOWS.indexOf(flow)];
  return {
    ...{ time, factors, curve },
    left: { slow: mean(sizes.slice(0, slow)), fast: mean(sizes.slice(slow)) },
    right: curve[power - FIRST],
  };
}

/** In percent, to a hundredth: next to nothing is nothing. @param {number} part */
const share = (part) => quantity(Number((100 * part).toFixed(2)), "%");

function modes({ factors, rates, slow, left, flow, time }, ui) {
  const options = {
    name: "modes",
    title: [
      `Left of each mode at T = ${quantity(time)}`,
      legend([
        { text: `${slow} slowest`, colour: SLOW },
        { text: "others", colour: FAST },
      ]),
    ],
    says: `Of the ${slow} slowest modes ${share(left.slow)} is left after a time ${quantity(time)},
      of the others ${share(left.fast)}`,
    x: { ends: [rates[0] / 1.3, 2], logarithmic: true, label: "eigenvalue λ of the mode" },
    y: { ends: [flow === "heat" ? 0 : -1, 1], label: "factor" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const mode = (factor, i) => {
      const colour = i < slow ? SLOW : FAST;
      return svg`<path d="M${frame.x(rates[i])} ${frame.y(0)}V${frame.y(factor)}" stroke=${colour}
          stroke-width="2" stroke-opacity="0.6"></path>
        <circle cx=${frame.x(rates[i])} cy=${frame.y(factor)} r="4" fill=${colour}></circle>`;
    };
    return svg`${rule(frame, { y: 0, dash: "" })}${factors.map(mode)}`;
  });
}

function digits({ recognised, spread, layered, times, flow, power, curve, right }, ui) {
  const at = FLOWS.indexOf(flow);
  const low = Math.floor(Math.min(...recognised.flat()) / 10) * 10 - 5;
  const points = (values) => values.map((value, k) => [timeAt(k + FIRST), value]);
  const options = {
    name: "digits",
    title: [
      "Recognised: ○ 8, □ 64 layers",
      legend([{ text: "other flows", colour: "var(--cw-edge)", width: 1.5 }]),
    ],
    says: `Digits recognised from ${flow} against the time; ${quantity(right, "%")} here`,
    x: {
      ends: [timeAt(FIRST), timeAt(FIRST + curve.length - 1)],
      ...{ logarithmic: true, label: "time T" },
    },
    y: { ends: [low, 100], label: "digits recognised, in %" },
    height: HEIGHT,
  };
  const deviation = (sign) => curve.map((value, k) => value + sign * spread[at][k]);
  const box = (x, y) => svg`<rect x=${x - 4.5} y=${y - 4.5} width="9" height="9"></rect>`;
  const ring = (x, y) => svg`<circle cx=${x} cy=${y} r="5"></circle>`;
  return panel(ui, options, (frame) => {
    const band = [...points(deviation(1)), ...points(deviation(-1)).reverse()];
    return svg`${recognised.map((other, i) =>
      i === at ? "" : line(frame, points(other), { colour: "var(--cw-edge)", width: 1.5 }),
    )}
      ${area(frame, band, band[0][1])}${line(frame, points(curve))}
      <g fill="none" stroke="var(--cw-ink)" stroke-width="1.5">${[ring, box].map((shape, k) =>
        layered[2 * at + k].map((value, i) => shape(frame.x(times[k][i]), frame.y(value))),
      )}</g>
      ${rule(frame, { x: timeAt(power), colour: "var(--cw-ink)" })}
      ${dot(frame, [timeAt(power), right], { r: 6 })}`;
  });
}

function verdict({ left, curve, right }) {
  const told = `${quantity(right, "%")} recognised`;
  if (left.fast > FORGOTTEN)
    return { kind: "open", text: `${left.slow > 0.9 ? "Little yet" : "Neither"}: ${told}` };
  return right > Math.max(...curve) - NEAR
    ? { kind: "good", text: `The noise: ${told}` }
    : { kind: "bad", text: `Classes too: ${told}` };
}

function says({ flow, left }) {
  if (flow === "wave")
    return "A wave makes every mode swing and shrinks none: all differences stay, the noise too.";
  if (left.fast > FORGOTTEN) return "Fast modes fade first: they tell neighbours apart.";
  return "Only slow modes are left, which tell the classes apart. They fade one by one.";
}

export default liveFigure({
  derive,
  panels: (now, ui) => [modes(now, ui), digits(now, ui)],
  asks: "What is forgotten first?",
  terse: true,
  verdict,
  readings: ({ left, slow, rates, right }) => [
    { name: "slow", label: `left of the ${slow} slowest`, text: share(left.slow), room: 6 },
    { name: "fast", label: `of ${rates.length - slow} others`, text: share(left.fast), room: 6 },
    { name: "right", label: "recognised", text: quantity(right, "%"), room: 6 },
  ],
  says,
  longest: () => says({ flow: "heat", left: { fast: 0 } }),
  tour: { knob: "power", from: FIRST, over: 12, seconds: 9 },
});
