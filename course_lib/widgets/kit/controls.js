import { clamp } from "../maths/numerics.js";
import { guard } from "../vendor/lit-html/directives/guard.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";

/**
 * A labelled slider for the control `name`, or for a `value` that `set` changes. On a logarithmic
 * slider equal distances are equal ratios.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, min: number, max: number, step?: number, logarithmic?: boolean,
 *   format?: (value: number) => string, value?: number, set?: (value: number) => void,
 *   accent?: string }} options `accent` is a colour
 */
export function slider(ui, name, options) {
  const { label, min, max, step = 1, logarithmic = false, format = String, accent } = options;
  const { value = ui.now[name], set = (changed) => ui.set({ [name]: changed }) } = options;
  const toSlider = logarithmic ? Math.log : (given) => given;
  // Rounding keeps 0.30000000000000004 out of the trait that Python sees.
  const fromSlider = logarithmic
    ? (position) => Number(clamp(Math.exp(position), min, max).toPrecision(4))
    : (position) => Number(position.toPrecision(12));
  const id = `${ui.id}-${name}`;
  const input = ({ target }) => set(fromSlider(Number(target.value)));
  // The ends come before the value: a browser cuts a value to the ends that it knows. A hundred
  // logarithmic steps are a hair too short, lest rounding put the last of them beyond the end.
  return html`<div class="cw-control" style=${accent ? `--cw-accent: ${accent}` : nothing}>
    <label for=${id}>${label}</label>
    <input id=${id} type="range" data-trait=${name} aria-valuetext=${format(value)}
      min=${toSlider(min)} max=${toSlider(max)}
      step=${logarithmic ? Math.log(max / min) / 100.0001 : step}
      .value=${String(toSlider(value))} @input=${input}>
    <output for=${id}>${format(value)}</output>
  </div>`;
}

/**
 * A labelled drop-down list.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, options: [any, string][], choose?: (value: any) => void }} choice
 */
export function select(
  ui,
  name,
  { label, options, choose = (value) => ui.set({ [name]: value }) },
) {
  const id = `${ui.id}-${name}`;
  const change = ({ target }) => choose(options[target.selectedIndex][0]);
  const option = ([value, text]) =>
    html`<option value=${value} .selected=${value === ui.now[name]}>${text}</option>`;
  // A list of hundreds is not to be gone through at every frame.
  const listed = guard([ui.now[name], ...options.flat()], () => options.map(option));
  return html`<div class="cw-control">
    <label for=${id}>${label}</label>
    <select id=${id} data-trait=${name} @change=${change}>${listed}</select>
  </div>`;
}

/**
 * A labelled check box for the control `name`, or for a `value` that `set` changes.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, value?: boolean, set?: (value: boolean) => void }} options
 */
export function toggle(ui, name, { label, value = ui.now[name], set }) {
  const id = `${ui.id}-${name}`;
  const change = ({ target }) => (set ? set(target.checked) : ui.set({ [name]: target.checked }));
  return html`<div class="cw-control cw-toggle">
    <input id=${id} type="checkbox" data-trait=${name} .checked=${value} @change=${change}>
    <label for=${id}>${label}</label>
  </div>`;
}

/**
 * A row of choices of which one is on; nothing if there is no choice.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, options: [any, string][], choose?: (value: any) => void }} choice
 */
export function choices(
  ui,
  name,
  { label, options, choose = (value) => ui.set({ [name]: value }) },
) {
  if (options.length < 2) return nothing;
  const item = ([value, text], i) => {
    const id = `${ui.id}-${name}-${i}`;
    return html`<span class="cw-choice">
      <input id=${id} type="radio" name=${`${ui.id}-${name}`} value=${value} data-trait=${name}
        .checked=${value === ui.now[name]} @change=${() => choose(value)}>
      <label for=${id}>${text}</label>
    </span>`;
  };
  return group(label, options.map(item));
}

/**
 * A row of check boxes for a list: the values that are on, in the order of `options`.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, options: [any, string, string?][], most?: number }} choice with a colour
 *   each, if any; once so many as `most` are on, one must go before another comes
 */
export function checks(ui, name, { label, options, most = Infinity }) {
  const item = ([value, text, colour], i) => {
    const id = `${ui.id}-${name}-${i}`;
    const change = ({ target }) => {
      const on = new Set(ui.now[name]);
      on[target.checked ? "add" : "delete"](value);
      ui.set({ [name]: options.map(([other]) => other).filter((other) => on.has(other)) });
    };
    return html`<span class="cw-choice">
      <input id=${id} type="checkbox" value=${value} data-trait=${name}
        ?disabled=${!ui.now[name].includes(value) && ui.now[name].length >= most}
        .checked=${ui.now[name].includes(value)} @change=${change}>
      ${colour ? swatch(colour) : nothing}<label for=${id}>${text}</label>
    </span>`;
  };
  return group(label, options.map(item));
}

const group = (label, items) =>
  html`<fieldset class="cw-choices"><legend>${label}</legend>${items}</fieldset>`;

/** A small square of a colour. @param {string} colour */
export const swatch = (colour) =>
  html`<span class="cw-swatch" style="background: ${colour}" aria-hidden="true"></span>`;

/** The colour of the i-th of several things that are told apart. @param {number} i */
export const series = (i) => `var(--cw-series-${i % 6})`;

/** What a reader may open: a line, and what stands below it. @param {unknown} line */
export const fold = (line, content, { open = false } = {}) =>
  html`<details class="cw-fold" ?open=${open}><summary>${line}</summary>${content}</details>`;

/**
 * A push button. `other` is what else may stand on it: it keeps the room for both. What is disabled
 * by a press keeps the focus, which the keyboard would lose otherwise.
 * @param {string} text
 * @param {() => void} press
 */
export const button = (text, press, { disabled = false, other = "" } = {}) =>
  html`<button type="button" class="cw-button" data-other=${other || nothing}
    aria-disabled=${disabled || nothing} @click=${disabled ? nothing : press}>${text}</button>`;
