// What stands beside the panels: the star itself, and how far each way is off.

import { number } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { COLOURS, SHAPES } from "./panels.js";

const [WIDTH, HEIGHT, LARGEST] = [240, 92, 34];

/** A disc whose area is the star's brightness. */
export function disc({ brightnessNow, magnitudeNow, turn }) {
  const r = LARGEST * Math.sqrt(brightnessNow);
  const bright = `${number(100 * brightnessNow, 0)} % of its greatest brightness`;
  const told = `The star at phase ${number(turn)}: ${number(magnitudeNow)} mag, ${bright}`;
  return html`<div class="cw-night cw-s-sky" data-turn=${turn}>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${told}>
    <rect width=${WIDTH} height=${HEIGHT} rx="6" fill="#0d1117"></rect>
    ${[1.35, 1.17].map(
      (wider) => svg`<circle cx=${WIDTH / 2} cy=${HEIGHT / 2} r=${wider * r}
        fill="var(--cw-series-4)" fill-opacity=${0.22 * brightnessNow}></circle>`,
    )}
    <circle class="cw-s-disc" cx=${WIDTH / 2} cy=${HEIGHT / 2} r=${r} fill="var(--cw-series-4)"
      fill-opacity=${0.45 + 0.55 * brightnessNow}></circle>
  </svg>
    <output>phase ${number(turn)}</output>
  </div>`;
}

const WAYS = [
  ["astromer", "ASTROMER (says no ±)"],
  ["line", "straight line"],
  ["waves", "three waves"],
];

const mark = (way) => html`<svg viewBox="0 0 14 12" aria-hidden="true"><path fill=${COLOURS[way]}
  d=${way === "waves" ? "M0 5h14v2h-14z" : SHAPES[way]([7, 6])}></path></svg>`;

/** The root of the mean square of what each way is off at the hidden nights. */
export function errors({ errors: found, hidden, curve, facts }) {
  const row = ([way, name]) => html`<tr><th scope="row">${mark(way)} ${name}</th>
    <td data-way=${way}>${found[way] === null ? "–" : number(found[way], 3)}</td></tr>`;
  const count = curve.time.length;
  const caption = hidden.length
    ? `${hidden.length} of ${count} nights hidden: error in mag`
    : "Hide nights: who fills them in best?";
  return html`<table class="cw-s-errors">
    <caption>${caption}</caption>
    <tbody>${WAYS.filter(([way]) => facts || way !== "astromer").map(row)}</tbody>
  </table>
  ${facts ? nothing : html`<p class="cw-hint">No ASTROMER is here.</p>`}`;
}
