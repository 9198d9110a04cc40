// A graph as a net that is lifted: seen a little from above, near parts larger than far ones.

import { pointIn } from "../kit/plane.js";
import { upTo } from "../maths/numerics.js";

/** The size of a drum's drawing. */
export const WIDTH = 320;
export const HEIGHT = 212;
/** Half of what a graph is wide, and how much less a unit is into the depth. */
const [ACROSS, TILT] = [148, 0.46];
/** How far a height of 1 lifts a node at most, and what is left free above and below. */
const [LIFT, RIM] = [40, 7];
const PERSPECTIVE = 0.2;
const INKS = 64;
// Small heights shall be seen too.
const CONTRAST = 0.6;
const FAINTEST = 0.04;
const LONGEST = 0.3; // of a spring, which an arrow does not leave
const MOST_TRIANGLES = 300;

const nearness = (y) => 1 / (1 + PERSPECTIVE * y);

/**
 * How a graph fills the drawing with heights of -1 to 1: what a unit is `across`, into the `deep`
 * and as a `lift`, and where the `ground` is.
 */
function stageOf(places) {
  const widest = Math.max(1, ...places.map(([x, y]) => Math.abs(x) * nearness(y)));
  const across = ACROSS / widest;
  const reach = (way) =>
    Math.max(...places.map(([, y]) => (way * TILT * across * y + LIFT) * nearness(y)));
  const [up, down] = [reach(1), reach(-1)];
  const squash = Math.min(1, (HEIGHT - 2 * RIM) / (up + down));
  const ground = (HEIGHT + squash * (up - down)) / 2;
  return { across, deep: squash * TILT * across, lift: squash * LIFT, ground };
}

/** Where a place stands when it is lifted: across, down, and how near it is. */
function projected({ across, deep, lift, ground }, [x, y], height) {
  const near = nearness(y);
  const down = ground - (deep * y + lift * height) * near;
  return [WIDTH / 2 + across * x * near, down, near];
}

/** What is drawn of a graph, the farthest first: triangles of its edges, edges, nodes. */
export function sceneOf({ places, edges }) {
  // A spring comes before both of its nodes, so that it covers neither.
  const depth = (nodes) => Math.max(...nodes.map((i) => places[i][1]));
  const joined = places.map(() => new Set());
  for (const [i, j] of edges) joined[i].add(j).has(joined[j].add(i));
  const triangles = edges.flatMap(([i, j]) =>
    [...joined[i]].filter((k) => k > Math.max(i, j) && joined[j].has(k)).map((k) => [i, j, k]),
  );
  const parts = [
    // Where all are joined to all there is no skin to be seen, and no end of triangles.
    ...(triangles.length > MOST_TRIANGLES ? [] : triangles).map((nodes) => ({ nodes, back: 0.02 })),
    ...edges.map((nodes, edge) => ({ nodes, edge, back: 0.01 })),
    ...upTo(places.length).map((i) => ({ nodes: [i], back: 0 })),
  ].map((part) => ({ ...part, depth: depth(part.nodes) + part.back }));
  parts.sort((one, other) => other.depth - one.depth);
  const radius = Math.max(3, Math.min(6.5, 44 / Math.sqrt(places.length)));
  return { places, edges, parts, radius, stage: stageOf(places) };
}

/** Where the nodes stand. @returns {number[][]} */
export const points = ({ places, stage }, q) =>
  places.map((place, i) => projected(stage, place, q[i]));

/** Colours from deep down to high up; what lies at 0 has that of the edges. */
export function inksOf({ rgb }) {
  const [down, rest, up] = ["series-0", "edge", "warm"].map(rgb);
  return upTo(2 * INKS + 1).map((i) => {
    const share = Math.abs(i - INKS) / INKS;
    const end = i < INKS ? down : up;
    return `rgb(${rest.map((part, c) => Math.round(part + share * (end[c] - part))).join()})`;
  });
}

/** The place of a height among the colours. */
export const shade = (height) =>
  Math.round(INKS * (1 + Math.sign(height) * Math.min(1, Math.abs(height)) ** CONTRAST));

/** Lines from one point to another, as one stroke. */
function line(context, ...lines) {
  context.beginPath();
  for (const [from, to] of lines) {
    context.moveTo(from[0], from[1]);
    context.lineTo(to[0], to[1]);
  }
  context.stroke();
}

/** A current between two points: a band as wide as it is strong, and an arrow that way it runs. */
function flow(context, [from, to], current, ink) {
  const strength = to[2] * Math.min(1, Math.abs(current)) ** CONTRAST;
  const [across, down] = [to[0] - from[0], to[1] - from[1]];
  const reach = Math.min((1.5 + 6 * strength) / (Math.hypot(across, down) || 1), LONGEST);
  const way = current > 0 ? -reach : reach;
  context.strokeStyle = ink;
  context.globalAlpha = 0.45;
  context.lineWidth = 1.5 + 8 * strength;
  line(context, [from, to]);
  context.globalAlpha = 1;
  context.fillStyle = ink;
  arrow(context, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2], [way * across, way * down]);
}

/** An arrow about a point. */
function arrow(context, [x, y], [dx, dy]) {
  context.beginPath();
  context.moveTo(x + dx, y + dy);
  context.lineTo(x - dx - 0.7 * dy, y - dy + 0.7 * dx);
  context.lineTo(x - dx + 0.7 * dy, y - dy - 0.7 * dx);
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {any} scene of `sceneOf`
 * @param {{ q: ArrayLike<number>, p: ArrayLike<number> }} state
 * @param {{ inks: string[], own: string, theme: any, scale: number }} look `own` is that of the law
 */
export function paintDrum(context, scene, { q, p }, { inks, own, theme, scale }) {
  const at = points(scene, q);
  const rest = points(scene, new Float64Array(q.length));
  const mean = (nodes) => inks[shade(nodes.reduce((sum, i) => sum + q[i], 0) / nodes.length)];
  context.scale(scale, scale);
  context.strokeStyle = theme.ink("line");
  context.lineWidth = 0.8;
  context.globalAlpha = 0.55;
  line(context, ...scene.edges.map(([i, j]) => [rest[i], rest[j]]));
  for (const { nodes, edge } of scene.parts) {
    const corners = nodes.map((i) => at[i]);
    const near = corners[0][2];
    context.globalAlpha = 1;
    context.fillStyle = mean(nodes);
    if (nodes.length === 3) {
      context.globalAlpha = 0.5;
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(x, y);
      context.fill();
    } else if (nodes.length === 2) {
      context.strokeStyle = mean(nodes);
      context.lineWidth = 2 * near;
      line(context, corners);
      if (Math.abs(p[edge]) > FAINTEST) flow(context, corners, p[edge], own);
    } else {
      context.strokeStyle = theme.ink("panel");
      context.lineWidth = 1;
      context.beginPath();
      context.arc(corners[0][0], corners[0][1], scene.radius * near, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }
}

/** The node that is nearest to where a pointer is. */
export function nodeUnder(event, scene, q) {
  const [x, y] = pointIn(event);
  const far = points(scene, q).map(([px, py]) => Math.hypot(px - x, py - y));
  return far.indexOf(Math.min(...far));
}

/** How high a node must be lifted to stand beside a pointer. */
export function heightUnder(event, { places, stage }, node) {
  const [, y] = pointIn(event);
  const [, ground, near] = projected(stage, places[node], 0);
  return (ground - y) / (stage.lift * near);
}
