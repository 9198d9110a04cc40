// A jet as a detector sees it: where each particle flies, seen from the jet's axis.

import { series } from "../kit/controls.js";
import { plane } from "../kit/plane.js";
import { ticks } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { clamp } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";

/** The radius of the jets, as they were clustered. */
export const RADIUS = 0.8;
const [LEFT, FOOT, EDGE] = [32, 34, 2];
const INSET = 26;
const REACH = [0.2, 0.3, 0.45, 0.6, 0.85];
const MARGIN = 1.12;
const HARD = 0.05; // of the width, for a particle of 100 GeV
const [LEAST, MOST] = [2.6, 0.12];
const GRIP = 24;
const [THICK, FAINT] = [24, 0.5];
const SIGNED = 6.5;

/** Around (0, 0), each with the area of a circle of radius 1. */
const SHAPES = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z",
  "M-0.886 -0.886H0.886V0.886H-0.886Z",
  "M0 -1.253L1.253 0L0 1.253L-1.253 0Z",
  "M0 -1.555L1.347 0.778H-1.347Z",
  "M0 1.555L1.347 -0.778H-1.347Z",
];
const MIDDLES = [7, 7, 7, 8, 6]; // of a sample, where its shape stands in the middle
const COLOURS = [0, 4, 1, 2, 3];

/** @param {number} kind of particle */
export const colourOf = (kind) => series(COLOURS[kind]);

/**
 * The plane on a picture so wide, and where each particle stands. All particles are within it,
 * until the reader enlarges a part, about the direction (eta, phi).
 * @param {any} jet
 * @param {number} width
 * @param {any} part
 */
export function fieldOf({ places, particles }, width, { zoom, eta, phi }) {
  const farthest = MARGIN * Math.max(...places.flat().map(Math.abs));
  const reach = REACH.find((r) => r >= farthest) ?? farthest;
  const side = width - LEFT - EDGE;
  const height = side + FOOT + EDGE;
  const half = reach / zoom;
  const middle = [eta, phi].map((value) => clamp(value, half - reach, reach - half));
  const [x, y] = middle.map((value) => [value - half, value + half]);
  const inner = plane({ x, y, width: side, height: side });
  const toPixel = (place) => {
    const [x, y] = inner.toPixel(place);
    return [LEFT + x, EDGE + y];
  };
  const radius = (pt) => HARD * width * Math.sqrt(pt / 100);
  return {
    ...{ width, height, side, half, zoom, middle, toPixel },
    at: ([px, py]) => inner.toData([px - LEFT, py - EDGE]),
    inFrame: ([u, v]) => u >= LEFT && u <= LEFT + side && v >= EDGE && v <= EDGE + side,
    points: places.map(toPixel),
    radii: particles.map(({ pt }) => clamp(radius(pt), LEAST, MOST * width)),
  };
}

/**
 * The particle nearest to a point of the picture, if one is near: −1 if none is.
 * @param {any} field
 * @param {number[]} point
 */
export function nearest({ points, radii, inFrame }, [x, y]) {
  const far = points.map((point, i) => {
    const apart = Math.hypot(x - point[0], y - point[1]);
    return inFrame(point) ? Math.max(0, apart - radii[i]) : Infinity;
  });
  // On top of one another: the one whose middle is nearest.
  const middle = points.map(([u, v]) => Math.hypot(x - u, y - v));
  const order = points.map((_, i) => i).sort((a, b) => far[a] - far[b] || middle[a] - middle[b]);
  return far[order[0]] <= GRIP ? order[0] : -1;
}

/** How much of the jet is within the frame, in small: all of it, and the frame. */
function locator({ side, half, middle }) {
  const [x, y] = [LEFT + side - INSET - 6, EDGE + INSET + 6];
  const [r, across, up] = [half, ...middle].map((value) => (INSET * value) / RADIUS);
  return svg`<circle cx=${x} cy=${y} r=${INSET} fill="none"
      stroke="var(--cw-edge)" stroke-dasharray="3 3"></circle>
    <rect style="fill: none" stroke="var(--cw-ink)" x=${x + across - r} y=${y - up - r}
      width=${2 * r} height=${2 * r}></rect>
    <text x=${x} y=${y + INSET + 13} text-anchor="middle">jet: ${RADIUS}</text>`;
}

/** Both axes, and the edge of the jet: in the picture, or in small where that is nearer. */
export function ground(field) {
  const { side, half, zoom, middle, toPixel } = field;
  const [x, y] = toPixel([0, 0]);
  const r = (RADIUS / (2 * half)) * side;
  const [across, up] = middle.map((at) => ticks(at - 0.9 * half, at + 0.9 * half, 5));
  const digits = Math.max(1, Math.ceil(-Math.log10(across[1] - across[0]) - 1e-9));
  const text = (value) => number(value, digits);
  const upright = (value) => {
    const [px] = toPixel([value, 0]);
    return svg`<path d="M${px} ${EDGE}V${EDGE + side}"></path>
      <text x=${px} y=${EDGE + side + 14} text-anchor="middle">${text(value)}</text>`;
  };
  const level = (value) => {
    const [, py] = toPixel([0, value]);
    return svg`<path d="M${LEFT} ${py}H${LEFT + side}"></path>
      <text x=${LEFT - 5} y=${py + 4} text-anchor="end">${text(value)}</text>`;
  };
  return svg`<g class="cw-axes" aria-hidden="true">
    <rect x=${LEFT} y=${EDGE} width=${side} height=${side} rx="4"></rect>
    ${across.map(upright)}${up.map(level)}
    <text x=${LEFT + side} y=${EDGE + side + 29}
      text-anchor="end">↑ Δφ, around the beam; Δη, along it →</text>
    ${
      zoom === 1 && r < side / 2
        ? svg`<circle cx=${x} cy=${y} r=${r} fill="none" stroke="var(--cw-edge)"
      stroke-dasharray="3 4"></circle>`
        : locator(field)
    }
  </g>`;
}

/** What is drawn in the frame alone. */
export const framed = (id, { side }, drawn) => svg`<clipPath id=${id}>
    <rect x=${LEFT} y=${EDGE} width=${side} height=${side}></rect></clipPath>
  <g clip-path="url(#${id})">${drawn}</g>`;

/** Whom a particle looks at: a line the thicker the more, and a ring for itself. */
export function links({ links: all, at, field: { points, radii } }) {
  const link = ({ to, weight }) => {
    const width = Math.max(FAINT, THICK * weight);
    const look = { width, opacity: 0.15 + 0.4 * Math.min(1, 5 * weight) };
    if (to === at) {
      const [x, y] = points[at];
      return svg`<circle data-to=${to} data-weight=${weight} cx=${x} cy=${y} fill="none"
        r=${radii[at] + 5 + look.width / 2} stroke-width=${look.width}
        stroke-opacity=${look.opacity}></circle>`;
    }
    return svg`<path data-to=${to} data-weight=${weight} d="M${points[at].join(" ")}L${points[to].join(" ")}"
      stroke-width=${look.width} stroke-opacity=${look.opacity}></path>`;
  };
  return svg`<g aria-hidden="true" fill="none" stroke="var(--cw-ink)" stroke-linecap="round"
    pointer-events="none">${all.map(link)}</g>`;
}

/** A particle about the origin: in its colour and shape, with its charge if there is room. */
export function mark({ kind, charge }, radius) {
  const arm = 0.5 * radius;
  const sign = charge > 0 ? `M${-arm} 0H${arm}M0 ${-arm}V${arm}` : `M${-arm} 0H${arm}`;
  return svg`<path d=${SHAPES[kind]} transform="scale(${radius})" fill=${colourOf(kind)}
      stroke="var(--cw-paper)" stroke-width="1" vector-effect="non-scaling-stroke"></path>
    ${
      charge && radius >= SIGNED
        ? svg`<path d=${sign} stroke="var(--cw-paper)" stroke-width="1.6"></path>`
        : nothing
    }`;
}

/** Where a particle was taken away, or has not come yet. */
export const hollow = ({ kind }, radius, isGone) =>
  svg`<path d=${SHAPES[kind]} transform="scale(${radius})" fill="none"
    stroke=${isGone ? "var(--cw-ink)" : "var(--cw-edge)"} stroke-width=${isGone ? 1.5 : 0.8}
    stroke-dasharray=${isGone ? "3 2" : "1.5 2"} vector-effect="non-scaling-stroke"></path>`;

/** A particle's shape beside a word. @param {number} kind */
export const sample = (kind) => svg`<svg viewBox="0 0 14 14" class="cw-j-sample"
  aria-hidden="true"><path d=${SHAPES[kind]} transform="translate(7 ${MIDDLES[kind]}) scale(4.4)"
  fill=${colourOf(kind)}></path></svg>`;
