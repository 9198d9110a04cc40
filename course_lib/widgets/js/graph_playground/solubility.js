import { molarMass } from "../maths/molecule.js";
import { clamp } from "../maths/numerics.js";
import { number } from "../text.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { atomName, signed } from "./words.js";

const [LEAST, MOST] = [-8, 2];
/** @type {[number, string][]} */
const UNITS = [
  [1, "g"],
  [1e-3, "mg"],
  [1e-6, "µg"],
  [1e-9, "ng"],
];

/** So many grams, in words. @param {number} grams */
function weighed(grams) {
  if (grams > 1000) return "more than a kilogram";
  const [unit, name] = UNITS.find(([size]) => grams >= size) ?? UNITS[3];
  const count = grams / unit;
  return `${number(count, count < 10 ? 1 : 0)} ${name}`;
}

const mark = (kind, value) =>
  html`<i class="cw-g-${kind}"
    style="left: ${(100 * (clamp(value, LEAST, MOST) - LEAST)) / (MOST - LEAST)}%"></i>`;

/** What was measured, or what the network said before the reader changed the drawing. */
function compared({ molecules, molecule, changed, said, before }) {
  if (molecule < 0) return "";
  const { solubility, test, drawing } = molecules[molecule];
  if (changed) return `${drawing.name} was ${number(before)}: ${signed(said - before)}.`;
  if (solubility === null) return "";
  const seen = test ? "the network has never seen it" : "the network has learned from it";
  return `Measured: ${number(solubility)}; ${seen}.`;
}

/** The network's answer, where it stands among all, and what the chosen atom adds to it. */
export function solubility(now) {
  const { facts, said, before, without, molecules, molecule, changed, drawing, at, rings } = now;
  if (!facts) return nothing;
  if (said === null)
    return html`<p class="cw-g-heading">Draw an atom, and the network answers.</p>`;
  const measured = molecules[molecule]?.solubility ?? null;
  return html`<div class="cw-g-panel cw-g-solubility">
    <p class="cw-g-heading">Solubility in water, says the trained network</p>
    <p class="cw-readout"><strong>${number(said)}</strong> log₁₀ mol/L, or
      ${weighed(10 ** said * molarMass(drawing))} in a litre</p>
    <div class="cw-g-scale" aria-hidden="true">
      ${changed ? mark("before", before) : nothing}
      ${measured === null || changed ? nothing : mark("measured", measured)}${mark("answer", said)}
    </div>
    <div class="cw-g-ends" aria-hidden="true"><span>hardly dissolves</span><span>dissolves freely</span></div>
    <p class="cw-hint">${compared(now)}</p>
    ${
      without === undefined
        ? nothing
        : html`<p class="cw-hint">Without ${atomName(now, at)} it would be ${number(without)}: the
            atom adds <b class="cw-g-adds">${signed(said - without)}</b>.${
              rings === "parts" ? " Blue arcs add, orange arcs take away." : ""
            }</p>`
    }
  </div>`;
}
