import numpy as np
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor, uniform
from torch import Tensor

from course_lib.basis import CosineSeries, random_series
from course_lib.widgets.basis_explorer.basis_explorer import MOST

ROD = "maths/rod.js"
PLACES = np.linspace(0, 1, 101)
Random = np.random.Generator


def deviations() -> Tensor:
    drawn = random_series(1, generator=torch.Generator().manual_seed(3)).coefficients
    generator = torch.Generator().manual_seed(3)
    return (drawn / torch.randn(1, 16, dtype=torch.float64, generator=generator))[0]


def normals(seed: int) -> Tensor:
    """The random numbers of a rod from a seed: a normal one for each mode of both curves."""
    draws = tensor([[uniform(seed, 2 * i), uniform(seed, 2 * i + 1)] for i in range(32)])
    radius, turn = (-2 * (1 - draws[:, 0]).log()).sqrt(), 2 * torch.pi * draws[:, 1]
    return (radius * turn.cos()).view(2, 16)


def random_rod(seed: int, x: Tensor) -> Tensor:
    return CosineSeries(deviations() * normals(seed))(x).clamp(-MOST, MOST)


test_random_rods_are_those_of_course_lib = alike(
    Twice(ROD, "deviations", deviations, cases=[[]]),
    Twice(ROD, "randomRod", random_rod, cases=[[7, PLACES], [8, PLACES]]),
)


def test_a_stroke_does_not_depend_on_the_rate_of_pointer_events(
    javascript: Javascript, random: Random
):
    for events in (2, 20):
        curve = random.normal(scale=0.5, size=101).clip(-1, 1)
        hand = [[x, 1.5] for x in np.linspace(0.3, 0.7, events).tolist()]
        for start, end in zip([hand[0], *hand], hand, strict=False):
            [curve] = javascript(ROD, "pulled", [[list(curve), PLACES.tolist(), start, end]])
        stroke = np.array(curve)[(PLACES > 0.299) & (PLACES < 0.701)]
        assert_close(stroke, np.full(len(stroke), 1.5))
        assert max(curve) < 1.5 + 1e-9
