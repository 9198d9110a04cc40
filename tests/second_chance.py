"""Run failed browser tests once more, alone, after all others.

On a busy machine a test may read a page before it is drawn. A test that fails alone too is a fault.
"""

import subprocess
import sys

import pytest

MOST = 10
FAILED = ("failed", "error")


def once_more_alone(session: pytest.Session) -> None:
    """Count tests that pass alone as "passed alone"; if no other failed, the run succeeds."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = [report for kind in FAILED for report in reporter.stats.get(kind, [])]
    first = {report.nodeid: report for report in reversed(reports)}
    drive_a_browser = all("browser" in getattr(one, "keywords", ()) for one in first.values())
    ran_to_its_end = session.exitstatus == pytest.ExitCode.TESTS_FAILED
    if not (ran_to_its_end and 0 < len(first) <= MOST and drive_a_browser):
        return
    reporter.write_sep("=", f"once more, alone: {len(first)}")
    command = [sys.executable, "-m", "pytest", "-rA", "--show-capture=no", *first]
    if subprocess.run(command, check=False).returncode == 0:
        for kind in FAILED:
            reporter.stats.pop(kind, None)
        reporter.stats["passed alone"] = [*first.values()]
        session.exitstatus = pytest.ExitCode.OK
