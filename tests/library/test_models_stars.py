"""The stars of lecture 14 match their description, and are observed like real ones."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from seeded_tensors import assert_close

from course_lib.light_curves import LightCurves, cosine_series
from course_lib.models.stars import (
    DAYS,
    JITTERS,
    LARGEST_ERROR,
    NIGHTS,
    likeliest_jitter,
    load_macho,
    load_stars,
    observe,
    posterior_at_period,
    posterior_over_periods,
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


def test_observations_are_light_plus_noise_of_the_stated_errors():
    stars = STARS.where("train")[torch.arange(2000)]
    watched = observe(stars, SEASONS, generator=torch.Generator().manual_seed(0))
    again = observe(stars, SEASONS, generator=torch.Generator().manual_seed(0))
    assert torch.equal(watched.magnitude, again.magnitude)
    assert isinstance(watched, LightCurves)
    # The same star, night and phase without noise: errors of a millionth.
    quiet = LightCurves(SEASONS.time, SEASONS.magnitude, 1e-6 * SEASONS.error, SEASONS.valid)
    clean = observe(stars, quiet, generator=torch.Generator().manual_seed(0))
    assert torch.equal(clean.time, watched.time)
    score = (watched.magnitude - clean.magnitude) / watched.error
    assert score.mean().item() == pytest.approx(0, abs=4 / math.sqrt(score.numel()))
    assert score.std().item() == pytest.approx(1, abs=0.02)
    means = (clean.magnitude.mean(dim=1) - stars.magnitude).abs()
    assert (means <= stars.amplitude.sum(dim=1)).all()


VARIANCE = torch.tensor([0.04, 0.02, 0.02, 0.004, 0.004, 0.001, 0.001], dtype=torch.float64)
PERIODS = torch.tensor([0.55, 1.3], dtype=torch.float64)
HIDDEN = torch.zeros(2, 9, dtype=torch.bool)
HIDDEN[0, [2, 5]] = HIDDEN[1, [0, 8]] = True
ASKED = torch.linspace(-3, 30, 14, dtype=torch.float64).expand(2, -1)


@pytest.fixture(scope="module")
def curves() -> LightCurves:
    random = np.random.default_rng(3)
    time = np.sort(random.uniform(0, 20, size=(2, 9)))
    light = 15 + 0.3 * np.sin(2 * np.pi * time / PERIODS.numpy()[:, None])
    columns = time, light + 0.05 * random.normal(size=(2, 9)), random.uniform(0.02, 0.1, (2, 9))
    return LightCurves(*map(torch.from_numpy, columns), torch.ones(2, 9, dtype=torch.bool))


def kernel(one: np.ndarray, other: np.ndarray, period: float) -> np.ndarray:
    apart = 2 * np.pi * (one[:, None] - other) / period
    waves = sum(VARIANCE[2 * k].item() * np.cos(k * apart) for k in (1, 2, 3))
    return VARIANCE[0].item() + waves


def visible(curves: LightCurves, star: int) -> tuple[np.ndarray, ...]:
    """Dates, magnitudes and errors of the visible nights."""
    seen = ~HIDDEN[star].numpy()
    columns = curves.time, curves.magnitude, curves.error
    return tuple(column[star].numpy()[seen] for column in columns)


def conditioned(curves: LightCurves, star: int, period: float) -> tuple[np.ndarray, ...]:
    """Mean and deviation at ASKED by a kernel, and the likelihood of the visible magnitudes."""
    time, light, error = visible(curves, star)
    mean = (light / error**2).sum() / (error**-2).sum()
    noisy = kernel(time, time, period) + np.diag(error**2)
    asked = ASKED[star].numpy()
    across = kernel(asked, time, period)
    said = mean + across @ np.linalg.solve(noisy, light - mean)
    spread = kernel(asked, asked, period) - across @ np.linalg.solve(noisy, across.T)
    likely = multivariate_normal(np.zeros(len(time)), noisy).logpdf(light - mean)
    return said, np.sqrt(spread.diagonal()), likely


def test_the_posterior_is_that_of_a_gaussian_process(curves):
    said, spread = posterior_at_period(curves, PERIODS, ASKED, variance=VARIANCE, hidden=HIDDEN)
    for star, period in enumerate(PERIODS.tolist()):
        expected, deviation, _ = conditioned(curves, star, period)
        assert_close(said[star], torch.from_numpy(expected), 1e-9)
        assert_close(spread[star], torch.from_numpy(deviation), 1e-9)


def test_a_period_weighs_as_much_as_its_evidence(curves):
    frequency = torch.tensor([0.4, 1 / 1.3, 1.1, 1 / 0.55], dtype=torch.float64)
    said, spread = posterior_over_periods(
        curves, frequency, ASKED, variance=VARIANCE, hidden=HIDDEN
    )
    for star in range(2):
        each = [conditioned(curves, star, 1 / f) for f in frequency.tolist()]
        likely = np.array([row[2] for row in each])
        share = np.exp(likely - likely.max())
        share = (share / share.sum())[:, None]
        expected = (share * np.array([row[0] for row in each])).sum(0)
        square = np.array([row[1] ** 2 + (row[0] - expected) ** 2 for row in each])
        assert_close(said[star], torch.from_numpy(expected), 1e-5)
        assert_close(spread[star], torch.from_numpy(np.sqrt((share * square).sum(0))), 1e-4)


def test_hidden_nights_have_no_effect(curves):
    for say in [posterior_at_period, posterior_over_periods]:
        spoilt = LightCurves(
            curves.time,
            curves.magnitude.masked_fill(HIDDEN, 99.0),
            curves.error.masked_fill(HIDDEN, 7.0),
            curves.valid,
        )
        options = {"variance": VARIANCE, "hidden": HIDDEN}
        for found, expected in zip(
            say(spoilt, PERIODS, ASKED, **options),
            say(curves, PERIODS, ASKED, **options),
            strict=True,
        ):
            assert torch.equal(found, expected)


def test_the_excess_noise_is_that_of_the_largest_evidence(curves):
    for excess in [0.0, 0.06, 0.13]:
        random = torch.Generator().manual_seed(1)
        light = curves.magnitude + excess * torch.randn(2, 9, generator=random, dtype=torch.float64)
        noisy = LightCurves(curves.time, light, 0.3 * curves.error, curves.valid)
        found = likeliest_jitter(noisy, PERIODS, variance=VARIANCE, hidden=HIDDEN)
        for star, period in enumerate(PERIODS.tolist()):
            time, value, error = visible(noisy, star)
            likely = [
                multivariate_normal(
                    np.zeros(len(time)), kernel(time, time, period) + np.diag(error**2 + jitter**2)
                ).logpdf(value - value.mean())
                for jitter in JITTERS
            ]
            assert found[star] == pytest.approx(JITTERS[int(np.argmax(likely))])
        spoilt = LightCurves(
            curves.time, light.masked_fill(HIDDEN, 99.0), noisy.error, curves.valid
        )
        again = likeliest_jitter(spoilt, PERIODS, variance=VARIANCE, hidden=HIDDEN)
        assert torch.equal(again, found)
