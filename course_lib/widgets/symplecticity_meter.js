import { plain, rows } from "./js/array.js";
import { choices, slider } from "./js/controls.js";
import {
  asymmetries,
  attentionRollout,
  forceJacobian,
  kickSymplecticityError,
  relativeAsymmetry,
  symmetricPart,
} from "./js/maths/symplectic_attention.js";
import { painted } from "./js/painted.js";
import { number, scientific, superscript } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SIDE = 320;
const PIXELS = 640;
const HEIGHT = 200;
const [FLOOR, CEILING] = [-8, 2];
const GAP = 1 / 13;
const POINTS = 400;
const ROUNDING = 1e-10;
/** @type {[string, string][]} */
const SOFTMAXES = [
  ["vector", "vector"],
  ["matrix", "matrix"],
];
/** @type {[string, string][]} */
const MATRICES = [
  ["symmetric", "symmetric"],
  ["general", "general"],
];
/** @type {[string, string][]} */
const FORMULAS = [
  ["full", "S Z Aᵀ + Sᵀ Z A"],
  ["shortcut", "2 Sᵀ Z A"],
];
const textOf = (formula) => FORMULAS.find(([name]) => name === formula)[1];

/** The largest relative energy error so far, at `POINTS` times: a line that shows a trend. */
function errorLine({ energy, taken }, steps) {
  const points = [];
  let [largest, next] = [0, 0];
  for (let n = 1; n <= taken; n += 1) {
    largest = Math.max(largest, Math.abs(energy[n] - energy[0]) / Math.abs(energy[0]));
    if (n * POINTS < next * steps) continue;
    const share = (CEILING - Math.log10(Math.max(largest, 10 ** FLOOR))) / (CEILING - FLOOR);
    const [x, y] = [(n / steps) * SIDE, Math.max(0, share) * HEIGHT];
    points.push(`${x.toFixed(1)} ${y.toFixed(1)}`);
    next += 1;
  }
  return { path: points.length ? `M${points.join("L")}` : "", largest };
}

function derive({ z, A, matrix, softmax, formula, dt, steps }, { memo }) {
  const chosen = memo("A", [A, matrix], () => (matrix === "symmetric" ? symmetricPart(A) : A));
  const jacobian = memo("jacobian", [z, chosen, softmax, formula], () => {
    const M = forceJacobian(z, chosen, softmax, formula);
    const zero = M.every((row) => row.every((entry) => entry === 0));
    return { M, zero, cells: asymmetries(M), asymmetry: relativeAsymmetry(M) };
  });
  const rollout = memo("rollout", [z, chosen, softmax, formula, dt, steps], () => {
    const run = attentionRollout(z, chosen, softmax, formula, dt, steps);
    return { taken: run.taken, ...errorLine(run, steps) };
  });
  const kick = kickSymplecticityError(jacobian.M, dt);
  return { ...jacobian, ...rollout, kick, symplectic: jacobian.asymmetry < ROUNDING };
}

/** A square for each entry: the less it agrees with its mirror image, the deeper. */
function paintCells(cells, { ink }, context) {
  const side = PIXELS / cells.length;
  context.fillStyle = ink("warm");
  cells.forEach((row, i) => {
    row.forEach((difference, j) => {
      context.globalAlpha = Math.min(1, difference);
      context.fillRect(j * side, i * side, side * (1 - GAP), side * (1 - GAP));
    });
  });
}

/** What an empty square means. */
function seal({ symplectic, zero }) {
  if (!symplectic) return nothing;
  const line = (y, size, text) => svg`<text x=${SIDE / 2} y=${y} text-anchor="middle"
    style="font-size: ${size}px">${text}</text>`;
  const reason = zero ? "There is no force at all." : "Each entry equals its mirror image.";
  return svg`<svg viewBox="0 0 ${SIDE} ${SIDE}" class="cw-seal">
    ${line(145, 40, zero ? "✓ M = 0 = Mᵀ" : "✓ M = Mᵀ")}
    ${line(185, 17, reason)} ${line(210, 17, "The layer is symplectic.")}
  </svg>`;
}

function matrixPicture(now, ui) {
  const paint = (context) => paintCells(now.cells, ui.theme, context);
  return html`<div>
    <div class="cw-layers">
      <canvas role="img"
        aria-label="Difference between the Jacobian and its transpose, entry by entry"
        ${painted(ui, { width: PIXELS, height: PIXELS, inputs: [now.cells], paint })}></canvas>
      ${seal(now)}
    </div>
    <p class="cw-hint">|M − Mᵀ|, entry by entry, M being the Jacobian of
      <code>${textOf(now.formula)}</code></p>
  </div>`;
}

function decade(power) {
  const y = ((CEILING - power) / (CEILING - FLOOR)) * HEIGHT;
  return svg`<path d="M0 ${y}H${SIDE}" stroke="var(--cw-line)"></path>
    <text x="6" y=${y - 5} class="cw-halo">10${superscript(power)}</text>`;
}

function chart({ path, symplectic, dt, steps }) {
  return html`<svg viewBox="0 0 ${SIDE} ${HEIGHT}" role="img"
      aria-label="Largest relative energy error so far, against time">
      <rect width=${SIDE} height=${HEIGHT} rx="6" fill="var(--cw-panel)"></rect>
      ${[-6, -4, -2, 0].map(decade)}
      <path d=${path} fill="none" stroke-width="2.5"
        stroke=${symplectic ? "var(--cw-series-0)" : "var(--cw-warm)"}></path>
      <text x=${SIDE - 6} y=${HEIGHT - 8} text-anchor="end" class="cw-halo">time
        t = ${number(dt * steps, 0)}</text>
    </svg>
    <p class="cw-hint">Largest relative energy error so far, against time</p>`;
}

function table({ z, steps, asymmetry, kick, taken, largest }) {
  const row = (label, name, text) => html`<tr>
    <th scope="row">${label}</th>
    <td class="cw-number cw-error" data-reading=${name}>${text}</td>
  </tr>`;
  const lost = taken < steps ? `lost at step ${taken + 1}` : scientific(largest);
  return html`<div style="overflow-x: auto"><table class="cw-weights">
    <caption>A window of ${z.length} tokens with ${z[0].length} features,
      ${steps.toLocaleString("en")} steps</caption>
    <tbody>
      ${row("Asymmetry ‖M − Mᵀ‖ / ‖M‖", "asymmetry", scientific(asymmetry))}
      ${row("Symplecticity error of one kick", "kick", scientific(kick))}
      ${row("Largest energy error", "energy", lost)}
    </tbody>
  </table></div>`;
}

function verdict({ zero, symplectic }) {
  if (zero) return "The Jacobian is zero: without a force the layer is symplectic.";
  if (symplectic) return "The Jacobian is symmetric: this is a gradient, the layer is symplectic.";
  const gradient = "The Jacobian is not symmetric: this is the gradient of nothing";
  return `${gradient}, the layer is not symplectic.`;
}

function view(now, ui) {
  const step = { label: "Step size", min: 0.01, max: 0.3, logarithmic: true };
  return html`<div class="cw-controls">
      ${choices(ui, "softmax", { label: "Softmax", options: SOFTMAXES })}
      ${choices(ui, "matrix", { label: "Matrix A", options: MATRICES })}
      ${choices(ui, "formula", { label: "Formula", options: FORMULAS })}
      ${slider(ui, "dt", { ...step, format: (dt) => number(dt, 3) })}
    </div>
    <div class="cw-columns">
      ${matrixPicture(now, ui)}
      <div>
        ${chart(now)} ${table(now)}
        <p class="cw-readout">${verdict(now)}</p>
      </div>
    </div>`;
}

export default widget({
  label: "Symplecticity meter: which formula is a gradient?",
  data: { z: rows, A: rows, steps: plain },
  controls: { softmax: plain, matrix: plain, formula: plain, dt: plain },
  derive,
  view,
  words: verdict,
  began: ({ softmax, matrix, formula, dt }) =>
    `${textOf(formula)}, ${softmax} softmax, ${matrix} A, steps of ${number(dt, 3)}`,
});
