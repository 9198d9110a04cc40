// The systems of maths/mechanics.js as bodies on a stage: bob and rod, masses and springs, planet
// and sun.

import { upTo } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { plane } from "./plane.js";

/** The side of the square stage. */
export const STAGE = 320;
const MIDDLE = STAGE / 2;
/** The length of a pendulum on it. */
export const ROD = 120;
const WALLS = [12, STAGE - 12];
const COILS = 24;
const COIL_HEIGHT = [0, 6, 0, -6];
const BALL = 13;
// Of a ball, in pixels of the page, on a stage that is small.
const SIZE = 0.8;
// However many runs lie on one another.
const SMALLEST = 0.4;

/** A ball with the light on it from above. */
const round = ([cx, cy], r, colour) =>
  svg`<circle cx=${cx} cy=${cy} r=${r} fill=${colour} stroke="var(--cw-paper)"
      stroke-width="1.5"></circle>
    <ellipse cx=${cx - r / 3} cy=${cy - r / 3} rx=${r / 2.6} ry=${r / 3.4} fill="#fff" opacity="0.4"
      transform="rotate(-45 ${cx - r / 3} ${cy - r / 3})"></ellipse>`;

/** A zigzag between two places at one height. */
function spring(from, to, y) {
  const points = upTo(COILS + 1).map(
    (i) => `${from + ((to - from) * i) / COILS} ${y + COIL_HEIGHT[i % 4]}`,
  );
  return `M${points.join("L")}`;
}

/** A wall to hold on to, over the whole height of any stage. */
const wall = (x) =>
  svg`<path d="M${x} 0V${9 * STAGE}" stroke="var(--cw-edge)" stroke-width="3"></path>`;
const disc = ([x, y], r) => svg`<circle cx=${x} cy=${y} r=${r} fill="var(--cw-edge)"></circle>`;

/** Balls on springs from wall to wall, or to the last ball; each run has a lane of its own. */
function onSprings({ rests, stretch, masses, walls }) {
  const heaviest = Math.max(...masses);
  return ({ reach }) => ({
    lanes: true,
    stretch: stretch / reach[0],
    radii: masses.map((mass) => BALL * Math.cbrt(mass / heaviest)),
    places: (q, y) => q.map((part, i) => [rests[i] + (stretch * part) / reach[i], y]),
    ties: (places, y) => {
      const ends = [walls[0], ...places.map(([x]) => x), ...walls.slice(1)];
      return upTo(ends.length - 1).map((i) => spring(ends[i], ends[i + 1], y));
    },
    reached: (q, [x], ball) => q.with(ball, ((x - rests[ball]) * reach[ball]) / stretch),
    scenery: walls.map(wall),
  });
}

/** A point that moves in the plane, about the middle. */
const inThePlane =
  (scenery) =>
  ({ reach: [x, y] }) => {
    const field = plane({ x: [-x, x], y: [-y, y], width: STAGE, height: STAGE });
    return {
      lanes: false,
      inThePlane: true,
      radii: [BALL],
      places: (q) => [field.toPixel(q)],
      ties: () => [],
      reached: (_q, pixel) => field.toData(pixel),
      scenery,
    };
  };

const SUN = [
  [30, 0.12],
  [19, 0.25],
  [10, 1],
].map(
  ([r, opacity]) =>
    svg`<circle cx=${MIDDLE} cy=${MIDDLE} r=${r} fill="#f0a020" opacity=${opacity}></circle>`,
);

const SCENES = {
  HarmonicOscillator: () =>
    onSprings({ rests: [MIDDLE], stretch: 120, masses: [1], walls: [WALLS[0]] }),
  Pendulum: () => () => ({
    lanes: false,
    radii: [BALL],
    places: ([angle]) => [[MIDDLE + ROD * Math.sin(angle), MIDDLE + ROD * Math.cos(angle)]],
    ties: ([[x, y]]) => [`M${MIDDLE} ${MIDDLE}L${x} ${y}`],
    reached: (_q, [x, y]) => [Math.atan2(x - MIDDLE, y - MIDDLE)],
    scenery: [disc([MIDDLE, MIDDLE], 4)],
  }),
  CoupledOscillators: ({ mass1, mass2 }) =>
    onSprings({
      rests: [0.3 * STAGE, 0.7 * STAGE],
      stretch: 64,
      masses: [mass1, mass2],
      walls: WALLS,
    }),
  Kepler: () => inThePlane(SUN),
  HenonHeiles: () => inThePlane([]),
};

/**
 * How a system stands on the stage: `places` and `radii` of its balls, the `ties` between them, the
 * `scenery` that does not move, and the positions that a hand has `reached` when it brings a ball to
 * a point. Runs that would hide each other stand in `lanes`.
 * @param {{ name: string, parameters: any, reach: number[] }} spec
 * @returns {any}
 */
export const sceneOf = (spec) => SCENES[spec.name](spec.parameters)(spec);

/** How much larger a ball is drawn where a pixel of the page is so many units of the stage. */
export const sizeOf = (unit) => Math.max(1, SIZE * unit);

/** Whether all balls stand on the stage. @param {number[][]} places */
export const onStage = (places) => places.flat().every((place) => place >= 0 && place <= STAGE);

/**
 * One body for each run that has a place on the stage.
 * @param {any} scene
 * @param {{ name: string, colour: string, q: number[] | null }[]} runs
 * @param {{ unit?: number, height?: number }} [stage] `unit`: how many units of the stage a pixel of
 *   the page is, for on a small stage balls are as large as on others; `height`: of all lanes
 */
export function bodies(
  { lanes, endless, radii, places, ties },
  runs,
  { unit = 1, height = STAGE } = {},
) {
  const size = sizeOf(unit);
  return runs.map(({ name, colour, q }, i) => {
    const y = lanes ? (height * (i + 0.5)) / runs.length : MIDDLE;
    const balls = q ? places(q, y) : [];
    if (!q || !(endless || onStage(lanes ? balls.map(([x]) => [x]) : balls))) return nothing;
    // Runs that stay together lie on one another, the later ones smaller.
    const shrink = lanes ? 1 : Math.max(SMALLEST, 1 - 0.15 * i);
    const tie = (d) =>
      svg`<path d=${d} fill="none" stroke=${colour} stroke-width=${2 * size}></path>`;
    const ball = ([cx, cy], j) => round([cx, cy], shrink * size * radii[j], colour);
    return svg`<g class="cw-body" data-run=${name}>
      ${ties(balls, y).map(tie)}${balls.map(ball)}
    </g>`;
  });
}
