// What two particles have in common, and how much a trained network adds to their score for it.

import { dot, line, panel } from "../kit/charts.js";
import { chosenPair, fromFlight, pairReadings, particles } from "../kit/particles.js";
import { number, quantity } from "../kit/text.js";
import { flightOf, pairOf, total } from "../maths/jets.js";
import { ranking, sum, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 250;
const [MORE, LESS, MINE] = ["var(--cw-warm)", "var(--cw-accent)", "var(--cw-ink)"];
const LEAST = 1e-3;

/** Spearman's rank correlation. */
export function rankCorrelation(x, y) {
  const [a, b] = [x, y].map((values) => {
    const ranks = new Array(values.length);
    ranking(values).forEach((i, rank) => {
      ranks[i] = rank;
    });
    return ranks;
  });
  const n = x.length;
  return 1 - (6 * sum(a.map((rank, i) => (rank - b[i]) ** 2))) / (n * (n * n - 1));
}

function derive({ momenta, bias, head, first, second }, ui) {
  const count = momenta.length;
  const pair = chosenPair(first, second, count);
  const { axis, flights } = ui.memo("jet", [momenta], () => ({
    axis: flightOf(total(momenta)),
    flights: momenta.map(flightOf),
  }));
  const biasOf = (i, j) =>
    bias.values[(Math.min(head, bias.shape[0]) - 1) * count ** 2 + i * count + j];
  const pairs = upTo(count).flatMap((i) => upTo(i).map((j) => [i, j]));
  const points = pairs.map(([i, j]) => [pairOf(flights[i], flights[j])[0], biasOf(i, j)]);
  const rank = rankCorrelation(...[0, 1].map((k) => points.map((point) => point[k])));
  const [a, b] = pair;
  const shared = pairOf(flights[a], flights[b]);
  return { pair, axis, flights, pairs, points, rank, shared, added: biasOf(a, b), biasOf };
}

const signed = (value) => (value > 0 ? `+${number(value, 2)}` : number(value, 2));

function plane(now, ui) {
  const { flights, axis, pair, biasOf } = now;
  const places = flights.map((flight) => fromFlight(flight, axis));
  const far = 1.15 * Math.max(0.1, ...places.flat().map(Math.abs));
  const most = Math.max(...flights.map((_, i) => Math.abs(biasOf(pair[0], i))), 1e-9);
  const options = {
    name: "plane",
    title: "Orange adds, blue subtracts",
    says: `a and b are ${number(now.shared[0], 3)} apart; the head adds ${signed(now.added)}`,
    x: { ends: [-far, far], label: "rapidity y, from the jet’s axis" },
    y: { ends: [-far, far], label: "azimuth φ" },
    ...{ height: HEIGHT, equal: true },
  };
  return panel(ui, options, (frame) => {
    const fill = (i) => {
      const value = biasOf(pair[0], i);
      const share = Math.round(100 * Math.sqrt(Math.abs(value) / most));
      return `color-mix(in srgb, ${value > 0 ? MORE : LESS} ${share}%, var(--cw-paper))`;
    };
    return particles(ui, frame, places, { pair, pt: flights.map(({ pt }) => pt), fill });
  });
}

function against(now, ui) {
  const { points, pairs, pair, shared, added } = now;
  const high = Math.max(...points.map(([, value]) => Math.abs(value)), 0.1);
  const nearest = Math.max(LEAST, Math.min(...points.map(([distance]) => distance)));
  const ends = [nearest / 1.2, 1.2 * Math.max(...points.map(([distance]) => distance))];
  const options = {
    name: "against",
    title: "All pairs; large dots: those with a",
    says: `Bias against distance; rank correlation ${number(now.rank, 2)}`,
    x: { ends, logarithmic: true, label: "distance Δ" },
    y: { ends: [-1.1 * high, 1.1 * high], label: "bias" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const own = (k) => pairs[k].includes(pair[0]);
    const order = upTo(points.length).sort((k, l) => Number(own(k)) - Number(own(l)));
    const mark = (k) => {
      const [distance, value] = points[k];
      const look = own(k) ? { colour: MINE, r: 3.5 } : { colour: "var(--cw-edge)", r: 2.5 };
      return dot(frame, [Math.max(LEAST, distance), value], look);
    };
    const here = [Math.max(LEAST, shared[0]), added];
    return svg`${line(
      frame,
      [
        [ends[0], 0],
        [ends[1], 0],
      ],
      { colour: "var(--cw-edge)", width: 1 },
    )}
      ${order.map(mark)}${dot(frame, here, { colour: added > 0 ? MORE : LESS, r: 8 })}`;
  });
}

function says({ head, rank }) {
  const way = rank > 0.3 ? "rises with" : rank < -0.3 ? "falls with" : "hardly follows";
  return `In head ${head} the bias ${way} the distance.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [plane(now, ui), against(now, ui)],
  asks: "What does the head add to the score of a and b?",
  verdict: ({ added }) => ({
    kind: "open",
    text: `${signed(added)}: the weight is multiplied by ${quantity(Math.exp(added))}`,
  }),
  readings: ({ shared, added, rank }) => [
    ...pairReadings(shared),
    { name: "bias", label: "bias", text: number(added, 3), room: 6 },
    { name: "rank", label: "rank correlation of bias and Δ", text: number(rank, 3), room: 6 },
  ],
  says,
  longest: (now) => says({ ...now, rank: 0 }),
});
