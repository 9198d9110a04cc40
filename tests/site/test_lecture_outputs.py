import os
import subprocess
import sys
from pathlib import Path

import lecture_outputs
import nbformat
import pytest
from sphinx.errors import ExtensionError

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "site"
SETTINGS = """
extensions = ["myst_nb", "lecture_outputs"]
nb_execution_mode = "cache"
nb_execution_timeout = 240
nb_execution_show_tb = True
exclude_patterns = ["_build"]
"""
REMEMBER = "with open('runs.txt', 'a') as runs:\n    print({name!r}, file=runs)\n"
MEET = """
import time
from pathlib import Path

Path({name!r} + ".here").touch()
for _ in range(2000):
    if len(list(Path().glob("*.here"))) == 2:
        break
    time.sleep(0.05)
else:
    raise RuntimeError("nobody came")
"""


class Book:
    """A small book whose notebooks record their runs, with its own library."""

    def __init__(self, folder):
        self.folder = folder
        self.write("conf.py", SETTINGS)
        self.write("course_lib/__init__.py", "")
        self.write("index.md", "# A book\n\n```{toctree}\n:glob:\n\nlectures/*\n```\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def lecture(self, name, code):
        cells = [
            nbformat.v4.new_markdown_cell(f"# {name}", id="title"),
            nbformat.v4.new_code_cell(REMEMBER.format(name=name) + code, id="code"),
        ]
        metadata = {"kernelspec": {"display_name": "Python 3", "name": "python3"}}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
        self.write(f"lectures/{name}.ipynb", nbformat.writes(notebook))

    def build(self, **settings):
        path = os.pathsep.join([str(self.folder), str(SCRIPTS)])
        environment = {name: it for name, it in os.environ.items() if name != "OMP_NUM_THREADS"}
        return subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "--keep-going", ".", "_build/html"],
            cwd=self.folder,
            env=environment | {"PYTHONPATH": path, "NO_COLOR": "1"} | settings,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def runs(self):
        return sorted((self.folder / "lectures/runs.txt").read_text().split())

    def page(self, name):
        return (self.folder / f"_build/html/lectures/{name}.html").read_text()


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path)


@pytest.mark.slow
def test_two_lectures_run_side_by_side_in_their_own_folder_on_one_thread_each(book):
    for name in ("ada", "ben"):
        threads = "import os\nprint('threads:', os.environ['OMP_NUM_THREADS'])"
        book.lecture(name, MEET.format(name=name) + threads)
    done = book.build(JOBS="2")
    assert done.returncode == 0, done.stderr
    assert book.runs() == ["ada", "ben"]
    assert "threads: 1" in book.page("ada")


@pytest.mark.slow
def test_a_lecture_runs_again_only_if_what_it_imports_has_changed(book):
    for name in ("ada", "ben"):
        book.write(f"course_lib/{name}s.py", f"said = '{name} before'\n")
        book.lecture(name, f"from course_lib.{name}s import said\nsaid")
    assert book.build().returncode == 0
    book.write("course_lib/adas.py", "said = 'ada after'  # and not before\n")
    assert book.build().returncode == 0
    assert book.runs() == ["ada", "ada", "ben"]
    assert "ada after" in book.page("ada")
    book.write("course_lib/adas.py", '"""Ada."""\n\nsaid = "ada after"\n')
    assert book.build().returncode == 0
    assert book.runs() == ["ada", "ada", "ben"]


@pytest.mark.slow
def test_a_failure_is_reported_with_its_traceback_and_again_by_the_next_build(book):
    book.lecture("ada", "raise ValueError('no such thing')")
    for _ in range(2):
        done = book.build()
        assert done.returncode != 0
        assert "CellExecutionError failed; it runs again, alone" in done.stderr
        assert ": no such thing" in done.stderr
    book.lecture("ada", "import os\nos._exit(1)")
    done = book.build()
    assert done.returncode != 0
    assert "the kernel of lectures/ada died; if memory is short" in done.stderr


def test_as_many_lectures_run_at_once_as_there_are_cores_or_jobs_up_to_two(monkeypatch):
    for jobs in ("0", "-1", "two", ""):
        monkeypatch.setenv("JOBS", jobs)
        with pytest.raises(ExtensionError, match=f"JOBS is '{jobs}'"):
            lecture_outputs.jobs()
    monkeypatch.delenv("JOBS")
    for cores, expected in ((1, 1), (2, 2), (64, 2), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert lecture_outputs.jobs() == expected
