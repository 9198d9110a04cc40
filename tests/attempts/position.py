"""Attempts at the exercises of lecture 5, right and wrong."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib import position as library


def number_by_number(tokens: int, d_model: int) -> Tensor:
    rows = []
    for t in range(tokens):
        row = []
        for i in range(0, d_model, 2):
            angle = t / 10_000 ** (i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def by_matrix(x: Tensor, position: Tensor) -> Tensor:
    return torch.stack(
        [
            token @ library.shift_matrix(t, len(token))
            for token, t in zip(x, position.tolist(), strict=True)
        ]
    )


def by_partner(x: Tensor, position: Tensor) -> Tensor:
    """As many libraries write it, with the partner of each feature in a second copy."""
    d = x.shape[-1]
    angle = position[:, None] * 10_000.0 ** (-torch.arange(0, d, 2) / d)
    angle = angle.repeat_interleave(2, dim=-1)
    partner = torch.stack([-x[:, 1::2], x[:, 0::2]], dim=-1).flatten(-2)
    return x * angle.cos() + partner * angle.sin()


RIGHT = {
    "sinusoids of the library": ("sinusoidal", library.sinusoidal),
    "sinusoids number by number": ("sinusoidal", number_by_number),
    "rotary of the library": ("rotary", lambda x, position: library.rotary(x, position=position)),
    "rotary by the shift matrix": ("rotary", by_matrix),
    "rotary with partners": ("rotary", by_partner),
}


def table(
    *,
    start: int = 0,
    frequency: Callable[[Tensor, int], Tensor] = lambda i, d: 10_000.0 ** (-2 * i / d),
    join: Callable[[Tensor, Tensor], Tensor] = lambda s, c: torch.stack([s, c], -1).flatten(-2),
) -> Callable[[int, int], Tensor]:
    def attempt(tokens: int, d_model: int) -> Tensor:
        t = torch.arange(start, start + tokens)
        angle = t[:, None] * frequency(torch.arange(d_model // 2), d_model)
        return join(angle.sin(), angle.cos())

    return attempt


def own_frequency(tokens: int, d_model: int) -> Tensor:
    feature = torch.arange(d_model)
    angle = torch.arange(tokens)[:, None] * 10_000.0 ** (-feature / d_model)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos())


def turn(
    *,
    angles: Callable[[Tensor, Tensor], Tensor] = lambda t, f: t[:, None] * f,
    frequency: Callable[[Tensor, int], Tensor] = lambda i, d: 10_000.0 ** (-2 * i / d),
    mix: Callable = lambda a, b, c, s: (a * c - b * s, a * s + b * c),
    join: Callable = lambda a, b: torch.stack([a, b], dim=-1).flatten(-2),
) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(x: Tensor, position: Tensor) -> Tensor:
        d = x.shape[1]
        angle = angles(position, frequency(torch.arange(d // 2), d))
        return join(*mix(x[:, 0::2], x[:, 1::2], angle.cos(), angle.sin()))

    return attempt


def one_after_the_other(x: Tensor, position: Tensor) -> Tensor:
    d = x.shape[1]
    angle = position[:, None] * 10_000.0 ** (-torch.arange(0, d, 2) / d)
    turned = x.clone()
    turned[:, 0::2] = turned[:, 0::2] * angle.cos() - turned[:, 1::2] * angle.sin()
    turned[:, 1::2] = turned[:, 0::2] * angle.sin() + turned[:, 1::2] * angle.cos()
    return turned


def in_halves(x: Tensor, position: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    d = x.shape[1]
    angle = position[:, None] * 10_000.0 ** (-torch.arange(0, d, 2) / d)
    return torch.cat(
        [
            first * angle.cos() - second * angle.sin(),
            first * angle.sin() + second * angle.cos(),
        ],
        dim=-1,
    )


# What was tried, and the property that refuses it.
WRONG = {
    "from one": ("sinusoidal", table(start=1), "at position 0 every hand"),
    "a frequency for each feature": ("sinusoidal", own_frequency, "a hand of length 1"),
    "pairs from one": (
        "sinusoidal",
        table(frequency=lambda i, d: 10_000.0 ** (-2 * (i + 1) / d)),
        "by 1 radian",
    ),
    "faster and faster": (
        "sinusoidal",
        table(frequency=lambda i, d: 10_000.0 ** (2 * i / d)),
        "the frequency of its pair",
    ),
    "turned from one": (
        "rotary",
        turn(angles=lambda t, f: (t[:, None] + 1) * f),
        "at position 0 stays",
    ),
    "one after the other": ("rotary", one_after_the_other, "keeps its length"),
    "by its row": (
        "rotary",
        turn(angles=lambda t, f: torch.arange(len(t))[:, None] * f),
        "not by its row",
    ),
    "by the square of the position": (
        "rotary",
        turn(angles=lambda t, f: t[:, None] ** 2 * f),
        "all scores stay",
    ),
    "pairs in halves": ("rotary", in_halves, "times the position"),
}
