// What a boost changes of a jet's particles and of what two of them have in common.

import { panel, rule } from "../kit/charts.js";
import { chosenPair, fromFlight, pairReadings, particles, radiusOf } from "../kit/particles.js";
import { number } from "../kit/text.js";
import { boostedAlongBeam } from "../maths/boosts.js";
import { flightOf, pairOf, total } from "../maths/jets.js";
import { clamp, sum, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 230;
const [WIDE, HIGH] = [1.3, 0.7];
const [LEAST, MOST] = [0.2, 5];
const FEATURES = ["Δ", "kT", "z", "m²"];
const NAMES = [...FEATURES, "pT of a", "E of a"];
const [STAYS, CHANGES] = ["var(--cw-series-2)", "var(--cw-warm)"];
const SAME = 1e-4;

/** The momentum for an observer who flies after the jet, in the direction of its momentum. */
function boostedAlongJet([energy, ...p], [, ...jet], shift) {
  const size = Math.hypot(...jet);
  const way = jet.map((part) => part / size);
  const along = sum(p.map((part, k) => part * way[k]));
  const [e, , , after] = boostedAlongBeam([energy, 0, 0, along], -shift);
  return [e, ...p.map((part, k) => part + (after - along) * way[k])];
}

function derive({ momenta, direction, shift, first, second }) {
  const pair = chosenPair(first, second, momenta.length);
  const jet = total(momenta);
  const moved = momenta.map((p) =>
    direction === "beam" ? boostedAlongBeam(p, shift) : boostedAlongJet(p, jet, shift),
  );
  const [before, after] = [momenta, moved].map((all) => all.map(flightOf));
  const told = (flights) => {
    const [a, b] = pair.map((i) => flights[i]);
    return [...pairOf(a, b), a.pt, a.momentum[0]];
  };
  const [was, is] = [told(before), told(after)];
  const ratios = is.map((value, i) => (was[i] ? value / was[i] : 1));
  const stays = ratios.map((ratio) => Math.abs(ratio - 1) < SAME);
  return { pair, axis: flightOf(jet), before, after, is, ratios, stays };
}

function plane(now, ui) {
  const { before, after, axis, pair } = now;
  const place = (flight) => fromFlight(flight, axis);
  const options = {
    name: "plane",
    title: "Before (dashed) and after",
    says: `${after.length} particles over rapidity and azimuth; a and b are ${number(now.is[0], 3)} apart`,
    x: { ends: [-WIDE, WIDE], label: "rapidity y, from the jet before" },
    y: { ends: [-HIGH, HIGH], label: "azimuth φ" },
    ...{ height: HEIGHT, grow: 1.6, equal: true },
  };
  return panel(ui, options, (frame) => {
    const ghost = (flight) => {
      const [x, y] = place(flight);
      return svg`<circle cx=${frame.x(x)} cy=${frame.y(y)} r=${radiusOf(flight.pt)} fill="none"
        stroke="var(--cw-muted)" stroke-dasharray="2 2" clip-path=${frame.clip}></circle>`;
    };
    const look = { pair, pt: after.map(({ pt }) => pt), fill: () => "var(--cw-accent)" };
    return svg`${before.map(ghost)}${particles(ui, frame, after.map(place), look)}`;
  });
}

function changes({ ratios, stays }, ui) {
  const options = {
    name: "changes",
    title: "After ÷ before",
    says: NAMES.map((name, i) => `${name} times ${number(ratios[i], 2)}`).join(", "),
    x: { ends: [LEAST, MOST], logarithmic: true, ticks: [0.2, 0.5, 1, 2, 5], format: String },
    y: { ends: [], names: NAMES },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const bar = (i) => {
      const ends = [1, clamp(ratios[i], LEAST, MOST)].map(frame.x).sort((a, b) => a - b);
      const colour = stays[i] ? STAYS : CHANGES;
      return svg`<rect x=${ends[0] - 3} y=${frame.y(i) - 9} width=${ends[1] - ends[0] + 6} height="18"
        rx="3" fill=${colour}></rect>`;
    };
    return svg`${rule(frame, { x: 1 })}${upTo(NAMES.length).map(bar)}`;
  });
}

function verdict({ stays, shift }) {
  if (!shift) return { kind: "open", text: "No boost yet" };
  const kept = FEATURES.filter((_, i) => stays[i]);
  if (kept.length === FEATURES.length) return { kind: "good", text: "All four pair features" };
  return { kind: "bad", text: kept.length === 1 ? `Only ${kept[0]}` : kept.join(" and ") };
}

function says({ direction, shift }) {
  if (!shift) return "Move the slider, and press particles to choose another pair.";
  const size = number(Math.abs(shift), 2);
  if (direction === "beam")
    return `Every rapidity is ${size} ${shift > 0 ? "larger" : "smaller"}, so the jet moves as a whole.`;
  return shift > 0
    ? `An observer who flies after the jet sees its particles softer and farther apart.`
    : `An observer who flies towards the jet sees its particles harder and closer together.`;
}

export default liveFigure({
  derive,
  panels: (now, ui) => [plane(now, ui), changes(now, ui)],
  asks: "What does the boost leave unchanged?",
  verdict,
  readings: ({ is }) => pairReadings(is.slice(0, 4)),
  says,
  longest: (now) => says({ ...now, direction: "jet", shift: -1 }),
  tour: { knob: "shift", from: 0, seconds: 4 },
});
