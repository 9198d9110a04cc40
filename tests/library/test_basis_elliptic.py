"""Finite elements against integrals by hand and by SciPy, and the random rods they are used on."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from seeded_tensors import assert_close, randn
from torch import Tensor

from course_lib.basis import CosineSeries, Rods, random_rods, random_series, solve

SEEDS = st.integers(0, 2**31)


def even(count: int) -> Tensor:
    return torch.linspace(0, 1, count, dtype=torch.float64)


def uneven(count: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    width = torch.rand(count - 1, generator=generator, dtype=torch.float64) + 0.05
    places = torch.cat([width.new_zeros(1), width.cumsum(0)])
    return places / places[-1]


def one(x: Tensor) -> Tensor:
    return torch.ones_like(x)


def wavy(x: Tensor) -> Tensor:
    return 2 + torch.sin(5 * x)


@settings(max_examples=20)
@given(st.integers(3, 15), SEEDS)
def test_for_constant_conductivity_the_nodal_values_are_exact(count: int, seed: int) -> None:
    nodes, (a, b, c) = uneven(count, seed), randn(3, seed=seed).tolist()
    # u″ = −(a + b x + c x²)/2 with u = 0 at 0 and 1.
    x = nodes
    exact = (a * (x - x**2) / 2 + b * (x - x**3) / 6 + c * (x - x**4) / 12) / 2
    found = solve(lambda x: 2 * one(x), lambda x: a + b * x + c * x**2, nodes)
    assert_close(found, exact, 1e-11)


def test_a_rod_that_loses_heat_to_the_air_follows_its_closed_form_at_order_h_squared() -> None:
    # −2u″ + 8u = 8 with u = 0 at the ends: u = 1 − cosh(2x − 1) / cosh 1.
    errors = []
    for count in (17, 33):
        nodes = even(count)
        found = solve(lambda x: 2 * one(x), lambda x: 8 * one(x), nodes, q=8)
        exact = 1 - torch.cosh(2 * nodes - 1) / math.cosh(1)
        errors.append((found - exact).abs().max().item())
    assert errors[0] < 1e-3
    assert abs(errors[0] / errors[1] - 4) < 0.05


def exact_flow(k: object, f: object, places: list[float]) -> Tensor:
    """The equation integrated twice, by SciPy: k u' = C − F."""

    def at(function: object, x: float) -> float:
        return function(torch.tensor([x], dtype=torch.float64)).item()

    def heat(x: float) -> float:
        return quad(lambda s: at(f, s), 0, x, epsabs=1e-11)[0]

    resistance = quad(lambda x: 1 / at(k, x), 0, 1, epsabs=1e-11)[0]
    flow = quad(lambda x: heat(x) / at(k, x), 0, 1, epsabs=1e-10)[0] / resistance
    return torch.tensor(
        [quad(lambda s: (flow - heat(s)) / at(k, s), 0, x, epsabs=1e-10)[0] for x in places],
        dtype=torch.float64,
    )


@pytest.mark.parametrize("f", [torch.cos, lambda x: x.exp() - 2], ids=["cos", "exp"])
def test_the_solution_equals_the_equation_integrated_with_scipy(f: object) -> None:
    nodes = even(401)
    found = solve(wavy, f, nodes)[[80, 200, 360]]
    assert_close(found, exact_flow(wavy, f, [0.2, 0.5, 0.9]), 1e-6)


def test_many_rods_are_solved_at_once_and_the_ends_are_kept_at_zero() -> None:
    rods = random_rods(6, generator=torch.Generator().manual_seed(0))
    nodes = uneven(12)
    together = rods.solve(nodes)
    assert together.shape == (6, 12)
    assert not together[:, [0, -1]].any()
    for rod, alone in enumerate(together):
        logarithm, load = rods.log_conductivity.coefficients[rod], rods.load.coefficients[rod]
        assert_close(Rods(CosineSeries(logarithm), CosineSeries(load)).solve(nodes), alone)


def test_a_series_is_the_sum_of_its_cosines() -> None:
    coefficients = randn(2, 3)
    x = torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64)
    expected = [
        [
            a + math.sqrt(2) * (b * math.cos(math.pi * p) + c * math.cos(2 * math.pi * p))
            for p in x.tolist()
        ]
        for a, b, c in coefficients.tolist()
    ]
    assert_close(CosineSeries(coefficients)(x), torch.tensor(expected, dtype=torch.float64))


def test_random_fields_have_mean_zero_variance_one_and_the_stated_correlation() -> None:
    samples, x = 20_000, torch.tensor([0.5, 0.55, 0.6, 0.7], dtype=torch.float64)
    fields = random_series(samples, generator=torch.Generator().manual_seed(0))
    assert (fields.coefficients.mean(0).abs() < 5 * fields.coefficients.std(0) / samples**0.5).all()
    assert abs(fields.coefficients.square().sum(-1).mean() - 1) < 0.02
    correlation = torch.corrcoef(fields(x).T)[0]
    assert_close(correlation, torch.exp(-((x - 0.5) ** 2) / 2 / 0.1**2), 0.05)
