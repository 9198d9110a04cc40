// The kernel's stand-in on a page without one. `page.py` writes it into the output as a classic
// script that runs right behind its payload; it is never part of a widget's own module. A page may
// carry the code of a kind once, with its first figure: the others of that kind find it here.

import { bytesOf85 } from "./array.js";

(() => {
  const FORMAT = 2;
  const modules = new Map();

  /** Style and module: deflated text with a zero between them. A Blob would wait for the browser. */
  async function unpacked(code) {
    const inflater = new DecompressionStream("deflate");
    const writer = inflater.writable.getWriter();
    const read = new Response(inflater.readable).text();
    const [text] = await Promise.all([read, writer.write(bytesOf85(code)), writer.close()]);
    return text.split("\0");
  }

  async function loaded(code) {
    const [css, module] = await unpacked(code);
    const widget = await import(`data:text/javascript,${encodeURIComponent(module)}`);
    const style = document.createElement("style");
    style.textContent = css;
    document.head.append(style);
    return widget.default;
  }

  function modelOf(state) {
    const listeners = new Map();
    const emit = (event) => {
      for (const listener of [...(listeners.get(event) ?? [])]) listener();
    };
    return {
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
  }

  /** A name by which a link can set the figure, where no page has given it one. */
  function nameOf(module) {
    const name = `fig-${module.replace(/^(\w+)\/(?=\1\.js)|\.js$/g, "").replace(/[/_]/g, "-")}`;
    let free = name;
    for (let count = 2; document.getElementById(free); count += 1) free = `${name}-${count}`;
    return free;
  }

  async function start(el, payload) {
    const { format, module, state, limits, code } = JSON.parse(payload);
    if (format !== FORMAT) {
      throw Error(`its output has format ${format ?? 1}, and this page reads ${FORMAT}`);
    }
    el.id ||= nameOf(module);
    if (code !== undefined) modules.set(module, loaded(code));
    if (!modules.has(module)) throw Error(`this page carries no code for ${module}`);
    const widget = await modules.get(module);
    const model = modelOf(state);
    await widget.render({ model, el, figure: { name: el.id, limits } });
    el.dataset.alive = "true";
    el.courseModel = model;
  }

  globalThis.courseFigure = (script) => {
    const payload = script.previousElementSibling;
    const el = payload.previousElementSibling;
    const words = [...el.childNodes];
    el.courseWords = el.textContent;
    start(el, payload.textContent).catch((error) => {
      const alert = Object.assign(document.createElement("p"), { role: "alert" });
      // Where a page forbids the code, the message holds all of it.
      alert.textContent = `This figure could not start: ${error.message.slice(0, 99)}`;
      el.replaceChildren(alert, ...words);
      throw error;
    });
  };
})();
