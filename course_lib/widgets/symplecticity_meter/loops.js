// Closed loops in the plane, as lists of corners.

/** @typedef {number[][]} Loop */

const CORNERS = 96;
const SMOOTHINGS = 3;

/** @param {Loop} loop */
export const centreOf = (loop) =>
  [0, 1].map((axis) => loop.reduce((sum, point) => sum + point[axis], 0) / loop.length);

/** The longer of the sides of the box about it. @param {Loop} loop */
export function extentOf(loop) {
  const sides = [0, 1].map((axis) => {
    const along = loop.map((point) => point[axis]);
    return Math.max(...along) - Math.min(...along);
  });
  return Math.max(...sides);
}

/** The mean distance of the corners from their centre. @param {Loop} loop */
export function sizeOf(loop) {
  const [x, y] = centreOf(loop);
  return loop.reduce((sum, [px, py]) => sum + Math.hypot(px - x, py - y), 0) / loop.length;
}

/** The largest size of a loop about its centre that stays within `reach` of the axes. */
export function largestSize(loop, reach) {
  const centre = centreOf(loop);
  const factors = loop.flatMap((point) =>
    point.map((part, i) => {
      const way = part - centre[i];
      return way ? (reach - Math.sign(way) * centre[i]) / Math.abs(way) : Infinity;
    }),
  );
  return sizeOf(loop) * Math.min(...factors);
}

/** A loop of another size about the same centre. @param {Loop} loop @param {number} size */
export function resized(loop, size) {
  const [centre, factor] = [centreOf(loop), size / (sizeOf(loop) || 1)];
  return loop.map((point) => point.map((part, i) => centre[i] + factor * (part - centre[i])));
}

/**
 * A loop moved by a step, as far as it stays within `reach` of the axes.
 * @param {Loop} loop
 * @param {number[]} step
 * @param {number} reach
 */
export function moved(loop, step, reach) {
  const fits = step.map((part, i) => {
    const along = loop.map((point) => point[i]);
    return Math.max(-reach - Math.min(...along), Math.min(reach - Math.max(...along), part));
  });
  return loop.map((point) => point.map((part, i) => part + fits[i]));
}

/**
 * What a hand has drawn, closed, smoothed, and with corners that are evenly spaced; nothing if it is
 * shorter than `least`.
 * @param {Loop} drawn
 * @param {number} least
 */
export function closedLoop(drawn, least) {
  const ring = [...drawn, drawn[0]];
  const far = [0];
  for (let i = 1; i < ring.length; i += 1) {
    far.push(far[i - 1] + Math.hypot(ring[i][0] - ring[i - 1][0], ring[i][1] - ring[i - 1][1]));
  }
  const whole = far[far.length - 1];
  if (whole < least) return null;
  let piece = 0;
  let loop = Array.from({ length: CORNERS }, (_, k) => {
    const goal = (k * whole) / CORNERS;
    while (far[piece + 1] <= goal) piece += 1;
    const share = (goal - far[piece]) / (far[piece + 1] - far[piece]);
    return ring[piece].map((part, i) => part + share * (ring[piece + 1][i] - part));
  });
  for (let pass = 0; pass < SMOOTHINGS; pass += 1) {
    loop = loop.map((point, k) => {
      const [before, after] = [loop.at(k - 1), loop[(k + 1) % CORNERS]];
      return point.map((part, i) => (before[i] + 2 * part + after[i]) / 4);
    });
  }
  return loop;
}
