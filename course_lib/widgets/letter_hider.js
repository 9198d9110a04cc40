import { announcer, button } from "./js/old/controls.js";
import { html, number, say, setChanged, uniqueId, widgetRoot } from "./js/old/dom.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { clamped, firstNumbers, headCards, letterBars, three, typingLine, unknownLetters, visible } from "./js/old/letters.js";
import { softmax } from "./js/maths/numerics.js";
import { emptyMemory, throughBlocks, unpackTransformer } from "./js/maths/transformer.js";

/** The softmax of the logits without that of the mask, which gets nothing. */
export function withoutMask(logits, mask) {
  return softmax(logits.map((logit, id) => (id === mask ? -Infinity : logit)));
}

/** Reads words of which the model sees what it sees: at each place what it expects, and where it looked. */
function wordReader(encoder, mask) {
  const known = new Map();
  return (sight) => {
    const key = sight.join();
    if (known.size > 50) known.clear();
    if (!known.has(key)) {
      const read = throughBlocks(encoder, emptyMemory(encoder), sight);
      known.set(key, read.map(({ logits, attention }) => ({ attention, probability: withoutMask(logits, mask) })));
    }
    return known.get(key);
  };
}

/** What the model sees of a word, given as ids, of which some places are hidden. */
export function sightOf(ids, hidden, mask) {
  return ids.map((id, t) => (hidden.includes(t) ? mask : id));
}

/** What the model expects at each place, and where it looks from there, if that place is hidden too. */
function expectEach(read, ids, hidden, mask) {
  return ids.map((_, t) => read(sightOf(ids, [...hidden, t], mask))[t]);
}

/** `expectEach` of the model that travelled, for a word given as ids. */
export function expectLetters(facts, packed, ids, hidden, mask) {
  return expectEach(wordReader(unpackTransformer(facts, packed), mask), ids, hidden, mask);
}

/** The ids by probability, the most probable first; of equals, the earlier first. */
export function ranking(probability) {
  return probability.map((_, id) => id).sort((a, b) => probability[b] - probability[a] || a - b);
}

/** As unsure as between how many equally likely letters: the exponential of the mean entropy. */
export function unsureness(distributions) {
  const entropy = (p) => p.reduce((sum, share) => sum - (share > 0 ? share * Math.log(share) : 0), 0);
  return Math.exp(distributions.reduce((sum, p) => sum + entropy(p), 0) / distributions.length);
}

/** 1st, 2nd, 3rd, 4th, … */
export function ordinal(n) {
  const teen = n % 100 > 10 && n % 100 < 14;
  return `${n}${teen ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
}

/** What keeps the model from reading a word, in words; nothing if it can. */
export function proofread(word, alphabet, mask, tokens) {
  const typed = [...word];
  const known = [...alphabet].filter((_, id) => id !== mask);
  if (!typed.length) return "Type at least one letter.";
  if (typed.includes([...alphabet][mask])) return `${visible([...alphabet][mask])} stands for a hidden letter: type the true one, then click it.`;
  const strange = unknownLetters(typed, known);
  if (strange) return strange;
  return typed.length > tokens ? `That is ${typed.length} letters; the model has room for ${tokens}.` : "";
}

const VOWELS = [..."aeiouAEIOU"];
const GUESSES = 3;
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/** The word in tiles; below a hidden one the model's first guesses, and whether the first is true. */
function wordTiles(handlers) {
  const list = html("div", { class: "cw-h-word", role: "listbox", tabindex: 0, "aria-label": "Letters of the word, of which the selected ones are hidden", "aria-multiselectable": "true", "aria-orientation": "horizontal" });
  const tiles = [];

  function tile() {
    const letter = html("b");
    const guesses = firstNumbers(GUESSES).map(() => html("span", {}, html("i"), html("small")));
    const verdict = html("em");
    return { letter, guesses, verdict, option: html("div", { role: "option", id: uniqueId("cw-place") }, letter, ...guesses, verdict) };
  }
  function draw(places, here) {
    while (tiles.length < places.length) tiles.push(tile());
    while (list.children.length > places.length) list.lastChild.remove();
    list.append(...tiles.slice(list.children.length, places.length).map(({ option }) => option));
    places.forEach(({ name, hidden, guesses, verdict, right, spoken }, t) => {
      const { letter, guesses: lines, verdict: end, option } = tiles[t];
      say(letter, hidden ? "?" : name);
      lines.forEach((line, i) => {
        const guess = guesses[i];
        say(line.firstChild, guess ? guess.name : "");
        say(line.lastChild, guess ? number(guess.share) : "");
        setChanged(line, { style: `--share: ${guess ? guess.share.toFixed(4) : 0}`, class: guess?.true ? "cw-h-true" : "" });
      });
      say(end, verdict);
      setChanged(end, { class: right ? "cw-h-right" : "" });
      setChanged(option, { class: `${hidden ? "cw-h-hidden" : ""}${t === here ? " cw-h-here" : ""}`, "aria-selected": hidden, "aria-label": spoken });
    });
    setChanged(list, { "aria-activedescendant": tiles[here].option.id });
  }
  list.addEventListener("click", ({ clientX, clientY }) => {
    // A tap between two letters means the nearer one.
    const away = [...list.children].map((option) => {
      const { left, right, top, bottom } = option.getBoundingClientRect();
      return Math.hypot(clientX - clamped(clientX, left, right), clientY - clamped(clientY, top, bottom));
    });
    handlers.touch(away.indexOf(Math.min(...away)));
  });
  list.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") handlers.turn();
    else if (STEPS[event.key]) handlers.moveBy(STEPS[event.key]);
    else return;
    event.preventDefault();
  });
  return { list, draw };
}

function render({ model, el }) {
  const letters = [...model.get("alphabet")];
  const [facts, mask] = ["facts", "mask"].map((name) => model.get(name));
  const open = firstNumbers(letters.length).filter((id) => id !== mask);
  const names = letters.map(visible);
  const read = wordReader(unpackTransformer(facts, model.get("weights")), mask);
  let hovered = null;

  function commit(changes) {
    hovered = null;
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
    request();
  }

  /** The word, what is hidden of it, what the model expects there, and at the place that is looked at. */
  function state() {
    const ids = [...model.get("word")].map((letter) => letters.indexOf(letter));
    const hidden = model.get("hidden").filter((t) => t < ids.length);
    const chosen = model.get("place");
    const place = chosen >= 0 && chosen < ids.length ? chosen : (hidden[0] ?? 0);
    const expect = (t, places) => read(sightOf(ids, [...places, t], mask))[t];
    return { ids, hidden, place, expect, here: expect(place, hidden), blind: expect(place, firstNumbers(ids.length)) };
  }
  const lookedAt = ({ ids, place }) => {
    if (hovered !== null) return hovered;
    return model.get("option") >= 0 ? model.get("option") : ids[place];
  };

  // What the reader does ------------------------------------------------------------------------

  function hide(hidden, place) {
    commit({ hidden: [...hidden].sort((a, b) => a - b), place, option: -1 });
  }
  function turn(place) {
    const { hidden } = state();
    hide(hidden.includes(place) ? hidden.filter((t) => t !== place) : [...hidden, place], place);
  }
  const look = (place) => commit({ place, option: -1 });
  function write(word, hidden) {
    const count = [...word].length;
    const place = Math.min(state().place, count - 1);
    commit({ word, hidden: hidden.filter((t) => t < count), place, option: -1 });
  }

  const tiles = wordTiles({
    // A hidden letter is looked at first and shown only when it is touched again.
    touch: (place) => {
      const now = state();
      if (now.hidden.includes(place) && place !== now.place) look(place);
      else turn(place);
    },
    turn: () => turn(state().place),
    moveBy: (move) => {
      const { ids, place } = state();
      look(clamped(place + move, 0, ids.length - 1));
    },
  });
  const bars = letterBars(open.map((id) => names[id]), "Letter whose numbers are shown", {
    take: (i) => {
      if (i !== null) commit({ option: open[i] });
    },
    preview: (i) => {
      const id = i === null ? null : open[i];
      if (id === hovered) return;
      hovered = id;
      request();
    },
    resized: () => request(),
    moveBy: (move) => {
      const at = open.indexOf(lookedAt(state()));
      commit({ option: open[clamped(at + move, 0, open.length - 1)] });
    },
  });
  const cards = headCards(facts.layers, facts.heads);
  const typing = typingLine(model, "word", {
    label: "Type a word",
    problemOf: (word) => proofread(word, model.get("alphabet"), mask, facts.tokens),
    accept: (word) => write(word, model.get("hidden")),
    refuse: () => request(),
  });
  const examples = model.get("words").map((word) => button(word, () => write(word, [])));
  const places = (wanted) => state().ids.flatMap((id, t) => (wanted(letters[id]) ? [t] : []));
  const sets = [
    ...(letters.some((letter) => VOWELS.includes(letter)) ? [["Hide vowels", (letter) => VOWELS.includes(letter)]] : []),
    ["Hide all", () => true],
    ["Show all", () => false],
  ].map(([text, wanted]) => button(text, () => {
    const chosen = places(wanted);
    hide(chosen, chosen.includes(state().place) ? state().place : (chosen[0] ?? state().place));
  }));

  // The picture ---------------------------------------------------------------------------------

  const [score, heading, legend, readout, doubt] = firstNumbers(5).map(() => html("p"));
  [heading.className, readout.className] = ["cw-l-heading", "cw-l-readout"];
  for (const line of [score, legend, doubt]) line.className = "cw-hint";
  say(legend, "Filled: what the model expects. Outlined: what it expects when every letter is hidden.");
  let spoken = "";
  const { region, announce } = announcer(() => spoken);

  /** A letter of the word, and what the model makes of it if it is hidden. */
  function tileOf({ ids, hidden, expect }, t) {
    const name = names[ids[t]];
    if (!hidden.includes(t)) return { name, hidden: false, guesses: [], verdict: "", right: false, spoken: `letter ${t + 1}, ${name}, shown` };
    const { probability } = expect(t, hidden);
    const order = ranking(probability);
    const rank = order.indexOf(ids[t]) + 1;
    const guesses = order.slice(0, Math.min(GUESSES, open.length)).map((id) => ({ name: names[id], share: probability[id], true: id === ids[t] }));
    const listed = guesses.map((guess) => `${guess.name} ${number(guess.share)}`).join(", ");
    return {
      name, hidden: true, guesses, verdict: `${rank === 1 ? "✓" : "✗"} ${ordinal(rank)}`, right: rank === 1,
      spoken: `letter ${t + 1}, ${name}, hidden; the model guesses ${listed}; the true letter is its ${ordinal(rank)} guess`,
    };
  }

  function scoreOf({ ids, hidden, expect }) {
    if (!hidden.length) return "No letter is hidden. Click one.";
    const guesses = hidden.map((t) => expect(t, hidden).probability);
    const right = guesses.filter((p, i) => ranking(p)[0] === ids[hidden[i]]).length;
    const many = hidden.length > 1;
    return `${right} of ${hidden.length} first guesses ${many ? "are" : "is"} right. ${many ? "On average the" : "The"} model is as unsure as between ${number(unsureness(guesses), 1)} letters.`;
  }

  function draw() {
    const now = state();
    const { ids, hidden, place, here, blind } = now;
    const spell = (sight) => sight.map((id) => (id === mask ? "?" : names[id]));
    const sight = spell(sightOf(ids, [...hidden, place], mask));
    root.classList.toggle("cw-stale", typing.judge(ids.map((id) => names[id]).join("")));
    tiles.draw(ids.map((_, t) => tileOf(now, t)), place);
    say(score, scoreOf(now));
    say(heading, hidden.includes(place)
      ? `The model sees ${sight.join("")}. As letter ${place + 1} it expects:`
      : `Were ${names[ids[place]]} hidden, it would see ${sight.join("")}. As letter ${place + 1} it would expect:`);
    const option = lookedAt(now);
    const part = (shares) => open.map((id) => shares[id]);
    const rank = ranking(here.probability).indexOf(option) + 1;
    const numbers = `${names[option]}${option === ids[place] ? ", the true letter" : ""}: ${three(here.probability[option])}, guess ${rank} of ${open.length}; with every letter hidden ${three(blind.probability[option])}`;
    bars.draw({
      order: firstNumbers(open.length), own: part(blind.probability), byRank: false,
      choice: { probability: part(here.probability), leftByK: open.length, leftByP: open.length },
      chosen: open.indexOf(ids[place]), option: open.indexOf(option), spoken: numbers,
    });
    say(readout, `${numbers}.`);
    say(doubt, `As unsure as between ${number(unsureness([here.probability]), 1)} equally likely letters.`);
    cards.draw(sight, here.attention);
    spoken = `${heading.textContent} ${numbers}. ${score.textContent}`;
    announce();
  }

  const root = widgetRoot(
    el,
    "Letter hider: what a trained encoder expects in the gaps of a word",
    typing.line,
    html("div", { class: "cw-h-buttons" }, ...(examples.length ? [html("span", {}, "or try"), ...examples] : [])),
    tiles.list,
    html("div", { class: "cw-h-buttons" }, ...sets, score),
    html("p", { class: "cw-hint" }, "Click a letter to hide it, and again to show it. ✓ or ✗: whether the first guess is true, and which guess the true letter is."),
    html("div", { class: "cw-columns cw-l-columns" },
      html("div", {}, heading, bars.frame, readout, doubt, legend),
      html("div", {}, html("p", { class: "cw-l-heading" }, "Where each head looks from there"), cards.all, cards.line)),
    region,
  );
  root.classList.add("cw-letters");
  const { request, stop: rest } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["word", "hidden", "place", "option"], () => request());
  return () => {
    rest();
    unlisten();
    typing.stop();
    bars.stop();
  };
}

export default { render };
