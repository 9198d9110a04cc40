import pytest
from broken_claims import residual
from in_the_page import Javascript

from course_lib.widgets.break_it.break_it import CLAIMS

TRIALS, FEW = 60, 12
BENDS = {name: [1] if about.switch else [0.1, 1] for name, about in CLAIMS.items()}


def test_a_claim_holds_in_every_case_and_has_no_counterexample(javascript: Javascript):
    given = [[name, 1, 0, TRIALS] for name in CLAIMS]
    runs = javascript("break_it/break_it.js", "trials", given)
    for (name, about), trials in zip(CLAIMS.items(), runs, strict=True):
        assert len({str(trial["given"]) for trial in trials}) > TRIALS / 4, name
        assert all(0 <= trial["residual"] <= about.tolerance for trial in trials), name
    given = [[name, 3, 0, about.tolerance, TRIALS] for name, about in CLAIMS.items()]
    assert javascript("break_it/break_it.js", "counterexample", given) == [None] * len(CLAIMS)


def test_the_error_of_a_bent_claim_is_that_of_course_lib(javascript: Javascript):
    given = [[name, 2, bend, FEW] for name, bends in BENDS.items() for bend in bends]
    for (name, _, bend, _), trials in zip(
        given, javascript("break_it/break_it.js", "trials", given), strict=True
    ):
        exact = [residual(name, trial["given"], bend) for trial in trials]
        found = [trial["residual"] for trial in trials]
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-6), name


def test_a_bent_claim_breaks_soon_and_course_lib_confirms_the_smallest_case(
    javascript: Javascript,
):
    asked = [(name, bend) for name, bends in BENDS.items() for bend in bends]
    given = [[name, 1, bend, CLAIMS[name].tolerance, 30] for name, bend in asked]
    found = javascript("break_it/break_it.js", "counterexample", given)
    for (name, _, bend, tolerance, _), broken in zip(given, found, strict=True):
        assert broken is not None, name
        assert residual(name, broken["path"][0], bend) > tolerance, name
        assert residual(name, broken["small"], bend) > tolerance, name
        assert len(str(broken["small"])) <= len(str(broken["path"][0])), name
