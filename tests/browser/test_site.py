"""Every page of the built book, whether it has widgets or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import axe_playwright_python
import pytest
from conftest import Folder
from course_site import SITE, pages
from playwright.sync_api import Page

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
KILOBYTE = 1000
MOST = 60 * KILOBYTE
MORE = {"TinyGPT": 250 * KILOBYTE}  # it carries a whole language model

# Ended and not waited for: a window that paints no frame ends no transition. One may begin another.
END_TRANSITIONS = """() => {
  const running = () => document.getAnimations().filter((a) => a instanceof CSSTransition);
  for (let round = 0; round < 10 && running().length; round += 1) {
    for (const transition of running()) transition.finish();
  }
  return running().length;
}"""


@pytest.fixture(params=pages())
def page_path(request: pytest.FixtureRequest) -> str:
    return request.param


def violations(page: Page) -> list[str]:
    """What axe-core finds: rule, why it matters, and where. No rule is left out, and no element."""
    page.evaluate(AXE)
    found: list[dict[str, Any]] = page.evaluate(
        # To preload would be to fetch the stylesheets again, and to trip over what they import.
        """async () => {
          const options = { resultTypes: ["violations"], preload: false };
          return (await axe.run(document, options)).violations;
        }"""
    )
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:160]} {node['target']}"
        for violation in found
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_either_theme(
    site: Folder, open_page: Callable[..., Page], page_path: str, theme: str
):
    # A formula has the colour of its text, and most of the elements: looked at once, in the light.
    page = open_page(site.url(page_path), theme=theme, formulas=theme == "light")
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme
    assert page.evaluate(END_TRANSITIONS) == 0
    assert violations(page) == []


@pytest.mark.parametrize("width", [390, 1920])
def test_a_page_fits_the_window(
    site: Folder, open_page: Callable[..., Page], page_path: str, width: int
):
    page = open_page(site.url(page_path), width=width)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


def test_a_page_opens_from_a_file(site: Folder, open_page: Callable[..., Page], page_path: str):
    page = open_page(site.url(page_path, scheme="file"))
    assert page.locator("main h1:visible").first.inner_text().strip()


def test_the_root_leads_to_the_first_page(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(""))
    page.wait_for_url("**/book/index.html")
    assert page.locator("main h1:visible").first.inner_text().startswith("Attention")


def test_the_reader_can_search(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url("search.html?q=softmax"))
    page.locator("#search-results li a").first.wait_for()
    assert page.locator("#search-results li a").count() >= 2


def test_the_theme_chosen_stays_chosen_on_the_next_page(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("book/index.html"), theme="light")
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    page.goto(site.url("book/notation.html"))
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


def payloads(page: Page) -> list[tuple[str, int]]:
    """The bytes of each widget of the page: its state, its module and the stylesheet."""
    texts = page.locator(".cw-host").evaluate_all(
        "hosts => hosts.map((el) => [el.dataset.widget, el.nextElementSibling.textContent])"
    )
    return [(kind, len(text.encode())) for kind, text in texts]


def test_a_page_weighs_less_than_a_megabyte_and_a_widget_less_than_60_kilobytes(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path))
    figures = page.locator("main img").evaluate_all("images => images.map((i) => i.currentSrc)")
    drawn = {SITE / urlsplit(src).path.lstrip("/") for src in figures if site.host in src}
    assert sum(path.stat().st_size for path in {SITE / page_path, *drawn}) < 1000 * KILOBYTE
    heavy = [(kind, size) for kind, size in payloads(page) if size >= MORE.get(kind, MOST)]
    assert heavy == []
