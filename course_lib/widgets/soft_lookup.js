import { decodeArray, decodeRows, encodeArray } from "./js/array.js";
import { weightTable } from "./js/bars.js";
import { announcer, choices, slider } from "./js/controls.js";
import { contourSegments, segmentPath } from "./js/contour.js";
import { html, number, svg, widgetRoot } from "./js/dom.js";
import { draggable, pointIn } from "./js/drag.js";
import { frameScheduler, onChange } from "./js/frame.js";
import { dot, softmax } from "./js/numerics.js";

/** How alike a query and each key are: their dot product, its cosine, or minus the squared distance. */
export function lookupScores(query, keys, similarity) {
  if (similarity === "dot") return keys.map((key) => dot(query, key));
  if (similarity === "cosine") {
    const length = (v) => Math.max(Math.hypot(...v), 1e-8);
    return keys.map((key) => dot(query, key) / (length(query) * length(key)));
  }
  return keys.map((key) => -key.reduce((sum, k, i) => sum + (query[i] - k) ** 2, 0));
}

/** Soft lookup: softmax(score / temperature) weighs the keys; the values are blended with it. */
export function softLookup(query, keys, values, similarity, temperature) {
  const weights = softmax(lookupScores(query, keys, similarity), temperature);
  return { weights, value: dot(weights, values) };
}

const SIDE = 320;
const REACH = 1.5;
const GRID = 41;
const LEVELS = 9;
const STEP = 0.05;

// Mid-blue reads on a light and on a dark ground alike; its opacity is the looked-up value.
const TINT = [40, 130, 200];
const DEEPEST_TINT = 110;

const toScreen = ([x, y]) => [((x + REACH) / (2 * REACH)) * SIDE, ((REACH - y) / (2 * REACH)) * SIDE];
const toData = ([x, y]) => [(x / SIDE) * 2 * REACH - REACH, REACH - (y / SIDE) * 2 * REACH];
const inside = (v) => Number(Math.max(-REACH, Math.min(REACH, v)).toFixed(3));

/** The looked-up value at every point of a grid over the plane, row by row from the top. */
function valueField(keys, values, similarity, temperature) {
  const field = new Float64Array(GRID * GRID);
  for (let row = 0; row < GRID; row += 1) {
    for (let column = 0; column < GRID; column += 1) {
      const query = toData([(column / (GRID - 1)) * SIDE, (row / (GRID - 1)) * SIDE]);
      field[row * GRID + column] = softLookup(query, keys, values, similarity, temperature).value;
    }
  }
  return field;
}

/** The field as the pixels of an image: the larger the value, the deeper the tint. */
function tintPixels(field, lowest, highest) {
  const pixels = new ImageData(GRID, GRID);
  field.forEach((value, i) => {
    const share = highest > lowest ? (value - lowest) / (highest - lowest) : 0;
    pixels.data.set([...TINT, DEEPEST_TINT * share], 4 * i);
  });
  return pixels;
}

/** Labels near the rim grow inwards, so that none is cut off. */
function labelAnchor(x) {
  if (x < SIDE / 4) return "start";
  return x > (3 * SIDE) / 4 ? "end" : "middle";
}

function render({ model, el }) {
  const names = model.get("names");
  const values = Array.from(decodeArray(model.get("values")).values);
  const unit = model.get("unit");
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const colour = (i) => `var(--cw-series-${i % 6})`;

  const isolines = svg("path", { fill: "none", stroke: "var(--cw-edge)", "stroke-width": 1, opacity: 0.75 });
  const links = names.map((_, i) => svg("line", { stroke: colour(i), "stroke-linecap": "round" }));
  const keyHandles = names.map((name, i) =>
    svg(
      "g",
      { class: "cw-handle", tabindex: 0, role: "button", "aria-roledescription": "movable key", style: "touch-action: none; cursor: grab" },
      svg("circle", { r: 20, fill: "transparent" }),
      svg("circle", { r: 8, fill: colour(i), stroke: "var(--cw-paper)", "stroke-width": 2 }),
      svg("text", { y: -14, class: "cw-halo" }, name),
    ),
  );
  const queryHandle = svg(
    "g",
    { class: "cw-handle cw-query", tabindex: 0, role: "button", "aria-roledescription": "movable query", style: "touch-action: none; cursor: grab" },
    svg("circle", { r: 24, fill: "transparent" }),
    svg("path", { d: "M0 -12L12 0L0 12L-12 0Z", fill: "var(--cw-ink)", stroke: "var(--cw-paper)", "stroke-width": 2 }),
    svg("text", { y: 28, class: "cw-halo", "text-anchor": "middle" }, "query"),
  );
  const plane = svg(
    "svg",
    { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "cw-plane", role: "group", "aria-label": "Plane of keys and query" },
    svg("path", { d: `M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}`, stroke: "var(--cw-line)" }),
    isolines,
    ...links,
    ...keyHandles,
    queryHandle,
  );
  plane.style.cursor = "crosshair";
  const tint = html("canvas", { width: GRID, height: GRID, "aria-hidden": "true" });

  const table = weightTable({
    caption: `What the query finds`,
    names,
    columns: ["value", "score", "weight"],
    colours: names.map((_, i) => colour(i)),
  });
  const blended = html("strong", { "data-value": "" });
  const { region, announce } = announcer(() => describe(current()));

  function current() {
    const keys = decodeRows(model.get("key_points"));
    const query = Array.from(decodeArray(model.get("query")).values);
    const similarity = model.get("similarity");
    const temperature = model.get("temperature");
    const score = lookupScores(query, keys, similarity);
    return { keys, query, score, similarity, temperature, ...softLookup(query, keys, values, similarity, temperature) };
  }

  function describe({ weights, value }) {
    const shares = names.map((name, i) => `${name} ${number(100 * weights[i], 0)} percent`).join(", ");
    return `The answer is ${number(value)} ${unit}. Weights: ${shares}.`;
  }

  let drawnField = "";
  function drawIsolines({ keys, similarity, temperature }) {
    const signature = JSON.stringify([keys, similarity, temperature]);
    if (signature === drawnField) return;
    drawnField = signature;
    const field = valueField(keys, values, similarity, temperature);
    const paths = [];
    for (let level = 1; level <= LEVELS; level += 1) {
      const height = lowest + ((highest - lowest) * level) / (LEVELS + 1);
      paths.push(segmentPath(contourSegments(field, GRID, GRID, height), SIDE / (GRID - 1), 0));
    }
    isolines.setAttribute("d", paths.join(""));
    tint.getContext("2d").putImageData(tintPixels(field, lowest, highest), 0, 0);
  }

  function draw() {
    const state = current();
    const [qx, qy] = toScreen(state.query);
    queryHandle.setAttribute("transform", `translate(${qx} ${qy})`);
    queryHandle.setAttribute("aria-label", `query at ${number(state.query[0])}, ${number(state.query[1])}; arrow keys move it`);
    state.keys.forEach((key, i) => {
      const [kx, ky] = toScreen(key);
      keyHandles[i].setAttribute("transform", `translate(${kx} ${ky})`);
      keyHandles[i].lastChild.setAttribute("text-anchor", labelAnchor(kx));
      keyHandles[i].setAttribute("aria-label", `key ${names[i]} at ${number(key[0])}, ${number(key[1])}; arrow keys move it`);
      for (const [name, coordinate] of [["x1", qx], ["y1", qy], ["x2", kx], ["y2", ky]]) links[i].setAttribute(name, coordinate);
      links[i].setAttribute("stroke-width", 12 * state.weights[i]);
    });
    drawIsolines(state);
    table.update(
      names.map((_, i) => [number(values[i], 1), number(state.score[i]), number(state.weights[i], 3)]),
      state.weights,
    );
    blended.textContent = number(state.value);
    announce();
  }

  function moveQuery(point) {
    model.set("query", encodeArray([2], point.map(inside)));
    model.save_changes();
  }
  function moveKey(i, point) {
    const keys = decodeRows(model.get("key_points"));
    keys[i] = point.map(inside);
    model.set("key_points", encodeArray([keys.length, 2], keys.flat()));
    model.save_changes();
  }
  draggable(queryHandle, plane, {
    moveTo: (point) => moveQuery(toData(point)),
    moveBy: ([dx, dy]) => {
      const { query } = current();
      moveQuery([query[0] + STEP * dx, query[1] + STEP * dy]);
    },
  });
  keyHandles.forEach((handle, i) => {
    draggable(handle, plane, {
      moveTo: (point) => moveKey(i, toData(point)),
      moveBy: ([dx, dy]) => {
        const key = current().keys[i];
        moveKey(i, [key[0] + STEP * dx, key[1] + STEP * dy]);
      },
    });
  });
  plane.addEventListener("click", (event) => {
    if (!event.target.closest(".cw-handle")) moveQuery(toData(pointIn(plane, event)));
  });

  const root = widgetRoot(
    el,
    "Soft lookup: drag the query among the keys",
    html(
      "div",
      { class: "cw-controls" },
      choices(model, "similarity", {
        label: "Similarity",
        options: [["distance", "distance"], ["dot", "dot product"], ["cosine", "cosine"]],
      }),
      slider(model, "temperature", { label: "Temperature τ", min: 0.02, max: 10, logarithmic: true, format: (t) => number(t) }),
    ),
    html(
      "div",
      { class: "cw-columns" },
      html("div", { class: "cw-layers" }, tint, plane),
      html(
        "div",
        {},
        table.table,
        html("p", { class: "cw-readout" }, "Answer: Σ weight × value = ", blended, ` ${unit}`),
        html("p", { class: "cw-hint" }, "Drag the diamond or any key, or click in the plane. With the keyboard: Tab to it, then the arrow keys. Along a thin line the answer stays the same; the deeper the tint, the larger it is."),
      ),
    ),
    region,
  );
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["query", "key_points", "similarity", "temperature"], request);
  return () => {
    stop();
    unlisten();
  };
}

export default { render };
