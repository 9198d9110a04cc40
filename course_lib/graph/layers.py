r"""Graph networks: layers in which only neighbours exchange messages.

The module reads in the order of lecture 8: the convolution, message passing in general, and graph
attention. Last come pooling, which makes one vector of a graph, and the colours of Weisfeiler and
Lehman, which bound what these layers can tell apart. Graphs are defined in
:mod:`course_lib.graph.structure`, sums over the neighbours of a node in
:mod:`course_lib.graph.messages`.

A layer takes a graph and returns new features ``(nodes, d_out)``;
``graph.with_features(layer(graph).relu())`` is the graph for the next one. A message travels along
an edge from source to target, and the neighbours $\mathcal{N}(u)$ of a node $u$ are the sources of
the edges that end at $u$, one for each edge. Nothing here makes a matrix of nodes by nodes: time
and memory grow with nodes and edges. Bad input raises ``TypeError`` or ``ValueError`` with what was
given, what was expected and what to do.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar

import torch
from einops import einsum, rearrange
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.graph.messages import Aggregate, aggregate, edge_softmax, neighbour_sum
from course_lib.graph.structure import Graph
from course_lib.support.checks import check_divides, check_floating, check_shapes
from course_lib.support.contracts import Count, Size, checked

NEGATIVE_SLOPE = 0.2
PRODUCT = "rows heads d, heads d -> rows heads"


# Convolution: the same weights at every node --------------------------------------------------


class GraphConv(nn.Module):
    r"""A linear map of each node and of the sum of its neighbours.

    $x_u \mapsto \theta_1^\top x_u + \sum_{v \in \mathcal{N}(u)} \theta_2^\top x_v + b$; the
    nonlinearity is the caller's. $\theta_1^\top$ and $b$ are ``own``, $\theta_2^\top$ is
    ``neighbours``. A node without neighbours keeps $\theta_1^\top x_u + b$; a loop makes a node its
    own neighbour, and two edges count twice. Edge features are ignored. Equal to
    ``torch_geometric.nn.GraphConv`` with the same parameters. Raises ``ValueError`` for other
    features than ``d_in``. Source: Morris et al. (2019).
    """

    @checked
    def __init__(self, d_in: Size, d_out: Size) -> None:
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.neighbours = nn.Linear(d_in, d_out, bias=False)

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Sum over neighbours, then one matrix for the sum and one for the node itself."""
        _check_input(graph, self.own)
        return self.own(graph.x) + self.neighbours(neighbour_sum(graph.x, graph.edges))


class GCNConv(nn.Module):
    r"""The convolution of Kipf and Welling: $\hat D^{-1/2} \hat A \hat D^{-1/2} X \theta + b$.

    $\hat A = A + I$ gives every node a loop, and $\hat D$ is the diagonal of its row sums, the
    degrees with that loop. So a neighbour counts less the more neighbours either end has. A loop
    that is already there is replaced, not doubled; two other edges between the same nodes count
    twice. A node without neighbours gets $\theta^\top x_u + b$. Edge features are ignored.
    $\theta^\top$ is ``linear``, drawn as Glorot and Bengio (2010) do, and $b$ begins at 0. Equal to
    ``torch_geometric.nn.GCNConv`` with the same parameters. Raises ``ValueError`` for other
    features than ``d_in``. Source: Kipf and Welling (2017), eq. 2.
    """

    @checked
    def __init__(self, d_in: Size, d_out: Size) -> None:
        super().__init__()
        self.linear = nn.Linear(d_in, d_out)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        r"""Scale by $\hat D^{-1/2}$, sum over neighbours and the node itself, scale again."""
        _check_input(graph, self.linear)
        edges = graph.edges[:, graph.source != graph.target]
        degree = 1 + torch.bincount(edges[1], minlength=graph.nodes)
        # In half precision 70,000 neighbours are infinitely many.
        wide = torch.promote_types(graph.x.dtype, torch.float32)
        scale = degree.to(wide).rsqrt()[:, None]
        scaled = scale * F.linear(graph.x, self.linear.weight)
        summed = scale * (scaled + neighbour_sum(scaled, edges))
        return summed.to(graph.x.dtype) + self.linear.bias


# Message passing: any function along an edge, any function at a node --------------------------


class MessagePassing(nn.Module):
    r"""In general: $h_u = \phi(x_u, \bigoplus_{v \in \mathcal{N}(u)} \psi(x_u, x_v, e_{vu}))$.

    ``message`` is $\psi$, called with three tensors, a row for each edge: the features of its
    target, those of its source, and its own, which are ``None`` where the graph has no edge
    features. It returns ``(edges, d_message)``. ``aggregate`` names $\oplus$, see
    :func:`aggregate`; a node without neighbours gets 0. ``update`` is $\phi$, called with ``x`` and
    with what arrived, and returns ``(nodes, d_out)``. Both may be modules, whose parameters are
    then this layer's, or functions. Raises ``ValueError`` unless both return as many rows as they
    were given.
    Source: Gilmer et al. (2017), eqs. 1 and 2; Bronstein et al. (2021), section 5.3.
    """

    @checked
    def __init__(
        self,
        message: Callable[[Tensor, Tensor, Tensor | None], Tensor],
        update: Callable[[Tensor, Tensor], Tensor],
        aggregate: Aggregate = "sum",
    ) -> None:
        super().__init__()
        self.message = message
        self.update = update
        self.aggregate = aggregate

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Send a message along every edge, put together what arrives, update every node."""
        x = graph.x
        to, sent_from = x.index_select(0, graph.target), x.index_select(0, graph.source)
        message = self.message(to, sent_from, graph.edge_features)
        _check_rows("message", message, graph.edges.shape[1])
        arrived = aggregate(message, graph.target, graph.nodes, self.aggregate)
        updated = self.update(x, arrived)
        _check_rows("update", updated, graph.nodes)
        return updated


# Graph attention ------------------------------------------------------------------------------


class _GraphAttention(nn.Module):
    """What both kinds of graph attention share: all but the score."""

    dynamic: ClassVar[bool]

    @checked
    def __init__(self, d_in: Size, d_out: Size, heads: Size, *, d_edge: Size | None = None) -> None:
        super().__init__()
        check_divides("heads", heads, "d_out", d_out)
        self.heads = heads
        self.source = nn.Linear(d_in, d_out, bias=self.dynamic)
        self.target = nn.Linear(d_in, d_out) if self.dynamic else None
        self.edge = None if d_edge is None else nn.Linear(d_edge, d_out, bias=False)
        static = ["target", "source"] + ["edge"] * (d_edge is not None)
        parts = ["pair"] if self.dynamic else static
        empty = {part: torch.empty(heads, d_out // heads) for part in parts}
        self.score = nn.ParameterDict(empty)
        self.bias = nn.Parameter(torch.zeros(d_out))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all matrices as Glorot and Bengio (2010) do, and let the biases begin at 0."""
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            else:
                nn.init.xavier_uniform_(parameter)

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Blend the values of the neighbours and the node itself, head by head."""
        edges, edge_features = self._with_own_loops(graph)
        value = self._split(self.source(graph.x))
        query = value if self.target is None else self._split(self.target(graph.x))
        score = self._score(query, value, edges, edge_features)
        weights = edge_softmax(score, edges[1], graph.nodes)
        blended = neighbour_sum(value, edges, weight=weights)
        return rearrange(blended, "nodes heads d -> nodes (heads d)") + self.bias

    @checked
    def weights(
        self, graph: Graph
    ) -> tuple[Int64[Tensor, "2 attended"], Float[Tensor, "attended heads"]]:
        """The edges attended to, and how much: those between two nodes, then a loop for each."""
        edges, edge_features = self._with_own_loops(graph)
        value = self._split(self.source(graph.x))
        query = value if self.target is None else self._split(self.target(graph.x))
        score = self._score(query, value, edges, edge_features)
        return edges, edge_softmax(score, edges[1], graph.nodes)

    def _score(
        self, query: Tensor, value: Tensor, edges: Tensor, edge_features: Tensor | None
    ) -> Float[Tensor, "attended heads"]:
        """How much each edge matters to each head."""
        raise NotImplementedError

    def _split(self, features: Tensor) -> Float[Tensor, "rows heads d"]:
        return rearrange(features, "rows (heads d) -> rows heads d", heads=self.heads)

    def _with_own_loops(self, graph: Graph) -> tuple[Tensor, Tensor | None]:
        """The edges without loops and one loop for each node, and the features of all these."""
        _check_input(graph, self.source)
        between = graph.source != graph.target
        edges = graph.edges[:, between]
        loops = torch.arange(graph.nodes, device=edges.device).expand(2, -1)
        joined = torch.cat([edges, loops], dim=1)
        if self.edge is None:
            return joined, None
        if graph.edge_features is None:
            raise ValueError(
                f"the graph has no edge features; expected {self.edge.in_features} for each edge, "
                "since the layer was made with d_edge; give the graph edge_features"
            )
        check_shapes(edge_features=(graph.edge_features, f"edges {self.edge.in_features}"))
        features = graph.edge_features[between]
        return joined, torch.cat([features, aggregate(features, edges[1], graph.nodes, "mean")])


class GATConv(_GraphAttention):
    r"""Blend neighbours by learned weights: $x_u \mapsto \sum_v \alpha_{uv} W_s x_v + b$.

    Each of ``heads`` blends in features of its own, ``d_out / heads`` of them, and the outputs
    stand side by side. The weights $\alpha_{uv}$ are the softmax over the neighbours $v$ of $u$ and
    $u$ itself of the score $\sigma(a_t^\top W_s x_u + a_s^\top W_s x_v + a_e^\top W_e e_{vu})$,
    where $\sigma$ is the leaky rectifier with slope 0.2 and $e_{vu}$ are the features of the edge.
    So a node's ranking of its neighbours does not depend on the node (static attention).

    $W_s$ is ``source``, $W_e$ ``edge``, which is there if ``d_edge`` is given; without it, edge
    features are ignored. A loop that is already there is replaced by the node's own; the edge
    features of that are the mean over the node's neighbours, 0 without any. Equal to ``GATConv`` of
    ``torch_geometric.nn`` with the same parameters, where ``d_out`` counts one head. Raises
    ``ValueError`` unless ``heads`` divides ``d_out``, for other features than ``d_in`` and
    ``d_edge``, or a graph that lacks edge features. Source: Veličković et al. (2018), eqs. 1 to 5.
    """

    dynamic = False

    def _score(
        self, query: Tensor, value: Tensor, edges: Tensor, edge_features: Tensor | None
    ) -> Float[Tensor, "attended heads"]:
        source, target = edges
        score = einsum(query, self.score["target"], PRODUCT).index_select(0, target)
        score = score + einsum(value, self.score["source"], PRODUCT).index_select(0, source)
        if self.edge is not None:
            edge = self._split(self.edge(edge_features))
            score = score + einsum(edge, self.score["edge"], PRODUCT)
        return F.leaky_relu(score, NEGATIVE_SLOPE)


class GATv2Conv(_GraphAttention):
    r""":class:`GATConv` with the score $a^\top \sigma(W_t x_u + W_s x_v + W_e e_{vu})$.

    Here a node's ranking of its neighbours may depend on the node (dynamic attention). $W_t$ is
    ``target``; $W_s x$ and $W_t x$ come with a bias. Equal to ``GATv2Conv`` of
    ``torch_geometric.nn``; all else, errors included, is as in :class:`GATConv`.
    Source: Brody, Alon and Yahav (2022), eq. 7.
    """

    dynamic = True

    def _score(
        self, query: Tensor, value: Tensor, edges: Tensor, edge_features: Tensor | None
    ) -> Float[Tensor, "attended heads"]:
        source, target = edges
        # In place, since nothing here is larger than edges by features.
        pair = query.index_select(0, target)
        pair = pair.add_(value.index_select(0, source))
        if self.edge is not None:
            pair.add_(self._split(self.edge(edge_features)))
        return einsum(F.leaky_relu_(pair, NEGATIVE_SLOPE), self.score["pair"], PRODUCT)


# Pooling: one vector for a graph --------------------------------------------------------------


@checked
def sum_pool(graph: Graph) -> Float[Tensor, "graphs d"]:
    r"""The sum over the nodes of each graph: $\sum_u x_u$. A graph without nodes gives 0."""
    return aggregate(graph.x, graph.batch, graph.graphs, "sum")


@checked
def mean_pool(graph: Graph) -> Float[Tensor, "graphs d"]:
    r"""The mean over the nodes of each graph. Raises ``ValueError`` for a graph without nodes."""
    _check_every_graph_has_nodes(graph)
    return aggregate(graph.x, graph.batch, graph.graphs, "mean")


@checked
def max_pool(graph: Graph) -> Float[Tensor, "graphs d"]:
    r"""The maximum of each feature in each graph. Errors as in :func:`mean_pool`."""
    _check_every_graph_has_nodes(graph)
    return aggregate(graph.x, graph.batch, graph.graphs, "max")


# What no message passing can tell apart -------------------------------------------------------


@checked
def weisfeiler_lehman(graph: Graph, rounds: Count) -> Int64[Tensor, "rounds_and_start nodes"]:
    r"""Colour nodes by the colours of their neighbours, again and again (1-WL).

    $c^0_u$ names the features $x_u$, and
    $c^{t+1}_u$ names $\big(c^t_u, \{\!\{(c^t_v, e_{vu}) : v \in \mathcal{N}(u)\}\!\}\big)$, the
    colour of the node and how often each colour reaches it, along which kind of edge. Row ``t`` is
    after ``t`` rounds. Its colours are numbers from 0, the same for a node in every order of the
    nodes, and may be compared within the row: between all graphs of a batch, not between calls. In
    a graph without loops, ``t`` layers of this module, with any weights, give the same to nodes
    that share a colour in row ``t + 1``; without :class:`GCNConv`, in row ``t``.
    Source: Weisfeiler and Lehman (1968); Xu et al. (2019), lemma 2 and theorem 3.
    """
    colour = _numbered(map(tuple, graph.x.tolist()))
    features = graph.edge_features
    labels = [()] * graph.edges.shape[1] if features is None else map(tuple, features.tolist())
    label = _numbered(labels)
    edges = list(zip(*graph.edges.tolist(), label, strict=True))
    rows = [colour]
    for _ in range(rounds):
        reached = [[] for _ in colour]
        for source, target, kind in edges:
            reached[target].append((colour[source], kind))
        colour = _numbered(
            (own, tuple(sorted(around))) for own, around in zip(colour, reached, strict=True)
        )
        rows.append(colour)
    return torch.tensor(rows, dtype=torch.int64, device=graph.x.device)


def _numbered(names: Iterable[tuple]) -> list[int]:
    """Each name's place among the different ones in order, so that equal names get one number."""
    names = list(names)
    place = {name: i for i, name in enumerate(sorted(set(names)))}
    return [place[name] for name in names]


# What the layers share ------------------------------------------------------------------------


def _check_input(graph: Graph, linear: nn.Linear) -> None:
    """Raise unless the features of ``graph`` fit ``linear``: number, dtype and device."""
    check_floating(parameters=linear.weight, x=graph.x)
    check_shapes(x=(graph.x, f"nodes {linear.in_features}"))


def _check_rows(name: str, returned: object, rows: int) -> None:
    """Raise unless a caller's function returned floats, a row for each that it was given."""
    check_floating(**{name: returned})
    check_shapes(**{name: (returned, f"{rows} d")})


def _check_every_graph_has_nodes(graph: Graph) -> None:
    count = torch.bincount(graph.batch, minlength=graph.graphs)
    if (count == 0).any():
        which = int((count == 0).nonzero()[0])
        raise ValueError(
            f"graph {which} of the batch has no nodes; expected one at least, since a mean and a "
            "maximum need one; leave it out, or use sum_pool"
        )
