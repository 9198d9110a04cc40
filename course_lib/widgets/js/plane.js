import { inThePlane } from "./keys.js";
import { clamp } from "./maths/numerics.js";

/**
 * Where a pointer event falls in the coordinates of an SVG element.
 * @param {any} surface
 * @param {any} event
 * @returns {number[]}
 */
export function pointIn(surface, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  const { x, y } = point.matrixTransform(surface.getScreenCTM().inverse());
  return [x, y];
}

/**
 * Lets mouse, finger, pen and arrow keys move a handle within an SVG drawing. Use it for three
 * events: `@pointerdown=${grip} @pointermove=${grip} @keydown=${grip}`, on an element that the
 * finger cannot scroll (`class="cw-handle"`).
 * @param {{ moveTo: (point: number[]) => void, moveBy: (step: number[]) => void }} moves
 *   a point of the drawing; steps of the arrow keys, up being positive
 * @returns {(event: any) => void}
 */
export function dragging({ moveTo, moveBy }) {
  const keys = inThePlane(moveBy);
  return (event) => {
    const handle = event.currentTarget;
    if (event.type === "keydown") {
      keys(event);
    } else if (event.type === "pointerdown") {
      event.preventDefault();
      event.stopPropagation();
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
    } else if (handle.hasPointerCapture(event.pointerId)) {
      moveTo(pointIn(handle.ownerSVGElement, event));
    }
  };
}

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
