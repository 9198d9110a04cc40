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
    """Finds inputs that lead to these states, and differentiates through them."""
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
    "gru_step": [recurrent.gru_step, by_hand, by_torch],
    "rnn_jacobian": [by_autograd, from_the_end],
}


def factors(factor: Callable, multiply: Callable) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(weight: Tensor, hidden: Tensor) -> Tensor:
        product = torch.eye(len(weight))
        for state in hidden:
            product = multiply(factor(weight, 1 - state**2), product)
        return product

    return attempt


WRONG = {
    "gru_step": [
        lambda from_input, from_hidden, hidden: by_hand(
            torch.cat([from_input[: 2 * len(hidden)], from_input[2 * len(hidden) :] + hidden]),
            from_hidden,
            hidden,
        ),
        "from_input doubled",
        "from_hidden doubled",
    ],
    "rnn_jacobian": [
        factors(lambda weight, _: weight, lambda new, old: new @ old),
        "weight transposed",
        factors(lambda weight, slope: slope[:, None] * weight, lambda new, old: old @ new),
        "hidden of two at most",
    ],
}
