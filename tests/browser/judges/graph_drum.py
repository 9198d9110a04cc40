"""GraphDrum: compare its display with course_lib."""

import functools
from typing import Any

import pytest
import torch
from in_the_page import uniform
from playwright.sync_api import Locator
from reading import agrees, decoded, state_of
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

from .scraped import assert_said, scraper

LIFT = 40
LAWS = ("heat", "wave", "bracket")
READ = scraper("""return {
  time: dataOf("time"),
  heights: one("[data-heights]").dataset.heights.split(" ").map(Number),
  mode: all(".cw-drum-mode b"),
  cursor: one(".cw-cursor").getBoundingClientRect().x,
  drums: Object.fromEntries(all("[data-law]", (drum) => [drum.dataset.law, {
    told: [...drum.querySelectorAll(".cw-drum-told strong")].map(textOf),
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


def state_at(state: dict[str, Any], law: str, heights: Tensor, time: float) -> tuple[Tensor, float]:
    """Heights and energy of a law after a time, by the exponential of its matrix."""
    spec = spec_of(state)
    nodes, pairs, stiffness = len(heights), spec["edges"], state["stiffness"]
    places, edges = decoded(spec["places"]), edges_of(pairs)
    from_, to = places[edges[0]], places[edges[1]]
    turn = from_[:, 0] * to[:, 1] - from_[:, 1] * to[:, 0]
    current = 0.4 * state["stir"] * turn / max([1e-6, *turn.abs().tolist()])
    # The page's currents are √stiffness times those of course_lib, where it is the edges' metric.
    start = torch.cat((heights, (law != "heat") * current / stiffness**0.5))
    matrix = generator(law, tuple(map(tuple, pairs)), nodes, stiffness)
    end = torch.matrix_exp(time * matrix) @ start
    q, p = end[:nodes], end[nodes:]
    return q, float(q @ q + stiffness * p @ p) / 2


def spec_of(state: dict[str, Any]) -> dict[str, Any]:
    return next(spec for spec in state["graphs"] if spec["name"] == state["graph"])


def plucked(state: dict[str, Any]) -> Tensor:
    """cos² of the distance from the finger, in thirds of a quarter turn."""
    spec = spec_of(state)
    edges, nodes = edges_of(spec["edges"]).numpy(), spec["places"]["shape"][0]
    links = coo_array(([1] * edges.shape[1], edges), shape=(nodes, nodes))
    far = shortest_path(links, directed=False, unweighted=True, indices=state["node"])
    angle = torch.from_numpy(far).clamp(max=3) * torch.pi / 6
    return state["height"] * angle.cos() ** 2


def lift_of(places: Tensor) -> tuple[Tensor, Tensor, float]:
    """The depth of each node at rest, the lift by a height of 1, and the ground.

    All nodes fill the drawing at heights of -1 to 1.
    """
    x, y = places.T
    near = 1 / (1 + 0.2 * y)
    back = 0.46 * 148 / max(1.0, (x.abs() * near).max().item()) * y * near
    lift = LIFT * near
    up, down = (lift + back).max().item(), (lift - back).max().item()
    squash = min(1.0, 198 / (up + down))
    return squash * back, squash * lift, (212 + squash * (up - down)) / 2


def place_of(places: Tensor, node: int, height: Tensor) -> list[float]:
    """The position of a node in the drawing."""
    x, y = places.T
    near = 1 / (1 + 0.2 * y)
    across = 148 / max(1.0, (x.abs() * near).max().item())
    back, lift, ground = lift_of(places)
    return [
        160 + across * float(x[node] * near[node]),
        float(ground - back[node] - lift[node] * float(height)),
    ]


def displayed(widget: Locator) -> None:
    state, found = state_of(widget), widget.evaluate(READ)
    spec, stiffness = spec_of(state), state["stiffness"]
    heights = torch.tensor(found["heights"], dtype=torch.float64)
    nodes, edges = len(heights), edges_of(spec["edges"])
    if state["start"] == "mode":
        rate = eigenmodes(edges, nodes, dtype=torch.float64)[0][state["mode"]].clamp(min=0)
        L = laplacian(edges, nodes, dtype=torch.float64)
        torch.testing.assert_close(L @ heights, rate * heights, rtol=0, atol=1e-6)
        assert heights.abs().max() == pytest.approx(1)
        assert_said(found["mode"], (stiffness * rate, (stiffness * rate) ** 0.5))
    elif state["start"] == "random":
        exact = [2 * uniform(state["seed"], node) - 1 for node in range(nodes)]
        assert found["heights"] == pytest.approx(exact)
    else:
        torch.testing.assert_close(heights, plucked(state), rtol=0, atol=1e-9)

    unit = state_at(state, "wave", heights, 0)[1] or 1
    for law in LAWS:
        q, energy = state_at(state, law, heights, found["time"])
        [share], ring = found["drums"][law]["told"], found["drums"][law]["ring"]
        assert agrees(share, 100 * energy / unit)
        node = min(state["node"], nodes - 1)
        assert ring == pytest.approx(place_of(decoded(spec["places"]), node, q[node]), abs=1e-4)
