// Ink that leaves a picture pixel by pixel and lands, each pixel at its place, in the memory.

import { boxesIn } from "../kit/plane.js";
import { clamp, smoothstep } from "../maths/numerics.js";

/** The lowest row leaves first, and the highest last: how much of the flight it waits. */
const LONGEST_WAIT = 0.45;
/** Grains of a row leave one after the other, neighbours far apart in time. */
const GOLDEN = 0.618;

/** How far pixel j of a picture has come, from 0 to 1, at a share of the whole flight. */
function progress(j, count, width, share) {
  const rows = count / width;
  const above = rows - 1 - Math.floor(j / width);
  const wait = (LONGEST_WAIT * (above + ((GOLDEN * j) % 1))) / rows;
  const passed = clamp((share - wait) / (1 - LONGEST_WAIT), 0, 1);
  return smoothstep(passed);
}

/**
 * How much of pixel j has reached the memory.
 * @param {number} j
 * @param {number} count of pixels
 * @param {number} width in pixels
 * @param {number} share of the whole flight
 */
export const landed = (j, count, width, share) =>
  clamp(5 * progress(j, count, width, share) - 4, 0, 1);

/** A place on the way: first down, then across, and down again. */
function between(from, to, t) {
  const bend = smoothstep(t);
  return [from[0] + bend * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
}

/**
 * Draws what is on its way to the memory, the last picture of the stage that `context` lies upon.
 * @param {CanvasRenderingContext2D} context
 * @param {{ guest: number, values: number[], width: number, share: number, ink: string }} flight
 *   `values` is the ink of each pixel
 */
export function onTheWay(context, { guest, values, width, share, ink }) {
  const stage = context.canvas.parentElement;
  const pictures = stage.querySelectorAll(".cw-picture");
  const [from, to] = boxesIn(stage, [pictures[guest], pictures[pictures.length - 1]]);
  const rows = values.length / width;
  const place = ({ x, y, width: wide, height: high }, j) => [
    x + ((j % width) * wide) / width,
    y + (Math.floor(j / width) * high) / rows,
  ];
  context.fillStyle = ink;
  values.forEach((value, j) => {
    const t = progress(j, values.length, width, share);
    if (t === 0 || t === 1) return;
    const [x, y] = between(place(from, j), place(to, j), t);
    const size = (which) => from[which] + t * (to[which] - from[which]);
    context.globalAlpha = clamp(value, 0, 1) * (1 - landed(j, values.length, width, share));
    context.fillRect(x, y, size("width") / width, size("height") / rows);
  });
}
