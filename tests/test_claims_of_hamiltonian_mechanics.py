"""The checks of lecture 11 fall to wrong implementations, each to those that are named here."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
import scipy.special
import torch

from course_lib.backward_error import modified_pendulum
from course_lib.mechanics import (
    HarmonicOscillator,
    HenonHeiles,
    Pendulum,
    explicit_euler,
    implicit_midpoint,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
)
from course_lib.time_transformation import LogarithmicHamiltonian

pytestmark = pytest.mark.slow
LECTURE = Path(__file__).resolve().parents[1] / "lectures" / "11_hamiltonian_mechanics.ipynb"


def run(cell, names):
    exec(compile(cell.source.split("\nEnergyDrift(")[0], cell.id, "exec"), names)  # noqa: S102


@pytest.fixture(scope="module")
def checks():
    """The cells that check each claim, and the names that they leave when all of them pass."""
    names, found, label = {"__name__": "lecture"}, {}, None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("myst_nb.glue", lambda *_, **__: None)
        for cell in nbformat.read(LECTURE, 4).cells:
            label = next(iter(re.findall(r":label: (prop-[\w-]+)", cell.source)), label)
            claim = "claim" in cell.metadata.get("tags", [])
            measures = cell.source.startswith("def swing(")  # what the check of the orders looks at
            if claim or measures or cell.source.startswith("import math"):
                run(cell, names)
            if claim or measures:
                found.setdefault(label if claim else "prop-order", []).append(cell)
    return names, found


# Wrong implementations ------------------------------------------------------------------------


def drift_first(system, q, p, dt):
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def wrong_last_kick(system, q, p, dt):
    q, p = stoermer_verlet(system, q, p, dt)
    return q, p + dt * system.grad_q(q, p)


def whole_kicks(system, q, p, dt):
    q, p = symplectic_euler(system, q, p, dt)
    return q, p - dt * system.grad_q(q, p)


def even_slopes(system, q, p, dt):
    """Runge–Kutta 4 with its four slopes weighed alike."""
    q1, p1 = system.field(q, p)
    q2, p2 = system.field(q + dt / 2 * q1, p + dt / 2 * p1)
    q3, p3 = system.field(q + dt / 2 * q2, p + dt / 2 * p2)
    q4, p4 = system.field(q + dt * q3, p + dt * p3)
    return q + dt / 4 * (q1 + q2 + q3 + q4), p + dt / 4 * (p1 + p2 + p3 + p4)


def trapezoid(system, q, p, dt):
    """The mean of the field at both ends, in place of the field at the mean."""
    q_dot, p_dot = system.field(q, p)
    new_q, new_p = q, p
    for _ in range(60):
        q_next, p_next = system.field(new_q, new_p)
        new_q, new_p = q + dt / 2 * (q_dot + q_next), p + dt / 2 * (p_dot + p_next)
    return new_q, new_p


class PushedUphill(Pendulum):
    def field(self, q, p):
        return self.grad_p(q, p), self.grad_q(q, p)


class Stirred(HenonHeiles):
    """A force that is no gradient."""

    def grad_q(self, q, p):
        return super().grad_q(q, p) + 0.1 * q.flip(-1) * q.new_tensor([1.0, -1.0])


class OtherClock(LogarithmicHamiltonian):
    """Time in proportion to the square of the distance."""

    def _grad_p(self, p):
        return [one / self._binding(p) for one in super()._grad_p(p)]


class OffTheSurface(LogarithmicHamiltonian):
    """A momentum of time that does not belong to the energy."""

    def extended(self, q, p):
        q, p = super().extended(q, p)
        return q, p + p.new_tensor([0.0, 0.0, 0.1])


def orthogonality_error(flow, q, p):
    """MᵀM = I in place of MᵀJM = J."""
    M = torch.autograd.functional.jacobian(
        lambda z: torch.cat(flow(*z.chunk(2))), torch.cat([q, p])
    )
    return float((M.T @ M - torch.eye(len(M))).norm())


def with_wrong_sign(order):
    return [term * (-1.0) ** n for n, term in enumerate(modified_pendulum(order))]


def without_the_half(order):
    first, second, *rest = modified_pendulum(order)
    return [first, 2 * second, *rest]


def without_later_bernoulli_numbers(order):
    """The series with B₄ and all that follow it left out."""
    bernoulli = scipy.special.bernoulli
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "scipy.special.bernoulli", lambda n: np.r_[bernoulli(n)[:4], [0.0] * n][: n + 1]
        )
        return modified_pendulum(order)


def five_terms_and_zeros(order):
    first, *rest = modified_pendulum(5)
    return [first, *rest, *[lambda q, p: 0 * first(q, p)] * (order - 5)]


def stepping(names, **replaced):
    """The steppers of the lecture with some of them replaced, under both of their names."""
    titles = {
        "explicit_euler": "explicit Euler",
        "symplectic_euler": "symplectic Euler",
        "stoermer_verlet": "Störmer–Verlet",
        "runge_kutta_4": "Runge–Kutta 4",
        "implicit_midpoint": "implicit midpoint",
    }
    steppers = names["steppers"] | {titles[name]: step for name, step in replaced.items()}
    return {"steppers": steppers, **replaced}


def systems(names, wrong):
    return {"systems": [*names["systems"], wrong]}


WRONG = {
    "prop-energy: a force with the wrong sign": lambda n: systems(n, PushedUphill()),
    "prop-energy: a force that is no gradient": lambda n: systems(n, Stirred()),
    "prop-symplectic: a force that is no gradient": lambda n: systems(n, Stirred()),
    "prop-symplectic: orthogonal for symplectic": lambda _: {
        "symplecticity_error": orthogonality_error
    },
    "prop-symplectic: an error that is always zero": lambda _: {
        "symplecticity_error": lambda *_: 0.0
    },
    "prop-symplectic: explicit Euler for the flow": lambda _: {"runge_kutta_4": explicit_euler},
    "prop-explicit: symplectic Euler for explicit": lambda _: {"explicit_euler": symplectic_euler},
    "prop-explicit: four slopes weighed alike": lambda _: {"runge_kutta_4": even_slopes},
    "prop-steppers: a wrong sign in the last kick": lambda n: stepping(
        n, stoermer_verlet=wrong_last_kick
    ),
    "prop-steppers: two whole kicks": lambda n: stepping(n, stoermer_verlet=whole_kicks),
    "prop-steppers: the trapezoidal rule for midpoint": lambda n: stepping(
        n, implicit_midpoint=trapezoid
    ),
    "prop-steppers: no step at all": lambda n: stepping(
        n, symplectic_euler=lambda _, q, p, __: (q * 1.0, p * 1.0)
    ),
    "prop-shadow: explicit Euler": lambda _: {"symplectic_euler": explicit_euler},
    "prop-shadow: an oscillator of another frequency": lambda _: {
        "oscillator": HarmonicOscillator(stiffness=1.1)
    },
    "prop-modified: every second sign": lambda _: {"modified_pendulum": with_wrong_sign},
    "prop-modified: a half is missing": lambda _: {"modified_pendulum": without_the_half},
    "prop-modified: no Bernoulli number beyond the second": lambda _: {
        "modified_pendulum": without_later_bernoulli_numbers
    },
    "prop-modified: zeros beyond the fifth term": lambda _: {
        "modified_pendulum": five_terms_and_zeros
    },
    "prop-modified: drift first": lambda _: {"symplectic_euler": drift_first},
    "prop-order: symplectic Euler for Verlet": lambda n: stepping(
        n, stoermer_verlet=symplectic_euler
    ),
    "prop-order: Verlet for Runge–Kutta 4": lambda n: stepping(n, runge_kutta_4=stoermer_verlet),
    "prop-reversible: drift first, for Verlet": lambda n: stepping(n, stoermer_verlet=drift_first),
    "prop-reversible: midpoint for symplectic Euler": lambda n: stepping(
        n, symplectic_euler=implicit_midpoint
    ),
    "prop-quadratic: Runge–Kutta 4 for midpoint": lambda n: stepping(
        n, implicit_midpoint=runge_kutta_4
    ),
    "prop-clock: the square of the distance": lambda _: {"LogarithmicHamiltonian": OtherClock},
    "prop-clock: a momentum of time that is off": lambda _: {
        "LogarithmicHamiltonian": OffTheSurface
    },
    "prop-clock: a method that is not symplectic": lambda _: {"stoermer_verlet": explicit_euler},
}


@pytest.mark.parametrize("title", WRONG)
def test_the_check_of_a_claim_falls_to_a_wrong_implementation(checks, title):
    names, found = checks
    *before, check = found[title.partition(":")[0]]
    changed = names | WRONG[title](names)
    for cell in before:
        run(cell, changed)
    with pytest.raises(AssertionError):
        run(check, changed)


def test_each_claim_of_the_lecture_has_a_wrong_implementation(checks):
    _, found = checks
    assert {title.partition(":")[0] for title in WRONG} == set(found)
