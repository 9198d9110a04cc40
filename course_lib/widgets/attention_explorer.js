import { decodeArray } from "./js/old/array.js";
import { announcer, choices, slider, toggle } from "./js/old/controls.js";
import { html, number, svg, uniqueId, widgetRoot } from "./js/old/dom.js";
import { pointIn } from "./js/old/drag.js";
import { frameScheduler, onChange } from "./js/old/frame.js";

/**
 * The softmax of score / temperature from the softmax of score: w^(1/temperature), renormalised.
 * Logarithms are shifted by the largest, so no power underflows. A weight of zero stays zero.
 */
export function retempered(weights, temperature) {
  const score = Array.from(weights, Math.log);
  const largest = Math.max(...score);
  const power = score.map((s) => Math.exp((s - largest) / temperature));
  const total = power.reduce((sum, p) => sum + p, 0);
  return power.map((p) => p / total);
}

/** The causal softmax from the full one: the keys up to the query share all. Null if they have none. */
export function masked(weights, query) {
  const past = Array.from(weights, (w, key) => (key <= query ? w : 0));
  const total = past.reduce((sum, w) => sum + w, 0);
  return total > 0 ? past.map((w) => w / total) : null;
}

/** The places of the largest weights, largest first; of equals, the earlier first. */
export function largestFirst(weights, count) {
  const order = Array.from(weights, (_, key) => key);
  return order.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, count);
}

const TOP = 5;
const WIDEST_LINK = 13;
const THINNEST_LINK = 0.002;
const SMALLEST_TYPE = 9;
const MAP_SIDE = 380;
const LONGEST_LABEL = 84;
const INVISIBLE = { " ": "␣", "\n": "↵", "\t": "⇥", "": "∅" };

const visibleToken = (token) => INVISIBLE[token] ?? token;
/** Depth of colour of a weight. The root lifts small weights out of the ground; the legend shows it. */
const depth = (weight) => Math.sqrt(weight);

const ruler = { context: null };
function textWidth(text, size) {
  ruler.context ??= document.createElement("canvas").getContext("2d");
  ruler.context.font = `500 ${size}px system-ui, sans-serif`;
  return ruler.context.measureText(text).width;
}
function shortened(text, room, size) {
  if (textWidth(text, size) <= room) return text;
  let letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size) > room) letters = letters.slice(0, -1);
  return `${letters.join("")}…`;
}
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
const upTo = (count) => Array.from({ length: count }, (_, i) => i);
const numbered = (count) => upTo(count).map((i) => [i, String(i + 1)]);

/** Queries by keys of one head at one step, as the page shows them; a row with no mass is null. */
function shownRows({ values, shape }, { step, layer, head, temperature, causal }) {
  const [, layers, heads, queries, keys] = shape;
  const start = ((step * layers + layer) * heads + head) * queries;
  return upTo(queries).map((query) => {
    const row = values.subarray((start + query) * keys, (start + query + 1) * keys);
    const allowed = causal ? masked(row, query) : row;
    return allowed && retempered(allowed, temperature);
  });
}

/** The tokens in a row, with an arc from the query to each key. */
function tokenRow(handlers) {
  const links = svg("g", { fill: "none", "stroke-linecap": "round", stroke: "var(--cw-accent)" });
  const labels = svg("g");
  const surface = svg("g", { class: "cw-handle", tabindex: 0, role: "slider", "aria-label": "Query token", "aria-valuemin": 1 });
  surface.append(links, labels);
  const picture = svg("svg", { class: "cw-token-row" }, surface);
  let parts = [];
  let geometry = null;

  function place(tokens, width) {
    const cell = Math.min(64, width / tokens.length);
    const left = (width - cell * tokens.length) / 2;
    const size = Math.max(SMALLEST_TYPE, Math.min(16, cell * 0.8));
    const widest = Math.max(...tokens.map((token) => textWidth(visibleToken(token), size)));
    const upright = widest <= cell - 2;
    const reach = Math.max(80, Math.min(150, width * 0.22));
    const below = upright ? 30 : Math.min(LONGEST_LABEL, widest) + 16;
    setAll(picture, { viewBox: `0 0 ${width} ${reach + below}`, height: reach + below });
    parts = tokens.map((token, i) => {
      const x = left + cell * (i + 0.5);
      const pill = svg("rect", { x: x - cell / 2 + 1, y: reach, width: cell - 2, height: below, rx: Math.min(6, cell / 3), "stroke-width": 2 });
      const name = svg("text", { style: `font-size: ${size}px`, ...(upright
        ? { x, y: reach + 20, "text-anchor": "middle" }
        : { transform: `translate(${x + size * 0.35} ${reach + 8}) rotate(-90)`, "text-anchor": "end" }) },
      upright ? visibleToken(token) : shortened(visibleToken(token), LONGEST_LABEL, size));
      return { x, pill, name, link: svg("path") };
    });
    links.replaceChildren(...parts.map(({ link }) => link));
    // A ground without gaps, so that the hand always points at something.
    const ground = svg("rect", { width, height: reach + below, fill: "transparent" });
    labels.replaceChildren(ground, ...parts.flatMap(({ pill, name }) => [pill, name]));
    surface.setAttribute("aria-valuemax", tokens.length);
    geometry = { left, cell, reach, count: tokens.length };
  }

  function draw(query, row, spoken) {
    const { reach, cell, count } = geometry;
    const from = parts[query].x;
    parts.forEach(({ x, pill, name, link }, key) => {
      const weight = row ? row[key] : 0;
      const distance = Math.abs(x - from) / (cell * count);
      const height = (4 / 3) * (18 + (reach - 26) * distance ** 0.6);
      const bulge = key === query ? Math.min(14, cell * 0.7) : 0;
      setAll(link, {
        d: `M${from} ${reach}C${from - bulge} ${reach - height} ${x + bulge} ${reach - height} ${x} ${reach}`,
        "stroke-width": WIDEST_LINK * weight,
        "stroke-opacity": 0.35 + 0.55 * weight,
        visibility: weight > THINNEST_LINK ? "visible" : "hidden",
      });
      const chosen = key === query;
      setAll(pill, {
        fill: chosen ? "var(--cw-warm)" : "var(--cw-accent)",
        "fill-opacity": chosen ? 0.2 : 0.42 * depth(weight),
        stroke: chosen ? "var(--cw-warm)" : "none",
      });
      name.style.fontWeight = chosen ? 700 : "";
    });
    setAll(surface, { "aria-valuenow": query + 1, "aria-valuetext": spoken });
  }

  const tokenAt = (event) => {
    const { left, cell, count } = geometry;
    return Math.max(0, Math.min(count - 1, Math.floor((pointIn(picture, event)[0] - left) / cell)));
  };
  surface.addEventListener("click", (event) => handlers.choose(tokenAt(event)));
  surface.addEventListener("pointermove", (event) => {
    if (event.pointerType === "mouse") handlers.preview(tokenAt(event), null);
  });
  surface.addEventListener("pointerleave", () => handlers.preview(null, null));
  surface.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!move) return;
    event.preventDefault();
    handlers.moveBy(move);
  });
  return { picture, surface, place, draw };
}

/** The whole head at once: queries down, keys across. */
function heatMap(handlers) {
  const cells = html("canvas", { "aria-hidden": "true" });
  const picture = svg("svg", { "aria-hidden": "true" });
  const view = html("div", { class: "cw-heat" }, cells, picture);
  let rows = [];
  let columns = [];
  let geometry = null;
  const band = svg("rect", { fill: "none", stroke: "var(--cw-warm)", "stroke-width": 2, rx: 2 });
  const stairs = svg("path", { fill: "none", stroke: "var(--cw-edge)", "stroke-dasharray": "3 3" });

  function place(tokens, width) {
    const count = tokens.length;
    const side = Math.min(MAP_SIDE, width);
    const size = Math.max(SMALLEST_TYPE, Math.min(13, (0.85 * (side - 30)) / count));
    const names = tokens.map((token) => shortened(visibleToken(token), LONGEST_LABEL, size));
    const margin = Math.ceil(Math.max(...names.map((name) => textWidth(name, size)))) + 24;
    const cell = (side - margin) / count;
    const legible = cell >= SMALLEST_TYPE - 1;
    const flat = Math.max(...names.map((name) => textWidth(name, size))) <= cell - 1;
    setAll(picture, { viewBox: `0 0 ${side} ${side}` });
    view.style.maxWidth = `${side}px`;
    const share = `${(100 * (side - margin)) / side}%`;
    setAll(cells, { width: count, height: count, style: `width: ${share}; height: ${share}` });
    const across = (i) => margin + cell * (i + 0.5);
    const style = `font-size: ${size}px`;
    rows = names.map((name, i) => svg("text", { x: margin - 5, y: across(i) + size * 0.35, "text-anchor": "end", style }, name));
    columns = names.map((name, i) => svg("text", { style, ...(flat
      ? { x: across(i), y: margin - 6, "text-anchor": "middle" }
      : { transform: `translate(${across(i) + size * 0.35} ${margin - 5}) rotate(-90)` }) }, name));
    const axis = { style: "font-size: 12px; fill: var(--cw-muted)", "text-anchor": "middle" };
    const middle = (margin + side) / 2;
    stairs.setAttribute("d", `M${margin + cell} ${margin}${upTo(count - 1).map(() => `v${cell}h${cell}`).join("")}`);
    picture.replaceChildren(
      svg("text", { ...axis, x: middle, y: 11 }, "key →"),
      svg("text", { ...axis, transform: `translate(11 ${middle}) rotate(-90)` }, "← query"),
      svg("rect", { x: margin, y: margin, width: side - margin, height: side - margin, fill: "transparent", stroke: "var(--cw-line)" }),
      ...(legible ? [...rows, ...columns] : []),
      stairs,
      band,
    );
    setAll(band, { x: margin, width: side - margin, height: cell });
    geometry = { margin, cell, count };
  }

  function draw(matrix, query, key, causal) {
    const { margin, cell, count } = geometry;
    const [red, green, blue] = getComputedStyle(view).getPropertyValue("--cw-heat").split(",").map(Number);
    const pixels = new ImageData(count, count);
    matrix.forEach((row, i) => {
      row?.forEach((weight, j) => pixels.data.set([red, green, blue, Math.round(255 * depth(weight))], 4 * (i * count + j)));
    });
    cells.getContext("2d").putImageData(pixels, 0, 0);
    band.setAttribute("y", margin + cell * query);
    stairs.setAttribute("visibility", causal ? "visible" : "hidden");
    rows.forEach((name, i) => { name.style.fontWeight = i === query ? 700 : ""; });
    columns.forEach((name, i) => { name.style.fontWeight = i === key ? 700 : ""; });
  }

  const cellAt = (event) => {
    const { margin, cell, count } = geometry;
    const [key, query] = pointIn(picture, event).map((x) => Math.floor((x - margin) / cell));
    return query >= 0 && query < count ? { query, key: key >= 0 && key < count ? key : null } : null;
  };
  picture.addEventListener("click", (event) => {
    const place = cellAt(event);
    if (place) handlers.choose(place.query);
  });
  picture.addEventListener("pointermove", (event) => {
    const place = event.pointerType === "mouse" ? cellAt(event) : null;
    handlers.preview(place?.query ?? null, place?.key ?? null);
  });
  picture.addEventListener("pointerleave", () => handlers.preview(null, null));
  return { view, place, draw };
}

/** The keys that the query looks at most, with numbers: what the picture says, in words. */
function topKeys() {
  const lines = upTo(TOP).map(() => {
    const cells = { key: html("th", { scope: "row" }), place: html("td", { class: "cw-number" }), weight: html("td", { class: "cw-number" }) };
    const bar = html("span", { class: "cw-bar", style: "--cw-bar: var(--cw-accent)" });
    return { ...cells, bar, line: html("tr", {}, ...Object.values(cells), html("td", { class: "cw-bar-cell", "aria-hidden": "true" }, bar)) };
  });
  const caption = html("caption");
  const heads = ["key", "place", "weight"].map((text) => html("th", { scope: "col" }, text));
  const table = html("table", { class: "cw-weights cw-top-keys" }, caption,
    html("thead", {}, html("tr", {}, ...heads, html("td", { "aria-hidden": "true" }))),
    html("tbody", {}, ...lines.map(({ line }) => line)));

  function draw(tokens, title, row) {
    caption.textContent = title;
    const best = row ? largestFirst(row, TOP) : [];
    lines.forEach(({ key, place, weight, bar, line }, i) => {
      line.hidden = i >= best.length;
      if (line.hidden) return;
      key.textContent = visibleToken(tokens[best[i]]);
      place.textContent = String(best[i] + 1);
      weight.textContent = number(row[best[i]], 3);
      bar.style.setProperty("--cw-length", String(row[best[i]]));
    });
  }
  return { table, draw };
}

/** The field in which new tokens are typed for the plugged-in Python function. */
function tokenField(model, onAsk) {
  const id = uniqueId("cw-tokens");
  const field = html("input", { id, type: "text", value: model.get("tokens").join(" "), autocomplete: "off", spellcheck: "false" });
  const form = html("form", { class: "cw-control cw-ask" }, html("label", { for: id }, "Your tokens"), field,
    html("button", { type: "submit", class: "cw-button" }, "Ask Python"));
  // JupyterLab prevents the default of Enter, which would submit the form.
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value === model.get("typed")) return;
    onAsk();
    // Blanks alone are an answer too: Python says what is missing.
    model.set("typed", field.value || " ");
    model.save_changes();
  });
  return form;
}

function render({ model, el }) {
  const legend = html("p", { class: "cw-heat-legend", "aria-hidden": "true" }, "weight 0", html("span", {}), "1");
  const message = html("p", { class: "cw-message", role: "status" });
  const top = topKeys();
  const controls = html("div", { class: "cw-controls cw-head-choice" });
  const strip = html("div", { class: "cw-strip" });
  const mapFrame = html("div");
  let hovered = { query: null, key: null };
  let asking = false;
  let decoded = { from: null };
  let laidOut = "";
  let controlled = "";

  function arrays() {
    const encoded = model.get("weights");
    if (decoded.from !== encoded) {
      const { shape, values } = decodeArray(encoded);
      decoded = { from: encoded, values, shape: shape.length === 5 ? shape : [1, ...shape] };
    }
    return decoded;
  }

  function commit(query) {
    hovered = { query: null, key: null };
    model.set("query", query);
    model.save_changes();
    request();
  }
  const handlers = {
    choose: commit,
    moveBy: (move) => commit(Math.max(0, Math.min(model.get("tokens").length - 1, model.get("query") + move))),
    preview: (query, key) => {
      if (query === hovered.query && key === hovered.key) return;
      hovered = { query, key };
      request();
    },
  };
  const row = tokenRow(handlers);
  const map = heatMap(handlers);
  strip.append(row.picture);
  mapFrame.append(map.view, legend);

  function buildControls([steps, layers, heads]) {
    const names = model.get("steps");
    const signature = JSON.stringify([steps, layers, heads, names]);
    if (signature === controlled) return;
    controlled = signature;
    controls.replaceChildren(
      ...(layers > 1 ? [choices(model, "layer", { label: "Layer", options: numbered(layers) })] : []),
      ...(heads > 1 ? [choices(model, "head", { label: "Head", options: numbered(heads) })] : []),
      ...(steps > 1 ? [slider(model, "step", { label: "Training step", min: 0, max: steps - 1, step: 1, format: (i) => names[i] ?? String(i) })] : []),
      slider(model, "temperature", { label: "Temperature τ", min: 0.1, max: 10, logarithmic: true, format: (t) => number(t) }),
      toggle(model, "causal", { label: "Causal mask" }),
    );
  }

  function layOut(tokens) {
    const widths = [strip.clientWidth || 600, mapFrame.clientWidth || 320];
    const signature = JSON.stringify([tokens, widths]);
    if (signature === laidOut) return;
    laidOut = signature;
    row.place(tokens, widths[0]);
    map.place(tokens, widths[1]);
  }

  function inWords(tokens, query, weights) {
    const name = `query ${visibleToken(tokens[query])}, place ${query + 1} of ${tokens.length}`;
    if (!weights) return `${name}: nothing to look at`;
    const [best] = largestFirst(weights, 1);
    return `${name}: looks most at ${visibleToken(tokens[best])}, place ${best + 1}, weight ${number(weights[best], 3)}`;
  }

  let spoken = "";
  const { region, announce } = announcer(() => spoken);

  function draw() {
    const tokens = model.get("tokens");
    const array = arrays();
    // Tokens and weights change together, but a host may report one before the other.
    if (array.shape[3] !== tokens.length) return;
    const chosen = Object.fromEntries(["step", "layer", "head", "temperature", "causal"].map((name) => [name, model.get(name)]));
    const query = Math.min(hovered.query ?? model.get("query"), tokens.length - 1);
    const [steps, layers, heads] = array.shape;
    if (chosen.step >= steps || chosen.layer >= layers || chosen.head >= heads) return;
    buildControls(array.shape);
    layOut(tokens);
    const matrix = shownRows(array, chosen);
    const weights = matrix[query];
    const key = hovered.key;
    spoken = inWords(tokens, query, weights);
    row.draw(query, weights, spoken);
    map.draw(matrix, query, key, chosen.causal);
    top.draw(tokens, `Layer ${chosen.layer + 1}, head ${chosen.head + 1}: where the query ${visibleToken(tokens[query])} (place ${query + 1}) looks`, weights);
    message.textContent = spokenMessage(tokens, query, key, weights);
    announce();
  }

  function spokenMessage(tokens, query, key, weights) {
    if (asking) return "Python is computing…";
    const error = model.get("plugged") ? model.get("error") : "";
    if (error) return error;
    if (!weights) return `Under the causal mask the query ${visibleToken(tokens[query])} may look at nothing: all its weight lies on later tokens.`;
    if (key === null) return "";
    return `${visibleToken(tokens[query])} (place ${query + 1}) looks at ${visibleToken(tokens[key])} (place ${key + 1}) with weight ${number(weights[key], 3)}.`;
  }

  const field = model.get("plugged") ? [tokenField(model, () => { asking = true; request(); })] : [];
  const root = widgetRoot(
    el,
    "Attention explorer: who looks at whom",
    ...field,
    controls,
    strip,
    html("div", { class: "cw-columns" }, mapFrame, html("div", {}, top.table, message,
      html("p", { class: "cw-hint" }, "Point at a token or at a row of the map to see where it looks; click or tap to stay there. With the keyboard: Tab to the tokens, then the arrow keys."))),
    region,
  );
  const { request, stop } = frameScheduler(root, draw);
  const unlisten = onChange(model, ["tokens", "weights", "steps", "layer", "head", "query", "step", "temperature", "causal", "error"], () => request());
  const answered = () => {
    asking = false;
    request();
  };
  model.on("change:answers", answered);
  const resized = new ResizeObserver(() => request());
  resized.observe(strip);
  resized.observe(mapFrame);
  return () => {
    stop();
    unlisten();
    model.off("change:answers", answered);
    resized.disconnect();
  };
}

export default { render };
