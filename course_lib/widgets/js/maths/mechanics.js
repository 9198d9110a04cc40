// Hamiltonian systems and the steppers of course_lib.mechanics, on plain arrays. Each stepper moves
// `q` and `p` in place, so that ten thousand steps make no garbage.

import { upTo } from "./numerics.js";

function sigmoidPair(x) {
  const s = x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
  return [s, s * (1 - s)];
}

/** `H(q, p)`, its gradients written into `out`, and the number of degrees of freedom. */
export const SYSTEMS = {
  HarmonicOscillator: ({ mass, stiffness }) => ({
    dim: 1,
    energy: (q, p) => (p[0] * p[0]) / (2 * mass) + (stiffness * q[0] * q[0]) / 2,
    gradQ: (q, out) => {
      out[0] = stiffness * q[0];
    },
    gradP: (p, out) => {
      out[0] = p[0] / mass;
    },
  }),
  Pendulum: ({ mass, length, gravity }) => ({
    dim: 1,
    energy: (q, p) => {
      const half = Math.sin(q[0] / 2);
      return (
        (p[0] * p[0]) / (2 * mass * length * length) + mass * gravity * length * 2 * half * half
      );
    },
    gradQ: (q, out) => {
      out[0] = mass * gravity * length * Math.sin(q[0]);
    },
    gradP: (p, out) => {
      out[0] = p[0] / (mass * length * length);
    },
  }),
  CoupledOscillators: ({ mass1, mass2, stiffness1, stiffness2, coupling }) => ({
    dim: 2,
    energy: (q, p) => {
      const [s] = sigmoidPair(q[0]);
      const stretch = q[1] - q[0];
      return (
        (p[0] * p[0]) / (2 * mass1) +
        (p[1] * p[1]) / (2 * mass2) +
        (stiffness1 * q[0] * q[0]) / 2 +
        (stiffness2 * q[1] * q[1]) / 2 +
        (coupling * s * stretch * stretch) / 2
      );
    },
    gradQ: (q, out) => {
      const [s, slope] = sigmoidPair(q[0]);
      const stretch = q[1] - q[0];
      out[0] = stiffness1 * q[0] + coupling * ((slope * stretch * stretch) / 2 - s * stretch);
      out[1] = stiffness2 * q[1] + coupling * s * stretch;
    },
    gradP: (p, out) => {
      out[0] = p[0] / mass1;
      out[1] = p[1] / mass2;
    },
  }),
  Kepler: ({ mass, gravity }) => ({
    dim: 2,
    energy: (q, p) =>
      (p[0] * p[0] + p[1] * p[1]) / (2 * mass) -
      (mass * gravity) / Math.sqrt(q[0] * q[0] + q[1] * q[1]),
    gradQ: (q, out) => {
      const r2 = q[0] * q[0] + q[1] * q[1];
      const pull = (mass * gravity) / (r2 * Math.sqrt(r2));
      out[0] = pull * q[0];
      out[1] = pull * q[1];
    },
    gradP: (p, out) => {
      out[0] = p[0] / mass;
      out[1] = p[1] / mass;
    },
  }),
  HenonHeiles: ({ strength }) => ({
    dim: 2,
    energy: (q, p) =>
      (p[0] * p[0] + p[1] * p[1] + q[0] * q[0] + q[1] * q[1]) / 2 +
      strength * (q[0] * q[0] * q[1] - (q[1] * q[1] * q[1]) / 3),
    gradQ: (q, out) => {
      out[0] = q[0] + 2 * strength * q[0] * q[1];
      out[1] = q[1] + strength * (q[0] * q[0] - q[1] * q[1]);
    },
    gradP: (p, out) => {
      out[0] = p[0];
      out[1] = p[1];
    },
  }),
};

/** Room for the intermediate stages of any stepper, so that no step has to make arrays. */
function stages(dim) {
  const room = {};
  for (const name of ["a", "b", "q1", "p1", "a1", "b1", "a2", "b2", "a3", "b3"])
    room[name] = new Float64Array(dim);
  return room;
}

// The midpoint equation is solved by fixed-point iteration, as far as float64 can tell.
const MIDPOINT_ITERATIONS = 100;
const MIDPOINT_TOLERANCE = 1e-14;

export const STEPPERS = {
  explicit_euler({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    gradP(p, b);
    for (let i = 0; i < dim; i += 1) {
      q[i] += dt * b[i];
      p[i] -= dt * a[i];
    }
  },
  symplectic_euler({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= dt * a[i];
    gradP(p, b);
    for (let i = 0; i < dim; i += 1) q[i] += dt * b[i];
  },
  stoermer_verlet({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= (dt / 2) * a[i];
    gradP(p, b);
    for (let i = 0; i < dim; i += 1) q[i] += dt * b[i];
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= (dt / 2) * a[i];
  },
  runge_kutta_4({ dim, gradQ, gradP }, q, p, dt, { a, b, q1, p1, a1, b1, a2, b2, a3, b3 }) {
    gradQ(q, a);
    gradP(p, b);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + (dt / 2) * b[i];
      p1[i] = p[i] - (dt / 2) * a[i];
    }
    gradQ(q1, a1);
    gradP(p1, b1);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + (dt / 2) * b1[i];
      p1[i] = p[i] - (dt / 2) * a1[i];
    }
    gradQ(q1, a2);
    gradP(p1, b2);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + dt * b2[i];
      p1[i] = p[i] - dt * a2[i];
    }
    gradQ(q1, a3);
    gradP(p1, b3);
    for (let i = 0; i < dim; i += 1) {
      q[i] += (dt / 6) * (b[i] + 2 * b1[i] + 2 * b2[i] + b3[i]);
      p[i] -= (dt / 6) * (a[i] + 2 * a1[i] + 2 * a2[i] + a3[i]);
    }
  },
  implicit_midpoint({ dim, gradQ, gradP }, q, p, dt, { a, b, q1, p1 }) {
    q1.set(q);
    p1.set(p);
    for (let iteration = 0; iteration < MIDPOINT_ITERATIONS; iteration += 1) {
      gradQ(q1, a);
      gradP(p1, b);
      let change = 0;
      for (let i = 0; i < dim; i += 1) {
        const qMiddle = q[i] + (dt / 2) * b[i];
        const pMiddle = p[i] - (dt / 2) * a[i];
        change = Math.max(change, Math.abs(qMiddle - q1[i]), Math.abs(pMiddle - p1[i]));
        q1[i] = qMiddle;
        p1[i] = pMiddle;
      }
      if (!(change > MIDPOINT_TOLERANCE)) break;
    }
    for (let i = 0; i < dim; i += 1) {
      q[i] = 2 * q1[i] - q[i];
      p[i] = 2 * p1[i] - p[i];
    }
  },
};

/**
 * `steps` steps from (q, p), the start included: positions, momenta and energies of each. `taken`
 * counts the steps whose energy is finite; what follows the first that is not is left at zero.
 */
export function integrate(system, stepper, q, p, dt, steps) {
  const { dim } = system;
  const room = stages(dim);
  const [qNow, pNow] = [Float64Array.from(q), Float64Array.from(p)];
  const qs = new Float64Array((steps + 1) * dim);
  const ps = new Float64Array((steps + 1) * dim);
  const energy = new Float64Array(steps + 1);
  qs.set(qNow);
  ps.set(pNow);
  energy[0] = system.energy(qNow, pNow);
  let taken = 0;
  while (taken < steps) {
    STEPPERS[stepper](system, qNow, pNow, dt, room);
    const value = system.energy(qNow, pNow);
    if (!Number.isFinite(value)) break;
    taken += 1;
    qs.set(qNow, taken * dim);
    ps.set(pNow, taken * dim);
    energy[taken] = value;
  }
  return { q: qs, p: ps, energy, taken };
}

/**
 * A run of one of `SYSTEMS` with its relative energy errors, absolute ones where the energy starts
 * at 0. `taken` counts the steps whose error is a finite number; −1 if not even the start's is.
 * @param {{ system: string, parameters: any, method: string, q: number[], p: number[], dt: number,
 *   steps: number }} setting
 */
export function energyDrift({ system, parameters, method, q, p, dt, steps }) {
  const run = integrate(SYSTEMS[system](parameters), method, q, p, dt, steps);
  const unit = Math.abs(run.energy[0]) || 1;
  const error = new Float64Array(run.taken + 1);
  let [taken, largest] = [-1, 0];
  while (taken < run.taken) {
    const next = Math.abs(run.energy[taken + 1] - run.energy[0]) / unit;
    if (!Number.isFinite(next)) break;
    taken += 1;
    error[taken] = next;
    if (next > largest) largest = next;
  }
  return { ...run, taken, error: error.subarray(0, taken + 1), largest };
}

/**
 * Where a run stands after `moment` steps; between two steps, on the straight line from one to the
 * other. Nothing once the run is lost.
 * @param {{ q: Float64Array, p: Float64Array, taken: number }} run
 * @param {number} dim
 * @param {number} moment
 */
export function stateAt({ q, p, taken }, dim, moment) {
  const before = Math.floor(moment);
  const part = moment - before;
  if (before + (part > 0 ? 1 : 0) > taken) return null;
  const at = (values, i) => {
    const [from, to] = [values[before * dim + i], values[(before + 1) * dim + i]];
    return part > 0 ? from + part * (to - from) : from;
  };
  const both = upTo(dim);
  return { q: both.map((i) => at(q, i)), p: both.map((i) => at(p, i)) };
}

/**
 * The least and the largest of `values` in each of `bins` equal stretches of 0 … `length - 1`.
 * @param {ArrayLike<number>} values
 * @param {number} length
 * @param {number} bins
 */
export function envelope(values, length, bins) {
  const low = new Float64Array(bins).fill(Infinity);
  const high = new Float64Array(bins).fill(-Infinity);
  for (let n = 0; n < values.length; n += 1) {
    const bin = Math.min(bins - 1, Math.floor((n * bins) / length));
    if (values[n] < low[bin]) low[bin] = values[n];
    if (values[n] > high[bin]) high[bin] = values[n];
  }
  return { low, high };
}
