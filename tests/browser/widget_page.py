"""A page with only widgets."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator
from small_widgets import make

from course_lib.widgets import Widget

Alone = Callable[..., Locator]
"""Takes a widget and options of the window, and gives the widget in the page: a fixture."""

Shown = Callable[..., Locator]
"""Takes what a widget is made of, and as ``page`` options of the window, and gives the widget."""


def bare_page(folder: Path, *shown: Widget, below: str = "") -> str:
    """Write a page with only the widgets and the content ``below``; return its address."""
    parts = "".join(widget.static_html() for widget in shown) + below
    path = folder / "bare.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bare</title></head>'
        f"<body><main><h1>bare</h1>{parts}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()


def open_folds(within: Locator) -> None:
    within.locator("details").evaluate_all("all => all.forEach((e) => { e.open = true; })")


def shows(kind: str | Callable[..., Widget], *, folded: bool = False, **standard: object) -> Any:
    """A fixture that opens a page with one widget, with ``standard`` arguments by default."""
    made = partial(make, kind) if isinstance(kind, str) else kind

    @pytest.fixture(name="shown")
    def opener(alone: Alone) -> Shown:
        def shown(*parts: object, page: dict[str, Any] | None = None, **given: object) -> Locator:
            widget = alone(made(*parts, **standard | given), **page or {})
            if not folded:
                open_folds(widget)
            return widget

        return shown

    return opener
