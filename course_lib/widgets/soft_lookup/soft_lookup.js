import { plain, rows, vector } from "../kit/array.js";
import { choices, series, slider } from "../kit/controls.js";
import { textWidth } from "../kit/lettering.js";
import { painted } from "../kit/painted.js";
import { dragging, first, plane, pointIn } from "../kit/plane.js";
import { playButton } from "../kit/play.js";
import { sharing } from "../kit/sharing.js";
import { weightTable } from "../kit/table.js";
import { number } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { contourSegments, segmentPath } from "../maths/contour.js";
import { clearest, placesAbout } from "../maths/labels.js";
import { lookupScores, softLookup } from "../maths/lookup.js";
import { clamp, dot, smoothstep, upTo } from "../maths/numerics.js";
import { alongTour, stopsOf } from "../maths/tour.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const SIDE = 320;
const REACH = 1.5;
// What stands at the rim of its reach is seen whole, name and all.
const EDGE = 1.75;
const GRID = 57;
const LEVELS = 9;
/** How wide the thread of a whole weight is; what would be finer than the finest has none. */
const [THICKEST, FINEST] = [12, 0.1];
/** Half as wide as a thread that a label may lie upon. */
const SLENDER = 0.75;
/** A line of equal answers that ran up to a key would look like its thread. */
const CLEARANCE = 18;
const STEP = 0.05;
/** After the walk the temperature goes from where it stands to the coldest, the hottest and back. */
const [SECONDS_OF_A_WALK, SECONDS_OF_HEAT] = [6, 6];
const [COLD, HOT] = [0.02, 6];
/** How far its label keeps from a key and from the query, and how high it is. */
const [KEY_RADIUS, QUERY_RADIUS, LABEL_SIZE, LABEL_HEIGHT] = [10, 14, 13, 17];
/** So that threads, lines and labels stand out from the colours of the plane. */
const OPACITY = 85;
/** @type {[string, string][]} */
const SIMILARITIES = [
  ["distance", "distance"],
  ["dot", "dot product"],
  ["cosine", "cosine"],
];
const PLANE = plane({ x: [-EDGE, EDGE], y: [-EDGE, EDGE], width: SIDE, height: SIDE });
/** The beam of answers: where it lies, how long it is, and how large a whole weight is. */
const BEAM = { height: 68, y: 32, left: 15, length: SIDE - 30, ball: 14 };

const placed = (point) => point.map((part) => Number(clamp(part, -REACH, REACH).toFixed(3)));

/** What is looked up at every point of a grid over the plane, row by row from the top. */
function lookedUp(keys, values, similarity, temperature) {
  const across = (i) => (i / (GRID - 1)) * SIDE;
  return upTo(GRID * GRID).map((i) => {
    const query = PLANE.toData([across(i % GRID), across(Math.floor(i / GRID))]);
    return softLookup(query, keys, values, similarity, temperature);
  });
}

/** The lines along which the value stays the same, at equal steps between the extremes. */
function isolines(found, lowest, highest) {
  const field = Float64Array.from(found, ({ value }) => value);
  const paths = Array.from({ length: LEVELS }, (_, level) => {
    const height = lowest + ((highest - lowest) * (level + 1)) / (LEVELS + 1);
    return segmentPath(contourSegments(field, GRID, GRID, height), SIDE / (GRID - 1), 0);
  });
  return paths.join("");
}

/** An answer has no more digits than the values that it is made of: one, where these have no more. */
const answered = (values, value) =>
  number(value, values.every((one) => Math.abs(10 * one - Math.round(10 * one)) < 1e-4) ? 1 : 2);

/** How wide a name is with its value in bold behind it. */
const labelWidth = (name, value) =>
  textWidth(`${name} `, LABEL_SIZE) + textWidth(value, LABEL_SIZE, 800) + 2;

/** The square about a mark. @param {number[]} mark @param {number} radius */
const around = ([x, y], radius) => {
  return { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
};

const marksOf = (keys) => keys.map((key) => around(PLANE.toPixel(key), KEY_RADIUS));

/** The threads as small squares along them, so that a label may keep clear of those that are thick. */
function threadBoxes({ query, key_points }, weights) {
  const [x, y] = PLANE.toPixel(query);
  return key_points.flatMap((key, i) => {
    const half = (THICKEST * weights[i]) / 2;
    if (half < SLENDER) return [];
    const [dx, dy] = PLANE.toPixel(key).map((end, side) => end - [x, y][side]);
    const count = Math.ceil(Math.hypot(dx, dy) / (2 * half));
    return upTo(count).map((n) => around([x + (n / count) * dx, y + (n / count) * dy], half));
  });
}

/** A label for each key, which covers no other, no mark and no thread, as far as there is room. */
function keyLabels({ names, key_points, values, query }, threads) {
  const taken = [...marksOf(key_points), around(PLANE.toPixel(query), QUERY_RADIUS), ...threads];
  return names.map((name, i) => {
    const width = labelWidth(name, number(values[i], 1));
    const [mark, radius] = [PLANE.toPixel(key_points[i]), KEY_RADIUS];
    const [below, above, ...aside] = placesAbout(mark, radius, width, LABEL_HEIGHT, SIDE);
    const label = clearest([above, below, ...aside], taken);
    taken.push(label);
    return label;
  });
}

/** The label of the query keeps clear of those of the keys. */
function queryLabel({ asker, key_points, query, values }, labels, value, threads) {
  const width = labelWidth(asker, answered(values, value));
  const mark = PLANE.toPixel(query);
  const taken = [...labels, ...marksOf(key_points), ...threads];
  const places = [QUERY_RADIUS, 2 * QUERY_RADIUS].flatMap((radius) =>
    placesAbout(mark, radius, width, LABEL_HEIGHT, SIDE),
  );
  return clearest(places, taken);
}

function derive(now, { memo }) {
  const { names, key_points, values, query, similarity, temperature } = now;
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const field = memo("field", [key_points, similarity, temperature], () =>
    lookedUp(key_points, values, similarity, temperature),
  );
  const found = softLookup(query, key_points, values, similarity, temperature);
  const known = [names, key_points, values, query, similarity, temperature];
  const threads = memo("threads", known, () => threadBoxes(now, found.weights));
  const labels = memo("labels", known, () => keyLabels(now, threads));
  return {
    field,
    lowest,
    highest,
    lines: memo("lines", [field], () => isolines(field, lowest, highest)),
    score: lookupScores(query, key_points, similarity),
    labels,
    label: queryLabel(now, labels, found.value, threads),
    ...found,
  };
}

/** As the pixels of an image, each key's colour in proportion to its weight. */
function tint({ field, names }, { theme }) {
  const colours = names.map((_, i) => theme.rgb(`series-${i % 6}`));
  const pixels = new ImageData(GRID, GRID);
  field.forEach(({ weights }, i) => {
    const mixed = [0, 1, 2].map((part) =>
      dot(
        weights,
        colours.map((colour) => colour[part]),
      ),
    );
    pixels.data.set([...mixed, OPACITY], 4 * i);
  });
  return pixels;
}

/** A name and its value, in the box that is kept for them about a mark at [x, y]. */
const labelled = (box, [x, y], name, value) => svg`<text class="cw-halo"
  x=${box.x + 1 - x} y=${box.y + 13 - y}>${name}
  <tspan class="cw-lookup-value" style="font-weight: 800">${value}</tspan></text>`;

const place = ([x, y]) => `at ${number(x)}, ${number(y)}; arrow keys move it`;
/** @returns {number[]} @param {number[]} from @param {number[]} step */
const moved = ([x, y], [dx, dy]) => placed([x + STEP * dx, y + STEP * dy]);

function keyHandle({ names, key_points, values, labels }, ui, i) {
  const key = key_points[i];
  const moveTo = (point) => ui.set({ key_points: key_points.with(i, point) });
  const [x, y] = PLANE.toPixel(key);
  const grip = dragging({
    at: [x, y],
    moveTo: (pixel) => moveTo(placed(PLANE.toData(pixel))),
    moveBy: (step) => moveTo(moved(key, step)),
  });
  return svg`<g class="cw-handle" tabindex="0" role="button" aria-roledescription="movable key"
    aria-label="key ${names[i]} ${place(key)}" transform="translate(${x} ${y})"
    @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="20" fill="transparent"></circle>
    <circle r="8" fill=${series(i)} stroke="var(--cw-paper)" stroke-width="2"></circle>
    ${labelled(labels[i], [x, y], names[i], number(values[i], 1))}
  </g>`;
}

function queryHandle({ asker, query, value, values, label }, ui) {
  const [x, y] = PLANE.toPixel(query);
  const grip = dragging({
    at: [x, y],
    moveTo: (pixel) => ui.set({ query: placed(PLANE.toData(pixel)) }),
    moveBy: (step) => ui.set({ query: moved(ui.now.query, step) }),
  });
  return svg`<g class="cw-handle cw-query" tabindex="0" role="button"
    aria-roledescription="movable query" aria-label="${asker} ${place(query)}"
    transform="translate(${x} ${y})" @pointerdown=${grip} @pointermove=${grip} @keydown=${grip}>
    <circle r="24" fill="transparent"></circle>
    <path d="M0 -12L12 0L0 12L-12 0Z" fill="var(--cw-ink)" stroke="var(--cw-paper)"
      stroke-width="2"></path>
    ${labelled(label, [x, y], asker, answered(values, value))}
  </g>`;
}

function link({ query, key_points, weights }, i) {
  const width = THICKEST * weights[i];
  if (width < FINEST) return nothing;
  const [[x1, y1], [x2, y2]] = [query, key_points[i]].map(PLANE.toPixel);
  return svg`<line x1=${x1} y1=${y1} x2=${x2} y2=${y2} stroke=${series(i)}
    stroke-width=${width} stroke-linecap="round"></line>`;
}

/** @param {number[]} place */
const clearing = ([x, y]) => svg`<circle cx=${x} cy=${y} r=${CLEARANCE} fill="black"></circle>`;

function picture(now, ui) {
  const jump = (event) => {
    if (event.target.closest(".cw-handle")) return;
    ui.set({ query: placed(PLANE.toData(pointIn(event))) });
  };
  const paint = (context) => context.putImageData(tint(now, ui), 0, 0);
  const cells = { width: GRID, height: GRID, inputs: [now.field], paint, cells: true };
  return html`<div class="cw-layers">
    <canvas aria-hidden="true" ${painted(ui, cells)}></canvas>
    <svg viewBox="0 0 ${SIDE} ${SIDE}" class="cw-plane" role="group"
      aria-label="Plane of keys and query" style="cursor: crosshair" @click=${jump}>
      <path d="M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}" stroke="var(--cw-line)"></path>
      <mask id="${ui.id}-clear"><rect width=${SIDE} height=${SIDE} fill="white"></rect>
        ${now.key_points.map((key) => clearing(PLANE.toPixel(key)))}</mask>
      <path fill="none" stroke="var(--cw-muted)" stroke-dasharray="1.5 3" opacity="0.8"
        d=${now.lines} mask="url(#${ui.id}-clear)"></path>
      ${now.names.map((_, i) => link(now, i))} ${now.names.map((_, i) => keyHandle(now, ui, i))}
      ${queryHandle(now, ui)}
    </svg>
  </div>`;
}

/** The weights as balls on a beam, each at its value: the answer is where the beam balances. */
function beam({ values, weights, value, lowest, highest }) {
  const { height, y, left, length, ball } = BEAM;
  const share = (v) => (highest > lowest ? (v - lowest) / (highest - lowest) : 0.5);
  const at = (v) => left + length * share(v);
  const weight = (w, i) => {
    const r = ball * Math.sqrt(w);
    return svg`<circle data-weight=${w} cx=${at(values[i])} cy=${y - r} r=${r} fill=${series(i)}
      fill-opacity="0.8"></circle>`;
  };
  const mark = (v, i) =>
    svg`<path d="M${at(v)} ${y}v8" stroke=${series(i)} stroke-width="3"></path>`;
  const end = (v, x, anchor) => svg`<text x=${x} y=${y + 34} text-anchor=${anchor}
    class="cw-small">${number(v, 1)}</text>`;
  return html`<svg viewBox="0 0 ${SIDE} ${height}" aria-hidden="true" class="cw-lookup-beam">
    <rect x=${left} y=${y} width=${length} height="8" fill="none" stroke="var(--cw-edge)"></rect>
    ${values.map(mark)}${weights.map(weight)}
    <path class="cw-lookup-answer" fill="var(--cw-ink)" d="M${at(value)} ${y + 9}l7 13h-14z"></path>
    ${lowest < highest ? [end(lowest, left, "start"), end(highest, left + length, "end")] : nothing}
  </svg>`;
}

function table({ names, values, score, weights }) {
  const row = (name, i) => ({
    name,
    colour: series(i),
    numbers: [number(values[i], 1), number(score[i]), number(weights[i], 3)],
    length: weights[i],
  });
  const columns = ["value", "score", "weight"];
  return weightTable({
    caption: "What the query finds",
    heading: "key",
    columns,
    rows: names.map(row),
  });
}

/** The temperature at a share of its way: in equal ratios, slow where it turns. */
function heated(start, share) {
  const stops = [start, COLD, HOT, start];
  const part = Math.min(stops.length - 2, Math.floor(share * (stops.length - 1)));
  const [low, high] = [stops[part], stops[part + 1]];
  return Number(
    (low * (high / low) ** smoothstep(share * (stops.length - 1) - part)).toPrecision(4),
  );
}

/**
 * The query wanders past the keys and stands where it stood; then the lookup cools down, heats up
 * and is again as it was.
 */
function advance({ query, temperature, from, walked, key_points }, ui, seconds) {
  const start = from ?? { query, temperature };
  const passed = walked + seconds;
  if (passed >= SECONDS_OF_A_WALK + SECONDS_OF_HEAT) {
    ui.set({ ...start, from: null, walked: 0 });
    ui.play(false);
  } else if (passed < SECONDS_OF_A_WALK) {
    const stops = ui.memo("stops", [start.query, key_points], () =>
      stopsOf(start.query, key_points),
    );
    const stand = alongTour(stops, smoothstep(passed / SECONDS_OF_A_WALK));
    ui.set({ query: placed(stand), from: start, walked: passed });
  } else {
    const share = (passed - SECONDS_OF_A_WALK) / SECONDS_OF_HEAT;
    const now = { query: start.query, temperature: heated(start.temperature, share) };
    ui.set({ ...now, from: start, walked: passed });
  }
}

/** What a hand does ends the walk where the query stands; the button of the walk does so itself. */
const ends = (ui) => (event) => {
  if (event.target.closest("button") || ["Tab", "Shift"].includes(event.key)) return;
  if (ui.now.from === null) return;
  ui.play(false);
  ui.set({ from: null, walked: 0 });
};

function view(now, ui) {
  const temperature = { label: "Temperature τ", min: 0.02, max: 10, logarithmic: true };
  return html`<div @pointerdown=${first(ends(ui))} @keydown=${ends(ui)}>
    <div class="cw-controls cw-lookup-controls">
      ${choices(ui, "similarity", { label: "Similarity", options: SIMILARITIES })}
      ${playButton(ui, { start: "Play", stop: "❚❚ Pause" })}
      ${slider(ui, "temperature", { ...temperature, format: number })}
    </div>
    <div class="cw-columns">
      <div>${picture(now, ui)}</div>
      <div>
        ${beam(now)}
        <div>
          <p class="cw-readout">Answer: <strong>${answered(now.values, now.value)}</strong> ${now.unit}</p>
          <p class="cw-hint">${sharing(now.weights, (i) => now.names[i])}.</p>
        </div>
        ${table(now)}
      </div>
    </div></div>`;
}

const HOW =
  "Drag the diamond or any key, or click in the plane. With the keyboard: Tab to it, then the arrow " +
  "keys. A place has the colours of the keys that a query there finds, by their weights; along a " +
  "dotted line the answer stays the same. On the beam each weight lies at its value, and the beam balances at the answer, Σ weight × value.";

function words({ names, weights, value, values, unit }) {
  const shares = names
    .map((name, i) => `${name} ${number(100 * weights[i], 0)} percent`)
    .join(", ");
  return `The answer is ${answered(values, value)} ${unit}. Weights: ${shares}.`;
}

export default widget({
  label: "Soft lookup: drag the query among the keys",
  name: "cw-lookup cw-quiet",
  data: { names: plain, values: vector, unit: plain, asker: plain },
  controls: { key_points: rows, query: vector, temperature: plain, similarity: plain },
  local: { from: null, walked: 0 },
  atSight: (ui) => ui.play(true),
  derive,
  view,
  advance,
  words,
  how: () => HOW,
  began: ({ query, similarity, temperature }) =>
    `the query at ${query.map((part) => number(part)).join(", ")}, ${similarity}, ` +
    `τ = ${number(temperature)}`,
});
