import { plain, vector } from "./js/array.js";
import { button } from "./js/controls.js";
import { keep, recalled, slug } from "./js/kept.js";
import { isHit, rightOption } from "./js/maths/guesses.js";
import { line } from "./js/prediction/line.js";
import { KNOTS, sketch } from "./js/prediction/sketch.js";
import { saidOf, truthOf, verdict } from "./js/prediction/words.js";
import { quantity } from "./js/text.js";
import { html, nothing } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

/** A few options to press; once revealed, a bar for each. */
function options(now, ui) {
  const { guess, truth, revealed, unit } = now;
  const right = rightOption(now);
  const low = Math.min(0, ...truth);
  const reach = Math.max(0, ...truth) - low || 1;
  const option = (name, i) => {
    const yours = guess[0] === i;
    const bar = html`<span class="cw-p-bar" style="--cw-length: ${(truth[i] - low) / reach}"></span>
      <span class="cw-p-number">${quantity(truth[i], unit)}</span>`;
    return html`<button type="button" class="cw-p-option" aria-pressed=${yours}
      aria-disabled=${revealed} ?data-right=${revealed && i === right}
      @click=${() => ui.now.revealed || ui.set({ guess: [i] })}>
      <span class="cw-p-name">${revealed && i === right ? "✓ " : ""}${name}
        ${yours ? html`<span class="cw-p-you">your guess</span>` : nothing}</span>
      ${revealed ? bar : nothing}
    </button>`;
  };
  return html`<div class="cw-p-options" role="group" aria-label=${now.question}>
    ${now.options.map(option)}
  </div>`;
}

const SURFACES = { sketch, choose: options, place: line };
const HOW = {
  sketch: "Draw with mouse or finger. With the keyboard: Tab to the chart, ← → walk, ↑ ↓ draw.",
  choose: "Press one.",
  place: "Press or drag on the line. With the keyboard: Tab to it, then the arrow keys.",
};

/** What stands below: how to guess, or how far off the guess was, and why. */
function outcome(now) {
  if (!now.revealed) return html`<p class="cw-hint">${HOW[now.kind]}</p>`;
  const [before, gap, after] = verdict(now);
  return html`<p class="cw-p-verdict">${before}<strong data-reading="off">${gap}</strong>${after}</p>
    <p class="cw-p-answer">${now.answer}</p>`;
}

function legend({ kind, guess, revealed }) {
  if (kind !== "sketch" || !revealed) return nothing;
  return html`<span class="cw-p-legend">
    ${guess.length ? html`<span class="cw-p-key-guess">your guess</span>` : nothing}
    <span class="cw-p-key-truth">the truth</span>
  </span>`;
}

function view(now, ui) {
  const { guess, revealed } = now;
  const reveal = guess.length ? "Compare with the truth" : "Show me";
  const press = () => ui.set({ revealed: !ui.now.revealed });
  return html`<p class="cw-p-question"><span>Guess first</span> ${now.question}</p>
    ${SURFACES[now.kind](now, ui)}
    <p class="cw-p-deeds">
      ${button(revealed ? "Guess again" : reveal, press)}${legend(now)}
    </p>
    ${outcome(now)}`;
}

function words(now) {
  const said = saidOf(now);
  if (!now.revealed) return said ? `Your guess: ${said}.` : now.question;
  return `${verdict(now).join("")} ${now.answer}`;
}

const data = {
  kind: plain,
  question: plain,
  answer: plain,
  across: vector,
  up: vector,
  xlog: plain,
  ylog: plain,
  xlabel: plain,
  ylabel: plain,
  unit: plain,
  step: plain,
  options: plain,
  wanted: plain,
  x: vector,
  truth: vector,
};
const controls = { guess: plain, revealed: plain };

const shown = widget({
  label: "A question to guess at",
  name: "cw-p",
  data,
  controls,
  local: { at: (KNOTS - 1) / 2, pen: null, drawn: null },
  view,
  words,
  began: () => "the open question",
});

/** @param {any} now @param {any} guess */
const isGuess = ({ kind, options, across, up }, guess) => {
  const count = kind === "sketch" ? KNOTS : 1;
  if (!Array.isArray(guess) || (guess.length && guess.length !== count)) return false;
  if (kind === "choose") return guess.every((i) => i in options);
  const [low, high] = kind === "sketch" ? up : across;
  return guess.every((value) => value >= low && value <= high);
};

/** The picture in the next cell of a page, which would tell the answer. */
function lockOf(el, model) {
  const hide = (hidden) => {
    const picture = el.closest(".cell")?.nextElementSibling?.querySelector(".cell_output");
    if (!picture?.querySelector(".cw-host")) picture?.classList.toggle("guess-waits", hidden);
  };
  const follow = () => hide(!model.get("revealed"));
  follow();
  // A page may still be on its way.
  if (document.readyState === "loading")
    addEventListener("DOMContentLoaded", follow, { once: true });
  return { follow, open: () => hide(false) };
}

/** Keeps the guess where there is no kernel that does, and brings back what was kept. */
function remember(model, el) {
  const now = () =>
    Object.fromEntries(
      Object.entries({ ...data, ...controls }).map(([name, codec]) => [
        name,
        codec.decode(model.get(name)),
      ]),
    );
  const { question } = now();
  const record = recalled(question);
  if (record && isGuess(now(), record.guess)) {
    model.set("guess", record.guess);
    model.set("revealed", record.revealed === true);
  }
  if (decodeURIComponent(location.hash.slice(1)) === slug(question)) {
    el.scrollIntoView({ block: "center" });
  }
  const lock = lockOf(el, model);
  const note = () => {
    lock.follow();
    const state = now();
    const { guess, revealed, unit, answer } = state;
    const hit = guess.length > 0 && isHit(state);
    const told = revealed ? { truth: truthOf(state), off: verdict(state)[1], hit, answer } : {};
    const any = guess.length || revealed;
    keep(question, any ? { guess, unit, revealed, said: saidOf(state), ...told } : null);
  };
  const events = ["change:guess", "change:revealed"];
  for (const event of events) model.on(event, note);
  return () => {
    for (const event of events) model.off(event, note);
    lock.open();
  };
}

export default {
  render({ model, el }) {
    const stop = shown.render({ model, el });
    const forget = model.send ? () => {} : remember(model, el);
    return () => {
      forget();
      stop();
    };
  },
};
