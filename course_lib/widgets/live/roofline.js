// Attention under the roofline of a machine, by the formula and in tiles.

import { dot, handle, line, panel, rule, word } from "../kit/charts.js";
import { quantity } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import {
  attentionFlops,
  naiveBytes,
  REGISTERS,
  registerBytes,
  roof,
  tiledBytes,
} from "../maths/roofline.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

/** In pixels, what the words beside a dot take. */
const ROOM_FOR_WORDS = 78;
const NEAR = 20;
/** Where the word of the tiles stands above that of the formula. */
const LOWEST = 2.5;
/** In pixels, between a line and a word that stands at its right. */
const BESIDE = 8;
const HALF = 2;
const KEY_TILE = 64;
/** The share of the registers beyond which none are left for addresses and operands. */
const ROOM_TO_WORK = 0.9;
const ENDS = [0.5, 16_384];
const FLOOR = 0.8;
const HEIGHT = 300;
/** In digits and a word. */
const ROOM = 21;
const TICKS = [1, 10, 100, 1000];
const TERA = 1e12;
const TILES = stops(1, 1024);
const FORMULA = "var(--cw-warm)";
const TILED = "var(--cw-accent)";
const BUSY = "var(--cw-series-2)";
/** What is published was measured for so many tokens and features. */
const [PUBLISHED_TOKENS, PUBLISHED_FEATURES] = [8192, 128];
/** A chip is drawn as so many lights a side: each is a hundredth of its time. */
const LIGHTS = 10;

/**
 * A way to compute attention: the speed that the roof allows, how long it then takes, and in what
 * share of that time arithmetic is busy.
 */
function wayOf(flops, bytes, machine) {
  const intensity = flops / bytes;
  const bound = roof(intensity, machine);
  return { intensity, bound, seconds: flops / TERA / bound, busy: bound / machine.peak };
}

function derive({ query_count: queries, key_count: keys, features, tile, peak, bandwidth }) {
  const machine = { peak, bandwidth };
  const flops = attentionFlops(queries, keys, features);
  return {
    ridge: peak / bandwidth,
    formula: wayOf(flops, naiveBytes(queries, keys, features, HALF), machine),
    tiled: wayOf(flops, tiledBytes(queries, keys, features, tile, HALF), machine),
    cached: wayOf(flops, tiledBytes(queries, keys, features, queries, HALF), machine),
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

/** A line at each speed that others measured, from the axis to where the roof comes down to it. */
function published(frame, { ways, speeds, query_count, key_count, features, peak, bandwidth }) {
  const same = query_count === PUBLISHED_TOKENS && key_count === PUBLISHED_TOKENS;
  if (!same || features !== PUBLISHED_FEATURES) return nothing;
  // Two lines may lie closer than a word is high: the word of the fastest stands above its line.
  const top = (i) => speeds[i] === Math.max(...speeds);
  return ways.map((name, i) => {
    const end = speeds[i] < peak ? speeds[i] / bandwidth : ENDS[1];
    const across = [ENDS[0], end].map((intensity) => [intensity, speeds[i]]);
    return svg`${line(frame, across, { colour: "var(--cw-muted)", width: 1, dash: "2 3" })}
      <text class="cw-halo" x=${frame.left + 6} y=${frame.y(speeds[i]) + (top(i) ? -3 : 12)}
        >${name}: ${quantity(speeds[i])}</text>`;
  });
}

/** Between tiles and a cache that fetches each number once: there the truth lies. */
function cache(frame, { tiled, cached, peak, bandwidth }) {
  if (cached.intensity < 2 * tiled.intensity) return nothing;
  const ridge = peak / bandwidth;
  const corners = [tiled.intensity, ridge, cached.intensity].sort((a, b) => a - b);
  const over = corners.map((at) => [at, roof(at, { peak, bandwidth })]);
  return svg`${line(frame, over, { colour: TILED, width: 9, opacity: 0.3 })}
    ${dot(frame, [cached.intensity, cached.bound], { colour: TILED })}
    <text class="cw-halo" x=${frame.x(cached.intensity) + 4} y=${frame.y(cached.bound) + 18}
      text-anchor="end" style="fill: ${TILED}">cache</text>`;
}

function roofline(now, ui) {
  const { peak, bandwidth, ridge, formula, tiled, tile } = now;
  const told = ({ bound }) => quantity(bound, "TFLOP/s");
  const options = {
    name: "roof",
    title: "How fast the chip may go",
    says: `At most ${told(formula)} by the formula, ${told(tiled)} in tiles, of ${quantity(peak)}`,
    x: { ends: ENDS, logarithmic: true, label: "operations for each byte fetched" },
    y: {
      ...{ ends: [FLOOR, 4 * peak], logarithmic: true, ticks: TICKS },
      label: "speed, 10¹² operations a second",
    },
    ...{ height: HEIGHT, grow: 1.1, group: true },
  };
  const machine = { peak, bandwidth };
  const top = [ENDS[0], ridge, ENDS[1]].map((intensity) => [intensity, roof(intensity, machine)]);
  const turn = (place) => ui.set({ tile: TILES[clamp(place, 0, TILES.length - 1)] });
  const colour = tiled.busy < 1 ? TILED : BUSY;
  const fits = (frame, intensity) => frame.right - frame.x(intensity) > ROOM_FOR_WORDS;
  const under = (frame, { intensity, bound }, colour) =>
    line(
      frame,
      [
        [intensity, FLOOR],
        [intensity, bound],
      ],
      { colour, width: 1.5, dash: "5 4" },
    );
  return panel(ui, options, (frame) => {
    const [x, left] = [frame.x(ridge), frame.x(tiled.intensity)];
    const near = x > left && x - left < NEAR ? x : left;
    const drag = frame.right - near > ROOM_FOR_WORDS ? ": drag" : "";
    return svg`${line(frame, top, { colour: "var(--cw-ink)" })}${rule(frame, { x: ridge })}
      ${published(frame, now)}
      ${cache(frame, now)}
      ${under(frame, formula, FORMULA)}${under(frame, tiled, colour)}
      ${dot(frame, [formula.intensity, formula.bound], { colour: FORMULA, r: 6 })}
      <text class="cw-halo" x=${x - 6} y=${frame.y(peak) - 8} text-anchor="end">ridge: ${quantity(ridge)}</text>
      ${
        fits(frame, ridge)
          ? svg`<text class="cw-halo" x=${x + BESIDE} y=${frame.y(peak) - 8}
              style="fill: var(--cw-muted)">full speed</text>`
          : ""
      }
      ${word(frame, [formula.intensity * 1.1, FLOOR], `formula ≤ ${quantity(formula.bound)}`, {
        colour: FORMULA,
      })}
      ${handle(
        frame,
        {
          point: [tiled.intensity, tiled.bound],
          label: `tiles of ${tile} queries`,
          kind: "movable tile",
          moveTo: ([intensity]) => ui.set({ tile: tileAt(intensity, ui.now) }),
          moveBy: ([across]) => turn(nearestRatio(TILES, ui.now.tile) + across),
        },
        svg`<circle r="8" fill=${colour} stroke="var(--cw-paper)" stroke-width="2"></circle>`,
      )}
      <text class="cw-halo" x=${near + BESIDE} y=${frame.y(Math.max(LOWEST, 0.25 * tiled.bound)) - 6}
        style="fill: ${colour}">tiles${drag}</text>`;
  });
}

/** @type {[number, string][]} */
const UNITS = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
];

function timeOf({ seconds }) {
  const [size, unit] = UNITS.find(([one]) => seconds >= one) ?? UNITS[UNITS.length - 1];
  return quantity(seconds / size, unit);
}

/** So many hundredths, with as many digits as tell them apart from none and from all. */
const percent = (share) =>
  share < 1 && share > 0.99
    ? "over 99\u00a0%"
    : quantity(Number((100 * share).toPrecision(2)), "%");

const BOX = 100 / LIGHTS;

/** A chip: of its lights so many burn as it is busy; the others wait for memory. */
function chip({ way, name, colour }) {
  const lit = LIGHTS ** 2 * way.busy;
  const light = (_, i) => {
    const [x, y] = [BOX * (i % LIGHTS), 100 - BOX * (1 + Math.floor(i / LIGHTS))];
    return svg`<rect x=${x + 1} y=${y + 1} width=${BOX - 2} height=${BOX - 2} rx="1"
      fill=${colour} fill-opacity=${0.1 + 0.9 * clamp(lit - i, 0, 1)}></rect>`;
  };
  return html`<figure data-busy=${way.busy} style="flex: 1 1 6rem; min-width: 0">
    <svg viewBox="-3 -3 106 106" role="img" style="max-width: min(11rem, 28cqw); margin: 0 auto"
      aria-label="${name}: the chip calculates ${percent(way.busy)} of the time">
      <rect x="-2" y="-2" width="104" height="104" rx="5" fill="var(--cw-panel)" stroke=${colour}
        stroke-width=${way.busy < 1 ? 1 : 3}></rect>
      ${upTo(LIGHTS ** 2).map(light)}
    </svg>
    <figcaption>
      <strong style="color: ${colour}">${name}</strong><br>
      busy ${percent(way.busy)}${way.busy < 1 ? "" : " ✓"}<br>${timeOf(way)} a head
    </figcaption>
  </figure>`;
}

function chips({ formula, tiled, tile }) {
  const both = [
    { way: formula, name: "By the formula", colour: formula.busy < 1 ? FORMULA : BUSY },
    { way: tiled, name: tile === 1 ? "Tiles of 1" : `Tiles of ${tile}`, colour: TILED },
  ];
  if (tiled.busy === 1) both[1].colour = BUSY;
  return html`<div class="cw-panel" style="flex: 1 1 15rem; align-self: flex-start">
    <p class="cw-panel-title">Two ways: lit = time at work</p>
    <div style="display: flex; gap: 1rem">${both.map(chip)}</div>
  </div>`;
}

function verdict({ formula, tiled, query_count: queries, tile }) {
  const times = formula.seconds / tiled.seconds;
  if (tile > queries) return { kind: "open", text: "A tile holds more than all queries" };
  if (tiled.busy < 1) {
    const slower = times < 0.995 ? ", slower than the formula" : " of the time";
    return { kind: "bad", text: `Idle ${percent(1 - tiled.busy)}${slower}` };
  }
  const faster = quantity(Number(times.toPrecision(2)));
  return {
    kind: "good",
    text:
      times > 1.005
        ? `Never idle: up to ${faster} times as fast as the formula`
        : "Never idle, both ways",
  };
}

function says({ formula, tiled, query_count: queries, tile, features }) {
  if (tile > queries)
    return "A tile is larger than all queries: it reads the keys once, and is not full.";
  if (registerBytes(features, tile, KEY_TILE) > ROOM_TO_WORK * REGISTERS)
    return "So many queries leave no room on one multiprocessor: several must share each fetch.";
  if (queries === 1) return "Both ways wait for memory. One query has nobody to share a key with.";
  if (formula.busy < 1 && tiled.busy < 1)
    return "Both ways wait for memory. Larger tiles fetch less for the same operations.";
  if (tiled.busy < 1) return "In so small tiles the keys are fetched too often.";
  return formula.busy < 1
    ? "In tiles arithmetic sets the pace: each byte serves so many operations."
    : "Neither way waits for memory.";
}

export default liveFigure({
  derive,
  asks: "How long is the chip idle?",
  verdict,
  panels: (now, ui) => [roofline(now, ui), chips(now)],
  readings: ({ formula, tiled }) => [
    {
      ...{ name: "formula", label: "By the formula" },
      text: quantity(formula.intensity, "operations a byte"),
    },
    { name: "formula-bound", label: "at most", text: quantity(formula.bound, "TFLOP/s") },
    {
      ...{ name: "tiled", label: "In tiles", room: ROOM },
      text: quantity(tiled.intensity, "operations a byte"),
    },
    { name: "tiled-bound", label: "at most", text: quantity(tiled.bound, "TFLOP/s") },
  ],
  says,
  tour: { knob: "tile", from: 1, seconds: 6 },
});
