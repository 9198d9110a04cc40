// What the reader's hand does.

import { alongALine } from "../kit/keys.js";
import { pointIn } from "../kit/plane.js";
import { prefersStillness } from "../kit/play.js";
import { clamp } from "../maths/numerics.js";
import { stepped } from "./derived.js";

const [NEAR, JITTER] = [24, 4];
const SNAP = 4; // pixels about a press, within which the highest power is taken
const FEWEST_VISIBLE = 2;
const REACH = 0.02; // of the period in hand, to each end of the dial
const DIGITS = 7;

const rounded = (period) => Number(period.toPrecision(DIGITS));

/** Changes the state and ends the tour. */
export const take = (ui, changes) => ui.set({ ...changes, tour: 1 });

/** Hides these nights and no others, as long as enough are left. */
export function hide(ui, nights) {
  const hidden = [...new Set(nights)].sort((a, b) => a - b);
  if (ui.now.curve.time.length - hidden.length >= FEWEST_VISIBLE) take(ui, { hidden });
}

const toggled = (hidden, night) =>
  hidden.includes(night) ? hidden.filter((other) => other !== night) : [...hidden, night];

/** The nights within two dates. */
const within = ({ time }, from, to) =>
  time.flatMap((t, night) => (t >= Math.min(from, to) && t <= Math.max(from, to) ? [night] : []));

/** What a drag over `nights` leaves hidden: these too, or if they all were, all but these. */
function dragged(base, nights) {
  if (nights.every((night) => base.includes(night)))
    return base.filter((night) => !nights.includes(night));
  return [...base, ...nights];
}

/** The night whose dot lies nearest to a point, or −1. @param {number[][]} places */
function nearest(places, point, nights) {
  const [x, y] = point;
  let [found, least] = [-1, NEAR];
  places.forEach(([px, py], i) => {
    const far = Math.hypot(px - x, py - y);
    if (far < least) [found, least] = [i % nights, far];
  });
  return found;
}

/**
 * The hand on a panel of nights: pointing lights a night up, a click hides or shows it. Where days
 * go on to the right a drag hides a span of them.
 * @param {any} ui
 * @param {import("../kit/charts.js").Frame} frame
 * @param {number[][]} places of the dots, in pixels
 */
export function handOnNights(ui, frame, places, { spans = false } = {}) {
  const count = ui.now.curve.time.length;
  return (event) => {
    const { type, currentTarget } = event;
    const { span, hidden, curve, hovered } = ui.now;
    const point = pointIn(event);
    const night = nearest(places, point, count);
    const [day] = frame.at(point);
    if (type === "pointerdown") {
      if (spans) currentTarget.setPointerCapture(event.pointerId);
      // A drag by the handle starts at its night, wherever the handle was touched.
      const taken = currentTarget.matches(".cw-handle")
        ? curve.time[Math.max(0, ui.now.night)]
        : day;
      take(ui, { span: { from: point, day: taken, to: day, base: hidden, moved: false } });
    } else if (type === "pointermove" && span && spans) {
      const moved = span.moved || Math.abs(point[0] - span.from[0]) > JITTER;
      take(ui, { span: { ...span, to: day, moved } });
      if (moved) hide(ui, dragged(span.base, within(curve, span.day, day)));
    } else if (type === "pointermove" && night !== hovered) {
      ui.set({ hovered: night });
    } else if (type === "pointercancel") {
      ui.set({ span: null, hovered: -1, hidden: span?.base ?? hidden });
    } else if (type === "pointerup") {
      if (span && !span.moved && night >= 0) {
        hide(ui, toggled(hidden, night));
        ui.set({ night });
      }
      ui.set({ span: null });
    } else if (type === "pointerleave" && hovered >= 0) {
      ui.set({ hovered: -1 });
    }
  };
}

/** Arrow keys go from night to night; Enter and the space bar hide one, or show it. */
export const keysOnNights = (ui) =>
  alongALine(
    (step) => {
      const { night, curve } = ui.now;
      take(ui, { night: clamp(night + step, 0, curve.time.length - 1) });
    },
    () => hide(ui, toggled(ui.now.hidden, Math.max(0, ui.now.night))),
  );

/** A press in the periodogram takes the highest power nearby. */
export function takeFrequency(ui, frame, pressed) {
  const { spectrum } = ui.now;
  const x = frame.x(pressed);
  let [found, most] = [pressed, -1];
  spectrum.frequencies.forEach((frequency, i) => {
    if (Math.abs(frame.x(frequency) - x) > SNAP || spectrum.power[i] <= most) return;
    [found, most] = [frequency, spectrum.power[i]];
  });
  takePeriod(ui, 1 / found);
}

export function takePeriod(ui, period) {
  const [low, high] = ui.now.within.period;
  take(ui, { period: clamp(period, low, high) });
}

/** Moves to another period gradually, so that the reader sees the dots move. */
export function slideTo(ui, period) {
  if (prefersStillness() || !ui.now.moving) return takePeriod(ui, period);
  ui.set({ period, from: ui.now.folded, tour: 0 });
  ui.play(true);
}

/** The periods at both ends of the dial. */
export const dialEnds = ({ folded }) => [folded * (1 - REACH), folded * (1 + REACH)];

/**
 * The hand on the dial, whose scale goes along with a finger under a needle that stands still; a
 * press takes the period where it falls.
 * @param {any} ui
 * @param {number} width of the dial in pixels
 */
export function handOnDial(ui, width) {
  return (event) => {
    const { type, currentTarget } = event;
    const { turned, folded } = ui.now;
    const [x] = pointIn(event);
    const along = (pixels, period) => rounded(period * (1 + (2 * REACH * pixels) / width));
    if (type === "pointerdown") {
      currentTarget.setPointerCapture(event.pointerId);
      take(ui, { turned: { x, period: folded, moved: false }, period: folded });
    } else if (type === "pointermove" && turned) {
      const moved = turned.moved || Math.abs(x - turned.x) > JITTER;
      ui.set({ turned: { ...turned, moved } });
      if (moved) takePeriod(ui, along(turned.x - x, turned.period));
    } else if (type === "pointerup" && turned) {
      ui.set({ turned: null });
      if (!turned.moved) takePeriod(ui, along(x - width / 2, turned.period));
    } else if (type === "pointercancel" && turned) {
      takePeriod(ui, turned.period);
      ui.set({ turned: null });
    }
  };
}

export const stepPeriod = (ui, steps) => take(ui, { period: stepped(ui.now, steps) });

/** On the dial: fine steps, and the ends of what periods there are. */
export const keysOnPeriod = (ui) => alongALine((step) => stepPeriod(ui, step));
