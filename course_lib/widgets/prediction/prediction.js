import { plain, vector } from "../kit/array.js";
import { legend } from "../kit/charts.js";
import { button } from "../kit/controls.js";
import { UNVEILED } from "../kit/frames.js";
import { keep, recalled, slug } from "../kit/kept.js";
import { prefersStillness } from "../kit/play.js";
import { quantity } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import {
  axis,
  barEnds,
  farOff,
  isHit,
  isNear,
  logarithmicEnds,
  rightOption,
  stepsOf,
} from "../maths/guesses.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { line } from "./line.js";
import { KNOTS, sketch } from "./sketch.js";
import { outcomeOf, placed, SIGNS, saidOf, truthOf, verdict } from "./words.js";

/** A few options to press; once revealed, a bar for each, and on yours what it lacks to the right one. */
function options(now, ui) {
  const { guess, truth, revealed, unit, xlog } = now;
  const right = rightOption(now);
  const { low, high, cut = false } = xlog ? logarithmicEnds(truth) : barEnds(truth);
  const along = xlog ? axis([low, high], true).share : (value) => (value - low) / (high - low || 1);
  const option = (name, i) => {
    const yours = guess[0] === i;
    const [share, best] = [truth[i], truth[right]].map(along);
    const off = yours ? Math.abs(share - best) : 0;
    // What a bar has too much is a part of it; what it lacks is no bar, and of nothing all is lacking.
    const gap = html`<span class=${share > best ? "cw-p-over" : "cw-p-lacks"}
      style="--cw-from: ${Math.min(share, best)}; --cw-gap: ${off}"></span>`;
    const bar = html`<span class="cw-p-bar" ?data-cut=${cut} style="--cw-length: ${share}">
        ${off && share > 0 ? gap : nothing}</span>
      <span class="cw-p-number">${quantity(truth[i], unit)}</span>`;
    const room = html`<span class="cw-p-room" aria-hidden="true"></span>`;
    const outcome = revealed && (i === right ? "right" : yours && "wrong");
    return html`<button type="button" class="cw-p-option cw-button" aria-pressed=${yours}
      aria-disabled=${revealed} data-outcome=${outcome || nothing} style="--cw-turn: ${i}"
      @click=${() => ui.now.revealed || ui.set({ guess: [i] })}>
      <span class="cw-p-name"><span class="cw-p-sign" aria-hidden="true">${
        { right: "✓", wrong: "✗" }[outcome] ?? (yours ? "●" : "○")
      }</span>${name}
        ${yours ? html`<span class="cw-p-you">your guess</span>` : nothing}</span>
      ${revealed ? bar : room}
    </button>`;
  };
  return html`<div class="cw-p-options" role="group" aria-label=${now.question}
      ?data-asks=${!guess.length && !revealed}>
    ${now.options.map(option)}
  </div>
  ${
    cut || xlog
      ? html`<p class="cw-p-cut" ?data-waits=${!revealed}>${(cut ? cutAt : tenfold)(low, unit)}</p>`
      : nothing
  }`;
}

/** That bars are cut. @param {number} low @param {string} unit */
const cutAt = (low, unit) => `The bars begin at ${quantity(low, unit)}, not at 0.`;

/** That bars are logarithmic. @param {number} low @param {string} unit */
const tenfold = (low, unit) =>
  `Logarithmic bars, from ${quantity(low, unit)} on: ten times as much is one equal step longer.`;

/** An equation stays on its line. */
const glued = (text) => text.replaceAll(" = ", "\u00a0=\u00a0");

const SURFACES = { sketch, choose: options, place: line };
const HOW = {
  sketch: ["Draw with mouse or finger.", "Tab to the chart, ← → walk, ↑ ↓ draw."],
  choose: ["Press one."],
  place: ["Press or drag on the line.", "Tab to it, then the arrow keys."],
};

/** How to guess; whose pointer is a finger is told of no keys. */
function toldHow([hand, keys]) {
  if (!keys) return hand;
  return html`${hand}<span class="cw-p-keys"> With the keyboard: ${keys}</span>`;
}

/** The guess of which there is most to say. */
function wordiest(now) {
  const { kind, options, truth, across, up } = now;
  const steps = stepsOf(now);
  const beside = [-1, 1].map((k) => steps.at(clamp(steps.of(truth[0]) + k, 0, steps.count)));
  const length = (guess) => verdict({ ...now, guess }).join("").length;
  const all = {
    choose: options.map((_, i) => [i]),
    place: [...across, ...beside].map((number) => [number]),
    sketch: up.map((end) => Array(KNOTS).fill(end)),
  };
  return all[kind].reduce((most, guess) => (length(guess) > length(most) ? guess : most));
}

/**
 * What stands below: how to guess, or how far off the guess was, and why. The room for the most that
 * can be said is there from the beginning, so that nothing below it jumps.
 */
function outcome(now) {
  const { revealed, kind, guess, answer } = now;
  const asks = toldHow(HOW[kind]);
  const how = guess.length && kind !== "sketch" ? "Now compare it with the truth." : asks;
  const signed = (sign) => sign && html`<span class="cw-p-sign" aria-hidden="true">${sign}</span> `;
  /** @param {string[]} parts @param {string} name @param {string} sign */
  const said = (
    [before, gap, after],
    name,
    sign,
  ) => html`<p class=${name}>${signed(sign)}${before}<strong
      data-reading=${name === "cw-p-verdict" ? "off" : nothing}>${gap}</strong>${after}</p>`;
  const told = html`<div class="cw-p-told" data-outcome=${outcomeOf(now)}>
    ${said(verdict(now), "cw-p-verdict", SIGNS[outcomeOf(now)])}
    <p class="cw-p-answer">${answer}</p></div>`;
  const sealed = html`<div class="cw-p-sealed"><p class="cw-hint">${how}</p></div>`;
  return html`<div class="cw-over cw-p-outcome">
    <div class="cw-p-told" aria-hidden="true" data-waits>
      ${said(verdict({ ...now, guess: wordiest(now) }), "", SIGNS.miss)}
      <p>${answer}</p></div>
    <div class="cw-p-sealed" aria-hidden="true" data-waits><p class="cw-hint">${asks}</p></div>
    ${revealed ? told : sealed}
  </div>`;
}

/** Which line is the reader's own, and which is true. */
function key({ kind, guess, revealed }) {
  if (kind !== "sketch") return nothing;
  const truth = { text: "the truth", colour: "var(--cw-accent)" };
  const yours = { text: "your guess", colour: "var(--cw-warm)", dash: "7 5" };
  return html`<span ?data-waits=${!revealed}>${legend(guess.length ? [yours, truth] : [truth])}</span>`;
}

function view(now, ui) {
  const { guess, revealed } = now;
  const reveal = guess.length ? "Compare with the truth" : "Show me";
  const press = () => ui.set({ revealed: !ui.now.revealed });
  const [here, other] = revealed ? ["Guess again", reveal] : [reveal, "Guess again"];
  return html`<p class="cw-p-question"><span>Guess first</span> ${glued(now.question)}</p>
    ${SURFACES[now.kind](now, ui)}
    <p class="cw-row" style="margin-top: 0.75rem">
      ${button(here, press, { other })}${key(now)}
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

/** Marks the place once half of it is seen: what moves there to invite the reader moves once, then. */
function whenSeen(el) {
  const look = (entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    el.dataset.seen = "";
    observer.disconnect();
  };
  const observer = new IntersectionObserver(look, { threshold: 0.4 });
  observer.observe(el);
  return () => observer.disconnect();
}

const READ = "p, ul, ol, dl, div.math, .pst-scrollable-table-container, .proof";
const QUESTION = ".cw-host[data-widget=Prediction]";

/** What stands below a cell or a heading, up to the next heading or question. */
function* below(it) {
  let next = it?.nextElementSibling;
  while (next && !next.matches("section, h1, h2, h3, h4") && !next.querySelector(QUESTION)) {
    for (const part of next.querySelectorAll(".cell_output")) yield { part, fogged: true };
    if (next.matches(READ)) yield { part: next, fogged: false };
    next = next.nextElementSibling;
  }
}

/**
 * What comes after a question, up to the next heading or question: text, formulas, tables, claims and
 * all that cells print or draw, of which each would tell the answer. With the tag
 * `guess-covers-section` that of later subsections too. Over what a cell shows stands a fog.
 */
function* after(cell) {
  yield* below(cell);
  if (!cell?.matches(".tag_guess-covers-section")) return;
  for (const heading of cell.closest("section:has(> h2)").querySelectorAll("h3")) {
    if (cell.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING)
      yield* below(heading);
  }
}

/** The way to the question, which may stand a page above, and the way past it. */
const waysOn = (ask, show) =>
  html`<button type="button" @click=${ask}>Waits for your guess
      <span aria-hidden="true">↑</span></button>
    <button type="button" @click=${show}>Show it anyway</button>`;

/** A fog over what is in a part of the page. @param {HTMLElement} part */
function fogOver(part, ask, show) {
  /** @type {any[]} */
  const within = [...part.children];
  const fog = document.createElement("p");
  fog.className = "guess-fog";
  render(waysOn(ask, show), fog);
  const lay = (veiled) => {
    part.classList.toggle("guess-waits", veiled);
    for (const one of within) one.inert = veiled;
    if (veiled) part.append(fog);
    else fog.remove();
  };
  return lay;
}

/** Who is sent to something, by a link or by a friend's address, is not asked first. */
const isSentTo = ({ part }) => {
  const sought = document.getElementById(location.hash.slice(1).split("?")[0]);
  return sought !== null && part.contains(sought);
};

/** Veils what would tell the answer: no hand and no key reaches it, and no figure begins to play. */
function lockOf(el, model) {
  const fogs = new Map();
  const ask = () => {
    el.scrollIntoView({ block: "center", behavior: prefersStillness() ? "auto" : "smooth" });
    el.querySelector("button, [tabindex='0']").focus({ preventScroll: true });
  };
  // As "Show me" does: a guess that stands is compared, and none is kept as none.
  const show = ({ currentTarget }) => {
    const part = currentTarget.closest(".guess-waits");
    model.set("revealed", true);
    model.save_changes();
    // The button is gone: who goes on with Tab goes on from here.
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  };
  const lay = (part, veiled) => {
    if (!fogs.has(part)) fogs.set(part, fogOver(part, ask, show));
    fogs.get(part)(veiled);
  };
  const hide = (hidden) => {
    const covered = [...after(el.closest(".cell"))];
    const veiled = hidden && !covered.some(isSentTo);
    for (const { part, fogged } of covered) {
      if (fogged) {
        lay(part, veiled);
        continue;
      }
      part.classList.toggle("guess-hides", veiled);
      part.inert = veiled;
    }
    if (!veiled) dispatchEvent(new Event(UNVEILED));
  };
  const follow = () => hide(!model.get("revealed"));
  follow();
  addEventListener("hashchange", follow);
  // A page may still be on its way.
  if (document.readyState === "loading")
    addEventListener("DOMContentLoaded", follow, { once: true });
  const stop = () => {
    removeEventListener("hashchange", follow);
    removeEventListener("DOMContentLoaded", follow);
    hide(false);
  };
  return { follow, stop };
}

/** Guess and truth as shares of their axes, for the page of all guesses to draw. */
function drawnOf(now) {
  const { kind, guess, truth, across, up, xlog, ylog, x } = now;
  if (!guess.length) return {};
  const near = kind !== "choose" && isNear(now);
  const told = { kind, far: farOff(now), near };
  if (kind === "choose") return told;
  const along = axis(across, xlog);
  if (kind === "place") {
    const ends = across.map((value) => placed(value, now));
    return { ...told, ends, guessAt: along.share(guess[0]), truthAt: along.share(truth[0]) };
  }
  const height = axis(up, ylog);
  const ends = across.map((value) => quantity(value));
  const truthAt = truth.map((value, i) => [along.share(x[i]), height.share(value)]);
  const guessAt = guess.map((value, i) => [i / (KNOTS - 1), height.share(value)]);
  return { ...told, ends, guessAt, truthAt };
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
    const told = revealed
      ? { truth: truthOf(state), off: verdict(state)[1], hit, answer, ...drawnOf(state) }
      : {};
    const any = guess.length || revealed;
    const order = [...document.querySelectorAll(QUESTION)].indexOf(el);
    keep(question, any ? { order, guess, unit, revealed, said: saidOf(state), ...told } : null);
  };
  const events = ["change:guess", "change:revealed"];
  for (const event of events) model.on(event, note);
  return () => {
    for (const event of events) model.off(event, note);
    lock.stop();
  };
}

export default {
  render({ model, el }) {
    const stop = shown.render({ model, el });
    const unseen = whenSeen(el);
    const forget = model.send ? () => {} : remember(model, el);
    return () => {
      unseen();
      forget();
      stop();
    };
  },
};
