// The kernel's stand-in on a page without one. `page.py` writes it into the output as a classic
// script that runs right behind its payload; it is never part of a widget's own module.
(() => {
  const payload = document.currentScript.previousElementSibling;
  const el = payload.previousElementSibling;
  const { code, state } = JSON.parse(payload.textContent);
  const listeners = new Map();

  /** Module and style, which travel as base64 of deflated JSON. A Blob would wait for the browser. */
  async function unpacked(base64) {
    const inflater = new DecompressionStream("deflate");
    const writer = inflater.writable.getWriter();
    writer.write(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
    writer.close();
    const reader = inflater.readable.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return JSON.parse(text);
  }

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
  async function start() {
    const { module, css } = await unpacked(code);
    const style = document.createElement("style");
    style.textContent = css;
    document.head.append(style);
    const widget = await import(`data:text/javascript;charset=utf-8,${encodeURIComponent(module)}`);
    await widget.default.render({ model, el });
    el.dataset.alive = "true";
    el.courseModel = model;
  }
  start().catch((error) => {
    el.prepend(`This figure could not start: ${error.message}`);
    throw error;
  });
})();
