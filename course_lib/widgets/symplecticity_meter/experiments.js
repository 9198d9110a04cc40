// SymplecticityMeter's two experiments, each as far as its time has come.

import { stateAt } from "../maths/mechanics.js";
import { upTo } from "../maths/numerics.js";
import {
  attentionForce,
  attentionRollout,
  beadOnWire,
  forceJacobian,
  relativeAsymmetry,
  ride,
} from "../maths/symplectic_attention.js";
import { extentOf } from "./loops.js";

export const ROUNDS = 6;
const SMALLEST_LOOP = 0.005; // Python takes none below twice this
// Energy of motion with which the token comes over the top of its hill.
const SPARE = 0.3;
const PATIENCE = 60;
export const STEP = 0.02;
export const STEPS = 2000;
const END = STEP * STEPS;
const ROUNDING = 1e-10;

const inPairs = (flat) => upTo(flat.length / 2).map((i) => [flat[2 * i], flat[2 * i + 1]]);

/** What follows from the state. @param {any} now @param {any} ui */
export function derive(now, ui) {
  const { z, A, softmax, formula, experiment } = now;
  // The corners of a smaller one may come together as it is moved.
  if (extentOf(now.loop) < SMALLEST_LOOP) throw Error("the loop is too small to go round");
  const asymmetry = ui.memo("asymmetry", [z, A, softmax, formula], () => {
    const size = relativeAsymmetry(forceJacobian(z, A, softmax, formula));
    return size < ROUNDING ? 0 : size;
  });
  const found = experiment === "loop" ? roundALoop(now, ui) : letGo(now, ui);
  const forces = attentionForce(found.tokens, A, softmax, formula).map((row) => row.map((x) => -x));
  return { asymmetry, forces, ...found };
}

function roundALoop({ z, A, softmax, formula, loop, time }, { memo }) {
  const bead = memo("bead", [z, A, softmax, formula, loop], () =>
    beadOnWire(z, A, softmax, formula, loop),
  );
  const run = memo("ride", [bead], () => ride(bead, bead.need + SPARE, ROUNDS));
  const state = run(Math.min(time, PATIENCE));
  const [back, ahead] = [state.low, state.high].map((s) => Math.trunc(s / bead.length));
  return {
    bead,
    state,
    tokens: z.with(-1, bead.place(state.s)),
    work: bead.work(state.s),
    // Rounds the other way, once there are any, count below zero.
    closed: back || ahead,
    over: state.over || time >= PATIENCE,
  };
}

function letGo({ z, A, softmax, formula, time }, { memo }) {
  const run = memo("run", [z, A, softmax, formula], () => {
    const rollout = attentionRollout(z, A, softmax, formula, STEP, STEPS);
    const energy = Array.from(rollout.energy.subarray(0, rollout.taken + 1));
    return { ...rollout, energy, range: [Math.min, Math.max].map((most) => most(...energy)) };
  });
  const moment = Math.min(Math.floor(time / STEP + 1e-9), run.taken);
  const positions = (n) => inPairs(stateAt(run, 2 * z.length, n).q);
  const first = run.energy[0];
  const worst = run.energy
    .slice(0, moment + 1)
    .reduce((most, value) => Math.max(most, Math.abs(value - first)), 0);
  return {
    run,
    moment,
    tokens: positions(moment),
    positions,
    share: run.energy[moment] / first,
    off: worst / first,
    over: time >= END || moment < Math.floor(Math.min(time, END) / STEP + 1e-9),
  };
}
