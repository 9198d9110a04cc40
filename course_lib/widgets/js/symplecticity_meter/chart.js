// SymplecticityMeter's chart: the work so far against the rounds, or the energy against time.

import { number } from "../text.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const [WIDTH, HEIGHT] = [320, 190];
const [LEFT, RIGHT, TOP, BOTTOM] = [30, WIDTH - 12, 32, HEIGHT - 26];
const ROOM = 0.06;

/**
 * A curve with a point on it, and a dashed level to come back to.
 * @param {{ label: string, title: string, ends: number[], points: number[][], head: number[],
 *   level: number, ticks: number[], marks?: { at: number[], good: boolean }[] }} picture `ends` are
 *   the least and the most of both axes: left, right, bottom, top
 */
export function chart({ label, title, ends, points, head, level, ticks, marks = [] }) {
  const [left, right, bottom, top] = ends;
  const margin = ROOM * (top - bottom || 1);
  const x = (value) => LEFT + ((value - left) / (right - left)) * (RIGHT - LEFT);
  const y = (value) =>
    BOTTOM - ((value - bottom + margin) / (top - bottom + 2 * margin)) * (BOTTOM - TOP);
  const place = ([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
  const tick = (at) => svg`<path d="M${x(at)} ${TOP}V${BOTTOM}" stroke="var(--cw-line)"></path>
    <text x=${x(at)} y=${HEIGHT - 10} text-anchor="middle">${number(at, 0)}</text>`;
  const mark = ({ at: [a, b], good }) =>
    good
      ? tickSign(x(a), y(b), 9)
      : svg`<circle cx=${x(a)} cy=${y(b)} r="6" fill="var(--cw-warm)"></circle>`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${label}>
    <rect width=${WIDTH} height=${HEIGHT} rx="6" fill="var(--cw-panel)"></rect>
    <text x="10" y="18">${title}</text>
    ${ticks.map(tick)}
    <path d="M${LEFT} ${y(level)}H${RIGHT}" stroke="var(--cw-ink)" stroke-dasharray="5 4"></path>
    <text x=${LEFT - 6} y=${y(level) + 4} text-anchor="end">${number(level, 0)}</text>
    <path d="M${points.map(place).join("L")}" fill="none" stroke="var(--cw-accent)"
      stroke-width="2" stroke-linejoin="round"></path>
    ${marks.map(mark)}
    <circle cx=${x(head[0])} cy=${y(head[1])} r="4.5" fill="var(--cw-ink)"
      stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  </svg>`;
}

/**
 * A tick in a disc: this has come out as it should.
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export const tickSign = (x, y, r) => svg`<g class="cw-tick" transform="translate(${x} ${y})">
  <circle r=${r} fill="var(--cw-series-2)" stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  <path d="M${-0.45 * r} ${0.05 * r}L${-0.1 * r} ${0.4 * r}L${0.5 * r} ${-0.35 * r}" fill="none"
    stroke="var(--cw-paper)" stroke-width=${r / 4} stroke-linecap="round"
    stroke-linejoin="round"></path>
</g>`;
