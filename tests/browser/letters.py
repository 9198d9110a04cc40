"""Common parts of widgets that read typed text: a message beside the field, bars of letters."""

from gestures import Point, spot
from playwright.sync_api import Locator
from reading import eventually


def says(widget: Locator, words: str) -> None:
    """Assert that the message beside the field contains these words, or that there is none."""

    def said() -> None:
        message = widget.locator(".cw-complaint").inner_text()
        assert words in message if words else message == ""

    eventually(widget, said)


def bar(widget: Locator, chart: str, place: int) -> Point:
    """The middle of a bar, counted from 0, in the first row of the chart of this name."""
    drawing = widget.get_by_role("slider", name=chart)
    margin, cell = drawing.evaluate(
        """(svg) => {
          const cell = Number(svg.querySelector(".cw-l-ring").getAttribute("width")) + 1;
          return [30, cell].map((part) => part / svg.viewBox.baseVal.width);
        }"""
    )
    return spot(drawing, margin + cell * (place + 0.5))
