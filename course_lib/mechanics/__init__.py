"""Hamiltonian mechanics, lecture 11: systems, steppers, trajectories, energies."""

from course_lib.mechanics.backward_error import (
    TrigonometricPolynomial,
    bch,
    modified_pendulum,
    poisson_bracket,
)
from course_lib.mechanics.steppers import (
    STEPPERS,
    explicit_euler,
    implicit_midpoint,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
)
from course_lib.mechanics.systems import (
    CoupledOscillators,
    HamiltonianSystem,
    HarmonicOscillator,
    HenonHeiles,
    Kepler,
    Pendulum,
    RigidBody,
)
from course_lib.mechanics.time_transformation import (
    LogarithmicHamiltonian,
    by_both_ends,
    by_distance,
)
from course_lib.mechanics.trajectories import (
    IntegrationError,
    Trajectory,
    integrate,
    symplecticity_error,
)

__all__ = [
    "STEPPERS",
    "CoupledOscillators",
    "HamiltonianSystem",
    "HarmonicOscillator",
    "HenonHeiles",
    "IntegrationError",
    "Kepler",
    "LogarithmicHamiltonian",
    "Pendulum",
    "RigidBody",
    "Trajectory",
    "TrigonometricPolynomial",
    "bch",
    "by_both_ends",
    "by_distance",
    "explicit_euler",
    "implicit_midpoint",
    "integrate",
    "modified_pendulum",
    "poisson_bracket",
    "runge_kutta_4",
    "stoermer_verlet",
    "symplectic_euler",
    "symplecticity_error",
]
