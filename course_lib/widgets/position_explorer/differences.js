import { linear } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";

/** And on a telephone, where all else stands above it: a dot and its number still have room. */
const [HEIGHT, LOW, NARROW] = [210, 158, 400];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 10, 8, 26];

const small = (x, y, anchor, text, shown = true) =>
  svg`<text class="cw-small" x=${x} y=${y} text-anchor=${anchor}
    visibility=${shown ? "visible" : "hidden"}>${text}</text>`;

/** What depends on the scores alone: the scales, and all dots as one path. */
function groundOf({ scores, differences, tokens, scales }, [width, height]) {
  const { least, most } = scales;
  const range = most - least || 1;
  const heightOf = linear([most, most - range], [TOP + 5, height - BOTTOM - 5]);
  const across = linear([1 - tokens, tokens - 1], [LEFT, width - RIGHT]);
  const at = (difference, score) =>
    `${across(difference).toFixed(2)} ${heightOf(score).toFixed(2)}`;
  const dots = scores.map((row, s) => row.map((score, t) => `M${at(s - t, score)}h0`).join(""));
  const mean = `M${differences.map((d, i) => at(i - tokens + 1, d.mean)).join("L")}`;
  return { heightOf, across, at, every: dots.join(""), mean };
}

/**
 * Each pair of positions as a dot: its score against how far the query stands behind the key.
 * @param {any} now
 * @param {any} ui
 * @param {number} width
 */
export function differenceChart(now, ui, width) {
  const { s, t, scores, tokens } = now;
  const { least, most } = now.scales;
  const height = ui.width("everything", NARROW) < NARROW ? LOW : HEIGHT;
  const ground = ui.memo("differences", [scores, width, height], () =>
    groundOf(now, [width, height]),
  );
  const { heightOf, across, at } = ground;
  const difference = s - t;
  const column = Math.max((width - LEFT - RIGHT) / (2 * tokens - 2), 10);
  const alike = upTo(tokens).filter((i) => scores[i][i - difference] !== undefined);
  const dots = alike.map((i) => `M${at(difference, scores[i][i - difference])}h0`);
  // Two digits of the span, however little the scores differ.
  const digits = clamp(1 - Math.floor(Math.log10(most - least || 1)), 1, 6);
  const level = (value, shown) =>
    small(LEFT - 6, heightOf(value) + 4, "end", number(value, digits), shown);
  const clear = (value) => Math.abs(heightOf(value) - heightOf(0)) >= 14;
  const tick = (value, anchor) => {
    const apart = Math.abs(across(value) - across(difference)) >= 28;
    return small(across(value), height - 8, anchor, number(value, 0), apart);
  };
  // Many dots that stay lie in a layer of their own, so that they are not painted anew.
  return html`<div class="cw-over cw-pos-chart" aria-hidden="true">
    <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height}>
      <path d="M${LEFT} ${heightOf(0)}H${width - RIGHT}M${across(0)} ${TOP}V${height - BOTTOM}"
        stroke="var(--cw-line)"></path>
      <path d=${ground.mean} stroke="var(--cw-edge)"></path>
      <path class="cw-pos-dots" data-layer="every" d=${ground.every} stroke="var(--cw-edge)"
        stroke-width=${clamp(112 / tokens, 2, 3.5)}></path>
    </svg>
    <svg viewBox="0 0 ${width} ${height}" width=${width} height=${height}>
      <rect x=${across(difference) - column / 2} y=${TOP} width=${column}
        height=${height - TOP - BOTTOM} fill="var(--cw-ink)" fill-opacity="0.08"></rect>
      <path class="cw-pos-dots" data-layer="alike" d=${dots.join("")} stroke="var(--cw-ink)"
        stroke-width="4.5"></path>
      <circle data-layer="here" r="6.5" cx=${across(difference).toFixed(2)}
        cy=${heightOf(scores[s][t]).toFixed(2)} fill="none" stroke="var(--cw-warm)"
        stroke-width="3"></circle>
      ${level(most, clear(most))} ${level(least, clear(least))} ${level(0, true)}
      ${tick(1 - tokens, "middle")} ${tick(0, "middle")} ${tick(tokens - 1, "end")}
      <text class="cw-small cw-strong cw-halo" x=${across(difference)} y=${height - 8}
        text-anchor="middle">${number(difference, 0)}</text>
    </svg>
  </div>`;
}
