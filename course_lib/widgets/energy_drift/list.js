// EnergyDrift's list of runs: switch, line and name of each, and how far its energy is off.

import { keepingFocus } from "../kit/keys.js";
import { parts, sign } from "../kit/outcome.js";
import { colourOf, inkOfRun } from "../kit/run_colours.js";
import { percent } from "../kit/text.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { at, sample } from "./chart.js";

/** What a run comes to: its largest error, or the step where it is lost. */
export function fate({ taken, whole, largest }, steps) {
  if (taken < 0) return "no energy";
  if (taken >= steps) return parts(largest);
  return whole ? `${parts(largest)}, ends at ${taken}` : `lost at ${taken + 1}`;
}

/**
 * What a run has come to by the shown time; nothing of it is told before its time.
 * @param {any} run
 * @param {any} now
 */
export function soFar(run, { time, dt, steps }) {
  const step = Math.floor(time / dt + 1e-9);
  return step > run.taken ? fate(run, steps) : parts(run.worstBy(step));
}

/** A bar as long as the energy of a run is large now: it should end where it was at the start. */
const [BAR, BAR_HIGH] = [100, 10];
function energyBar({ level, range, state, stale, colour }) {
  const start = BAR / 2;
  const placeOf = (share) => start * clamp(share || 0, 0, 2);
  const x = state ? placeOf(level) : BAR;
  const told = state ? `${percent(level)} of that at the start` : "lost";
  const [least, most] = range.map(placeOf);
  const swept = stale ? nothing : sweep(least, most - least);
  return html`<svg class="cw-drift-energy" viewBox="0 0 ${BAR} ${BAR_HIGH}" role="img"
    preserveAspectRatio="none" aria-label="energy now: ${told}">
    <rect width=${BAR} height=${BAR_HIGH} fill="var(--cw-line)"></rect>
    <rect width=${x} height=${BAR_HIGH} fill=${inkOfRun(colour)}></rect>${swept}
    <path d="M${start} 0V${BAR_HIGH}" stroke="var(--cw-ink)" stroke-width="2"
      vector-effect="non-scaling-stroke"></path>
  </svg>`;
}
/** From the least energy so far to the largest. */
const sweep = (x, width) => svg`<rect x=${x} y=${0.35 * BAR_HIGH}
  width=${width} height=${0.3 * BAR_HIGH} fill="var(--cw-ink)"></rect>`;
const SWEEP = html`<svg class="cw-drift-range-key" viewBox="0 0 16 3" aria-hidden="true"><rect
  width="16" height="3" fill="var(--cw-ink)"></rect></svg>`;

const line = (run) => html`<svg class="cw-drift-line" aria-hidden="true">${sample(run)}</svg>`;

function error(run, now) {
  // What has begun elsewhere is not compared with what begins here.
  if (run?.stale) return html`<td class="cw-number cw-error"><span>${run.stale}</span></td>`;
  const told = run && (now.open ? soFar(run, now) : fate(run, now.steps));
  return html`<td class="cw-number cw-error"><span>${
    run ? sign(now.open ? "" : run.outcome) : nothing
  }${told ?? "–"}</span></td>`;
}

/** An integrator, which can be switched off. */
function integrator(now, ui, [method, name], i) {
  const { methods, method_names, runs } = now;
  const id = `${ui.id}-methods-${i}`;
  const change = ({ target }) => {
    const on = methods.filter((other) => other !== method).concat(target.checked ? method : []);
    const ordered = method_names.map(([other]) => other).filter((other) => on.includes(other));
    keepingFocus(() => ui.set({ methods: ordered }));
  };
  const run = runs.find((other) => other.method === method);
  return html`<tr class=${run ? nothing : "cw-drift-off"}>
    <th scope="row"><span class="cw-choice">
      <input id=${id} type="checkbox" value=${method} data-trait="methods"
        .checked=${methods.includes(method)} @change=${change}>
      ${line({ colour: inkOfRun(colourOf(method)) })}<label for=${id}>${name}</label>
    </span>${now.rows && run ? energyBar(run) : nothing}</th>${error(run, now)}
  </tr>`;
}

/** A run that Python computed. */
const received = (run, now) => html`<tr class=${run.stale ? "cw-drift-stale" : nothing}>
  <th scope="row"><span class="cw-choice">
    ${line({ ...run, colour: inkOfRun(run.colour) })}<span>${run.name}</span>
  </span>${now.rows ? energyBar(run) : nothing}</th>${error(run, now)}
</tr>`;

/** What the bars show; or of when they are, and the bodies, where the page has no nearer state. */
function level({ given, playing }) {
  const far = given.find(({ elsewhere, stale }) => elsewhere !== undefined && !stale);
  return far && !playing
    ? html`<span>Dashed: as at ${at(far.elsewhere)}</span>`
    : html`Energy now, ${SWEEP} range`;
}

const table = (
  label,
  now,
  inRows,
  rows,
) => html`<table class="cw-weights cw-drift-list" aria-label=${label}>
  <thead><tr><th scope="col">${inRows ? level(now) : "Energy off by"}</th>
    <th scope="col">${inRows ? "off " : nothing}${now.open ? "so far" : "at most"}</th></tr></thead>
  <tbody>${rows}</tbody>
</table>`;

/**
 * The integrators, and the runs of Python last.
 * @param {any} now
 * @param {any} ui
 * @param {{ on?: boolean, off?: boolean }} [which] of them
 */
export function list(now, ui, { on = true, off = true } = {}) {
  const { method_names, methods, given } = now;
  const integrators = method_names.map((pair, i) =>
    (methods.includes(pair[0]) ? on : off) ? integrator(now, ui, pair, i) : nothing,
  );
  const label = on ? "Integrators, and how far each is off in energy" : "Other integrators";
  return table(label, now, now.rows && on, [
    ...integrators,
    ...(on ? given : []).map((run) => received(run, now)),
  ]);
}
