"""The periodogram against SciPy, series against NumPy's least squares, and known periods."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lombscargle
from seeded_tensors import assert_close, randn

from course_lib.light_curves import find_period, fit_harmonics, frequency_grid, lomb_scargle

FREQUENCY = torch.linspace(0.02, 3, 40, dtype=torch.float64)


def night_by_night(stars=2, nights=12, seed=0):
    """Irregular dates, magnitudes and errors."""
    time = (30 * randn(stars, nights, seed=seed).abs()).sort(dim=1).values
    error = 0.02 + 0.1 * randn(stars, nights, seed=seed + 2).abs()
    return time, 15 + randn(stars, nights, seed=seed + 1), error


def test_power_is_that_of_scipy():
    time, magnitude, error = night_by_night()
    power = lomb_scargle(time, magnitude, error, FREQUENCY)
    for star in range(2):
        expected = lombscargle(
            time[star].numpy(),
            magnitude[star].numpy(),
            2 * math.pi * FREQUENCY.numpy(),
            weights=error[star].numpy() ** -2,
            floating_mean=True,
            normalize=True,
        )
        assert_close(power[star], torch.from_numpy(expected), 1e-8)


@pytest.mark.parametrize("harmonics", [1, 3])
def test_a_series_is_weighted_least_squares(harmonics):
    time, magnitude, error = night_by_night(nights=20)
    frequency = torch.tensor([0.31, 1.7], dtype=torch.float64)
    fit = fit_harmonics(time, magnitude, error, frequency, harmonics=harmonics)
    later = torch.linspace(40, 50, 5, dtype=torch.float64).expand(2, 5)
    for star in range(2):

        def basis(t, star=star):
            angle = 2 * math.pi * frequency[star].item() * t.numpy()
            waves = [f(k * angle) for k in range(1, harmonics + 1) for f in (np.sin, np.cos)]
            return np.stack([np.ones_like(angle), *waves], axis=1)

        scale = 1 / error[star].numpy()
        design = basis(time[star]) * scale[:, None]
        solution, left, *_ = np.linalg.lstsq(design, magnitude[star].numpy() * scale)
        assert_close(fit.coefficient[star], torch.from_numpy(solution), 1e-3)
        assert fit.chi_square[star].item() == pytest.approx(left[0], rel=1e-3)
        assert_close(fit.at(later)[star], torch.from_numpy(basis(later[star]) @ solution), 1e-3)


@settings(max_examples=20)
@given(st.integers(0, 1000), st.floats(-5, 5), st.floats(-2.5e6, 2.5e6), st.floats(0.1, 10))
def test_power_is_a_share_and_independent_of_zero_points_and_units(seed, m, t, scale):
    time, magnitude, error = night_by_night(seed=seed)
    power = lomb_scargle(time, magnitude, error, FREQUENCY)
    assert ((power >= 0) & (power <= 1)).all()
    moved = lomb_scargle(time + t, magnitude + m, scale * error, FREQUENCY)
    assert_close(moved, power, 1e-6)


EDGES = {  # days, and a frequency
    "two nights": ([0.4, 3.4], 0.31),
    "two phases": ([0.1, 0.6, 1.1, 1.6, 3.1], 1.0),
    "one phase": ([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], 1 / 3),
    "half a turn a day": ([0.4, 1.4, 3.4, 4.4, 8.4], 0.5),
    "nearly one phase": ([0.0, 3.0, 6.0, 9.0, 12.0, 15.0], 1 / 3 + 1e-6),
}


@pytest.mark.parametrize("case", EDGES)
def test_where_nights_have_few_phases_power_is_what_least_squares_take_away(case):
    days, f = EDGES[case]
    time = torch.tensor(days, dtype=torch.float64)
    magnitude, error = randn(len(days)), 0.1 + randn(len(days), seed=1).abs()
    frequency = torch.tensor([f, f + 1, 1 - f], dtype=torch.float64)
    scale = 1 / error.numpy()
    whole = np.ones((len(days), 1)) * scale[:, None]

    def left(design):
        found = np.linalg.lstsq(design, magnitude.numpy() * scale, rcond=1e-9)[0]
        return ((magnitude.numpy() * scale - design @ found) ** 2).sum()

    for g, power in zip(frequency, lomb_scargle(time, magnitude, error, frequency), strict=True):
        turn = 2 * math.pi * g.item() * time.numpy()
        waves = np.stack([np.ones_like(turn), np.cos(turn), np.sin(turn)], axis=1) * scale[:, None]
        assert power.item() == pytest.approx(1 - left(waves) / left(whole), abs=2e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("magnitude", [12.345, 1e-15, -7.3e5, 0.0])
def test_a_star_that_does_not_change_has_no_power(magnitude, dtype):
    time, _, error = (column.to(dtype) for column in night_by_night(nights=20_000))
    assert not lomb_scargle(time, torch.full_like(time, magnitude), error, FREQUENCY).any()


@pytest.mark.parametrize("start", [0.3, 58000.3, 2458000.123])
def test_one_observation_a_day_cannot_show_whole_turns_a_day(start):
    grid = frequency_grid(39, highest=3, oversampling=10)
    whole = grid[(grid - grid.round()).abs() < 1e-9]
    assert len(whole) == 2
    time = start + torch.arange(39, dtype=torch.float64)
    power = lomb_scargle(time, randn(39), torch.ones_like(time), torch.cat([whole, 1000 * whole]))
    assert not power.any()


def test_nights_that_may_not_be_used_do_not_count():
    time, magnitude, error = night_by_night()
    seen = torch.rand(2, 12, generator=torch.Generator().manual_seed(3)) < 0.7
    kept = seen[0]
    spoilt = [values.where(seen, math.nan) for values in (time, magnitude, error)]
    alone = [values[:1, kept] for values in (time, magnitude, error)]
    expected = lomb_scargle(*alone, FREQUENCY)[0]
    assert_close(lomb_scargle(*spoilt, FREQUENCY, seen=seen)[0], expected, 1e-10)
    frequency = torch.tensor([0.3, 0.4], dtype=torch.float64)
    fit = fit_harmonics(*spoilt, frequency, harmonics=1, seen=seen)
    one = fit_harmonics(*alone, frequency[:1], harmonics=1)
    assert_close(fit.coefficient[0], one.coefficient[0], 1e-9)
    assert_close(fit.chi_square[0], one.chi_square[0], 1e-8)


def test_a_period_is_found_between_trial_frequencies():
    grid = frequency_grid(30, highest=2)
    step = (grid[1] - grid[0]).item()
    frequency = grid[200].item() + step / 2
    time, _, error = night_by_night(nights=40)
    turn = 2 * math.pi * frequency * time
    light = turn.sin() + 0.6 * (2 * turn).cos() + 0.5 * (3 * turn).sin()
    found = 1 / find_period(time, light, error, grid)
    assert_close(found, torch.full_like(found, frequency), step / 10)


def test_trial_frequencies_are_as_dense_as_asked():
    grid = frequency_grid(50, highest=2, oversampling=4)
    assert grid[0].item() == pytest.approx(0.01)
    assert_close(grid.diff(), torch.full_like(grid[1:], 1 / 200), 1e-9)
    assert grid[-1] < 2
