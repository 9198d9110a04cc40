const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const ENDS = { Home: -Infinity, End: Infinity };
const SHIFTED = 5;

/**
 * Listens to the arrow keys in the plane: `moveBy([dx, dy])`, up being positive; Shift makes the
 * steps larger.
 * @param {(step: number[]) => void} moveBy
 * @returns {(event: KeyboardEvent) => void}
 */
export function inThePlane(moveBy) {
  return (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    moveBy(arrow.map((part) => part * (event.shiftKey ? SHIFTED : 1)));
  };
}

/**
 * Listens to the keys of a slider: arrows move by one, Home and End by ∓∞. Enter and the space bar
 * do `press`. Up is forward on a slider; in a list, `down` is: 1.
 * @param {(step: number) => void} moveBy
 * @param {() => void} [press]
 * @returns {(event: KeyboardEvent) => void}
 */
export function alongALine(moveBy, press, down = -1) {
  return (event) => {
    const [across, up] = ARROWS[event.key] ?? [0, 0];
    const step = ENDS[event.key] ?? across - down * up;
    if (press && (event.key === "Enter" || event.key === " ")) press();
    else if (step) moveBy(step);
    else return;
    event.preventDefault();
  };
}

/**
 * A change after which a control may stand elsewhere, drawn anew: whoever works by keyboard stays
 * with it, or comes to the fold in which it lies now.
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
