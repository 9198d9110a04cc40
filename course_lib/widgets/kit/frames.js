import { upTo } from "../maths/numerics.js";

const LONGEST_FRAME = 0.1;
/** Parts of its height by which a widget comes into sight. */
const PARTS = upTo(11).map((part) => part / 10);
/** What the window hears when something was `inert` that is so no more. */
export const UNVEILED = "course:unveiled";

/**
 * Calls `draw` at most once a frame after a `request`, and not at all while `root` is off screen:
 * it catches up when it comes back into view. While it plays, `advance(seconds)` comes first in
 * every frame.
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
    // What was hidden, or had a slow frame, goes on where it was: it does not leap.
    if (playing) advance(Math.min(LONGEST_FRAME, Math.max(0, time - last) / 1000));
    last = time;
    drawIfStale();
    pending = 0;
    if (playing || stale) schedule();
  }
  /** @param {boolean} on */
  function play(on) {
    // What a hand began or ended no longer waits for being seen.
    waiting = [];
    if (on && !playing) last = performance.now();
    playing = on;
    request();
  }
  /** Once half of the widget, or of the window, is seen, if no hand has used it before. */
  const atSight = (/** @type {() => void} */ act) => waiting.push(act);
  const used = (/** @type {any} */ { key }) => {
    if (key !== "Tab") waiting = [];
  };
  // A finger that scrolls past does none of these.
  for (const deed of ["click", "input", "keydown"]) root.addEventListener(deed, used, true);
  /** The reader acts on what is there now: what has gone since the last frame gets no event. */
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
  /** What is seen already comes to be seen once more. */
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
