import { plain } from "../kit/array.js";
import { button, slider, toggle } from "../kit/controls.js";
import { painted } from "../kit/painted.js";
import { playAtOnce, playButton, prefersStillness } from "../kit/play.js";
import { quantity, superscript } from "../kit/text.js";
import { widget } from "../kit/widget.js";
import { clamp, upTo } from "../maths/numerics.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { caseOf, freshRun, settled, shrunk, tried } from "./trials.js";

const MILLISECONDS_A_FRAME = 4;
const ENOUGH = 1000;
const CASES_A_STEP = 20;
const SECONDS_A_SHRINK = 0.25;
const SEEDS = 1000;
const HEIGHT = 72;
/** Of a picture of a case with what stands beside it, and the share of the strip that they take. */
const [FRAME, FILM_SHARE, MOST_FRAMES] = [98, 0.72, 5];
const [FLOOR, CEILING] = [-18, 2];
const [COLUMN, DOTS, DOT] = [4, 6, 2.5];
const BROKEN_DOT = 9;
const REMEMBERED = 500;
/** Of the words beside the dots, which would strike them through. */
const MARGIN = 58;

/** Slowly at first, so that each case is seen; then as fast as they come. */
const due = (age) => Math.ceil(5 * age + 40 * age ** 3);

/** The run, if it is one of this bend and this seed. */
function runOf({ run, bend, seed }) {
  return run?.bend === bend && run?.seed === seed ? run : { ...freshRun(), bend, seed };
}

/** The trail, with an empty column where the reader bends the claim. */
const bentAt = (trail) => (trail.at(-1)?.length ? [...trail.slice(1 - REMEMBERED), []] : trail);

/** The last columns of dots: of many residuals in one column, the largest and some others. */
function trailAfter(trail, residuals) {
  if (!residuals.length) return trail;
  const stride = Math.ceil(residuals.length / DOTS);
  const column = residuals.filter((_, i) => i % stride === 0);
  return [...trail.slice(1 - REMEMBERED), [...column, Math.max(...residuals)]];
}

function advance(claims, now, ui, seconds) {
  const claim = claims[now.claim];
  const before = runOf(now);
  if (before.broken) {
    const elapsed = before.age + seconds;
    if (elapsed < SECONDS_A_SHRINK) {
      ui.set({ run: { ...before, age: elapsed } });
      return;
    }
    const run = shrunk(claim, { ...before, age: 0 }, now);
    ui.set({ run });
    if (run.broken.done) ui.play(false);
    return;
  }
  const late = performance.now() + MILLISECONDS_A_FRAME;
  const age = before.age + seconds;
  const cases = Math.min(due(age), ENOUGH) - before.count;
  const { run, residuals } = tried(
    claim,
    { ...before, age },
    now,
    cases,
    () => performance.now() > late,
  );
  ui.set({ run: run.broken ? { ...run, age: 0 } : run, trail: trailAfter(now.trail, residuals) });
  if (run.count >= ENOUGH) ui.play(false);
}

/** Some more cases at once, and the smallest that breaks the claim if one does. */
function step(claims, ui, changes = {}) {
  const now = { ...ui.now, ...changes };
  const claim = claims[now.claim];
  const { run, residuals } = tried(claim, runOf(now), now, CASES_A_STEP);
  ui.set({ ...changes, run: settled(claim, run, now), trail: trailAfter(now.trail, residuals) });
}

/** Other cases, where these have told all that they can. */
function renewed({ run, seed }) {
  return run.broken?.done || run.count >= ENOUGH ? { seed: (seed + 1) % SEEDS } : {};
}

function bendControl(claims, now, ui) {
  const { about, claim, bend } = now;
  const change = (given) => {
    const bent = { bend: given, trail: bentAt(ui.now.trail) };
    if (!now.moving || prefersStillness()) return step(claims, ui, bent);
    ui.set(bent);
    ui.play(true);
  };
  if (about.switch)
    return toggle(ui, "bend", {
      label: about.bend,
      value: bend > 0,
      set: (on) => change(Number(on)),
    });
  const { told } = claims[claim];
  return slider(ui, "bend", {
    label: about.bend,
    min: 0,
    max: 1,
    step: 0.01,
    format: told,
    set: change,
  });
}

const heightOf = (residual) => {
  const power = residual > 0 ? Math.log10(residual) : FLOOR;
  const share = (CEILING - Math.max(FLOOR, Math.min(CEILING, power))) / (CEILING - FLOOR);
  return 3 + share * (HEIGHT - 6);
};

function paintStrip({ trail, about }, { ink }, width, context) {
  const limit = heightOf(about.tolerance);
  context.fillStyle = ink("panel");
  context.fillRect(0, 0, width, HEIGHT);
  // What lies below the tolerance holds.
  context.globalAlpha = 0.14;
  context.fillStyle = ink("series-2");
  context.fillRect(MARGIN, limit, width - MARGIN, HEIGHT - limit);
  context.globalAlpha = 1;
  context.fillStyle = ink("muted");
  context.fillRect(MARGIN, limit - 0.5, width - MARGIN, 1);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  const beside = (text, y, name = "muted") => {
    context.fillStyle = ink(name);
    context.fillText(text, MARGIN - 4, y);
  };
  if (limit - heightOf(1) > 24) beside("1", heightOf(1));
  beside("✗ breaks", (heightOf(1) + limit) / 2, "warm");
  beside(`10${superscript(Math.round(Math.log10(about.tolerance)))}`, limit);
  beside("✓ holds", (limit + HEIGHT) / 2, "series-2");
  for (const [i, column] of trail.toReversed().entries()) {
    const x = width - 4 - i * COLUMN;
    if (x < MARGIN) break;
    if (!column.length) {
      context.fillStyle = ink("edge");
      context.fillRect(x + 1, 0, 1, HEIGHT);
    }
    for (const residual of column) {
      const holds = residual <= about.tolerance;
      context.fillStyle = ink(holds ? "series-2" : "warm");
      const side = holds ? DOT : BROKEN_DOT;
      context.fillRect(x + DOT - side, heightOf(residual) - side / 2, side, side);
    }
  }
  const worst = Math.max(0, ...(trail.at(-1) ?? []));
  if (worst > about.tolerance) nameBroken(context, ink, width - 10 - BROKEN_DOT, heightOf(worst));
}

/** Beside its mark, over all that lies there. */
function nameBroken(context, ink, right, y) {
  const at = Math.max(8, Math.min(HEIGHT - 8, y));
  context.textAlign = "right";
  context.lineWidth = 4;
  context.strokeStyle = ink("panel");
  context.strokeText("breaks", right, at);
  context.fillStyle = ink("warm");
  context.fillText("breaks", right, at);
}

function strip(now, ui) {
  const width = ui.width("strip", 500);
  const paint = (context) => paintStrip(now, ui.theme, width, context);
  return html`<div class="cw-break-strip" data-measure="strip">
    <canvas role="img" style="height: ${HEIGHT}px"
      aria-label="Errors of the latest cases on a logarithmic scale, and the tolerance as a line"
      ${painted(ui, { width, height: HEIGHT, inputs: [now.trail, now.about], paint })}></canvas>
  </div>`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

const FOUND = "The simplest found";

/** The steps of a path at which its picture changes, and the first and the last in any case. */
function changing(path, pictureOf) {
  const looks = path.map((given) => JSON.stringify(pictureOf(given)));
  const last = path.length - 1;
  return path.filter(
    (_, i) => !i || i === last || (looks[i] !== looks[i - 1] && looks[i] !== looks[last]),
  );
}

/** As many of a path as there is room for: the first, the last and some between. */
function thinned(path, room) {
  if (path.length <= room) return path;
  return upTo(room).map((i) => path[Math.round((i * (path.length - 1)) / (room - 1))]);
}

/** The last case; once one breaks the claim, that one, growing smaller from picture to picture. */
function film(now, ui) {
  const { shown, bend, claimed, run } = now;
  const broken = run.broken;
  const width = ui.width("picture", 640);
  const room = clamp(Math.floor((FILM_SHARE * width) / FRAME), 2, MOST_FRAMES);
  const path = ui.memo("path", [broken?.path, bend], () =>
    broken ? changing(broken.path, (given) => claimed.picture(given, bend)) : [],
  );
  const all = broken ? thinned(path, room) : [shown];
  const last = all.length - 1;
  const label = `The ${broken ? "counterexample" : "last case"}: ${claimed.show(shown, bend)}`;
  const caption = (i) => {
    if (!run.count) return "the first case";
    const n = (broken ? broken.n : Math.max(0, run.count - 1)) + 1;
    // The frame has no room for a longer number beside the word.
    if (i === 0) return n < 1000 ? `case ${n}` : n.toLocaleString("en");
    return i === last && broken.done ? "simplest case" : "simpler case";
  };
  const off = (given, i) => {
    if (!run.count) return "not tried yet";
    const by = claimed.residual(given, bend);
    const name = broken && i === last ? "error" : nothing;
    return by > now.about.tolerance
      ? html`✗ off <span data-reading=${name}>${quantity(by)}</span>`
      : "✓ holds";
  };
  const one = (given, i) => html`<span class="cw-break-frame" ?data-breaks=${Boolean(broken)}>
    <svg viewBox="-0.05 -0.05 1.1 1.1" class="cw-break-case" ?data-breaks=${Boolean(broken)}
      role=${i === last ? "img" : nothing} aria-label=${i === last ? label : nothing}
      aria-hidden=${i === last ? nothing : "true"}>
      ${claimed.picture(given, bend)}
    </svg>
    <span aria-hidden="true">${caption(i)}</span>
    <span aria-hidden="true" class=${run.count ? "cw-break-off" : nothing}>${off(given, i)}</span>
  </span>`;
  return html`<div class="cw-break-film" data-case=${JSON.stringify(shown)}>${all.map(one)}</div>`;
}

/** The sign of what was found, the finding, and what is to be said of it beside the error. */
function verdict({ run, residual, shown, claimed, bend, about }) {
  const { broken, count, worst } = run;
  const all = count.toLocaleString("en");
  if (!broken) {
    const how = about.switch ? "Tick the box" : "Move the slider";
    const text = count && !bend ? `Can you break it? ${how}.` : "";
    const found = count ? `${all} of ${all} hold` : "0 cases";
    const told = count ? "up to rounding, at most" : "largest error";
    return { sign: count ? "✓" : "", found, text, error: worst, told };
  }
  const at = { sign: "✗", found: `Case ${all} breaks it`, error: residual, told: "error" };
  if (!broken.done) return { ...at, text: "It still breaks, made simpler …" };
  return { ...at, text: `${FOUND}: ${claimed.show(shown, bend)}` };
}

function counted(now) {
  const { sign, found, text, error, told } = verdict(now);
  const { broken } = now.run;
  const outcome = { "✓": "good", "✗": "bad" }[sign] ?? nothing;
  const [lead, rest] = text.startsWith(FOUND) ? [FOUND, text.slice(FOUND.length)] : ["", text];
  return html`<p class="cw-break-words"><strong class="cw-break-verdict" data-outcome=${outcome}
      ?data-whole=${broken?.done || now.run.count >= ENOUGH}><span
      aria-hidden="true">${sign ? `${sign} ` : ""}</span><output aria-live="off">${found}</output></strong>
    <span class="cw-break-told"><strong class="cw-break-found">${lead}</strong>${rest}</span>
    ${
      broken
        ? nothing // it stands beneath its picture
        : html`<span class="cw-break-error">(${told}
            <span data-reading="error">${quantity(error)}</span>)</span>`
    }</p>`;
}

/** So many cases hold that it is the reader's turn. */
const dares = ({ run, bend, playing }) => !playing && !bend && run.count >= ENOUGH;

function derive(claims, now) {
  const run = runOf(now);
  const claimed = claims[now.claim];
  const shown = run.broken?.small ?? caseOf(claimed, now.seed, Math.max(0, run.count - 1));
  return { run, claimed, shown, residual: claimed.residual(shown, now.bend) };
}

function view(claims, now, ui) {
  if (now.moving) playAtOnce(ui);
  const begin = () => ui.set(renewed(ui.now));
  const { says, formula } = now.about;
  return html`<p class="cw-break-claim"><span>Always true?</span> <strong>${capital(says)}.</strong>
      ${formula ? html`<span class="cw-break-formula">${formula}</span>` : nothing}</p>
    <div class="cw-controls cw-break-controls">
      ${playButton(ui, { start: "Try cases", stop: "❚❚ Pause", begin })}
      ${button("Step", () => step(claims, ui, renewed(ui.now)))}
      <span class="cw-break-bend" ?data-dares=${dares(now)}>${bendControl(claims, now, ui)}</span>
    </div>
    <div class="cw-break-picture" data-measure="picture">${strip(now, ui)}${film(now, ui)}
      <p class="cw-break-key">Picture: ${now.about.picture}.</p></div>
    ${counted(now)}`;
}

const words = (now) => {
  const { found, text, error, told } = verdict(now);
  return `${found}, ${told} ${quantity(error)}. ${text}`;
};

/** The widget of some claims. @param {Record<string, import("./trials.js").Claim>} claims */
export const breakIt = (claims) =>
  widget({
    label: "Break it: random cases against the claim",
    name: "cw-break",
    data: { claim: plain, about: plain, moving: plain },
    controls: { bend: plain, seed: plain },
    local: { run: null, trail: [] },
    derive: (now) => derive(claims, now),
    view: (now, ui) => view(claims, now, ui),
    words,
    began: ({ bend }) => (bend ? "the assumption as it was bent" : "the claim as it stands"),
    advance: (now, ui, seconds) => advance(claims, now, ui, seconds),
  });
