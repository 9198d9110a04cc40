"""Faults that scripts/tools/check_javascript.py finds, and its message without npm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "node_modules"
RIGHT = """\
/** @param {number} x */
export function twice(x) {
  return 2 * x;
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one correct module of JavaScript."""
    script = tmp_path / "scripts" / "tools" / "check_javascript.py"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / script.relative_to(tmp_path), script)
    for name in ("package.json", "package-lock.json", "biome.json", "tsconfig.json"):
        shutil.copy(ROOT / name, tmp_path)
    module = tmp_path / "course_lib" / "widgets" / "module.js"
    module.parent.mkdir(parents=True)
    module.write_text(RIGHT)
    return tmp_path


def check(project: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/tools/check_javascript.py", *options],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_npm_a_line_reports_that_nothing_was_checked_and_ci_fails(project, ci, code):
    nobody = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_cache": str(project / "c")}
    result = check(project, CI=ci, **nobody)
    assert result.returncode == code
    [said] = (result.stdout + result.stderr).splitlines()
    assert said.startswith("JavaScript is not checked, for its tools could not be fetched: ")
    assert "ECONNREFUSED" in said


@pytest.fixture
def tools(project: Path) -> None:
    if not TOOLS.exists():
        pytest.skip("the tools are not there; scripts/tools/check_javascript.py fetches them")
    (project / "node_modules").symlink_to(TOOLS)
    os.utime(project / "package-lock.json", (0, 0))


@pytest.mark.slow
@pytest.mark.usefixtures("tools")
def test_lint_and_types_are_checked_and_fixable_faults_are_fixed(project):
    module = project / "course_lib" / "widgets" / "module.js"
    for wrong, complaint in {
        "const y = 1;\n  return 2 * x;": "noUnusedVariables",
        "return 2 * y;": "TS2304",
    }.items():
        module.write_text(RIGHT.replace("return 2 * x;", wrong))
        result = check(project)
        assert result.returncode == 1
        assert complaint in result.stdout + result.stderr
        assert "check_javascript.py --write" in result.stderr
    module.write_text(RIGHT.replace("return 2 * x;", "return 2*x"))
    assert check(project, "--write").returncode == 0
    assert module.read_text() == RIGHT
