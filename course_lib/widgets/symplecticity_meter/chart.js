// SymplecticityMeter's chart: the work so far against the rounds, or the energy against time.

import { crossSign, tickSign } from "../kit/signs.js";
import { number } from "../kit/text.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const WIDTH = 320;
const [LEFT, RIGHT, TOP] = [46, WIDTH - 12, 8];
const ROOM = 0.06;
/** Numbers at the axis that stand closer, in pixels, would meet. */
const CLOSE = 11;

/**
 * A curve with a point on it, and a dashed level to come back to.
 * @param {{ label: string, along: string, ends: number[], points: number[][], head: number[],
 *   level: number, levels?: number[], ticks: number[], height: number,
 *   marks?: { at: number[], good: boolean }[] }} picture `ends` are the least and the most of both
 *   axes: left, right, bottom, top; `levels` have a number each, the first of those that are close
 */
export function chart(picture) {
  const {
    label,
    along,
    ends,
    points,
    head,
    level,
    levels = [],
    ticks,
    height,
    marks = [],
  } = picture;
  const BOTTOM = height - 26;
  const [left, right, bottom, top] = ends;
  const margin = ROOM * (top - bottom || 1);
  const x = (value) => LEFT + ((value - left) / (right - left)) * (RIGHT - LEFT);
  const y = (value) =>
    BOTTOM - ((value - bottom + margin) / (top - bottom + 2 * margin)) * (BOTTOM - TOP);
  const place = ([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
  const tick = (at) => svg`<path d="M${x(at)} ${TOP}V${BOTTOM}" stroke="var(--cw-line)"></path>
    <text x=${x(at)} y=${height - 10} text-anchor="middle">${number(at, 0)}</text>`;
  const apart = [level];
  for (const one of levels)
    if (apart.every((other) => Math.abs(y(one) - y(other)) >= CLOSE)) apart.push(one);
  const reached = (
    value,
  ) => svg`<path d="M${LEFT} ${y(value)}H${RIGHT}" stroke="var(--cw-line)"></path>
    <text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end" data-level=${value}>${number(value)}</text>`;
  const mark = ({ at: [a, b], good }) =>
    good ? tickSign(x(a), y(b), 9) : crossSign(x(a), y(b), 8);
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label=${label}>
    <rect width=${WIDTH} height=${height} rx="6" fill="var(--cw-panel)"></rect>
    <text x="4" y=${height - 10}>${along}</text>
    ${apart.slice(1).map(reached)}
    ${ticks.filter((at) => at !== left).map(tick)}
    <path d="M${LEFT} ${y(level)}H${RIGHT}" stroke="var(--cw-ink)" stroke-dasharray="5 4"></path>
    <text x=${LEFT - 6} y=${y(level) + 4} text-anchor="end">${number(level, 0)}</text>
    <path d="M${points.map(place).join("L")}" fill="none" stroke="var(--cw-accent)"
      stroke-width="2" stroke-linejoin="round"></path>
    ${marks.map(mark)}
    <circle cx=${x(head[0])} cy=${y(head[1])} r="4.5" fill="var(--cw-ink)"
      stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  </svg>`;
}
