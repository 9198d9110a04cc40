"""The scope of make widget and make lecture, and their messages for wrong names."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
WIDGETS = sorted(
    path.parent.name
    for path in (ROOT / "course_lib" / "widgets").glob("*/*.js")
    if path.stem in {path.parent.name, "live_figure"}
)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_wrong_widget_or_lecture_is_reported_with_the_right_names():
    for target, name, wrong, right in (
        ("known-widget", "W", ("", "../modules", "gate_explorer tiny_gpt"), WIDGETS),
        ("known-lecture", "N", ("", "5", "%"), LECTURES),
    ):
        for given in wrong:
            result = run("make", target, f"{name}={given}")
            assert result.returncode != 0
            assert f"{name}='{given}'" in result.stderr
            assert " ".join(right) in result.stderr
        known = right[-1] if name == "W" else right[-1][:2]
        assert run("make", target, f"{name}={known}").returncode == 0


def test_one_lecture_is_copied_with_the_prose_of_the_others(tmp_path):
    copy, whole = tmp_path / "copy", f"{LECTURES[0]}.ipynb"
    done = run(sys.executable, "scripts/site/one_lecture.py", f"lectures/{whole}", copy)
    assert done.returncode == 0, done.stderr
    pages = {path.name: path.read_text(encoding="utf-8") for path in copy.glob("lectures/*.*")}
    prose = {f"{name}.md" for name in LECTURES[1:]}
    assert set(pages) == {whole, *prose}
    assert pages[whole] == (ROOT / "lectures" / whole).read_text(encoding="utf-8")
    assert all(pages[name].startswith("# ") for name in prose)
    assert all("{glue:" not in pages[name] for name in prose)
