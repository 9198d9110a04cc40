"""The code of a page: once a kind, that of today; a figure that fails says so in its place."""

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bare import bare_page
from displayed import agrees_with_course_lib
from hands import Keyboard, operate_every_control, widgets
from kinds.soft_lookup import make as soft_lookup
from kinds.tile_stepper import make as tile_stepper
from playwright.sync_api import Browser, Page
from reading import state_of

from course_lib.widgets.page import with_current_code

pytestmark = pytest.mark.usefixtures("plain_calls")

PAYLOAD = re.compile(r'(?<=<script type="application/json">)[^<]*')


def packed(module: str) -> str:
    return base64.b64encode(zlib.compress(f"\0{module}".encode())).decode()


def rewritten(path: str, change: Callable[[str], str]) -> str:
    """The address of a page whose text was changed by hand."""
    page = Path(path.removeprefix("file://"))
    page.write_text(change(page.read_text(encoding="utf-8")), encoding="utf-8")
    return path


@pytest.fixture
def look_at_failure(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens a page whose first figure is expected to fail, and waits until it has."""
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
    path = bare_page(tmp_path, soft_lookup(), tile_stepper(), soft_lookup(), tile_stepper())
    page = open_page(rewritten(path, lambda text: with_current_code(text, pytest.fail)))
    assert [len(json.loads(text)) for text in PAYLOAD.findall(page.content())] == [5, 5, 4, 4]
    found = widgets(page)
    for widget in found:
        agrees_with_course_lib(widget)
    untouched = state_of(found[0])
    operate_every_control(found[2], Keyboard(page))
    agrees_with_course_lib(found[2])
    assert str(state_of(found[0])) == str(untouched) != str(state_of(found[2]))


HALF = """
  el.replaceChildren("half drawn");
  throw new Error("no ink");
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: it | {"code": packed("export default {")}, "Unexpected end of input"),
        (lambda it: it | {"code": packed("import './no.js'; export default 1;")}, "no.js"),
        (
            lambda it: (
                it | {"code": packed(f"export default {{ render({{ el }}) {{ {HALF} }} }};")}
            ),
            "no ink",
        ),
        (lambda it: it | {"code": "b2xk"}, ""),
        (lambda it: it | {"code": "no base64!"}, "correctly encoded"),
        (lambda it: it | {"format": 1}, "has the format 1, and this page reads 2"),
        (
            lambda it: {name: value for name, value in it.items() if name != "code"},
            "this page carries no code for soft_lookup.js",
        ),
    ],
    ids=["syntax", "import", "render", "packing", "base64", "format", "no code"],
)
def test_a_figure_that_cannot_start_says_why_in_its_place_and_keeps_its_words(
    look_at_failure: Callable[[str], Page],
    tmp_path: Path,
    change: Callable[[dict], dict],
    message: str,
):
    widget = soft_lookup()

    def broken(text: str) -> str:
        payload = change(json.loads(PAYLOAD.search(text)[0]))
        return PAYLOAD.sub(lambda _: json.dumps(payload).replace("<", "\\u003c"), text)

    page = look_at_failure(rewritten(bare_page(tmp_path, widget), broken))
    host = page.locator(".cw-host")
    alert, words = host.locator("p").all_inner_texts()
    assert alert.startswith("This figure could not start: ")
    assert message in alert
    assert words == widget.describe()
    assert host.evaluate("(el) => el.childNodes.length") == 2
    assert host.get_attribute("data-alive") is None


def test_a_figure_beside_one_that_cannot_start_is_alive(
    look_at_failure: Callable[[str], Page], tmp_path: Path
):
    def broken(text: str) -> str:
        payload = json.loads(PAYLOAD.search(text)[0]) | {"code": packed("export default {")}
        return PAYLOAD.sub(lambda _: json.dumps(payload), text, count=1)

    path = bare_page(tmp_path, soft_lookup(), tile_stepper())
    page = look_at_failure(rewritten(path, broken))
    page.wait_for_selector(".cw-host[data-widget=TileStepper][data-alive=true]")
    agrees_with_course_lib(page.locator(".cw-host").last)
