"""Finite elements against integrals by hand and by SciPy, and the random rods they are used on."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from seeded import assert_close, randn
from torch import Tensor

from course_lib.basis import hat, interpolate
from course_lib.elliptic import CosineSeries, Rods, random_rods, random_series, solve

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


# Finite elements ------------------------------------------------------------------------------


@given(st.integers(3, 15), SEEDS)
def test_for_constant_conductivity_the_nodal_values_are_exact(count: int, seed: int) -> None:
    nodes, (a, b, c) = uneven(count, seed), randn(3, seed=seed).tolist()
    # u″ = −(a + b x + c x²)/2 with u = 0 at 0 and 1.
    x = nodes
    exact = (a * (x - x**2) / 2 + b * (x - x**3) / 6 + c * (x - x**4) / 12) / 2
    found = solve(lambda x: 2 * one(x), lambda x: a + b * x + c * x**2, nodes)
    assert_close(found, exact, 1e-11)


def test_between_the_nodes_the_solution_is_only_near() -> None:
    nodes = even(5)
    middle = (nodes[1:] + nodes[:-1]) / 2
    error = middle * (1 - middle) / 2 - interpolate(middle, nodes, solve(one, one, nodes))
    assert_close(error, torch.full((4,), 1 / 16 / 8, dtype=torch.float64))


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


def test_heat_lost_to_the_air_is_lost_from_every_rod() -> None:
    rods = random_rods(5, generator=torch.Generator().manual_seed(0))
    warm = solve(rods.conductivity, one, even(65))
    assert (solve(rods.conductivity, one, even(65), q=10)[:, 1:-1] < warm[:, 1:-1]).all()


def exact_flow(k: object, f: object, places: list[float]) -> Tensor:
    """What the equation says when it is integrated twice, by SciPy: k u' = C − F."""

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


@pytest.mark.parametrize("f", [one, torch.cos, lambda x: x.exp() - 2], ids=["1", "cos", "exp"])
def test_the_solution_is_that_of_the_equation_integrated_by_hand(f: object) -> None:
    nodes = even(401)
    found = solve(wavy, f, nodes)[[80, 200, 360]]
    assert_close(found, exact_flow(wavy, f, [0.2, 0.5, 0.9]), 1e-6)


def manufactured(x: Tensor) -> Tensor:
    """The load for which u = sin πx solves the equation with the wavy conductivity."""
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(torch.sin(math.pi * x).sum(), x, create_graph=True)
    (flow,) = torch.autograd.grad((wavy(x) * slope).sum(), x)
    return -flow.detach()


def integral(values: Tensor, x: Tensor) -> float:
    return torch.trapezoid(values, x).item()


def test_the_error_falls_as_h_squared_and_that_of_the_slope_as_h() -> None:
    x = even(100_001)[1:-1] + 1e-7  # on no node, where the slope jumps
    value, slope = [], []
    for elements in (8, 16, 32, 64):
        nodes = even(elements + 1)
        point = x.clone().requires_grad_()
        found = interpolate(point, nodes, solve(wavy, manufactured, nodes))
        (found_slope,) = torch.autograd.grad(found.sum(), point)
        error, exact_slope = found.detach() - torch.sin(math.pi * x), torch.cos(math.pi * x)
        value.append(math.sqrt(integral(error**2, x)))
        slope.append(math.sqrt(integral((found_slope - math.pi * exact_slope) ** 2, x)))
    rates = torch.tensor([value, slope], dtype=torch.float64).log2().diff()
    assert_close(rates[0], torch.full((3,), -2.0, dtype=torch.float64), 0.05)
    assert_close(rates[1], torch.full((3,), -1.0, dtype=torch.float64), 0.05)


def test_the_solution_has_the_least_energy_of_all_blends_of_hats() -> None:
    nodes, x = uneven(9), even(20_001)
    found = solve(wavy, torch.cos, nodes)

    def energy(values: Tensor) -> float:
        slope = (values.diff() / nodes.diff())[hat(x, nodes)[:, 1:].bool().int().argmax(-1)]
        blend = interpolate(x, nodes, values)
        return integral(wavy(x) * slope**2 / 2 - torch.cos(x) * blend, x)

    for seed in range(5):
        push = torch.nn.functional.pad(0.02 * randn(7, seed=seed), (1, 1))
        assert energy(found) < min(energy(found + push), energy(found - push))


def test_many_rods_are_solved_at_once_and_the_ends_are_kept_at_zero() -> None:
    rods = random_rods(6, generator=torch.Generator().manual_seed(0))
    nodes = uneven(12)
    together = rods.solve(nodes)
    assert together.shape == (6, 12)
    assert not together[:, [0, -1]].any()
    for rod, alone in enumerate(together):
        logarithm, load = rods.log_conductivity.coefficients[rod], rods.load.coefficients[rod]
        assert_close(Rods(CosineSeries(logarithm), CosineSeries(load)).solve(nodes), alone)


def test_one_conductivity_serves_many_loads() -> None:
    loads = random_series(4, generator=torch.Generator().manual_seed(0))
    together = solve(wavy, loads, even(9))
    assert together.shape == (4, 9)
    assert_close(solve(wavy, lambda x: 3 * loads(x), even(9)), 3 * together)


def test_three_nodes_are_one_equation() -> None:
    assert_close(solve(one, one, even(3)), torch.tensor([0, 1 / 8, 0], dtype=torch.float64))
    assert solve(one, one, even(3).float()).dtype == torch.float32


# Random rods ----------------------------------------------------------------------------------


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


def test_the_square_of_a_series_integrates_to_the_squares_of_its_coefficients() -> None:
    coefficients = randn(5, 9)
    square = CosineSeries(coefficients)(even(2001)) ** 2
    assert_close(torch.trapezoid(square, even(2001)), coefficients.square().sum(-1), 1e-9)


def test_random_fields_have_mean_zero_variance_one_and_the_stated_correlation() -> None:
    samples, x = 20_000, torch.tensor([0.5, 0.55, 0.6, 0.7], dtype=torch.float64)
    fields = random_series(samples, generator=torch.Generator().manual_seed(0))
    assert (fields.coefficients.mean(0).abs() < 5 * fields.coefficients.std(0) / samples**0.5).all()
    assert abs(fields.coefficients.square().sum(-1).mean() - 1) < 0.02
    correlation = torch.corrcoef(fields(x).T)[0]
    assert_close(correlation, torch.exp(-((x - 0.5) ** 2) / 2 / 0.1**2), 0.05)


def test_rods_are_the_same_for_the_same_seed_and_load_and_conductivity_differ() -> None:
    first, second = (random_rods(3, generator=torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(first.load.coefficients, second.load.coefficients)
    assert not torch.equal(first.load.coefficients, first.log_conductivity.coefficients)
    assert (first.conductivity(even(101)) > 0).all()


# Bad input ------------------------------------------------------------------------------------

N = even(5)
GENERATOR = torch.Generator()


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: solve(one, one, N.flip(0)), ValueError, r"nodes are out of order"),
        (lambda: solve(one, one, N[[0, 1, 1]]), ValueError, r"nodes are repeated"),
        (lambda: solve(one, one, N[:2]), ValueError, r"nodes holds 2; expected 3 or more"),
        (lambda: solve(one, one, N, q=-1), ValueError, r"q is -1; expected a finite number in \[0"),
        (lambda: solve(lambda x: -x, one, N), ValueError, r"k falls to -0.\d+; .*exponential"),
        (lambda: solve(one, lambda x: x / 0, N), ValueError, r"f returned nan or inf; .*isfinite"),
        (lambda: solve(one, lambda _: 1.0, N), TypeError, r"f is a float; expected a torch.Tensor"),
        (lambda: solve(lambda x: x[:3], one, N), ValueError, r"k has shape \(3,\); expected .*12"),
        (lambda: solve(one, torch.Tensor.float, N), TypeError, r"f has dtype torch.float32 and"),
        (lambda: CosineSeries(N)(N[None]), ValueError, r"x has shape \(1, 5\); expected \(points"),
        (lambda: CosineSeries([1.0]), TypeError, r"coefficients is a list"),
        (lambda: random_series(0, generator=GENERATOR), ValueError, r"samples is 0; expected 1 or"),
        (lambda: random_series(1, length=0, generator=GENERATOR), ValueError, r"length is 0; .*ab"),
        (lambda: random_rods(1, modes=0, generator=GENERATOR), ValueError, r"modes is 0; expected"),
    ],
)
def test_bad_input_is_told_what_was_given_and_what_to_do(
    call: object, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
