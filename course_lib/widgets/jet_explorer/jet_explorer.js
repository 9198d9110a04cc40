import { plain } from "../kit/array.js";
import { button, select, slider } from "../kit/controls.js";
import { alongALine } from "../kit/keys.js";
import { pointIn } from "../kit/plane.js";
import { playButton } from "../kit/play.js";
import { finePercent, number } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing, svg } from "../vendor/lit-html/lit-html.js";
import { derive } from "./derived.js";
import { attention, classes, enterJet, massAxis, WHOLE } from "./panels.js";
import { framed, ground, hollow, links, mark, nearest, sample } from "./picture.js";
import { absence, likeliest, particleName } from "./words.js";

const SECONDS = 7;
const [MOST_ZOOM, CLICK, ROLL] = [16, 4, 200];

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

/** Chooses a particle, and moves what is enlarged so that it is seen. */
function choose(ui, i) {
  const { field, unpacked } = ui.now;
  const [eta, phi] = field.inFrame(field.points[i]) ? field.middle : unpacked.places[i];
  ui.set({ particle: i, hovered: -1, eta, phi });
}

/** Enlarges the picture; `place` stays where it stands, if it is seen. */
function enlarge(ui, factor, place) {
  const { field } = ui.now;
  const zoom = clamp(field.zoom * factor, 1, MOST_ZOOM);
  const kept = field.inFrame(field.toPixel(place)) ? field.zoom / zoom : 0;
  const [eta, phi] = field.middle.map((at, k) => place[k] + (at - place[k]) * kept);
  ui.set(zoom === 1 ? WHOLE : { zoom, eta, phi });
}

const aroundChosen = (ui, factor) =>
  enlarge(ui, factor, ui.now.unpacked.places[Math.max(0, ui.now.particle)]);

/** A trackpad tells of a pinch as of a wheel that turns with Ctrl; a wheel alone scrolls the page. */
const rolled = (ui) => (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  enlarge(ui, Math.exp(-event.deltaY / ROLL), ui.now.field.at(pointIn(event)));
};

/** A mouse moves what is enlarged. */
function drag(ui, point) {
  const { field, grabbed } = ui.now;
  if (!grabbed.moved && Math.hypot(...point.map((at, k) => at - grabbed.point[k])) < CLICK) return;
  const [from, to] = [field.at(grabbed.point), field.at(point)];
  const [eta, phi] = field.middle.map((at, k) => at + from[k] - to[k]);
  ui.set({ eta, phi, hovered: -1, grabbed: { point, moved: true } });
}

/** Takes a particle away, or puts it back; one that was too soft to be kept comes with all. */
function toggle(ui, i) {
  endFilm(ui);
  const { gone, kept, count } = ui.now;
  if (i >= kept) return ui.set({ kept: count, particle: i });
  const rest = gone.filter((other) => other !== i);
  return ui.set({ particle: i, gone: rest.length < gone.length ? rest : [...gone, i] });
}

/** Takes away the hardest or the softest of those that are there, and looks from the hardest left. */
function take(ui, end) {
  endFilm(ui);
  const { gone, there } = ui.now;
  const taken = there.at(end);
  const left = there.filter((i) => i !== taken);
  ui.set({ gone: [...gone, taken], particle: left[0] ?? taken, hovered: -1 });
}

function hand(ui) {
  return (event) => {
    const { field, particle, touch } = ui.now;
    const point = pointIn(event);
    const found = event.type === "pointerleave" ? -1 : nearest(field, point);
    if (event.type === "pointerdown")
      ui.set({ touch: event.pointerType !== "mouse", grabbed: { point, moved: false } });
    else if (event.type === "pointermove" && event.buttons && !touch) {
      if (ui.now.grabbed && field.zoom > 1) drag(ui, point);
    } else if (event.type !== "click") {
      if (event.pointerType === "mouse" && found !== ui.now.hovered) ui.set({ hovered: found });
    } else if (found < 0 || ui.now.grabbed?.moved) return;
    else if (touch && found !== particle) {
      endFilm(ui);
      choose(ui, found);
    } else toggle(ui, found);
  };
}

const ZOOMS = { "+": 2, "=": 2, "-": 0.5 };

const keysOf = (ui) => (event) => {
  const { ctrlKey, metaKey, key } = event;
  if (key in ZOOMS && !ctrlKey && !metaKey) aroundChosen(ui, ZOOMS[key]);
  else along(ui)(event);
};

const along = (ui) =>
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
  const zoomer = (sign, way, factor, end) => html`<button type="button" class="cw-button"
    aria-label="Zoom ${way}" aria-disabled=${field.zoom === end || nothing}
    @click=${() => aroundChosen(ui, factor)}>${sign}</button>`;
  return html`<div class="cw-layers cw-j-layers" data-measure="jet"
    style="aspect-ratio: ${field.width} / ${field.height}; background: none">
    <svg viewBox=${box} aria-hidden="true">${ground(field)}</svg>
    <svg viewBox=${box} class="cw-j-jet" role="listbox" tabindex="0" aria-multiselectable="true"
      data-pointed=${now.at}
      aria-label="Particles of the jet, the hardest first; the selected ones are there"
      aria-activedescendant=${active} @pointerdown=${grip} @pointermove=${grip}
      @pointerleave=${grip} @click=${grip} @keydown=${keysOf(ui)} @wheel=${rolled(ui)}>
      <rect width=${field.width} height=${field.height} fill="transparent"></rect>
      ${framed(
        `${ui.id}-frame`,
        field,
        order.map((i) => option(now, ui, i)),
      )}
    </svg>
    <svg viewBox=${box} aria-hidden="true" style="pointer-events: none">${framed(`${ui.id}-lines`, field, links(now))}</svg>
    <div class="cw-j-zoom">${zoomer("+", "in", 2, MOST_ZOOM)}${zoomer("−", "out", 0.5, 1)}</div>
  </div>`;
}

/** All kinds, whichever are there: another jet moves nothing. */
const legend = ({ facts }) =>
  html`<ul class="cw-row cw-j-legend">${facts.particles.map(
    (name, kind) => html`<li>${sample(kind)}${name}</li>`,
  )}</ul>`;

function transport(now, ui) {
  const { count, there } = now;
  const keep = (kept) => {
    ui.play(false);
    ui.set({ kept });
  };
  // Not those that were kept, if some of them were taken away.
  const particles = {
    label: "Particles",
    min: 1,
    max: count,
    format: () => `${there.length} of ${count}`,
  };
  return html`<div class="cw-controls cw-j-transport">
    ${playButton(ui, { start: "Play", begin: () => begin(ui) })}
    ${slider(ui, "kept", { ...particles, set: keep })}
    <span class="cw-row cw-j-take" role="group" aria-label="Take away">Take away
      ${button("hardest", () => take(ui, 0), { disabled: !there.length })}
      ${button("softest", () => take(ui, -1), { disabled: !there.length })}</span>
    ${button("All back", () => ui.set({ gone: [], kept: count }), { disabled: there.length === count })}
  </div>`;
}

function view(now, ui) {
  const jets = now.jets.map(
    (_, i) => /** @type {[any, string]} */ ([i, `${i + 1} of ${now.jets.length}`]),
  );
  return html`<div class="cw-row cw-j-top">
      ${select(ui, "jet", { label: "Jet", options: jets, choose: (i) => enterJet(ui, i) })}
      ${button("Next", () => enterJet(ui, (ui.now.jet + 1) % ui.now.jets.length))}
    </div>
    <div class="cw-columns cw-j-columns">
      <div>${picture(now, ui)} ${massAxis(now, ui)} ${transport(now, ui)}</div>
      <div>${classes(now, ui)} ${attention(now, ui)} ${legend(now)}</div>
    </div>`;
}

function words(now) {
  const { jet, jets, there, count, mass, facts, probabilities: said, links: all, at, open } = now;
  const head = `Jet ${jet + 1} of ${jets.length}: ${there.length} of ${count} particles are there.`;
  if (!said) return `${head} Put one back, and the network answers.`;
  const best = likeliest(said);
  const taken = open
    ? `says ${facts.classes[best]}, ${finePercent(said[best])}`
    : "waits for your guess";
  const answer = `Mass ${number(mass, 1)} GeV. The network ${taken}.`;
  if (at < 0) return `${head} ${answer}`;
  const most = all[0];
  const looks = most
    ? `attends most to ${most.to === at ? "itself" : `particle ${most.to + 1}`}, ${finePercent(most.weight)}`
    : absence(now, at);
  return `${head} ${answer} Particle ${particleName(now, at)}: ${looks}.`;
}

const how =
  "Guess what produced the jet, or press Show: you see the truth and the network’s answer. " +
  "Point at a particle to see whom it attends to: the thicker a line, the larger the weight; a ring " +
  "is for itself. Click it to take it away, and again to put it back; with a finger, tap it twice. " +
  "The buttons + and − enlarge the picture around the chosen particle, and so do the wheel with Ctrl " +
  "and a trackpad’s pinch where the mouse is; drag to see another part. With the keyboard: Tab to " +
  "the picture, arrow keys go from particle to particle, Enter takes it away, + and − enlarge. Areas follow pT, but the smallest are drawn larger; signs are charges. The dashed circle " +
  "is the jet’s radius of 0.8; where it would not fit, it stands small in a corner, and the square " +
  "in it is the picture. The network judges the particles that are left as a jet of their own.";

export default widget({
  label: "Jet explorer: which particle produced this jet?",
  name: "cw-jet",
  data: { facts: plain, jets: plain, weights: plain },
  controls: Object.fromEntries(
    ["jet", "kept", "gone", "particle", "layer", "head", "zoom", "eta", "phi"].map((name) => [
      name,
      plain,
    ]),
  ),
  local: { share: 0, hovered: -1, touch: false, grabbed: null, guesses: {} },
  guessed: ["guesses"],
  whole: ({ jets, jet, kept, gone, particle }) => {
    const count = jets[jet]?.kind.length ?? 0;
    return kept <= count && Math.max(particle, ...gone) < count;
  },
  along: ({ jet }, { jets }) =>
    jet === undefined ? {} : { kept: jets[jet].kind.length, gone: [], particle: 0, ...WHOLE },
  atSight: (ui) => {
    begin(ui);
    ui.play(true);
  },
  derive,
  view,
  words,
  how: () => how,
  began: ({ jets, jet, kept, gone }) => {
    const part = kept < jets[jet].kind.length ? `, its ${kept} hardest` : "";
    return `jet ${jet + 1}${part}${gone.length ? ` less ${gone.length}` : ""}`;
  },
  advance: ({ share }, ui, seconds) => {
    const next = Math.min(1, share + seconds / SECONDS);
    const kept = keptAt(next, ui.now.count);
    ui.set({ share: next, kept });
    if (kept === ui.now.count) ui.play(false);
  },
});
