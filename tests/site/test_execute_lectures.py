import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_cache import get_cache

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "site" / "execute_lectures.py"
REMEMBER = "with open('runs.txt', 'a') as runs:\n    print({name!r}, file=runs)\n"

pytestmark = pytest.mark.slow


class Lectures:
    """A folder of small lectures that record their runs."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"
        self.paths = []

    def write(self, name, *cells):
        code = [REMEMBER.format(name=name), *cells]
        written = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell, id=f"c{i}") for i, cell in enumerate(code)],
            metadata={"kernelspec": {"display_name": "Python 3", "name": "python3"}},
        )
        path = self.folder / f"{name}.ipynb"
        nbformat.write(written, path)
        self.paths = sorted({*self.paths, path})
        return written

    def execute(self):
        return subprocess.run(
            [sys.executable, SCRIPT, "--cache", self.cache, *self.paths],
            cwd=self.folder,
            env=os.environ | {"PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def runs(self):
        return sorted((self.folder / "runs.txt").read_text().split())

    def kept(self, notebook):
        return get_cache(self.cache).merge_match_into_notebook(notebook)[1]


@pytest.fixture
def lectures(tmp_path):
    return Lectures(tmp_path)


def test_outputs_are_cached_and_no_lecture_runs_twice(lectures):
    ada = lectures.write("ada", "print(6 * 7)\nprint('done')", "'last'")
    lectures.write("ben")
    for _ in range(2):
        done = lectures.execute()
        assert done.returncode == 0, done.stdout + done.stderr
    assert lectures.runs() == ["ada", "ben"]
    _, printed, last = lectures.kept(ada).cells
    assert [output.text for output in printed.outputs] == ["42\ndone\n"]
    assert last.outputs[0].data == {"text/plain": "'last'"}
    assert last.execution_count == 3
    lectures.write("ben", "1 + 1")
    assert lectures.execute().returncode == 0
    assert lectures.runs() == ["ada", "ben", "ben"]


def test_a_lecture_that_fails_or_gives_another_output_is_named_and_not_cached(lectures):
    ada = lectures.write("ada", "raise ValueError('no such thing')", "1")
    lectures.write("ben")
    cy = lectures.write("cy", "print(6 * 7)")
    cy.cells[1].metadata["tags"] = ["nbval-check-output"]
    cy.cells[1].outputs = [nbformat.v4.new_output("stream", text="43\n")]
    cy.cells[1].execution_count = 2
    nbformat.write(cy, lectures.paths[2])
    done = lectures.execute()
    assert done.returncode == 1
    for words in ("ada.ipynb::Cell 1", "no such thing", "cy.ipynb::Cell 1", "Cell outputs differ"):
        assert words in done.stdout
    assert "=== 2 failed, 4 passed in" in done.stdout.splitlines()[-1]
    for failed in (ada, cy):
        with pytest.raises(KeyError):
            lectures.kept(failed)
