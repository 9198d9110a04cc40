"""The checkers of lecture 6: layer norm, and a way around layers."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import NUMBERS, SIZES, tensors

EPSILON = 1e-5
FEATURES = st.sampled_from((2, 3, 4))


@st.composite
def _tokens_and_scale(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, no two features of which are all alike, with a weight and a bias for each feature."""
    tokens, d = draw(SIZES), draw(FEATURES)
    uneven = st.lists(st.sampled_from(NUMBERS), min_size=d, max_size=d).filter(
        lambda row: len(set(row)) > 1
    )
    x = draw(st.lists(uneven, min_size=tokens, max_size=tokens))
    return torch.tensor(x), draw(tensors(d)), draw(tensors(d))


@st.composite
def _plain(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, with weights of 1 and biases of 0."""
    x, weight, bias = draw(_tokens_and_scale())
    return x, torch.ones_like(weight), torch.zeros_like(bias)


@st.composite
def _flat(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens whose features are all alike."""
    x, weight, bias = draw(_tokens_and_scale())
    return x[:, :1].expand_as(x).clone(), weight, bias


layer_norm = Exercise(
    "layer_norm",
    "layer_norm(x, weight, bias): each token of x minus the mean of its features, over their "
    "standard deviation, times weight, plus bias. A small number, 0.00001, is added to the "
    "variance. Shapes: (tokens, d), (d,) and (d,) to (tokens, d).",
    inputs=_tokens_and_scale(),
    shape=lambda x, weight, bias: x.shape,  # noqa: ARG005 - shown by name
)


@layer_norm.property(
    "every token is normed by itself",
    hint="Give it the first token alone, then all of them. The first row of the answer should not "
    "change. Along which axis do your mean and your variance go?",
)
def _(attempt: Attempt, x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    return close(attempt(x, weight, bias)[:1], attempt(x[:1], weight, bias))


@layer_norm.property(
    "with weight 1 and bias 0 the features of every token have mean 0",
    hint="What is the mean of a token from which its mean has been taken away?",
    inputs=_plain(),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    return close(attempt(x, weight, bias).mean(-1), torch.zeros(len(x)))


@layer_norm.property(
    "with weight 1 and bias 0 the features of every token have variance 1",
    hint="Compute the variance of your answer by hand: the mean of its squares, over all d "
    "features. By what have you divided, and by how many features is your variance a mean?",
    inputs=_plain(),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor, bias: Tensor) -> bool | str:
    answer = attempt(x, weight, bias)
    centred = x - x.mean(-1, keepdim=True)
    return close(answer.square().mean(-1), torch.ones(len(x))) or recognised(
        answer,
        {
            "You divide by the variance. Which power of a length has the unit of a length?": centred
            / (centred.square().mean(-1, keepdim=True) + EPSILON),
            "Your variance divides by d - 1, as an estimate from a sample does. Here the d "
            "features are all there are.": centred
            / (centred.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + EPSILON).sqrt(),
        },
    )


@layer_norm.property(
    "a token of equal features becomes the bias",
    hint="What is left of such a token when its mean is gone, and what is its variance? What "
    "keeps you from dividing 0 by 0?",
    inputs=_flat(),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    return close(attempt(x, weight, bias), bias.expand_as(x))


@layer_norm.property(
    "each feature has its own weight and its own bias, and the bias comes last",
    hint="Take a weight of 0. What should be left? Then take a weight of 2 and a bias of 1: is the "
    "bias doubled?",
)
def _(attempt: Attempt, x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    wanted = F.layer_norm(x, x.shape[-1:], weight, bias, EPSILON)
    return close(attempt(x, weight, bias), wanted)


@st.composite
def _stacks(draw: Callable, *, most: int = 3) -> tuple[Tensor, Tensor]:
    """Tokens, and the matrices of up to three layers."""
    tokens, d = draw(SIZES), draw(FEATURES)
    layers = draw(st.integers(0, most))
    return draw(tensors(tokens, d)), draw(tensors(layers, d, d))


@st.composite
def _silent(draw: Callable) -> tuple[Tensor, Tensor]:
    """A stack whose matrices are all zero."""
    x, weight = draw(_stacks())
    return x, torch.zeros_like(weight)


@st.composite
def _heard(draw: Callable) -> tuple[Tensor, Tensor]:
    """A single layer, before or after which a norm makes a difference."""
    x, weight = draw(_stacks().filter(lambda stack: len(stack[1]) > 0 and _differ(*stack)))
    return x, weight[:1]


def _differ(x: Tensor, weight: Tensor) -> bool:
    plain, before, after = x @ weight[0], _normed(x) @ weight[0], _normed(x @ weight[0])
    return not (close(plain, before) or close(plain, after) or close(before, after))


pre_norm_stack = Exercise(
    "pre_norm_stack",
    "pre_norm_stack(x, weight): tokens after a stack of pre-norm layers. Layer k multiplies the "
    "normed tokens by the matrix weight[k] from the right, and there is a way around it. No norm "
    "after the last layer. F.layer_norm norms. Shapes: (tokens, d) and (layers, d, d) to "
    "(tokens, d).",
    inputs=_stacks(),
    shape=lambda x, weight: x.shape,  # noqa: ARG005 - shown by name
)


def _stack(step: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    def run(x: Tensor, weight: Tensor) -> Tensor:
        for matrix in weight:
            x = step(x, matrix)
        return x

    return run


def _normed(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


_right = _stack(lambda x, matrix: x + _normed(x) @ matrix)


@pre_norm_stack.property(
    "a stack of no layers changes nothing",
    hint="What comes out where there is no layer to go through? Is a norm outside of your loop?",
    inputs=_stacks(most=0),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor) -> bool:
    return close(attempt(x, weight), x)


@pre_norm_stack.property(
    "layers that add nothing change nothing",
    hint="All matrices are zero here. The way around a layer is a way around its norm as well.",
    inputs=_silent(),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor) -> bool | str:
    answer = attempt(x, weight)
    return close(answer, x) or recognised(
        answer,
        {
            "Nothing of the token is left. What does your layer do with its input, apart from "
            "multiplying it?": torch.zeros_like(x),
            "The output is normed. So there is a norm on the way around the layer, before or "
            "after the sum, and no clear way through the stack.": _stack(
                lambda x, matrix: _normed(x) + x @ matrix
            )(x, weight),
        },
    )


@pre_norm_stack.property(
    "each layer adds its matrix times the normed token",
    hint="Take a single layer, and write down what its matrix is applied to.",
    inputs=_heard(),
)
def _(attempt: Attempt, x: Tensor, weight: Tensor) -> bool | str:
    answer = attempt(x, weight)
    return close(answer, _right(x, weight)) or recognised(
        answer,
        {
            "You norm what the matrix gives. In pre-norm its place is before the matrix.": _stack(
                lambda x, matrix: x + _normed(x @ matrix)
            )(x, weight),
            "Your layers see the token as it is. Where is the norm?": _stack(
                lambda x, matrix: x + x @ matrix
            )(x, weight),
        },
    )


@pre_norm_stack.property(
    "each layer sees what the layers before it have made of the token",
    hint="Take two layers. Does the second one norm what the first one gave?",
)
def _(attempt: Attempt, x: Tensor, weight: Tensor) -> bool:
    return close(attempt(x, weight), _right(x, weight))
