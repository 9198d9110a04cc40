import numpy as np
import pytest
import torch
from small_widgets import watched_stars

from course_lib.light_curves import LightCurves
from course_lib.models.stars import CLASSES, DAYS, NIGHTS, load_stars
from course_lib.widgets import StarExplorer
from course_lib.widgets.star_explorer.star_explorer import START
from course_lib.widgets.star_explorer.watched_stars import (
    ECLIPSING,
    WatchedStars,
    explained,
    stars_to_watch,
)


def test_there_is_the_middle_star_of_each_class_and_the_periodic_objects_of_macho():
    watched, test = stars_to_watch(), load_stars().where("test")
    for kind, name, period in zip(CLASSES, watched.name, watched.period, strict=False):
        own = test.of(kind).period[:, 0].sort().values
        assert period == pytest.approx(own[(len(own) - 1) // 2].item())
        assert f"OGLE-{name.removeprefix(f'{kind}: ')}" in test.of(kind).name
    kinds = dict(zip(watched.name, watched.pulsates, strict=True))
    assert [name for name, pulsates in kinds.items() if not pulsates] == [
        f"Eclipsing: MACHO {name.removesuffix('.B')}" for name in ECLIPSING
    ]
    assert watched.curves.valid.sum(dim=1).tolist() == [NIGHTS] * len(watched.name)
    assert (watched.curves.time[:, -1] <= DAYS).all()
    # Every star starts at the same period, which is wrong for all.
    assert StarExplorer(watched_stars(), star=1).period == START
    assert ((1 / START - 1 / watched.period).abs() * DAYS).min() > 5
    assert (explained(watched.curves, START) < 0.5).all()


def test_the_data_of_the_stars_are_checked_and_sent():
    few = watched_stars()
    right = {"name": few.name, "curves": few.curves, "period": few.period}
    assert StarExplorer(few).prior == list(few.prior)
    assert StarExplorer(WatchedStars(**right)).prior is None
    for name, told in (
        ("name", {"name": ("a", "b")}),
        ("variance above 0", {"prior": (0.1, 0.1)}),
        ("expected days", {"period": torch.full_like(few.period, -1.0)}),
    ):
        with pytest.raises(ValueError, match=name):
            WatchedStars(**right | told)


def test_dates_count_from_the_first_night_so_that_float32_holds_them():
    stars = watched_stars()
    seen = stars.curves
    curves = LightCurves(seen.time + 48_823, seen.magnitude, seen.error, seen.valid)
    found = StarExplorer(WatchedStars(stars.name, curves, stars.period)).curve()
    np.testing.assert_allclose(found.time[0], seen.time[0, :14] - seen.time[0, 0], atol=1e-5)
