import { announcer, button, choices, slider } from "./js/old/controls.js";
import { html, number, say, scientific, setChanged, showFirst, widgetRoot } from "./js/old/dom.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { clamped, firstNumbers, headCards, letterBars, three, typingLine, unknownLetters, visible, walk } from "./js/old/letters.js";
import { softmax } from "./js/maths/numerics.js";
import { emptyMemory, throughBlocks, unpackTransformer } from "./js/maths/transformer.js";

/** Reads texts, given as ids. What a text shares with the one before it is not read again. */
function textReader(decoder) {
  const memory = emptyMemory(decoder);
  let known = [];
  let read = [];
  return (ids) => {
    let same = 0;
    while (same < known.length && known[same] === ids[same]) same += 1;
    for (const { keys, values } of memory) keys.length = values.length = same;
    read = read.slice(0, same);
    known = [...ids];
    for (const id of ids.slice(same)) {
      const [letter] = throughBlocks(decoder, memory, [id]);
      read.push({ ...letter, own: softmax(letter.logits) });
    }
    return read;
  };
}

/** All that the decoder makes of several texts in turn. */
export function readTexts(facts, packed, texts) {
  const read = textReader(unpackTransformer(facts, packed));
  return texts.map((ids) => read(ids));
}

/**
 * The distribution that the next letter is drawn from, `next_token_probabilities` of
 * course_lib.generation; the ids by rank, and how many of them top-k and then top-p leave.
 */
export function chooseAmong(logits, temperature, topK, topP) {
  const order = logits.map((_, id) => id).sort((a, b) => (logits[a] === logits[b] ? a - b : logits[b] - logits[a]));
  const rescaled = (ranked) => {
    const total = ranked.reduce((sum, p) => sum + p, 0);
    return ranked.map((p) => p / total);
  };
  let ranked = rescaled(softmax(order.map((id) => logits[id]), temperature).map((p, rank) => (rank < topK ? p : 0)));
  let leftByP = Math.min(topK, logits.length);
  if (topP < 1) {
    let sum = 0;
    // Within a billionth of p counts as p, so that no rounding decides.
    const reached = ranked.map((p) => {
      sum += p;
      return sum - p >= Math.max(topP - 1e-9, 1e-9);
    });
    leftByP = Math.min(leftByP, reached.includes(true) ? reached.indexOf(true) : leftByP);
    ranked = rescaled(ranked.map((p, rank) => (reached[rank] ? 0 : p)));
  }
  const probability = new Array(logits.length).fill(0);
  order.forEach((id, rank) => { probability[id] = ranked[rank]; });
  return { order, probability, leftByK: Math.min(topK, logits.length), leftByP };
}

/** A bijection of 32 bits in which every input bit stirs every output bit ("lowbias32"). */
function stirred(integer) {
  let h = integer >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Draw n of a seed: a number of [0, 1), the same whenever it is asked for. */
export function uniform(seed, n) {
  return stirred(stirred(seed) + Math.imul(n + 1, 0x9e3779b9)) / 2 ** 32;
}

/** The first id at which the probabilities add up to more than `u`; never one of probability 0. */
export function drawFrom(probability, u) {
  let sum = 0;
  let last = 0;
  for (let id = 0; id < probability.length; id += 1) {
    if (probability[id] > 0) {
      last = id;
      sum += probability[id];
      if (u < sum) return id;
    }
  }
  return last;
}

/** What keeps the model from reading a beginning, in words; nothing if it can. */
export function proofread(text, alphabet, start, stop, tokens) {
  const typed = [...text];
  const known = [...alphabet];
  const room = tokens - (start >= 0 ? 1 : 0);
  if (!typed.length && start < 0) return "Type at least one letter: the model has no mark of the start to read instead.";
  const marks = new Set([start, stop].filter((id) => id >= 0).map((id) => known[id]));
  const mark = typed.find((letter) => marks.has(letter));
  const strange = unknownLetters(typed.filter((letter) => !marks.has(letter)), known.filter((letter) => !marks.has(letter)));
  if (strange) return strange;
  if (mark) return `${visible(mark)} stands for the start or the end of a text; it cannot stand within one.`;
  if (typed.length > room) return `That is ${typed.length} letters; the model has room for ${room}.`;
  return "";
}

const PACE = 90;
/** The text in tiles, each tinted by how probable the model found its letter. */
function textStrip(handlers) {
  const strip = html("div", { class: "cw-t-text", role: "slider", tabindex: 0, "aria-label": "Letter whose choice is shown" });
  const tiles = [];

  function draw({ names, kinds, shares, place, lead, first, last, spoken }) {
    showFirst(strip, tiles, names.length, () => html("span"));
    names.forEach((name, i) => {
      say(tiles[i], name);
      setChanged(tiles[i], {
        class: `cw-t-${kinds[i]}${i === place + lead ? " cw-t-here" : ""}`,
        style: shares[i] === null ? "" : `--share: ${Math.sqrt(shares[i]).toFixed(4)}`,
      });
    });
    setChanged(strip, { "aria-valuemin": first + 1, "aria-valuemax": last + 1, "aria-valuenow": place + 1, "aria-valuetext": spoken });
  }
  strip.addEventListener("click", ({ clientX, clientY }) => {
    // A tap between two tiles means the nearer one.
    const away = [...strip.children].map((tile) => {
      const box = tile.getBoundingClientRect();
      return Math.hypot(clientX - box.x - box.width / 2, clientY - box.y - box.height / 2);
    });
    handlers.choose(away.indexOf(Math.min(...away)));
  });
  walk(strip, handlers.moveBy);
  return { strip, draw };
}

function render({ model, el }) {
  const letters = [...model.get("alphabet")];
  const [start, stop, facts] = ["start", "stop", "facts"].map((name) => model.get(name));
  const lead = start >= 0 ? 1 : 0;
  const room = facts.tokens - lead;
  const read = textReader(unpackTransformer(facts, model.get("weights")));
  const ids = (text) => [...text].map((letter) => letters.indexOf(letter));
  const past = [];
  let hovered = null;

  function commit(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
    request();
  }
  /** Another text; the one before it can be had again. */
  function rewrite(prompt, written, more = {}) {
    const before = { prompt: model.get("prompt"), written: model.get("written") };
    if (before.prompt !== prompt || before.written !== written) past.push(before);
    hovered = null;
    commit({ place: -1, option: -1, prompt, written, ...more });
  }

  /** The text, which letter of it is looked at, and what the model knew before that letter. */
  function state() {
    const [prompt, written] = ["prompt", "written"].map((name) => ids(model.get(name)));
    const text = [...prompt, ...written];
    const finished = stop >= 0 && text[text.length - 1] === stop;
    const full = text.length > room;
    const last = finished || full ? text.length - 1 : text.length;
    const chosen = model.get("place");
    const place = chosen < 0 ? last : clamped(chosen, 1 - lead, last);
    const all = lead ? [start, ...text] : text;
    const results = read(all.slice(0, last + lead));
    const settings = ["temperature", "top_k", "top_p"].map((name) => model.get(name));
    const amongst = (i) => chooseAmong(results[i + lead - 1].logits, ...settings);
    return { prompt, written, text, finished, full, last, place, all, results, settings, amongst };
  }

  // Writing -------------------------------------------------------------------------------------

  /** Writes a letter, or begins anew where a text has ended; says whether more can follow. */
  function writeOne() {
    let now = state();
    if (now.last < now.text.length) {
      rewrite(model.get("prompt"), "");
      now = state();
    }
    const draws = model.get("draws");
    const id = drawFrom(now.amongst(now.last).probability, uniform(model.get("seed"), draws));
    rewrite(model.get("prompt"), model.get("written") + letters[id], { draws: draws + 1 });
    return id !== stop && now.text.length < room;
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;
  function pause() {
    clearInterval(timer);
    timer = null;
    writing.textContent = "▶ Write";
  }
  const writing = button("▶ Write", () => {
    if (timer !== null) {
      pause();
      return;
    }
    let more = writeOne();
    while (more && still.matches) more = writeOne();
    if (!more) return;
    writing.textContent = "■ Stop";
    timer = setInterval(() => {
      if (!el.isConnected || state().last < state().text.length || !writeOne()) pause();
    }, PACE);
  });
  const byHand = (deed) => (...given) => {
    pause();
    deed(...given);
  };
  const clear = button("Clear", byHand(() => rewrite(model.get("prompt"), "")));
  const undo = button("Undo", byHand(() => {
    const { prompt, written } = past.pop();
    commit({ place: -1, option: -1, prompt, written });
  }));
  /** The reader's own choice, in place of the letter that is looked at and of all after it. */
  const take = byHand((id) => {
    const { text, prompt, place } = state();
    const letter = id ?? lookedAt(state());
    const kept = text.slice(0, place);
    const spelled = (part) => part.map((i) => letters[i]).join("");
    rewrite(spelled(kept.slice(0, prompt.length)), spelled([...kept.slice(prompt.length), letter]));
  });
  const lookedAt = (now) => {
    if (hovered !== null) return hovered;
    if (model.get("option") >= 0) return model.get("option");
    return now.place < now.text.length ? now.text[now.place] : now.amongst(now.place).order[0];
  };

  // The picture ---------------------------------------------------------------------------------

  const look = (place) => {
    const { last } = state();
    commit({ place: place >= last ? -1 : Math.max(1 - lead, place), option: -1 });
  };
  const strip = textStrip({
    choose: byHand((tile) => look(tile - lead)),
    moveBy: byHand((move) => look(state().place + move)),
  });
  const shownOrder = (choice) => (model.get("order") === "probability" ? choice.order : firstNumbers(letters.length));
  const bars = letterBars(letters.map(visible), "Letter to look at; Enter writes it", {
    take,
    preview: (id) => {
      if (id === hovered) return;
      hovered = id;
      request();
    },
    resized: () => request(),
    moveBy: byHand((move) => {
      const now = state();
      const order = shownOrder(now.amongst(now.place));
      const to = clamped(order.indexOf(lookedAt(now)) + move, 0, order.length - 1);
      hovered = null;
      commit({ option: order[to] });
    }),
  });
  const cards = headCards(facts.layers, facts.heads);

  const typing = typingLine(model, "prompt", {
    label: "Type a beginning",
    problemOf: (text) => proofread(text, model.get("alphabet"), start, stop, facts.tokens),
    accept: byHand((text) => rewrite(text, "")),
    refuse: byHand(() => request()),
  });

  const [heading, odds, readout, kept, remark] = firstNumbers(5).map(() => html("p"));
  heading.className = "cw-l-heading";
  odds.className = "cw-t-odds";
  for (const line of [kept, remark]) line.className = "cw-hint";
  readout.className = "cw-l-readout";
  let spoken = "";
  const { region, announce } = announcer(() => spoken);

  const spelling = (part) => part.map((i) => visible(letters[i])).join("");

  /** What becomes of the model's say, in words. */
  function keptInWords({ leftByK, leftByP }, [temperature, topK, topP]) {
    const count = letters.length;
    const cut = [
      ...(leftByK < count ? [`top-k ${topK} leaves ${leftByK} of ${count} letters`] : []),
      ...(leftByP < leftByK ? [`top-p ${number(topP)} leaves ${leftByP}${leftByK < count ? " of them" : ` of ${count} letters`}`] : []),
    ];
    const words = cut.length ? `${cut.join(", ")}; the rest is cut.` : `None of the ${count} letters is cut.`;
    const cold = temperature <= 0.1 ? " This is the smallest temperature here: leads grow tenfold before the softmax. For the most probable letter alone, choose top-k 1." : "";
    const greedy = leftByP === 1 ? " One letter is left: the model has no choice." : "";
    return words[0].toUpperCase() + words.slice(1) + (greedy || cold);
  }

  function remarkOn({ finished, full }) {
    if (finished) return `${visible(letters[stop])} is the end: the text is finished. Write begins another one.`;
    if (full) return `The text is as long as it can be: the model has ${facts.tokens} positions. Write begins another one.`;
    return "";
  }

  function draw() {
    const now = state();
    const { prompt, text, place, last, all, results, settings } = now;
    const choice = now.amongst(place);
    const { own, attention } = results[place + lead - 1];
    const option = lookedAt(now);
    root.classList.toggle("cw-stale", typing.judge(text.length ? spelling(text) : "the start"));

    const shares = all.map((letter, i) => (i > 0 ? results[i - 1].own[letter] : null));
    const coming = last === text.length;
    const here = place < text.length ? visible(letters[text[place]]) : null;
    const before = place ? spelling(text.slice(0, place)) : "the start";
    const who = place < prompt.length ? "you typed" : "the model wrote";
    say(heading, here ? `After ${before} ${who} ${here}, out of:` : `After ${before}, what comes next?`);
    spoken = here ? `letter ${place + 1} of ${text.length}, ${here}, which the model gave probability ${three(own[text[place]])}` : `letter ${place + 1}, still to come`;
    strip.draw({
      names: [...all.map((i) => visible(letters[i])), ...(coming ? ["?"] : [])],
      kinds: [...all.map((_, i) => (i < lead ? "mark" : i < lead + prompt.length ? "typed" : "written")), ...(coming ? ["coming"] : [])],
      shares: [...shares, ...(coming ? [null] : [])],
      place, lead, first: 1 - lead, last, spoken,
    });
    const known = shares.filter((share) => share !== null);
    say(odds, known.length
      ? `${lead ? "" : "Given its first letter, "}${lead ? "The" : "the"} model gives ${spelling(text)} the probability ${scientific(known.reduce((product, share) => product * share, 1))}: the product of the letters’ own.`
      : "Nothing is written yet.");

    const numbers = `${visible(letters[option])}: the model says ${three(own[option])}, drawn with ${three(choice.probability[option])}`;
    bars.draw({ order: shownOrder(choice), own, choice, chosen: here ? text[place] : null, option, byRank: model.get("order") === "probability", spoken: numbers });
    say(readout, `${numbers}.`);
    say(kept, keptInWords(choice, settings));
    say(remark, remarkOn(now));
    cards.draw(all.slice(0, place + lead).map((i) => visible(letters[i])), attention);
    clear.disabled = now.written.length === 0;
    undo.disabled = past.length === 0;
    spoken = `${heading.textContent} ${numbers}. ${remark.textContent}`;
    announce();
  }

  const root = widgetRoot(
    el,
    "Tiny GPT: a language model that runs in this page",
    typing.line,
    html("div", { class: "cw-t-line" }, strip.strip),
    html("div", { class: "cw-t-legend" }, html("p", { "aria-hidden": "true" }, "surprising", html("span"), "expected", html("u", {}, "typed"), html("b", {}, "written")), odds),
    html("div", { class: "cw-t-buttons" }, writing, button("One letter", byHand(() => writeOne())), clear, undo, remark),
    html("div", { class: "cw-controls" },
      slider(model, "temperature", { label: "Temperature", min: 0.1, max: 5, logarithmic: true, format: (t) => number(t) }),
      slider(model, "top_k", { label: "Top-k", min: 1, max: letters.length, step: 1, format: (k) => (k < letters.length ? String(k) : "all") }),
      slider(model, "top_p", { label: "Top-p", min: 0.05, max: 1, step: 0.05, format: (p) => (p < 1 ? number(p) : "all") })),
    html("div", { class: "cw-columns cw-l-columns" },
      html("div", {}, heading, choices(model, "order", { label: "Letters by", options: [["probability", "probability"], ["alphabet", "alphabet"]] }), bars.frame, readout, kept,
        html("p", { class: "cw-hint" }, "Outlined: the model’s own say. Filled: what is drawn from. Click a bar to write its letter.")),
      html("div", {}, html("p", { class: "cw-l-heading" }, "Where each head looked"), cards.all, cards.line)),
    region,
  );
  root.classList.add("cw-gpt");
  const { request, stop: rest } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["prompt", "written", "temperature", "top_k", "top_p", "place", "option", "order"], () => request());
  return () => {
    pause();
    rest();
    unlisten();
    typing.stop();
    bars.stop();
  };
}

export default { render };
