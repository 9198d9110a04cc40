// What a stack of sixty layers leaves of its tokens, and of the gradient that comes back.

import { liveFigure } from "../../live_figure.js";
import { dot, ground, handle, legend, line, panel, rule } from "../charts.js";
import { series } from "../controls.js";
import { KINDS, layersOf, throughStack } from "../maths/deep_stack.js";
import { normals } from "../maths/latent.js";
import { clamp } from "../maths/numerics.js";
import { quantity } from "../text.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

const [WIDTH, TOKENS, DEEPEST] = [16, 2, 60];
const PARAMETERS = 2 * WIDTH * (WIDTH + 1) + WIDTH * (2 * WIDTH + 1);
/** Below, what is left of differences is the rounding of the page. */
const ROUNDING = 1e-14;
const LEAST = 1e-12;
const ENDS = [LEAST, 1e12];
const TICKS = [1e-12, 1e-6, 1, 1e6, 1e12];
const VANISHED = 1e-3;
const HEIGHT = 165;
const NAMES = {
  ...{ bare: "bare", norm: "norm only", around: "way around only" },
  ...{ post: "post-norm", pre: "pre-norm" },
};
const DASHES = { bare: "", norm: "9 3 2 3", around: "2 3", post: "7 4", pre: "" };
const colourOf = (kind) => series([1, 4, 3, 2, 0][KINDS.indexOf(kind)]);

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

/** The layer under the hand; where none is yet, the stack grows. */
function turn(ui, place) {
  const layer = clamp(Math.round(place), 0, DEEPEST);
  ui.set({ layer, depth: Math.max(layer, ui.now.depth) });
}

/** How one quantity goes with the layers in all stacks, the chosen one in front. */
function course(now, ui, { name, title, ends, ticks, held = false }) {
  const { runs, run, kind, at, depth } = now;
  const here = run[name][at];
  const options = {
    name,
    title,
    says: `${title} from the bottom to the top of ${depth} layers, ${NAMES[kind]}: from
      ${quantity(run[name][0])} to ${quantity(run[name][depth])}`,
    x: { ends: [0, DEEPEST], ticks: [0, 20, 40, 60], label: "layer" },
    y: { ends, logarithmic: true, ticks },
    ...{ height: HEIGHT, group: true },
  };
  // What has vanished to the last bit would stand infinitely low.
  const points = (one) => runs[one][name].map((value, l) => [l, Math.max(value, LEAST ** 2)]);
  const way = (frame, one) =>
    line(frame, points(one), {
      ...{ colour: colourOf(one), dash: DASHES[one] },
      ...(one === kind ? { width: 3.5 } : { width: 1.5, opacity: 0.7 }),
    });
  const point = [at, clamp(here, ends[0], ends[1])];
  return panel(
    ui,
    options,
    (frame) => svg`${ground(frame, ([layer]) => turn(ui, layer))}
      <g pointer-events="none">${rule(frame, { x: at, dash: "2 4" })}
        ${KINDS.filter((one) => one !== kind).map((one) => way(frame, one))}${way(frame, kind)}</g>
      ${
        held
          ? handle(frame, {
              point,
              label: `layer ${at}`,
              kind: "movable layer",
              moveTo: ([layer]) => turn(ui, layer),
              moveBy: ([across]) => turn(ui, ui.now.at + across),
            })
          : dot(frame, point, { colour: "var(--cw-warm)", r: 6 })
      }`,
  );
}

const lines = () =>
  html`<p class="cw-panel-title" style="flex-basis: 100%; margin: 0">${legend(
    KINDS.map((kind) => ({ text: NAMES[kind], colour: colourOf(kind), dash: DASHES[kind] })),
  )}</p>`;

const panels = (now, ui) => [
  lines(),
  course(now, ui, {
    ...{ name: "left", title: "How far two tokens differ", held: true },
    ...{ ends: [LEAST, 10], ticks: [1e-12, 1e-8, 1e-4, 1] },
  }),
  course(now, ui, {
    name: "loud",
    title: "How loud the tokens are",
    ends: ENDS,
    ticks: TICKS,
  }),
  course(now, ui, {
    name: "gradient",
    title: "Gradient that comes down",
    ends: ENDS,
    ticks: TICKS,
  }),
];

const REASONS = {
  bare: "Each layer replaces what came before.",
  norm: "The norm makes each layer’s input loud again, but nothing goes around the layer.",
  around: "Each layer adds to what came before, and nothing limits the sum.",
  post: "The norm holds the sum at one length, and stands on the gradient’s way around, too.",
  pre: "Each layer adds one bounded piece, and the way around is free.",
};

function outcome({ run, depth }) {
  const alike = run.left[depth] < VANISHED;
  const [first] = run.gradient;
  if (alike && first < VANISHED)
    return "The stack forgets its input: both tokens end alike, and hardly a gradient comes down.";
  if (alike) return "Both tokens end alike.";
  if (first < VANISHED) return "The tokens still differ, but hardly a gradient comes down.";
  if (first > 1 / VANISHED) return "The tokens still differ, but the gradient explodes.";
  return "The tokens still differ, and the gradient comes down.";
}

export default liveFigure({
  derive,
  panels,
  readings: ({ run, at }) => [
    {
      name: "left",
      label: `after layer ${at}: difference`,
      text: run.left[at] < ROUNDING ? "0 up to rounding" : quantity(run.left[at]),
    },
    { name: "loud", label: "loudness", text: quantity(run.loud[at]) },
    { name: "gradient", label: "gradient", text: quantity(run.gradient[at]) },
    { name: "first", label: "gradient at the bottom", text: quantity(run.gradient[0]) },
  ],
  says: (now) => `${outcome(now)} ${REASONS[now.kind]}`,
  tour: { knob: "depth", from: 1, seconds: 5 },
});
