// What stands beside the drawing.

import { weightTable } from "../kit/table.js";
import { number } from "../kit/text.js";
import { histogram } from "../maths/weisfeiler_lehman.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { classColour, disc, elementColour, fieldOf, skeleton } from "./picture.js";
import { atomName, elementName, many } from "./words.js";

/** ① to ⑳, in which colours are counted from 0. @param {number} c */
const circled = (c) => (c < 20 ? String.fromCharCode(0x2460 + c) : c + 1);

/** Of how many atoms the chosen one has heard. */
function sightOf({ far, rounds }) {
  const heard = far.filter((steps) => steps <= rounds).length;
  return `${heard} of ${many(far.length, "atom")}`;
}

/** What the rounds have brought, in a line. */
export const learned = (now) =>
  now.at < 0 || now.rings === "colours"
    ? "Colours of Weisfeiler and Lehman"
    : html`<b>${atomName(now, now.at)}</b> has heard of <b>${sightOf(now)}</b>`;

/** The elements that the chosen atom has heard of, and how much of each. */
export function knowledge(now) {
  const { at, kinds, known, rounds, layer } = now;
  if (at < 0) return nothing;
  const total = known[at].reduce((sum, amount) => sum + amount, 0) || 1;
  const row = (symbol, k) => ({
    name: elementName(symbol),
    colour: elementColour(symbol),
    numbers: [number(known[at][k], layer === "sum" ? 0 : 3)],
    length: known[at][k] / total,
  });
  return weightTable({
    caption: html`What <b>${atomName(now, at)}</b> knows after ${many(rounds, "round")}:
      ${sightOf(now)}`,
    heading: "element",
    columns: [layer === "sum" ? "walks to it" : "amount"],
    rows: kinds.map(row),
  });
}

/** A strip of colours, each as long as it has atoms: how many, and the number that they wear. */
function strip(counts) {
  const part = (count, c) =>
    count
      ? html`<span style="flex: ${count} 0 0; background: ${classColour(c)}"><b>${count}</b>×${circled(c)}</span>`
      : nothing;
  return html`<span class="cw-g-strip">${counts.map(part)}</span>`;
}

/** What a graph is called, and its colours. @param {string} name @param {number[]} colours */
export const named = (name, colours, found) =>
  html`<p class="cw-title">${name}</p>${strip(histogram(colours, found))}`;

/** Another molecule beside the reader's, as large as that, in the colours of the same round. */
export function beside({ molecules, other, otherBonds, otherColours, found, place: own }) {
  const { drawing } = molecules[other];
  const place = fieldOf(drawing, own.width, own.part);
  const atom = (point, i) => svg`<g transform="translate(${point.join(" ")})">
    ${disc([[1, classColour(otherColours[i])]], place.radius, String(otherColours[i] + 1))}</g>`;
  return html`${named(drawing.name, otherColours, found)}
    <div class="cw-layers" style="aspect-ratio: 4 / 3">
      <svg viewBox="0 0 ${place.width} ${place.height}" role="img"
        aria-label="${drawing.name}, its atoms in their colours">
        ${skeleton(drawing, otherBonds, place)}${place.points.map(atom)}</svg>
    </div>`;
}

/** What the colours say, and once they have said all, what the network says of both. */
export function verdict({ verdict, decided, said, elsewhere }) {
  const both = decided && elsewhere !== undefined && said !== null;
  return html`<p class="cw-hint cw-g-verdict">${verdict}</p>
    ${
      both
        ? html`<p class="cw-hint cw-g-both">The trained network says ${number(said, 3)} here and
          ${number(elsewhere, 3)} there.</p>`
        : nothing
    }`;
}

/** The colours of Weisfeiler and Lehman. */
export const refinement = (now) => html`<div>
  ${strip(histogram(now.colours, now.found))}${verdict(now)}</div>`;
