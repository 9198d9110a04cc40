"""The stars of lecture 14 are what their description says, and are watched as real ones are."""

import math

import pytest
import torch
from seeded import assert_close

from course_lib.light_curves import LightCurves, cosine_series
from course_lib.models.stars import (
    DAYS,
    LARGEST_ERROR,
    NIGHTS,
    load_macho,
    load_stars,
    observe,
    seasons,
)

STARS = load_stars()
MACHO = load_macho()
SEASONS = seasons(list(MACHO.values()))


def test_light_repeats_with_the_period_and_two_modes_add():
    one = STARS.of("Cepheid F")[torch.arange(5)]
    time = torch.rand(5, 7, dtype=torch.float64) * 100
    assert_close(one.light(time), one.light(time + 3 * one.period[:, :1]), 1e-8)
    two = STARS.of("RRd")[torch.arange(5)]
    modes = [
        cosine_series(
            time / two.period[:, mode, None],
            *(values[:, mode].double() for values in (two.amplitude, two.ratio, two.shift)),
        )
        for mode in (0, 1)
    ]
    assert_close(two.light(time), two.magnitude.double()[:, None] + sum(modes), 1e-8)


def test_a_season_is_so_many_nights_in_a_row_within_so_many_days():
    assert SEASONS.time.shape[1] == NIGHTS
    assert SEASONS.time[:, -1].max() <= DAYS
    assert not SEASONS.time[:, 0].any()
    assert SEASONS.error.max() <= LARGEST_ERROR
    name = "1.3567.1310.R"
    curve = MACHO[name]
    good = (curve.error <= LARGEST_ERROR)[0]
    days = curve.time[0, good].tolist()
    expected = [i for i in range(len(days) - 9) if days[i + 9] - days[i] <= 12]
    found = seasons([curve], nights=10, days=12)
    assert len(found) == len(expected)
    last = torch.tensor([days[i + 9] - days[i] for i in expected])
    assert_close(found.time[:, -1], last, 1e-5)


def test_what_is_observed_is_light_plus_noise_as_large_as_the_errors_say():
    stars = STARS.where("train")[torch.arange(2000)]
    watched = observe(stars, SEASONS, generator=torch.Generator().manual_seed(0))
    again = observe(stars, SEASONS, generator=torch.Generator().manual_seed(0))
    assert torch.equal(watched.magnitude, again.magnitude)
    assert isinstance(watched, LightCurves)
    # The same star, night and phase without noise: errors of a millionth.
    quiet = LightCurves(SEASONS.time, SEASONS.magnitude, 1e-6 * SEASONS.error, SEASONS.real)
    clean = observe(stars, quiet, generator=torch.Generator().manual_seed(0))
    assert torch.equal(clean.time, watched.time)
    score = (watched.magnitude - clean.magnitude) / watched.error
    assert score.mean().item() == pytest.approx(0, abs=4 / math.sqrt(score.numel()))
    assert score.std().item() == pytest.approx(1, abs=0.02)
    means = (clean.magnitude.mean(dim=1) - stars.magnitude).abs()
    assert (means <= stars.amplitude.sum(dim=1)).all()
