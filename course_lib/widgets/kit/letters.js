// Parts of widgets whose model reads and writes letters.

import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { alongALine } from "./keys.js";
import { pointIn } from "./plane.js";
import { number } from "./text.js";

/** Local state that `letterBars` and `headCards` keep. */
export const POINTED_AT = { hovered: null, headPoint: null };

/** @param {number} value */
export const three = (value) => number(value, 3);

/**
 * The index of the child nearest to a click: a finger often falls between two.
 * @param {any} event
 */
export function nearestChild({ currentTarget, clientX: x, clientY: y }) {
  const away = [...currentTarget.children].map((child) => {
    const { left, right, top, bottom } = child.getBoundingClientRect();
    return Math.hypot(x - clamp(x, left, right), y - clamp(y, top, bottom));
  });
  return away.indexOf(Math.min(...away));
}

const LEFT = 30;
const NARROWEST = 11;
const WIDEST = 30;
const TOPS = [0.1, 0.25, 0.5, 1];
const [ABOVE, BELOW] = [14, 24];
const LOWEST = 30;
/** A keyboard: keys in a row, largest and smallest width of a key, distance of the rows. */
const [KEYS, WIDEST_KEY, SLIMMEST_KEY, KEY_GAP] = [13, 48, 36, 4];
/** The height of the bars that grow from two rows of keys at most, and from more. */
const KEY_BARS = [52, 44];

/** The layout of bars for `count` letters: in rows of `each`, with their feet at `base`. */
function gridOf(count, width, { byRank = false, highest = 150, keyboard = false }) {
  // In a frame that is too narrow for one letter, everything is scaled down.
  const across = Math.max(NARROWEST, width - LEFT);
  const most = Math.floor(across / NARROWEST);
  const keys = clamp(Math.floor(across / SLIMMEST_KEY), 1, KEYS);
  const rows = Math.ceil(count / (keyboard ? keys : most));
  const each = Math.ceil(count / rows);
  const cell = Math.min(keyboard ? WIDEST_KEY : WIDEST, across / each);
  // The letter of rank r has a share of at most 1/r, so later rows can be lower.
  const tall = keyboard ? KEY_BARS[Number(rows > 2)] : rows === 1 ? highest : byRank ? 130 : 80;
  const share = (row) => (byRank ? 1 / (row * each + 1) : 1);
  const rooms = upTo(rows).map((row) =>
    clamp(Math.ceil((tall * share(row)) / TOPS[0]), LOWEST, tall),
  );
  const base = rooms.map((_, row) =>
    rooms.slice(0, row + 1).reduce((y, room) => y + ABOVE + room, row * BELOW),
  );
  const heads = base.filter((_, row) => rooms[row] === tall).map((y) => y - tall);
  const [right, bottom] = [LEFT + across, base[rows - 1] + BELOW];
  /** The foot of the bar at a place, and the height above it. */
  const spot = (i) => {
    const [x, row] = [LEFT + (i % each) * cell, Math.floor(i / each)];
    return { x, end: x + cell, y: base[row], room: rooms[row] };
  };
  return { each, cell, tall, base, heads, right, bottom, spot };
}

/** Lines at the foot and at the top of each row of bars, with their numbers. */
function axis({ each, cell, base, heads }, top, locked) {
  const line = (y) => `M${LEFT - 4} ${y}h${each * cell + 4}`;
  const tick = (text) => (y) =>
    svg`<text class="cw-small" text-anchor="end" x=${LEFT - 7} y=${y + 4}>${text}</text>`;
  return svg`<g visibility=${locked ? "hidden" : nothing}>
    <path fill="none" stroke="var(--cw-line)" d=${[...base, ...heads].map(line).join("")}></path>
    ${base.map(tick("0"))}${heads.map(tick(String(top)))}</g>`;
}

/**
 * Two bars for each letter: outlined its share `own`, filled its `probability`. A click or Enter
 * chooses a letter, the mouse previews one. The widget's local state needs `hovered: null`, and its
 * derived state the id `looked`.
 * @param {any} ui
 * @param {{ title: string, names: string[], order: number[], own: number[], probability: number[],
 *   chosen: number | null, byRank?: boolean, highest?: number, keyboard?: boolean,
 *   locked?: boolean, grown?: number, marks?: (grid: any) => unknown, spoken: string,
 *   take: (id: number) => void, moveTo: (id: number) => void }} letters
 *   `order` lists the ids that are shown; the other lists are indexed by id; `highest` is the height
 *   of a single row; a `keyboard` has short rows; `marks` are drawn on top; while `locked`, keys
 *   replace the bars; `grown` scales the height of the bars
 */
export function letterBars(ui, letters) {
  const { title, order, spoken, take, moveTo } = letters;
  const count = order.length;
  const grid = gridOf(count, ui.width("bars", 360), letters);
  const under = (event) => {
    const [x, y] = pointIn(event);
    const column = clamp(Math.floor((x - LEFT) / grid.cell), 0, grid.each - 1);
    const row = grid.base.slice(0, -1).filter((bottom) => y > bottom + BELOW).length;
    return order[Math.min(row * grid.each + column, count - 1)];
  };
  const preview = (id) => id !== ui.now.hovered && ui.set({ hovered: id });
  const keys = alongALine(
    (move) => moveTo(order[clamp(order.indexOf(ui.now.looked) + move, 0, count - 1)]),
    () => take(ui.now.looked),
  );
  const looked = order.indexOf(ui.now.looked);
  const size = letters.locked ? 24 : letters.keyboard ? 18 : 15;
  return html`<div class="cw-l-bars" data-measure="bars">
    <svg role="slider" tabindex="0" aria-label=${title} viewBox="0 0 ${grid.right} ${grid.bottom}"
      aria-valuemin="1" aria-valuemax=${count} aria-valuenow=${looked + 1}
      aria-valuetext=${spoken} style="--cw-l-size: ${Math.min(size, grid.cell + 1)}px"
      @click=${(event) => take(under(event))} @keydown=${keys} @pointerleave=${() => preview(null)}
      @pointermove=${(event) => event.pointerType === "mouse" && preview(under(event))}>
      ${drawnBars(grid, looked, letters)}
    </svg>
  </div>`;
}

// All bars of a kind are one path, which a browser draws faster than two hundred shapes.
/** @param {any} grid @param {number} looked @param {any} letters */
function drawnBars(grid, looked, letters) {
  const { names, order, chosen, locked = false, grown = 1, marks = () => nothing } = letters;
  const [own, probability] = [letters.own, letters.probability].map((shares) =>
    locked ? shares.map(() => 0) : shares,
  );
  const { cell, tall, spot } = grid;
  const most = Math.max(...order.map((id) => Math.max(own[id], probability[id])));
  // What a keyboard shows is compared from letter to letter: its axis stands still.
  const top = (letters.keyboard ? 1 : TOPS.find((limit) => limit >= most - 1e-9)) ?? 1;
  const spots = order.map((_, i) => spot(i));
  const inside = `h${(cell - 3).toFixed(2)}`;
  const back = inside.replace("h", "h-");
  const bar = ({ x, y }, share) =>
    `M${(x + 1.5).toFixed(2)} ${y}${inside}v${((-tall * grown * share) / top).toFixed(3)}${back}z`;
  const isCut = (id) => !locked && probability[id] === 0;
  const bars = (cut, shares) =>
    order.map((id, i) => (isCut(id) === cut ? bar(spots[i], shares[id]) : "")).join("");
  const key = tall + BELOW - KEY_GAP;
  const foot = locked ? BELOW - KEY_GAP - key / 2 + 7 : 16;
  // A letter keeps its element when it moves.
  const labels = [];
  order.forEach((id, i) => {
    const { x, y } = spots[i];
    const name = `${isCut(id) ? "cw-l-cut" : ""}${id === chosen ? " cw-l-chosen" : ""}`;
    labels[id] = svg`<text text-anchor="middle" class=${name}
      transform=${`translate(${(x + cell / 2).toFixed(2)} ${y + foot})`}>${names[id]}</text>`;
  });
  const { x, y, room } = spots[looked];
  const keys = spots.map(
    (at) => `M${(at.x + 1.5).toFixed(2)} ${at.y + BELOW - KEY_GAP}${inside}v${-key}${back}z`,
  );
  return svg`${axis(grid, top, locked)}
    <rect class="cw-l-ring" fill="var(--cw-ink)" fill-opacity="0.08" rx="3"
      x=${(x + 0.5).toFixed(2)} width=${cell - 1}
      y=${y - room - 2} height=${room + BELOW}></rect>
    <g visibility=${locked ? "hidden" : nothing}>
      <path class="cw-l-fill" fill="var(--cw-accent)" fill-opacity="0.75"
        d=${bars(false, probability)}></path>
      <path class="cw-l-outline" d=${bars(false, own)}></path>
      <path class="cw-l-outline cw-l-cut" d=${bars(true, own)}></path>
    </g>
    ${
      locked
        ? svg`<path class="cw-l-keys" fill="var(--cw-accent)" fill-opacity="0.12"
      stroke="var(--cw-accent)" d=${keys.join("")}></path>`
        : nothing
    }
    ${Object.values(labels)} ${marks(grid)}`;
}

/**
 * A card for each head: all letters, tinted by their attention weights. The widget's local state
 * needs `headPoint: null`.
 * @param {any} ui
 * @param {string} title
 * @param {string[]} names of the letters that were read
 * @param {number[][][]} attention by layer, head and letter
 */
export function headCards(ui, title, names, attention) {
  const cards = attention.flatMap((heads, layer) =>
    heads.map((row, head) => {
      const where = `Layer ${layer + 1}, head ${head + 1}`;
      const only = attention.length * heads.length === 1;
      const name = only ? "The head" : `L${layer + 1}, head ${head + 1}`;
      return headCard(ui, { where, name, names, row });
    }),
  );
  const at = ui.now.headPoint;
  const said = attention.flat().includes(at?.row)
    ? `${at.where}: ${names[at.t]} (place ${at.t + 1} of ${names.length}) ${three(at.row[at.t])}.`
    : "Bluer: more attention. Tap for the weight.";
  return html`<p class="cw-title">${title}</p>
    <div class="cw-l-cards" style="--cw-count: ${names.length}">${cards}</div>
    <p class="cw-hint">${said}</p>`;
}

function headCard(ui, { where, name, names, row }) {
  const best = row.indexOf(Math.max(...row));
  const weight = three(row[best]);
  const point = ({ currentTarget, target }) => {
    const t = [...currentTarget.lastElementChild.children].indexOf(target);
    const { headPoint: old } = ui.now;
    const headPoint = t < 0 ? null : { where, row, t };
    if (old?.row !== headPoint?.row || old?.t !== headPoint?.t) ui.set({ headPoint });
  };
  const letter = (share, t) =>
    html`<span style="--weight: ${Math.sqrt(share).toFixed(4)}">${names[t]}</span>`;
  return html`<div class="cw-l-card" role="img" @pointermove=${point} @click=${point}
    aria-label="${where} looks most at ${names[best]}, place ${best + 1} of ${row.length}, weight ${weight}">
    <p>${name}<strong>${names[best]} ${weight}</strong></p>
    <div aria-hidden="true">${row.map(letter)}</div>
  </div>`;
}
