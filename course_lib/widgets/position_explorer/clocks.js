import { alongALine } from "../kit/keys.js";
import { pointIn } from "../kit/plane.js";
import { number } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { handOf } from "../maths/position.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { KEY_INK, QUERY_INK } from "./product.js";

const A_ROW = 8;
const WIDEST = 62;
const DIAL = 52;
const FOOT = 16;

/**
 * One clock for each pair of features, with the hands of the query and the key, and what they add.
 * @param {any} now
 * @param {number} width
 * @param {(chosen: { pair: number }) => void} go
 */
export function clockRow(now, width, go) {
  const { pairs, pair, shares } = now;
  const cell = Math.min(WIDEST, width / A_ROW);
  const [columns, rows] = [Math.min(pairs, A_ROW), Math.ceil(pairs / A_ROW)];
  const tall = cell + FOOT;
  const choose = (event) => {
    const [x, y] = pointIn(event);
    const at = Math.floor(y / tall) * A_ROW + Math.floor(x / cell);
    if (at >= 0 && at < pairs) go({ pair: at });
  };
  const walk = alongALine((step) => go({ pair: clamp(pair + step, 0, pairs - 1) }));
  const place = (i) =>
    `translate(${((i % A_ROW) + 0.5) * cell} ${Math.floor(i / A_ROW) * tall + cell / 2})`;
  return html`<svg class="cw-pos-clocks" viewBox="0 0 ${width} ${rows * tall}" width=${width}
    height=${rows * tall}>
    <g class="cw-handle" tabindex="0" role="slider" aria-label="Pair of features" aria-valuemin="0"
      aria-valuemax=${pairs - 1} aria-valuenow=${pair}
      aria-valuetext="pair ${pair} of 0 to ${pairs - 1}, adds ${number(shares[pair])}"
      @click=${choose} @keydown=${walk}>
      <rect fill="transparent" width=${columns * cell} height=${rows * tall}></rect>
      ${upTo(pairs).map((i) => svg`<g transform=${place(i)}>${clock(now, i, cell)}</g>`)}
    </g>
  </svg>`;
}

function clock({ s, t, pair, queries, keys, shares, longest, fullShare }, i, cell) {
  const radius = (cell / 2 - 6) / longest;
  const hand = (row, ink) => {
    const [x, y] = handOf(row, i);
    return svg`<line x2=${(radius * x).toFixed(3)} y2=${(-radius * y).toFixed(3)} stroke=${ink}
      stroke-width="2.5" stroke-linecap="round"></line>`;
  };
  const here = i === pair;
  return svg`<circle r=${cell / 2 - 4} fill="var(--cw-panel)"></circle>
    <circle r=${cell / 2 - 4} data-tint fill=${shares[i] < 0 ? "var(--cw-accent)" : "var(--cw-warm)"}
      fill-opacity=${((0.4 * Math.abs(shares[i])) / fullShare).toFixed(4)}
      stroke=${here ? "var(--cw-ink)" : "var(--cw-line)"} stroke-width=${here ? 2.5 : 1}></circle>
    ${hand(keys[t], KEY_INK)} ${hand(queries[s], QUERY_INK)}
    <text class=${here ? "cw-small cw-strong" : "cw-small"} y=${cell / 2 + 9}
      text-anchor="middle">${number(shares[i])}</text>`;
}

/**
 * The chosen clock, and the height of its hand along the positions.
 * @param {any} now
 * @param {number} width
 */
export function wavePicture(now, width) {
  const { s, t, pair, queries, keys, oneTable, sampled, tokens } = now;
  const [top, left] = [DIAL + 10, 2 * DIAL + 44];
  const used = oneTable ? [queries] : [queries, keys];
  const hands = used.flat().map((row) => handOf(row, pair));
  const reach = Math.max(...hands.map((hand) => Math.hypot(...hand))) || 1;
  /** @returns {number[]} @param {number[]} hand */
  const tipOf = ([x, y]) => [top + (DIAL * x) / reach, top - (DIAL * y) / reach];
  const across = (position) => left + (position / (tokens - 1)) * (width - left - 10);
  const curve = (side, feature) =>
    side.map(([position, row]) => {
      const [, y] = tipOf([0, row[feature]]);
      return `${across(position).toFixed(1)} ${y.toFixed(2)}`;
    });
  const line = (points) => `M${points.join("L")}`;
  const dots = hands.map(
    (hand) =>
      `M${tipOf(hand)
        .map((part) => part.toFixed(2))
        .join(" ")}h0`,
  );
  const side = ([position, row, ink, name]) =>
    handAndSpot(tipOf(handOf(row, pair)), across(position), top, ink, name);
  const [query, key] = [
    [s, queries[s], QUERY_INK, s === t ? "s, t" : "s"],
    [t, keys[t], KEY_INK, s === t ? "" : "t"],
  ].map(side);
  const dial = `M${top - DIAL} ${top}h${2 * DIAL}M${top} ${top - DIAL}v${2 * DIAL}`;
  const axis = `M${left} ${top}H${width - 10}${dial}`;
  return html`<svg class="cw-pos-wave" aria-hidden="true" viewBox="0 0 ${width} ${2 * top + 16}"
    width=${width} height=${2 * top + 16}>
    <circle cx=${top} cy=${top} r=${DIAL} fill="var(--cw-panel)" stroke="var(--cw-line)"></circle>
    <path d=${axis} stroke="var(--cw-line)"></path>
    <path class="cw-pos-dots" d=${dots.join("")} stroke="var(--cw-edge)" stroke-width="3"></path>
    <path d=${line(curve(sampled.queries, 2 * pair))} stroke="var(--cw-edge)"
      stroke-dasharray="4 3" stroke-opacity="0.8" visibility=${oneTable ? "visible" : "hidden"}></path>
    <path d=${line(curve(sampled.keys, 2 * pair + 1))} stroke=${KEY_INK} stroke-width="2"
      visibility=${oneTable ? "hidden" : "visible"}></path>
    <path d=${line(curve(sampled.queries, 2 * pair + 1))} stroke-width="2"
      stroke=${oneTable ? "var(--cw-ink)" : QUERY_INK}></path>
    ${key} ${query}
  </svg>`;
}

/** @param {number[]} tip */
function handAndSpot([x, y], at, top, ink, name) {
  const beyond = 1 + 11 / (Math.hypot(x - top, y - top) || Infinity);
  const [nameX, nameY] = [top + (x - top) * beyond, top + (y - top) * beyond + 4];
  return svg`<path d="M${x} ${y}H${at}" stroke=${ink} stroke-width="1.25" stroke-dasharray="3 3"
      stroke-opacity="0.7"></path>
    <path d="M${at} ${top - DIAL}V${top + DIAL}" stroke=${ink} stroke-width="1.25"></path>
    <line x1=${top} y1=${top} x2=${x.toFixed(2)} y2=${y.toFixed(2)} stroke=${ink}
      stroke-width="3.5" stroke-linecap="round"></line>
    <circle r="5" cx=${at.toFixed(2)} cy=${y.toFixed(2)} fill=${ink} stroke="var(--cw-paper)"
      stroke-width="1.5"></circle>
    <text class="cw-halo cw-pos-tip" text-anchor="middle" x=${nameX} y=${nameY}
      style="fill: ${ink}">${name}</text>
    <text class="cw-pos-tip" text-anchor="middle" x=${at} y=${2 * top + 10}
      style="fill: ${ink}">${name}</text>`;
}
