// Who stands on a stage: the systems of bodies.js. A rigid body, which has no pairs, is in tumbling.js.

import { bodies, onStage, ROD, STAGE, sceneOf } from "../kit/bodies.js";
import { keplerEllipse, SYSTEMS } from "../maths/mechanics.js";
import { clamp, upTo } from "../maths/numerics.js";
import { nothing, svg } from "../vendor/lit-html/lit-html.js";
import { tumbling } from "./tumbling.js";

/**
 * @typedef {{ q: number[], p: number[], attitude?: number[] }} State
 *
 * @typedef {object} Actor
 * @property {number} tail how much of its past is drawn, in units of time
 * @property {(past: (State & { ago: number })[]) => number[][][]} traces where each ball was
 * @property {(state: State) => number[][]} balls where a hand can take it
 * @property {(start: State & { energy: number }) => unknown} bounds where the true motion stays
 * @property {(run: { name: string, colour: string }, state: State, unit: number) => unknown} draw
 *   where a pixel of the page is so many units
 * @property {(state: State, point: number[], ball: number) => State} pull the state at rest in a hand
 *   that has brought a ball to a point
 * @property {(state: State, velocity: number[]) => State} [fling] as it leaves a hand that moves;
 *   what cannot be thrown is let go at rest
 * @property {(state: State) => number} scale of the view: it widens for who would leave the stage
 */

const MIDDLE = STAGE / 2;
// How fast the paper runs on which balls on springs write.
const SINKING = 4;
const LINKS = 4;
const RIM = 16;
/** A ball that has a stage to itself. */
export const LARGER = 1.5;
/** The smallest scale of a view that widens. */
const SMALLEST_SCALE = 1e-6;
// A planet that starts in the sun falls out of all numbers.
const NEAREST = 0.15;

/** The true motion keeps to what is dashed. */
const dashed = (d) => svg`<path d=${d} fill="none" stroke="var(--cw-edge)" stroke-width="1.5"
  stroke-dasharray="5 4"></path>`;

/** Where the energy lets the body go; for a planet its very orbit. */
const BOUNDS = {
  HarmonicOscillator({ parameters: { stiffness }, stretch }, { energy }) {
    const far = stretch * Math.sqrt((2 * energy) / stiffness);
    return dashed([-far, far].map((x) => `M${MIDDLE + x} ${MIDDLE - 40}v80`).join(""));
  },
  Pendulum({ parameters: { mass, length, gravity } }, { energy }) {
    const angle = Math.acos(clamp(1 - energy / (mass * gravity * length), -1, 1));
    const [x, y] = [ROD * Math.sin(angle), MIDDLE + ROD * Math.cos(angle)];
    const half = `A${ROD} ${ROD} 0 0 1`;
    return dashed(`M${MIDDLE + x} ${y}${half}${MIDDLE} ${MIDDLE + ROD}${half}${MIDDLE - x} ${y}`);
  },
  CoupledOscillators: () => nothing,
  Kepler({ parameters, reach: [reach] }, { q, p }) {
    const orbit = keplerEllipse(parameters, q, p);
    if (!orbit) return nothing;
    const [x, y, rx, ry] = [...orbit.centre, orbit.long, orbit.short].map(
      (part) => (part * MIDDLE) / reach,
    );
    const turn = (-180 * orbit.angle) / Math.PI;
    return svg`<ellipse rx=${rx} ry=${ry} fill="none" stroke="var(--cw-edge)" stroke-width="1.5"
      stroke-dasharray="5 4"
      transform="translate(${MIDDLE + x} ${MIDDLE - y}) rotate(${turn})"></ellipse>`;
  },
};

/** Where something came from, the oldest part the faintest. */
export function tail(places, colour) {
  const size = Math.ceil(places.length / LINKS);
  return upTo(LINKS).map((i) => {
    const part = places.slice(i * size, (i + 1) * size + 1);
    if (part.length < 2) return nothing;
    const d = `M${part.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
    return svg`<path d=${d} fill="none" stroke=${colour} stroke-width="2.5"
      opacity=${(0.65 * (i + 1)) / LINKS}></path>`;
  });
}

/** The scale at which a place is still to be seen. @param {number[]} place */
function scaleFor([x, y]) {
  const far = Math.max(Math.abs(x - MIDDLE), Math.abs(y - MIDDLE));
  return clamp((MIDDLE - RIM) / far, SMALLEST_SCALE, 1);
}

/** At the rim, towards what has left the stage. @param {number[]} place @param {string} colour */
export function wayTo([x, y], colour) {
  const angle = (180 / Math.PI) * Math.atan2(y - MIDDLE, x - MIDDLE);
  const [px, py] = [x, y].map((part) => clamp(part, RIM, STAGE - RIM));
  return svg`<path d="M-14 -10L12 0L-14 10L-8 0Z" fill=${colour}
    transform="translate(${px} ${py}) rotate(${angle})"></path>`;
}

/** @returns {Actor} */
function onTheStage(spec) {
  const { radii, ...scene } = sceneOf(spec);
  const { name, parameters, reach } = spec;
  const mass = massesOf(SYSTEMS[name](parameters));
  const within = (parts, from) =>
    parts.map((part, i) => clamp(part, -reach[from + i], reach[from + i]));
  // One run has the stage to itself.
  const thrown = name === "Kepler";
  const sized = radii.map((r) => (thrown ? r : LARGER * r));
  const large = { ...scene, radii: sized, endless: thrown };
  const balls = ({ q }) => scene.places(q, MIDDLE);
  return {
    scale: (state) => (thrown ? scaleFor(balls(state)[0]) : 1),
    tail: { Kepler: 12, Pendulum: 0.8 }[name] ?? MIDDLE / SINKING,
    balls,
    traces: (past) =>
      radii.map((_, ball) =>
        past.map((state) => {
          const [x, y] = balls(state)[ball];
          return [x, scene.lanes ? y + SINKING * state.ago : y];
        }),
      ),
    bounds: (start) => BOUNDS[name]({ ...spec, stretch: scene.stretch }, start),
    draw({ name: run, colour }, state, unit) {
      const gone = thrown ? [] : balls(state).filter((place) => !onStage([place]));
      return svg`${scene.scenery}${bodies(large, [{ name: run, colour, q: state.q }], {
        unit: unit / LARGER,
      })}
        ${gone.map((place) => wayTo(place, colour))}`;
    },
    pull(state, point, ball) {
      const q = within(scene.reached(state.q, point, ball), 0);
      if (thrown) return roundTheSun(apart(q), state, mass[0], parameters.gravity);
      return { q, p: q.map(() => 0) };
    },
    fling: thrown
      ? ({ q }, velocity) => {
          const p = velocity.map((v, i) => mass[i] * v);
          return { q, p: within(p, q.length) };
        }
      : undefined,
  };
}

/** Of each coordinate, for its velocity is p / m. */
function massesOf({ dim, gradP }) {
  const [velocity, one] = [new Float64Array(dim), new Float64Array(dim).fill(1)];
  gradP(one, velocity);
  return Array.from(velocity, (part) => 1 / part);
}

/** Not in the sun. @param {number[]} place @returns {number[]} */
function apart([x, y]) {
  const r = Math.hypot(x, y);
  if (r >= NEAREST) return [x, y];
  return r > 0 ? [x, y].map((part) => (part * NEAREST) / r) : [NEAREST, 0];
}

/**
 * A planet that is let go at rest would fall into the sun: it gets the momentum of a circle.
 * @param {number[]} place
 * @param {State} state tells in which sense it went round
 * @param {number} mass
 * @param {number} gravity
 */
function roundTheSun([x, y], { q, p }, mass, gravity) {
  const sense = q[0] * p[1] < q[1] * p[0] ? -1 : 1;
  const speed = Math.sqrt(gravity / Math.hypot(x, y));
  const turn = (sense * mass * speed) / Math.hypot(x, y);
  return { q: [x, y], p: [-y * turn, x * turn] };
}

/** @returns {Actor} */
export const actorOf = (spec) => (spec.name === "RigidBody" ? tumbling(spec) : onTheStage(spec));
