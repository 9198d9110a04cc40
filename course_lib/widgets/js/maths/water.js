// A linear VAE at its best, read off the eigenvalues of its data; `level` is the noise β s².

/** What a code costs in the mean, in nats; one below the level nothing. */
export const prices = (eigenvalues, level) =>
  eigenvalues.map((value) => Math.max(0, Math.log(value / level)) / 2);

/** The squared error that each direction leaves: the level, or all that there is. */
export const left = (eigenvalues, level) => eigenvalues.map((value) => Math.min(value, level));
