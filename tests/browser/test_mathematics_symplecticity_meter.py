"""The mathematics of SymplecticityMeter's JavaScript, run in Chromium, against course_lib."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor
from kinds.symplecticity_meter import Force, force_of, ride_to, round_trip, shortcut_force, windows

from course_lib import symplectic
from course_lib.mechanics import work_along

ATTENTION = "js/maths/symplectic_attention.js"
LOOPS = "js/symplecticity_meter/loops.js"
FORCES = [(s, f) for s in ("vector", "matrix") for f in ("full", "shortcut")]


def cases_of(random: np.random.Generator, *more: Any) -> list[list[Any]]:
    cases = []
    for _ in range(50):
        tokens, d = random.integers(1, 5, size=2)
        scale = random.choice([0.3, 1.0, 30.0])
        window, A = random.normal(scale=scale, size=(tokens, d)), random.normal(size=(d, d))
        cases.append([window.tolist(), A.tolist(), *more])
    return cases


def test_potential_and_force_in_the_page_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = [case for softmax in ("matrix", "vector") for case in cases_of(random, softmax)]
    potentials = javascript(ATTENTION, "attentionPotential", cases)
    forces, shortcuts = (
        javascript(ATTENTION, "attentionForce", [[*case, formula] for case in cases])
        for formula in ("full", "shortcut")
    )
    for potential, force, cut, (window, A, softmax) in zip(
        potentials, forces, shortcuts, cases, strict=True
    ):
        z, matrix = tensor(window), tensor(A)
        full = symplectic.symplectic_attention(z, matrix, softmax=softmax)
        assert_close(potential, symplectic.attention_potential(z, matrix, softmax=softmax))
        assert_close([list(row) for row in force], full)
        assert_close([list(row) for row in cut], shortcut_force(z, matrix, softmax))


def test_the_jacobian_in_the_page_is_that_of_autograd(
    javascript: Javascript, random: np.random.Generator
):
    cases = [
        [random.normal(size=(3, 2)).tolist(), random.normal(size=(2, 2)).tolist(), *force]
        for force in 5 * FORCES
    ]
    jacobians = javascript(ATTENTION, "forceJacobian", cases)
    jacobians = [[list(row) for row in M] for M in jacobians]
    asymmetries = javascript(ATTENTION, "relativeAsymmetry", [[M] for M in jacobians])
    for found, asymmetry, (window, A, softmax, formula) in zip(
        jacobians, asymmetries, cases, strict=True
    ):
        force = force_of(tensor(A), softmax, formula)
        M = -torch.autograd.functional.jacobian(force, tensor(window)).reshape(6, 6)
        assert_close(found, M)
        assert_close(asymmetry, (M - M.mT).norm() / M.norm())
    assert javascript(ATTENTION, "relativeAsymmetry", [[[[0.0, 0.0], [0.0, 0.0]]]]) == [0]


def test_a_rollout_in_the_page_is_stoermer_verlet_with_the_chosen_force(
    javascript: Javascript, random: np.random.Generator
):
    window, A = random.normal(size=(3, 2)), random.normal(size=(2, 2))
    dt, steps = 0.05, 100
    given = [window.tolist(), A.tolist(), "vector"]
    formulas = ("full", "shortcut")
    found_all = javascript(
        ATTENTION, "attentionRollout", [[*given, formula, dt, steps] for formula in formulas]
    )
    for formula, found in zip(formulas, found_all, strict=True):
        q, p, energies = tensor(window), torch.zeros(3, 2, dtype=torch.float64), []
        force = force_of(tensor(A), "vector", formula)
        for _ in range(steps + 1):
            potential = symplectic.attention_potential(q, tensor(A), softmax="vector")
            energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
            p = p + dt / 2 * (force(q) - q)
            q = q + dt * p
            p = p + dt / 2 * (force(q) - q)
        assert_close(found["energy"], torch.stack(energies))


SPARE, ROUNDS = 0.3, 6


def ridden(
    javascript: Javascript, random: np.random.Generator, time: float
) -> list[tuple[dict[str, Any], torch.Tensor, torch.Tensor, Force, str]]:
    """Rides in random windows: what the page finds, the window, the corners, and the force."""
    cases = []
    for force in 3 * FORCES:
        tokens, corners = random.integers(1, 5), random.integers(3, 40)
        window, A = random.normal(size=(tokens, 2)), random.normal(size=(2, 2))
        angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
        reach = random.uniform(0.5, 1.5, size=(corners, 1))
        wire = random.normal(size=2) + reach * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        cases.append([window.tolist(), A.tolist(), *force, wire.tolist()])
    found = javascript(ATTENTION, "bead", [[*case, SPARE, ROUNDS, time] for case in cases])
    return [
        (ride, tensor(z), tensor(ride["corners"]), force_of(tensor(A), softmax, formula), formula)
        for ride, (z, A, softmax, formula, _) in zip(found, cases, strict=True)
    ]


def test_the_work_round_a_loop_in_the_page_is_that_of_fine_quadrature(
    javascript: Javascript, random: np.random.Generator
):
    for ride, z, corners, force, formula in ridden(javascript, random, 0.0):
        ring = torch.cat([corners, corners[:1]])
        fine = torch.cat(
            [a + torch.linspace(0, 1, 9)[:-1, None] * (b - a) for a, b in pairwise(ring)]
        )
        exact = work_along(force, windows(z, torch.cat([fine, ring[-1:]])), nodes=20)[-1]
        assert_close(ride["total"], exact)
        assert_close(ride["length"], ring.diff(dim=0).norm(dim=-1).sum())
        assert_close(ride["need"], max(0.0, -float(round_trip(force, z, corners).min())))
        assert ride["closes"] == bool(abs(exact) < 1e-9)
        assert formula == "shortcut" or ride["closes"]


def test_a_bead_has_the_energy_that_the_work_has_given_it(
    javascript: Javascript, random: np.random.Generator
):
    for ride, z, corners, force, _ in ridden(javascript, random, 7.0):
        way, rounds = ride_to(corners, ride["s"])
        work = rounds * round_trip(force, z, corners)[-1] + work_along(force, windows(z, way))[-1]
        assert_close(ride["place"], way[-1])
        assert ride["work"] == pytest.approx(float(work), abs=2e-6)
        energy = ride["need"] + SPARE + ride["work"]
        if energy > 0.01:
            assert ride["v"] ** 2 / 2 == pytest.approx(energy, abs=1e-9)


def test_a_bead_takes_as_long_as_its_speeds_on_the_way_say(
    javascript: Javascript, random: np.random.Generator
):
    until, compared = 0.8, 0
    shares = torch.linspace(0, 1, 17)[:-1, None]
    for ride, z, corners, force, _ in ridden(javascript, random, until):
        way, rounds = ride_to(corners, ride["s"])
        if rounds:
            continue
        fine = torch.cat([*(a + shares * (b - a) for a, b in pairwise(way)), way[-1:]])
        energy = ride["need"] + SPARE + work_along(force, windows(z, fine))
        slow = (2 * energy).rsqrt()
        time = ((slow[1:] + slow[:-1]) / 2 * fine.diff(dim=0).norm(dim=-1)).sum()
        assert time == pytest.approx(until, abs=0.01)
        compared += 1
    assert compared > 3


def test_loops_keep_their_shape_when_they_grow_and_stop_at_the_rim_when_they_move(
    javascript: Javascript,
):
    loop = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]
    [size] = javascript(LOOPS, "sizeOf", [[loop]])
    assert size == pytest.approx(math.hypot(1, 0.5))
    [half] = javascript(LOOPS, "resized", [[loop, size / 2]])
    assert_close(half, [[0.5, 0.25], [1.5, 0.25], [1.5, 0.75], [0.5, 0.75]])
    [free, stopped] = javascript(LOOPS, "moved", [[loop, [-1, 0.5], 2.5], [loop, [5, 0.5], 2.5]])
    assert_close(free, tensor(loop) + tensor([-1, 0.5]))
    assert_close(stopped, tensor(loop) + tensor([0.5, 0.5]))
