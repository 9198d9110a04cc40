// The runs of EnergyDrift: what its traits come to, before anything is drawn.

import { decodeArray, plain } from "../array.js";
import { sceneOf } from "../bodies.js";
import { levelLine } from "../maths/contour.js";
import { energyDrift, envelope, SYSTEMS, startFault, stateAt } from "../maths/mechanics.js";
import { plane } from "../plane.js";
import { colourOf, ROLLOUT_COLOURS } from "./colours.js";

/** The side of the phase portrait. */
export const SIDE = 320;
const BINS = 320;
const NONE = [];
// Rollouts are dashed, each in its own way.
const DASHES = [
  [30, 12],
  [12, 12],
  [30, 9, 6, 9],
  [6, 9],
  [60, 12],
];

/** Trajectories that Python computed: the envelope of their energy errors, and some points. */
export const rollouts = {
  encode: plain.encode,
  decode: (list) =>
    list.map(({ low, high, points, ...rest }) => ({
      ...rest,
      low: decodeArray(low).values,
      high: decodeArray(high).values,
      points: decodeArray(points).values,
    })),
};

/** The system that is chosen, with its scene. @param {any} now */
export const specOf = ({ systems, system }) => systems.find(({ name }) => name === system);

/** Where a state stands in the plane of two of its coordinates: shares of the picture, pixels. */
function placing({ reach, period, q }, { x, y }) {
  const [rx, ry] = [reach[x], reach[y]];
  const field = plane({ x: [-rx, rx], y: [-ry, ry], width: SIDE, height: SIDE });
  // An angle is drawn between −π and π, however often the pendulum has gone round.
  const wrapped = (value, axis) =>
    period && axis < q.length ? value - period * Math.round(value / period) : value;
  return {
    ...field,
    pointOf: (all) => [wrapped(all[x], x), wrapped(all[y], y)],
    across: (value) => (wrapped(value, x) / rx + 1) / 2,
    down: (value) => (1 - wrapped(value, y) / ry) / 2,
  };
}

/** The points of a run in the picture, as shares of its sides, and the first that is outside. */
function traceOf(count, xAt, yAt, { across, down }) {
  const [xs, ys] = [new Float64Array(count), new Float64Array(count)];
  let outside = -1;
  for (let n = 0; n < count; n += 1) {
    xs[n] = across(xAt(n));
    ys[n] = down(yAt(n));
    const inside = xs[n] >= 0 && xs[n] <= 1 && ys[n] >= 0 && ys[n] <= 1;
    if (!inside && outside < 0) outside = n;
  }
  return { xs, ys, outside };
}

function traceOfRun({ q, p, taken }, dim, { x, y }, place) {
  const at = (axis) => {
    const [values, offset] = axis < dim ? [q, axis] : [p, axis - dim];
    return (n) => values[n * dim + offset];
  };
  return traceOf(taken + 1, at(x), at(y), place);
}

/** An integrator's run, its curve, its trace and where it stands at the shown time. */
function followed(now, ui, { spec, axes, place, time }, method) {
  const { system, q, p, dt, steps, method_names } = now;
  const { parameters } = spec;
  const dim = q.length;
  const run = ui.memo(`run ${method}`, [spec, q, p, dt], () =>
    energyDrift({ system, parameters, method, q, p, dt, steps }),
  );
  return {
    ...run,
    key: method,
    ...ui.memo(`curve ${method}`, [run], () => envelope(run.error, steps + 1, BINS)),
    ...ui.memo(`trace ${method}`, [run, place], () => traceOfRun(run, dim, axes, place)),
    method,
    name: method_names.find(([key]) => key === method)[1],
    colour: colourOf(method),
    last: run.error[run.taken],
    share: 1,
    stride: 1,
    state: stateAt(run, dim, Math.min(steps, time / dt)),
  };
}

/** A run that Python computed. One that is shorter than the others ends before they do. */
function received(rollout, i, { dim, steps, axes, place }) {
  const { points, high, taken } = rollout;
  const width = 2 * dim;
  const at = (axis) => (n) => points[n * width + axis];
  const whole = high[high.length - 1] < Infinity;
  return {
    ...rollout,
    key: `rollout ${rollout.name}`,
    ...traceOf(Math.floor(points.length / width), at(axes.x), at(axes.y), place),
    outside: -1,
    stride: Math.ceil(((taken + 1) * width) / points.length),
    whole,
    share: whole ? (taken + 1) / (steps + 1) : 1,
    colour: ROLLOUT_COLOURS[i % ROLLOUT_COLOURS.length],
    dash: DASHES[i % DASHES.length],
  };
}

/** Where a run of Python's stands after `moment` steps: in the last state that the page has. */
function keptState({ points, taken, stride }, dim, moment) {
  if (moment > taken) return null;
  const last = points.length / (2 * dim) - 1;
  const at = 2 * dim * Math.min(last, Math.floor(moment / stride));
  return { q: [...points.slice(at, at + dim)], p: [...points.slice(at + dim, at + 2 * dim)] };
}

/** What the exact motion cannot leave: its orbit, or the rim of where its energy lets it go. */
function boundOf({ reach }, { dim, energy }, height) {
  const valueAt = dim === 1 ? (x, y) => energy([x], [y]) : (x, y) => energy([x, y], [0, 0]);
  return levelLine(valueAt, reach, height, SIDE);
}

/** The runs of Python that belong to the present setting: those for where the widget began. */
function rolloutsNow({ system, dt, q, p, rollouts, rollouts_follow }, { memo }) {
  const setting = [system, dt, ...q, ...p];
  const began = memo("began", [], () => setting);
  const there = setting.every((part, i) => part === began[i]);
  return rollouts_follow || there ? rollouts : NONE;
}

/** What EnergyDrift shows, from its traits and its local state. @param {any} now @param {any} ui */
export function derive(now, ui) {
  const { q, p, dt, steps } = now;
  const spec = specOf(now);
  const fault = startFault(spec.name, q);
  if (fault) throw new Error(fault);
  const dim = q.length;
  const axes = spec.planes[Math.min(now.plane, spec.planes.length - 1)];
  const place = ui.memo("place", [spec, axes], () => placing(spec, axes));
  const mechanics = ui.memo("mechanics", [spec], () => SYSTEMS[spec.name](spec.parameters));
  const end = dt * steps;
  const time = Math.min(now.time, end);
  const shown = rolloutsNow(now, ui);
  const runs = now.methods.map((method) => followed(now, ui, { spec, axes, place, time }, method));
  const given = ui.memo("given", [shown, place], () =>
    shown.map((rollout, i) => received(rollout, i, { dim, steps, axes, place })),
  );
  const height = mechanics.energy(q, p);
  const moment = Math.min(steps, time / dt);
  const standing = given.map((run) => ({ ...run, state: keptState(run, dim, moment) }));
  // At both ends the whole of each run is to be seen, and between them what is past.
  const step = time > 0 && time < end ? Math.floor(time / dt) : Infinity;
  return {
    ...{ spec, axes, place, end, time, step, shown, runs, given },
    all: [...runs, ...standing],
    bound: ui.memo("bound", [mechanics, height], () => boundOf(spec, mechanics, height)),
    scene: ui.memo("scene", [spec], () => sceneOf(spec)),
  };
}
