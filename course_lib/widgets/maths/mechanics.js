// Hamiltonian systems and the steppers of course_lib.mechanics, on plain arrays. Each stepper moves
// `q` and `p` in place, so that ten thousand steps allocate nothing; an implicit one returns false if
// its equation was not solved.

import { upTo } from "./numerics.js";

function sigmoidPair(x) {
  const s = x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
  return [s, s * (1 - s)];
}

/**
 * `H(q, p)`, its gradients written into `out`, and the number of degrees of freedom. A rigid body
 * has no pairs: its state is `q`, and what moves `q` takes the place of the gradient by `p`.
 */
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
  RigidBody: ({ inertia: [i1, i2, i3] }) => ({
    dim: 3,
    energy: (z) => ((z[0] * z[0]) / i1 + (z[1] * z[1]) / i2 + (z[2] * z[2]) / i3) / 2,
    gradQ: (_z, out) => out.fill(0),
    gradP: (_p, out, z) => {
      out[0] = (1 / i3 - 1 / i2) * z[1] * z[2];
      out[1] = (1 / i1 - 1 / i3) * z[2] * z[0];
      out[2] = (1 / i2 - 1 / i1) * z[0] * z[1];
    },
  }),
};

/**
 * Why a system cannot start at `q`, as `check_start` of course_lib.mechanics says it; empty if it can.
 * @param {string} system
 * @param {number[]} q
 */
export const startFault = (system, q) =>
  system === "Kepler" && q.every((part) => part === 0)
    ? "q is 0, 0, the sun itself, where the pull has no limit: a planet begins beside it"
    : "";

/** Room for the intermediate stages of any stepper, so that no step has to make arrays. */
function stages(dim) {
  const room = {};
  for (const name of ["a", "b", "q1", "p1", "a1", "b1", "a2", "b2", "a3", "b3"])
    room[name] = new Float64Array(dim);
  for (const name of ["old", "z", "next", "ahead", "size", "missing"])
    room[name] = new Float64Array(2 * dim);
  room.rows = upTo(2 * dim).map(() => new Float64Array(2 * dim + 1));
  return room;
}

// As course_lib.mechanics.steppers solves z = F(z), the implicit equation for the new state z.
const SWEEPS = 100;
const FIRMNESS = [0, 10, 30];
const EPS = Number.EPSILON;

/** Writes F(z) into `to`: the right side of the midpoint rule. */
function midpoint({ dim, gradQ, gradP }, q, p, dt, { z, a, b, q1, p1 }, to) {
  for (let i = 0; i < dim; i += 1) {
    q1[i] = (q[i] + z[i]) / 2;
    p1[i] = (p[i] + z[dim + i]) / 2;
  }
  gradQ(q1, a);
  gradP(p1, b, q1);
  for (let i = 0; i < dim; i += 1) {
    to[i] = q[i] + dt * b[i];
    to[dim + i] = p[i] - dt * a[i];
  }
}

/** Iterates z until only rounding changes it; returns whether it converged. */
function settles(system, q, p, dt, room) {
  const { old, z, next } = room;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    midpoint(system, q, p, dt, room, next);
    let settled = true;
    for (let k = 0; k < z.length; k += 1) {
      // A difference, so that infinite numbers never count as settled.
      settled &&= Math.abs(next[k] - z[k]) - 4 * EPS * (Math.abs(old[k]) + Math.abs(next[k])) <= 0;
      z[k] = next[k];
    }
    if (settled) return true;
  }
  return false;
}

/**
 * Solves A x = b by elimination with the largest pivots (Gauss and Jordan). A row of A has its entry
 * of b behind it, where x comes to stand.
 * @param {Float64Array[]} rows
 */
function solve(rows) {
  const n = rows.length;
  for (let i = 0; i < n; i += 1) {
    let pivot = i;
    for (let k = i + 1; k < n; k += 1)
      if (Math.abs(rows[k][i]) > Math.abs(rows[pivot][i])) pivot = k;
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    for (let k = 0; k < n; k += 1) {
      const factor = rows[k][i] / rows[i][i];
      for (let j = i + 1; j <= n && k !== i; j += 1) rows[k][j] -= factor * rows[i][j];
    }
  }
  for (let i = 0; i < n; i += 1) rows[i][n] /= rows[i][i];
}

/** Solves it by steps (1 + μ − F′) Δz = F(z) − z, F′ by differences; returns whether it converged. */
function newton(system, q, p, dt, room) {
  const { old, z, next, ahead, size, missing, rows } = room;
  const n = z.length;
  for (const firmness of FIRMNESS) {
    z.set(old);
    for (let taken = 0; taken < 15 + 10 * firmness; taken += 1) {
      midpoint(system, q, p, dt, room, next);
      let [most, gone] = [0, 0];
      for (let k = 0; k < n; k += 1) {
        size[k] = Math.abs(old[k]) + Math.abs(next[k]) || 1;
        missing[k] = (next[k] - z[k]) / size[k];
        most = Math.max(most, Math.abs(missing[k]));
        gone = Math.max(gone, Math.abs(missing[k]) + Math.abs(z[k] - old[k]) / size[k]);
      }
      for (let j = 0; j < n; j += 1) {
        const at = z[j];
        z[j] += Math.sqrt(EPS) * size[j];
        midpoint(system, q, p, dt, room, ahead);
        z[j] = at;
        for (let k = 0; k < n; k += 1)
          rows[k][j] = Number(k === j) - (ahead[k] - next[k]) / (Math.sqrt(EPS) * size[k]);
      }
      let solved = true;
      for (let k = 0; k < n; k += 1) {
        let rounding = 0;
        for (let j = 0; j < n; j += 1) rounding += 16 * EPS * Math.abs(rows[k][j]);
        if (!(Math.abs(missing[k]) <= rounding)) solved = false;
        rows[k][k] += (firmness * most) / (gone || 1);
        rows[k][n] = missing[k];
      }
      solve(rows);
      for (let k = 0; k < n; k += 1) z[k] += size[k] * rows[k][n];
      if (solved) return true;
    }
  }
  return false;
}

export const STEPPERS = {
  explicit_euler({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    gradP(p, b, q);
    for (let i = 0; i < dim; i += 1) {
      q[i] += dt * b[i];
      p[i] -= dt * a[i];
    }
  },
  symplectic_euler({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= dt * a[i];
    gradP(p, b, q);
    for (let i = 0; i < dim; i += 1) q[i] += dt * b[i];
  },
  stoermer_verlet({ dim, gradQ, gradP }, q, p, dt, { a, b }) {
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= (dt / 2) * a[i];
    gradP(p, b, q);
    for (let i = 0; i < dim; i += 1) q[i] += dt * b[i];
    gradQ(q, a);
    for (let i = 0; i < dim; i += 1) p[i] -= (dt / 2) * a[i];
  },
  runge_kutta_4({ dim, gradQ, gradP }, q, p, dt, { a, b, q1, p1, a1, b1, a2, b2, a3, b3 }) {
    gradQ(q, a);
    gradP(p, b, q);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + (dt / 2) * b[i];
      p1[i] = p[i] - (dt / 2) * a[i];
    }
    gradQ(q1, a1);
    gradP(p1, b1, q1);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + (dt / 2) * b1[i];
      p1[i] = p[i] - (dt / 2) * a1[i];
    }
    gradQ(q1, a2);
    gradP(p1, b2, q1);
    for (let i = 0; i < dim; i += 1) {
      q1[i] = q[i] + dt * b2[i];
      p1[i] = p[i] - dt * a2[i];
    }
    gradQ(q1, a3);
    gradP(p1, b3, q1);
    for (let i = 0; i < dim; i += 1) {
      q[i] += (dt / 6) * (b[i] + 2 * b1[i] + 2 * b2[i] + b3[i]);
      p[i] -= (dt / 6) * (a[i] + 2 * a1[i] + 2 * a2[i] + a3[i]);
    }
  },
  implicit_midpoint(system, q, p, dt, room) {
    const { dim } = system;
    const { old, z } = room;
    for (let i = 0; i < dim; i += 1) {
      z[i] = old[i] = q[i];
      z[dim + i] = old[dim + i] = p[i];
    }
    const solved = settles(system, q, p, dt, room) || newton(system, q, p, dt, room);
    for (let i = 0; i < dim; i += 1) {
      q[i] = z[i];
      p[i] = z[dim + i];
    }
    return solved;
  },
};

const FINER = 10;

/** Nearly the exact motion: ten steps of Runge–Kutta in one. */
export function trueStep(system, q, p, dt, room) {
  for (let i = 0; i < FINER; i += 1) STEPPERS.runge_kutta_4(system, q, p, dt / FINER, room);
}

/**
 * `steps` steps from (q, p), the start included: positions, momenta and energies of each. `taken`
 * counts the steps whose energy is finite; what follows the first that is not is left at zero.
 * `unsolved` says that the equation of the next step was not solved. `stepper` is a name in `STEPPERS`, or a
 * function like those.
 */
export function integrate(system, stepper, q, p, dt, steps) {
  const { dim } = system;
  const step = STEPPERS[stepper] ?? stepper;
  const room = stages(dim);
  const [qNow, pNow] = [Float64Array.from(q), Float64Array.from(p)];
  const qs = new Float64Array((steps + 1) * dim);
  const ps = new Float64Array((steps + 1) * dim);
  const energy = new Float64Array(steps + 1);
  qs.set(qNow);
  ps.set(pNow);
  energy[0] = system.energy(qNow, pNow);
  let [taken, unsolved] = [0, false];
  while (taken < steps) {
    unsolved = step(system, qNow, pNow, dt, room) === false;
    if (unsolved) break;
    const value = system.energy(qNow, pNow);
    if (!Number.isFinite(value)) break;
    taken += 1;
    qs.set(qNow, taken * dim);
    ps.set(pNow, taken * dim);
    energy[taken] = value;
  }
  return { q: qs, p: ps, energy, taken, unsolved };
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
 * The state of a run after `moment` steps, interpolated linearly between two steps; null once the
 * run is lost.
 * @param {{ q: Float64Array, p: Float64Array, taken: number }} run
 * @param {number} dim
 * @param {number} moment
 */
export function stateAt({ q, p, taken }, dim, moment) {
  if (Math.ceil(moment) > taken) return null;
  const both = upTo(dim);
  const at = (values) => both.map((i) => numberAt(values, moment, dim, i));
  return { q: at(q), p: at(p) };
}

/**
 * Number `i` of the `dim` that stand for each step, after `moment` steps; such as of its energies.
 * @param {Float64Array} values
 * @param {number} moment
 */
export function numberAt(values, moment, dim = 1, i = 0) {
  const before = Math.floor(moment);
  const part = moment - before;
  const [from, to] = [values[before * dim + i], values[(before + 1) * dim + i]];
  return part > 0 ? from + part * (to - from) : from;
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

/**
 * The energies at which a glass of it is empty and full, for a start with such an energy. Full means
 * that a pendulum goes over the top, or a planet away; where it can be, and else twice the start's.
 * @param {{ name: string, parameters: any }} system
 * @param {number} start
 */
export function glassOf({ name, parameters }, start) {
  const unit = Math.abs(start) || 1;
  if (name === "Kepler") return { floor: start - unit, rim: start < 0 ? 0 : start + unit };
  if (name !== "Pendulum") return { floor: 0, rim: 2 * unit };
  const top = 2 * parameters.mass * parameters.gravity * parameters.length;
  return { floor: 0, rim: start < 0.9 * top ? top : 2 * start };
}

/**
 * The ellipse that a planet with the state (q, p) runs through, about the sun in the origin: its
 * centre, half its axes, and the angle of the longer one. Nothing if the planet comes from far away.
 */
export function keplerEllipse({ mass, gravity }, [x, y], p) {
  const [vx, vy] = p.map((part) => part / mass);
  const r = Math.hypot(x, y);
  const energy = (vx * vx + vy * vy) / 2 - gravity / r;
  if (!(energy < 0)) return null;
  const turning = x * vy - y * vx;
  // The Laplace–Runge–Lenz vector points to where the planet is nearest.
  const nearest = [(turning * vy) / gravity - x / r, (-turning * vx) / gravity - y / r];
  const eccentricity = Math.min(1, Math.hypot(...nearest));
  const long = -gravity / (2 * energy);
  return {
    centre: nearest.map((part) => -long * part),
    long,
    short: long * Math.sqrt(1 - eccentricity * eccentricity),
    angle: Math.atan2(nearest[1], nearest[0]),
  };
}

/**
 * A rotation, three rows in nine numbers, after it has turned for a time about axes of its own, at
 * a rate. Source: Rodrigues' formula.
 * @param {ArrayLike<number>} rotation
 * @param {number[]} rate
 * @param {number} time
 */
export function turned(rotation, rate, time) {
  const speed = Math.hypot(...rate);
  const [x, y, z] = rate.map((part) => part / (speed || 1));
  const [sin, cos] = [Math.sin(speed * time), Math.cos(speed * time)];
  const rest = 1 - cos;
  const by = [
    [cos + x * x * rest, x * y * rest - z * sin, x * z * rest + y * sin],
    [y * x * rest + z * sin, cos + y * y * rest, y * z * rest - x * sin],
    [z * x * rest - y * sin, z * y * rest + x * sin, cos + z * z * rest],
  ];
  return upTo(9).map((at) => {
    const [row, column] = [3 * Math.floor(at / 3), at % 3];
    return upTo(3).reduce((sum, k) => sum + rotation[row + k] * by[k][column], 0);
  });
}

/** The angular velocity of a body about its axes, between two states. */
const rateOf = (inertia, from, to) => inertia.map((moment, i) => (from[i] + to[i]) / (2 * moment));

/**
 * How a rigid body stands after each step of a run, upright at first: in each step it turns at the
 * mean of its rates before and after.
 * @param {number[]} inertia
 * @param {{ q: Float64Array, taken: number }} run
 * @param {number} dt
 */
export function attitudes(inertia, { q, taken }, dt) {
  const found = [[1, 0, 0, 0, 1, 0, 0, 0, 1]];
  for (let n = 0; n < taken; n += 1) {
    const [from, to] = [q.slice(3 * n, 3 * n + 3), q.slice(3 * n + 3, 3 * n + 6)];
    found.push(turned(found[n], rateOf(inertia, from, to), dt));
  }
  return found;
}

/** The attitude after `moment` steps, also between two of them. */
export function attitudeAt(inertia, standing, { q }, dt, moment) {
  const n = Math.floor(moment);
  if (n === moment) return standing[n];
  const [from, to] = [q.slice(3 * n, 3 * n + 3), q.slice(3 * n + 3, 3 * n + 6)];
  return turned(standing[n], rateOf(inertia, from, to), dt * (moment - n));
}

/** Halvings of an interval, until a number is exact. */
const HALVINGS = 60;

/**
 * The exponential rate at which a motion must accelerate from `calm` units of time a second to reach
 * its `end` after `seconds`; 0 if it gets there anyway.
 */
export function quickening(end, calm, seconds) {
  let [low, high] = [0, 1];
  const passed = (rate) => (calm * Math.expm1(rate * seconds)) / rate;
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (passed(middle) < end) low = middle;
    else high = middle;
  }
  return low;
}
