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


RIGHT = {
    "sinusoidal": [library.sinusoidal, table()],
    "rotary": [lambda x, position: library.rotary(x, position=position)],
}


WRONG = {
    "sinusoidal": [
        "answer rounded",
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
            library.rotary(x.view(len(x), 2, -1).mT.flatten(1), position=position)
            .view(len(x), -1, 2)
            .mT.flatten(1)
        ),
    ],
}
