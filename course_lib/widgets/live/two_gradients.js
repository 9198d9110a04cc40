// Two estimates of the gradient of a mean, each from the same draws of a cloud.

import { handle, line, panel, rule } from "../kit/charts.js";
import { number, quantity } from "../kit/text.js";
import { normals } from "../maths/latent.js";
import { clamp, mean as meanOf, sum, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const DRAWS = 300;
const [HEIGHT, FARTHEST, MOST] = [238, 5, 2];
const NUDGE = 0.1;
const [PATH, SCORE] = ["var(--cw-accent)", "var(--cw-warm)"];
const WAVE = 8;
/** How much a wave loses in the mean over a cloud of width 1. */
const BLUR = Math.exp((-WAVE * WAVE) / 2);
const GOLDEN = 0.618034;

/** What is averaged, its slope along the first direction, and the means of both. */
const SHAPES = {
  bowl: {
    value: (z) => sum(z.map((x) => x * x)) / 2,
    slope: ([x]) => x,
    mean: (centre, d) => (d + centre ** 2) / 2,
    gradient: (centre) => centre,
  },
  wave: {
    value: ([x]) => Math.sin(WAVE * x),
    slope: ([x]) => WAVE * Math.cos(WAVE * x),
    mean: (centre) => BLUR * Math.sin(WAVE * centre),
    gradient: (centre) => WAVE * BLUR * Math.cos(WAVE * centre),
  },
};

const spread = (values) => {
  const middle = meanOf(values);
  return Math.sqrt(meanOf(values.map((x) => (x - middle) ** 2)));
};

function derive({ dimension: d, shape, centre, baseline, seed }, ui) {
  const { value, slope, mean, gradient } = SHAPES[shape];
  const noise = ui.memo("noise", [seed, d], () => {
    const all = normals(DRAWS * d, seed);
    return upTo(DRAWS).map((i) => all.slice(i * d, (i + 1) * d));
  });
  const draws = noise.map((e) => [centre + e[0], ...e.slice(1)]);
  const values = draws.map(value);
  const level = baseline ? mean(centre, d) : 0;
  const [path, score] = [draws.map(slope), noise.map(([e], i) => (values[i] - level) * e)];
  const spreads = { path: spread(path), score: spread(score) };
  return { draws, values, path, score, spreads, truth: gradient(centre) };
}

function cloud({ draws, values, shape, centre, dimension }, ui) {
  const top = shape === "bowl" ? Math.max(8, ...values) : 1.3;
  const places = upTo(281).map((i) => -7 + i / 20);
  const move = (to) => ui.set({ centre: clamp(Number(to.toFixed(2)), -MOST, MOST) });
  const options = {
    name: "cloud",
    title: "Draws from the cloud",
    says: `${DRAWS} draws about ${number(centre)}, with their values of f`,
    x: { ends: [-FARTHEST - 0.5, FARTHEST + 0.5], label: "z₁" },
    y: { ends: [shape === "bowl" ? 0 : -1.3, top], label: "f(z)" },
    ...{ height: HEIGHT, group: true },
  };
  return panel(ui, options, (frame) => {
    const curve = places.map((x) => [x, SHAPES[shape].value([x])]);
    const low = frame.at([0, frame.bottom - 14])[1];
    return svg`
      ${dimension === 1 || shape === "wave" ? line(frame, curve, { colour: "var(--cw-muted)", width: 1.5 }) : ""}
      <g clip-path=${frame.clip}>${draws.map(
        ([x], i) => svg`<circle cx=${frame.x(x)} cy=${frame.y(values[i])} r="2.5"
          fill="var(--cw-ink)" fill-opacity="0.5"></circle>`,
      )}</g>
      ${rule(frame, { x: centre })}
      ${handle(frame, {
        point: [centre, low],
        label: `centre of the cloud ${number(centre)}`,
        kind: "movable centre",
        moveTo: ([to]) => move(to),
        moveBy: ([across]) => move(ui.now.centre + NUDGE * across),
      })}`;
  });
}

function estimates({ path, score, truth, spreads }, ui) {
  const most = Math.max(4, ...[...path, ...score].map(Math.abs));
  const ways = [
    { name: "pathwise", all: path, colour: PATH },
    { name: "score", all: score, colour: SCORE },
  ];
  const options = {
    name: "estimates",
    title: "What each draw says of the gradient",
    says: `Estimates spread by ${number(spreads.path)} for the pathwise gradient, by ${number(spreads.score)} for the score function, about ${number(truth)}`,
    x: { ends: [-most, most], label: "estimate of ∂/∂μ₁" },
    y: { ends: [], names: ways.map(({ name }) => name) },
    ...{ height: HEIGHT, grow: 1.5 },
  };
  const scattered = (row) => (x, i, frame, colour) =>
    svg`<circle cx=${frame.x(x)}
    cy=${frame.y(row + 0.7 * (((i * GOLDEN) % 1) - 0.5))} r="2.5" fill=${colour}
    fill-opacity="0.6"></circle>`;
  return panel(
    ui,
    options,
    (frame) =>
      svg`${ways.map(({ all, colour }, row) =>
        all.map((x, i) => scattered(row)(x, i, frame, colour)),
      )}${rule(frame, { x: truth, label: "true gradient", colour: "var(--cw-ink)" })}`,
  );
}

function verdict({ spreads: { path, score } }) {
  return score > path
    ? { kind: "open", text: `The score function: ${quantity(score / path)} times the spread` }
    : { kind: "open", text: `The pathwise gradient: ${quantity(path / score)} times the spread` };
}

function says({ spreads: { path, score } }) {
  const draws = quantity((Math.max(path, score) / Math.min(path, score)) ** 2, "", 2);
  return `The noisier estimate needs ${draws} times as many draws for the same error.`;
}

export default liveFigure({
  derive,
  asks: "Which estimate is noisier?",
  verdict,
  panels: (now, ui) => [cloud(now, ui), estimates(now, ui)],
  readings: ({ spreads, truth }) => [
    { name: "truth", label: "true gradient", text: number(truth), room: 6 },
    { name: "path", label: "spread: pathwise", text: quantity(spreads.path), room: 6 },
    { name: "score", label: "score function", text: quantity(spreads.score), room: 6 },
  ],
  says,
  tour: { knob: "dimension", from: 1, seconds: 6 },
});
