// The runs of EnergyDrift: what its traits come to, before anything is drawn.

import { decodeArray, plain } from "../kit/array.js";
import { sceneOf } from "../kit/bodies.js";
import { plane } from "../kit/plane.js";
import { colourOf, GREY, ROLLOUT_COLOURS } from "../kit/run_colours.js";
import { levelLine } from "../maths/contour.js";
import { beginning, keeping, stretches, stretchOf } from "../maths/drift.js";
import { energyDrift, SYSTEMS, startFault, stateAt } from "../maths/mechanics.js";
import { upTo } from "../maths/numerics.js";
import { stepperOf } from "../maths/programs.js";

/** The side of the phase portrait. */
export const SIDE = 320;
const BINS = 320;
const NONE = [];
/** In steps: over more, a straight line would be no motion. */
const NEAR = 5;
/** On its first run the chart begins with so many steps, and reaches so far beyond the time. */
const [FIRST, AHEAD] = [20, 1.2];
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
    list.map(({ low, high, points, at, ...rest }) => ({
      ...rest,
      low: decodeArray(low).values,
      high: decodeArray(high).values,
      points: decodeArray(points).values,
      at: decodeArray(at).values,
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

/** The largest of all numbers up to each. @param {ArrayLike<number>} values */
function runningMost(values) {
  let most = -Infinity;
  return Float64Array.from(values, (value) => {
    most = Math.max(most, value);
    return most;
  });
}

/**
 * The least and the largest of all energies up to each, as shares of a first one.
 * @param {ArrayLike<number>} energies
 * @param {number} first
 * @returns {(n: number) => [number, number]}
 */
function rangesOf(energies, first) {
  const shares = Float64Array.from(energies, (energy) => energy / first);
  const [least, most] = [shares.map((share) => -share), shares].map(runningMost);
  return (n) => [-least[n], most[n]];
}

/** A run of the page's: its curve, its trace and where it stands at the shown time. */
function followed(now, ui, { spec, axes, place, time, span }, { key, method, ...known }) {
  const { system, q, p, dt, steps } = now;
  const { parameters } = spec;
  const dim = q.length;
  const count = Math.min(steps, Math.ceil(span / dt)) + 1;
  const run = ui.memo(`run ${key}`, [spec, q, p, dt], () =>
    energyDrift({ system, parameters, method, q, p, dt, steps }),
  );
  const worst = ui.memo(`worst ${key}`, [run], () => runningMost(run.error));
  const step = Math.min(run.taken, Math.floor(time / dt + 1e-9));
  const ranges = ui.memo(`ranges ${key}`, [run], () =>
    rangesOf(run.energy.subarray(0, run.taken + 1), run.energy[0]),
  );
  return {
    ...run,
    ...{ key, method, dt, ...known },
    worstBy: (step) => worst[step],
    curve: ui.memo(`curve ${key}`, [run, count], () => beginning(run.error, count, BINS)),
    outcome: ui.memo(`outcome ${key}`, [run], () => outcomeOf(run, steps)),
    ...ui.memo(`trace ${key}`, [run, place], () => traceOfRun(run, dim, axes, place)),
    last: run.error[run.taken],
    level: run.energy[step] / run.energy[0],
    range: ranges(step),
    state: stateAt(run, dim, Math.min(steps, time / dt)),
    // Of a run that is lost, the way out.
    ending: run.taken >= 0 ? stateAt(run, dim, run.taken) : null,
  };
}

/** An integrator of the page's own. */
const integrator = ({ method_names }, method) => ({
  ...{ key: method, method, colour: colourOf(method) },
  name: method_names.find(([key]) => key === method)[1],
});

/** How runs of Python's, and steppers of the reader's own, are told apart. */
const looks = (i) => ({
  colour: ROLLOUT_COLOURS[i % ROLLOUT_COLOURS.length],
  dash: DASHES[i % DASHES.length],
});

/** A stepper of the reader's own, which the page runs by itself. */
const stepper = ({ program, i }, { q }, { memo }) => ({
  ...{ key: `rollout ${program.name}`, name: program.name, ...looks(i) },
  method: memo(`program ${i}`, [program, q.length], () => stepperOf(program, q.length)),
});

/** Whether an integrator's run keeps its energy. */
function outcomeOf({ error, taken, largest }, steps) {
  if (taken < steps) return "gone";
  return keeping({ high: error, starts: upTo(steps + 1), total: steps + 1 }, largest);
}

/**
 * A run that Python computed. One that is shorter than the others ends before they do, and one that
 * is `stale` belongs to another start than the one that is shown.
 */
function received({ rollout, i }, { dim, steps, axes, place, mechanics, height, dt, stale }) {
  const { points, low, high, taken, largest } = rollout;
  const width = 2 * dim;
  const at = (axis) => (n) => points[n * width + axis];
  const whole = high[high.length - 1] < Infinity;
  const total = whole ? taken + 1 : steps + 1;
  const curve = { low, high, total, starts: stretches(total, high.length) };
  const energies = energiesOf(rollout, dim, mechanics);
  const ranges = rangesOf(energies, height);
  return {
    ...rollout,
    ...{ dt, stale, ...looks(i) },
    key: `rollout ${rollout.name}`,
    worstBy: worstReceived(rollout, curve, energies, height),
    levelAt: (moment) => energies[lastKept(rollout, moment)] / height,
    rangeBy: (moment) => ranges(lastKept(rollout, moment)),
    ...traceOf(Math.floor(points.length / width), at(axes.x), at(axes.y), place),
    outside: -1,
    whole,
    curve,
    outcome: whole ? keeping(curve, largest) : "gone",
    ...(stale ? { colour: GREY } : {}),
  };
}

/** The last of the states of Python's that the page has, up to a moment. */
const lastKept = ({ at }, moment) => at.findLastIndex((step) => step <= moment);

/** The energies of those states. */
const energiesOf = ({ points, at }, dim, mechanics) =>
  Array.from(at, (_, n) => {
    const numbers = Array.from(points.subarray(2 * dim * n, 2 * dim * (n + 1)));
    return mechanics.energy(numbers.slice(0, dim), numbers.slice(dim));
  });

/**
 * How far the energy of a run of Python's, of such stretches, was off up to a step, as far as the
 * page knows: from whole stretches, and in the last one from the states that it has.
 */
function worstReceived({ high, at }, { starts, total }, energies, height) {
  const most = (step) => high[stretchOf(starts, step)];
  const errors = Array.from(at, (step, n) =>
    // A state travels in single precision: it is never farther off than its stretch.
    Math.min(Math.abs(energies[n] - height) / (Math.abs(height) || 1), most(step)),
  );
  const [largest, states] = [high, errors].map(runningMost);
  return (step) => {
    const whole = step + 1 < total ? stretchOf(starts, step + 1) : starts.length;
    const kept = lastKept({ at }, step);
    return Math.max(whole > 0 ? largest[whole - 1] : 0, states[kept]);
  };
}

/**
 * Where a run of Python's stands after `moment` steps: on the straight line between two states that
 * the page has, if they are near, and else in the first of them.
 */
function keptState({ points, at, taken }, dim, moment) {
  if (moment > taken) return null;
  const before = lastKept({ at }, moment);
  const gap = at[before + 1] - at[before];
  const share = gap <= NEAR ? (moment - at[before]) / gap : 0;
  const numbers = upTo(2 * dim).map((i) => {
    const here = points[2 * dim * before + i];
    return share > 0 ? here + share * (points[2 * dim * (before + 1) + i] - here) : here;
  });
  return { q: numbers.slice(0, dim), p: numbers.slice(dim) };
}

/** The time of the state that stands for a moment, if that is not near it. */
function elsewhere({ at, taken, dt }, moment) {
  const kept = at[lastKept({ at }, moment)];
  return moment <= taken && moment - kept > NEAR ? kept * dt : undefined;
}

/** What the exact motion cannot leave: its orbit, or the rim of where its energy lets it go. */
function boundOf({ reach }, { dim, energy }, height) {
  const valueAt = dim === 1 ? (x, y) => energy([x], [y]) : (x, y) => energy([x, y], [0, 0]);
  return levelLine(valueAt, reach, height, SIDE);
}

/** Where the widget began, which is where the runs of Python begin. */
const beganWith = ({ system, dt, q, p }, { memo }) =>
  memo("began", [], () => ({ system, dt, q, p }));

/**
 * The runs of Python, each with its place among all that were given; what the page can run itself it
 * runs. In another setting they are stale, and of another system they cannot be drawn.
 */
function rolloutsNow({ system, dt, q, p, rollouts, rollouts_follow, programs }, ui) {
  const began = beganWith({ system, dt, q, p }, ui);
  const first = [...began.q, ...began.p];
  const moved = [...q, ...p].some((part, i) => part !== first[i]);
  const there = rollouts_follow || (system === began.system && dt === began.dt && !moved);
  const all = rollouts.map((rollout, i) => ({ rollout, i }));
  const ofPage = rollouts_follow ? NONE : programs;
  const nameOf = ({ rollout: { name } }) => name;
  const left = all.filter((one) => !ofPage.some(({ name }) => name === nameOf(one)));
  const place = (name) => rollouts.findIndex((rollout) => rollout.name === name);
  return {
    own: ofPage.map((program) => ({ program, i: place(program.name) })),
    received: system === began.system || rollouts_follow ? left : NONE,
    /** Who is missing or stale. */
    away: there ? NONE : left.map(nameOf),
    stale: there ? "" : moved ? "first start" : "first step",
    began,
    /** Whether there are runs that belong to where the widget began. */
    fixed: !rollouts_follow && left.length > 0,
  };
}

/** In which order Python gave them. */
const placeOf = ({ rollouts }, run) => rollouts.findIndex(({ name }) => name === run.name);

/** What a plane of two coordinates shows: where the bodies go, or positions with their momenta. */
const portraitOf = ({ x, y }, dim) => (x < dim && y < dim ? "orbit" : "phase portrait");

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
  const found = rolloutsNow(now, ui);
  const scene = ui.memo("scene", [spec], () => sceneOf(spec));
  const span = now.unseen ? Math.min(end, Math.max(now.calm, FIRST * dt, AHEAD * time)) : end;
  const about = { spec, axes, place, time, span };
  const runs = now.methods.map((method) => followed(now, ui, about, integrator(now, method)));
  const own = found.own.map((one) => followed(now, ui, about, stepper(one, now, ui)));
  const height = mechanics.energy(q, p);
  const { began, stale } = found;
  const shown = ui.memo("shown", [now.rollouts, place, mechanics, height, stale, dt], () => {
    const first = stale ? mechanics.energy(began.q, began.p) : height;
    const known = { dim, steps, axes, place, mechanics, height: first, stale };
    return found.received.map((one) => received(one, { ...known, dt: stale ? began.dt : dt }));
  });
  const standing = shown.map((run) => {
    const moment = Math.min(steps, time / run.dt);
    return {
      ...run,
      ...{ state: keptState(run, dim, moment), elsewhere: elsewhere(run, moment) },
      ...{ level: run.levelAt(moment), range: run.rangeBy(moment) },
    };
  });
  const given = [...own, ...standing].toSorted((a, b) => placeOf(now, a) - placeOf(now, b));
  const all = [...runs, ...given];
  // At both ends the whole of each run is to be seen, and between them what is past.
  const step = time > 0 && time < end ? Math.floor(time / dt) : Infinity;
  return {
    ...{ spec, axes, place, end, time, step, span, shown, runs, given, all, scene, height },
    ...{ away: found.away, fixed: found.fixed, began, live: all.filter(({ stale }) => !stale) },
    portrait: portraitOf(axes, dim),
    bound: ui.memo("bound", [mechanics, height], () => boundOf(spec, mechanics, height)),
  };
}
