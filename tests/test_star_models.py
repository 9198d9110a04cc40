"""What lecture 14 compares was measured: a row can be measured again, and all seeds are there."""

import json
import math

import numpy as np
import pytest
import torch
from compare_star_models import (
    MACHO,
    SEEDS,
    as_line,
    as_mean,
    by_process,
    by_series,
    by_turns,
    described,
    figures,
    labelled,
    periodic,
    scored,
    simple,
    smooth,
    subjects,
)
from seeded import assert_close

from course_lib.astromer import DATA
from course_lib.light_curves import LightCurves
from course_lib.variable_stars import CLASSES, load_stars

FILLING, TURNS, DAYS = (
    json.loads((DATA / f"star_{part}.json").read_text())
    for part in ("filling", "naming_turns", "naming_days")
)
HIDDEN = torch.tensor([[False, True, False, False, True]])


def curve():
    time = torch.tensor([[0.0, 1.0, 3.0, 4.0, 6.0]], dtype=torch.float64)
    magnitude = torch.tensor([[1.0, 9.0, 2.0, 4.0, 9.0]], dtype=torch.float64)
    error = torch.tensor([[0.1, 0.1, 0.1, 0.2, 0.1]], dtype=torch.float64)
    return LightCurves(time, magnitude, error, torch.ones_like(HIDDEN))


def test_lines_and_means_are_those_of_visible_nights():
    assert as_line(curve(), HIDDEN)[0].tolist() == pytest.approx([1, 4 / 3, 2, 4, 4])
    mean = (100 * 1 + 100 * 2 + 25 * 4) / 225
    assert as_mean(curve(), HIDDEN)[0].tolist() == pytest.approx([mean] * 5)


def test_figures_count_hidden_nights_alone():
    filled = torch.tensor([[0.0, 8.0, 0.0, 0.0, 6.0]], dtype=torch.float64)
    found = figures(filled, curve(), HIDDEN)
    assert found["error"] == pytest.approx(math.sqrt((1 + 9) / 2))
    assert found["median"] == found["error"]


@pytest.mark.parametrize("fill", [by_series(), by_process(periodic), by_turns])
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


# The files --------------------------------------------------------------------------------------


def test_every_method_was_measured_with_every_seed():
    for rows, key in ((FILLING["rows"], "subject"), (TURNS["rows"] + DAYS["rows"], "labels")):
        kinds = {(row["method"], row[key]) for row in rows}
        seeds = sorted((row["method"], str(row[key]), row["seed"]) for row in rows)
        expected = sorted((m, str(k), value) for m, k in kinds for value in SEEDS)
        assert seeds == expected
    assert {row["labels"] for row in TURNS["rows"]} == {20, 100, 500}
    assert {row["subject"] for row in FILLING["rows"]} <= {"stars", *MACHO}
    told = (DATA / "star_models.md").read_text(encoding="utf-8")
    for measured in (FILLING, TURNS, DAYS):
        assert [key for key in measured if f"`{key}`" not in told] == []
        assert measured["command"].startswith("OMP_NUM_THREADS=1 python scripts/compare_star_")


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
