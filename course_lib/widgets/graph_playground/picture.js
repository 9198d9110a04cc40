// A molecule as a chemist draws it: a ring about each atom shows what it knows, dots on the bonds
// what it says.

import { plane } from "../kit/plane.js";
import { distances } from "../maths/molecule.js";
import { clamp, upTo } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { bondLength, distance, REACH, radiusOf } from "./editing.js";

/** @typedef {[number, string][]} Mix shares of a whole, each with its colour */

const [ACROSS, UP] = REACH;
const CARBON = 0.7;
const RING = 0.42;
const LANE = 0.42;
const TAIL = 0.22; // of a bond
const AROMATIC = 4;
const GRIP = 0.3; // of a bond, at either end, belongs to the atom there
const TAG = 12;
/** Between an atom and the rim of a picture. */
const RIM = 0.8;
const DIRECTIONS = 12;
const SIGNS = { "-1": "⁻", 0: "", 1: "⁺" };

/** @param {string} element */
export const elementColour = (element) => `var(--cw-el-${element})`;
/** @param {number} colour of Weisfeiler and Lehman */
export const classColour = (colour) => `oklch(var(--cw-tone) ${(40 + colour * 137.5) % 360})`;

/** The part of the field that holds all atoms of some drawings. */
export function partFor(drawings) {
  const far = drawings.flatMap(({ place }) =>
    place.flatMap(([x, y]) => [(Math.abs(x) + RIM) / ACROSS, (Math.abs(y) + RIM) / UP]),
  );
  return Math.min(1, Math.ceil(20 * Math.max(...far)) / 20);
}

/**
 * Where a drawing stands on a picture so wide of a part of the field, and how large its atoms are there.
 * @param {import("../maths/molecule.js").Drawing} drawing
 * @param {number} width
 */
export function fieldOf(drawing, width, part = 1) {
  const height = (width * UP) / ACROSS;
  const [x, y] = [ACROSS, UP].map((reach) => [-part * reach, part * reach]);
  const field = plane({ x, y, width, height });
  const bond = (bondLength(drawing) * width) / (2 * ACROSS * part);
  const radius = radiusOf(drawing, width / part);
  const radii = drawing.element.map((e) => (e === "C" ? CARBON : 1) * radius);
  return {
    ...{ width, height, part, field, radius, radii },
    points: drawing.place.map(field.toPixel),
    reach: clamp(0.45 * bond, radius + 2, 24),
  };
}

/** The last atom at a share of its way: it swings in about the atom that it is bonded with. */
export function swung(place, bondsAt, share) {
  const { points } = place;
  const to = bondsAt.at(-1)?.[0]?.[0];
  if (share === 1 || to === undefined) return place;
  const left = (1 - share) ** 2;
  const [[x, y], [u, v]] = [points[to], points.at(-1)];
  const [c, s] = [Math.cos(2 * left), Math.sin(2 * left)].map((part) => part * (1 + left));
  const spot = [x + c * (u - x) - s * (v - y), y + s * (u - x) + c * (v - y)];
  return { ...place, points: points.with(-1, spot) };
}

/** @returns {number[]} */
const across = ([x, y], [u, v], by) => {
  const length = Math.hypot(u - x, v - y) || 1;
  return [(by * (y - v)) / length, (by * (u - x)) / length];
};
/** @returns {number[]} */
const between = (/** @type {number[]} */ [x, y], /** @type {number[]} */ [u, v], share) => [
  x + share * (u - x),
  y + share * (v - y),
];
/** @returns {number[]} */
const plus = (/** @type {number[]} */ [x, y], /** @type {number[]} */ [u, v]) => [x + u, y + v];

/** From where to where a line goes beside a bond, shortened by shares of its length. */
function beside(a, b, by, cut = 0) {
  const aside = across(a, b, by);
  const [from, to] = [cut, 1 - cut].map((share) => plus(between(a, b, share), aside));
  return `M${from.join(" ")}L${to.join(" ")}`;
}

/** On which side of a bond its ring lies, or most other atoms: 1, −1, or 0 if neither. */
function fullerSide([i, j], bondsAt, points) {
  const [[x, y], [u, v]] = [points[i], points[j]];
  const nearer = (from, to) => {
    const far = distances(bondsAt, from, [i, j]);
    const others = bondsAt[to].map(([k]) => k).filter((k) => k !== from);
    return far[to] < Infinity ? others.filter((k) => far[k] < far[to]) : others;
  };
  const side = [...nearer(i, j), ...nearer(j, i)].reduce((sum, k) => {
    const [p, q] = points[k];
    return sum + Math.sign(Math.round((u - x) * (q - y) - (v - y) * (p - x)));
  }, 0);
  return Math.sign(side);
}

function bondLines([i, j, order], bondsAt, points, gap) {
  const [a, b] = [points[i], points[j]];
  const side = fullerSide([i, j], bondsAt, points);
  if (order === 1) return { solid: beside(a, b, 0) };
  if (order === 3) return { solid: [-gap, 0, gap].map((by) => beside(a, b, by)).join("") };
  if (order === 2 && !side) return { solid: beside(a, b, gap / 2) + beside(a, b, -gap / 2) };
  const inner = beside(a, b, (side || 1) * gap, 0.16);
  return order === AROMATIC
    ? { solid: beside(a, b, 0), dashed: inner }
    : { solid: beside(a, b, 0) + inner };
}

/** The bonds of a drawing, for one hand to take and another to look at. */
export function skeleton({ bonds }, bondsAt, { points, radius }) {
  return bonds.map((bond) => {
    const { solid, dashed } = bondLines(bond, bondsAt, points, 0.36 * radius);
    const width = clamp(radius / 7, 1.3, 2.2);
    return svg`<g fill="none" stroke="var(--cw-ink)" stroke-width=${width}><path d=${solid}></path>${
      dashed ? svg`<path d=${dashed} stroke-dasharray="3 3"></path>` : nothing
    }</g>`;
  });
}

/** The middles of all bonds, to be taken by a hand even where an atom's reach covers them. */
export function bondGrips({ bonds }, { points, radius }) {
  return bonds.map(([i, j]) => {
    const cut = clamp((radius + 3) / distance(points[i], points[j]), GRIP, 0.5);
    return svg`<path data-bond="${i} ${j}" d=${beside(points[i], points[j], 0, cut)}
      stroke="transparent" stroke-width=${2 * radius}></path>`;
  });
}

/**
 * How far a point is from a line between two others.
 * @param {number[]} point
 * @param {number[]} a
 * @param {number[]} b
 */
function fromLine(point, a, b) {
  const [x, y] = a;
  const [u, v] = [b[0] - x, b[1] - y];
  const share = ((point[0] - x) * u + (point[1] - y) * v) / (u * u + v * v || 1);
  return distance(point, between(a, b, clamp(share, 0, 1)));
}

/** Beside an atom, where bonds, other atoms and the rim leave most room: what it is called. */
export function nameTag(i, name, { bonds }, { points, radius, width, height }) {
  const [x, y] = points[i];
  const half = 0.3 * TAG * name.length;
  const clear = (/** @type {number[]} */ spot) =>
    Math.min(
      ...bonds.map(([a, b]) => fromLine(spot, points[a], points[b])),
      ...points.map((point, k) => (k === i ? Infinity : distance(spot, point) - radius)),
      ...[spot[0], width - spot[0], spot[1], height - spot[1]].map((rim) => rim - TAG / 2),
    );
  const room = (/** @type {number[]} */ [u, v]) =>
    Math.min(...[-half, 0, half].map((aside) => clear([u + aside, v])));
  const spots = upTo(DIRECTIONS).map((k) => {
    const angle = (2 * Math.PI * k) / DIRECTIONS;
    const away = radius + TAG * (0.9 + 0.4 * Math.abs(Math.cos(angle)));
    return [x + away * Math.cos(angle), y + away * Math.sin(angle)];
  });
  // In whole pixels, lest a name leap to and fro between places that are as good.
  const rooms = spots.map((spot) => Math.round(room(spot)));
  const [u, v] = spots[rooms.indexOf(Math.max(...rooms))];
  return svg`<text class="cw-g-tag cw-halo" x=${u} y=${v} dy="0.36em" aria-hidden="true"
    text-anchor="middle" pointer-events="none" style="font-size: ${TAG}px">${name}</text>`;
}

/**
 * A ring, or a full disc, of which each colour has its share.
 * @param {Mix} mix
 * @param {number} outer
 * @param {number} thickness
 */
export function pie(mix, outer, thickness) {
  const total = mix.reduce((sum, [share]) => sum + share, 0) || 1;
  let start = 0;
  return mix.map(([amount, colour]) => {
    const share = amount / total;
    const [from, dashes] = [-start, share < 0.9995 ? `${share} 1` : "none"];
    start += share;
    return share > 0
      ? svg`<circle r=${outer - thickness / 2} fill="none" stroke=${colour} data-share=${share}
          stroke-width=${thickness} pathLength="1" stroke-dasharray=${dashes}
          stroke-dashoffset=${from} transform="rotate(-90)"></circle>`
      : nothing;
  });
}

/**
 * An atom about the origin: its ring, and its letter or number.
 * @param {Mix} mix
 * @param {number} radius
 * @param {string} text
 */
export function disc(mix, radius, text) {
  const size = clamp(0.86 * radius, 10.5, 15);
  return svg`<circle r=${radius} fill="var(--cw-paper)"></circle>${pie(mix, radius, RING * radius)}
    <text text-anchor="middle" dy="0.36em" style="font-size: ${size}px"
      class="cw-halo">${text}</text>`;
}

/** What is written in an atom: a carbon goes without saying. */
export const letterOf = ({ element, charge }, i) =>
  element[i] === "C" && !charge[i] ? "" : `${element[i]}${SIGNS[charge[i]]}`;

/** The atoms that one atom has heard of after so many rounds, as one soft shape. */
export function receptiveField({ drawing, far, rounds, place }) {
  const { points, radius } = place;
  const heard = upTo(points.length).filter((i) => far[i] <= rounds);
  const along = drawing.bonds.filter(
    ([i, j]) => Math.min(far[i], far[j]) < rounds && Math.max(far[i], far[j]) <= rounds,
  );
  const d = [
    ...heard.map((i) => `M${points[i].join(" ")}h0.01`),
    ...along.map(([i, j]) => beside(points[i], points[j], 0)),
  ];
  return svg`<path d=${d.join("")} fill="none" stroke="var(--cw-accent)"
    stroke-width=${3.4 * radius} stroke-linecap="round" opacity="0.2"></path>`;
}

/**
 * What every atom says to its neighbours, on its way: a dot the larger the more it counts, with the
 * way behind it. What the chosen atom hears stands out.
 * @param {any} now
 * @param {(i: number) => Mix} mixOf
 * @param {number} share of the way
 */
export function messages({ edges, weights, place, at }, mixOf, share) {
  const { points, radius } = place;
  return edges.map(([s, t], e) => {
    const aside = across(points[s], points[t], LANE * radius);
    const from = plus(between(points[s], points[t], Math.max(0, share - TAIL)), aside);
    const [x, y] = plus(between(points[s], points[t], share), aside);
    const size = clamp(0.45 * radius * Math.sqrt(weights.edge[e]), 1.5, 8);
    const own = t === at;
    return svg`<path d="M${from.join(" ")}L${x} ${y}" fill="none"
        stroke=${mixOf(s)[0][1]} stroke-width=${size} stroke-linecap="round"
        opacity=${own ? 0.5 : 0.25}></path>
      <g class="cw-g-message" transform="translate(${x} ${y})">
      <circle r=${size + (own ? 3 : 1)} fill=${own ? "var(--cw-ink)" : "var(--cw-paper)"}></circle>
      ${own ? svg`<circle r=${size + 1} fill="var(--cw-paper)"></circle>` : nothing}
      ${pie(mixOf(s), size, size)}</g>`;
  });
}
