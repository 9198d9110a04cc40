// What follows from the state.

import { beliefAt, unpackAstromer } from "../maths/astromer.js";
import {
  aliases,
  betweenNeighbours,
  brightness,
  errorOf,
  explainedBy,
  fitHarmonics,
  frequencyGrid,
  highestPeak,
  lombScargle,
  phase,
  posteriorOf,
  seriesAt,
  spreadAt,
  visibleOf,
} from "../maths/light_curves.js";
import { clamp, upTo } from "../maths/numerics.js";

const STEEP = 7; // how soon a tour comes near its end
const SLIDE = 0.05; // of a turn: by how much a step of the period moves the last night
const LARGEST_STEP = 0.02;
const MARGIN = 0.06;
export const WAVES = 3;
const DEVIATIONS = 1.96; // of a band, to each side: a normal variable lies within in 95 %
const IN_A_TURN = 60; // points of ASTROMER's band
const TURNS = 5; // that are seen at once between the nights
const [SLIPS, WIDTH] = [0.2, 0.6]; // turns in a season: as good as a period, or within its peak

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

/** On a tour the period comes from another one, ever more slowly, to where it stands. */
function toured(period, tour, from) {
  if (tour >= 1) return period;
  const [left, end] = [Math.exp(-STEEP * tour), Math.exp(-STEEP)];
  return period * (from / period) ** ((left - end) / (1 - end));
}

/** Whether a period is the star's "own", an "alias" of it, or neither; nobody may know. */
function verdictOf({ periods, star, within }, { days }, folded) {
  if (!periods[star]) return "";
  const [held, own] = [1 / folded, 1 / periods[star]];
  const off = (frequency) => Math.abs(held - frequency) * days;
  if (off(own) < SLIPS) return "own";
  return aliases(own, 2 * within.highest).some((f) => off(f) < WIDTH) ? "alias" : "";
}

/** What the fit says in the days about a moment. Where no night is, it may say anything. */
function betweenOf({ curve, folded, fit, moment }) {
  const half = Math.min((TURNS / 2) * folded, curve.days / 2);
  const ends = [moment - half, moment + half];
  const at = (t) => clamp(seriesAt(fit, 1 / folded, t), curve.bright, curve.faint);
  const points = upTo(141).map((i) => ends[0] + (i / 70) * half);
  return { ends, points: points.map((t) => [t, at(t)]), now: at(moment) };
}

/** How bright between the faintest night, 0, and the brightest, 1. */
function shiningOf({ bright, faint }, magnitude) {
  const least = brightness(faint, bright);
  return (brightness(magnitude, bright) - least) / (1 - least || 1);
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

const withEnds = ({ middle, deviation }) => {
  const half = DEVIATIONS * deviation;
  return { middle, deviation, ends: [middle - half, middle + half] };
};

/**
 * What the series of the period in hand believes at some times, and how far off it may be: a band.
 * It never doubts the period. Null where nobody has told it what stars look like.
 */
function bandOf(belief, folded, times) {
  if (!belief) return null;
  return times.map((t) => {
    const middle = seriesAt(belief.coefficients, 1 / folded, t);
    return withEnds({ middle, deviation: spreadAt(belief, 1 / folded, t) });
  });
}

/**
 * What ASTROMER believes at some times: a band too. The band over one turn is the same in each,
 * where the model's time runs in turns and its sinusoids repeat with them; elsewhere it is null.
 */
function doubtsOf({ facts, weights, clock, hidden }, { memo }, { curve, folded }) {
  if (!facts || !hidden.length) return { guessed: facts && [], turn: null };
  const model = memo("model", [weights], () => unpackAstromer(facts, weights));
  const repeats = clock === "turns" && facts.frequency.every(Number.isInteger);
  const unit = clock === "turns" ? folded : 1; // A clock of days knows no period.
  return memo("doubts", [model, curve, hidden, unit], () => {
    const time = curve.time.map((t) => t / unit);
    const shares = repeats ? upTo(IN_A_TURN + 1).map((i) => i / IN_A_TURN) : [];
    const asked = [...hidden.map((night) => time[night]), ...shares];
    const found = beliefAt(model, { ...curve, time }, hidden, asked).map(withEnds);
    const turn = found.slice(hidden.length);
    const twice = [0, 1].flatMap((turns) =>
      turn.map(({ ends }, i) => [turns + i / IN_A_TURN, ends]),
    );
    return { guessed: found.slice(0, hidden.length), turn: repeats ? twice : null };
  });
}

/** How many hidden nights a band holds, the nights' own errors added to its deviation. */
const heldBy = (band, truth, sigmas) =>
  band.filter(
    ({ middle, deviation }, i) =>
      Math.abs(truth[i] - middle) < DEVIATIONS * Math.hypot(deviation, sigmas[i]),
  ).length;

/** What each way says of the hidden nights: null where nothing is hidden, or no model is there. */
function guessesOf({ hidden }, { memo }, { curve, seen, folded, fit, belief, doubts }) {
  const times = memo("asked", [curve, hidden], () => hidden.map((night) => curve.time[night]));
  const line = memo("line", [seen, times], () => times.map((t) => betweenNeighbours(seen, t)));
  const waves = times.map((t) => seriesAt(fit, 1 / folded, t));
  const doubted = doubts.guessed;
  const astromer = doubted?.map(({ middle }) => middle);
  const expected = bandOf(belief, folded, times);
  const truth = hidden.map((night) => curve.magnitude[night]);
  const sigmas = hidden.map((night) => curve.error[night]);
  const off = (guesses) => (guesses && truth.length ? errorOf(guesses, truth) : null);
  return {
    ...{ line, waves, astromer, expected, doubted },
    held: expected && heldBy(expected, truth, sigmas),
    doubtHeld: doubted && heldBy(doubted, truth, sigmas),
    errors: { astromer: off(astromer), line: off(line), waves: off(waves) },
    noise: truth.length ? errorOf(sigmas, upTo(truth.length).fill(0)) : null,
  };
}

export function derive(now, ui) {
  const { time, magnitude, error, star, hidden, period, tour, from, night, hovered, prior } = now;
  const { memo } = ui;
  const curve = memo("curve", [time, magnitude, error, star], () => curveOf(now, star));
  const seen = memo("seen", [curve, hidden], () => visibleOf(curve, hidden));
  const spectrum = memo("spectrum", [seen], () => spectrumOf(seen, curve, now.within));
  const folded = toured(period, tour, from || curve.days);
  const fit = memo("fit", [seen, folded], () => fitHarmonics(seen, 1 / folded, WAVES));
  const explained = memo("explained", [fit], () => explainedBy(seen, fit, 1 / folded));
  const belief =
    prior && memo("belief", [seen, folded], () => posteriorOf(seen, 1 / folded, prior));
  const phases = memo("phases", [curve, folded], () => curve.time.map((t) => phase(t, folded)));
  const series = memo("series", [fit], () =>
    upTo(121).map((i) => [i / 60, seriesAt(fit, 1 / folded, (i / 60) * folded)]),
  );
  const band = memo("band", [belief], () => {
    const shares = upTo(121).map((i) => i / 60);
    const found = bandOf(
      belief,
      folded,
      shares.map((share) => share * folded),
    );
    return found?.map(({ ends }, i) => [shares[i], ends]);
  });
  const doubts = doubtsOf(now, ui, { curve, folded });
  // While nothing plays, the star is that of the night that is pointed at.
  const lit = hovered >= 0 ? hovered : night;
  const moment = lit >= 0 && !now.playing ? curve.time[lit] : now.moment;
  const between = betweenOf({ curve, folded, fit, moment });
  return {
    ...{ curve, seen, spectrum, folded, fit, explained, phases, series, band },
    ...{ lit, moment, between },
    verdict: verdictOf(now, curve, folded),
    known: now.knownOf === star,
    doubt: doubts.turn,
    ...guessesOf(now, ui, { curve, seen, folded, fit, belief, doubts }),
    turn: phase(moment, folded),
    magnitudeNow: between.now,
    brightnessNow: brightness(between.now, curve.bright),
    shining: shiningOf(curve, between.now),
  };
}
