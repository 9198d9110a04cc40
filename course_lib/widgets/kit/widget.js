import { same } from "../maths/numerics.js";
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { addressOf, differing, linksOf, understood } from "./address.js";
import { plain } from "./array.js";
import { fold } from "./controls.js";
import { enlarging } from "./enlarge.js";
import { framesOf } from "./frames.js";
import { prefersStillness } from "./play.js";
import { themeOf } from "./theme.js";

const REST_MILLISECONDS = 500;
let widgets = 0;

/**
 * @typedef {any} State by name: the decoded traits, the local state and what `derive` adds
 * @typedef {import("./array.js").Codec<any>} Codec
 *
 * @typedef {object} Ui what the kit offers to `derive`, `view` and `advance`
 * @property {State} now the state with what follows from it, changes since the last frame included
 * @property {string} id begins the ids of this widget's elements; no other widget has it
 * @property {(changes: State) => void} set changes controls and local state
 * @property {(on: boolean) => void} play starts or ends calls of `advance`; `now.playing` tells
 * @property {() => void} tell announces what a film has come to, as what a hand does is announced
 * @property {(name: string, fallback: number) => number} width of `<… data-measure="name">`
 * @property {(name: string, inputs: unknown[], compute: () => any) => any} memo computes again only
 *   if an input is another one
 * @property {{ version: number, ink: (name: string) => string, rgb: (name: string) => number[] }} theme
 *
 * @typedef {object} Spec
 * @property {string} label what a screen reader calls the widget
 * @property {string} [name] a class for its style sheet
 * @property {Record<string, Pick<Codec, "decode">>} data traits that the reader cannot change
 * @property {Record<string, Codec>} controls traits that the reader changes; reset restores them
 * @property {State} [local] what the reader does that Python need not know, as it begins
 * @property {string[]} [guessed] names of the local state that holds the reader's guesses: a link that
 *   sets the figure leaves them, reset does not
 * @property {(now: State) => boolean} [whole] whether the traits fit together yet; if they do not,
 *   the last picture stays, and an address that asks for it is not followed
 * @property {(now: State) => Record<string, any>} [limits] what an address may ask for of a trait
 *   whose limits Python does not tell
 * @property {(asked: State, now: State, ui: Ui) => State} [along] which controls change along with
 *   those that an address asks for
 * @property {(ui: Ui) => void} [atSight] what begins to move once the reader sees half of the widget,
 *   if it is `moving` and the reader has not asked for less motion
 * @property {(ui: Ui) => void} [entered] what begins to move when an address was followed
 * @property {(now: State, ui: Ui) => State} [derive] what follows from the state
 * @property {(now: State, ui: Ui) => unknown} view the picture: a template
 * @property {(now: State) => string} words the picture in words, read aloud when the hand rests
 * @property {(now: State) => string} began where the widget began, in a few words
 * @property {(now: State) => unknown} [how] how to use it and how to read it, folded to one line
 * @property {(now: State, ui: Ui, seconds: number) => void} [advance] the next moment, while it plays
 */

/**
 * A widget whose picture is a function of its state. This is the only file that knows the host.
 * @param {Spec} spec
 */
export function widget(spec) {
  return {
    render: (/** @type {any} */ { model, el, figure }) => mount(spec, model, el, figure),
  };
}

/** `figure`: its name in addresses and the limits of its traits, from a page without a kernel. */
function mount(spec, model, el, figure) {
  const { root, region, frame } = frameOf(spec, el);
  const traits = traitsOf(model, { moving: plain, ...spec.data, ...spec.controls });
  const controls = controlsOf(model, spec.controls);
  const [first, begun] = [controls.kept(), { ...spec.local, playing: false, refused: "" }];
  let [local, now, fresh, address] = [begun, {}, false, undefined];

  const read = () => ({ ...traits(), ...local });
  const foot = (how) => footOf(local.refused, began, () => reset(), enlarge, how);
  const [theme, widths] = [themeOf(root, changed), widthsOf(root, changed)];
  const advance = (seconds) => voice.film(() => spec.advance(read(), ui, seconds));
  const frames = framesOf(root, { draw, advance });
  const [voice, height, paper] = [voiceOf(region), heightOf(root), paperOf(theme, draw)];
  const enlarge = enlarging(root, el, { fit: () => widths.look(true) && picture(), changed });

  function set(changes) {
    local = { ...local, refused: "" };
    for (const [name, value] of Object.entries(changes)) {
      if (name in spec.controls) controls.change({ [name]: value });
      else if (name in local) local = { ...local, [name]: value };
      else throw Error(`no trait ${name}`);
    }
    model.save_changes();
    changed();
  }
  function changed() {
    fresh = false;
    voice.heed();
    frames.request();
  }
  function play(on) {
    [local, fresh] = [{ ...local, playing: on }, false];
    frames.play(on);
    if (!on) address?.rest();
  }
  function reset(guesses = {}) {
    play(false);
    local = { ...begun, ...guesses };
    controls.enter(first);
    model.save_changes();
    changed();
  }
  const ui = {
    // Two keys may come within one frame: the second begins where the first has led.
    get now() {
      if (!fresh) look();
      return now;
    },
    id: uniqueId(),
    set,
    play,
    tell: voice.tell,
    width: widths.of,
    memo: memory(),
    theme,
  };

  /** Brings `now` up to date, if the traits fit together. */
  function look() {
    const state = read();
    if (spec.whole?.(state) === false) return false;
    [fresh, now] = [true, state];
    now = { ...state, ...spec.derive?.(state, ui) };
    return true;
  }
  function picture() {
    if (!look()) return false;
    frame.show(html`${spec.view(now, ui)}${foot(spec.how?.(now))}`);
    return true;
  }
  function draw() {
    try {
      if (!picture()) return;
      // What had no width before has one now that it stands in the page.
      if (widths.look()) picture();
      voice.say(spec.words(now), local.playing);
    } catch (error) {
      frame.show(html`<p role="alert">This picture cannot be drawn: ${error.message}</p>${foot()}`);
      reportError(error);
    }
  }
  // Python checks what the page sends; what it refuses it sends back as it was, and says why.
  const ears = listening(model, [
    ["msg:custom", ({ refused }) => set({ refused: `Python did not take this: ${refused}` })],
    ...Object.keys(traits()).map((name) => [`change:${name}`, changed]),
  ]);
  const began = spec.began(read());
  draw();
  if (traits().moving) frames.atSight(() => prefersStillness() || spec.atSight(ui));
  address = located(figure, model, { spec, root, controls, first, reset, set, read, look, ui });
  return () => {
    const parts = [enlarge, ears, frames, theme, widths, voice, height, paper, address, frame];
    for (const part of parts) part?.stop();
  };
}

function listening(model, listeners) {
  for (const [event, listener] of listeners) model.on(event, listener);
  const stop = () => {
    for (const [event, listener] of listeners) model.off(event, listener);
  };
  return { stop };
}

function uniqueId() {
  widgets += 1;
  return `cw-${Math.random().toString(36).slice(2, 8)}-${widgets}`;
}

/** The themed, labelled element that holds everything, deaf to the shortcuts of JupyterLab. */
function frameOf({ label, name = "" }, el) {
  const root = document.createElement("div");
  root.className = `cw ${name}`.trim();
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", label);
  root.dataset.lmSuppressShortcuts = "true";
  // Some shortcuts look at the focused element alone, so it must be deaf itself.
  root.addEventListener("focusin", ({ target }) => {
    /** @type {HTMLElement} */ (target).dataset.lmSuppressShortcuts = "true";
  });
  const region = document.createElement("div");
  region.className = "cw-announcer";
  region.setAttribute("role", "status");
  root.append(region);
  el.replaceChildren(root);
  const show = (template) => render(template, root, { renderBefore: region });
  const stop = () => {
    show(nothing);
    root.remove();
  };
  return { root, region, frame: { show, stop } };
}

/**
 * What Python or the kit refused, if they did; the way back to where the widget began; the way to
 * fill the window; and, folded, how to use it.
 */
function footOf(refused, began, reset, enlarge, how) {
  return html`${refused && html`<p class="cw-complaint" role="alert">${refused}</p>`}
    <div class="cw-foot">
      <button type="button" class="cw-button cw-reset" @click=${reset}>Reset</button>
      <span>to ${began}</span>
      <button type="button" class="cw-button cw-enlarge" aria-keyshortcuts="f"
        ?hidden=${!enlarge.able}
        @click=${enlarge.toggle}>${enlarge.large() ? "Close" : "Enlarge"}</button>
      ${how ? fold("How to use this figure", html`<p>${how}</p>`) : nothing}
    </div>`;
}

/** What the reader changes, as it travels and as it is written. */
function controlsOf(model, codecs) {
  const enter = (travelled) => {
    for (const [name, value] of Object.entries(travelled)) model.set(name, value);
  };
  const change = (changes) => {
    for (const [name, value] of Object.entries(changes))
      model.set(name, codecs[name].encode(value));
  };
  const kept = () => Object.fromEntries(Object.keys(codecs).map((name) => [name, model.get(name)]));
  return { enter, change, kept };
}

/** Keeps a figure's state in the address of its page; JupyterLab's address is not its own. */
function located(figure, model, kit) {
  const { name, limits = {} } = figure ?? model.get("_figure") ?? {};
  if (!name) return undefined;
  const { spec, root, controls, first, reset, set, read, look, ui } = kit;
  const start = Object.fromEntries(
    Object.entries(first).map(([trait, value]) => [trait, spec.controls[trait].decode(value)]),
  );
  const told = Object.entries({ ...limits, ...spec.limits?.(read()) });
  const known = Object.fromEntries(told.filter(([trait]) => Object.hasOwn(spec.controls, trait)));
  /** Begins anew with what the address asks for. */
  function obey(query) {
    const { asked, faults } = understood(query, known);
    const before = controls.kept();
    // An address asks for a picture; it knows nothing of the reader, who has guessed before.
    const state = read();
    reset(Object.fromEntries((spec.guessed ?? []).map((guess) => [guess, state[guess]])));
    try {
      controls.change(asked);
      controls.change({ ...spec.along?.(asked, read(), ui), ...asked });
      if (!look()) throw Error("its parts do not fit together");
    } catch (error) {
      controls.enter(before);
      faults.push(error.message);
    }
    model.save_changes();
    const why = faults.map((fault) => `${fault}.`).join(" ");
    if (why) set({ refused: `Not all of the address was followed: ${why}` });
    else spec.entered?.(ui);
  }
  if (!figure) return linksOf(root, name, obey);
  return addressOf(root, name, { obey, query: () => differing(read(), start, known) });
}

/** Reads the traits; each is decoded once a change. */
function traitsOf(model, codecs) {
  const seen = {};
  return () => {
    const now = {};
    for (const [name, codec] of Object.entries(codecs)) {
      const travelled = model.get(name);
      if (!(name in seen) || !Object.is(seen[name].travelled, travelled)) {
        seen[name] = { travelled, value: codec.decode(travelled) };
      }
      now[name] = seen[name].value;
    }
    return now;
  };
}

/** Remembers, under each name, the last result and what it was made of. */
function memory() {
  const results = {};
  return (name, inputs, compute) => {
    const known = results[name];
    if (known && same(inputs, known.inputs)) return known.result;
    const result = compute();
    results[name] = { inputs, result };
    return result;
  };
}

/**
 * The widths of what carries `data-measure`, without asking the page for a layout at each frame.
 */
function widthsOf(root, changed) {
  const widths = {};
  const watched = new Map();
  const observer = new ResizeObserver((entries) => {
    const news = entries.map(({ target, contentRect }) =>
      note(target.getAttribute("data-measure"), contentRect.width),
    );
    if (news.includes(true)) changed();
  });
  function note(name, width) {
    // Nothing has no width, and what is hidden keeps the one it had.
    if (!width || Math.abs(width - (widths[name] ?? 0)) < 0.5) return false;
    widths[name] = width;
    return true;
  }
  /** Of what is new in the page, or of all. */
  function look(all = false) {
    let news = false;
    for (const element of root.querySelectorAll("[data-measure]")) {
      const name = element.getAttribute("data-measure");
      const known = watched.get(name);
      if (known === element && !all) continue;
      if (known !== element) {
        if (known) observer.unobserve(known);
        watched.set(name, element);
        observer.observe(element);
      }
      news = note(name, element.clientWidth) || news;
    }
    return news;
  }
  return {
    look,
    of: (name, fallback) => widths[name] ?? fallback,
    stop: () => observer.disconnect(),
  };
}

/**
 * Keeps the height that the widget once needed at its width: a line more or less in its words would
 * move the whole page below it.
 */
function heightOf(root) {
  let width = 0;
  const observer = new ResizeObserver(([{ borderBoxSize }]) => {
    if (root.popover) return;
    const [{ inlineSize, blockSize }] = borderBoxSize;
    if (!width || inlineSize === width) root.style.minHeight = `${blockSize}px`;
    else requestAnimationFrame(() => root.style.removeProperty("min-height"));
    width = inlineSize;
  });
  observer.observe(root);
  // A fold that is shut gives back the room that it took.
  const toggled = ({ target }) => target.open === false && root.style.removeProperty("min-height");
  root.addEventListener("toggle", toggled, true);
  return { stop: () => observer.disconnect() };
}

/**
 * Says the last of several texts, once the reader's hand rests. The frames of a film are not told of;
 * they do not put off what is to be told of a deed, but bring it up to date.
 */
function voiceOf(region) {
  let [timer, next, filming, due] = [0, "", false, true];
  /** Somebody did something, unless the film did. */
  const heed = () => {
    due ||= !filming;
  };
  const tell = () => {
    due = true;
  };
  const film = (/** @type {() => void} */ advance) => {
    filming = true;
    try {
      advance();
    } finally {
      filming = false;
    }
  };
  const say = (text, playing) => {
    next = text;
    if (playing && !due) return;
    due = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      region.textContent = next;
    }, REST_MILLISECONDS);
  };
  return { heed, tell, film, say, stop: () => clearTimeout(timer) };
}

/** On paper stands what the reader has made, in the colours of paper, also far from the window. */
function paperOf(theme, draw) {
  const print = () => {
    theme.look();
    draw();
  };
  addEventListener("beforeprint", print);
  return { stop: () => removeEventListener("beforeprint", print) };
}
