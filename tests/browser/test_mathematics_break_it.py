"""Every claim of BreakIt, run in Chromium, against course_lib."""

import pytest
from broken_claims import RESIDUALS, residual
from in_the_page import DRAWS, Javascript, uniform

from course_lib.widgets.break_it import CLAIMS

FEW = 30
BENDS = {name: [1] if about.switch else [0.1, 0.5, 1] for name, about in CLAIMS.items()}
every_claim = pytest.mark.parametrize("name", CLAIMS)


def test_course_lib_judges_every_claim():
    assert RESIDUALS.keys() == CLAIMS.keys()


@every_claim
def test_a_claim_holds_in_every_case(javascript: Javascript, name: str):
    [trials] = javascript("break_it.js", "trials", [[name, 1, 0, DRAWS]])
    tolerance = CLAIMS[name].tolerance
    assert len({str(trial["given"]) for trial in trials}) > DRAWS / 4
    assert all(0 <= trial["residual"] <= tolerance for trial in trials)
    assert all(residual(name, trial["given"], 0) <= tolerance for trial in trials[::5])


@every_claim
def test_a_bent_claim_misses_by_what_course_lib_says(javascript: Javascript, name: str):
    bends = BENDS[name]
    runs = javascript("break_it.js", "trials", [[name, 2, bend, FEW] for bend in bends])
    for bend, trials in zip(bends, runs, strict=True):
        for trial in trials:
            exact = residual(name, trial["given"], bend)
            assert trial["residual"] == pytest.approx(exact, rel=1e-6, abs=1e-6)


@every_claim
def test_a_bent_claim_breaks_soon_and_course_lib_confirms_the_smallest_case(
    javascript: Javascript, name: str
):
    tolerance = CLAIMS[name].tolerance
    for bend in BENDS[name]:
        given = [[name, seed, bend, tolerance, FEW] for seed in range(3)]
        for broken in javascript("break_it.js", "counterexample", given):
            assert broken is not None
            assert residual(name, broken["path"][0], bend) > tolerance
            assert residual(name, broken["small"], bend) > tolerance
            assert len(str(broken["small"])) <= len(str(broken["path"][0]))


@every_claim
def test_a_claim_as_it_stands_has_no_counterexample(javascript: Javascript, name: str):
    given = [[name, 3, 0, CLAIMS[name].tolerance, DRAWS]]
    assert javascript("break_it.js", "counterexample", given) == [None]


def test_the_numbers_of_a_case_are_those_of_its_seed(javascript: Javascript):
    seed, n = 5, 7
    [trials] = javascript("break_it.js", "trials", [["there-and-back", seed, 0, n + 1]])
    q, p, h = (uniform(seed, n * 4096 + k) for k in range(3))
    given = {"q": round(20 * (2 * q - 1)) / 10, "p": round(20 * (2 * p - 1)) / 10}
    assert trials[n]["given"] == pytest.approx(given | {"h": (1 + int(10 * h)) / 10})
