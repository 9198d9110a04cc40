import { decodeRows } from "./js/old/array.js";
import { announcer, choices, slider } from "./js/old/controls.js";
import { html, number, scientific, superscript, svg, widgetRoot } from "./js/old/dom.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { integrate } from "./js/maths/mechanics.js";

const zeros = (rows, columns) => Array.from({ length: rows }, () => new Float64Array(columns));
const transpose = (a) => Array.from(a[0], (_, j) => Float64Array.from(a, (row) => row[j]));

function product(a, b) {
  const result = zeros(a.length, b[0].length);
  for (let i = 0; i < a.length; i += 1) {
    for (let k = 0; k < b.length; k += 1) {
      const factor = a[i][k];
      for (let j = 0; j < b[0].length; j += 1) result[i][j] += factor * b[k][j];
    }
  }
  return result;
}
const combine = (f, a, b) => a.map((row, i) => row.map((x, j) => f(x, b[i][j])));
const sum = (a, b) => combine((x, y) => x + y, a, b);
const inRows = (values, count) => Array.from({ length: count }, (_, i) => Array.from(values.subarray((i * values.length) / count, ((i + 1) * values.length) / count)));

/**
 * log(1 + Σ exp x) over `count` scores, of which the first stands at `start` and each next one
 * `stride` further. Each score is replaced by its share, its derivative. The largest exponent, or
 * the 1, is taken out first.
 */
function weigh(scores, start, stride, count) {
  let largest = 0;
  for (let k = 0; k < count; k += 1) largest = Math.max(largest, scores[start + k * stride]);
  let total = Math.exp(-largest);
  for (let k = 0; k < count; k += 1) {
    const at = start + k * stride;
    scores[at] = Math.exp(scores[at] - largest);
    total += scores[at];
  }
  for (let k = 0; k < count; k += 1) scores[start + k * stride] /= total;
  return largest + Math.log(total);
}

/**
 * Potential, force and weights of windows that are flattened row by row; C = Z A Zᵀ.
 * Potential: log(1 + Σ_mn exp C_mn) for "matrix", Σ_n log(1 + Σ_m exp C_mn) for "vector".
 * Force: S Z Aᵀ + Sᵀ Z A for "full", 2 S Z A for "shortcut", S being the potential's derivative by C.
 */
function attentionField(tokens, d, A, softmax, formula) {
  const [ZA, ZAt] = [new Float64Array(tokens * d), new Float64Array(tokens * d)];
  const S = new Float64Array(tokens * tokens);
  // A step asks three times, at two places only: what was found at the last place is kept.
  const seen = new Float64Array(tokens * d).fill(NaN);
  let potential = 0;

  function isSeen(z) {
    for (let i = 0; i < seen.length; i += 1) if (seen[i] !== z[i]) return false;
    return true;
  }
  function attendTo(z) {
    if (isSeen(z)) return;
    seen.set(z);
    for (let m = 0; m < tokens; m += 1) {
      for (let j = 0; j < d; j += 1) {
        let [right, left] = [0, 0];
        for (let i = 0; i < d; i += 1) {
          right += z[m * d + i] * A[i][j];
          left += z[m * d + i] * A[j][i];
        }
        ZA[m * d + j] = right;
        ZAt[m * d + j] = left;
      }
    }
    for (let m = 0; m < tokens; m += 1) {
      for (let n = 0; n < tokens; n += 1) {
        let score = 0;
        for (let j = 0; j < d; j += 1) score += ZA[m * d + j] * z[n * d + j];
        S[m * tokens + n] = score;
      }
    }
    if (softmax === "matrix") {
      potential = weigh(S, 0, 1, tokens * tokens);
    } else {
      potential = 0;
      for (let n = 0; n < tokens; n += 1) potential += weigh(S, n, tokens, tokens);
    }
  }
  return {
    potential(z) {
      attendTo(z);
      return potential;
    },
    force(z, out) {
      attendTo(z);
      for (let m = 0; m < tokens; m += 1) {
        for (let j = 0; j < d; j += 1) {
          let total = 0;
          for (let n = 0; n < tokens; n += 1) {
            total += formula === "full"
              ? S[m * tokens + n] * ZAt[n * d + j] + S[n * tokens + m] * ZA[n * d + j]
              : 2 * S[m * tokens + n] * ZA[n * d + j];
          }
          out[m * d + j] = total;
        }
      }
    },
    weights(z) {
      attendTo(z);
      return S;
    },
  };
}

const flat = (z) => Float64Array.from(z.flat());

export function attentionPotential(z, A, softmax) {
  return attentionField(z.length, z[0].length, A, softmax, "full").potential(flat(z));
}

export function attentionForce(z, A, softmax, formula) {
  const force = new Float64Array(z.length * z[0].length);
  attentionField(z.length, z[0].length, A, softmax, formula).force(flat(z), force);
  return inRows(force, z.length);
}

/** The derivative of `attentionForce` in the direction `dz`, in closed form. */
function forceDerivative(z, dz, A, softmax, formula) {
  const S = inRows(attentionField(z.length, z[0].length, A, softmax, formula).weights(flat(z)), z.length);
  const dC = sum(product(product(dz, A), transpose(z)), product(product(z, A), transpose(dz)));
  const weighed = combine((s, c) => s * c, S, dC);
  const columnTotals = transpose(weighed).map((column) => column.reduce((total, x) => total + x, 0));
  const all = columnTotals.reduce((total, x) => total + x, 0);
  const dS = S.map((row, m) => row.map((s, n) => weighed[m][n] - s * (softmax === "matrix" ? all : columnTotals[n])));
  const [ZA, dZA, At] = [product(z, A), product(dz, A), transpose(A)];
  if (formula === "shortcut") return sum(product(dS, ZA), product(S, dZA)).map((row) => row.map((x) => 2 * x));
  const first = sum(product(dS, product(z, At)), product(S, product(dz, At)));
  return sum(first, sum(product(transpose(dS), ZA), product(transpose(S), dZA)));
}

/** The Jacobian of `attentionForce`: entry (i, j) is ∂forceᵢ/∂zⱼ, both flattened row by row. */
export function forceJacobian(z, A, softmax, formula) {
  const [tokens, d] = [z.length, z[0].length];
  const columns = [];
  for (let j = 0; j < tokens * d; j += 1) {
    const direction = zeros(tokens, d);
    direction[Math.floor(j / d)][j % d] = 1;
    columns.push(Float64Array.from(forceDerivative(z, direction, A, softmax, formula).flatMap((row) => Array.from(row))));
  }
  return transpose(columns);
}

const norm = (a) => Math.sqrt(a.reduce((total, row) => total + row.reduce((part, x) => part + x * x, 0), 0));

/** ‖M − Mᵀ‖ / ‖M‖: zero for the Jacobian of a gradient. */
export function relativeAsymmetry(M) {
  return norm(combine((x, y) => x - y, M, transpose(M))) / norm(M);
}

/** ‖KᵀJK − J‖ / ‖J‖ for the kick (q, p) → (q, p − step · force(q)), whose force has the Jacobian M. */
export function kickSymplecticityError(M, step) {
  return (step * norm(combine((x, y) => x - y, M, transpose(M)))) / Math.sqrt(2 * M.length);
}

/** H = |p|²/2 + |q|²/2 + Σ(q), moved by Störmer–Verlet with the chosen force in place of ∇Σ. */
export function attentionRollout(z, A, softmax, formula, dt, steps) {
  const dim = z.length * z[0].length;
  const field = attentionField(z.length, z[0].length, A, softmax, formula);
  const halfSquare = (x) => x.reduce((total, value) => total + value * value, 0) / 2;
  const system = {
    dim,
    energy: (q, p) => halfSquare(p) + halfSquare(q) + field.potential(q),
    gradQ: (q, out) => {
      field.force(q, out);
      for (let i = 0; i < dim; i += 1) out[i] += q[i];
    },
    gradP: (p, out) => out.set(p),
  };
  return integrate(system, "stoermer_verlet", flat(z), new Float64Array(dim), dt, steps);
}

const SIDE = 320;
const HEIGHT = 200;
const FLOOR = -8;
const CEILING = 2;
const CELL = 26;
const POINTS = 400;


/** The largest relative energy error so far, at `POINTS` times: a line that shows a trend. */
function errorLine(energy, taken, steps) {
  const points = [];
  let largest = 0;
  let next = 0;
  for (let n = 1; n <= taken; n += 1) {
    largest = Math.max(largest, Math.abs(energy[n] - energy[0]) / Math.abs(energy[0]));
    if (n * POINTS >= next * steps) {
      const height = (CEILING - Math.log10(Math.max(largest, 10 ** FLOOR))) / (CEILING - FLOOR);
      points.push(`${((n / steps) * SIDE).toFixed(1)} ${(Math.max(0, height) * HEIGHT).toFixed(1)}`);
      next += 1;
    }
  }
  return { path: points.length ? `M${points.join("L")}` : "", largest };
}

function render({ model, el }) {
  const z = decodeRows(model.get("z"));
  const general = decodeRows(model.get("A"));
  const steps = model.get("steps");
  const size = z.length * z[0].length;
  const cells = Array.from({ length: size * size }, (_, i) =>
    svg("rect", { x: (i % size) * CELL, y: Math.floor(i / size) * CELL, width: CELL - 2, height: CELL - 2, rx: 3 }),
  );
  const matrix = svg(
    "svg",
    { viewBox: `0 0 ${size * CELL} ${size * CELL}`, role: "img", "aria-label": "Difference between the Jacobian and its transpose, entry by entry" },
    svg("rect", { width: size * CELL, height: size * CELL, rx: 6, fill: "var(--cw-panel)" }),
    ...cells,
  );
  const line = svg("path", { fill: "none", "stroke-width": 2.5 });
  const decades = [];
  for (let decade = FLOOR + 2; decade <= 0; decade += 2) {
    const y = ((CEILING - decade) / (CEILING - FLOOR)) * HEIGHT;
    decades.push(svg("path", { d: `M0 ${y}H${SIDE}`, stroke: "var(--cw-line)" }), svg("text", { x: 6, y: y - 5, class: "cw-halo" }, `10${superscript(decade)}`));
  }
  const endTime = svg("text", { x: SIDE - 6, y: HEIGHT - 8, "text-anchor": "end", class: "cw-halo" });
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${SIDE} ${HEIGHT}`, role: "img", "aria-label": "Largest relative energy error so far, against time" },
    svg("rect", { width: SIDE, height: HEIGHT, rx: 6, fill: "var(--cw-panel)" }),
    ...decades,
    line,
    endTime,
  );
  const readings = Object.fromEntries(["asymmetry", "kick", "energy"].map((name) => [name, html("td", { class: "cw-number cw-error", "data-reading": name })]));
  const verdict = html("p", { class: "cw-readout" });
  const formulaText = html("code", {});
  const { region, announce } = announcer(() => verdict.textContent);

  function draw() {
    const [softmax, formula, dt] = [model.get("softmax"), model.get("formula"), model.get("dt")];
    const A = model.get("matrix") === "symmetric" ? combine((x, y) => (x + y) / 2, general, transpose(general)) : general;
    const M = forceJacobian(z, A, softmax, formula);
    const asymmetry = relativeAsymmetry(M);
    const entry = Math.max(...M.map((row) => Math.max(...row.map(Math.abs))));
    cells.forEach((cell, i) => {
      const [row, column] = [Math.floor(i / size), i % size];
      const difference = Math.abs(M[row][column] - M[column][row]) / entry;
      cell.setAttribute("fill", "var(--cw-warm)");
      cell.setAttribute("fill-opacity", Math.min(1, difference).toFixed(3));
    });
    const run = attentionRollout(z, A, softmax, formula, dt, steps);
    const { path, largest } = errorLine(run.energy, run.taken, steps);
    const symplectic = asymmetry < 1e-10;
    line.setAttribute("d", path);
    line.setAttribute("stroke", symplectic ? "var(--cw-series-0)" : "var(--cw-warm)");
    endTime.textContent = `time t = ${number(dt * steps, 0)}`;
    formulaText.textContent = formula === "full" ? "S Z Aᵀ + Sᵀ Z A" : "2 S Z A";
    readings.asymmetry.textContent = scientific(asymmetry);
    readings.kick.textContent = scientific(kickSymplecticityError(M, dt));
    readings.energy.textContent = run.taken < steps ? `lost at step ${run.taken + 1}` : scientific(largest);
    verdict.textContent = symplectic
      ? "The Jacobian is symmetric: this is a gradient, the layer is symplectic."
      : "The Jacobian is not symmetric: this is the gradient of nothing, the layer is not symplectic.";
    announce();
  }

  const row = (label, cell) => html("tr", {}, html("th", { scope: "row" }, label), cell);
  const root = widgetRoot(
    el,
    "Symplecticity meter: which formula is a gradient?",
    html(
      "div",
      { class: "cw-controls" },
      choices(model, "softmax", { label: "Softmax", options: [["vector", "vector"], ["matrix", "matrix"]] }),
      choices(model, "matrix", { label: "Matrix A", options: [["symmetric", "symmetric"], ["general", "general"]] }),
      choices(model, "formula", { label: "Formula", options: [["full", "S Z Aᵀ + Sᵀ Z A"], ["shortcut", "2 S Z A"]] }),
      slider(model, "dt", { label: "Step size", min: 0.01, max: 0.3, logarithmic: true, format: (dt) => number(dt, 3) }),
    ),
    html(
      "div",
      { class: "cw-columns" },
      html("div", {}, matrix, html("p", { class: "cw-hint" }, "|M − Mᵀ|, entry by entry, M being the Jacobian of ", formulaText)),
      html(
        "div",
        {},
        chart,
        html("p", { class: "cw-hint" }, "Largest relative energy error so far, against time"),
        html(
          "table",
          { class: "cw-weights" },
          html("caption", {}, `A window of ${z.length} tokens with ${z[0].length} features, ${steps.toLocaleString("en")} steps`),
          html("tbody", {}, row("Asymmetry ‖M − Mᵀ‖ / ‖M‖", readings.asymmetry), row("Symplecticity error of one kick", readings.kick), row("Largest energy error", readings.energy)),
        ),
        verdict,
      ),
    ),
    region,
  );
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["softmax", "matrix", "formula", "dt"], request);
  return () => {
    stop();
    unlisten();
  };
}

export default { render };
