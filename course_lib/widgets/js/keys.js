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

/**
 * Listens to the keys of a list: down and right are forward, Home and End move by ∓∞. Enter and the
 * space bar do `press`.
 * @param {(step: number) => void} moveBy
 * @param {() => void} press
 * @returns {(event: KeyboardEvent) => void}
 */
export function alongAList(moveBy, press) {
  return (event) => {
    const [across, up] = ARROWS[event.key] ?? [0, 0];
    const step = ENDS[event.key] ?? across - up;
    if (event.key === "Enter" || event.key === " ") press();
    else if (step) moveBy(step);
    else return;
    event.preventDefault();
  };
}
