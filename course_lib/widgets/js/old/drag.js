/** Where a pointer event falls in the coordinates of an SVG element. */
export function pointIn(surface, event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  const { x, y } = point.matrixTransform(surface.getScreenCTM().inverse());
  return [x, y];
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Lets mouse, finger, pen and arrow keys move `handle`. `moveTo([x, y])` takes a point of `surface`;
 * `moveBy([dx, dy])` takes steps of the arrow keys, up being positive (Shift makes them larger).
 */
export function draggable(handle, surface, { moveTo, moveBy }) {
  handle.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    event.stopPropagation();
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) moveTo(pointIn(surface, event));
  });
  handle.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    const size = event.shiftKey ? 5 : 1;
    moveBy([arrow[0] * size, arrow[1] * size]);
  });
}
