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
 * Listens to the keys of a slider: arrows move by one, Home and End by ∓∞. Enter does `enter`.
 * @param {(step: number) => void} moveBy
 * @param {() => void} [enter]
 * @returns {(event: KeyboardEvent) => void}
 */
export function alongALine(moveBy, enter) {
  return (event) => {
    const step = ENDS[event.key] ?? ARROWS[event.key]?.find((part) => part !== 0);
    if (event.key === "Enter" && enter) enter();
    else if (step) moveBy(step);
    else return;
    event.preventDefault();
  };
}
