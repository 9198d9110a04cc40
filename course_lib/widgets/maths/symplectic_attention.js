// Symplectic attention on windows of tokens: its potential, its force, and what follows from them.

import { integrate } from "./mechanics.js";
import { upTo } from "./numerics.js";

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
  // A step evaluates three times at two places, so the last result is cached.
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

/**
 * ‖M − Mᵀ‖ / ‖M‖: zero for the Jacobian of a gradient, and for that of no force at all.
 * @param {any[]} M
 */
export function relativeAsymmetry(M) {
  return norm(combine((x, y) => x - y, M, transpose(M))) / (norm(M) || 1);
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

/** How far an oscillator of unit frequency turns from one window to the next. */
export const TURN = 1.2;

/**
 * Oscillators whose windows turn exactly and then feel the attention of weight `epsilon`, with the
 * matrix softmax. Token i turns by `TURN`, and `apart` more than the token before it. All states,
 * the start included, row by row, and the energy (q² + p²) / 2 of each.
 * @param {number[]} q
 * @param {number[]} p
 * @param {number} epsilon
 * @param {number} apart
 * @param {number} count of windows
 */
export function coupledOscillators(q, p, epsilon, apart, count) {
  const tokens = q.length;
  const field = attentionField(tokens, 1, [[epsilon]], "matrix", "full");
  const turns = q.map((_, i) => TURN + apart * (i - (tokens - 1) / 2));
  const [cos, sin] = [turns.map(Math.cos), turns.map(Math.sin)];
  const [place, push] = [Float64Array.from(q), new Float64Array(tokens)];
  const momentum = Float64Array.from(p);
  const [qs, ps, energies] = upTo(3).map(() => new Float64Array(tokens * count));
  for (let n = 0; n < count; n += 1) {
    for (let i = 0; i < tokens; i += 1) {
      const [x, y] = [place[i], momentum[i]];
      qs[n * tokens + i] = x;
      ps[n * tokens + i] = y;
      energies[n * tokens + i] = (x * x + y * y) / 2;
      place[i] = x * cos[i] + y * sin[i];
      momentum[i] = y * cos[i] - x * sin[i];
    }
    field.force(place, push);
    for (let i = 0; i < tokens; i += 1) momentum[i] -= push[i];
  }
  return { q: qs, p: ps, energies };
}

// Gauss–Legendre on [0, 1]: places and weights.
const GAUSS = [
  [0.5, 0.5688888888888889],
  [0.5 - 0.5384693101056831 / 2, 0.4786286704993665],
  [0.5 + 0.5384693101056831 / 2, 0.4786286704993665],
  [0.5 - 0.906179845938664 / 2, 0.2369268850561891],
  [0.5 + 0.906179845938664 / 2, 0.2369268850561891],
].map(([place, weight]) => [place, weight / 2]);

/** The corner of a closed wire from which a bead needs the least push to get round, and that push. */
function easiestStart(works) {
  const count = works.length;
  let best = { start: 0, need: Infinity };
  for (let start = 0; start < count; start += 1) {
    let [sum, need] = [0, 0];
    for (let i = 0; i < count && need < best.need; i += 1) {
      sum += works[(start + i) % count];
      need = Math.max(need, -sum);
    }
    if (need < best.need) best = { start, need };
  }
  return best;
}

/**
 * The last token of a window as a bead on a closed wire in the plane, while the others are held.
 * Only the force of attention, −`attentionForce`, drives it; its mass is 1. It starts where it takes
 * the least push to get round, `need`. Distances along the wire count from there, backwards too.
 * @param {number[][]} z
 * @param {number[][]} A
 * @param {string} softmax "vector" or "matrix"
 * @param {string} formula "full" or "shortcut"
 * @param {number[][]} wire the corners
 */
export function beadOnWire(z, A, softmax, formula, wire) {
  const field = attentionField(z.length, 2, A, softmax, formula);
  const [window, out, last] = [flat(z), new Float64Array(2 * z.length), 2 * (z.length - 1)];
  const pieceFrom = (from, i) => {
    const to = wire[(i + 1) % wire.length];
    const along = [to[0] - from[0], to[1] - from[1]];
    return { from, along, length: Math.hypot(...along) };
  };

  /** The force on the bead, along a piece, at a share of its length. */
  function push({ from, along }, share) {
    window[last] = from[0] + share * along[0];
    window[last + 1] = from[1] + share * along[1];
    field.force(window, out);
    return -(out[last] * along[0] + out[last + 1] * along[1]);
  }
  const workOn = (piece, share) =>
    GAUSS.reduce((sum, [place, weight]) => sum + weight * push(piece, share * place), 0) * share;

  const around = wire.map(pieceFrom).filter(({ length }) => length > 0);
  const { start, need } = easiestStart(around.map((piece) => workOn(piece, 1)));
  const pieces = [...around.slice(start), ...around.slice(0, start)];
  const [far, works] = [[0], [0]];
  pieces.forEach((piece, i) => {
    far.push(far[i] + piece.length);
    works.push(works[i] + workOn(piece, 1));
  });
  const [length, total] = [far.at(-1), works.at(-1)];
  const gross = works.reduce((sum, work, i) => sum + Math.abs(work - (works[i - 1] ?? 0)), 0);

  function at(s) {
    const rounds = Math.floor(s / length);
    const rest = s - rounds * length;
    let i = 0;
    while (i < pieces.length - 1 && far[i + 1] <= rest) i += 1;
    const share = (rest - far[i]) / pieces[i].length;
    return { rounds, i, share, piece: pieces[i] };
  }
  return {
    need,
    total,
    /** Whether the work of a round is zero up to rounding. */
    closes: Math.abs(total) <= CLOSED * gross,
    length,
    far,
    works,
    corners: pieces.map(({ from }) => from),
    place(s) {
      const { share, piece } = at(s);
      return piece.from.map((part, i) => part + share * piece.along[i]);
    },
    push(s) {
      const { share, piece } = at(s);
      return push(piece, share) / piece.length;
    },
    work(s) {
      const { rounds, i, share, piece } = at(s);
      return rounds * total + works[i] + workOn(piece, share);
    },
  };
}

const CLOSED = 1e-7;
const RIDE_STEP = 1 / 200;

/**
 * The ride of a bead that starts with the energy of motion `energy`: for a time, how far it has come
 * and how fast it is. It ends when `rounds` rounds are closed, in either direction.
 * @param {ReturnType<typeof beadOnWire>} bead
 * @param {number} energy
 * @param {number} rounds
 */
export function ride(bead, energy, rounds) {
  const end = rounds * bead.length;
  const begin = () => ({
    n: 0,
    s: 0,
    v: Math.sqrt(2 * energy),
    low: 0,
    high: 0,
    push: bead.push(0),
  });
  let now = begin();

  function step() {
    now.v += (now.push * RIDE_STEP) / 2;
    now.s += now.v * RIDE_STEP;
    now.push = bead.push(now.s);
    now.v += (now.push * RIDE_STEP) / 2;
    // Kinetic energy from work; a step across a corner of the wire would lose a little of it.
    const exact = 2 * (energy + bead.work(now.s));
    if (exact > 0) now.v = Math.sign(now.v) * Math.sqrt(exact);
    now.low = Math.min(now.low, now.s);
    now.high = Math.max(now.high, now.s);
    now.n += 1;
  }
  return (time) => {
    const count = Math.floor(time / RIDE_STEP + 1e-9);
    if (count < now.n) now = begin();
    while (now.n < count && Math.abs(now.s) < end) step();
    return { ...now, over: Math.abs(now.s) >= end };
  };
}

/** The state of a bead after a time, if it starts with the energy that it needs plus `more`. */
export function bead(z, A, softmax, formula, wire, more, rounds, time) {
  const on = beadOnWire(z, A, softmax, formula, wire);
  const { s, v } = ride(on, on.need + more, rounds)(time);
  const { need, total, closes, length, corners } = on;
  return { need, total, closes, length, corners, s, v, work: on.work(s), place: on.place(s) };
}
