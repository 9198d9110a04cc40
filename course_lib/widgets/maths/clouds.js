/**
 * The KL divergence of a code, `kl_to_standard_normal` of autoencoder.py: ½ Σ (μ² + σ² − log σ² − 1).
 * @param {number[]} mean
 * @param {number[]} sigma
 */
export const klOf = (mean, sigma) =>
  mean.reduce((sum, m, i) => sum + (m * m + sigma[i] ** 2 - 2 * Math.log(sigma[i]) - 1) / 2, 0);

const [REACH, STEPS] = [10, 200];

/**
 * The same by its definition, Σ ∫ q log (q / p): the trapezoidal rule, ten σ to either side.
 * @param {number[]} mean
 * @param {number[]} sigma
 */
export const klByIntegral = (mean, sigma) =>
  mean.reduce((sum, m, i) => {
    const h = (2 * REACH) / STEPS;
    let total = 0;
    for (let k = 0; k <= STEPS; k += 1) {
      const u = k * h - REACH;
      const z = m + sigma[i] * u;
      const density = Math.exp((-u * u) / 2) / Math.sqrt(2 * Math.PI);
      total += h * density * ((z * z - u * u) / 2 - Math.log(sigma[i]));
    }
    return sum + total;
  }, 0);

/** The log-density of x under a Gaussian around `guess` with this variance for each entry. */
export function gaussianLogLikelihood(x, guess, variance) {
  const square = x.reduce((sum, entry, i) => sum + (entry - guess[i]) ** 2, 0);
  return -square / (2 * variance) - (x.length / 2) * Math.log(2 * Math.PI * variance);
}
