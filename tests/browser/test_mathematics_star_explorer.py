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
CASES = 40


def curves(random: np.random.Generator, count: int = CASES) -> list[dict[str, list[float]]]:
    """Waves with noise at random times, of 8 to 40 nights."""
    found = []
    for _ in range(count):
        nights = int(random.integers(8, 40))
        time = np.sort(random.uniform(0, 75, size=nights))
        error = random.uniform(0.005, 0.1, size=nights)
        wave = np.sin(2 * np.pi * time / random.uniform(0.3, 10))
        light = random.uniform(-8, 20) + random.uniform(0.05, 0.8) * wave
        noise = error * random.normal(size=nights)
        columns = {"time": time, "magnitude": light + noise, "error": error}
        found.append({name: values.tolist() for name, values in columns.items()})
    return found


def columns(curve: dict[str, list[float]]) -> list[torch.Tensor]:
    return [tensor(curve[name])[None] for name in ("time", "magnitude", "error")]


def hidden_of(random: np.random.Generator, nights: int, most: int | None = None) -> list[int]:
    count = int(random.integers(1, most or nights - 2))
    return sorted(random.choice(nights, size=count, replace=False).tolist())


def flags(hidden: list[int], nights: int) -> torch.Tensor:
    found = torch.zeros(1, nights, dtype=torch.bool)
    found[0, hidden] = True
    return found


def test_nights_fold_as_in_course_lib(javascript: Javascript, random: np.random.Generator):
    cases = [[random.uniform(-100, 3000), random.uniform(0.1, 100)] for _ in range(DRAWS)]
    cases += [[0.0, 1.0], [3.0, 1.0], [-1e-18, 1.0], [-2.0, 0.5]]
    found = javascript(PATH, "phase", cases)
    times, periods = tensor(cases).T
    assert_close(found, phase(times[:, None], periods)[:, 0])
    assert all(0 <= turn < 1 for turn in found)


def test_trial_frequencies_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[random.uniform(5, 400), random.uniform(0.5, 5), 5] for _ in range(CASES)]
    for (days, highest, _), found in zip(
        cases, javascript(PATH, "frequencyGrid", cases), strict=True
    ):
        assert_close(found, frequency_grid(days, highest=highest))


def test_a_periodogram_is_that_of_course_lib(javascript: Javascript, random: np.random.Generator):
    drawn = curves(random)
    frequencies = random.uniform(0.01, 5, size=60).tolist()
    found = javascript(PATH, "lombScargle", [[curve, frequencies] for curve in drawn])
    for curve, power in zip(drawn, found, strict=True):
        assert_close(power, lomb_scargle(*columns(curve), tensor(frequencies))[0])


def test_where_nights_have_few_phases_the_periodogram_is_that_of_course_lib(javascript: Javascript):
    light, error = [15.0, 15.4, 14.8, 15.1, 15.3, 14.9], [0.1, 0.05, 0.08, 0.1, 0.07, 0.1]
    edges = [
        ([0.4, 3.4], [0.31, 1.31, 0.69]),
        ([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], [1 / 3, 4 / 3, 2 / 3]),
        ([0.1, 0.6, 1.1, 1.6, 3.1], [1.0, 2.0]),
    ]
    cases = [
        [{"time": t, "magnitude": light[: len(t)], "error": error[: len(t)]}, f] for t, f in edges
    ]
    for (curve, f), power in zip(cases, javascript(PATH, "lombScargle", cases), strict=True):
        assert_close(power, lomb_scargle(*columns(curve), tensor(f))[0])
    assert javascript(PATH, "lombScargle", cases[1:2])[0] == pytest.approx([0, 0, 0])


def test_a_band_is_that_of_course_lib(javascript: Javascript, random: np.random.Generator):
    drawn = curves(random)
    for curve in drawn[:4]:
        for name in curve:
            curve[name] = curve[name][:4]
    prior = [0.04, 0.03, 0.03, 0.01, 0.01, 0.002, 0.002]
    frequencies = random.uniform(0.05, 5, size=len(drawn)).tolist()
    cases = [[curve, f, prior] for curve, f in zip(drawn, frequencies, strict=True)]
    found = javascript(PATH, "posteriorOf", cases)
    asked = random.uniform(0, 80, size=len(drawn)).tolist()
    at = list(zip(frequencies, asked, strict=True))
    middle = javascript(
        PATH, "seriesAt", [[p["coefficients"], *ft] for p, ft in zip(found, at, strict=True)]
    )
    spread = javascript(PATH, "spreadAt", [[p, *ft] for p, ft in zip(found, at, strict=True)])
    for curve, (f, t), m, s in zip(drawn, at, middle, spread, strict=True):
        real = torch.ones(1, len(curve["time"]), dtype=torch.bool)
        one = LightCurves(*columns(curve), real)
        said = posterior_at_period(one, tensor([1 / f]), tensor([[t]]), variance=tensor(prior))
        assert_close([m, s], [part.item() for part in said])


def test_the_highest_peak_is_higher_than_every_trial_and_near_the_best(
    javascript: Javascript, random: np.random.Generator
):
    drawn = curves(random, 12)
    for curve in drawn:
        grid = frequency_grid(curve["time"][-1] - curve["time"][0], highest=5.0)
        power = lomb_scargle(*columns(curve), grid)[0]
        given = [curve, grid.tolist(), power.tolist()]
        [peak] = javascript(PATH, "highestPeak", [given])
        here = lomb_scargle(*columns(curve), tensor([peak["frequency"]]))[0, 0]
        assert_close(peak["power"], here)
        assert here >= power.max() - 1e-12
        assert abs(peak["frequency"] - grid[power.argmax()]) <= grid[1] - grid[0] + 1e-9


def test_aliases_lie_a_day_away_from_a_frequency_and_from_its_mirror_image(javascript: Javascript):
    cases = [[0.3, 5], [1.0, 5], [1.75, 5], [4.5, 5]]
    found = javascript(PATH, "aliases", cases)
    expected = [[0.7, 1.3, 1.7, 2.3], [2, 3], [0.75, 2.75, 0.25, 3.75], [3.5, 2.5]]
    for aliases, own in zip(found, expected, strict=True):
        np.testing.assert_allclose(aliases, own)


def test_a_fitted_series_is_that_of_course_lib_even_where_nights_are_few(
    javascript: Javascript, random: np.random.Generator
):
    drawn = curves(random)
    for curve in drawn[:4]:
        for name in curve:
            curve[name] = curve[name][:4]
    frequencies = random.uniform(0.05, 5, size=len(drawn)).tolist()
    cases = [[curve, f, 3] for curve, f in zip(drawn, frequencies, strict=True)]
    found = javascript(PATH, "fitHarmonics", cases)
    asked = random.uniform(0, 80, size=len(drawn)).tolist()
    at = [[c, f, t] for c, f, t in zip(found, frequencies, asked, strict=True)]
    series = javascript(PATH, "seriesAt", at)
    for curve, f, t, coefficients, value in zip(
        drawn, frequencies, asked, found, series, strict=True
    ):
        fit = fit_harmonics(*columns(curve), tensor([f]))
        assert_close(coefficients, fit.coefficient[0])
        assert_close(value, fit.at(tensor([[t]]))[0, 0])


def test_a_straight_line_goes_from_neighbour_to_neighbour(
    javascript: Javascript, random: np.random.Generator
):
    drawn = curves(random)
    asked = random.uniform(-5, 85, size=len(drawn)).tolist()
    found = javascript(PATH, "betweenNeighbours", list(map(list, zip(drawn, asked, strict=True))))
    expected = [
        np.interp(t, curve["time"], curve["magnitude"])
        for t, curve in zip(asked, drawn, strict=True)
    ]
    assert_close(found, expected)


def test_an_error_is_the_reconstruction_error_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = [random.normal(size=(2, int(random.integers(1, 9)))).tolist() for _ in range(CASES)]
    found = javascript(PATH, "errorOf", cases)
    for (guesses, truth), error in zip(cases, found, strict=True):
        everywhere = torch.ones(1, len(truth), dtype=torch.bool)
        pair = tensor(guesses)[None], tensor(truth)[None]
        assert_close(error, reconstruction_error(*pair, everywhere))


def test_five_magnitudes_are_a_hundredfold(javascript: Javascript):
    found = javascript(PATH, "brightness", [[15, 10], [10, 10], [12.5, 15]])
    assert_close(found, [0.01, 1, 10])


def test_nights_are_drawn_as_often_as_asked_and_others_by_another_seed(javascript: Javascript):
    cases = [[40, 13, seed] for seed in range(1, 21)]
    found = javascript(PATH, "drawnNights", cases)
    for (nights, count, seed), drawn in zip(cases, found, strict=True):
        order = sorted(range(nights), key=lambda night, seed=seed: uniform(seed, night))
        assert drawn == sorted(order[:count])
    assert len(set(map(tuple, found))) == len(found)


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("clock", ["days", "turns"])
def test_astromer_believes_what_it_believes_in_course_lib(
    javascript: Javascript, random: np.random.Generator, clock: str, heads: int
):
    shown = StarExplorer(watched_stars(), astromer=astromer(heads=heads), clock=clock)
    [model] = javascript(ASTROMER, "unpackAstromer", [[shown.facts, shown.weights]])
    cases, expected = [], []
    for curve in curves(random, 12):
        nights = len(curve["time"])
        hidden = hidden_of(random, nights)
        times = random.uniform(-3, 90, size=5)
        period = random.uniform(0.3, 5) if clock == "turns" else 1.0
        clocked = curve | {"time": [t / period for t in curve["time"]]}
        cases.append([model, clocked, hidden, (times / period).tolist()])
        real = torch.ones(1, nights, dtype=torch.bool)
        seen = LightCurves(*columns(curve), real).in_turns(tensor([period]))
        asked = tensor(times / period)[None]
        both = believed(shown.astromer, seen, asked, hidden=flags(hidden, nights))
        expected.append(torch.cat(both).numpy())
    found = [
        [[belief[part] for belief in row] for part in ("middle", "deviation")]
        for row in javascript(ASTROMER, "beliefAt", cases)
    ]
    assert_close(found, expected)
    said, spread = np.stack(expected, axis=1)
    assert np.ptp(said - said.mean(axis=1, keepdims=True)) > 0.01
    assert np.ptp(spread) > 0.01
    assert spread.min() > 0


def test_dates_become_the_sinusoids_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    frequency = random.uniform(0.01, 5, size=6).tolist()
    times = random.uniform(0, 100, size=CASES).tolist()
    found = javascript(ASTROMER, "timeSinusoids", [[t, frequency] for t in times])
    assert_close(found, time_sinusoids(tensor(times), tensor(frequency)))
