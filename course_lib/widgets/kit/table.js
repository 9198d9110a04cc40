import { clamp } from "../maths/numerics.js";
import { html } from "../vendor/lit-html/lit-html.js";

/**
 * A table of named weights with a bar behind each number. The numbers are the text equivalent.
 * @param {{ caption: unknown, heading: string, columns: string[],
 *   rows: { name: unknown, colour: string, numbers: string[], length: number }[] }} table
 *   `numbers` are formatted; `length` in [0, 1] is that of the bar
 */
export function weightTable({ caption, heading, columns, rows }) {
  const head = columns.map((name) => html`<th scope="col">${name}</th>`);
  return html`<table class="cw-weights">
    <caption>${caption}</caption>
    <thead><tr><th scope="col">${heading}</th>${head}<td aria-hidden="true"></td></tr></thead>
    <tbody>${rows.map(row)}</tbody>
  </table>`;
}

function row({ name, colour, numbers, length }) {
  const cells = numbers.map((text) => html`<td class="cw-number">${text}</td>`);
  return html`<tr>
    <th scope="row">${name}</th>${cells}
    <td class="cw-bar-cell" aria-hidden="true">${bar(colour, length)}</td>
  </tr>`;
}

/** A bar as long as a share of its place. @param {string} colour @param {number} length */
export const bar = (colour, length) =>
  html`<span class="cw-bar"
    style="--cw-bar: ${colour}; --cw-length: ${clamp(length, 0, 1)}"></span>`;
