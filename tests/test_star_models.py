"""What lecture 14 compares was measured: rows can be measured again."""

import json

import pytest
from compare_star_models import (
    as_mean,
    by_process,
    by_series,
    by_turns,
    figures,
    periodic,
    subjects,
)
from seeded import assert_close

from course_lib.astromer import DATA
from course_lib.light_curves import LightCurves
from course_lib.variable_stars import CLASSES

FILLING = json.loads((DATA / "star_filling.json").read_text())


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


@pytest.mark.slow
def test_errors_are_found_again():
    for method, fill in [("mean", as_mean), ("astromer turns", by_turns)]:
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
