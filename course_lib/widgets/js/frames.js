const LONGEST_FRAME = 0.1;

/**
 * Calls `draw` at most once a frame after a `request`, and not at all while `root` is off screen:
 * it catches up when it comes back into view. While it plays, `advance(seconds)` comes first in
 * every frame.
 * @param {HTMLElement} root
 * @param {{ draw: () => void, advance: (seconds: number) => void }} work
 */
export function framesOf(root, { draw, advance }) {
  let [pending, visible, stale, playing, last] = [0, true, false, false, 0];

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
    if (on && !playing) last = performance.now();
    playing = on;
    request();
  }
  const observer = new IntersectionObserver((entries) => {
    visible = entries[entries.length - 1].isIntersecting;
    if (visible && (stale || playing)) schedule();
  });
  observer.observe(root);

  function stop() {
    observer.disconnect();
    cancelAnimationFrame(pending);
    [visible, playing] = [false, false];
  }
  return { request, play, stop };
}
