import functools
from typing import Any

import torch
from in_the_page import tensor, uniform
from reading import agrees, decoded
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from torch import Tensor

from course_lib.graph_dynamics import (
    Diffusion,
    DoubleBracketFlow,
    HamiltonianFlow,
    eigenmodes,
    laplacian,
)

from .scraped import Found, assert_said, near, scraper

LAWS = ("heat", "wave", "bracket")
READ = scraper("""return {
  time: dataOf("time"),
  heights: one("[data-heights]").dataset.heights.split(" ").map(Number),
  mode: all(".cw-drum-mode b"),
  drums: Object.fromEntries(all("[data-law]", (drum) => [drum.dataset.law, {
    told: textOf(drum.querySelector(".cw-drum-told strong")),
    ring: movedBy(drum.querySelector(".cw-handle")),
  }])),
};""")


@functools.cache
def generator(law: str, pairs: tuple[tuple[int, int], ...], nodes: int, stiffness: float) -> Tensor:
    """The matrix of a law: its velocity at all unit vectors, nodes above edges."""
    edges, size = edges_of(pairs), nodes + len(pairs)
    weights = torch.full((len(pairs),), stiffness, dtype=torch.float64)
    unit = torch.eye(size, dtype=torch.float64)
    if law == "heat":
        both = Diffusion(torch.cat((edges, edges.flip(0)), 1), weights=weights.repeat(2))
        return torch.cat((both.velocity(unit[:nodes]), 0 * unit[nodes:]))
    kind = HamiltonianFlow if law == "wave" else DoubleBracketFlow
    return torch.cat(
        kind(edges, nodes, edge_weights=weights).velocity((unit[:nodes], unit[nodes:]))
    )


def edges_of(pairs: Any) -> Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def state_at(state: Found, law: str, heights: Tensor, time: float) -> tuple[Tensor, float]:
    """Heights and energy of a law after a time, by the exponential of its matrix."""
    spec = spec_of(state)
    nodes, pairs, stiffness = len(heights), spec["edges"], state["stiffness"]
    (x, y), (u, v) = (decoded(spec["places"])[end].T for end in edges_of(pairs))
    turn = x * v - y * u
    current = 0.4 * state["stir"] * turn / max([1e-6, *turn.abs().tolist()])
    # The page's currents are √stiffness times those of course_lib, where it is the edges' metric.
    start = torch.cat((heights, (law != "heat") * current / stiffness**0.5))
    matrix = generator(law, tuple(map(tuple, pairs)), nodes, stiffness)
    q, p = (torch.matrix_exp(time * matrix) @ start).tensor_split([nodes])
    return q, float(q @ q + stiffness * p @ p) / 2


def spec_of(state: Found) -> Found:
    return next(spec for spec in state["graphs"] if spec["name"] == state["graph"])


def plucked(state: Found, edges: Tensor, nodes: int) -> Tensor:
    """cos² of the distance from the finger, in thirds of a quarter turn."""
    links = coo_array(([1] * edges.shape[1], edges.numpy()), shape=(nodes, nodes))
    far = shortest_path(links, directed=False, unweighted=True, indices=state["node"])
    angle = torch.from_numpy(far).clamp(max=3) * torch.pi / 6
    return state["height"] * angle.cos() ** 2


def displayed(state: Found, found: Found) -> None:
    stiffness, heights = state["stiffness"], tensor(found["heights"])
    nodes, edges = len(heights), edges_of(spec_of(state)["edges"])
    if state["start"] == "mode":
        rate = eigenmodes(edges, nodes, dtype=torch.float64)[0][state["mode"]].clamp(min=0)
        L = laplacian(edges, nodes, dtype=torch.float64)
        near(L @ heights, rate * heights)
        near(heights.abs().max(), 1.0)
        assert_said(found["mode"], (stiffness * rate, (stiffness * rate) ** 0.5))
    elif state["start"] == "random":
        near(heights, [2 * uniform(state["seed"], node) - 1 for node in range(nodes)], 1e-9)
    else:
        near(heights, plucked(state, edges, nodes), 1e-9)

    unit, drawn = state_at(state, "wave", heights, 0)[1] or 1, []
    for law in LAWS:
        q, energy = state_at(state, law, heights, found["time"])
        drum = found["drums"][law]
        assert agrees(drum["told"], 100 * energy / unit)
        drawn.append([*drum["ring"], q[min(state["node"], nodes - 1)]])
    # A height lifts the node of each drum, straight up and in proportion.
    (x, y, height), *others = tensor(drawn)
    for across, down, other in others:
        near(across, x)
        assert (down <= y) == (other >= height) or abs(down - y) < 1e-4
    steps = [(down - y, other - height) for _, down, other in others]
    near(steps[0][0] * steps[1][1], steps[1][0] * steps[0][1], atol=1e-3)
