import { plain, rows } from "../kit/array.js";
import { button, fold, slider, toggle } from "../kit/controls.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { number } from "../kit/text.js";
import { headline } from "../kit/verdict.js";
import { widget } from "../kit/widget.js";
import { clamp, upTo } from "../maths/numerics.js";
import {
  numbersMoved,
  onChipBytes,
  tiledRun,
  tileVisits,
  tileWeights,
  wholeRows,
} from "../maths/tiles.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { naivePicture } from "./naive.js";
import { picture } from "./picture.js";
import {
  ASKS,
  done,
  factorOf,
  grouped,
  outcome,
  placeInWords,
  story,
  times,
  verdict,
  words,
} from "./words.js";

/** In seconds: of one tile at most and at least, and of all if they lie between. */
const [SLOWEST, FASTEST, WHOLE_RUN] = [1.6, 0.12, 18];
const MOST_SHOWN = 4;
const LONGER = 100;
const NOTHING = { rows: [0, 0], columns: [0, 0], last: false };

const planOf = ({ query, key, query_tile, key_tile, causal }) =>
  tileVisits(query.length, key.length, query_tile, key_tile, causal);

const periodOf = (plan) => clamp(WHOLE_RUN / plan.length, FASTEST, SLOWEST);

const finite = (value) => (value === -Infinity ? "−∞" : number(value));
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function derive(now, { memo }) {
  const { query, key, value, scale, query_tile, key_tile, causal, bytes_each, chip_bytes } = now;
  const [keys, d] = [key.length, key[0].length];
  const plan = memo("plan", [query, key, query_tile, key_tile, causal], () => planOf(now));
  const { step } = now;
  const trip = now.playing && step ? clamp(now.elapsed / periodOf(plan), 0, 1) : 1;
  const given = memo("given", [query, key, value, scale, causal], () => ({
    ...{ query, key, value, scale, causal },
  }));
  const run = memo("run", [given, plan, step], () => tiledRun(given, plan, step));
  const hand = step > 0 ? plan[step - 1] : null;
  const [moved, total] = [step, plan.length].map((count) => numbersMoved(plan, count, keys, d));
  const held = {
    tiled: onChipBytes(d, query_tile, key_tile, bytes_each),
    naive: bytes_each * query.length * keys,
  };
  const tally = (name) => [bytes_each * moved[name], bytes_each * total[name], held[name]];
  return {
    ...{ plan, step, hand, run, trip },
    shape: [query.length, keys, d],
    exact: memo("exact", [given], () => wholeRows(given)),
    weights: memo("weights", [run], () => tileWeights(given, hand ?? NOTHING, run.reports)),
    bytes: { tiled: tally("tiled"), naive: tally("naive") },
    // The room of the chip, what a pair of tiles takes of it, and what the largest pair would.
    room: {
      most: chip_bytes,
      held: held.tiled,
      whole: onChipBytes(d, query.length, keys, bytes_each),
      fits: held.tiled <= chip_bytes,
    },
  };
}

/** One step on, from the end to the beginning, or one back, as far as there is one. */
function turn(ui, move) {
  const count = ui.now.plan.length + 1;
  ui.set({ step: Math.max(0, ui.now.step + move) % count, elapsed: 0 });
}

/** The kit for controls that change the plan: the share of it that is done stays as it was. */
function replanning(ui) {
  const set = (changes) => {
    const { step, plan } = ui.now;
    const share = step / plan.length;
    ui.set({ ...changes, step: Math.round(share * planOf({ ...ui.now, ...changes }).length) });
  };
  return { ...ui, now: ui.now, set };
}

/** One step by hand; what it loads travels before the eye, unless the reader asked for stillness. */
function stepByHand(ui, move) {
  turn(ui, move);
  ui.set({ single: true });
  ui.play(move > 0 && ui.now.step > 0 && !prefersStillness());
}

function advance(_, ui, seconds) {
  const { step, plan, elapsed, single } = ui.now;
  if (elapsed + seconds < periodOf(plan)) ui.set({ elapsed: elapsed + seconds });
  else if (single || step === plan.length) ui.play(false);
  else ui.set({ step: step + 1, elapsed: 0 });
}

/** The queries in hand, with what they know. */
function reportTable(now) {
  const {
    run: { inHand, reports, output },
    hand,
    shape,
  } = now;
  const [finished, features] = [hand?.last ?? false, Math.min(shape[2], MOST_SHOWN)];
  const outputs = upTo(features).map((i) => `o${"₁₂₃₄"[i]}${finished ? "/ℓ" : ""}`);
  const heads = ["query", "m", "factor", "ℓ", ...outputs];
  const row = ({ before, after }, r) => {
    const first = before.maximum === -Infinity;
    const blended = finished ? output[inHand[0] + r] : after.output;
    const numbers = [
      finite(after.maximum),
      first ? "–" : number(factorOf({ before, after }), 3),
      number(after.total),
      ...blended.slice(0, features).map((o) => number(o)),
    ];
    return html`<tr class=${!first && after.maximum > before.maximum ? "cw-rescaled" : ""}>
      <th scope="row">${inHand[0] + r + 1}</th>
      ${numbers.map((text) => html`<td class="cw-number">${text}</td>`)}
    </tr>`;
  };
  return html`<table class="cw-weights cw-tile-rows">
    <caption>${capital(placeInWords(now))}${finished ? "; finished" : ""}</caption>
    <thead><tr>${heads.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
    <tbody>${reports.map(row)}</tbody>
  </table>`;
}

const reading = (name, count) => html`<span data-reading=${name}>${grouped(count)}</span>`;

/** Bytes moved by one of the two algorithms, on the scale of both; in all, once all is done. */
function tally(now, name, title, colour) {
  const { bytes } = now;
  const longest = Math.max(bytes.tiled[1], bytes.naive[1]);
  const [moved, total] = bytes[name];
  return html`<span>${title}</span>
    <span class="cw-bar cw-tile-bar" data-bar=${name} style="--cw-bar: ${colour};
      --cw-length: ${moved / longest}; --cw-full: ${done(now) ? total / longest : 0}"></span>
    <span><strong>${reading(`${name}-moved`, moved)}</strong> bytes</span>`;
}

function tallies(now) {
  const ratio = html`: naive, <strong data-reading="ratio">${times(now)}</strong>`;
  return html`<p class="cw-title">Bytes carried${done(now) ? ratio : " so far"}</p>
    <div class="cw-tile-tallies">
      ${tally(now, "tiled", "In tiles", "var(--cw-warm)")}
      ${tally(now, "naive", "Naive", "var(--cw-edge)")}
    </div>`;
}

/** What is kept beside the bytes: the three of each query, what lies where, and how exact it is. */
function ledger(now) {
  const { written, said, off } = verdict(now);
  const { tiled, naive } = now.bytes;
  const { lead, power = "", rest = "" } = story(now);
  return fold(
    "What each query keeps: m, ℓ and o",
    html`<div class="cw-tile-scroll" style="--tile: ${now.query_tile}">${reportTable(now)}</div>
      <p class="cw-tile-story" data-reading="story">${lead}${
        power ? html`<i>e</i><sup>${power}</sup>` : nothing
      }${rest}</p>
      <p class="cw-tile-verdict">${written}${said}${
        off ? html`<strong data-reading="difference">${off}</strong>` : nothing
      }. A tile takes ${reading("tiled-held", tiled[2])} bytes on the chip, of however many tokens;
      the naive S takes ${reading("naive-held", naive[2])} bytes in memory, and with
      ${LONGER} times the tokens ${grouped(LONGER ** 2 * naive[2])}.</p>`,
  );
}

function controls(now, ui) {
  const [plan, [queries, keys]] = [replanning(ui), now.shape];
  const leap = () => ui.set({ step: ui.now.step === ui.now.plan.length ? 0 : ui.now.plan.length });
  const begin = () => {
    turn(ui, 1);
    ui.set({ single: false });
  };
  return html`<div class="cw-controls cw-tile-controls">
      ${button("← Back", () => stepByHand(ui, -1))}
      ${
        prefersStillness() ? button("▶ To the end", leap) : playButton(ui, { start: "Play", begin })
      }
      ${button("Next →", () => stepByHand(ui, 1))}
      <output class="cw-tile-place" aria-live="off">tile ${now.step} of ${now.plan.length}</output>
      ${queries <= keys ? toggle(plan, "causal", { label: "Causal" }) : nothing}
    </div>
    <div class="cw-controls cw-tile-controls">
      ${slider(plan, "query_tile", { label: "Queries a tile", min: 1, max: queries })}
      ${slider(plan, "key_tile", { label: "Keys a tile", min: 1, max: keys })}
    </div>`;
}

function view(now, ui) {
  return html`${headline(ASKS, outcome(now))} ${controls(now, ui)}
    <div class="cw-columns cw-tile-sides">
      <div>
        <p class="cw-title">In tiles: scores stay on the chip</p>
        ${picture(now, ui)}
      </div>
      <div>
        <p class="cw-title">Naive: S, P to memory and back</p>
        ${naivePicture(now)}
      </div>
    </div>
    ${tallies(now)}
    ${ledger(now)}`;
}

const how = ({ bytes_each, shape: [, , d] }) =>
  html`The deeper a score on the chip, the larger e<sup>s − m</sup>. The naive side has gone the
    same share of its way: first all of S, then P, then O. The bar under the chip shows how much of
    its room a pair of tiles takes; what lies beyond the mark does not fit.
    A number takes ${bytes_each} byte${bytes_each > 1 ? "s" : ""}, 4 where tiles add up.
    ${d > MOST_SHOWN ? `The table shows ${MOST_SHOWN} of ${d} features.` : nothing}`;

export default widget({
  label: "Tile stepper: softmax attention, tile by tile",
  data: {
    ...{ query: rows, key: rows, value: rows },
    ...{ scale: plain, bytes_each: plain, chip_bytes: plain },
  },
  controls: { query_tile: plain, key_tile: plain, causal: plain, step: plain },
  local: { elapsed: 0, single: false },
  whole: (now) =>
    now.step <= planOf(now).length && (!now.causal || now.query.length <= now.key.length),
  along: (_, now) => ({ step: Math.min(now.step, planOf(now).length) }),
  atSight: (ui) => ui.play(true),
  derive,
  view,
  words,
  how,
  advance,
  // What a link has set is to be looked at.
  entered: (ui) => ui.play(false),
  began: ({ query_tile, key_tile, causal, step }) =>
    `tile ${step} of ${query_tile} by ${key_tile}${causal ? ", causal" : ""}`,
});
