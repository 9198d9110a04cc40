"""The checkers of lecture 12: a gradient layer, and the gradient for the vector softmax."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors
from course_lib.symplectic import symplectic_attention

SMALL = (0.0, 1.0, -1.0, 0.5)  # where tanh and softmax still bend
SHIFT = 1 / 64
SLACK = 0.02  # of a central difference over SHIFT, in float32


def _reciprocal(one: float, other: float) -> bool:
    """Whether two mixed second derivatives agree, up to the error of differences."""
    return abs(one - other) <= SLACK * (abs(one) + abs(other)) + 1e-3


# A gradient layer --------------------------------------------------------------------------------


@st.composite
def _layers(
    draw: Callable, *, d: st.SearchStrategy[int] = SIZES, amplitude: tuple = SMALL
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Draw q and p of d features each, and the weights of a few units."""
    features, width = draw(d), draw(SIZES)
    q, p = (draw(tensors(features, numbers=SMALL)) for _ in "qp")
    K = draw(tensors(width, features, numbers=SMALL))
    return q, p, K, draw(tensors(width, numbers=amplitude)), draw(tensors(width, numbers=SMALL))


gradient_layer = Exercise(
    "gradient_layer",
    "gradient_layer(q, p, K, a, b): the new q, which is q plus the gradient in p of the potential "
    "Σ a_i log cosh(K p + b)_i. Shapes: q and p (d,), K (width, d), a and b (width,).",
    inputs=_layers(),
    shape=lambda q, p, K, a, b: q.shape,  # noqa: ARG005 - shown by name
)


@gradient_layer.property(
    "with a = 0 the potential is zero, and q stays where it is",
    hint="What is the slope of a potential that is zero everywhere? What does the layer return?",
    inputs=_layers(amplitude=(0.0,)),
)
def _(attempt: Attempt, q: Tensor, *rest: Tensor) -> bool:
    return close(attempt(q, *rest), q)


@gradient_layer.property(
    "how far q moves does not depend on q",
    hint="The potential is a function of p. Where does q come into your slope?",
)
def _(attempt: Attempt, q: Tensor, *rest: Tensor) -> bool:
    return close(attempt(q, *rest) - q, attempt(q + 1, *rest) - (q + 1))


@gradient_layer.property(
    "a push that belongs to a potential is reciprocal",
    hint="",
    inputs=_layers(d=st.just(2)),
)
def _(attempt: Attempt, q: Tensor, p: Tensor, *weights: Tensor) -> bool | str:
    first, second = SHIFT * torch.eye(2)
    change = [
        float((attempt(q, p + to, *weights) - attempt(q, p - to, *weights))[of]) / (2 * SHIFT)
        for to, of in ((first, 1), (second, 0))
    ]
    return _reciprocal(*change) or (
        f"Move the first entry of p: the push on the second changes at the rate {change[0]:.3g}. "
        f"Move the second entry of p: the push on the first changes at the rate {change[1]:.3g}. "
        "With a potential the two are one mixed derivative. Through which matrix does p go in, and "
        "through which do the hidden numbers come out?"
    )


@gradient_layer.property(
    "q moves by the slope of the potential",
    hint="Take one unit and one feature, and differentiate a log cosh(k p + b) by p with pencil "
    "and paper.",
)
def _(attempt: Attempt, q: Tensor, p: Tensor, *weights: Tensor) -> bool | str:
    K, a, b = weights
    inside = K @ p + b
    slope = (a * inside.tanh()) @ K
    move = attempt(q, p, *weights) - q
    return close(move, slope) or recognised(
        move,
        {
            "You go down the slope. This layer goes up.": -slope,
            "Without b every unit is centred at zero.": (a * (K @ p).tanh()) @ K,
            "Each unit has its own a. Where is it?": inside.tanh() @ K,
            "You differentiated the hyperbolic tangent. The potential is its antiderivative.": (
                a / inside.cosh().square()
            )
            @ K,
        },
    )


# The gradient for the vector softmax -------------------------------------------------------------


@st.composite
def _windows(
    draw: Callable,
    *,
    tokens: st.SearchStrategy[int] = SIZES,
    d: st.SearchStrategy[int] = SIZES,
    symmetric: bool = True,
    matrix: tuple = SMALL,
    scale: int = 1,
) -> tuple[Tensor, Tensor]:
    """Draw a window and the matrix of its scores."""
    features = draw(d)
    z = scale * draw(tensors(draw(tokens), features, numbers=SMALL))
    A = draw(tensors(features, features, numbers=matrix))
    return z, (A + A.mT) / 2 if symmetric else A


vector_softmax_gradient = Exercise(
    "vector_softmax_gradient",
    "vector_softmax_gradient(z, A): the gradient, by the window z of shape (tokens, d), of "
    "Σ_n log(1 + Σ_m exp C_mn), where C is the matrix of scores z A zᵀ and A any (d, d).",
    inputs=_windows(),
    shape=lambda z, A: z.shape,  # noqa: ARG005 - shown by name
)


def _shares(z: Tensor, A: Tensor) -> Tensor:
    """S, with the 1 in the sum over each column."""
    score = z @ A @ z.mT
    return (score - torch.nn.functional.pad(score, (0, 0, 0, 1)).logsumexp(0)).exp()


@vector_softmax_gradient.property(
    "with A = 0 all scores are zero, and so is the gradient",
    hint="If no score depends on z, neither does the potential.",
    inputs=_windows(matrix=(0.0,)),
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool:
    return close(attempt(z, A), 0 * z)


@vector_softmax_gradient.property(
    "one token of one feature feels the slope of log(1 + e^(A z z))",
    hint="Here all matrices are numbers. Differentiate log(1 + e^(A z z)) by z.",
    inputs=_windows(tokens=st.just(1), d=st.just(1)),
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool | str:
    slope = 2 * A * z * (A * z * z).sigmoid()
    push = attempt(z, A)
    return close(push, slope) or recognised(
        push,
        {
            "A softmax over a single score is always 1. Where is the 1 of the potential?": 2
            * A
            * z,
            "z stands in the score twice. What does the product rule say?": slope / 2,
            "The sign is the wrong way round: this is the gradient, not the force.": -slope,
        },
    )


@vector_softmax_gradient.property(
    "what token 1 does to token 2 is what token 2 does to token 1",
    hint="",
    inputs=_windows(tokens=st.just(2), d=st.just(1)),
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool | str:
    first, second = SHIFT * torch.eye(2)[..., None]
    change = [
        float((attempt(z + to, A) - attempt(z - to, A))[of]) / (2 * SHIFT)
        for to, of in ((first, 1), (second, 0))
    ]
    S, zA, push = _shares(z, A), z @ A, attempt(z, A)
    one_sided = recognised(
        push,
        {
            "You have the pull on each token as a query. Which is that as a key?": 2 * S.mT @ zA,
            "You have the pull on each token as a key. Which is that as a query?": 2 * S @ zA,
        },
    )
    return _reciprocal(*change) or (
        f"Move token 1: the push on token 2 changes at the rate {change[0]:.3g}. Move token 2: the "
        f"push on token 1 changes at the rate {change[1]:.3g}. With a potential they would be "
        f"equal. {one_sided or 'Print S. Do both of its halves push?'}"
    )


@vector_softmax_gradient.property(
    "for a symmetric A it is the gradient",
    hint="Go back to the change of the scores: z stands in C twice, so there are two terms.",
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool | str:
    score = z @ A @ z.mT
    together = (score - torch.nn.functional.pad(score.reshape(-1), (0, 1)).logsumexp(0)).exp()
    push = attempt(z, A)
    return close(push, _gradient(z, A)) or recognised(
        push,
        {
            "This is the matrix softmax, with one sum for all scores. Here each column has a sum "
            "of its own.": (together + together.mT) @ z @ A,
        },
    )


@vector_softmax_gradient.property(
    "for an A that is not symmetric, too",
    hint="Now A and its mirror image are two matrices. Which belongs to which half of S?",
    inputs=_windows(symmetric=False),
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool | str:
    S = _shares(z, A)
    push = attempt(z, A)
    return close(push, _gradient(z, A)) or recognised(
        push,
        {
            "This is right for symmetric A alone. You used A in one place where its mirror image "
            "belongs.": (S + S.mT) @ z @ A,
            "Either you have the two matrices, but each beside the wrong half of S, or you sum "
            "along the rows of C, where the potential sums over m, which counts the rows.": (
                S @ z @ A + S.mT @ z @ A.mT
            ),
        },
    )


@vector_softmax_gradient.property(
    "scores in the thousands do no harm",
    hint="The exponential of a thousand is more than a float can hold. Take the logarithm of the "
    "sum as a whole, and mind that the 1 is the exponential of a score, too.",
    inputs=_windows(scale=60, symmetric=False),
)
def _(attempt: Attempt, z: Tensor, A: Tensor) -> bool:
    return close(attempt(z, A), _gradient(z, A))


def _gradient(z: Tensor, A: Tensor) -> Tensor:
    return symplectic_attention(z, A, softmax="vector")
