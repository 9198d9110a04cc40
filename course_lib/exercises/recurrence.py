"""The checkers of lecture 4: a step of a GRU, and what a whole sequence does to a gradient."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import recurrent
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors

WIDE = 50.0  # added to a sum, opens or shuts a gate up to the rounding of float32


@st.composite
def _steps(draw: Callable, *, d: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    d = d or draw(SIZES)
    return draw(tensors(3 * d)), draw(tensors(3 * d)), draw(tensors(d))


gru_step = Exercise(
    "gru_step",
    "gru_step(from_input, from_hidden, hidden): the next hidden state of a GRU. Shapes: (3 d,), "
    "(3 d,), (d,) to (d,). The sums from_input and from_hidden hold reset gate, update gate and "
    "candidate, one behind the other.",
    inputs=_steps(),
    shape=lambda from_input, from_hidden, hidden: hidden.shape,  # noqa: ARG005 - shown by name
)


def _shifted(from_input: Tensor, gate: int, by: float) -> Tensor:
    """The same sums, with one gate wide open or shut."""
    d = len(from_input) // 3
    shifted = from_input.clone()
    shifted[gate * d : (gate + 1) * d] += by
    return shifted


@gru_step.property(
    "an update gate of 1 keeps the state as it is",
    hint="The sums of the update gate come second, after those of the reset gate. At 1, how much "
    "of the old state stays, and how much of the candidate gets in? Some papers exchange the two.",
)
def _(attempt: Attempt, from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> bool:
    return close(attempt(_shifted(from_input, 1, WIDE), from_hidden, hidden), hidden)


@gru_step.property(
    "with an update gate of 0 the old state does not matter, if the two sums stay",
    hint="At 0 the new state is the candidate alone. Where does the old state enter your answer?",
)
def _(attempt: Attempt, from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> bool:
    from_input = _shifted(from_input, 1, -WIDE)
    answer = attempt(from_input, from_hidden, hidden)
    return close(answer, attempt(from_input, from_hidden, hidden + 1))


@gru_step.property(
    "with both gates at 0 the new state is what the input alone proposes",
    hint="A shut reset gate hides the past from the candidate. What is left of its sum then, and "
    "which function brings it between −1 and 1?",
)
def _(attempt: Attempt, from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> bool:
    from_input = _shifted(_shifted(from_input, 0, -WIDE), 1, -WIDE)
    candidate = from_input.chunk(3)[2].tanh()
    return close(attempt(from_input, from_hidden, hidden), candidate)


@gru_step.property(
    "new state, gates and candidate follow the formula",
    hint="Work out this one step by hand: reset gate, update gate, candidate, new state.",
)
def _(attempt: Attempt, from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> bool | str:
    answer = attempt(from_input, from_hidden, hidden)
    reset, update, candidate = recurrent.gru_gates(from_input, from_hidden)
    (*_, a), (*_, b) = from_input.chunk(3), from_hidden.chunk(3)
    no_reset = (a + b).tanh()
    on_state = (a + reset * hidden).tanh()
    return close(answer, (1 - update) * candidate + update * hidden) or recognised(
        answer,
        {
            "Your reset gate seems to do nothing. Which of the two sums of the candidate does it "
            "multiply?": (1 - update) * no_reset + update * hidden,
            "Your reset gate seems to multiply the old state itself. Here it multiplies the sum "
            "that comes from it.": (1 - update) * on_state + update * hidden,
        },
    )


@st.composite
def _runs(draw: Callable, *, steps: int | None = None) -> tuple[Tensor, Tensor]:
    d, steps = draw(SIZES), steps or draw(SIZES)
    hidden = draw(tensors(steps, d, numbers=(0.0, 0.5, -0.5, 0.75, -0.75)))
    return draw(tensors(d, d)), hidden


rnn_jacobian = Exercise(
    "rnn_jacobian",
    "rnn_jacobian(weight, hidden): the derivative of the last hidden state of a plain network by "
    "the state before the first token. weight is the recurrent matrix, (d, d); hidden holds the "
    "states after each token, (tokens, d). The answer is (d, d), with a row for each entry of the "
    "last state.",
    inputs=_runs(),
    shape=lambda weight, hidden: weight.shape,  # noqa: ARG005 - shown by name
)


def _factor(weight: Tensor, hidden: Tensor) -> Tensor:
    return (1 - hidden**2)[:, None] * weight


def _product(factors: list[Tensor]) -> Tensor:
    """The factors multiplied, the first of them on the right."""
    product = factors[0]
    for factor in factors[1:]:
        product = factor @ product
    return product


@rnn_jacobian.property(
    "one token on which the state is zero multiplies by the weight alone",
    hint="At a state of zero the tangent hyperbolic has slope 1. Which matrix is left?",
    inputs=_runs(steps=1).map(lambda run: (run[0], torch.zeros_like(run[1]))),
)
def _(attempt: Attempt, weight: Tensor, hidden: Tensor) -> bool | str:
    answer = attempt(weight, hidden)
    return close(answer, weight) or recognised(
        answer, {"Rows and columns are exchanged: a row belongs to the last state.": weight.T}
    )


@rnn_jacobian.property(
    "one token multiplies by the slopes of the new state and by the weight",
    hint="The slope of the tangent hyperbolic, written by its own value h, is 1 − h². Does each "
    "slope scale a row or a column of the weight?",
    inputs=_runs(steps=1),
)
def _(attempt: Attempt, weight: Tensor, hidden: Tensor) -> bool | str:
    answer = attempt(weight, hidden)
    return close(answer, _factor(weight, hidden[0])) or recognised(
        answer,
        {
            "Your slopes scale the columns. The slope belongs to the new state, and the rows "
            "do too.": weight * (1 - hidden[0] ** 2)
        },
    )


@rnn_jacobian.property(
    "two tokens multiply in the order of the chain rule",
    hint="Which factor acts first on a small change of the start, and on which side does it "
    "stand then?",
    inputs=_runs(steps=2),
)
def _(attempt: Attempt, weight: Tensor, hidden: Tensor) -> bool:
    return close(attempt(weight, hidden), _product([_factor(weight, h) for h in hidden]))


@rnn_jacobian.property(
    "every token adds its factor", hint="How many factors are there for this many tokens?"
)
def _(attempt: Attempt, weight: Tensor, hidden: Tensor) -> bool:
    return close(attempt(weight, hidden), _product([_factor(weight, h) for h in hidden]))
