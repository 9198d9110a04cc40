/**
 * Returns `request`: it draws at most once a frame, and not at all while `el` is off screen.
 * A widget that is out of sight catches up when it comes back into view.
 */
export function frameScheduler(el, draw) {
  let pending = false;
  let visible = true;
  let stale = false;

  function paint() {
    pending = false;
    stale = false;
    draw();
  }

  function request() {
    if (!visible) {
      stale = true;
    } else if (!pending) {
      pending = true;
      requestAnimationFrame(paint);
    }
  }

  const observer = new IntersectionObserver((entries) => {
    visible = entries[entries.length - 1].isIntersecting;
    if (visible && stale) request();
  });
  observer.observe(el);
  draw();
  return { request, stop: () => observer.disconnect() };
}

/** Calls `action` once things have been quiet for `milliseconds`: for announcements, not for drawing. */
export function whenQuiet(milliseconds, action) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}

/** Listens to several traits of the model; returns a function that stops listening. */
export function onChange(model, names, listener) {
  for (const name of names) model.on(`change:${name}`, listener);
  return () => {
    for (const name of names) model.off(`change:${name}`, listener);
  };
}
