import { plain } from "./js/array.js";
import { button, choices, select, series, slider, swatch } from "./js/controls.js";
import { chart } from "./js/graph_drum/chart.js";
import {
  HEIGHT,
  heightUnder,
  inksOf,
  nodeUnder,
  paintDrum,
  points,
  WIDTH,
} from "./js/graph_drum/picture.js";
import { derive, graphs, specOf } from "./js/graph_drum/states.js";
import { inThePlane } from "./js/keys.js";
import { clamp } from "./js/maths/numerics.js";
import { painted } from "./js/painted.js";
import { playAtOnce, playButton, prefersStillness } from "./js/play.js";
import { number } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SECONDS = 18;
const STEPS = 90;
const PULL = 0.1;
const JITTER = 4;
const SEEDS = 1000;
/** @type {[string, string][]} */
const STARTS = [
  ["pluck", "a pluck"],
  ["mode", "an eigenmode"],
  ["random", "random heights"],
];

const at = (time) => `t = ${number(time, 1)}`;
const percent = (share) => `${number(100 * share, share < 0.0995 ? 1 : 0)} %`;

/** Begins again, from another start. */
const begin = (ui, changes) => ui.set({ ...changes, time: 0 });

/**
 * Begins again and moves, for a drum at rest shows nothing of what was chosen. A page that is to be
 * still, and a reader who asked for less motion, leave a drum as it was: playing or not.
 */
function choose(ui, changes) {
  begin(ui, changes);
  if (ui.now.moving && !prefersStillness()) ui.play(true);
}

function pluck(ui, node, height) {
  begin(ui, { start: "pluck", node, height: Number(clamp(height, -1, 1).toFixed(2)) });
}

/** Lets go: the drums move, unless the reader asked for less motion. */
const release = (ui) => ui.play(!prefersStillness());

/**
 * The hand on a drum: a click lifts a node to the top, a drag as far as the hand goes. A finger
 * drags by the ring alone, since elsewhere it scrolls the page.
 */
function hand(ui, { law }) {
  return (event) => {
    const { held, scene, node, drums } = ui.now;
    const surface = event.currentTarget;
    const ring = event.target.closest(".cw-handle");
    const { q } = drums.find((drum) => drum.law === law).state;
    const under = () => (ring ? node : nodeUnder(event, scene, q));
    if (event.type === "pointerdown" && event.pointerType === "touch" && !ring) {
      ui.set({ held: null });
    } else if (event.type === "pointerdown") {
      ui.set({ held: { node: under(), from: event.clientY, moved: false } });
      surface.setPointerCapture(event.pointerId);
    } else if (event.type === "pointermove" && held && surface.hasPointerCapture(event.pointerId)) {
      if (!held.moved && Math.abs(event.clientY - held.from) < JITTER) return;
      ui.play(false);
      ui.set({ held: { ...held, moved: true } });
      pluck(ui, held.node, heightUnder(event, scene, held.node));
    } else if (event.type === "pointerup" && held?.moved) {
      release(ui);
    } else if (event.type === "click" && !held?.moved) {
      pluck(ui, under(), 1);
      release(ui);
    }
  };
}

/** Arrow keys choose the node and pull it; Enter and the space bar let go. */
function keys(ui) {
  const arrows = inThePlane(([across, up]) => {
    const { node, height, count } = ui.now;
    pluck(ui, clamp(node + across, 0, count - 1), height + PULL * up);
  });
  return (event) => {
    arrows(event);
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    release(ui);
  };
}

function ring({ node, count, height, scene }, ui, { title, state }) {
  const [x, y, near] = points(scene, state.q)[node];
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="plucked node"
    aria-label="${title}: node ${node} of ${count}, plucked to ${number(height, 1)}; arrows up and
    down pull it, left and right choose another, Enter lets go"
    transform="translate(${x} ${y})" @keydown=${keys(ui)}>
    <circle r="22" fill="transparent"></circle>
    <circle r=${scene.radius * near + 4} fill="none" stroke="var(--cw-ink)"
      stroke-width="2"></circle>
  </g>`;
}

function drum(now, ui, one) {
  const { scene, unit } = now;
  const { law, title, formula, colour, state, energy } = one;
  const width = ui.width("drum", WIDTH);
  const paint = (context) => {
    const inks = ui.memo("inks", [ui.theme.version], () => inksOf(ui.theme));
    paintDrum(context, scene, state, { inks, theme: ui.theme, scale: width / WIDTH });
  };
  const net = { width, height: (width * HEIGHT) / WIDTH, inputs: [scene, state], paint };
  const grip = hand(ui, one);
  const [low, high] = [Math.min, Math.max].map((most) => number(most(...state.q)));
  return html`<div data-law=${law}>
    <p class="cw-drum-title">${swatch(series(colour))} <strong>${title}</strong>
      <span class="cw-drum-law">${formula}</span></p>
    <div class="cw-layers" data-measure=${law === "heat" ? "drum" : nothing}>
      <canvas role="img" aria-label="${title}: the graph, each node as high as it stands now"
        ${painted(ui, net)}></canvas>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label=${title} class="cw-drum-hand"
        @pointerdown=${grip} @pointermove=${grip} @pointerup=${grip} @click=${grip}>
        ${ring(now, ui, one)}
      </svg>
    </div>
    <p class="cw-hint cw-drum-told">Energy <strong>${percent(energy.whole / unit)}</strong>,
      heights <span>${low}</span> to <span>${high}</span></p>
  </div>`;
}

/** What belongs to a start of one kind alone. */
function startControls({ mode, count, rates, start }, ui) {
  if (start === "random") {
    return button("Other heights", () => choose(ui, { seed: (ui.now.seed + 1) % SEEDS }));
  }
  if (start !== "mode") return nothing;
  const [rate, frequency] = [rates[mode], Math.sqrt(rates[mode])].map((x) => number(x, 3));
  const modes = { label: "Eigenmode", min: 0, max: count - 1, value: mode };
  return html`${slider(ui, "mode", { ...modes, set: (k) => choose(ui, { mode: k }) })}
    <span class="cw-drum-mode">λ = <b>${rate}</b>, frequency √λ = <b>${frequency}</b></span>`;
}

function controls(now, ui) {
  const { graphs } = now;
  const enter = (name) => {
    const { middle, places } = graphs.find((spec) => spec.name === name);
    choose(ui, { graph: name, node: middle, mode: Math.min(ui.now.mode, places.length - 1) });
  };
  return html`<div class="cw-controls">
    ${select(ui, "graph", {
      label: "Graph",
      options: graphs.map(({ name, title }) => [name, title]),
      choose: enter,
    })}
    ${choices(ui, "start", {
      label: "Start from",
      options: STARTS,
      choose: (value) => choose(ui, { start: value }),
    })}
    ${startControls(now, ui)}
  </div>`;
}

function transport({ end, time }, ui) {
  const rewind = () => {
    if (ui.now.time >= ui.now.end) ui.set({ time: 0 });
  };
  const show = (moment) => {
    ui.play(false);
    ui.set({ time: clamp(moment, 0, ui.now.end) });
  };
  const line = { label: "Time", min: 0, max: end, step: end / 1000, value: time, format: at };
  const speeds = { min: 0.25, max: 4, step: 0.25, format: (speed) => `${number(speed)} ×` };
  return html`<div class="cw-controls cw-drum-transport" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: rewind })}
    ${button("Step", () => show(ui.now.time + ui.now.end / STEPS))}
    ${slider(ui, "time", { ...line, set: show })}
    ${slider(ui, "speed", { label: "Speed", ...speeds })}
  </div>`;
}

function view(now, ui) {
  if (now.moving) playAtOnce(ui);
  return html`${controls(now, ui)}
    <div class="cw-drums" data-heights=${now.heights.join(" ")}>
      ${now.drums.map((one) => drum(now, ui, one))}
    </div>
    ${transport(now, ui)} ${chart(now, ui)}
    <div class="cw-controls cw-drum-transport">
      ${slider(ui, "stiffness", {
        ...{ label: "Stiffness", min: 0.01, max: 1, logarithmic: true, format: number },
        set: (stiffness) => choose(ui, { stiffness }),
      })}
      ${slider(ui, "stir", {
        ...{ label: "Stirred", min: 0, max: 1, step: 0.05, format: number },
        set: (stir) => choose(ui, { stir }),
      })}
    </div>`;
}

const HOW =
  "Click a node to pluck it, or pull it up or down; by finger, pull the ring. With the keyboard: " +
  "Tab to a ring, then the arrow keys, and Enter lets go. " +
  "A green band on a spring is its current: the wider, the stronger; the arrow says which way. " +
  "The curves: energy ½|q|² + ½|p|² of each law against time; the thin line is the part on the " +
  "nodes, ½|q|².";

function words({ drums, time, unit, spec }) {
  const told = drums.map(({ title, energy, state }) => {
    const span = [Math.min, Math.max].map((most) => number(most(...state.q))).join(" to ");
    return `${title}: ${percent(energy.whole / unit)} of the energy, heights ${span}.`;
  });
  return `${spec.title}, ${at(time)}. ${told.join(" ")}`;
}

const BEGAN = {
  pluck: ({ node, height }) => `node ${node} plucked to ${number(height)}`,
  mode: ({ mode }) => `eigenmode ${mode}`,
  random: () => "random heights",
};

export default widget({
  label: "Graph drum: pluck a graph, and watch heat, wave and double bracket",
  data: { graphs, moving: plain },
  controls: {
    ...{ graph: plain, start: plain, node: plain, height: plain, mode: plain, seed: plain },
    ...{ stir: plain, stiffness: plain },
  },
  local: { time: 0, speed: 1, held: null },
  whole: (now) => Math.max(now.node, now.mode) < specOf(now).places.length,
  along({ graph }, now) {
    const { middle, places } = specOf(now);
    return graph === undefined ? {} : { node: middle, mode: Math.min(now.mode, places.length - 1) };
  },
  entered: (ui) => choose(ui, {}),
  derive,
  view,
  words,
  how: () => HOW,
  began: (now) => `${specOf(now).title}, ${BEGAN[now.start](now)}`,
  // A slow drum takes as long as a quick one. At its end it stands still, to be looked at.
  advance: ({ time, speed }, ui, seconds) => {
    const { end } = ui.now;
    const next = time + (seconds * speed * end) / SECONDS;
    ui.set({ time: Math.min(end, next) });
    if (next >= end) ui.play(false);
  },
});
