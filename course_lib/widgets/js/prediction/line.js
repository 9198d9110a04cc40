// The line on which a number is placed, and the ticks of axes.

import { alongALine } from "../keys.js";
import { apart, middleOf } from "../lettering.js";
import { stepsOf } from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { pointIn } from "../plane.js";
import { marks } from "../scale.js";
import { quantity } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const HEIGHT = 104;
const LINE = 48;
const MARGIN = 26;
const SIZE = 13;
const [PIN_SIZE, PIN_WEIGHT] = [15, 650];

const isPower = (value) => Number.isInteger(Number(Math.log10(value).toFixed(9)));

/**
 * The numbers that stand at an axis so wide, each with the middle of its label, which keep apart.
 * @param {number[]} ends
 * @param {boolean} logarithmic
 * @param {(value: number) => number} at where a number stands
 * @param {number} width of the picture
 */
export function labelled(ends, logarithmic, at, width) {
  const values = marks(ends, logarithmic, width / 90);
  const labels = values.map((value) => {
    const text = quantity(value);
    return { value, text, middle: middleOf(text, at(value), width, SIZE) };
  });
  // On a short axis powers of ten stay, and what stands between them goes.
  const roundest = (/** @type {{ value: number }} */ { value }) => (isPower(value) ? 0 : 1);
  return logarithmic
    ? apart(
        labels.toSorted((a, b) => roundest(a) - roundest(b)),
        SIZE,
      )
    : labels;
}

function pin(x, y, width, label, name) {
  return svg`<g class=${name}>
    <path d="M${x} ${LINE}V${y < LINE ? y + 6 : y - 14}"></path>
    <circle cx=${x} cy=${LINE} r="8"></circle>
    <text x=${middleOf(label, x, width, PIN_SIZE, PIN_WEIGHT)} y=${y}
      text-anchor="middle">${label}</text>
  </g>`;
}

/** The line with its ticks, the guess above it, and below it the truth once it is revealed. */
function drawing({ across, xlog, guess, truth, revealed, unit }, { along }, x, width) {
  const at = (value) => x(along.share(value));
  const tick = ({ value, text, middle }) => svg`<path d="M${at(value)} ${LINE - 5}v10"></path>
    <text x=${middle} y=${LINE + 24} text-anchor="middle">${text}</text>`;
  const pinned = (value, y, who, name) =>
    pin(x(along.share(value)), y, width, `${who}: ${quantity(value, unit)}`, name);
  const ends = [...guess, ...(revealed ? truth : [])].map((value) => x(along.share(value)));
  return svg`<g class="cw-p-axes">
      <path class="cw-p-line" d="M${x(0)} ${LINE}H${x(1)}"></path>
      ${labelled(across, xlog, at, width).map(tick)}
    </g>
    ${
      ends.length
        ? nothing
        : svg`<text class="cw-p-faint" x=${x(0.5)} y="20" text-anchor="middle">
      where on this line?</text>`
    }
    <path class="cw-p-span" d=${ends.length > 1 ? `M${ends[0]} ${LINE}H${ends[1]}` : ""}></path>
    ${revealed ? pinned(truth[0], HEIGHT - 8, "truth", "cw-p-true") : nothing}
    ${guess.length ? pinned(guess[0], 20, "you", "cw-p-yours") : nothing}`;
}

/** A line to put a number on. @param {any} now @param {any} ui */
export function line(now, ui) {
  const { guess, revealed, unit, question } = now;
  const steps = stepsOf(now);
  const width = ui.width("line", 640);
  const drawn = drawing(now, steps, (share) => MARGIN + share * (width - 2 * MARGIN), width);
  const put = (k) => ui.set({ guess: [steps.at(clamp(Math.round(k), 0, steps.count))] });
  const to = (event) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || ui.now.revealed) return;
    const [px] = pointIn(event.currentTarget, event);
    put(((px - MARGIN) / (width - 2 * MARGIN)) * steps.count);
  };
  const down = (event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    to(event);
  };
  const here = () => (ui.now.guess.length ? steps.of(ui.now.guess[0]) : steps.count / 2);
  const keys = alongALine((move) => ui.now.revealed || put(here() + move));
  return html`<div data-measure="line">
    <svg viewBox="0 0 ${width} ${HEIGHT}" class=${revealed ? "" : "cw-p-slider"} role="slider"
      tabindex=${revealed ? -1 : 0} aria-disabled=${revealed} aria-label=${question}
      aria-valuemin="0" aria-valuemax=${steps.count} aria-valuenow=${here()}
      aria-valuetext=${guess.length ? quantity(guess[0], unit) : "no guess yet"}
      @pointerdown=${down} @pointermove=${to} @keydown=${keys}>${drawn}</svg>
  </div>`;
}
