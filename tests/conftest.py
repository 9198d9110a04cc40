"""Hooks and settings of all tests."""

import os
import re
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["browser_fixtures"]  # of tests/browser

SLOW = re.compile(r"^pytestmark = .*\bmark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not collect files that are slow as a whole when slow tests are deselected."""
    asked = not config.option.markexpr.startswith("not slow") or collection_path.suffix != ".py"
    return None if asked or not SLOW.search(collection_path.read_text(encoding="utf-8")) else True


def pytest_sessionstart(session: pytest.Session) -> None:
    """Prepare a process that runs tests; the one with workers runs none."""
    if session.config.getoption("numprocesses", None):
        return
    import torch
    from hypothesis import settings

    from course_lib.support import contracts

    contracts.options["check_returned"] = True
    # Triton's own functions learn where they run when Triton is first imported. PyTorch Geometric
    # imports it too, and the tests of the kernels may come later.
    with pytest.MonkeyPatch.context() as patch, suppress(ImportError):
        if not torch.cuda.is_available():
            patch.setenv("TRITON_INTERPRET", "1")
        import_module("triton")
    # The same examples in every run, on every machine, so that failures are reproducible.
    profile = {"derandomize": True, "database": None, "deadline": None, "max_examples": 50}
    settings.register_profile("course", **profile)
    settings.load_profile("course")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Replace the scheduler of ``--dist`` if there is more than one worker."""
    from scheduler import FilesAndPages

    return FilesAndPages(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Give browser tests that failed beside others a second chance."""
    if session.config.getoption("numprocesses", None):
        from second_chance import once_more_alone

        once_more_alone(session)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the slowest files, and the times of the earlier parts of ``make test``."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    dearest = [f"{file} {spent:.0f} s" for file, spent in seconds.most_common(5)]
    terminalreporter.write_line(f"dearest: {', '.join(dearest)}")
    if before := os.environ.get("PARTS_BEFORE"):
        terminalreporter.write_line(f"before: {before}")
