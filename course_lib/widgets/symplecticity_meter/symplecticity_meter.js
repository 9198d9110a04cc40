import { plain, rows } from "../kit/array.js";
import { button, choices, fold, series, slider } from "../kit/controls.js";
import { middleOf, textWidth } from "../kit/lettering.js";
import { dragging, plane, pointIn } from "../kit/plane.js";
import { playButton, playIfMoving } from "../kit/play.js";
import { tickSign } from "../kit/signs.js";
import { number, percent, quantity } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { clamp, plus, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { chart } from "./chart.js";
import { derive, ROUNDS, STEP, STEPS } from "./experiments.js";
import { centreOf, closedLoop, largestSize, moved, resized, sizeOf } from "./loops.js";

const SIDE = 400;
// On a telephone the picture takes the whole width, and the chart less of the height.
const NARROW = 480;
const [LOW, CHART_HIGH, CHART_LOW] = [284, 160, 112];
/** The least size of what carries a word, as a share of its size in a picture of that side. */
const SMALL = 0.66;
// What a hand can reach; bodies that are let go need more room.
const REACH = 2.5;
const [PLANE, WIDE] = [2.75, 3.75].map((reach) =>
  plane({ x: [-reach, reach], y: [-reach, reach], width: SIDE, height: SIDE }),
);
const inReach = (point) => point.map((part) => clamp(part, -REACH, REACH));
const viewOf = ({ experiment }) => (experiment === "loop" ? PLANE : WIDE);
const KEY_STEP = 0.1;
const SMALLEST = 0.3;
const RATE = 1.2;
const STEP_TIME = 0.15;
const BAND = 15;
const [LONGEST_ARROW, HALF_FORCE, RIM] = [80, 5, 13];
const [TAIL, TAIL_TIME] = [6, 0.15];
const TRAIL = 80;
// How far the words stand from the start, their type, which a halo makes wider, and a tick.
const [BESIDE, TYPE, TICK] = [32, 20, 15];
const TRAIL_STRIDE = 2;
/** Where words may stand that find no room beside the start; and a token with its pin. */
const CORNERS = [
  [0, 0],
  [SIDE, 0],
  [0, SIDE],
  [SIDE, SIDE],
];
const DISC = 16;
const SHORTEST_LOOP = 1;
const KEPT = 0.01;
const JUDGED_FROM = 500;
/** @type {[string, string][]} */
const EXPERIMENTS = [
  ["loop", "one on a loop"],
  ["free", "let all go"],
];
/** @type {[string, string][]} */
const SOFTMAXES = [
  ["vector", "per token"],
  ["matrix", "over all pairs"],
];
/** @type {[string, string][]} */
const FORMULAS = [
  ["shortcut", "the token that looks"],
  ["full", "both"],
];
const minus = (a, b) => a.map((part, i) => part - b[i]);
const said = (options, value) => options.find(([name]) => name === value)[1];
const signed = (value) => `${Number(value.toFixed(2)) > 0 ? "+" : ""}${number(value)}`;
const path = (places) =>
  `M${places.map((place) => place.map((x) => x.toFixed(1)).join(" ")).join("L")}`;

/** Moves, where the page and the reader like motion; what plays goes on. */
function go(ui) {
  playIfMoving(ui);
}

/** Begins again with another choice. */
function choose(ui, changes) {
  ui.set({ ...changes, time: 0 });
  go(ui);
}

/** A token elsewhere; the free ones stay where they have come to. */
function put(ui, i, point) {
  const { experiment, tokens, z } = ui.now;
  const window = experiment === "free" ? tokens.map(inReach) : z;
  ui.set({ z: window.with(i, inReach(point)), time: 0 });
}

/**
 * A handle: all stands still while the hand holds it, and goes on when it lets go.
 * @param {any} ui
 * @param {{ take?: (event: any) => void, moveTo: (pixel: number[]) => void,
 *   moveBy: (step: number[]) => void }} moves `take` comes before the first move
 */
function handle(ui, { take = (_) => {}, moveTo, moveBy }) {
  const grip = dragging({
    moveTo,
    moveBy(step) {
      moveBy(step.map((part) => KEY_STEP * part));
      go(ui);
    },
  });
  return (event) => {
    if (event.type === "pointerdown") {
      take(event);
      ui.set({ resume: ui.now.playing });
      ui.play(false);
    }
    grip(event);
    if (event.type !== "pointerup") return;
    if (ui.now.resume) ui.play(true);
    go(ui);
  };
}

function token(now, ui, i) {
  const view = viewOf(now);
  const [x, y] = view.toPixel(now.tokens[i]);
  const moveBy = (step) => put(ui, i, plus(ui.now.tokens[i], step));
  const grip = handle(ui, { moveTo: (pixel) => put(ui, i, view.toData(pixel)), moveBy });
  const place = now.tokens[i].map((part) => number(part)).join(", ");
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable token"
    aria-label="token ${i + 1}${now.playing ? "" : ` at ${place}`}; arrow keys move it"
    transform="translate(${x} ${y})" @pointerdown=${grip} @pointermove=${grip} @pointerup=${grip}
    @keydown=${grip}>
    <circle r="22" fill="transparent"></circle>${disc(now, ui, i)}
  </g>`;
}

// A token that is held.
const PIN = svg`<circle r="16" fill="none" stroke="var(--cw-edge)" stroke-width="2"
  stroke-dasharray="3 3"></circle>`;

function disc({ tokens, experiment }, ui, i) {
  const colour = series(3 + (i % 3));
  const pinned = experiment === "loop" && i < tokens.length - 1;
  return svg`<g transform="scale(${largerIn(ui)})">
    <circle r="12" fill=${colour} stroke="var(--cw-paper)" stroke-width="2"></circle>
    ${pinned ? PIN : nothing}
    <text y="5" text-anchor="middle" class="cw-meter-name" stroke=${colour}>${i + 1}</text></g>`;
}

function arrow(now, i) {
  const { tokens, forces } = now;
  const size = Math.hypot(...forces[i]);
  if (!(size > 0)) return nothing;
  const length = (LONGEST_ARROW * size) / (size + HALF_FORCE);
  const [x, y] = viewOf(now).toPixel(tokens[i]);
  const turn = (-Math.atan2(forces[i][1], forces[i][0]) * 180) / Math.PI;
  return svg`<path pointer-events="none" fill="var(--cw-ink)"
    transform="translate(${x} ${y}) rotate(${turn})"
    d="M${RIM} -1.5H${RIM + length}V-5L${RIM + length + 9} 0L${RIM + length} 5V1.5H${RIM}Z"></path>`;
}

/** A ribbon along the wire: as wide as the force drives the bead on, or holds it back. */
function ribbons({ corners, far, push }) {
  const pushes = corners.map((_, i) => push(far[i]));
  const most = Math.max(...pushes.map(Math.abs)) || 1;
  const places = corners.map(PLANE.toPixel);
  const count = places.length;
  const sides = places.map(([x, y], i) => {
    const [[ax, ay], [bx, by]] = [places.at(i - 1), places[(i + 1) % count]];
    const wide = (BAND * Math.abs(pushes[i])) / most / (Math.hypot(bx - ax, by - ay) || 1);
    const [dx, dy] = [wide * (ay - by), wide * (bx - ax)];
    return [
      [x + dx, y + dy],
      [x - dx, y - dy],
    ];
  });
  const pieces = upTo(count).map((i) => {
    const next = (i + 1) % count;
    const quad = [...sides[i], sides[next][1], sides[next][0]];
    return { drives: pushes[i] + pushes[next] > 0, d: `${path(quad)}Z` };
  });
  const of = (drives) => pieces.filter((piece) => piece.drives === drives).map(({ d }) => d);
  return { on: of(true).join(""), back: of(false).join(""), wire: `${path(places)}Z` };
}

function loopHandle(now, ui, shapes) {
  const { bead, tokens } = now;
  const shift = (loop, step) => ui.set({ loop: moved(loop, step, REACH), time: 0 });
  const grip = handle(ui, {
    take(event) {
      const at = PLANE.toData(pointIn(event));
      ui.set({ taken: { at, loop: ui.now.loop } });
    },
    moveTo(pixel) {
      if (!ui.now.taken) return; // Reset has taken it out of the hand
      const { at, loop } = ui.now.taken;
      shift(loop, minus(PLANE.toData(pixel), at));
    },
    moveBy: (step) => shift(ui.now.loop, step),
  });
  const done = now.closed
    ? bead.closes
      ? "var(--cw-series-2)"
      : "var(--cw-muted)"
    : "var(--cw-ink)";
  const [x, y] = PLANE.toPixel(tokens.at(-1));
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable loop"
    aria-label="loop of token ${tokens.length}; arrow keys move it" @pointerdown=${grip}
    @pointermove=${grip} @pointerup=${grip} @keydown=${grip}>
    <path d=${shapes.wire} fill="none" stroke="transparent" stroke-width="30"
      pointer-events="stroke"></path>
    <path d=${shapes.wire} fill="none" stroke=${done} stroke-width="2"></path>
    <g transform="translate(${x} ${y})">${disc(now, ui, tokens.length - 1)}</g>
  </g>`;
}

/** The first place where words of such half sizes cover no token that is held, or the clearest. */
function clearOf(held, places, [half, high], larger) {
  const clear = ([px, py]) =>
    Math.min(
      ...held.map(PLANE.toPixel).map(([x, y]) => {
        const gaps = [Math.abs(x - px) - half, Math.abs(y - py) - high];
        return Math.hypot(...gaps.map((gap) => Math.max(0, gap)));
      }),
    );
  const enough = DISC * larger + 4;
  const best = places.toSorted((a, b) => clear(b) - clear(a))[0];
  return places.find((place) => clear(place) >= enough) ?? best;
}

/** Where the loop begins and ends, and what is left when it is closed. */
function start({ bead, closed, tokens, z, loop }, ui) {
  const [x, y] = PLANE.toPixel(bead.corners[0]);
  const [cx, cy] = PLANE.toPixel(centreOf(bead.corners));
  const rounds = `${Math.abs(closed)} ${Math.abs(closed) === 1 ? "round" : "rounds"}`;
  const text = closed ? `${rounds}: ${signed(closed * bead.total)}` : "start";
  const [type, tick] = [TYPE, TICK].map((size) => size * largerIn(ui));
  const far = BESIDE / (Math.hypot(x - cx, y - cy) || 1);
  const [outside, inside] = [far, -far].map((way) => [x + way * (x - cx), y + way * (y - cy)]);
  const half = textWidth(text, type) / 2;
  const room = (at) => Math.min(at, SIDE - at);
  const fits = room(outside[0]) > half && room(outside[1]) > tick;
  const [, top, , high] = windowOf({ experiment: "loop", z, loop }, ui);
  const places = [...(fits ? [outside, inside] : [inside, outside]), ...CORNERS].map(([px, py]) => [
    middleOf(text, px, SIDE, type),
    clamp(py, top + tick, top + high - tick),
  ]);
  const [beside, below] = clearOf(tokens.slice(0, -1), places, [half, type / 2], largerIn(ui));
  return svg`<circle cx=${x} cy=${y} r="5" fill="var(--cw-paper)" stroke="var(--cw-ink)"
      stroke-width="2"></circle>
    ${
      closed && bead.closes
        ? tickSign(beside, below, tick)
        : svg`<text x=${beside} y=${below + 5} text-anchor="middle"
            class="cw-halo cw-meter-left" style="font-size: calc(17px * var(--cw-larger, 1))">${text}</text>`
    }`;
}

/** The way of the last moment: the faster, the longer. */
function tail({ bead, state: { s, v }, tokens }) {
  const places = upTo(TAIL + 1).map((k) =>
    PLANE.toPixel(bead.place(s - (v * TAIL_TIME * k) / TAIL)),
  );
  return svg`<path d=${path(places)} fill="none" stroke=${series(2 + tokens.length)} opacity="0.45"
    stroke-width="12" stroke-linecap="round"></path>`;
}

function loopPicture(now, ui) {
  const { bead, tokens, state } = now;
  const shapes = ui.memo("ribbons", [bead], () => ribbons(bead));
  const [ahead, behind] = state.v < 0 ? [shapes.back, shapes.on] : [shapes.on, shapes.back];
  return svg`<path d=${ahead} fill="var(--cw-accent)" opacity="0.55"></path>
    <path d=${behind} fill="var(--cw-warm)" opacity="0.55"></path>
    ${tail(now)}${tokens.map((_, i) => arrow(now, i))}${start(now, ui)}${loopHandle(now, ui, shapes)}
    ${upTo(tokens.length - 1).map((i) => token(now, ui, i))}`;
}

function freePicture(now, ui) {
  const { tokens, positions, moment } = now;
  const unit = WIDE.toPixel([1, 0])[0] - SIDE / 2;
  const ring = (r) => svg`<circle cx=${SIDE / 2} cy=${SIDE / 2} r=${r * unit}
    fill="none" stroke="var(--cw-line)"></circle>`;
  const past = upTo(Math.min(TRAIL, Math.floor(moment / TRAIL_STRIDE)) + 1).map((k) =>
    positions(moment - TRAIL_STRIDE * k).map(WIDE.toPixel),
  );
  const trail = (_, i) => svg`<path d=${path(past.map((places) => places[i]))} fill="none"
    stroke=${series(3 + (i % 3))} stroke-width="2" opacity="0.6"></path>`;
  return svg`${[1, 2, 3].map(ring)}${tokens.map(trail)}${tokens.map((_, i) => arrow(now, i))}
    ${tokens.map((_, i) => token(now, ui, i))}`;
}

/** A sheet on top of the picture, on which a hand draws a loop. */
function sheet({ drawing }, ui) {
  if (!drawing) return nothing;
  const draw = (event) => {
    const { drawing } = ui.now;
    const surface = event.currentTarget;
    const point = inReach(PLANE.toData(pointIn(event)));
    if (event.type === "pointerdown") {
      event.preventDefault();
      surface.setPointerCapture(event.pointerId);
      ui.play(false);
      ui.set({ drawing: [point] });
    } else if (!drawing?.length) {
      return; // nothing is begun, or the sheet goes with the next frame
    } else if (event.type === "pointermove") {
      ui.set({ drawing: [...drawing, point] });
    } else {
      const loop = closedLoop(drawing, SHORTEST_LOOP);
      if (loop) choose(ui, { loop, drawing: null });
      else ui.set({ drawing: [] });
    }
  };
  const line = drawing.length ? path(drawing.map(PLANE.toPixel)) : "";
  return svg`<rect class="cw-handle cw-meter-sheet" style="cursor: crosshair" width=${SIDE}
      height=${SIDE} fill="var(--cw-paper)"
      fill-opacity="0.6" @pointerdown=${draw} @pointermove=${draw} @pointerup=${draw}></rect>
    <path d=${line} fill="none" stroke="var(--cw-ink)" stroke-width="2.5" pointer-events="none"></path>`;
}

const isNarrow = (ui) => ui.width("meter", 2 * NARROW) < NARROW;
const chartHeight = (ui) => (isNarrow(ui) ? CHART_LOW : CHART_HIGH);

/**
 * What of the plane is to be seen: left, top, width, height. On a telephone it is as wide as the plane
 * and lower, around the middle of what is there at first; if that holds not all, it is the whole plane.
 */
function windowOf({ experiment, z, loop }, ui) {
  if (!isNarrow(ui)) return [0, 0, SIDE, SIDE];
  const heights = [...z.slice(0, -1), ...loop].map((point) => PLANE.toPixel(point)[1]);
  const [least, most] = [Math.min(...heights), Math.max(...heights)];
  const top = ui.memo("top", [], () => clamp((least + most - LOW) / 2, 0, SIDE - LOW));
  const fits = least - DISC >= top && most + DISC <= top + LOW;
  if (experiment === "loop" && fits) return [0, top, SIDE, LOW];
  const wide = (SIDE * SIDE) / LOW;
  return [(SIDE - wide) / 2, 0, wide, SIDE];
}

/** In a small picture all that carries a word is larger. */
const largerIn = (ui) => Math.max(1, (SMALL * windowOf(ui.now, ui)[2]) / ui.width("stage", SIDE));

function stage(now, ui) {
  const picture = now.experiment === "loop" ? loopPicture : freePicture;
  return html`<div class="cw-layers" data-measure="stage" style="--cw-larger: ${largerIn(ui)}">
    <svg viewBox=${windowOf(now, ui).join(" ")} role="group" class="cw-meter-stage"
      data-time=${now.time} data-travelled=${now.state?.s ?? nothing}
      data-start=${now.bead?.corners[0].join(" ") ?? nothing}
      data-places=${now.tokens.flat().join(" ")} data-forces=${now.forces.flat().join(" ")}
      aria-label="${now.tokens.length} tokens in a plane, with the force on each">
      ${picture(now, ui)}${sheet(now, ui)}
    </svg>
  </div>`;
}

function hint({ experiment, drawing, tokens, closed, bead, formula }) {
  if (drawing) return "Draw a loop on the picture, in one stroke. It closes by itself.";
  const arrows = "Arrows: the forces of attention";
  if (experiment === "free") return `${arrows}. A round bowl keeps all together. Grab a token.`;
  const colours = `Blue drives token ${tokens.length} on, orange holds it back.`;
  return closed && !bead.closes && formula === "shortcut"
    ? `${colours} Press “both”: does the machine still run?`
    : `${arrows}. ${colours}`;
}

function loopChart({ bead, state, closed }, ui) {
  const { length, total, works, far } = bead;
  const back = state.low < -length / 50;
  const [left, right] = back ? [-ROUNDS, Math.max(1, Math.ceil(state.high / length))] : [0, ROUNDS];
  const points = [[state.low / length, bead.work(state.low)]];
  for (let n = left; n < right; n += 1) {
    far.forEach((s, i) => {
      const at = n * length + s;
      if (at > state.low && at < state.high) points.push([at / length, n * total + works[i]]);
    });
  }
  points.push([state.high / length, bead.work(state.high)]);
  const ends = [left, right - 1].flatMap((n) => works.map((work) => n * total + work));
  const marks = upTo(right - left + 1)
    .map((n) => left + n)
    .filter((n) => n && n * length >= state.low && n * length <= state.high)
    .map((n) => ({ at: [n, n * total], good: bead.closes }));
  return chart(ui, {
    label: "Work of the force so far, against the rounds",
    ...{ along: "rounds", up: "work so far" },
    ends: [left, right, Math.min(...ends), Math.max(...ends)],
    points,
    head: [state.s / length, bead.work(state.s)],
    level: 0,
    // What a round leaves, and all so far: not told before it is there.
    levels: closed ? [Math.sign(closed) * total, closed * total] : [],
    height: chartHeight(ui),
    ticks: upTo(right - left + 1).map((n) => left + n),
    marks,
  });
}

function energyChart({ run, moment }, ui) {
  const [first, end] = [run.energy[0], STEP * STEPS];
  const points = run.energy.slice(0, moment + 1).map((energy, n) => [n * STEP, energy / first]);
  return chart(ui, {
    label: "Energy of all tokens, as a share of what it was, against time",
    ...{ along: "time", up: "energy, first = 1" },
    ends: [0, end, Math.min(0.5, run.range[0] / first), Math.max(1.5, run.range[1] / first)],
    points: points.filter((_, n) => n % 5 === 0 || n === moment),
    head: points[moment],
    level: 1,
    height: chartHeight(ui),
    ticks: upTo(5).map((k) => (k * end) / 4),
  });
}

const asks = ({ experiment, tokens }) =>
  experiment === "loop"
    ? `Once round the loop: is token ${tokens.length} faster?`
    : "Let go from rest: does the energy stay?";

/** How it has come out so far: "open", "good" or "bad", in a few words and in a sentence. */
function outcome(now) {
  return now.experiment === "loop" ? loopOutcome(now) : freeOutcome(now);
}

function loopOutcome({ bead, closed }) {
  if (!closed) {
    const told = "At its end all tokens are where they were.";
    return { kind: "open", text: "The first round.", told };
  }
  if (bead.closes) {
    const told = "It ends where it began, as fast as before.";
    return { kind: "good", text: "Closed: no work.", told };
  }
  const gain = Math.sign(closed) * bead.total;
  if (gain < 0) {
    const told = "It ends where it began, with less energy, and will be driven back.";
    return { kind: "bad", text: `Each round takes ${quantity(-gain)}.`, told };
  }
  const told = "It ends where it began, with more energy: a perpetual motion machine.";
  const way = closed < 0 ? " the other way" : "";
  return { kind: "bad", text: `Each round${way} gives ${quantity(gain)}.`, told };
}

function freeOutcome({ off, moment }) {
  const share = percent(off, off < 0.1 ? 2 : 0);
  if (off > KEPT) {
    const told = "Nobody pushed. It came from nowhere, or went there.";
    return { kind: "bad", text: `Energy off by ${share}.`, told };
  }
  if (moment < JUDGED_FROM)
    return { kind: "open", text: "Let go from rest.", told: "Will the energy stay?" };
  const told = `Off by ${share} at most, through the steps of the computation.`;
  return { kind: "good", text: "Energy kept.", told };
}

function readout({ experiment, bead, state, work, share }) {
  if (experiment === "free") {
    return html`Energy now: <output aria-live="off">${percent(share, 1)}</output> of what it was`;
  }
  return html`Rounds: <output aria-live="off">${number(Math.abs(state.s / bead.length))}</output>.
    Work so far: <output aria-live="off">${signed(work)}</output>`;
}

/** The size of the loop, which keeps its shape, and how far the force is from being a gradient. */
function more({ experiment, loop, asymmetry }, ui) {
  const grow = (value) => choose(ui, { loop: resized(ui.now.loop, value).map(inReach) });
  const largest = Math.max(SMALLEST, largestSize(loop, REACH));
  const size = () =>
    slider(ui, "size", {
      ...{ label: "Loop size", min: SMALLEST, max: largest, step: 0.1, set: grow },
      value: clamp(sizeOf(loop), SMALLEST, largest),
      format: (value) => number(value, 1),
    });
  return fold(
    "More: loop size, gradient",
    html`<div class="cw-controls">${experiment === "loop" ? size() : nothing}</div>
      <p class="cw-hint">Distance from a gradient:
        <b data-reading="asymmetry">${number(asymmetry)}</b>${asymmetry ? "" : ", it is one"}</p>`,
  );
}

function transport(now, ui) {
  const begin = () => {
    if (ui.now.over) ui.set({ time: 0 });
  };
  const step = () => {
    ui.play(false);
    begin();
    ui.set({ time: ui.now.time + STEP_TIME });
  };
  const draw = () => ui.set({ drawing: ui.now.drawing ? null : [] });
  const ofTheLoop = () => html`
    ${button("Turn round", () => choose(ui, { loop: ui.now.loop.toReversed() }))}
    ${button(now.drawing ? "Cancel" : "Draw a loop", draw)}`;
  return html`<div class="cw-controls cw-meter-transport">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin })} ${button("Step", step)}
    ${now.experiment === "loop" ? ofTheLoop() : nothing}${more(now, ui)}
  </div>`;
}

function view(now, ui) {
  const choice = (name, label, options) =>
    choices(ui, name, {
      label,
      options,
      choose: (value) => choose(ui, { [name]: value, drawing: null }),
    });
  return html`${headline(asks(now), outcome(now))}
    <div class="cw-meter" data-measure="meter">
      ${stage(now, ui)}
      <div style="grid-area: choices">
        ${choice("experiment", "Experiment", EXPERIMENTS)}
        ${choice("formula", "A pull of attention moves", FORMULAS)}
        ${choice("softmax", "Attention is shared out", SOFTMAXES)}
      </div>
      <div style="grid-area: told">
        <p class="cw-readout">${readout(now)}</p>
        ${now.experiment === "loop" ? loopChart(now, ui) : energyChart(now, ui)}
      </div>
      <p class="cw-hint"><output aria-live="off">${hint(now)}</output></p>
    </div>
    ${transport(now, ui)}`;
}

function words(now) {
  const { text, told } = outcome(now);
  const [moves, shared] = [said(FORMULAS, now.formula), said(SOFTMAXES, now.softmax)];
  return `A pull moves ${moves}, attention is shared out ${shared}. ${text} ${told}`;
}

export default widget({
  label: "Symplecticity meter: does a force do work round a closed loop?",
  data: { A: rows },
  controls: { z: rows, loop: rows, softmax: plain, formula: plain, experiment: plain },
  local: { time: 0, drawing: null, taken: null, resume: false },
  atSight: (ui) => ui.play(true),
  entered: go,
  derive,
  view,
  words,
  began: ({ experiment }) => said(EXPERIMENTS, experiment),
  advance: ({ time }, ui, seconds) => {
    ui.set({ time: time + RATE * seconds });
    if (ui.now.over) ui.play(false);
  },
});
