"""Runs of integrators in figures: the methods, the systems and how far their pictures reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray

from course_lib import mechanics
from course_lib.mechanics import HamiltonianSystem, RigidBody, Trajectory

METHODS = {
    "explicit_euler": "explicit Euler",
    "symplectic_euler": "symplectic Euler",
    "stoermer_verlet": "Störmer–Verlet",
    "runge_kutta_4": "Runge–Kutta 4",
    "implicit_midpoint": "implicit midpoint",
}
FARTHEST = 1000.0  # from the origin; the picture itself ends at about 3
REACH = {
    "HarmonicOscillator": (2.5, 2.5),
    "Pendulum": (math.pi, 3.0),
    "CoupledOscillators": (2.5, 2.5, 2.5, 2.5),
    "Kepler": (2.0, 2.0, 2.5, 2.5),
    "HenonHeiles": (1.0, 1.0, 1.0, 1.0),
}
"""The half-width of the picture for each coordinate of a state."""


def system_of(system: Any, scenes: Mapping[str, Any]) -> tuple[str, Any]:
    """The kind of a system that has a scene, and the system itself; by default a pendulum."""
    chosen = mechanics.Pendulum() if system is None else system
    kind = type(chosen).__name__
    if kind not in scenes:
        raise TypeError(
            f"system is {kind}; expected one of {', '.join(scenes)} from course_lib.mechanics"
        )
    return kind, chosen


def numbers_of(
    title: str, run: Trajectory, system: HamiltonianSystem | RigidBody
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Energies and states of a rollout, if it is one trajectory of the system."""
    if not isinstance(run, Trajectory):
        raise TypeError(
            f"the rollout {title!r} is a {type(run).__name__}; expected a Trajectory, as integrate "
            "returns it, of t, q, p and energy"
        )
    energy = run.energy.detach().double().numpy()
    if energy.ndim != 1 or run.q.shape[-1] != system.dim:
        raise ValueError(
            f"the rollout {title!r} has energies of shape {energy.shape} and states of "
            f"{tuple(run.q.shape)}; expected one trajectory, (steps + 1,) and (steps + 1, "
            f"{system.dim})"
        )
    return energy, torch.cat((run.q, run.p), dim=-1).detach().double().numpy()
