import { painted } from "../kit/painted.js";
import { dragging, pointIn } from "../kit/plane.js";
import { number } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

export const QUERY_INK = "var(--cw-series-3)";
export const KEY_INK = "var(--cw-series-2)";

const MATRIX = 288;
const TABLE = 72;
const MARGIN = 42;
const GAP = 8;
const START = MARGIN + TABLE + GAP;
const SIDE = START + MATRIX + 2;
const FOOT = 18;
const CORNER = MARGIN + TABLE / 2;
const MIDDLE = START + MATRIX / 2;

/** A matrix as pixels: the colour is the sign, its depth the size. */
function matrix(ui, name, rows, full, [left, top, wide, tall]) {
  const [height, width] = [rows.length, rows[0].length];
  const paint = (context) => {
    const [positive, negative] = [ui.theme.rgb("warm"), ui.theme.rgb("accent")];
    const pixels = new ImageData(width, height);
    rows.flat().forEach((value, i) => {
      const depth = Math.round((255 * Math.abs(value)) / full);
      pixels.data.set([...(value < 0 ? negative : positive), depth], 4 * i);
    });
    context.putImageData(pixels, 0, 0);
  };
  const across = (length) => `${(100 * length) / SIDE}%`;
  const down = (length) => `${(100 * length) / (SIDE + FOOT)}%`;
  const place = `left: ${across(left)}; top: ${down(top)}; width: ${across(wide)}; height: ${down(tall)}`;
  return html`<canvas data-layer=${name} aria-hidden="true" style=${place}
    ${painted(ui, { width, height, inputs: [rows], paint, cells: true })}></canvas>`;
}

const small = (x, y, anchor, text) =>
  svg`<text class="cw-small" x=${x} y=${y} text-anchor=${anchor}>${text}</text>`;
const reading = (name, y, text) =>
  svg`<text class="cw-small" data-reading=${name} x=${CORNER} y=${y}
    text-anchor="middle">${text}</text>`;

function axes(tokens, pairs, middle) {
  const step = [1, 2, 4, 8, 16].find((s) => tokens / s <= 8);
  const ticks = upTo(tokens).filter((position) => position % step === 0);
  return svg`${ticks.map((position) => [
    small(MARGIN - 6, middle(position) + 4, "end", position),
    small(middle(position), MARGIN - 8, "middle", position),
  ])}
    <text class="cw-small cw-pos-tip" x=${MIDDLE} y="12" text-anchor="middle"
      style="fill: ${KEY_INK}">key at t →</text>
    <text class="cw-small cw-pos-tip" transform="translate(12 ${MIDDLE}) rotate(-90)"
      text-anchor="middle" style="fill: ${QUERY_INK}">← query at s</text>
    ${small(CORNER, SIDE + 14, "middle", `${2 * pairs} features`)}
    ${small(MIDDLE, SIDE + 14, "middle", "score of query and key")}`;
}

function outline(box, ink) {
  const rect = (stroke, width) =>
    svg`<rect x=${box.x} y=${box.y} width=${box.width} height=${box.height} rx="1.5" fill="none"
      stroke=${stroke} stroke-width=${width}></rect>`;
  return [rect("var(--cw-paper)", 5), rect(ink, 2)];
}

/** The chosen row and column, the lines from them to their score, and the scores as far apart. */
function chosen({ s, t, pair, tokens, pairs }, cell, middle) {
  const [x, y] = [middle(t), middle(s)];
  const size = Math.max(11, cell + 3);
  const across = `M${MARGIN + TABLE + 1} ${y}H${x - size / 2}`;
  const down = `M${x} ${MARGIN + TABLE + 1}V${y - size / 2}`;
  const [first, left] = [Math.min(s, t), tokens - 1 - Math.max(s, t)];
  const wide = TABLE / pairs;
  const from = MARGIN + pair * wide;
  return svg`
    <path d=${across + down} stroke="var(--cw-paper)" stroke-width="4" stroke-opacity="0.7"></path>
    <path d=${`M${middle(t - first)} ${middle(s - first)}L${middle(t + left)} ${middle(s + left)}`}
      stroke="var(--cw-ink)" stroke-dasharray="2 3" stroke-opacity="0.7"></path>
    <path d=${across} stroke=${QUERY_INK} stroke-width="1.5"></path>
    <path d=${down} stroke=${KEY_INK} stroke-width="1.5"></path>
    ${outline({ x: MARGIN, y: y - cell / 2, width: TABLE, height: cell }, QUERY_INK)}
    ${outline({ x: x - cell / 2, y: MARGIN, width: cell, height: TABLE }, KEY_INK)}
    <path d=${`M${from} ${START - 4}h${wide}M${START - 4} ${from}v${wide}`} stroke="var(--cw-ink)"
      stroke-width="3"></path>`;
}

function handle({ s, t, tokens }, go, cell, middle) {
  const size = Math.max(11, cell + 3);
  const ring = (stroke, width) =>
    svg`<rect x=${-size / 2} y=${-size / 2} width=${size} height=${size} rx="3" fill="none"
      stroke=${stroke} stroke-width=${width}></rect>`;
  const within = (position) => clamp(position, 0, tokens - 1);
  const grip = dragging({
    moveTo: (point) => {
      const [key, query] = point.map((at) => within(Math.floor((at - START) / cell)));
      go({ s: query, t: key });
    },
    moveBy: ([right, up]) => go({ s: within(s - up), t: within(t + right) }),
  });
  return svg`<g class="cw-handle" tabindex="0" role="button"
    aria-roledescription="movable pair of positions"
    aria-label="query at ${s}, key at ${t}; arrow keys move them"
    transform="translate(${middle(t)} ${middle(s)})"
    @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="20" fill="transparent"></circle>
    ${ring("var(--cw-paper)", 5)} ${ring("var(--cw-ink)", 2.5)}
  </g>`;
}

/**
 * Where a point falls: the matrix tells both positions, a table one of them and a pair.
 * @param {number[]} point
 */
function placeAt([x, y], { tokens, pairs }, cell) {
  const position = (at) => Math.floor((at - START) / cell);
  const feature = (at) => Math.floor(((at - MARGIN) / TABLE) * pairs);
  const within = (index, count) => index >= 0 && index < count;
  const [s, t] = [position(y), position(x)];
  if (within(s, tokens) && within(t, tokens)) return { s, t };
  if (within(s, tokens) && within(feature(x), pairs)) return { s, pair: feature(x) };
  return within(t, tokens) && within(feature(y), pairs) ? { t, pair: feature(y) } : {};
}

/**
 * The query's rows times the key's columns: row s times column t is the score that stands in (s, t).
 * @param {any} now
 * @param {any} ui
 * @param {string} product the score as a formula
 * @param {(chosen: { s?: number, t?: number, pair?: number }) => void} go
 */
export function productPicture(now, ui, product, go) {
  const { tokens, pairs, queries, keyColumns, scores, s, t } = now;
  const { fullRow, fullScore } = now.scales;
  const cell = MATRIX / tokens;
  const middle = (position) => START + (position + 0.5) * cell;
  const choose = (event) => go(placeAt(pointIn(event), now, cell));
  const sweep = (event) => {
    const pressed = event.pointerType === "mouse" && event.buttons === 1;
    if (pressed && !event.target.closest(".cw-handle")) choose(event);
  };
  const score = number(scores[s][t]);
  return html`<div class="cw-painted cw-pos-product">
    ${matrix(ui, "queries", queries, fullRow, [MARGIN, START, TABLE, MATRIX])}
    ${matrix(ui, "keys", keyColumns, fullRow, [START, MARGIN, MATRIX, TABLE])}
    ${matrix(ui, "scores", scores, fullScore, [START, START, MATRIX, MATRIX])}
    <svg viewBox="0 0 ${SIDE} ${SIDE + FOOT}" role="group" aria-label="Scores of all positions"
      @click=${choose} @pointermove=${sweep}>
      ${axes(tokens, pairs, middle)} ${small(CORNER, MARGIN - 18, "middle", "score")}
      ${reading("product", MARGIN + 1, product)}
      <text class="cw-pos-score" data-reading="score" x=${CORNER} y=${MARGIN + 33}
        text-anchor="middle" style=${score.length > 5 ? "font-size: 20px" : "font-size: 24px"}>${score}</text>
      ${reading("difference", MARGIN + 56, `s − t = ${number(s - t, 0)}`)}
      ${chosen(now, cell, middle)} ${handle(now, go, cell, middle)}
    </svg>
  </div>`;
}
