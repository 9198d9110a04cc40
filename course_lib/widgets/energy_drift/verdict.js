// What stands over EnergyDrift: a question, and once the run was seen, who has kept the energy.

import { button } from "../kit/controls.js";
import { parts, sign } from "../kit/outcome.js";
import { playIfMoving } from "../kit/play.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";

/** Smaller errors are not to be seen while bodies move. */
const SEEN = 0.01;
const QUESTION = "Same start, same steps. Who keeps the energy?";
/** @type {Record<string, string>} */
export const OUTCOMES = { kept: "kept", creeps: "small, and growing", gone: "not kept" };

/** How far a run is off at most, or that it is lost. */
const off = ({ taken, whole, largest }, steps) =>
  taken < steps && !whole ? "lost" : parts(largest);

const named = (run, steps) => `${run.name} (${off(run, steps)})`;
/** Runs that have a row each have their numbers there. */
const namesOf = (runs, { steps, rows }) =>
  runs.map((run) => (rows ? run.name : named(run, steps))).join("; ");

/** Who wins: of runs of Python's, if there are some to choose from, else of all. */
function winnerOf(kept, given) {
  const own = kept.filter(({ key }) => given.length > 1 && given.some((run) => run.key === key));
  return (own.length ? own : kept)[0];
}

function outcomes(all, now) {
  const { given, steps } = now;
  const worth = (run) => (off(run, steps) === "lost" ? Infinity : run.largest);
  const ranked = all.toSorted((a, b) => worth(a) - worth(b));
  const [kept, creeps, gone] = ["kept", "creeps", "gone"].map((outcome) =>
    ranked.filter((run) => run.outcome === outcome),
  );
  const winner = winnerOf(kept, given);
  const others = kept.filter((run) => run !== winner);
  return html`${
    winner
      ? html`<p data-outcome=kept>${sign("kept")}
          <span><strong>Kept:</strong> ${winner.name} (off by ${off(winner, steps)})${others
            .map(({ name }) => `; ${name}`)
            .join("")}.</span></p>`
      : nothing
  }${
    creeps.length
      ? html`<p data-outcome=creeps>${sign("creeps")} <span><strong>Small, but growing:</strong>
          ${namesOf(creeps, now)}.</span></p>`
      : nothing
  }${
    gone.length
      ? html`<p data-outcome=gone>${sign("gone")} <span><strong>Not kept:</strong>
          ${namesOf(gone.toReversed(), now)}.</span></p>`
      : nothing
  }`;
}

/** A question that names runs which are not there, or not from here, is not asked. */
function questionNow({ live, away, question }) {
  if (question && !away.length) return question;
  return live.length === 1 ? `Does ${live[0].name} keep the energy?` : QUESTION;
}

/** Who is farthest off by now: told while nobody knows the end. */
function farthest({ live, time, dt }) {
  const step = Math.floor(time / dt + 1e-9);
  const offBy = (run) => (step > run.taken ? Infinity : run.worstBy(step));
  const run = live.reduce((a, b) => (offBy(b) > offBy(a) ? b : a), live[0]);
  const most = offBy(run);
  if (!(most > SEEN)) return html`So far all are within ${parts(SEEN)}.`;
  return html`Farthest off so far: <strong>${run.name}</strong>, ${
    most < Infinity ? parts(most) : "lost"
  }.`;
}

const BACK = "Back to the first start";

/** Why the runs of Python are not as at first. */
const whyGone = ({ away, shown }) =>
  shown.length || !away.length
    ? "Grey: Python’s runs."
    : `Python’s runs are not of this system: ${away.join(", ")}.`;

/** Back to where the runs of Python began: in another setting they stand in grey. */
function wayBack(now, ui) {
  const { away, began } = now;
  const back = () => {
    ui.set({ ...began, plane: 0, time: 0, played: 0 });
    playIfMoving(ui);
  };
  return html`<p class="cw-drift-back" ?data-waits=${!away.length}><span>${whyGone(now)}</span>
    ${button(BACK, back, { disabled: !away.length })}</p>`;
}

/** As much room as the way back needs below what is kept. */
const belowIt = (kept, why) => html`${kept}<p class="cw-drift-back"><span>${why}</span>
  <span class="cw-button">${BACK}</span></p>`;
const ONE_LINE = html`<p>${sign("kept")} <span>&nbsp;</span></p>`;
const room = (content) => html`<div class="cw-drift-room" aria-hidden="true">${content}</div>`;

/**
 * The question stays. Below it what is known by now, the answer and the way back have the room of
 * each other, so that nothing below them moves.
 * @param {any} now
 * @param {any} ui
 */
export function lead(now, ui) {
  const { live, all, open, away, fixed, moving } = now;
  if (!all.length) return html`<p class="cw-drift-lead">Switch an integrator on.</p>`;
  const [asks, asked] = [open && live.length > 0, moving && live.length > 0];
  const told = asked ? farthest(now) : nothing;
  const byNow = html`<p ?data-waits=${!asks}><span>${told}</span></p>`;
  const question = html`<p class="cw-drift-question"><strong>${questionNow(now)}</strong></p>`;
  return html`<div class="cw-drift-lead">${asked ? question : nothing}
    <div class="cw-over cw-drift-answer">${asked ? byNow : nothing}
      <div data-reading="lead" ?data-waits=${asks}>${outcomes(live, now)}</div>
      ${
        fixed
          ? [
              wayBack(now, ui),
              room(outcomes(all, now)),
              room(belowIt(away.length ? outcomes(live, now) : ONE_LINE, whyGone(now))),
            ]
          : nothing
      }</div></div>`;
}
