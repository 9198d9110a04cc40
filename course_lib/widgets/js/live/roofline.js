// Attention under the roofline of a machine, by the formula and in tiles.

import { liveFigure } from "../../live_figure.js";
import { bars, dot, handle, legend, line, panel, rule, word } from "../charts.js";
import { clamp } from "../maths/numerics.js";
import { attentionFlops, naiveBytes, roof, tiledBytes } from "../maths/roofline.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { quantity } from "../text.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const HALF = 2;
const ENDS = [0.5, 16_384];
const FLOOR = 0.8;
const TICKS = [1, 10, 100, 1000];
const TERA = 1e12;
const TILES = stops(1, 1024);
const FORMULA = "var(--cw-warm)";
const TILED = "var(--cw-accent)";
const ARITHMETIC = "var(--cw-series-2)";
const MEMORY = "var(--cw-series-5)";

/** A way to compute attention: its times, and the speed that the longer of them allows. */
function wayOf(flops, bytes, machine) {
  const intensity = flops / bytes;
  return {
    intensity,
    bound: roof(intensity, machine),
    arithmetic: flops / TERA / machine.peak,
    memory: bytes / TERA / machine.bandwidth,
  };
}

function derive({ query_count: queries, key_count: keys, features, tile, peak, bandwidth }) {
  const machine = { peak, bandwidth };
  const flops = attentionFlops(queries, keys, features);
  const inTiles = (size) => wayOf(flops, tiledBytes(queries, keys, features, size, HALF), machine);
  return {
    ridge: peak / bandwidth,
    formula: wayOf(flops, naiveBytes(queries, keys, features, HALF), machine),
    tiled: inTiles(tile),
    slowest: inTiles(TILES[0]),
    fastest: inTiles(TILES.at(-1)),
  };
}

/** The tile whose intensity the hand points at, if so many queries there are. */
function tileAt(intensity, { query_count: queries, key_count: keys, features }) {
  const intensities = TILES.map(
    (tile) =>
      attentionFlops(queries, keys, features) / tiledBytes(queries, keys, features, tile, HALF),
  );
  return TILES[nearestRatio(intensities, intensity)];
}

function roofline(now, ui) {
  const { peak, bandwidth, ridge, formula, tiled, tile } = now;
  const told = ({ bound }) => quantity(bound, "TFLOP/s");
  const options = {
    name: "roof",
    title: "What the machine allows",
    says: `At most ${told(formula)} by the formula, ${told(tiled)} in tiles, of ${quantity(peak)}`,
    x: { ends: ENDS, logarithmic: true, label: "operations a byte" },
    y: { ends: [FLOOR, 2 * peak], logarithmic: true, ticks: TICKS, label: "TFLOP/s" },
    ...{ height: 260, grow: 1.7, group: true },
  };
  const machine = { peak, bandwidth };
  const top = [ENDS[0], ridge, ENDS[1]].map((intensity) => [intensity, roof(intensity, machine)]);
  const turn = (place) => ui.set({ tile: TILES[clamp(place, 0, TILES.length - 1)] });
  const under = (frame, { intensity, bound }, colour) =>
    line(
      frame,
      [
        [intensity, FLOOR],
        [intensity, bound],
      ],
      { colour, width: 1.5, dash: "5 4" },
    );
  return panel(
    ui,
    options,
    (frame) => svg`${line(frame, top, { colour: "var(--cw-ink)" })}
      ${rule(frame, { x: ridge })}
      <text class="cw-halo" x=${frame.x(ridge) + (tiled.intensity < ridge ? 5 : -5)}
        y=${frame.bottom - 6} text-anchor=${tiled.intensity < ridge ? "start" : "end"}>ridge</text>
      ${under(frame, formula, FORMULA)}${under(frame, tiled, TILED)}
      ${dot(frame, [formula.intensity, formula.bound], { colour: FORMULA, r: 6 })}
      ${word(frame, [1.25 * formula.intensity, 0.45 * formula.bound], "formula", { colour: FORMULA })}
      ${handle(
        frame,
        {
          point: [tiled.intensity, tiled.bound],
          label: `tiles of ${tile} queries`,
          kind: "movable tile",
          moveTo: ([intensity]) => ui.set({ tile: tileAt(intensity, ui.now) }),
          moveBy: ([across]) => turn(nearestRatio(TILES, ui.now.tile) + across),
        },
        svg`<circle r="8" fill=${TILED} stroke="var(--cw-paper)" stroke-width="2"></circle>`,
      )}
      ${word(frame, [tiled.intensity * 0.85, tiled.bound], "tiles", { colour: TILED, anchor: "end" })}`,
  );
}

/** The scale of times, the same for all tiles: what shrinks is seen to shrink. @type {[number, string][]} */
const UNITS = [
  [1e-3, "ms"],
  [1e-6, "µs"],
];

function times({ formula, tiled, slowest, fastest }, ui) {
  const values = [formula.arithmetic, formula.memory, tiled.arithmetic, tiled.memory];
  const longest = Math.max(...values, slowest.memory);
  const shortest = Math.min(...values, fastest.memory);
  const [unit, name] = UNITS.find(([size]) => longest >= size) ?? UNITS[1];
  const ends = [shortest / 2 / unit, (1.15 * longest) / unit];
  const told = ({ arithmetic, memory }) =>
    `${quantity(arithmetic / unit, name)} and ${quantity(memory / unit, name)}`;
  const options = {
    name: "times",
    title: [
      "What each side takes",
      legend([
        { text: "arithmetic", colour: ARITHMETIC },
        { text: "memory", colour: MEMORY },
      ]),
    ],
    says: `Arithmetic and memory take ${told(formula)} by the formula, ${told(tiled)} in tiles`,
    x: { ends: [], names: ["formula", "tiles"] },
    y: { ends, logarithmic: true, label: `time, ${name}` },
    height: 260,
  };
  const look = { wide: 0.32, places: [-0.2, 0.2, 0.8, 1.2], base: ends[0] };
  const colour = (i) => (i % 2 ? MEMORY : ARITHMETIC);
  const heights = values.map((value) => value / unit);
  return panel(ui, options, (frame) => bars(frame, heights, { ...look, colour }));
}

function says({ formula, tiled, query_count: queries, tile, ridge }) {
  const waits = (way) => way.intensity < ridge;
  if (tile > queries)
    return "A tile is larger than all queries: it reads the keys once, and is not full.";
  if (waits(formula) && waits(tiled))
    return "Both ways wait for memory: left of the ridge arithmetic is idle.";
  if (waits(formula))
    return "The formula waits for memory, tiles do not: right of the ridge arithmetic sets the pace.";
  return "Neither waits for memory.";
}

export default liveFigure({
  derive,
  panels: (now, ui) => [roofline(now, ui), times(now, ui)],
  readings: ({ formula, tiled }) => [
    { name: "formula", label: "formula:", text: quantity(formula.intensity, "operations a byte") },
    { name: "formula-bound", label: "at most", text: quantity(formula.bound, "TFLOP/s") },
    { name: "tiled", label: "tiles:", text: quantity(tiled.intensity, "operations a byte") },
    { name: "tiled-bound", label: "at most", text: quantity(tiled.bound, "TFLOP/s") },
  ],
  says,
  tour: { knob: "tile", from: 1, seconds: 5 },
});
