import { plain } from "../kit/array.js";
import { button, choices, fold, slider } from "../kit/controls.js";
import { alongALine } from "../kit/keys.js";
import { headCards, letterBars, nearestChild, POINTED_AT, three } from "../kit/letters.js";
import { painted } from "../kit/painted.js";
import { every, playButton, prefersStillness } from "../kit/play.js";
import { isStale, number, spelled, typingLine, visible } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { chooseAmong, drawFrom, textReader, uniform } from "../maths/generation.js";
import { clamp } from "../maths/numerics.js";
import { partsOf, unpackTransformer } from "../maths/transformer.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { cuts } from "./cuts.js";
import {
  endsOf,
  flyingLetter,
  needleAt,
  rests,
  SECONDS_A_LETTER,
  STRIP_HEIGHT,
  strip,
} from "./draw.js";
import {
  COLDEST,
  check,
  cutInWords,
  HOTTEST,
  heading,
  LEAST_SHARE,
  numbers,
  odds,
  others,
  proofread,
  remark,
  shares,
  signs,
  spell,
} from "./words.js";

/** So many letters have a bar; a row of the others would be empty. */
const MOST_BARS = 24;
/** And so many on a telephone, where they stand in one row. */
const BARS_IF_NARROW = 16;
/** In a frame narrower than this, in pixels, what the heads do is folded. */
const NARROW = 480;
/** The height of the air that a letter can fly through, in pixels. */
const AIR = 400;

// What follows from the state: the text, which letter of it is looked at, and what the model knew
// before that letter.
function derive(now, ui) {
  check(now);
  const { alphabet, facts, weights, start, stop, prompt, temperature, top_k, top_p } = now;
  const { letters, read } = ui.memo("model", [alphabet, facts, weights], () => ({
    letters: [...alphabet],
    read: textReader(unpackTransformer(facts, partsOf(weights))),
  }));
  const lead = start >= 0 ? 1 : 0;
  const text = [...prompt, ...now.written].map((letter) => letters.indexOf(letter));
  const finished = stop >= 0 && text.at(-1) === stop;
  const full = text.length > facts.tokens - lead;
  const last = finished || full ? text.length - 1 : text.length;
  const at = now.place < 0 ? last : clamp(now.place, 1 - lead, last);
  const all = lead ? [start, ...text] : text;
  const results = read(all.slice(0, last + lead));
  const amongst = (place) =>
    chooseAmong(results[place + lead - 1].logits, temperature, top_k, top_p);
  const choice = amongst(at);
  const chosen = at < text.length ? text[at] : null;
  const kept = now.option >= 0 ? now.option : (chosen ?? choice.order[0]);
  const looked = now.hovered ?? kept;
  const { own, attention } = results[at + lead - 1];
  const shown = shownLetters(choice.order, now.order, [chosen, looked], MOST_BARS);
  // The letter that the needle will rest on: it is the next number of the seed.
  const u = uniform(now.seed, now.draws);
  const coming = now.playing && at === text.length ? drawFrom(choice.probability, u) : null;
  const following = { letters, lead, begun: [...prompt].length, text, finished, full, last, at };
  return {
    ...following,
    all,
    results,
    amongst,
    choice,
    chosen,
    looked,
    own,
    attention,
    ...{ shown, u, coming },
  };
}

/** The most probable letters and those that are spoken of, by rank or by id. */
function shownLetters(ranked, order, needed, most) {
  const best = ranked.slice(0, most);
  const shown = ranked.filter((id) => best.includes(id) || needed.includes(id));
  return order === "probability" ? shown : shown.toSorted((a, b) => a - b);
}

// What the reader does, and the writing ----------------------------------------------------------

/** Another text; the one before it can be had again. */
function rewrite(ui, text) {
  const { prompt, written, past } = ui.now;
  const next = { prompt, written, ...text };
  const same = next.prompt === prompt && next.written === written;
  const before = same ? past : [...past, { prompt, written }];
  ui.set({ ...next, place: -1, option: -1, hovered: null, past: before });
}

const hasEnded = ({ last, text }) => last < text.length;

/** Writes a letter, or begins anew where a text has ended. */
function writeOne(ui) {
  if (hasEnded(ui.now)) rewrite(ui, { written: "" });
  const { amongst, last, seed, draws, written, letters } = ui.now;
  const id = drawFrom(amongst(last).probability, uniform(seed, draws));
  rewrite(ui, { written: written + letters[id], draws: draws + 1 });
}

/** Lets the needle go: for one letter, or for all up to the end. */
function begin(ui, single = false) {
  if (hasEnded(ui.now)) rewrite(ui, { written: "" });
  ui.set({ single, elapsed: 0, place: -1, option: -1 });
  if (!prefersStillness()) return;
  do writeOne(ui);
  while (!single && !hasEnded(ui.now));
}

/** Begins at once; for readers who asked for less motion nothing is left to play. */
function write(ui, single = false) {
  begin(ui, single);
  ui.play(!prefersStillness());
}

function advance({ elapsed, single }, ui, seconds) {
  const next = () => {
    writeOne(ui);
    if (single || hasEnded(ui.now)) ui.play(false);
  };
  if (hasEnded(ui.now) || isStale(ui, "prompt")) ui.play(false);
  else ui.set({ elapsed: every(SECONDS_A_LETTER, elapsed, seconds, next) });
}

function undo(ui) {
  const { past } = ui.now;
  ui.set({ ...past.at(-1), place: -1, option: -1, past: past.slice(0, -1) });
}

/** The reader's own choice, in place of the letter that is looked at and of all after it. */
function take(ui, id) {
  const { letters, text, begun, at } = ui.now;
  const kept = [...text.slice(0, at), id].map((i) => letters[i]);
  const end = Math.min(begun, at);
  rewrite(ui, { prompt: kept.slice(0, end).join(""), written: kept.slice(end).join("") });
}

function look(ui, place) {
  const { lead, last } = ui.now;
  ui.set({ place: place >= last ? -1 : Math.max(1 - lead, place), option: -1 });
}

/** What a hand does stops the writing. */
const byHand =
  (ui, deed) =>
  (...given) => {
    ui.play(false);
    deed(ui, ...given);
  };

// The picture ------------------------------------------------------------------------------------

/** The text in tiles, each tinted by how probable the model found its letter. */
function textStrip(now, ui) {
  const { letters, all, text, lead, begun, last, at, chosen, own } = now;
  const known = shares(now);
  const kind = (i) => (i < lead ? "mark" : i < lead + begun ? "typed" : "written");
  const here = (i) => (i === at + lead ? " cw-t-here" : "");
  const tile = (id, i) => {
    const tint = i ? `--share: ${Math.sqrt(known[i]).toFixed(4)}` : nothing;
    const name = visible(letters[id]);
    return html`<span class=${`cw-t-${kind(i)}${here(i)}`} style=${tint}>${name}</span>`;
  };
  const coming = hasEnded(now)
    ? nothing
    : html`<span class=${`cw-t-coming${here(all.length)}`}>?</span>`;
  const said =
    chosen === null
      ? `letter ${at + 1}, still to come`
      : `letter ${at + 1} of ${text.length}, ${visible(letters[chosen])}, ` +
        `which the model gave probability ${three(own[chosen])}`;
  const click = (event) => byHand(ui, look)(nearestChild(event) - lead);
  const keys = alongALine((move) => byHand(ui, look)(ui.now.at + move));
  return html`<div class="cw-t-line">
    <div class="cw-t-text" role="slider" tabindex="0" aria-label="Letter whose choice is shown"
      aria-valuemin=${2 - lead} aria-valuemax=${last + 1} aria-valuenow=${at + 1}
      aria-valuetext=${said} style="--count: ${all.length + 1}" @click=${click} @keydown=${keys}>${all.map(tile)}${coming}</div>
  </div>`;
}

function legend(now) {
  const said = remark(now);
  const tints = html`<p class="cw-ramp" aria-hidden="true">surprising <i></i> expected</p>`;
  return html`<div class="cw-row cw-t-legend">
    ${said ? html`<p class="cw-hint cw-t-remark">${said}</p>` : tints}
    <p class="cw-hint" data-reading="odds">${odds(now)}</p>
  </div>`;
}

/** Ready-made beginnings, each a press away from a text. */
function beginnings({ beginning_names: names, beginnings: prompts, prompt }, ui) {
  const press = (text) =>
    byHand(ui, () => {
      rewrite(ui, { prompt: text, written: "" });
      write(ui);
    });
  return names.map(
    (name, i) => html`<button type="button" class="cw-button"
    aria-pressed=${String(prompt === prompts[i])} @click=${press(prompts[i])}>${name}</button>`,
  );
}

function buttons(now, ui) {
  const clear = byHand(ui, () => rewrite(ui, { written: "" }));
  return html`<div class="cw-row cw-t-buttons">
      ${playButton(ui, { start: "Write", begin: () => begin(ui) })}
      ${button(
        "One letter",
        byHand(ui, () => write(ui, true)),
      )}
      ${button("Clear", clear, { disabled: !now.written })}
      ${button("Undo", byHand(ui, undo), { disabled: !now.past.length })}
    </div>`;
}

/** The bars end to end, and the needle that falls on them while a text is written. */
function draw(now, ui) {
  const { choice, letters, coming, u, elapsed } = now;
  const width = ui.width("strip", 640);
  const ends = ui.memo("ends", [choice], () => endsOf(choice.probability));
  const lit = litOf(now);
  const needle = coming === null ? null : needleAt(u, elapsed);
  return html`<svg class="cw-t-strip" data-measure="strip" viewBox="0 0 ${width} ${STRIP_HEIGHT}"
    aria-hidden="true">${strip({ ends, names: letters.map(visible), lit, needle }, width)}</svg>`;
}

/** What lies upon strip and text: the letter in its flight. */
function air({ coming, letters, elapsed }, ui) {
  const paint = (context) =>
    coming !== null &&
    flyingLetter(context, {
      ...{ name: visible(letters[coming]), seconds: elapsed, ink: ui.theme.ink("warm") },
    });
  const canvas = { width: ui.width("strip", 640), height: AIR, inputs: [coming, elapsed], paint };
  return html`<canvas class="cw-air" aria-hidden="true" ?hidden=${coming === null}
    ${painted(ui, canvas)}></canvas>`;
}

function sliders({ letters }, ui) {
  const count = letters.length;
  const temperature = { label: "Temperature", min: COLDEST, max: HOTTEST, logarithmic: true };
  const topK = { label: "Top-k", min: 1, max: count };
  const topP = { label: "Top-p", min: LEAST_SHARE, max: 1, step: 0.05 };
  return html`<div class="cw-controls">
    ${slider(ui, "temperature", { ...temperature, format: number })}
    ${slider(ui, "top_k", { ...topK, format: (k) => (k < count ? String(k) : "all") })}
    ${slider(ui, "top_p", { ...topP, format: (p) => (p < 1 ? number(p) : "all") })}
  </div>`;
}

const isNarrow = (ui) => ui.width("strip", 640) < NARROW;

/** The letter on which the needle rests, or else the one that was chosen here. */
const litOf = ({ coming, elapsed, chosen }) =>
  coming !== null && rests(elapsed) ? coming : chosen;

function bars(given, ui) {
  const { choice, order, chosen, looked } = given;
  const now = isNarrow(ui)
    ? { ...given, shown: shownLetters(choice.order, order, [chosen, looked], BARS_IF_NARROW) }
    : given;
  const { letters, own, shown } = now;
  const byRank = order === "probability";
  /** @type {[string, string][]} */
  const options = [
    ["probability", "probability"],
    ["alphabet", "alphabet"],
  ];
  return html`<p class="cw-title">${heading(now)}</p>
    ${choices(ui, "order", { label: "Letters by", options })}
    ${letterBars(ui, {
      title: "Letter to look at; Enter writes it",
      names: letters.map(visible),
      order: shown,
      highest: 92,
      ...{ own, probability: choice.probability, byRank, spoken: numbers(now) },
      chosen: litOf(now),
      marks: (grid) => (byRank ? cuts(grid, choice, shown.length, letters.length) : nothing),
      take: byHand(ui, take),
      moveTo: byHand(ui, (_, option) => ui.set({ option, hovered: null })),
    })}
    <p class="cw-l-readout">${numbers(now)}.</p>
    <p class="cw-hint">${signs(now)}${cutInWords(now)} ${others(now)}Outline: the model.
      Fill: the draw.</p>`;
}

/** What the heads looked at before the letter in question. */
function heads({ letters, all, at, lead, attention }, ui) {
  const [title, read] = ["Where each head looked (L: layer)", all.slice(0, at + lead)];
  const names = read.map((id) => visible(letters[id]));
  const cards = (heading) => headCards(ui, heading, names, attention);
  return isNarrow(ui) ? fold(title, cards("")) : cards(title);
}

function view(now, ui) {
  const { alphabet, start, stop, facts, text } = now;
  const typing = typingLine(ui, "prompt", {
    label: "Type a beginning",
    alphabet,
    problemOf: (typed) => proofread(typed, alphabet, start, stop, facts.tokens),
    still: text.length ? spell(now, text) : "the start",
    accept: byHand(ui, (_, prompt) => rewrite(ui, { prompt, written: "" })),
  });
  return html`<div class="cw-row cw-t-beginnings">${beginnings(now, ui)}</div>
    <div class="cw-row cw-t-top">${typing}${buttons(now, ui)}</div>
    <div class=${isStale(ui, "prompt") ? "cw-stale" : ""}>
      <div style="position: relative; margin: 0 0 0.4rem">
        ${textStrip(now, ui)}${legend(now)}${draw(now, ui)}${air(now, ui)}</div>
      ${sliders(now, ui)}
      <div class="cw-columns">
        <div>${bars(now, ui)}</div>
        <div>${heads(now, ui)}</div>
      </div>
    </div>`;
}

export default widget({
  label: "Tiny GPT: a language model that runs in this page",
  name: "cw-gpt",
  data: {
    facts: plain,
    weights: plain,
    alphabet: plain,
    start: plain,
    stop: plain,
    seed: plain,
    beginnings: plain,
    beginning_names: plain,
  },
  controls: {
    ...{ prompt: plain, written: plain, temperature: plain, top_k: plain, top_p: plain },
    ...{ draws: plain, place: plain, option: plain, order: plain },
  },
  local: { ...POINTED_AT, typed: null, past: [], elapsed: 0, single: false },
  along: ({ prompt }) => (prompt === undefined ? {} : { written: "", place: -1, option: -1 }),
  atSight: (ui) => ui.play(true),
  derive,
  view,
  advance,
  words: (now) => `${heading(now)} ${numbers(now)}. ${remark(now)}`,
  began: ({ prompt, written, temperature }) =>
    `${spelled([...prompt, ...written]) || "the start"} at temperature ${number(temperature)}`,
});
