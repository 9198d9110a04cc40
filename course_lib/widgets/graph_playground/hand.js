// What the reader's hand does.

import { dragging } from "../kit/plane.js";
import { prefersStillness } from "../kit/play.js";
import { without } from "../maths/molecule.js";
import { added, apart, bonded, EMPTY, freePlace, moved, orderOf, turnedInto } from "./editing.js";
import { CHANGED } from "./words.js";

const MOST_ATOMS = 24;
const KEY_STEP = 0.1;

/** Chooses an atom; the one before it is now the one to bond it with. */
function choose(ui, i) {
  if (ui.now.at !== i) ui.set({ atom: i, partner: ui.now.at });
}

export function add(ui, place, to) {
  const { drawing, place: field } = ui.now;
  const last = drawing.element.length;
  if (last >= MOST_ATOMS)
    return ui.set({ note: `${MOST_ATOMS} atoms are all that fit; delete one first.` });
  const larger = apart(added(drawing, place, to), last, field.width);
  return ui.set({ drawing: larger, atom: last, partner: to, note: "" });
}

export function erase(ui) {
  const { drawing, at, mate } = ui.now;
  const atom = mate > at ? mate - 1 : mate;
  const smaller = without(drawing, at);
  const left = smaller.element.length ? smaller : EMPTY;
  ui.set({ drawing: left, atom, partner: -1, note: "" });
}

export const bond = (ui, i, j, order) =>
  ui.set({ drawing: bonded(ui.now.drawing, i, j, order), atom: j, partner: i });

/** Ends a line that was drawn from an atom: at another one, in the open, or where it began. */
function drop(ui) {
  const { pen, place, drawing } = ui.now;
  if (!pen) return;
  ui.set({ pen: null });
  const near = ([x, y]) => Math.hypot(x - pen.to[0], y - pen.to[1]) < 1.3 * place.reach;
  const target = place.points.findIndex(near);
  if (target < 0) add(ui, place.field.toData(pen.to), pen.from);
  else if (target !== pen.from)
    bond(ui, pen.from, target, (orderOf(drawing, pen.from, target) % 4) + 1);
}

export function gripOf(ui, i) {
  const move = (place) =>
    ui.set({ drawing: apart(moved(ui.now.drawing, i, place), i, ui.now.place.width) });
  const grip = dragging({
    moveTo: (pixel) =>
      ui.now.drag === "moves"
        ? move(ui.now.place.field.toData(pixel))
        : ui.set({ pen: { from: i, to: pixel } }),
    moveBy: (step) => move(ui.now.drawing.place[i].map((part, k) => part + KEY_STEP * step[k])),
  });
  return (event) => {
    if (event.type === "focus") choose(ui, i);
    else if (event.type === "pointerup") drop(ui);
    else if (event.key === "Delete" && ui.now.at === i) erase(ui);
    else grip(event);
  };
}

/**
 * What is new is told from the first round on; an atom that is new lands before. The network's answer
 * to it is `awaited` until the news has come.
 */
function tellAnew(ui, { landing = 1, awaited = true } = {}) {
  if (!ui.now.moving || prefersStillness()) return;
  ui.set({ rounds: 0, flight: 0, asked: 1, first: true, landing, awaited });
  ui.play(true);
}

/** An oxygen beside the chosen atom, in one stroke, and its news on their way. */
export function oxidize(ui) {
  const { drawing, at } = ui.now;
  if (at < 0) return;
  const last = drawing.element.length;
  add(ui, freePlace(drawing, at), at);
  if (ui.now.drawing.element.length === last) return;
  ui.set({ drawing: turnedInto(ui.now.drawing, last, "O"), atom: at, partner: last });
  tellAnew(ui, { landing: 0 });
}

/** Colours are told from the first on, lest they show the end before it is asked for. */
export function colour(ui, changes) {
  ui.play(false);
  ui.set({ ...changes, rings: "colours", rounds: 0, flight: 0 });
  tellAnew(ui, { awaited: false });
}

/** What the figure shows by itself: an oxygen where there is room for it, and its news. */
export function begin(ui) {
  const { facts, drawing, at, changed, molecule, other } = ui.now;
  const free = drawing.hydrogens[at] && drawing.element.length < MOST_ATOMS;
  if (facts && free && molecule >= 0 && !changed && other < 0) oxidize(ui);
  else ui.play(true);
}

/** Another graph; one's own begins with nothing, and lines are drawn in it. */
export function enter(ui, i) {
  if (i === CHANGED) return;
  const own = i < 0;
  const drawing = own ? EMPTY : ui.now.molecules[i].drawing;
  const atom = own ? -1 : 0;
  const drag = own ? "bonds" : ui.now.molecule < 0 ? "moves" : ui.now.drag;
  ui.set({ drawing, atom, drag, partner: -1, note: "", flight: 0 });
  if (own) ui.play(false);
  else tellAnew(ui);
}
