// The outcome of a run, as a sign and as a number.

import { html, svg } from "../vendor/lit-html/lit-html.js";
import { crossSign, tickSign } from "./signs.js";
import { quantity } from "./text.js";

/** Larger errors are shown as "> 10⁶ %". */
const MOST = 1e4;

/** An error of the energy, in per cent. @param {number} error */
export const parts = (error) =>
  error > MOST ? ">\u00a010⁶\u00a0%" : quantity(Number((100 * error).toPrecision(2)), "%");

/** The sign of an error that is still small but grows. */
const riseSign = (x, y, r) => svg`<g transform="translate(${x} ${y})">
  <circle r=${r} fill="var(--cw-muted)" stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  <path d="M${-0.4 * r} ${0.4 * r}L${0.4 * r} ${-0.4 * r}M${-0.15 * r} ${-0.4 * r}H${0.4 * r}V${0.15 * r}"
    fill="none" stroke="var(--cw-paper)" stroke-width=${r / 4} stroke-linecap="round"></path>
</g>`;
const SIGNS = {
  kept: [tickSign, "kept"],
  creeps: [riseSign, "small, and growing"],
  gone: [crossSign, "not kept"],
};

/** The sign of an outcome, with a name; an empty place while the outcome is unknown. */
export function sign(outcome) {
  const [drawn, name] = SIGNS[outcome] ?? [];
  return drawn
    ? html`<svg class="cw-drift-sign" viewBox="-16 -16 32 32" role="img" aria-label=${name}
        data-outcome=${outcome}>${drawn(0, 0, 14)}</svg>`
    : html`<span class="cw-drift-sign"></span>`;
}
