"""The checkers of lecture 3: hat functions, the softmax basis, and dropout."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib import basis as library
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors

STARTS = (0.0, 1.0, -1.0)
GAPS = (1.0, 2.0, 0.5)  # uneven, and exact in float32
SHARES = (0.0, 0.5, 0.25, 0.75, 1.0)
ROUNDING = 1e-4

# Hats -----------------------------------------------------------------------------------------


@st.composite
def _meshes(draw: Callable, *, gaps: tuple = GAPS) -> Tensor:
    """Two to four increasing nodes."""
    widths = draw(tensors(draw(SIZES), numbers=gaps))
    return draw(st.sampled_from(STARTS)) + F.pad(widths.cumsum(0), (1, 0))


@st.composite
def _between(draw: Callable, *, shares: tuple = SHARES) -> tuple[Tensor, Tensor]:
    """Points between the nodes, or on them, and the nodes."""
    nodes = draw(_meshes())
    interval = draw(st.lists(st.integers(0, len(nodes) - 2), min_size=1, max_size=3))
    share = draw(tensors(len(interval), numbers=shares))
    left, right = nodes[interval], nodes[[i + 1 for i in interval]]
    return left + share * (right - left), nodes


hat = Exercise(
    "hat",
    "hat(x, nodes): the weights of the hat functions of all nodes at all points. Shapes: (points,) "
    "and (nodes,) to (points, nodes). Nodes increase, but need not be evenly spaced; points lie "
    "between the first and the last, or on them.",
    inputs=_between(),
    shape=lambda x, nodes: (len(x), len(nodes)),
)


@hat.property(
    "at a node, its own hat is 1 and all others are 0",
    hint="Draw the hat of a node in the middle. Where does it begin to rise, and where is it back "
    "at 0? Do both sides have the same width?",
    inputs=_meshes().map(lambda nodes: (nodes, nodes)),
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor) -> bool | str:
    answer, right = attempt(x, nodes), torch.eye(len(nodes))
    return close(answer, right) or recognised(
        answer,
        {
            "The last node is left alone. Which of your intervals does it belong to?": (
                right * (x < nodes[-1])
            ),
            "The first node is left alone. Which of your intervals does it belong to?": (
                right * (x > nodes[0])
            ),
            "Of the two neighbours of a point, the nearer has to weigh more.": library.hat(
                x, nodes
            )[:, [1, 0, *range(2, len(nodes))]],
        },
    )


@hat.property(
    "no weight is negative",
    hint="A hat that has come down to 0 stays there. What do you do with nodes that are far away?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor) -> bool:
    return bool((attempt(x, nodes) >= -ROUNDING).all())


@hat.property(
    "the weights of every point sum to one",
    hint="Between two nodes one hat rises while the other falls. How fast is each, if the two "
    "together are always 1?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor) -> bool:
    return close(attempt(x, nodes).sum(dim=-1), torch.ones(len(x)))


@hat.property(
    "only the two nodes beside a point have weight there",
    hint="Between two neighbours, every other hat is 0. Which nodes have weight in your answer?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor) -> bool:
    far = library.hat(x, nodes) == 0
    return close(attempt(x, nodes)[far], torch.zeros(int(far.sum())))


@hat.property(
    "when the value of every node is its place, the blend at a point is the point",
    hint="Between two nodes a hat is a straight line. At a quarter of the way, how much does each "
    "of the two nodes get?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor) -> bool | str:
    answer, right = attempt(x, nodes), library.hat(x, nodes)
    nearest = right.argmax(dim=-1)
    return close(answer @ nodes, x) or recognised(
        answer,
        {
            "You give everything to the nearest node. A hat falls little by little.": (
                F.one_hot(nearest, len(nodes)).float()
            ),
            "Your hats have round corners. Straight lines will do.": right**2 * (3 - 2 * right),
        },
    )


# The softmax basis ----------------------------------------------------------------------------


@st.composite
def _warm(
    draw: Callable,
    *,
    places: tuple = (0.0, 1.0, -1.0, 0.5, 2.0),
    temperatures: tuple = (1.0, 4.0, 0.5),
) -> tuple[Tensor, Tensor, float]:
    """Points anywhere, nodes, and a temperature."""
    x = draw(tensors(draw(SIZES), numbers=places))
    return x, draw(_meshes()), draw(st.sampled_from(temperatures))


softmax_basis = Exercise(
    "softmax_basis",
    "softmax_basis(x, nodes, temperature): for every point, the softmax over all nodes of minus "
    "the squared distance to the node, divided by the temperature. Shapes: (points,) and (nodes,) "
    "to (points, nodes).",
    inputs=_warm(),
    shape=lambda x, nodes, temperature: (len(x), len(nodes)),  # noqa: ARG005 - shown by name
)


@softmax_basis.property(
    "no weight is negative, and the weights of every point sum to one",
    hint="Each point shares one unit among the nodes. Along which axis do your weights sum to one?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor, temperature: float) -> bool:
    answer = attempt(x, nodes, temperature)
    return bool((answer >= 0).all()) and close(answer.sum(dim=-1), torch.ones(len(x)))


@softmax_basis.property(
    "moving all points and all nodes by 1 changes no weight",
    hint="Only distances count, and these stay. Where else does a place enter your scores?",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor, temperature: float) -> bool:
    return close(attempt(x, nodes, temperature), attempt(x + 1, nodes + 1, temperature))


@softmax_basis.property(
    "no node weighs more than the nearest",
    hint="A score is high where the distance is small. Look at the sign.",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor, temperature: float) -> bool:
    answer, distance = attempt(x, nodes, temperature), (x[:, None] - nodes).abs()
    best = answer.gather(-1, distance.argmin(dim=-1, keepdim=True))
    return bool((answer <= best + ROUNDING).all())


@softmax_basis.property(
    "the weights are the softmax of minus the squared distance, divided by the temperature",
    hint="Take one point and two nodes, and work out both scores by hand.",
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor, temperature: float) -> bool | str:
    answer, right = attempt(x, nodes, temperature), library.softmax_basis
    distance = (x[:, None] - nodes).abs()
    return close(answer, right(x, nodes, temperature)) or recognised(
        answer,
        {
            "Your distances are not squared.": (-distance / temperature).softmax(dim=-1),
            "Where does the temperature enter your scores?": right(x, nodes, 1),
            "You multiply by the temperature. What should happen to differences when it rises?": (
                right(x, nodes, 1 / temperature)
            ),
            "You divide by twice the temperature. Many kernels are written so; this one is not.": (
                right(x, nodes, 2 * temperature)
            ),
            "You divide by the square of the temperature. It is an area already.": right(
                x, nodes, temperature**2
            ),
        },
    )


@softmax_basis.property(
    "a cold point far from all nodes still gives everything to the nearest",
    hint="The exponential of a very negative number is 0, and so may be your total. What may you "
    "add to all scores of a point at once without changing any weight?",
    inputs=_warm(places=(10.0, -10.0), temperatures=(1 / 64,)),
)
def _(attempt: Attempt, x: Tensor, nodes: Tensor, temperature: float) -> bool:
    return close(attempt(x, nodes, temperature), library.softmax_basis(x, nodes, temperature))


# Dropout --------------------------------------------------------------------------------------

QUARTERS = (0.0, 0.25, 0.5, 0.75)


@st.composite
def _noisy(draw: Callable, *, p: tuple = QUARTERS) -> tuple[Tensor, float, Tensor]:
    """Numbers, a probability, and noise for each number."""
    rows, columns = draw(SIZES), draw(SIZES)
    noise = draw(tensors(rows, columns, numbers=QUARTERS))
    return draw(tensors(rows, columns)), draw(st.sampled_from(p)), noise


dropout = Exercise(
    "dropout",
    "dropout(x, p, noise): drop each number of x where its noise, which is uniform between 0 and "
    "1, is less than p, and scale the others so that the mean over all noise is x. Shapes: any for "
    "x, noise the same. p is at least 0 and less than 1.",
    inputs=_noisy(),
    shape=lambda x, p, noise: x.shape,  # noqa: ARG005 - shown by name
)


@dropout.property(
    "with p = 0 nothing changes",
    hint="What does your factor become when nothing can be dropped? And is a noise of 0 less than "
    "0?",
    inputs=_noisy(p=(0.0,)),
)
def _(attempt: Attempt, x: Tensor, p: float, noise: Tensor) -> bool:
    return close(attempt(x, p, noise), x)


@dropout.property(
    "where the noise is less than p, the result is 0",
    hint="Compare the noise with p, number by number. Which side of the comparison do you keep?",
)
def _(attempt: Attempt, x: Tensor, p: float, noise: Tensor) -> bool:
    answer = attempt(x, p, noise)
    return not answer[noise < p].any()


@dropout.property(
    "averaged over a noise of 0, ¼, ½ and ¾, the result is x",
    hint="A number stays with probability 1 - p. Which factor does it need, so that the mean "
    "is what it was?",
)
def _(attempt: Attempt, x: Tensor, p: float, noise: Tensor) -> bool | str:
    answers = [attempt(x, p, torch.full_like(noise, quarter)) for quarter in QUARTERS]
    mean = sum(answers) / len(QUARTERS)
    return close(mean, x) or recognised(
        mean,
        {
            "What you keep stays as it is, so that the mean falls. By which factor?": (1 - p) * x,
            "You make what you keep smaller. Should it not grow?": (1 - p) ** 2 * x,
            "A number as large as p is not less than p.": x
            * sum(q > p for q in QUARTERS)
            / (4 * (1 - p)),
        },
    )


@dropout.property(
    "each number is dropped by its own noise alone",
    hint="Change the noise of one number. Which numbers of your result change?",
)
def _(attempt: Attempt, x: Tensor, p: float, noise: Tensor) -> bool:
    return close(attempt(x, p, noise), torch.where(noise < p, 0, x / (1 - p)))
