"""Find an installed Firefox for the browser tests; none is fetched."""

from chromium import program

NAMES = ("firefox-esr", "firefox")
NO_FIREFOX = "no Firefox; install one (Debian: apt-get install firefox-esr) or set FIREFOX_PATH"


def installed() -> str | None:
    """``FIREFOX_PATH``, or the first of the usual names on the path."""
    return program("FIREFOX_PATH", NAMES)
