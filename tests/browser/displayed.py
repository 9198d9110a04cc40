"""Whether a widget displays what course_lib says it should."""

from kinds import WIDGETS
from playwright.sync_api import Locator
from reading import eventually


def agrees_with_course_lib(widget: Locator) -> None:
    """Assert that the widget displays what course_lib computes, once its frame is painted."""
    kind = widget.get_attribute("data-widget")
    eventually(widget, lambda: WIDGETS[kind].displayed(widget))
