// A star folded at its period: what three ways make of few nights, and of many.

import { dot, ground, legend, line, panel, rule } from "../kit/charts.js";
import { select, slider } from "../kit/controls.js";
import { marks } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { errorOf } from "../maths/light_curves.js";
import { upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 250;
const LOOKS = [
  { colour: "var(--cw-series-2)", dash: "" },
  { colour: "var(--cw-series-1)", dash: "9 3" },
  { colour: "var(--cw-series-0)", dash: "3 3" },
];
const TRUTH = "var(--cw-ink)";

function derive({ star, stars, step, counts, ways, phases, magnitude, error, light, said }) {
  const which = Math.min(star, stars.length - 1);
  const at = Math.min(step, counts.length - 1);
  const row = (which * counts.length + at) * ways.length;
  const curves = ways.map((_, i) => said[row + i]);
  const seen = upTo(counts[at]).map((i) => ({
    point: [phases[which][i], magnitude[which][i]],
    sigma: error[which][i],
  }));
  const all = [...light[which], ...magnitude[which]];
  const [bright, faint] = [Math.min, Math.max].map((most) => most(...all));
  const off = curves.map((curve) => errorOf(curve, light[which]));
  return { which, at, curves, seen, off, bright, faint };
}

const keyOf = (ways) => ways.map((text, i) => ({ ...LOOKS[i], text }));

function folded(now, ui) {
  const { ways, curves, seen, light, which, bright, faint, counts, at } = now;
  const room = 0.06 * (faint - bright);
  const options = {
    name: "folded",
    title: [`${counts[at]} nights`, legend([{ text: "what it did", colour: TRUTH, width: 1.5 }])],
    says: `${counts[at]} nights of the star, folded, and three curves through them`,
    x: { ends: [0, 1], label: "phase, in turns" },
    y: {
      ends: [faint + room, bright - room],
      ticks: marks([bright, faint], false, 5),
      label: "magnitude, brighter is up",
    },
    ...{ height: HEIGHT, grow: 1.3 },
  };
  return panel(ui, options, (frame) => {
    const along = (curve) => curve.map((m, i) => [i / (curve.length - 1), m]);
    const night = ({ point: [x, m], sigma }) =>
      svg`<path stroke=${TRUTH} stroke-width="1.5" stroke-opacity="0.7" clip-path=${frame.clip}
        d="M${frame.x(x)} ${frame.y(m - sigma)}V${frame.y(m + sigma)}"></path>
        ${dot(frame, [x, m], { colour: TRUTH, r: 5 })}`;
    return svg`${line(frame, along(light[which]), { colour: TRUTH, width: 1.5 })}
      ${ways.map((_, i) => line(frame, along(curves[i]), { ...LOOKS[i], width: 2.5 }))}
      ${seen.map(night)}`;
  });
}

/** Over many stars: the error of each way, and its spread over draws. */
function average(now, ui) {
  const { ways, counts, at, errors, spreads } = now;
  const to = (x) => {
    const far = counts.map((count) => Math.abs(count - x));
    ui.set({ step: far.indexOf(Math.min(...far)) });
  };
  const options = {
    name: "average",
    title: ["Average over stars", legend(keyOf(ways))],
    says: ways.map((way, i) => `${way} ${number(errors[i][at], 3)}`).join(", "),
    x: { ends: [counts[0] - 1, counts.at(-1) + 1], ticks: counts, label: "visible nights" },
    y: { ends: [0, 1.1 * Math.max(...errors.flat())], label: "error at hidden nights, mag" },
    ...{ height: HEIGHT, group: true },
  };
  return panel(ui, options, (frame) => {
    const way = (_, i) => {
      const points = counts.map((count, j) => [count, errors[i][j]]);
      const bar = ([x, y], j) => svg`<path stroke=${LOOKS[i].colour} stroke-width="2"
        d="M${frame.x(x)} ${frame.y(y - spreads[i][j])}V${frame.y(y + spreads[i][j])}"></path>`;
      return svg`${line(frame, points, LOOKS[i])}${points.map(bar)}
        ${dot(frame, points[at], { colour: LOOKS[i].colour })}`;
    };
    return svg`${ground(frame, ([x]) => to(x))}<g pointer-events="none">
      ${rule(frame, { x: counts[at], colour: "var(--cw-warm)" })}${ways.map(way)}</g>`;
  });
}

const chooser = ({ stars, counts, at }, ui) => html`
  ${select(ui, "star", { label: "Star", options: stars.map((name, i) => [i, name]) })}
  ${slider(ui, "step", {
    label: "Visible nights",
    min: 0,
    max: counts.length - 1,
    value: at,
    format: (i) => String(counts[i]),
  })}`;

function says({ ways, off, counts, at }) {
  const order = upTo(ways.length).sort((a, b) => off[a] - off[b]);
  const [best, worst] = [order[0], order.at(-1)].map((i) => ways[i]);
  return `From ${counts[at]} nights of this star, ${best} comes closest to what it did; ${worst} is farthest off.`;
}

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [folded(now, ui), average(now, ui)],
  readings: ({ ways, off }) =>
    ways.map((way, i) => ({
      ...{ name: `way${i}`, label: `${way} off by`, text: number(off[i], 3), room: 5 },
    })),
  says,
  began: ({ stars, star }) => stars[Math.min(star, stars.length - 1)],
});
