from typing import Any

import numpy as np
from in_the_page import Twice, alike, tensor

from course_lib.light_curves import lomb_scargle

Random = np.random.Generator
Curve = dict[str, Any]


def curve(random: Random, fewest: int = 4) -> Curve:
    """A wave with noise at random times."""
    nights = int(random.integers(fewest, 40))
    time = np.sort(random.uniform(0, 75, size=nights))
    error = random.uniform(0.005, 0.1, size=nights)
    wave = np.sin(2 * np.pi * time / random.uniform(0.3, 10))
    light = random.uniform(-8, 20) + random.uniform(0.05, 0.8) * wave
    return {"time": time, "magnitude": light + error * random.normal(size=nights), "error": error}


def few_phases(times: list[float], frequencies: list[float]) -> list[Any]:
    light, error = [15.0, 15.4, 14.8, 15.1, 15.3, 14.9], [0.1, 0.05, 0.08, 0.1, 0.07, 0.1]
    nights = len(times)
    return [{"time": times, "magnitude": light[:nights], "error": error[:nights]}, frequencies]


test_the_periodogram_is_that_of_course_lib = alike(
    Twice(
        "maths/light_curves.js",
        "lombScargle",
        lambda curve, f: lomb_scargle(
            *(tensor(curve[name])[None] for name in ("time", "magnitude", "error")), tensor(f)
        )[0],
        lambda random: [curve(random), random.uniform(0.01, 5, size=60)],
        cases=[
            few_phases([0.4, 3.4], [0.31, 1.31, 0.69]),
            few_phases([0.1, 0.6, 1.1, 1.6, 3.1], [1.0, 2.0]),
            few_phases([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], [1 / 3, 4 / 3, 2 / 3]),
            few_phases([2458000.123 + day for day in range(6)], [1.0, 1000.0]),
            [{"time": [0, 1.3, 2.9, 4.1], "magnitude": [12.345] * 4, "error": [0.1] * 4}, [0.3]],
        ],
    ),
)
