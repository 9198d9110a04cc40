import { clamp } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { CHIP, HEIGHT, onTheWay, path, places, TOP, WIDTH } from "./trip.js";

const SIDE = 92;
const [SCORES, WEIGHTS] = [
  { x: 12, y: TOP },
  { x: 12 + SIDE + 10, y: TOP },
];
/** Each of these goes through memory once for every score: out, back, out, back. */
const TRIPS = [
  { there: SCORES, out: true },
  { there: SCORES, out: false },
  { there: WEIGHTS, out: true },
  { there: WEIGHTS, out: false },
];

/** The scores that the tiles have settled before a visit, and those that it settles. */
function settled({ hand, shape: [, keys] }) {
  if (!hand) return [];
  const {
    rows: [first, end],
    columns: [left, right],
    last,
  } = hand;
  const block = (rows, columns) => ({ rows, columns });
  return [
    block([0, first], [0, keys]),
    block([first, end], [0, left]),
    block([first, end], [left, last ? keys : right]),
  ];
}

/** The naive algorithm at the same stage: its scores and weights lie in slow memory. */
export function naivePicture(now) {
  const {
    shape: [queries, keys],
    trip,
  } = now;
  const cell = SIDE / Math.max(queries, keys);
  const boxOf =
    ({ x, y }) =>
    ({ rows, columns }) => ({
      ...{ x: x + columns[0] * cell, y: y + rows[0] * cell },
      ...{ width: (columns[1] - columns[0]) * cell, height: (rows[1] - rows[0]) * cell },
    });
  const blocks = settled(now);
  const news = blocks.at(-1);
  const at = Math.min(TRIPS.length - 1, Math.floor(trip * TRIPS.length));
  const square = ({ x, y }, name, arrived) => {
    const here = arrived ? blocks : blocks.slice(0, -1);
    return svg`<path d=${path({ x, y, width: keys * cell, height: queries * cell })}
        fill="var(--cw-panel)" stroke="var(--cw-edge)"></path>
      <path data-layer="naive-${name}" d=${here.map(boxOf({ x, y })).map(path).join("")}
        fill="var(--cw-edge)" fill-opacity="0.55"></path>
      <text x=${x} y=${y - 6}>${name}</text>
      <text class="cw-tile-axis" x=${x + 14} y=${y - 6}>out and back</text>`;
  };
  const flying = () => {
    const { there, out } = TRIPS[at];
    const far = boxOf(there)(news);
    const near = {
      ...far,
      x: CHIP.x + (CHIP.width - far.width) / 2,
      y: CHIP.y + (CHIP.height - far.height) / 2,
    };
    const share = clamp(trip * TRIPS.length - at, 0, 1);
    return path(out ? onTheWay(near, far, share) : onTheWay(far, near, share));
  };
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" class="cw-tile-naive" aria-hidden="true">
    ${places(HEIGHT - 4)}
    ${square(SCORES, "S", at > 0 || trip === 1)} ${square(WEIGHTS, "P", at > 2 || trip === 1)}
    <text class="cw-tile-axis" x=${SCORES.x} y=${TOP + SIDE + 20}>Q, K, V, O: once each</text>
    <path data-layer="naive-trip" d=${news && trip < 1 ? flying() : ""} fill="var(--cw-edge)"
      stroke="var(--cw-ink)"></path>
  </svg>`;
}
