// What follows from the state.

import { expectedAt, unpackAstromer } from "../maths/astromer.js";
import {
  aliases,
  betweenNeighbours,
  brightness,
  errorOf,
  fitHarmonics,
  frequencyGrid,
  highestPeak,
  lombScargle,
  phase,
  seriesAt,
  visibleOf,
} from "../maths/light_curves.js";
import { clamp, upTo } from "../maths/numerics.js";

const [ASIDE, STEEP] = [0.3, 7]; // how wrong the tour begins, and how soon it comes near
const SLIDE = 0.05; // of a turn: by how much a step of the period moves the last night
const LARGEST_STEP = 0.02;
const MARGIN = 0.06;
export const WAVES = 3;

/** The nights of one star, less what pads them. */
function curveOf({ time, magnitude, error, nights }, star) {
  const [t, m, sigma] = [time, magnitude, error].map((rows) => rows[star].slice(0, nights[star]));
  const [bright, faint] = [Math.min, Math.max].map((most) => most(...m));
  const room = MARGIN * (faint - bright || 1);
  return {
    ...{ time: t, magnitude: m, error: sigma, bright, faint },
    days: t[t.length - 1],
    ends: [faint + room, bright - room],
    span: [-0.02 * t[t.length - 1], 1.02 * t[t.length - 1]],
  };
}

/** The periodogram of the visible nights, its highest peak, and what lies a day from that. */
function spectrumOf(seen, { days }, { highest, oversampling }) {
  const frequencies = frequencyGrid(days, highest, oversampling);
  const power = lombScargle(seen, frequencies);
  const peak = highestPeak(seen, frequencies, power);
  return { frequencies, power, peak, aliases: aliases(peak.frequency, highest) };
}

/** On the tour the period comes from a longer one, ever more slowly, to where it stands. */
function toured(period, tour) {
  if (tour >= 1) return period;
  const [left, end] = [Math.exp(-STEEP * tour), Math.exp(-STEEP)];
  return period * (1 + (ASIDE * (left - end)) / (1 - end));
}

/** The period a number of fine steps on: each slides the last night by a part of a turn. */
export function stepped(
  {
    period,
    curve,
    within: {
      period: [low, high],
    },
  },
  steps,
) {
  const step = Math.min(LARGEST_STEP, (SLIDE * period) / curve.days);
  return clamp(period * (1 + steps * step), low, high);
}

/** What each way says of the hidden nights: null where nothing is hidden, or no model is there. */
function guessesOf(now, ui, { curve, seen, folded, fit }) {
  const { hidden, facts, weights, clock } = now;
  const { memo } = ui;
  const times = memo("asked", [curve, hidden], () => hidden.map((night) => curve.time[night]));
  const line = memo("line", [seen, times], () => times.map((t) => betweenNeighbours(seen, t)));
  const waves = times.map((t) => seriesAt(fit, 1 / folded, t));
  const model = facts && memo("model", [weights], () => unpackAstromer(facts, weights));
  // A clock of days knows no period.
  const unit = clock === "turns" ? folded : 1;
  const astromer =
    model &&
    memo("astromer", [model, curve, hidden, unit], () => {
      const clocked = { ...curve, time: curve.time.map((t) => t / unit) };
      return expectedAt(
        model,
        clocked,
        hidden,
        times.map((t) => t / unit),
      );
    });
  const truth = hidden.map((night) => curve.magnitude[night]);
  const off = (guesses) => (guesses && truth.length ? errorOf(guesses, truth) : null);
  return {
    ...{ line, waves, astromer },
    errors: { astromer: off(astromer), line: off(line), waves: off(waves) },
  };
}

export function derive(now, ui) {
  const { time, magnitude, error, star, hidden, period, tour, turn, night, hovered } = now;
  const { memo } = ui;
  const curve = memo("curve", [time, magnitude, error, star], () => curveOf(now, star));
  const seen = memo("seen", [curve, hidden], () => visibleOf(curve, hidden));
  const spectrum = memo("spectrum", [seen], () => spectrumOf(seen, curve, now.within));
  const folded = toured(period, tour);
  const fit = memo("fit", [seen, folded], () => fitHarmonics(seen, 1 / folded, WAVES));
  const phases = memo("phases", [curve, folded], () => curve.time.map((t) => phase(t, folded)));
  const series = memo("series", [fit], () =>
    upTo(121).map((i) => [i / 60, seriesAt(fit, 1 / folded, (i / 60) * folded)]),
  );
  // Where no night is, a fit may say anything.
  const shining = clamp(seriesAt(fit, 1 / folded, turn * folded), curve.bright, curve.faint);
  return {
    ...{ curve, seen, spectrum, folded, fit, phases, series },
    ...guessesOf(now, ui, { curve, seen, folded, fit }),
    lit: hovered >= 0 ? hovered : night,
    magnitudeNow: shining,
    brightnessNow: brightness(shining, curve.bright),
  };
}
