import { plain, vector } from "./js/array.js";
import { bodies, STAGE } from "./js/bodies.js";
import { checks, select, series, slider } from "./js/controls.js";
import { at, chart, sample } from "./js/energy_drift/chart.js";
import { colourOf } from "./js/energy_drift/colours.js";
import { derive, rollouts, SIDE, specOf } from "./js/energy_drift/runs.js";
import { startFault } from "./js/maths/mechanics.js";
import { clamp } from "./js/maths/numerics.js";
import { painted } from "./js/painted.js";
import { inkOf, pixels } from "./js/pixels.js";
import { dragging } from "./js/plane.js";
import { playButton } from "./js/play.js";
import { number, scientific } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const DOTS = 640;
const NEAR_RIM = 0.98;
const KEY_STEP = 0.02;
/** Units of time in a second of the page. */
const SPEED = 3;
const ARM = [-4, -2, 0, 2, 4].map((pixel) => pixel / DOTS);

const listed = (parts) => parts.map((part) => number(part)).join(", ");

function paintPortrait({ all }, { theme, memo }, context) {
  const { image, clear, dot } = memo("dots", [], () => pixels(DOTS, DOTS));
  clear();
  for (const { xs, ys, colour, dash } of all) {
    const ink = inkOf(theme.rgb(`series-${colour}`));
    for (let n = 0; n < xs.length; n += 1) {
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

function stage({ spec, scene, runs, bound }) {
  const standing = runs.map(({ method, colour, state }) => ({
    name: method,
    colour: series(colour),
    q: state?.q,
  }));
  return html`<div class="cw-layers">
    <svg viewBox="0 0 ${STAGE} ${STAGE}" role="img" class="cw-stage"
      aria-label="${spec.title}, as each integrator moves it">
      ${scene.inThePlane ? dashed(bound) : nothing}${scene.scenery}${bodies(scene, standing)}
    </svg>
  </div>`;
}

const dashed = (d) => svg`<path d=${d} fill="none" stroke="var(--cw-edge)" stroke-width="1.5"
  stroke-dasharray="5 4"></path>`;

/** Where the runs are at the shown time. */
function moments({ runs, place }) {
  return runs.map(({ method, colour, state }) => {
    const point = state && place.pointOf([...state.q, ...state.p]);
    if (!point || place.inside(point).some((part, i) => part !== point[i])) return nothing;
    const [x, y] = place.toPixel(point);
    return svg`<circle class="cw-moment" data-run=${method} pointer-events="none"
      cx=${x} cy=${y} r="5"
      fill=${series(colour)} stroke="var(--cw-paper)" stroke-width="1.5"></circle>`;
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

function startHandle(now, ui) {
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
    <circle r="24" fill="transparent"></circle>
    <circle r="9" fill="var(--cw-ink)" stroke="var(--cw-paper)" stroke-width="2.5"></circle>
  </g>`;
}

function portrait(now, ui) {
  const { methods, shown, place, spec, q, p, dt, bound } = now;
  const [across, up] = now.axes.labels;
  const paint = (context) => paintPortrait(now, ui, context);
  const inputs = [methods, shown, place, spec, q, p, dt];
  const dots = { width: DOTS, height: DOTS, inputs, paint, cells: true };
  return html`<div class="cw-layers">
    <canvas role="img" aria-label="Phase portrait: the points that each integrator visits"
      ${painted(ui, dots)}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" role="group" aria-label="Phase portrait">
      <path d="M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}" stroke="var(--cw-line)"></path>
      ${q.length === 1 ? dashed(bound) : nothing}
      <text x=${SIDE - 6} y=${SIDE / 2 - 8} text-anchor="end" class="cw-halo">${across}</text>
      <text x=${SIDE / 2 + 8} y="16" class="cw-halo">${up}</text>
      ${startHandle(now, ui)}${moments(now)}
    </svg>
  </div>`;
}

function transport({ end, time, dt }, ui) {
  const begin = () => {
    if (ui.now.time >= ui.now.end) ui.set({ time: 0 });
  };
  const speeds = { label: "Speed", min: 1, max: 100, logarithmic: true };
  const line = { label: "Time", min: 0, max: end, step: dt, format: at };
  return html`<div class="cw-controls" style="margin-top: 0.75rem" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin })}${slider(ui, "time", line)}
    ${slider(ui, "speed", { ...speeds, format: (speed) => `${number(speed, 1)} ×` })}
  </div>`;
}

/** What a run comes to. */
function fate({ taken, whole, last }, steps) {
  if (taken >= steps) return scientific(last);
  if (taken < 0) return "no energy";
  return whole ? `ends at step ${taken}` : `lost at step ${taken + 1}`;
}

const heading = (name) => html`<th scope="col">${name}</th>`;

function table({ all, steps }) {
  const row = (run) => html`<tr>
    <th scope="row" class="cw-series-name">
      <svg class="cw-swatch" style="display: inline-block; width: 40px; height: 12px" aria-hidden="true">
        ${sample(run, series(run.colour))}
      </svg><span>${run.name}</span>
    </th>
    <td class="cw-number cw-error">${scientific(run.largest)}</td>
    <td class="cw-number cw-error">${fate(run, steps)}</td>
  </tr>`;
  return html`<div style="overflow-x: auto"><table class="cw-weights">
    <caption>Energy error over ${steps.toLocaleString("en")} steps</caption>
    <thead>
      <tr>${["integrator", "largest", "at the end"].map(heading)}</tr>
    </thead>
    <tbody>${all.map(row)}</tbody>
  </table></div>`;
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
    ? " Runs that were computed in Python are dashed, and crosses in the portrait."
    : "";
  const absent =
    rollouts.length > shown.length
      ? ` What Python computed (${namesOf(rollouts)}) belongs to the first setting; Reset leads there.`
      : "";
  return (
    `${spec.title}. Play moves the bodies, and the line in the curves below; drag it, too. Drag the ` +
    `round point, or Tab to it and use the arrow keys.${orbit}${rim}${marks}${absent}`
  );
}

function controls({ systems, spec, method_names }, ui) {
  const enter = (name) => {
    const { q, p, dt } = systems.find((other) => other.name === name);
    ui.set({ system: name, plane: 0, dt, q, p, time: 0 });
  };
  const step = { label: "Step size", min: 0.001, max: 1, logarithmic: true };
  const planes = spec.planes.map(({ labels: [a, b] }, i) => [i, `${b} against ${a}`]);
  return html`<div class="cw-controls">
    ${select(ui, "system", {
      label: "System",
      options: systems.map(({ name, title }) => [name, title]),
      choose: enter,
    })}
    ${planes.length > 1 ? select(ui, "plane", { label: "Plane", options: planes }) : nothing}
    ${slider(ui, "dt", { ...step, format: (dt) => number(dt, 3) })}
    ${checks(ui, "methods", {
      label: "Integrators",
      options: method_names.map(([method, text]) => [method, text, series(colourOf(method))]),
    })}
  </div>`;
}

function view(now, ui) {
  return html`${controls(now, ui)}
    <div class="cw-columns">
      <div>${stage(now)}<p class="cw-hint">Motion</p></div>
      <div>${portrait(now, ui)}<p class="cw-hint">Phase portrait</p></div>
    </div>
    ${transport(now, ui)} ${chart(now, ui)}
    <p class="cw-hint">Relative energy error |H − H₀| / |H₀| against time</p>
    ${table(now)}
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
  },
  controls: { system: plain, plane: plain, dt: plain, q: vector, p: vector, methods: plain },
  local: { time: 0, speed: SPEED },
  whole(now) {
    const { q, planes } = specOf(now) ?? {};
    return [now.q, now.p].every((part) => part.length === q?.length) && now.plane < planes.length;
  },
  along({ system }, now) {
    const { dt, q, p } = specOf(now);
    return system === undefined ? {} : { plane: 0, dt, q, p };
  },
  derive,
  view,
  words,
  how: note,
  began: (now) =>
    `${specOf(now).title}, q = ${listed(now.q)}, p = ${listed(now.p)}, ` +
    `steps of ${number(now.dt, 3)}`,
  // At the end the bodies stand still, to be looked at.
  advance: ({ time, speed, dt, steps }, ui, seconds) => {
    const [end, next] = [dt * steps, time + speed * seconds];
    ui.set({ time: Math.min(end, next) });
    if (next >= end) ui.play(false);
  },
});
