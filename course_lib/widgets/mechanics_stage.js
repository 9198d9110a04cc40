import { plain, vector } from "./js/array.js";
import { STAGE, sizeOf } from "./js/bodies.js";
import { button, checks, select, series, slider } from "./js/controls.js";
import { colourOf } from "./js/energy_drift/colours.js";
import { LARGER, tail } from "./js/mechanics_stage/actors.js";
import { glass, HEIGHT, WIDTH } from "./js/mechanics_stage/glass.js";
import { hand, handles } from "./js/mechanics_stage/hand.js";
import { derive, networks, rollouts, specOf } from "./js/mechanics_stage/runs.js";
import { playAtOnce, playButton, prefersStillness } from "./js/play.js";
import { number } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const MOST = 3;
const STEPS = 40;
// At its end a run stands still for so many seconds, to be looked at.
const REST = 1.5;
const GHOST = 19;

const listed = (parts) => parts.map((part) => number(part)).join(", ");

/** What became of a run, in short sentences: each tells of a moment of its own. */
function fate({ lost, over, level, ends, state }, { spec, actor }) {
  if (lost > 0) return `Lost at step ${lost}: its energy outgrows all numbers.`;
  const told = [
    over >= 0 && `Over the top at step ${over}.`,
    outside(actor, state) && `${spec.name === "Kepler" ? "Its planet" : "It"} has left the stage.`,
    level > 1 && "The glass runs over.",
    level < 0.02 && "The glass is empty.",
    ends && "Its run ends here.",
  ];
  return told.filter(Boolean).join(" ");
}
const outside = (actor, state) =>
  actor.balls(state).some((place) => place.some((part) => part < 0 || part > STAGE));

/** As much as may be told of a run: there is room for it from the beginning. */
function mostTold({ spec, start, steps }, { whole }) {
  const fates = [MOST_TOLD[spec.name]?.(steps) ?? "It has left the stage. The glass runs over."];
  if (whole) fates.push("Its run ends here.");
  const energy = number(start.energy + 10 * Math.sign(start.energy));
  return html`Energy <b>${energy}</b>, at first <b>${number(start.energy)}</b>.
    <strong>${fates.join(" ")}</strong>`;
}
const MOST_TOLD = {
  Pendulum: (steps) => `Over the top at step ${steps}. The glass runs over.`,
  Kepler: () => "Its planet has left the stage. The glass runs over.",
};

/** Where a ball is in truth. */
const ghost = ([x, y], unit) => svg`<circle class="cw-ghost" cx=${x} cy=${y}
  r=${GHOST * sizeOf(unit / LARGER)} fill="none" stroke="var(--cw-ink)" stroke-width="2"
  stroke-dasharray="5 4"></circle>`;

function scene(now, ui, run, first) {
  const { actor, bounds, spec, truth } = now;
  const unit = STAGE / ui.width("scene", STAGE);
  const grip = hand(ui, run.key);
  return svg`<svg viewBox="0 0 ${STAGE} ${STAGE}" class="cw-scene" role="group"
    aria-label="${spec.title}, moved by ${run.name}" @pointerdown=${grip} @pointermove=${grip}
    @pointerup=${grip} @pointercancel=${grip}>
    ${bounds}${actor.traces(run.past).map((places) => tail(places, run.colour))}
    ${run.state ? actor.draw(run, run.state, unit) : nothing}
    ${truth && run.key !== "truth" ? actor.balls(truth).map((ball) => ghost(ball, unit)) : nothing}
    ${handles(now, ui, run, first)}
  </svg>`;
}

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
    <p class="cw-act-told"><span><span>Energy <b>${run.state ? number(run.height) : "∞"}</b>,
      at first <b>${number(start.energy)}</b>.</span>
      <strong>${fate(run, now)}</strong></span>
      <span class="cw-act-most" aria-hidden="true">${mostTold(now, run)}</span></p>
  </div>`;
}
const percent = (share) => `${number(100 * share, 0)} %`;

function transport({ end, time, dt }, ui) {
  const show = (moment) => {
    ui.play(false);
    ui.set({ time: Math.min(ui.now.end, moment) });
  };
  const begin = () => {
    if (ui.now.time >= ui.now.end) ui.set({ time: 0 });
  };
  const step = () => {
    const { dt: length, steps, time: at } = ui.now;
    const many = Math.max(1, Math.round(steps / STEPS));
    show(at >= ui.now.end ? 0 : length * (Math.round(at / length) + many));
  };
  const line = { label: "Time", min: 0, max: end, step: dt, value: time, set: show };
  const at = (moment) => `step ${Math.floor(moment / dt + 1e-9)}`;
  const speeds = { min: 0.25, max: 4, step: 0.25, format: (speed) => `${number(speed)} ×` };
  return html`<div class="cw-controls cw-act-transport" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin })} ${button("Step", step)}
    ${slider(ui, "time", { ...line, format: at })}
    ${slider(ui, "speed", { label: "Speed", ...speeds })}
  </div>`;
}

/** Begins again from another setting, and moves unless the page is to be still. */
function choose(ui, changes) {
  ui.set({ ...changes, time: 0 });
  if (ui.now.moving && !prefersStillness()) ui.play(true);
}

function controls(now, ui) {
  const { systems, spec, method_names, methods, networks: learned } = now;
  const most = roomFor(now);
  const enter = (name) => {
    const { z, dt, methods: able, first } = systems.find((other) => other.name === name);
    const kept = ui.now.methods.filter((method) => able.includes(method));
    const chosen = kept.length < methods.length ? first.slice(0, most) : kept;
    choose(ui, { system: name, z, dt, methods: chosen });
  };
  return html`<div class="cw-controls">
    ${learned.length ? nothing : setting({ systems, enter }, ui)}
    ${
      most > 0
        ? checks(ui, "methods", {
            ...{ label: "Integrators", most },
            options: method_names
              .filter(([method]) => spec.methods.includes(method))
              .map(([method, text]) => [method, text, series(colourOf(method))]),
          })
        : nothing
    }
  </div>`;
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
  const planet =
    spec.name === "Kepler" ? " a planet that is let go gently goes round in a circle;" : "";
  const what = spec.name === "RigidBody" ? "Take the tip of the arrow" : "Take a body";
  return (
    `${what} and let go, or throw it;${planet} by keyboard Tab to it, then the arrow keys and Enter. ` +
    "Water is energy: at the dashed line it stands as at the start, and the true motion keeps it " +
    `there. ${RIMS[spec.name] ?? "Up to the rim it is twice that."}`
  );
}
const RIMS = {
  Pendulum: "A glass that runs over has enough to go over the top.",
  Kepler: "A glass that runs over has enough to leave the sun for ever.",
};

function view(now, ui) {
  if (now.moving) playAtOnce(ui);
  const { length: acts } = now.runs;
  return html`<div class="cw-acts" data-acts=${acts} style="--cw-acts: ${acts}">
      ${now.runs.map((run, i) => act(now, ui, run, i))}
      ${acts || roomFor(now) < 1 ? nothing : html`<p class="cw-hint">Switch an integrator on.</p>`}
    </div>
    ${transport(now, ui)}${controls(now, ui)}${absent(now)}`;
}

function words(now) {
  const told = now.runs.map((run) => {
    const end = fate(run, now);
    return `${run.name}: energy ${run.state ? number(run.height) : "lost"}.${end && ` ${end}`}`;
  });
  const { spec, time, dt, start } = now;
  const when = `${spec.title}, step ${Math.floor(time / dt + 1e-9)}`;
  return `${when}. At first the energy is ${number(start.energy)}. ${told.join(" ")}`;
}

export default widget({
  label: "Stage for mechanics: one start, several integrators",
  name: "cw-stage-for-mechanics",
  data: { systems: plain, method_names: plain, rollouts, networks, moving: plain },
  controls: { system: plain, z: vector, dt: plain, methods: plain },
  local: { time: 0, speed: 1, held: null },
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
    const { z, dt, first } = specOf(now);
    return system === undefined ? {} : { z, dt, methods: first.slice(0, roomFor(now)) };
  },
  entered: (ui) => choose(ui, {}),
  derive,
  view,
  words,
  how: note,
  began: (now) => `${specOf(now).title}, z = ${listed(now.z)}, steps of ${number(now.dt, 3)}`,
  advance: ({ time, speed }, ui, seconds) => {
    const { end, spec } = ui.now;
    const pace = spec.pace * speed;
    ui.set({ time: time >= end + REST * pace ? 0 : time + seconds * pace });
  },
});
