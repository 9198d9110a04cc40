"""GraphDrum: heat, wave and double bracket from one start, on one and the same graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from course_lib.graph_dynamics import components, eigenmodes
from course_lib.graph_dynamics.calculus import check_edges
from course_lib.support.checks import check_shapes
from course_lib.widgets.graph_drum.graph_shapes import SHAPES, circle
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Index,
    Integer,
    Number,
    brief,
    finite_array,
)

MOST_NODES = 100
MOST_SPRINGS = 400  # drawn in three drums at each frame
OWN = "own"
FEWEST = 3  # nodes that have two modes besides the constant one
MIDDLE = (0.3, 0.2)  # where a pluck begins: not quite in the middle, where few modes would answer


class GraphDrum(MovingWidget):
    r"""Three drums of springs on one graph: a node is plucked, and three laws take over.

    With heights $q$ on nodes, currents $p$ on edges, $E = \frac12\|q\|^2 + \frac12\|p\|^2$ and
    $J(q, p) = (-\delta_0^*p, \delta_0 q)$, heat is $\dot q = -Lq$, the wave $\dot x = J\nabla E$,
    the double bracket $\dot x = J\nabla E + J^2\nabla E$. The page solves all three exactly, mode
    by mode of $L = \delta_0^*\delta_0$. The ``stiffness`` $c$ is the weight of every edge: it
    multiplies $L$. The page's currents are $\sqrt c\,p$, so that $E$ is the same in its numbers.

    ``graph`` is the name of a graph that is there, one of drum, path, ring, dumbbell, molecule and
    tree, or a ``Graph`` of your own; ``edges`` ``(2, E)`` alone do as well. An edge and its way
    back are one spring, and a loop pulls at nothing; 100 nodes and 400 springs are the most.
    ``places`` ``(nodes, 2)`` say where the nodes are drawn; if left out, two slow modes do.

    A ``start`` is a "pluck" of ``node`` to a ``height``, the eigenmode number ``mode``, or "random"
    heights of a ``seed``. ``stir`` adds a current round the middle. The drums are ``moving`` at
    once, and at every choice anew, unless the reader has asked for less motion or you for none.

    Traits, synced both ways: ``graph``, ``start``, ``node``, ``height``, ``mode``, ``seed``,
    ``stir``, ``stiffness``, ``large`` (which drum is). Raises ``TypeError`` and ``ValueError`` for
    a graph that cannot be drawn. Source: Gruber, Lee and Trask (2023), section 4.
    """

    graphs = Data(lambda self: list(self._graphs.values()))
    graph = Choice(offered=lambda self: self._graphs, default="drum")
    start = Choice("pluck", "mode", "random", default="pluck")
    node = Index(of=lambda self: self._nodes(), default=lambda self: self._spec()["middle"])
    height = Number(-1.0, 1.0, default=1.0)
    mode = Index(of=lambda self: self._nodes(), default=lambda self: min(1, self._nodes() - 1))
    seed = Integer(0, 2**31 - 1, default=1)
    stir = Number(0.0, 1.0, default=0.0)
    stiffness = Number(0.01, 1.0, default=0.05)
    large = Choice("heat", "wave", "bracket", default="wave")

    def __init__(
        self,
        graph: Any = "drum",
        *,
        edges: ArrayLike | None = None,
        places: ArrayLike | None = None,
        **given: Any,
    ) -> None:
        shapes = {name: (title, *make()) for name, (title, make) in SHAPES.items()}
        if not isinstance(graph, str):
            if edges is not None or not (hasattr(graph, "edges") and hasattr(graph, "nodes")):
                raise TypeError(
                    f"graph is {brief(graph)}; expected one of {', '.join(SHAPES)} or a Graph; "
                    "pass edges=... without a graph"
                )
            shapes = {OWN: _own(graph.edges, places, int(graph.nodes))} | shapes
        elif edges is not None:
            shapes = {OWN: _own(edges, places)} | shapes
        elif places is not None:
            raise TypeError("places came without edges; expected both; pass the edges between them")
        self._graphs = {name: _spec(name, *shape) for name, shape in shapes.items()}
        super().__init__(graph=OWN if OWN in shapes else graph, **given)

    def describe(self) -> str:
        """Which graph is plucked, and how."""
        spec = self._spec()
        starts = {
            "pluck": f"node {self.node} plucked to {self.height:g}",
            "mode": f"eigenmode {self.mode} of the Laplacian",
            "random": "random heights",
        }
        return (
            f"Three drums on one graph, {spec['title']}, of {self._nodes()} nodes and "
            f"{len(spec['edges'])} springs, from one start: {starts[self.start]}. Heat flattens to "
            "the mean, the wave rings on for ever, the double bracket rings until it settles."
        )

    def _spec(self) -> dict[str, Any]:
        return self._graphs[self.graph]

    def _nodes(self) -> int:
        return self._spec()["places"]["shape"][0]


def _spec(name: str, title: str, places: NDArray[Any], pairs: NDArray[Any]) -> dict[str, Any]:
    """A graph as it travels: its places within ±1, and the node with which it begins."""
    low, high = places.min(axis=0), places.max(axis=0)
    placed = 2 * (places - (low + high) / 2) / (max(high - low) or 1.0)
    return {
        "name": name,
        "title": title,
        "places": Array._encode(placed.astype(np.float32), None),
        "edges": pairs.tolist(),
        "middle": int(np.linalg.norm(placed - MIDDLE, axis=1).argmin()),
    }


def _own(
    edges: ArrayLike, places: ArrayLike | None, nodes: int | None = None
) -> tuple[str, NDArray[Any], NDArray[Any]]:
    """A graph of the reader's own, each pair once, if it can be drawn."""
    edges = torch.as_tensor(edges)
    check_edges(edges)
    if places is not None:
        places = finite_array("places", places, ("nodes", "xy=2"))
        nodes = len(places) if nodes is None else nodes
        check_shapes(places=(torch.from_numpy(places), f"{nodes} 2"))
    elif nodes is None:
        nodes = int(edges.max()) + 1 if edges.numel() else 1
    if not 1 <= nodes <= MOST_NODES:
        raise ValueError(
            f"the graph has {nodes} nodes; expected 1 to {MOST_NODES}, which can be told apart in "
            "the picture; show a part of it"
        )
    check_edges(edges, nodes)
    pairs = edges[:, edges[0] != edges[1]].sort(dim=0).values.unique(dim=1)
    if pairs.shape[1] > MOST_SPRINGS:
        raise ValueError(
            f"the graph has {pairs.shape[1]} springs; expected {MOST_SPRINGS} at most, for which "
            "there is time in a frame; show a part of it"
        )
    drawn = _drawn(pairs, nodes) if places is None else places
    return "Your graph", drawn, pairs.T.numpy()


def _drawn(pairs: torch.Tensor, nodes: int) -> NDArray[Any]:
    """Places by the two slowest modes of the Laplacian, or a circle where those fall together.

    Source: Hall (1970), an r-dimensional quadratic placement algorithm.
    """
    if nodes < FEWEST or components(pairs, nodes).any():
        return circle(nodes)
    return eigenmodes(pairs, nodes, dtype=torch.float64)[1][:, 1:3].numpy()
