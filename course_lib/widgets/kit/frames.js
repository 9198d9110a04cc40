import { upTo } from "../maths/numerics.js";

const LONGEST_FRAME = 0.1;
/** Visible shares of its height at which the observer calls. */
const PARTS = upTo(11).map((part) => part / 10);
/** The event on the window after an `inert` part of the page becomes usable. */
export const UNVEILED = "course:unveiled";

/**
 * Calls `draw` at most once a frame after a `request`, and not while `root` is off screen; it then
 * draws when it comes back into view. While the widget plays, each frame first calls
 * `advance(seconds)`.
 * @param {HTMLElement} root
 * @param {{ draw: () => void, advance: (seconds: number) => void }} work
 */
export function framesOf(root, { draw, advance }) {
  let [pending, visible, stale, playing, last] = [0, true, false, false, 0];
  let waiting = [];

  function schedule() {
    if (visible && !pending) pending = requestAnimationFrame(paint);
  }
  function request() {
    stale = true;
    schedule();
  }
  function drawIfStale() {
    if (!stale) return;
    stale = false;
    draw();
  }
  /** @param {number} time in milliseconds */
  function paint(time) {
    // After a slow frame, or while hidden, the motion continues where it was.
    if (playing) advance(Math.min(LONGEST_FRAME, Math.max(0, time - last) / 1000));
    last = time;
    drawIfStale();
    pending = 0;
    if (playing || stale) schedule();
  }
  /** @param {boolean} on */
  function play(on) {
    // Once the reader starts or stops the motion, it no longer starts at first sight.
    waiting = [];
    if (on && !playing) last = performance.now();
    playing = on;
    request();
  }
  /** Acts once half of the widget, or of the window, is visible, unless the reader used it first. */
  const atSight = (/** @type {() => void} */ act) => waiting.push(act);
  const used = (/** @type {any} */ { key }) => {
    if (key !== "Tab") waiting = [];
  };
  // A finger that only scrolls causes none of these events.
  for (const deed of ["click", "input", "keydown"]) root.addEventListener(deed, used, true);
  /** Draws pending changes first; an element that they removed gets no event. */
  function bringUpToDate(/** @type {any} */ event) {
    drawIfStale();
    if (!root.contains(event.target)) event.stopImmediatePropagation();
  }
  for (const deed of ["keydown", "pointerdown"]) root.addEventListener(deed, bringUpToDate, true);
  const observer = new IntersectionObserver(
    (entries) => {
      const { isIntersecting, intersectionRect, boundingClientRect, rootBounds } = entries.at(-1);
      visible = isIntersecting;
      if (stale || playing) schedule();
      const room = Math.min(boundingClientRect.height, rootBounds?.height ?? innerHeight);
      if (intersectionRect.height < room / 2 - 1 || root.closest("[inert]")) return;
      for (const act of waiting.splice(0)) act();
    },
    { threshold: PARTS },
  );
  observer.observe(root);
  /** Observes again, since an element that is already visible fires no further event. */
  function unveiled() {
    if (!waiting.length) return;
    observer.unobserve(root);
    observer.observe(root);
  }
  addEventListener(UNVEILED, unveiled);

  function stop() {
    observer.disconnect();
    removeEventListener(UNVEILED, unveiled);
    cancelAnimationFrame(pending);
    [visible, playing, waiting] = [false, false, []];
  }
  return { request, play, atSight, stop };
}
