"""The code of a page: once per kind and current; a figure that fails says so in its place."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from agreement import agrees_with_course_lib
from gestures import Keyboard, widgets
from playwright.sync_api import Browser, Page
from reading import state_of
from small_widgets import make
from widget_page import bare_page

from course_lib.widgets.kit.page import packed, with_current_code

PAYLOAD = re.compile(r'(?<=<script type="application/json">)[^<]*')


def rewritten(path: str, change: Callable[[str], str]) -> str:
    """The address of a page after a change of its text."""
    page = Path(path.removeprefix("file://"))
    page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")
    return path


@pytest.fixture
def look_at_failure(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens a page whose first figure should fail, and waits until it has."""
    context = browser.new_context()

    def look(url: str) -> Page:
        page = context.new_page()
        page.goto(url)
        page.locator(".cw-host [role=alert]").first.wait_for()
        return page

    yield look
    context.close()


def test_figures_that_share_their_code_are_alive_and_keep_their_states_apart(
    open_page: Callable[..., Page], tmp_path: Path
):
    path = bare_page(tmp_path, *map(make, ["SoftLookup", "TileStepper"] * 2))
    page = open_page(rewritten(path, lambda text: with_current_code(text, pytest.fail)))
    assert [len(json.loads(text)) for text in PAYLOAD.findall(page.content())] == [5, 5, 4, 4]
    found = widgets(page)
    for widget in found:
        agrees_with_course_lib(widget)
    untouched = state_of(found[0])
    Keyboard(page).slide(found[2].locator("input[type=range]"))
    agrees_with_course_lib(found[2])
    assert str(state_of(found[0])) == str(untouched) != str(state_of(found[2]))


def broken(text: str, change: Callable[[dict], dict]) -> str:
    """A page whose first figure has a broken payload."""
    payload = json.dumps(change(json.loads(PAYLOAD.search(text)[0]))).replace("<", "\\u003c")
    return PAYLOAD.sub(lambda _: payload, text, count=1)


THROWS = (
    "export default { render({ el }) { el.replaceChildren('half'); throw new Error('no ink'); } };"
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it | {"code": packed("\0import './no.js'; export default 1;")}, "no.js"),
        (lambda it: it | {"code": packed(f"\0{THROWS}")}, "no ink"),
        (lambda it: it | {"code": "b2xk"}, ""),
        (lambda it: it | {"format": 1}, "has format 1, and this page reads 2"),
        (lambda it: it | {"code": None}, ""),
    ],
    ids=["import", "render", "packing", "format", "no code"],
)
def test_a_figure_that_cannot_start_says_why_in_its_place_and_the_next_one_is_alive(
    look_at_failure: Callable[[str], Page],
    tmp_path: Path,
    change: Callable[[dict], dict],
    message: str,
):
    widget = make("SoftLookup")
    path = bare_page(tmp_path, widget, make("TileStepper"))
    page = look_at_failure(rewritten(path, lambda text: broken(text, change)))
    host = page.locator(".cw-host").first
    alert, words = host.locator("p").all_inner_texts()
    assert alert.startswith("This figure could not start: ")
    assert message in alert
    assert words == widget.describe()
    assert host.evaluate("(el) => el.childNodes.length") == 2
    page.wait_for_selector(".cw-host[data-widget=TileStepper][data-alive=true]")
    agrees_with_course_lib(page.locator(".cw-host").last)
