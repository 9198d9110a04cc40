// One unit as a glass: what it forgets runs out below, what the letter writes comes in above.

import { number, visible } from "../kit/text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const [WIDTH, HEIGHT] = [300, 234];
const GLASS = { x: 24, y: 92, width: 84, height: 100 };
const PIPE = 24;
const MIDDLE = GLASS.x + GLASS.width / 2;
const [RIGHT, FLOOR] = [GLASS.x + GLASS.width, GLASS.y + GLASS.height];
const WORDS = RIGHT + 50;
/** The share of a letter's time in which it falls, and in which the state then runs out. */
const [FALL, DRAIN] = [0.25, 0.625];
const TILE = 24;

/** How much of the exchange is done at a share of the letter's time: nothing while it falls. */
export const exchanged = (share) => Math.max(0, (share - FALL) / (1 - FALL));

const tone = (value) => `var(--cw-series-${value < 0 ? 3 : 2})`;
const line = (y, text, strong = false) =>
  svg`<text class=${strong ? "cw-strong" : "cw-small"} x=${WORDS} y=${y}>${text}</text>`;

/** What the two colours of the water say. */
const SIGNS = [1, -1].map((sign, i) => {
  const x = WORDS + 76 * i;
  return svg`<rect x=${x} y="86" width="11" height="11" rx="2" fill=${tone(sign)}></rect>
    <text class="cw-small" x=${x + 15} y="96">${sign > 0 ? "above" : "below"} 0</text>`;
});

/** A pipe with a shutter that leaves a share of it open, and what runs in it now. */
function pipe({ x, y, length, open, value, running, upright = true }) {
  const shutter = (1 - open) * PIPE;
  const [across, along] = upright ? [x - PIPE / 2, y] : [x, y - PIPE / 2];
  const middle = (from, to) => (upright ? `M${x} ${from}V${to}` : `M${from} ${y}H${to}`);
  const from = upright ? y : x;
  const walls = upright
    ? `M${across} ${y}v${length}m${PIPE} 0v${-length}`
    : `M${x} ${along}h${length}m0 ${PIPE}h${-length}`;
  const gate = upright
    ? { x: across, y: y + length / 2 - 4, width: shutter, height: 8 }
    : { x: x + length / 2 - 4, y: along, width: 8, height: shutter };
  return svg`<path d=${middle(from, from + length)} fill="none" stroke=${tone(value)}
      stroke-width=${(PIPE * open).toFixed(2)} stroke-opacity=${running ? 0.75 : 0}></path>
    <path fill="none" stroke="var(--cw-edge)" stroke-width="1.5" d=${walls}></path>
    <rect class="cw-g-shutter" fill="var(--cw-ink)" data-open=${open.toFixed(4)}
      x=${gate.x} y=${gate.y}
      width=${gate.width} height=${gate.height}></rect>`;
}

/** The gate says what is kept, and its pipe lets out the rest: both are named, lest one be the other. */
function forgotten(keep) {
  const x = MIDDLE + PIPE / 2 + 3;
  // As the two numbers stand in the picture, they make one.
  const leaks = number(1 - Number(number(keep)));
  return svg`<text class="cw-small" x=${x} y="210">forgotten ↓</text>
    <text class="cw-small" data-reading="leaks" x=${x} y="226">leaks ${leaks}</text>`;
}

/** What the gates do, in words and numbers, beside the pipes on which they sit. */
function gatesInWords({ kind, keep, gate, written, before, output, shown, settled }) {
  const held = `${number(keep)} of ${number(before)}`;
  if (kind === "RNN") {
    return [line(40, "no gate: all comes anew"), line(216, "no gate: all runs out")];
  }
  const names = kind === "GRU" ? ["1 − update gate", "update gate"] : ["input gate", "forget gate"];
  return [
    line(34, `${names[0]} ${number(gate)}`, true),
    line(52, `lets in ${number(gate)} of ${number(written)}`),
    line(204, `${names[1]} ${number(keep)}`, true),
    line(222, `keeps ${held}`),
    output === undefined
      ? nothing
      : [
          line(138, `output gate ${number(output)}`, true),
          line(156, settled ? `shows h = ${number(shown)}` : "shows h …"),
        ],
  ];
}

/**
 * A unit at a letter, at a share of the letter's time.
 * @param {any} now with `flow`, what the letter does to the unit, its `level` now and the `rim`
 */
export function vessel({ kind, letters, at, share, flow, level, rim }) {
  const { keep, gate, written, before, output, state } = flow;
  const tall = (Math.min(1, Math.abs(level) / rim) * GLASS.height).toFixed(2);
  const falling = share < FALL;
  const [draining, filling] = [!falling && share < DRAIN, share >= DRAIN && share < 1];
  const name = kind === "LSTM" ? "cell" : "state";
  // The water on its way stands at no state of the unit: its number comes once it has settled.
  const settled = share >= 1;
  const drop = falling ? (share / FALL) ** 2 * 46 : 46;
  const said =
    `The ${name} of unit ${at.unit + 1} was ${number(before)} before ${visible(letters[at.letter])}; ` +
    `the unit keeps ${number(keep)} of it, adds ${number(gate)} of ${number(written)} ` +
    `and holds ${number(state)}.`;
  return html`<svg style="max-width: 22rem" data-share=${share} viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
    aria-label=${said}>
    ${pipe({ x: MIDDLE, y: 30, length: 56, open: gate, value: written, running: filling })}
    ${pipe({ x: MIDDLE, y: FLOOR, length: 40, open: 1 - keep, value: before, running: draining })}
    ${
      output === undefined
        ? nothing
        : pipe({
            ...{ x: RIGHT, y: 146, length: 36, open: output, value: state, running: share >= 1 },
            upright: false,
          })
    }
    <text class="cw-small" x=${MIDDLE + PIPE / 2 + 5} y="62">in ↓</text>
    ${forgotten(keep)}
    <rect class="cw-g-water" fill-opacity="0.75" data-level=${level.toFixed(6)}
      x=${GLASS.x} y=${FLOOR - Number(tall)}
      width=${GLASS.width} height=${tall} fill=${tone(level)}></rect>
    <path fill="none" stroke="var(--cw-edge)" stroke-width="3"
      d="M${GLASS.x} ${GLASS.y}V${FLOOR}H${RIGHT}V${GLASS.y}"></path>
    <text class="cw-strong cw-large cw-halo" text-anchor="middle" x=${MIDDLE}
      y=${FLOOR - 12}>${number(settled ? state : before)}</text>
    <text class="cw-small" x="0" y=${GLASS.y - 8}>${number(rim, 1)}</text>
    <g visibility=${falling ? "visible" : "hidden"}
      transform=${`translate(${MIDDLE} ${(drop - 8).toFixed(2)})`}>
      <rect fill="var(--cw-paper)" stroke="var(--cw-warm)" stroke-width="2.5"
        x=${-TILE / 2} width=${TILE} height=${TILE} rx="4"></rect>
      <text style="font-size: 15px; font-weight: 700" text-anchor="middle"
        y="17">${visible(letters[at.letter])}</text>
    </g>
    ${line(14, `${settled ? "after" : "reading"} ${visible(letters[at.letter])}`)}
    ${SIGNS}${gatesInWords({ ...flow, kind, settled })}
  </svg>`;
}
