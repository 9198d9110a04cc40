// What stands beside the picture of a jet.

import { button, select } from "../controls.js";
import { clamp, upTo } from "../maths/numerics.js";
import { linear } from "../scale.js";
import { bar } from "../table.js";
import { number } from "../text.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { absence, likeliest, particleName, percent } from "./words.js";

const [MASS_WIDTH, MASS_HEIGHT, MOST_MASS] = [320, 50, 220];
const ROWS = 4;
const EMPTY_ROW = html`<tr><td colspan="6">${"\u00a0"}</td></tr>`;

/** Five probabilities, and the likeliest in bold. */
export function probabilities({ facts, probabilities: said, guesses, jet, unpacked }) {
  const best = said ? likeliest(said) : -1;
  const row = (name, i) => html`<tr class=${i === best ? "cw-j-best" : ""}>
    <th scope="row">${name}${guesses[jet] && unpacked.label === i ? " ✓" : ""}</th>
    <td class="cw-number">${said ? percent(said[i]) : "–"}</td>
    <td class="cw-bar-cell" aria-hidden="true">${bar("var(--cw-accent)", said ? said[i] : 0)}</td>
  </tr>`;
  return html`<table class="cw-weights cw-j-classes">
    <caption>What left it, says the trained network</caption>
    <tbody>${facts.classes.map(row)}</tbody>
  </table>`;
}

/** The mass of what is there, on an axis with those of heavy particles. */
export function massAxis({ mass, there, facts }, ui) {
  const width = ui.width("mass", MASS_WIDTH);
  const at = linear([0, MOST_MASS], [10, width - 10]);
  const x = at(clamp(mass, 0, MOST_MASS));
  const landmark = ([name, value]) => svg`<path d="M${at(value)} 18V32" stroke="var(--cw-edge)"
      stroke-width="2"></path>
    <text x=${at(value)} y="46" text-anchor="middle">${name} ${number(value, 0)}</text>`;
  const text = there.length ? html`<strong>${number(mass, 1)}</strong> GeV` : "none";
  return html`<p class="cw-readout cw-j-mass">Mass of what is there: ${text}</p>
    <div data-measure="mass">
      <svg viewBox="0 0 ${width} ${MASS_HEIGHT}" role="img" data-mass=${mass}
        aria-label="The mass, ${number(mass, 1)} GeV, on an axis from 0 to ${MOST_MASS} GeV with the
        masses of ${facts.landmarks.map(([name]) => name).join(", ")}">
        <g class="cw-j-axes"><path d="M10 25H${width - 10}" stroke-width="2"></path>
          ${facts.landmarks.map(landmark)}
          <text x="6" y="46">0</text></g>
        <path class="cw-j-marker" d="M${x} 26L${x - 7} 12H${x + 7}Z" fill="var(--cw-warm)"
          stroke="var(--cw-paper)"></path>
      </svg>
    </div>`;
}

/** Whom the chosen particle looks at most, and what it has in common with each of these. */
export function strongest(now, ui) {
  const { at, links, facts, there } = now;
  const numbered = (many) => upTo(many).map((i) => /** @type {[any, string]} */ ([i, `${i + 1}`]));
  const chosen = html`<div class="cw-controls cw-j-chosen">
    ${
      facts.layers > 1
        ? select(ui, "layer", {
            label: "Layer",
            options: numbered(facts.layers),
          })
        : nothing
    }
    ${select(ui, "head", { label: "Head", options: [[-1, "mean of all"], ...numbered(facts.heads)] })}
  </div>`;
  const row = ({ to, weight, pair: [distance, kt, share, m2] }) => html`<tr>
    <th scope="row">${to === at ? "itself" : to + 1}</th>
    <td>${percent(weight)}</td><td>${number(distance, 3)}</td><td>${number(kt, 1)}</td>
    <td>${number(share, 3)}</td><td>${number(Math.max(0, m2), 1)}</td></tr>`;
  const title =
    at < 0
      ? "Point at a particle to see whom it attends to."
      : `${particleName(now, at)}${there.includes(at) ? ", attends to" : `: ${absence(now, at)}`}`;
  const names = ["to", "weight", "Δ", "kT, GeV", "z", "m², GeV²"];
  return html`<p class="cw-j-title">${title}</p>
    <table class="cw-weights cw-j-links"
      aria-label="Its strongest links, and the features of each pair">
      <thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${links.slice(0, ROWS).map(row)}
        ${upTo(Math.max(0, ROWS - links.length)).map(() => EMPTY_ROW)}</tbody>
    </table>${chosen}`;
}

/** The reader guesses first; then the truth stands there. Only the first guess counts. */
export function guessing(now, ui) {
  const { facts, jet, guesses } = now;
  const choose = (i) => {
    const before = ui.now.guesses[jet] ?? [];
    ui.set({ guesses: { ...ui.now.guesses, [jet]: [...new Set([...before, i])] } });
  };
  return html`<div class="cw-j-guess" role="group" aria-label="What left it?">
      <span>What left it?</span>${facts.classes.map((name, i) => button(name, () => choose(i)))}
    </div>
    <output class="cw-j-verdict">${guesses[jet] ? verdict(now) : ""}</output>`;
}

function verdict({ facts, jet, unpacked, judged }) {
  const { guesses, network } = judged.find((one) => one.jet === jet);
  const name = (i) => facts.classes[i];
  const right = (who) => judged.filter((one) => who(one) === one.truth).length;
  const [first, all] = [right((one) => one.guesses[0]), judged.length];
  const score = `Right at first guess: you ${first} of ${all}, the network ${right((one) => one.network)}.`;
  return html`It was: <strong>${name(unpacked.label)}</strong>. You said
    ${guesses.map(name).join(", then ")}; the network, given all of it, says ${name(network)}.
    ${all > 1 ? score : ""}`;
}

/** Shows another jet, whole. */
export function enterJet(ui, i) {
  ui.play(false);
  const kept = ui.now.jets[i].kind.length;
  ui.set({ jet: i, kept, gone: [], particle: 0, hovered: -1 });
}
