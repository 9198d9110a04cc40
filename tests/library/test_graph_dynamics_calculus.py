import math

import numpy as np
import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import laplacian as scipy_laplacian
from seeded_tensors import assert_close, randn

from course_lib.graph_dynamics import (
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

# A square with a diagonal, a pair joined twice, a loop, and two isolated nodes.
EDGES = torch.tensor([[0, 1, 2, 3, 0, 3, 4, 4], [1, 2, 3, 0, 2, 0, 5, 4]])
NODES, COUNT = 8, 8
M, W = randn(NODES, seed=1).exp(), randn(COUNT, seed=2).exp()
METRIC = {"node_weights": M, "edge_weights": W}
CONNECTED = EDGES[:, :5]


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


def test_gradient_and_divergence_are_the_incidence_matrix_and_its_transpose_in_the_metric():
    f, g, D = randn(NODES, 3), randn(COUNT, 3, seed=3), incidence(EDGES, NODES)
    assert_close(gradient(f, EDGES), torch.from_numpy(D @ f.numpy()))
    adjoint = np.diag(1 / M.numpy()) @ D.T @ np.diag(W.numpy()) @ g.numpy()
    assert_close(divergence(g, EDGES, NODES, **METRIC), torch.from_numpy(adjoint))
    assert_close(divergence(g, EDGES, NODES), torch.from_numpy(D.T @ g.numpy()))


def test_the_laplacian_is_that_of_scipy():
    weight = W.numpy()
    A = coo_array((weight, EDGES.numpy()), shape=(NODES, NODES)).toarray()
    A = A + A.T
    np.fill_diagonal(A, 0)
    L = laplacian(EDGES, NODES, edge_weights=W)
    assert_close(L, torch.from_numpy(scipy_laplacian(A)))
    assert_close(laplacian(EDGES, NODES, **METRIC), L / M[:, None])


def test_modes_solve_the_generalised_eigenproblem_and_are_orthonormal_in_the_metric():
    values, modes = eigenmodes(EDGES, NODES, **METRIC)
    D = incidence(EDGES, NODES)
    K = D.T @ np.diag(W.numpy()) @ D
    expected = scipy.linalg.eigh(K, np.diag(M.numpy()), eigvals_only=True)
    assert_close(values, torch.from_numpy(expected), 1e-10)
    gap = spectral_gap(CONNECTED, 4, dtype=torch.float64)
    assert_close(gap, eigenmodes(CONNECTED, 4, dtype=torch.float64)[0][1])
    assert_close(laplacian(EDGES, NODES, **METRIC) @ modes, modes * values, 1e-10)
    assert_close(modes.T @ (M[:, None] * modes), torch.eye(NODES).double(), 1e-10)


@given(weighted_graphs())
def test_components_are_what_walks_can_reach(graph):
    edges, nodes, _ = graph
    step = torch.eye(nodes)
    step[edges[0], edges[1]] = step[edges[1], edges[0]] = 1
    reached = torch.linalg.matrix_power(step, nodes) > 0
    label = components(edges, nodes)
    assert torch.equal(label[:, None] == label, reached)


def test_the_dirichlet_energy_is_a_sum_over_pairs_and_its_gradient_the_laplacian():
    h = randn(NODES, 3).requires_grad_()
    pairs = zip(W, EDGES.T, strict=True)
    by_hand = sum(w * (h[i] - h[j]).square().sum() for w, (i, j) in pairs) / 2
    energy = dirichlet_energy(h, EDGES, weights=W)
    assert_close(energy, by_hand)
    (slope,) = torch.autograd.grad(energy, h)
    assert_close(slope, M[:, None] * (laplacian(EDGES, NODES, **METRIC) @ h.detach()))


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


def test_graphs_without_edges():
    for dtype in [torch.float32, torch.float64]:
        for nodes in [0, 1, 3]:
            edges, h = torch.zeros(2, 0, dtype=torch.int64), torch.ones(nodes, 2, dtype=dtype)
            assert gradient(h, edges).shape == (0, 2)
            assert torch.equal(divergence(gradient(h, edges), edges, nodes), 0 * h)
            assert torch.equal(
                laplacian(edges, nodes, dtype=dtype), torch.zeros(nodes, nodes, dtype=dtype)
            )
            assert eigenmodes(edges, nodes, dtype=dtype)[0].tolist() == [0] * nodes
            assert dirichlet_energy(h, edges) == 0
            assert torch.equal(equilibrium(h, edges), h)
            assert components(edges, nodes).tolist() == list(range(nodes))
            assert hodge_decomposition(gradient(h, edges), edges, nodes)[1].shape == (0, 2)
            assert (
                attention_metric(torch.ones(0, dtype=dtype), edges, nodes)[0].tolist()
                == [1] * nodes
            )
