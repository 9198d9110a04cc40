const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const ENDS = { Home: -Infinity, End: Infinity };
const SHIFTED = 5;
const presses = ({ key }) => key === "Enter" || key === " ";

/**
 * A listener for arrow keys: `moveBy([dx, dy])`, upwards positive; Shift makes larger steps. Enter
 * and the space bar do `press`.
 * @param {(step: number[]) => void} moveBy
 * @param {() => void} [press]
 * @returns {(event: KeyboardEvent) => void}
 */
export function inThePlane(moveBy, press) {
  return (event) => {
    const arrow = ARROWS[event.key];
    if (press && presses(event)) press();
    else if (arrow) moveBy(arrow.map((part) => part * (event.shiftKey ? SHIFTED : 1)));
    else return;
    event.preventDefault();
  };
}

/**
 * A listener for the keys of a slider: arrows move by one, Home and End by ∓∞. Enter and the space
 * bar call `press`. Up moves forward on a slider; with `down` 1, as in a list, down does.
 * @param {(step: number) => void} moveBy
 * @param {() => void} [press]
 * @returns {(event: KeyboardEvent) => void}
 */
export function alongALine(moveBy, press, down = -1) {
  return (event) => {
    const [across, up] = ARROWS[event.key] ?? [0, 0];
    const step = ENDS[event.key] ?? across - down * up;
    if (press && presses(event)) press();
    else if (step) moveBy(step);
    else return;
    event.preventDefault();
  };
}

/**
 * Makes a change that may draw the focused control anew at another place. A keyboard user keeps the
 * focus on it, or gets it on the closed fold that contains it.
 * @param {() => void} change
 */
export function keepingFocus(change) {
  const held = document.activeElement;
  const byKeyboard = held?.matches(":focus-visible");
  change();
  if (!byKeyboard) return;
  // The frame that draws the change was asked for first.
  requestAnimationFrame(() => {
    if (held.isConnected) return;
    const again = document.getElementById(held.id);
    const folded = again?.closest("details:not([open])")?.querySelector("summary");
    (folded ?? again)?.focus();
  });
}
