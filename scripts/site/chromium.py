"""Find the Chromium of the browser tests: an installed one, or Playwright's, fetched once."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

# The headless shell first: it draws no window frame, which takes two fifths of the processor time
# of a small page.
NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
# The whole Chromium, since the headless shell is not where Playwright says.
# If it is installed already, the installer returns at once without a request.
INSTALLER = (sys.executable, "-m", "playwright", "install", "--no-shell", "chromium")
# In seconds: enough for some 170 MB, and less than the time limit of a test, which waits.
LONGEST_FETCH = 400
NO_CHROMIUM = "no Chromium, and Playwright could fetch none"
WHAT_TO_DO = "install one (Debian: apt-get install chromium) or set CHROME_PATH"


def program(variable: str, names: Sequence[str]) -> str | None:
    """The program in the variable, or the first of the names on the path."""
    named = os.environ.get(variable)
    if named and shutil.which(named) is None:
        raise ValueError(f"{variable} names {named!r}, which is not a program")
    return named or next(filter(None, map(shutil.which, names)), None)


def installed() -> str | None:
    """``CHROME_PATH``, or the first of the usual names on the path."""
    return program("CHROME_PATH", NAMES)


def playwrights_own() -> str:
    """The path of Playwright's Chromium, installed or not."""
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def fault(command: Sequence[str], *, patience: float) -> str:
    """Run a command; return why it failed in one line, or nothing."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the installer of Playwright
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        return str(error)
    try:
        _, said = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a child of the installer downloads
        process.communicate()
        return f"{command[0]} took more than {patience} s"
    if process.returncode == 0:
        return ""
    errors = [line.strip() for line in said.splitlines() if "error" in line.lower()]
    return errors[0] if errors else f"{command[0]} ended with {process.returncode}"


def fetch(
    own: str, *, installer: Sequence[str] = INSTALLER, patience: float = LONGEST_FETCH
) -> str:
    """Install Playwright's Chromium at ``own``; return what went wrong, if anything.

    It is started once, since a bare machine may lack libraries that it needs.
    """
    found = fault(installer, patience=patience) or fault([own, "--version"], patience=patience)
    return found and f"{NO_CHROMIUM} ({found}); {WHAT_TO_DO}"


def asked_once(answer: Path, question: Callable[[], str]) -> str:
    """Call ``question`` in the first process alone; the others read the answer from the file."""
    with answer.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = file.read()
        if not known:
            known = f"{question()}\n"
            file.write(known)
    return known.strip()
