// Energies against time: the whole of each law, and beneath it the part that lies on the nodes.

import { series } from "../controls.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const HEIGHT = 86;
const TOP = 14;
/** The marks stand beside the curves, which would strike them through. */
const MARGIN = 48;
const MARKS = [0, 0.5, 1];

const down = (share) => HEIGHT - 6 - share * (HEIGHT - 6 - TOP);

const tenths = (x) => x.toFixed(1);

function path(shares, width) {
  const step = width / (shares.length - 1);
  return `M${shares.map((share, i) => `${tenths(i * step)} ${tenths(down(share))}`).join("L")}`;
}

function mark(share) {
  return svg`<path d="M0 ${down(share)}H4000" stroke="var(--cw-line)"></path>
    <text x="-6" y=${down(share) + 4.5} text-anchor="end">${100 * share} %</text>`;
}

/** @param {any} now @param {any} ui */
export function chart({ drums, time, end }, ui) {
  const whole = ui.width("chart", 640);
  const width = whole - MARGIN;
  const paths = (one) =>
    ui.memo(`paths ${one.law}`, [one.curve, width], () => ({
      whole: path(one.curve.whole, width),
      nodes: path(one.curve.nodes, width),
    }));
  const line = ({ colour, dash, ...one }) => svg`
    <path d=${paths(one).nodes} fill="none" stroke=${series(colour)} opacity="0.75"></path>
    <path d=${paths(one).whole} fill="none" stroke=${series(colour)} stroke-width="3"
      stroke-dasharray=${dash}></path>`;
  const x = (time / end) * width;
  return html`<div class="cw-layers" data-measure="chart" style="height: ${HEIGHT}px">
    <svg viewBox="${-MARGIN} 0 ${whole} ${HEIGHT}" role="img"
      aria-label="Energy of each law against time, as a share of that at the start">
      ${MARKS.map(mark)}${drums.map(line)}
      <path class="cw-cursor" d="M${x} 0V${HEIGHT}" stroke="var(--cw-ink)"></path>
    </svg>
  </div>`;
}
