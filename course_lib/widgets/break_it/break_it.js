// All claims together. A page carries those of its lecture alone: a module each.

import { claims as basis } from "./attention_as_a_basis.js";
import { claims as autoencoder } from "./autoencoder.js";
import { claims as decoder } from "./decoder.js";
import { claims as encoder } from "./encoder.js";
import { claims as gpu } from "./gpu_attention.js";
import { claims as dynamics } from "./graph_dynamics.js";
import { claims as graphs } from "./graph_networks.js";
import { claims as mechanics } from "./hamiltonian_mechanics.js";
import { claims as jets } from "./jets.js";
import { claims as curves } from "./light_curves.js";
import { claims as position } from "./position.js";
import { claims as recurrence } from "./recurrence.js";
import { claims as attention } from "./self_attention.js";
import { claims as lookup } from "./soft_lookup.js";
import { breakIt } from "./strip.js";
import { claims as symplectic } from "./symplectic_attention.js";
import { caseOf, freshRun, settled, tried } from "./trials.js";

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
