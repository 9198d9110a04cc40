import { decodeArray, encodeArray } from "./js/old/array.js";
import { announcer, button, checks, select, slider } from "./js/old/controls.js";
import { contourSegments, segmentPath } from "./js/maths/contour.js";
import { html, number, say, scientific, setChanged, showFirst, superscript, svg, widgetRoot } from "./js/old/dom.js";
import { draggable } from "./js/old/drag.js";
import { frameScheduler, onChange } from "./js/old/frame.js";
import { integrate, SYSTEMS } from "./js/maths/mechanics.js";
import { themeColours } from "./js/old/theme.js";

/** Energies and relative energy errors of one method; absolute errors where the energy starts at 0. */
export function energyDrift({ system, parameters, method, q, p, dt, steps }) {
  const mechanics = SYSTEMS[system](parameters);
  const run = integrate(mechanics, method, q, p, dt, steps);
  const unit = Math.abs(run.energy[0]) || 1;
  const error = new Float64Array(run.taken + 1);
  for (let n = 0; n <= run.taken; n += 1) error[n] = Math.abs(run.energy[n] - run.energy[0]) / unit;
  return { ...run, error };
}

/** The least and the largest of `values` in each of `bins` equal stretches of 0 … `length - 1`. */
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

const SIDE = 320;
const PIXELS = 640;
const GRID = 61;
const BINS = 320;
const WASH = 56;
const FLOOR = -16;
const CEILING = 2;
const COLOURS = { explicit_euler: 1, symplectic_euler: 2, stoermer_verlet: 0, runge_kutta_4: 3, implicit_midpoint: 4 };
const ROLLOUT_COLOURS = [5, 1, 2, 3, 4];

const heightOf = (error) => (CEILING - Math.log10(Math.max(error, 1e-300))) / (CEILING - FLOOR);

/** An image whose pixels are set one by one, in the coordinates 0 … 1. */
function pixelCanvas(label) {
  const canvas = html("canvas", { width: PIXELS, height: PIXELS, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context.createImageData(PIXELS, PIXELS);
  const words = new Uint32Array(image.data.buffer);
  const inkOf = ([red, green, blue], alpha = 255) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  return {
    canvas,
    clear: () => words.fill(0),
    dot(x, y, ink) {
      const column = (x * (PIXELS - 1)) | 0;
      const row = (y * (PIXELS - 1)) | 0;
      if (!(x >= 0 && y >= 0 && column < PIXELS - 1 && row < PIXELS - 1)) return;
      const at = row * PIXELS + column;
      words[at] = ink;
      words[at + 1] = ink;
      words[at + PIXELS] = ink;
      words[at + PIXELS + 1] = ink;
    },
    /** A vertical stroke in `column`; a wash goes only where nothing is drawn yet. */
    stroke(column, top, bottom, ink, { wash = false } = {}) {
      const first = Math.max(0, Math.min(PIXELS - 4, (top * PIXELS) | 0));
      const last = Math.max(first + 3, Math.min(PIXELS - 1, (bottom * PIXELS) | 0));
      for (let at = first * PIXELS + column; at <= last * PIXELS + column; at += PIXELS) {
        if (!wash || words[at] === 0) words[at] = ink;
      }
    },
    paint: () => context.putImageData(image, 0, 0),
    inkOf,
  };
}

function render({ model, el }) {
  const systems = model.get("systems");
  const labels = Object.fromEntries(model.get("method_names"));
  const steps = model.get("steps");
  const start = { system: model.get("system"), dt: model.get("dt"), q: model.get("q"), p: model.get("p") };
  const seriesColour = (index) => `var(--cw-series-${index})`;
  const spec = () => systems.find(({ name }) => name === model.get("system"));
  const plane = () => spec().planes[Math.min(model.get("plane"), spec().planes.length - 1)];
  const rollouts = () => (atStart() ? model.get("rollouts") : []);
  const atStart = () =>
    model.get("rollouts_follow") ||
    (model.get("system") === start.system && model.get("dt") === start.dt && model.get("q").base64 === start.q.base64 && model.get("p").base64 === start.p.base64);

  const phase = pixelCanvas("Phase portrait: the points that each integrator visits");
  const drift = pixelCanvas("Relative energy error against time, on a logarithmic axis");
  const orbit = svg("path", { fill: "none", stroke: "var(--cw-edge)", "stroke-width": 1.5, "stroke-dasharray": "5 4" });
  const xLabel = svg("text", { x: SIDE - 6, y: SIDE / 2 - 8, "text-anchor": "end", class: "cw-halo" });
  const yLabel = svg("text", { x: SIDE / 2 + 8, y: 16, class: "cw-halo" });
  const handle = svg(
    "g",
    { class: "cw-handle", tabindex: 0, role: "button", "aria-roledescription": "movable start", style: "touch-action: none; cursor: grab" },
    svg("circle", { r: 24, fill: "transparent" }),
    svg("circle", { r: 8, fill: "var(--cw-ink)", stroke: "var(--cw-paper)", "stroke-width": 2.5 }),
  );
  const portrait = svg(
    "svg",
    { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": "Phase portrait" },
    svg("path", { d: `M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}`, stroke: "var(--cw-line)" }),
    orbit,
    xLabel,
    yLabel,
    handle,
  );
  const endTime = svg("text", { x: SIDE - 6, y: SIDE - 8, "text-anchor": "end", class: "cw-halo" });
  const decades = [];
  for (let decade = FLOOR + 2; decade < CEILING; decade += 4) {
    const y = ((CEILING - decade) / (CEILING - FLOOR)) * SIDE;
    decades.push(
      svg("path", { d: `M0 ${y}H${SIDE}`, stroke: "var(--cw-line)" }),
      svg("text", { x: 6, y: y - 5, class: "cw-halo" }, `10${superscript(decade)}`),
    );
  }
  const chart = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, "aria-hidden": "true" }, ...decades, endTime);
  const table = html("tbody", {});
  const rows = [];
  const newRow = () =>
    html(
      "tr",
      {},
      html("th", { scope: "row", class: "cw-series-name" }, html("span", { class: "cw-swatch", "aria-hidden": "true" }), html("span")),
      html("td", { class: "cw-number cw-error" }),
      html("td", { class: "cw-number cw-error" }),
    );
  const note = html("p", { class: "cw-hint" });
  const { region, announce } = announcer(describe);
  let results = [];
  let drawn = {};

  function describe() {
    const parts = results.map(({ text, largest }) => `${text}: largest energy error ${largest.toExponential(1)}`);
    return `${spec().title}, ${steps} steps of ${model.get("dt")}. ${parts.join("; ")}.`;
  }

  function state() {
    return { q: Array.from(decodeArray(model.get("q")).values), p: Array.from(decodeArray(model.get("p")).values) };
  }

  function place({ reach, period }, { x, y }, dim) {
    // An angle is drawn between −π and π, however often the pendulum has gone round.
    const wrapped = (value, axis) => (period && axis < dim ? value - period * Math.round(value / period) : value);
    return {
      across: (value) => (wrapped(value, x) / reach[x] + 1) / 2,
      down: (value) => (1 - wrapped(value, y) / reach[y]) / 2,
    };
  }

  function drawOrbit(system, q, p) {
    const { reach } = spec();
    if (system.dim > 1) {
      setChanged(orbit, { d: "" });
      drawn = {};
      return;
    }
    const energy = system.energy(q, p);
    if (drawn.system === model.get("system") && drawn.energy === energy) return;
    drawn = { system: model.get("system"), energy };
    const field = new Float64Array(GRID * GRID);
    for (let row = 0; row < GRID; row += 1) {
      for (let column = 0; column < GRID; column += 1) {
        const point = [reach[0] * ((2 * column) / (GRID - 1) - 1), reach[1] * (1 - (2 * row) / (GRID - 1))];
        field[row * GRID + column] = system.energy([point[0]], [point[1]]) - energy;
      }
    }
    orbit.setAttribute("d", segmentPath(contourSegments(field, GRID, GRID, 0), SIDE / (GRID - 1), 0));
  }

  function drawPhase(run, dim, { x, y }, { across, down }, ink) {
    const [xs, ys] = [x, y].map((axis) => ({ values: axis < dim ? run.q : run.p, offset: axis % dim }));
    for (let n = 0; n <= run.taken; n += 1) {
      phase.dot(across(xs.values[n * dim + xs.offset]), down(ys.values[n * dim + ys.offset]), ink);
    }
  }

  /** The largest errors as a line, what lies between them and the smallest as a wash beneath it. */
  function drawEnvelope({ low, high }, colour) {
    const [line, wash] = [drift.inkOf(colour), drift.inkOf(colour, WASH)];
    const columns = (bin) => [Math.floor((bin * PIXELS) / low.length), Math.floor(((bin + 1) * PIXELS) / low.length)];
    for (let bin = 0; bin < low.length && low[bin] < Infinity; bin += 1) {
      const top = heightOf(high[bin]);
      // Neighbouring columns touch, so that a steep curve stays one line.
      const before = bin > 0 ? heightOf(high[bin - 1]) : top;
      const [from, to] = columns(bin);
      for (let column = from; column < to; column += 1) {
        drift.stroke(column, Math.min(top, before), Math.max(top, before), line);
        drift.stroke(column, top, heightOf(low[bin]), wash, { wash: true });
      }
    }
  }

  function draw() {
    const { name, parameters, title } = spec();
    const { q, p } = state();
    const dt = model.get("dt");
    const system = SYSTEMS[name](parameters);
    if (q.length !== system.dim) return;
    const axes = plane();
    const placement = place(spec(), axes, system.dim);
    const colours = theme.colours();
    phase.clear();
    drift.clear();
    results = model.get("methods").map((method) => {
      const run = energyDrift({ system: name, parameters, method, q, p, dt, steps });
      const colour = colours[`series-${COLOURS[method]}`];
      drawPhase(run, system.dim, axes, placement, phase.inkOf(colour));
      drawEnvelope(envelope(run.error, steps + 1, BINS), colour);
      return {
        text: labels[method],
        colour: seriesColour(COLOURS[method]),
        largest: run.error.reduce((largest, e) => Math.max(largest, e), 0),
        last: run.error[run.taken],
        taken: run.taken,
      };
    });
    rollouts().forEach((rollout, i) => {
      const colour = ROLLOUT_COLOURS[i % ROLLOUT_COLOURS.length];
      const ink = phase.inkOf(colours[`series-${colour}`]);
      const points = decodeArray(rollout.points);
      const width = 2 * system.dim;
      for (let at = 0; at < points.values.length; at += width) {
        phase.dot(placement.across(points.values[at + axes.x]), placement.down(points.values[at + axes.y]), ink);
      }
      drawEnvelope({ low: decodeArray(rollout.low).values, high: decodeArray(rollout.high).values }, colours[`series-${colour}`]);
      results.push({ text: rollout.name, colour: seriesColour(colour), largest: rollout.largest, last: rollout.last, taken: rollout.taken });
    });
    phase.paint();
    drift.paint();
    drawOrbit(system, q, p);
    const all = [...q, ...p];
    setChanged(handle, {
      transform: `translate(${SIDE * placement.across(all[axes.x])} ${SIDE * placement.down(all[axes.y])})`,
      "aria-label": `start at ${axes.labels[0]} = ${number(all[axes.x])}, ${axes.labels[1]} = ${number(all[axes.y])}; arrow keys move it`,
    });
    say(xLabel, axes.labels[0]);
    say(yLabel, axes.labels[1]);
    endTime.textContent = `time t = ${number(dt * steps, dt * steps < 100 ? 1 : 0)}`;
    showFirst(table, rows, results.length, newRow);
    results.forEach(({ text, colour, largest, last, taken }, i) => {
      const [name, worst, end] = rows[i].children;
      setChanged(name.firstChild, { style: `background: ${colour}` });
      say(name.lastChild, text);
      say(worst, scientific(largest));
      say(end, taken < steps ? `lost at step ${taken + 1}` : scientific(last));
    });
    const absent = model.get("rollouts").length > 0 && !atStart() ? " Runs that were computed in Python are shown for the first setting only; press “Back to the start” to see them." : "";
    say(note, `${title}. Drag the round point, or Tab to it and use the arrow keys.${system.dim === 1 ? " The dashed line is the exact orbit." : ""}${absent}`);
    announce();
  }

  function moveStart(point) {
    const { reach } = spec();
    const { x, y } = plane();
    const { q, p } = state();
    const all = [...q, ...p];
    const clamp = (value, axis) => Number(Math.max(-0.98 * reach[axis], Math.min(0.98 * reach[axis], value)).toFixed(4));
    all[x] = clamp(point[0], x);
    all[y] = clamp(point[1], y);
    model.set("q", encodeArray([q.length], all.slice(0, q.length)));
    model.set("p", encodeArray([q.length], all.slice(q.length)));
    model.save_changes();
  }
  draggable(handle, portrait, {
    moveTo: ([x, y]) => {
      const { reach } = spec();
      const axes = plane();
      moveStart([reach[axes.x] * ((2 * x) / SIDE - 1), reach[axes.y] * (1 - (2 * y) / SIDE)]);
    },
    moveBy: ([dx, dy]) => {
      const { reach } = spec();
      const axes = plane();
      const { q, p } = state();
      const all = [...q, ...p];
      moveStart([all[axes.x] + dx * 0.02 * reach[axes.x], all[axes.y] + dy * 0.02 * reach[axes.y]]);
    },
  });

  function begin({ system, dt, q, p }) {
    model.set("system", system);
    model.set("plane", 0);
    model.set("dt", dt);
    model.set("q", q);
    model.set("p", p);
    model.save_changes();
  }
  const planes = html("div", {});
  const firstPoint = ({ q, p }) => ({ q: encodeArray([q.length], q), p: encodeArray([p.length], p) });
  function newSystem() {
    const { name, q, p, dt, planes: offered } = spec();
    const here = state();
    if (here.q.length !== q.length || shown !== name) {
      if (shown !== null) begin({ system: name, dt, ...firstPoint({ q, p }) });
      shown = name;
      planes.replaceChildren(
        ...(offered.length > 1 ? [select(model, "plane", { label: "Plane", options: offered.map(({ labels: [a, b] }, i) => [i, `${b} against ${a}`]) })] : []),
      );
    }
  }
  let shown = null;
  newSystem();

  const root = widgetRoot(
    el,
    "Energy drift of integrators",
    html(
      "div",
      { class: "cw-controls" },
      select(model, "system", { label: "System", options: systems.map(({ name, title }) => [name, title]) }),
      planes,
      slider(model, "dt", { label: "Step size", min: 0.001, max: 1, logarithmic: true, format: (dt) => number(dt, 3) }),
      checks(model, "methods", {
        label: "Integrators",
        options: model.get("method_names").map(([method, text]) => [method, text, seriesColour(COLOURS[method])]),
      }),
      button("Back to the start", () => begin(start)),
    ),
    html(
      "div",
      { class: "cw-columns" },
      html("div", {}, html("div", { class: "cw-layers" }, phase.canvas, portrait), html("p", { class: "cw-hint" }, "Phase portrait")),
      html("div", {}, html("div", { class: "cw-layers" }, drift.canvas, chart), html("p", { class: "cw-hint" }, "Relative energy error |H − H₀| / |H₀| against time")),
    ),
    html(
      "table",
      { class: "cw-weights" },
      html("caption", {}, `Energy error over ${steps.toLocaleString("en")} steps`),
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "integrator"), html("th", { scope: "col" }, "largest"), html("th", { scope: "col" }, "at the end"))),
      table,
    ),
    note,
    region,
  );
  // The first drawing already asks for the colours, before the scheduler has been returned.
  let scheduler = null;
  const theme = themeColours(root, [0, 1, 2, 3, 4, 5].map((i) => `series-${i}`), () => scheduler?.request());
  scheduler = frameScheduler(root, draw);
  const unlistenSystem = onChange(model, ["system"], newSystem);
  const unlisten = onChange(model, ["system", "plane", "dt", "q", "p", "methods", "rollouts"], scheduler.request);
  return () => {
    scheduler.stop();
    theme.stop();
    unlisten();
    unlistenSystem();
  };
}

export default { render };
