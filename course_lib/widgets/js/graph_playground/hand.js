// What the reader's hand does.

import { without } from "../maths/molecule.js";
import { dragging } from "../plane.js";
import { added, bonded, EMPTY, moved, orderOf } from "./editing.js";

const MOST_ATOMS = 24;
const KEY_STEP = 0.1;

/** Chooses an atom; the one before it is now the one to bond it with. */
function choose(ui, i) {
  if (ui.now.at !== i) ui.set({ atom: i, partner: ui.now.at });
}

export function add(ui, place, to) {
  const { drawing } = ui.now;
  const last = drawing.element.length;
  if (last >= MOST_ATOMS)
    return ui.set({ note: `${MOST_ATOMS} atoms are all that fit; delete one first.` });
  return ui.set({ drawing: added(drawing, place, to), atom: last, partner: to, note: "" });
}

export function erase(ui) {
  const { drawing, at, mate } = ui.now;
  const atom = mate > at ? mate - 1 : mate;
  ui.set({ drawing: without(drawing, at), atom, partner: -1, note: "" });
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
  const move = (place) => ui.set({ drawing: moved(ui.now.drawing, i, place) });
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

export function enter(ui, i) {
  const drawing = ui.now.molecules[i]?.drawing ?? EMPTY;
  const atom = drawing.element.length ? 0 : -1;
  ui.set({ drawing, atom, partner: -1, note: "", flight: 0 });
}
