import { html } from "./vendor/lit-html/lit-html.js";

const INVISIBLE = { " ": "␣", "\n": "⏎", "\t": "⇥", "": "∅" };

/** A letter or token that can be seen. @param {string} text */
export const visible = (text) => (Object.hasOwn(INVISIBLE, text) ? INVISIBLE[text] : text);

/** @param {string[]} letters */
export const spelled = (letters, gap = "") => letters.map(visible).join(gap);

const HUGE = 1e9;

/**
 * A number with a fixed count of digits and a true minus sign; a huge one as 2.5·10¹².
 * @param {number} value
 */
export function number(value, digits = 2) {
  if (!(Math.abs(value) < HUGE)) return `${value < 0 ? "−" : ""}${scientific(Math.abs(value))}`;
  return value
    .toFixed(digits)
    .replace(/^-(?=0(\.0*)?$)/, "")
    .replace("-", "−");
}

/** @param {number} integer */
export function superscript(integer) {
  return String(integer).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

/**
 * A number from nothing to huge, as 2.5·10⁻²; ∞ and what is no number are said so.
 * @param {number} value
 */
export function scientific(value) {
  if (Number.isNaN(value)) return "not a number";
  if (value === Infinity) return "∞";
  if (!(value > 0)) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits}·10${superscript(Number(exponent))}`;
}

/**
 * What keeps a model from reading a text of letters that it does not know; nothing if it can.
 * @param {Iterable<string>} typed
 * @param {string[]} known
 */
export function unknownLetters(typed, known) {
  const strange = [...new Set(typed)].filter((letter) => !known.includes(letter));
  if (!strange.length) return "";
  return `The model has never seen ${spelled(strange, ", ")}. It knows ${spelled(known, " ")}.`;
}

/**
 * A line to type in, bound to a control `name`. What cannot be read stays in the field, beside what
 * is wrong with it, and the picture keeps what it showed. The widget's local state needs `typed: null`.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, problemOf: (text: string) => string, still: string,
 *   accept: (text: string, caret: number) => void }} options `still` is what the picture shows
 */
export function typingLine(ui, name, { label, problemOf, still, accept }) {
  const [id, messageId] = [`${ui.id}-${name}`, `${ui.id}-${name}-message`];
  const text = typedText(ui, name);
  const problem = problemOf(text);
  const input = ({ target }) => {
    const refused = problemOf(target.value) !== "";
    ui.set({ typed: refused ? { text: target.value, against: ui.now[name] } : null });
    if (!refused) accept(target.value, target.selectionStart);
  };
  const complaint = problem && `${problem} Below you still see ${still}.`;
  return html`<div class="cw-typing">
    <label for=${id}>${label}</label>
    <input id=${id} type="text" autocomplete="off" autocapitalize="none" spellcheck="false"
      aria-describedby=${messageId} aria-invalid=${problem !== ""} .value=${text} @input=${input}>
    <span id=${messageId} class="cw-complaint" role="status">${complaint}</span>
  </div>`;
}

/** What stands in the field: what was refused, until the trait changes from elsewhere. */
function typedText(ui, name) {
  const { typed } = ui.now;
  return typed && typed.against === ui.now[name] ? typed.text : ui.now[name];
}

/** Whether the field holds what the picture does not show. @param {any} ui @param {string} name */
export const isStale = (ui, name) => typedText(ui, name) !== ui.now[name];
