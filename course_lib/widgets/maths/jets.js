// Jets and four-momenta (E, px, py, pz) in GeV, as course_lib.jets.kinematics and course_lib.jets have
// them; a particle is { pt, eta, phi, d0, dz, kind, charge }.

import { sum, upTo } from "./numerics.js";

/** @typedef {{ pt: number, eta: number, phi: number, d0: number, dz: number, kind: number,
 *   charge: number }} Particle */

const MASSES = [0.13957, 0.49761, 0, 0.000511, 0.10566];
const SMALLEST = 1e-8;
const IMPACT = 0.2; // mm
const TINY = 2 ** -1022;

/** @param {Particle} particle @returns {number[]} */
export function fourMomentum({ pt, eta, phi, kind }) {
  const energy = Math.sqrt(MASSES[kind] ** 2 + (pt * Math.cosh(eta)) ** 2);
  return [energy, pt * Math.cos(phi), pt * Math.sin(phi), pt * Math.sinh(eta)];
}

/** @param {number[][]} momenta at least one */
export const total = (momenta) => upTo(4).map((k) => sum(momenta.map((p) => p[k])));

/** m² = E² − |p|² @param {number[]} momentum */
export const massSquared = ([energy, x, y, z]) => energy * energy - (x * x + y * y + z * z);

/** m, 0 where rounding leaves less. @param {number[]} momentum */
export const invariantMass = (momentum) => Math.sqrt(Math.max(0, massSquared(momentum)));

/** y = ½ ln((E + pz) / (E − pz)) @param {number[]} momentum */
export const rapidity = ([energy, , , z]) =>
  Math.asinh(z / Math.sqrt(Math.max(TINY, (energy - z) * (energy + z))));

/** The angle from the second to the first the short way round, in [−π, π). */
export function deltaPhi(first, second) {
  const turn = 2 * Math.PI;
  return ((((first - second + Math.PI) % turn) + turn) % turn) - Math.PI;
}

/** Where a momentum flies: pT, η and φ. @param {number[]} momentum */
export function directionOf([, x, y, z]) {
  const pt = Math.hypot(x, y);
  return { pt, eta: z === 0 ? 0 : Math.asinh(z / pt), phi: Math.atan2(y, x) };
}

/** How far a particle flies from an axis, along η and along φ. @returns {number[]} */
export const fromAxis = ({ eta, phi }, axis) => [eta - axis.eta, deltaPhi(phi, axis.phi)];

/**
 * What is known of each particle, as `particle_features` in course_lib.jets.
 * @param {Particle[]} particles
 * @param {number[][]} momenta theirs
 * @returns {number[][]}
 */
export function particleFeatures(particles, momenta) {
  const jet = total(momenta);
  const axis = directionOf(jet);
  return particles.map((particle, i) => {
    const { pt, charge, kind, d0, dz } = particle;
    const energy = momenta[i][0];
    const [across, around] = fromAxis(particle, axis);
    return [
      ...[Math.log(pt), Math.log(energy), Math.log(pt / axis.pt), Math.log(energy / jet[0])],
      ...[across, around, Math.hypot(across, around), charge],
      ...MASSES.map((_, k) => (k === kind ? 1 : 0)),
      ...[Math.tanh(d0 / IMPACT), Math.tanh(dz / IMPACT)],
    ];
  });
}

/**
 * What two particles have in common: distance Δ, kT, z and m², as in `pairwise_features`, not yet
 * logarithms. Each is { momentum, pt, y, phi }, see `flightOf`.
 */
export function pairOf(a, b) {
  const distance = Math.hypot(a.y - b.y, deltaPhi(a.phi, b.phi));
  const softer = Math.min(a.pt, b.pt);
  return [
    distance,
    softer * distance,
    softer / Math.max(SMALLEST, a.pt + b.pt),
    massSquared(upTo(4).map((k) => a.momentum[k] + b.momentum[k])),
  ];
}

/** What `pairOf` needs of a particle. @param {number[]} momentum */
export const flightOf = (momentum) => ({
  ...directionOf(momentum),
  ...{ momentum, y: rapidity(momentum) },
});

/**
 * The logarithms ln Δ, ln kT, ln z and ln m² of each two particles, as `pairwise_features`.
 * @param {number[][]} momenta
 * @returns {number[][][]}
 */
export function pairFeatures(momenta) {
  const flights = momenta.map(flightOf);
  const ln = (value) => Math.log(Math.max(SMALLEST, value));
  const rows = flights.map((a, i) => flights.slice(0, i + 1).map((b) => pairOf(a, b).map(ln)));
  // What two have in common is the same for both.
  return rows.map((_, i) => rows.map((_, j) => rows[Math.max(i, j)][Math.min(i, j)]));
}
