// Two tokens on their way up five stacks of sixty layers, and the gradient that comes back down.

import { handle, legend, NARROW, panel } from "../kit/charts.js";
import { series } from "../kit/controls.js";
import { widest } from "../kit/lettering.js";
import { pointIn } from "../kit/plane.js";
import { quantity, superscript } from "../kit/text.js";
import { KINDS, layersOf, throughStack } from "../maths/deep_stack.js";
import { normals } from "../maths/latent.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const [WIDTH, TOKENS, DEEPEST] = [16, 2, 60];
const PARAMETERS = 2 * WIDTH * (WIDTH + 1) + WIDTH * (2 * WIDTH + 1);
/** Below, what is left of differences is the rounding of the page. */
const ROUNDING = 1e-14;
const VANISHED = 1e-3;
const [ONLY, LONG] = [" only", 12];
/** Letters of a word for which there is room below a tower on a telephone. */
const SHORT = 7;
const NAMES = {
  ...{ bare: "bare", norm: "norm only", around: "way around only" },
  ...{ post: "post-norm", pre: "pre-norm" },
};
/** Of the panels. The kit makes panels on a telephone lower. */
const [HEIGHT, HEIGHT_IF_NARROW, HEIGHT_OF_VECTORS_IF_NARROW] = [330, 250, 210];
/** How wide the tower with the vectors is, in towers; its columns, and the room between them. */
const WIDE = 2;
const COLUMNS = ["A", "B", "A − B"];
const BETWEEN = 7;
/** Features are drawn in so many shades. */
const SHADES = 6;
/** In shares of a tower's place: its walls, and the rooms of the tokens and of the gradient. */
const PLAN = [
  [0.04, 0.96],
  [0.07, 0.72],
  [0.74, 0.93],
];
/** On a telephone towers stand wall to wall. */
const PLAN_IF_NARROW = [
  [0.01, 0.99],
  [0.06, 0.7],
  [0.74, 0.95],
];
/** So many powers of ten from 1 a gradient fills its room or is gone. */
const DECADES = 6;
/** A token of loudness 1, in pixels, and what each power of ten adds. */
const [THICK, THICKER, THINNEST, THICKEST] = [5, 1, 1.5, 11];
const [BALL, PALE] = [8, 0.5];
const INKS = [series(0), series(1)];
const SIGNS = [series(3), series(4)];
const DOWN = series(2);
/** Below the towers, in layers and in pixels, stands what arrives of the gradient. */
const [ROOM_BELOW, BELOW] = [6, 15];
/** What is so many times smaller or ten times as many times larger is written in powers of ten. */
const FAR = 100;
/** For numbers below the towers, in digits. */
const [ROOM, ROOM_OF_A_DIFFERENCE] = [8, 11];
/** The size of the type below the towers, and its room at least between two of them. */
const TAG = 12;

function derive({ depth, gain, biases, seed, layer, kind }, ui) {
  const draws = ui.memo("draws", [seed], () =>
    Float64Array.from(normals(2 * TOKENS * WIDTH + DEEPEST * PARAMETERS, seed)),
  );
  const runs = ui.memo("runs", [draws, depth, gain, biases], () => {
    const vectors = Array.from({ length: 2 * TOKENS }, (_, i) =>
      draws.subarray(i * WIDTH, (i + 1) * WIDTH),
    );
    const rest = draws.subarray(2 * TOKENS * WIDTH);
    const layers = layersOf(rest, { layers: depth, d: WIDTH, gain, biases });
    const [tokens, covectors] = [vectors.slice(0, TOKENS), vectors.slice(TOKENS)];
    const run = (one) => [one, throughStack(one, layers, tokens, covectors)];
    return Object.fromEntries(KINDS.map(run));
  });
  return { runs, run: runs[kind], at: Math.min(layer, depth) };
}

/** Another layer and another stack; where no layer is yet, the stacks grow. */
function turn(ui, place, height) {
  const layer = clamp(Math.round(height), 0, DEEPEST);
  const kind = KINDS[Math.min(Math.floor(place), KINDS.length - 1)] ?? ui.now.kind;
  ui.set({ layer, kind, depth: Math.max(layer, ui.now.depth) });
}

/** A band up a tower, from its middle and half its width at each layer. */
function band({ y }, course) {
  const side = (way) =>
    course.map(([x, half], l) => `${(x + way * half).toFixed(2)} ${y(l).toFixed(2)}`);
  return `M${[...side(-1), ...side(1).reverse()].join("L")}Z`;
}

const decades = (value) => Math.log10(Math.max(value, Number.MIN_VALUE));

/** The ways of the two tokens: as far apart as they differ, and as thick as they are loud. */
function waysOf({ left, loud }, from, to) {
  const reach = (to - from) / 2;
  return [-1, 1].map((way) =>
    left.map((apart, l) => [
      (from + to) / 2 + way * reach * apart,
      clamp(THICK + THICKER * decades(loud[l]), THINNEST, THICKEST) / 2,
    ]),
  );
}

const gradientOf = ({ gradient }, from, to) =>
  gradient.map((value) => [
    (from + to) / 2,
    ((to - from) / 2) * clamp((decades(value) + DECADES) / (2 * DECADES), 0, 1),
  ]);

/** A number with so many digits: what is far from 1 with its power of ten. */
function brief(value, digits) {
  const near = value === 0 || (value >= 1 / FAR && value < 10 * FAR);
  if (near) return quantity(Number(value.toPrecision(2)));
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  return `${mantissa}·10${superscript(Number(power))}`;
}

/** What arrives of each gradient, with the digits for which there is room below every tower. */
function arrivals(runs, room) {
  const told = (digits) => KINDS.map((one) => brief(runs[one].gradient[0], digits));
  const two = told(2);
  return widest(two, TAG) < room - TAG ? two : told(1);
}

const isNarrow = (ui) => ui.width("panels", NARROW) < NARROW;
const planOf = (ui) => (isNarrow(ui) ? PLAN_IF_NARROW : PLAN);

function tower(frame, { runs, kind, at, depth }, [one, arrives], i, ui) {
  const [walls, room, side] = planOf(ui).map((shares) => shares.map((share) => frame.x(i + share)));
  const ways = waysOf(runs[one], room[0], room[1]);
  const chosen = one === kind;
  const [top, bottom] = [frame.y(depth), frame.y(0)];
  const floors = upTo(depth).map((l) => `M${walls[0]} ${frame.y(l)}H${walls[1]}`);
  const middle = (room[0] + room[1]) / 2;
  // Each token keeps to its side of the middle: where both are one, half of it is of either.
  const half = (token) => `${ui.id}-${one}-${token}`;
  const sides = [0, middle].map(
    (from, token) => svg`<clipPath id=${half(token)}><rect x=${from} y="0"
      width=${(token ? frame.right : middle) - from} height=${frame.bottom}></rect></clipPath>`,
  );
  const ball = (way, token) => svg`<circle cx=${way[at][0].toFixed(2)} cy=${frame.y(at)}
    r=${chosen ? BALL : BALL / 2} fill=${INKS[token]} stroke="var(--cw-paper)"></circle>`;
  return svg`<rect x=${walls[0]} y=${top} width=${walls[1] - walls[0]}
      height=${frame.bottom - top} fill="transparent"></rect>
    <rect x=${walls[0]} y=${top} width=${walls[1] - walls[0]} height=${bottom - top}
      fill="var(--cw-paper)" stroke=${chosen ? "var(--cw-ink)" : "var(--cw-line)"}
      stroke-width=${chosen ? 2 : 1}></rect>
    <path d=${floors.join("")} stroke="var(--cw-line)" stroke-width="0.6"></path>
    <g data-tower=${one} opacity=${chosen ? 1 : PALE}>
      <path d=${band(frame, gradientOf(runs[one], side[0], side[1]))} fill=${DOWN}></path>
      <defs>${sides}</defs>${ways.map(
        (way, token) => svg`<g clip-path="url(#${half(token)})"><path d=${band(frame, way)}
          fill=${INKS[token]}></path>${ball(way, token)}</g>`,
      )}
    </g>
    <text data-arrives=${one} x=${(walls[0] + walls[1]) / 2} y=${bottom + BELOW}
      text-anchor="middle" style="fill: ${DOWN}; font-size: ${TAG}px;
      font-weight: ${chosen ? 700 : 500}">${arrives}</text>`;
}

const [LEAST, MOST] = [-DECADES, DECADES].map((power) => `10${superscript(power)}`);
const KEY = [
  { text: "token A going up", colour: INKS[0] },
  { text: "token B", colour: INKS[1] },
  { text: `gradient down: thin ${LEAST}, thick ${MOST}`, colour: DOWN },
];

/** Where each column of the tower with the vectors begins, and how wide it is. */
function columnsOf([left, right]) {
  const wide = (right - left + BETWEEN) / COLUMNS.length - BETWEEN;
  return { starts: COLUMNS.map((_, i) => left + i * (wide + BETWEEN)), wide };
}

/** The vectors after each layer, by the sign of each feature and its size within the layer. */
function shadesOf({ y }, floors, room) {
  const { starts, wide } = columnsOf(room);
  const [across, high] = [wide / WIDTH, (y(0) - y(DEEPEST)) / (DEEPEST + 1)];
  const shape = `h${across.toFixed(2)}v${high.toFixed(2)}h${-across.toFixed(2)}z`;
  const paths = SIGNS.map(() => upTo(SHADES + 1).map(() => ""));
  floors.forEach(([a, b], l) => {
    const most = Math.max(...a.map(Math.abs), ...b.map(Math.abs)) || 1;
    [a, b, a.map((value, i) => value - b[i])].forEach((vector, n) => {
      vector.forEach((value, i) => {
        const shade = Math.min(SHADES, Math.round((SHADES * Math.abs(value)) / most));
        const place = `M${(starts[n] + i * across).toFixed(1)} ${(y(0) - (l + 1) * high).toFixed(1)}`;
        paths[Number(value > 0)][shade] += place + shape;
      });
    });
  });
  return paths.map((shades, sign) =>
    shades.map(
      (d, shade) => svg`<path d=${d} fill=${SIGNS[sign]} fill-opacity=${shade / SHADES}></path>`,
    ),
  );
}

/** The chosen stack as a tower of layers, each with the vectors of both tokens. */
function vectors(frame, { run, at, depth }, [left, right], ui) {
  const { starts, wide } = columnsOf([left, right]);
  const [first] = upTo(depth).filter((l) => run.left[l] < VANISHED);
  const drawn = ui.memo("vectors", [run, left, right, frame.top, frame.bottom], () =>
    shadesOf(frame, run.floors, [left, right]),
  );
  const name = (text, n) => svg`<text x=${starts[n] + wide / 2} y=${frame.y(0) + BELOW}
    text-anchor="middle" style="fill: ${INKS[n] ?? "var(--cw-ink)"}; font-size: ${TAG}px;
    font-weight: 700">${text}</text>`;
  const same = svg`<path d="M${left} ${frame.y(first)}H${right}" stroke="var(--cw-ink)"
      stroke-dasharray="4 3"></path>
    <text x=${starts[2] + wide / 2} y=${frame.y(first) - 6} text-anchor="middle"
      style="font-size: ${TAG}px; font-weight: 700">A = B</text>`;
  return svg`${drawn}${COLUMNS.map(name)}
    ${isNarrow(ui) ? nothing : svg`<text x=${right} y=${frame.top - 9} text-anchor="end">vectors of A and B</text>`}
    ${first ? same : nothing}
    <path d="M${left} ${frame.y(at)}H${right}" stroke="var(--cw-ink)" stroke-width="1.5"></path>`;
}

function towers(now, ui) {
  const { run, kind, at, depth } = now;
  const options = {
    name: "towers",
    title: legend(KEY),
    says: `Two tokens through ${depth} layers, ${NAMES[kind]}: they differ by
      ${quantity(run.left[0])} at the bottom and by ${quantity(run.left[depth])} at the top. A
      gradient of 1 at the top is ${quantity(run.gradient[0])} at the bottom`,
    // On a telephone the vectors have their own panel.
    x: { ends: [isNarrow(ui) ? 0 : -WIDE, KINDS.length], ticks: [] },
    y: {
      ends: [-ROOM_BELOW, DEEPEST],
      // The room of the numbers is the towers' there.
      ...(isNarrow(ui)
        ? { ticks: [], label: `layers 0 to ${DEEPEST}` }
        : { ticks: [0, 20, 40, 60], label: "layer" }),
    },
    height: isNarrow(ui) ? HEIGHT_IF_NARROW : HEIGHT,
    group: true,
  };
  return panel(ui, options, (frame) => {
    const press = (event) => {
      const [place, height] = frame.at(pointIn(event));
      turn(ui, place, height);
    };
    const middle = KINDS.indexOf(kind) + 0.5;
    const tags = arrivals(now.runs, frame.x(1) - frame.x(0));
    const grip = {
      point: [middle, at],
      label: `layer ${at}, ${NAMES[kind]}`,
      kind: "movable layer",
      moveTo: ([place, height]) => turn(ui, place, height),
      moveBy: ([across, up]) => turn(ui, middle + across, ui.now.at + up),
    };
    const [left, right] = planOf(ui)[0].map(
      (share) => frame.x(KINDS.indexOf(kind) + share) - frame.x(middle),
    );
    return svg`<g style="cursor: pointer" @click=${press}>
        ${KINDS.map((one, i) => tower(frame, now, [one, tags[i]], i, ui))}
        ${isNarrow(ui) ? nothing : vectors(frame, now, [frame.x(-WIDE), frame.x(-0.1)], ui)}
      </g>
      <text x=${Math.max(0.8 * TAG, frame.x(0))} y=${frame.y(0) + BELOW} text-anchor="end"
        style="fill: ${DOWN};
        font-size: ${TAG}px">↓</text>
      ${handle(
        frame,
        grip,
        svg`<path d="M${left} 0H${right}" stroke="var(--cw-ink)" stroke-width="1.5"></path>
          <path d="M${right} 0l10 -7v14z" fill="var(--cw-ink)"></path>`,
      )}`;
  });
}

/** How a stack comes out is told once it has grown; its room is there before. */
const fateWord = ({ kind, brief }, grows) => html`<em class="cw-stack-fate" data-outcome=${kind}
  ?data-long=${brief.length > SHORT} style=${grows ? "visibility: hidden" : nothing}
  >${kind === "good" ? "✓" : "✗"} <b>${brief}</b></em>`;

/** In a narrow place the name of a stack loses a word that only tells it from two others. */
const shortName = (name) =>
  name.length > LONG
    ? html`${name.replace(ONLY, "")}<span class="cw-stack-only">${ONLY}</span>`
    : name;

const isGrowing = ({ tour, depth }) => Boolean(tour) && depth < tour.to;

/** The names of the stacks, each below its tower, with what becomes of tokens and gradient. */
function chooser(now, ui) {
  const { kind, runs, depth } = now;
  const choice = (one) => {
    const id = `${ui.id}-${one}`;
    return html`<span>
      <input id=${id} type="radio" name="${ui.id}-kind" value=${one} data-trait="kind"
        .checked=${one === kind} @change=${() => ui.set({ kind: one })}>
      <label for=${id}>${shortName(NAMES[one])}${fateWord(outcome(runs[one], depth), isGrowing(now))}</label>
    </span>`;
  };
  return html`<fieldset class="cw-stacks">
    <legend class="cw-unseen">Stack</legend>${KINDS.map(choice)}
  </fieldset>`;
}

/** On a telephone, where there is no room for it beside the towers. */
function vectorsBelow(now, ui) {
  const options = {
    name: "vectors",
    title: `The vectors of A and B: ${NAMES[now.kind]}`,
    says: `The ${WIDTH} features of both tokens after each of ${now.depth} layers`,
    x: { ends: [0, 1], ticks: [] },
    y: { ends: [-ROOM_BELOW, DEEPEST], ticks: [] },
    height: HEIGHT_OF_VECTORS_IF_NARROW,
  };
  return panel(ui, options, (frame) => vectors(frame, now, [frame.left, frame.right], ui));
}

const REASONS = {
  bare: "Each layer replaces what came before.",
  norm: "The norm makes each layer’s input loud again, but nothing goes around the layer.",
  around: "Each layer adds to what came before, and nothing limits the sum.",
  post: "The norm holds the sum at one length, and stands on the gradient’s way around, too.",
  pre: "Each layer adds one bounded piece, and the way around is free.",
};

/** What is left at the ends of a stack, in a word and in a few. */
function outcome(run, depth) {
  const alike = run.left[depth] < VANISHED;
  const [first] = run.gradient;
  const bad = (brief, text, sofar) => ({ kind: "bad", brief, text, sofar });
  if (alike && first < VANISHED) return bad("lost", "nothing survives", "all alike, no gradient");
  if (alike) return bad("alike", "only the gradient", "tokens are alike");
  if (first < VANISHED) return bad("vanishes", "only the tokens", "hardly a gradient");
  if (first > 1 / VANISHED) return bad("explodes", "explodes", "gradient explodes");
  return { kind: "good", brief: "arrives", text: "both arrive", sofar: "both still there" };
}

/** While the stack grows, how it is at this height; in the end, how it has come out. */
function verdict(now) {
  const { run, depth, kind: stack } = now;
  const { kind, text, sofar } = outcome(run, depth);
  const name = NAMES[stack].replace(`around${ONLY}`, "around");
  return isGrowing(now)
    ? { kind: "open", text: `${name}, ${depth}: ${sofar}` }
    : { kind, text: `${name}: ${text}` };
}

export default liveFigure({
  derive,
  panels: (now, ui) => [
    html`<div style="flex: 1 1 100%; min-width: 0">${towers(now, ui)}${chooser(now, ui)}</div>`,
    isNarrow(ui) ? vectorsBelow(now, ui) : nothing,
  ],
  readings: ({ run, at }) => [
    {
      name: "left",
      label: "difference:",
      text: run.left[at] < ROUNDING ? "0 (rounded)" : quantity(run.left[at]),
      room: ROOM_OF_A_DIFFERENCE,
    },
    { name: "loud", label: "loudness:", text: quantity(run.loud[at]), room: ROOM },
    { name: "first", label: "gradient:", text: quantity(run.gradient[0]), room: ROOM },
  ],
  asks: "What survives the stack?",
  verdict,
  terse: true,
  says: (now) => `${REASONS[now.kind]} Less than ${VANISHED} of either counts as lost.`,
  tour: { knob: "depth", from: 1, seconds: 6, whole: true },
});
