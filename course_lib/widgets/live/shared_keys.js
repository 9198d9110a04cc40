// How the keys of a KV cache are shared out to the multiprocessors of a chip.

import { dot, handle, heightOf, legend, line, panel, rule } from "../kit/charts.js";
import { quantity } from "../kit/text.js";
import { sum, upTo } from "../maths/numerics.js";
import { decodingBytes } from "../maths/roofline.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 212;
const COLUMNS = 12;
const [BUSY, BYTES] = ["var(--cw-accent)", "var(--cw-warm)"];
const PARTS = stops(1, 256);
const HALF = 2;
const DOUBLINGS = upTo(9).map((i) => 2 ** i);
/** Beyond this multiple of the least possible a chip is badly used. */
const WELL = 1.1;

/** The keys that each multiprocessor reads: program after program goes to the next. */
export function keysRead({ heads, parts, key_count: keys, multiprocessors }) {
  const read = new Array(multiprocessors).fill(0);
  for (let program = 0; program < heads * parts; program += 1) {
    const larger = program % parts < keys % parts;
    read[program % multiprocessors] += Math.floor(keys / parts) + Number(larger);
  }
  return read;
}

function costOf(now, parts) {
  const read = keysRead({ ...now, parts });
  const { key_count: keys, features } = now;
  const [once, split] = [1, parts].map((n) => decodingBytes(1, keys, features, n, HALF));
  const [most, even] = [Math.max(...read), sum(read) / read.length];
  return { read, most, even, slower: most / even, bytes: split / once };
}

const derive = (now, ui) => {
  const { heads, key_count, features, multiprocessors } = now;
  const all = ui.memo("all", [heads, key_count, features, multiprocessors], () =>
    PARTS.map((parts) => ({ parts, ...costOf(now, parts) })),
  );
  const cost = costOf(now, now.parts);
  return { all, cost, idle: cost.read.filter((keys) => keys === 0).length };
};

function chip({ cost: { read, most }, idle, multiprocessors }, ui) {
  const [across, down] = [COLUMNS, Math.ceil(multiprocessors / COLUMNS)];
  const light = (keys, i) => svg`<rect x=${(i % across) + 0.06} y=${Math.floor(i / across) + 0.06}
    width="0.88" height="0.88" rx="0.12" fill=${BUSY}
    fill-opacity=${0.1 + (0.9 * keys) / most}></rect>`;
  return html`<div class="cw-panel" style="flex: 1 1 13rem; align-self: flex-start">
    <p class="cw-panel-title">The chip: ${multiprocessors} multiprocessors</p>
    <svg viewBox="-0.3 -0.3 ${across + 0.6} ${down + 0.6}" role="img"
      style="max-height: ${heightOf(ui, HEIGHT)}px; margin: 0 auto"
      aria-label="${multiprocessors - idle} of ${multiprocessors} multiprocessors read keys">
      <rect x="-0.2" y="-0.2" width=${across + 0.4} height=${down + 0.4} rx="0.4"
        fill="var(--cw-panel)" stroke="var(--cw-edge)" stroke-width="0.06"></rect>
      ${read.map(light)}
    </svg>
  </div>`;
}

function costs(now, ui) {
  const { all, cost, parts } = now;
  const ways = [
    { of: "slower", text: "keys of the busiest", colour: BUSY, dash: "" },
    { of: "bytes", text: "bytes moved", colour: BYTES, dash: "6 3" },
  ];
  const most = Math.max(...all.flatMap((one) => [one.slower, one.bytes]), 2);
  const options = {
    name: "costs",
    title: ["Cost", legend(ways)],
    says: `In ${parts} parts the busiest multiprocessor reads ${quantity(cost.slower)} times the mean, and ${quantity(cost.bytes)} times as many bytes move as in one part`,
    x: { ends: [1, PARTS[PARTS.length - 1]], logarithmic: true, label: "parts of the keys" },
    y: {
      ends: [0.9, most],
      logarithmic: true,
      ticks: DOUBLINGS.filter((tick) => tick <= most),
      label: "times the least possible",
    },
    ...{ height: HEIGHT, grow: 1.5, group: true },
  };
  const turn = (place) => ui.set({ parts: PARTS[place] });
  return panel(ui, options, (frame) => {
    const way = ({ of, colour, dash }) =>
      line(
        frame,
        all.map((one) => [one.parts, one[of]]),
        { colour, dash },
      );
    return svg`${rule(frame, { x: parts })}${ways.map(way)}
      ${dot(frame, [parts, cost.bytes], { colour: BYTES })}
      <g data-snaps="parts">${handle(frame, {
        point: [parts, cost.slower],
        label: `${parts} parts`,
        kind: "movable number of parts",
        moveTo: ([at]) => turn(nearestRatio(PARTS, at)),
        moveBy: ([step, up]) => {
          const place = nearestRatio(PARTS, ui.now.parts) + step + up;
          if (PARTS[place]) turn(place);
        },
      })}</g>`;
  });
}

function verdict({ cost, idle, multiprocessors }) {
  if (cost.slower > WELL) {
    const text = idle
      ? `${idle} of ${multiprocessors} have nothing to do`
      : `The busiest reads ${quantity(cost.slower)} times its share`;
    return { kind: "bad", text };
  }
  return cost.bytes > WELL
    ? { kind: "bad", text: `The reports make ${quantity(cost.bytes)} times the bytes` }
    : { kind: "good", text: "All read nearly the same number of keys" };
}

function says({ heads, parts, idle, cost, multiprocessors }) {
  const programs = heads * parts;
  const wait = cost.slower > WELL;
  if (wait && idle) return `There are ${programs} programs. Split the keys into more parts.`;
  if (wait) {
    const rounds = Math.ceil(programs / multiprocessors);
    return `${programs} programs need ${rounds} rounds. In the last, many multiprocessors are idle.`;
  }
  if (cost.bytes > WELL)
    return "Each part writes a report. With so few keys the reports are no longer small.";
  return `${programs} programs keep the chip busy, and their reports are small.`;
}

export default liveFigure({
  derive,
  asks: "Do all multiprocessors read keys?",
  verdict,
  panels: (now, ui) => [chip(now, ui), costs(now, ui)],
  readings: ({ heads, parts, cost }) => [
    { name: "programs", label: "programs", text: String(heads * parts), room: 5 },
    { name: "busiest", label: "busiest", text: quantity(cost.most, "keys"), room: 14 },
    { name: "even", label: "mean", text: quantity(Math.round(cost.even), "keys"), room: 14 },
    {
      name: "more",
      label: "reports add",
      text: quantity(100 * (cost.bytes - 1), "% of bytes"),
      room: 17,
    },
  ],
  says,
  tour: { knob: "parts", from: 1, over: 64, seconds: 7 },
});
