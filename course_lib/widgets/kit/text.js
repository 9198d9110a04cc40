import { html } from "../vendor/lit-html/lit-html.js";

const INVISIBLE = { " ": "␣", "\n": "⏎", "\t": "⇥", "": "∅" };

/** A letter or token with visible spaces and no marks of text direction. @param {string} text */
export const visible = (text) =>
  Object.hasOwn(INVISIBLE, text) ? INVISIBLE[text] : text.replace(/\p{Bidi_C}/gu, "�");

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

/** A share of 1, with a space that no line breaks at. @param {number} share */
export const percent = (share, digits = 0) => `${number(100 * share, digits)}\u00a0%`;

/** Below ten percent to a tenth. @param {number} share */
export const finePercent = (share) => percent(share, share < 0.0995 ? 1 : 0);

/** @param {number} integer */
export function superscript(integer) {
  return String(integer).replace(/[-\d]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]));
}

/**
 * A number as 2.5·10⁻²; also 0, ∞ and NaN.
 * @param {number} value
 */
export function scientific(value) {
  if (Number.isNaN(value)) return "not a number";
  if (value === Infinity) return "∞";
  if (!(value > 0)) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits}·10${superscript(Number(exponent))}`;
}

const SIGNIFICANT = 3;

/**
 * A number to three significant digits, or as many as `digits`, whole from 1,000 on, with its unit.
 * @param {number} value
 */
export function quantity(value, unit = "", digits = SIGNIFICANT) {
  const size = Math.abs(value);
  const tiny = size > 0 && (size < 1e-3 || size >= 1e7);
  const most = Math.max(digits, Math.floor(Math.log10(size)) + 1);
  const text = tiny
    ? `${value < 0 ? "−" : ""}${scientific(size)}`
    : Number(value.toPrecision(most)).toLocaleString("en", { maximumFractionDigits: 20 });
  return `${text.replace("-", "−")}\u00a0${unit}`.trim();
}

/**
 * The significant digits that distinguish neighbouring ticks of an axis.
 * @param {number[]} ticks
 */
export function digitsApart(ticks) {
  const steps = Math.max(...ticks.map(Math.abs)) / Math.abs(ticks[1] - ticks[0]);
  return Math.max(SIGNIFICANT, Math.ceil(Math.log10(steps)) + 1 || 0);
}

/** Letters that Unicode does not decompose, and their usual replacements. */
const PLAIN = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", þ: "th", ł: "l", ı: "i" };
/** Characters that join the parts of a name are removed. */
const JOINTS = "-‐‑–'’ ";
const plain = (part) => (JOINTS.includes(part) ? "" : (PLAIN[part.toLowerCase()] ?? part));

/**
 * A text with letters of an alphabet in place of capitals and accents: see `folded` in folding.py.
 * @param {string} text
 * @param {string} alphabet
 */
export function folded(text, alphabet) {
  const known = new Set(alphabet);
  const fold = (letter) => {
    const parts = [...letter.normalize("NFKD")].filter((part) => !/\p{M}/u.test(part));
    const bare = parts.map(plain).join("");
    const tries = [bare, bare.toLowerCase(), bare.toUpperCase()];
    return tries.find((written) => [...written].every((part) => known.has(part))) ?? letter;
  };
  return [...text].map((letter) => (known.has(letter) ? letter : fold(letter))).join("");
}

/**
 * Says which letters of a text a model does not know; empty if it knows all.
 * @param {Iterable<string>} typed
 * @param {string[]} known
 */
export function unknownLetters(typed, known) {
  const strange = [...new Set(typed)].filter((letter) => !known.includes(letter));
  if (!strange.length) return "";
  return `The model has never seen ${spelled(strange, ", ")}. It knows ${spelled(known, " ")}.`;
}

/**
 * A text field for the control `name`. Invalid text stays in the field with a message, and the
 * picture does not change. With an `alphabet` the text is folded, but stays in the field as typed;
 * with `drops` other letters are left out. The widget's local state needs `typed: null`.
 * @param {any} ui
 * @param {string} name
 * @param {{ label: string, problemOf: (text: string) => string, still: string, alphabet?: string,
 *   drops?: boolean, mode?: string, accept: (text: string, caret: number) => void,
 *   enter?: () => void }} options `still` names what the picture shows, `mode` the keyboard of a
 *   telephone; `enter` is called on that key
 */
export function typingLine(
  ui,
  name,
  { label, problemOf, still, alphabet, drops = false, mode = "text", accept, enter },
) {
  const [id, messageId] = [`${ui.id}-${name}`, `${ui.id}-${name}-message`];
  const known = (letter) => !drops || alphabet.includes(letter);
  const all = (text) => (alphabet === undefined ? text : folded(text, alphabet));
  const fold = (text) => [...all(text)].filter(known).join("");
  const [shown, text] = [shownText(ui, name), typedText(ui, name)];
  const problem = problemOf(fold(text));
  const input = ({ target }) => {
    const read = fold(target.value);
    const refused = problemOf(read) !== "";
    const typed = { text: target.value, against: refused ? shownText(ui, name) : read, refused };
    ui.set({ typed: typed.text === typed.against ? null : typed });
    const caret = [...fold(target.value.slice(0, target.selectionStart))].length;
    if (!refused) accept(read, caret);
  };
  const lost = [...new Set(all(text))].filter((letter) => !known(letter));
  const without = lost.length ? ` Left out: ${spelled(lost, ", ")}.` : "";
  const reading = text === shown ? "" : `Read as ${spelled([...shown])}.${without}`;
  const pressed = ({ key }) => key === "Enter" && !problem && enter?.();
  const message = problem ? `${problem} You still see ${still}.` : reading;
  return html`<div class="cw-typing">
    <label for=${id}>${label}</label>
    <input id=${id} type="text" inputmode=${mode} autocomplete="off" autocapitalize="none"
      spellcheck="false" aria-describedby=${messageId} aria-invalid=${problem !== ""} .value=${text}
      @input=${input} @keydown=${pressed}>
    <span id=${messageId} class=${problem ? "cw-complaint" : "cw-complaint cw-read-as"}
      role="status">${message}</span>
  </div>`;
}

/** The typed text, if it differs from the trait and the trait has not changed since. */
function pending(ui, name) {
  const { typed } = ui.now;
  return typed?.against === shownText(ui, name) ? typed : null;
}

const shownText = (ui, name) => String(ui.now[name]);
const typedText = (ui, name) => pending(ui, name)?.text ?? shownText(ui, name);

/** Whether the field holds text that the picture does not show. @param {any} ui @param {string} name */
export const isStale = (ui, name) => pending(ui, name)?.refused ?? false;
