// Bayes' rule on a writer of names: which country a name is from, letter by letter.

import { bars, cells, handle, panel } from "../kit/charts.js";
import { select } from "../kit/controls.js";
import { percent, visible } from "../kit/text.js";
import { clamp, ranking, softmax, sum, upTo } from "../maths/numerics.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure, onTour } from "./live_figure.js";

const HEIGHT = 250;
const [READ, OTHER] = ["var(--cw-warm)", "var(--cw-accent)"];

const nameOf = ({ name, names }) => names[Math.min(name, names.length - 1)];

/** The posterior after 0, 1, 2 … letters. */
export function posteriors(prior, logs, letters) {
  const belief = (read) =>
    softmax(prior.map((share, c) => Math.log(share) + sum(logs[c].slice(0, read))));
  return upTo(letters + 1).map(belief);
}

function derive(given, ui) {
  const { name, names, countries, logs, towns, prior, place } = given;
  const which = Math.min(name, names.length - 1);
  const spelt = [...names[which]];
  const common = prior === "even" ? towns.map(() => 1) : towns;
  const believed = common.map((count) => count / sum(common));
  const rows = ui.memo("rows", [logs, which, prior], () => {
    const size = logs.shape[2];
    const row = (c) => {
      const from = (which * countries.length + c) * size;
      return Array.from(logs.values.slice(from, from + spelt.length));
    };
    return posteriors(
      believed,
      countries.map((_, c) => row(c)),
      spelt.length,
    );
  });
  const at = Math.min(place, spelt.length);
  const belief = rows[at];
  return { which, spelt, rows, at, belief, best: ranking(belief)[0] };
}

const turn = (ui, place) => ui.set({ place: clamp(place, 0, ui.now.spelt.length) });
const readSoFar = ({ spelt, at }) => spelt.slice(0, at).map(visible).join("");

function along(now, ui) {
  const { rows, spelt, countries, at } = now;
  const columns = ["", ...spelt.map(visible)];
  const options = {
    name: "along",
    title: "The probability of each country, letter by letter",
    says: `After ${at} of ${spelt.length} letters ${countries[now.best]} has ${percent(now.belief[now.best])}`,
    x: { ends: [], names: columns, label: "letters read" },
    y: { ends: [], names: countries },
    ...{ height: HEIGHT, grow: 1.5, group: true },
  };
  const matrix = countries.map((_, c) => rows.map((row) => row[c]));
  return panel(ui, options, (frame) => {
    const [left, right] = [at - 0.5, at + 0.5].map(frame.x);
    const point = { point: [at, countries.length - 0.5], label: `letter ${at}` };
    return svg`${cells(frame, matrix, { colour: OTHER })}
      <rect x=${left} y=${frame.top} width=${right - left} height=${frame.bottom - frame.top}
        fill="none" stroke=${READ} stroke-width="2.5"></rect>
      ${handle(frame, {
        ...point,
        kind: "movable letter",
        moveTo: ([x]) => turn(ui, Math.round(x)),
        moveBy: ([step, up]) => turn(ui, ui.now.at + step + up),
      })}`;
  });
}

function believed({ belief, countries, best, at }, ui) {
  const options = {
    name: "belief",
    title: at ? "After these letters" : "Before any letter",
    says: countries.map((country, c) => `${country} ${percent(belief[c])}`).join(", "),
    x: { ends: [], names: countries },
    y: { ends: [0, 1], ticks: [0, 0.5, 1], label: "probability" },
    height: HEIGHT,
  };
  const colour = (c) => (c === best ? READ : OTHER);
  return panel(ui, options, (frame) => bars(frame, belief, { colour, wide: 0.8 }));
}

const lastOf = ({ spelt }) => spelt.length;

const chooser = ({ names }, ui, again) => {
  const choose = (name) => {
    ui.set({ name });
    turn(ui, lastOf(ui.now));
    again(true);
  };
  const options = names.map((one, i) => [i, one]);
  return onTour(select(ui, "name", { label: "Town", options, choose }));
};

function verdict({ belief, best, countries, truth, which, at }) {
  const told = `${countries[best]} ${percent(belief[best])}`;
  if (!at) return { kind: "open", text: `Before any letter: ${told}` };
  return best === truth[which]
    ? { kind: "good", text: told }
    : { kind: "bad", text: `${told}, but it lies in ${countries[truth[which]]}` };
}

function says(now) {
  const { at, rows, spelt, countries, best, belief } = now;
  if (!at) return "No letter is read: the probabilities are those of the prior.";
  const ratio = (c) => rows[at][c] / rows[at - 1][c];
  const gains = ranking(countries.map((_, c) => ratio(c)))[0];
  return `After ${readSoFar(now)}, ${countries[best]} has ${percent(belief[best])}. Of all countries, ${countries[gains]} has gained most by the last letter, ${visible(spelt[at - 1])}.`;
}

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [along(now, ui), believed(now, ui)],
  asks: "Which country is the name from?",
  verdict,
  terse: true,
  readings: ({ belief, truth, which, countries }) => [
    {
      name: "truth",
      label: `probability of ${countries[truth[which]]}, where it lies`,
      text: percent(belief[truth[which]], 1),
      room: 6,
    },
  ],
  says,
  longest: (now) =>
    upTo(now.spelt.length + 1).map((at) =>
      says({ ...now, at, belief: now.rows[at], best: ranking(now.rows[at])[0] }),
    ),
  began: (now) => `${nameOf(now)}, ${now.place} letters read`,
  tour: { knob: "place", from: 0, to: lastOf, seconds: 7 },
});
