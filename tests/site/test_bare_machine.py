"""A machine without browsers: what .ci/run installs, and what the tests fetch."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import chromium
import firefox
import pytest
from chromium import WHAT_TO_DO
from firefox import NO_FIREFOX

ROOT = Path(__file__).resolve().parents[2]
CLOSING_LINE = "===== 3 passed, 1 skipped in 0.01s ====="
# The programs of Debian that .ci/run needs. Its path has only these and the stubs of a test.
TOOLS = ("bash", "dirname", "env", "grep", "id", "mktemp", "rm", "tail", "tee")
# The variable of a browser, and the module that finds it.
BROWSERS = {"CHROME_PATH": chromium, "FIREFOX_PATH": firefox}
BROWSER_PACKAGES = {"chromium-headless-shell", "fonts-dejavu-core", "firefox-esr"}


class Machine:
    """A machine whose programs record their calls and arguments."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.log = folder / "log"
        self.programs.mkdir()
        self.log.touch()
        for tool in TOOLS:
            (self.programs / tool).symlink_to(shutil.which(tool))

    def has(self, *names: str, answer: str = "exit 0") -> None:
        for name in names:
            program = self.programs / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.log}"\n{answer}\n')
            program.chmod(0o755)

    def runs_ci(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(ROOT / ".ci" / "run")],
            env={"PATH": str(self.programs), "TMPDIR": str(self.log.parent), **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def calls(self, name: str) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if line.startswith(f"{name} ")]

    def installs(self) -> set[str]:
        return {
            word
            for call in self.calls("apt-get")
            if " install " in call
            for word in call.split(" install ")[1].split()
            if not word.startswith("-")
        }


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that lacks only browsers."""
    machine = Machine(tmp_path)
    machine.has("apt-get", "python3")
    machine.has("sudo", answer='exec "$@"')
    machine.has("make", answer=f'[ "$1" = book ] || echo "{CLOSING_LINE}"')
    return machine


def test_on_a_bare_machine_ci_installs_browsers_then_runs_the_two_commands_of_the_readme(
    machine,
):
    machine.has("python3", answer="exit 1")  # it cannot create an environment
    result = machine.runs_ci()
    assert result.returncode == 0, result.stderr
    assert machine.installs() == BROWSER_PACKAGES | {"python3-venv"}
    calls = machine.log.read_text().splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert calls.index("make test") > calls.index(machine.calls("apt-get")[-1])
    assert sorted(machine.calls("make")) == ["make book", "make test"]
    assert all(f"\n{call} " in readme for call in machine.calls("make"))
    assert result.stdout.splitlines()[-1] == CLOSING_LINE


def test_ci_fails_with_the_tests_and_still_ends_with_their_closing_line(machine):
    closing = CLOSING_LINE.replace("passed", "failed")
    machine.has("chromium", "firefox-esr")
    machine.has("make", answer=f'echo "{closing}"; echo "make: Error 1"; exit 2')
    result = machine.runs_ci()
    assert result.returncode == 2
    assert machine.calls("make") == ["make test"]
    assert machine.calls("apt-get") == []  # both browsers are installed
    assert result.stdout.splitlines()[-1] == closing


def test_a_browser_is_found_on_the_path_or_in_a_variable(machine, monkeypatch):
    monkeypatch.setenv("PATH", str(machine.programs))
    machine.has("my-browser")
    for variable, browser in BROWSERS.items():
        monkeypatch.delenv(variable, raising=False)
        assert browser.installed() is None
        machine.has(*browser.NAMES)
        assert browser.installed() == str(machine.programs / browser.NAMES[0])
        monkeypatch.setenv(variable, "my-browser")
        assert browser.installed() == "my-browser"
        monkeypatch.setenv(variable, "/not/there")
        with pytest.raises(ValueError, match=f"{variable} names '/not/there'"):
            browser.installed()


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "outcome"), [("", " skipped"), ("true", " error")])
def test_without_browsers_and_a_network_browser_tests_skip_but_fail_in_ci(machine, ci, outcome):
    site = machine.log.parent / "site"
    site.mkdir()
    (site / "index.html").touch()
    environment = {
        **os.environ,
        "PATH": str(machine.programs),
        **dict.fromkeys(BROWSERS, ""),
        "CI": ci,
        "SITE": str(site),
        "PLAYWRIGHT_BROWSERS_PATH": str(machine.programs / "none"),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",  # no server listens there
    }
    mathematics = ROOT.glob("tests/widgets/test_mathematics_*.py")
    some_tests = [min(mathematics), ROOT / "tests" / "site" / "test_firefox.py"]
    command = [sys.executable, "-m", "pytest", *map(str, some_tests), "-p", "no:cacheprovider"]
    command += ["-o", "addopts=-ra"]  # type checks of the library are not needed here
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    closing = result.stdout.splitlines()[-1]
    assert outcome in closing, result.stdout
    assert ("skipped" in closing) != ("error" in closing)
    for what_to_do, reason in {WHAT_TO_DO: "ECONNREFUSED", NO_FIREFOX: NO_FIREFOX}.items():
        said = [line for line in result.stdout.splitlines() if what_to_do in line]
        assert all(reason in line for line in said)
        skipped = [line for line in said if line.startswith("SKIPPED")]
        assert len(skipped) == (not ci), result.stdout
