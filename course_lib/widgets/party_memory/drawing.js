// A guest of the reader's own: pixels that mouse, finger or keys fill with ink.

import { button } from "../kit/controls.js";
import { inThePlane } from "../kit/keys.js";
import { stroking } from "../kit/plane.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

/** Pictures with more pixels are not drawn by hand. */
const MOST_PIXELS = 256;
/** Of a pixel to be filled, in pixels of the page. */
const CELL = 24;
const NAME = "yours";
/** The reader's picture, none at first; the pixel that the keys have reached; what a stroke fills. */
export const OWN = { own: null, pixel: 0, brush: 1 };

/** The party with the reader's guest in the place of the last one. */
export function withOwn({ own, names, guest_keys, fits }, portraits) {
  if (!own) return { portraits, names, guest_keys, fits };
  const last = names.length - 1;
  // Where keys are the pictures themselves, so is the key of the reader's guest.
  const keyed = guest_keys[last]?.length === own.length;
  return {
    portraits: portraits.with(last, own),
    names: names.with(last, NAME),
    guest_keys: keyed ? guest_keys.with(last, own) : guest_keys,
    fits: fits.map((row) => row.with(last, 0)),
  };
}

function begin(ui) {
  const { names, images } = ui.now;
  ui.play(false);
  const [, height, width] = images.shape;
  ui.set({ own: new Array(height * width).fill(0), arrived: names.length, ahead: null });
}

/** The pixels to fill, by mouse, finger or keys. */
function pixels({ own, pixel, images }, ui) {
  const [, height, width] = images.shape;
  const across = (at) => [at % width, Math.floor(at / width)];
  /** @param {number[]} place */
  const pixelAt = ([column, row]) =>
    width * clamp(row, 0, height - 1) + clamp(column, 0, width - 1);
  const fill = (pixels, ink) => {
    const filled = [...ui.now.own];
    for (const at of pixels) filled[at] = ink;
    ui.set({ own: filled, pixel: pixels.at(-1) });
  };
  const grip = stroking((point, { type }) => {
    const to = point.map((part) => Math.floor(part / CELL));
    const at = pixelAt(to);
    if (type === "pointerdown") {
      // A stroke fills, or empties, as its first pixel does.
      ui.set({ brush: 1 - ui.now.own[at] });
      return fill([at], ui.now.brush);
    }
    // A quick hand skips pixels.
    const from = across(ui.now.pixel);
    const steps = Math.max(1, ...to.map((part, i) => Math.abs(part - from[i])));
    const way = (k) =>
      pixelAt(to.map((part, i) => Math.round(from[i] + (k / steps) * (part - from[i]))));
    return fill(upTo(steps + 1).map(way), ui.now.brush);
  });
  const keys = inThePlane(
    ([right, up]) => {
      const [column, row] = across(ui.now.pixel);
      ui.set({ pixel: pixelAt([column + right, row - up]) });
    },
    () => fill([ui.now.pixel], 1 - ui.now.own[ui.now.pixel]),
  );
  const spot = (at) => across(at).map((part) => CELL * part);
  const cell = (ink, at) => {
    const [x, y] = spot(at);
    return svg`<rect x=${x} y=${y} width=${CELL} height=${CELL} fill="var(--cw-ink)"
      fill-opacity=${ink} data-ink=${ink} stroke="var(--cw-line)"></rect>`;
  };
  const [x, y] = spot(pixel);
  const where = `row ${Math.floor(pixel / width) + 1}, column ${(pixel % width) + 1}`;
  return html`<svg class="cw-handle" viewBox="0 0 ${CELL * width} ${CELL * height}" tabindex="0" role="button"
      aria-roledescription="pixels to draw" aria-label="${where}, ${own[pixel] ? "ink" : "paper"};
      arrow keys move, Enter fills" @pointerdown=${grip} @pointermove=${grip} @keydown=${keys}>
      <rect width=${CELL * width} height=${CELL * height} fill="var(--cw-panel)"></rect>
      ${own.map(cell)}
      <rect class="cw-party-pixel" x=${x} y=${y} width=${CELL} height=${CELL} fill="none"
        stroke="var(--cw-warm)" stroke-width="2"></rect>
    </svg>
    <p class="cw-hint">Draw with mouse or finger. Your drawing takes the place of the last guest.
      <output aria-live="off">Pencil at ${where}.</output></p>`;
}

/** A place to draw in, and what begins and ends it. */
export function drawing(now, ui) {
  const [, height, width] = now.images.shape;
  if (width * height > MOST_PIXELS) return nothing;
  return html`<div class="cw-party-drawing">
    ${now.own ? pixels(now, ui) : nothing}
    ${button(now.own ? "Remove it" : "Draw a guest", () =>
      now.own ? ui.set({ own: null }) : begin(ui),
    )}
  </div>`;
}
