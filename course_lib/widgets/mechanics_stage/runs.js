// The runs of MechanicsStage: what its traits come to at a moment, before anything is drawn.

import { decodeRows, plain } from "../kit/array.js";
import { series } from "../kit/controls.js";
import { colourOf, inkOfRun, ROLLOUT_COLOURS } from "../kit/run_colours.js";
import { keeping } from "../maths/drift.js";
import { learnedRun } from "../maths/learned_step.js";
import {
  attitudeAt,
  attitudes,
  glassOf,
  integrate,
  numberAt,
  SYSTEMS,
  startFault,
  stateAt,
  trueStep,
} from "../maths/mechanics.js";
import { upTo } from "../maths/numerics.js";
import { actorOf } from "./actors.js";

const MOST_PLACES = 160;
const NETWORK_COLOURS = [2, 1];

/** Trajectories that Python computed. */
export const rollouts = {
  encode: plain.encode,
  decode: (list) => list.map(({ states, ...rest }) => ({ ...rest, states: decodeRows(states) })),
};

/** Networks that Python trained. */
export const networks = {
  encode: plain.encode,
  decode: (list) =>
    list.map(({ layers, ...rest }) => ({ ...rest, layers: layers.map(decodeRows) })),
};

/** The system that is chosen, with its scene. @param {any} now */
export const specOf = ({ systems, system }) => systems.find(({ name }) => name === system);

/** Positions and momenta of a state; a rigid body has no momenta. */
export const halves = (z, dim) => [
  z.slice(0, dim),
  z.length > dim ? z.slice(dim) : new Array(dim).fill(0),
];

/** A run of Python's as `integrate` would have given it. */
function received({ states }, { dim, energy }) {
  const parts = states.map((state) => halves(state, dim));
  const [q, p] = [0, 1].map((half) => Float64Array.from(parts.flatMap((part) => part[half])));
  const energies = Float64Array.from(parts, ([a, b]) => energy(a, b));
  return { q, p, energy: energies, taken: states.length - 1 };
}

/**
 * The first step at which a pendulum stands on its head or beyond, or at which a planet that its sun
 * held has the energy to leave for ever; none: −1.
 */
const FREED = {
  // One that is let go there has not gone over.
  Pendulum: ({ q, taken }) =>
    q.findIndex((angle, n) => n > 0 && n <= taken && Math.abs(angle) > Math.PI),
  Kepler: ({ energy, taken }) =>
    energy[0] < 0 ? energy.findIndex((height, n) => n <= taken && height >= 0) : -1,
};

/** Where a run stands at a moment, where it was, and how high its water is. */
function followed(now, ui, { key, name, colour, dt, whole, make }) {
  const { spec, mechanics, actor, glass, time, z } = now;
  const { dim } = mechanics;
  const run = ui.memo(`run ${key}`, [spec, z, dt, whole], make);
  const { inertia } = spec.parameters;
  const turns = inertia && ui.memo(`turns ${key}`, [run], () => attitudes(inertia, run, dt));
  const stateOf = (moment) => {
    const state = stateAt(run, dim, moment);
    return state && turns
      ? { ...state, attitude: attitudeAt(inertia, turns, run, dt, moment) }
      : state;
  };
  // A run that is whole, and shorter than the others, stands where it ends, or finds no next state.
  const moment = Math.min(time / dt, whole || run.unsolved ? run.taken : Infinity);
  const state = stateOf(moment);
  const height = state && numberAt(run.energy, moment);
  const free = ui.memo(`free ${key}`, [run], () => FREED[spec.name]?.(run) ?? -1);
  const { outcome, largest } = ui.memo(`outcome ${key}`, [run], () => outcomeOf(run, whole));
  return {
    ...{ key, name, colour, whole, state, height, outcome, largest },
    level: state ? (height - glass.floor) / (glass.rim - glass.floor) : 0,
    past: state ? pastOf(stateOf, moment, actor.tail / dt, dt) : [],
    free: free >= 0 && moment >= free ? free : -1,
    lost: state ? -1 : run.taken + 1,
    stops: run.unsolved && time / dt > run.taken ? run.taken + 1 : -1,
    ends: whole && time / dt > run.taken,
  };
}

/** Whether a run keeps its energy, and how far it is off at most, as a share of that at the start. */
function outcomeOf({ energy, taken }, whole) {
  const unit = Math.abs(energy[0]) || 1;
  const kept = energy.subarray(0, taken + 1);
  const high = kept.map((height) => Math.abs(height - energy[0]) / unit);
  const lost = !whole && taken + 1 < energy.length;
  const largest = lost ? Infinity : high.reduce((a, b) => Math.max(a, b), 0);
  return {
    outcome: keeping({ high, starts: upTo(taken + 1), total: taken + 1 }, largest),
    largest,
  };
}

/** The states of the last steps, how long `ago` each was, the oldest first; and the present one. */
function pastOf(stateOf, moment, steps, dt) {
  const at = (n) => ({ ...stateOf(n), ago: dt * (moment - n) });
  const last = Math.floor(moment);
  const first = Math.max(0, Math.ceil(moment - steps));
  const stride = Math.max(1, Math.ceil((last - first) / MOST_PLACES));
  const count = steps > 0 ? Math.floor((last - first) / stride) + 1 : 0;
  // Counted from the end of the run's beginning, so that the places stand still while it moves on.
  const from = first + ((stride - (first % stride)) % stride);
  return [
    ...upTo(count)
      .map((i) => from + i * stride)
      .filter((n) => n <= last)
      .map(at),
    at(moment),
  ];
}

/** The runs of Python belong to where the widget began. */
function rolloutsNow({ system, z, dt, rollouts: all }, { memo }) {
  const setting = [system, dt, ...z];
  const began = memo("began", [], () => setting);
  return setting.every((part, i) => part === began[i]) ? all : [];
}

/** What MechanicsStage shows, from its traits and its local state. @param {any} now @param {any} ui */
export function derive(now, ui) {
  const { z, dt, method_names, networks } = now;
  const spec = specOf(now);
  const mechanics = ui.memo("mechanics", [spec], () => SYSTEMS[spec.name](spec.parameters));
  const actor = ui.memo("actor", [spec], () => actorOf(spec));
  const [q, p] = halves(z, mechanics.dim);
  const fault = startFault(spec.name, q);
  if (fault) throw new Error(fault);
  const steps = Math.round(spec.span / dt);
  const end = steps * dt;
  const start = { q, p, energy: mechanics.energy(q, p) };
  const glass = glassOf(spec, start.energy);
  const time = Math.min(now.time, end);
  const about = { spec, mechanics, actor, glass, time, z };
  const shown = rolloutsNow(now, ui);
  const integrated = now.methods.map((method) => ({
    ...{ key: method, dt, whole: false, colour: series(colourOf(method)) },
    name: method_names.find(([key]) => key === method)[1],
    make: () => integrate(mechanics, method, q, p, dt, steps),
  }));
  const truth = {
    ...{ key: "truth", name: "true motion", dt, whole: false, colour: "var(--cw-ink)" },
    make: () => integrate(mechanics, trueStep, q, p, dt, steps),
  };
  const learned = networks.map((network, i) => ({
    ...{ key: `network ${network.name}`, name: network.name, dt, whole: false },
    colour: series(NETWORK_COLOURS[i]),
    make: () => learnedRun(network, spec, q, p, steps),
  }));
  const given = shown.map((rollout, i) => ({
    ...{ key: `rollout ${rollout.name}`, name: rollout.name, dt: rollout.dt, whole: !rollout.lost },
    colour: inkOfRun(ROLLOUT_COLOURS[i]),
    make: () => received(rollout, mechanics),
  }));
  const all = [...(networks.length ? [truth] : []), ...learned, ...integrated, ...given];
  const runs = all.map((run) => followed(about, ui, run));
  return {
    ...about,
    ...{ steps, end, start, shown, runs },
    truth: runs.find(({ key }) => key === "truth")?.state,
    bounds: ui.memo("bounds", [spec, z], () => actor.bounds(start)),
  };
}
