"""The built book, as the tests see it: where it lies and which pages have widgets."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# `make lecture` names another, in which one lecture is whole.
SITE = ROOT / os.environ.get("SITE", "_build/html")
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
NOT_BUILT = "not-built"


def pages(*, with_widgets: bool = False) -> list[str]:
    """The pages below ``_build/html``, as paths; one that does not exist if there is no book.

    Tests are parametrised over these, so a missing book must be seen as a failure, not as no tests.
    """
    found = []
    for path in sorted(SITE.rglob("*.html")):
        page = path.relative_to(SITE)
        if page.parts[0] in ("_static", "_sources", "_templates"):
            continue
        text = path.read_text(encoding="utf-8")
        # The root only sends the reader on; test_pages.py follows it.
        sends_on = 'http-equiv="refresh"' in text.lower()
        if not sends_on and ("data-widget=" in text or not with_widgets):
            found.append(page.as_posix())
    return found or [NOT_BUILT]
