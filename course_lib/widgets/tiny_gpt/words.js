import { three } from "../kit/letters.js";
import { number, scientific, spelled, unknownLetters, visible } from "../kit/text.js";

export const COLDEST = 0.1;
export const HOTTEST = 2;
export const LEAST_SHARE = 0.05;
const WHOLE = ["top_k", "place", "option"];

/** What keeps the model from reading a beginning, in words; nothing if it can. */
export function proofread(text, alphabet, start, stop, tokens) {
  const [typed, known] = [[...text], [...alphabet]];
  const room = tokens - (start >= 0 ? 1 : 0);
  if (!typed.length && start < 0) {
    return "Type at least one letter: the model has no mark of the start to read instead.";
  }
  const marks = [start, stop].filter((id) => id >= 0).map((id) => known[id]);
  const isLetter = (letter) => !marks.includes(letter);
  const strange = unknownLetters(typed.filter(isLetter), known.filter(isLetter));
  if (strange) return strange;
  const mark = typed.find((letter) => marks.includes(letter));
  if (mark) {
    return `${visible(mark)} stands for the start or the end of a text; it cannot stand within one.`;
  }
  if (typed.length > room) {
    return `That is ${typed.length} letters; the model has room for ${room}.`;
  }
  return "";
}

/** Throws for a state that cannot be drawn; a page may set one that Python would refuse. */
export function check({ alphabet, prompt, written, start, stop, facts, ...now }) {
  const known = [...alphabet];
  const problem =
    proofread(prompt, alphabet, start, stop, facts.tokens) || unknownLetters(written, known);
  if (problem) throw new Error(problem);
  const ranges = {
    temperature: [COLDEST, HOTTEST],
    top_k: [1, known.length],
    top_p: [LEAST_SHARE, 1],
    place: [-1, facts.tokens + 1],
    option: [-1, known.length - 1],
  };
  for (const [name, [low, high]] of Object.entries(ranges)) {
    const value = now[name];
    const kind = WHOLE.includes(name) ? "whole number" : "number";
    if (!(value >= low && value <= high) || (kind !== "number" && !Number.isInteger(value))) {
      throw new Error(`${name} is ${value}; expected a ${kind} from ${low} to ${high}.`);
    }
  }
  const [length, most] = [[...prompt, ...written].length, facts.tokens + (start < 0 ? 1 : 0)];
  if (length > most) throw new Error(`The text has ${length} letters; expected ${most} at most.`);
}

export const spell = ({ letters }, ids) => spelled(ids.map((id) => letters[id]));

/** So many letters before the one in question keep the heading on one line. */
const TAIL = 5;

export function heading(now) {
  const { text, at, begun, chosen } = now;
  const tail = spell(now, text.slice(Math.max(0, at - TAIL), at));
  const before = at > TAIL ? `…${tail}` : tail || "the start";
  if (chosen === null) return `After ${before}, what comes next?`;
  const who = at < begun ? "you typed" : "it wrote";
  return `After ${before} ${who} ${spell(now, [chosen])}, out of:`;
}

export const numbers = (now) =>
  `${spell(now, [now.looked])}: the model says ${three(now.own[now.looked])}, ` +
  `drawn with ${three(now.choice.probability[now.looked])}`;

/** The letters that have no bar. */
export function others({ letters, shown, own }) {
  const left = letters.length - shown.length;
  if (!left) return "";
  const share = own.reduce((sum, p, id) => (shown.includes(id) ? sum : sum + p), 0);
  return `${left} others share ${three(share)}. `;
}

/** How probable the model found each letter of the text; nothing for the first. */
export const shares = ({ all, results }) => all.map((id, i) => (i ? results[i - 1].own[id] : null));

export function odds(now) {
  const known = shares(now).slice(1);
  if (!known.length) return "Nothing is written yet.";
  const product = known.reduce((total, share) => total * share, 1);
  const given = now.lead ? "" : "Given its first letter, ";
  return `${given}${spell(now, now.text)} has probability ${scientific(product)}.`;
}

/** What becomes of the model's say. */
export function cutInWords({ letters, choice, top_p }) {
  const { leftByK, leftByP } = choice;
  const count = letters.length;
  const cut = [];
  if (leftByK < count) cut.push(`top-k keeps ${leftByK} of ${count}`);
  if (leftByP < leftByK) {
    cut.push(`top-p ${number(top_p)} keeps ${leftByP}${leftByK < count ? "" : ` of ${count}`}`);
  }
  const words = cut.join(", ").replace("t", "T") || `None of the ${count} letters is cut`;
  return leftByP === 1 ? `${words}: the model has no choice.` : `${words}.`;
}

/** What the two signs stand for that are no letters, if the model has them. */
export function signs({ alphabet, letters, start, stop }) {
  const ends = [start >= 0 && "start", stop >= 0 && "end"].filter(Boolean);
  const marks = [...new Set([start, stop])]
    .filter((id) => id >= 0)
    .map((id) => visible(letters[id]));
  const mark = marks.length === 1 ? `${marks[0]}: ${ends.join(" and ")}. ` : "";
  return mark + (alphabet.includes(" ") ? `${visible(" ")}: blank. ` : "");
}

export function remark(now) {
  if (now.finished) return `${spell(now, [now.stop])} ends it. Write begins another.`;
  if (!now.full) return "";
  return `All ${now.facts.tokens} positions are taken. Write begins another.`;
}
