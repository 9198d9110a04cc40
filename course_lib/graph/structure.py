r"""Graphs: nodes with features, edges that lead from a source to a target, and batches.

A graph $G = (V, E)$ holds the features of its nodes as rows, ``x`` of shape ``(nodes, d)``, and its
edges as two rows of node numbers, ``edges`` of shape ``(2, edges)``: the sources, and below them
the targets. A message travels from source to target; the neighbours of a node are the sources of
the edges that end there. An undirected graph has each edge in both directions. Several graphs make
one graph with no edge between them, a batch, so that a layer for one works on many.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from course_lib.support.checks import check_floating, check_shapes, check_size, check_some
from course_lib.support.contracts import Count, checked


@checked
@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes, edges and their features; see the top of this module. It is immutable.

    ``edges`` holds int64 node numbers from 0. A node may have no edge, an edge may lead from a node
    to itself (a loop), and two edges may join the same nodes (they count twice). ``edge_features``
    are ``(edges, d_edge)``. ``batch`` says to which graph each node belongs: numbers from 0 that
    never fall, 0 for all if it is not given. ``graphs`` counts the graphs of the batch; give it
    only where the last ones have no nodes.

    Raises ``TypeError`` for edges or a batch of another dtype than int64 and for features that are
    not floating point, ``ValueError`` for shapes that disagree, an edge to a node that is not there
    or to a node of another graph, and a batch out of order.
    """

    x: Float[Tensor, "nodes d"]
    edges: Int64[Tensor, "2 edges"]
    _: KW_ONLY
    edge_features: Float[Tensor, "edges d_edge"] | None = None
    batch: Int64[Tensor, "nodes"] | None = None
    graphs: Count | None = None

    def __post_init__(self) -> None:
        check_node_numbers("edges", self.edges, self.nodes)
        if self.batch is None:
            batch = torch.zeros(self.nodes, dtype=torch.int64, device=self.x.device)
            object.__setattr__(self, "batch", batch)
            least = 1
        else:
            _check_batch(self.batch, self.edges)
            least = int(self.batch[-1]) + 1 if self.nodes else 0
        graphs = least if self.graphs is None else self.graphs
        check_size("graphs", graphs, minimum=least)
        object.__setattr__(self, "graphs", graphs)

    def __repr__(self) -> str:
        """Sizes; the numbers themselves are in the fields."""
        edge = "" if self.edge_features is None else f", d_edge={self.edge_features.shape[1]}"
        return (
            f"Graph(nodes={self.nodes}, edges={self.edges.shape[1]}, d={self.x.shape[1]}{edge}, "
            f"graphs={self.graphs})"
        )

    # Other ways to make a graph ---------------------------------------------------------------

    @classmethod
    @checked
    def undirected(
        cls,
        x: Float[Tensor, "nodes d"],
        pairs: Int64[Tensor, "2 pairs"],
        *,
        edge_features: Float[Tensor, "pairs d_edge"] | None = None,
    ) -> "Graph":
        """Join each pair of nodes in both directions: first all as given, then all turned round.

        Give each pair once; a loop is not doubled. ``edge_features`` has a row for each pair, which
        both directions get. Errors as in :class:`Graph`.
        """
        check_node_numbers("pairs", pairs, len(x))
        two_ways = pairs[0] != pairs[1]
        edges = torch.cat([pairs, pairs.flip(0)[:, two_ways]], dim=1)
        if edge_features is not None:
            edge_features = torch.cat([edge_features, edge_features[two_ways]])
        return cls(x, edges, edge_features=edge_features)

    @classmethod
    @checked
    def complete(cls, x: Float[Tensor, "nodes d"]) -> "Graph":
        """Join every node to every other, in both directions, and none to itself."""
        others = ~torch.eye(x.shape[0], dtype=torch.bool, device=x.device)
        return cls(x, others.nonzero().T)

    @classmethod
    @checked
    def batched(cls, graphs: Sequence["Graph"]) -> "Graph":
        """Lay graphs side by side as one: nodes after nodes, edges after edges, in their order.

        Raises ``ValueError`` for no graph at all, for features of different sizes, and where some
        graphs have edge features and others have none.
        """
        check_some(graphs=graphs)
        for i, graph in enumerate(graphs):
            _check_alike(f"graphs[{i}]", graph, graphs[0])
        featured = graphs[0].edge_features is not None
        shifts = torch.tensor([0] + [graph.nodes for graph in graphs[:-1]]).cumsum(0).tolist()
        counts = torch.tensor([0] + [graph.graphs for graph in graphs]).cumsum(0).tolist()
        return cls(
            torch.cat([graph.x for graph in graphs]),
            torch.cat([g.edges + shift for g, shift in zip(graphs, shifts, strict=True)], dim=1),
            edge_features=torch.cat([g.edge_features for g in graphs]) if featured else None,
            batch=torch.cat([g.batch + n for g, n in zip(graphs, counts[:-1], strict=True)]),
            graphs=counts[-1],
        )

    # The same graph, changed ------------------------------------------------------------------

    @checked
    def with_features(self, x: Float[Tensor, "nodes d_new"]) -> "Graph":
        """The same edges between nodes with the features ``x``, such as the output of a layer."""
        if self.edge_features is not None:
            check_floating(edge_features=self.edge_features, x=x)
        # A copy, since checking the edges again would cost time in every layer.
        graph = copy(self)
        object.__setattr__(graph, "x", x)
        return graph

    @checked
    def permuted(self, order: Int64[Tensor, "nodes"]) -> "Graph":
        """The same graph with its nodes in another order: node ``k`` is what ``order[k]`` was.

        The edges keep their order and lead between the same nodes under their new numbers. Raises
        ``ValueError`` unless ``order`` holds each node once, and where it tears a batch apart.
        """
        everyone = torch.arange(self.nodes, device=self.x.device)
        if not torch.equal(order.sort().values, everyone):
            raise ValueError(
                "order holds a number twice, or one that is no node; expected each of 0 to "
                f"{self.nodes - 1} once; make one with torch.randperm({self.nodes})"
            )
        new_number = torch.empty_like(order).scatter_(0, order, everyone)
        return Graph(
            self.x[order],
            new_number[self.edges],
            edge_features=self.edge_features,
            batch=self.batch[order],
            graphs=self.graphs,
        )

    def to(
        self, device: torch.device | str | None = None, *, dtype: torch.dtype | None = None
    ) -> "Graph":
        """The same graph on another device, or with features of another floating dtype."""
        features = self.edge_features
        return Graph(
            self.x.to(device=device, dtype=dtype),
            self.edges.to(device=device),
            edge_features=None if features is None else features.to(device=device, dtype=dtype),
            batch=self.batch.to(device=device),
            graphs=self.graphs,
        )

    # Properties -------------------------------------------------------------------------------

    @property
    def nodes(self) -> int:
        """How many nodes there are, in all graphs of the batch together."""
        return self.x.shape[0]

    @property
    def source(self) -> Int64[Tensor, "edges"]:
        """Where each edge begins."""
        return self.edges[0]

    @property
    def target(self) -> Int64[Tensor, "edges"]:
        """Where each edge ends."""
        return self.edges[1]

    def degree(self) -> Int64[Tensor, "nodes"]:
        r"""How many edges end at each node: $d_u = \sum_v A_{uv}$."""
        return torch.bincount(self.target, minlength=self.nodes)

    def adjacency(self) -> Float[Tensor, "nodes nodes"]:
        r"""The adjacency matrix: $A_{uv}$ counts the edges that lead from $v$ to $u$.

        Its rows are targets and its columns sources, as in attention weights, so that $AX$ sums
        over neighbours. It is dense, with the dtype of ``x``: to look at, and to compare with. No
        layer makes it.
        """
        empty = self.x.new_zeros(self.nodes, self.nodes)
        one = self.x.new_ones(())
        return empty.index_put((self.target, self.source), one, accumulate=True)


# Checks ---------------------------------------------------------------------------------------


def check_node_numbers(name: str, numbers: Int64[Tensor, "*ends edges"], nodes: int | None) -> None:
    """Raise ``ValueError`` unless all are in [0, nodes); without ``nodes``, none is too large."""
    outside = numbers < 0 if nodes is None else (numbers < 0) | (numbers >= nodes)
    if outside.any():
        which = int(outside.reshape(-1, numbers.shape[-1]).any(dim=0).nonzero()[0])
        place = ":, " * (numbers.dim() - 1) + str(which)
        there = "" if nodes is None else f", and there are {nodes} nodes"
        raise ValueError(
            f"{name}[{place}] is {numbers[..., which].tolist()}{there}; expected numbers of nodes, "
            "from 0; drop it, or add the node"
        )


def _check_batch(batch: Tensor, edges: Tensor) -> None:
    """Raise unless ``batch`` numbers the graph of each node, in order, and no edge leaves one."""
    falls = (batch[1:] < batch[:-1]).nonzero()
    if len(falls):
        node = int(falls[0]) + 1
        raise ValueError(
            f"batch falls from {int(batch[node - 1])} to {int(batch[node])} at node {node}; "
            "expected numbers that never fall; sort the nodes by graph, or make the batch with "
            "Graph.batched"
        )
    if len(batch):
        check_size("the first number in batch", int(batch[0]), minimum=0)
    ends = batch[edges]
    leaves = (ends[0] != ends[1]).nonzero()
    if len(leaves):
        which = int(leaves[0])
        raise ValueError(
            f"edges[:, {which}] is {edges[:, which].tolist()}, from graph {int(ends[0, which])} to "
            f"graph {int(ends[1, which])} of the batch; expected both ends in one graph; drop the "
            "edge, or give its nodes one number in batch"
        )


def _check_alike(name: str, graph: object, first: Graph) -> None:
    """Raise unless ``graph`` is one, with features like those of the ``first`` of a batch."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"{name} is a {type(graph).__name__}; expected a course_lib.graph.Graph; "
            "make one with Graph(x, edges)"
        )
    if (graph.edge_features is None) != (first.edge_features is None):
        raise ValueError(
            f"of graphs[0] and {name} one has edge features and one has none; expected all or "
            "none; give them to every graph"
        )
    for what in ("x",) if graph.edge_features is None else ("x", "edge_features"):
        both = {f"graphs[0].{what}": getattr(first, what), f"{name}.{what}": getattr(graph, what)}
        check_floating(**both)
        check_shapes(**{of: (rows, f"{len(rows)} d") for of, rows in both.items()})
