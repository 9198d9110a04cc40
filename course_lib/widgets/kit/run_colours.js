// Which colour of the theme a run has, wherever it is drawn.

const COLOURS = {
  explicit_euler: 1,
  symplectic_euler: 2,
  stoermer_verlet: 0,
  runge_kutta_4: 3,
  implicit_midpoint: 4,
};

/**
 * Of trajectories that Python computed, one after the other: no integrator has them. Grey comes last,
 * for it is also the colour of what belongs to another setting.
 */
export const ROLLOUT_COLOURS = [6, 7, 8, 9, 5];

/** Of a run that belongs to another setting than the one that is shown. */
export const GREY = -1;

/** The name of a run's colour in the theme. @param {number} colour */
export const themeName = (colour) => (colour === GREY ? "muted" : `series-${colour}`);

/** A run's colour for CSS: there are more runs than `series` tells apart. @param {number} colour */
export const inkOfRun = (colour) => `var(--cw-${themeName(colour)})`;

/** The colour of an integrator. @param {string} method @returns {number} */
export const colourOf = (method) => COLOURS[method];
