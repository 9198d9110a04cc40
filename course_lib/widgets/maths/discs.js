// Discs of states that a method of mechanics carries along.

import { integrate } from "./mechanics.js";
import { sum, upTo } from "./numerics.js";

const [COARSE, GAP] = [200, 0.1];

/**
 * The rim of a disc, carried by 0 … `steps` steps, each of them `parts` steps of a method with one
 * degree of freedom. Where neighbours part by more than `gap`, points of the first circle between
 * them are carried along, too. `coarse` are the places of even points after all steps, `shares`
 * how far around the first circle each point of the rim was.
 * @param {any} system
 */
export function carriedRim(system, method, { centre, radius }, dt, steps, options = {}) {
  const { parts = 1, gap = GAP } = options;
  const carried = (share) => {
    const angle = 2 * Math.PI * share;
    const [q, p] = [centre[0] + radius * Math.cos(angle), centre[1] + radius * Math.sin(angle)];
    return { share, run: integrate(system, method, [q], [p], dt / parts, steps * parts) };
  };
  const even = upTo(COARSE).map((i) => carried(i / COARSE));
  const at = (n) => (point) => [point.run.q[n * parts], point.run.p[n * parts]];
  let rim = even;
  for (let n = 1; n <= steps; n += 1) rim = refined(rim, at(n), carried, gap);
  return {
    states: upTo(steps + 1).map((n) => rim.map(at(n))),
    coarse: upTo(steps + 1).map((n) => even.map(at(n))),
    shares: rim.map(({ share }) => share),
  };
}

/** A rim whose neighbours are near each other. */
function refined(rim, place, carried, gap) {
  const finer = rim.flatMap((point, i) => {
    const next = rim[i + 1] ?? { ...rim[0], share: 1 };
    const [[q, p], [nextQ, nextP]] = [place(point), place(next)];
    if (Math.hypot(nextQ - q, nextP - p) <= gap) return [point];
    return [point, carried((point.share + next.share) / 2)];
  });
  return finer.length === rim.length ? rim : refined(finer, place, carried, gap);
}

/**
 * The area within a closed smooth curve through points, each at its share of the way around: that
 * of the polygon, and what lies between its sides and cubic arcs. A long thin shape folds often,
 * and a polygon cuts each bend.
 * @param {number[][]} points
 * @param {number[]} shares rising, from 0 on and below 1
 */
export function areaWithin(points, shares) {
  const count = points.length;
  const [before, after] = [-1, 1].map((way) => (i) => (i + way + count) % count);
  const apart = (i, j) => points[j].map((x, axis) => x - points[i][axis]);
  const step = (i) => (shares[after(i)] - shares[i] + 1) % 1;
  /** The derivative at a point, from the parabola through three points. */
  const speeds = points.map((_, i) => {
    const [earlier, later] = [step(before(i)), step(i)];
    const [from, to] = [apart(before(i), i), apart(i, after(i))];
    return from.map(
      (x, axis) => ((x / earlier) * later + (to[axis] / later) * earlier) / (earlier + later),
    );
  });
  /** @param {number[]} a @param {number[]} b */
  const cross = (a, b) => a[0] * b[1] - a[1] * b[0];
  const arcs = points.map((point, i) => {
    const next = after(i);
    const [out, into] = [speeds[i], speeds[next]].map((speed) => speed.map((x) => x * step(i)));
    const side = apart(i, next);
    const bulge = (cross(out, side) + cross(side, into)) / 5 - cross(out, into) / 30;
    return cross(point, points[next]) + bulge;
  });
  return Math.abs(sum(arcs)) / 2;
}

/** The points of a line that are at least a distance from the last kept one. @param {number[][]} points */
export function thinned(points, apart) {
  let last = [Infinity, Infinity];
  return points.filter((point) => {
    if (Math.hypot(point[0] - last[0], point[1] - last[1]) < apart) return false;
    last = point;
    return true;
  });
}
