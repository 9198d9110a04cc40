"""The checkers of lecture 8: a graph convolution, and the scores of graph attention."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import leaky_relu

from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors


@st.composite
def _edges(draw: Callable, nodes: int, *, fewest: int = 0, most: int = 4) -> Tensor:
    """Sources above targets. No loops, but two edges may join the same nodes."""
    number = st.integers(0, nodes - 1)
    joined = st.tuples(number, number).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(joined, min_size=fewest, max_size=most)) if nodes > 1 else []
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()


@st.composite
def _graphs(draw: Callable, *, edges: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    nodes, d_in, d_out = draw(SIZES), draw(SIZES), draw(SIZES)
    joined = draw(_edges(nodes, most=4 if edges else 0))
    own, neighbours = (draw(tensors(d_in, d_out)) for _ in range(2))
    return draw(tensors(nodes, d_in)), joined, own, neighbours


graph_convolution = Exercise(
    "graph_convolution",
    "graph_convolution(x, edges, own, neighbours): the features of each node times the matrix "
    "own, plus the sum over its neighbours times the matrix neighbours. The neighbours of a "
    "node are the sources of the edges that end there. Shapes: x (nodes, d_in), edges (2, edges), "
    "sources above targets, own and neighbours (d_in, d_out), to (nodes, d_out).",
    inputs=_graphs(),
    shape=lambda x, edges, own, neighbours: (len(x), own.shape[1]),  # noqa: ARG005 - shown by name
)


def _sums(x: Tensor, edges: Tensor) -> Tensor:
    """The sum over the neighbours of each node, edge by edge."""
    total = torch.zeros_like(x)
    for source, target in edges.T.tolist():
        total[target] += x[source]
    return total


@graph_convolution.property(
    "without edges, every node looks at itself alone",
    hint="No node has neighbours here. Which of the two matrices is then left?",
    inputs=_graphs(edges=False),
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> bool:
    return close(attempt(x, edges, own, neighbours), x @ own)


@graph_convolution.property(
    "an edge carries a message from its source to its target, and none back",
    hint="Sources stand in the first row of edges, targets in the second. Which node receives?",
    inputs=st.tuples(
        tensors(2, 1),
        st.just(torch.tensor([[0], [1]])),
        tensors(1, 1),
        tensors(1, 1),
    ),
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> bool:
    return close(attempt(x, edges, own, neighbours)[0], (x @ own)[0])


@graph_convolution.property(
    "everything that reaches a node is added up",
    hint="Take a node with two neighbours, and work its row out by hand.",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> bool | str:
    answer, total = attempt(x, edges, own, neighbours), _sums(x, edges)
    count = torch.bincount(edges[1], minlength=len(x)).clamp(min=1)[:, None]
    return close(answer, x @ own + total @ neighbours) or recognised(
        answer,
        {
            "One matrix seems to serve for both. Does a node treat itself as a neighbour?": (
                x + total
            )
            @ own,
            "Two equal messages count twice. When you write to the same row twice, "
            "does the second value join the first, or take its place? Or do they share, as in a "
            "mean?": x @ own + (total / count) @ neighbours,
        },
    )


@graph_convolution.property(
    "the order of the edges changes nothing",
    hint="A sum has no first term. What in your code depends on the place of an edge in the list?",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> bool:
    answer = attempt(x, edges, own, neighbours)
    return close(answer, attempt(x, edges.flip(1), own, neighbours))


@st.composite
def _scored(draw: Callable) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    nodes, d_in, d_out = draw(st.sampled_from((2, 3))), draw(SIZES), draw(SIZES)
    edges = draw(_edges(nodes, fewest=1))
    x, weight = draw(tensors(nodes, d_in)), draw(tensors(d_in, d_out))
    return x, edges, weight, draw(tensors(d_out)), draw(tensors(d_out))


gat_scores = Exercise(
    "gat_scores",
    "gat_scores(x, edges, weight, a_target, a_source): the score of each edge in graph attention, "
    "version 1, before the softmax; the leaky rectifier has slope 0.2. Shapes: x (nodes, d_in), "
    "edges (2, edges), sources above targets, weight (d_in, d_out), a_target and a_source "
    "(d_out,), to (edges,).",
    inputs=_scored(),
    shape=lambda x, edges, weight, a_target, a_source: (edges.shape[1],),  # noqa: ARG005 - the same
)


@gat_scores.property(
    "an edge between nodes with features 0 has the score 0",
    hint="What is left of the formula when all features are 0? It has no bias.",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, weight: Tensor, *a: Tensor) -> bool:
    silent = attempt(torch.zeros_like(x), edges, weight, *a)
    return close(silent, torch.zeros(edges.shape[1]))


@gat_scores.property(
    "a score goes by the two ends of its edge alone",
    hint="Scores are made for each edge by itself; neighbours compete in the softmax, which comes "
    "later. What else does yours look at?",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, weight: Tensor, *a: Tensor) -> bool:
    alone = [attempt(x, edges[:, [e]], weight, *a) for e in range(edges.shape[1])]
    return close(attempt(x, edges, weight, *a), torch.cat(alone))


@gat_scores.property(
    "with a_target of zeros, the target does not matter",
    hint="Sources stand in the first row of edges, targets in the second. Does each half of the "
    "sum look at an end of its own, and at the right one?",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, weight: Tensor, *a: Tensor) -> bool:
    a = (torch.zeros_like(a[0]), a[1])
    edge = edges[:, [0]]
    other = x.index_fill(0, edge[1], 1)
    return close(attempt(x, edge, weight, *a), attempt(other, edge, weight, *a))


@gat_scores.property(
    "with a_source of zeros, the source does not matter",
    hint="An edge has two ends. Which of them does the half of a_target look at?",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, weight: Tensor, *a: Tensor) -> bool:
    a = (a[0], torch.zeros_like(a[1]))
    edge = edges[:, [0]]
    other = x.index_fill(0, edge[0], 1)
    return close(attempt(x, edge, weight, *a), attempt(other, edge, weight, *a))


@gat_scores.property(
    "the score is the rectified sum of what each end contributes",
    hint="Take one edge, and work the three steps out by hand: transform both ends, weigh each "
    "with its own vector, rectify the sum.",
)
def _(attempt: Attempt, x: Tensor, edges: Tensor, weight: Tensor, *a: Tensor) -> bool | str:
    answer = attempt(x, edges, weight, *a)
    a_target, a_source = a
    from_source, to_target = (x @ weight)[edges]
    linear = to_target @ a_target + from_source @ a_source
    return close(answer, leaky_relu(linear, 0.2)) or recognised(
        answer,
        {
            "This sum is negative, and nothing makes it smaller. Is the rectifier missing, or does "
            "it come before the weighing?": linear,
            "Your rectifier seems to have another slope: which one does the task ask for?": (
                leaky_relu(linear, 0.01)
            ),
            "Your rectifier seems to let nothing negative through. This one leaks.": linear.relu(),
        },
    )
