// BasisExplorer's panels: functions as lines, and a basis as one line for each node.

import { inThePlane } from "../kit/keys.js";
import { painted } from "../kit/painted.js";
import { dragging, plane, stroking } from "../kit/plane.js";
import { ticks } from "../kit/scale.js";
import { number } from "../kit/text.js";
import { between } from "../maths/basis.js";
import { clamp } from "../maths/numerics.js";
import { MOST, pulled } from "../maths/rod.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { GRID } from "./bases.js";

const [MOST_NODES, CLOSEST] = [16, 0.01];
const HIGHEST = 1.5;
const STEP = { x: 0.02, y: 0.05 };
const ROUNDING = 1e-4;
// A little more than the nodes, whose ends are held by the hand too.
const ACROSS = [-0.025, 1.025];
/** Left of 0, for the numbers of the levels, and right of 1; in pixels. */
const [LEFT, RIGHT] = [40, 10];
const FAINT = 0.13;
const BASIS_HEIGHT = 104;
const NARROW = 420;
/** How high panels are, and on a telephone, where they stand one below the other. */
const HEIGHTS = { nodes: [186, 150], drawn: [120, 90], solution: [180, 150] };
const heightOf = (ui, panel) => HEIGHTS[panel][Number(ui.width("wide", 560) < NARROW)];

/** How each basis, and what it blends in each mode, is called and drawn. */
export const LOOKS = {
  hats: { title: "Hats", ink: "series-0", nodes: "hats", rod: "finite elements" },
  softmax: { title: "Softmax", ink: "series-1", nodes: "softmax", rod: "softmax blend" },
  learned: { title: "Learned", ink: "series-2", rod: "field" },
};

const rounded = (x) => Number(x.toFixed(4));

/** Whether nodes run from 0 to 1 and can be told apart. @param {number[][]} points */
export const canStand = (points) =>
  points.length <= MOST_NODES &&
  points[0][0] === 0 &&
  points[points.length - 1][0] === 1 &&
  points.every(([x], i) => i === 0 || x - points[i - 1][0] >= CLOSEST * (1 - ROUNDING));

/** A line through points of the data. */
const lineOf = (field, xs, ys) =>
  `M${xs.map((x, i) => field.toPixel([x, ys[i]]).map((part) => part.toFixed(1))).join("L")}`;

/** How far a line is from what it should be, where it is farthest. */
const apart = (field, { xs, wanted }, { name, u }, { at }) =>
  svg`<path data-farthest=${name} stroke=${`var(--cw-${LOOKS[name].ink})`} stroke-width="5"
    stroke-opacity="0.45" d=${lineOf(field, [xs[at], xs[at]], [wanted[at], u[at]])}></path>`;

const upright = (field, query, height) =>
  svg`<path class="cw-b-query" d="M${field.toPixel([query, 0])[0]} 0V${height}"
    stroke="var(--cw-ink)" stroke-dasharray="3 3"></path>`;

const ask = (ui, x) => ui.set({ query: Number(clamp(x, 0, 1).toFixed(2)) });

/** On a panel that nobody draws on, a press moves the query; a finger scrolls the page instead. */
const asking = (ui) => (field) =>
  stroking((pixel) => ask(ui, field.toData(pixel)[0]), { scrolls: true });

/** At the foot of the query's line, for the finger and the keyboard too. */
function queryHandle(ui, field, height) {
  const grip = dragging({
    moveTo: (pixel) => ask(ui, field.toData(pixel)[0]),
    moveBy: ([right]) => ask(ui, ui.now.query + STEP.x * right),
  });
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable query"
    aria-label="query at ${number(ui.now.query)}; arrow keys move it"
    transform="translate(${field.toPixel([ui.now.query, 0])[0]} ${height - 11})"
    @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="18" fill="transparent"></circle>
    <path d="M-4 -8L-15 0L-4 8zM4 -8L15 0L4 8z" fill="var(--cw-ink)" stroke="var(--cw-paper)"></path>
  </g>`;
}

/** A frame with levels, the query's place, and whatever is drawn in it. */
function frame(ui, { name, label, height, range, levels, content, grip = asking(ui) }) {
  const width = ui.width(name, 560);
  const along = Math.max(1, width - LEFT - RIGHT);
  const across = [-LEFT / along, 1 + RIGHT / along];
  const field = plane({ x: across, y: range, width, height });
  const level = ([y, text]) => {
    const [, at] = field.toPixel([0, y]);
    return svg`<path d="M${LEFT - 8} ${at}H${width}" stroke="var(--cw-line)"></path>
      <text x=${LEFT - 12} y=${clamp(at + 4, 9, height - 2)} text-anchor="end"
        class="cw-small">${text}</text>`;
  };
  const act = grip(field);
  return html`<div class="cw-layers" data-measure=${name} style="height: ${height}px">
    <svg viewBox="0 0 ${width} ${height}" role="group" aria-label=${label}
      @pointerdown=${act} @pointermove=${act}>
      ${levels.map(level)}${upright(field, ui.now.query, height)}${content(field)}
    </svg>
  </div>`;
}

/** @returns {[number, string][]} @param {number[]} range @param {number} count */
const roundLevels = ([low, high], count) =>
  ticks(low, high, count).map((y) => [y, number(y, high - low < 1 ? 2 : 1)]);

const path = (name, d, ink) =>
  svg`<path data-line=${name} d=${d} fill="none" stroke=${`var(--cw-${ink})`} stroke-width="2.5"></path>`;

/** What the bases blend, and what it should be. */
const blends = (field, { xs, wanted, bases, mode }) => [
  svg`<path data-line="wanted" class=${`cw-b-wanted-${mode}`} d=${lineOf(field, xs, wanted)}
    fill="none" stroke="var(--cw-ink)"></path>`,
  bases.map(({ name, u }) => path(name, lineOf(field, xs, u), LOOKS[name].ink)),
];

function nodeHandle(ui, field, i) {
  const { points } = ui.now;
  const [x, y] = points[i];
  const count = points.length;
  const end = i === 0 || i === count - 1;
  const moveTo = ([toX, toY]) => {
    // What the node does is compared at one temperature.
    ui.play(false);
    const { points } = ui.now;
    // Another number of nodes was chosen before the picture followed.
    if (points.length !== count) return;
    const free = end
      ? points[i][0]
      : clamp(toX, points[i - 1][0] + CLOSEST, points[i + 1][0] - CLOSEST);
    ui.set({ points: points.with(i, [rounded(free), rounded(clamp(toY, -HIGHEST, HIGHEST))]) });
  };
  const grip = dragging({
    moveTo: (pixel) => moveTo(field.toData(pixel)),
    moveBy: ([right, up]) => {
      const [fromX, fromY] = ui.now.points[i];
      moveTo([fromX + STEP.x * right, fromY + STEP.y * up]);
    },
  });
  const [px, py] = field.toPixel([x, y]);
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable node"
    aria-label="node ${i + 1} at ${number(x)}, value ${number(y)}; arrow keys move it"
    transform="translate(${px} ${py})" @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="18" fill="transparent"></circle>
    <circle r="7" fill="var(--cw-ink)" stroke="var(--cw-paper)" stroke-width="2"></circle>
  </g>`;
}

/** Nodes and values under the hand, and what hats and softmax make of them. */
export function nodesPanel(now, ui) {
  const range = [-HIGHEST - 0.2, HIGHEST + 0.2];
  const height = heightOf(ui, "nodes");
  return frame(ui, {
    name: "wide",
    label: "Nodes with their values, and what is blended of them",
    ...{ height, range },
    levels: roundLevels([-1, 1], 3),
    content: (field) => [
      now.bases.map((basis, i) => apart(field, now, basis, now.farthest[i])),
      blends(field, now),
      queryHandle(ui, field, height),
      now.points.map((_, i) => nodeHandle(ui, field, i)),
    ],
  });
}

/** The temperature of the rod: as it is, and as each basis has it. */
export function solutionPanel(now, ui) {
  const every = [now.wanted, ...now.bases.map(({ u }) => u)].flat();
  // A flame is seen to warm the rod on a scale that stands still, until it goes out.
  const warmest = now.flame ? now.warmest : 0;
  const [low, high] = [Math.min(-0.04 * warmest, ...every), Math.max(1.15 * warmest, ...every)];
  const room = 0.08 * (high - low || 1);
  const [range, height] = [[low - room, high + room], heightOf(ui, "solution")];
  return frame(ui, {
    ...{ name: "wide", label: "Temperature u along the rod", range, height },
    levels: roundLevels(range, 4),
    // Between the ends of the rod the curves keep away from 0; there is room for a name.
    content: (field) => [
      blends(field, now),
      queryHandle(ui, field, height),
      svg`<text class="cw-small cw-halo" text-anchor="middle" x=${field.toPixel([0.69, 0])[0]}
        y=${high > -low ? height - 16 : 24}>wide band: the solution</text>`,
    ],
  });
}

/** What goes along the rod for a while, and is no part of what was drawn: its name, off the curve. */
const guestName = (field, [, name, place], height) => {
  const [x] = field.toPixel([clamp(place, 0.06, 0.94), 0]);
  const y = name === "flame" ? height - 5 : 12;
  return svg`<text class="cw-small cw-halo cw-b-guest" text-anchor="middle" x=${x} y=${y}>${name}</text>`;
};

/** A curve that is drawn by hand: by mouse anywhere, by finger and by keyboard at its ring. */
export function drawnPanel(now, ui, name, { label, levels, ink }) {
  const holdAt = (x) => ({ hands: { ...ui.now.hands, [name]: x } });
  const pull = (from, to) =>
    ui.set({ [name]: pulled(ui.now[name], GRID, from, to), ...holdAt(to[0]) });
  const at = now.hands[name];
  const height = between(at, GRID, now[name]);
  const keys = inThePlane(([right, up]) => {
    const x = clamp(ui.now.hands[name] + STEP.x * right, 0, 1);
    if (!up) return ui.set(holdAt(x));
    const to = [x, clamp(between(x, GRID, ui.now[name]) + 2 * STEP.y * up, -MOST, MOST)];
    pull(to, to);
  });
  const grip = (field) =>
    stroking(
      (pixel, { type }) => {
        const [x, y] = field.toData(pixel);
        const to = [clamp(x, 0, 1), clamp(y, -MOST, MOST)];
        const before = ui.now.hands[name];
        pull(type === "pointerdown" ? to : [before, between(before, GRID, ui.now[name])], to);
      },
      { scrolls: true },
    );
  const ring = ([x, y]) => svg`<g class="cw-handle" tabindex="0" role="button"
    aria-roledescription="movable point of a curve" transform="translate(${x} ${y})" @keydown=${keys}
    aria-label="${label}: ${number(height)} at x = ${number(at)}; up and down pull it, left and right
    move along it"><circle r="20" fill="transparent"></circle>
    <circle r="7" fill="var(--cw-paper)" stroke=${`var(--cw-${ink})`} stroke-width="3"></circle></g>`;
  return html`<div><p class="cw-b-title">${label}</p>${frame(ui, {
    ...{
      name,
      label,
      height: heightOf(ui, "drawn"),
      range: [-MOST - 0.3, MOST + 0.3],
      levels,
      grip,
    },
    content: (field) => [
      path(name, lineOf(field, GRID, now[name]), ink),
      ring(field.toPixel([at, height])),
      now.guest?.[0] === name ? guestName(field, now.guest, heightOf(ui, "drawn")) : nothing,
    ],
  })}</div>`;
}

/** A basis: for each node the weight that a point gives it; the heaviest at the query is filled. */
export function basisPanel(now, ui, { name, rows, weights }, told) {
  const { xs, nodes, query } = now;
  const { title, ink } = LOOKS[name];
  // Hats stand behind the softmax, which melts away from them.
  const behind = name === "softmax" ? now.bases[0].rows : [];
  const width = ui.width(name, 280);
  // Of a softmax it is to be seen how flat it gets. What was learned may be flat throughout.
  const top =
    name === "learned"
      ? ui.memo("top", [rows], () => Math.max(...rows.map((row) => Math.max(...row))))
      : 1;
  const field = plane({ x: ACROSS, y: [-0.04 * top, 1.2 * top], width, height: BASIS_HEIGHT });
  const [, peak] = field.toPixel([0, top]);
  const most = weights.indexOf(Math.max(...weights));
  const paint = (context) => {
    const across = xs.map((x) => field.toPixel([x, 0])[0]);
    const trace = (i, lines = rows) => {
      context.beginPath();
      lines.forEach((row, p) => context.lineTo(across[p], field.toPixel([0, row[i]])[1]));
    };
    context.setLineDash([3, 3]);
    context.strokeStyle = ui.theme.ink(LOOKS.hats.ink);
    // More nodes than can be moved are one pattern: only the heaviest is drawn as it is.
    const many = nodes.length > MOST_NODES;
    nodes.forEach((_, i) => {
      if (many && i !== most) return;
      trace(i, behind);
      context.stroke();
    });
    context.setLineDash([]);
    context.globalAlpha = many ? FAINT : 1;
    context.strokeStyle = ui.theme.ink(ink);
    context.fillStyle = ui.theme.ink(ink);
    context.lineWidth = 1.25;
    nodes.forEach((_, i) => {
      trace(i);
      context.stroke();
    });
    context.globalAlpha = 1;
    trace(most);
    context.lineWidth = 3;
    context.stroke();
    context.lineTo(across.at(-1), BASIS_HEIGHT);
    context.lineTo(across[0], BASIS_HEIGHT);
    context.globalAlpha = 0.2;
    context.fill();
  };
  const inputs = [rows, most, behind];
  const press = asking(ui)(field);
  return html`<div data-basis=${name}>
    <p class="cw-b-title"><strong style="color: var(--cw-${ink})">${title}</strong>${told}</p>
    <div class="cw-layers" data-measure=${name}
      style="height: ${BASIS_HEIGHT}px">
      <canvas role="img" aria-label="${title}: the weight of each of ${nodes.length} nodes along x"
        ${painted(ui, { width, height: BASIS_HEIGHT, inputs, paint })}></canvas>
      <svg viewBox="0 0 ${width} ${BASIS_HEIGHT}" aria-hidden="true"
        @pointerdown=${press} @pointermove=${press}>
        ${upright(field, query, BASIS_HEIGHT)}
        <path d="M0 ${peak}H${width}" stroke="var(--cw-line)"></path>
        <text x="4" y=${peak - 5} class="cw-small">${number(top)}</text>
        <circle cx=${field.toPixel([query, 0])[0]} cy=${field.toPixel([0, weights[most]])[1]} r="4"
          fill="var(--cw-ink)" data-most=${weights[most]}></circle>
      </svg>
    </div>
  </div>`;
}
