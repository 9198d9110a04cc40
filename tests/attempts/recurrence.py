"""Attempts at the exercises of lecture 4, right and wrong."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_lib import recurrent


def by_hand(from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> Tensor:
    d = len(hidden)
    sums = from_input + from_hidden
    reset, keep = 1 / (1 + (-sums[:d]).exp()), 1 / (1 + (-sums[d : 2 * d]).exp())
    proposal = torch.tanh(from_input[2 * d :] + reset * from_hidden[2 * d :])
    return proposal + keep * (hidden - proposal)


def by_torch(from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> Tensor:
    d = len(hidden)
    cell = nn.GRUCell(1, d)
    with torch.no_grad():
        for name, parameter in cell.named_parameters():
            sums = {"bias_ih": from_input, "bias_hh": from_hidden}.get(name)
            parameter.copy_(torch.zeros_like(parameter) if sums is None else sums)
        return cell(torch.zeros(1), hidden)


def by_autograd(weight: Tensor, hidden: Tensor) -> Tensor:
    """Finds inputs that lead through these very states, and lets autograd go through them."""
    before = torch.cat([torch.zeros(1, weight.shape[0]), hidden[:-1]])
    inputs = hidden.atanh() - before @ weight.T

    def last(start: Tensor) -> Tensor:
        for token in inputs:
            start = recurrent.rnn_step(token, weight @ start)
        return start

    return torch.autograd.functional.jacobian(last, before[0])


def from_the_end(weight: Tensor, hidden: Tensor) -> Tensor:
    product = torch.eye(len(weight))
    for state in hidden.flip(0):
        product = product @ torch.diag(1 - state**2) @ weight
    return product


RIGHT = {
    "step of the library": ("gru_step", recurrent.gru_step),
    "step by hand": ("gru_step", by_hand),
    "step by torch": ("gru_step", by_torch),
    "gradient by autograd": ("rnn_jacobian", by_autograd),
    "gradient from the end": ("rnn_jacobian", from_the_end),
}


def step(
    *,
    order: tuple[int, int, int] = (0, 1, 2),
    candidate: Callable = lambda a, b, r, _: (a + r * b).tanh(),
    blend: Callable = lambda z, n, h: (1 - z) * n + z * h,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(from_input: Tensor, from_hidden: Tensor, hidden: Tensor) -> Tensor:
        a, b = from_input.chunk(3), from_hidden.chunk(3)
        reset, update, new = order
        r, z = (a[reset] + b[reset]).sigmoid(), (a[update] + b[update]).sigmoid()
        return blend(z, candidate(a[new], b[new], r, hidden), hidden)

    return attempt


def factors(factor: Callable, multiply: Callable) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(weight: Tensor, hidden: Tensor) -> Tensor:
        product = torch.eye(len(weight))
        for state in hidden:
            product = multiply(factor(weight, 1 - state**2), product)
        return product

    return attempt


# What was tried, and the property that refuses it.
WRONG = {
    "candidate first": ("gru_step", step(order=(1, 2, 0)), "an update gate of 1 keeps the state"),
    "the old state once too often": (
        "gru_step",
        step(candidate=lambda a, b, r, h: (a + r * b + h).tanh()),
        "the old state does not matter",
    ),
    "reset on all of the candidate": (
        "gru_step",
        step(candidate=lambda a, b, r, _: (r * (a + b)).tanh()),
        "what the input alone proposes",
    ),
    "reset squared": (
        "gru_step",
        step(candidate=lambda a, b, r, _: (a + r**2 * b).tanh()),
        "follow the formula",
    ),
    "weight alone": (
        "rnn_jacobian",
        factors(lambda weight, _: weight, lambda new, old: new @ old),
        "the slopes of the new state",
    ),
    "transposed weight": (
        "rnn_jacobian",
        factors(lambda weight, slope: slope[:, None] * weight.T, lambda new, old: new @ old),
        "multiplies by the weight alone",
    ),
    "wrong order": (
        "rnn_jacobian",
        factors(lambda weight, slope: slope[:, None] * weight, lambda new, old: old @ new),
        "the order of the chain rule",
    ),
    "two tokens at most": (
        "rnn_jacobian",
        lambda weight, hidden: from_the_end(weight, hidden[-2:]),
        "every token adds its factor",
    ),
}
