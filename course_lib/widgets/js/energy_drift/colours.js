// Which colour of the theme an integrator has, wherever it is drawn.

const COLOURS = {
  explicit_euler: 1,
  symplectic_euler: 2,
  stoermer_verlet: 0,
  runge_kutta_4: 3,
  implicit_midpoint: 4,
};

/** Of trajectories that Python computed, one after the other. */
export const ROLLOUT_COLOURS = [5, 1, 2, 3, 4];

/** The colour of an integrator. @param {string} method @returns {number} */
export const colourOf = (method) => COLOURS[method];
