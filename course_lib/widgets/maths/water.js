// A linear VAE at its best, read off the eigenvalues of its data; `level` is the noise β s².

/** The mean KL divergence of each code in nats; 0 below the level. */
export const prices = (eigenvalues, level) =>
  eigenvalues.map((value) => Math.max(0, Math.log(value / level)) / 2);

/** The squared error of each direction: the level, or its eigenvalue if that is smaller. */
export const left = (eigenvalues, level) => eigenvalues.map((value) => Math.min(value, level));

/**
 * A picture between those of two levels, straight from one to the next; beyond the last, that one.
 * @param {number[]} levels rising
 * @param {number[][]} pictures one for each of them
 * @param {number} level
 */
export function pictureAt(levels, pictures, level) {
  const after = levels.findIndex((one) => one >= level);
  if (after === 0) return pictures[0];
  if (after < 0) return pictures[pictures.length - 1];
  const share = (level - levels[after - 1]) / (levels[after] - levels[after - 1]);
  return pictures[after].map((ink, i) => {
    const before = pictures[after - 1][i];
    return before + share * (ink - before);
  });
}
