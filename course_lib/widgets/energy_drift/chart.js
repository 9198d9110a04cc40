// EnergyDrift's chart: how far each run's energy is off, against time.

import { textWidth } from "../kit/lettering.js";
import { painted } from "../kit/painted.js";
import { inkOf, pixels } from "../kit/pixels.js";
import { stroking } from "../kit/plane.js";
import { themeName } from "../kit/run_colours.js";
import { logarithmic, ticks } from "../kit/scale.js";
import { number, quantity } from "../kit/text.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

/** The curves have the numbers at their left, and the moments and the handle's half below them. */
const [WIDTH, HEIGHT, LEFT, RIGHT, FOOT] = [400, 90, 66, 10, 24];
const KNOB = 8;
const [COLUMNS, ROWS] = [960, 300];
const WASH = 56;
/** Half of a line, in columns where it is steep, and in shares of the height where it is flat. */
const [BROAD, THICK] = [1, 2 / ROWS];
const SMALLEST = 1e-300;
/** Between two moments; in a narrow chart less, so that there are some. */
const [ROOM, CLOSE] = [110, 70];
const TYPE = 12;
const NAME = "time t";
/**
 * Powers of ten with a line of their own, and how they are told; beyond the outer two no curve goes.
 * Networks, which have a row each, err by more than integrators.
 * @type {Record<string, [number, string][]>}
 */
const LEVELS = {
  integrators: [
    [1, "≥ 10³ %"],
    [-1, "10 %"],
    [-3, "0.1 %"],
    [-5, "0.001 %"],
    [-7, "≤ 10⁻⁵ %"],
  ],
  networks: [
    [2, "≥ 10⁴ %"],
    [0, "100 %"],
    [-2, "1 %"],
    [-4, "≤ 0.01 %"],
  ],
};
const levelsOf = ({ rows }) => LEVELS[rows ? "networks" : "integrators"];

/** Where an error stands, as a share of the chart from its top. */
function axisOf(levels) {
  const [[ceiling], [floor]] = [levels[0], levels[levels.length - 1]];
  const scale = logarithmic([10 ** ceiling, 10 ** floor], [0, 1]);
  return (error) => clamp(scale(Math.max(error, SMALLEST)), 0, 1);
}

/** A moment in words. @param {number} time @returns {string} */
export const at = (time) => `t = ${number(time, time < 100 ? 2 : Number(time < 1000))}`;

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
function paintCurve({ curve, dash, dt }, { span, rows }, topOf, colour, { stroke }) {
  const { low, high, starts, total } = curve;
  const [line, wash] = [inkOf(colour), inkOf(colour, WASH)];
  const columnOf = (step) => (step * dt * (COLUMNS - 1)) / span;
  // Where a run is lost a stretch has no error, or one beyond all numbers.
  const known = high.findIndex((most) => !Number.isFinite(most));
  const count = known < 0 ? high.length : known;
  // A stretch stands for what lies in its middle; the first and the last reach the ends.
  const middle = (bin) => {
    const [first, last] = [starts[bin], (starts[bin + 1] ?? total) - 1];
    return columnOf(bin === 0 ? first : bin === high.length - 1 ? last : (first + last) / 2);
  };
  const places = Array.from({ length: count }, (_, bin) => middle(bin));
  const [tops, feet] = [high, low].map((errors) => Array.from(errors, topOf));
  const end = Math.min(COLUMNS - 1, Math.floor(places[count - 1] ?? -1));
  let bin = 0;
  const between = (values, column) => {
    while (bin + 2 < count && places[bin + 1] <= column) bin += 1;
    while (bin > 0 && places[bin] > column) bin -= 1;
    const next = Math.min(bin + 1, count - 1);
    const gap = places[next] - places[bin];
    const share = gap > 0 ? clamp((column - places[bin]) / gap, 0, 1) : 0;
    return values[bin] + share * (values[next] - values[bin]);
  };
  for (let column = 0; column <= end; column += 1) {
    const beside = [-BROAD, 0, BROAD].map((by) => between(tops, column + by));
    if (!dash || drawnAt(column, dash)) {
      stroke(column, [Math.min(...beside) - THICK, Math.max(...beside) + THICK], line);
    }
    // Among many the washes would hide each other.
    if (!rows) stroke(column, [beside[1], between(feet, column)], wash, true);
  }
}

function paintChart(now, { theme, memo }, context) {
  const picture = memo("chart", [], () => pixels(COLUMNS, ROWS));
  picture.clear();
  const topOf = axisOf(levelsOf(now));
  for (const run of now.all) paintCurve(run, now, topOf, theme.rgb(themeName(run.colour)), picture);
  context.putImageData(picture.image, 0, 0);
}

/** A piece of a run's line, as the chart draws it, at a third of the size. */
export const sample = ({ dash, colour }) =>
  svg`<path d="M0 6H24" stroke=${colour} stroke-width="3"
    stroke-dasharray=${dash ? dash.map((part) => part / 3).join(" ") : "none"}></path>`;

function level([power, told], width, topOf) {
  const y = HEIGHT * topOf(10 ** power);
  // The outermost numbers keep within the picture.
  const beside = clamp(y + 4, 11, HEIGHT - 1);
  return svg`<path d="M${LEFT} ${y}H${width - RIGHT}" stroke="var(--cw-line)"></path>
    <text x=${LEFT - 6} y=${beside} text-anchor="end">${told}</text>`;
}

/** Round moments below; the last one stands at the edge. */
function moment(time, x) {
  return svg`<path d="M${x} ${HEIGHT}v-5" stroke="var(--cw-edge)"></path>
    <text x=${x} y=${HEIGHT + FOOT - 3} text-anchor="middle">${quantity(time)}</text>`;
}

/** A hand on the chart takes the time along. */
const scrub = (ui) =>
  stroking(([x]) => {
    const share = (x - LEFT) / (ui.width("chart", WIDTH) - LEFT - RIGHT);
    ui.play(false);
    ui.set({ time: clamp(share, 0, 1) * ui.now.span });
  });

/** While it moves, what is still to come is faint, and hidden where nobody has seen it. */
const ahead = (x, width, unseen) => svg`<rect x=${x} width=${Math.max(0, width - RIGHT - x)}
  height=${HEIGHT} fill="var(--cw-panel)" opacity=${unseen ? 1 : 0.6}
  class=${unseen ? "cw-future" : nothing}></rect>`;

/** The chart, with a line at the shown time. @param {any} now @param {any} ui */
export function chart(now, ui) {
  const { methods, shown, programs, spec, q, p, dt, time, span, step, unseen } = now;
  const width = ui.width("chart", WIDTH);
  const xOf = (t) => LEFT + (t / span) * (width - LEFT - RIGHT);
  const paint = (context) => paintChart(now, ui, context);
  const inputs = [methods, shown, programs, spec, q, p, dt, span];
  const curves = { width: COLUMNS, height: ROWS, inputs, paint, cells: true };
  const x = xOf(time);
  const grip = scrub(ui);
  const levels = levelsOf(now);
  const topOf = axisOf(levels);
  // What would meet the name of the axis is left out.
  const clear = width - RIGHT - textWidth(NAME, TYPE) - TYPE;
  const half = (t) => textWidth(quantity(t), TYPE) / 2;
  const rounds = ticks(0, span, width / (width < WIDTH ? CLOSE : ROOM)).filter(
    (t) => t > 0 && xOf(t) + half(t) < clear,
  );
  return html`<div>
    <p class="cw-drift-title"><b>Energy error</b> |H − H₀| / |H₀|</p>
    <div class="cw-layers cw-drift-chart" data-measure="chart" style="--cw-left: ${LEFT}px;
      --cw-right: ${RIGHT}px; --cw-foot: ${FOOT}px; height: ${HEIGHT + FOOT}px">
    <canvas role="img" aria-label="Relative energy error against time, on a logarithmic axis"
      ${painted(ui, curves)}></canvas>
    <svg viewBox="0 0 ${width} ${HEIGHT + FOOT}" aria-hidden="true" @pointerdown=${grip}
      @pointermove=${grip} style="cursor: ew-resize; touch-action: pan-y">
      ${step < Infinity || unseen ? ahead(x, width, unseen) : nothing}
      ${levels.map((one) => level(one, width, topOf))}${rounds.map((t) => moment(t, xOf(t)))}
      <text x=${width - RIGHT} y=${HEIGHT + FOOT - 3} text-anchor="end">${NAME}</text>
      <path class="cw-cursor" d="M${x} 0V${HEIGHT}" stroke="var(--cw-ink)" stroke-width="2"></path>
      <circle cx=${x} cy=${HEIGHT} r=${KNOB} fill="var(--cw-ink)" stroke="var(--cw-paper)"
        stroke-width="2"></circle>
    </svg>
  </div></div>`;
}
