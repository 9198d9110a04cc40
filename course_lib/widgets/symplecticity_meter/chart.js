// SymplecticityMeter's chart: the work so far against the rounds, or the energy against time.

import { dot, line, panel, rule } from "../kit/charts.js";
import { crossSign, tickSign } from "../kit/signs.js";
import { number } from "../kit/text.js";

const ROOM = 0.06;

/**
 * A curve with a point on it, and a dashed line at the level where it began.
 * @param {any} ui
 * @param {{ label: string, along: string, up: string, ends: number[], points: number[][], head: number[],
 *   level: number, levels?: number[], ticks: number[], height: number,
 *   marks?: { at: number[], good: boolean }[] }} picture `ends` are the least and the most of both
 *   axes: left, right, bottom, top; `levels` have a number each, where there is room
 */
export function chart(
  ui,
  { label, along, up, ends, points, head, level, levels = [], ...picture },
) {
  const { ticks, height, marks = [] } = picture;
  const [left, right, bottom, top] = ends;
  const margin = ROOM * (top - bottom || 1);
  const format = (value) => number(value, value === level ? 0 : 2);
  const axes = {
    x: { ends: [left, right], ticks, label: along },
    y: { ends: [bottom - margin, top + margin], ticks: [level, ...levels], format, label: up },
  };
  return panel(ui, { name: "chart", says: label, height, ...axes }, (frame) => [
    ticks.map((x) => rule(frame, { x, dash: "", colour: "var(--cw-line)" })),
    rule(frame, { y: level, colour: "var(--cw-ink)" }),
    line(frame, points, { width: 2 }),
    marks.map(({ at: [a, b], good }) =>
      good ? tickSign(frame.x(a), frame.y(b), 9) : crossSign(frame.x(a), frame.y(b), 8),
    ),
    dot(frame, head, { r: 4.5 }),
  ]);
}
