"""GraphDrum: a small one, what it displays, and what course_lib says it should."""

from playwright.sync_api import Locator

from course_lib.widgets import GraphDrum


def make() -> GraphDrum:
    return GraphDrum(moving=False)


def displayed(widget: Locator) -> None:
    pass
