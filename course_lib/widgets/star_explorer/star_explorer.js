import { plain, rows } from "../kit/array.js";
import { button, select } from "../kit/controls.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { number, percent, quantity } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { drawnNights } from "../maths/light_curves.js";
import { html } from "../vendor/lit-html/lit-html.js";
import { derive } from "./derived.js";
import { hide, slideTo, take } from "./hand.js";
import { inFrequency, inPhase, inTime } from "./panels.js";
import { dial, errors, sky } from "./side.js";
import { days, isFound, many, nightTold, verdictTold } from "./words.js";

const CLOCKS = { days: "days", turns: "turns of the period that you have chosen" };
const [TOUR_SECONDS, TURN_SECONDS] = [6, 2.5];
const PART = 1 / 3; // of the nights that one button hides

/** Another star begins as the first did: nobody has found its period yet. */
const anew = ({ within }, star) => ({ star, period: within.start, night: -1, hidden: [] });

function chooseStar(ui, star) {
  take(ui, { ...anew(ui.now, star), hovered: -1, moment: 0, knownOf: -1 });
  beginTour(ui);
}

/** The season as it was seen is folded up, from its whole length on. */
function beginTour(ui) {
  if (prefersStillness() || !ui.now.moving) return;
  ui.set({ tour: 0, from: 0 });
  ui.play(true);
}

function controls({ names, curve }, ui) {
  const choose = (star) => chooseStar(ui, star);
  return html`<div class="cw-controls cw-s-controls">
    ${select(ui, "star", { label: "Star", options: names.map((name, i) => [i, name]), choose })}
    <span style="font-weight: 600">${curve.time.length} nights, one period: which?</span>
  </div>`;
}

function buttons({ hidden, curve, seed }, ui) {
  const nights = curve.time.length;
  const third = () => {
    hide(ui, drawnNights(nights, Math.round(PART * nights), seed));
    ui.set({ seed: seed + 1 });
  };
  return html`<div class="cw-row cw-s-buttons">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: () => take(ui, { hovered: -1 }) })}
    ${button("Hide a third", third)}
    ${button("Show all", () => hide(ui, []), { disabled: !hidden.length })}
  </div>`;
}

function view(now, ui) {
  // Who has found the period by hand knows it from now on, wherever the hand goes next.
  if (isFound(now) && !now.known) ui.set({ knownOf: now.star });
  const search = () => {
    ui.set({ knownOf: ui.now.star });
    slideTo(ui, 1 / ui.now.spectrum.peak.frequency);
  };
  const find = button("Find it", search);
  return html`${controls(now, ui)}
    <div class="cw-s-panels" data-measure="stars">
      ${inPhase(now, ui)} ${inFrequency(now, ui)} ${dial(now, ui, find)}
      ${inTime(now, ui)} ${sky(now, ui)}
      <div class="cw-s-bottom">${buttons(now, ui)} ${errors(now)}</div>
    </div>`;
}

function how({ facts, clock, prior }) {
  const model = facts
    ? ` ASTROMER’s time runs in ${CLOCKS[clock]}. Its band, in its own colour, is what its second ` +
      "readout says: 1.96 standard deviations to each side, too."
    : "";
  return (
    "Press in the periodogram: it takes the highest power nearby. Then pull the dial, which " +
    "reaches 2 % to each side, or press the arrow keys. Once the period is found, triangles mark " +
    "the highest peak of the visible nights and the frequencies that nights whole days apart " +
    "cannot tell from it: +1 is one turn a day more, −1 is one fewer. The bar is the share of the " +
    "season’s scatter that three waves of the period explain. Point at a night, and it lights up " +
    "in all panels. Drag over days to hide their nights, or click a night. Whoever fills hidden " +
    "nights in sees the visible ones only: the straight line between neighbours, and three waves " +
    "of the period, fitted by least squares. The error is the root mean square over hidden " +
    "nights; on average it cannot be smaller than the stated errors. ± counts the hidden nights " +
    "inside a band, their stated errors added to it. An instrumental magnitude counts from the " +
    "telescope’s own zero point. " +
    (prior
      ? "The waves’ band knows the stars of the catalogue and reaches 1.96 standard deviations to " +
        "each side, to hold 95 %. It trusts the period that you have chosen. "
      : "") +
    "The disc is bright when the star is. Its size stays the same, since brightness does not tell " +
    `a star’s size. Two stars that eclipse each other are one point.${model}`
  );
}

function words(now) {
  const { names, star, folded, explained, spectrum, hidden, known, tour, errors: found } = now;
  if (tour < 1) return `${names[star]}: its nights are being folded.`;
  // Nobody is told the period before asking for it: no more is one who listens.
  const peak = known
    ? ` The highest peak of the periodogram is a period of ${days(1 / spectrum.peak.frequency)}.`
    : "";
  const off = Object.entries({
    ...{ ASTROMER: found.astromer, "the straight line": found.line, "three waves": found.waves },
  }).flatMap(([way, error]) => (error === null ? [] : [`${way} ${number(error, 3)}`]));
  const bands = Object.entries({ "ASTROMER’s": now.doubtHeld, "the waves’": now.held });
  const holds = bands.flatMap(([whose, count]) => (count === null ? [] : [`${whose} ${count}`]));
  const band = holds.length ? ` Of ${hidden.length} nights, bands hold: ${holds.join(", ")}.` : "";
  const told = off.length ? ` Errors in magnitudes: ${off.join(", ")}.${band}` : "";
  return (
    `${names[star]}, folded at ${days(folded)}: three waves explain ${percent(explained)} of what ` +
    `changes. ${verdictTold(now)}${peak} ${many(hidden.length, "night")} hidden.${told} ${nightTold(now)}`
  );
}

export default widget({
  label: "Star explorer: nights of a star, folded, hidden and filled in",
  data: {
    ...{ names: plain, nights: plain, periods: plain, scales: plain },
    ...{ pulsates: plain, prior: plain },
    ...{ time: rows, magnitude: rows, error: rows },
    ...{ within: plain, facts: plain, weights: plain, clock: plain },
  },
  controls: { star: plain, period: plain, night: plain, hidden: plain },
  local: {
    ...{ tour: 1, from: 0, moment: 0, hovered: -1, span: null, turned: null, seed: 1 },
    knownOf: -1,
  },
  whole: ({ star, nights, night, hidden }) => Math.max(night, ...hidden) < nights[star],
  along: ({ star }, now) => (star === undefined ? {} : anew(now, star)),
  atSight: beginTour,
  derive,
  view,
  words,
  how,
  began: ({ names, star, period }) => `${names[star].split(":")[0]}, at ${quantity(period)} d`,
  advance: ({ tour, moment }, ui, seconds) => {
    const { folded, curve } = ui.now;
    if (tour < 1) {
      const next = Math.min(1, tour + seconds / TOUR_SECONDS);
      ui.set({ tour: next });
      if (next === 1) ui.tell();
    } else ui.set({ moment: (moment + (seconds / TURN_SECONDS) * folded) % curve.days });
  },
});
