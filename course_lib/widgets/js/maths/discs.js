// Discs of states that a method of mechanics carries along.

import { integrate } from "./mechanics.js";
import { upTo } from "./numerics.js";

/** Points on a circle. @param {number[]} centre */
export const circle = ([q, p], radius, count) =>
  upTo(count).map((i) => {
    const angle = (2 * Math.PI * i) / count;
    return [q + radius * Math.cos(angle), p + radius * Math.sin(angle)];
  });

/**
 * Where points stand after 0 … `steps` steps, each of them `parts` steps of a method with one degree
 * of freedom.
 * @param {any} system
 */
export function carried(system, method, points, dt, steps, parts = 1) {
  const runs = points.map(([q, p]) =>
    integrate(system, method, [q], [p], dt / parts, steps * parts),
  );
  return upTo(steps + 1).map((n) => runs.map((run) => [run.q[n * parts], run.p[n * parts]]));
}

/** The area within a closed polygon, by the shoelace formula. @param {number[][]} points */
export function polygonArea(points) {
  const twice = points.reduce((sum, [x, y], i) => {
    const [nextX, nextY] = points[(i + 1) % points.length];
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(twice) / 2;
}
