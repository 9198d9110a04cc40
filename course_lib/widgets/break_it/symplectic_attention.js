import { percent } from "../kit/text.js";
import { forceJacobian, relativeAsymmetry } from "../maths/symplectic_attention.js";
import { svg } from "../vendor/lit-html/lit-html.js";
import { breakIt } from "./break_it.js";
import { table, written } from "./cases.js";
import { cells } from "./pictures.js";

/** A square matrix, its diagonal, and frames about the two entries that differ most across it. */
const mirrored = (matrix) => {
  const side = 1 / matrix.length;
  let [most, far] = [[0, 0], 0];
  for (const [i, row] of matrix.entries())
    for (let j = 0; j < i; j += 1) {
      const off = Math.abs(row[j] - matrix[j][i]);
      if (off > far + 1e-9) [most, far] = [[i, j], off];
    }
  const frame = ([i, j]) => svg`<rect x=${j * side} y=${i * side} width=${0.9 * side}
    height=${0.9 * side} fill="none" stroke="var(--cw-ink)" stroke-width="0.03"></rect>`;
  return [
    cells(matrix),
    svg`<path d="M0 0L1 1" stroke="var(--cw-muted)" stroke-width="0.012"></path>`,
    far > 0 ? [most, most.toReversed()].map(frame) : "",
  ];
};

/** The symmetric part of A, and a share of the other. */
const bent = (A, share) =>
  A.map((row, i) => row.map((x, j) => (x + A[j][i]) / 2 + (share * (x - A[j][i])) / 2));

/** The claim that the Jacobian of a force is symmetric, where `matrixOf` tells A as it is bent. */
const symmetric = (jacobian, matrixOf) => ({
  axes: { z: ["token", "feature"], A: ["feature", "feature"] },
  draw: (random, size) => ({
    z: table(random, Math.min(size, 4), 2, 1),
    A: table(random, 2, 2, 1),
  }),
  sides: ({ z, A }, bend) => [relativeAsymmetry(jacobian(z, matrixOf(A, bend), bend)), 0],
  picture: ({ z, A }, _, bend) => mirrored(jacobian(z, matrixOf(A, bend), bend)),
  show: ({ z, A }, [asymmetry], bend) =>
    `Tokens ${written(z)}, rows of A ${written(matrixOf(A, bend))}: ‖M − Mᵀ‖ is
      ${percent(asymmetry)} of ‖M‖.`,
});

export const claims = {
  "symmetric-matrix": symmetric((z, A) => forceJacobian(z, A, "matrix", "shortcut"), bent),
  "both-terms": symmetric(
    (z, A, bend) => forceJacobian(z, A, "vector", bend ? "shortcut" : "full"),
    (A) => A,
  ),
};

export default breakIt(claims);
