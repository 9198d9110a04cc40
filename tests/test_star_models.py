"""What lecture 14 compares was measured: a row can be measured again, and all seeds are there."""

import json
import math

import numpy as np
import pytest
import torch
from compare_star_models import (
    FEWER_SEEDS,
    MACHO,
    PERIODIC,
    SEEDS,
    STEPS,
    VISIBLE,
    AnyEpoch,
    as_line,
    as_mean,
    by_astromer,
    by_astromer_averaged,
    by_astromer_matched,
    by_average,
    by_found,
    by_jitter,
    by_period,
    by_prior,
    by_process,
    by_series,
    by_turns,
    calibration,
    described,
    few_visible,
    figures,
    held,
    labelled,
    likeliest,
    periodic,
    periods_found,
    scored,
    searched,
    simple,
    smooth,
    subjects,
    told_the_period,
    without_some,
)
from seeded import assert_close

from course_lib.astromer import CLOCKS, DATA, load_astromer
from course_lib.light_curves import LightCurves
from course_lib.variable_stars import CLASSES, load_stars

PARTS = (
    *("filling", "filling_prior", "filling_bands", "filling_averaged"),
    *("filling_jitter", "filling_matched", "filling_modes"),
    *("filling_fewer", "filling_fewer_control"),
    *("naming_turns", "naming_days", "naming_period"),
    *("naming_longer", "naming_epochs", "naming_epochs_scratch", "naming_macho"),
)
FILES = {part: json.loads((DATA / f"star_{part}.json").read_text()) for part in PARTS}
FILLING, PRIOR, BANDS, AVERAGED, JITTER, MATCHED, MODES, FEWER, CONTROL, *NAMING = FILES.values()
TURNS, DAYS, PERIOD, LONGER, EPOCHS, SCRATCH, CALLED = NAMING
HIDDEN = torch.tensor([[False, True, False, False, True]])


def curve():
    time = torch.tensor([[0.0, 1.0, 3.0, 4.0, 6.0]], dtype=torch.float64)
    magnitude = torch.tensor([[1.0, 9.0, 2.0, 4.0, 9.0]], dtype=torch.float64)
    error = torch.tensor([[0.1, 0.1, 0.1, 0.2, 0.1]], dtype=torch.float64)
    return LightCurves(time, magnitude, error, torch.ones_like(HIDDEN))


def test_lines_and_means_are_those_of_visible_nights():
    assert as_line(curve(), HIDDEN)[0].tolist() == pytest.approx([1, 4 / 3, 2, 4, 4])
    mean = (1 + 2 + 4) / 3
    assert as_mean(curve(), HIDDEN)[0].tolist() == pytest.approx([mean] * 5)


def test_figures_count_hidden_nights_alone():
    filled = torch.tensor([[0.0, 8.0, 0.0, 0.0, 6.0]], dtype=torch.float64)
    found = figures(filled, curve(), HIDDEN)
    assert found["error"] == pytest.approx(math.sqrt((1 + 9) / 2))
    assert found["median"] == found["error"]


@pytest.mark.parametrize(
    "fill",
    [by_series(), by_process(periodic), by_turns],
    ids=["series", "process", "astromer turns"],
)
def test_no_method_sees_what_is_hidden(fill):
    _, curves, hidden, _ = next(subjects(0))
    few, hid = curves[:3], hidden[:3]
    spoilt = LightCurves(few.time, few.magnitude.masked_fill(hid, 99.0), few.error, few.real)
    assert_close(fill(spoilt, hid), fill(few, hid), 1e-5)


def test_a_gaussian_process_goes_through_what_is_certain():
    sure = LightCurves(
        curve().time, curve().magnitude, torch.full_like(curve().error, 1e-4), curve().real
    )
    filled = by_process(smooth)(sure, HIDDEN)
    assert_close(filled[~HIDDEN], sure.magnitude[~HIDDEN], 1e-2)


def test_features_are_those_of_the_series():
    stars = load_stars().where("test").of("RRab")[torch.arange(200)]
    found = described(stars, 0)
    right = ((found["period"][:, 0].exp() / stars.period[:, 0]) - 1).abs() < 0.01
    assert right.double().mean() > 0.9
    features = found["features"][right]
    amplitude = stars.amplitude[right, 0]
    assert (features[:, 1].exp() / amplitude - 1).abs().median() < 0.1
    assert (features[:, 2] - stars.ratio[right, 0, 1]).abs().median() < 0.06
    shift = stars.shift[right, 0, 1]
    assert (features[:, 4] - shift.cos()).abs().median() < 0.15
    assert (features[:, 6] - shift.sin()).abs().median() < 0.15


def test_balanced_accuracy_is_the_mean_recall():
    kind = torch.arange(8).repeat_interleave(2)
    found = kind.numpy().copy()
    found[0] = 1
    told = scored(found, {"kind": kind})
    assert told["accuracy"] == pytest.approx(15 / 16)
    assert told["balanced accuracy"] == pytest.approx(7.5 / 8)
    assert told["recall"]["RRab"] == 0.5


def test_while_it_learns_a_turn_begins_anywhere_and_afterwards_where_it_does():
    torch.manual_seed(0)
    plain = load_astromer("turns")[0]
    model = AnyEpoch(plain.frequency)
    model.load_state_dict(plain.state_dict())
    turns = curve().in_turns(torch.tensor([1.3], dtype=torch.float64))
    few = LightCurves(*(part.float() for part in (turns.time, turns.magnitude, turns.error)),
                      turns.real)  # fmt: skip
    assert_close(model.eval().embed(few), plain.embed(few), 1e-6)
    seen = [model.train().embed(few) for _ in range(3)]
    assert (seen[0] - seen[1]).abs().max() > 1e-3
    assert (seen[0] - seen[2]).abs().max() > 1e-3


def test_no_more_than_its_share_of_nights_is_dropped():
    torch.manual_seed(0)
    _, curves, _, _ = next(subjects(0))
    left = [without_some(curves[:4]).real.sum(1) for _ in range(20)]
    assert torch.cat(left).min() >= 28
    assert torch.cat(left).max() == 39
    assert torch.cat(left).unique().numel() > 3


def test_a_band_holds_what_is_within_two_deviations():
    said = curve().magnitude + torch.tensor([[0.0, 0.3, 0.0, 0.0, 0.1]], dtype=torch.float64)
    spread = torch.full_like(said, 0.05)
    assert held(said, spread, curve(), HIDDEN) == 0.5


def test_a_band_of_a_level_is_that_of_a_normal_variable():
    normal = torch.distributions.Normal(0.0, 1.0)
    draws = normal.sample((1, 40_000))
    many = LightCurves(
        torch.arange(40_000.0)[None],
        0.5 * draws,
        torch.full_like(draws, 0.3),
        torch.ones_like(draws, dtype=torch.bool),
    )
    found = calibration(torch.zeros_like(draws), torch.full_like(draws, 0.4), many, many.real)
    assert found["width"] == pytest.approx(0.5, rel=1e-4)
    for level, share in found["held"].items():
        assert share == pytest.approx(float(level), abs=0.01)
    expected = torch.distributions.Normal(0.0, 0.5).log_prob(many.magnitude).mean().item()
    assert found["likelihood"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "believe",
    [
        *map(by_astromer, CLOCKS),
        by_astromer_averaged,
        by_astromer_matched,
        by_jitter(averaged=False),
    ],
    ids=[*CLOCKS, "period averaged", "averaged with jitter", "jitter"],
)
def test_no_band_sees_what_is_hidden(believe):
    _, curves, hidden, _ = next(subjects(0))
    few, hid = curves[:3], hidden[:3]
    spoilt = LightCurves(few.time, few.magnitude.masked_fill(hid, 99.0), few.error, few.real)
    for again, before in zip(believe(spoilt, hid), believe(few, hid), strict=True):
        assert_close(again, before, 1e-5)


def test_of_one_period_the_average_is_what_the_network_says():
    _, curves, hidden, _ = next(subjects(0))
    few, hid = curves[:3], hidden[:3]
    found = searched(few, hid).frequency
    alone = [(frequency[None], torch.ones(1, dtype=torch.float64)) for frequency in found]
    averaged = by_astromer_averaged(few, hid, alone)
    for again, before in zip(averaged, by_astromer("turns")(few, hid), strict=True):
        assert_close(again, before, 1e-5)


def test_where_no_excess_noise_is_found_the_series_says_what_it_said():
    _, curves, hidden, _ = next(subjects(0))
    few, hid = curves[:12], hidden[:12]
    plain, noisy = by_prior(few, hid), by_jitter(averaged=False)(few, hid)
    wider = (noisy[1] > plain[1] * (1 + 1e-6)).any(1)
    assert 0 < wider.sum() < 12
    for before, after in zip(plain, noisy, strict=True):
        assert_close(after[~wider], before[~wider], 1e-6)
    assert noisy[1][wider].min() > 0.0149  # the least that is tried above 0


def test_a_period_is_sorted_by_what_it_is():
    _, curves, hidden, stars = next(subjects(0))
    two = (stars.period[:, 1] > 0).nonzero()[:, 0][:1]
    of, hid, star = curves[two], hidden[two], stars[two]
    tried = {
        "first mode": lambda f: f,
        "peak of a mode": lambda f: f + 0.5 / 75,
        "second mode": lambda _: 1 / star.period[:, 1],
        "alias": lambda f: f + 1,
        "harmonic": lambda f: f / 2,
        "another": lambda f: f + 0.3,
    }
    for kind, moved in tried.items():
        frequency = moved(1 / star.period[:, 0]).double()
        time = of.time.double()
        light = (2 * math.pi * frequency[:, None] * time).sin()
        clean = LightCurves(time, light, torch.full_like(time, 1e-3), of.real)
        counted = periods_found(clean, hid, star)
        assert {name for name, count in counted.items() if count} == {kind}, kind


def test_without_doubt_the_heaviest_period_is_left():
    trial, share = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.2, 0.5, 0.3])
    ((left, whole),) = likeliest([(trial, share)])
    assert (left.tolist(), whole.tolist()) == ([2.0], [1.0])


# The files --------------------------------------------------------------------------------------


def test_every_method_was_measured_with_every_seed():
    named = [row for part in (TURNS, DAYS, PERIOD, LONGER, EPOCHS, SCRATCH) for row in part["rows"]]
    for rows, key in (
        (FILLING["rows"], "subject"),
        (PRIOR["rows"], "subject"),
        (BANDS["rows"], "subject"),
        (AVERAGED["rows"], "subject"),
        (JITTER["rows"], "subject"),
        (MATCHED["rows"], "subject"),
        (MODES["rows"], "subject"),
        (named, "labels"),
    ):
        kinds = {(row["method"], row[key]) for row in rows}
        seeds = sorted((row["method"], str(row[key]), row["seed"]) for row in rows)
        expected = sorted((m, str(k), value) for m, k in kinds for value in SEEDS)
        assert seeds == expected
    assert {row["labels"] for row in TURNS["rows"]} == {20, 100, 500}
    assert {row["labels"] for row in PERIOD["rows"]} == {20, 100, 500}
    for labels, tried in PERIOD["tuned"].items():
        taken = {row["leaf"] for row in PERIOD["rows"] if row["labels"] == int(labels)}
        assert taken == {int(max(tried, key=tried.get))}
    short = {(row["method"], row["labels"]): row["rate"] for row in TURNS["rows"] if "rate" in row}
    for row in LONGER["rows"]:
        assert row["steps"] == 3 * STEPS[row["labels"]]
        assert row["rate"] == float(short[row["method"].removesuffix(", longer"), row["labels"]])
    for row in EPOCHS["rows"] + SCRATCH["rows"]:
        start = row["method"].split(", ")[1]
        assert row["steps"] == 3 * STEPS[row["labels"]]
        assert row["rate"] == float(short[f"astromer turns, {start}", row["labels"]])
    assert {row["subject"] for row in FILLING["rows"]} <= {"stars", *MACHO}
    for part in (PRIOR, BANDS, AVERAGED, JITTER, MATCHED):
        assert {row["subject"] for row in part["rows"]} == {"stars", *PERIODIC}
    called = sorted((row["subject"], row["seed"]) for row in CALLED["rows"])
    assert called == sorted((name, v) for name in {"test", *PERIODIC} for v in SEEDS)
    told = (DATA / "star_models.md").read_text(encoding="utf-8")
    for part, measured in FILES.items():
        assert f"star_{part}.json" in told
        assert [key for key in measured if f"`{key}`" not in told] == []
        assert measured["command"].startswith("OMP_NUM_THREADS=1 python scripts/compare_star_")


def test_networks_trained_with_few_nights_and_with_many_are_asked_the_same():
    keys = [(t, s, v) for t in FEWER_SEEDS for s in SEEDS for v in VISIBLE]
    for part, counts in ((FEWER, [min(VISIBLE), max(VISIBLE)]), (CONTROL, [max(VISIBLE)] * 2)):
        assert part["visible_in_training"] == counts
        assert [(row["trained"], row["seed"], row["visible"]) for row in part["rows"]] == keys
    for one, other in zip(FEWER["rows"], CONTROL["rows"], strict=True):
        for method in set(one["error"]) - {"astromer turns, anew"}:
            assert one["error"][method] == other["error"][method]


def test_errors_with_few_visible_nights_are_found_again():
    networks = {"astromer turns": load_astromer("turns")[0]}
    for visible, curves, hidden, period in few_visible(0):
        assert ((~hidden).sum(1) == visible).all()
        (said,) = (r for r in FEWER["rows"][: len(VISIBLE)] if r["visible"] == visible)
        for method, error in told_the_period(curves, hidden, period, networks).items():
            assert error == pytest.approx(said["error"][method], rel=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "fill"),
    [
        ("mean", as_mean),
        ("linear interpolation", as_line),
        ("astromer turns", by_turns),
        ("series", by_series(**{k: FILLING["tuned"][k] for k in ("harmonics", "peaks")})),
    ],
)
def test_errors_are_found_again(method, fill):
    _, curves, hidden, stars = next(subjects(0))
    (said,) = (
        row
        for row in FILLING["rows"]
        if (row["seed"], row["subject"], row["method"]) == (0, "stars", method)
    )
    filled = fill(curves, hidden)
    found = figures(filled, curves, hidden)
    assert found["error"] == pytest.approx(said["error"], rel=2e-3)
    assert found["median"] == pytest.approx(said["median"], rel=2e-3)
    for kind, error in said["classes"].items():
        of = stars.kind == CLASSES.index(kind)
        again = figures(filled[of], curves[of], hidden[of])["error"]
        assert again == pytest.approx(error, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "fill"),
    [
        ("series with a prior", by_prior),
        ("series with a prior, period averaged", by_average),
    ],
)
def test_errors_and_bands_of_a_prior_are_found_again(method, fill):
    _, curves, hidden, _ = next(subjects(0))
    filled, spread = fill(curves, hidden)
    (said,) = (
        row
        for row in PRIOR["rows"]
        if (row["seed"], row["subject"], row["method"]) == (0, "stars", method)
    )
    found = figures(filled, curves, hidden)
    assert found["error"] == pytest.approx(said["error"], rel=2e-3)
    assert held(filled, spread, curves, hidden) == pytest.approx(said["held"], abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "believe"),
    [
        ("astromer turns", by_astromer("turns")),
        ("astromer days", by_astromer("days")),
        ("series with a prior", by_prior),
    ],
    ids=["astromer turns", "astromer days", "series with a prior"],
)
def test_bands_are_found_again(method, believe):
    _, curves, hidden, _ = next(subjects(0))
    (said,) = (
        row
        for row in BANDS["rows"]
        if (row["seed"], row["subject"], row["method"]) == (0, "stars", method)
    )
    found = calibration(*believe(curves, hidden), curves, hidden)
    assert found["likelihood"] == pytest.approx(said["likelihood"], abs=5e-3)
    assert found["width"] == pytest.approx(said["width"], rel=2e-3)
    assert found["held"]["0.95"] == pytest.approx(said["held"]["0.95"], abs=2e-3)


@pytest.mark.slow
def test_what_the_series_with_jitter_says_is_found_again():
    _, curves, hidden, stars = next(subjects(0))
    wrong = by_found(curves, hidden, stars)["wrong"]
    for averaged, few in ((False, (curves, hidden)), (True, (curves[wrong], hidden[wrong]))):
        said = JITTER["rows"][int(averaged)]
        assert (said["seed"], said["subject"]) == (0, "stars")
        assert said["method"].endswith("averaged") == averaged
        said = said["wrong"] if averaged else said
        filled, spread = by_jitter(averaged=averaged)(*few)
        assert figures(filled, *few)["error"] == pytest.approx(said["error"], rel=2e-3)
        found = calibration(filled, spread, *few)
        assert found["likelihood"] == pytest.approx(said["likelihood"], abs=5e-3)
        assert found["width"] == pytest.approx(said["width"], rel=2e-3)


@pytest.mark.slow
def test_modes_and_periods_are_found_again():
    _, curves, hidden, stars = next(subjects(0))
    two = stars.period[:, 1] > 0
    filled, spread = by_prior(curves, hidden)
    said = {row["method"]: row for row in MODES["rows"] if row["seed"] == 0}
    few = curves[two], hidden[two]
    prior = said["series with a prior"]["two modes"]
    assert prior["stars"] == two.sum()
    assert figures(filled[two], *few)["error"] == pytest.approx(prior["error"], rel=2e-3)
    held_again = calibration(filled[two], spread[two], *few)["held"]["0.95"]
    assert held_again == pytest.approx(prior["held"]["0.95"], abs=2e-3)
    wrong = by_found(curves, hidden, stars)["wrong"]
    again = periods_found(curves[wrong], hidden[wrong], stars[wrong])
    assert again == said["period found"]["wrong"]


@pytest.mark.slow
def test_what_the_network_says_over_all_periods_is_found_again():
    _, curves, hidden, stars = next(subjects(0))
    wrong = by_found(curves, hidden, stars)["wrong"]
    few = curves[wrong], hidden[wrong]
    filled, spread = by_astromer_averaged(*few)
    said = AVERAGED["rows"][0]["wrong"]
    assert (AVERAGED["rows"][0]["seed"], AVERAGED["rows"][0]["subject"]) == (0, "stars")
    assert said["stars"] == wrong.sum()
    assert figures(filled, *few)["error"] == pytest.approx(said["error"], rel=2e-3)
    found = calibration(filled, spread, *few)
    assert found["likelihood"] == pytest.approx(said["likelihood"], abs=5e-3)
    assert found["width"] == pytest.approx(said["width"], rel=2e-3)
    # Told the one period that was found it errs more, so this is no copy of that.
    alone, _ = by_astromer("turns")(*few)
    assert figures(alone, *few)["error"] > 1.01 * said["error"]


@pytest.mark.slow
def test_what_the_network_says_with_the_doubts_of_the_series_is_found_again():
    _, curves, hidden, stars = next(subjects(0))
    wrong = by_found(curves, hidden, stars)["wrong"]
    few = curves[wrong], hidden[wrong]
    filled, spread, jitter = by_astromer_matched(*few)
    own, noisy = (row["wrong"] for row in MATCHED["rows"][:2])
    for said, deviation in ((own, spread), (noisy, torch.hypot(spread, jitter))):
        assert said["stars"] == wrong.sum()
        assert figures(filled, *few)["error"] == pytest.approx(said["error"], rel=2e-3)
        found = calibration(filled, deviation, *few)
        assert found["likelihood"] == pytest.approx(said["likelihood"], abs=5e-3)
        assert found["width"] == pytest.approx(said["width"], rel=2e-3)
    # It borrows other weights than those of the errors that are stated.
    assert own["error"] < 0.95 * AVERAGED["rows"][0]["wrong"]["error"]


@pytest.mark.slow
def test_the_forest_of_the_first_seed_names_stars_as_often_again():
    test = described(load_stars().where("test"), 1000)
    (said,) = (
        row
        for row in TURNS["rows"]
        if (row["seed"], row["labels"], row["method"]) == (0, 20, "features, forest")
    )
    method, found = next(simple(described(labelled(20, 0), 0), test, 0))
    assert method == said["method"]
    again = scored(np.asarray(found), test)
    assert again["balanced accuracy"] == pytest.approx(said["balanced accuracy"], abs=0.01)


@pytest.mark.slow
def test_the_period_alone_names_stars_as_often_again():
    test = described(load_stars().where("test"), 1000)
    (said,) = (row for row in PERIOD["rows"] if (row["seed"], row["labels"]) == (0, 20))
    found = by_period(described(labelled(20, 0), 0), test, said["leaf"], 0)
    again = scored(found, test)
    assert again["balanced accuracy"] == pytest.approx(said["balanced accuracy"], abs=0.01)
