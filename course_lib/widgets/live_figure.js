// What all live figures share: their knobs, the row of numbers below, and the words. A figure is a
// module in js/live, which gives its picture; live_figure.py gives its knobs.

import { array, plain, rows, vector } from "./js/array.js";
import { button, choices, fold, slider, toggle } from "./js/controls.js";
import { nearestRatio, stops } from "./js/maths/scaling.js";
import { playAtOnce, playButton } from "./js/play.js";
import { number } from "./js/text.js";
import { html, nothing } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

/**
 * @typedef {any} State the knobs and data by name, the local state and what `derive` adds
 *
 * @typedef {object} Reading a number below the picture
 * @property {string} name by which a test finds it
 * @property {string} label
 * @property {string} text
 *
 * @typedef {object} Tour a knob that goes by itself, once, to where it stands
 * @property {string} knob
 * @property {number} from
 * @property {(now: State) => number} [to] if not to where it stands
 * @property {number} seconds
 *
 * @typedef {object} Figure
 * @property {(now: State, ui: any) => State} [derive] what follows from the knobs: see `widget`
 * @property {(now: State, ui: any) => unknown} panels the picture: panels of charts.js
 * @property {(now: State) => Reading[]} readings
 * @property {(now: State) => string} says what the picture tells just now, in one sentence
 * @property {State} [local] what the reader does that Python need not know, as it begins
 * @property {(now: State, ui: any, seconds: number) => void} [advance] the next moment, for a
 *   figure with the trait `moving`
 * @property {(now: State) => string} [moment] where the motion is, in two words
 * @property {(now: State, ui: any) => void} [step] the same by hand, where nothing moves by itself
 * @property {(now: State, ui: any) => unknown} [chooser] a control of its own
 * @property {Tour} [tour] for a figure that has no motion of its own
 */

/** A knob's value as it stands beside it. */
export const told = ({ kind, digits = 2, unit = "", names = {} }, value) => {
  if (kind === "switch") return value ? "on" : "off";
  if (kind === "choice") return names[value] ?? String(value);
  const text = kind === "integer" ? String(value) : number(value, digits);
  return unit === "°" ? `${text}°` : `${text} ${unit}`.trim();
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

function control(ui, name, knob) {
  const { kind, label, low, high, options, logarithmic } = knob;
  if (knob.hidden) return nothing;
  if (knob.button) {
    const next = () => ui.set({ [name]: low + ((ui.now[name] - low + 1) % (high - low + 1)) });
    return button(label, next);
  }
  if (kind === "switch") return toggle(ui, name, { label });
  if (kind === "choice")
    return choices(ui, name, { label, options: options.map((one) => [one, told(knob, one)]) });
  if (logarithmic && kind === "integer") return stopper(ui, name, knob);
  const step = knob.step ?? (kind === "integer" ? 1 : (high - low) / 100);
  const format = (value) => told(knob, value);
  return slider(ui, name, { label, min: low, max: high, step, logarithmic, format });
}

const buttonish = (knob) => Number(Boolean(knob.button));

/** @param {Figure} figure */
function motion({ advance, moment }, now, ui) {
  if (!advance) return nothing;
  if (now.moving) playAtOnce(ui);
  return html`${playButton(ui, { start: "Play", stop: "❚❚ Pause" })}
    ${moment ? html`<output class="cw-live-moment" aria-live="off">${moment(now)}</output>` : nothing}`;
}

/** Where a knob is after a share of its way. */
function onTheWay({ kind, logarithmic, low, high }, [from, to], share) {
  if (!logarithmic) {
    const value = from + share * (to - from);
    return kind === "integer" ? Math.round(value) : value;
  }
  if (kind !== "integer") return from * (to / from) ** share;
  const places = [...stops(low, high).filter((place) => from <= place && place < to), to];
  return places[Math.round(share * (places.length - 1))];
}

/** @param {Tour} tour @param {Record<string, any>} knobs */
function guided({ knob, from, to, seconds }, knobs) {
  const moveTo = (ui, tour, value) => ui.set({ tour: { ...tour, at: value }, [knob]: value });
  const begin = (ui) => {
    const stands = to ? to(ui.now) : ui.now[knob];
    // From its beginning on, the whole way is left.
    moveTo(ui, { share: 0, to: stands > from ? stands : knobs[knob].high }, from);
  };
  const atOnce = (ui) => {
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
    moveTo(ui, { ...tour, share }, onTheWay(knobs[knob], [from, tour.to], share));
    if (share === 1) end(ui);
  };
  const play = (now, ui) => {
    if (now.moving) playAtOnce(ui, () => atOnce(ui));
    const first = () => ui.now.tour || begin(ui);
    const button = playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: first });
    return html`<span data-transport>${button}</span>`;
  };
  /** A hand that takes a part of the figure has it to itself. */
  const taken = (ui) => (event) => {
    const transport = event.target.closest("[data-transport]");
    if (ui.now.tour && event.key !== "Tab" && !transport) end(ui);
  };
  return { advance, play, taken };
}

const reading = ({ name, label, text }) =>
  html`<span>${label} <strong data-reading=${name}>${text}</strong></span>`;

/**
 * A widget from a figure's picture and, when it starts, from the knobs that Python tells.
 * @param {Figure} figure
 */
export const liveFigure = (figure) => ({
  render: (given) => {
    const { title, knobs, data } = given.model.get("about");
    const names = Object.keys(knobs);
    const lasting = names.filter((name) => !knobs[name].button);
    const codec = (axes) => [plain, vector, rows][axes] ?? array;
    const decoders = Object.entries(data).map(([name, axes]) => [name, codec(axes)]);
    const values = (now) =>
      lasting.map((name) => `${knobs[name].label}: ${told(knobs[name], now[name])}`);
    const tour = figure.tour && guided(figure.tour, knobs);
    const taken = (ui) => tour?.taken(ui) ?? nothing;
    const buttonsFirst = [...names].sort((a, b) => buttonish(knobs[b]) - buttonish(knobs[a]));
    const controlsOf = (ui, folded) =>
      buttonsFirst
        .filter((name) => Boolean(knobs[name].more) === folded)
        .map((name) => control(ui, name, knobs[name]));
    const more = names.filter((name) => knobs[name].more).map((name) => knobs[name].label);
    return widget({
      label: title,
      name: "cw-live",
      data: { ...Object.fromEntries(decoders), moving: plain },
      controls: Object.fromEntries(names.map((name) => [name, plain])),
      local: { ...figure.local, tour: null },
      derive: figure.derive,
      advance: tour?.advance ?? figure.advance,
      view: (now, ui) => html`<div @pointerdown=${taken(ui)} @keydown=${taken(ui)}>
        <div class="cw-controls">
          ${tour ? tour.play(now, ui) : motion(figure, now, ui)}
          ${figure.step ? button("Step", () => figure.step(ui.now, ui)) : nothing}
          ${figure.chooser?.(now, ui) ?? nothing}${controlsOf(ui, false)}
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
        <p class="cw-live-readings">${figure.readings(now).map(reading)}</p>
        <p class="cw-hint">${figure.says(now)}</p>
      </div>`,
      words: (now) =>
        `${figure.says(now)} ${figure
          .readings(now)
          .map(({ label, text }) => `${label} ${text}`)
          .join(", ")}.`,
      began: (now) => values(now).join("; "),
    }).render(given);
  },
});

export default liveFigure({ panels: () => nothing, readings: () => [], says: () => "" });
