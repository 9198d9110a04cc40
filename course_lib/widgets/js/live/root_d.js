// How the scores of random keys spread with the dimension, and what the softmax makes of them.

import { liveFigure } from "../../live_figure.js";
import { area, bars, dot, handle, legend, line, panel } from "../charts.js";
import { clamp, mean, ranking, softmax, upTo } from "../maths/numerics.js";
import {
  gradientThrough,
  nearestRatio,
  normalDensity,
  randomScores,
  stops,
} from "../maths/scaling.js";
import { number, quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const KEYS = 16;
const MOST = 1024;
const PLACES = stops(1, MOST);
const TICKS = [1, 4, 16, 64, 256, 1024];
/** Scores in reach of the best share in its weight: e⁻³ is a twentieth. */
const REACH = 3;
const BELL = 44;
const LEAST = 1e-3;
const ROOT = 0.5;

/** The mean over all queries of the gradient that comes through, at each dimension. */
const throughOf = (tables, dimensions, power) =>
  tables.map((rows, n) => {
    const norms = rows.map((row) => gradientThrough(softmax(row, dimensions[n] ** power)));
    return [dimensions[n], mean(norms)];
  });

function derive({ dimension, power, seed }, ui) {
  // A slider stays on the places, and only an address leads elsewhere.
  const elsewhere = PLACES.includes(dimension) ? 0 : dimension;
  const dimensions = ui.memo("dimensions", [elsewhere], () =>
    [...new Set([...PLACES, dimension])].sort((a, b) => a - b),
  );
  const here = dimensions.indexOf(dimension);
  const tables = ui.memo("scores", [seed, dimensions], () => randomScores(seed, KEYS, dimensions));
  const rooted = ui.memo("rooted", [tables], () => throughOf(tables, dimensions, ROOT));
  const through = ui.memo("through", [tables, power], () => throughOf(tables, dimensions, power));
  const scores = ui.memo("shown", [tables, power], () =>
    tables.map(([row], n) => row.map((score) => score / dimensions[n] ** power)),
  );
  const weights = softmax(scores[here]);
  return {
    ...{ dimensions, scores, through, rooted, weights, now: scores[here] },
    best: ranking(weights)[0],
    spread: dimension ** (ROOT - power),
    gradient: through[here][1],
  };
}

const colourOf = (best) => (i) => (i === best ? "var(--cw-warm)" : "var(--cw-accent)");

/** The curve that the scores of all keys have, on its side at the end of the panel. */
function bell({ spread }, { y, right, top, bottom }) {
  const peak = normalDensity(0, spread * spread);
  const point = (k) => {
    const score = (k / 12) * spread;
    return `${right + 4 + (BELL - 8) * (normalDensity(score, spread * spread) / peak)} ${y(score)}`;
  };
  const inside = upTo(73)
    .map((k) => k - 36)
    .filter((k) => y((k / 12) * spread) >= top && y((k / 12) * spread) <= bottom);
  return svg`<path d="M${inside.map(point).join("L")}" fill="var(--cw-accent)" fill-opacity="0.15"
    stroke="var(--cw-accent)" stroke-width="1.5"></path>`;
}

function fan(now, ui) {
  const { dimension, dimensions, scores, power, best, spread } = now;
  const most = 2.6 * MOST ** Math.max(0, ROOT - power);
  const edge = (side) => dimensions.map((d) => [d, side * 2 * d ** (ROOT - power)]);
  const nearest = (d) => nearestRatio(PLACES, d);
  const turn = (place) => ui.set({ dimension: PLACES[clamp(place, 0, PLACES.length - 1)] });
  const options = {
    name: "fan",
    title: "Scores as features are added",
    says: `Scores of a query with 16 keys against the dimension; at d = ${dimension} their
      standard deviation is ${quantity(spread)}`,
    x: { ends: [1, MOST], logarithmic: true, ticks: TICKS, label: "dimension d" },
    y: { ends: [-most, most], label: power ? `score / d^${quantity(power)}` : "score" },
    ...{ height: 260, grow: 1.8, room: BELL, group: true },
  };
  return panel(ui, options, (frame) => {
    const way = (_, i) =>
      line(
        frame,
        scores.map((row, n) => [dimensions[n], row[i]]),
        {
          ...{ colour: colourOf(best)(i), width: i === best ? 2.5 : 1.2 },
          opacity: i === best ? 1 : 0.55,
        },
      );
    const x = frame.x(dimension);
    const [high, low] = [now.now[best], now.now[best] - REACH].map(frame.y);
    const score = (value, i) =>
      dot(frame, [dimension, value], { colour: colourOf(best)(i), r: 3.5 });
    return svg`${area(frame, [...edge(1), ...edge(-1).reverse()], 2, { opacity: 0.08 })}
      ${upTo(KEYS).map(way)}
      <path d="M${x} ${frame.top}V${frame.bottom}" stroke="var(--cw-ink)" stroke-width="1.5"></path>
      <path clip-path=${frame.clip} d="M${x} ${high}V${low}" stroke="var(--cw-warm)"
        stroke-width="7" stroke-opacity="0.55"></path>
      ${now.now.map(score)}
      ${bell(now, frame)}
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
    title: "Weights of 16 keys",
    says: `Weights of ${KEYS} keys; the largest is ${number(weights[best])}`,
    x: {
      ends: [-0.7, KEYS - 0.3],
      ticks: [0, KEYS - 1],
      format: (i) => String(i + 1),
      label: "key",
    },
    y: { ends: [0, 1], label: "weight", ticks: [0, 0.5, 1] },
    height: 260,
  };
  return panel(ui, options, (frame) => bars(frame, weights, { colour: colourOf(best) }));
}

function gradientCurve({ through, rooted, dimension, gradient, power }, ui) {
  const mine = power ? `/ d^${quantity(power)}` : "undivided";
  const options = {
    name: "gradient",
    title: [
      "Gradient",
      legend([
        { text: mine, colour: "var(--cw-warm)" },
        { text: "/ √d", colour: "var(--cw-series-2)", dash: "6 4" },
      ]),
    ],
    says: `Gradient against the dimension: ${quantity(gradient)} at d = ${dimension}`,
    x: { ends: [1, MOST], logarithmic: true, ticks: TICKS, label: "dimension d" },
    y: { ends: [LEAST, 1], logarithmic: true, label: "‖∂w/∂s‖, mean of 16" },
    ...{ height: 260, grow: 1.2 },
  };
  return panel(
    ui,
    options,
    (frame) => svg`${line(frame, rooted, { colour: "var(--cw-series-2)", dash: "6 4" })}
      ${line(frame, through, { colour: "var(--cw-warm)" })}
      ${dot(frame, [dimension, Math.max(LEAST, gradient)])}`,
  );
}

function says({ weights, best, dimension, power }) {
  const share = weights[best];
  if (share > 0.9) return `Key ${best + 1} has nearly all the weight: the scores lie far apart.`;
  if (share < 0.1) return "All keys weigh nearly the same: the scores lie close together.";
  return dimension > 100 && power > 0.4 && power < 0.6
    ? "Many features, and still several keys share the weight."
    : "Several keys share the weight.";
}

export default liveFigure({
  derive,
  panels: (now, ui) => [fan(now, ui), weightBars(now, ui), gradientCurve(now, ui)],
  readings: ({ weights, best, gradient, spread }) => [
    { name: "spread", label: "standard deviation of the scores", text: quantity(spread) },
    { name: "largest", label: "largest weight", text: number(weights[best], 3) },
    { name: "gradient", label: "gradient, mean of 16 queries", text: quantity(gradient) },
  ],
  says,
  tour: { knob: "dimension", from: 1, seconds: 5 },
});
