import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded import assert_close, randn, randomized
from torch import nn

from course_lib.mechanics import symplecticity_error
from course_lib.symplectic import (
    GradientLayer,
    LinearSymplecticAttention,
    SymplecticAttention,
    SymplecticTransformer,
    SympNet,
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


def test_a_fresh_network_is_near_the_identity_and_every_parameter_learns():
    for network in (SympNet(D), SymplecticTransformer(D), SymplecticTransformer(D, tokens=TOKENS)):
        q, p = randn(8, TOKENS, D).float(), randn(8, TOKENS, D, seed=1).float()
        new_q, new_p = network(q, p)
        assert (new_q - q).norm() < 2 * q.norm()
        (new_q.square().sum() + new_p.square().sum()).backward()
        assert all(parameter.grad.abs().sum() > 0 for parameter in network.parameters())


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
