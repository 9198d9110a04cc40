import { html } from "./dom.js";

/**
 * A table of named weights with a bar behind each number. The numbers are the text equivalent.
 * `update(weights)` changes attributes only.
 */
export function weightTable({ caption, names, columns = ["weight"], colours = [], heading = "key" }) {
  const cells = [];
  const rows = names.map((name, i) => {
    const bar = html("span", { class: "cw-bar", style: `--cw-bar: ${colours[i] ?? "var(--cw-accent)"}` });
    const numbers = columns.map(() => html("td", { class: "cw-number" }));
    cells.push({ bar, numbers });
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      ...numbers,
      html("td", { class: "cw-bar-cell", "aria-hidden": "true" }, bar),
    );
  });
  const table = html(
    "table",
    { class: "cw-weights" },
    html("caption", {}, caption),
    html(
      "thead",
      {},
      html("tr", {}, html("th", { scope: "col" }, heading), ...columns.map((c) => html("th", { scope: "col" }, c)), html("td", { "aria-hidden": "true" })),
    ),
    html("tbody", {}, ...rows),
  );

  /** `numbersOf[i]` are the formatted numbers of row i; `lengths[i]` in [0, 1] is its bar. */
  function update(numbersOf, lengths) {
    cells.forEach(({ bar, numbers }, i) => {
      numbers.forEach((cell, column) => {
        cell.textContent = numbersOf[i][column];
      });
      bar.style.setProperty("--cw-length", String(Math.max(0, Math.min(1, lengths[i]))));
    });
  }
  return { table, update };
}
