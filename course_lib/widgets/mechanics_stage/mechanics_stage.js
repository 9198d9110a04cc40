import { plain, vector } from "../kit/array.js";
import { STAGE, sizeOf } from "../kit/bodies.js";
import { button, checks, select, series, slider } from "../kit/controls.js";
import { playButton, playIfMoving } from "../kit/play.js";
import { colourOf } from "../kit/run_colours.js";
import { number, percent, quantity } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { LARGER, tail } from "./actors.js";
import { glass, HEIGHT, WIDTH } from "./glass.js";
import { hand, handles } from "./hand.js";
import { derive, networks, rollouts, specOf } from "./runs.js";
import { ENDS, lead } from "./verdict.js";

const MOST = 3;
const STEPS = 40;
// At its end a run stands still for so many seconds, to be looked at.
const REST = 1.5;
const GHOST = 19;
const PAUSE = "❚❚ Pause";

/** What became of a run, in short sentences: each tells of a moment of its own. */
function fate({ lost, stops, free, level, ends }, { spec }) {
  if (stops > 0) return `Stops at step ${stops}: it finds no next state.`;
  if (lost > 0) return `Lost at step ${lost}: its energy outgrows all numbers.`;
  const told = [
    free >= 0 ? FREED[spec.name](free) : level > 1 && "The glass runs over.",
    level < 0.02 && "The glass is empty.",
    ends && "Its run ends here.",
  ];
  return told.filter(Boolean).join(" ");
}
const FREED = {
  Pendulum: (step) => `Over the top at step ${step}.`,
  Kepler: (step) => `Free of its sun at step ${step}.`,
};

/** As much as may be told of a run: there is room for it from the beginning. */
function mostTold({ spec, start, steps }, { whole }) {
  const fates = [FREED[spec.name]?.(steps) ?? "The glass runs over."];
  if (whole) fates.push("Its run ends here.");
  const energy = number(start.energy + 10 * Math.sign(start.energy));
  return html`Energy <b>${energy}</b> (true <b>${number(start.energy)}</b>)
    <strong>${fates.join(" ")}</strong>`;
}

/** Where a ball is in truth. */
const ghost = ([x, y], unit) => svg`<circle cx=${x} cy=${y}
  r=${GHOST * sizeOf(unit / LARGER)} fill="none" stroke="var(--cw-ink)" stroke-width="2"
  stroke-dasharray="5 4"></circle>`;

function scene(now, ui, run, first) {
  const { actor, bounds, spec, start, truth } = now;
  const unit = STAGE / ui.width("scene", STAGE);
  const grip = hand(ui, run.key);
  const scale = actor.scale(run.state ?? start);
  return svg`<svg viewBox="0 0 ${STAGE} ${STAGE}" class="cw-scene" role="group"
    aria-label="${spec.title}, moved by ${run.name}" @pointerdown=${grip} @pointermove=${grip}
    @pointerup=${grip} @pointercancel=${grip}>
    <g class=${scale < 1 ? "cw-far" : nothing} transform=${about(scale)}>
      ${bounds}${actor.traces(run.past).map((places) => tail(places, run.colour))}
      ${run.state ? actor.draw(run, run.state, unit / scale) : nothing}
    </g>
    ${scale < 1 ? scaleBar(scale, unit) : nothing}
    ${truth && run.key !== "truth" ? actor.balls(truth).map((ball) => ghost(ball, unit)) : nothing}
    ${handles(now, ui, run, first)}
  </svg>`;
}

/** A view that widens about the middle. */
const about = (scale) =>
  `translate(${STAGE / 2} ${STAGE / 2}) scale(${scale}) translate(${-STAGE / 2} ${-STAGE / 2})`;
const scaleBar = (scale, unit) => svg`<text class="cw-far-scale" x=${8 * unit}
  y=${16 * unit} style="font-size: ${12 * unit}px">scale 1 : ${number(1 / scale, 1)}</text>`;

function act(now, ui, run, i) {
  const { start, glass: full, time, spec } = now;
  const right = (start.energy - full.floor) / (full.rim - full.floor);
  return html`<div class="cw-act" data-run=${run.key}>
    <p class="cw-act-name"><span class="cw-swatch" style="background: ${run.colour}"
      aria-hidden="true"></span> <strong>${run.name}</strong></p>
    <div class="cw-act-row ${spec.name === "Kepler" ? "cw-night" : ""}">
      <div data-measure=${i === 0 ? "scene" : nothing}>${scene(now, ui, run, i === 0)}</div>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"
        aria-label="Its energy, ${percent(run.level)} of the glass; true is ${percent(right)}">
        ${glass({ level: run.lost > 0 ? Infinity : run.level, right, moment: time })}
      </svg>
    </div>
    <p class="cw-over cw-act-told"><span><span>Energy <b>${run.state ? number(run.height) : "∞"}</b>
      (true <b>${number(start.energy)}</b>)</span>
      <strong>${fate(run, now)}</strong></span>
      <span aria-hidden="true" data-waits>${mostTold(now, run)}</span></p>
  </div>`;
}

function transport({ end, time, dt }, ui) {
  const show = (moment) => {
    ui.play(false);
    ui.set({ time: Math.min(ui.now.end, moment), ...(moment >= ui.now.end ? { seen: true } : {}) });
  };
  const begin = () => {
    if (ui.now.time >= ui.now.end) ui.set({ time: 0 });
  };
  const step = () => {
    const { dt: length, steps, time: at } = ui.now;
    const many = Math.max(1, Math.round(steps / STEPS));
    show(at >= ui.now.end ? 0 : length * (Math.round(at / length) + many));
  };
  // While a run rests at its end there is nothing to pause.
  const resting = ui.now.playing && time >= end;
  const again = () => ui.set({ time: 0 });
  const playing = playButton(ui, { start: "Play", stop: PAUSE, begin });
  const line = { label: "Time", min: 0, max: end, step: dt, value: time, set: show };
  const at = (moment) => `step ${Math.floor(moment / dt + 1e-9)}`;
  return html`<div class="cw-controls cw-act-transport" data-time=${time}>
    ${resting ? button("▶ Again", again, { other: PAUSE }) : playing}
    ${button("Step", step)}
    ${slider(ui, "time", { ...line, format: at })}
  </div>`;
}

/** Begins again from another setting, out of any hand, and moves unless the page is to be still. */
function choose(ui, changes) {
  ui.set({ ...changes, time: 0, seen: false, held: null });
  playIfMoving(ui);
}

function controls(now, ui) {
  const { systems, spec, method_names, networks: learned } = now;
  const most = roomFor(now);
  const enter = (name) => {
    const other = systems.find((one) => one.name === name);
    const wanted = wantedOf(ui.now);
    const taken = takenBy(other, wanted, most, method_names);
    choose(ui, { system: name, z: other.z, dt: other.dt, methods: taken, wanted, taken });
  };
  return html`<div class="cw-controls">
    ${learned.length ? nothing : setting({ systems, enter }, ui)}
    ${
      most > 0
        ? checks(ui, "methods", {
            ...{ label: `Integrators, up to ${most}`, most },
            options: method_names
              .filter(([method]) => spec.methods.includes(method))
              .map(([method, text]) => [method, text, series(colourOf(method))]),
          })
        : nothing
    }
  </div>`;
}

/** What the reader has chosen: more than there is here, if a system did not take all of it. */
const wantedOf = ({ methods, wanted, taken }) =>
  taken && methods.join() === taken.join() ? wanted : methods;

/** Of the integrators that are wanted those that a system takes, and others for those it does not. */
function takenBy({ methods: able, first }, wanted, most, method_names) {
  const kept = wanted.filter((method) => able.includes(method));
  const others = first.filter((method) => !kept.includes(method));
  const on = [...kept, ...others.slice(0, wanted.length - kept.length)].slice(0, most);
  return method_names.map(([method]) => method).filter((method) => on.includes(method));
}

/**
 * For integrators, as Python counts: networks stand beside the true motion, and a run of Python's
 * keeps its place for the reader who comes back to its start.
 */
const roomFor = ({ rollouts: all, networks: learned }) =>
  MOST - all.length - (learned.length && learned.length + 1);

/** Which system, and its step: networks know one step of one system. */
const setting = ({ systems, enter }, ui) => html`${select(ui, "system", {
  label: "System",
  options: systems.map(({ name, title }) => [name, title]),
  choose: enter,
})}
${slider(ui, "dt", {
  ...{ label: "Step size", min: 0.01, max: 1, logarithmic: true },
  ...{ format: (dt) => number(dt, 3), set: (dt) => choose(ui, { dt }) },
})}`;

const namesOf = (runs) => runs.map(({ name }) => name).join(", ");

/** Runs of Python that have another start than the one in the reader's hand. */
function absent({ rollouts: all, shown }) {
  if (all.length === shown.length) return nothing;
  return html`<p class="cw-hint">What was computed before (${namesOf(all)}) belongs to the first
    start; Reset leads there.</p>`;
}

function note({ spec }) {
  return (
    "By keyboard, Tab to a body, then the arrow keys and Enter. Water is energy: at the dashed line " +
    "it stands as at the start, and the true motion keeps it there. " +
    `${RIMS[spec.name] ?? "Up to the rim it is twice that."}`
  );
}
const A_BALL = "Take a ball: all begin where you let go, at rest.";
/** What a hand can do here. */
const HANDS = {
  Pendulum: "Take a bob: all begin where you let go, at rest.",
  Kepler: "Take a planet and let go gently, or throw it.",
  RigidBody: "Take the tip of the arrow, and let go.",
};
/** What a hand can do and what the glasses hold, or that it went beyond what networks were shown. */
function handNow({ spec, networks: learned, start, trained, glass: { floor, rim } }) {
  const circles = learned.length ? "Dashed circles: where the true motion has them. " : "";
  const scale = `Glasses: energy ${quantity(floor)} to ${quantity(rim)}.`;
  if (!learned.length || trained === null || start.energy <= trained)
    return `${HANDS[spec.name] ?? A_BALL} ${circles}${scale}`;
  return html`<strong>Farther than they were trained:</strong> they saw no energy above
    ${number(trained)}; this start has ${number(start.energy)}.`;
}
const RIMS = {
  Pendulum: "A glass that runs over holds enough to go over the top.",
  Kepler: "A glass that runs over holds enough to leave the sun for ever.",
};

function view(now, ui) {
  const { length: acts } = now.runs;
  return html`${acts ? lead(now) : nothing}
    <div class="cw-acts" data-acts=${acts} style="--cw-acts: ${acts}">
      ${now.runs.map((run, i) => act(now, ui, run, i))}
      ${acts || roomFor(now) < 1 ? nothing : html`<p class="cw-hint">Switch an integrator on.</p>`}
    </div>
    <p class="cw-hint cw-act-hand">${handNow(now)}</p>
    ${transport(now, ui)}${controls(now, ui)}${absent(now)}`;
}

function words(now) {
  const { seen } = now;
  const told = now.runs.map((run) => {
    const end = fate(run, now);
    const outcome =
      seen && run.key !== "truth" ? ` In the end its water ${ENDS[run.outcome]}.` : "";
    return `${run.name}: energy ${run.state ? number(run.height) : "lost"}.${end && ` ${end}`}${outcome}`;
  });
  const { spec, time, dt, start } = now;
  const when = `${spec.title}, step ${Math.floor(time / dt + 1e-9)}`;
  return `${when}. At first the energy is ${number(start.energy)}. ${told.join(" ")}`;
}

export default widget({
  label: "Stage for mechanics: one start, several integrators",
  name: "cw-stage-for-mechanics",
  data: { systems: plain, method_names: plain, rollouts, networks, trained: plain },
  controls: { system: plain, z: vector, dt: plain, methods: plain },
  local: { time: 0, held: null, seen: false, wanted: null, taken: null },
  whole(now) {
    const { z, methods } = specOf(now) ?? { methods: [] };
    const known = now.networks.every(({ system, dt }) => system === now.system && dt === now.dt);
    const able = now.methods.every((method) => methods.includes(method));
    return now.z.length === z?.length && able && known;
  },
  // Which integrators there are depends on the system, and how many on the runs of Python.
  limits: (now) => ({
    methods: {
      ...{ kind: "several", low: 0, high: roomFor(now) },
      each: { kind: "choice", options: now.method_names.map(([method]) => method) },
    },
  }),
  along({ system }, now) {
    const spec = specOf(now);
    if (system === undefined) return {};
    const methods = takenBy(spec, now.methods, roomFor(now), now.method_names);
    return { z: spec.z, dt: spec.dt, methods };
  },
  atSight: (ui) => ui.play(true),
  entered: (ui) => choose(ui, {}),
  derive,
  view,
  words,
  how: note,
  began: (now) => `${specOf(now).title}, steps of ${number(now.dt, 3)}`,
  advance: ({ time }, ui, seconds) => {
    const { end, spec } = ui.now;
    const { pace } = spec;
    const next = time >= end + REST * pace ? 0 : time + seconds * pace;
    ui.set({ time: next, ...(next >= end ? { seen: true } : {}) });
  },
});
