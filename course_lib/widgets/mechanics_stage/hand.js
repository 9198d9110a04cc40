// The hand on MechanicsStage: it takes a body, carries it and lets it go; a planet can be thrown.

import { STAGE } from "../kit/bodies.js";
import { inThePlane } from "../kit/keys.js";
import { pointIn } from "../kit/plane.js";
import { prefersStillness } from "../kit/play.js";
import { clamp, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";

// After a rest of a tenth of a second, letting go throws nothing.
const REMEMBERED = 100;
const KEY_STEP = 6;
const FINGER = 24;
const ROOM = 10;
const MIDDLE = STAGE / 2;

const onStage = (part) => clamp(part, ROOM, STAGE - ROOM);
const rounded = (parts) => parts.map((part) => Number(part.toFixed(4)));
const along = (state, { z }) =>
  rounded(z.length > state.q.length ? [...state.q, ...state.p] : state.q);

/** All stages begin from a state; the bodies wait there until the hand lets go. */
function hold(ui, state, held) {
  ui.play(false);
  ui.set({ z: along(state, ui.now), time: 0, seen: false, held: { ...held, state } });
}

/** Lets go: the bodies move, unless the reader asked for less motion. */
function letGo(ui) {
  ui.set({ held: null });
  ui.play(!prefersStillness());
}

/** The velocity of the hand from its last positions, per unit of the system's time. */
function velocityOf({ track }, now, pace) {
  const known = track.filter(({ at }) => now - at < REMEMBERED);
  if (known.length < 2) return null;
  const [first, last] = [known[0], known[known.length - 1]];
  const time = (pace * (last.at - first.at)) / 1000;
  const way = last.q.map((part, i) => part - first.q[i]);
  return time > 0 && way.some((part) => part !== 0) ? way.map((part) => part / time) : null;
}

/** @param {number[][]} balls @param {number[]} point */
const nearest = (balls, [x, y]) => {
  const far = balls.map(([bx, by]) => Math.hypot(bx - x, by - y));
  return far.indexOf(Math.min(...far));
};

/** @param {any} ui @param {string} key the run whose stage it is */
export function hand(ui, key) {
  return (event) => {
    const surface = event.currentTarget;
    const { held, actor, start, spec, runs } = ui.now;
    const point = pointIn(event).map(onStage);
    if (event.type === "pointerdown") {
      const handle = event.target.closest(".cw-handle");
      // Elsewhere a finger scrolls the page.
      if (event.pointerType === "touch" && !handle) return;
      event.preventDefault();
      surface.setPointerCapture(event.pointerId);
      handle?.focus({ preventScroll: true });
      const state = runs.find((run) => run.key === key).state ?? start;
      const ball = nearest(actor.balls(state), point);
      hold(ui, actor.pull(state, point, ball), { ball, track: [] });
    } else if (!held || !surface.hasPointerCapture(event.pointerId)) {
      return;
    } else if (event.type === "pointermove") {
      const state = actor.pull(held.state, point, held.ball);
      const known = held.track.filter(({ at }) => event.timeStamp - at < REMEMBERED);
      hold(ui, state, { ...held, track: [...known, { at: event.timeStamp, q: state.q }] });
    } else {
      const velocity = actor.fling && velocityOf(held, event.timeStamp, spec.pace);
      if (velocity) hold(ui, actor.fling(held.state, velocity), held);
      letGo(ui);
    }
  };
}

/** Arrow keys carry a ball, Enter and the space bar let go. */
const keys = (ui, ball) =>
  inThePlane(
    ([across, up]) => {
      const { actor, start } = ui.now;
      const [x, y] = actor.balls(start)[ball];
      const point = [x + KEY_STEP * across, y - KEY_STEP * up].map(onStage);
      hold(ui, actor.pull(start, point, ball), { ball, track: [] });
    },
    () => letGo(ui),
  );

/** What a finger can take, and on the first stage the keyboard. */
export function handles(now, ui, { state }, first) {
  const { actor, start, spec } = now;
  const scale = actor.scale(state ?? start);
  const places = actor
    .balls(state ?? start)
    .map((place) => place.map((part) => MIDDLE + scale * (part - MIDDLE)));
  // The area for a finger keeps its size in pixels on a small stage.
  const radius = Math.max(FINGER, (FINGER * STAGE) / ui.width("scene", STAGE));
  return upTo(places.length).map((ball) => {
    const [x, y] = places[ball].map(onStage);
    const place = `translate(${x} ${y})`;
    const area = svg`<circle r=${radius} fill="transparent"></circle>`;
    if (!first) return svg`<g class="cw-handle" transform=${place}>${area}</g>`;
    const name = `${spec.title}${places.length > 1 ? `, body ${ball + 1} of ${places.length}` : ""}`;
    return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable body"
      aria-label="${name}; arrow keys move the start, Enter lets go"
      transform=${place} @keydown=${keys(ui, ball)}>${area}</g>`;
  });
}
