// A figure's state in the address of its page: `#fig-soft-lookup?temperature=0.05&query=0.5,-0.2`.
// Anybody can write an address, so each value is checked as Python would check it.

import { folded } from "./text.js";

/** @typedef {any} Limits of one trait, as `Trait.limits` in traits.py gives them */

const [MOST_CHARACTERS, MOST_NUMBERS, MOST_SHOWN] = [400, 64, 40];
const SINGLE_PRECISION = 9;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
// These characters need no escape in the fragment of an address, and stay readable.
const READABLE = { "%2C": ",", "%3B": ";", "%3A": ":", "%2F": "/", "%3F": "?", "%40": "@" };

const escaped = (text) =>
  encodeURIComponent(text).replace(/%(2C|3B|3A|2F|3F|40)/g, (code) => READABLE[code]);
const shown = (text) => `“${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text}”`;

/** The shortest decimal text that float32 reads as the same number. */
function digits(value) {
  const enough = (count) => Math.fround(Number(value.toPrecision(count))) === Math.fround(value);
  for (let count = 1; count < SINGLE_PRECISION; count += 1) {
    if (enough(count)) return String(Number(value.toPrecision(count)));
  }
  return String(Number(value.toPrecision(SINGLE_PRECISION)));
}

/**
 * A value as text for an address; undefined for an option without a name.
 * @param {any} value
 * @param {Limits} limits
 * @returns {string | undefined}
 */
function written(value, limits) {
  if (limits.kind === "named") {
    const text = JSON.stringify(value);
    return limits.options.find((option) => JSON.stringify(option) === text)?.name;
  }
  if (limits.kind === "several") return value.map((one) => written(one, limits.each)).join(",");
  if (limits.kind !== "array") return String(value);
  return limits.sizes.length === 1
    ? value.map(digits).join(",")
    : value.map((row) => row.map(digits).join(",")).join(";");
}

function within(value, { low, high }, what = "it") {
  if ((low ?? value) <= value && value <= (high ?? value)) return value;
  if (high === null) throw Error(`${what} must be ${low} at least`);
  throw Error(`${what} must lie between ${low} and ${high}`);
}

function numberIn(text, limits) {
  if (!NUMBER.test(text) || !Number.isFinite(Number(text))) throw Error("expected a number");
  return within(Number(text), limits);
}

function listIn(text, limits, size, most = MOST_NUMBERS) {
  const list = text.split(",").map((one) => numberIn(one, limits));
  if (list.length === (size ?? list.length) && list.length <= most) return list;
  throw Error(`expected ${size ?? `${most} at most`} numbers, with commas between them`);
}

/** @type {Record<string, (text: string, limits: Limits) => any>} */
const READERS = {
  number: numberIn,
  integer(text, limits) {
    const value = numberIn(text, limits);
    if (!Number.isInteger(value)) throw Error("expected an integer");
    return value;
  },
  switch(text) {
    if (text !== "true" && text !== "false") throw Error("expected true or false");
    return text === "true";
  },
  choice(text, { options }) {
    const found = options.find((option) => String(option) === text);
    if (found === undefined) throw Error(`expected one of ${options.join(", ")}`);
    return found;
  },
  named(text, { options }) {
    const found = options.find(({ name }) => name === text);
    if (found) return found;
    throw Error(`expected one of ${options.map(({ name }) => name).join(", ")}`);
  },
  text(given, limits) {
    const alphabet = limits.alphabet ?? given;
    const text = folded(given, alphabet);
    within([...text].length, limits, "the number of its letters");
    const strange = [...text].filter((letter) => !alphabet.includes(letter));
    if (strange.length) throw Error(`${shown(strange.join(""))} is not in the alphabet`);
    return text;
  },
  several(text, limits) {
    const list = text ? text.split(",").map((one) => valueIn(one, limits.each)) : [];
    within(list.length, limits, "the number of its entries");
    return list;
  },
  array(text, limits) {
    const [first, second] = limits.sizes;
    const most = limits.most[0] ?? MOST_NUMBERS;
    if (limits.sizes.length === 1) return listIn(text, limits, first, most);
    const rows = text.split(";").map((row) => listIn(row, limits, second));
    if (rows.length === (first ?? rows.length) && rows.length <= most) return rows;
    throw Error(`expected ${first ?? `${most} at most`} rows, with semicolons between them`);
  },
};

/** The value of a text; throws an error that says what is wrong. @param {string} text */
const valueIn = (text, limits) => READERS[limits.kind](text, limits);

/**
 * The values that a query asks for, by trait, and what is wrong with its other parts.
 * @param {string} query
 * @param {Record<string, Limits>} limits
 * @returns {{ asked: Record<string, any>, faults: string[] }}
 */
export function understood(query, limits) {
  const [asked, faults] = [{}, []];
  for (const [name, text] of new URLSearchParams(query)) {
    try {
      if (!Object.hasOwn(limits, name)) throw Error("this figure has none");
      asked[name] = valueIn(text, limits[name]);
    } catch (error) {
      faults.push(`${shown(name)} is ${shown(text)}: ${error.message}`);
    }
  }
  return { asked, faults };
}

/**
 * The query for what differs between two states; empty if a part of it is too long.
 * @param {Record<string, any>} now
 * @param {Record<string, any>} first
 * @param {Record<string, Limits>} limits
 */
export function differing(now, first, limits) {
  const texts = Object.entries(limits).map(([name, limit]) => {
    const [text, before] = [now, first].map((state) => written(state[name], limit));
    return { name, text, differs: text !== before };
  });
  const parts = texts.filter(({ differs }) => differs);
  const whole = parts.every(({ text = null }) => text !== null && text.length <= MOST_CHARACTERS);
  return whole ? parts.map(({ name, text }) => `${name}=${escaped(text)}`).join("&") : "";
}

const REST_MILLISECONDS = 500;
const HAND = ["pointerdown", "pointerup", "keydown", "keyup", "input", "click"];

/**
 * Sets a figure when a link asks for it, and writes the reader's changes into the address, so that
 * they survive a reload and can be shared. Of several figures on a page the one used last owns the
 * address.
 * @param {HTMLElement} root
 * @param {string} name of the figure, its element's id
 * @param {{ obey: (query: string) => void, query: () => string }} figure
 */
export function addressOf(root, name, { obey, query }) {
  let [timer, touched] = [0, false];
  const isOurs = (hash) => hash.startsWith(`#${name}?`);

  function follow() {
    if (!isOurs(location.hash)) return;
    clearTimeout(timer);
    obey(location.hash.slice(name.length + 2));
    bringIntoView(root);
  }
  // A click on a link to the current address fires no hashchange.
  function clicked({ target }) {
    const { hash = "" } = target.closest("a[href]") ?? {};
    if (isOurs(hash) && hash === location.hash) follow();
  }
  function write() {
    const asked = query();
    if (asked) keep(`#${name}?${asked}`);
    else if (isOurs(location.hash)) keep("");
  }
  function rest() {
    clearTimeout(timer);
    if (touched) timer = setTimeout(write, REST_MILLISECONDS);
  }
  function hand({ target }) {
    const figure = target.closest?.(".cw");
    if (!figure) return;
    touched = figure === root;
    rest();
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", clicked);
  for (const event of HAND) document.addEventListener(event, hand, true);
  follow();
  function stop() {
    clearTimeout(timer);
    window.removeEventListener("hashchange", follow);
    document.removeEventListener("click", clicked);
    for (const event of HAND) document.removeEventListener(event, hand, true);
  }
  return { rest, stop };
}

/**
 * Sets a figure when a link of its notebook asks for it. Figures of one kind are numbered from the
 * top, as on a page of the book.
 * @param {HTMLElement} root
 * @param {string} name of the first figure of its kind
 * @param {(query: string) => void} obey
 */
export function linksOf(root, name, obey) {
  root.dataset.figure = name;
  function clicked(event) {
    const link = event.target.closest("a[href]");
    const notebook = root.closest(".jp-Notebook");
    if (!link || !notebook?.contains(link)) return;
    const place = [...notebook.querySelectorAll(`[data-figure="${name}"]`)].indexOf(root) + 1;
    const own = `#${place === 1 ? name : `${name}-${place}`}?`;
    if (!link.hash.startsWith(own)) return;
    event.preventDefault();
    obey(link.hash.slice(own.length));
    bringIntoView(root);
  }
  document.addEventListener("click", clicked);
  return { rest: () => {}, stop: () => document.removeEventListener("click", clicked) };
}

function keep(hash) {
  // Slides keep their own place in the address.
  if ("Reveal" in globalThis) return;
  try {
    history.replaceState(history.state, "", `${location.href.split("#")[0]}${hash}`);
  } catch {
    // A page in a frame may not be allowed to change its address.
  }
}

/** Scrolls until the whole figure is visible, or its top if it is higher than the window. */
function bringIntoView(root) {
  // The browser opens an appendix only for an address without a state.
  const folded = root.closest("details");
  if (folded) folded.open = true;
  const { height } = root.getBoundingClientRect();
  const above = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  root.scrollIntoView({ block: height + above <= innerHeight ? "nearest" : "start" });
}
