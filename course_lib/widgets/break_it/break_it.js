import { plain } from "../kit/array.js";
import { button, slider, swatch, toggle } from "../kit/controls.js";
import { painted } from "../kit/painted.js";
import { playButton, prefersStillness } from "../kit/play.js";
import { percent, quantity, superscript } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { caseOf, errorOf, freshRun, settled, shrunk, tried } from "./trials.js";

const MILLISECONDS_A_FRAME = 4;
const ENOUGH = 1000;
const CASES_A_STEP = 20;
const SECONDS_A_SHRINK = 0.25;
const SEEDS = 1000;
/** Powers of ten at the bottom and at the top of the dots. */
const [FLOOR, CEILING] = [-18, 2];
const [COLUMN, DOTS, REMEMBERED, DOT, BROKEN_DOT] = [5, 6, 500, 3, 9];
/** Of the words beside the dots. */
const MARGIN = 58;
/** The share of the width that pictures of cases take, and the gap between two. */
const [FILM_SHARE, GAP, MOST_PICTURES] = [0.72, 16, 5];

/** Slowly at first, so that each case is seen; then as fast as they come. */
const due = (age) => Math.ceil(5 * age + 40 * age ** 3);

/** The run, if it is one of this bend and this seed. */
function runOf({ run, bend, seed }) {
  return run?.bend === bend && run?.seed === seed ? run : { ...freshRun(), bend, seed };
}

/** The last columns of dots: of many errors in one column, the largest and some others. */
function trailAfter(trail, errors) {
  if (!errors.length) return trail;
  const stride = Math.ceil(errors.length / DOTS);
  const column = errors.filter((_, i) => i % stride === 0);
  return [...trail.slice(1 - REMEMBERED), [...column, Math.max(...errors)]];
}

/** The trail, with an empty column where the reader bends the claim. */
const bentAt = (trail) => (trail.at(-1)?.length ? [...trail.slice(1 - REMEMBERED), []] : trail);

function advance(claim, now, ui, seconds) {
  const before = runOf(now);
  const run = { ...before, age: before.age + seconds };
  if (before.path.length) {
    if (run.age < SECONDS_A_SHRINK) return ui.set({ run });
    const next = shrunk(claim, { ...run, age: 0 }, now);
    ui.set({ run: next });
    return next.done && ui.play(false);
  }
  const late = performance.now() + MILLISECONDS_A_FRAME;
  const cases = Math.min(due(run.age), ENOUGH) - run.count;
  const { run: next, errors } = tried(claim, run, now, cases, () => performance.now() > late);
  const age = next.path.length ? 0 : next.age;
  ui.set({ run: { ...next, age }, trail: trailAfter(now.trail, errors) });
  return next.count >= ENOUGH && ui.play(false);
}

/** Some more cases at once, and the simplest that breaks the claim if one does. */
function step(claim, ui, changes = {}) {
  const now = { ...ui.now, ...changes };
  const { run, errors } = tried(claim, runOf(now), now, CASES_A_STEP);
  ui.set({ ...changes, run: settled(claim, run, now), trail: trailAfter(now.trail, errors) });
}

/** Other cases, where these have told all that they can. */
const renewed = ({ run, seed }) =>
  run.done || run.count >= ENOUGH ? { seed: (seed + 1) % SEEDS } : {};

function bendControl(claim, { about, bend, moving }, ui) {
  const set = (given) => {
    const bent = { bend: Number(given), trail: bentAt(ui.now.trail) };
    if (!moving || prefersStillness()) return step(claim, ui, bent);
    ui.set(bent);
    return ui.play(true);
  };
  if (about.switch) return toggle(ui, "bend", { label: about.switch, value: bend > 0, set });
  const format = claim.told ?? percent;
  return slider(ui, "bend", { label: about.slider, min: 0, max: 1, step: 0.01, format, set });
}

function paintDots({ trail, about }, { ink }, width, height, context) {
  const y = (error) => {
    const power = clamp(error > 0 ? Math.log10(error) : FLOOR, FLOOR, CEILING);
    return 3 + ((CEILING - power) / (CEILING - FLOOR)) * (height - 6);
  };
  const fill = (name, ...box) => {
    context.fillStyle = ink(name);
    context.fillRect(...box);
  };
  const limit = y(about.tolerance);
  fill("panel", 0, 0, width, height);
  context.globalAlpha = 0.14;
  fill("series-2", MARGIN, limit, width, height);
  context.globalAlpha = 1;
  fill("muted", MARGIN, limit - 0.5, width, 1);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const [text, at, name] of [
    ["✗ breaks", limit / 2, "warm"],
    [toleranceOf(about), limit, "muted"],
    ["✓ holds", (limit + height) / 2, "series-2"],
  ]) {
    context.fillStyle = ink(name);
    context.fillText(text, MARGIN - 4, at);
  }
  for (const [i, column] of trail.toReversed().entries()) {
    const right = width - 2 - i * COLUMN;
    if (right < MARGIN + DOT) break;
    if (!column.length) fill("edge", right - DOT / 2, 0, 1, height);
    for (const error of column) {
      const [name, side] = error <= about.tolerance ? ["series-2", DOT] : ["warm", BROKEN_DOT];
      fill(name, right - side, y(error) - side / 2, side, side);
    }
  }
}

const toleranceOf = ({ tolerance }) => `10${superscript(Math.round(Math.log10(tolerance)))}`;

/** The steps of a path at which its picture changes, and the first and the last in any case. */
function changing(path, pictureOf) {
  const looks = path.map((given) => JSON.stringify(pictureOf(given)));
  const last = path.length - 1;
  return path.filter(
    (_, i) => !i || i === last || (looks[i] !== looks[i - 1] && looks[i] !== looks[last]),
  );
}

/** As many of a path as there is room for: the first, the last and some between. */
const thinned = (path, room) =>
  path.length <= room
    ? path
    : upTo(room).map((i) => path[Math.round((i * (path.length - 1)) / (room - 1))]);

/** The last case; once one breaks the claim, that one, growing simpler from picture to picture. */
function film({ claimed, shown, bend, run, about, told }, ui, width, side) {
  const broken = run.path.length > 0;
  const picture = (given) => claimed.picture(given, claimed.sides(given, bend), bend);
  const room = clamp(Math.floor((FILM_SHARE * width) / (side + GAP)), 2, MOST_PICTURES);
  const path = ui.memo("path", [run.path, bend], () => changing(run.path, picture));
  const all = broken ? thinned(path, room) : [shown];
  const last = all.length - 1;
  const caption = (i) => {
    if (!run.count) return "the first case";
    if (!i) return `case ${run.count.toLocaleString("en")}`;
    return i === last && run.done ? "simplest case" : "simpler case";
  };
  const off = (given) => {
    const error = errorOf(claimed, given, bend);
    const holds = error <= about.tolerance;
    return html`<span data-outcome=${holds ? "good" : "bad"}>${holds ? "✓" : "✗ off"}
      <span data-reading="error">${quantity(error)}</span></span>`;
  };
  return html`<div class="cw-break-film">${all.map(
    (given, i) => html`<div class="cw-break-case" ?data-breaks=${broken}
      data-case=${JSON.stringify(given)}>
      <svg viewBox="-0.05 -0.05 1.1 1.1" role="img" aria-label=${i === last ? told : caption(i)}
        >${picture(given)}</svg>
      <span>${caption(i)}</span>
      <span>${run.count ? off(given) : "not tried yet"}</span>
    </div>`,
  )}</div>`;
}

function picture(now, ui) {
  const width = ui.width("picture", 640);
  const side = clamp(Math.round(width / 4), 84, 156);
  const across = ui.width("dots", 500);
  const paint = (context) => paintDots(now, ui.theme, across, side, context);
  return html`<div class="cw-break-picture" data-measure="picture" style="--side: ${side}px">
      <div class="cw-break-dots" data-measure="dots">
        <canvas role="img" aria-label="Errors of the latest cases, and the tolerance as a line"
          ${painted(ui, { width: across, height: side, inputs: [now.trail, now.about], paint })}
        ></canvas>
      </div>
      ${film(now, ui, width, side)}
      <p class="cw-hint cw-break-key">A dot for each case, as high as its error:
        ${swatch("var(--cw-series-2)")} it holds, up to rounding;
        ${swatch("var(--cw-warm)")} it breaks the claim.
        Picture: ${now.about.picture}.</p>
    </div>`;
}

/** What was found, and what is to be said of it. */
function verdict({ run, bend, about, told }) {
  const all = run.count.toLocaleString("en");
  if (!run.count) return { found: "0 cases", text: "" };
  if (run.path.length) {
    const text = run.done ? `The simplest found: ${told}` : "It still breaks, made simpler …";
    return { sign: "✗", outcome: "bad", found: `Case ${all} breaks it`, text };
  }
  const how = about.switch ? "Tick the box" : "Move the slider";
  const text = bend ? "" : `Can you break it? ${how}.`;
  return { sign: "✓", outcome: "good", found: `${all} of ${all} hold`, text };
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function view(now, ui) {
  const { claimed, run, bend, playing, about } = now;
  const { sign, outcome = nothing, found, text } = verdict(now);
  // So many cases hold that it is the reader's turn.
  const inviting = !playing && !bend && run.count >= ENOUGH;
  return html`<p class="cw-break-claim">Always true? <strong>${capital(about.says)}.</strong>
      <span>${about.formula}</span></p>
    <div class="cw-controls">
      ${playButton(ui, { start: "Try cases", stop: "❚❚ Pause", begin: () => ui.set(renewed(ui.now)) })}
      ${button("Step", () => step(claimed, ui, renewed(ui.now)))}
      <span class="cw-break-bend" ?data-inviting=${inviting}>${bendControl(claimed, now, ui)}</span>
    </div>
    ${picture(now, ui)}
    <p class="cw-break-words"><strong class="cw-break-verdict" data-outcome=${outcome}
      ?data-whole=${run.done || run.count >= ENOUGH}><span aria-hidden="true">${sign} </span
      ><output aria-live="off">${found}</output></strong> ${text}</p>`;
}

/** @param {Record<string, import("./trials.js").Claim>} claims */
function derive(claims, now) {
  const [run, claimed] = [runOf(now), claims[now.claim]];
  const shown = run.path.at(-1) ?? caseOf(claimed, now.seed, Math.max(0, run.count - 1));
  const told = claimed.show(shown, claimed.sides(shown, now.bend), now.bend);
  return { run, claimed, shown, told: told.replace(/[ \n]+/g, " ") };
}

/** The widget of some claims. @param {Record<string, import("./trials.js").Claim>} claims */
export const breakIt = (claims) =>
  widget({
    label: "Break it: random cases against the claim",
    name: "cw-break",
    data: { claim: plain, about: plain },
    atSight: (ui) => ui.play(true),
    controls: { bend: plain, seed: plain },
    local: { run: null, trail: [] },
    derive: (now) => derive(claims, now),
    view,
    words: (now) => {
      const { found, text } = verdict(now);
      const error = quantity(errorOf(now.claimed, now.shown, now.bend));
      return `${found}${now.run.path.length ? `, error ${error}` : ""}. ${text}`;
    },
    began: ({ bend }) => (bend ? "the assumption as it was bent" : "the claim as it stands"),
    advance: (now, ui, seconds) => advance(claims[now.claim], now, ui, seconds),
  });
