// How the scores of a random query spread with the dimension, and what the softmax makes of them.

import { area, bars, dot, handle, legend, line, NARROW, panel, rule } from "../kit/charts.js";
import { toggle } from "../kit/controls.js";
import { sharing } from "../kit/sharing.js";
import { number, percent, quantity } from "../kit/text.js";
import { clamp, mean, ranking, softmax, upTo } from "../maths/numerics.js";
import { gradientThrough, nearestRatio, randomScores, stops } from "../maths/scaling.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure, onTour } from "./live_figure.js";

const KEYS = 16;
const MOST = 1024;
const PLACES = stops(1, MOST);
const TICKS = [1, 4, 16, 64, 256, 1024];
const ROOT = 0.5;
/** No softmax lets more through than one that is torn between two keys; above is room for its line. */
const [MOST_GRADIENT, CEILING] = [0.5, 0.53];
/** How wide the panels are beside each other: what the softmax makes of scores is the point. */
const [FAN, BARS, GRADIENT] = [0.85, 1.3, 0.9];
const HEIGHT = 236;
const LITTLE = 0.05;
/** A key with more of the weight drowns all others together. */
const DROWNS = 0.5;
/** In words, in digits. */
const ROOM_OF_A_GRADIENT = 8;
/** Beyond this share of its panel a word stands at the left of its handle. */
const LATE = 0.5;

/** The weights that each query gives the keys, at each dimension, with the scores divided by its power. */
const weightsOf = (tables, dimensions, power) =>
  tables.map((rows, n) => rows.map((row) => softmax(row, dimensions[n] ** power)));

/** The gradient of the first query and the mean over all, at each dimension. */
const gradients = (weighed) =>
  weighed.map((rows) => {
    const through = rows.map(gradientThrough);
    return { first: through[0], mean: mean(through) };
  });

function derive({ dimension, power, seed }, ui) {
  // A slider stays on the places, and only an address leads elsewhere.
  const elsewhere = PLACES.includes(dimension) ? 0 : dimension;
  const dimensions = ui.memo("dimensions", [elsewhere], () =>
    [...new Set([...PLACES, dimension])].sort((a, b) => a - b),
  );
  const here = dimensions.indexOf(dimension);
  const tables = ui.memo("scores", [seed, dimensions], () => randomScores(seed, KEYS, dimensions));
  const weighed = ui.memo("weighed", [tables, power], () => weightsOf(tables, dimensions, power));
  const other = power === ROOT ? 0 : ROOT;
  const [weights] = weighed[here];
  return {
    ...{ dimensions, here, weights, best: ranking(weights)[0] },
    scores: ui.memo("shown", [tables, power], () =>
      tables.map(([row], n) => row.map((score) => score / dimensions[n] ** power)),
    ),
    through: ui.memo("through", [weighed], () => gradients(weighed)),
    other,
    otherwise: ui.memo("through the other", [tables, other], () =>
      gradients(weightsOf(tables, dimensions, other)),
    ),
    gradient: gradientThrough(weights),
    undivided: Math.max(...softmax(tables[here][0], 1)),
  };
}

const colourOf = (best) => (i) => (i === best ? "var(--cw-warm)" : "var(--cw-accent)");
/** What the scores are divided by, as it is written. */
const divisor = (power) => ({ [ROOT]: "√d", 1: "d" })[power] ?? "dᵖ";
const divided = (power) => (power ? `by ${divisor(power)}` : "undivided");

function fan(now, ui) {
  const { dimension, dimensions, scores, power, best, here } = now;
  // One scale for every power: what is divided folds together.
  const most = 2.6 * MOST ** ROOT;
  const edge = (side) => dimensions.map((d) => [d, side * 2 * d ** (ROOT - power)]);
  const nearest = (d) => nearestRatio(PLACES, d);
  const turn = (place) => ui.set({ dimension: PLACES[clamp(place, 0, PLACES.length - 1)] });
  const options = {
    name: "fan",
    title: "Scores of 16 keys",
    says: `Scores of a query with ${KEYS} keys against the dimension; at d = ${dimension} the largest
      is ${quantity(scores[here][best])}`,
    x: { ends: [1, MOST], logarithmic: true, ticks: TICKS, format: String, label: "dimension d" },
    y: {
      ends: [-most, most],
      ticks: [-50, 0, 50],
      label: power ? `score / ${divisor(power)}` : "score",
    },
    ...{ height: HEIGHT, grow: FAN, group: true },
  };
  return panel(ui, options, (frame) => {
    const points = (i) => scores.map((row, n) => [dimensions[n], row[i]]);
    const way = (_, i) => {
      const look = { colour: colourOf(best)(i), width: i === best ? 3 : 1.4 };
      return svg`${line(frame, points(i).slice(here), { ...look, opacity: 0.2 })}
        ${line(frame, points(i).slice(0, here + 1), { ...look, opacity: i === best ? 1 : 0.7 })}`;
    };
    const x = frame.x(dimension);
    const late = x > frame.left + LATE * (frame.right - frame.left);
    const by = power && power < 1 ? `, ${divisor(power)} = ${quantity(dimension ** power)}` : "";
    const score = (value, i) =>
      dot(frame, [dimension, value], { colour: colourOf(best)(i), r: i === best ? 6 : 3.5 });
    return svg`${area(frame, [...edge(1), ...edge(-1).reverse()], 2, { opacity: 0.08 })}
      ${upTo(KEYS).map(way)}
      <path d="M${x} ${frame.top}V${frame.bottom}" stroke="var(--cw-ink)" stroke-width="1.5"></path>
      ${scores[here].map(score)}
      <text class="cw-halo" x=${x + (late ? -14 : 14)} y=${frame.top + 14}
        text-anchor=${late ? "end" : "start"}>d = ${dimension}${by}</text>
      ${handle(frame, {
        point: [dimension, most],
        label: `dimension ${dimension}`,
        kind: "movable dimension",
        moveTo: ([d]) => turn(nearest(d)),
        moveBy: ([across]) => turn(nearest(ui.now.dimension) + across),
      })}`;
  });
}

function weightBars({ weights, best }, ui) {
  const options = {
    name: "weights",
    title: "Weights",
    says: `Weights of ${KEYS} keys; the largest is ${number(weights[best])}`,
    x: {
      ends: [-0.7, KEYS - 0.3],
      ticks: [0, KEYS - 1],
      format: (i) => String(i + 1),
      label: "key",
    },
    y: { ends: [0, 1], label: "weight", ticks: [0, 0.5, 1] },
    ...{ height: HEIGHT, grow: BARS },
  };
  return panel(
    ui,
    options,
    (frame) => svg`${bars(frame, weights, { colour: colourOf(best) })}
      ${rule(frame, { y: 1 / KEYS, label: "equal shares" })}`,
  );
}

function gradientCurve({ dimensions, through, otherwise, here, dimension, ...now }, ui) {
  const along = (found, which) => found.map((one, n) => [dimensions[n], one[which]]);
  const inTheMean = through[here].mean;
  const all = { colour: "var(--cw-warm)", width: 3 };
  const one = { colour: "var(--cw-warm)", width: 1.2 };
  // What a press changes stands there before and after.
  const other = { colour: "var(--cw-series-2)", dash: "6 4" };
  const options = {
    name: "gradient",
    title: [
      "Gradient",
      legend([
        { ...all, text: divided(now.power) },
        { ...other, text: divided(now.other) },
        { ...one, text: "this query" },
      ]),
    ],
    says: `Gradient against the dimension: at d = ${dimension} of this query ${quantity(now.gradient)},
      in the mean of ${KEYS} queries ${quantity(inTheMean)}`,
    x: {
      ...{ ends: [1, MOST], logarithmic: true, ticks: [1, 32, MOST] },
      ...{ format: String, label: "dimension d" },
    },
    y: { ends: [0, CEILING], ticks: [0, MOST_GRADIENT / 2, MOST_GRADIENT], label: "‖∂w/∂s‖" },
    ...{ height: HEIGHT, grow: GRADIENT },
  };
  return panel(
    ui,
    options,
    (frame) => svg`${line(frame, along(through, "first"), { ...one, opacity: 0.45 })}
      ${line(frame, along(otherwise, "mean"), other)}
      ${line(frame, along(through, "mean"), all)}
      ${dot(frame, [dimension, inTheMean], all)}
      ${dot(frame, [dimension, now.gradient], { r: 3.5 })}`,
  );
}

function verdict({ weights, best, gradient, power, undivided }) {
  const largest = weights[best];
  if (gradient < LITTLE && largest > DROWNS)
    return { kind: "bad", text: `One key has ${percent(largest, 1)}: hardly a gradient` };
  if (largest < DROWNS && power === ROOT)
    return undivided > DROWNS
      ? { kind: "good", text: "Several keys are heard again" }
      : { kind: "open", text: "Several keys are heard, undivided too" };
  if (largest < DROWNS) return { kind: "open", text: `The largest weight is ${number(largest)}` };
  return { kind: "open", text: `One key has ${percent(largest)} of the weight` };
}

function says({ weights, gradient }) {
  const little = gradient < LITTLE ? ", and hardly any gradient comes through" : "";
  return `${sharing(weights, (key) => `Key ${key + 1}`)}${little}.`;
}

/** What it is all about, at one press. */
function root({ power }, ui) {
  const set = (on) => ui.set({ power: on ? ROOT : 0 });
  return onTour(toggle(ui, "rooted", { label: "Divide by √d", value: power === ROOT, set }));
}

export default liveFigure({
  derive,
  chooser: root,
  panels: (now, ui) => {
    const [scores, weights] = [fan(now, ui), weightBars(now, ui)];
    // On a telephone the weights have the first row to themselves.
    const first = ui.width("panels", NARROW) < NARROW ? [weights, scores] : [scores, weights];
    return [...first, gradientCurve(now, ui)];
  },
  asks: "Are all 16 keys still heard?",
  verdict,
  readings: ({ weights, best, gradient }) => [
    { name: "largest", label: "largest weight", text: number(weights[best], 3) },
    {
      name: "gradient",
      label: "gradient of this query",
      text: quantity(gradient),
      room: ROOM_OF_A_GRADIENT,
    },
  ],
  says,
  tour: { knob: "dimension", from: 1, seconds: 6 },
});
