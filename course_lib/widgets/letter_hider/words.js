import { three } from "../kit/letters.js";
import { number, unknownLetters, visible } from "../kit/text.js";
import { unsureness } from "../maths/hidden_letters.js";
import { ranking } from "../maths/numerics.js";

/** 1st, 2nd, 3rd, 4th, … */
export function ordinal(n) {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
}

/** What keeps the model from reading a word, in words; nothing if it can. */
export function proofread(word, alphabet, mask, tokens) {
  const [typed, known] = [[...word], [...alphabet]];
  const [hider] = known.splice(mask, 1);
  if (!typed.length) return "Type at least one letter.";
  if (typed.includes(hider)) {
    return `${visible(hider)} stands for a hidden letter: type the true one, then click it.`;
  }
  const room = `That is ${typed.length} letters; the model has room for ${tokens}.`;
  return unknownLetters(typed, known) || (typed.length > tokens ? room : "");
}

export function heading({ letters, ids, places, at, seen, locked }) {
  const sight = `${seen.join("")}. As letter ${at + 1} it`;
  if (locked) return `The model sees ${seen.join("")}. What does it expect as letter ${at + 1}?`;
  return places.includes(at)
    ? `The model sees ${sight} expects:`
    : `Were ${visible(letters[ids[at]])} hidden, it would see ${sight} would expect:`;
}

export function numbers({ letters, open, ids, at, here, blind, looked }) {
  const name = visible(letters[looked]) + (looked === ids[at] ? ", the true letter" : "");
  const rank = ranking(here.probability).indexOf(looked) + 1;
  return (
    `${name}: ${three(here.probability[looked])}, guess ${rank} of ${open.length}; ` +
    `with every letter hidden ${three(blind.probability[looked])}`
  );
}

/** What the reader guessed at the place that is shown, and how often that was the first guess. */
export function verdict({ letters, at, here, foretold, tally, showing }) {
  if (showing) return "It hides the letters it is surest of; then comes your turn.";
  if (!(at in foretold)) return "";
  const order = ranking(here.probability);
  const [name, first] = [foretold[at], order[0]].map((id) => visible(letters[id]));
  const rank = order.indexOf(foretold[at]) + 1;
  const better = rank === 1 ? "" : ` Its first is ${first}.`;
  const yours = `You: ${name}, its ${ordinal(rank)} guess.${better}`;
  return `${yours} So far you foresaw ${tally.hits} of ${tally.made}.`;
}

export function score({ ids, places, guesses, waiting }) {
  if (!places.length) return "No letter is hidden. Click one.";
  if (waiting.length) {
    const which = places.length > waiting.length ? ` for letter ${waiting[0] + 1}` : "";
    return `Its guess${which} waits for yours.`;
  }
  const expected = places.map((t) => guesses[t].probability);
  const right = expected.filter((p, i) => ranking(p)[0] === ids[places[i]]).length;
  return (
    `${right} of ${places.length} first guesses right. It is as unsure as ` +
    `somebody who chooses among ${number(unsureness(expected), 1)} equally likely letters.`
  );
}
