// Signs for success and failure that do not rely on colour.

import { svg } from "../vendor/lit-html/lit-html.js";

/**
 * A tick in a disc: success.
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export const tickSign = (x, y, r) => svg`<g class="cw-tick" transform="translate(${x} ${y})">
  <circle r=${r} fill="var(--cw-series-2)" stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  <path d="M${-0.45 * r} ${0.05 * r}L${-0.1 * r} ${0.4 * r}L${0.5 * r} ${-0.35 * r}" fill="none"
    stroke="var(--cw-paper)" stroke-width=${r / 4} stroke-linecap="round"
    stroke-linejoin="round"></path>
</g>`;

/** A cross in a disc: failure. It is not orange, which is the colour of a force that holds back. */
export const crossSign = (x, y, r) => svg`<g class="cw-cross" transform="translate(${x} ${y})">
  <circle r=${r} fill="var(--cw-ink)" stroke="var(--cw-paper)" stroke-width="1.5"></circle>
  <path d="M${-0.4 * r} ${-0.4 * r}L${0.4 * r} ${0.4 * r}M${-0.4 * r} ${0.4 * r}L${0.4 * r} ${-0.4 * r}"
    stroke="var(--cw-paper)" stroke-width=${r / 4} stroke-linecap="round"></path>
</g>`;
