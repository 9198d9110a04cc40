// Boosts of four-momenta (E, px, py, pz), as in course_lib.jets.kinematics.

/**
 * The momentum after a boost along the beam that adds `shift` to its rapidity.
 * @param {number[]} momentum
 * @param {number} shift
 */
export function boostedAlongBeam([energy, x, y, z], shift) {
  const [cosh, sinh] = [Math.cosh(shift), Math.sinh(shift)];
  return [cosh * energy + sinh * z, x, y, cosh * z + sinh * energy];
}

/** E, px, py, pz of a particle with the rapidity `y`. */
export function momentumOf({ pt, y, phi, mass }) {
  const transverse = Math.hypot(mass, pt);
  return [
    transverse * Math.cosh(y),
    pt * Math.cos(phi),
    pt * Math.sin(phi),
    transverse * Math.sinh(y),
  ];
}
