import { fold } from "../kit/controls.js";
import { number } from "../kit/text.js";
import { molarMass } from "../maths/molecule.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { atomName, many, signed } from "./words.js";

/** The ends of the scale, as powers of ten of a gram: half a mark beyond its first and last tick. */
const [LEAST, END] = [-6.4, 3.4];
const MOST = 3;
/** @type {[number, string][]} */
const TICKS = [
  [1e-6, "1 µg"],
  [1e-3, "1 mg"],
  [1, "1 g"],
  [1e3, "1 kg"],
];
/** @type {[number, string][]} */
const UNITS = [
  [1, "g"],
  [1e-3, "mg"],
  [1e-6, "µg"],
  [1e-9, "ng"],
];

/** So many grams, in words. @param {number} grams */
function weighed(grams) {
  if (grams > 10 ** MOST) return "over 1 kg";
  const [unit, name] = UNITS.find(([size]) => grams >= size) ?? UNITS[3];
  const count = grams / unit;
  return `${number(count, count < 10 ? 1 : 0)} ${name}`;
}

/** Grams in a litre, of a drawing's logarithm of mol/L. */
const gramsOf = (logarithm, drawing) => 10 ** logarithm * molarMass(drawing);

const across = (grams) => (100 * (clamp(Math.log10(grams), LEAST, END) - LEAST)) / (END - LEAST);

const mark = ({ kind, grams }) =>
  html`<i class="cw-g-${kind}" style="left: ${across(grams)}%"></i>`;

const tick = ([grams, name]) => html`<span style="left: ${across(grams)}%">${name}</span>`;

/** One of the amounts that stand beside each other. */
const amount = ({ kind, name, grams, logarithm }) => html`<div class="cw-g-amount">
  <dt><i class="cw-g-${kind}" aria-hidden="true"></i>${name}</dt>
  <dd><strong data-amount=${kind}>${weighed(grams)}</strong>
    <span>log₁₀ mol/L <span data-logarithm=${kind}>${number(logarithm)}</span></span></dd>
</div>`;

/** The network's answer before the news has come to it. */
const unknown = (layers) => html`<div class="cw-g-amount">
  <dt><i class="cw-g-answer" aria-hidden="true"></i>trained network</dt>
  <dd><strong data-amount="awaited">?</strong> <span>after ${many(layers, "round")}</span></dd>
</div>`;

/** What the network says, and what was measured, or what it said before the drawing was changed. */
function amountsOf({ molecules, molecule, changed, said, before, drawing }) {
  const original = molecules[molecule];
  const own = { kind: "answer", name: "trained network", logarithm: said, drawing };
  const measured = original?.solubility ?? null;
  const other = changed
    ? { kind: "before", name: "before", logarithm: before }
    : { kind: "measured", name: "measured", logarithm: measured };
  const listed = other.logarithm === null ? [own] : [own, { ...other, drawing: original.drawing }];
  return listed.map((one) => ({ ...one, grams: gramsOf(one.logarithm, one.drawing) }));
}

/** What adding a logarithm means, in words. @param {number} added */
export function times(added) {
  const factor = 10 ** Math.abs(added);
  const told = number(factor, factor < 10 ? 1 : 0);
  if (told === number(1, 1)) return "as many molecules as before";
  return added < 0 ? `one in ${told} molecules is left` : `${told} times as many molecules`;
}

/** Whether more or less dissolves than before, and by how much; or how far to trust the answer. */
function outcome({ molecules, molecule, changed, waiting, facts, said, before }, [own, other]) {
  if (waiting) {
    const told = `The news is on its way. The network answers after ${many(facts.layers, "round")}.`;
    return { kind: "open", title: "More or less?", told };
  }
  if (changed) {
    const [now, then] = [own, other].map(({ grams }) => weighed(grams));
    const way = now === then ? 0 : Math.sign(own.grams - other.grams);
    const title = ["▼ Less", "Just as much", "▲ More"][way + 1];
    const told = `Your change: ${signed(said - before)} in log₁₀ mol/L, ${times(said - before)}.`;
    return { kind: ["less", "open", "more"][way + 1], title: `${title}: ${then} → ${now}`, told };
  }
  const { test, solubility } = molecules[molecule] ?? {};
  const after = `after ${facts.layers} rounds of its own`;
  if (molecule < 0 || solubility === null)
    return { kind: "open", title: "Nobody has measured it", told: `The network answers ${after}.` };
  const seen = test ? "has never seen it" : "was trained on it";
  return {
    kind: "open",
    title: "More or less?",
    told: `The network ${seen}; it answers ${after}.`,
  };
}

function result(now, amounts) {
  const { kind, title, told } = outcome(now, amounts);
  return html`<p class="cw-g-result" data-outcome=${kind}><strong>${title}</strong><br>${told}</p>`;
}

/** What the chosen atom adds, beside what the network says without it. */
function added(now) {
  const { said, without, at, rings, waiting, facts } = now;
  if (without === undefined) return nothing;
  const name = atomName(now, at);
  const told = waiting
    ? html`<p class="cw-hint">The network answers after ${many(facts.layers, "round")}.</p>`
    : html`<p class="cw-hint">Rub ${name} out, and the network says
    <span class="cw-g-without">${number(without)}</span> in place of ${number(said)}, in log₁₀ mol/L.
    So ${name} adds <b class="cw-g-adds">${signed(said - without)}</b>: ${times(said - without)}.${
      rings === "parts" ? " Blue arcs add, orange arcs take away." : ""
    }</p>`;
  return fold(`What does ${name} add?`, told, { open: rings === "parts" });
}

/** The network's answer in grams, beside what was measured, and what the chosen atom adds to it. */
export function solubility(now) {
  const { facts, said, waiting } = now;
  if (!facts) return nothing;
  if (said === null)
    return html`<p class="cw-g-heading">Draw an atom, and the network answers.</p>`;
  const amounts = amountsOf(now);
  const known = waiting ? amounts.slice(1) : amounts;
  const rows = waiting ? [unknown(facts.layers), known.map(amount)] : amounts.map(amount);
  return html`<div style="margin: 0 0 0.4rem">
    <p class="cw-g-heading">In a litre of water dissolve</p>
    <dl class="cw-pair">${rows}</dl>
    <div class="cw-g-scale" aria-hidden="true">${known.toReversed().map(mark)}</div>
    <div class="cw-g-ends" aria-hidden="true">${TICKS.map(tick)}</div>
    ${result(now, amounts)} ${added(now)}
  </div>`;
}
