"""The built book in Firefox: every page opens, and every figure is alive and reacts."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_fixtures import PATIENCE, Folder, Watch, visit
from clock import observed
from course_site import OPEN_APPENDICES, SITE, pages
from gestures import Keyboard
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from reading import eventually

PREFERENCES = {
    # Playwright would let a page opened from a file read all others, unlike a reader's browser.
    "security.fileuri.strict_origin_policy": True,
    # Requests to other hosts always fail.
    "network.dns.disabled": True,
    "ui.prefersReducedMotion": 0,
}

# Every figure has a Reset; other controls for the keyboard come before the buttons.
MARK_FIRST_CONTROL = """(el) => {
  const all = (kind) => [...el.querySelectorAll(kind)];
  const [first] = [
    ...all("input:not([type=radio]), select, [tabindex='0']:not(button)"),
    ...all("button:not(.cw-foot > *)"),
  ].filter((e) => e.checkVisibility() && !e.disabled);
  first?.setAttribute("data-course-first", "");
}"""

# An animation has a button that stops it.
PICTURE_IN_MOTION = """(el) => {
  el.scrollIntoView({ block: "center", behavior: "instant" });
  const all = (kind) => [...el.querySelectorAll(kind)];
  if (!all("button").some((e) => /Stop|Pause/.test(e.textContent))) return null;
  return [
    ...all("svg, output").map((e) => e.outerHTML),
    ...all("canvas").map((e) => e.toDataURL()),
  ].join();
}"""


@pytest.fixture(scope="module")
def browser(firefox: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = tmp_path_factory.mktemp("firefox") / "firefox"
    command = [sys.executable, str(Path(__file__).with_name("firefox_proxy.py")), firefox]
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with sync_playwright() as playwright:
        browser = playwright.firefox.launch(
            channel="moz-firefox", executable_path=program, firefox_user_prefs=PREFERENCES
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[tuple[Page, Watch]]:
    """One for all pages: with a cache of its own, each would take seconds longer to open."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    page, watch = context.new_page(), Watch()
    watch.attach(page)
    yield page, watch
    context.close()


@pytest.fixture
def turn_to(window: tuple[Page, Watch]) -> Iterator[Callable[[str], Page]]:
    """Opens a page of the book; faults of the page fail the test."""
    page, watch = window
    watch.errors.clear()
    watch.strangers.clear()

    def turn_to(url: str) -> Page:
        visit(page, watch, url)
        return page

    yield turn_to
    observed(page)
    watch.verdict()


def answers(figure: Locator) -> None:
    """Assert that a figure that plays moves, and that its first control reacts to a key."""
    if before := figure.evaluate(PICTURE_IN_MOTION):
        eventually(figure, lambda: assert_moved(figure, before))
    hand = Keyboard(figure.page)
    hand.press(figure.locator(".cw-reset"))  # stops animations before the key is pressed
    figure.evaluate(MARK_FIRST_CONTROL)
    hand.operate(figure, figure.locator("[data-course-first]"))
    if figure.get_attribute("data-widget") == "Prediction":  # what waits for it comes next
        hand.press(figure.get_by_role("button", name=re.compile("Show me|Compare")))


def assert_moved(figure: Locator, before: str) -> None:
    assert figure.evaluate(PICTURE_IN_MOTION) != before, "the figure plays and stands still"


# Without their ending, so that the file stays on one worker with one Firefox.
PAGES = [path for path in pages(with_widgets=True) if "index" not in path] or pages()
ON_EVERY_PAGE = {"BreakIt", "Prediction"}


@pytest.mark.parametrize("page_path", PAGES, ids=[path.removesuffix(".html") for path in PAGES])
def test_a_page_opens_in_firefox_and_each_of_its_figures_works(
    site: Folder, turn_to: Callable[[str], Page], page_path: str
):
    page = turn_to(site.url(page_path, scheme="file" if page_path == PAGES[-1] else "http"))
    page.evaluate(OPEN_APPENDICES)
    figures = page.locator(".cw-host").all()
    assert len(figures) == (SITE / page_path).read_text(encoding="utf-8").count("data-widget=")
    for figure in figures:
        kind = figure.get_attribute("data-widget")
        if page_path == PAGES[0] or kind not in ON_EVERY_PAGE:
            answers(figure)
        elif kind == "Prediction":  # what waits for it comes next
            figure.get_by_role("button", name=re.compile("Show me|Compare")).click()
