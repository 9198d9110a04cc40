import { plain } from "../kit/array.js";
import { button, choices, fold, select, series, slider } from "../kit/controls.js";
import { pointIn } from "../kit/plane.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { number } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { ELEMENTS } from "../maths/molecule.js";
import { smoothstep, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { derive } from "./derived.js";
import { freePlace, turnedInto } from "./editing.js";
import { add, begin, bond, colour, enter, erase, gripOf, oxidize } from "./hand.js";
import { beside, knowledge, learned, named, refinement, verdict } from "./panels.js";
import {
  bondGrips,
  classColour,
  disc,
  elementColour,
  letterOf,
  messages,
  nameTag,
  receptiveField,
  skeleton,
} from "./picture.js";
import { solubility } from "./solubility.js";
import {
  atomName,
  CHANGED,
  complaint,
  DRAGS,
  elementName,
  graphName,
  HINTS,
  inTheAir,
  LAYERS,
  layerName,
  MOST_ROUNDS,
  many,
  ORDERS,
  PARTS,
  question,
  RINGS,
  RULES,
  spokenAtom,
  tale,
} from "./words.js";

const [ROUND_SECONDS, FIRST_SECONDS, LANDING_SECONDS] = [1.2, 1.8, 1.6];
/** So many rounds travel by themselves. */
const FIRST_ROUNDS = 4;

/** @typedef {[any, string][]} Options */
/** @type {Options} */
const ELEMENT_NAMES = ELEMENTS.map((symbol) => [symbol, elementName(symbol)]);

/**
 * An arc as long as what an atom adds to the answer, beside the most that one does.
 * @returns {[number, string][]}
 */
function partOf(parts, i) {
  const most = Math.max(...parts.map(Math.abs)) || 1;
  const arc = Math.abs(parts[i]);
  return [
    [arc, series(parts[i] < 0 ? 1 : 0)],
    [most - arc, "var(--cw-line)"],
  ];
}

/** What an atom shows: the elements that it knows of, or its colour. @returns {[number, string][]} */
function mixOf({ rings, kinds, known, next, arrived, colours, parts }, i) {
  if (rings === "colours") return [[1, classColour(colours[i])]];
  if (parts.length) return partOf(parts, i);
  return kinds.map((kind, k) => [
    (1 - arrived) * known[i][k] + arrived * next[i][k],
    elementColour(kind),
  ]);
}

function handle(now, ui, i) {
  const { place, at, strange, drawing, rings } = now;
  const [grip, radius] = [gripOf(ui, i), place.radii[i]];
  const text = rings === "colours" ? String(now.colours[i] + 1) : letterOf(drawing, i);
  const ring = (r, ink, dashes) =>
    svg`<circle r=${r} fill="none" stroke=${ink} stroke-width="2" stroke-dasharray=${dashes}></circle>`;
  return svg`<g class="cw-handle cw-g-atom" tabindex="0" role="button"
    aria-roledescription="movable atom" aria-pressed=${i === at} aria-label=${spokenAtom(now, i)}
    transform="translate(${place.points[i].join(" ")})" @pointerdown=${grip} @pointermove=${grip}
    @pointerup=${grip} @keydown=${grip} @focus=${grip}>
    <circle r=${place.reach} fill="transparent"></circle>
    ${disc(mixOf(now, i), rings === "colours" ? place.radius : radius, text)}
    ${i === at ? ring(place.radius + 3, "var(--cw-ink)", "none") : nothing}
    ${i === now.partner ? ring(place.radius + 3, "var(--cw-ink)", "3 3") : nothing}
    ${strange.some((atom) => atom.i === i) ? ring(place.radius + 6, "var(--cw-warm)", "6 3") : nothing}
  </g>`;
}

function picture(now, ui) {
  const { place, drawing, pen, flight, drag } = now;
  const { width, height, points, field } = place;
  const touch = (event) => {
    if (event.target.closest(".cw-handle")) return;
    const [i, j] = event.target.closest("[data-bond]")?.dataset.bond.split(" ").map(Number) ?? [];
    if (j !== undefined) ui.set({ atom: j, partner: i });
    else if (drag === "bonds" || !points.length) add(ui, field.toData(pointIn(event)), -1);
  };
  const way = prefersStillness() ? 0.5 : smoothstep(flight);
  return html`<div class="cw-layers" data-measure="graph" style="aspect-ratio: 4 / 3">
    <svg viewBox="0 0 ${width} ${height}" role="group" aria-label="Atoms and their bonds"
      data-flight=${flight} style=${drag === "bonds" ? "cursor: crosshair" : nothing} @click=${touch}>
      ${receptiveField(now)}${skeleton(drawing, now.bondsAt, place)}
      ${inTheAir(now) ? messages(now, (i) => mixOf({ ...now, arrived: 0, parts: [] }, i), way) : nothing}
      ${
        pen
          ? svg`<path d="M${points[pen.from].join(" ")}L${pen.to.join(" ")}"
          stroke="var(--cw-accent)" stroke-width="3" stroke-dasharray="6 4"></path>`
          : nothing
      }
      ${drawing.element.map((_, i) => handle(now, ui, i))}
      ${bondGrips(drawing, place)}
      ${
        points.length
          ? nothing
          : svg`<text x=${width / 2} y=${height / 2} text-anchor="middle">click here: an atom</text>`
      }
      ${[now.at, now.mate].map((i) => (i < 0 ? nothing : nameTag(i, atomName(now, i), drawing, place)))}
    </svg>
  </div>`;
}

function transport(now, ui) {
  const line = { label: "Rounds", min: 0, max: MOST_ROUNDS };
  const still = { first: false, landing: 1 };
  const start = () => ui.set({ rounds: now.rounds % MOST_ROUNDS, asked: Infinity, ...still });
  const step = () => {
    const { playing, asked, rounds, first } = ui.now;
    const waiting = playing && !first && asked < Infinity ? asked : 0;
    ui.set({ asked: Math.min(waiting + 1, MOST_ROUNDS - rounds), ...still });
    ui.play(true);
  };
  return html`<div class="cw-controls cw-stacked cw-g-transport">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: start })}
    ${button("Step", step, { disabled: now.rounds >= MOST_ROUNDS })}
    ${slider(ui, "rounds", { ...line, set: (rounds) => ui.set({ rounds, flight: 0 }) })}
  </div>`;
}

// Deeds ask for the state of their moment: an atom may be clicked since the last frame.

/** What changes the chosen atom. */
function tools({ at }, ui) {
  const element = {
    label: at < 0 ? "" : `Atom ${at + 1} is`,
    options: ELEMENT_NAMES,
    choose: (symbol) => ui.set({ drawing: turnedInto(ui.now.drawing, ui.now.at, symbol) }),
  };
  return [
    at < 0 ? nothing : select(ui, "element", element),
    button("Delete atom", () => erase(ui), { disabled: at < 0 }),
    button("Put an oxygen on it", () => oxidize(ui), { disabled: at < 0 }),
    button("Add an atom", () => add(ui, freePlace(ui.now.drawing, ui.now.at), ui.now.at)),
  ];
}

function editing(now, ui) {
  const { drawing, at, mate } = now;
  const atoms = upTo(drawing.element.length).filter((i) => i !== at);
  const mates = {
    label: "Bond to",
    options: atoms.map((i) => /** @type {[any, string]} */ ([i, atomName(now, i)])),
    choose: (i) => ui.set({ partner: i }),
  };
  const tie = (order) => bond(ui, ui.now.mate, ui.now.at, order);
  const order = { label: "Its order", options: ORDERS, choose: tie };
  /** @type {Options} */
  const others = [[-1, "nothing"], ...now.molecules.map(({ drawing }, i) => [i, drawing.name])];
  const compare = (other) => (other < 0 ? ui.set({ other }) : colour(ui, { other }));
  const group = (title, content) => html`<fieldset class="cw-controls cw-g-editing">
    <legend>${title}</legend>${content}</fieldset>`;
  return [
    group("Bonds", [
      mate < 0 ? nothing : [select(ui, "mate", mates), select(ui, "order", order)],
      choices(ui, "drag", { label: "Dragging an atom", options: DRAGS }),
    ]),
    group("Seen otherwise", [
      select(ui, "other", { label: "Compare with", options: others, choose: compare }),
      select(ui, "layer", { label: "Layer of the picture", options: LAYERS }),
    ]),
  ];
}

/** Ends the rounds with which the figure begins: whatever the reader touches comes first. */
function land(ui) {
  if (ui.now.awaited) ui.set({ awaited: false });
  if (!ui.now.first) return;
  ui.play(false);
  ui.set({ first: false, flight: 0 });
}

function view(now, ui) {
  const touch = { handleEvent: () => land(ui), capture: true };
  /** @type {Options} */
  const molecules = now.molecules.map(({ drawing }, i) => [i, drawing.name]);
  /** @type {Options} */
  const changed = now.changed ? [[CHANGED, "your own"]] : [];
  const { other, molecule } = now;
  const show = (rings) => (rings === "colours" ? colour(ui, {}) : ui.set({ rings }));
  const paired = other >= 0;
  return html`<p class="cw-g-ask">${question(now)}</p>
    <div class="cw-controls cw-g-choice" @pointerdown=${touch} @focusin=${touch}>
      ${select(ui, "graph", {
        label: "Graph",
        options: [...molecules, [-1, "a new one"], ...changed],
        choose: (i) => enter(ui, i),
      })}
      ${select(ui, "rings", {
        label: "Atoms show",
        options: now.facts ? [...RINGS, PARTS] : RINGS,
        choose: show,
      })}
    </div>
    <div class="cw-g-stage ${paired ? "cw-g-pair" : ""}">
      <div style="grid-area: own" @pointerdown=${touch} @focusin=${touch}>
        ${paired ? named(graphName(now), now.colours, now.found) : nothing}
        ${picture(now, ui)}</div>
      <div style="grid-area: play">${transport(now, ui)} ${
        paired ? verdict(now) : html`<p class="cw-hint cw-g-tale">${tale(now)}</p>`
      }</div>
      <div class="cw-controls cw-g-tools" @pointerdown=${touch} @focusin=${touch}>
        ${tools(now, ui)}
        <p class="cw-message cw-hint">${now.note || complaint(now)}</p></div>
      <div style="grid-area: below">
        ${fold("Bonds, compare, other layers", editing(now, ui), { open: molecule < 0 })}</div>
      <div class="cw-g-side" @pointerdown=${touch} @focusin=${touch}>
        ${
          paired
            ? beside(now)
            : [solubility(now), fold(learned(now), [knowledge(now), refinement(now)])]
        }</div>
    </div>`;
}

function words(now) {
  const { at, far, rounds } = now;
  const name = graphName(now);
  const heard = far.filter((steps) => steps <= rounds).length;
  const sight =
    at < 0 ? "" : ` ${atomName(now, at)} has heard of ${heard} of ${many(far.length, "atom")}.`;
  const answer =
    now.said === null || now.waiting
      ? ""
      : ` The network expects a solubility of ${number(now.said)}.`;
  return `${name[0].toUpperCase()}${name.slice(1)}.${answer}${sight} ${now.verdict} ${complaint(now)}`;
}

export default widget({
  label: "Graph playground: messages along the bonds of a molecule",
  name: "cw-graph",
  data: { molecules: plain, facts: plain, weights: plain },
  controls: Object.fromEntries(
    ["drawing", "layer", "rounds", "rings", "atom", "partner", "other", "drag"].map((n) => [
      n,
      plain,
    ]),
  ),
  local: { flight: 0, landing: 1, asked: 1, first: true, awaited: false, pen: null, note: "" },
  whole: ({ drawing, atom, partner }) => Math.max(atom, partner) < drawing.element.length,
  limits: ({ molecules }) => ({
    drawing: { kind: "named", options: molecules.map(({ drawing }) => drawing) },
  }),
  along: ({ drawing }) => (drawing === undefined ? {} : { atom: 0, partner: -1 }),
  atSight: (ui) => ui.now.rounds < MOST_ROUNDS && begin(ui),
  derive,
  view,
  words,
  how: ({ drag, layer }) => `${HINTS[drag]} ${RULES[layer]}`,
  began: ({ drawing, rounds, layer }) =>
    `${drawing.name || "your own graph"}, ${many(rounds, "round")}, ${layerName(layer)}`,
  advance: ({ flight, landing, rounds, asked, first }, ui, seconds) => {
    if (landing < 1) return ui.set({ landing: Math.min(1, landing + seconds / LANDING_SECONDS) });
    // Several rounds that are waited for hurry; those of a film take their time.
    const pace = first ? 1 / FIRST_SECONDS : (asked < Infinity ? asked : 1) / ROUND_SECONDS;
    const now = flight + seconds * pace;
    if (now < 1) return ui.set({ flight: now });
    const reached = Math.min(MOST_ROUNDS, rounds + 1);
    const more = first ? reached < FIRST_ROUNDS : asked > 1 && reached < MOST_ROUNDS;
    ui.set({ rounds: reached, flight: 0, asked: asked - 1, first: first && more });
    return more ? undefined : ui.play(false);
  },
});
