// A drawn hand that shows once how to use the figure.

import { svg } from "../vendor/lit-html/lit-html.js";

/** The tip of the finger is at the origin. */
const SHAPE =
  "M0 -1a2.4 2.4 0 0 1 2.4 2.4v8l6.2 1.4a3 3 0 0 1 2.2 3.4l-1 6a3.6 3.6 0 0 1 -3.5 2.9h-5.6" +
  "a3.6 3.6 0 0 1 -2.8 -1.3l-5.6 -6.9a2 2 0 0 1 2.9 -2.8l2.4 2.1v-12.8a2.4 2.4 0 0 1 2.4 -2.4z";

/** Where the stroke begins and ends, as shares of the line. */
const [FROM, TO] = [0.12, 0.88];

/**
 * The hand and its stroke at a height. It goes from end to end, so it does not tell the truth.
 * @param {number[]} ends
 * @param {number} y
 * @param {{ waits?: number, from?: string }} [how] at which share of the way it waits then, and
 *   whether it comes from above
 */
export function hand([left, right], y, { waits = 0.5, from: side = "below" } = {}) {
  const [from, to, rest] = [FROM, TO, waits].map((share) => left + share * (right - left));
  const turned = side === "above" ? "scale(1 -1)" : "";
  return svg`<g class="cw-p-ghost" aria-hidden="true" pointer-events="none"
    style="--cw-from: ${from - rest}px; --cw-to: ${to - rest}px">
    <path class="cw-p-trace" pathLength="1" fill="none" stroke="var(--cw-warm)"
      stroke-width="4" style="stroke-linecap: round" opacity="0" d="M${from} ${y}H${to}"></path>
    <g class="cw-p-hand"><path fill="var(--cw-paper)" stroke="var(--cw-warm)"
      stroke-width="1.5" stroke-linejoin="round"
      transform="translate(${rest} ${y}) ${turned}" d=${SHAPE}></path></g>
  </g>`;
}
