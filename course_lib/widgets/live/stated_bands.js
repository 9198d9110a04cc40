// Calibration: a band states a share of nights that it will hold; how many does it hold?

import { dot, ground, line, panel, rule } from "../kit/charts.js";
import { select } from "../kit/controls.js";
import { percent } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 240;
const [HELD, MISSED, OTHER] = ["var(--cw-accent)", "var(--cw-warm)", "var(--cw-edge)"];
const PERIODS = ["all", "right", "wrong"];
const CLOSE = 0.03; // of the share that a band states

function derive({ ways, way, period, stated, widths, held, off, deviation }) {
  const which = Math.min(way, ways.length - 1);
  const first = PERIODS.indexOf(period) * ways.length;
  const nights = off[first + which].map((middle, i) => {
    const half = widths[stated - 1] * deviation[first + which][i];
    return { middle, half, inside: Math.abs(middle) < half };
  });
  const curves = ways.map((_, i) => held[first + i]);
  const largest = Math.max(...ways.flatMap((_, i) => off[first + i].map(Math.abs)));
  const share = curves[which][stated - 1];
  const inside = nights.filter((night) => night.inside).length;
  return { which, nights, curves, largest, share, inside };
}

const state = (ui, share) => ui.set({ stated: clamp(Math.round(share), 1, 99) });

/** The measured magnitude lies at 0: a band holds the night if it crosses this line. */
function bands({ nights, largest, stated, inside }, ui) {
  const told = `${inside} of ${nights.length}`;
  const options = {
    name: "bands",
    title: `${told} bands hold their night`,
    says: `${told} bands of ${stated} % hold their night`,
    x: { ends: [-1, nights.length], ticks: [], label: "some hidden nights" },
    y: { ends: [-1.1 * largest, 1.1 * largest], label: "predicted − measured, mag" },
    ...{ height: HEIGHT, grow: 1.4 },
  };
  return panel(ui, options, (frame) => {
    const band = ({ middle, half, inside: holds }, i) => {
      const colour = holds ? HELD : MISSED;
      const [x, y] = [frame.x(i), frame.y(middle)];
      return svg`<g clip-path=${frame.clip}><path stroke=${colour} stroke-width="5" stroke-opacity="0.45"
          d="M${x} ${frame.y(middle - half)}V${frame.y(middle + half)}"></path>
        ${
          holds
            ? svg`<circle cx=${x} cy=${y} r="2.5" fill=${colour}></circle>`
            : svg`<path d="M${x - 4} ${y - 4}l8 8m0 -8l-8 8" stroke=${colour} stroke-width="2.5"></path>`
        }</g>`;
    };
    return svg`${nights.map(band)}${rule(frame, { y: 0, colour: "var(--cw-ink)", dash: "" })}`;
  });
}

function diagram({ curves, which, stated, share, ways }, ui) {
  const options = {
    name: "diagram",
    title: "Of all hidden nights",
    says: `A band of ${stated} % of ${ways[which]} holds ${percent(share)}`,
    x: { ends: [0, 100], ticks: [0, 25, 50, 75, 100], label: "stated, %" },
    y: { ends: [0, 100], ticks: [0, 25, 50, 75, 100], label: "held, %" },
    ...{ height: HEIGHT, group: true },
  };
  return panel(ui, options, (frame) => {
    const points = (curve) => curve.map((held, i) => [i + 1, 100 * held]);
    const others = upTo(ways.length).filter((i) => i !== which);
    return svg`${ground(frame, ([x]) => state(ui, x))}<g pointer-events="none">
      <path d="M${frame.left} ${frame.bottom}L${frame.right} ${frame.top}" stroke="var(--cw-ink)"
        stroke-dasharray="5 4"></path>
      ${others.map((i) => line(frame, points(curves[i]), { colour: OTHER, width: 1, opacity: 0.7 }))}
      ${line(frame, points(curves[which]), { colour: HELD, width: 3 })}
      ${dot(frame, [stated, 100 * share], { colour: MISSED, r: 7 })}</g>`;
  });
}

const chooser = ({ ways }, ui) =>
  select(ui, "way", { label: "Bands of", options: ways.map((name, i) => [i, name]) });

function verdict({ stated, share }) {
  const over = share - stated / 100;
  const text = `It states ${stated} % and holds ${percent(share)}`;
  if (Math.abs(over) <= CLOSE) return { kind: "good", text };
  return { kind: over < 0 ? "bad" : "open", text: `${text}: too ${over < 0 ? "narrow" : "wide"}` };
}

const says = () => "The level line is what was measured; a band that misses it has a cross.";

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [bands(now, ui), diagram(now, ui)],
  asks: "Does a band hold what it states?",
  verdict,
  readings: ({ share, inside }) => [
    { name: "held", label: "of all hidden nights", text: percent(share, 1), room: 6 },
    { name: "inside", label: "of those shown", text: String(inside), room: 2 },
  ],
  says,
  tour: { knob: "stated", from: 10, seconds: 5 },
});
