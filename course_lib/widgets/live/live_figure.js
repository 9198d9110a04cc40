// What all live figures share: their knobs, the row of numbers below, and the words. A figure is a
// module beside this one, which gives its picture; live_figure.py gives its knobs.

import { array, plain, rows, vector } from "../kit/array.js";
import { button, choices, fold, slider, toggle } from "../kit/controls.js";
import { first } from "../kit/plane.js";
import { playButton, playIfMoving, prefersStillness } from "../kit/play.js";
import { number, quantity } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { nearestRatio, stops } from "../maths/scaling.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";

/**
 * @typedef {any} State the knobs and data by name, the local state and what `derive` adds
 *
 * @typedef {object} Reading a number below the picture
 * @property {string} name by which a test finds it
 * @property {string} label
 * @property {string} text
 * @property {number} [room] for so many digits, so that nothing beside it moves
 * @property {boolean} [drawn] its place is in the picture
 * @property {boolean} [late] for who knows the subject: it stands below the sentence
 *
 * @typedef {object} Tour a knob that goes by itself, once, to where it stands
 * @property {string} knob
 * @property {number} from
 * @property {(now: State) => number} [to] if not to where it stands
 * @property {number} [over] where it turns back on its way
 * @property {number} seconds
 * @property {boolean} [whole] a hand that takes another part finds the knob where the tour leads
 *
 * @typedef {object} Verdict how it has come out, in one bold line above the picture
 * @property {string} kind "good", "bad" or "open": a success, a failure, or neither
 * @property {string} text a few words, with the number that matters
 *
 * @typedef {object} Figure
 * @property {(now: State, ui: any) => State} [derive] what follows from the knobs: see `widget`
 * @property {(now: State, ui: any) => unknown} panels the picture: panels of charts.js
 * @property {(now: State) => Reading[]} readings
 * @property {string} [asks] the question that the picture answers, short, above it
 * @property {(now: State) => Verdict} [verdict] the answer just now
 * @property {boolean} [terse] whether it has room in one line of a telephone
 * @property {(now: State) => string} says what the picture tells just now, in one sentence
 * @property {(now: State) => string | string[]} [longest] what it tells in its film, or the longest
 *   of that: so much has its room from the beginning
 * @property {State} [local] what the reader does that Python need not know, as it begins
 * @property {(now: State, ui: any, seconds: number) => void} [advance] the next moment, for a
 *   figure with the trait `moving`
 * @property {(now: State) => string} [moment] where the motion is, in two words
 * @property {(now: State, ui: any) => void} [step] the same by hand, where nothing moves by itself
 * @property {(now: State, ui: any, again: (always?: boolean) => void) => unknown} [chooser] a
 *   control of its own; one that changes what a tour shows begins it `again`, `always` if a hand
 *   that has had the knob is to lose it
 * @property {Record<string, (value: any) => State>} [along] other knobs that a choice brings with it
 * @property {Record<string, (now: State) => Record<string, string>>} [names] of the options of a
 *   knob that depend on other knobs
 * @property {(now: State) => string} [began] where it began, if the knobs do not tell
 * @property {Tour} [tour] for a figure that has no motion of its own
 */

/** Where a tour turns back, as a share of its time. */
const TURN = 0.7;

/** A knob's value as it stands beside it. */
export const told = ({ kind, digits = 2, unit = "", before = "", names = {}, base = 0 }, value) => {
  if (base) return quantity(base ** value);
  if (kind === "switch") return value ? "on" : "off";
  if (kind === "choice") return names[value] ?? String(value);
  const text = kind === "integer" ? String(value) : number(value, digits);
  return before + (unit === "°" ? `${text}°` : `${text} ${unit}`.trim());
};

/** A slider on whole numbers in equal ratios; no two of its places are one number. */
function stopper(ui, name, knob) {
  const places = stops(knob.low, knob.high);
  const value = nearestRatio(places, ui.now[name]);
  return slider(ui, name, {
    label: knob.label,
    min: 0,
    max: places.length - 1,
    value,
    set: (place) => ui.set({ [name]: places[place] }),
    format: () => told(knob, ui.now[name]),
  });
}

/** Controls during whose use a tour goes on, or begins again. */
export const onTour = (content) =>
  html`<div data-transport style="display: contents">${content}</div>`;

function control(ui, name, knob, again, along = (_) => ({})) {
  const { kind, label, low, high, options, logarithmic } = knob;
  if (knob.hidden) return nothing;
  const choose = (value) => {
    ui.set({ [name]: value, ...along(value) });
    again();
  };
  if (knob.button) {
    const next = () => choose(low + ((ui.now[name] - low + 1) % (high - low + 1)));
    return onTour(button(label, next));
  }
  if (kind === "switch")
    return onTour(toggle(ui, name, { label, value: ui.now[name], set: choose }));
  if (kind === "choice") {
    const named = options.map((one) => [one, told(knob, one)]);
    return onTour(choices(ui, name, { label, options: named, choose }));
  }
  if (logarithmic && kind === "integer") return stopper(ui, name, knob);
  const step = knob.step ?? (kind === "integer" ? 1 : (high - low) / 100);
  const format = (value) => told(knob, value);
  return slider(ui, name, { label, min: low, max: high, step, logarithmic, format });
}

const buttonish = (knob) => Number(Boolean(knob.button));

/** @param {Figure} figure */
function motion({ advance, moment }, now, ui) {
  if (!advance) return nothing;
  return html`${playButton(ui, { start: "Play", stop: "❚❚ Pause" })}
    ${
      moment
        ? html`<output class="cw-live-moment" style="min-width: 4.8em"
      aria-live="off">${moment(now)}</output>`
        : nothing
    }`;
}

/** Where a knob is after a share of its way. */
function onTheWay({ kind, logarithmic, low, high, step }, [from, to], share) {
  if (!logarithmic) {
    const value = from + share * (to - from);
    // What stands beside a knob is what the picture shows: it goes where a hand can put it.
    const places = kind === "integer" ? 1 : step;
    return places ? Number((Math.round(value / places) * places).toPrecision(12)) : value;
  }
  if (kind !== "integer") return from * (to / from) ** share;
  const places = [...stops(low, high).filter((place) => from <= place && place < to), to];
  return places[Math.round(share * (places.length - 1))];
}

/** A tour's stage at a share of its way: from where, to where, and how much of that. */
const stage = (from, over, to, share) => {
  if (over === undefined) return [[from, to], share];
  return share < TURN ? [[from, over], share / TURN] : [[over, to], (share - TURN) / (1 - TURN)];
};

/** @param {Tour} tour @param {Record<string, any>} knobs */
function guided({ knob, from, over, to, seconds, whole = false }, knobs) {
  const moveTo = (ui, tour, value) => ui.set({ tour: { ...tour, at: value }, [knob]: value });
  const begin = (ui, stands = to ? to(ui.now) : ui.now[knob]) => {
    // From its beginning on, the whole way is left.
    moveTo(ui, { share: 0, to: stands > from ? stands : knobs[knob].high }, from);
  };
  const atSight = (ui) => {
    begin(ui);
    ui.play(true);
  };
  const end = (ui) => {
    ui.play(false);
    ui.set({ tour: null });
  };
  const advance = (now, ui, passed) => {
    const { tour } = now;
    // Somebody else turns the knob.
    if (now[knob] !== tour?.at) return end(ui);
    const share = Math.min(1, tour.share + passed / seconds);
    moveTo(ui, { ...tour, share }, onTheWay(knobs[knob], ...stage(from, over, tour.to, share)));
    if (share < 1) return undefined;
    end(ui);
    return ui.set({ toured: ui.now[knob] });
  };
  /**
   * What the reader chooses anew is to be seen from the beginning, as long as the tour has the
   * knob: while it is under way, and where it has left the knob.
   */
  const again = (ui, always = false) => {
    const { tour, toured } = ui.now;
    const left = always || toured === ui.now[knob];
    if (!tour && (!left || prefersStillness())) return;
    begin(ui, to ? undefined : tour?.to);
    ui.play(true);
  };
  const play = (ui) => {
    const first = () => ui.now.tour || begin(ui);
    const button = playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: first });
    return html`<span data-transport>${button}</span>`;
  };
  /** A hand that takes a part of the figure has it to itself. */
  const taken = (ui) => (event) => {
    const transport = event.target.closest("[data-transport]");
    if (!ui.now.tour || event.key === "Tab" || transport) return;
    if (whole && !event.target.closest(`[data-trait="${knob}"]`))
      moveTo(ui, ui.now.tour, ui.now.tour.to);
    end(ui);
  };
  return { advance, again, atSight, play, taken };
}

const reading = ({ name, label, text, room }) =>
  html`<span>${label} <strong data-reading=${name} style=${room ? `--cw-room: ${room}ch` : nothing}
    >${text}</strong></span>`;

const longestOf = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a));

/** What the picture tells just now, in the room of the longest that it will tell. @param {Figure} figure */
function hinted({ says, longest }, now) {
  const told = says(now);
  if (!told) return nothing;
  return longest
    ? html`<p class="cw-hint cw-over cw-live-says" data-room=${longestOf([longest(now)].flat())}><span>${told}</span></p>`
    : html`<p class="cw-hint">${told}</p>`;
}

/**
 * A widget from a figure's picture and, when it starts, from the knobs that Python tells.
 * @param {Figure} figure
 */
export const liveFigure = (figure) => ({
  render: (given) => {
    const { title, knobs, data } = given.model.get("about");
    const names = Object.keys(knobs);
    const inSight = names.filter((name) => !knobs[name].button && !knobs[name].more);
    const beside = inSight.filter((name) => !knobs[name].hidden);
    const codec = (axes) => [plain, vector, rows][axes] ?? array;
    const decoders = Object.entries(data).map(([name, axes]) => [name, codec(axes)]);
    const named = (name, now) =>
      figure.names?.[name] ? { ...knobs[name], names: figure.names[name](now) } : knobs[name];
    const values = (now) =>
      (beside.length ? beside : inSight).map(
        (name) => `${knobs[name].label}: ${told(named(name, now), now[name])}`,
      );
    const tour = figure.tour && guided(figure.tour, knobs);
    const taken = (ui) => tour?.taken(ui) ?? (() => {});
    const buttonsFirst = [...names].sort((a, b) => buttonish(knobs[b]) - buttonish(knobs[a]));
    const again = (ui) => (always) => tour?.again(ui, always);
    const controlsOf = (ui, folded) =>
      buttonsFirst
        .filter((name) => Boolean(knobs[name].more) === folded)
        .map((name) => control(ui, name, named(name, ui.now), again(ui), figure.along?.[name]));
    const readings = (now, late) => {
      const told = figure.readings(now).filter((one) => !one.drawn && Boolean(one.late) === late);
      return told.length
        ? html`<p class="cw-live-readings" ?data-late=${late}>${told.map(reading)}</p>`
        : nothing;
    };
    const more = names.filter((name) => knobs[name].more).map((name) => knobs[name].label);
    return widget({
      label: title,
      name: "cw-live",
      data: Object.fromEntries(decoders),
      controls: Object.fromEntries(names.map((name) => [name, plain])),
      local: { ...figure.local, tour: null, toured: null },
      atSight: tour?.atSight ?? ((ui) => figure.advance && ui.play(true)),
      // A tour leads to where its knob stands; what has no end may begin wherever a link leads.
      entered: (ui) => !tour && figure.advance && playIfMoving(ui),
      derive: figure.derive,
      advance: tour?.advance ?? figure.advance,
      view: (now, ui) => html`<div @pointerdown=${first(taken(ui))} @keydown=${taken(ui)}>
        ${figure.verdict ? headline(figure.asks, figure.verdict(now), figure.terse) : nothing}
        <div class="cw-controls">
          ${tour ? tour.play(ui) : motion(figure, now, ui)}
          ${figure.step ? button("Step", () => figure.step(ui.now, ui)) : nothing}
          ${figure.chooser?.(now, ui, again(ui)) ?? nothing}${controlsOf(ui, false)}
        </div>
        ${
          more.length
            ? fold(
                `More: ${more.join(", ")}`,
                html`<div class="cw-controls">${controlsOf(ui, true)}</div>`,
              )
            : nothing
        }
        <div class="cw-live-panels" data-measure="panels">${figure.panels(now, ui)}</div>
        ${readings(now, false)}
        ${hinted(figure, now)}
        ${readings(now, true)}
      </div>`,
      words: (now) => {
        const read = figure.readings(now).map(({ label, text }) => `${label} ${text}`);
        const ended = (part) => part && `${part}.`;
        const verdict = ended(figure.verdict?.(now).text);
        return [verdict, figure.says(now), ended(read.join(", "))].filter(Boolean).join(" ");
      },
      began: figure.began ?? ((now) => values(now).join("; ")),
    }).render(given);
  },
});

export default liveFigure({ panels: () => nothing, readings: () => [], says: () => "" });
