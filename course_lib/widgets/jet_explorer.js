import { plain } from "./js/array.js";
import { button, select, slider } from "./js/controls.js";
import { derive } from "./js/jet_explorer/derived.js";
import {
  enterJet,
  guessing,
  massAxis,
  probabilities,
  strongest,
} from "./js/jet_explorer/panels.js";
import { ground, hollow, links, mark, nearest, sample } from "./js/jet_explorer/picture.js";
import { absence, likeliest, particleName, percent } from "./js/jet_explorer/words.js";
import { alongALine } from "./js/keys.js";
import { clamp, upTo } from "./js/maths/numerics.js";
import { pointIn } from "./js/plane.js";
import { playAtOnce, playButton } from "./js/play.js";
import { number } from "./js/text.js";
import { html, nothing, svg } from "./js/vendor/lit-html/lit-html.js";
import { widget } from "./js/widget.js";

const SECONDS = 7;

/** How far the film is: as many times more particles come in every second. */
const shareOf = ({ kept, count }) => (count > 1 ? Math.log(kept) / Math.log(count) : 1);
const keptAt = (share, count) => clamp(Math.round(count ** share), 1, count);

/** The film, from the hardest particle on. */
function begin(ui) {
  const share = shareOf(ui.now);
  ui.set(share < 1 ? { share } : { share: 0, kept: 1 });
}

/** A hand that takes a part of the jet has the whole jet. */
function endFilm(ui) {
  if (!ui.now.playing) return;
  ui.play(false);
  ui.set({ kept: ui.now.count });
}

const choose = (ui, i) => ui.set({ particle: i, hovered: -1 });

/** Takes a particle away, or puts it back; one that was too soft to be kept comes with all. */
function toggle(ui, i) {
  endFilm(ui);
  const { gone, kept, count } = ui.now;
  if (i >= kept) return ui.set({ kept: count, particle: i });
  const rest = gone.filter((other) => other !== i);
  return ui.set({ particle: i, gone: rest.length < gone.length ? rest : [...gone, i] });
}

function hand(ui) {
  return (event) => {
    const { field, particle, touch } = ui.now;
    const found =
      event.type === "pointerleave" ? -1 : nearest(field, pointIn(event.currentTarget, event));
    if (event.type === "pointerdown") ui.set({ touch: event.pointerType !== "mouse" });
    else if (event.type !== "click") {
      if (event.pointerType === "mouse" && found !== ui.now.hovered) ui.set({ hovered: found });
    } else if (found < 0) return;
    else if (touch && found !== particle) {
      endFilm(ui);
      choose(ui, found);
    } else toggle(ui, found);
  };
}

const keysOf = (ui) =>
  alongALine(
    (step) => {
      endFilm(ui);
      const { particle, count } = ui.now;
      choose(ui, particle < 0 ? 0 : clamp(particle + step, 0, count - 1));
    },
    () => toggle(ui, Math.max(0, ui.now.particle)),
    1,
  );

function option(now, ui, i) {
  const { field, unpacked, there, gone, at } = now;
  const particle = unpacked.particles[i];
  const [isThere, radius] = [there.includes(i), field.radii[i]];
  const away = absence(now, i);
  const look = isThere ? mark(particle, radius) : hollow(particle, radius, gone.includes(i));
  return svg`<g role="option" id="${ui.id}-particle-${i}" data-particle=${i} aria-selected=${isThere}
    data-there=${isThere} data-radius=${radius}
    aria-label="particle ${particleName(now, i)}${away && `, ${away}`}"
    transform="translate(${field.points[i].join(" ")})">
    ${look}${
      i === at
        ? svg`<circle r=${radius + 3} fill="none" stroke="var(--cw-ink)" stroke-width="2"></circle>`
        : nothing
    }</g>`;
}

function picture(now, ui) {
  const { field, count, particle } = now;
  const grip = hand(ui);
  const active = particle >= 0 ? `${ui.id}-particle-${particle}` : nothing;
  const box = `0 0 ${field.width} ${field.height}`;
  // The softest on top of the hardest, which are larger.
  const order = upTo(count);
  return html`<div class="cw-layers cw-j-layers" data-measure="jet"
    style="aspect-ratio: ${field.width} / ${field.height}">
    <svg viewBox=${box} aria-hidden="true">${ground(field)}</svg>
    <svg viewBox=${box} class="cw-j-jet" role="listbox" tabindex="0" aria-multiselectable="true"
      data-pointed=${now.at}
      aria-label="Particles of the jet, the hardest first; the selected ones are there"
      aria-activedescendant=${active} @pointerdown=${grip} @pointermove=${grip}
      @pointerleave=${grip} @click=${grip} @keydown=${keysOf(ui)}>
      <rect width=${field.width} height=${field.height} fill="transparent"></rect>
      ${order.map((i) => option(now, ui, i))}
    </svg>
    <svg viewBox=${box} class="cw-j-over" aria-hidden="true">${links(now)}</svg>
  </div>`;
}

function legend({ facts, unpacked }) {
  const seen = (kind) => unpacked.particles.some((particle) => particle.kind === kind);
  return html`<ul class="cw-j-legend">${facts.particles.map((name, kind) =>
    seen(kind) ? html`<li>${sample(kind)}${name}</li>` : nothing,
  )}</ul>`;
}

function transport(now, ui) {
  const { count, gone, particle } = now;
  const keep = (kept) => {
    ui.play(false);
    ui.set({ kept });
  };
  const hardest = { label: "Hardest", min: 1, max: count, format: (k) => `${k} of ${count}` };
  return html`<div class="cw-controls cw-j-transport">
    ${playButton(ui, { start: "Play", stop: "❚❚ Pause", begin: () => begin(ui) })}
    ${slider(ui, "kept", { ...hardest, set: keep })}
    ${
      particle >= 0
        ? button(
            `${gone.includes(particle) ? "Put back" : "Take away"} particle ${particle + 1}`,
            () => toggle(ui, particle),
          )
        : nothing
    }
    ${button("All back", () => ui.set({ gone: [], kept: count }), { disabled: now.there.length === count })}
  </div>`;
}

function view(now, ui) {
  if (now.moving)
    playAtOnce(ui, () => {
      begin(ui);
      ui.play(true);
    });
  const jets = now.jets.map(
    (_, i) => /** @type {[any, string]} */ ([i, `${i + 1} of ${now.jets.length}`]),
  );
  return html`<div class="cw-j-top">
      ${select(ui, "jet", { label: "Jet", options: jets, choose: (i) => enterJet(ui, i) })}
      ${button("Next", () => enterJet(ui, (ui.now.jet + 1) % ui.now.jets.length))}
      ${guessing(now, ui)}
    </div>
    <div class="cw-columns cw-j-columns">
      <div>${picture(now, ui)} ${legend(now)} ${transport(now, ui)}</div>
      <div>${probabilities(now)} ${massAxis(now, ui)} ${strongest(now, ui)}</div>
    </div>`;
}

function words(now) {
  const { jet, jets, there, count, mass, facts, probabilities: said, links: all, at } = now;
  const head = `Jet ${jet + 1} of ${jets.length}: ${there.length} of ${count} particles are there.`;
  if (!said) return `${head} Put one back, and the network answers.`;
  const best = likeliest(said);
  const taken = `${facts.classes[best]}, ${percent(said[best])}`;
  const answer = `Mass ${number(mass, 1)} GeV. The network says ${taken}.`;
  if (at < 0) return `${head} ${answer}`;
  const most = all[0];
  const looks = most
    ? `attends most to ${most.to === at ? "itself" : `particle ${most.to + 1}`}, ${percent(most.weight)}`
    : absence(now, at);
  return `${head} ${answer} Particle ${particleName(now, at)}: ${looks}.`;
}

const how =
  "Guess what left the jet, and the truth is told. " +
  "Point at a particle to see whom it attends to: the thicker a line, the larger the weight; a ring " +
  "is for itself. Click it to take it away, and again to put it back; with a finger, tap it twice. " +
  "With the keyboard: Tab to the picture, arrow keys go from particle to particle, Enter takes it " +
  "away. Areas follow pT, but the smallest are drawn larger; signs are charges. The dashed circle " +
  "is the jet’s radius of 0.8. The network answers for what is there, as for a jet of its own.";

export default widget({
  label: "Jet explorer: which particle left this spray of others?",
  name: "cw-jet",
  data: { facts: plain, jets: plain, weights: plain, moving: plain },
  controls: Object.fromEntries(
    ["jet", "kept", "gone", "particle", "layer", "head"].map((name) => [name, plain]),
  ),
  local: { share: 0, hovered: -1, touch: false, guesses: {} },
  whole: ({ jets, jet, kept, gone, particle }) => {
    const count = jets[jet]?.kind.length ?? 0;
    return kept <= count && Math.max(particle, ...gone) < count;
  },
  along: ({ jet }, { jets }) =>
    jet === undefined ? {} : { kept: jets[jet].kind.length, gone: [], particle: 0 },
  derive,
  view,
  words,
  how: () => how,
  began: ({ jet, kept, gone }) =>
    `jet ${jet + 1}, its ${kept} hardest particles${gone.length ? ` less ${gone.length}` : ""}`,
  advance: ({ share }, ui, seconds) => {
    const next = Math.min(1, share + seconds / SECONDS);
    const kept = keptAt(next, ui.now.count);
    ui.set({ share: next, kept });
    if (kept === ui.now.count) ui.play(false);
  },
});
