import numpy as np
import pytest
import torch
from small_widgets import astromer, make, payload, watched_stars

from course_lib.astromer import hide_nights, load_astromer, reconstruction_error
from course_lib.light_curves import LightCurves, phase
from course_lib.periodogram import fit_harmonics
from course_lib.variable_stars import (
    CLASSES,
    DAYS,
    LARGEST_ERROR,
    NIGHTS,
    load_macho,
    load_stars,
    seasons,
)
from course_lib.widgets import StarExplorer
from course_lib.widgets.star_explorer import START, believed
from course_lib.widgets.watched_stars import (
    ECLIPSING,
    ROUGH,
    WatchedStars,
    explained,
    sharpened,
    stars_to_watch,
)

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture(scope="module")
def watched() -> WatchedStars:
    return stars_to_watch()


# The widget --------------------------------------------------------------------------------------


def test_every_star_begins_at_the_same_period_which_none_of_the_course_has(watched):
    assert StarExplorer(watched_stars(), star=1).period == START
    slips = (1 / START - 1 / watched.period).abs() * DAYS
    assert slips.min() > 5
    assert (explained(watched.curves, START) < 0.5).all()


def test_magnitudes_of_macho_are_called_the_instruments_own(watched):
    assert watched.scale[-len(ROUGH) :] == ("instrumental magnitude",) * len(ROUGH)
    assert set(watched.scale[: -len(ROUGH)]) == {"magnitude"}
    few = watched_stars()
    with pytest.raises(ValueError, match="scale has 1 entries and curves has 3 stars"):
        WatchedStars(few.name, few.curves, few.period, ("magnitude",))


def test_two_of_machos_periodic_objects_are_binaries_and_do_not_pulsate(watched):
    kinds = dict(zip(watched.name, watched.pulsates, strict=True))
    assert [name for name, pulsates in kinds.items() if not pulsates] == [
        f"Eclipsing: MACHO {name.removesuffix('.B')}" for name in ECLIPSING
    ]
    assert kinds["RRab: MACHO 1.4652.1527"]
    macho = load_macho()
    for name, rough in ROUGH.items():
        curve = macho[name]
        seen = (curve.error <= 0.2)[0]
        turn = phase(curve.time[:, seen], torch.tensor([sharpened(curve, rough)]).double())[0]
        light = curve.magnitude[0, seen]
        bins = [light[(turn * 20).long() == i].median() for i in range(20)]
        off = torch.stack(bins) - light.median()
        # A binary is level but for a dip: few phases are fainter by half of what the deepest is.
        dips = (off > 0.5 * off.max()).double().mean()
        level = (off.abs() < 0.25 * off.max()).double().mean()
        assert ((level > 0.5) and (dips < 0.35)) == (name in ECLIPSING), (name, level, dips)


def test_a_prior_is_a_variance_for_each_coefficient(watched):
    assert len(watched.prior) == 7
    few = watched_stars()
    assert StarExplorer(few).prior == list(few.prior)
    assert StarExplorer(WatchedStars(few.name, few.curves, few.period)).prior is None
    for bad in ((0.1, 0.1), (0.1, 0.1, 0.0)):
        with pytest.raises(ValueError, match="expected a variance above 0 of the mean and two of"):
            WatchedStars(few.name, few.curves, few.period, prior=bad)
    with pytest.raises(ValueError, match="pulsates has 1 entries and curves has 3 stars"):
        WatchedStars(few.name, few.curves, few.period, pulsates=(True,))


def test_hidden_nights_are_kept_in_order_and_once_and_leave_with_their_star():
    widget = make("StarExplorer", hidden=[5, 2, 5])
    assert widget.hidden == [2, 5]
    widget.star = 1
    widget.hidden, widget.night = [2, 19], 19
    widget.star = 2
    assert (widget.hidden, widget.night) == ([2], -1)


def test_dates_count_from_the_first_night_so_that_float32_holds_them():
    stars = watched_stars()
    late = stars.curves.time + 48_823
    curves = LightCurves(late, stars.curves.magnitude, stars.curves.error, stars.curves.real)
    widget = StarExplorer(WatchedStars(stars.name, curves, stars.period))
    expected = (late[0, :14] - late[0, 0]).numpy()
    np.testing.assert_allclose(widget.curve().time[0].numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(widget.curve().error[0].numpy(), stars.curves.error[0, :14], 1e-6)


def test_the_model_is_what_travels_and_rounding_changes_its_answers_little():
    widget = make("StarExplorer")
    curve = widget.curve()
    hidden = torch.zeros_like(curve.real)
    hidden[0, [2, 5, 6]] = True
    before = believed(astromer(), curve, curve.time, hidden=hidden)
    after = believed(widget.astromer, curve, curve.time, hidden=hidden)
    assert widget.bits == 8
    assert 0 < (before[0] - after[0]).abs().max() < 0.02
    assert 0 < (after[1] / before[1]).log().abs().max() < 0.1


def test_without_a_model_nothing_is_said_of_one():
    widget = make("StarExplorer", astromer=None)
    assert (widget.astromer, widget.bits) == (None, None)
    assert payload(widget)["state"]["weights"] is None
    assert "ASTROMER" not in widget.describe()
    told = make("StarExplorer").describe()
    assert "A trained ASTROMER fills in what is hidden, and says how far off it may be." in told


@pytest.mark.parametrize("clock", ["days", "turns"])
def test_rounding_hardly_tells_in_what_the_models_of_the_lecture_believe(watched, clock):
    model, _ = load_astromer(clock)
    widget = StarExplorer(watched, astromer=model, clock=clock)
    assert len(widget.static_html().encode()) < 150_000
    assert widget.bits == 8
    seen = watched.curves
    parts = (seen.time, seen.magnitude, seen.error)
    curves = LightCurves(*(part.double() for part in parts), seen.real)
    if clock == "turns":
        curves = curves.in_turns(watched.period)
    hidden = hide_nights(curves, generator=torch.Generator().manual_seed(0))
    (said, spread), (again, after) = (
        believed(one, curves, curves.time, hidden=hidden) for one in (model, widget.astromer)
    )
    before, rounded = (
        reconstruction_error(x, curves.magnitude, hidden).item() for x in (said, again)
    )
    assert rounded == pytest.approx(before, rel=0.05)
    assert (after / spread)[hidden].log().abs().max() < 0.1


# The stars ---------------------------------------------------------------------------------------


def test_each_star_has_a_name_and_a_period_that_is_known():
    stars = watched_stars()
    with pytest.raises(ValueError, match="name has 2 entries and curves has 3 stars"):
        WatchedStars(("a", "b"), stars.curves, stars.period)
    for bad in (-1.0, torch.nan, torch.inf):
        with pytest.raises(ValueError, match="expected days, or 0 where nobody knows them"):
            WatchedStars(stars.name, stars.curves, torch.full_like(stars.period, bad))


def test_of_each_class_there_is_the_middle_star_of_the_test_side(watched):
    test = load_stars().where("test")
    for kind, name, period in zip(CLASSES, watched.name, watched.period, strict=False):
        own = test.of(kind).period[:, 0].sort().values
        assert period == pytest.approx(own[(len(own) - 1) // 2].item())
        assert f"OGLE-{name.removeprefix(f'{kind}: ')}" in test.of(kind).name
    assert max(map(len, watched.name)) <= 27  # letters for which a telephone has room


def test_a_season_is_as_long_as_astromer_learns_from(watched):
    assert watched.curves.real.sum(dim=1).tolist() == [NIGHTS] * len(watched.name)
    assert (watched.curves.time[:, -1] <= DAYS).all()


def test_those_of_macho_are_the_periodic_ones_and_no_others():
    """One series of three harmonics explains more than half of seven years."""
    periodic = set()
    for name, curve in load_macho().items():
        try:
            seasons([curve])
        except ValueError:
            continue
        if not name.endswith(".B"):
            continue
        good = (curve.error <= LARGEST_ERROR)[0]
        days = curve.time[:, good] - curve.time[0, 0]
        seen = LightCurves(days, *(p[:, good] for p in (curve.magnitude, curve.error, curve.real)))
        if explained(seen, best_period(seen, ROUGH.get(name))) > 0.5:
            periodic.add(name)
    assert periodic == set(ROUGH)


def best_period(seen: LightCurves, rough: float | None) -> float:
    """The period that explains most, near a rough one or, without one, in the first season."""
    if rough is None:
        first = seen.time[0] < seen.time[0, 0] + DAYS
        some = [p[:, first] for p in (seen.time, seen.magnitude, seen.error)]
        trial = torch.arange(0.01, 5, 1 / (5 * DAYS), dtype=torch.float64)
        rows = [part.expand(len(trial), -1) for part in some]
        rough = float(1 / trial[fit_harmonics(*rows, trial).chi_square.argmin()])
    return sharpened(seen, rough)


def test_what_a_series_explains_is_known_where_it_is_all_or_nothing():
    time = torch.linspace(0, 30, 60, dtype=torch.float64)[None]
    wave = (2 * torch.pi * time / 1.7).sin()
    error, real = torch.full_like(time, 0.1), torch.ones_like(time, dtype=torch.bool)
    assert explained(LightCurves(time, wave, error, real), 1.7) == pytest.approx(1, abs=1e-4)
    noise = torch.randn(1, 60, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert explained(LightCurves(time, noise, error, real), 1.7) < 0.3
