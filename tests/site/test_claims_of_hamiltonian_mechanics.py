"""The checks of lecture 11 fail with the wrong implementations that are named here."""

import re
from pathlib import Path

import nbformat
import pytest

from course_lib.mechanics import (
    Pendulum,
    explicit_euler,
    modified_pendulum,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
)

pytestmark = pytest.mark.slow
LECTURE = Path(__file__).resolve().parents[2] / "lectures" / "11_hamiltonian_mechanics.ipynb"


def run(cell, names):
    exec(compile(cell.source.split("\nEnergyDrift(")[0], cell.id, "exec"), names)  # noqa: S102


@pytest.fixture(scope="module")
def checks():
    """The cells that check each claim, and the names that they bind."""
    names, found, label = {"__name__": "lecture"}, {}, None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("myst_nb.glue", lambda *_, **__: None)
        for cell in nbformat.read(LECTURE, 4).cells:
            label = next(iter(re.findall(r":label: (prop-[\w-]+)", cell.source)), label)
            claim = "claim" in cell.metadata.get("tags", [])
            measures = cell.source.startswith("def swing(")  # used by the check of the orders
            if claim or measures or cell.source.startswith("import math"):
                run(cell, names)
            if claim or measures:
                found.setdefault(label if claim else "prop-order", []).append(cell)
    return names, found


# Wrong implementations ------------------------------------------------------------------------


def drift_first(system, q, p, dt):
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def whole_kicks(system, q, p, dt):
    q, p = symplectic_euler(system, q, p, dt)
    return q, p - dt * system.grad_q(q, p)


class PushedUphill(Pendulum):
    def field(self, q, p):
        return self.grad_p(q, p), self.grad_q(q, p)


def with_wrong_sign(order):
    return [term * (-1.0) ** n for n, term in enumerate(modified_pendulum(order))]


def stepping(names, **replaced):
    """The steppers of the lecture, some of them replaced under both names."""
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
    "prop-symplectic: explicit Euler for the flow": lambda _: {"runge_kutta_4": explicit_euler},
    "prop-explicit: symplectic Euler for explicit": lambda _: {"explicit_euler": symplectic_euler},
    "prop-steppers: two whole kicks": lambda n: stepping(n, stoermer_verlet=whole_kicks),
    "prop-shadow: explicit Euler": lambda _: {"symplectic_euler": explicit_euler},
    "prop-modified: every second sign": lambda _: {"modified_pendulum": with_wrong_sign},
    "prop-order: Verlet for Runge–Kutta 4": lambda n: stepping(n, runge_kutta_4=stoermer_verlet),
    "prop-reversible: drift first, for Verlet": lambda n: stepping(n, stoermer_verlet=drift_first),
    "prop-quadratic: Runge–Kutta 4 for midpoint": lambda n: stepping(
        n, implicit_midpoint=runge_kutta_4
    ),
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
