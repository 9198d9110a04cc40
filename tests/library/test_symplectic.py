import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from seeded_tensors import assert_close, jacobian, randn, randomized
from torch import nn

from course_lib.mechanics import symplecticity_error
from course_lib.symplectic import (
    GradientLayer,
    LiePoissonLayer,
    LiePoissonNet,
    LinearSymplecticAttention,
    SymplecticAttention,
    SymplecticTransformer,
    SympNet,
    VolumePreservingAttention,
    VolumePreservingLayer,
    VolumePreservingTransformer,
    attention_potential,
    symplectic_attention,
)

SOFTMAX = ("matrix", "vector")
TOKENS, D = 4, 3


def matrix(*, symmetric, seed=5):
    A = randn(D, D, seed=seed)
    return (A + A.T) / 2 if symmetric else A


def gradient_of(potential, z):
    z = z.clone().requires_grad_()
    return torch.autograd.grad(potential(z).sum(), z)[0]


LAYERS = {
    f"{type(layer).__name__} {note} {layer.update}": randomized(layer)
    for update in ("q", "p")
    for note, layer in [
        ("matrix", SymplecticAttention(D, update=update)),
        ("vector", SymplecticAttention(D, update=update, softmax="vector")),
        ("general matrix", SymplecticAttention(D, update=update, symmetric=False)),
        (
            "general vector",
            SymplecticAttention(D, update=update, softmax="vector", symmetric=False),
        ),
        ("", LinearSymplecticAttention(TOKENS, update=update)),
        ("", GradientLayer(D, update=update)),
    ]
}
NETWORKS = {
    "SympNet": SympNet(D, layers=12),
    "SymplecticTransformer matrix": SymplecticTransformer(D, blocks=5),
    "SymplecticTransformer vector": SymplecticTransformer(D, blocks=5, softmax="vector"),
    "SymplecticTransformer general": SymplecticTransformer(
        D, blocks=5, softmax="vector", symmetric=False
    ),
    "SymplecticTransformer linear": SymplecticTransformer(D, blocks=5, tokens=TOKENS),
}
NETWORKS = {name: randomized(network, 0.15) for name, network in NETWORKS.items()}


def test_the_potential_is_the_logarithm_of_one_plus_the_sum_of_exponentials():
    for softmax in SOFTMAX:
        for symmetric in (True, False):
            z, A = randn(2, TOKENS, D), matrix(symmetric=symmetric)
            exponential = torch.einsum("bmi, ij, bnj -> bmn", z, A, z).exp()
            expected = (
                (1 + exponential.sum(dim=(1, 2))).log()
                if softmax == "matrix"
                else (1 + exponential.sum(dim=1)).log().sum(dim=1)
            )
            assert_close(attention_potential(z, A, softmax=softmax), expected)


@pytest.mark.parametrize("softmax", SOFTMAX)
@pytest.mark.parametrize("symmetric", [True, False])
@settings(max_examples=15)
@given(tokens=st.integers(0, 6), seed=st.integers(0, 99), scale=st.floats(0, 5))
def test_symplectic_attention_is_the_gradient_of_its_potential(
    softmax, symmetric, tokens, seed, scale
):
    z, A = scale * randn(2, tokens, D, seed=seed), matrix(symmetric=symmetric, seed=seed)
    expected = gradient_of(lambda z: attention_potential(z, A, softmax=softmax), z)
    assert_close(symplectic_attention(z, A, softmax=softmax), expected)


def test_scores_a_hundred_times_beyond_overflow_are_right():
    A = torch.eye(1).double()
    # One token, score c = z²: potential log(1 + e^c), gradient 2 z σ(c).
    for size, sign in ((100.0, 1.0), (100.0, -1.0), (1.0, 1.0)):
        z = torch.tensor([[size]]).double()
        c = sign * size**2
        for softmax in SOFTMAX:
            potential = attention_potential(z, sign * A, softmax=softmax)
            assert_close(potential, nn.functional.softplus(torch.tensor(c).double()))
            slope = symplectic_attention(z, sign * A, softmax=softmax)
            assert_close(slope, 2 * sign * size * torch.sigmoid(torch.tensor([[c]]).double()))


def test_a_layer_adds_the_gradient_of_its_potential_and_changes_nothing_else():
    for layer in LAYERS.values():
        q, p = randn(2, TOKENS, D), randn(2, TOKENS, D, seed=1)
        new_q, new_p = layer(q, p)
        if layer.update == "q":
            assert torch.equal(new_p, p)
            assert_close(new_q - q, gradient_of(layer.potential, p))
        else:
            assert torch.equal(new_q, q)
            assert_close(p - new_p, gradient_of(layer.potential, q))


def test_every_layer_and_deep_stack_is_symplectic():
    for name, flow in (LAYERS | NETWORKS).items():
        for tokens in (TOKENS,) if "inear" in name else (1, TOKENS):
            q, p = randn(tokens, D), randn(tokens, D, seed=1)
            assert symplecticity_error(flow, q, p) < 1e-12, name
            assert symplecticity_error(flow.inverse, q, p) < 1e-12, name


def test_the_inverse_undoes_the_map():
    for flow in (LAYERS | NETWORKS).values():
        q, p = randn(2, TOKENS, D), randn(2, TOKENS, D, seed=1)
        with torch.no_grad():
            assert_close(flow.inverse(*flow(q, p)), (q, p))
            assert_close(flow(*flow.inverse(q, p)), (q, p))


@pytest.mark.parametrize("name", ["SymplecticTransformer matrix", "SymplecticTransformer general"])
def test_for_a_fixed_context_the_map_is_symplectic_in_each_single_state_and_has_an_inverse(name):
    network, context = NETWORKS[name], (randn(3, D, seed=2), randn(3, D, seed=3))
    q, p = randn(1, D), randn(1, D, seed=1)

    def flow(q, p):
        return network(q, p, context=context)

    assert symplecticity_error(flow, q, p) < 1e-12
    assert_close(network.inverse(*flow(q, p), context=context), (q, p))
    assert (flow(q, p)[0] - network(q, p)[0]).norm() > 1e-3


def test_attention_beside_a_context_is_the_part_of_the_gradient_that_moves():
    layer, context, q = SymplecticAttention(D).double(), randn(2, 3, D, seed=2), randn(2, 1, D)
    moved = layer(torch.zeros_like(q), q, context=(context, context))[0]
    expected = gradient_of(lambda x: layer.potential(torch.cat([context, x], dim=1)), q)
    assert_close(moved, expected)


# Volume -------------------------------------------------------------------------------------------

VOLUME = {
    "attention": VolumePreservingAttention(D),
    "attention, full matrix": VolumePreservingAttention(D, skew=False),
    "lower": VolumePreservingLayer(D),
    "upper": VolumePreservingLayer(D, triangle="upper"),
    "transformer": VolumePreservingTransformer(D),
    "transformer, full matrix": VolumePreservingTransformer(D, skew=False),
}
VOLUME = {name: randomized(module, 0.7) for name, module in VOLUME.items()}


def test_the_jacobian_determinant_is_one_for_windows_of_any_length():
    for flow in VOLUME.values():
        for tokens in [1, 2, 5]:
            assert torch.linalg.det(jacobian(flow, randn(tokens, D))).item() == pytest.approx(
                1, abs=1e-12
            )


def test_volume_preserving_maps_have_an_inverse():
    for flow in VOLUME.values():
        for batch in [(), (2,), (2, 3), (0,)]:
            z = randn(*batch, TOKENS, D)
            with torch.no_grad():
                assert_close(flow.inverse(flow(z)), z)
                assert not z.numel() or (flow(z) - z).norm() > 0.1
                assert_close(flow(flow.inverse(z)), z)


def test_half_precision_is_float32_but_for_rounding():
    torch.manual_seed(0)
    net, z = VolumePreservingTransformer(D), randn(2, TOKENS, D).float()
    for dtype, tolerance in ((torch.float16, 0.02), (torch.bfloat16, 0.1)):
        half = copy.deepcopy(net).to(dtype)
        assert_close(half(z.to(dtype)).float(), net(z), tolerance)
        assert_close(half.inverse(half(z.to(dtype))).float(), z, tolerance)


def test_volume_preserving_attention_turns_the_tokens_by_an_orthogonal_matrix():
    layer = VOLUME["attention, full matrix"]
    z = randn(TOKENS, D)
    C = z @ layer.A @ z.T
    C = (C - C.T) / 2
    one = torch.eye(TOKENS).double()
    turn = (one - C) @ torch.linalg.inv(one + C)
    assert_close(turn @ turn.T, one)
    assert_close(layer(z), turn @ z)


# Brackets of Lie and Poisson ----------------------------------------------------------------------

TURNS = {f"about axis {axis}": randomized(LiePoissonLayer(axis)) for axis in (1, 2, 3)}
TURNS["net"] = randomized(LiePoissonNet(), 0.5)


def cross_matrix(z):
    return torch.linalg.cross(z.expand(3, 3), torch.eye(3).double())


def test_lie_poisson_layers_keep_the_length_the_volume_and_the_poisson_structure():
    for flow in TURNS.values():
        z = randn(3)
        M, image = jacobian(flow, z), flow(z)
        assert_close(image.norm(), z.norm())
        assert torch.linalg.det(M).item() == pytest.approx(1, abs=1e-12)
        assert_close(M @ cross_matrix(z) @ M.T, cross_matrix(image))
        assert (image - z).norm() > 0.01


def test_lie_poisson_layers_have_an_inverse():
    for flow in TURNS.values():
        for batch in [(), (5,), (2, 4), (0,)]:
            z = randn(*batch, 3)
            assert_close(flow.inverse(flow(z)), z)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_a_lie_poisson_layer_is_the_flow_of_its_hamiltonian(axis):
    layer, z = TURNS[f"about axis {axis}"], randn(3)

    def field(_, z):
        slope = torch.zeros(3).double()
        slope[axis - 1] = (layer.w * z[axis - 1] + layer.b).tanh() @ layer.v
        return torch.linalg.cross(torch.from_numpy(z), slope).detach().numpy()

    end = solve_ivp(field, (0, 1), z.numpy(), rtol=1e-11, atol=1e-11).y[:, -1]
    assert_close(layer(z), torch.from_numpy(end), 1e-8)
