// What stands beside the picture of a jet.

import { button, fold, select } from "../kit/controls.js";
import { prefersStillness } from "../kit/play.js";
import { linear } from "../kit/scale.js";
import { bar } from "../kit/table.js";
import { finePercent, number } from "../kit/text.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { FEW } from "./derived.js";
import { absence, likeliest, particleName } from "./words.js";

const [MASS_WIDTH, MASS_HEIGHT, MOST_MASS] = [320, 42, 220];
const ROWS = 4;
const NONE = -1; // instead of a guess, where the reader has the answer shown
/** All of the jet is in the picture. */
export const WHOLE = { zoom: 1, eta: 0, phi: 0 };
const EMPTY_ROW = html`<tr><td colspan="6">${"\u00a0"}</td></tr>`;

/** Five classes to guess among; then what the network says of each, the likeliest in bold. */
export function classes(now, ui) {
  const { facts, probabilities: said, open, unpacked } = now;
  const best = open && said ? likeliest(said) : -1;
  const missed = open && now.guesses[now.jet][0];
  const sign = (i) => {
    if (open && unpacked.label === i) return "✓";
    return i === missed ? "✗" : "";
  };
  const row = (name, i) => html`<tr class=${i === best ? "cw-j-best" : ""} data-sign=${sign(i)}>
    <th scope="row">${button(name, () => guess(ui, i))}</th>
    <td class="cw-j-truth">${sign(i)}</td>
    <td class="cw-number">${!open ? "?" : said ? finePercent(said[i]) : "–"}</td>
    <td class="cw-bar-cell" aria-hidden="true">${bar("var(--cw-accent)", best < 0 ? 0 : said[i])}</td>
  </tr>`;
  return html`${result(now, ui)}
    <table class="cw-weights cw-j-classes" aria-label="What made it">
      <tbody>${facts.classes.map(row)}</tbody>
    </table>`;
}

/**
 * What is asked; then how the reader's first guess has come out, in green with a tick or not, and
 * the network's.
 */
function result(now, ui) {
  const { open, guesses, jet, unpacked } = now;
  const first = open ? guesses[jet][0] : NONE;
  const outcome = first === NONE ? "open" : first === unpacked.label ? "good" : "bad";
  return html`<div class="cw-j-result" data-outcome=${outcome}>
    ${button("Show", () => guess(ui, NONE), { disabled: open })}
    <output class="cw-j-told">${open ? truth(now, outcome) : "What made it? Guess."}</output>
    <br>
    ${open ? nothing : html`<span>Press a name; the network answers after you.</span>`}
    <output class="cw-j-verdict">${open ? verdict(now) : nothing}</output>
  </div>`;
}

/** Only the first guess counts. After it the jet comes in once more, now with the answers. */
function guess(ui, i) {
  const { guesses, jet, open, there, count, playing, moving } = ui.now;
  ui.set({ guesses: { ...guesses, [jet]: [...(guesses[jet] ?? []), i] } });
  if (open || playing || !moving || there.length < count || prefersStillness()) return;
  ui.set({ share: 0, kept: 1 });
  ui.play(true);
}

/** What it was, and of the reader's guesses the first and the last, for which there is room. */
function truth({ facts, guesses, jet, unpacked }, outcome) {
  const name = facts.classes[unpacked.label];
  const [first, ...others] = guesses[jet].filter((i) => i !== NONE);
  const last = others.findLast((i) => i !== first);
  const later = last === undefined ? "" : facts.classes[last];
  if (outcome === "good") return `✓ Right: it was ${name}.${later && ` Then: ${later}.`}`;
  const then = later && `, then ${later}`;
  const yours = first === undefined ? "" : ` You: ${facts.classes[first]}${then}.`;
  return `${outcome === "bad" ? "✗ " : ""}It was ${name}.${yours}`;
}

/** First what the bars show, of the particles that are there; then the answer that counts. */
function verdict({ facts, jet, judged, there, count, probabilities: said }) {
  const one = judged.find((other) => other.jet === jet);
  const ofAll = facts.classes[one.network];
  const mark = one.network === one.truth ? " ✓" : " ✗";
  const played = judged.filter((other) => other.guess !== NONE);
  const right = (who) =>
    `${played.filter((other) => other[who] === other.truth).length} of ${played.length}`;
  const score = `You ${right("guess")}, network ${right("network")} right.`;
  const now = said ? facts.classes[likeliest(said)] : "nothing";
  const some = `${there.length} ${there.length === 1 ? "particle" : "particles"}`;
  const few = `Network, from ${some}: ${now}; from all ${count}: ${ofAll}`;
  const part = there.length < count ? few : `The network says ${ofAll}`;
  return html`${part}${mark}.<br>${played.length ? score : ""}`;
}

/** The mass of what is there, on an axis with those of heavy particles. */
export function massAxis({ mass, there, facts }, ui) {
  const width = ui.width("mass", MASS_WIDTH);
  const at = linear([0, MOST_MASS], [10, width - 10]);
  const x = at(clamp(mass, 0, MOST_MASS));
  const landmark = ([name, value]) => svg`<path d="M${at(value)} 9V23" stroke="var(--cw-edge)"
      stroke-width="2"></path>
    <text x=${at(value)} y="38" text-anchor="middle">${name} ${number(value, 0)}</text>`;
  const text = there.length ? html`<strong>${number(mass, 1)}</strong> GeV` : "none";
  return html`<p class="cw-readout cw-j-mass">Mass of all together: ${text}</p>
    <div data-measure="mass">
      <svg viewBox="0 0 ${width} ${MASS_HEIGHT}" role="img" data-mass=${mass}
        aria-label="The mass, ${number(mass, 1)} GeV, on an axis from 0 to ${MOST_MASS} GeV with the
        masses of ${facts.landmarks.map(([name]) => name).join(", ")}">
        <g class="cw-axes"><path d="M10 16H${width - 10}" stroke-width="2"></path>
          ${facts.landmarks.map(landmark)}
          <text x="6" y="38">0</text></g>
        <path class="cw-j-marker" d="M${x} 17L${x - 7} 3H${x + 7}Z" fill="var(--cw-warm)"
          stroke="var(--cw-paper)"></path>
      </svg>
    </div>`;
}

/** Whose lines are drawn; folded, how much of its attention goes to near, far and hard ones. */
export function attention(now, ui) {
  const { at, facts, looks } = now;
  const named = () => {
    const missing = absence(now, at);
    return missing ? `${at + 1}: ${missing}` : particleName(now, at);
  };
  const title = at < 0 ? "Attention: point at a particle" : `Attention of ${named()}`;
  const many = looks?.many ?? FEW;
  const row = (name, share, colour) => html`<tr><th scope="row">${name}</th>
    <td class="cw-number">${looks ? finePercent(share) : "–"}</td>
    <td class="cw-bar-cell" aria-hidden="true">${bar(colour, looks ? share : 0)}</td></tr>`;
  const table = html`<table class="cw-weights cw-j-looks"
      aria-label="Its attention to near, far and hard particles">
      <tbody>${row(`to its ${many} nearest`, looks?.nearest, "var(--cw-warm)")}
        ${row(`to its ${many} farthest`, looks?.farthest, "var(--cw-warm)")}
        ${row(`to the ${many} hardest`, looks?.hardest, "var(--cw-warm)")}
        ${row(`to any ${many}, if all are equal`, looks?.chance, "var(--cw-edge)")}</tbody>
    </table>`;
  const line = html`<span class="cw-j-title">${title}</span>`;
  return fold(line, html`${table} ${chosenHead(facts, ui)} ${strongest(now)}`);
}

function chosenHead(facts, ui) {
  const numbered = (many) => upTo(many).map((i) => /** @type {[any, string]} */ ([i, `${i + 1}`]));
  /** @type {[any, string][]} */
  const heads = [[-1, "mean of all"], ...numbered(facts.heads)];
  return html`<div class="cw-controls cw-j-chosen">
    ${
      facts.layers > 1
        ? select(ui, "layer", { label: "Layer", options: numbered(facts.layers) })
        : nothing
    }
    ${select(ui, "head", { label: "Head", options: heads })}
  </div>`;
}

/** Whom the chosen particle looks at most, and what it has in common with each of these. */
function strongest({ at, links }) {
  const row = ({ to, weight, pair: [distance, kt, share, m2] }) => html`<tr>
    <th scope="row">${to === at ? "itself" : to + 1}</th>
    <td>${finePercent(weight)}</td><td>${number(distance, 3)}</td><td>${number(kt, 1)}</td>
    <td>${number(share, 3)}</td><td>${number(Math.max(0, m2), 1)}</td></tr>`;
  const names = ["to", "weight", "Δ", "kT, GeV", "z", "m², GeV²"];
  return html`<table class="cw-weights cw-j-links"
      aria-label="Its strongest links, and the features of each pair">
      <thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${links.slice(0, ROWS).map(row)}
        ${upTo(Math.max(0, ROWS - links.length)).map(() => EMPTY_ROW)}</tbody>
    </table>`;
}

/** Shows another jet, whole. */
export function enterJet(ui, i) {
  ui.play(false);
  const kept = ui.now.jets[i].kind.length;
  ui.set({ jet: i, kept, gone: [], particle: 0, hovered: -1, ...WHOLE });
}
