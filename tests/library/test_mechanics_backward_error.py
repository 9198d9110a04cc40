import math

import numpy as np
import pytest
import torch
from scipy.linalg import expm, logm

from course_lib.mechanics import (
    Pendulum,
    TrigonometricPolynomial,
    bch,
    modified_pendulum,
    poisson_bracket,
    symplectic_euler,
)


def commutator(a, b):
    return a @ b - b @ a


def states(count=20, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.rand(2, count, 1, generator=generator, dtype=torch.float64) - 1


def real(seed):
    """A real function: the coefficients of k and -k are conjugate."""
    parts = np.random.default_rng(seed).normal(size=(2, 3, 5))
    c = parts[0] + 1j * parts[1]
    return TrigonometricPolynomial((c + c[:, ::-1].conj()) / 2)


def change(method, energy, h):
    """The largest change of an energy in one step."""
    q, p = states()
    new_q, new_p = method(Pendulum(), q, p, h)
    return (energy(new_q, new_p) - energy(q, p)).abs().max().item()


def test_the_series_of_two_matrices_is_the_logarithm_of_the_product_of_their_exponentials():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(2, 3, 3))
    t = 0.1
    terms = bch(X, Y, 12, bracket=commutator)
    series = sum(t**n * term for n, term in enumerate(terms, start=1))
    np.testing.assert_allclose(series, logm(expm(t * X) @ expm(t * Y)), atol=1e-10)


def test_a_polynomial_is_the_sum_of_its_terms():
    c = np.random.default_rng(2).normal(size=(3, 5)) + 0j
    q, p = states(4)
    expected = sum(
        c[a, k + 2] * p.numpy()[:, 0] ** a * np.exp(1j * k * q.numpy()[:, 0])
        for a in range(3)
        for k in range(-2, 3)
    )
    found = TrigonometricPolynomial(c)(q, p)
    np.testing.assert_allclose(found, expected.real)


def test_the_bracket_is_that_of_autograd():
    f, g = real(3), real(4)
    q, p = (part.clone().requires_grad_() for part in states())
    f_q, f_p = torch.autograd.grad(f(q, p).sum(), (q, p))
    g_q, g_p = torch.autograd.grad(g(q, p).sum(), (q, p))
    expected = (f_q * g_p - f_p * g_q)[:, 0]
    torch.testing.assert_close(poisson_bracket(f, g)(q, p), expected)


def test_the_first_three_terms_of_the_pendulum_are_those_of_the_book():
    q, p = states()
    H, H_2, H_3 = modified_pendulum(3)
    sin, cos, p_1 = q.sin()[:, 0], q.cos()[:, 0], p[:, 0]
    torch.testing.assert_close(H(q, p), Pendulum().energy(q, p))
    torch.testing.assert_close(H_2(q, p), -sin * p_1 / 2)
    torch.testing.assert_close(H_3(q, p), (sin**2 + cos * p_1**2) / 12)


def test_one_step_of_symplectic_euler_changes_n_terms_by_order_n_plus_one():
    for terms in [1, 3, 6]:
        changes = []
        for h in (0.04, 0.02):
            parts = [h**n * term for n, term in enumerate(modified_pendulum(terms))]
            changes.append(change(symplectic_euler, sum(parts[1:], start=parts[0]), h))
        assert math.log2(changes[0] / changes[1]) == pytest.approx(terms + 1, abs=0.2)
