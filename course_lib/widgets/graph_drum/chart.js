// Energies against time: the whole of each law, and beneath it the part that lies on the nodes.

import { textWidth } from "../kit/lettering.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const HEIGHT = 116;
const TOP = 14;
/** The marks stand beside the curves, which would strike them through. */
const MARGIN = 48;
const MARKS = [0, 0.5, 1];
const [TYPE, LINE, GAP] = [12, 14, 6];
const HIGHEST = 9; // a name's middle, so that the chart's edge does not cut it
const SHORT = { bracket: "Bracket" };

const down = (share) => HEIGHT - 6 - share * (HEIGHT - 6 - TOP);

const tenths = (x) => x.toFixed(1);

function path(shares, width) {
  const step = width / (shares.length - 1);
  return `M${shares.map((share, i) => `${tenths(i * step)} ${tenths(down(share))}`).join("L")}`;
}

function mark(share) {
  return svg`<path d="M0 ${down(share)}H4000" stroke="var(--cw-line)"></path>
    <text class="cw-drum-mark" x="-6" y=${down(share) + 4.5} text-anchor="end">${100 * share} %</text>`;
}

/** One name for two curves that lie under each other. */
function namesOf(drums, alike) {
  const names = drums.map(({ law, title, ink, curve }) => ({
    ...{ law, ink, name: SHORT[law] ?? title, share: curve.whole.at(-1) },
  }));
  if (!alike) return names;
  const [heat, wave, bracket] = names;
  return [wave, { ...bracket, name: `${heat.name}, bracket`, first: heat }];
}

/** Each name at the end of its curve, or as near as the others and the chart's edges leave room. */
function stacked(drums, alike) {
  const names = namesOf(drums, alike).sort((one, other) => one.share - other.share);
  let free = HEIGHT + LINE / 2;
  const risen = names.map(({ share }) => (free = Math.min(down(share), free - LINE)));
  let taken = HIGHEST - LINE;
  const sunk = risen.reverse().map((y) => (taken = Math.max(y, taken + LINE)));
  return names.reverse().map((one, i) => ({ ...one, y: sunk[i] }));
}

function end({ name, ink: own, share, y, first }, width) {
  const ink = `var(--cw-${own})`;
  const inks = first
    ? svg`<tspan style="fill: var(--cw-${first.ink})">${first.name}</tspan>${name.slice(first.name.length)}`
    : name;
  return svg`<path d="M${width} ${down(share)}L${width + GAP} ${y}" stroke=${ink}></path>
    <text class="cw-drum-name" x=${width + GAP + 3} y=${y + 4} style="fill: ${ink};
      font-size: ${TYPE}px">${inks}</text>`;
}

/** What a reader who is to guess does not see before it comes. */
const ahead = (x, right) => svg`<rect class="cw-drum-unseen" x=${x} y=${TOP / 2}
  width=${Math.max(0, right - x)} height=${HEIGHT} fill="var(--cw-panel)"></rect>`;

/** @param {any} now @param {any} ui */
export function chart({ drums, alike, time, end: last, unseen }, ui) {
  const whole = ui.width("chart", 640);
  const names = stacked(drums, alike);
  const room = GAP + 6 + Math.max(...names.map(({ name }) => textWidth(name, TYPE)));
  const width = Math.max(1, whole - MARGIN - room);
  const paths = (one) =>
    ui.memo(`paths ${one.law}`, [one.curve, width], () => ({
      whole: path(one.curve.whole, width),
      nodes: path(one.curve.nodes, width),
    }));
  const line = ({ ink, dash, ...one }) => svg`
    <path d=${paths(one).nodes} fill="none" stroke=${`var(--cw-${ink})`} opacity="0.75"></path>
    <path d=${paths(one).whole} fill="none" stroke=${`var(--cw-${ink})`} stroke-width="3"
      stroke-dasharray=${dash}></path>`;
  const x = (time / last) * width;
  return html`<div class="cw-layers" data-measure="chart" style="height: ${HEIGHT}px">
    <svg viewBox="${-MARGIN} 0 ${whole} ${HEIGHT}" role="img"
      aria-label="Energy of each law against time, as a share of the wave’s at the start">
      ${MARKS.map(mark)}<rect x=${width} width=${room} height=${HEIGHT} fill="var(--cw-panel)"></rect>
      ${drums.map(line)}
      ${unseen ? ahead(x, width + room) : names.map((name) => end(name, width))}
      <path class="cw-cursor" d="M${x} 0V${HEIGHT}" stroke="var(--cw-ink)"></path>
    </svg>
  </div>`;
}
