// All claims together. A page carries those of its lecture alone: a module each in js/break_it.

import { claims as basis } from "./js/break_it/attention_as_a_basis.js";
import { claims as autoencoder } from "./js/break_it/autoencoder.js";
import { claims as decoder } from "./js/break_it/decoder.js";
import { claims as encoder } from "./js/break_it/encoder.js";
import { claims as gpu } from "./js/break_it/gpu_attention.js";
import { claims as dynamics } from "./js/break_it/graph_dynamics.js";
import { claims as graphs } from "./js/break_it/graph_networks.js";
import { claims as mechanics } from "./js/break_it/hamiltonian_mechanics.js";
import { claims as jets } from "./js/break_it/jets.js";
import { claims as curves } from "./js/break_it/light_curves.js";
import { claims as position } from "./js/break_it/position.js";
import { claims as recurrence } from "./js/break_it/recurrence.js";
import { claims as attention } from "./js/break_it/self_attention.js";
import { claims as lookup } from "./js/break_it/soft_lookup.js";
import { breakIt } from "./js/break_it/strip.js";
import { claims as symplectic } from "./js/break_it/symplectic_attention.js";
import { caseOf, freshRun, settled, tried } from "./js/break_it/trials.js";

export const claims = {
  ...lookup,
  ...attention,
  ...basis,
  ...recurrence,
  ...position,
  ...encoder,
  ...decoder,
  ...graphs,
  ...dynamics,
  ...autoencoder,
  ...mechanics,
  ...symplectic,
  ...jets,
  ...curves,
  ...gpu,
};

/** Cases of a seed, and their residuals. @param {string} name */
export function trials(name, seed, bend, count) {
  const claim = claims[name];
  return Array.from({ length: count }, (_, n) => {
    const given = caseOf(claim, seed, n);
    return { given, residual: claim.residual(given, bend) };
  });
}

/** Where cases of a seed break a claim, and the smallest found, if one of so many does. */
export function counterexample(name, seed, bend, tolerance, count) {
  const given = { seed, bend, about: { tolerance } };
  const { run } = tried(claims[name], freshRun(), given, count);
  return settled(claims[name], run, given).broken;
}

export default breakIt(claims);
