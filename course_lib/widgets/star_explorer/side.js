// What stands beside the panels: the star itself, the dial, and how far each way is off.

import { linear, ticks } from "../kit/scale.js";
import { digitsApart, number, percent, quantity } from "../kit/text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { dialEnds, handOnDial, keysOnPeriod } from "./hand.js";
import { COLOURS, heightOf, SHAPES } from "./panels.js";
import { days, nightTold, verdictTold } from "./words.js";

const RADIUS = 0.12; // of the sky's height
const FOOT = 20; // pixels for the days
const DIAL = 40;
const [APART, FINE, EDGE] = [80, 14, 20]; // pixels from number to number, line to line, to an end

/** A disc that shines: as large at all times, since brightness is no size. */
const shiningDisc = (x, y, r, shining) => svg`<circle cx=${x} cy=${y} r=${r * (1.1 + 0.6 * shining)}
    fill="var(--cw-series-4)" fill-opacity=${0.05 + 0.25 * shining}></circle>
  <circle class="cw-s-disc" cx=${x} cy=${y} r=${r} fill="var(--cw-series-4)"
    fill-opacity=${0.25 + 0.75 * shining}></circle>`;

/** Two stars that nobody sees apart. No picture: how they stand to each other is not known. */
const onePoint = (x, y, shining) => svg`<circle class="cw-s-disc" cx=${x} cy=${y} r="3"
    fill="var(--cw-series-4)" fill-opacity=${0.25 + 0.75 * shining}></circle>
  <text x=${x} y=${y + 22} text-anchor="middle">two stars, seen as one point</text>`;

/** The star's light, over what it does in the days about this one. */
export function sky(now, ui) {
  const { curve, hidden, between, moment, brightnessNow, shining, magnitudeNow, turn } = now;
  const { pulsates, star } = now;
  const [width, height] = [ui.width("sky", 240), heightOf(ui, "sky")];
  const [x, y] = [
    linear(between.ends, [0, width]),
    linear(curve.ends, [height - FOOT, 0.47 * height]),
  ];
  const r = RADIUS * height;
  const middle = [width / 2, 0.24 * height];
  const bright = `${percent(brightnessNow)} of its greatest brightness`;
  const told = `The star on day ${number(moment, 1)}: ${number(magnitudeNow)} mag, ${bright}`;
  const path = between.points.map(([t, m]) => `${x(t).toFixed(1)} ${y(m).toFixed(1)}`).join("L");
  const [from, to] = between.ends;
  const inSight = curve.time.flatMap((t, i) => (t >= from && t <= to ? [i] : []));
  const dot = (night) => {
    const gone = hidden.includes(night);
    return svg`<circle cx=${x(curve.time[night])} cy=${y(curve.magnitude[night])} r="4"
      fill=${gone ? "none" : COLOURS.seen} stroke=${gone ? "var(--cw-ink)" : "none"}></circle>`;
  };
  const marked = ticks(from, to, width / 60).filter((t) => x(t) > 14 && x(t) < width - 14);
  const day = (t) => svg`<text x=${x(t)} y=${height - 5}
    text-anchor="middle">${quantity(t, "", digitsApart(marked))}</text>`;
  return html`<div class="cw-night cw-s-sky" data-turn=${turn}>
    <div data-measure="sky"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${told}>
      ${pulsates[star] ? shiningDisc(...middle, r, shining) : onePoint(...middle, shining)}
      <path d="M${path}" fill="none" stroke=${COLOURS.waves} stroke-width="2"></path>
      <path d="M${middle[0]} ${0.47 * height}V${height - FOOT}" stroke="var(--cw-ink)"
        stroke-opacity="0.6" stroke-dasharray="2 3"></path>
      ${inSight.map(dot)}
      <circle cx=${middle[0]} cy=${y(magnitudeNow)} r="5" fill="var(--cw-series-4)"></circle>
      ${marked.map(day)}
    </svg></div>
    <output>Day ${number(moment)}</output>
  </div>`;
}

/** Periods about the one in hand go by under a needle, as on a wireless. */
export function dial(now, ui, find) {
  const { folded, within, explained } = now;
  const width = ui.width("dial", 320);
  const [low, high] = dialEnds(now);
  const x = linear([low, high], [0, width]);
  const grip = handOnDial(ui, width);
  const lines = ticks(low, high, width / FINE).map((t) => `M${x(t)} 22v-8`);
  const inside = (t) => x(t) > EDGE && x(t) < width - EDGE;
  const numbers = ticks(low, high, width / APART).filter(inside);
  const digits = Math.max(0, -Math.floor(Math.log10((numbers[1] ?? high) - numbers[0]) + 1e-9));
  return html`<div style="grid-area: dial">
    <div class="cw-row cw-s-period" data-period=${folded}>
      <span>Period</span>
      <div class="cw-s-dial" data-measure="dial">
        <svg viewBox="0 0 ${width} ${DIAL}"><g role="slider" tabindex="0" aria-label="Period"
          aria-valuemin=${within.period[0]} aria-valuemax=${within.period[1]}
          aria-valuenow=${folded} aria-valuetext=${days(folded)} @keydown=${keysOnPeriod(ui)}
          @pointerdown=${grip} @pointermove=${grip} @pointerup=${grip} @pointercancel=${grip}>
          <rect width=${width} height=${DIAL} rx="6" fill="var(--cw-panel)"
            stroke="var(--cw-edge)"></rect>
          <path d=${lines.join("")} stroke="var(--cw-edge)"></path>
          <path d=${numbers.map((t) => `M${x(t)} 22v-14`).join("")} stroke="var(--cw-ink)"></path>
          ${numbers.map(
            (t) => svg`<text x=${x(t)} y="35" text-anchor="middle">${number(t, digits)}</text>`,
          )}
          <path d="M${width / 2 - 6} 0h12l-5 9v14h-2v-14z"
            fill="var(--cw-warm)"></path>
        </g></svg>
      </div>
      <output>${days(folded)}</output> ${find}
    </div>
    <p class="cw-s-told" data-explained=${explained}>
      <span class="cw-s-meter" aria-hidden="true"><span
        style="width: ${100 * explained}%"></span></span>
      ${
        nightTold(now) ||
        html`It explains ${percent(explained)} of the scatter.
        <strong>${verdictTold(now)}</strong>`
      }
    </p>
  </div>`;
}

const BANDS = { doubt: "ASTROMER ±", band: "waves ±" };
const WAYS = [
  ["astromer", "ASTROMER"],
  ["line", "straight line"],
  ["waves", "three waves"],
];

const SIGNS = {
  ...{ waves: "M0 5h14v2h-14z", noise: "M6.2 0h1.6v12h-1.6z", band: "M4.5 0h5v12h-5z" },
  doubt: "M1 0h12v12h-12z",
};
const INKS = { ...COLOURS, noise: COLOURS.seen, band: COLOURS.waves, doubt: COLOURS.astromer };

function mark(way) {
  const shape = SIGNS[way] ?? SHAPES[way]([7, 6]);
  return html`<svg viewBox="0 0 14 12" aria-hidden="true"><path d=${shape}
    fill=${INKS[way]} fill-opacity=${way in BANDS ? 0.5 : 1}></path></svg>`;
}

/**
 * The root of the mean square of what each way is off at the hidden nights, and of the errors that
 * their observers state, below which nobody comes on average; and how many nights each band holds.
 * Nothing hidden, nothing to compare.
 */
export function errors({ errors: found, noise, hidden, held, doubtHeld, curve, facts }) {
  if (!hidden.length)
    return html`<p class="cw-s-scores cw-hint">Who fills hidden nights in best?</p>`;
  const row = ([way, name]) => html`<tr><th scope="row">${mark(way)} ${name}</th>
    <td data-way=${way}>${number(found[way], 3)}</td></tr>`;
  const own = html`<tr><th scope="row">${mark("noise")} stated errors</th>
    <td data-noise>${number(noise, 3)}</td></tr>`;
  const band = (way, count) =>
    count === null
      ? nothing
      : html`<tr><th scope="row">${mark(way)} ${BANDS[way]}</th>
        <td data-held=${way}>${count} of ${hidden.length}</td></tr>`;
  const caption = `Error in mag. Rings: ${hidden.length} of ${curve.time.length} nights, hidden`;
  return html`<div class="cw-s-scores"><table class="cw-weights cw-s-errors">
    <caption>${caption}</caption>
    <tbody>${WAYS.filter(([way]) => facts || way !== "astromer").map(row)}${own}
      ${band("doubt", doubtHeld)}${band("band", held)}</tbody>
  </table>
  ${facts ? nothing : html`<p class="cw-hint">No ASTROMER is here.</p>`}</div>`;
}
