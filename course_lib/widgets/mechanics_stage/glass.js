// Energy as water in a glass: it stands at its mark, runs over, or is gone.

import { clamp } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";

/** The size of the drawing; it is as high as the stage beside it. */
export const WIDTH = 80;
export const HEIGHT = 320;
const MIDDLE = WIDTH / 2;
const [TOP, BOTTOM] = [56, 286];
const [WIDE, NARROW] = [29, 22];
const ROUND = 0.16;
const PUDDLE = 296;
const EMPTY = 0.005;

/** How high the water of a level stands, and half its width there. */
const surfaceOf = (level) => BOTTOM - clamp(level, 0, 1) * (BOTTOM - TOP);
const half = (y) => NARROW + ((WIDE - NARROW) * (BOTTOM - y)) / (BOTTOM - TOP);

function water(level) {
  const y = surfaceOf(level);
  const [w, flat] = [half(y), half(y) * ROUND];
  const body = `M${MIDDLE - w} ${y}L${MIDDLE - NARROW} ${BOTTOM}A${NARROW} ${NARROW * ROUND} 0 0 0
    ${MIDDLE + NARROW} ${BOTTOM}L${MIDDLE + w} ${y}Z`;
  return svg`<path d=${body} fill="var(--cw-water)" opacity="0.8"></path>
    <ellipse class="cw-surface" cx=${MIDDLE} cy=${y} rx=${w} ry=${level > 1 ? flat * 1.6 : flat}
      fill="var(--cw-water)" stroke="var(--cw-foam)" stroke-width="1.5"></ellipse>`;
}

/** What does not fit runs down the outside, the more the broader, into a puddle. */
function spill(level, moment) {
  const much = Math.min(1, 0.25 + Math.log(level) / 4);
  const stream = (side) => {
    const [x, foot] = [MIDDLE + side * (WIDE + 2), MIDDLE + side * (NARROW + 3)];
    return svg`<path d="M${x - side * 4} ${TOP - 1}Q${x + side * 3} ${TOP} ${x} ${TOP + 12}L${foot} ${PUDDLE}"
        fill="none" stroke="var(--cw-water)" stroke-width=${2 + 5 * much} stroke-linecap="round"></path>
      <path d="M${x} ${TOP + 12}L${foot} ${PUDDLE}" fill="none" stroke="var(--cw-foam)"
        stroke-width="1.5" stroke-dasharray="10 26" stroke-dashoffset=${-40 * moment + 9 * side}
        stroke-linecap="round"></path>`;
  };
  return svg`<ellipse class="cw-puddle" cx=${MIDDLE} cy=${PUDDLE} rx=${NARROW + 18 * much} ry=${4 + 6 * much}
      fill="var(--cw-water)"></ellipse>${[-1, 1].map(stream)}`;
}

const WALLS = `M${MIDDLE - WIDE} ${TOP}L${MIDDLE - NARROW} ${BOTTOM}A${NARROW} ${NARROW * ROUND} 0 0 0
  ${MIDDLE + NARROW} ${BOTTOM}L${MIDDLE + WIDE} ${TOP}`;

/** The level at which it should stand. */
function mark(level) {
  const y = surfaceOf(level);
  return svg`<path class="cw-mark" d="M${MIDDLE - half(y) - 7} ${y}H${MIDDLE + half(y) + 7}"
    stroke="var(--cw-ink)" stroke-width="2" stroke-dasharray="6 3" fill="none"></path>`;
}

/**
 * @param {{ level: number, right: number, moment: number }} fill `level` and the `right` one are
 *   shares of the glass; what runs over flows as the `moment` does
 */
export const glass = ({ level, right, moment }) => svg`
  <ellipse cx=${MIDDLE} cy=${PUDDLE} rx=${NARROW + 8} ry="4" fill="var(--cw-line)"></ellipse>
  ${level > EMPTY ? water(level) : nothing}
  <path d=${WALLS} fill="none" stroke="var(--cw-edge)" stroke-width="2.5" stroke-linejoin="round"></path>
  <ellipse cx=${MIDDLE} cy=${TOP} rx=${WIDE} ry=${WIDE * ROUND} fill="none" stroke="var(--cw-edge)"
    stroke-width="2"></ellipse>
  <path d="M${MIDDLE - WIDE + 8} ${TOP + 22}L${MIDDLE - NARROW + 5} ${BOTTOM - 24}" stroke="#fff"
    stroke-width="4" stroke-linecap="round" opacity="0.35"></path>
  ${level > 1 ? spill(level, moment) : nothing} ${mark(right)}`;
