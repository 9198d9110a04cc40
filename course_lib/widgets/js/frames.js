const LONGEST_FRAME = 0.1;
/** In how many parts of its height a widget comes into sight. */
const PARTS = 10;

/**
 * Calls `draw` at most once a frame after a `request`, and not at all while `root` is off screen:
 * it catches up when it comes back into view. While it plays, `advance(seconds)` comes first in
 * every frame.
 * @param {HTMLElement} root
 * @param {{ draw: () => void, advance: (seconds: number) => void }} work
 */
export function framesOf(root, { draw, advance }) {
  let [pending, visible, stale, playing, last] = [0, true, false, false, 0];
  let [seen, waiting] = [false, []];

  function schedule() {
    if (visible && !pending) pending = requestAnimationFrame(paint);
  }
  function request() {
    stale = true;
    schedule();
  }
  /** @param {number} time in milliseconds */
  function paint(time) {
    // What was hidden, or had a slow frame, goes on where it was: it does not leap.
    if (playing) advance(Math.min(LONGEST_FRAME, Math.max(0, time - last) / 1000));
    last = time;
    if (stale) {
      stale = false;
      draw();
    }
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
  /** Once half of the widget, or of the window, is seen. @param {() => void} act */
  function atSight(act) {
    if (seen) act();
    else waiting.push(act);
  }
  const thresholds = Array.from({ length: PARTS + 1 }, (_, part) => part / PARTS);
  const observer = new IntersectionObserver(
    (entries) => {
      const entry = entries[entries.length - 1];
      visible = entry.isIntersecting;
      if (visible && (stale || playing)) schedule();
      if (seen || !halfSeen(entry)) return;
      seen = true;
      for (const act of waiting) act();
    },
    { threshold: thresholds },
  );
  observer.observe(root);

  function stop() {
    observer.disconnect();
    cancelAnimationFrame(pending);
    [visible, playing, waiting] = [false, false, []];
  }
  return { request, play, atSight, stop };
}

function halfSeen({ intersectionRect, boundingClientRect, rootBounds }) {
  const room = rootBounds?.height ?? innerHeight;
  return intersectionRect.height >= Math.min(boundingClientRect.height, room) / 2 - 1;
}
