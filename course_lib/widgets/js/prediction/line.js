// The line on which a number is placed, and the ticks of axes.

import { alongALine } from "../keys.js";
import { middleOf } from "../lettering.js";
import { axis } from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { pointIn } from "../plane.js";
import { marks } from "../scale.js";
import { quantity } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const HEIGHT = 104;
const LINE = 48;
const MARGIN = 26;
const STEPS = 100;
const SIZE = 13;
const [PIN_SIZE, PIN_WEIGHT] = [15, 650];

/** The steps on the line, from 0, and the number at each. */
function stepsOf({ across, xlog, step }) {
  const along = axis(across, xlog);
  const count = step > 0 && !xlog ? Math.round((across[1] - across[0]) / step) : STEPS;
  const digits = xlog ? 3 : 6;
  const at = (k) => clamp(Number(along.at(k / count).toPrecision(digits)), across[0], across[1]);
  return { along, count, at, of: (value) => Math.round(along.share(value) * count) };
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
  const tick = (value) => {
    const [at, label] = [x(along.share(value)), quantity(value)];
    return svg`<path d="M${at} ${LINE - 5}v10"></path>
      <text x=${middleOf(label, at, width, SIZE)} y=${LINE + 24} text-anchor="middle">${label}</text>`;
  };
  const pinned = (value, y, who, name) =>
    pin(x(along.share(value)), y, width, `${who}: ${quantity(value, unit)}`, name);
  const ends = [...guess, ...(revealed ? truth : [])].map((value) => x(along.share(value)));
  return svg`<g class="cw-p-axes">
      <path class="cw-p-line" d="M${x(0)} ${LINE}H${x(1)}"></path>
      ${marks(across, xlog, width / 90).map(tick)}
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
