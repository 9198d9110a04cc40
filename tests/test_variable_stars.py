"""The stars of lecture 14 are what their description says, and are watched as real ones are."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from seeded import assert_close

from course_lib.light_curves import LightCurves, cosine_series
from course_lib.variable_stars import (
    CLASSES,
    DATA,
    DAYS,
    FASTEST,
    LARGEST_ERROR,
    NIGHTS,
    SIDES,
    load_macho,
    load_stars,
    observe,
    seasons,
)

ROOT = Path(__file__).resolve().parents[1]
STARS = load_stars()
MACHO = load_macho()
SEASONS = seasons(list(MACHO.values()))


def test_the_file_is_described_beside_it_and_made_by_a_script():
    told = DATA.with_suffix(".md").read_text(encoding="utf-8")
    with np.load(DATA) as arrays:
        assert [name for name in arrays.files if f"`{name}`" not in told] == []
    assert DATA.stat().st_size < 3_000_000
    for said in ("Soszyński", "Alcock", "MIT licence", "scripts/make_stars.py", "public domain"):
        assert said in told
    assert (ROOT / "scripts" / "make_stars.py").exists()


def test_stars_are_divided_by_star_and_every_class_is_on_every_side():
    assert len(STARS) == len(set(STARS.name)) == 15_706
    sides = {side: STARS.where(side) for side in SIDES}
    assert sum(map(len, sides.values())) == len(STARS)
    for kind in CLASSES:
        shares = [len(sides[side].of(kind)) / len(STARS.of(kind)) for side in SIDES]
        assert shares == pytest.approx([0.7, 0.1, 0.2], abs=0.01)


def test_periods_of_two_modes_have_the_ratios_of_the_textbook():
    for kind in CLASSES:
        period = STARS.of(kind).period
        if kind in ("RRd", "Cepheid 1O/2O"):
            ratio = (period.amin(dim=1) / period.amax(dim=1)).median().item()
            assert ratio == pytest.approx(0.744 if kind == "RRd" else 0.805, abs=0.003)
        else:
            assert not period[:, 1].any()
    assert 1 / STARS.period[:, 0].min().item() < FASTEST


def test_rr_lyrae_stars_brighten_fast_and_fade_slowly():
    star = STARS.of("RRab")
    turn = torch.arange(200, dtype=torch.float64) / 200
    series = cosine_series(
        turn.expand(len(star), -1),
        *(values[:, 0].double() for values in (star.amplitude, star.ratio, star.shift)),
    )
    brightening = (series.roll(-1, dims=1) < series).double().mean(dim=1)
    assert brightening.median().item() < 0.4


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


def test_an_epoch_moves_a_star_in_time():
    star = STARS.of("RRc")[torch.arange(3)]
    time = torch.linspace(0, 10, 9, dtype=torch.float64).expand(3, -1)
    shift = torch.tensor([[0.3, 0.0]], dtype=torch.float64).expand(3, 2)
    assert_close(star.light(time + 0.3, epoch=shift), star.light(time), 1e-8)


# Real nights ------------------------------------------------------------------------------------


def test_the_curves_of_macho_are_real_ones():
    assert len(MACHO) == 19
    assert sum(curve.time.shape[1] for curve in MACHO.values()) == 15_118
    for name, curve in MACHO.items():
        assert name.split(".")[-1] in "BR"
        assert 48_000 < curve.time.min() < curve.time.max() < 52_000  # 1992 to 1999


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


def test_no_season_long_enough_is_an_error():
    with pytest.raises(ValueError, match="no curve has 40 observations within 1 days"):
        seasons(list(MACHO.values()), days=1)


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


def test_stars_begin_at_random_phases():
    star = STARS.of("Cepheid F")[torch.zeros(3000, dtype=torch.int64)]
    first = observe(star, SEASONS, generator=torch.Generator().manual_seed(1)).magnitude[:, 0]
    everywhere = star[torch.arange(1)].light(
        torch.linspace(0, star.period[0, 0].item(), 2000)[None]
    )
    for share in (0.1, 0.5, 0.9):
        assert first.quantile(share).item() == pytest.approx(
            everywhere.quantile(share).item(), abs=0.05
        )


# Bad input --------------------------------------------------------------------------------------


def test_an_unknown_class_or_side_is_refused():
    with pytest.raises(ValueError, match="kind is 'Mira'; expected one of 'RRab', 'RRc'"):
        STARS.of("Mira")
    with pytest.raises(ValueError, match="side is 'exam'; expected one of 'train'"):
        STARS.where("exam")


def test_no_star_cannot_be_watched():
    with pytest.raises(ValueError, match="the number of stars is 0"):
        observe(STARS[torch.zeros(0, dtype=torch.int64)], SEASONS)
