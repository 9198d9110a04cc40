import { dot, sigmoid, softmax, upTo } from "./numerics.js";

/**
 * The weight of each guest in one kind of memory. The first `arrived` of `guests` have come; the
 * others have weight 0. `query` is the query vector, `keys` one row for each guest.
 * @param {string} mode
 * @param {{ guests: number, arrived: number, decay: number, door: number, temperature: number,
 *   score: number[], gate: number[], keys: number[][], query: number[] }} party
 * @returns {number[]}
 */
export function memoryWeights(mode, party) {
  const { guests, arrived, decay, door, temperature, score, gate, keys, query } = party;
  const present = upTo(arrived);
  const weigh = {
    composite: () => present.map(() => 1),
    forgetting: () => present.map((i) => decay ** (arrived - 1 - i)),
    gate: () => present.map((i) => sigmoid(gate[i] + door)),
    softmax: () => softmax(score.slice(0, arrived), temperature),
    query: () =>
      softmax(
        present.map((i) => dot(keys[i], query)),
        temperature,
      ),
  };
  const weights = weigh[mode]();
  return upTo(guests).map((i) => weights[i] ?? 0);
}
