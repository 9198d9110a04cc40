// The way between slow memory and the chip, which both algorithms go.

import { smoothstep } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";

export const LEFT = 34;
export const TOP = 50;
export const MATRIX = 146;
export const STRIP = 11;
/** The chip, as a box: the same for both algorithms, and room about it for what does not fit. */
export const CHIP = { x: 222, y: 70, width: 92, height: 100 };
export const WIDTH = CHIP.x + CHIP.width + 22;
export const HEIGHT = TOP + MATRIX + 20;

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

/** @param {Box} box */
export const path = ({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h${-width}z`;

/**
 * A box between two, at a share of the way; slow at both ends.
 * @param {Box} from
 * @param {Box} to
 * @param {number} share
 * @returns {Box}
 */
export function onTheWay(from, to, share) {
  const ease = smoothstep(share);
  const part = (name) => from[name] + ease * (to[name] - from[name]);
  return { x: part("x"), y: part("y"), width: part("width"), height: part("height") };
}

/** The chip, and what both sides are called. @param {string} [chip] */
export const places = (chip = "chip") => svg`<rect x=${CHIP.x} y=${CHIP.y} width=${CHIP.width}
    height=${CHIP.height} rx="8" fill="var(--cw-panel)" stroke="var(--cw-edge)"
    stroke-width="2"></rect>
  <text class="cw-small" x=${CHIP.x + CHIP.width / 2} y=${CHIP.y - 8}
    text-anchor="middle">${chip}</text>
  <text class="cw-small" x=${LEFT + MATRIX / 2} y="11"
    text-anchor="middle">slow memory</text>`;
