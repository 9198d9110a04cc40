import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, jacobian, randn, randomized
from torch import nn

from course_lib.mechanics import canonical_pair, symplecticity_error
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
by_softmax = pytest.mark.parametrize("softmax", SOFTMAX)
by_symmetry = pytest.mark.parametrize("symmetric", [True, False])
TOKENS, D = 4, 3


def matrix(*, symmetric, seed=5):
    A = randn(D, D, seed=seed)
    return (A + A.T) / 2 if symmetric else A


def gradient_of(potential, z):
    z = z.clone().requires_grad_()
    return torch.autograd.grad(potential(z).sum(), z)[0]


def asymmetry(function, z):
    """Of the Jacobian, relative; 0 for a gradient, since second derivatives commute."""
    M = jacobian(function, z)
    return ((M - M.T).norm() / M.norm()).item()


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
by_layer = pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
by_map = pytest.mark.parametrize("flow", (LAYERS | NETWORKS).values(), ids=LAYERS | NETWORKS)


# Attention from a potential -------------------------------------------------------------------


@by_softmax
@by_symmetry
def test_the_potential_is_the_logarithm_of_one_plus_the_sum_of_exponentials(softmax, symmetric):
    z, A = randn(2, TOKENS, D), matrix(symmetric=symmetric)
    exponential = torch.einsum("bmi, ij, bnj -> bmn", z, A, z).exp()
    expected = (
        (1 + exponential.sum(dim=(1, 2))).log()
        if softmax == "matrix"
        else (1 + exponential.sum(dim=1)).log().sum(dim=1)
    )
    assert_close(attention_potential(z, A, softmax=softmax), expected)


@by_softmax
@by_symmetry
@given(tokens=st.integers(0, 6), seed=st.integers(0, 99), scale=st.floats(0, 5))
def test_symplectic_attention_is_the_gradient_of_its_potential(
    softmax, symmetric, tokens, seed, scale
):
    z, A = scale * randn(2, tokens, D, seed=seed), matrix(symmetric=symmetric, seed=seed)
    expected = gradient_of(lambda z: attention_potential(z, A, softmax=softmax), z)
    assert_close(symplectic_attention(z, A, softmax=softmax), expected)


@by_softmax
@by_symmetry
def test_symplectic_attention_follows_a_definition_without_closed_form(softmax, symmetric):
    # Neither the library's log-sum-exp nor its potential: the plain formula, differentiated.
    z, A = randn(TOKENS, D), matrix(symmetric=symmetric)

    def potential(z):
        exponential = (z @ A @ z.T).exp()
        sums = exponential.sum() if softmax == "matrix" else exponential.sum(dim=0)
        return (1 + sums).log()

    assert_close(symplectic_attention(z, A, softmax=softmax), gradient_of(potential, z))


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


@by_softmax
def test_scores_of_many_tokens_at_ten_thousand_agree_with_autograd_and_stay_finite(softmax):
    z, A = 100 * randn(TOKENS, D), matrix(symmetric=False)
    assert (z @ A @ z.T).abs().max() > 1e4
    expected = gradient_of(lambda z: attention_potential(z, A, softmax=softmax), z)
    found = symplectic_attention(z, A, softmax=softmax)
    assert found.isfinite().all()
    assert_close(found, expected, 1e-9)
    assert symplectic_attention(z.float(), A.float(), softmax=softmax).isfinite().all()


def test_the_matrix_softmax_with_a_symmetric_matrix_reduces_to_twice_s_z_a():
    z, A = randn(TOKENS, D), matrix(symmetric=True)
    C = z @ A @ z.T
    S = C.exp() / (1 + C.exp().sum())
    assert_close(symplectic_attention(z, A, softmax="matrix"), 2 * S @ z @ A)


def test_the_vector_softmax_with_a_symmetric_matrix_does_not_for_that_is_no_gradient():
    z, A = randn(TOKENS, D), matrix(symmetric=True)

    def shortcut(z):
        C = z @ A @ z.T
        return 2 * (C.exp() / (1 + C.exp().sum(dim=0))).T @ z @ A

    assert asymmetry(lambda z: symplectic_attention(z, A, softmax="vector"), z) < 1e-14
    assert asymmetry(shortcut, z) > 0.1
    p = randn(TOKENS, D, seed=1)
    assert symplecticity_error(lambda q, p: (q, p - shortcut(q)), z, p) > 0.01
    assert (shortcut(z) - symplectic_attention(z, A, softmax="vector")).norm() > 0.1


def test_the_potential_as_printed_has_another_gradient():
    z, A = 0.3 * randn(TOKENS, D), matrix(symmetric=True)
    printed = gradient_of(lambda z: (1 + (z @ A @ z.T).sum().exp()).log(), z)
    derived = symplectic_attention(z, A, softmax="matrix")
    assert (printed - derived).norm() > 0.1 * derived.norm()


@by_softmax
def test_permuted_tokens_give_permuted_gradients(softmax):
    z, A, order = randn(TOKENS, D), matrix(symmetric=False), torch.tensor([2, 0, 3, 1])
    assert_close(
        symplectic_attention(z[order], A, softmax=softmax),
        symplectic_attention(z, A, softmax=softmax)[order],
    )


# Symplectic layers and networks ---------------------------------------------------------------


@by_layer
def test_a_layer_adds_the_gradient_of_its_potential_and_changes_nothing_else(layer):
    q, p = randn(2, TOKENS, D), randn(2, TOKENS, D, seed=1)
    new_q, new_p = layer(q, p)
    if layer.update == "q":
        assert torch.equal(new_p, p)
        assert_close(new_q - q, gradient_of(layer.potential, p))
    else:
        assert torch.equal(new_q, q)
        assert_close(p - new_p, gradient_of(layer.potential, q))


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        (name, tokens)
        for name in LAYERS | NETWORKS
        for tokens in ((TOKENS,) if "inear" in name else (1, TOKENS, 7))
    ],
)
def test_every_layer_and_deep_stack_is_symplectic(name, tokens):
    flow = (LAYERS | NETWORKS)[name]
    q, p = randn(tokens, D), randn(tokens, D, seed=1)
    assert symplecticity_error(flow, q, p) < 1e-12
    assert symplecticity_error(flow.inverse, q, p) < 1e-12


@by_map
def test_the_inverse_undoes_the_map(flow):
    q, p = randn(2, TOKENS, D), randn(2, TOKENS, D, seed=1)
    with torch.no_grad():
        assert_close(flow.inverse(*flow(q, p)), (q, p))
        assert_close(flow(*flow.inverse(q, p)), (q, p))


def test_symplecticity_is_that_of_the_window_and_not_of_one_token():
    network = NETWORKS["SymplecticTransformer matrix"]
    q, p = randn(TOKENS, D), randn(TOKENS, D, seed=1)

    def first_token(first_q, first_p):
        new_q, new_p = network(torch.cat([first_q, q[1:]]), torch.cat([first_p, p[1:]]))
        return new_q[:1], new_p[:1]

    assert symplecticity_error(network, q, p) < 1e-12
    assert symplecticity_error(first_token, q[:1], p[:1]) > 1e-3
    assert symplecticity_error(NETWORKS["SympNet"], q[0], p[0]) < 1e-12


def test_gradient_layers_do_not_overflow():
    layer = GradientLayer(D)
    x = torch.full((2, D), 1e4)
    assert layer.potential(x).isfinite().all()
    assert layer.gradient(x).isfinite().all()


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


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_calls")
class TestBadInput:
    @pytest.mark.parametrize("function", [attention_potential, symplectic_attention])
    def test_unknown_softmax_and_matrices_that_do_not_fit(self, function):
        z = randn(TOKENS, D)
        with pytest.raises(
            ValueError, match="softmax is 'row'; expected one of 'matrix', 'vector'"
        ):
            function(z, randn(D, D), softmax="row")
        with pytest.raises(ValueError, match=r"A has shape \(4, 4\)"):
            function(z, randn(4, 4))
        with pytest.raises(ValueError, match=r"z has shape \(3,\)"):
            function(z[0], randn(D, D))
        with pytest.raises(TypeError, match=r"A has dtype torch\.float32"):
            function(z, randn(D, D).float())
        with pytest.raises(TypeError, match=r"z has dtype torch\.int64"):
            function(z.long(), randn(D, D).long())

    def test_a_backend_that_is_unknown_or_made_for_another_softmax(self):
        z, A = randn(TOKENS, D), randn(D, D)
        with pytest.raises(ValueError, match="backend is 'cuda'; expected one of 'auto', 'refer"):
            symplectic_attention(z, A, backend="cuda")
        with pytest.raises(ValueError, match="softmax 'matrix'; expected 'vector'"):
            symplectic_attention(z, A, backend="triton")

    @by_map
    def test_q_and_p_of_different_shapes(self, flow):
        for call in (flow, flow.inverse):
            with pytest.raises(ValueError, match=r"p has shape \(4, 2\)"):
                call(randn(TOKENS, D), randn(TOKENS, 2))

    @pytest.mark.parametrize("name", ["SympNet", "SymplecticTransformer matrix"])
    def test_features_or_dtype_that_the_network_was_not_made_for(self, name):
        network = NETWORKS[name]
        with pytest.raises(ValueError, match=r"has shape .*2"):
            network(randn(TOKENS, 2), randn(TOKENS, 2))
        with pytest.raises(TypeError, match=r"torch\.float32"):
            network(randn(TOKENS, D).float(), randn(TOKENS, D).float())

    def test_a_window_of_another_length_for_linear_attention(self):
        layer = LinearSymplecticAttention(TOKENS).double()
        with pytest.raises(ValueError, match=r"q has shape \(5, 3\).*4"):
            layer(randn(5, D), randn(5, D))

    def test_sizes_and_names_of_the_constructors(self):
        for make in (
            SymplecticAttention,
            LinearSymplecticAttention,
            GradientLayer,
            SympNet,
            SymplecticTransformer,
        ):
            with pytest.raises(ValueError, match="is 0; expected 1 or more"):
                make(0)
            with pytest.raises(TypeError, match=r"is 1\.5, a float"):
                make(1.5)
        with pytest.raises(ValueError, match="update is 'z'; expected one of 'q', 'p'"):
            SymplecticAttention(D, update="z")
        with pytest.raises(ValueError, match="softmax is 'row'"):
            SymplecticAttention(D, softmax="row")
        with pytest.raises(ValueError, match="layers is 0"):
            SympNet(D, layers=0)
        with pytest.raises(ValueError, match="blocks is 0"):
            SymplecticTransformer(D, blocks=0)
        with pytest.raises(ValueError, match="width is 0"):
            SympNet(D, width=0)

    def test_a_context_that_does_not_fit(self):
        network = NETWORKS["SymplecticTransformer matrix"]
        q = randn(2, 1, D)
        for shape, message in [((2, 3, 2), "context_q has shape"), ((5, 3, D), "batch axes")]:
            with pytest.raises(ValueError, match=message):
                network(q, q, context=(randn(*shape), randn(*shape)))

    def test_an_odd_number_of_features_makes_no_pairs(self):
        with pytest.raises(ValueError, match=r"z has shape \(4, 3\), 3 features; expected an even"):
            canonical_pair(randn(4, 3))
        q, p = canonical_pair(randn(4, 6))
        assert_close(torch.cat([q, p], dim=-1), randn(4, 6))
