import { plain, rows } from "./js/array.js";
import { button, select } from "./js/controls.js";
import { drawnNights } from "./js/maths/light_curves.js";
import { playAtOnce, playButton } from "./js/play.js";
import { derive } from "./js/star_explorer/derived.js";
import { hide, keysOnPeriod, stepPeriod, take, takePeriod } from "./js/star_explorer/hand.js";
import { inFrequency, inPhase, inTime } from "./js/star_explorer/panels.js";
import { disc, errors } from "./js/star_explorer/side.js";
import { days, many, nightTold } from "./js/star_explorer/words.js";
import { number } from "./js/text.js";
import { html } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const CLOCKS = { days: "days", turns: "turns of the period in your hand" };
const [TOUR_SECONDS, TURN_SECONDS] = [7, 2.5];
const PART = 1 / 3; // of the nights that one button hides

/** On this slider equal distances are equal ratios; arrow keys go in fine steps. */
function periodSlider({ folded, within: { period: ends } }, ui) {
  const id = `${ui.id}-period`;
  const input = ({ target }) => takePeriod(ui, Number(Math.exp(target.value).toPrecision(6)));
  const [low, high] = ends.map(Math.log);
  const step = (way, label, text) => html`<button type="button" class="cw-button"
    aria-label=${label} @click=${() => stepPeriod(ui, way)}>${text}</button>`;
  return html`<div class="cw-control cw-s-period" data-period=${folded}>
    <label for=${id}>Period</label>
    <input id=${id} type="range" data-trait="period" aria-valuetext=${days(folded)} min=${low}
      max=${high} step="any" .value=${String(Math.log(folded))} @input=${input}
      @keydown=${keysOnPeriod(ui)}>
    ${step(-1, "A little shorter", "−")}<output for=${id}>${days(folded)}</output>
    ${step(1, "A little longer", "+")}
  </div>`;
}

function controls(now, ui) {
  const { names, spectrum } = now;
  const choose = (star) => take(ui, { star, night: -1, hidden: [], hovered: -1 });
  return html`<div class="cw-controls cw-s-controls">
    ${select(ui, "star", { label: "Star", options: names.map((name, i) => [i, name]), choose })}
    ${periodSlider(now, ui)}
    ${button("Find it", () => takePeriod(ui, 1 / spectrum.peak.frequency))}
  </div>`;
}

function hiding({ hidden, curve, seed }, ui) {
  const nights = curve.time.length;
  const third = () => {
    hide(ui, drawnNights(nights, Math.round(PART * nights), seed));
    ui.set({ seed: seed + 1 });
  };
  return html`<div class="cw-s-buttons">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: () => take(ui, {}) })}
    ${button("Hide a third", third)}
    ${button("Show all", () => hide(ui, []), { disabled: !hidden.length })}
  </div>`;
}

function view(now, ui) {
  if (now.moving) {
    playAtOnce(ui, () => {
      ui.set({ tour: 0 });
      ui.play(true);
    });
  }
  return html`${controls(now, ui)}
    <div class="cw-s-panels">
      ${inTime(now, ui)} ${inPhase(now, ui)}
      <div class="cw-s-side">${disc(now)} ${hiding(now, ui)} ${errors(now)}</div>
      ${inFrequency(now, ui)}
    </div>
    <p class="cw-s-told">${nightTold(now) || "Point at a night: it lights up in both."}</p>`;
}

function how({ facts, clock }) {
  const model = facts
    ? ` ASTROMER’s time runs in ${CLOCKS[clock]}. It says one number a night, and not how sure it is.`
    : "";
  return (
    "Move the period, with the arrow keys in fine steps; or press in the periodogram, which takes " +
    "the highest power nearby. ±1 marks the frequencies one turn a day from the highest peak: " +
    "nights a day apart hardly tell them from it. Drag over days to hide them, or click a night. " +
    "Only visible nights count in the periodogram and for those who fill in: the straight line " +
    "between neighbours, and three waves of the period, fitted by least squares. The error is the " +
    `root of the mean square over hidden nights. The disc’s area is the star’s brightness.${model}`
  );
}

function words(now) {
  const { names, star, folded, spectrum, hidden, errors: found } = now;
  const off = Object.entries({
    ...{ ASTROMER: found.astromer, "the straight line": found.line, "three waves": found.waves },
  }).flatMap(([way, error]) => (error === null ? [] : [`${way} ${number(error, 3)}`]));
  const told = off.length ? ` Errors in magnitudes: ${off.join(", ")}.` : "";
  return (
    `${names[star]}, folded at ${days(folded)}. The highest peak of the periodogram is a period of ` +
    `${days(1 / spectrum.peak.frequency)}. ${many(hidden.length, "night")} hidden.${told} ${nightTold(now)}`
  );
}

export default widget({
  label: "Star explorer: nights of a star, folded, hidden and filled in",
  name: "cw-star",
  data: {
    ...{ names: plain, nights: plain, periods: plain, time: rows, magnitude: rows, error: rows },
    ...{ within: plain, facts: plain, weights: plain, clock: plain, moving: plain },
  },
  controls: { star: plain, period: plain, night: plain, hidden: plain },
  local: { tour: 1, turn: 0, hovered: -1, span: null, seed: 1 },
  whole: ({ star, nights, night, hidden }) => Math.max(night, ...hidden) < nights[star],
  along: ({ star }) => (star === undefined ? {} : { night: -1, hidden: [] }),
  derive,
  view,
  words,
  how,
  began: ({ names, star, period }) => `${names[star]}, at ${days(period)}`,
  advance: ({ tour, turn }, ui, seconds) =>
    ui.set(
      tour < 1
        ? { tour: Math.min(1, tour + seconds / TOUR_SECONDS) }
        : { turn: (turn + seconds / TURN_SECONDS) % 1 },
    ),
});
