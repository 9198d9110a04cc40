import functools
from urllib.parse import quote

import pytest
from broken_claims import error_of
from playwright.sync_api import Page

from course_lib.widgets.break_it.break_it import CLAIMS
from course_lib.widgets.kit.modules import module_source

TRIALS, FEW = 60, 12
BENT = [(name, 1) for name in CLAIMS]
BENT += [(name, 0.1) for name, about in CLAIMS.items() if about.slider]

# The first cases of a seed, their errors, and how the first that breaks the claim is made simpler.
TRY = """async ([lecture, trials, name, bend, tolerance, count]) => {
  const [{ claims }, { caseOf, errorOf, freshRun, settled, tried }] =
    await Promise.all([import(lecture), import(trials)]);
  const [claim, seed] = [claims[name], 1];
  const cases = Array.from({ length: count }, (_, n) => caseOf(claim, seed, n));
  const given = { seed, bend, about: { tolerance } };
  const { run } = tried(claim, freshRun(), given, count);
  const errors = cases.map((one) => errorOf(claim, one, bend));
  return { cases, errors, path: settled(claim, run, given).path };
}"""


@functools.cache
def address(module: str) -> str:
    return f"data:text/javascript;charset=utf-8,{quote(module_source(f'break_it/{module}.js'))}"


def tries(blank: Page, name: str, bend: float, count: int) -> dict[str, list]:
    about = CLAIMS[name]
    modules = [address(about.lecture), address("trials")]
    return blank.evaluate(TRY, [*modules, name, bend, about.tolerance, count])


def test_a_claim_holds_in_every_case_and_has_no_counterexample(blank: Page):
    for name, about in CLAIMS.items():
        found = tries(blank, name, 0, TRIALS)
        assert len({str(case) for case in found["cases"]}) > TRIALS / 4, name
        assert all(0 <= error <= about.tolerance for error in found["errors"]), name
        assert found["path"] == [], name


def test_a_bent_claim_breaks_soon_and_its_errors_and_simplest_case_are_those_of_course_lib(
    blank: Page,
):
    for name, bend in BENT:
        found = tries(blank, name, bend, FEW if bend == 1 else 30)
        exact = [error_of(name, case, bend) for case in found["cases"]]
        assert found["errors"] == pytest.approx(exact, rel=1e-6, abs=1e-6), name
        first, simplest = found["path"][0], found["path"][-1]
        for case in (first, simplest):
            assert error_of(name, case, bend) > CLAIMS[name].tolerance, name
        assert len(str(simplest)) <= len(str(first)), name
