// The kernel's stand-in on a page without one. `base.py` writes it into the output as a classic
// script that runs right behind its payload; it is never part of a widget's own module.
(() => {
  const payload = document.currentScript.previousElementSibling;
  const el = payload.previousElementSibling;
  const { module: source, css, state } = JSON.parse(payload.textContent);
  const listeners = new Map();

  function emit(event) {
    for (const listener of [...(listeners.get(event) ?? [])]) listener();
  }
  const model = {
    get: (name) => state[name],
    set: (name, value) => {
      if (Object.is(state[name], value)) return;
      state[name] = value;
      emit(`change:${name}`);
      emit("change");
    },
    save_changes: () => {},
    on: (event, listener) => {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event).add(listener);
    },
    off: (event, listener) => listeners.get(event)?.delete(listener),
  };
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  import(`data:text/javascript;charset=utf-8,${encodeURIComponent(source)}`)
    .then((widget) => widget.default.render({ model, el }))
    .then(() => {
      el.dataset.alive = "true";
      el.courseModel = model;
    })
    .catch((error) => {
      el.prepend(`This figure could not start: ${error.message}`);
      throw error;
    });
})();
