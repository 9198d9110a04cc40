import { alongALine } from "../kit/keys.js";
import { inked } from "../kit/painted.js";
import { pointIn } from "../kit/plane.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { CHIP, HEIGHT, LEFT, MATRIX, onTheWay, path, places, STRIP, TOP, WIDTH } from "./trip.js";
import { placeInWords, roomTaken } from "./words.js";

// Strips of memory: queries left, outputs right of the matrix, keys and values above it.
const [BESIDE, KEYS_AT, VALUES_AT] = [LEFT - STRIP - 6, TOP - 2 * STRIP - 10, TOP - STRIP - 6];

const NOTHING = { rows: [0, 0], columns: [0, 0] };

/** Whoever takes a tile in hand ends the play. @param {any} ui @param {number} step */
export function take(ui, step) {
  ui.play(false);
  ui.set({ step });
}
const moveBy = (ui, move) => take(ui, clamp(ui.now.step + move, 0, ui.now.plan.length));

/** Takes the tile in which a score lies; in a skipped tile: the last visit of its row. */
function choose(ui, place) {
  const [column, row] = place;
  const { plan, shape } = ui.now;
  const [q, k] = [clamp(row, 0, shape[0] - 1), clamp(column, 0, shape[1] - 1)];
  const lies = ({ rows: [first, end], columns, last }) =>
    first <= q && q < end && (last || k < columns[1]);
  take(ui, plan.findIndex(lies) + 1);
}

const box = (x, y, width, height) => path({ x, y, width, height });
const cellOf = ([queries, keys]) => MATRIX / Math.max(queries, keys);
/** @param {any} visit @param {number} cell */
const placeOf = ({ rows: [top, bottom], columns: [left, right] }, cell) => ({
  ...{ x: LEFT + left * cell, y: TOP + top * cell },
  ...{ width: (right - left) * cell, height: (bottom - top) * cell },
});
const tilePath = (visit, cell) => path(placeOf(visit, cell));

/** What lies in memory, and what of it is in hand. */
function strips({ hand, shape, trip }) {
  const cell = cellOf(shape);
  const [height, width, beyond] = [shape[0] * cell, shape[1] * cell, LEFT + shape[1] * cell + 6];
  const above = (x, w) => box(x, KEYS_AT, w, STRIP) + box(x, VALUES_AT, w, STRIP);
  const whole = box(BESIDE, TOP, STRIP, height) + box(beyond, TOP, STRIP, height);
  const at = hand && placeOf(hand, cell);
  const done = hand ? hand.rows[hand.last && trip === 1 ? 1 : 0] : 0;
  return svg`<path d=${whole + above(LEFT, width)} fill="var(--cw-panel)"
      stroke="var(--cw-edge)"></path>
    <path data-layer="on-chip" fill="var(--cw-warm)"
      d=${at ? box(BESIDE, at.y, STRIP, at.height) + above(at.x, at.width) : ""}></path>
    <path fill="none" stroke="var(--cw-warm)" stroke-width="2"
      d=${at ? box(beyond, at.y, STRIP, at.height) : ""}></path>
    <path data-layer="written" fill="var(--cw-accent)"
      d=${done ? box(beyond, TOP, STRIP, done * cell) : ""}></path>
    <text x=${BESIDE + STRIP / 2} y=${TOP + height + 16} text-anchor="middle">Q</text>
    <text x=${beyond + STRIP / 2} y=${TOP + height + 16} text-anchor="middle">O</text>
    <text x=${LEFT - 7} y=${KEYS_AT + STRIP - 1} text-anchor="end">K</text>
    <text x=${LEFT - 7} y=${VALUES_AT + STRIP - 1} text-anchor="end">V</text>
    <text x=${LEFT + width / 2} y=${TOP + height + 16} text-anchor="middle"
      class="cw-small">scores, never stored</text>`;
}

/** Where in a trip the tiles have come in, and where finished rows go out. */
const [COME, GO] = [0.45, 0.65];
/** The widest and highest tile that fits beside its queries, under its keys and values. */
const ROOM = CHIP.width - 2 * STRIP - 22;
/** As wide or high is a tile that does not fit: it reaches over the rim. */
const TOO_LARGE = 1.9 * ROOM;
/** From the corner of a tile on the chip to its queries, and up to its keys and to its values. */
const [TO_Q, TO_K, TO_V] = [STRIP + 4, 2 * STRIP + 14, STRIP + 10];

/** Where on the chip a tile lies: in its corner, or over its rim if it does not fit. */
function placeOnChip({ width, height }, { fits }) {
  const longest = Math.max(width, height);
  const scale = fits ? Math.min(1, ROOM / longest) : TOO_LARGE / longest;
  const [w, h] = [scale * width, scale * height];
  const [left, top] = [CHIP.x + TO_Q + 5, CHIP.y + TO_K + 8];
  return fits
    ? { left, top, w, h }
    : { left: left + (ROOM - w) / 2, top: top + (ROOM - h) / 2, w, h };
}

/** The room of the chip as a bar: what is taken, what is too much, and where the chip ends. */
function gauge(now) {
  const { held, most, whole, fits } = now.room;
  const [left, width, y, height] = [CHIP.x - 8, CHIP.width + 20, HEIGHT - 26, 7];
  const at = (bytes) => (width * bytes) / Math.max(whole, most);
  const inside = at(Math.min(held, most));
  return svg`<path d=${box(left, y, width, height)} fill="var(--cw-panel)"
      stroke="var(--cw-line)"></path>
    <path data-room="taken" d=${box(left, y, inside, height)} fill="var(--cw-edge)"></path>
    <path data-room="over" d=${fits ? "" : box(left + inside, y, at(held) - inside, height)}
      fill="var(--cw-warm)"></path>
    <path data-room="end" d="M${left + at(most)} ${y - 3}v${height + 6}" stroke="var(--cw-ink)"
      stroke-width="2"></path>
    <text class=${fits ? "cw-small" : "cw-tile-tight"} x=${left + width} y=${HEIGHT - 4}
      text-anchor="end">${roomTaken(now)}</text>
    ${
      fits
        ? ""
        : svg`<rect x=${CHIP.x} y=${CHIP.y} width=${CHIP.width} height=${CHIP.height} rx="8"
            fill="none" stroke="var(--cw-ink)" stroke-width="2" stroke-dasharray="5 4"></rect>
          <text class="cw-tile-tight" x=${CHIP.x + CHIP.width / 2} y="42"
            text-anchor="middle">✗ does not fit</text>`
    }`;
}

/** The tiles on the chip, or between it and memory. */
function onChip({ hand, shape, trip, weights, room }) {
  if (!hand) return "";
  const cell = cellOf(shape);
  const { x, y, width, height } = placeOf(hand, cell);
  const { left, top, w, h } = placeOnChip({ width, height }, room);
  const [come, go] = [Math.min(1, trip / COME), Math.max(0, (trip - GO) / (1 - GO))];
  const beyond = LEFT + shape[1] * cell + 6;
  const begins = hand.columns[0] === 0;
  const rowOf = (at) => ({ x: left, y: at, width: w, height: STRIP });
  const columnOf = (at) => ({ x: at, y: top, width: STRIP, height: h });
  const loads = [
    ["Q", { x: BESIDE, y, width: STRIP, height }, columnOf(left - TO_Q), begins ? come : 1],
    ["K", { x, y: KEYS_AT, width, height: STRIP }, rowOf(top - TO_K), come],
    ["V", { x, y: VALUES_AT, width, height: STRIP }, rowOf(top - TO_V), come],
  ];
  const load = ([name, from, to, share]) => {
    const at = onTheWay(from, to, share);
    const [x, y] = name === "Q" ? [to.x, top - 6] : [left + w + 5, to.y + STRIP - 1];
    return svg`<path data-load=${name} d=${path(at)} fill="var(--cw-warm)"
        stroke="var(--cw-paper)"></path>
      <text class="cw-small" x=${x} y=${y}>${share === 1 ? name : ""}</text>`;
  };
  const score = (
    weight,
    r,
    c,
  ) => svg`<rect x=${left + (c * w) / (hand.columns[1] - hand.columns[0])}
    y=${top + (r * h) / (hand.rows[1] - hand.rows[0])} width=${w / (hand.columns[1] - hand.columns[0])}
    height=${h / (hand.rows[1] - hand.rows[0])} fill="var(--cw-warm)" fill-opacity=${weight}></rect>`;
  const block = weights
    .slice(...hand.rows)
    .map((row, r) => row.slice(...hand.columns).map((weight, c) => score(weight, r, c)));
  const home = columnOf(left + w + 5);
  const output = hand.last ? onTheWay(home, { x: beyond, y, width: STRIP, height }, go) : home;
  return svg`<path d=${path({ x: left, y: top, width: w, height: h })} fill="var(--cw-paper)"
      stroke="var(--cw-edge)"></path>
    ${come === 1 ? block : ""} ${loads.map(load)}
    <path data-load="O" d=${path(output)} fill="var(--cw-accent)" stroke="var(--cw-paper)"
      fill-opacity=${hand.last ? 1 : 0.45}></path>`;
}

function grid({ shape: [queries, keys] }, cell, query_tile, key_tile) {
  const inner = (size, count) =>
    upTo(Math.ceil(count / size))
      .slice(1)
      .map((i) => i * size * cell);
  const down = inner(query_tile, queries).map((y) => `M${LEFT} ${TOP + y}h${keys * cell}`);
  const across = inner(key_tile, keys).map((x) => `M${LEFT + x} ${TOP}v${queries * cell}`);
  return down.join("") + across.join("");
}

/** The tiles that the plan leaves out: all of them lie behind the last visit of their queries. */
const skippedTiles = ({ plan, shape }) =>
  plan
    .filter(({ last }) => last)
    .map(({ rows, columns }) => ({ rows, columns: [columns[1], shape[1]] }))
    .filter(({ columns: [first, end] }) => first < end);

function scores(now, ui) {
  const { plan, step, hand, shape, causal, query_tile, key_tile } = now;
  const [cell, [queries, keys]] = [cellOf(shape), shape];
  const pathOf = (tiles) => tiles.map((tile) => tilePath(tile, cell)).join("");
  const border = box(LEFT, TOP, keys * cell, queries * cell);
  const treads = `v${cell}h${cell}`.repeat(queries - 1);
  const stairs = `M${LEFT + (keys - queries + 1) * cell} ${TOP}${treads}`;
  const at = (event) =>
    pointIn(event).map((x, axis) => Math.floor((x - (axis ? TOP : LEFT)) / cell));
  const point = (event) => choose(ui, at(event));
  const hold = ({ button: pressed, currentTarget, pointerId }) =>
    pressed === 0 && currentTarget.setPointerCapture(pointerId);
  const drag = (event) => event.currentTarget.hasPointerCapture(event.pointerId) && point(event);
  const { x, y, width, height } = placeOf(hand ?? NOTHING, cell);
  return svg`<g class="cw-handle" tabindex="0" role="slider" aria-label="Tile in hand"
    aria-valuemin="0" aria-valuemax=${plan.length} aria-valuenow=${step}
    aria-valuetext=${placeInWords(now)} @click=${point} @pointerdown=${hold} @pointermove=${drag}
    @keydown=${alongALine((move) => moveBy(ui, move))}>
    <path d=${border} fill="transparent"></path>
    <path data-layer="visited" d=${pathOf(plan.slice(0, Math.max(0, step - 1)))}
      fill="var(--cw-accent)" fill-opacity="0.3"></path>
    <path data-layer="skipped" d=${pathOf(skippedTiles(now))} fill="url(#${ui.id}-hatch)"></path>
    <path d=${border + grid(now, cell, query_tile, key_tile)} fill="none"
      stroke="var(--cw-edge)" stroke-opacity="0.6" stroke-dasharray="2 3"></path>
    <path d=${causal ? stairs : ""} fill="none" stroke="var(--cw-ink)" stroke-width="1.5"
      stroke-dasharray="3 3"></path>
    <rect data-layer="band" x=${x} y=${y} width=${width} height=${height} fill="none"
      stroke="var(--cw-warm)" stroke-width="3" visibility=${hand ? "visible" : "hidden"}></rect>
  </g>`;
}

/** The score matrix between its queries and outputs, beneath its keys and values, and the chip. */
export function picture(now, ui) {
  const { shape, weights } = now;
  const [queries, keys] = shape;
  const share = (length, of) => `${(100 * length) / of}%`;
  const [wide, high] = [keys, queries].map((count) => count * cellOf(shape));
  return html`<div class="cw-painted cw-tile-picture">
    <canvas aria-hidden="true" style="left: ${share(LEFT, WIDTH)}; top: ${share(TOP, HEIGHT)};
      width: ${share(wide, WIDTH)}; height: ${share(high, HEIGHT)}"
      ${inked(ui, weights, { width: keys, ink: "warm" })}></canvas>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}">
      <defs><pattern id="${ui.id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)">
        <path d="M0 0V6" stroke="var(--cw-edge)" stroke-width="2"></path>
      </pattern></defs>
      ${places(now.room.fits ? "chip" : "")} ${strips(now)} ${scores(now, ui)} ${onChip(now)} ${gauge(now)}
    </svg>
  </div>`;
}
