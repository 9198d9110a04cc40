import { plain, vector } from "../kit/array.js";
import { bodies, STAGE } from "../kit/bodies.js";
import { fold, select, slider } from "../kit/controls.js";
import { keepingFocus } from "../kit/keys.js";
import { textWidth } from "../kit/lettering.js";
import { painted } from "../kit/painted.js";
import { inkOf, pixels } from "../kit/pixels.js";
import { dragging } from "../kit/plane.js";
import { playButton, playIfMoving, prefersStillness } from "../kit/play.js";
import { inkOfRun, themeName } from "../kit/run_colours.js";
import { number } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { quickening, startFault } from "../maths/mechanics.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { at, chart } from "./chart.js";
import { fate, list, soFar } from "./list.js";
import { derive, rollouts, SIDE, specOf } from "./runs.js";
import { lead, OUTCOMES } from "./verdict.js";

const DOTS = 400;
const FAINT = 70;
/** Runs that are farther off in energy than this part from those that are not. */
const APART = 0.05;
const PALE = 150;
const [THIN, THICK] = [[0], [0, 1 / DOTS]];
const NEAR_RIM = 0.98;
const KEY_STEP = 0.02;
/** A whole run passes in so many seconds: who asks is not to wait long for the answer. */
const SECONDS = 7.5;
const ARM = [-3, -1.5, 0, 1.5, 3].map((pixel) => pixel / DOTS);
/** So many runs of Python's have a row each, if the bodies move in lanes; a higher one where the
 * names stand over the bodies, for want of room beside them. */
const [MANY, ROW, HIGH_ROW, NARROW] = [3, 41, 54, 480];
const rowIn = (ui) => (ui.width("rows", 2 * NARROW) <= NARROW ? HIGH_ROW : ROW);
/** In pixels of the page, however small the pictures are. */
const [TYPE, KNOB, RING, FINGER, MOMENT] = [12, 7, 11, 20, 4];

/**
 * While it moves, what is still to come is faint, and not drawn where nobody has seen it. Who is far
 * off by now goes beneath the others, which its dots would hide, and is paler.
 */
function paintPortrait({ all, step, dt, unseen }, { theme, memo }, context) {
  const { image, clear, dot } = memo("dots", [], () => pixels(DOTS, DOTS));
  clear();
  const offBy = (run) => (step > run.taken && !run.whole ? run.largest : run.worstBy(step));
  const offs = new Map(all.map((run) => [run, step < Infinity ? offBy(run) : run.largest]));
  const far = [...offs.values()].filter((off) => off > APART).length;
  const pale = far > 0 && far < all.length;
  for (const run of all.toSorted((a, b) => offs.get(b) - offs.get(a))) {
    const { xs, ys, colour, dash, at, dt: length } = run;
    const rgb = theme.rgb(themeName(colour));
    const thick = pale && offs.get(run) <= APART ? THICK : THIN;
    const [past, future] = [
      inkOf(rgb, pale && offs.get(run) > APART ? PALE : 255),
      inkOf(rgb, unseen ? 0 : FAINT),
    ];
    for (let n = 0; n < xs.length; n += 1) {
      const ink = (at ? at[n] : n) * (length / dt) <= step ? past : future;
      if (dash) for (const arm of ARM) cross(dot, [xs[n], ys[n]], arm, ink);
      else for (const by of thick) dot(xs[n] + by, ys[n] + by, ink);
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

function motion(now, ui) {
  const { spec, scene, all, bound, rows } = now;
  const standing = all.map(({ key, colour, state }) => ({
    name: key,
    colour: inkOfRun(colour),
    q: state?.q,
  }));
  const room = ui.width("motion", SIDE);
  const unit = STAGE / room;
  const height = rows ? rowIn(ui) * all.length : room;
  return html`<div class="cw-layers cw-drift-motion" data-measure="motion"
    style=${rows ? `height: ${height}px` : nothing}>
    <svg viewBox="0 0 ${STAGE} ${height * unit}" role="img"
      aria-label="${spec.title}, as each run moves it">
      ${scene.inThePlane ? dashed(bound) : nothing}${scene.scenery}
      ${bodies(scene, standing, { unit, height: height * unit })}
      ${waysOut(now, height * unit, unit)}
    </svg>
  </div>`;
}

/** Towards the bodies that are off the stage. */
function waysOut({ scene, all, rows }, height, unit) {
  if (!(scene.lanes || scene.inThePlane)) return nothing;
  return all.map(({ colour, state, ending }, i) => {
    const q = (state ?? ending)?.q;
    if (!q) return nothing;
    const lane = scene.lanes ? (height * (i + 0.5)) / all.length : STAGE / 2;
    const off = scene
      .places(q, lane)
      .filter((place) => place.some((part) => !(part >= 0 && part <= STAGE)));
    return off.map((place) => wayOut(place, inkOfRun(colour), unit, rows ? height : STAGE));
  });
}

/** Where the rim of a picture is nearest to a point beyond it, and clear of its caption. */
const rimOf = ([x, y], unit, height = STAGE) => [
  clamp(x, 14 * unit, STAGE - 14 * unit),
  clamp(y, 14 * unit, height - (height < STAGE ? 14 : 30) * unit),
];

/** An arrow at the rim, towards a place beyond it. */
function wayOut(place, colour, unit, height = STAGE) {
  const [x, y] = rimOf(place, unit, height);
  const turn = (Math.atan2(place[1] - y, place[0] - x) * 180) / Math.PI;
  return svg`<path d="M-8 -9L10 0L-8 9Z" fill=${colour} stroke="var(--cw-paper)"
    transform="translate(${x} ${y}) rotate(${turn}) scale(${unit})"></path>`;
}

const dashed = (d) => svg`<path d=${d} fill="none" stroke="var(--cw-edge)" stroke-width="1.5"
  stroke-dasharray="5 4"></path>`;

/** Where the runs are at the shown time. */
function moments({ all, place }, unit) {
  return all.map(({ key, colour, state }) => {
    const point = state && place.pointOf([...state.q, ...state.p]);
    if (!point) return nothing;
    const [x, y] = place.toPixel(point);
    if (place.inside(point).some((part, i) => part !== point[i])) {
      return wayOut([x, y], inkOfRun(colour), unit, SIDE);
    }
    return svg`<circle class="cw-moment" data-run=${key} cx=${x} cy=${y} r=${MOMENT * unit}
      fill=${inkOfRun(colour)} stroke="var(--cw-paper)" stroke-width=${unit}></circle>`;
  });
}

/** The exact orbit lies above all runs: between its dashes they are to be seen. */
const exact = (d, unit) => svg`<path d=${d} fill="none"
  stroke="var(--cw-ink)" stroke-width=${1.2 * unit}
  stroke-dasharray="${4 * unit} ${6 * unit}"></path>`;

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
    <circle class="cw-drift-ring" r=${RING * unit} fill="none" stroke="var(--cw-accent)"
      stroke-width=${2 * unit}></circle>
    <circle r=${KNOB * unit} fill="var(--cw-ink)" stroke="var(--cw-paper)"
      stroke-width=${2 * unit}></circle>
    ${startName(px, unit)}
  </g>`;
}

/** The name of the start, outside of its orbit, where there is room for it. */
function startName(x, unit) {
  const [right, room] = [x >= SIDE / 2, (KNOB + 8) * unit];
  const free = right ? SIDE - x : x;
  const outward = free > room + (textWidth("start", TYPE) + 4) * unit;
  const side = right === outward ? 1 : -1;
  return svg`<text class="cw-halo" text-anchor=${side > 0 ? "start" : "end"}
    x=${side * room} y=${(outward ? 4 : 15) * unit}
    style="font-size: ${TYPE * unit}px">start</text>`;
}

function portrait(now, ui) {
  const { methods, shown, programs, place, spec, q, p, dt, bound, step, unseen } = now;
  const [across, up] = now.axes.labels;
  const name = capital(now.portrait);
  const paint = (context) => paintPortrait(now, ui, context);
  const inputs = [methods, shown, programs, place, spec, q, p, dt, step, unseen];
  const dots = { width: DOTS, height: DOTS, inputs, paint, cells: true };
  const unit = unitOf(ui);
  const type = `font-size: ${TYPE * unit}px`;
  return html`<div class="cw-layers cw-drift-portrait" data-measure="portrait">
    <canvas role="img" aria-label="${name}: the points that each run visits"
      ${painted(ui, dots)}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" role="group" aria-label=${name}>
      <path d="M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}" stroke="var(--cw-line)"></path>
      ${q.length === 1 ? exact(bound, unit) : nothing}
      ${moments(now, unit)}
      <text x=${SIDE - 5 * unit} y=${SIDE - 7 * unit} text-anchor="end" class="cw-halo"
        style=${type}>${across}</text>
      <text x=${SIDE / 2} y=${-4 * unit} text-anchor="middle" style=${type}>${up}</text>
      <text x=${6 * unit} y=${SIDE - 7 * unit} class="cw-halo" style=${type}>${now.portrait}</text>
      ${startHandle(now, ui, unit)}
    </svg>
  </div>`;
}

function transport(now, ui) {
  const { end, time, dt } = now;
  const begin = () => ui.set({ played: 0, ...(ui.now.time >= ui.now.end ? { time: 0 } : {}) });
  const line = { label: "Time", min: 0, max: end, step: dt, format: at };
  const disabled = !now.all.length;
  return html`<div class="cw-controls cw-drift-transport" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin, disabled })}${slider(ui, "time", line)}
  </div>`;
}

/** Begins again, and moves unless the page is to be still. */
function go(ui) {
  ui.set({ time: 0, played: 0 });
  playIfMoving(ui);
}

/** Which runs leave the picture, or all numbers, and when, as far as that is before a moment. */
function losses({ runs, given, dt, steps }, before = Infinity) {
  const told = ({ name, taken, outside, unsolved }) => {
    if (taken < 0) return `${name} cannot start: the energy here is no finite number.`;
    const [step, lost] = [taken + 1, taken < steps && (taken + 1) * dt <= before];
    const deeds = [
      outside >= 0 && outside * dt <= before && `leaves the picture at ${at(outside * dt)}`,
      lost &&
        (unsolved
          ? `stops at step ${step}, ${at(step * dt)}: its step is too long to find the next state`
          : `loses all at step ${step}, ${at(step * dt)}: its energy outgrows all numbers`),
    ].filter(Boolean);
    return deeds.length ? `${name} ${deeds.join(" and ")}.` : "";
  };
  const ofPage = [...runs, ...given.filter(({ method }) => method)];
  return ofPage.map(told).filter(Boolean).map(capital).join(" ");
}
/** What a run that is open has not come to yet is not told. */
const knownLosses = (now) => losses(now, now.open ? now.time : Infinity);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function note({ spec, given, away, q, scene, portrait }) {
  const orbit = q.length === 1 ? " The dashed line is the exact orbit." : "";
  const rim = scene.inThePlane ? " The true body never crosses the dashed line." : "";
  const marks = given.length
    ? " What Python gave is dashed, and crosses among the dots; of a long run of Python's the page " +
      "has some states."
    : "";
  const absent = away.length
    ? ` Reset leads to the setting of Python’s runs (${away.join(", ")}).`
    : "";
  return (
    `${spec.title}. Play runs calmly at first and then ever faster; drag the line in the curves, ` +
    `or the start in the ${portrait}. By keyboard: Tab, then arrows. A curve is the largest error ` +
    `around its time, and its shade goes down to the least.${orbit}${rim}${marks}` +
    absent
  );
}

function controls({ systems, spec }, ui) {
  const enter = (name) => {
    const { q, p, dt } = systems.find((other) => other.name === name);
    keepingFocus(() => ui.set({ system: name, plane: 0, dt, q, p }));
    go(ui);
  };
  const step = { label: "Step size", min: 0.001, max: 1, logarithmic: true };
  const planes = spec.planes.map(({ labels: [a, b] }, i) => [i, `${b} against ${a}`]);
  return html`<div class="cw-controls cw-drift-controls">
    ${slider(ui, "dt", { ...step, format: (dt) => number(dt, 3) })}
    ${select(ui, "system", {
      label: "System",
      options: systems.map(({ name, title }) => [name, title]),
      choose: enter,
    })}
    ${planes.length > 1 ? select(ui, "plane", { label: "Plane", options: planes }) : nothing}
  </div>`;
}

function view(now, ui) {
  const known = knownLosses(now);
  // What is not told yet has its room already.
  return html`${lead(now, ui)}
    ${now.rows ? inRows(now, ui) : sideBySide(now, ui)}
    <p class="cw-message" ?data-waits=${!known}>${known || losses(now)}</p>`;
}

const sideBySide = (now, ui) => html`<div class="cw-drift">
    <div>${portrait(now, ui)}${transport(now, ui)}</div>
    <div class="cw-drift-side">
      ${list(now, ui)}
      <div class="cw-drift-setting">${motion(now, ui)}${controls(now, ui)}</div>
      ${chart(now, ui)}
    </div>
  </div>`;

/** Each run has a row, its body beside its name. */
const inRows = (now, ui) => html`<div class="cw-drift-rows" data-measure="rows"
    style="--cw-row: ${rowIn(ui)}px">
    ${list(now, ui, { off: false })}${motion(now, ui)}
  </div>
  ${transport(now, ui)}${chart(now, ui)}
  ${fold(
    "More: portrait, integrators, step, system",
    html`<div class="cw-drift-more">${portrait(now, ui)}
      <div>${controls(now, ui)}${list(now, ui, { on: false })}</div>
    </div>`,
  )}`;

function words(now) {
  const errors = now.all.map((run) => {
    const { name, outcome, stale } = run;
    if (stale) return `${name}: from the ${stale}`;
    // Who listens to a run is not told its end before it comes.
    return now.open
      ? `${name}: energy error so far ${soFar(run, now)}`
      : `${name}: largest energy error ${fate(run, now.steps)}, ${OUTCOMES[outcome]}`;
  });
  return `${now.spec.title}, ${now.steps} steps of ${now.dt}. ${errors.join("; ")}. ${knownLosses(now)}`;
}

export default widget({
  label: "Energy drift of integrators",
  data: {
    systems: plain,
    method_names: plain,
    steps: plain,
    rollouts,
    rollouts_follow: plain,
    programs: plain,
    calm: plain,
    question: plain,
  },
  controls: { system: plain, plane: plain, dt: plain, q: vector, p: vector, methods: plain },
  local: { time: 0, played: 0, seen: false },
  whole(now) {
    const { q, planes } = specOf(now) ?? {};
    return [now.q, now.p].every((part) => part.length === q?.length) && now.plane < planes.length;
  },
  along({ system }, now) {
    const { dt, q, p } = specOf(now);
    return system === undefined ? {} : { plane: 0, dt, q, p };
  },
  atSight: (ui) => ui.play(true),
  entered: go,
  derive: (now, ui) => {
    const still = !now.moving || prefersStillness();
    // From its beginning on the question is open, as often as it is played.
    const open = !still && (now.playing || now.time === 0);
    // On its first run nobody knows yet what is to come.
    const unseen = open && !now.seen;
    const found = derive({ ...now, unseen }, ui);
    const rows = found.scene.lanes && now.rollouts.length >= MANY;
    const rate = ui.memo("rate", [found.end], () => quickening(found.end, now.calm, SECONDS));
    return { ...found, ...{ rows, open, unseen, rate } };
  },
  view,
  words,
  how: note,
  began: (now) => `${specOf(now).title}, steps of ${number(now.dt, 3)}`,
  // At the end the bodies stand still, to be looked at.
  advance: ({ time, played }, ui, seconds) => {
    const { all, end, rate, calm } = ui.now;
    // Where nothing runs, no time passes.
    if (!all.length) return ui.play(false);
    const there = time + calm * Math.exp(rate * played) * seconds;
    ui.set({ time: Math.min(end, there), played: played + seconds });
    if (there < end) return undefined;
    ui.set({ seen: true });
    return ui.play(false);
  },
});
