// Three words that change places, the score of two of them, and the clocks of one pair of features.

import { alongALine } from "../kit/keys.js";
import { dragging, pointIn } from "../kit/plane.js";
import { linear } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { handOf, ORDERS } from "../maths/position.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { KEY_INK, QUERY_INK } from "./product.js";

/** What a score compares. */
const COMPARED = {
  ...{ none: "words", sinusoidal: "places", learned: "places" },
  rotary: "words, turned",
};
const INKS = { BITES: QUERY_INK, DOG: KEY_INK, MAN: "var(--cw-edge)" };
const TILE = { width: 80, height: 34 };
const [LINE, ARC] = [98, 26];
/** So much a slot: words that change places pass above and below each other and touch none. */
const HOP = 18.5;
/** They go up and down first and last, and across while they are clear, in shares of the way. */
const LIFT = 0.3;
/** The radius of a clock, and the room for two with their names. */
const [DIAL, CLOCKS] = [46, 320];
const ONE_PLACE = "One place holds one word";
const manLast = (one, other) => Number(one.word === "MAN") - Number(other.word === "MAN");
const CHART = { top: 18, tall: 56, left: 4 };

/** @param {string[]} order */
export const swapped = (order, i, j) =>
  order.map((word, at) => (at === i ? order[j] : at === j ? order[i] : word));

/** The words where they stand now, and on their way there; BITES looks at DOG. */
export function sentence(now, ui, arrange) {
  const width = ui.width("sentence", 320);
  const { words, order, way, s, t, moved, moment, momentary, start } = now;
  const slot = width / 3;
  const middle = (place) => slot * (place + 0.5);
  const across = clamp((way - LIFT) / (1 - 2 * LIFT), 0, 1);
  const lifted = clamp(Math.min(way, 1 - way) / LIFT, 0, 1);
  const spots = words.map(({ word, from, to }) => {
    const hop = HOP * lifted * (to - from);
    return { word, to, x: middle(from + across * (to - from)), y: LINE + hop };
  });
  const [query, key] = ["BITES", "DOG"].map((word) => spots.find((spot) => spot.word === word));
  const grip = (place) =>
    dragging({
      moveTo: ([x]) => {
        const target = clamp(Math.floor(x / slot), 0, 2);
        if (order && target !== place) arrange(swapped(order, place, target));
      },
      moveBy: () => {},
    });
  const tile = ({ word, to, x, y }) => {
    const hand = grip(to);
    return svg`<g class="cw-handle cw-pos-word" data-word=${word} @pointerdown=${hand}
      @pointermove=${hand} transform=${`translate(${x.toFixed(2)} ${y.toFixed(2)})`}>
      <rect x=${-TILE.width / 2} y=${-TILE.height / 2} width=${TILE.width} height=${TILE.height}
        rx="7" fill="var(--cw-paper)" stroke=${INKS[word]} stroke-width="2.5"></rect>
      <text text-anchor="middle" y="6" style="fill: ${word === "MAN" ? "var(--cw-ink)" : INKS[word]}"
        >${word}</text>
    </g>`;
  };
  const place = (position, at) =>
    svg`<text class="cw-small" text-anchor="middle" x=${middle(at)} y=${LINE + 33}>${position}</text>`;
  const top = LINE - TILE.height / 2 - 3;
  const apart = Math.abs(s - t);
  const lines = words.map(({ position, to }) => place(order ? start + to : position, to));
  const still = order?.join(" ") ?? (apart ? "The words stand apart" : ONE_PLACE);
  // On their way words have not come to where they go.
  const said =
    `${way < 1 ? "The words move" : still}: the query of BITES at ${moment.s} and ` +
    `the key of DOG at ${moment.t} have the score ${number(momentary)}`;
  const [from, onto] = [query.y - TILE.height / 2 - 2, key.y - TILE.height / 2 - 5];
  const arc = `M${query.x} ${from}C${query.x} ${top - ARC} ${key.x} ${top - ARC} ${key.x} ${onto}`;
  return html`<div data-measure="sentence">
    <svg class="cw-pos-sentence" viewBox="0 0 ${width} ${LINE + 42}" role="img"
      aria-label=${said}>
      ${
        apart
          ? svg`<path d=${arc} fill="none" stroke="var(--cw-warm)" stroke-width="2.5"></path>
              <circle r="4.5" cx=${key.x} cy=${key.y - TILE.height / 2 - 4}
                fill="var(--cw-warm)"></circle>`
          : svg`<text text-anchor="middle" x=${middle(1)} y=${LINE + 5}>${ONE_PLACE}.</text>`
      }
      <text class="cw-pos-score cw-halo" data-reading="momentary" data-way=${way}
        text-anchor="middle" x=${(query.x + key.x) / 2} y="38">${number(momentary)}</text>
      <text class="cw-small" text-anchor="middle" x=${(query.x + key.x) / 2} y="11">score of the ${COMPARED[now.kind]}</text>
      ${apart ? [...spots].sort(manLast).map(tile) : nothing} ${lines}
      ${
        order || apart < 2
          ? nothing
          : svg`<text class="cw-small" text-anchor="middle" x=${middle(1)} y=${LINE + 5}
              >⋯ ${apart - 1} ⋯</text>`
      }
    </svg>
    <p class="cw-pos-swaps" style=${apart ? nothing : "visibility: hidden"}>
      ${[0, 1].map((i) => swapButton(i, () => arrange(swapped(order ?? ORDERS[0], i, i + 1))))}
    </p>
    <p class="cw-pos-moved" data-reading="moved">${moved}</p>
  </div>`;
}

const swapButton = (i, press) =>
  html`<button type="button" class="cw-button" aria-label="Swap the ${["first", "last"][i]} two words"
    @click=${press}>⇄</button>`;

/** The score of BITES with DOG in every order, for mouse, finger and arrow keys. */
export function orderChart(now, ui, arrange) {
  const width = ui.width("orders", 320);
  const { ranks, orderIndex } = now;
  const cell = (width - 2 * CHART.left) / ORDERS.length;
  const [least, most] = [Math.min(0, ...ranks), Math.max(0, ...ranks)];
  const heightOf = linear([most, most - (most - least || 1)], [CHART.top, CHART.top + CHART.tall]);
  const floor = CHART.top + CHART.tall + (least < 0 ? 14 : 0);
  const choose = (event) => {
    const [x] = pointIn(event);
    arrange(ORDERS[clamp(Math.floor((x - CHART.left) / cell), 0, ORDERS.length - 1)]);
  };
  const walk = alongALine((step) =>
    arrange(ORDERS[clamp(Math.max(0, ui.now.orderIndex) + step, 0, ORDERS.length - 1)]),
  );
  const column = (order, i) => {
    const x = CHART.left + cell * i;
    const [y, zero] = [heightOf(ranks[i]), heightOf(0)];
    const here = i === orderIndex;
    const label = (word, line) =>
      svg`<text text-anchor="middle" x=${x + cell / 2} y=${floor + 16 * (line + 1)}
        class=${here ? "cw-pos-order cw-strong" : "cw-pos-order"}
        style="fill: ${word === "MAN" ? "var(--cw-muted)" : INKS[word]}">${word}</text>`;
    return svg`<rect x=${x + 1} y="0" width=${cell - 2} height=${floor + 54} rx="5"
        fill="var(--cw-ink)" fill-opacity=${here ? 0.1 : 0}></rect>
      <rect data-score=${ranks[i].toFixed(6)} x=${x + cell / 4} y=${Math.min(y, zero)}
        width=${cell / 2} height=${Math.abs(y - zero).toFixed(3)} fill="var(--cw-warm)"
        fill-opacity=${here ? 1 : 0.55}></rect>
      <text class=${here ? "cw-small cw-strong" : "cw-small"} text-anchor="middle"
        x=${x + cell / 2} y=${ranks[i] < 0 ? y + 13 : y - 5}>${number(ranks[i])}</text>
      ${order.map(label)}`;
  };
  const height = floor + 54;
  const chosen = ORDERS[orderIndex]?.join(" ") ?? "none of the six: the words stand apart";
  return html`<div data-measure="orders">
    <svg class="cw-pos-orders" viewBox="0 0 ${width} ${height}" height=${height}>
      <g class="cw-handle" tabindex="0" role="slider" aria-label="Order of the words"
        aria-valuemin="1" aria-valuemax="6" aria-valuenow=${Math.max(0, orderIndex) + 1}
        aria-valuetext=${chosen}
        @click=${choose} @keydown=${walk}>
        <rect fill="transparent" width=${width} height=${height}></rect>
        <path d="M${CHART.left} ${heightOf(0)}H${width - CHART.left}" stroke="var(--cw-line)"></path>
        ${ORDERS.map(column)}
      </g>
    </svg>
  </div>`;
}

/** The clocks of the chosen pair: that of the query where BITES stands, that of the key of DOG. */
export function clockPair({ moment, pair, pairs, queries, keys, rows, share, oneTable }) {
  const hands = [...queries, ...keys].map((row) => handOf(row, pair));
  const reach = Math.max(...hands.map((hand) => Math.hypot(...hand))) || 1;
  /** @param {number[]} hand */
  const tip = ([x, y]) => [((DIAL - 4) * x) / reach, (-(DIAL - 4) * y) / reach];
  const [query, key] = rows.map((row) => tip(handOf(row, pair)));
  const hand = ([x, y], ink, own) =>
    svg`<line x2=${x.toFixed(3)} y2=${y.toFixed(3)} stroke=${ink} stroke-linecap="round"
      stroke-width=${own ? 5 : 2} stroke-dasharray=${own ? nothing : "1 5"}></line>`;
  const label = (x, anchor, ink, word, place) =>
    svg`<text class="cw-pos-tip" text-anchor=${anchor} x=${x} y=${DIAL + 1} style="fill: ${ink}"
      >${word}</text><text class="cw-pos-tip" text-anchor=${anchor} x=${x} y=${DIAL + 18}
      style="fill: ${ink}">at ${place}</text>`;
  const clock = (x, own, ghost, [ink, other]) =>
    svg`<g transform="translate(${x} ${DIAL + 4})">
      <circle r=${DIAL} fill="var(--cw-panel)" stroke=${ink} stroke-width="2"></circle>
      ${upTo(12).map((hour) => tick(hour))} ${hand(ghost, other, false)} ${hand(own, ink, true)}
      <circle r="4" fill=${ink}></circle>
    </g>`;
  const owner = oneTable ? "place" : "word";
  const [left, right] = [CLOCKS / 2 - DIAL - 12, CLOCKS / 2 + DIAL + 12];
  return html`<svg class="cw-pos-pair" viewBox="0 0 ${CLOCKS} ${2 * DIAL + 8}" role="img"
      aria-label="Clocks of pair ${pair}, query and key">
      ${label(left - DIAL - 7, "end", QUERY_INK, "BITES", moment.s)}
      ${clock(left, query, key, [QUERY_INK, KEY_INK])}
      <text class="cw-pos-score" text-anchor="middle" x=${CLOCKS / 2} y=${DIAL + 14}>·</text>
      ${clock(right, key, query, [KEY_INK, QUERY_INK])}
      ${label(right + DIAL + 7, "start", KEY_INK, "DOG", moment.t)}
    </svg>
    <p class="cw-pos-hands">A hand is two of a ${owner}’s ${2 * pairs} numbers; dotted, the other
      ${owner}’s. Their dot product “·” adds <span data-reading="share">${number(share)}</span> to the
      score.</p>`;
}

/** What the chosen pair adds to the score. */
export const pairAdds = ({ pair, pairs, share, momentary }, name) => {
  const adds = `adds ${number(share)} to ${name} = ${number(momentary)}.`;
  return html`<p class="cw-pos-note" data-reading="adds">Pair ${pair} of 0 to ${pairs - 1} ${adds}</p>`;
};

function tick(hour) {
  const [x, y] = [Math.sin((hour * Math.PI) / 6), Math.cos((hour * Math.PI) / 6)];
  return svg`<line x1=${(DIAL - 6) * x} y1=${(DIAL - 6) * y} x2=${(DIAL - 2) * x} y2=${(DIAL - 2) * y}
    stroke="var(--cw-edge)"></line>`;
}
