"""Mistakes: the right function with one change to its result or its arguments.

A change is written as ``"answer doubled"`` or ``"temperature squared"``: what, and how.
"""

from collections.abc import Callable
from typing import Any

import torch

CHANGES: dict[str, Callable[[Any], Any]] = {
    "negated": lambda x: -x,
    "doubled": lambda x: 2 * x,
    "one more": lambda x: x + 1,
    "nothing": lambda x: 0 * x,
    "one": lambda x: 0 * x + 1,
    "squared": lambda x: x * x,
    "rooted": lambda x: abs(x) ** 0.5,
    "without sign": abs,
    "rounded": lambda x: x.round(),
    "transposed": lambda x: x.mT,
    "reversed": lambda x: x.flip(0),
    "off by one": lambda x: x.roll(1, 0),
    "sorted": lambda x: x.sort(0).values,
    "averaged": lambda x: x.mean(0, keepdim=True).expand(x.shape),
    "the same for all": lambda x: x[:1].expand(x.shape),
    "of two at most": lambda x: x[-2:],
    "of one more axis": lambda x: x[None],
    "of integers": lambda x: x.long(),
    "of numbers": lambda x: x.float(),
    "the other way round": lambda x: ~x,
    "all": lambda x: x | True,
    "none": lambda x: x & False,
}
ALWAYS = ("negated", "doubled", "one more", "nothing", "of integers", "of one more axis")
ALWAYS_OF_FLAGS = ("the other way round", "all", "none", "of numbers", "of one more axis")


def changed(right: Callable, arguments: tuple[str, ...], mistake: str) -> Callable:
    """``right``, which takes these arguments, with the change that ``mistake`` names."""
    what, _, how = mistake.partition(" ")
    change = CHANGES[how]

    def attempt(*given: Any) -> Any:
        if what != "answer":
            place = arguments.index(what)
            return right(*given[:place], change(given[place]), *given[place + 1 :])
        answer = right(*given)
        if isinstance(answer, tuple):
            return tuple(map(change, answer))
        return change(torch.as_tensor(answer))

    return attempt
