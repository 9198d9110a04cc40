from typing import Any

import numpy as np
import torch
from in_the_page import Twice, alike, tensor
from torch import Tensor

from course_lib.position import shift_matrix

POSITION = "maths/position.js"
Random = np.random.Generator


def rows(random: Random) -> list[Any]:
    """A row, a position, also a negative one, and a base."""
    position = random.uniform(-60, 60)
    row = random.normal(size=2 * random.integers(1, 9))
    return [row, random.choice([position, round(position)]), 10 ** random.uniform(0, 5)]


def shifted(row: Tensor, position: float, base: float) -> Tensor:
    return shift_matrix(position, len(row), base=base, dtype=torch.float64) @ row


def score_matrices(random: Random) -> list[Any]:
    return [random.normal(size=[random.integers(2, 13)] * 2)]


def by_difference(score: Tensor) -> list[dict[str, Any]]:
    """The diagonal s − t = difference, ``difference`` places below the main one."""
    last = len(score) - 1
    diagonals = [score.diagonal(-difference) for difference in range(-last, last + 1)]
    return [
        {"count": len(d), "least": d.min(), "mean": d.mean(), "most": d.max()} for d in diagonals
    ]


def explained(score: Any) -> Tensor | float:
    """The share of the variance below the diagonal that the means explain."""
    below = [tensor(score).diagonal(-k) for k in range(1, len(score))]
    if len(below) < 2:
        return 0.0
    left = sum((x - x.mean()).square().sum() for x in below)
    values = torch.cat(below)
    return 1 - left / (values - values.mean()).square().sum()


test_shifts_and_differences_are_those_of_course_lib = alike(
    Twice(POSITION, "shiftRow", shifted, rows),
    Twice(
        POSITION,
        "handAngle",
        lambda start, end: np.degrees(np.angle(complex(*end) / complex(*start))),
        lambda random: list(random.normal(size=(2, 2))),
    ),
    Twice(
        POSITION,
        "distinct",
        lambda values, _tolerance: values.round(decimals=6).unique().numel(),
        lambda random: [random.integers(5, size=6) + 1e-12 * random.normal(size=6), 1e-9],
        rtol=0,
    ),
    Twice(POSITION, "byDifference", by_difference, score_matrices),
    Twice(
        POSITION,
        "explainedByDifference",
        explained,
        score_matrices,
        cases=[[[[float((s - t) ** 2) for t in range(6)] for s in range(6)]]],
    ),
)
