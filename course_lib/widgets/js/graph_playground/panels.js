// What stands beside the drawing.

import { select } from "../controls.js";
import { histogram } from "../maths/weisfeiler_lehman.js";
import { weightTable } from "../table.js";
import { number } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { classColour, disc, elementColour, fieldOf, skeleton } from "./picture.js";
import { atomName, elementName, many } from "./words.js";

const SMALL = 200;

/** The elements that the chosen atom has heard of, and how much of each. */
export function knowledge(now) {
  const { at, kinds, known, rounds, far, layer } = now;
  if (at < 0) return nothing;
  const total = known[at].reduce((sum, amount) => sum + amount, 0) || 1;
  const row = (symbol, k) => ({
    name: elementName(symbol),
    colour: elementColour(symbol),
    numbers: [number(known[at][k], layer === "sum" ? 0 : 3)],
    length: known[at][k] / total,
  });
  const heard = far.filter((steps) => steps <= rounds).length;
  return weightTable({
    caption: html`What <b>${atomName(now, at)}</b> knows after ${many(rounds, "round")}:
      ${heard} of ${many(far.length, "atom")} in sight`,
    heading: "element",
    columns: [layer === "sum" ? "ways it came" : "amount"],
    rows: kinds.map(row),
  });
}

/** A strip of colours, each as long as it has atoms. */
function strip(counts) {
  const part = (count, c) =>
    count
      ? html`<span style="flex: ${count} 0 0; background: ${classColour(c)}"><b>${count}</b></span>`
      : nothing;
  return html`<span class="cw-g-strip">${counts.map(part)}</span>`;
}

function smallDrawing({ drawing }, bondsAt, colours) {
  const place = fieldOf(drawing, SMALL);
  const atom = (_, i) => svg`<g transform="translate(${place.points[i].join(" ")})">
    ${disc([[1, classColour(colours[i])]], 0.8 * place.radius, "")}</g>`;
  return html`<svg viewBox="0 0 ${SMALL} ${place.height}" aria-hidden="true" class="cw-g-small">
    ${skeleton(drawing, bondsAt, place)}${drawing.element.map(atom)}</svg>`;
}

/** The colours of Weisfeiler and Lehman here, and those of another molecule beside them. */
export function refinement(now, ui) {
  const { molecules, other, otherBonds, colours, otherColours, found } = now;
  const { verdict, decided, said, elsewhere } = now;
  const counted = (list) => histogram(list, found);
  /** @type {[number, string][]} */
  const options = [[-1, "nothing"], ...molecules.map(({ drawing }, i) => [i, drawing.name])];
  const row = (name, list) => html`<dt>${name}</dt><dd>${strip(counted(list))}</dd>`;
  return html`<div class="cw-g-panel">
    <dl class="cw-g-strips">${row("here", colours)}
      ${other < 0 ? nothing : row("there", otherColours)}</dl>
    <p class="cw-hint cw-g-verdict">${verdict}</p>
    <div class="cw-controls">${select(ui, "other", { label: "Compare with", options })}</div>
    ${
      !decided || elsewhere === undefined || said === null
        ? nothing
        : html`<p class="cw-hint cw-g-both">The trained network says ${number(said, 3)} here and
          ${number(elsewhere, 3)} there.</p>`
    }
    ${other < 0 ? nothing : smallDrawing(molecules[other], otherBonds, otherColours)}
  </div>`;
}
