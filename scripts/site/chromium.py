"""Which Chromium the browser tests drive: one that is there, or Playwright's own, fetched once."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

# The headless shell first: the same engine without a window's frame, which is a page of its own and
# takes two fifths of the processor's time for a small page.
NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
# The whole Chromium, since the headless shell lies elsewhere than Playwright says.
# Where it is there already, the installer returns at once and asks no host.
INSTALLER = (sys.executable, "-m", "playwright", "install", "--no-shell", "chromium")
# In seconds: enough for some 170 MB, and less than a test may take, since one waits for them.
LONGEST_FETCH = 400
NO_CHROMIUM = "no Chromium, and Playwright could fetch none"
WHAT_TO_DO = "install one (Debian: apt-get install chromium) or set CHROME_PATH"


def program(variable: str, names: Sequence[str]) -> str | None:
    """What the variable names, or the first of the names on the path."""
    named = os.environ.get(variable)
    if named and shutil.which(named) is None:
        raise ValueError(f"{variable} names {named!r}, which is not a program")
    return named or next(filter(None, map(shutil.which, names)), None)


def installed() -> str | None:
    """``CHROME_PATH``, or the first of the usual names on the path."""
    return program("CHROME_PATH", NAMES)


def playwrights_own() -> str:
    """Where Playwright keeps its Chromium, be it there or not."""
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def fault(command: Sequence[str], *, patience: float) -> str:
    """Why a command failed, in one line; nothing if it did not."""
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
        os.killpg(process.pid, signal.SIGKILL)  # it is a child of the installer who downloads
        process.communicate()
        return f"{command[0]} took more than {patience} s"
    if process.returncode == 0:
        return ""
    errors = [line.strip() for line in said.splitlines() if "error" in line.lower()]
    return errors[0] if errors else f"{command[0]} ended with {process.returncode}"


def fetch(
    own: str, *, installer: Sequence[str] = INSTALLER, patience: float = LONGEST_FETCH
) -> str:
    """Bring Playwright's Chromium to its place ``own``; what this returns is the fault, if any.

    On a bare machine, libraries that a Chromium needs may be missing, so it has to start once.
    """
    found = fault(installer, patience=patience) or fault([own, "--version"], patience=patience)
    return found and f"{NO_CHROMIUM} ({found}); {WHAT_TO_DO}"


def asked_once(answer: Path, question: Callable[[], str]) -> str:
    """What the question gave the first process that came with this file, for all of them."""
    with answer.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = file.read()
        if not known:
            known = f"{question()}\n"
            file.write(known)
    return known.strip()
