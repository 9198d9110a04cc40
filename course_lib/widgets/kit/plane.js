import { clamp } from "../maths/numerics.js";
import { inThePlane } from "./keys.js";

/**
 * Where a pointer event falls in the coordinates of the SVG drawing that hears of it, or of whose
 * part does. (In Firefox, `getScreenCTM` knows nothing of `zoom`.)
 * @param {any} event
 * @returns {number[]}
 */
export function pointIn({ currentTarget, clientX, clientY }) {
  const drawing = currentTarget.ownerSVGElement ?? currentTarget;
  const [box, view] = [drawing.getBoundingClientRect(), drawing.viewBox.baseVal];
  return [
    view.x + ((clientX - box.x) / box.width) * view.width,
    view.y + ((clientY - box.y) / box.height) * view.height,
  ];
}

/**
 * The boxes of some elements in the pixels of a stage that contains them, however it is enlarged.
 * @param {HTMLElement} stage
 * @param {(Element | null)[]} elements
 */
export function boxesIn(stage, elements) {
  const origin = stage.getBoundingClientRect();
  const scale = stage.offsetWidth / origin.width;
  return elements.map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const [wide, high] = [scale * width, scale * height];
    return { x: scale * (x - origin.x), y: scale * (y - origin.y), width: wide, height: high };
  });
}

/**
 * A listener that hears of an event before what was touched, which may keep the event to itself.
 * @param {(event: any) => void} act
 */
export const first = (act) => ({ handleEvent: act, capture: true });

/** From the hand to the middle of what it has taken, for as long as it holds it. */
const holds = new WeakMap();

/**
 * Lets mouse, finger, pen and arrow keys move a handle within an SVG drawing. Use it for three
 * events: `@pointerdown=${grip} @pointermove=${grip} @keydown=${grip}`, on an element that the
 * finger cannot scroll (`class="cw-handle"`).
 * @param {{ moveTo: (point: number[]) => void, moveBy: (step: number[]) => void, at?: number[] }}
 *   moves a point of the drawing; steps of the arrow keys, up being positive; where the handle
 *   stands, so that it does not jump to the hand that takes it beside its middle
 * @returns {(event: any) => void}
 */
export function dragging({ moveTo, moveBy, at }) {
  const keys = inThePlane(moveBy);
  return (event) => {
    const handle = event.currentTarget;
    if (event.type === "keydown") {
      keys(event);
    } else if (event.type === "pointerdown") {
      // A mouse focuses by itself; the box about what has the focus is for the keyboard alone.
      if (event.pointerType !== "mouse") {
        event.preventDefault();
        handle.focus({ preventScroll: true, focusVisible: false });
      }
      event.stopPropagation();
      handle.setPointerCapture(event.pointerId);
      const [x, y] = pointIn(event);
      holds.set(handle, at ? [at[0] - x, at[1] - y] : [0, 0]);
    } else if (handle.hasPointerCapture(event.pointerId)) {
      const [x, y] = pointIn(event);
      const [right, down] = holds.get(handle) ?? [0, 0];
      moveTo([x + right, y + down]);
    }
  };
}

/**
 * A listener for `pointerdown` and `pointermove` on a drawing: calls `act` at the press and at each
 * move until the release.
 * @param {(point: number[], event: any) => void} act with the point of the drawing
 * @param {{ scrolls?: boolean }} [options] a finger `scrolls` the page unless it takes a handle
 */
export const stroking =
  (act, { scrolls = false } = {}) =>
  (event) => {
    const surface = event.currentTarget;
    if (event.type === "pointerdown") {
      if (scrolls && event.pointerType === "touch" && !event.target.closest(".cw-handle")) return;
      surface.setPointerCapture(event.pointerId);
    } else if (!surface.hasPointerCapture(event.pointerId)) return;
    act(pointIn(event), event);
  };

/**
 * A window of the plane on a drawing: data `x` and `y`, each from low to high, on `width` by
 * `height` pixels.
 * @param {{ x: number[], y: number[], width: number, height: number }} extent
 */
export function plane({ x: [left, right], y: [bottom, top], width, height }) {
  return {
    /** @param {number[]} point @returns {number[]} */
    toPixel: ([x, y]) => [
      ((x - left) / (right - left)) * width,
      ((top - y) / (top - bottom)) * height,
    ],
    /** @param {number[]} pixel @returns {number[]} */
    toData: ([px, py]) => [
      left + (px / width) * (right - left),
      top - (py / height) * (top - bottom),
    ],
    /** @param {number[]} point @returns {number[]} */
    inside: ([x, y]) => [clamp(x, left, right), clamp(y, bottom, top)],
  };
}
