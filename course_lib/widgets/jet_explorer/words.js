import { number } from "../kit/text.js";

/** In GeV, to a digit where that is seen. @param {number} energy */
export const gev = (energy) => `${number(energy, energy < 9.95 ? 1 : 0)} GeV`;

const SIGNS = { "-1": " (−)", 0: "", 1: " (+)" };

/** What a particle is: its number, its kind, its charge, its pT. */
export function particleName({ unpacked, facts }, i) {
  const { kind, charge, pt } = unpacked.particles[i];
  return `${i + 1}, ${facts.particles[kind]}${SIGNS[charge]}, ${gev(pt)}`;
}

/** Why a particle is not there, if it is not. */
export const absence = ({ gone, kept }, i) =>
  gone.includes(i) ? "taken away" : i >= kept ? "softer than those kept" : "";

/** The class with the largest probability. @param {number[]} probabilities */
export const likeliest = (probabilities) => probabilities.indexOf(Math.max(...probabilities));
