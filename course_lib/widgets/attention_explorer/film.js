// The training of a model, as AttentionExplorer plays it: how it travels, and where it stands.

import { bytesOf, decodeArray } from "../kit/array.js";
import { button, slider } from "../kit/controls.js";
import { every, playButton } from "../kit/play.js";
import { number } from "../kit/text.js";
import { clamp, ranking, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";

const [LEVELS, FOREMOST] = [255, 3];
const SECONDS_A_FRAME = 0.3;
const HEIGHT = 34;
const [ABOVE, BELOW] = [6, 4];

/** Weights of attention; a page carries snapshots packed, as `_filmed` of the Python module says. */
export const weights = {
  decode: (travelled) => ("film" in travelled ? unpacked(travelled) : decodeArray(travelled)),
};

function unpacked({ shape, film, causal, last }) {
  const [bytes, exact, count] = [bytesOf(film), decodeArray(last).values, shape[shape.length - 1]];
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  const rows = values.length / count;
  let [next, then] = [0, 0];
  for (let row = 0; row < rows; row += 1) {
    const kept = causal ? row % count : count - 1;
    let left = LEVELS;
    for (let key = 0; key <= kept; key += 1) {
      const level = key < kept ? bytes[next] : left;
      const filmed = row < rows - rows / shape[0];
      values[row * count + key] = filmed ? level / LEVELS : exact[then];
      left -= level;
      next += filmed && key < kept ? 1 : 0;
      then += filmed ? 0 : 1;
    }
  }
  return { shape, values };
}

/** The most probable ids with their probabilities, and then those of `others`. */
export const foremost = (given, others) =>
  [...ranking(given).slice(0, FOREMOST), ...others].map((id) => ({ id, probability: given[id] }));

/**
 * What a model expects next: `at(place, others)` gives the most probable ids with their
 * probabilities, and then those of `others`.
 */
export const guesses = {
  decode(travelled) {
    const [ids, shares] = "ids" in travelled ? [travelled.ids, travelled.shares].map(bytesOf) : [];
    if (ids) {
      const { shape } = travelled;
      const one = (k) => ({ id: ids[k], probability: shares[k] / LEVELS });
      const most = shape[shape.length - 1];
      return { count: ids.length / most, at: (row) => upTo(most).map((k) => one(row * most + k)) };
    }
    const { shape, values } = decodeArray(travelled);
    const size = shape[shape.length - 1];
    const at = (row, others) => foremost(values.subarray(row * size, (row + 1) * size), others);
    return { count: size && values.length / size, at };
  },
};

/**
 * What the model expected after each token, at a snapshot: the most probable, and after the last
 * token its rivals too; nothing if nobody has told.
 */
export function guessesAt({ guesses: { count, at }, tokens, vocabulary, rivals }, step) {
  if (!count) return null;
  const others = rivals.map((name) => vocabulary.indexOf(name));
  return tokens.map((_, query) => {
    const all = at(step * tokens.length + query, others);
    const foremost = all.length - others.length;
    const wanted = ({ id }, i) =>
      i < foremost ||
      (query === tokens.length - 1 && all.findIndex((other) => other.id === id) === i);
    return all.filter(wanted).map(({ id, probability }) => ({ name: vocabulary[id], probability }));
  });
}

const last = ({ steps }) => steps.length - 1;

export function advance(now, ui, seconds) {
  const step = Math.min(now.step, last(now));
  if (step >= last(now)) return ui.play(false);
  const next = () => ui.set({ step: step + 1 });
  ui.set({ elapsed: every(SECONDS_A_FRAME, now.elapsed, seconds, next) });
}

function curve({ losses, step }, ui) {
  const width = ui.width("film", 400);
  const top = Math.max(...losses);
  const x = (i) => 4 + ((width - 8) * i) / (losses.length - 1 || 1);
  const y = (loss) => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - clamp(loss / (top || 1), 0, 1));
  const line = losses.map((loss, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(loss).toFixed(1)}`);
  return html`<svg viewBox="0 0 ${width} ${HEIGHT}" aria-hidden="true">
    <path d="M0 ${y(0)}H${width}" stroke="var(--cw-line)"></path>
    <path d=${line.join("")} fill="none" stroke="var(--cw-accent)" stroke-width="2"></path>
    ${svg`<circle cx=${x(step)} cy=${y(losses[step])} r="5" fill="var(--cw-warm)"
      stroke="var(--cw-paper)" stroke-width="1.5"></circle>`}
  </svg>`;
}

/** The training under the hand: played, stepped, dragged, with its loss. */
export function film(now, ui) {
  const { steps, step, losses } = now;
  const longest = (texts) => Math.max(...texts.map((text) => text.length));
  const room = `--cw-longest: ${longest(steps)}; --cw-loss: ${longest(losses.map((x) => number(x)))}`;
  const show = (frame) => {
    ui.play(false);
    ui.set({ step: clamp(frame, 0, last(now)) });
  };
  const begin = () => step >= last(now) && ui.set({ step: 0 });
  const line = { label: "Training step", min: 0, max: last(now), format: (i) => steps[i] };
  return html`<div class="cw-film" style=${room}>
    ${
      losses.length
        ? html`<div class="cw-row cw-film-course"><div data-measure="film">${curve(now, ui)}</div>
            <span class="cw-film-loss">loss <b>${number(losses[step])}</b></span></div>`
        : nothing
    }
    <div class="cw-controls">
      ${playButton(ui, { start: "Watch it learn", stop: "❚❚ Pause", begin })}
      ${button("Step", () => show(step >= last(now) ? 0 : step + 1))}
      ${slider(ui, "step", { ...line, value: step, set: show })}
    </div>
  </div>`;
}
