// EnergyDrift's chart: how far each run's energy is off, against time.

import { clamp } from "../maths/numerics.js";
import { painted } from "../painted.js";
import { inkOf, pixels } from "../pixels.js";
import { pointIn } from "../plane.js";
import { logarithmic, ticks } from "../scale.js";
import { number, quantity, superscript } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const [WIDTH, HEIGHT] = [640, 150];
const [COLUMNS, ROWS] = [960, 300];
const WASH = 56;
// Smaller errors lie at the lower edge: rounding alone makes some of 10⁻¹⁵.
const [FLOOR, CEILING] = [-8, 4];
const SMALLEST = 1e-300;
const ROOM = 110;
const DECADES = [-8, -4, 0];

/** Where an error stands, as a share of the chart from its top. */
const topOf = (error) => scale(Math.max(error, SMALLEST));
const scale = logarithmic([10 ** CEILING, 10 ** FLOOR], [0, 1]);

/** A moment in words. @param {number} time @returns {string} */
export const at = (time) => `t = ${number(time, time < 100 ? 2 : 1)}`;

/** Whether a dashed line is drawn at a column of the chart. */
function drawnAt(column, dash) {
  let left = column % dash.reduce((sum, part) => sum + part);
  const part = dash.findIndex((length) => {
    left -= length;
    return left < 0;
  });
  return part % 2 === 0;
}

/** The largest errors as a line, what lies between them and the smallest as a wash beneath it. */
function paintCurve({ low, high, share, dash }, colour, { stroke }) {
  const [line, wash] = [inkOf(colour), inkOf(colour, WASH)];
  const columnOf = (bin) => Math.min(COLUMNS, Math.floor((bin * COLUMNS * share) / low.length));
  for (let bin = 0; bin < low.length && low[bin] < Infinity; bin += 1) {
    const top = topOf(high[bin]);
    // Neighbouring columns touch, so that a steep curve stays one line.
    const before = bin > 0 ? topOf(high[bin - 1]) : top;
    for (let column = columnOf(bin); column < columnOf(bin + 1); column += 1) {
      if (!dash || drawnAt(column, dash)) {
        stroke(column, [Math.min(top, before), Math.max(top, before)], line);
      }
      stroke(column, [top, topOf(low[bin])], wash, true);
    }
  }
}

function paintChart({ all }, { theme, memo }, context) {
  const picture = memo("chart", [], () => pixels(COLUMNS, ROWS));
  picture.clear();
  for (const run of all) paintCurve(run, theme.rgb(`series-${run.colour}`), picture);
  context.putImageData(picture.image, 0, 0);
}

/** A piece of a run's line, as the chart draws it, at a third of the size. */
export const sample = ({ dash, colour }) =>
  svg`<path d="M0 6H24" stroke=${colour} stroke-width="3"
    stroke-dasharray=${dash ? dash.map((part) => part / 3).join(" ") : "none"}></path>`;

function decade(power) {
  const y = HEIGHT * topOf(10 ** power);
  return svg`<path d="M0 ${y}H4000" stroke="var(--cw-line)"></path>
    <text x="6" y=${y - 4} class="cw-halo">${power === FLOOR ? "≤ " : ""}10${superscript(power)}</text>`;
}

/** Round moments below; the last one stands at the edge. */
function moment(time, x) {
  return svg`<path d="M${x} ${HEIGHT}v-5" stroke="var(--cw-edge)"></path>
    <text x=${x} y=${HEIGHT - 8} text-anchor="middle" class="cw-halo">${quantity(time)}</text>`;
}

/** A hand on the chart takes the time along. */
function scrub(ui) {
  return (event) => {
    const surface = event.currentTarget;
    if (event.type === "pointerdown") surface.setPointerCapture(event.pointerId);
    else if (!surface.hasPointerCapture(event.pointerId)) return;
    const share = pointIn(surface, event)[0] / ui.width("chart", WIDTH);
    ui.play(false);
    ui.set({ time: clamp(share, 0, 1) * ui.now.end });
  };
}

/** While it moves, what is still to come is faint. */
const ahead = (x, width) => svg`<rect x=${x} width=${Math.max(0, width - x)} height=${HEIGHT}
  fill="var(--cw-panel)" opacity="0.6"></rect>`;

/** The chart, with a line at the shown time. @param {any} now @param {any} ui */
export function chart(now, ui) {
  const { methods, shown, spec, q, p, dt, time, end, step } = now;
  const width = ui.width("chart", WIDTH);
  const paint = (context) => paintChart(now, ui, context);
  const inputs = [methods, shown, spec, q, p, dt];
  const curves = { width: COLUMNS, height: ROWS, inputs, paint, cells: true };
  const x = (time / end) * width;
  const grip = scrub(ui);
  const rounds = ticks(0, end, width / ROOM).filter((t) => t > 0 && t < 0.97 * end);
  return html`<div class="cw-layers cw-drift-chart" data-measure="chart" style="height: ${HEIGHT}px">
    <canvas role="img" aria-label="Relative energy error against time, on a logarithmic axis"
      ${painted(ui, curves)}></canvas>
    <svg viewBox="0 0 ${width} ${HEIGHT}" aria-hidden="true" @pointerdown=${grip}
      @pointermove=${grip} style="cursor: ew-resize; touch-action: pan-y">
      ${step < Infinity ? ahead(x, width) : nothing}${DECADES.map(decade)}
      <text x=${width - 6} y="14" text-anchor="end" class="cw-halo">
        energy error |H − H₀| / |H₀| in ${now.steps.toLocaleString("en")} steps</text>
      ${rounds.map((t) => moment(t, (t / end) * width))}
      <text x=${width - 6} y=${HEIGHT - 8} text-anchor="end" class="cw-halo">time t</text>
      <path class="cw-cursor" d="M${x} 0V${HEIGHT}" stroke="var(--cw-ink)" stroke-width="2"></path>
      <circle cx=${x} cy="9" r="8" fill="var(--cw-ink)" stroke="var(--cw-paper)"
        stroke-width="2"></circle>
    </svg>
  </div>`;
}
