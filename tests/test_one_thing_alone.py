"""What make widget and make lecture look at, and what they say to a wrong name."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
WIDGETS = sorted(path.stem for path in (ROOT / "course_lib" / "widgets").glob("*.js"))
with_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@with_make
@pytest.mark.parametrize("given", ["", "gates", "../modules", "gate_explorer tiny_gpt"])
def test_a_wrong_widget_is_told_and_the_right_ones_are_named(given):
    result = run("make", "known-widget", f"W={given}")
    assert result.returncode != 0
    assert f"There is no widget W='{given}'; name one of: {' '.join(WIDGETS)}" in result.stderr


@with_make
@pytest.mark.parametrize("given", ["", "5", "00", "%"])
def test_a_wrong_lecture_is_told_and_the_right_ones_are_named(given):
    result = run("make", "known-lecture", f"N={given}")
    assert result.returncode != 0
    assert f"There is no lecture N='{given}'; give the number of one of: " in result.stderr
    assert " ".join(LECTURES) in result.stderr


@with_make
def test_every_widget_and_every_lecture_is_known():
    for widget in WIDGETS:
        assert run("make", "known-widget", f"W={widget}").returncode == 0
    for lecture in LECTURES:
        assert run("make", "known-lecture", f"N={lecture.split('_')[0]}").returncode == 0


def test_around_one_lecture_the_prose_of_the_others_stays(tmp_path):
    copy, whole = tmp_path / "copy", f"{LECTURES[0]}.ipynb"
    done = run(sys.executable, "scripts/one_lecture.py", f"lectures/{whole}", copy)
    assert done.returncode == 0, done.stderr
    pages = {path.name: path.read_text(encoding="utf-8") for path in copy.glob("lectures/*.*")}
    prose = {f"{name}.md" for name in LECTURES[1:]}
    assert set(pages) == {whole, *prose}
    assert pages[whole] == (ROOT / "lectures" / whole).read_text(encoding="utf-8")
    assert all(pages[name].startswith("# ") for name in prose)
    assert all("{glue:" not in pages[name] for name in prose)
    index = (copy / "book" / "index.md").read_text(encoding="utf-8")
    assert f"{whole})" in index
    assert not any(f"{name}.ipynb" in index for name in LECTURES[1:])
