// Symplectic attention on windows of tokens: its potential, its force, and what follows from them.

import { integrate } from "./mechanics.js";

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
const inRows = (values, count) =>
  Array.from({ length: count }, (_, i) =>
    Array.from(values.subarray((i * values.length) / count, ((i + 1) * values.length) / count)),
  );

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
 * Force: S Z Aᵀ + Sᵀ Z A for "full", 2 Sᵀ Z A for "shortcut", S being the derivative of the
 * potential by C.
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
            total +=
              formula === "full"
                ? S[m * tokens + n] * ZAt[n * d + j] + S[n * tokens + m] * ZA[n * d + j]
                : 2 * S[n * tokens + m] * ZA[n * d + j];
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

/**
 * The potential of a window; see `attentionField`.
 * @param {number[][]} z
 * @param {number[][]} A
 * @param {string} softmax "vector" or "matrix"
 */
export function attentionPotential(z, A, softmax) {
  return attentionField(z.length, z[0].length, A, softmax, "full").potential(flat(z));
}

/**
 * The force on each token of a window; see `attentionField`.
 * @param {number[][]} z
 * @param {number[][]} A
 * @param {string} softmax "vector" or "matrix"
 * @param {string} formula "full" or "shortcut"
 * @returns {number[][]}
 */
export function attentionForce(z, A, softmax, formula) {
  const force = new Float64Array(z.length * z[0].length);
  attentionField(z.length, z[0].length, A, softmax, formula).force(flat(z), force);
  return inRows(force, z.length);
}

/** The derivative of `attentionForce` in the direction `dz`, in closed form. */
function forceDerivative(z, dz, A, softmax, formula) {
  const S = inRows(
    attentionField(z.length, z[0].length, A, softmax, formula).weights(flat(z)),
    z.length,
  );
  const dC = sum(product(product(dz, A), transpose(z)), product(product(z, A), transpose(dz)));
  const weighed = combine((s, c) => s * c, S, dC);
  const columnTotals = transpose(weighed).map((column) =>
    column.reduce((total, x) => total + x, 0),
  );
  const all = columnTotals.reduce((total, x) => total + x, 0);
  const dS = S.map((row, m) =>
    row.map((s, n) => weighed[m][n] - s * (softmax === "matrix" ? all : columnTotals[n])),
  );
  const [ZA, dZA, At] = [product(z, A), product(dz, A), transpose(A)];
  const asks = sum(product(transpose(dS), ZA), product(transpose(S), dZA));
  if (formula === "shortcut") return asks.map((row) => row.map((x) => 2 * x));
  return sum(sum(product(dS, product(z, At)), product(S, product(dz, At))), asks);
}

/**
 * The Jacobian of `attentionForce`: entry (i, j) is ∂forceᵢ/∂zⱼ, both flattened row by row.
 * @param {number[][]} z
 * @param {number[][]} A
 * @param {string} softmax "vector" or "matrix"
 * @param {string} formula "full" or "shortcut"
 * @returns {Float64Array[]}
 */
export function forceJacobian(z, A, softmax, formula) {
  const [tokens, d] = [z.length, z[0].length];
  const columns = [];
  for (let j = 0; j < tokens * d; j += 1) {
    const direction = zeros(tokens, d);
    direction[Math.floor(j / d)][j % d] = 1;
    columns.push(
      Float64Array.from(
        forceDerivative(z, direction, A, softmax, formula).flatMap((row) => Array.from(row)),
      ),
    );
  }
  return transpose(columns);
}

const norm = (a) => Math.hypot(...a.flatMap((row) => Array.from(row)));

/** The symmetric part of a square matrix. @param {number[][]} A */
export const symmetricPart = (A) => combine((x, y) => (x + y) / 2, A, transpose(A));

/**
 * |M − Mᵀ|, entry by entry, with the largest entry of |M| as unit.
 * @param {any[]} M
 * @returns {number[][]}
 */
export function asymmetries(M) {
  const largest = Math.max(...M.map((row) => Math.max(...row.map(Math.abs))));
  return combine((x, y) => Math.abs(x - y) / (largest || 1), M, transpose(M));
}

/**
 * ‖M − Mᵀ‖ / ‖M‖: zero for the Jacobian of a gradient, and for that of no force at all.
 * @param {any[]} M
 */
export function relativeAsymmetry(M) {
  return norm(combine((x, y) => x - y, M, transpose(M))) / (norm(M) || 1);
}

/**
 * ‖KᵀJK − J‖ / ‖J‖ for the kick (q, p) → (q, p − step · force(q)), whose force has the Jacobian M.
 * @param {any[]} M
 * @param {number} step
 */
export function kickSymplecticityError(M, step) {
  return (step * norm(combine((x, y) => x - y, M, transpose(M)))) / Math.sqrt(2 * M.length);
}

/**
 * H = |p|²/2 + |q|²/2 + Σ(q), moved by Störmer–Verlet with the chosen force in place of ∇Σ.
 * @param {number[][]} z
 * @param {number[][]} A
 * @param {string} softmax "vector" or "matrix"
 * @param {string} formula "full" or "shortcut"
 * @param {number} dt
 * @param {number} steps
 */
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
