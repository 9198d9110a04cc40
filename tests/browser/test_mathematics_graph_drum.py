"""The mathematics of GraphDrum's JavaScript, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor

from course_lib.graph_dynamics import (
    Diffusion,
    DoubleBracketFlow,
    HamiltonianFlow,
    eigenmodes,
    evolve,
    gradient,
    hodge_decomposition,
    laplacian,
)

DYNAMICS = "js/maths/graph_dynamics.js"
LAWS = ("heat", "wave", "bracket")
GRAPHS = 4
STIFFNESS = 0.3


@pytest.fixture
def graphs(random: np.random.Generator) -> list[tuple[int, list[list[int]]]]:
    """Random graphs in several pieces too, one of one node, one without edges, one symmetric."""
    drawn = [(1, []), (5, []), (6, [[i, (i + 1) % 6] for i in range(6)])]
    for _ in range(GRAPHS):
        nodes = int(random.integers(2, 16))
        pairs = np.argwhere(np.triu(random.random((nodes, nodes)) < random.uniform(0.05, 0.5), 1))
        drawn.append((nodes, random.permuted(pairs, axis=1).tolist()))
    return drawn


def edges_of(pairs: list[list[int]]) -> torch.Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def test_modes_are_those_of_the_laplacian(javascript: Javascript, graphs: list[Any]):
    for found, (nodes, pairs) in zip(
        javascript(DYNAMICS, "laplacianModes", [list(graph) for graph in graphs]),
        graphs,
        strict=True,
    ):
        edges = edges_of(pairs)
        L = laplacian(edges, nodes, dtype=torch.float64)
        values, modes = tensor(found["values"]), tensor(found["nodes"]).T
        assert_close(values, eigenmodes(edges, nodes, dtype=torch.float64)[0])
        assert_close(L @ modes, modes * values)
        assert_close(modes.T @ modes, torch.eye(nodes))
        for value, mode, current in zip(values, modes.T, found["currents"], strict=True):
            assert (current is None) == (value == 0)
            if current is not None:
                assert_close(current, gradient(mode[:, None], edges)[:, 0] / value.sqrt())


def test_eigenvalues_that_coincide_have_orthogonal_vectors(
    javascript: Javascript, random: np.random.Generator
):
    turn, _ = np.linalg.qr(random.normal(size=(9, 9)))
    values = [-2.0, -2.0, -2.0, 0.0, 0.0, 1e-3, 5.0, 5.0, 5.0]
    matrix = turn @ np.diag(values) @ turn.T
    [found] = javascript(DYNAMICS, "eigen", [[((matrix + matrix.T) / 2).tolist()]])
    vectors = np.array(found["vectors"])
    assert_close(found["values"], values)
    assert_close(vectors @ vectors.T, np.eye(9))
    assert_close(vectors.T @ np.diag(values) @ vectors, matrix)


# A page's current is √stiffness times one of course_lib, whose metric has that weight.
def solved(
    law: str, graph: tuple[int, list[list[int]]], start: tuple[list[float], ...], t: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Heights, currents and energies at the times ``t``, by an adaptive solver."""
    (nodes, pairs), (q, p) = graph, (tensor(part).reshape(-1, 1) for part in start)
    edges = edges_of(pairs)
    weights = torch.full((edges.shape[1],), STIFFNESS, dtype=torch.float64)
    options = {"method": "dopri8", "tolerance": 1e-10}
    if law == "heat":
        both = Diffusion(torch.cat((edges, edges.flip(0)), 1), weights=weights.repeat(2))
        q = evolve(both, q, t, **options)
        return q, p.new_zeros(len(t), *p.shape), (q**2).sum((1, 2)) / 2
    system = (HamiltonianFlow if law == "wave" else DoubleBracketFlow)(
        edges, nodes, edge_weights=weights
    )
    q, p = evolve(system, (q, p / STIFFNESS**0.5), t, **options)
    energy = torch.stack([system.energy(state) for state in zip(q, p, strict=True)])
    return q, p * STIFFNESS**0.5, energy


def test_a_law_in_the_page_leads_where_an_adaptive_solver_does(
    javascript: Javascript, random: np.random.Generator, graphs: list[Any]
):
    times = [0.0, *np.sort(random.uniform(0, 8, size=2)).tolist()]
    modes = javascript(DYNAMICS, "laplacianModes", [list(graph) for graph in graphs])
    starts = [
        (random.normal(size=n).tolist(), random.normal(size=len(e)).tolist()) for n, e in graphs
    ]
    begun = javascript(
        DYNAMICS, "inModes", [[m, *start] for m, start in zip(modes, starts, strict=True)]
    )
    rates = [(STIFFNESS * tensor(m["values"])).tolist() for m in modes]
    ways = list(zip(graphs, starts, modes, rates, begun, strict=True))
    for law in LAWS:
        cases = [[law, *way[2:], t] for way in ways for t in times]
        states = iter(javascript(DYNAMICS, "stateAt", cases))
        energies = iter(javascript(DYNAMICS, "energyAt", [[law, *case[2:]] for case in cases]))
        for graph, start, *_ in ways:
            for q, p, energy in zip(*solved(law, graph, start, tensor(times)), strict=True):
                state, told = next(states), next(energies)
                assert_close(state["q"], q[:, 0])
                assert_close(state["p"], p[:, 0])
                assert_close([told["whole"], told["nodes"]], [energy, q.square().sum() / 2])


def test_what_circles_is_what_hodge_leaves(
    javascript: Javascript, random: np.random.Generator, graphs: list[Any]
):
    modes = javascript(DYNAMICS, "laplacianModes", [list(graph) for graph in graphs])
    currents = [random.normal(size=len(pairs)) for _, pairs in graphs]
    cases = [
        [m, [0.0] * nodes, p.tolist()]
        for m, (nodes, _), p in zip(modes, graphs, currents, strict=True)
    ]
    found = javascript(DYNAMICS, "inModes", cases)
    for begun, (nodes, pairs), p in zip(found, graphs, currents, strict=True):
        _, cycles = hodge_decomposition(tensor(p)[:, None], edges_of(pairs), nodes)
        assert_close(begun["circling"], cycles[:, 0])
