import { decodeArray, plain, vector } from "./js/array.js";
import {
  advance,
  film,
  guesses,
  guessesAt,
  playOnce,
  weights,
} from "./js/attention_explorer/film.js";
import { button, choices, slider, toggle } from "./js/controls.js";
import { bold, depth, heatMap, mapLayout, NARROWEST_NAMED, SMALLEST_TYPE } from "./js/heat_map.js";
import { alongALine } from "./js/keys.js";
import { shortened, widest } from "./js/lettering.js";
import { clamp, upTo } from "./js/maths/numerics.js";
import { headRows, largestChange, largestFirst } from "./js/maths/weights.js";
import { pointIn } from "./js/plane.js";
import { weightTable } from "./js/table.js";
import { number, visible } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const [TOP, TOP_BESIDE_GUESSES] = [5, 3];
const WIDEST_MAP_BESIDE_GUESSES = 236;
const WIDEST_LINK = 13;
const THINNEST_LINK = 0.002;
const LONGEST_LABEL = 84;
const GUESS_ROW = 34;
/** What is smaller than this is no change: weights travel in float32. */
const LEAST_CHANGE = 5e-4;
const NOWHERE = { query: null, key: null };

/** @returns {[number, string][]} */
const numbered = (count) => upTo(count).map((i) => [i, String(i + 1)]);
const GUESSES_TOLD =
  "Below each token stands what the model had guessed for it, framed where it was right; " +
  "temperature and mask change no guess.";
const ROUNDED = "All weights but those of the last step are rounded to 1/255.";
const placed = (tokens, i) => `${visible(tokens[i])} (place ${i + 1})`;

/** Where the tokens stand in their row, `width` pixels wide. */
function rowLayout(tokens, width, guessed) {
  // What comes after the last token is guessed too.
  const cells = tokens.length + (guessed ? 1 : 0);
  const cell = Math.min(64, width / cells);
  const size = clamp(0.8 * cell, SMALLEST_TYPE, 16);
  const names = tokens.map(visible);
  const longest = widest(names, size);
  const upright = longest <= cell - 2;
  const left = (width - cell * cells) / 2;
  const layout = {
    width,
    cell,
    left,
    size,
    upright,
    reach: clamp(0.22 * width, 80, guessed ? 84 : 150),
  };
  const below = upright ? 30 : Math.min(LONGEST_LABEL, longest) + 16;
  return {
    ...layout,
    guesses: guessed ? GUESS_ROW : 0,
    names: upright ? names : names.map((name) => shortened(name, LONGEST_LABEL, size)),
    below,
    legible: cell >= NARROWEST_NAMED,
    across: (i) => left + cell * (i + 0.5),
  };
}

function derive(now, ui) {
  const { tokens, hovered, temperature, causal, answers, asked, vocabulary } = now;
  const weights = now.compared && now.given ? now.given : now.weights;
  const [steps, layers, heads] = [1, ...weights.shape].slice(-5);
  // New weights may be fewer than those that were chosen from.
  const within = (name, count) => Math.min(now[name], count - 1);
  const [step, layer, head] = [
    within("step", steps),
    within("layer", layers),
    within("head", heads),
  ];
  const query = within("query", tokens.length);
  const pointed = {
    query: Math.min(hovered.query ?? query, tokens.length - 1),
    key: hovered.key < tokens.length ? hovered.key : null,
  };
  const matrix = ui.memo("matrix", [weights, step, layer, head, temperature, causal], () =>
    headRows(weights, { step, layer, head, temperature, causal }),
  );
  const widths = [ui.width("row", 600), ui.width("map", 320)];
  const expected = ui.memo("guesses", [now.guesses, vocabulary, tokens, step], () =>
    guessesAt(now, step),
  );
  const guessed = expected !== null;
  const widest = Math.min(widths[1], guessed ? WIDEST_MAP_BESIDE_GUESSES : Infinity);
  return {
    ...{ counts: { steps, layers, heads }, step, layer, head, query, pointed },
    ...{ matrix, row: matrix[pointed.query], expected },
    change: ui.memo(
      "change",
      [now.given, now.weights],
      () => now.given && largestChange(now.given, now.weights),
    ),
    awaited: asked === answers,
    layout: ui.memo("row", [tokens, widths[0], guessed], () =>
      rowLayout(tokens, widths[0], guessed),
    ),
    map: ui.memo("map", [tokens, widest], () => mapLayout(tokens.map(visible), widest)),
  };
}

function preview(ui, query, key) {
  const { hovered } = ui.now;
  if (query !== hovered.query || key !== hovered.key) ui.set({ hovered: { query, key } });
}
const choose = (ui, query) => ui.set({ query, hovered: NOWHERE });
const leave = (ui) => () => preview(ui, null, null);

function link({ row, pointed, layout }, key) {
  const { reach, cell, names, across } = layout;
  const [from, to, weight] = [across(pointed.query), across(key), row ? row[key] : 0];
  const distance = Math.abs(to - from) / (cell * names.length);
  const top = reach - (4 / 3) * (18 + (reach - 26) * distance ** 0.6);
  const bulge = key === pointed.query ? Math.min(14, 0.7 * cell) : 0;
  return svg`<path d="M${from} ${reach}C${from - bulge} ${top} ${to + bulge} ${top} ${to} ${reach}"
    stroke-width=${WIDEST_LINK * weight} stroke-opacity=${0.35 + 0.55 * weight}
    visibility=${weight > THINNEST_LINK ? "visible" : "hidden"}></path>`;
}

function pill({ row, pointed, layout }, i) {
  const { reach, below, cell, size, upright, legible, names, across } = layout;
  const [chosen, x, width] = [i === pointed.query, across(i), Math.max(cell / 2, cell - 2)];
  const place = upright
    ? `translate(${x} ${reach + 20})`
    : `translate(${x + 0.35 * size} ${reach + 8}) rotate(-90)`;
  const name = svg`<text transform=${place} text-anchor=${upright ? "middle" : "end"}
    style="font-size: ${size}px; font-weight: ${bold(chosen)}">${names[i]}</text>`;
  return svg`<rect x=${x - width / 2} y=${reach} width=${width} height=${below}
    rx=${Math.min(6, cell / 3)} stroke-width="2" stroke=${chosen ? "var(--cw-warm)" : "none"}
    fill=${chosen ? "var(--cw-warm)" : "var(--cw-accent)"}
    fill-opacity=${chosen ? 0.2 : 0.42 * depth(row ? row[i] : 0)}></rect>
    ${legible || chosen ? name : nothing}`;
}

/** Beneath each token what the model had guessed for it, having read those before it. */
function guess({ expected, tokens, pointed, layout }, query) {
  const { reach, below, cell, size, across } = layout;
  const [{ name, probability }] = expected[query];
  const [right, y] = [name === tokens[query + 1], reach + below + GUESS_ROW / 2 + 4];
  const edge = query === pointed.query ? "var(--cw-warm)" : right ? "var(--cw-accent)" : "none";
  return svg`<g class="cw-guess" data-right=${right} opacity=${0.7 + 0.3 * probability}>
    <rect x=${across(query + 1) - 0.42 * cell} y=${y - 12} width=${0.84 * cell} height="24" rx="4"
      fill=${right ? "var(--cw-accent)" : "none"} fill-opacity="0.16" stroke=${edge}></rect>
    <text x=${across(query + 1)} y=${y + 0.35 * size} text-anchor="middle"
      style="font-size: ${size}px; font-weight: ${bold(right)}">${visible(name)}</text>
  </g>`;
}

/** The tokens in a row, with an arc from the query to each key. */
function tokenRow(now, ui) {
  const { width, left, cell, reach, guesses: room } = now.layout;
  const below = now.layout.below + room;
  const last = now.tokens.length - 1;
  const at = (event) => {
    const [x] = pointIn(event.currentTarget.ownerSVGElement, event);
    return clamp(Math.floor((x - left) / cell), 0, last);
  };
  const moveBy = (step) => choose(ui, clamp(ui.now.query + step, 0, last));
  const point = (event) => event.pointerType === "mouse" && preview(ui, at(event), null);
  // A ground without gaps, so that the hand always points at something.
  return html`<svg class="cw-token-row" viewBox="0 0 ${width} ${reach + below}">
    <g class="cw-handle" tabindex="0" role="slider" aria-label="Query token" aria-valuemin="1"
      aria-valuemax=${last + 1} aria-valuenow=${now.pointed.query + 1} aria-valuetext=${words(now)}
      @click=${(event) => choose(ui, at(event))} @pointermove=${point} @pointerleave=${leave(ui)}
      @keydown=${alongALine(moveBy)}>
      <g fill="none" stroke-linecap="round" stroke="var(--cw-accent)">
        ${now.tokens.map((_, i) => link(now, i))}
      </g>
      <rect width=${width} height=${reach + below} fill="transparent"></rect>
      ${now.tokens.map((_, i) => pill(now, i))}
      ${now.expected?.map((_, i) => guess(now, i)) ?? nothing}
    </g>
  </svg>`;
}

/** The keys that the query looks at most, with numbers: what the picture says, in words. */
function topKeys({ tokens, layer, head, pointed, row, expected }) {
  const line = (key) => ({
    name: visible(tokens[key]),
    colour: "var(--cw-accent)",
    numbers: [String(key + 1), number(row[key], 3)],
    length: row[key],
  });
  return weightTable({
    caption: `Layer ${layer + 1}, head ${head + 1}: where the query ${placed(tokens, pointed.query)} looks`,
    heading: "key",
    columns: ["place", "weight"],
    rows: row ? largestFirst(row, expected ? TOP_BESIDE_GUESSES : TOP).map(line) : [],
  });
}

/** What the model expects after the query, and what comes. */
function nextTokens({ expected, tokens, pointed: { query } }) {
  const truth = tokens[query + 1];
  const line = ({ name, probability }) => ({
    name: name === truth ? `${visible(name)} ✓` : visible(name),
    colour: name === truth ? "var(--cw-accent)" : "var(--cw-muted)",
    numbers: [`${number(100 * probability, 0)} %`],
    length: probability,
  });
  const comes = truth === undefined ? "" : ` Then comes ${visible(truth)}.`;
  return html`<div class="cw-next">${weightTable({
    caption: `What it guesses after ${placed(tokens, query)}.${comes}`,
    heading: "next",
    columns: ["probability"],
    rows: expected[query].map(line),
  })}</div>`;
}

function message({ awaited, error, tokens, pointed: { query, key }, row }) {
  if (awaited) return "Python is computing…";
  if (error) return error;
  if (!row) {
    return (
      `Under the causal mask the query ${visible(tokens[query])} may look at nothing: all its ` +
      "weight lies on later tokens."
    );
  }
  if (key === null) return "";
  return `${placed(tokens, query)} looks at ${placed(tokens, key)} with weight ${number(row[key], 3)}.`;
}

/** The field in which new tokens are typed for the plugged-in Python function. */
function tokenField({ tokens, field, typed, answers }, ui) {
  const id = `${ui.id}-field`;
  const text = field ?? tokens.join(" ");
  const submit = (event) => {
    event.preventDefault();
    // Blanks alone are an answer too: Python says what is missing.
    const asking = text || " ";
    if (asking !== typed) ui.set({ typed: asking, asked: answers });
  };
  // JupyterLab prevents the default of Enter, which would submit the form.
  const enter = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form.requestSubmit();
  };
  return html`<form class="cw-control cw-ask" @submit=${submit}>
    <label for=${id}>Your tokens</label>
    <input id=${id} type="text" autocomplete="off" spellcheck="false" .value=${text}
      @input=${({ target }) => ui.set({ field: target.value })} @keydown=${enter}>
    <button type="submit" class="cw-button">Ask Python</button>
  </form>`;
}

/** Whose weights are drawn; of a function of the reader's, what it has changed most. */
function drawnBy(now, ui) {
  const { plugged, source, given, change, tokens } = now;
  if (!source) {
    const waiting =
      "Drawn: the weights that the figure was given. Ask Python draws your function’s.";
    return plugged ? html`<p class="cw-hint">${waiting}</p>` : nothing;
  }
  const yours = html`Drawn: your function <strong>${source}</strong>.`;
  if (!given) {
    return html`<p class="cw-hint">${yours} Ask for the first tokens again to compare it with the
      weights that the figure was given.</p>`;
  }
  if (Math.abs(change.to - change.from) < LEAST_CHANGE) {
    return html`<p class="cw-hint">${yours} It returns the weights that the figure was given.</p>`;
  }
  const { step, layer, head, query, key, from, to } = change;
  const there = () => ui.set({ step, layer, head, query, hovered: NOWHERE });
  return html`<div class="cw-controls cw-drawn-by"><p>${yours} Most changed: layer ${layer + 1}, head
      ${head + 1}, ${placed(tokens, query)} to ${placed(tokens, key)},
      ${number(from, 3)} → <strong>${number(to, 3)}</strong>.</p>
    ${button("Look there", there)}
    ${toggle(ui, "compared", {
      ...{ label: "Show the weights given", value: now.compared },
      set: (compared) => ui.set({ compared }),
    })}</div>`;
}

function controls({ counts: { layers, heads } }, ui) {
  const temperature = { label: "Temperature τ", min: 0.1, max: 10, logarithmic: true };
  return html`<div class="cw-controls cw-head-choice">
    ${choices(ui, "layer", { label: "Layer", options: numbered(layers) })}
    ${choices(ui, "head", { label: "Head", options: numbered(heads) })}
    ${slider(ui, "temperature", { ...temperature, format: number })}
    ${toggle(ui, "causal", { label: "Causal mask" })}
  </div>`;
}

function view(now, ui) {
  const filmed = now.counts.steps > 1;
  if (filmed && now.moving) playOnce(ui);
  const told = html`<p class="cw-message" role="status">${message(now)}</p>`;
  return html`${now.plugged ? tokenField(now, ui) : nothing} ${drawnBy(now, ui)} ${controls(now, ui)}
    <div class="cw-strip" data-measure="row">${tokenRow(now, ui)}</div>
    <div class=${now.expected ? "cw-columns cw-beside-guesses" : "cw-columns"}>
      <div data-measure="map">
        ${heatMap(ui, {
          layout: now.map,
          matrix: now.matrix,
          axes: ["queries: who looks", "keys: looked at"],
          pointed: [now.pointed.query, now.pointed.key],
          stairs: now.causal,
          point: (query, key) => preview(ui, query, key),
          choose: (query) => choose(ui, query),
        })}
        <p class="cw-heat-legend" aria-hidden="true">weight 0 <span></span> 1</p>
        ${now.expected ? told : nothing}
      </div>
      <div class="cw-top-keys">
        <div class="cw-top-tables">
          ${topKeys(now)} ${now.expected ? nextTokens(now) : nothing}
        </div>
        ${now.expected ? nothing : told}
        ${filmed ? film(now, ui) : nothing}
      </div>
    </div>`;
}

const how = ({ counts, expected }) =>
  html`Point at a token or a row of the map to see where it looks; click or tap to stay there. With
    the keyboard: Tab to the tokens, then the arrow keys. ${expected ? GUESSES_TOLD : nothing}
    ${counts.steps > 1 ? ROUNDED : nothing}`;

function words({ tokens, pointed: { query }, row, expected }) {
  const place = (i) => `${visible(tokens[i])}, place ${i + 1}`;
  const name = `query ${place(query)} of ${tokens.length}`;
  if (!row) return `${name}: nothing to look at`;
  const [best] = largestFirst(row, 1);
  const next = expected ? `; guesses ${visible(expected[query][0].name)} to come next` : "";
  return `${name}: looks most at ${place(best)}, weight ${number(row[best], 3)}${next}`;
}

export default widget({
  label: "Attention explorer: who looks at whom",
  data: {
    ...{ tokens: plain, weights, steps: plain, losses: vector, vocabulary: plain, guesses },
    ...{ plugged: plain, answers: plain, error: plain, moving: plain },
    ...{ source: plain, given: { decode: (travelled) => travelled && decodeArray(travelled) } },
  },
  controls: {
    ...{ layer: plain, head: plain, query: plain, step: plain, typed: plain },
    ...{ temperature: plain, causal: plain },
  },
  local: { hovered: NOWHERE, field: null, asked: null, elapsed: 0, compared: false },
  // Tokens and weights change together, but a host may report one before the other.
  whole: ({ tokens, weights, steps, losses, guesses }) =>
    weights.shape.at(-1) === tokens.length &&
    [0, steps.length].includes(losses.length) &&
    [0, (steps.length || 1) * tokens.length].includes(guesses.count),
  derive,
  view,
  words,
  how,
  advance,
  began: ({ tokens, query, layer, head, temperature, causal }) =>
    `layer ${layer + 1}, head ${head + 1}, query ${placed(tokens, query)}, ` +
    `τ = ${number(temperature)}${causal ? ", causal" : ""}`,
});
