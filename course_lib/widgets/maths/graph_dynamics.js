// Heat, wave and double bracket on a graph, exactly: each mode of the Laplacian moves by itself.
// Heights q stand on nodes, currents p on edges; d is the gradient, (d q)ₑ = q[to] − q[from].

import { uniform } from "./generation.js";
import { upTo } from "./numerics.js";

const MOST_SWEEPS = 60;
const REACH = 3;
// Many springs: at 1 their energy would be far larger than that of a pluck.
const STRONGEST = 0.4;

/** d of a function on the nodes. @param {ArrayLike<number>} f @param {number[][]} edges */
export const gradient = (f, edges) => Float64Array.from(edges, ([from, to]) => f[to] - f[from]);

/** Turns rows and columns i and j of a symmetric A, so that A[i][j] becomes 0 (Jacobi, 1846). */
function rotate(A, U, i, j) {
  const theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const row of A) {
    const x = row[i];
    row[i] = c * x - s * row[j];
    row[j] = s * x + c * row[j];
  }
  for (const rows of [A, U]) {
    const [a, b] = [rows[i], rows[j]];
    for (let k = 0; k < a.length; k += 1) {
      const x = a[k];
      a[k] = c * x - s * b[k];
      b[k] = s * x + c * b[k];
    }
  }
}

/**
 * Eigenvalues of a symmetric matrix, the least first, and a unit eigenvector for each.
 * @param {ArrayLike<number>[]} matrix
 */
export function eigen(matrix) {
  const A = matrix.map((row) => Float64Array.from(row));
  const n = A.length;
  const U = A.map((_, i) => Float64Array.from({ length: n }, (_, j) => Number(i === j)));
  const size = Math.max(...A.map((row) => Math.hypot(...row)));
  for (let sweep = 0, turned = true; turned && sweep < MOST_SWEEPS; sweep += 1) {
    turned = false;
    for (let i = 0; i < n; i += 1) {
      for (let j = i + 1; j < n; j += 1) {
        if (Math.abs(A[i][j]) <= 1e-14 * size) continue;
        rotate(A, U, i, j);
        turned = true;
      }
    }
  }
  const order = upTo(n).sort((i, j) => A[i][i] - A[j][j]);
  return { values: order.map((i) => A[i][i]), vectors: order.map((i) => U[i]) };
}

/**
 * The modes of L = dᵀd: `values` λ, `nodes` u and, where λ > 0, `currents` d u / √λ.
 * @param {number} count of nodes
 * @param {number[][]} edges
 */
export function laplacianModes(count, edges) {
  const L = upTo(count).map(() => new Float64Array(count));
  for (const [from, to] of edges) {
    for (const [i, j] of [
      [from, to],
      [to, from],
    ]) {
      L[i][i] += 1;
      L[i][j] -= 1;
    }
  }
  const { values, vectors } = eigen(L);
  // No positive eigenvalue of a graph on n nodes is less than 4 / n² (Mohar, 1991).
  const rates = values.map((value) => (value * count * count < 1 ? 0 : value));
  const currents = vectors.map((u, k) =>
    rates[k] ? gradient(u, edges).map((part) => part / Math.sqrt(rates[k])) : null,
  );
  return { values: rates, nodes: vectors, currents };
}

function inner(f, g) {
  let total = 0;
  for (let i = 0; i < f.length; i += 1) total += f[i] * g[i];
  return total;
}

/** Adds to `total` a multiple of `f`. */
function add(total, factor, f) {
  for (let i = 0; i < f.length; i += 1) total[i] += factor * f[i];
}

/**
 * Heights and currents as coordinates a and b in the modes, and the current that circles: the part
 * of p that no mode holds, d*p = 0.
 */
export function inModes({ nodes, currents }, q, p) {
  const a = nodes.map((u) => inner(u, q));
  const b = currents.map((v) => (v ? inner(v, p) : 0));
  const circling = Float64Array.from(p);
  currents.forEach((v, k) => v && add(circling, -b[k], v));
  return { a, b, circling };
}

/**
 * A mode after a time `t`. Heat, ȧ = −λa, knows no currents. In the wave, ȧ = −√λ b and ḃ = √λ a,
 * it turns by √λ t; the bracket, J∇E + J²∇E, turns it as the wave does and shrinks it as heat does.
 */
export function modeAt(law, rate, a, b, t) {
  const shrunk = law === "wave" ? 1 : Math.exp(-rate * t);
  if (law === "heat") return [a * shrunk, 0];
  const angle = Math.sqrt(rate) * t;
  const [c, s] = [shrunk * Math.cos(angle), shrunk * Math.sin(angle)];
  return [a * c - b * s, a * s + b * c];
}

/**
 * Heights and currents after a time `t` under a law.
 * @param {"heat" | "wave" | "bracket"} law
 * @param {any} modes of `laplacianModes`
 * @param {number[]} rates its eigenvalues, times the stiffness
 * @param {any} start of `inModes`
 * @param {number} t
 */
export function stateAt(law, { nodes, currents }, rates, { a, b, circling }, t) {
  const q = new Float64Array(nodes.length);
  const p = law === "heat" ? new Float64Array(circling.length) : Float64Array.from(circling);
  nodes.forEach((u, k) => {
    const [height, current] = modeAt(law, rates[k], a[k], b[k], t);
    add(q, height, u);
    if (currents[k]) add(p, current, currents[k]);
  });
  return { q, p };
}

/** E = ½|q|² + ½|p|² after a time `t`: the part on the nodes, and the whole. */
export function energyAt(law, rates, { a, b, circling }, t) {
  let [nodes, edges] = [0, law === "heat" ? 0 : inner(circling, circling)];
  rates.forEach((rate, k) => {
    const [height, current] = modeAt(law, rate, a[k], b[k], t);
    nodes += height * height;
    edges += current * current;
  });
  return { nodes: nodes / 2, whole: (nodes + edges) / 2 };
}

/** The distance of each node from one of them in edges; ∞ if no path leads there. */
export function distances(count, edges, from) {
  const far = new Array(count).fill(Infinity);
  far[from] = 0;
  for (let news = true; news; ) {
    news = false;
    for (const [i, j] of edges) {
      for (const [x, y] of [
        [i, j],
        [j, i],
      ]) {
        if (far[x] + 1 < far[y]) {
          far[y] = far[x] + 1;
          news = true;
        }
      }
    }
  }
  return far;
}

/** A finger lifts a node; its neighbours follow, cos² of their distance, up to three edges away. */
export function plucked(count, edges, node, height) {
  return distances(count, edges, node).map((far) =>
    far < REACH ? height * Math.cos((Math.PI * far) / (2 * REACH)) ** 2 : 0,
  );
}

/** A mode, as high as 1 where it is highest. @param {Float64Array} u */
export function lifted(u) {
  const largest = u.reduce(
    (best, part) => (Math.abs(part) > Math.abs(best) + 1e-9 ? part : best),
    0,
  );
  return Array.from(u, (part) => part / largest);
}

/** Heights between −1 and 1. @param {number} count @param {number} seed */
export const random = (count, seed) => upTo(count).map((i) => 2 * uniform(seed, i) - 1);

/** A current round the middle of a drawing, a `share` of the strongest. */
export function stirred(places, edges, share) {
  const turn = edges.map(([i, j]) => places[i][0] * places[j][1] - places[i][1] * places[j][0]);
  const most = Math.max(1e-6, ...turn.map(Math.abs));
  return turn.map((part) => (share * STRONGEST * part) / most);
}
