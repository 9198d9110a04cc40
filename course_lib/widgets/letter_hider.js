import { plain } from "./js/array.js";
import { button } from "./js/controls.js";
import { alongALine } from "./js/keys.js";
import { heading, numbers, ordinal, proofread, score } from "./js/letter_hider/words.js";
import { headCards, letterBars, nearestChild, POINTED_AT } from "./js/letters.js";
import { expectAt, sightOf, unsureness } from "./js/maths/hidden_letters.js";
import { clamp, ranking, upTo } from "./js/maths/numerics.js";
import { unpackTransformer } from "./js/maths/transformer.js";
import { isStale, number, spelled, typingLine, visible } from "./js/text.js";
import { html, nothing } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const VOWELS = [..."aeiouAEIOU"];
const GUESSES = 3;

// What follows from the state: what the model sees of the word, what it expects at the place that
// is looked at, and what it would if it saw no letter.
function derive(now, ui) {
  const { alphabet, mask, facts, weights, word } = now;
  const problem = proofread(word, alphabet, mask, facts.tokens);
  if (problem) throw new Error(problem);
  const { letters, encoder } = ui.memo("model", [alphabet, facts, weights], () => ({
    letters: [...alphabet],
    encoder: unpackTransformer(facts, weights),
  }));
  const ids = [...word].map((letter) => letters.indexOf(letter));
  const hidden = now.hidden.filter((t) => t in ids);
  const at = now.place in ids ? now.place : (hidden[0] ?? 0);
  const expected = (name, places) => {
    const seen = sightOf(ids, places, mask);
    return ui.memo(name, [encoder, mask, seen.join()], () => expectAt(encoder, seen, mask));
  };
  const guesses = expected("guesses", hidden);
  const sight = [...hidden, at];
  const here = (hidden.includes(at) ? guesses : expected("here", sight))[at];
  const blind = expected("blind", upTo(ids.length))[at];
  const open = upTo(letters.length).filter((id) => id !== mask);
  const looked = now.hovered ?? (now.option < 0 ? ids[at] : now.option);
  if (!open.includes(looked)) {
    throw new Error(`option is ${looked}; expected the id of a letter, or -1.`);
  }
  const seen = sightOf(ids, sight, mask).map((id) => (id === mask ? "?" : visible(letters[id])));
  return { letters, open, ids, places: hidden, at, seen, guesses, here, blind, looked };
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

/** Hides all letters of one kind, and no other. */
function hideOnly(ui, isOfTheKind) {
  const { letters, ids, at } = ui.now;
  const places = upTo(ids.length).filter((t) => isOfTheKind(letters[ids[t]]));
  hide(ui, places, places.includes(at) ? at : (places[0] ?? at));
}

// The picture ------------------------------------------------------------------------------------

/** A letter of the word; of a hidden one the first guesses, and whether the first is true. */
function tile({ letters, open, ids, places, at, guesses }, ui, t) {
  const [name, isHidden] = [visible(letters[ids[t]]), places.includes(t)];
  const order = isHidden ? ranking(guesses[t].probability) : [];
  const share = (id) => guesses[t].probability[id];
  const best = order.slice(0, Math.min(GUESSES, open.length));
  const rank = order.indexOf(ids[t]) + 1;
  const guess = (id) => html`<span class=${id === ids[t] ? "cw-h-true" : ""}
    style="--share: ${share(id).toFixed(4)}"><i>${visible(letters[id])}</i
    ><small>${number(share(id))}</small></span>`;
  const listed = best.map((id) => `${visible(letters[id])} ${number(share(id))}`).join(", ");
  const said = isHidden
    ? `hidden; the model guesses ${listed}; the true letter is its ${ordinal(rank)} guess`
    : "shown";
  return html`<div role="option" id="${ui.id}-place-${t}" aria-selected=${isHidden}
    class=${`${isHidden ? "cw-h-hidden" : ""}${t === at ? " cw-h-here" : ""}`}
    aria-label="letter ${t + 1}, ${name}, ${said}"><b>${isHidden ? "?" : name}</b>${best.map(guess)}
    <em class=${rank === 1 ? "cw-h-right" : ""}
      >${isHidden ? `${rank === 1 ? "✓" : "✗"} ${ordinal(rank)}` : ""}</em></div>`;
}

function wordInTiles(now, ui) {
  const keys = alongALine(
    (move) => look(ui, clamp(ui.now.at + move, 0, ui.now.ids.length - 1)),
    () => turn(ui, ui.now.at),
    1,
  );
  const touched = (event) => touch(ui, nearestChild(event));
  return html`<div class="cw-h-word" role="listbox" tabindex="0" aria-multiselectable="true"
    aria-label="Letters of the word, of which the selected ones are hidden"
    aria-orientation="horizontal" aria-activedescendant="${ui.id}-place-${now.at}"
    @click=${touched} @keydown=${keys}>${now.ids.map((_, t) => tile(now, ui, t))}</div>`;
}

function examples({ words }, ui) {
  if (!words.length) return nothing;
  return html`<div class="cw-h-buttons"><span>or try</span>
    ${words.map((word) => button(word, () => write(ui, word, [])))}</div>`;
}

function hiding(now, ui) {
  const isVowel = (letter) => VOWELS.includes(letter);
  const vowels = now.letters.some(isVowel)
    ? button("Hide vowels", () => hideOnly(ui, isVowel))
    : nothing;
  return html`<div class="cw-h-buttons">
      ${vowels} ${button("Hide all", () => hideOnly(ui, () => true))}
      ${button("Show all", () => hideOnly(ui, () => false))}
      <p class="cw-hint">${score(now)}</p>
    </div>
    <p class="cw-hint">Click a letter to hide it, and again to show it. ✓ or ✗: whether the first
      guess is true, and which guess the true letter is.</p>`;
}

function bars(now, ui) {
  const { letters, open, ids, at, here, blind } = now;
  const choose = (option) => ui.set({ option, hovered: null });
  return html`<p class="cw-l-heading">${heading(now)}</p>
    ${letterBars(ui, {
      title: "Letter whose numbers are shown",
      ...{ names: letters.map(visible), order: open, spoken: numbers(now) },
      ...{ own: blind.probability, probability: here.probability, chosen: ids[at] },
      ...{ take: choose, moveTo: choose },
    })}
    <p class="cw-l-readout">${numbers(now)}.</p>
    <p class="cw-hint">As unsure as between ${number(unsureness([here.probability]), 1)} equally
      likely letters.</p>
    <p class="cw-hint">Filled: what the model expects. Outlined: what it expects when every letter
      is hidden.</p>`;
}

function view(now, ui) {
  const { alphabet, mask, facts, letters, ids, hidden } = now;
  const typing = typingLine(ui, "word", {
    label: "Type a word",
    problemOf: (word) => proofread(word, alphabet, mask, facts.tokens),
    still: spelled(ids.map((id) => letters[id])),
    accept: (word) => write(ui, word, hidden),
  });
  return html`${typing} ${examples(now, ui)}
    <div class=${isStale(ui, "word") ? "cw-stale" : ""}>
      ${wordInTiles(now, ui)} ${hiding(now, ui)}
      <div class="cw-columns cw-l-columns">
        <div>${bars(now, ui)}</div>
        <div>${headCards(ui, "Where each head looks from there", now.seen, now.here.attention)}</div>
      </div>
    </div>`;
}

export default widget({
  label: "Letter hider: what a trained encoder expects in the gaps of a word",
  name: "cw-letters",
  data: { facts: plain, weights: plain, alphabet: plain, mask: plain, words: plain },
  controls: { word: plain, hidden: plain, place: plain, option: plain },
  local: { ...POINTED_AT, typed: null },
  whole: ({ word, hidden, place }) => Math.max(place, ...hidden) < [...word].length,
  along: ({ word }) => (word === undefined ? {} : { hidden: [], place: -1, option: -1 }),
  derive,
  view,
  words: (now) => `${heading(now)} ${numbers(now)}. ${score(now)}`,
  began: ({ word, hidden }) => `${spelled([...word])}, ${hidden.length || "none"} hidden`,
});
