// A rigid body on the stage: a box with its angular momentum, an arrow that should stand still.

import { STAGE } from "../kit/bodies.js";
import { clamp, dot, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";

const MIDDLE = STAGE / 2;
const LONGEST = 150;
/** The length of an angular momentum of 1. */
export const ARROW = 105;
const THINNEST = 0.15;
// From the right and from above.
const [YAW, PITCH] = [-0.5, 0.35];
const [SIN, COS] = [Math.sin, Math.cos].map((f) => [f(YAW), f(PITCH)]);
/** Across, up and towards the eye, in space. */
const EYE = [
  [COS[0], 0, SIN[0]],
  [SIN[0] * SIN[1], COS[1], -COS[0] * SIN[1]],
  [-SIN[0] * COS[1], SIN[1], COS[0] * COS[1]],
];
const LIGHT = [-0.35, 0.8, 0.49];

const seen = (place) => EYE.map((row) => dot(row, place));
/** @param {number[]} place @returns {number[]} */
const onPaper = ([x, y]) => [MIDDLE + x, MIDDLE - y];
/** A place of the body, in space. */
const stood = (attitude, place) =>
  upTo(3).map((row) => dot(attitude.slice(3 * row, 3 * row + 3), place));

/** Half the sides of a box with these moments; where there is none, it is as thin as can be seen. */
function halvesOf(inertia) {
  const sum = inertia.reduce((a, b) => a + b);
  const sides = inertia.map((moment) => Math.sqrt(Math.max(0, sum - 2 * moment)));
  const longest = Math.max(...sides);
  return sides.map((side) => (LONGEST * Math.max(THINNEST, side / longest)) / 2);
}

/** The faces that the eye sees, each with its corners and how bright it is. */
function faces(halves, attitude) {
  return upTo(6).flatMap((face) => {
    const [axis, sign] = [face % 3, face < 3 ? 1 : -1];
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const normal = seen(
      stood(
        attitude,
        upTo(3).map((i) => (i === axis ? sign : 0)),
      ),
    );
    if (normal[2] <= 0) return [];
    const corners = (share) =>
      [
        [1, 1],
        [-1, 1],
        [-1, -1],
        [1, -1],
      ].map(([a, b]) => {
        const place = [0, 0, 0];
        [place[axis], place[u], place[v]] = [
          sign * halves[axis],
          a * share * halves[u],
          b * share * halves[v],
        ];
        return onPaper(seen(stood(attitude, place)));
      });
    return [{ corners, marked: sign > 0, light: dot(normal, LIGHT) }];
  });
}

const area = (corners) => `M${corners.map(([x, y]) => `${x} ${y}`).join("L")}Z`;

function face({ corners, marked, light }, colour) {
  const d = area(corners(1));
  const [ink, shade] = light > 0 ? ["#fff", 0.45 * light] : ["#000", -0.5 * light];
  const mark = svg`<path d=${area(corners(0.55))} fill="#fff" opacity="0.35"></path>`;
  return svg`<path d=${d} fill=${colour} stroke="var(--cw-paper)" stroke-width="1.5"
      stroke-linejoin="round"></path>
    <path d=${d} fill=${ink} opacity=${shade}></path>${marked ? mark : ""}`;
}

/** @param {number[]} tip */
const shaft = ([x, y], dash = "") => svg`<path d="M${MIDDLE} ${MIDDLE}L${x} ${y}" fill="none"
  stroke="var(--cw-ink)" stroke-width=${dash ? 1.5 : 3} stroke-dasharray=${dash || "none"}></path>`;

/** @returns {import("./actors.js").Actor} */
export function tumbling({ parameters: { inertia }, reach }) {
  const halves = halvesOf(inertia);
  const upright = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const arrow = ({ q, attitude = upright }) => seen(stood(attitude, q)).map((part) => part * ARROW);
  const balls = (state) => [onPaper(arrow(state))];
  return {
    tail: 12,
    balls,
    traces: (past) => [past.map((state) => balls(state)[0])],
    bounds: (start) => shaft(onPaper(arrow(start)), "5 4"),
    draw({ name, colour }, state) {
      const [tip] = balls(state);
      const spin = svg`${shaft(tip)}<circle cx=${tip[0]} cy=${tip[1]} r="7" fill="var(--cw-ink)"
        stroke="var(--cw-paper)" stroke-width="2"></circle>`;
      const box = faces(halves, state.attitude ?? upright).map((one) => face(one, colour));
      const behind = arrow(state)[2] < 0;
      return svg`<g class="cw-body" data-run=${name}>
        ${behind ? spin : ""}${box}${behind ? "" : spin}</g>`;
    },
    pull(state, [x, y]) {
      const held = [(x - MIDDLE) / ARROW, (MIDDLE - y) / ARROW, arrow(state)[2] / ARROW];
      const q = upTo(3).map((i) => EYE.reduce((sum, row, k) => sum + row[i] * held[k], 0));
      return { q: q.map((part, i) => clamp(part, -reach[i], reach[i])), p: [0, 0, 0] };
    },
    scale: () => 1,
  };
}
