// The distribution of the next letter, and what temperature, top-k and top-p make of it.

import { bars, legend, panel, rule } from "../kit/charts.js";
import { select } from "../kit/controls.js";
import { number, percent, spelled, visible } from "../kit/text.js";
import { chooseAmong } from "../maths/generation.js";
import { clamp, softmax, sum } from "../maths/numerics.js";
import { html, svg } from "../vendor/lit-html/lit-html.js";
import { liveFigure } from "./live_figure.js";

const HEIGHT = 215;
/** So many letters have a bar; on a telephone fewer. */
const [MOST, BARS_IF_NARROW, NARROW] = [30, 18, 480];
const TOPS = [0.1, 0.25, 0.5, 1];
const [DRAWN, MODEL] = ["var(--cw-accent)", "var(--cw-ink)"];

const entropy = (shares) => -sum(shares.map((p) => (p > 0 ? p * Math.log2(p) : 0)));

function derive({ after, beginnings, letters, logits, temperature, top_k, top_p }, ui) {
  const which = Math.min(after, beginnings.length - 1);
  const scores = logits[which];
  const own = ui.memo("own", [logits, which], () => softmax(scores));
  const choice = chooseAmong(scores, temperature, top_k, top_p);
  const { order, probability, leftByP: kept } = choice;
  const begun = spelled([...beginnings[which]]);
  return { own, choice, probability, order, kept, begun, which, count: letters.length };
}

/** What cuts the tail off, if anything does. */
function cutBy({ choice, count }) {
  if (choice.leftByP < choice.leftByK) return "top-p";
  return choice.leftByK < count ? "top-k" : "";
}

function distribution(now, ui) {
  const { order, own, probability, letters, kept, begun } = now;
  const most = ui.width("letters", 640) < NARROW ? BARS_IF_NARROW : MOST;
  const shown = order.slice(0, most);
  const [drawn, before] = [probability, own].map((shares) => shown.map((id) => shares[id]));
  const top = TOPS.find((limit) => limit >= Math.max(...drawn, ...before)) ?? 1;
  const cut = cutBy(now);
  const options = {
    name: "letters",
    title: [
      `The next letter after ${begun}`,
      legend([
        { text: "what the model says", colour: MODEL, width: 1.5 },
        { text: "what is drawn from", colour: DRAWN, width: 9 },
      ]),
    ],
    says: `Probabilities of ${shown.length} letters after ${begun}; ${kept} can be drawn`,
    x: { ends: [], names: shown.map((id) => visible(letters[id])) },
    y: { ends: [0, top], label: "probability" },
    height: HEIGHT,
  };
  return panel(ui, options, (frame) => {
    const outline = (share, i) => {
      const [left, right] = [i - 0.4, i + 0.4].map(frame.x);
      return svg`<rect x=${left} y=${frame.y(share)} width=${right - left}
        height=${frame.bottom - frame.y(share)} fill="none" stroke=${MODEL} stroke-width="1.2"
        stroke-opacity=${i < kept ? 0.9 : 0.4}></rect>`;
    };
    const beyond = { x: kept - 0.5, colour: "var(--cw-warm)", label: `${cut} cuts here` };
    return svg`${bars(frame, drawn, { colour: () => DRAWN, wide: 0.8 })}${before.map(outline)}
      ${cut && kept < shown.length ? rule(frame, beyond) : ""}`;
  });
}

function chooser({ beginnings }, ui) {
  const options = beginnings.map((text, i) => [i, spelled([...text])]);
  return select(ui, "after", { label: "After", options });
}

/** All probability in one strip: the wider a part, the more often its letter is drawn. */
function strip({ order, probability, letters }) {
  const part = (id, rank) => html`<span style="flex: ${probability[id]} 0 0"
    data-even=${rank % 2 === 0}>${probability[id] > 0.03 ? visible(letters[id]) : ""}</span>`;
  return html`<div class="cw-panel" style="flex-basis: 100%">
    <p class="cw-panel-title">Where a draw can fall</p>
    <div class="cw-next-strip" aria-hidden="true">${order
      .filter((id) => probability[id] > 0)
      .map(part)}</div>
  </div>`;
}

function verdict({ kept, count, order, letters, probability }) {
  if (kept === 1)
    return { kind: "open", text: `Only ${visible(letters[order[0]])}: nothing is left to chance` };
  const best = `${visible(letters[order[0]])} in ${percent(probability[order[0]])} of draws`;
  return { kind: "open", text: `${kept} of ${count} letters, ${best}` };
}

function says(now) {
  const { kept, count, own, order, temperature } = now;
  const lost = 1 - sum(order.slice(0, kept).map((id) => own[id]));
  const cut = cutBy(now);
  const tail = cut
    ? `${cut} cuts ${count - kept} letters, to which the model gives ${percent(clamp(lost, 0, 1))} together.`
    : "No letter is cut.";
  const heat =
    temperature < 1
      ? "Below temperature 1, probable letters gain."
      : temperature > 1
        ? "Above temperature 1, improbable letters gain."
        : "At temperature 1, the model’s own probabilities stay.";
  return `${heat} ${tail}`;
}

export default liveFigure({
  derive,
  chooser,
  panels: (now, ui) => [distribution(now, ui), strip(now)],
  asks: "Which letters can be drawn?",
  verdict,
  readings: ({ kept, probability, order }) => [
    { name: "kept", label: "letters kept", text: String(kept), room: 2 },
    { name: "largest", label: "largest probability", text: number(probability[order[0]], 3) },
    {
      name: "entropy",
      label: "entropy",
      text: `${number(entropy(probability), 3)} bits`,
    },
  ],
  says,
  began: ({ beginnings, after, temperature }) =>
    `${spelled([...beginnings[Math.min(after, beginnings.length - 1)]])} at temperature ${number(temperature)}`,
  tour: { knob: "temperature", from: 0.1, over: 2, seconds: 6 },
});
