import { button } from "./controls.js";

/** Whether the reader asked the system for less motion. */
export const prefersStillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Plays a figure that is `moving`, unless the reader asked for less motion. @param {any} ui */
export const playIfMoving = (ui) => ui.now.moving && !prefersStillness() && ui.play(true);

/**
 * A button that starts and stops what `advance` does while the widget plays.
 * @param {any} ui
 * @param {{ start: string, stop?: string, begin?: () => void, disabled?: boolean }} options
 *   `begin` comes before the first moment
 */
export function playButton(ui, { start, stop = "■ Stop", begin = () => {}, disabled = false }) {
  const press = () => {
    if (!ui.now.playing) begin();
    ui.play(!ui.now.playing);
  };
  const [here, other] = ui.now.playing ? [stop, `▶ ${start}`] : [`▶ ${start}`, stop];
  return button(here, press, { disabled, other });
}

/**
 * Acts once in so many seconds: keep `elapsed` in local state, `ui.set({ elapsed: every(…) })`.
 * @param {number} period in seconds
 * @param {number} elapsed since the last time
 * @param {number} seconds that have passed now
 * @param {() => void} act
 * @returns {number} seconds since the last time
 */
export function every(period, elapsed, seconds, act) {
  const total = elapsed + seconds;
  if (total < period) return total;
  act();
  return total % period;
}
