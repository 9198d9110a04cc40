// The question that a figure asks and how it has come out: what a reader sees before anything else.

import { html, nothing } from "../vendor/lit-html/lit-html.js";

/**
 * @typedef {object} Outcome
 * @property {string} kind "good", "bad" or "open"
 * @property {unknown} text in a few words
 * @property {unknown} [told] a second sentence
 */

const SIGNS = { good: "✓", bad: "✗" };

/** How it has come out. @param {Outcome} outcome */
export const verdict = ({ kind, text, told = nothing }) =>
  html`<p class="cw-verdict" data-outcome=${kind}>${
    SIGNS[kind]
      ? html`<span class="cw-verdict-sign" aria-hidden="true">${SIGNS[kind]}</span>`
      : nothing
  }<span><strong>${text}</strong> ${told}</span></p>`;

/**
 * A question and its answer.
 * @param {string} asks
 * @param {Outcome} outcome
 * @param {boolean} [terse] whether the answer has room in one line of a telephone
 */
export const headline = (asks, outcome, terse = false) =>
  html`<div class="cw-headline" ?data-terse=${terse}><p>${asks}</p>${verdict(outcome)}</div>`;
