import math

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from seeded import assert_close, randn

from course_lib.graph_calculus import (
    attention_metric,
    components,
    dirichlet_energy,
    divergence,
    eigenmodes,
    equilibrium,
    gradient,
    hodge_decomposition,
    inner,
    laplacian,
    spectral_gap,
)

# A square with a diagonal, a pair joined twice, a loop, and two nodes that nothing reaches.
EDGES = torch.tensor([[0, 1, 2, 3, 0, 3, 4, 4], [1, 2, 3, 0, 2, 0, 5, 4]])
NODES, COUNT = 8, 8
M, W = randn(NODES, seed=1).exp(), randn(COUNT, seed=2).exp()
METRIC = {"node_weights": M, "edge_weights": W}
CONNECTED = EDGES[:, :5]


def path(nodes):
    return torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])


def incidence(edges, nodes):
    """Number by number: -1 where an edge begins, +1 where it ends."""
    D = np.zeros((edges.shape[1], nodes))
    for e, (source, target) in enumerate(edges.T.tolist()):
        D[e, source] -= 1
        D[e, target] += 1
    return D


@st.composite
def weighted_graphs(draw):
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=9))
    edges = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    return edges, nodes, draw(st.integers(0, 1000))


# Gradient and adjoint -------------------------------------------------------------------------


def test_the_gradient_is_target_minus_source():
    f = torch.tensor([[1.0, 0.0], [4.0, 5.0]])
    assert gradient(f, torch.tensor([[0, 1, 1], [1, 0, 1]])).tolist() == [[3, 5], [-3, -5], [0, 0]]


def test_gradient_and_divergence_are_the_incidence_matrix_and_its_transpose_in_the_metric():
    f, g, D = randn(NODES, 3), randn(COUNT, 3, seed=3), incidence(EDGES, NODES)
    assert_close(gradient(f, EDGES), torch.from_numpy(D @ f.numpy()))
    adjoint = np.diag(1 / M.numpy()) @ D.T @ np.diag(W.numpy()) @ g.numpy()
    assert_close(divergence(g, EDGES, NODES, **METRIC), torch.from_numpy(adjoint))
    assert_close(divergence(g, EDGES, NODES), torch.from_numpy(D.T @ g.numpy()))


@given(weighted_graphs())
def test_the_divergence_is_the_adjoint_of_the_gradient_in_every_metric(graph):
    edges, nodes, seed = graph
    f, g = randn(nodes, 2, seed=seed), randn(edges.shape[1], 2, seed=seed + 1)
    m, w = randn(nodes, seed=seed + 2).exp(), randn(edges.shape[1], seed=seed + 3).exp()
    adjoint = divergence(g, edges, nodes, node_weights=m, edge_weights=w)
    assert_close(inner(gradient(f, edges), g, weights=w), inner(f, adjoint, weights=m), 1e-10)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda g: -divergence(g, EDGES, NODES, **METRIC),
        lambda g: divergence(g, EDGES, NODES),
        lambda g: divergence(g, EDGES, NODES, edge_weights=W),
        lambda g: divergence(g, EDGES, NODES, node_weights=M),
        lambda g: divergence(g, EDGES, NODES, node_weights=1 / M, edge_weights=W),
        lambda g: divergence(g, EDGES, NODES, node_weights=M, edge_weights=1 / W),
        lambda g: divergence(g, EDGES.flip(0), NODES, **METRIC),
    ],
    ids=["sign", "no weights", "no node weights", "no edge weights", "times the node weights",
         "over the edge weights", "turned edges"],
)  # fmt: skip
def test_adjointness_fails_for_a_wrong_adjoint(wrong):
    f, g = randn(NODES, 3), randn(COUNT, 3, seed=3)
    gap = inner(gradient(f, EDGES), g, weights=W) - inner(f, wrong(g), weights=M)
    assert gap.abs() > 0.1


def test_turning_an_edge_round_changes_the_sign_of_what_is_on_it_and_nothing_else():
    f, turned = randn(NODES, 2), EDGES.clone()
    turned[:, 3] = turned[:, 3].flip(0)
    sign = torch.ones(COUNT, 1).double()
    sign[3] = -1
    assert_close(gradient(f, turned), sign * gradient(f, EDGES))
    assert_close(laplacian(turned, NODES, **METRIC), laplacian(EDGES, NODES, **METRIC))


def test_inner_products_are_weighted_sums_of_products():
    f, g = randn(NODES, 3), randn(NODES, 3, seed=1)
    by_hand = sum(M[i] * (f[i, k] * g[i, k]) for i in range(NODES) for k in range(3))
    assert_close(inner(f, g, weights=M), by_hand)
    assert_close(inner(f, g), (f * g).sum())


def test_derivatives_pass_through_the_calculus():
    f, g = randn(NODES, 2).requires_grad_(), randn(COUNT, 2).requires_grad_()
    m, w = M.clone().requires_grad_(), W.clone().requires_grad_()

    def adjoint(g, m, w):
        return divergence(g, EDGES, NODES, node_weights=m, edge_weights=w)

    assert torch.autograd.gradcheck(adjoint, (g, m, w))
    assert torch.autograd.gradcheck(lambda f: gradient(f, EDGES), (f,))
    assert torch.autograd.gradcheck(lambda f, w: dirichlet_energy(f, EDGES, weights=w), (f, w))


# Laplacian and modes --------------------------------------------------------------------------


def test_the_laplacian_is_that_of_scipy():
    weight = W.numpy()
    A = coo_array((weight, EDGES.numpy()), shape=(NODES, NODES)).toarray()
    A = A + A.T
    np.fill_diagonal(A, 0)
    L = laplacian(EDGES, NODES, edge_weights=W)
    assert_close(L, torch.from_numpy(scipy_laplacian(A)))
    assert_close(laplacian(EDGES, NODES, **METRIC), L / M[:, None])


def test_both_directions_of_each_pair_count_twice():
    both = torch.cat([EDGES, EDGES.flip(0)], dim=1)
    twice = laplacian(both, NODES, node_weights=M, edge_weights=W.repeat(2))
    assert_close(twice, 2 * laplacian(EDGES, NODES, **METRIC))


def test_modes_solve_the_generalised_eigenproblem_and_are_orthonormal_in_the_metric():
    values, modes = eigenmodes(EDGES, NODES, **METRIC)
    D = incidence(EDGES, NODES)
    K = D.T @ np.diag(W.numpy()) @ D
    expected = scipy.linalg.eigh(K, np.diag(M.numpy()), eigvals_only=True)
    assert_close(values, torch.from_numpy(expected), 1e-10)
    assert_close(laplacian(EDGES, NODES, **METRIC) @ modes, modes * values, 1e-10)
    assert_close(modes.T @ (M[:, None] * modes), torch.eye(NODES).double(), 1e-10)


def test_the_modes_of_a_path_are_cosines():
    nodes = 7
    values, modes = eigenmodes(path(nodes), nodes, dtype=torch.float64)
    k = torch.arange(nodes).double()
    assert_close(values, 2 - 2 * (math.pi * k / nodes).cos(), 1e-10)
    cosine = (math.pi * 2 * (k + 0.5) / nodes).cos()
    assert_close((modes[:, 2] * cosine).sum().abs(), cosine.norm(), 1e-10)


def test_there_is_one_zero_eigenvalue_for_each_component():
    values, _ = eigenmodes(EDGES, NODES, **METRIC)
    assert (values.abs() < 1e-10).sum() == 4
    assert len(components(EDGES, NODES).unique()) == 4


@given(weighted_graphs())
def test_components_are_what_walks_can_reach(graph):
    edges, nodes, _ = graph
    step = torch.eye(nodes)
    step[edges[0], edges[1]] = step[edges[1], edges[0]] = 1
    reached = torch.linalg.matrix_power(step, nodes) > 0
    label = components(edges, nodes)
    assert torch.equal(label[:, None] == label, reached)


def test_the_spectral_gap_of_a_complete_graph_is_its_size_and_that_of_a_path_small():
    pairs = torch.combinations(torch.arange(6)).T
    assert_close(spectral_gap(pairs, 6, dtype=torch.float64), torch.tensor(6.0).double(), 1e-10)
    gap = spectral_gap(path(7), 7, dtype=torch.float64).item()
    assert gap == pytest.approx(2 - 2 * math.cos(math.pi / 7))


def test_the_dirichlet_energy_is_a_sum_over_pairs_and_its_gradient_the_laplacian():
    h = randn(NODES, 3).requires_grad_()
    pairs = zip(W, EDGES.T, strict=True)
    by_hand = sum(w * (h[i] - h[j]).square().sum() for w, (i, j) in pairs) / 2
    energy = dirichlet_energy(h, EDGES, weights=W)
    assert_close(energy, by_hand)
    (slope,) = torch.autograd.grad(energy, h)
    assert_close(slope, M[:, None] * (laplacian(EDGES, NODES, **METRIC) @ h.detach()))


# Equilibrium and cycles -----------------------------------------------------------------------


def test_equilibrium_is_where_the_heat_equation_ends():
    h = randn(NODES, 3)
    end = scipy.linalg.expm(-1e4 * laplacian(EDGES, NODES, **METRIC).numpy()) @ h.numpy()
    assert_close(equilibrium(h, EDGES, node_weights=M), torch.from_numpy(end), 1e-8)
    assert_close(equilibrium(h, CONNECTED[:, :0]), h)


def test_a_hodge_decomposition_is_the_best_potential_and_a_rest_without_sources():
    g = randn(COUNT, 2)
    f, rest = hodge_decomposition(g, EDGES, NODES, edge_weights=W)
    root = W.sqrt().numpy()[:, None]
    best = np.linalg.lstsq(root * incidence(EDGES, NODES), root * g.numpy(), rcond=None)[0]
    assert_close(f, torch.from_numpy(best), 1e-10)
    assert_close(gradient(f, EDGES) + rest, g)
    assert_close(divergence(rest, EDGES, NODES, **METRIC), torch.zeros(NODES, 2).double(), 1e-10)
    assert inner(gradient(f, EDGES), rest, weights=W).abs() < 1e-10


def test_a_tree_has_no_cycles_and_a_circle_has_one():
    g = randn(5, 1)
    _, rest = hodge_decomposition(g, path(6), 6)
    assert rest.abs().max() < 1e-12
    circle = torch.stack([torch.arange(5), (torch.arange(5) + 1) % 5])
    _, rest = hodge_decomposition(g, circle, 5)
    assert_close(rest, g.mean().expand(5, 1))


# Attention as the metric ----------------------------------------------------------------------


def attention(score, pairs, nodes):
    """The weights of a softmax over neighbours, as a dense matrix of targets by sources."""
    A = torch.full((nodes, nodes), -math.inf).double()
    A[pairs[0], pairs[1]] = A[pairs[1], pairs[0]] = score
    return A.softmax(dim=-1).nan_to_num()


def test_in_the_metric_of_attention_diffusion_is_the_laplacian():
    pairs = torch.tensor([[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 1]])
    score, h = 3 * randn(6), randn(6, 2, seed=1)
    m, w = attention_metric(score, pairs, 6)
    alpha = attention(score, pairs, 6)
    L = laplacian(pairs, 6, node_weights=m, edge_weights=w)
    assert_close(-L @ h, alpha @ h - alpha.sum(dim=-1, keepdim=True) * h)
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    assert_close(laplacian(both, 6, node_weights=m, edge_weights=w.repeat(2)), 2 * L)


def cycle_products(alpha):
    return alpha[0, 1] * alpha[1, 2] * alpha[2, 0], alpha[1, 0] * alpha[2, 1] * alpha[0, 2]


def test_attention_is_a_laplacian_where_products_around_cycles_are_the_same_both_ways():
    """On a triangle. A metric m exists where m_i alpha_ij is symmetric."""
    pairs, seen = torch.tensor([[0, 1, 2], [1, 2, 0]]), randn(3, seed=3)
    score = randn(3)
    a = torch.full((3, 3), -math.inf).double()
    a[pairs[0], pairs[1]] = a[pairs[1], pairs[0]] = score
    # Nodes that all others look at more: not symmetric, and yet reversible.
    popular = (a + seen).softmax(dim=-1)
    assert_close(*cycle_products(popular))
    m, w = attention_metric(score + seen[pairs[0]] + seen[pairs[1]], pairs, 3)
    L = laplacian(pairs, 3, node_weights=m, edge_weights=w)
    assert_close(popular - torch.eye(3).double(), -L)


def test_attention_that_turns_is_the_laplacian_of_no_metric():
    turning = torch.tensor([[0, 2, 1], [1, 0, 2], [2, 1, 0]]).double() / 3
    one_way, other_way = cycle_products(turning)
    assert one_way / other_way == pytest.approx(8)
    values = torch.linalg.eigvals(turning - torch.eye(3).double())
    assert values.imag.abs().max().item() == pytest.approx(1 / math.sqrt(12))
    values = torch.linalg.eigvals(laplacian(EDGES, NODES, **METRIC))
    assert values.imag.abs().max() < 1e-12


def test_only_differences_of_scores_count_so_that_large_ones_do_no_harm():
    score = randn(5)
    plain, shifted = (attention_metric(score + s, CONNECTED, 4) for s in (0, 1000.0))
    for left, right in zip(plain, shifted, strict=True):
        assert_close(left, right, 1e-10)


def test_a_node_without_neighbours_has_a_weight_too():
    m, w = attention_metric(randn(1), torch.tensor([[0], [1]]), 3)
    assert m.tolist() == [1, 1, 1]
    assert w.tolist() == [1]


# Edges of the domain --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_graphs_without_edges(nodes, dtype):
    edges, h = torch.zeros(2, 0, dtype=torch.int64), torch.ones(nodes, 2, dtype=dtype)
    assert gradient(h, edges).shape == (0, 2)
    assert torch.equal(divergence(gradient(h, edges), edges, nodes), 0 * h)
    assert torch.equal(laplacian(edges, nodes, dtype=dtype), torch.zeros(nodes, nodes, dtype=dtype))
    assert eigenmodes(edges, nodes, dtype=dtype)[0].tolist() == [0] * nodes
    assert dirichlet_energy(h, edges) == 0
    assert torch.equal(equilibrium(h, edges), h)
    assert components(edges, nodes).tolist() == list(range(nodes))
    assert hodge_decomposition(gradient(h, edges), edges, nodes)[1].shape == (0, 2)
    assert attention_metric(torch.ones(0, dtype=dtype), edges, nodes)[0].tolist() == [1] * nodes


def test_dtypes_are_kept():
    f, g = randn(NODES, 2).float(), randn(COUNT, 2).float()
    metric = {name: weights.float() for name, weights in METRIC.items()}
    answers = [
        gradient(f, EDGES),
        divergence(g, EDGES, NODES, **metric),
        laplacian(EDGES, NODES, **metric),
        *eigenmodes(EDGES, NODES, **metric),
        spectral_gap(CONNECTED, 4),
        dirichlet_energy(f, EDGES),
        equilibrium(f, EDGES, node_weights=metric["node_weights"]),
        *hodge_decomposition(g, EDGES, NODES, edge_weights=metric["edge_weights"]),
        *attention_metric(g[:, 0], EDGES, NODES),
    ]
    assert {answer.dtype for answer in answers} == {torch.float32}
    expected = divergence(g.double(), EDGES, NODES, **METRIC)
    assert_close(answers[1].double(), expected, 1e-5)


@pytest.mark.usefixtures("plain_calls")
class TestBadInput:
    @pytest.mark.parametrize("node", [-1, NODES])
    def test_an_edge_to_a_node_that_is_not_there(self, node):
        edges = torch.tensor([[0], [node]])
        with pytest.raises(ValueError, match=rf"edges\[:, 0\] is \[0, {node}\].* from 0 to 7;"):
            gradient(randn(NODES, 1), edges)
        with pytest.raises(ValueError, match="expected node numbers from 0"):
            divergence(randn(1, 1), edges, NODES)
        with pytest.raises(ValueError, match=r"pairs\[:, 0\] is"):
            attention_metric(randn(1), edges, NODES)

    def test_edges_of_another_kind(self):
        with pytest.raises(TypeError, match=r"edges has dtype torch.float32; expected .*int64"):
            gradient(randn(NODES, 1), EDGES.float())
        with pytest.raises(TypeError, match="edges is a list"):
            gradient(randn(NODES, 1), EDGES.tolist())
        with pytest.raises(ValueError, match=r"edges is on cpu and field on meta"):
            gradient(randn(NODES, 1).to("meta"), EDGES)
        with pytest.raises(ValueError, match=r"edges has shape \(8, 2\); expected \(2, E\)"):
            gradient(randn(NODES, 1), EDGES.T)

    @pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
    def test_a_singular_metric(self, value):
        for name, weights in METRIC.items():
            singular = weights.clone()
            singular[2] = value
            with pytest.raises(ValueError, match=f"{name} holds {value:g}, a singular metric"):
                divergence(randn(COUNT, 1), EDGES, NODES, **{**METRIC, name: singular})
        with pytest.raises(ValueError, match="a singular metric"):
            inner(randn(2, 1), randn(2, 1), weights=torch.tensor([1.0, value]).double())

    def test_weights_of_another_shape_or_dtype(self):
        with pytest.raises(ValueError, match=r"edge_weights has shape \(7,\)"):
            divergence(randn(COUNT, 1), EDGES, NODES, edge_weights=W[1:])
        with pytest.raises(TypeError, match=r"node_weights has dtype torch.float32"):
            divergence(randn(COUNT, 1), EDGES, NODES, node_weights=M.float())
        with pytest.raises(ValueError, match=r"weights has shape \(8,\)"):
            inner(randn(3, 1), randn(3, 1), weights=M)

    def test_fields_of_another_shape_or_dtype(self):
        with pytest.raises(ValueError, match=r"g has shape \(7, 1\)"):
            divergence(randn(7, 1), EDGES, NODES)
        with pytest.raises(ValueError, match=r"f has shape \(8,\); expected \(nodes, d\)"):
            gradient(randn(NODES), EDGES)
        with pytest.raises(TypeError, match=r"f has dtype torch.int64"):
            gradient(EDGES.T, EDGES)
        with pytest.raises(ValueError, match=r"g has shape \(3, 2\)"):
            inner(randn(3, 1), randn(3, 2))

    def test_the_gap_of_a_disconnected_graph(self):
        with pytest.raises(ValueError, match=r"8 nodes in 4 components.*take each component alone"):
            spectral_gap(EDGES, NODES)
        with pytest.raises(ValueError, match="1 nodes in 1 components"):
            spectral_gap(EDGES[:, :0], 1)

    @pytest.mark.parametrize(("dtype", "low"), [(torch.float32, -120.0), (torch.float64, -800.0)])
    def test_scores_so_far_apart_that_an_edge_would_weigh_nothing(self, dtype, low):
        score = torch.tensor([0.0, low], dtype=dtype)
        with pytest.raises(ValueError, match=rf"from {low:g} to 0, .* weighs 0 in {dtype}"):
            attention_metric(score, EDGES[:, :2], NODES)
        _, w = attention_metric(score * 0.8, EDGES[:, :2], NODES)
        assert (w > 0).all()

    def test_scores_that_are_not_finite(self):
        with pytest.raises(ValueError, match=r"score holds nan or inf.*leave a pair out"):
            attention_metric(torch.tensor([1.0, -math.inf]), EDGES[:, :2], NODES)
        with pytest.raises(ValueError, match=r"score has shape \(2,\)"):
            attention_metric(randn(2), EDGES, NODES)
