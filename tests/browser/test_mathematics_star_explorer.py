"""The mathematics of StarExplorer's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor, uniform
from small_widgets import astromer, watched_stars

from course_lib.astromer import reconstruction_error
from course_lib.light_curves import LightCurves, phase, time_sinusoids
from course_lib.periodogram import fit_harmonics, frequency_grid, lomb_scargle
from course_lib.star_prior import posterior_at_period
from course_lib.widgets import StarExplorer
from course_lib.widgets.star_explorer import believed

PATH = "js/maths/light_curves.js"
ASTROMER = "js/maths/astromer.js"
CASES = 20
Curve = dict[str, list[float]]


@pytest.fixture
def drawn(random: np.random.Generator) -> list[Curve]:
    """Waves with noise at random times, of 8 to 40 nights; the first ones of 4."""
    found = []
    for case in range(CASES):
        nights = 4 if case < 3 else int(random.integers(8, 40))
        time = np.sort(random.uniform(0, 75, size=nights))
        error = random.uniform(0.005, 0.1, size=nights)
        wave = np.sin(2 * np.pi * time / random.uniform(0.3, 10))
        light = random.uniform(-8, 20) + random.uniform(0.05, 0.8) * wave
        noise = error * random.normal(size=nights)
        columns = {"time": time, "magnitude": light + noise, "error": error}
        found.append({name: values.tolist() for name, values in columns.items()})
    return found


def columns(curve: Curve) -> list[torch.Tensor]:
    return [tensor(curve[name])[None] for name in ("time", "magnitude", "error")]


def light_curve(curve: Curve) -> LightCurves:
    return LightCurves(*columns(curve), torch.ones(1, len(curve["time"]), dtype=torch.bool))


def test_times_fold_and_become_frequencies_and_sinusoids_as_in_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[random.uniform(-100, 3000), random.uniform(0.1, 100)] for _ in range(DRAWS)]
    cases += [[0.0, 1.0], [3.0, 1.0], [-1e-18, 1.0], [-2.0, 0.5]]
    found = javascript(PATH, "phase", cases)
    times, periods = tensor(cases).T
    assert_close(found, phase(times[:, None], periods)[:, 0])
    assert all(0 <= turn < 1 for turn in found)
    cases = [[random.uniform(5, 400), random.uniform(0.5, 5), 5] for _ in range(CASES)]
    grids = javascript(PATH, "frequencyGrid", cases)
    for (days, highest, _), grid in zip(cases, grids, strict=True):
        assert_close(grid, frequency_grid(days, highest=highest))
    frequency = random.uniform(0.01, 5, size=6).tolist()
    times = random.uniform(0, 100, size=CASES).tolist()
    found = javascript(ASTROMER, "timeSinusoids", [[t, frequency] for t in times])
    assert_close(found, time_sinusoids(tensor(times), tensor(frequency)))


def test_a_periodogram_is_that_of_course_lib_also_where_nights_have_few_phases(
    javascript: Javascript, random: np.random.Generator, drawn: list[Curve]
):
    frequencies = random.uniform(0.01, 5, size=60).tolist()
    cases = [[curve, frequencies] for curve in drawn]
    light, error = [15.0, 15.4, 14.8, 15.1, 15.3, 14.9], [0.1, 0.05, 0.08, 0.1, 0.07, 0.1]
    for t, f in [
        ([0.4, 3.4], [0.31, 1.31, 0.69]),
        ([0.1, 0.6, 1.1, 1.6, 3.1], [1.0, 2.0]),
        ([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], [1 / 3, 4 / 3, 2 / 3]),
    ]:
        cases.append([{"time": t, "magnitude": light[: len(t)], "error": error[: len(t)]}, f])
    found = javascript(PATH, "lombScargle", cases)
    for (curve, f), power in zip(cases, found, strict=True):
        assert_close(power, lomb_scargle(*columns(curve), tensor(f))[0])
    assert found[-1] == pytest.approx([0, 0, 0])


def test_the_highest_peak_is_higher_than_every_trial_and_its_aliases_lie_a_day_away(
    javascript: Javascript, drawn: list[Curve]
):
    for curve in drawn[3:11]:
        grid = frequency_grid(curve["time"][-1] - curve["time"][0], highest=5.0)
        power = lomb_scargle(*columns(curve), grid)[0]
        [peak] = javascript(PATH, "highestPeak", [[curve, grid.tolist(), power.tolist()]])
        here = lomb_scargle(*columns(curve), tensor([peak["frequency"]]))[0, 0]
        assert_close(peak["power"], here)
        assert here >= power.max() - 1e-12
        assert abs(peak["frequency"] - grid[power.argmax()]) <= grid[1] - grid[0] + 1e-9
    found = javascript(PATH, "aliases", [[0.3, 5], [1.0, 5], [1.75, 5], [4.5, 5]])
    expected = [[0.7, 1.3, 1.7, 2.3], [2, 3], [0.75, 2.75, 0.25, 3.75], [3.5, 2.5]]
    for aliases, own in zip(found, expected, strict=True):
        np.testing.assert_allclose(aliases, own)


def test_a_fitted_series_and_its_band_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator, drawn: list[Curve]
):
    prior = [0.04, 0.03, 0.03, 0.01, 0.01, 0.002, 0.002]
    at = random.uniform([0.05, 0], [5, 80], size=(len(drawn), 2)).tolist()
    given = [[curve, f] for curve, (f, _) in zip(drawn, at, strict=True)]
    fits = javascript(PATH, "fitHarmonics", [[*one, 3] for one in given])
    series = javascript(PATH, "seriesAt", [[c, *ft] for c, ft in zip(fits, at, strict=True)])
    beliefs = javascript(PATH, "posteriorOf", [[*one, prior] for one in given])
    coefficients = [belief["coefficients"] for belief in beliefs]
    middles = javascript(
        PATH, "seriesAt", [[c, *ft] for c, ft in zip(coefficients, at, strict=True)]
    )
    spreads = javascript(PATH, "spreadAt", [[p, *ft] for p, ft in zip(beliefs, at, strict=True)])
    found = zip(fits, series, middles, spreads, strict=True)
    for curve, (f, t), (fitted, value, *belief) in zip(drawn, at, found, strict=True):
        fit = fit_harmonics(*columns(curve), tensor([f]))
        assert_close(fitted, fit.coefficient[0])
        assert_close(value, fit.at(tensor([[t]]))[0, 0])
        asked = tensor([1 / f]), tensor([[t]])
        said = posterior_at_period(light_curve(curve), *asked, variance=tensor(prior))
        assert_close(belief, [part.item() for part in said])


def test_lines_errors_and_light_are_those_of_numpy_and_course_lib(
    javascript: Javascript, random: np.random.Generator, drawn: list[Curve]
):
    cases = [[curve, random.uniform(-5, 85)] for curve in drawn]
    expected = [np.interp(t, curve["time"], curve["magnitude"]) for curve, t in cases]
    assert_close(javascript(PATH, "betweenNeighbours", cases), expected)
    cases = [random.normal(size=(2, int(random.integers(1, 9)))).tolist() for _ in range(CASES)]
    found = javascript(PATH, "errorOf", cases)
    for pair, error in zip(cases, found, strict=True):
        everywhere = torch.ones(1, len(pair[0]), dtype=torch.bool)
        assert_close(error, reconstruction_error(*(tensor(x)[None] for x in pair), everywhere))
    found = javascript(PATH, "brightness", [[15, 10], [10, 10], [12.5, 15]])
    assert_close(found, [0.01, 1, 10])


def test_nights_are_drawn_as_often_as_asked_and_others_by_another_seed(javascript: Javascript):
    cases = [[40, 13, seed] for seed in range(1, 21)]
    found = javascript(PATH, "drawnNights", cases)
    for (nights, count, seed), picked in zip(cases, found, strict=True):
        order = sorted(range(nights), key=lambda night, seed=seed: uniform(seed, night))
        assert picked == sorted(order[:count])
    assert len(set(map(tuple, found))) == len(found)


@pytest.mark.parametrize(("clock", "heads"), [("days", 1), ("turns", 2)])
def test_astromer_believes_what_it_believes_in_course_lib(
    javascript: Javascript, random: np.random.Generator, drawn: list[Curve], clock: str, heads: int
):
    shown = StarExplorer(watched_stars(), astromer=astromer(heads=heads), clock=clock)
    [model] = javascript(ASTROMER, "unpackAstromer", [[shown.facts, shown.weights]])
    cases, expected = [], []
    for curve in drawn[3:13]:
        nights = len(curve["time"])
        hidden = sorted(random.choice(nights, size=nights // 3, replace=False).tolist())
        period = random.uniform(0.3, 5) if clock == "turns" else 1.0
        times = random.uniform(-3, 90, size=5) / period
        clocked = curve | {"time": [t / period for t in curve["time"]]}
        cases.append([model, clocked, hidden, times.tolist()])
        flags = torch.zeros(1, nights, dtype=torch.bool)
        flags[0, hidden] = True
        seen = light_curve(curve).in_turns(tensor([period]))
        both = believed(shown.astromer, seen, tensor(times)[None], hidden=flags)
        expected.append(torch.cat(both).numpy())
    found = [
        [[belief[part] for belief in row] for part in ("middle", "deviation")]
        for row in javascript(ASTROMER, "beliefAt", cases)
    ]
    assert_close(found, expected)
    said, spread = np.stack(expected, axis=1)
    assert np.ptp(said - said.mean(axis=1, keepdims=True)) > 0.01
    assert np.ptp(spread) > 0.01
