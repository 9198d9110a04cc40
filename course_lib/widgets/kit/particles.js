// Particles of a jet in a panel, two of them chosen, whom a press changes.

import { deltaPhi } from "../maths/jets.js";
import { ranking, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { ground } from "./charts.js";
import { number } from "./text.js";

/** The two chosen particles, among so many and never one of them twice. */
export function chosenPair(first, second, count) {
  const a = Math.min(first, count - 1);
  const b = Math.min(second, count - 1);
  return [a, b === a ? (a + 1) % count : b];
}

/** The particle that is pressed becomes a, and the former a becomes b. */
const choose = (ui, a, i) => i !== a && ui.set({ first: i, second: a });

/** How far a particle flies from an axis, along the rapidity and along φ. @returns {number[]} */
export const fromFlight = ({ y, phi }, axis) => [y - axis.y, deltaPhi(phi, axis.phi)];

/** A disc with the area of a particle's momentum across the beam. */
export const radiusOf = (pt) => Math.max(2.5, Math.sqrt(pt));

/**
 * Discs at points, and a line between the chosen two.
 * @param {any} ui
 * @param {any} frame
 * @param {number[][]} points
 * @param {{ pt: number[], pair: number[], fill: (i: number) => string }} look
 */
export function particles(ui, frame, points, { pt, pair, fill }) {
  const at = points.map(([x, y]) => [frame.x(x), frame.y(y)]);
  const nearest = (x, y) => ranking(points.map(([u, v]) => -Math.hypot(u - x, v - y)))[0];
  const disc = (i) => svg`<circle cx=${at[i][0]} cy=${at[i][1]} r=${radiusOf(pt[i])}
    fill=${fill(i)} stroke="var(--cw-ink)" stroke-width=${pair.includes(i) ? 2 : 0.5}></circle>`;
  const name = (
    i,
    k,
  ) => svg`<text class="cw-halo" x=${at[i][0] + (2 * k - 1) * (radiusOf(pt[i]) + 3)}
    y=${at[i][1] + 4} text-anchor=${["end", "start"][k]}>${"ab"[k]}</text>`;
  return svg`<g clip-path=${frame.clip}>${upTo(points.length).map(disc)}
      <path d="M${pair.map((i) => at[i].join(" ")).join("L")}" stroke="var(--cw-ink)"
        stroke-width="1.5"></path>${pair.map(name)}</g>
    ${ground(frame, (point) => choose(ui, pair[0], nearest(point[0], point[1])))}`;
}

/** What two particles have in common, as readings of a live figure. @param {number[]} pair */
export const pairReadings = ([distance, kt, z, m2]) => [
  { name: "distance", label: "Δ", text: number(distance, 3), room: 6 },
  { name: "kt", label: "kT, GeV", text: number(kt, 3), room: 6 },
  { name: "z", label: "z", text: number(z, 3), room: 6 },
  { name: "m2", label: "m², GeV²", text: number(Math.max(0, m2), m2 < 100 ? 3 : 1), room: 7 },
];
