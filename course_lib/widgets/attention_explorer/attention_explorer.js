import { decodeArray, plain, vector } from "../kit/array.js";
import { button, choices, fold, slider, toggle } from "../kit/controls.js";
import {
  bold,
  depth,
  heatMap,
  mapLayout,
  NARROWEST_NAMED,
  SMALLEST_TYPE,
} from "../kit/heat_map.js";
import { alongALine } from "../kit/keys.js";
import { shortened, widest } from "../kit/lettering.js";
import { pointIn } from "../kit/plane.js";
import { weightTable } from "../kit/table.js";
import { number, percent, visible } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { clamp, ranking, upTo } from "../maths/numerics.js";
import { readLetters, unpackReader, weightsOf } from "../maths/string_reader.js";
import { headRows, largestChange } from "../maths/weights.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { film, foremost, guesses, guessesAt, advance as play, weights } from "./film.js";
import { at, beginReading, reading, readOn, stopReading } from "./reading.js";
import { answer, arc, elsewhere, numbers, WIDEST } from "./rivals.js";

const [TOP, TOP_BESIDE_GUESSES] = [5, 3];
const [WIDEST_MAP_BESIDE_GUESSES, WIDEST_MAP_BELOW_GUESSES] = [226, 190];
/** A row of tokens on a telephone is narrower, in pixels. */
const NARROW = 420;
const LONGEST_LABEL = 84;
const GUESS_ROW = 34;
/** In pixels, for the name of the row of guesses; and above it, where a token is narrower. */
const [ROOM_FOR_A_NAME, LINE_FOR_A_NAME] = [30, 14];
/** How visible a token is that has not been read yet. */
const FAINT = 0.2;
/** What is smaller than this is no change: weights travel in float32. */
const LEAST_CHANGE = 5e-4;
const NOWHERE = { query: null, key: null };

/** @returns {[number, string][]} */
const numbered = (count) => upTo(count).map((i) => [i, String(i + 1)]);
const ROUNDED = "Weights before the last step are rounded to 1/255.";
const placed = (tokens, i) => `${visible(tokens[i])} (place ${i + 1})`;

/** Where the tokens stand in their row, `width` pixels wide, behind a context and a gap, if any. */
function rowLayout(tokens, context, width, guessed) {
  const gap = context.length || -1;
  const all = context.length ? [...context, "", ...tokens] : tokens;
  // What comes after the last token is guessed too.
  const cells = all.length + (guessed ? 1 : 0);
  const cell = Math.min(64, width / cells);
  const size = clamp(0.8 * cell, SMALLEST_TYPE, clamp(0.36 * cell, 16, 24));
  const names = all.map(visible);
  const longest = widest(names, size);
  const upright = longest <= cell - 2;
  const left = (width - cell * cells) / 2;
  const lower = cell < ROOM_FOR_A_NAME ? LINE_FOR_A_NAME : 0;
  return {
    ...{ width, cell, left, size, upright, gap, ahead: gap + 1 },
    reach: clamp(0.22 * width, 80, guessed ? 84 : 150),
    guesses: guessed ? GUESS_ROW + lower : 0,
    lower,
    names: upright ? names : names.map((name) => shortened(name, LONGEST_LABEL, size)),
    below: upright ? 30 : Math.min(LONGEST_LABEL, longest) + 16,
    legible: cell >= NARROWEST_NAMED,
    across: (i) => left + cell * (i + 0.5),
  };
}

/** What the model in the page makes of the letters; nothing where what was given says it all. */
function readHere({ reader, own, tokens, vocabulary, layer, temperature, step, steps }, ui) {
  const filmed = step < steps.length - 1;
  if (!reader || (!own && (temperature === 1 || filmed))) return null;
  return ui.memo("read here", [reader, own, tokens, layer, temperature], () => {
    const letters = own ? [...own] : tokens;
    const ids = letters.map((letter) => vocabulary.indexOf(letter));
    const { attention, guesses } = readLetters(reader, ids, { layer, temperature });
    return {
      letters,
      weights: weightsOf(attention, reader.heads),
      guesses: { count: ids.length, at: (row, others) => foremost(guesses[row], others) },
    };
  });
}

/** What the page has read itself takes the place of what was given. */
function told(given, read) {
  if (!read) return given;
  const { guesses, letters, weights } = read;
  return given.own
    ? { ...given, guesses, weights, tokens: letters, query: given.place, rivals: [], question: "" }
    : { ...given, guesses };
}

function derive(given, ui) {
  const read = readHere(given, ui);
  const now = told(given, read);
  const { tokens, context, hovered, temperature, causal, answers, asked, vocabulary } = now;
  const keys = context.length ? context : tokens;
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
    key: hovered.key < keys.length ? hovered.key : null,
  };
  const rowsOf = (head) =>
    ui.memo(`head ${head}`, [weights, step, layer, temperature, causal], () =>
      headRows(weights, { step, layer, head, temperature, causal }),
    );
  const matrix = rowsOf(head);
  const width = ui.width("row", 600);
  const expected = ui.memo("guesses", [now.guesses, vocabulary, tokens, step], () =>
    guessesAt(now, read ? 0 : step),
  );
  const guessed = expected !== null;
  const asked_of = guessed && now.rivals.length ? upTo(heads) : [];
  const beside = width < NARROW ? WIDEST_MAP_BELOW_GUESSES : WIDEST_MAP_BESIDE_GUESSES;
  const widest = Math.min(ui.width("map", 320), guessed ? beside : Infinity);
  return {
    ...{ counts: { steps, layers, heads }, step, layer, head, query, pointed, keys },
    ...{ matrix, row: matrix[pointed.query], expected, read, tokens, weights },
    ...{ rivals: now.rivals, question: now.question },
    heard: asked_of.map((one) => rowsOf(one)[pointed.query]),
    change: ui.memo(
      "change",
      [now.given, now.weights],
      () => now.given && largestChange(now.given, now.weights),
    ),
    awaited: asked === answers,
    layout: ui.memo("row", [tokens, context, width, guessed], () =>
      rowLayout(tokens, context, width, guessed),
    ),
    map: ui.memo("map", [tokens, context, widest], () =>
      mapLayout(tokens.map(visible), keys.map(visible), widest),
    ),
  };
}

function preview(ui, query, key) {
  const { hovered } = ui.now;
  if (query !== hovered.query || key !== hovered.key) ui.set({ hovered: { query, key } });
}
const choose = (ui, query) => {
  stopReading(ui);
  ui.set({ ...at(ui, query), hovered: NOWHERE });
};
const leave = (ui) => () => preview(ui, null, null);

function link({ row, pointed, layout }, key) {
  const weight = row ? row[key] : 0;
  return svg`<path d=${arc(layout, pointed.query, key).d}
    stroke-width=${WIDEST * weight} stroke-opacity=${0.35 + 0.55 * weight}></path>`;
}

function pill({ row, pointed, layout, stood }, i) {
  const { reach, below, cell, size, upright, legible, names, across, gap, ahead } = layout;
  if (i === gap) return nothing;
  const unread = stood !== null && i - ahead > pointed.query;
  const [chosen, x, width] = [i - ahead === pointed.query, across(i), Math.max(cell / 2, cell - 2)];
  const place = upright
    ? `translate(${x} ${reach + 15 + 0.35 * size})`
    : `translate(${x + 0.35 * size} ${reach + 8}) rotate(-90)`;
  const name = svg`<text transform=${place} text-anchor=${upright ? "middle" : "end"}
    style="font-size: ${size}px; font-weight: ${bold(chosen)}">${names[i]}</text>`;
  return svg`<g opacity=${unread ? FAINT : 1}><rect x=${x - width / 2} y=${reach} width=${width}
    height=${below} rx=${Math.min(6, cell / 3)} stroke-width="2" stroke=${chosen ? "var(--cw-warm)" : "none"}
    fill=${chosen ? "var(--cw-warm)" : "var(--cw-accent)"}
    fill-opacity=${chosen ? 0.2 : 0.42 * depth(row?.[i] ?? 0)}></rect>
    ${legible || chosen ? name : nothing}</g>`;
}

/** Of what comes after the last token nothing is known. */
const isWrong = (name, truth) => truth !== undefined && name !== truth;

const cross = (x, y) =>
  svg`<path class="cw-wrong" stroke="var(--cw-warm)" stroke-width="2"
    d="M${x} ${y}l6 6m0-6l-6 6"></path>`;

/** Beneath each token what the model had guessed for it, having read those before it. */
function guess({ expected, tokens, pointed, layout, stood }, query) {
  // Whoever reads has not guessed yet what comes later.
  if (stood !== null && query > pointed.query) return nothing;
  const { reach, below, lower, cell, size, across, ahead } = layout;
  const [{ name, probability }] = expected[query];
  const x = across(ahead + query + 1);
  const [truth, y] = [tokens[query + 1], reach + below + lower + GUESS_ROW / 2 + 4];
  const [right, wrong] = [name === truth, isWrong(name, truth)];
  const edge = query === pointed.query ? "var(--cw-warm)" : right ? "var(--cw-accent)" : "none";
  return svg`<g class="cw-guess" data-right=${right} opacity=${0.7 + 0.3 * probability}>
    <rect x=${x - 0.42 * cell} y=${y - 12} width=${0.84 * cell} height="24" rx="4"
      fill=${right ? "var(--cw-accent)" : "none"} fill-opacity="0.16" stroke=${edge}></rect>
    <text x=${x} y=${y + 0.35 * size} text-anchor="middle"
      style="font-size: ${size}px; font-weight: ${bold(right)}">${visible(name)}</text>
    ${wrong ? cross(x + Math.min(0.3 * size, cell / 2 - 8), y - 12) : nothing}
  </g>`;
}

/** The first token is guessed by nobody, so that its place is free for a name, if it is wide. */
const guessesNamed = ({ layout: { left, lower, reach, below } }) =>
  svg`<text class="cw-small" x=${left}
    y=${reach + below + (lower ? lower - 1 : GUESS_ROW / 2 + 8)}>guess</text>`;

/** The keys and queries in a row, with an arc from the query to each key. */
function tokenRow(now, ui) {
  const { width, left, cell, reach, guesses: room, names, ahead, gap } = now.layout;
  const below = now.layout.below + room;
  const last = now.tokens.length - 1;
  /** The query or the key of a context under a point. */
  const at = (event) => {
    const [x] = pointIn(event);
    const place = Math.max(0, Math.floor((x - left) / cell));
    return place < gap ? [null, place] : [clamp(place - ahead, 0, last), null];
  };
  const moveBy = (step) => choose(ui, clamp(ui.now.query + step, 0, last));
  const point = (event) => event.pointerType === "mouse" && preview(ui, ...at(event));
  const click = (event) => choose(ui, at(event)[0] ?? ui.now.query);
  // A ground without gaps, so that the hand always points at something.
  return html`<svg class="cw-token-row" viewBox="0 0 ${width} ${reach + below}">
    <g class="cw-handle" tabindex="0" role="slider" aria-label="Query token" aria-valuemin="1"
      aria-valuemax=${last + 1} aria-valuenow=${now.pointed.query + 1} aria-valuetext=${words(now)}
      @click=${click} @pointermove=${point} @pointerleave=${leave(ui)}
      @keydown=${alongALine(moveBy)}>
      <g fill="none" stroke-linecap="round" stroke="var(--cw-accent)">
        ${now.keys.map((_, i) => link(now, i))}
      </g>
      ${elsewhere(now)} ${numbers(now)}
      <rect width=${width} height=${reach + below} fill="transparent"></rect>
      ${names.map((_, i) => pill(now, i))}
      ${now.expected ? [guessesNamed(now), now.expected.map((_, i) => guess(now, i))] : nothing}
    </g>
  </svg>`;
}

/** The keys that the query looks at most, with numbers: what the picture says, in words. */
function topKeys({ tokens, keys, layer, head, pointed, row, expected }) {
  const line = (key) => ({
    name: visible(keys[key]),
    colour: "var(--cw-accent)",
    numbers: [String(key + 1), number(row[key], 3)],
    length: row[key],
  });
  return weightTable({
    caption: `Layer ${layer + 1}, head ${head + 1}: ${placed(tokens, pointed.query)} looks at`,
    heading: "key",
    columns: ["place", "weight"],
    rows: row
      ? ranking(row)
          .slice(0, expected ? TOP_BESIDE_GUESSES : TOP)
          .map(line)
      : [],
  });
}

/** What the model expects after the query, and what comes. */
function nextTokens({ expected, tokens, pointed: { query } }) {
  const truth = tokens[query + 1];
  const mark = (name, i) => (name === truth ? " ✓" : !i && isWrong(name, truth) ? " ✗" : "");
  const line = ({ name, probability }, i) => ({
    name: visible(name) + mark(name, i),
    colour: name === truth ? "var(--cw-accent)" : "var(--cw-muted)",
    numbers: [percent(probability)],
    length: probability,
  });
  const comes = truth === undefined ? "" : ` (truth:\u00a0${visible(truth)})`;
  return html`<div class="cw-next">${weightTable({
    caption: `After ${visible(tokens[query])} it expects${comes}`,
    heading: "next",
    columns: ["probability"],
    rows: expected[query].map(line),
  })}</div>`;
}

function message({ awaited, error, tokens, keys, pointed: { query, key }, row }) {
  if (awaited) return "Python is computing…";
  if (error) return error;
  if (!row) {
    return (
      `Under the causal mask the query ${visible(tokens[query])} may look at nothing: all its ` +
      "weight lies on later tokens."
    );
  }
  if (key === null) return "";
  return `${placed(tokens, query)} looks at ${placed(keys, key)} with weight ${number(row[key], 3)}.`;
}

/** The field in which new tokens are typed for the plugged-in Python function. */
function tokenField(now, ui) {
  const id = `${ui.id}-field`;
  const textOf = ({ field, tokens }) => field ?? tokens.join(" ");
  const submit = (event) => {
    event.preventDefault();
    // Enter may come before the frame that shows the last letter. Blanks alone are an answer too:
    // Python says what is missing.
    const asking = textOf(ui.now) || " ";
    if (asking !== ui.now.typed) ui.set({ typed: asking, asked: ui.now.answers });
  };
  // JupyterLab prevents the default of Enter, which would submit the form.
  const enter = (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form.requestSubmit();
  };
  return html`<form class="cw-control cw-ask" @submit=${submit}>
    <label for=${id}>Your tokens</label>
    <input id=${id} type="text" autocomplete="off" spellcheck="false" .value=${textOf(now)}
      @input=${({ target }) => ui.set({ field: target.value })} @keydown=${enter}>
    <button type="submit" class="cw-button">Ask Python</button>
  </form>`;
}

/** The field in which letters are typed for the model in the page. */
function letterField({ own, tokens, reader, vocabulary }, ui) {
  const id = `${ui.id}-letters`;
  const input = ({ target }) => {
    const known = [...target.value.toLowerCase()].filter((letter) => vocabulary.includes(letter));
    const text = known.slice(0, reader.tokens).join("");
    ui.play(false);
    ui.set({ own: text || null, place: text.length - 1, stood: null, hovered: NOWHERE });
    target.value = text;
  };
  return html`<div class="cw-control cw-ask">
    <label for=${id}>Type letters, ${reader.tokens} at most</label>
    <input id=${id} type="text" autocomplete="off" autocapitalize="none" spellcheck="false"
      .value=${own ?? tokens.join("")} @input=${input}>
  </div>`;
}

const hint = (told) => html`<p class="cw-hint">${told}</p>`;

/** Whose weights are drawn; of a function of the reader's, what it has changed most. */
function drawnBy(now, ui) {
  const { plugged, source, given, change, tokens } = now;
  const theirs = "the weights that the figure was given.";
  if (!source) {
    return plugged ? hint(`Drawn: ${theirs} Ask Python draws your function’s.`) : nothing;
  }
  const yours = html`Drawn: your function <strong>${source}</strong>.`;
  if (!given) {
    return hint([yours, ` Ask for the first tokens again to compare it with ${theirs}`]);
  }
  if (Math.abs(change.to - change.from) < LEAST_CHANGE) {
    return hint([yours, ` It returns ${theirs}`]);
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

/** What is drawn where a hand has changed it; what is expected, the model says as it is. */
function changedByHand({ temperature, causal, expected, read, layer }) {
  if (temperature === 1 && !causal) return nothing;
  if (read && temperature !== 1)
    return hint(`All heads of layer ${layer + 1} are at τ = ${number(temperature)}, and the guesses
      follow from it.`);
  const drawn = [temperature === 1 ? "" : `at τ = ${number(temperature)}`, causal ? "masked" : ""];
  const untouched = expected ? " What the model expects follows from τ = 1." : "";
  return hint(`This head is drawn ${drawn.filter(Boolean).join(", ")}.${untouched}`);
}

function controls({ counts: { layers, heads }, temperature, causal, context, expected }, ui) {
  const heat = { label: "Temperature τ", min: 0.1, max: 10, logarithmic: true, format: number };
  const byHand = [
    slider(ui, "temperature", heat),
    context.length ? nothing : toggle(ui, "causal", { label: "Causal mask" }),
  ];
  const folded = html`<div class="cw-controls">${byHand}</div>`;
  return html`<div class="cw-controls cw-head-choice">
    ${choices(ui, "layer", { label: "Layer", options: numbered(layers) })}
    ${choices(ui, "head", { label: "Head", options: numbered(heads) })}
    ${
      expected
        ? fold(`More: temperature${context.length ? "" : ", causal mask"}`, folded, {
            open: temperature !== 1 || causal,
          })
        : byHand
    }
  </div>`;
}

const asked = (now) =>
  html`<p class="cw-asked"><strong>${now.question}</strong> ${answer(now)}</p>`;

const isFilmed = ({ counts }) => counts.steps > 1;

/** The training from its first step, or the text from its first token. */
function begin(ui) {
  const filmed = isFilmed(ui.now);
  if (!filmed && !ui.now.expected) return;
  if (filmed) ui.set({ step: 0 });
  else beginReading(ui);
  ui.play(true);
}

function view(now, ui) {
  const { expected } = now;
  const told = html`<p class="cw-message" role="status">${message(now)}</p>`;
  return html`${now.plugged ? tokenField(now, ui) : now.reader ? letterField(now, ui) : nothing} ${drawnBy(now, ui)}
    ${expected && now.question ? asked(now) : nothing} ${controls(now, ui)}
    ${changedByHand(now)}
    <div style="margin: 0 0 0.25rem" data-measure="row">${tokenRow(now, ui)}</div>
    <div class=${expected ? "cw-columns cw-beside-guesses" : "cw-columns"}>
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
        <p class="cw-ramp cw-heat-legend" aria-hidden="true">weight 0 <i></i> 1</p>
        ${expected ? told : nothing}
      </div>
      <div class="cw-top-keys">
        ${isFilmed(now) ? film(now, ui) : expected ? reading(now, ui) : nothing}
        <div class="cw-top-tables">
          ${topKeys(now)} ${expected ? nextTokens(now) : nothing}
        </div>
        ${expected ? nothing : told}
      </div>
    </div>`;
}

/** The next moment: of the training if there is one, of the reading if not. */
const advance = (now, ui, seconds) =>
  now.counts.steps > 1 ? play(now, ui, seconds) : readOn(now, ui, seconds);

const GUESSED = "Below a token stands what was guessed for it before it was read.";
const how = ({ counts, expected }) =>
  html`Point at a token or a row to see where it looks; press to stay. By keyboard: Tab,
    then arrows. ${expected ? GUESSED : nothing} ${counts.steps > 1 ? ROUNDED : nothing}`;

function words({ tokens, keys, pointed: { query }, row, expected }) {
  const name = `query ${placed(tokens, query)} of ${tokens.length}`;
  if (!row) return `${name}: nothing to look at`;
  const [best] = ranking(row);
  const next = expected ? `; guesses ${visible(expected[query][0].name)} to come next` : "";
  return `${name}: looks most at ${placed(keys, best)}, weight ${number(row[best], 3)}${next}`;
}

export default widget({
  label: "Attention explorer: who looks at whom",
  data: {
    ...{
      tokens: plain,
      context: plain,
      weights,
      steps: plain,
      losses: vector,
      vocabulary: plain,
      guesses,
    },
    ...{ plugged: plain, answers: plain, error: plain },
    ...{
      question: plain,
      rivals: plain,
      reader: { decode: (packed) => packed && unpackReader(packed) },
    },
    ...{ source: plain, given: { decode: (travelled) => travelled && decodeArray(travelled) } },
  },
  controls: {
    ...{ layer: plain, head: plain, query: plain, step: plain, typed: plain },
    ...{ temperature: plain, causal: plain },
  },
  local: {
    hovered: NOWHERE,
    field: null,
    asked: null,
    elapsed: 0,
    stood: null,
    compared: false,
    own: null,
    place: 0,
  },
  // Tokens and weights change together, but a host may report one before the other.
  whole: ({ tokens, context, weights, steps, losses, guesses }) =>
    weights.shape.at(-2) === tokens.length &&
    weights.shape.at(-1) === (context.length || tokens.length) &&
    [0, steps.length].includes(losses.length) &&
    [0, (steps.length || 1) * tokens.length].includes(guesses.count),
  atSight: begin,
  derive,
  view,
  words,
  how,
  advance: (_, ui, seconds) => advance(ui.now, ui, seconds),
  began: ({ tokens, query, layer, head, temperature, causal }) =>
    `layer ${layer + 1}, head ${head + 1}, query ${placed(tokens, query)}, ` +
    `τ = ${number(temperature)}${causal ? ", causal" : ""}`,
});
