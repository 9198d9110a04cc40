import { plain, vector } from "./js/array.js";
import { bodies, STAGE } from "./js/bodies.js";
import { select, slider } from "./js/controls.js";
import { at, chart } from "./js/energy_drift/chart.js";
import { inkOfRun } from "./js/energy_drift/colours.js";
import { list } from "./js/energy_drift/list.js";
import { derive, rollouts, SIDE, specOf } from "./js/energy_drift/runs.js";
import { textWidth } from "./js/lettering.js";
import { startFault } from "./js/maths/mechanics.js";
import { clamp } from "./js/maths/numerics.js";
import { painted } from "./js/painted.js";
import { inkOf, pixels } from "./js/pixels.js";
import { dragging } from "./js/plane.js";
import { playAtOnce, playButton, prefersStillness } from "./js/play.js";
import { number } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const DOTS = 400;
const FAINT = 70;
const NEAR_RIM = 0.98;
const KEY_STEP = 0.02;
/** Units of time in a second of the page: at first, and at most by the reader's hand. */
const [CALM, FASTEST] = [3, 100];
/** It is calm for so many seconds, and then quickens so that the whole run passes in so many. */
const [CALM_SECONDS, ALL_SECONDS] = [1, 10];
const ARM = [-3, -1.5, 0, 1.5, 3].map((pixel) => pixel / DOTS);
/** So many runs of Python's make the list longer than the pictures. */
const MANY = 3;
/** In pixels of the page, however small the pictures are. */
const [TYPE, KNOB, FINGER, MOMENT] = [12, 7, 20, 4];

const listed = (parts) => parts.map((part) => number(part)).join(", ");

/** While it moves, what is still to come is faint. */
function paintPortrait({ all, step }, { theme, memo }, context) {
  const { image, clear, dot } = memo("dots", [], () => pixels(DOTS, DOTS));
  clear();
  for (const { xs, ys, colour, dash, stride } of all) {
    const rgb = theme.rgb(`series-${colour}`);
    const [past, future] = [inkOf(rgb), inkOf(rgb, FAINT)];
    for (let n = 0; n < xs.length; n += 1) {
      const ink = n * stride <= step ? past : future;
      if (dash) for (const arm of ARM) cross(dot, [xs[n], ys[n]], arm, ink);
      else dot(xs[n], ys[n], ink);
    }
  }
  context.putImageData(image, 0, 0);
}

function cross(dot, [x, y], arm, ink) {
  dot(x + arm, y, ink);
  dot(x, y + arm, ink);
}

/** How many units of a drawing a pixel of the page is. */
const unitOf = (ui) => SIDE / ui.width("portrait", SIDE);

const caption = (text, unit) => svg`<text class="cw-halo" x=${6 * unit} y=${SIDE - 7 * unit}
  style="font-size: ${TYPE * unit}px">${text}</text>`;

function motion({ spec, scene, all, bound }, ui) {
  const standing = all.map(({ key, colour, state }) => ({
    name: key,
    colour: inkOfRun(colour),
    q: state?.q,
  }));
  const unit = unitOf(ui);
  return html`<div class="cw-layers cw-drift-motion">
    <svg viewBox="0 0 ${STAGE} ${STAGE}" role="img" class="cw-stage"
      aria-label="${spec.title}, as each run moves it">
      ${scene.inThePlane ? dashed(bound) : nothing}${scene.scenery}
      ${bodies(scene, standing, unit)}${caption("motion", unit)}
    </svg>
  </div>`;
}

const dashed = (d) => svg`<path d=${d} fill="none" stroke="var(--cw-edge)" stroke-width="1.5"
  stroke-dasharray="5 4"></path>`;

/** Where the runs are at the shown time. */
function moments({ all, place }, unit) {
  return all.map(({ key, colour, state }) => {
    const point = state && place.pointOf([...state.q, ...state.p]);
    if (!point || place.inside(point).some((part, i) => part !== point[i])) return nothing;
    const [x, y] = place.toPixel(point);
    return svg`<circle class="cw-moment" data-run=${key} pointer-events="none"
      cx=${x} cy=${y} r=${MOMENT * unit}
      fill=${inkOfRun(colour)} stroke="var(--cw-paper)" stroke-width=${unit}></circle>`;
  });
}

/** Moves the start to a point of the plane that is shown, not quite to its rim. */
function moveStart({ q, p, axes: { x, y }, spec }, point, ui) {
  const all = [...q, ...p];
  [x, y].forEach((axis, i) => {
    const rim = NEAR_RIM * spec.reach[axis];
    all[axis] = Number(clamp(point[i], -rim, rim).toFixed(4));
  });
  const moved = { q: all.slice(0, q.length), p: all.slice(q.length) };
  const fault = startFault(spec.name, moved.q);
  ui.set(fault ? { refused: `${fault}.` } : moved);
}

const startOf = ({ q, p, place }) => place.inside(place.pointOf([...q, ...p]));

function startHandle(now, ui, unit) {
  const { x, y, labels } = now.axes;
  const grip = dragging({
    moveTo: (pixel) => moveStart(ui.now, ui.now.place.toData(pixel), ui),
    moveBy: (step) => {
      const moved = (part, i) => part + KEY_STEP * step[i] * now.spec.reach[[x, y][i]];
      moveStart(ui.now, startOf(ui.now).map(moved), ui);
    },
  });
  const all = [...now.q, ...now.p];
  const place = [x, y].map((axis, i) => `${labels[i]} = ${number(all[axis])}`).join(", ");
  const [px, py] = now.place.toPixel(startOf(now));
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable start"
    aria-label="start at ${place}; arrow keys move it"
    transform="translate(${px} ${py})" @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r=${FINGER * unit} fill="transparent"></circle>
    <circle r=${KNOB * unit} fill="var(--cw-ink)" stroke="var(--cw-paper)"
      stroke-width=${2 * unit}></circle>
  </g>`;
}

function portrait(now, ui) {
  const { methods, shown, place, spec, q, p, dt, bound, step } = now;
  const [across, up] = now.axes.labels;
  const paint = (context) => paintPortrait(now, ui, context);
  const inputs = [methods, shown, place, spec, q, p, dt, step];
  const dots = { width: DOTS, height: DOTS, inputs, paint, cells: true };
  const unit = unitOf(ui);
  const beside = SIDE / 2 + Math.min(6 * unit, SIDE / 2 - (textWidth(up, TYPE) + 4) * unit);
  const type = `font-size: ${TYPE * unit}px`;
  return html`<div class="cw-layers cw-drift-portrait" data-measure="portrait">
    <canvas role="img" aria-label="Phase portrait: the points that each integrator visits"
      ${painted(ui, dots)}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" role="group" aria-label="Phase portrait">
      <path d="M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}" stroke="var(--cw-line)"></path>
      ${q.length === 1 ? dashed(bound) : nothing}
      <text x=${SIDE - 5 * unit} y=${SIDE / 2 + 15 * unit} text-anchor="end" class="cw-halo"
        style=${type}>${across}</text>
      <text x=${beside} y=${14 * unit} class="cw-halo" style=${type}>${up}</text>
      ${caption("phase portrait", unit)}${startHandle(now, ui, unit)}${moments(now, unit)}
    </svg>
  </div>`;
}

/** How fast it runs: as the reader says, or else calmly at first and then ever faster. */
function speedOf({ speed, played, end }) {
  const far = Math.max(0, end - CALM * ALL_SECONDS);
  const quickening = (2 * far) / (ALL_SECONDS - CALM_SECONDS) ** 2;
  return speed ?? CALM + quickening * Math.max(0, played - CALM_SECONDS);
}

function transport(now, ui) {
  const { end, time, dt } = now;
  const begin = () => ui.set({ played: 0, ...(ui.now.time >= ui.now.end ? { time: 0 } : {}) });
  const line = { label: "Time", min: 0, max: end, step: dt, format: at };
  const speeds = { label: "Speed", min: 1, max: FASTEST, logarithmic: true, value: speedOf(now) };
  return html`<div class="cw-controls" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin })}${slider(ui, "time", line)}
    ${slider(ui, "speed", { ...speeds, format: (speed) => `${number(speed, 1)} ×` })}
  </div>`;
}

/** Begins again, and moves unless the page is to be still. */
function go(ui) {
  ui.set({ time: 0, played: 0 });
  if (ui.now.moving && !prefersStillness()) ui.play(true);
}

/** Which runs leave the picture, or all numbers, and when. */
function losses({ runs, dt, steps }) {
  const told = ({ name, taken, outside }) => {
    if (taken < 0) return `${name} cannot start: the energy here is no finite number.`;
    const [step, lost] = [taken + 1, taken < steps];
    const deeds = [
      outside >= 0 && `leaves the picture at ${at(outside * dt)}`,
      lost && `loses all at step ${step}, ${at(step * dt)}: its energy outgrows all numbers`,
    ].filter(Boolean);
    return deeds.length ? `${name} ${deeds.join(" and ")}.` : "";
  };
  return runs.map(told).filter(Boolean).map(capital).join(" ");
}
const capital = (text) => text[0].toUpperCase() + text.slice(1);

const namesOf = (runs) => runs.map(({ name }) => name).join(", ");

function note({ spec, shown, rollouts, q, scene }) {
  const orbit = q.length === 1 ? " The dashed line is the exact orbit." : "";
  const rim = scene.inThePlane ? " The true body never crosses the dashed line." : "";
  const marks = shown.length
    ? " Runs that were computed in Python are dashed, and crosses in the portrait; of a long one " +
      "the page has only some states, and its body leaps from one to the next."
    : "";
  const absent =
    rollouts.length > shown.length
      ? ` What Python computed (${namesOf(rollouts)}) belongs to the first setting; Reset leads there.`
      : "";
  return (
    `${spec.title}. Play moves the bodies, and the line in the curves below; drag it, too. It runs ` +
    "calmly at first and then ever faster, unless you set the speed. Drag the round point, or Tab " +
    `to it and use the arrow keys.${orbit}${rim}${marks}${absent}`
  );
}

function controls({ systems, spec }, ui) {
  const enter = (name) => {
    const { q, p, dt } = systems.find((other) => other.name === name);
    ui.set({ system: name, plane: 0, dt, q, p });
    go(ui);
  };
  const step = { label: "Step size", min: 0.001, max: 1, logarithmic: true };
  const planes = spec.planes.map(({ labels: [a, b] }, i) => [i, `${b} against ${a}`]);
  return html`<div class="cw-controls cw-drift-controls">
    ${select(ui, "system", {
      label: "System",
      options: systems.map(({ name, title }) => [name, title]),
      choose: enter,
    })}
    ${planes.length > 1 ? select(ui, "plane", { label: "Plane", options: planes }) : nothing}
    ${slider(ui, "dt", { ...step, format: (dt) => number(dt, 3) })}
  </div>`;
}

function view(now, ui) {
  if (now.moving) playAtOnce(ui);
  return html`${controls(now, ui)}
    <div class="cw-drift" ?data-many=${now.given.length >= MANY}>
      ${motion(now, ui)}${portrait(now, ui)}${transport(now, ui)}${chart(now, ui)}${list(now, ui)}
    </div>
    <p class="cw-message">${losses(now)}</p>`;
}

function words(now) {
  const errors = now.all.map(
    ({ name, largest }) => `${name}: largest energy error ${spoken(largest)}`,
  );
  return `${now.spec.title}, ${now.steps} steps of ${now.dt}. ${errors.join("; ")}. ${losses(now)}`;
}
const spoken = (value) => (Number.isFinite(value) ? value.toExponential(1) : "beyond all numbers");

export default widget({
  label: "Energy drift of integrators",
  data: {
    systems: plain,
    method_names: plain,
    steps: plain,
    rollouts,
    rollouts_follow: plain,
    moving: plain,
  },
  controls: { system: plain, plane: plain, dt: plain, q: vector, p: vector, methods: plain },
  local: { time: 0, played: 0, speed: null },
  whole(now) {
    const { q, planes } = specOf(now) ?? {};
    return [now.q, now.p].every((part) => part.length === q?.length) && now.plane < planes.length;
  },
  along({ system }, now) {
    const { dt, q, p } = specOf(now);
    return system === undefined ? {} : { plane: 0, dt, q, p };
  },
  entered: go,
  derive,
  view,
  words,
  how: note,
  began: (now) =>
    `${specOf(now).title}, q = ${listed(now.q)}, p = ${listed(now.p)}, ` +
    `steps of ${number(now.dt, 3)}`,
  // At the end the bodies stand still, to be looked at.
  advance: (now, ui, seconds) => {
    const { time, played, dt, steps } = now;
    const end = dt * steps;
    const there = time + speedOf({ ...now, end }) * seconds;
    ui.set({ time: Math.min(end, there), played: played + seconds });
    if (there >= end) ui.play(false);
  },
});
