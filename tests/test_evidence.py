"""What scripts found for the lectures, and that they find it again."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from course_lib import evidence
from course_lib.evidence import Evidence, Experiment, compute, experiment

SCRIPTS = sorted(Path(__file__).parents[1].glob("scripts/evidence/[0-9]*.py"))
EXPERIMENTS = [
    pytest.param(script.stem, found, id=f"{script.stem}-{found.name}", marks=pytest.mark.slow)
    for script in SCRIPTS
    for found in runpy.run_path(str(script), run_name=script.stem).values()
    if isinstance(found, Experiment)
]


@pytest.mark.parametrize(("lecture", "found"), EXPERIMENTS)
def test_the_smallest_case_gives_again_what_the_file_says(lecture, found):
    row = Evidence(lecture).row(found.name, **found.cases[0])
    for name, number in found(**found.cases[0]).items():
        if isinstance(number, str):
            assert row[name] == number
        else:
            np.testing.assert_allclose(
                number, row[name], rtol=found.within, atol=found.within, err_msg=name
            )


@pytest.mark.parametrize(("lecture", "found"), EXPERIMENTS)
def test_the_file_has_all_cases_of_the_script_and_no_other(lecture, found):
    rows = Evidence(lecture).rows(found.name)
    cases = [{key: row[key] for key in found.cases[0]} for row in rows]
    assert cases == list(found.cases)


@experiment([{"seed": 0}, {"seed": 1}])
def doubled(*, seed):
    return {"twice": 2 * seed}


@experiment()
def constant():
    return {"three": 3}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    compute("00_made_up.py", {"doubled": doubled, "constant": constant})
    return Evidence("00_made_up")


def test_rows_are_found_by_their_cases(kept):
    assert kept.values("doubled", "twice") == [0, 2]
    assert kept.row("doubled", seed=1)["twice"] == 2
    assert kept.row("constant")["three"] == 3
    assert "doubled" in kept.about["doubled"]["command"]


def test_one_experiment_computed_anew_leaves_the_others(kept):
    @experiment([{"seed": 5}])
    def doubled(*, seed):
        return {"twice": 2 * seed}

    compute("00_made_up.py", {"doubled": doubled, "constant": constant}, ["doubled"])
    again = Evidence("00_made_up")
    assert again.values("doubled", "twice") == [10]
    assert again.about["constant"] == kept.about["constant"]


def test_what_is_not_there_is_named(kept):
    with pytest.raises(ValueError, match=r"seed.*expected one of \[0, 1\]"):
        kept.row("doubled", seed=7)
    with pytest.raises(ValueError, match="2 rows"):
        kept.row("doubled")
    with pytest.raises(ValueError, match=r"expected one of \['doubled', 'constant'\]"):
        kept.rows("tripled")
    with pytest.raises(ValueError, match="00_made_up"):
        Evidence("99_unknown")
    with pytest.raises(ValueError, match="doubled"):
        compute("00_made_up.py", {"doubled": doubled}, ["tripled"])
