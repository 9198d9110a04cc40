// Several tokens may come next: what each gets, and where the other heads of the layer look.

import { textWidth } from "../kit/lettering.js";

import { number, percent, visible } from "../kit/text.js";
import { ranking, upTo } from "../maths/numerics.js";

import { nothing, svg } from "../vendor/lit-html/lit-html.js";

/** How wide the link of a whole weight is. */
export const WIDEST = 13;
/** A lighter look of another head is not drawn. */
const LEAST = 0.1;
/** How high the arcs of other heads are, as a share of those of the chosen one. */
const LOW = 0.6;

/** From a query to a key, `lift` times as high as usual; and the height of its top. */
export function arc({ reach, cell, names, across, ahead }, query, key, lift = 1) {
  const [from, to] = [across(ahead + query), across(key)];
  const distance = Math.abs(to - from) / (cell * names.length);
  const rise = lift * (18 + (reach - 26) * distance ** 0.6);
  const top = reach - (4 / 3) * rise;
  const bulge = from === to ? Math.min(14, 0.7 * cell) : 0;
  const d = `M${from} ${reach}C${from - bulge} ${top} ${to + bulge} ${top} ${to} ${reach}`;
  return { d, middle: [(from + to) / 2, reach - rise] };
}

/** Above the full loop of a token that looks at itself: first the chosen head's number. */
const [OWN_ABOVE, OTHERS_ABOVE] = [28, 46];
const [TYPE, LINE, AROUND] = [12, 15, 4];
/** The lowest that a number stands above the tokens. */
const LOWEST = 4;

/** Numbers on lines of their own, each as near to its place as those before it leave room. */
function apart(numbers, taken, lowest) {
  const placed = [...taken];
  return numbers.map((one) => {
    const wide = textWidth(one.text, TYPE) + AROUND;
    const free = (y) =>
      placed.every(
        (other) =>
          Math.abs(other.x - one.x) >= (other.wide + wide) / 2 || Math.abs(other.y - y) >= LINE,
      );
    const lines = upTo(Math.floor((lowest - TYPE) / LINE) + 1).map((n) => TYPE + n * LINE);
    const near = [one.y, ...lines].sort((a, b) => Math.abs(a - one.y) - Math.abs(b - one.y));
    const y = near.find(free) ?? one.y;
    placed.push({ x: one.x, y, wide });
    return { ...one, y };
  });
}

/** Which of the other heads look where: [weight, key]. */
const looksOf = ({ heard, head }) =>
  heard.flatMap((row, one) =>
    one === head || !row ? [] : row.flatMap((w, key) => (w < LEAST ? [] : [[w, key]])),
  );

const greyName = ({ heard, head }) =>
  `grey: ${heard.length > 2 ? "the other heads" : `head ${2 - head}`}`;

/**
 * How hard the chosen head looks, in its colour, where other heads are drawn too; their numbers
 * stand at the key alone at which the hand points, for there is no room for all.
 */
export function numbers(now) {
  const { heard, row, layout, pointed } = now;
  if (heard.length < 2) return nothing;
  const { reach, left } = layout;
  const at = ([weight, key], kind, above, lift) => {
    const [x, y] = arc(layout, pointed.query, key, lift).middle;
    const own = key === layout.ahead + pointed.query ? reach - above : Math.max(TYPE, y + 4);
    return { x, y: own, kind, text: number(weight, 3) };
  };
  const own = (row ?? []).flatMap((w, key) => (w < LEAST ? [] : [at([w, key], "own", OWN_ABOVE)]));
  const others = looksOf(now)
    .filter(([, key]) => key === pointed.key)
    .map((look) => at(look, "others", OTHERS_ABOVE, LOW));
  const named = textWidth(greyName(now), TYPE);
  const taken = [{ x: left + named / 2, y: 14, wide: named }];
  return apart([...own, ...others], taken, reach - LOWEST).map(
    ({ x, y, kind, text }) => svg`<text class="cw-halo cw-small ${kind === "own" ? "cw-own" : ""}"
      x=${x} y=${y} text-anchor="middle">${text}</text>`,
  );
}

/** Where the other heads look, in grey, and how to tell them from the chosen one. */
export function elsewhere(now) {
  const { heard, layout, pointed } = now;
  if (heard.length < 2) return nothing;
  return svg`<text class="cw-small" x=${layout.left} y="14">${greyName(now)}</text>
    <g class="cw-elsewhere" fill="none" stroke="var(--cw-muted)" stroke-opacity="0.5">
      ${looksOf(now).map(
        ([weight, key]) => svg`<path d=${arc(layout, pointed.query, key, LOW).d}
          stroke-width=${WIDEST * weight}></path>`,
      )}</g>`;
}

/** What is guessed after the last token, and what each rival gets; before it nothing. */
export function answer({ expected, rivals, tokens, keys, heard, pointed: { query } }) {
  if (query < tokens.length - 1) return "";
  const [guess] = expected[query];
  const most = heard.map((row) => row && keys[ranking(row)[0]]);
  const told = expected[query].filter(({ name }) => rivals.includes(name) && name !== guess.name);
  const parts = told.map(({ name, probability }) => {
    const looking = most.flatMap((found, head) => (found === name ? [head + 1] : []));
    const who = `head${looking.length > 1 ? "s" : ""} ${looking.join(" and ")}`;
    const but = looking.length
      ? `, though ${who} look${looking.length > 1 ? "" : "s"} at it most`
      : "";
    return `${visible(name)} gets ${percent(probability)}${but}.`;
  });
  return [`Guessed: ${visible(guess.name)}, ${percent(guess.probability)}.`, ...parts].join(" ");
}
