import { plain } from "../array.js";
import { button, slider, toggle } from "../controls.js";
import { painted } from "../painted.js";
import { playAtOnce, playButton, prefersStillness } from "../play.js";
import { scientific, superscript } from "../text.js";
import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { widget } from "../widget.js";
import { caseOf, freshRun, settled, shrunk, tried } from "./trials.js";

const MILLISECONDS_A_FRAME = 4;
const ENOUGH = 10_000;
const CASES_A_STEP = 20;
const SECONDS_A_SHRINK = 0.12;
const SEEDS = 1000;
const HEIGHT = 60;
const [FLOOR, CEILING] = [-18, 2];
const [COLUMN, DOTS, DOT] = [4, 6, 2.5];
const REMEMBERED = 500;
const MARGIN = 34;

/** Slowly at first, so that each case is seen; then as fast as they come. */
const due = (age) => Math.ceil(5 * age + 40 * age ** 3);

/** The run, if it is one of this bend and this seed. */
function runOf({ run, bend, seed }) {
  return run?.bend === bend && run?.seed === seed ? run : { ...freshRun(), bend, seed };
}

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
    const residual = claim.residual(run.broken.small, now.bend);
    ui.set({ run, trail: run.broken.done ? now.trail : trailAfter(now.trail, [residual]) });
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
    if (!now.moving || prefersStillness()) return step(claims, ui, { bend: given, trail: [] });
    ui.set({ bend: given, trail: [] });
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
  context.fillStyle = ink("muted");
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  const power = Math.round(Math.log10(about.tolerance));
  context.fillText(`10${superscript(power)}`, 3, limit);
  context.fillText("1", 3, heightOf(1));
  context.fillText(`10${superscript(-16)}`, 3, heightOf(1e-16));
  context.fillRect(MARGIN, limit - 0.5, width - MARGIN, 1);
  context.fillText("tolerance", MARGIN, limit - 8);
  for (const [i, column] of trail.toReversed().entries()) {
    const x = width - 4 - i * COLUMN;
    if (x < MARGIN) break;
    for (const residual of column) {
      const holds = residual <= about.tolerance;
      context.fillStyle = ink(holds ? "series-2" : "warm");
      const side = holds ? DOT : 2 * DOT;
      context.fillRect(x, heightOf(residual) - side / 2, side, side);
    }
  }
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

const cases = (count) => `${count.toLocaleString("en")} ${count === 1 ? "case" : "cases"}`;

function verdict({ run, residual, shown, claimed, bend }) {
  if (!run.broken) {
    return { text: run.count ? "All hold." : "", error: run.worst, told: "largest error" };
  }
  const found = run.broken.done ? "The smallest found" : "Made smaller";
  const text = `${found}: ${claimed.show(shown, bend)}`;
  return { text, error: residual, told: "the last breaks it. Error" };
}

function counted(now) {
  const { text, error, told } = verdict(now);
  return html`<p class="cw-break-words"><output aria-live="off">${cases(now.run.count)}</output>,
    ${told} <strong data-reading="error">${scientific(error)}</strong>.
    <span class=${now.run.broken ? "cw-break-found" : nothing}>${text}</span></p>`;
}

function derive(claims, now) {
  const run = runOf(now);
  const claimed = claims[now.claim];
  const shown = run.broken?.small ?? caseOf(claimed, now.seed, Math.max(0, run.count - 1));
  return { run, claimed, shown, residual: claimed.residual(shown, now.bend) };
}

function view(claims, now, ui) {
  if (now.moving) playAtOnce(ui);
  const { shown, bend, claimed, run } = now;
  const begin = () => ui.set(renewed(ui.now));
  return html`<p class="cw-break-claim">Claim: ${now.about.says}.</p>
    <div class="cw-controls cw-break-controls">
      ${playButton(ui, { start: "Try cases", stop: "❚❚ Pause", begin })}
      ${button("Step", () => step(claims, ui, renewed(ui.now)))}
      ${bendControl(claims, now, ui)}
    </div>
    <div class="cw-break-picture" data-case=${JSON.stringify(shown)}>
      ${strip(now, ui)}
      <svg viewBox="-0.05 -0.05 1.1 1.1" class="cw-break-case" role="img"
        aria-label="The ${run.broken ? "counterexample" : "last case"}: ${claimed.show(shown, bend)}">
        ${claimed.picture(shown, bend)}
      </svg>
    </div>
    ${counted(now)}`;
}

const words = (now) => {
  const { text, error, told } = verdict(now);
  return `${cases(now.run.count)}, ${told} ${scientific(error)}. ${text}`;
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
