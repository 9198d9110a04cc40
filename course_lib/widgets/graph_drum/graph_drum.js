import { plain } from "../kit/array.js";
import { button, choices, fold, select, slider, swatch } from "../kit/controls.js";
import { inThePlane } from "../kit/keys.js";
import { painted } from "../kit/painted.js";
import { playButton, playIfMoving, prefersStillness } from "../kit/play.js";
import { finePercent, number } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { clamp } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { chart } from "./chart.js";
import { HEIGHT, heightUnder, inksOf, nodeUnder, paintDrum, points, WIDTH } from "./picture.js";
import { derive, graphs, specOf } from "./states.js";

const SECONDS = 9;
/** Most of the heat is gone in the first moments: they take four times as long. */
const [FIRST, SLOWER] = [1 / 25, 1 / 4];
const STEPS = 90;
const PULL = 0.1;
/** A smaller change of the energy is invisible. */
const REST = 5e-4;
const JITTER = 4;
const SEEDS = 1000;
const SPEEDS = { min: 0.25, max: 4, step: 0.25, format: (speed) => `${number(speed)} ×` };
/** @type {[string, string][]} */
const STARTS = [
  ["pluck", "pluck"],
  ["mode", "eigenmode"],
  ["random", "random"],
];

const at = (time) => `t = ${number(time, 1)}`;

/** Begins again, from another start. */
const begin = (ui, changes) => ui.set({ ...changes, time: 0, seen: false });

/**
 * Begins again and moves, for a drum at rest shows nothing of what was chosen. A page that is to be
 * still, and a reader who asked for less motion, leave a drum as it was: playing or not.
 */
function choose(ui, changes) {
  begin(ui, changes);
  playIfMoving(ui);
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
    const { scene, node, drums, count } = ui.now;
    // A smaller graph may have been chosen meanwhile.
    const held = ui.now.held?.node < count ? ui.now.held : null;
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
    } else if (event.type === "click") {
      if (!held?.moved) {
        pluck(ui, under(), 1);
        release(ui);
      }
      ui.set({ large: law });
    }
  };
}

/** Arrow keys choose the node and pull it; Enter and the space bar let go. */
const keys = (ui) =>
  inThePlane(
    ([across, up]) => {
      const { node, height, count } = ui.now;
      pluck(ui, clamp(node + across, 0, count - 1), height + PULL * up);
    },
    () => release(ui),
  );

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
  const { law, title, plainly, ink, state, energy } = one;
  const width = ui.width(law, WIDTH);
  const large = now.large === law;
  const paint = (context) => {
    const inks = ui.memo("inks", [ui.theme.version], () => inksOf(ui.theme));
    const own = ui.theme.ink(ink);
    paintDrum(context, scene, state, { inks, own, theme: ui.theme, scale: width / WIDTH });
  };
  const net = { width, height: (width * HEIGHT) / WIDTH, inputs: [scene, state], paint };
  const grip = hand(ui, one);
  return html`<div data-law=${law} class=${large ? "cw-drum-large" : nothing}>
    <p class="cw-drum-title">${swatch(`var(--cw-${ink})`)} <strong>${title}</strong>
      <span class="cw-drum-told"><span class="cw-drum-energy">Energy</span>
        <strong>${finePercent(energy.whole / unit)}</strong></span>
      <span class="cw-drum-law">${plainly}</span></p>
    <div class="cw-layers" data-measure=${law}>
      <canvas role="img" aria-label="${title}: the graph, each node as high as it stands now"
        ${painted(ui, net)}></canvas>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label=${title} class="cw-drum-hand"
        @pointerdown=${grip} @pointermove=${grip} @pointerup=${grip} @click=${grip}>
        ${ring(now, ui, one)}
      </svg>
    </div>
  </div>`;
}

/** What belongs to a start of one kind alone. */
function startControls({ mode, count, rates, start }, ui) {
  if (start === "random") {
    return button("Other heights", () => choose(ui, { seed: (ui.now.seed + 1) % SEEDS }));
  }
  if (start === "pluck") return html`<span class="cw-hint">Click a node, or pull the ring.</span>`;
  const [rate, frequency] = [rates[mode], Math.sqrt(rates[mode])].map((x) => number(x, 4));
  const modes = { label: "Eigenmode", min: 0, max: count - 1, value: mode };
  return html`${slider(ui, "mode", { ...modes, set: (k) => choose(ui, { mode: k }) })}
    <span class="cw-drum-mode">λ = <b>${rate}</b>, <i>frequency</i> √λ = <b>${frequency}</b></span>`;
}

function controls(now, ui) {
  const { graphs } = now;
  const enter = (name) => {
    const { middle, places } = graphs.find((spec) => spec.name === name);
    choose(ui, { graph: name, node: middle, mode: Math.min(ui.now.mode, places.length - 1) });
  };
  return html`<div class="cw-controls cw-drum-start">
    ${select(ui, "graph", {
      label: "Graph",
      options: graphs.map(({ name, title }) => [name, title]),
      choose: enter,
    })}
    ${choices(ui, "start", {
      label: "Start",
      options: STARTS,
      choose: (value) => choose(ui, { start: value }),
    })}
    <div class="cw-controls cw-drum-own">${startControls(now, ui)}</div>
  </div>`;
}

function transport({ end, time }, ui) {
  const rewind = () => {
    if (ui.now.time >= ui.now.end) ui.set({ time: 0 });
  };
  const show = (moment) => {
    ui.play(false);
    const { end, seen } = ui.now;
    ui.set({ time: clamp(moment, 0, end), seen: seen || moment >= 0.999 * end });
  };
  const line = { label: "Time", min: 0, max: end, step: end / 1000, value: time, format: at };
  return html`<div class="cw-controls cw-stacked cw-drum-transport" data-time=${time}>
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: rewind })}
    ${button("Step", () => show(ui.now.time + ui.now.end / STEPS))}
    ${slider(ui, "time", { ...line, set: show })}
  </div>`;
}

const settings = ({ drums }, ui) => html`<div class="cw-controls cw-drum-transport">
  ${choices(ui, "large", { label: "Large drum", options: drums.map(({ law, title }) => [law, title]) })}
  ${slider(ui, "stir", {
    ...{ label: "Stirred", min: 0, max: 1, step: 0.05, format: number },
    set: (stir) => choose(ui, { stir }),
  })}
  ${slider(ui, "stiffness", {
    ...{ label: "Stiffness", min: 0.01, max: 1, logarithmic: true, format: number },
    set: (stiffness) => choose(ui, { stiffness }),
  })}
  ${slider(ui, "speed", { label: "Speed", ...SPEEDS })}
</div>`;

/** What the chart's lines and the drums' arrows are, and of what the shares are. */
function legend({ stir }) {
  const shares = stir > 0 ? " 100\u00a0% is the wave’s start; heat has no current." : "";
  return `Thick: all the energy. Thin: what lies on the nodes.${shares}`;
}

/** When the clock stops; the wave itself never comes to rest. */
const ending = ({ end, rates }) =>
  rates.some((rate) => rate > 0) ? `The clock stops at ${at(end)}.` : "No spring joins two nodes.";

/** What has become of the energies; once the clock has stopped, who rings on and who does not. */
function outcome({ drums, unit, time, end, alike }) {
  const [heat, wave, bracket] = drums.map(({ energy }) => finePercent(energy.whole / unit));
  const still = drums.every(({ curve: { whole } }) => Math.abs(whole[0] - whole.at(-1)) < REST);
  if (still) return { kind: "open", text: "No spring is stretched: all three stand still." };
  // The slider of time has its own last step, which may lie a little before the end.
  if (time < 0.999 * end)
    return { kind: "open", text: `So far: heat ${heat}, wave ${wave}, bracket ${bracket}.` };
  const told = alike ? `Heat and bracket alike: ${bracket}.` : `Heat ${heat}, bracket ${bracket}.`;
  return { kind: "good", text: `Wave rings on: ${wave}.`, told };
}

function view(now, ui) {
  return html`${headline("Pluck: which drum rings on?", outcome(now))} ${controls(now, ui)}
    <div class="cw-drums" data-heights=${now.heights.join(" ")}>
      ${now.drums.map((one) => drum(now, ui, one))}${chart(now, ui)}
    </div>
    ${transport(now, ui)}
    <p class="cw-hint">${legend(now)} ${ending(now)}</p>
    ${fold("More: large drum, stirring, speed", settings(now, ui))}`;
}

const HOW =
  "Click a node to pluck it, or pull it up or down; by finger, pull the ring. A drum that is touched " +
  "becomes the large one. With the keyboard: " +
  "Tab to a ring, then the arrow keys, and Enter lets go. " +
  "A band on a spring, in its law’s colour, is the current: the wider, the stronger; the arrow " +
  "says which way. " +
  "The curves: energy E = ½|q|² + ½|p|² of each law against time, with heights q and currents p; " +
  "the thin line is the part on the nodes, ½|q|². What heat and the double bracket have left in " +
  "the end lies in the mean of the heights, which no law here changes. The clock stops after " +
  "three swings of the " +
  "slowest mode. With x = (q, p), J(q, p) = (−δ₀*p, δ₀q) and L = δ₀*δ₀, heat is q̇ = −Lq, the wave " +
  "ẋ = J∇E, the double bracket ẋ = J∇E + J²∇E.";

function words(now) {
  const { drums, time, unit, spec } = now;
  const told = drums.map(({ title, energy, state }) => {
    const span = [Math.min, Math.max].map((most) => number(most(...state.q))).join(" to ");
    return `${title}: ${finePercent(energy.whole / unit)} of the energy, heights ${span}.`;
  });
  const { text, told: others = "" } = outcome(now);
  return `${spec.title}, ${at(time)}. ${told.join(" ")} ${text} ${others}`.trim();
}

const BEGAN = {
  pluck: ({ node }) => `plucked at node ${node}`,
  mode: ({ mode }) => `eigenmode ${mode}`,
  random: () => "random heights",
};

export default widget({
  label: "Graph drum: pluck a graph, and watch heat, wave and double bracket",
  data: { graphs },
  controls: {
    ...{ graph: plain, start: plain, node: plain, height: plain, mode: plain, seed: plain },
    ...{ stir: plain, stiffness: plain, large: plain },
  },
  local: { time: 0, speed: 1, held: null, seen: false },
  whole: (now) => Math.max(now.node, now.mode) < specOf(now).places.length,
  along({ graph }, now) {
    const { middle, places } = specOf(now);
    return graph === undefined ? {} : { node: middle, mode: Math.min(now.mode, places.length - 1) };
  },
  atSight: (ui) => ui.play(true),
  entered: (ui) => choose(ui, {}),
  derive(now, ui) {
    const found = derive(now, ui);
    const begun = now.playing || (now.time > 0 && now.time < found.end);
    return { ...found, unseen: now.moving && !now.seen && begun };
  },
  view,
  words,
  how: () => HOW,
  began: (now) => `${specOf(now).title}, ${BEGAN[now.start](now)}`,
  // A slow drum takes as long as a quick one. At its end it stands still, to be looked at.
  advance: ({ time, speed }, ui, seconds) => {
    const { end } = ui.now;
    const pace = (speed * end) / SECONDS;
    const next = time + seconds * pace * (time < FIRST * end ? SLOWER : 1);
    ui.set({ time: Math.min(end, next) });
    if (next < end) return;
    ui.set({ seen: true });
    ui.play(false);
  },
});
