"""Attempts at the exercises of lecture 5, right and wrong."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib import position as library


def table(
    frequency: Callable[[int, int], float] = lambda i, d: 10_000 ** (-2 * i / d),
) -> Callable[[int, int], Tensor]:
    """Number by number; pair ``i`` rotates at the given frequency."""

    def attempt(tokens: int, d_model: int) -> Tensor:
        rows = []
        for t in range(tokens):
            angles = [t * frequency(i, d_model) for i in range(d_model // 2)]
            rows.append([part(angle) for angle in angles for part in (math.sin, math.cos)])
        return torch.tensor(rows)

    return attempt


def by_partner(x: Tensor, position: Tensor) -> Tensor:
    """As in many libraries, with the partner of each feature in a second copy."""
    d = x.shape[-1]
    angle = position[:, None] * 10_000.0 ** (-torch.arange(0, d, 2) / d)
    angle = angle.repeat_interleave(2, dim=-1)
    partner = torch.stack([-x[:, 1::2], x[:, 0::2]], dim=-1).flatten(-2)
    return x * angle.cos() + partner * angle.sin()


RIGHT = {
    "sinusoidal": [library.sinusoidal, table()],
    "rotary": [lambda x, position: library.rotary(x, position=position), by_partner],
}


def own_frequency(tokens: int, d_model: int) -> Tensor:
    feature = torch.arange(d_model)
    angle = torch.arange(tokens)[:, None] * 10_000.0 ** (-feature / d_model)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos())


WRONG = {
    "sinusoidal": [
        own_frequency,
        table(lambda i, d: 10_000 ** (-2 * (i + 1) / d)),
        table(lambda i, d: 10_000 ** (2 * i / d)),
    ],
    "rotary": [
        "position the same for all",
        "position one more",
        "answer rounded",
        "position squared",
        # The partner of a feature is half of all features away.
        lambda x, position: (
            by_partner(x.view(len(x), 2, -1).mT.flatten(1), position)
            .view(len(x), -1, 2)
            .mT.flatten(1)
        ),
    ],
}
