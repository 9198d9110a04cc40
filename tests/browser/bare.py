"""A page that holds widgets and nothing else."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator

from course_lib.widgets import Widget

Alone = Callable[..., Locator]
"""Takes a widget and options of the window, and gives the widget in the page; see conftest.py."""


def bare_page(folder: Path, *shown: Widget, below: str = "") -> str:
    """A page that holds the widgets and nothing else but what comes ``below``; its address."""
    parts = "".join(widget.static_html() for widget in shown) + below
    path = folder / "bare.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bare</title></head>'
        f"<body><main><h1>bare</h1>{parts}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()
