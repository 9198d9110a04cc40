"""The mathematics of SymplecticityMeter's JavaScript, run in Chromium, against course_lib."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.symplecticity_meter import shortcut_force

from course_lib import mechanics, symplectic

ATTENTION = "js/maths/symplectic_attention.js"


def windows(random: np.random.Generator, *more: Any) -> list[list[Any]]:
    cases = []
    for _ in range(DRAWS):
        tokens, d = random.integers(1, 5, size=2)
        scale = random.choice([0.3, 1.0, 30.0])
        window, A = random.normal(scale=scale, size=(tokens, d)), random.normal(size=(d, d))
        cases.append([window.tolist(), A.tolist(), *more])
    return cases


def shortcut(z: torch.Tensor, A: torch.Tensor, softmax: str) -> torch.Tensor:
    """2 Sᵀ Z A, with the S whose log-partition function is the potential, by autograd."""
    C = (z @ A @ z.mT).detach().requires_grad_()
    one = torch.zeros_like(C[:1])
    if softmax == "matrix":
        partition = torch.logsumexp(torch.cat([one[0, :1], C.flatten()]), 0)
    else:
        partition = torch.logsumexp(torch.cat([one, C]), 0).sum()
    [S] = torch.autograd.grad(partition, C)
    return 2 * S.mT @ z @ A


@pytest.mark.parametrize("softmax", ["matrix", "vector"])
def test_potential_and_force_in_the_page_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator, softmax: str
):
    cases = windows(random, softmax)
    potentials = javascript(ATTENTION, "attentionPotential", cases)
    full = [[*case, "full"] for case in cases]
    short = [[*case, "shortcut"] for case in cases]
    forces = javascript(ATTENTION, "attentionForce", full)
    shortcuts = javascript(ATTENTION, "attentionForce", short)
    for potential, force, cut, (window, A, _) in zip(
        potentials, forces, shortcuts, cases, strict=True
    ):
        z, matrix = tensor(window), tensor(A)
        assert_close(potential, symplectic.attention_potential(z, matrix, softmax=softmax))
        assert_close(
            [list(row) for row in force],
            symplectic.symplectic_attention(z, matrix, softmax=softmax),
        )
        assert_close([list(row) for row in cut], shortcut(z, matrix, softmax))


@pytest.mark.parametrize("formula", ["full", "shortcut"])
@pytest.mark.parametrize("softmax", ["matrix", "vector"])
def test_the_jacobian_in_the_page_is_that_of_autograd(
    javascript: Javascript, random: np.random.Generator, softmax: str, formula: str
):
    cases = [
        [random.normal(size=(3, 2)).tolist(), random.normal(size=(2, 2)).tolist(), softmax, formula]
        for _ in range(30)
    ]
    jacobians = javascript(ATTENTION, "forceJacobian", cases)
    jacobians = [[list(row) for row in M] for M in jacobians]
    asymmetries = javascript(ATTENTION, "relativeAsymmetry", [[M] for M in jacobians])
    step = 0.1
    errors = javascript(ATTENTION, "kickSymplecticityError", [[M, step] for M in jacobians])
    for found, asymmetry, error, (window, A, *_) in zip(
        jacobians, asymmetries, errors, cases, strict=True
    ):
        z, matrix = tensor(window), tensor(A)

        def force(z: torch.Tensor, matrix: torch.Tensor = matrix) -> torch.Tensor:
            if formula == "full":
                return symplectic.symplectic_attention(z, matrix, softmax=softmax)
            return shortcut_force(z, matrix, softmax)

        M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
        assert_close(found, M)
        assert_close(asymmetry, (M - M.mT).norm() / M.norm())

        def kick(
            q: torch.Tensor, p: torch.Tensor, force: Callable[..., torch.Tensor] = force
        ) -> tuple[torch.Tensor, torch.Tensor]:
            return q, p - step * force(q)

        assert_close(error, mechanics.symplecticity_error(kick, z, torch.zeros_like(z)))


@pytest.mark.parametrize("formula", ["full", "shortcut"])
def test_a_rollout_in_the_page_is_stoermer_verlet_with_the_chosen_force(
    javascript: Javascript, random: np.random.Generator, formula: str
):
    window, A = random.normal(size=(3, 2)), random.normal(size=(2, 2))
    dt, steps = 0.05, 200
    [found] = javascript(
        ATTENTION,
        "attentionRollout",
        [[window.tolist(), A.tolist(), "vector", formula, dt, steps]],
    )
    q, p, matrix = tensor(window), torch.zeros(3, 2, dtype=torch.float64), tensor(A)
    energies = []
    for _ in range(steps + 1):
        potential = symplectic.attention_potential(q, matrix, softmax="vector")
        energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
        for kick in (dt / 2, 0):
            force = (
                symplectic.symplectic_attention(q, matrix, softmax="vector")
                if formula == "full"
                else shortcut(q, matrix, "vector")
            )
            p = p - dt / 2 * (q + force)
            q = q + dt * p if kick else q
    assert_close(found["energy"], torch.stack(energies))


def test_no_force_at_all_is_symmetric(javascript: Javascript):
    nothing = [[0.0, 0.0], [0.0, 0.0]]
    assert javascript(ATTENTION, "relativeAsymmetry", [[nothing]]) == [0]
    assert javascript(ATTENTION, "asymmetries", [[nothing]]) == [nothing]
