import { forceJacobian, relativeAsymmetry } from "../maths/symplectic_attention.js";
import { mirrored } from "./pictures.js";
import { breakIt } from "./strip.js";
import { percent, vectors } from "./telling.js";
import { table } from "./trials.js";

const drawn = {
  axes: { z: ["token", "feature"], A: ["feature", "feature"] },
  draw: (random, size) => ({
    z: table(random, Math.min(size, 4), 2, 1),
    A: table(random, 2, 2, 1),
  }),
};

/** The symmetric part of A, and a share of the other. */
const bent = (A, share) =>
  A.map((row, i) => row.map((x, j) => (x + A[j][i]) / 2 + (share * (x - A[j][i])) / 2));

/** What a claim needs that says: the Jacobian of this force is symmetric. */
const gradient = (jacobian) => ({
  residual: (given, bend) => relativeAsymmetry(jacobian(given, bend)),
  picture: (given, bend) => mirrored(jacobian(given, bend)),
});
const told = (jacobian) => `‖M − Mᵀ‖ is ${percent(relativeAsymmetry(jacobian))} of ‖M‖.`;

const short = ({ z, A }, bend) => forceJacobian(z, bent(A, bend), "matrix", "shortcut");
const full = ({ z, A }, bend) => forceJacobian(z, A, "vector", bend ? "shortcut" : "full");

export const claims = {
  "symmetric-matrix": {
    ...drawn,
    ...gradient(short),
    show: (given, bend) => `Tokens ${vectors(given.z)}, rows of A ${vectors(bent(given.A, bend))}:
      ${told(short(given, bend))}`,
    told: percent,
  },
  "both-terms": {
    ...drawn,
    ...gradient(full),
    show: (given, bend) => `Tokens ${vectors(given.z)}, rows of A ${vectors(given.A)}:
      ${told(full(given, bend))}`,
  },
};

export default breakIt(claims);
