// What stands over MechanicsStage: a question, and once the run was seen, whose water has stayed.

import { parts, sign } from "../kit/outcome.js";
import { html } from "../vendor/lit-html/lit-html.js";

/** What became of the water, in words. @type {Record<string, string>} */
export const ENDS = { kept: "stays", creeps: "creeps", gone: "does not stay" };

function question({ networks: learned, runs }) {
  if (learned.length > 1) return "Two networks learned this motion. Whose water does not stay?";
  if (learned.length) return "A network learned this motion. Does its water stay at the line?";
  return runs.length > 1 ? "Same start, same steps. Whose water stays?" : "Does the water stay?";
}

/** How far a run is off at most. */
function told({ name, outcome, largest }) {
  const off = largest === Infinity ? "lost" : parts(largest);
  const told = outcome === "kept" ? "stays within " : largest === Infinity ? "" : "off by ";
  return html`<strong><span class="cw-act-who">${name}: </span>${told}${off}</strong>`;
}
const outcomes = (now) =>
  now.runs.map((run) =>
    run.key === "truth"
      ? html`<span></span>`
      : html`<span class="cw-act-outcome" data-outcome=${run.outcome}>${sign(run.outcome)}
      <span>${told(run)}</span></span>`,
  );

/** The question stays, and its answer, over each stage, has its room. @param {any} now */
export const lead = (now) => html`<div class="cw-act-lead" data-acts=${now.runs.length}
  style="--cw-acts: ${now.runs.length}">
  <p class="cw-act-question"><strong>${question(now)}</strong></p>
  <p data-reading="lead" ?data-waits=${!now.seen}>${outcomes(now)}</p></div>`;
