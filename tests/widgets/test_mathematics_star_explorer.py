from typing import Any

import numpy as np
import torch
from in_the_page import Twice, alike, tensor
from judges.star_explorer import light_curve
from small_widgets import astromer, watched_stars
from torch import Tensor

from course_lib.light_curves import frequency_grid, lomb_scargle, phase
from course_lib.models.stars import posterior_at_period
from course_lib.widgets import StarExplorer
from course_lib.widgets.star_explorer.star_explorer import believed

PATH, ASTROMER = "maths/light_curves.js", "maths/astromer.js"
PRIOR = [0.04, 0.03, 0.03, 0.01, 0.01, 0.002, 0.002]
Random = np.random.Generator
Curve = dict[str, Any]


def curve(random: Random, fewest: int = 8) -> Curve:
    """A wave with noise at random times."""
    nights = int(random.integers(fewest, 40))
    time = np.sort(random.uniform(0, 75, size=nights))
    error = random.uniform(0.005, 0.1, size=nights)
    wave = np.sin(2 * np.pi * time / random.uniform(0.3, 10))
    light = random.uniform(-8, 20) + random.uniform(0.05, 0.8) * wave
    return {"time": time, "magnitude": light + error * random.normal(size=nights), "error": error}


def columns(curve: Curve) -> list[Tensor]:
    return [tensor(curve[name])[None] for name in ("time", "magnitude", "error")]


def few_phases(times: list[float], frequencies: list[float]) -> list[Any]:
    light, error = [15.0, 15.4, 14.8, 15.1, 15.3, 14.9], [0.1, 0.05, 0.08, 0.1, 0.07, 0.1]
    nights = len(times)
    return [{"time": times, "magnitude": light[:nights], "error": error[:nights]}, frequencies]


def bands(random: Random) -> list[Any]:
    return [curve(random, 4), random.uniform(0.05, 5), random.uniform(0, 80)]


def band(curve: Curve, frequency: float, time: float) -> list[Tensor]:
    at = tensor([1 / frequency]), tensor([[time]])
    said = posterior_at_period(light_curve(*columns(curve)), *at, variance=tensor(PRIOR))
    return [part[0, 0] for part in said]


MODELS = {
    clock: StarExplorer(watched_stars(), astromer=astromer(heads=heads), clock=clock)
    for clock, heads in (("days", 1), ("turns", 2))
}


def clocked(random: Random) -> list[Any]:
    """A curve in days or in turns of a period, with some of its nights hidden, and times."""
    clock, own = str(random.choice([*MODELS])), curve(random)
    period = random.uniform(0.3, 5) if clock == "turns" else 1.0
    nights = len(own["time"])
    hidden = np.sort(random.choice(nights, size=nights // 3, replace=False))
    own["time"] /= period
    travelled = MODELS[clock].facts, MODELS[clock].weights
    return [clock, *travelled, own, hidden, random.uniform(-3, 90, size=5) / period]


def belief(
    clock: str, _facts: Any, _weights: Any, curve: Curve, hidden: Tensor, times: Tensor
) -> list[dict[str, Tensor]]:
    flags = torch.zeros(1, len(curve["time"]), dtype=torch.bool)
    flags[0, hidden] = True
    seen = light_curve(*columns(curve))
    both = believed(MODELS[clock].astromer, seen, times[None], hidden=flags)
    return [{"middle": m, "deviation": d} for m, d in zip(*(part[0] for part in both), strict=True)]


test_stars_are_folded_fitted_and_believed_as_in_course_lib = alike(
    Twice(
        PATH,
        "phase",
        lambda time, period: phase(tensor([[time]]), tensor([period]))[0, 0],
        lambda random: [random.uniform(-100, 3000), random.uniform(0.1, 100)],
        cases=[[0.0, 1.0], [3.0, 1.0], [-1e-18, 1.0], [-2.0, 0.5]],
    ),
    Twice(
        PATH,
        "(days, highest) => frequencyGrid(days, highest, 5)",
        lambda days, highest: frequency_grid(days, highest=highest),
        lambda random: [random.uniform(5, 400), random.uniform(0.5, 5)],
    ),
    Twice(
        PATH,
        "lombScargle",
        lambda curve, f: lomb_scargle(*columns(curve), tensor(f))[0],
        lambda random: [curve(random, 4), random.uniform(0.01, 5, size=60)],
        cases=[
            few_phases([0.4, 3.4], [0.31, 1.31, 0.69]),
            few_phases([0.1, 0.6, 1.1, 1.6, 3.1], [1.0, 2.0]),
            few_phases([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], [1 / 3, 4 / 3, 2 / 3]),
            few_phases([2458000.123 + day for day in range(6)], [1.0, 1000.0]),
            [{"time": [0, 1.3, 2.9, 4.1], "magnitude": [12.345] * 4, "error": [0.1] * 4}, [0.3]],
        ],
    ),
    Twice(
        PATH,
        f"""(curve, frequency, time) => {{
          const said = posteriorOf(curve, frequency, {PRIOR});
          return [seriesAt(said.coefficients, frequency, time), spreadAt(said, frequency, time)];
        }}""",
        band,
        bands,
    ),
    Twice(
        ASTROMER,
        """(_, facts, weights, curve, hidden, times) =>
          beliefAt(unpackAstromer(facts, weights), curve, hidden, times)""",
        belief,
        clocked,
    ),
)
