"""The checkers of lecture 9: the gradient on a graph, its adjoint, and a double bracket."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import graph_dynamics as library
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors

COUNTS = st.sampled_from((1, 2, 3))
# No weight is 1, and none on both sides, so that each way to mix them up gives another number.
ON_NODES, ON_EDGES, ALL_ONE = (2.0, 4.0), (3.0, 5.0), (1.0,)
SIGNS = (1.0, -1.0, 2.0)
ROUNDING = 1e-4


@st.composite
def _edges(draw: Callable, nodes: int) -> Tensor:
    """One to three edges between the nodes; some may be loops, some may be there twice."""
    count, node = draw(COUNTS), st.integers(0, nodes - 1)
    return torch.tensor([draw(st.lists(node, min_size=count, max_size=count)) for _ in range(2)])


@st.composite
def _fields_on_nodes(draw: Callable) -> tuple[Tensor, Tensor]:
    nodes = draw(SIZES)
    return draw(tensors(nodes, draw(SIZES))), draw(_edges(nodes))


@st.composite
def _constant_fields(draw: Callable) -> tuple[Tensor, Tensor]:
    nodes, d = draw(SIZES), draw(SIZES)
    return draw(tensors(1, d, numbers=SIGNS)).repeat(nodes, 1), draw(_edges(nodes))


graph_gradient = Exercise(
    "graph_gradient",
    "graph_gradient(f, edges): along every edge, the value at its target less the value at its "
    "source. Shapes: (nodes, d) and (2, E), sources above targets, to (E, d).",
    inputs=_fields_on_nodes(),
    shape=lambda f, edges: (edges.shape[1], f.shape[1]),
)


@graph_gradient.property(
    "a field that is the same at all nodes has the gradient 0",
    hint="Which two numbers do you compare along an edge, and how, so that equal ones give 0?",
    inputs=_constant_fields(),
)
def _(attempt: Attempt, f: Tensor, edges: Tensor) -> bool:
    return close(attempt(f, edges), torch.zeros(edges.shape[1], f.shape[1]))


@graph_gradient.property(
    "an edge that is turned round changes its sign",
    hint="Exchange source and target. Which direction does your formula give an edge?",
)
def _(attempt: Attempt, f: Tensor, edges: Tensor) -> bool:
    return close(attempt(f, edges.flip(0)), -attempt(f, edges))


@graph_gradient.property(
    "it is the value at the target less the value at the source",
    hint="Take one edge, from 0 to 1, and read the two values off. What is their difference, and "
    "do you change it afterwards?",
)
def _(attempt: Attempt, f: Tensor, edges: Tensor) -> bool | str:
    answer, right = attempt(f, edges), library.gradient(f, edges)
    return close(answer, right) or recognised(
        answer, {"You walk against the edges: which end comes first in the difference?": -right}
    )


@st.composite
def _fields_on_edges(
    draw: Callable, *, on_nodes: tuple = ON_NODES, on_edges: tuple = ON_EDGES
) -> tuple[Tensor, Tensor, int, Tensor, Tensor]:
    nodes = draw(SIZES)
    edges = draw(_edges(nodes))
    count = edges.shape[1]
    g = draw(tensors(count, draw(SIZES)))
    m, w = draw(tensors(nodes, numbers=on_nodes)), draw(tensors(count, numbers=on_edges))
    return g, edges, nodes, m, w


graph_divergence = Exercise(
    "graph_divergence",
    "graph_divergence(g, edges, nodes, node_weights, edge_weights): the adjoint of the gradient in "
    "the inner products with these weights. Shapes: (E, d), (2, E), a number, (nodes,) and (E,) to "
    "(nodes, d).",
    inputs=_fields_on_edges(),
    shape=lambda g, edges, nodes, node_weights, edge_weights: (nodes, g.shape[1]),  # noqa: ARG005
)


@graph_divergence.property(
    "all that arrives and leaves adds up to nothing, where all weights are 1",
    hint="What an edge brings to its target it takes from its source. Do both ends of each edge "
    "appear in your formula, and do all edges of a node count, however many there are?",
    inputs=_fields_on_edges(on_nodes=ALL_ONE, on_edges=ALL_ONE),
)
def _(attempt: Attempt, g: Tensor, edges: Tensor, nodes: int, *weights: Tensor) -> bool:
    return close(attempt(g, edges, nodes, *weights).sum(dim=0), torch.zeros(g.shape[1]))


@graph_divergence.property(
    "where all weights are 1, it is what arrives at a node less what leaves it",
    hint="Take one edge, from 0 to 1, with a 1 on it. What should node 0 get, and what node 1? "
    "Then two edges that end at one node.",
    inputs=_fields_on_edges(on_nodes=ALL_ONE, on_edges=ALL_ONE),
)
def _(attempt: Attempt, g: Tensor, edges: Tensor, nodes: int, *weights: Tensor) -> bool | str:
    answer, right = attempt(g, edges, nodes, *weights), library.divergence(g, edges, nodes)
    return close(answer, right) or recognised(
        answer,
        {
            "Yours is the divergence of vector calculus, which counts what leaves. The adjoint of "
            "the gradient has the other sign.": -right,
        },
    )


@graph_divergence.property(
    "the inner product of any f with it is that of the gradient of f with g",
    hint="Write both inner products as sums, and let f be 1 at one node and 0 elsewhere. Which "
    "weights stand on the side of the edges, which on the side of the nodes?",
)
def _(attempt: Attempt, g: Tensor, edges: Tensor, nodes: int, *weights: Tensor) -> bool | str:
    answer, (m, w) = attempt(g, edges, nodes, *weights), weights

    def mistaken(m: Tensor | None, w: Tensor | None) -> Tensor:
        return library.divergence(g, edges, nodes, node_weights=m, edge_weights=w)

    return close(answer, mistaken(m, w)) or recognised(
        answer,
        {
            "You use no weights at all.": mistaken(None, None),
            "The weights of the nodes do not enter.": mistaken(None, w),
            "The weights of the edges do not enter.": mistaken(m, None),
            "The weights of the nodes stand on the wrong side: they belong to the inner product "
            "that you want to get rid of.": mistaken(1 / m, w),
            "The weights of the edges stand on the wrong side: they come with the inner product "
            "that you start from.": mistaken(m, 1 / w),
            "Both weights stand on the wrong side.": mistaken(1 / m, 1 / w),
        },
    )


@st.composite
def _brackets(draw: Callable) -> tuple[Tensor, Tensor]:
    """The slope of an energy in three dimensions, and a skew matrix that is not 0."""
    a, b, c = draw(tensors(3, numbers=SIGNS)).tolist()
    J = torch.tensor([[0, -c, b], [c, 0, -a], [-b, a, 0]])
    return draw(tensors(3)), J


double_bracket = Exercise(
    "double_bracket",
    "double_bracket(slope, J): the velocity of the double bracket flow where the energy has the "
    "gradient slope. J is skew. Shapes: (n,) and (n, n) to (n,).",
    inputs=_brackets(),
    shape=lambda slope, J: slope.shape,  # noqa: ARG005 - shown by name
)


@double_bracket.property(
    "the energy never grows",
    hint="The rate of the energy is the inner product of slope with your velocity. What does each "
    "term of your velocity add to it, and with which sign?",
)
def _(attempt: Attempt, slope: Tensor, J: Tensor) -> bool:
    return bool(slope @ attempt(slope, J) <= ROUNDING)


@double_bracket.property(
    "the energy falls at the rate that is the square of the length of J slope",
    hint="A skew matrix gives nothing where the same vector stands on both sides. Which term is "
    "left, and how large is it?",
)
def _(attempt: Attempt, slope: Tensor, J: Tensor) -> bool:
    return close(slope @ attempt(slope, J), -(J @ slope).square().sum())


@double_bracket.property(
    "nothing moves along a vector that J sends to 0",
    hint="This holds for every energy. Does J stand at the very left of each of your terms?",
)
def _(attempt: Attempt, slope: Tensor, J: Tensor) -> bool:
    unseen = torch.stack([J[2, 1], J[0, 2], J[1, 0]])
    return close(unseen @ attempt(slope, J), torch.zeros(()))


@double_bracket.property(
    "the part that loses no energy is the Hamiltonian flow",
    hint="Two flows can lose energy equally fast and move differently. Write down the part of your "
    "velocity that loses nothing.",
)
def _(attempt: Attempt, slope: Tensor, J: Tensor) -> bool | str:
    answer, turned = attempt(slope, J), J @ slope
    again = J @ turned
    return close(answer, turned + again) or recognised(
        answer,
        {
            "You lose the right energy, and there is no wave left: which term turns without "
            "losing?": again,
            "You lose the right energy, and you turn backwards. Which sign has J "
            "in the part that loses nothing?": again - turned,
        },
    )
