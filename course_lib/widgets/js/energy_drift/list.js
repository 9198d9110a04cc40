// EnergyDrift's list of runs: switch, line and name of each, and how far its energy is off.

import { scientific } from "../text.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { sample } from "./chart.js";
import { colourOf, inkOfRun } from "./colours.js";

/** What a run comes to: its last error, or the step where it ends. */
function fate({ taken, whole, last }, steps) {
  if (taken >= steps) return scientific(last);
  if (taken < 0) return "no energy";
  return whole ? `ends at ${taken}` : `lost at ${taken + 1}`;
}

const line = (run) => html`<svg class="cw-drift-line" aria-hidden="true">${sample(run)}</svg>`;

function errors(run, steps) {
  const texts = run ? [scientific(run.largest), fate(run, steps)] : ["–", "–"];
  return texts.map((text) => html`<td class="cw-number cw-error">${text}</td>`);
}

/** An integrator, which can be switched off. */
function integrator({ methods, method_names, runs, steps }, ui, [method, name], i) {
  const id = `${ui.id}-methods-${i}`;
  const change = ({ target }) => {
    const on = methods.filter((other) => other !== method).concat(target.checked ? method : []);
    ui.set({ methods: method_names.map(([other]) => other).filter((other) => on.includes(other)) });
  };
  const run = runs.find((other) => other.method === method);
  return html`<tr class=${run ? nothing : "cw-drift-off"}>
    <th scope="row"><span class="cw-choice">
      <input id=${id} type="checkbox" value=${method} data-trait="methods"
        .checked=${methods.includes(method)} @change=${change}>
      ${line({ colour: inkOfRun(colourOf(method)) })}<label for=${id}>${name}</label>
    </span></th>${errors(run, steps)}
  </tr>`;
}

/** A run that Python computed. */
const received = (run, steps) => html`<tr>
  <th scope="row"><span class="cw-choice">
    ${line({ ...run, colour: inkOfRun(run.colour) })}<span>${run.name}</span>
  </span></th>${errors(run, steps)}
</tr>`;

/** All runs, those of Python last. @param {any} now @param {any} ui */
export function list(now, ui) {
  const { method_names, given, steps } = now;
  return html`<table class="cw-weights cw-drift-list"
    aria-label="Integrators, and how far each is off in energy">
    <thead><tr><th scope="col">Energy error of</th><th scope="col">largest</th>
      <th scope="col">at the end</th></tr></thead>
    <tbody>${method_names.map((pair, i) => integrator(now, ui, pair, i))}
      ${given.map((run) => received(run, steps))}</tbody>
  </table>`;
}
