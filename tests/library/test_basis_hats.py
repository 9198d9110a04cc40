"""Bases against NumPy, closed forms and attention."""

import math
from functools import partial

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn
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


def uneven(count: int, seed: int = 0) -> Tensor:
    """Increasing nodes from -1 to 2, some of them close together."""
    generator = torch.Generator().manual_seed(seed)
    width = torch.rand(count - 1, generator=generator, dtype=torch.float64) ** 2 + 1e-3
    places = torch.cat([width.new_zeros(1), width.cumsum(0)])
    return -1 + 3 * places / places[-1]


def between(nodes: Tensor, count: int = 50, seed: int = 1) -> Tensor:
    """Points between nodes, and the nodes themselves."""
    generator = torch.Generator().manual_seed(seed)
    share = torch.rand(count, generator=generator, dtype=nodes.dtype)
    return torch.cat([nodes[0] + share * (nodes[-1] - nodes[0]), nodes]).clamp(nodes[0], nodes[-1])


@given(st.integers(2, 12), SEEDS)
def test_interpolation_by_hats_is_that_of_numpy(count: int, seed: int) -> None:
    nodes = uneven(count, seed)
    x, values = between(nodes, seed=seed), randn(count, seed=seed)
    expected = np.interp(x.numpy(), nodes.numpy(), values.numpy())
    assert_close(interpolate(x, nodes, values), torch.as_tensor(expected))


def test_hats_can_be_differentiated_in_points_and_in_nodes() -> None:
    nodes = uneven(5).requires_grad_()
    x = torch.tensor([-0.9, 0.1, 0.77, 1.5], dtype=torch.float64, requires_grad=True)
    assert gradcheck(hat, (x, nodes))


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


def test_without_temperature_the_nearest_node_gets_all_and_the_nearest_share() -> None:
    for dtype in DTYPES:
        for basis in [softmax_basis, sparsemax_basis]:
            for temperature in [1e-6, 1e-37]:
                nodes = torch.tensor([0.0, 1.0, 3.0], dtype=dtype)
                x = torch.tensor([-9.0, 0.25, 0.5, 0.75, 2.0, 2.5, 1e6], dtype=dtype)
                expected = [
                    [1, 0, 0],
                    [1, 0, 0],
                    [0.5, 0.5, 0],
                    [0, 1, 0],
                    [0, 0.5, 0.5],
                    [0, 0, 1],
                    [0, 0, 1],
                ]
                assert torch.equal(
                    basis(x, nodes, temperature), torch.tensor(expected, dtype=dtype)
                )


def test_a_softmax_blend_can_be_differentiated_in_points_and_in_nodes() -> None:
    nodes = uneven(4).requires_grad_()
    x = torch.tensor([-2.0, 0.1, 5.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, nodes: softmax_basis(x, nodes, 0.3), (x, nodes))


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
    # The Karush-Kuhn-Tucker conditions of the nearest distribution.
    other = randn(4, count, seed=seed + 1).softmax(-1)
    assert (((score - share) * (other - share)).sum(dim=-1) <= 1e-9 * scale).all()


def test_a_sparsemax_respects_its_mask_and_can_be_differentiated() -> None:
    hidden = torch.tensor([0.3, -math.inf, 0.1], dtype=torch.float64)
    assert_close(sparsemax(hidden), torch.tensor([0.6, 0, 0.4], dtype=torch.float64))
    score = torch.tensor([[0.3, 0.1, -0.2, -3.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(sparsemax, (score,))


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


def test_a_unit_that_never_switches_makes_no_node() -> None:
    network = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    with torch.no_grad():
        network[0].weight.zero_()
        network[0].bias.copy_(torch.tensor([1.0, -1.0]))
    assert relu_nodes(network, 0, 1).tolist() == [0, 1]


def test_dropout_keeps_the_mean_and_adds_the_variance_that_is_computed() -> None:
    for p in [0.1, 0.5, 0.9]:
        x, samples = torch.tensor([-2.0, 0.5, 3.0], dtype=torch.float64), 200_000
        dropped = dropout(x.expand(samples, 3), p, generator=torch.Generator().manual_seed(0))
        variance = x.square() * p / (1 - p)
        # Five standard errors; that of a variance comes from the fourth moment of two values.
        mean_error = (variance / samples).sqrt()
        fourth = x**4 * (p + (p / (1 - p)) ** 4 * (1 - p))
        variance_error = ((fourth - variance.square()).clamp(min=1e-9) / samples).sqrt()
        assert ((dropped.mean(dim=0) - x).abs() < 5 * mean_error).all()
        assert ((dropped.var(dim=0) - variance).abs() < 5 * variance_error + 1e-3 * variance).all()


def test_dropout_is_the_same_for_the_same_generator_and_leaves_the_other_alone() -> None:
    state = torch.get_rng_state()
    first, second = (
        dropout(randn(50), 0.5, generator=torch.Generator().manual_seed(7)) for _ in range(2)
    )
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)


@given(st.integers(2, 12), SEEDS)
def test_on_any_nodes_hats_are_a_sparsemax_of_query_times_key(count: int, seed: int) -> None:
    nodes = uneven(count, seed)
    x = between(nodes, seed=seed)
    key, bias = hat_keys(nodes)
    assert_close(sparsemax(x[:, None] * key + bias), hat(x, nodes), 1e-9)
