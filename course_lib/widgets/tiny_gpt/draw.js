// A draw that can be watched: all probabilities lie end to end, a needle swings out over them, and
// the letter on which it rests flies into the text.

import { boxesIn } from "../kit/plane.js";
import { number } from "../kit/text.js";
import { clamp, smoothstep } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";

/** In seconds: how long the needle swings, rests, and the letter flies. */
const [SWING, REST, FLIGHT] = [0.75, 0.3, 0.35];
export const SECONDS_A_LETTER = SWING + REST + FLIGHT;
const SWINGS = 1.5;
const [LEFT, TOP, HIGH] = [1, 15, 26];
export const STRIP_HEIGHT = TOP + HIGH + 1;
const NARROWEST_NAMED = 13;
const LETTER_SIZE = 27;

/**
 * Where the needle stands, from 0 to 1, so many seconds after it was let go: it swings with less and
 * less vigour about `u`, and rests there.
 * @param {number} u
 * @param {number} seconds
 */
export function needleAt(u, seconds) {
  const share = clamp(seconds / SWING, 0, 1);
  const swing = (1 - share) ** 2 * Math.cos(2 * Math.PI * SWINGS * share);
  const [far, near] = u < 0.5 ? [1 - u, u] : [-u, u - 1];
  return u + (swing > 0 ? far : near) * swing;
}

/** Whether the needle rests. @param {number} seconds */
export const rests = (seconds) => seconds >= SWING;

/** How far the letter has flown, from 0 to 1. @param {number} seconds */
const flown = (seconds) => clamp((seconds - SWING - REST) / FLIGHT, 0, 1);

/** The end of each letter's share of the strip, in the order in which `drawFrom` adds them up. */
export function endsOf(probability) {
  let sum = 0;
  return probability.map((p) => {
    sum += p;
    return sum;
  });
}

/**
 * The probabilities end to end; the letter that was drawn is lit.
 * @param {{ ends: number[], names: string[], lit: number | null, needle: number | null }} draw
 * @param {number} width in pixels
 */
export function strip({ ends, names, lit, needle }, width) {
  const across = width - 2 * LEFT;
  const spot = (id) => {
    const from = id ? ends[id - 1] : 0;
    return { x: LEFT + across * from, w: across * (ends[id] - from) };
  };
  const box = (id) => {
    const { x, w } = spot(id);
    return `M${x.toFixed(2)} ${TOP}h${w.toFixed(3)}v${HIGH}h${(-w).toFixed(3)}z`;
  };
  const ids = names.map((_, id) => id).filter((id) => spot(id).w > 0);
  const every = (parity) =>
    ids
      .filter((_, i) => i % 2 === parity)
      .map(box)
      .join("");
  const label = (id) => {
    const { x, w } = spot(id);
    return svg`<text class=${id === lit ? "cw-t-lit" : ""} x=${x + w / 2} y=${TOP + HIGH / 2 + 5}
      text-anchor="middle">${names[id]}</text>`;
  };
  const at = needle === null ? 0 : LEFT + across * needle;
  return svg`<path fill="var(--cw-accent)" fill-opacity="0.16" d=${every(0)}></path>
    <path fill="var(--cw-accent)" fill-opacity="0.36" d=${every(1)}></path>
    <path class="cw-t-drawn" fill="var(--cw-warm)" d=${lit === null ? "" : box(lit)}></path>
    ${ids.filter((id) => spot(id).w >= NARROWEST_NAMED).map(label)}
    <g class="cw-t-needle" fill="var(--cw-warm)" stroke="var(--cw-warm)"
      visibility=${needle === null ? "hidden" : "visible"}
      transform="translate(${at.toFixed(2)} 0)"><path stroke-width="2"
      d="M0 ${TOP}v${HIGH}M-5 ${TOP - 9}h10l-5 9z"></path>
      <text x=${at > width / 2 ? -9 : 9} y="11" class="cw-small" stroke="none"
        text-anchor=${at > width / 2 ? "end" : "start"}>${number(needle ?? 0, 3)}</text></g>`;
}

/**
 * The letter on its way from the strip to the place that waits for it in the text.
 * @param {CanvasRenderingContext2D} context of a canvas that lies upon strip and text
 * @param {{ name: string, seconds: number, ink: string }} letter
 */
export function flyingLetter(context, { name, seconds, ink }) {
  const share = flown(seconds);
  const stage = context.canvas.parentElement;
  const coming = stage?.querySelector(".cw-t-coming");
  if (!share || !coming) return;
  const ends = boxesIn(stage, [stage.querySelector(".cw-t-needle path"), coming]);
  const [[x0, y0], [x1, y1]] = ends.map((end) => [end.x + end.width / 2, end.y + end.height / 2]);
  const ease = smoothstep(share);
  context.font = `700 ${LETTER_SIZE}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = ink;
  context.fillText(name, x0 + ease * (x1 - x0), y0 + ease * (y1 - y0) - 40 * share * (1 - share));
}
