"""The evidence of the lectures: reading, writing and reproducing it."""

import ast
import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.support import evidence
from course_lib.support.evidence import Evidence, compute, experiment

SCRIPTS = sorted(Path(__file__).parents[2].glob("scripts/evidence/[0-9]*.py"))
EXPERIMENTS = [
    pytest.param(script, node.name, id=f"{script.stem}-{node.name}", marks=pytest.mark.slow)
    for script in SCRIPTS
    for node in ast.parse(script.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
    and any("experiment" in ast.unparse(decorator) for decorator in node.decorator_list)
]


@pytest.fixture(autouse=True)
def _one_thread():
    """The evidence was computed so; another order of sums would change it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@cache
def run(script):
    return runpy.run_path(str(script), run_name=script.stem)


def flat(row):
    """Split a mean with its error into two numbers."""
    return {
        f"{key} {part}".strip(): number
        for key, value in row.items()
        for part, number in (value.items() if isinstance(value, dict) else [("", value)])
    }


@pytest.mark.parametrize(("script", "name"), EXPERIMENTS)
def test_an_experiment_reproduces_the_stored_results_of_its_smallest_case(script, name):
    found = run(script)[name]
    rows = Evidence(script.stem).rows(name)
    cases = [{key: row[key] for key in found.cases[0]} for row in rows]
    assert cases == list(found.cases), f"run: make evidence N={script.stem[:2]} E={name}"
    for key, number in flat(found(**found.cases[0])).items():
        if np.asarray(number).dtype.kind != "U":  # texts of a network depend on the last bit
            allowed = {"rtol": found.within, "atol": found.within}
            np.testing.assert_allclose(number, flat(rows[0])[key], **allowed, err_msg=key)


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
    assert (kept.facts["twice"], kept.facts["three"]) == (2, 3)
    assert "doubled" in kept.about["doubled"]["command"]


def test_computing_one_experiment_anew_keeps_the_others(kept):
    @experiment([{"seed": 5}])
    def doubled(*, seed):
        return {"twice": 2 * seed}

    compute("00_made_up.py", {"doubled": doubled, "constant": constant}, ["doubled"])
    again = Evidence("00_made_up")
    assert again.values("doubled", "twice") == [10]
    assert again.about["constant"] == kept.about["constant"]


def test_missing_evidence_is_named(kept):
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
