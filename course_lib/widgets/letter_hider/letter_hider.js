import { plain } from "../kit/array.js";
import { button, fold, toggle } from "../kit/controls.js";
import { alongALine } from "../kit/keys.js";
import { headCards, letterBars, nearestChild, POINTED_AT } from "../kit/letters.js";
import { prefersStillness } from "../kit/play.js";
import { isStale, number, spelled, typingLine, visible } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { expectAt, sightOf, surestHoles } from "../maths/hidden_letters.js";
import { clamp, ranking, upTo } from "../maths/numerics.js";
import { partsOf, unpackTransformer } from "../maths/transformer.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { heading, numbers, ordinal, proofread, score, verdict } from "./words.js";

const STOP = "■ Stop";
const VOWELS = [..."aeiouAEIOU"];
const GUESSES = 3;
/** At first sight so many letters are hidden, one after another. */
const HOLES = 3;
/** In seconds: the show begins with the whole word; each hole, the growth of its bars, the end. */
const [WHOLE, HOLE, GROWTH, REST] = [0.9, 1.1, 0.6, 1.2];
/** No letter of the word is narrower, in pixels; then it goes on in another row. */
const NARROWEST = 27;

// What follows from the state: what the model sees of the word, what it expects at the place that
// is looked at, and what it would if it saw no letter.
function derive(now, ui) {
  const { alphabet, mask, facts, weights, word } = now;
  const problem = proofread(word, alphabet, mask, facts.tokens);
  if (problem) throw new Error(problem);
  const { letters, encoder } = ui.memo("model", [alphabet, facts, weights], () => ({
    letters: [...alphabet],
    encoder: unpackTransformer(facts, partsOf(weights)),
  }));
  const ids = [...word].map((letter) => letters.indexOf(letter));
  const given = now.hidden.filter((t) => t in ids);
  const place = now.place in ids ? now.place : (given[0] ?? 0);
  const showing = now.playing && now.seconds !== null;
  const shows = ui.memo("shows", [encoder, word, showing], () =>
    showing ? surestHoles(encoder, ids, mask, given, HOLES) : [],
  );
  const since = now.seconds - WHOLE;
  const holes = showing ? shows.slice(0, clamp(Math.ceil(since / HOLE), 0, HOLES)) : given;
  const at = showing ? (holes[holes.length - 1] ?? place) : place;
  const hidden = [...holes].sort((a, b) => a - b);
  const expected = (name, places) => {
    const seen = sightOf(ids, places, mask);
    return ui.memo(name, [encoder, mask, seen.join()], () => expectAt(encoder, seen, mask));
  };
  const guesses = expected("guesses", hidden);
  const sight = [...hidden, at];
  const here = (hidden.includes(at) ? guesses : expected("here", sight))[at];
  const blind = expected("blind", upTo(ids.length))[at];
  const open = upTo(letters.length).filter((id) => id !== mask);
  // What the model expects at a place stays covered until the reader has foretold it, once for each
  // sight: what is told of one hidden letter leaves the others to be guessed.
  const all = sightOf(ids, hidden, mask).join();
  const foretold = now.guess?.sight === all ? now.guess.ids : {};
  const waiting = now.guess_first && !showing ? hidden.filter((t) => !(t in foretold)) : [];
  const locked = waiting.includes(at);
  const looked = now.hovered ?? (now.option < 0 ? (locked ? open[0] : ids[at]) : now.option);
  if (!open.includes(looked)) {
    throw new Error(`option is ${looked}; expected the id of a letter, or -1.`);
  }
  const seen = sightOf(ids, sight, mask).map((id) => (id === mask ? "?" : visible(letters[id])));
  const shown = { letters, open, ids, places: hidden, at, seen, guesses, here, blind, looked };
  const begun = (holes.length - 1) * HOLE;
  const grown = showing ? (since - begun) / GROWTH : now.playing ? now.grown : 1;
  const most = { encoder, grown: clamp(grown, 0, 1), sight: all, showing };
  return { ...shown, ...most, foretold, waiting, locked };
}

// What the reader does ---------------------------------------------------------------------------

const look = (ui, place, more = {}) => ui.set({ ...more, place, option: -1, hovered: null });

const hide = (ui, hidden, place) => look(ui, place, { hidden: [...hidden].sort((a, b) => a - b) });

/** Hides the letter at a place, or shows it. */
function turn(ui, place) {
  const { places } = ui.now;
  const others = places.filter((t) => t !== place);
  hide(ui, places.includes(place) ? others : [...others, place], place);
}

/** A hidden letter is looked at first and shown only when it is touched again. */
function touch(ui, place) {
  const { places, at } = ui.now;
  if (places.includes(place) && place !== at) look(ui, place);
  else turn(ui, place);
}

function write(ui, word, hidden) {
  const count = [...word].length;
  look(ui, Math.min(ui.now.at, count - 1), { word, hidden: hidden.filter((t) => t < count) });
}

/** What the reader thinks that the model expects. */
function foretell(ui, id) {
  const { sight, foretold, at, here, tally } = ui.now;
  const hits = tally.hits + Number(ranking(here.probability)[0] === id);
  const guess = { sight, ids: { ...foretold, [at]: id } };
  ui.play(!prefersStillness());
  ui.set({ grown: 0, guess, tally: { made: tally.made + 1, hits }, option: id, hovered: null });
}

/** Another word: the letter is hidden of which the model is surest. */
function offer(ui, word) {
  const { encoder, letters, mask } = ui.now;
  const ids = [...word].map((letter) => letters.indexOf(letter));
  const [place] = surestHoles(encoder, ids, mask, [], 1);
  look(ui, place, { word, hidden: [place] });
}

/** Hides other letters than those that are asked for, and shows what the model expects there. */
function begin(ui) {
  ui.play(true);
  ui.set({ seconds: 0 });
}

function advance({ seconds: passed, grown }, ui, seconds) {
  if (passed !== null && passed + seconds < WHOLE + HOLES * HOLE + REST)
    ui.set({ seconds: passed + seconds });
  else if (passed === null && grown < 1) ui.set({ grown: grown + seconds / GROWTH });
  else end(ui);
}

function end(ui) {
  ui.play(false);
  ui.set({ seconds: null });
}

/** What a hand does ends the show, before it does anything else; the button does so by itself. */
const byHand = (ui) => ({
  handleEvent: ({ key, target }) =>
    ui.now.showing && !/Tab|Shift/.test(key) && target.textContent !== STOP && end(ui),
  capture: true,
});

const watch = ({ showing }, ui) =>
  showing ? button(STOP, () => end(ui)) : button("▶ Watch", () => begin(ui));

/** Hides all letters of one kind, and no other. */
function hideOnly(ui, isOfTheKind) {
  const { letters, ids, at } = ui.now;
  const places = upTo(ids.length).filter((t) => isOfTheKind(letters[ids[t]]));
  hide(ui, places, places.includes(at) ? at : (places[0] ?? at));
}

// The picture ------------------------------------------------------------------------------------

/** A letter of the word; of a hidden one the first guesses, and whether the first is true. */
function tile({ letters, open, ids, places, at, guesses, waiting }, ui, t) {
  const [name, isHidden] = [visible(letters[ids[t]]), places.includes(t)];
  const isKnown = isHidden && !waiting.includes(t);
  const order = isKnown ? ranking(guesses[t].probability) : [];
  const share = (id) => guesses[t].probability[id];
  const best = order.slice(0, Math.min(GUESSES, open.length));
  const rank = order.indexOf(ids[t]) + 1;
  const guess = (id) => html`<span class=${id === ids[t] ? "cw-h-true" : ""}
    style="--share: ${share(id).toFixed(4)}"><i>${visible(letters[id])}</i
    ><small>${number(share(id))}</small></span>`;
  const listed = best.map((id) => `${visible(letters[id])} ${number(share(id))}`).join(", ");
  const told = `hidden; the model guesses ${listed}; the true letter is its ${ordinal(rank)} guess`;
  const said = isKnown ? told : isHidden ? "hidden; its guess waits for yours" : "shown";
  return html`<div role="option" id="${ui.id}-place-${t}" aria-selected=${isHidden}
    class=${`${isHidden ? "cw-h-hidden" : ""}${t === at ? " cw-h-here" : ""}`}
    aria-label="letter ${t + 1}, ${name}, ${said}"><b>${isHidden ? "?" : name}</b>${best.map(guess)}
    <em class=${rank === 1 ? "cw-h-right" : ""}
      >${isKnown ? `${rank === 1 ? "✓" : "✗"} ${ordinal(rank)}` : ""}</em></div>`;
}

function wordInTiles(now, ui) {
  const keys = alongALine(
    (move) => look(ui, clamp(ui.now.at + move, 0, ui.now.ids.length - 1)),
    () => turn(ui, ui.now.at),
    1,
  );
  const touched = (event) => touch(ui, nearestChild(event));
  const rows = Math.ceil((now.ids.length * NARROWEST) / ui.width("word", 320));
  const each = Math.ceil(now.ids.length / rows);
  return html`<div class="cw-h-word" style="--cw-each: ${each}"
    role="listbox" tabindex="0" aria-multiselectable="true"
    data-covered=${now.waiting.length > 0} aria-label="Letters; the selected are hidden"
    aria-orientation="horizontal" aria-activedescendant="${ui.id}-place-${now.at}"
    @click=${touched} @keydown=${keys}>${now.ids.map((_, t) => tile(now, ui, t))}</div>`;
}

function hiding(now, ui) {
  const isVowel = (letter) => VOWELS.includes(letter);
  const vowels = now.letters.some(isVowel)
    ? button("Hide vowels", () => hideOnly(ui, isVowel))
    : nothing;
  return fold(
    "More: hide letters, show heads",
    html`<div class="cw-row cw-h-buttons">
      ${vowels} ${button("Hide all", () => hideOnly(ui, () => true))}
      ${button("Show all", () => hideOnly(ui, () => false))}
      ${toggle(ui, "guess_first", { label: "I guess first" })}
      ${toggle(ui, "heads", { label: "Show the heads" })}
    </div>`,
  );
}

/** Says above a bar that the reader has foretold it. */
function yourMark({ foretold, at, open }, grid) {
  if (!(at in foretold)) return nothing;
  const { x, end, y, room } = grid.spot(open.indexOf(foretold[at]));
  return svg`<g class="cw-h-you"><text text-anchor="middle" x=${(x + end) / 2}
    y=${Math.max(11, y - room - 3)}>you</text></g>`;
}

function bars(now, ui) {
  const { letters, open, ids, at, here, blind, locked, looked, grown } = now;
  const choose = (option) => ui.set({ option, hovered: null });
  const chart = {
    title: locked ? "Letter that you think the model expects" : "Letter whose numbers are shown",
    ...{ names: letters.map(visible), order: open, locked, grown },
    keyboard: true,
    ...{ own: blind.probability, probability: here.probability, chosen: locked ? null : ids[at] },
    spoken: locked ? visible(letters[looked]) : numbers(now),
    take: locked ? (id) => foretell(ui, id) : choose,
    moveTo: choose,
    marks: (grid) => yourMark(now, grid),
  };
  return html`<p class="cw-title">${heading(now)}</p>
    ${letterBars(ui, chart)}
    <div class="cw-h-told">
      <p class="cw-h-verdict">${locked ? "Press a letter." : verdict(now)}</p>
      <p class="cw-h-score">${score(now)}</p>
      ${locked ? nothing : html`<p class="cw-l-readout">${numbers(now)}.</p>`}
    </div>`;
}

function view(now, ui) {
  const { alphabet, mask, facts, letters, ids, hidden, heads, words } = now;
  const typing = typingLine(ui, "word", {
    label: "Type a word",
    problemOf: (word) => proofread(word, alphabet, mask, facts.tokens),
    alphabet,
    still: spelled(ids.map((id) => letters[id])),
    accept: (word) => write(ui, word, hidden),
  });
  return html`<div @pointerdown=${byHand(ui)} @keydown=${byHand(ui)}>${typing}
    <div class="cw-row cw-h-buttons">
      ${watch(now, ui)} ${words.map((word) => button(word, () => offer(ui, word)))}
    </div>
    <div class=${isStale(ui, "word") ? "cw-stale" : ""}>
      <div data-measure="word">${wordInTiles(now, ui)}</div>
      ${bars(now, ui)}
      ${hiding(now, ui)}
      ${heads ? headCards(ui, "From that place, each head (L: layer) looks at", now.seen, now.here.attention) : nothing}
    </div></div>`;
}

const HOW = "Click a letter to hide or show it. Bars: what it expects; outlined: with all hidden.";

export default widget({
  label: "Letter hider: what an encoder expects in the gaps",
  data: { facts: plain, weights: plain, alphabet: plain, mask: plain, words: plain },
  controls: {
    word: plain,
    hidden: plain,
    place: plain,
    option: plain,
    guess_first: plain,
    heads: plain,
  },
  local: {
    ...POINTED_AT,
    typed: null,
    guess: null,
    tally: { made: 0, hits: 0 },
    seconds: null,
    grown: 1,
  },
  guessed: ["guess", "tally"],
  advance,
  whole: ({ word, hidden, place }) => Math.max(place, ...hidden) < [...word].length,
  along: ({ word }) => (word === undefined ? {} : { hidden: [], place: -1, option: -1 }),
  atSight: begin,
  derive,
  view,
  how: () => HOW,
  words: (now) =>
    now.locked ? heading(now) : `${heading(now)} ${verdict(now)} ${numbers(now)}. ${score(now)}`,
  began: ({ word, hidden }) => `${spelled([...word])}, ${hidden.length || "none"} hidden`,
});
