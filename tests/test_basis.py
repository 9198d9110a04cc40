"""Bases against NumPy, closed forms and attention, and against the claims made for them."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, randn
from torch import Tensor, nn
from torch.autograd import gradcheck

from course_lib.attention import attention, attention_weights
from course_lib.basis import (
    dropout,
    hat,
    hat_keys,
    interpolate,
    relu_nodes,
    softmax_basis,
    sparsemax,
    sparsemax_basis,
)

DTYPES = [torch.float32, torch.float64]
SEEDS = st.integers(0, 2**31)
TEMPERATURES = st.floats(1e-6, 1e6)


def uneven(count: int, seed: int = 0) -> Tensor:
    """Increasing nodes from -1 to 2, some of them close together."""
    generator = torch.Generator().manual_seed(seed)
    width = torch.rand(count - 1, generator=generator, dtype=torch.float64) ** 2 + 1e-3
    places = torch.cat([width.new_zeros(1), width.cumsum(0)])
    return -1 + 3 * places / places[-1]


def between(nodes: Tensor, count: int = 50, seed: int = 1) -> Tensor:
    """Points in between, and all nodes themselves."""
    generator = torch.Generator().manual_seed(seed)
    share = torch.rand(count, generator=generator, dtype=nodes.dtype)
    return torch.cat([nodes[0] + share * (nodes[-1] - nodes[0]), nodes]).clamp(nodes[0], nodes[-1])


def even(count: int) -> Tensor:
    return torch.linspace(0, 1, count, dtype=torch.float64)


# Hats -----------------------------------------------------------------------------------------


@given(st.integers(2, 12), SEEDS)
def test_interpolation_by_hats_is_that_of_numpy(count: int, seed: int) -> None:
    nodes = uneven(count, seed)
    x, values = between(nodes, seed=seed), randn(count, seed=seed)
    expected = np.interp(x.numpy(), nodes.numpy(), values.numpy())
    assert_close(interpolate(x, nodes, values), torch.as_tensor(expected))


@pytest.mark.parametrize("dtype", DTYPES)
@given(count=st.integers(2, 12), seed=SEEDS)
def test_hats_are_attention_weights_not_negative_and_summing_to_one(
    dtype: torch.dtype, count: int, seed: int
) -> None:
    nodes = uneven(count, seed).to(dtype)
    weights = hat(between(nodes, seed=seed), nodes)
    assert weights.dtype == dtype
    assert (weights >= 0).all()
    assert_close(weights.sum(dim=-1), torch.ones(50 + count, dtype=dtype), torch.finfo(dtype).eps)


@given(st.integers(2, 12), SEEDS)
def test_a_hat_is_one_at_its_own_node_and_zero_at_all_others(count: int, seed: int) -> None:
    nodes = uneven(count, seed)
    assert torch.equal(hat(nodes, nodes), torch.eye(count, dtype=torch.float64))


def test_no_point_gives_weight_to_more_than_two_nodes_and_these_are_neighbours() -> None:
    nodes = uneven(9)
    weights = hat(between(nodes), nodes)
    first, last = (weights > 0).int().argmax(-1), 8 - (weights > 0).flip(-1).int().argmax(-1)
    assert set((last - first).tolist()) == {0, 1}


@given(st.integers(2, 12), SEEDS, st.floats(-3, 3), st.floats(-3, 3))
def test_hats_are_exact_for_linear_functions(count: int, seed: int, a: float, b: float) -> None:
    nodes = uneven(count, seed)
    x = between(nodes, seed=seed)
    assert_close(interpolate(x, nodes, a * nodes + b), a * x + b)


def test_the_error_of_hats_falls_with_the_square_of_the_distance_of_nodes() -> None:
    x = even(4001)
    error = [
        (interpolate(x, even(n + 1), torch.sin(3 * even(n + 1))) - torch.sin(3 * x)).abs().max()
        for n in (20, 40, 80, 160)
    ]
    rate = torch.stack(error).log2().diff()
    assert_close(rate, torch.full((3,), -2.0, dtype=torch.float64), 0.02)
    # The classical bound, h²/8 times the largest second derivative, is nearly reached.
    assert 0.95 < error[-1] / (9 / 8 / 160**2) <= 1


def test_hats_can_be_differentiated_in_points_and_in_nodes() -> None:
    nodes = uneven(5).requires_grad_()
    x = torch.tensor([-0.9, 0.1, 0.77, 1.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(hat, (x, nodes))


def test_the_slope_of_the_blend_is_that_of_the_chord() -> None:
    nodes, values = uneven(6), randn(6)
    x = ((nodes[1:] + nodes[:-1]) / 2).requires_grad_()
    (slope,) = torch.autograd.grad(interpolate(x, nodes, values).sum(), x)
    assert_close(slope, values.diff() / nodes.diff())


def test_no_points_are_no_weights() -> None:
    assert hat(even(0), even(3)).shape == (0, 3)
    assert softmax_basis(even(0), even(3), 1).shape == (0, 3)


# The softmax basis ----------------------------------------------------------------------------


@given(st.integers(1, 8), SEEDS, TEMPERATURES)
def test_the_softmax_basis_is_a_normalised_gaussian(
    count: int, seed: int, temperature: float
) -> None:
    nodes, x = randn(count, seed=seed), randn(7, seed=seed + 1)
    score = -((x[:, None] - nodes).square().numpy()) / temperature
    gauss = np.exp(score - score.max(axis=-1, keepdims=True))
    expected = gauss / gauss.sum(axis=-1, keepdims=True)
    assert_close(softmax_basis(x, nodes, temperature), torch.as_tensor(expected), 1e-8)


@given(st.integers(1, 8), SEEDS, st.floats(0.01, 100))
def test_the_softmax_basis_is_attention_with_a_scale_and_a_bias(
    count: int, seed: int, temperature: float
) -> None:
    nodes, x, values = randn(count, seed=seed), randn(7, seed=seed + 1), randn(count, 3, seed=seed)
    basis = partial(softmax_basis, temperature=temperature)
    as_attention = {
        "query": x[:, None],
        "key": nodes[:, None],
        "bias": (-nodes.square() / temperature).expand(7, count),
        "scale": 2 / temperature,
    }
    assert_close(basis(x, nodes), attention_weights(**as_attention), 1e-9)
    blended = attention(**as_attention, value=values)
    assert_close(interpolate(x, nodes, values, basis), blended, 1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@given(temperature=TEMPERATURES)
def test_the_softmax_basis_is_not_negative_and_sums_to_one(
    dtype: torch.dtype, temperature: float
) -> None:
    nodes = uneven(9).to(dtype)
    weights = softmax_basis(between(nodes), nodes, temperature)
    assert weights.dtype == dtype
    assert (weights >= 0).all()
    tolerance = 9 * torch.finfo(dtype).eps
    assert_close(weights.sum(dim=-1), torch.ones(59, dtype=dtype), tolerance)


@given(st.integers(2, 8), SEEDS, TEMPERATURES)
def test_the_order_of_nodes_does_not_matter_to_a_softmax(
    count: int, seed: int, temperature: float
) -> None:
    nodes, x = randn(count, seed=seed), randn(5, seed=seed + 1)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    basis = partial(softmax_basis, temperature=temperature)
    assert_close(basis(x, nodes[order]), basis(x, nodes)[:, order], 1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("basis", [softmax_basis, sparsemax_basis])
@pytest.mark.parametrize("temperature", [1e-6, 1e-37])
def test_without_temperature_the_nearest_node_gets_all_and_the_nearest_share(
    basis: object, temperature: float, dtype: torch.dtype
) -> None:
    nodes = torch.tensor([0.0, 1.0, 3.0], dtype=dtype)
    x = torch.tensor([-9.0, 0.25, 0.5, 0.75, 2.0, 2.5, 1e6], dtype=dtype)
    expected = [[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1], [0, 0, 1]]
    assert torch.equal(basis(x, nodes, temperature), torch.tensor(expected, dtype=dtype))


@pytest.mark.parametrize("temperature", [1e9, 1e38])
def test_at_great_temperature_all_nodes_get_the_same_and_the_blend_is_the_mean(
    temperature: float,
) -> None:
    nodes, values = uneven(7), randn(7)
    weights = softmax_basis(between(nodes), nodes, temperature)
    assert_close(weights, torch.full_like(weights, 1 / 7), 1e-7)
    blended = interpolate(
        between(nodes), nodes, values, partial(softmax_basis, temperature=temperature)
    )
    assert_close(blended, values.mean().expand(57), 1e-7)


@given(SEEDS, st.floats(0.01, 10))
def test_the_slope_of_a_softmax_blend_is_the_covariance_of_nodes_and_values(
    seed: int, temperature: float
) -> None:
    nodes, values = uneven(6, seed), randn(6, seed=seed)
    x = between(nodes, seed=seed).requires_grad_()
    basis = partial(softmax_basis, temperature=temperature)
    (slope,) = torch.autograd.grad(interpolate(x, nodes, values, basis).sum(), x)
    weights = basis(x, nodes).detach()
    covariance = weights @ (nodes * values) - (weights @ nodes) * (weights @ values)
    assert_close(slope, 2 / temperature * covariance, 1e-8)


def test_a_softmax_blend_can_be_differentiated_in_points_and_in_nodes() -> None:
    nodes = uneven(4).requires_grad_()
    x = torch.tensor([-2.0, 0.1, 5.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, nodes: softmax_basis(x, nodes, 0.3), (x, nodes))


def test_the_softmax_basis_blurs_as_heat_does() -> None:
    # With nodes closer than the kernel is wide, it is a Gaussian of variance τ/2, which takes
    # sin ωx to e^(−ω²τ/4) sin ωx.
    nodes = torch.linspace(-4, 4, 801, dtype=torch.float64)
    x, temperature = torch.linspace(-1, 1, 51, dtype=torch.float64), 0.01
    blurred = interpolate(
        x, nodes, torch.sin(5 * nodes), partial(softmax_basis, temperature=temperature)
    )
    assert_close(blurred, math.exp(-25 * temperature / 4) * torch.sin(5 * x))


def blurred_sine(elements: int, temperature: float, x: Tensor) -> float:
    """The largest error at the points ``x`` of a softmax blend of sin 3x on even nodes."""
    nodes = even(elements + 1)
    basis = partial(softmax_basis, temperature=temperature)
    blend = interpolate(x, nodes, torch.sin(3 * nodes), basis)
    return (blend - torch.sin(3 * x)).abs().max().item()


def rates(errors: list[float]) -> Tensor:
    return torch.tensor(errors, dtype=torch.float64).log2().diff()


INNER = torch.linspace(0.3, 0.7, 1001, dtype=torch.float64)


def test_at_a_fixed_temperature_finer_nodes_do_not_help_the_softmax_basis() -> None:
    errors = [blurred_sine(n, 0.01, INNER) for n in (32, 64, 128, 256)]
    assert_close(rates(errors), torch.zeros(3, dtype=torch.float64), 1e-3)
    # What remains is the blur.
    highest = torch.sin(3 * INNER).max().item()
    assert_close(errors[-1], (1 - math.exp(-9 * 0.01 / 4)) * highest, 1e-5)


@pytest.mark.parametrize(("power", "rate"), [(1, 1), (1.5, 1.5), (3, 1)])
def test_inside_the_softmax_basis_converges_no_faster_than_its_temperature(
    power: float, rate: float
) -> None:
    errors = [blurred_sine(n, n**-power, INNER) for n in (64, 128, 256, 512)]
    assert_close(rates(errors), torch.full((3,), -float(rate), dtype=torch.float64), 0.1)


def test_between_nodes_the_softmax_basis_ripples_as_poisson_summation_says() -> None:
    h, temperature = 0.01, 0.5 * 0.01**2
    nodes, x = even(101), torch.linspace(0.45, 0.55, 401, dtype=torch.float64)
    drift = softmax_basis(x, nodes, temperature) @ nodes - x
    height = 2 * math.pi * temperature / h * math.exp(-(math.pi**2) * temperature / h**2)
    ripple = -height * torch.sin(2 * math.pi * x / h)
    assert_close(drift / height, ripple / height, 0.02)


def test_at_the_ends_the_softmax_basis_looks_inside() -> None:
    for temperature in (0.01, 0.0025):
        (drift,) = softmax_basis(even(1)[:1], even(2001), temperature) @ even(2001)
        assert_close(drift / math.sqrt(temperature / math.pi), drift.new_tensor(1.0), 0.01)


# The sparsemax basis --------------------------------------------------------------------------


def by_bisection(score: Tensor) -> Tensor:
    """The sparsemax of one row by its threshold, found as the zero of a falling function."""
    low, high = score.min() - 1, score.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if (score - middle).clamp(min=0).sum() > 1 else (low, middle)
    return (score - low).clamp(min=0)


@given(st.integers(1, 9), SEEDS, st.floats(0.01, 100))
def test_a_sparsemax_is_the_nearest_distribution(count: int, seed: int, scale: float) -> None:
    score = scale * randn(4, count, seed=seed)
    share = sparsemax(score)
    assert_close(share, torch.stack([by_bisection(row) for row in score]), 1e-9)
    assert_close(share.sum(dim=-1), torch.ones(4, dtype=torch.float64))
    # The condition of Karush, Kuhn and Tucker: nothing that moves share about comes nearer.
    other = randn(4, count, seed=seed + 1).softmax(-1)
    assert (((score - share) * (other - share)).sum(dim=-1) <= 1e-9 * scale).all()


def test_a_sparsemax_hides_what_a_mask_hides_and_can_be_differentiated() -> None:
    hidden = torch.tensor([0.3, -math.inf, 0.1], dtype=torch.float64)
    assert_close(sparsemax(hidden), torch.tensor([0.6, 0, 0.4], dtype=torch.float64))
    score = torch.tensor([[0.3, 0.1, -0.2, -3.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(sparsemax, (score,))


@given(st.integers(2, 40), SEEDS)
def test_on_even_nodes_hats_are_a_sparsemax_of_squared_distances(count: int, seed: int) -> None:
    nodes = 3 * even(count) - 1
    x = between(nodes, seed=seed)
    assert_close(sparsemax_basis(x, nodes, (3 / (count - 1)) ** 2), hat(x, nodes), 1e-10)


@given(st.integers(2, 12), SEEDS)
def test_on_any_nodes_hats_are_a_sparsemax_of_query_times_key(count: int, seed: int) -> None:
    nodes = uneven(count, seed)
    x = between(nodes, seed=seed)
    key, bias = hat_keys(nodes)
    assert_close(sparsemax(x[:, None] * key + bias), hat(x, nodes), 1e-9)


def test_a_softmax_of_the_same_scores_is_no_hat() -> None:
    nodes = even(5)
    x = between(nodes)
    key, bias = hat_keys(nodes)
    assert ((x[:, None] * key + bias).softmax(-1) - hat(x, nodes)).abs().max() > 0.1


# ReLU networks --------------------------------------------------------------------------------


def relu_network(*widths: int, seed: int = 0) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers = [nn.Linear(1, widths[0])]
        for d_in, d_out in zip(widths, (*widths[1:], 2), strict=True):
            layers += [nn.ReLU(), nn.Linear(d_in, d_out)]
    return nn.Sequential(*layers).double().requires_grad_(requires_grad=False)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), SEEDS)
def test_a_relu_network_is_the_interpolant_of_its_own_nodes(widths: list, seed: int) -> None:
    network = relu_network(*widths, seed=seed)
    nodes = relu_nodes(network, -3, 4)
    assert nodes[0] == -3
    assert nodes[-1] == 4
    x = torch.linspace(-3, 4, 501, dtype=torch.float64)
    assert_close(interpolate(x, nodes, network(nodes[:, None])), network(x[:, None]))


def test_the_nodes_of_one_hidden_layer_are_where_its_units_switch() -> None:
    network = relu_network(9)
    (weight, bias) = network[0].weight.squeeze(-1), network[0].bias
    switch = (-bias / weight).sort().values
    inside = switch[(switch > -3) & (switch < 4)]
    assert_close(relu_nodes(network, -3, 4)[1:-1], inside)


def test_two_layers_bend_in_more_places_than_they_have_units() -> None:
    # |x| − ½ and again its absolute value: each layer of two units doubles the teeth.
    fold = [nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)]
    network = nn.Sequential(*fold, *[nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1)] * 2).double()
    with torch.no_grad():
        for layer in network:
            if isinstance(layer, nn.Linear):
                layer.weight.copy_(
                    torch.tensor([[1.0], [-1.0]] if layer.in_features == 1 else [[1.0, 1.0]])
                )
                layer.bias.zero_()
        network[2].bias.fill_(-0.5)
        network[5].bias.fill_(-0.25)
    expected = torch.tensor([-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1], dtype=torch.float64)
    assert_close(relu_nodes(network, -1, 1), expected)


def test_a_unit_that_never_switches_makes_no_node() -> None:
    network = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    with torch.no_grad():
        network[0].weight.zero_()
        network[0].bias.copy_(torch.tensor([1.0, -1.0]))
    assert relu_nodes(network, 0, 1).tolist() == [0, 1]


# Dropout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_keeps_the_mean_and_adds_the_variance_that_is_computed(p: float) -> None:
    x, samples = torch.tensor([-2.0, 0.5, 3.0], dtype=torch.float64), 200_000
    dropped = dropout(x.expand(samples, 3), p, generator=torch.Generator().manual_seed(0))
    variance = x.square() * p / (1 - p)
    # Five standard errors; that of a variance comes from the fourth moment of two values.
    mean_error = (variance / samples).sqrt()
    fourth = x**4 * (p + (p / (1 - p)) ** 4 * (1 - p))
    variance_error = ((fourth - variance.square()).clamp(min=1e-9) / samples).sqrt()
    assert ((dropped.mean(dim=0) - x).abs() < 5 * mean_error).all()
    assert ((dropped.var(dim=0) - variance).abs() < 5 * variance_error + 1e-3 * variance).all()


def test_what_dropout_keeps_is_lifted_and_the_rest_is_zero() -> None:
    x = randn(1000) + 5
    dropped = dropout(x, 0.25, generator=torch.Generator().manual_seed(0))
    kept = dropped != 0
    assert_close(dropped[kept], x[kept] / 0.75)
    assert 700 < kept.sum() < 800


def test_dropout_of_nothing_changes_nothing() -> None:
    x = randn(50)
    assert torch.equal(dropout(x, 0, generator=torch.Generator()), x)


def test_dropout_decides_for_each_number_alone() -> None:
    dropped = dropout(torch.ones(100_000, 2), 0.5, generator=torch.Generator().manual_seed(0))
    both = (dropped > 0).all(dim=-1).float().mean()
    assert abs(both - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 100_000)


def test_dropout_is_the_same_for_the_same_generator_and_leaves_the_other_alone() -> None:
    state = torch.get_rng_state()
    first, second = (
        dropout(randn(50), 0.5, generator=torch.Generator().manual_seed(7)) for _ in range(2)
    )
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)


def test_dropout_passes_gradients_to_what_it_kept() -> None:
    x = randn(30).requires_grad_()
    dropped = dropout(x, 0.5, generator=torch.Generator().manual_seed(0))
    (gradient,) = torch.autograd.grad(dropped.sum(), x)
    assert torch.equal(gradient, 2.0 * (dropped != 0))


# Bad input ------------------------------------------------------------------------------------

N = torch.tensor([0.0, 1.0, 3.0])
X = torch.tensor([0.5, 2.0])
GENERATOR = torch.Generator()


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hat(X, N.flip(0)), ValueError, r"out of order: node 1 is 1, after 3; .*unique"),
        (lambda: hat(X, N[[0, 1, 1]]), ValueError, r"nodes are repeated: node 2 is 1, after 1"),
        (lambda: hat(X, N[:1]), ValueError, r"nodes holds 1; expected 2 or more; add nodes"),
        (lambda: hat(X, N / 0), ValueError, r"nodes holds nan or inf; expected finite"),
        (lambda: hat(X, N[None]), ValueError, r"nodes has shape \(1, 3\); expected \(nodes,\)"),
        (lambda: hat(X, [0, 1]), TypeError, r"nodes is a list; .*as_tensor\(nodes\)"),
        (lambda: hat(X, N.long()), TypeError, r"nodes has dtype torch.int64; .*floating"),
        (lambda: hat(X.double(), N), TypeError, r"x has dtype torch.float64 and nodes has"),
        (lambda: hat(X[None], N), ValueError, r"x has shape \(1, 2\); expected \(points,\)"),
        (lambda: hat(X + 2, N), ValueError, r"x holds 4; expected points in \[0, 3\], between"),
        (lambda: hat(X - 1, N), ValueError, r"x holds -0.5; .*move the point, or add a node"),
        (lambda: hat(X * math.nan, N), ValueError, r"x holds nan; expected points in \[0, 3\]"),
        (lambda: hat_keys(N.flip(0)), ValueError, r"nodes are out of order"),
        (lambda: softmax_basis(X, N, 0), ValueError, r"temperature is 0; .*above 0"),
        (lambda: softmax_basis(X, N, -1), ValueError, r"temperature is -1; .*above 0"),
        (lambda: softmax_basis(X, N, 1e-50), ValueError, r"temperature is 1e-50; .*above 0 in"),
        (lambda: softmax_basis(X, N, math.inf), ValueError, r"temperature is inf; expected a fin"),
        (lambda: softmax_basis(X, N, "warm"), TypeError, r"temperature is a str; expected a num"),
        (lambda: softmax_basis(X, N[:0], 1), ValueError, r"nodes is empty; expected one node"),
        (lambda: softmax_basis(X, N * math.nan, 1), ValueError, r"nodes holds nan or inf"),
        (lambda: softmax_basis(X / 0, N, 1), ValueError, r"x holds nan or inf"),
        (lambda: softmax_basis(X[None], N, 1), ValueError, r"x has shape \(1, 2\); expected \(po"),
        (lambda: sparsemax_basis(X, N, -2), ValueError, r"temperature is -2; .*above 0"),
        (lambda: sparsemax(N * math.nan), ValueError, r"score holds nan or \+inf"),
        (lambda: sparsemax(N[:0]), ValueError, r"key"),
        (lambda: sparsemax(torch.full((3,), -math.inf)), ValueError, r"look"),
        (lambda: interpolate(X, N, N[:2]), ValueError, r"values has shape \(2,\); .*nodes = 3;"),
        (lambda: interpolate(X, N, N[:, None, None]), ValueError, r"values has shape \(3, 1, 1\)"),
        (lambda: interpolate(X, N, N.double()), TypeError, r"values has dtype torch.float64"),
        (lambda: dropout(N, 1, generator=GENERATOR), ValueError, r"p is 1; expected .* \[0, 1\)"),
        (lambda: dropout(N, -0.1, generator=GENERATOR), ValueError, r"p is -0.1; .*in \[0, 1\)"),
        (lambda: dropout(N, 1.5, generator=GENERATOR), ValueError, r"p is 1.5; .*in \[0, 1\)"),
        (
            lambda: dropout(N, p=True, generator=GENERATOR),
            TypeError,
            r"p is a bool; expected a num",
        ),
        (lambda: dropout(N.long(), 0.5, generator=GENERATOR), TypeError, r"x has dtype torch.int"),
        (lambda: relu_nodes(nn.Linear(1, 1), 0, 1), TypeError, r"network is a Linear; .*Sequent"),
        (lambda: relu_nodes(nn.Sequential(), 0, 1), ValueError, r"network begins with None"),
        (lambda: relu_nodes(nn.Sequential(nn.Linear(2, 1)), 0, 1), ValueError, r"in_features=2"),
        (
            lambda: relu_nodes(nn.Sequential(nn.Linear(1, 1), nn.GELU()), 0, 1),
            TypeError,
            r"a layer GELU; .*not be piecewise linear",
        ),
        (
            lambda: relu_nodes(nn.Sequential(nn.Linear(1, 1)), 1, 1),
            ValueError,
            r"low is 1 and high is 1; expected low < high",
        ),
    ],
)
def test_bad_input_is_told_what_was_given_and_what_to_do(
    call: object, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
