// A small decoder drafts letters, and a large one judges all of them in one call.

import { bars, legend, panel } from "../kit/charts.js";
import { select, slider } from "../kit/controls.js";
import { percent, visible } from "../kit/text.js";
import { callsOf } from "../maths/drafts.js";
import { clamp, sum, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure, onTour } from "./live_figure.js";

const HEIGHT = 215;
const [LARGE, SMALL, DRAW] = ["var(--cw-accent)", "var(--cw-edge)", "var(--cw-warm)"];
/** Each text begins with a country and a blank. */
const GIVEN = 3;

function derive(given, ui) {
  const { town, texts, drafts, p, q, u, ahead, call } = given;
  const which = Math.min(town, texts.length - 1);
  const runsOf = (count) =>
    texts.map((text, i) =>
      callsOf([...text].slice(GIVEN), drafts[i].split("|"), { p: p[i], q: q[i], u: u[i] }, count),
    );
  const runs = ui.memo("runs", [texts, ahead], () => runsOf(ahead));
  const most = ui.memo("most", [texts, which], () => runsOf(1)[which].length);
  const calls = runs[which];
  const at = clamp(call, 1, calls.length) - 1;
  const all = runs.flat();
  const average = sum(all.map(({ letters }) => letters.length)) / all.length;
  return { which, calls, at, average, most, spelt: [...texts[which]] };
}

const spell = (letters) => letters.map(visible).join("");

/** What is written before a call, what is drafted, and what becomes of it. */
function row({ spelt, at }, { from, drafted, kept, letters }, i) {
  const fate = (j) => (j < kept ? "kept" : j === kept ? "refused" : "unread");
  const tile = (letter, j) => html`<span data-fate=${fate(j)}>${visible(letter)}</span>`;
  const added = letters.length > kept ? letters.at(-1) : null;
  return html`<p class="cw-drafts-call" data-here=${i === at}
    style=${i > at ? "visibility: hidden" : nothing}><span>${spell(spelt.slice(0, GIVEN + from))}</span>${drafted.map(tile)}${
      added ? html`<span data-fate="added">${visible(added)}</span>` : nothing
    }</p>`;
}

const KINDS = [
  ["kept", "kept"],
  ["refused", "refused"],
  ["unread", "dropped"],
  ["added", "added"],
];

function texts(now) {
  const { calls, most } = now;
  return html`<div class="cw-panel" style="flex: 1.3 1 18rem; align-self: flex-start">
    <p class="cw-panel-title">One row for each call</p>
    <p class="cw-drafts-call cw-drafts-key">${KINDS.map(
      ([fate, text]) => html`<span data-fate=${fate}>a</span>${text} `,
    )}</p>
    <div style="min-height: ${(1.75 * most).toFixed(2)}em">${calls.map((call, i) => row(now, call, i))}</div>
  </div>`;
}

/** The two probabilities of each drafted letter, and where the draw asks the large one to reach. */
function judged({ calls, at, p, q, u, which }, ui) {
  const { from, drafted, kept } = calls[at];
  const read = upTo(Math.min(drafted.length, kept + 1));
  const [large, small, draws] = [p, q, u].map((row) => read.map((j) => row[which][from + j]));
  const options = {
    name: "judged",
    title: [
      "The judgement",
      legend([
        { text: "small", colour: SMALL, width: 9 },
        { text: "large", colour: LARGE, width: 9 },
        { text: "to be reached", colour: DRAW },
      ]),
    ],
    says: `${kept} of ${drafted.length} drafted letters are kept`,
    x: { ends: [], names: drafted.map(visible) },
    y: { ends: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], label: "probability of the drafted letter" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const side = (shift, values, colour) =>
      bars(frame, values, { wide: 0.32, places: read.map((j) => j + shift), colour: () => colour });
    const mark = (
      j,
    ) => svg`<path d="M${frame.x(j - 0.4)} ${frame.y(draws[j] * small[j])}H${frame.x(j + 0.4)}"
      stroke=${DRAW} stroke-width="3"></path>`;
    return svg`${side(-0.18, small, SMALL)}${side(0.18, large, LARGE)}${read.map(mark)}`;
  });
}

const lastOf = ({ calls }) => calls.length;
const turn = (ui, changes) => {
  ui.set(changes);
  ui.set({ call: lastOf(ui.now) });
};

const chooser = ({ texts: all, calls, at }, ui, again) => {
  const choose = (town) => {
    turn(ui, { town });
    again(true);
  };
  const options = all.map((text, i) => [i, text.replace("⏎", "")]);
  const call = { label: "Call", min: 1, max: calls.length, value: at + 1 };
  return html`${onTour(select(ui, "town", { label: "Text", options, choose }))}
    ${slider(ui, "call", { ...call, format: (value) => `${value}/${calls.length}` })}`;
};

function verdict({ calls, at }) {
  const { drafted, kept, letters } = calls[at];
  const told = `${kept} of ${drafted.length} kept: ${letters.length === 1 ? "one letter" : `${letters.length} letters`} for one call`;
  return { kind: kept === drafted.length ? "good" : kept ? "open" : "bad", text: told };
}

function says({ calls, at, p, q, u, which }) {
  const { from, drafted, kept, letters } = calls[at];
  const added = visible(letters.at(-1));
  if (kept === drafted.length) {
    return letters.length > kept
      ? `All drafts are kept, and the call adds ${added}, whose probabilities it has computed anyway.`
      : "All drafts are kept, and the text has ended.";
  }
  if (letters.length === kept) return "The drafts are kept up to the end of the text.";
  const place = from + kept;
  const [large, small, draw] = [p, q, u].map((row) => row[which][place]);
  return `${visible(drafted[kept])} is refused: the large decoder gives it ${percent(large, 1)}, less than the ${percent(draw * small, 1)} that the draw asks for. ${added} is drawn instead.`;
}

const wasted = ({ drafted, kept }) => drafted.length - kept;

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [texts(now), judged(now, ui)],
  asks: "Are the drafts kept?",
  verdict,
  readings: ({ calls, at, average }) => {
    const made = calls.slice(0, at + 1);
    const written = sum(made.map(({ letters }) => letters.length));
    return [
      { name: "letters", label: "letters a call", text: (written / made.length).toFixed(2) },
      { name: "average", label: "over all texts", text: average.toFixed(2) },
      {
        name: "wasted",
        label: "letters drafted in vain",
        text: String(sum(made.map(wasted))),
        room: 2,
      },
    ];
  },
  says,
  longest: (now) => now.calls.map((_, at) => says({ ...now, at })),
  began: ({ texts: all, town, ahead }) =>
    `${all[Math.min(town, all.length - 1)].replace("⏎", "")}, ${ahead} letters drafted at once`,
  tour: { knob: "call", from: 1, to: lastOf, seconds: 6 },
});
