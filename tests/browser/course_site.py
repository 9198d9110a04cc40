"""The built book: its folder, and its pages with widgets."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# `make lecture` sets another, with one whole lecture.
SITE = ROOT / os.environ.get("SITE", "_build/html")
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
NOT_BUILT = "not-built"


def pages(*, with_widgets: bool = False) -> list[str]:
    """The pages below ``_build/html``, as paths; one that does not exist if there is no book.

    Tests are parametrised over these, so a missing book must give a failure, not an empty set.
    """
    found = []
    for path in sorted(SITE.rglob("*.html")):
        page = path.relative_to(SITE)
        if page.parts[0] in ("_static", "_sources", "_templates"):
            continue
        text = path.read_text(encoding="utf-8")
        # The root only redirects, which test_pages.py tests.
        sends_on = 'http-equiv="refresh"' in text.lower()
        if not sends_on and ("data-widget=" in text or not with_widgets):
            found.append(page.as_posix())
    return found or [NOT_BUILT]


OPEN_APPENDICES = """() => {
  for (const it of document.querySelectorAll("details.section")) it.open = true;
}"""
