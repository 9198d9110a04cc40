// The map: codes of real typefaces on a plane, the prior's edge, and the point in the reader's hand.

import { inThePlane } from "../keys.js";
import { cutOf, movedTo, projected } from "../maths/latent.js";
import { upTo } from "../maths/numerics.js";
import { painted } from "../painted.js";
import { plane, pointIn } from "../plane.js";
import { number } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

export const SIDE = 320;
const ROOM = 1.12;
const BESIDE = 1.8; // times as far from the middle as the mean, so that a name hides few dots
const [DOT, LARGE_DOT] = [2.6, 4.2];
const [NEAR, JITTER] = [9, 4];
const STEP = 0.2;
const COLOURS = [2, 3, 1, 0, 5];

/** Where all codes fall on the plane, and how it lies on the drawing. */
export function chartOf({ codes, directions, edge, kinds, count }) {
  const places = codes.map((code) => projected(code, directions));
  const reach = Math.max(ROOM * edge, 1.05 * Math.max(...places.flat().map(Math.abs)));
  const field = plane({ x: [-reach, reach], y: [-reach, reach], width: SIDE, height: SIDE });
  const means = upTo(count - 1).flatMap((kind) => {
    const own = places.filter((_, i) => Number(kinds[i]) === kind);
    if (!own.length) return [];
    const mean = [0, 1].map((k) => own.reduce((sum, place) => sum + place[k], 0) / own.length);
    return [{ kind, at: field.toPixel(field.inside(mean.map((x) => BESIDE * x))) }];
  });
  return { field, reach, dots: places.map(field.toPixel), means };
}

/** Typefaces held out of training are hollow; those whose letters are in the page are large. */
function paintDots(context, { chart, faces, real }, { ui, scale }) {
  context.lineWidth = 1.4;
  chart.dots.forEach(([x, y], i) => {
    context.beginPath();
    context.arc(x * scale, y * scale, i < real ? LARGE_DOT : DOT, 0, 2 * Math.PI);
    const ink = ui.theme.ink(`series-${COLOURS[faces.kinds[i]]}`);
    context.fillStyle = faces.held[i] === "1" ? ui.theme.ink("panel") : ink;
    context.strokeStyle = ink;
    context.fill();
    context.stroke();
  });
}

/**
 * The typeface whose dot lies under a point of the drawing, or −1.
 * @param {any} now
 * @param {number[]} point
 */
function dotUnder({ chart }, [x, y]) {
  let [found, least] = [-1, NEAR];
  chart.dots.forEach(([px, py], i) => {
    const far = Math.hypot(px - x, py - y);
    if (far < least) [found, least] = [i, far];
  });
  return found;
}

/** Moves the point in the plane; its other coordinates stay. */
const moveTo = (ui, place, take) =>
  take(movedTo(ui.now.z, ui.now.directions, ui.now.chart.field.inside(place)));

/**
 * The hand on the map: a click on a dot jumps to that typeface, a drag moves the point. A finger
 * drags by the ring alone, since elsewhere it scrolls the page.
 */
function hand(ui, take) {
  return (event) => {
    const surface = event.currentTarget;
    const { chart, codes, held, hovered } = ui.now;
    const ring = event.target.closest(".cw-handle");
    const point = pointIn(surface, event);
    const dot = dotUnder(ui.now, point);
    if (event.type === "pointerdown") {
      // A finger has the pointer at once, whether it is to scroll or not.
      const drags = event.pointerType !== "touch" || ring !== null;
      ui.set({ held: { from: point, moved: false, drags, ring: ring !== null } });
      if (!drags) return;
      ui.play(false);
      surface.setPointerCapture(event.pointerId);
      surface.querySelector(".cw-handle").focus({ preventScroll: true });
    } else if (event.type === "pointermove" && surface.hasPointerCapture(event.pointerId)) {
      if (!held.drags) return;
      const far = Math.hypot(point[0] - held.from[0], point[1] - held.from[1]);
      if (!held.moved && far < JITTER) return;
      ui.set({ held: { ...held, moved: true }, hovered: -1 });
      moveTo(ui, chart.field.toData(point), take);
    } else if (event.type === "pointermove" && dot !== hovered) {
      ui.set({ hovered: dot });
    } else if (event.type === "pointerleave") {
      ui.set({ hovered: -1 });
    } else if (event.type === "click" && !held?.moved) {
      if (dot >= 0) take(codes[dot]);
      else if (!held?.ring) moveTo(ui, chart.field.toData(point), take);
    }
  };
}

function ring({ chart, place, norm }, ui, take) {
  const [x, y] = chart.field.toPixel(chart.field.inside(place));
  const keys = inThePlane((step) =>
    moveTo(
      ui,
      ui.now.place.map((part, i) => part + STEP * step[i]),
      take,
    ),
  );
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="point of the map"
    aria-label="The point whose letters are drawn: ${place.map((part) => number(part, 1)).join(", ")}
    on the map, ${number(norm)} from the middle; the arrow keys move it"
    transform="translate(${x} ${y})" @keydown=${keys}>
    <circle r="20" fill="transparent"></circle>
    <circle r="9" fill="none" stroke="var(--cw-paper)" stroke-width="5"></circle>
    <circle r="9" fill="none" stroke="var(--cw-ink)" stroke-width="2.5"></circle>
  </g>`;
}

/** The ways between the codes that the tool is about. */
function ways({ chart, directions, tool, codes, walk, sum }) {
  const at = (code) => chart.field.toPixel(projected(code, directions)).join(" ");
  if (tool === "axes") return nothing;
  const [regular, bold, italic] = sum ? sum.parts.map((i) => codes[i]) : [];
  const ring = tool === "arithmetic";
  const d = `M${(ring ? [regular, bold, sum.code, italic] : walk).map(at).join("L")}${ring ? "Z" : ""}`;
  return svg`<path class="cw-x-way" d=${d} fill="none" stroke="var(--cw-ink)" stroke-width="1.5"
    stroke-dasharray="2 4" stroke-linecap="round"></path>`;
}

function named({ chart, faces, hovered }) {
  if (hovered < 0) return nothing;
  const [x, y] = chart.dots[hovered];
  const anchor = x > 0.7 * SIDE ? "end" : x < 0.3 * SIDE ? "start" : "middle";
  return svg`<text class="cw-halo cw-x-name" x=${x} y=${y > 24 ? y - 10 : y + 20}
    text-anchor=${anchor}>${faces.names[hovered]}</text>`;
}

/** Above the circle's top, or within it where there is no room. */
function edgeName([x, middle], radius) {
  const top = middle - radius;
  const [y, name] = radius
    ? [top > 20 ? top - 6 : top + 16, "99 % of the prior"]
    : [20, "all beyond 99 % of the prior"];
  return svg`<text class="cw-halo cw-x-beyond" x=${x} y=${y} text-anchor="middle">${name}</text>`;
}

/** @param {any} now @param {any} ui @param {(z: number[]) => void} take takes a code to be drawn */
export function map(now, ui, take) {
  const { chart, z, directions, facts, faces } = now;
  const width = ui.width("map", SIDE);
  const inputs = [chart, width];
  const paint = (context) =>
    paintDots(context, { chart, faces, real: facts.real }, { ui, scale: width / SIDE });
  const [x, y] = chart.field.toPixel([0, 0]);
  const radius = (cutOf(z, directions, facts.edge) * SIDE) / (2 * chart.reach);
  const grip = hand(ui, take);
  return html`<div class="cw-layers cw-x-map" data-measure="map">
    <canvas role="img" aria-label="Dots, one for each of ${faces.names.length} typefaces"
      ${painted(ui, { width, height: width, inputs, paint })}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" role="group" aria-label="Map of typefaces" class="cw-x-hand"
      @pointerdown=${grip} @pointermove=${grip} @pointerleave=${grip} @click=${grip}>
      <circle class="cw-x-edge" cx=${x} cy=${y} r=${radius} fill="var(--cw-accent)"
        fill-opacity="0.09" stroke="var(--cw-accent)" stroke-width="1.5"></circle>
      ${edgeName([x, y], radius)}
      ${chart.means.map(
        ({ kind, at }) =>
          svg`<text class="cw-halo" x=${at[0]} y=${at[1]} text-anchor="middle"
            style="fill: var(--cw-series-${COLOURS[kind]})">${facts.kinds[kind]}</text>`,
      )}
      ${ways(now)} ${ring(now, ui, take)} ${named(now)}
    </svg>
  </div>`;
}
