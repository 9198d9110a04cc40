// The map: codes of real typefaces on a plane, the prior's edge, and the point in the reader's hand.

import { inThePlane } from "../kit/keys.js";
import { painted } from "../kit/painted.js";
import { plane, pointIn } from "../kit/plane.js";
import { number } from "../kit/text.js";
import { between, decodeLetter, movedTo, projected, SIZE } from "../maths/latent.js";
import { upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { tiles } from "./letters.js";

export const SIDE = 320;
const ROOM = 1.12;
const RIM = 8;
/** Where a name hides no dot within the circle: right, left; above, below. */
const CORNERS = [
  [1, 1],
  [-1, 1],
  [-1, -1],
  [1, -1],
];
const [DOT, LARGE_DOT] = [2.6, 4.2];
const [NEAR, JITTER] = [9, 4];
const STEP = 0.2;
const COLOURS = [2, 3, 1, 0, 5];
/** A letter in each of so many by so many cells: a, whose shape tells most of a style. */
const [CELLS, LETTER, FAINT] = [7, 0, 0.4];
/** So many times on its way a walk brings the letters behind the map up to date. */
const STAGES = 12;

/** Where all codes fall on the plane, and how it lies on the drawing. */
export function chartOf({ codes, directions, edge, kinds, count }) {
  const places = codes.map((code) => projected(code, directions));
  const reach = Math.max(ROOM * edge, 1.05 * Math.max(...places.flat().map(Math.abs)));
  const field = plane({ x: [-reach, reach], y: [-reach, reach], width: SIDE, height: SIDE });
  const means = upTo(count - 1).flatMap((kind) => {
    const own = places.filter((_, i) => Number(kinds[i]) === kind);
    if (!own.length) return [];
    return [[0, 1].map((k) => own.reduce((sum, place) => sum + place[k], 0) / own.length)].map(
      (mean) => ({ kind, mean }),
    );
  });
  return { field, reach, dots: places.map(field.toPixel), means: cornered(means) };
}

/** Each kind's name in the corner that its dots are nearest to and that is free, the clearest first. */
function cornered(means) {
  const toward = ({ mean }, corner) => mean[0] * corner[0] + mean[1] * corner[1];
  const pairs = means.flatMap((one) =>
    CORNERS.map((corner) => ({ ...one, corner, near: toward(one, corner) })),
  );
  const taken = [];
  for (const pair of pairs.sort((a, b) => b.near - a.near)) {
    if (taken.every(({ kind, corner }) => kind !== pair.kind && corner !== pair.corner)) {
      taken.push(pair);
    }
  }
  return taken;
}

function kindName({ kind, corner: [right, up] }, names) {
  return svg`<text class="cw-halo" x=${right > 0 ? SIDE - RIM : RIM} y=${up > 0 ? 18 : SIDE - RIM}
    text-anchor=${right > 0 ? "end" : "start"}
    style="fill: var(--cw-series-${COLOURS[kind]})">${names[kind]}</text>`;
}

/** The code whose plane the map shows: on a walk it goes in stages, for its letters take time. */
const crossing = ({ playing, walking, walk, share, z }) =>
  playing && walking ? between(...walk, Math.round(share * STAGES) / STAGES) : z;

/** What the decoder draws in the middle of each cell of the plane, from the upper left on. */
export function letterField(now, ui) {
  const { decoder, directions, chart } = now;
  const code = movedTo(crossing(now), directions, [0, 0]);
  // A drag within the plane changes nothing of it, but by rounding.
  const across = code.map((part) => part.toFixed(4)).join(" ");
  return ui.memo("field", [decoder, chart, across], () => {
    const middle = (i) => chart.reach * ((2 * i + 1) / CELLS - 1);
    const places = upTo(CELLS * CELLS).map((at) => [
      middle(at % CELLS),
      -middle(Math.floor(at / CELLS)),
    ]);
    const codes = places.map((place) => movedTo(code, directions, place));
    return decodeLetter(decoder, LETTER, codes);
  });
}

/** Whether names stand in a cell: in the upper row, and in the corners. */
const bare = (row, column) =>
  row === 0 || (row === CELLS - 1 && Math.min(column, CELLS - 1 - column) < 2);

function paintField(context, canvas, width) {
  const side = width / CELLS;
  upTo(CELLS * CELLS).forEach((at) => {
    const [row, column] = [Math.floor(at / CELLS), at % CELLS];
    if (bare(row, column)) return;
    const from = [0, at * SIZE, SIZE, SIZE];
    context.drawImage(canvas, ...from, column * side, row * side, side, side);
  });
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
    const point = pointIn(event);
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
      if (!held?.drags) return; // Reset lets go
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

function ring({ chart, place, norm, facts }, ui, take) {
  const ink = norm > facts.edge ? "warm" : "ink";
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
    <circle class="cw-x-point" r="9" fill="none" stroke="var(--cw-${ink})" stroke-width="2.5"></circle>
  </g>`;
}

/** The ways between the codes that the tool is about. */
function ways({ chart, directions, tool, codes, walk, sum }) {
  const at = (code) => chart.field.toPixel(projected(code, directions)).join(" ");
  const ring = tool === "arithmetic";
  if (!ring && tool !== "walk") return nothing;
  const [regular, bold, italic] = sum ? sum.parts.map((i) => codes[i]) : [];
  const d = `M${(ring ? [regular, bold, sum.code, italic] : walk).map(at).join("L")}${ring ? "Z" : ""}`;
  return svg`<path d=${d} fill="none" stroke="var(--cw-ink)" stroke-width="2"
    stroke-dasharray="2 4" stroke-linecap="round"></path>`;
}

function named({ chart, faces, hovered }) {
  if (hovered < 0) return nothing;
  const [x, y] = chart.dots[hovered];
  const anchor = x > 0.7 * SIDE ? "end" : x < 0.3 * SIDE ? "start" : "middle";
  return svg`<text class="cw-halo cw-x-name" style="font-weight: 700"
    x=${x} y=${y > 24 ? y - 10 : y + 20}
    text-anchor=${anchor}>${faces.names[hovered]}</text>`;
}

/** Above the circle's top, or within it where there is no room: so low that the arc is beside it. */
function edgeName([x, middle], radius) {
  const top = middle - radius;
  return svg`<text class="cw-halo cw-x-beyond" x=${x} y=${top > 20 ? top - 6 : top + 30}
    text-anchor="middle">99 % of the prior</text>`;
}

/** @param {any} now @param {any} ui @param {(z: number[]) => void} take takes a code to be drawn */
export function map(now, ui, take) {
  const { chart, facts, faces } = now;
  const width = ui.width("map", SIDE);
  const letters = tiles(ui, "field's ink", now.field, FAINT);
  const inputs = [chart, width, letters];
  const paint = (context) => {
    paintField(context, letters, width);
    paintDots(context, { chart, faces, real: facts.real }, { ui, scale: width / SIDE });
  };
  const [x, y] = chart.field.toPixel([0, 0]);
  const radius = (facts.edge * SIDE) / (2 * chart.reach);
  const grip = hand(ui, take);
  return html`<div class="cw-layers cw-x-map" data-measure="map">
    <canvas role="img" aria-label="A letter as the decoder draws it all over the map, and dots, one for
      each of ${faces.names.length} typefaces"
      ${painted(ui, { width, height: width, inputs, paint })}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" role="group" aria-label="Map of typefaces"
      class="cw-x-hand" style="overflow: visible; cursor: crosshair"
      @pointerdown=${grip} @pointermove=${grip} @pointerleave=${grip} @click=${grip}>
      <circle class="cw-x-edge" cx=${x} cy=${y} r=${radius} fill="var(--cw-accent)"
        fill-opacity="0.09" stroke="var(--cw-accent)" stroke-width="1.5"></circle>
      ${edgeName([x, y], radius)}
      ${chart.means.map((one) => kindName(one, facts.kinds))}
      ${ways(now)} ${ring(now, ui, take)} ${named(now)}
    </svg>
  </div>`;
}
