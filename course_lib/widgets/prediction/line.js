// The line on which a number is placed.

import { alongALine } from "../kit/keys.js";
import { apart, middleOf } from "../kit/lettering.js";
import { stroking } from "../kit/plane.js";
import { marks } from "../kit/scale.js";
import { tickSign } from "../kit/signs.js";
import { digitsApart, quantity } from "../kit/text.js";
import { isHit, stepsOf } from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { hand } from "./hand.js";
import { gapOf, placed } from "./words.js";

const HEIGHT = 108;
const LINE = 52;
const MARGIN = 26;
const SIZE = 13;
/** Numbers stand below the line, and the question in the middle above it. */
const ABOVE = { waits: 0.8, from: "above" };
const [PIN_SIZE, PIN_WEIGHT] = [15, 650];

const isPower = (value) => Number.isInteger(Number(Math.log10(value).toFixed(9)));

/**
 * The numbers that stand at an axis so wide, each with the middle of its label, which keep apart; the
 * last has the unit.
 * @param {number[]} ends
 * @param {boolean} logarithmic
 * @param {(value: number) => number} at where a number stands
 * @param {number} width of the picture
 */
function labelled(ends, logarithmic, at, width, unit) {
  const values = marks(ends, logarithmic, width / 90);
  const digits = logarithmic ? undefined : digitsApart(values);
  const labels = values.map((value, i) => {
    const text = quantity(value, i === values.length - 1 ? unit : "", digits);
    return { value, text, middle: middleOf(text, at(value), width, SIZE) };
  });
  // On a short axis powers of ten stay, and what stands between them goes.
  const roundest = (/** @type {{ value: number }} */ { value }) => (isPower(value) ? 0 : 1);
  const first = logarithmic ? labels.toSorted((a, b) => roundest(a) - roundest(b)) : labels;
  const bearer = labels.at(-1);
  return unit || logarithmic
    ? apart([bearer, ...first.filter((label) => label !== bearer)], SIZE)
    : labels;
}

function pin(x, y, width, label, { colour, name = "", walk = 0 }) {
  return svg`<g class="cw-p-pin ${name}" fill=${colour} stroke=${colour}>
    <g class="cw-p-mark" style="--cw-walk: ${walk}px">
      <path d="M${x} ${LINE}V${y < LINE ? y + 6 : y - 14}"></path>
      <circle cx=${x} cy=${LINE} r="8"></circle>
    </g>
    <text x=${middleOf(label, x, width, PIN_SIZE, PIN_WEIGHT)} y=${y}
      text-anchor="middle" stroke="none" style="fill: ${colour}">${label}</text>
  </g>`;
}

/** What lies between guess and truth, in its middle. */
function named(text, ends, width) {
  const [from, to] = ends;
  const middle = middleOf(text, (from + to) / 2, width, SIZE, PIN_WEIGHT);
  return svg`<text class="cw-p-off cw-halo" x=${middle} y=${LINE - 12}
    text-anchor="middle">${text}</text>`;
}

/** The line with its ticks, the guess above it, and below it the truth once it is revealed. */
function drawing(now, { along }, x, width) {
  const { across, xlog, guess, truth, revealed, unit } = now;
  const at = (value) => x(along.share(value));
  const marked = labelled(across, xlog, at, width, unit);
  const tick = ({ value }) => svg`<path d="M${at(value)} ${LINE - 5}v10"></path>`;
  const label = ({ text, middle }) => svg`<text class="cw-halo" x=${middle} y=${LINE + 24}
    text-anchor="middle">${text}</text>`;
  const pinned = (value, y, who, look) =>
    pin(at(value), y, width, `${who}: ${placed(value, now)}`, look);
  const ends = [...guess, ...(revealed ? truth : [])].map(at);
  const hit = ends.length > 1 && isHit(now);
  const walk = ends.length > 1 ? ends[0] - ends[1] : 0;
  const right = { colour: "var(--cw-accent)", name: "cw-p-true", walk };
  return svg`<g class="cw-axes">
      <path style="stroke: var(--cw-edge); stroke-width: 3; stroke-linecap: round"
        d="M${x(0)} ${LINE}H${x(1)}"></path>
      ${marked.map(tick)}
    </g>
    ${
      ends.length
        ? nothing
        : svg`<text class="cw-p-faint" x=${x(0.5)} y="20" text-anchor="middle">
      where on this line?</text>${hand([x(0), x(1)], LINE, ABOVE)}`
    }
    <path class="cw-p-span" pathLength="1" stroke="var(--cw-warm)" stroke-width="8" opacity="0.35"
      d=${ends.length > 1 ? `M${ends[0]} ${LINE}H${ends[1]}` : ""}></path>
    ${revealed ? pinned(truth[0], HEIGHT - 8, "truth", right) : nothing}
    ${guess.length ? pinned(guess[0], 20, "you", { colour: "var(--cw-warm)" }) : nothing}
    ${hit ? svg`<g class="cw-p-hit">${tickSign(ends[0], LINE, 11)}</g>` : nothing}
    ${ends.length > 1 && !hit ? named(gapOf(now), ends, width) : nothing}
    <g class="cw-axes">${marked.map(label)}</g>`;
}

/** A line to put a number on. @param {any} now @param {any} ui */
export function line(now, ui) {
  const { guess, revealed, question } = now;
  const steps = stepsOf(now);
  const width = ui.width("line", 640);
  const drawn = drawing(now, steps, (share) => MARGIN + share * (width - 2 * MARGIN), width);
  const put = (k) => ui.set({ guess: [steps.at(clamp(Math.round(k), 0, steps.count))] });
  const grip = stroking(([px]) => {
    if (!ui.now.revealed) put(((px - MARGIN) / (width - 2 * MARGIN)) * steps.count);
  });
  const here = () => (ui.now.guess.length ? steps.of(ui.now.guess[0]) : steps.count / 2);
  const compare = () => ui.now.guess.length && ui.set({ revealed: true });
  const keys = alongALine((move) => ui.now.revealed || put(here() + move), compare);
  return html`<div data-measure="line">
    <svg viewBox="0 0 ${width} ${HEIGHT}" class=${revealed ? "" : "cw-p-slider"} role="slider"
      tabindex=${revealed ? -1 : 0} aria-disabled=${revealed} aria-label=${question}
      aria-valuemin="0" aria-valuemax=${steps.count} aria-valuenow=${here()}
      aria-valuetext=${guess.length ? placed(guess[0], now) : "no guess yet"}
      @pointerdown=${grip} @pointermove=${grip} @keydown=${keys}>${drawn}</svg>
  </div>`;
}
