import base64
import json
import zlib
from html.parser import HTMLParser

import minify
import numpy as np
import pytest
import traitlets

from course_lib.widgets.base import Widget
from course_lib.widgets.modules import module_source, stylesheet
from course_lib.widgets.traits import Array, Data, Integer, Text

# Widgets check what they are given themselves, and their messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

HOSTILE = "</script><img src=x onerror=alert(1)><!-- ]]>"


class Counter(Widget):
    """The smallest widget: one of each kind of trait."""

    _module = "soft_lookup.js"

    count = Integer(0, 9, default=3)
    label = Text(default="steps")
    table = Array("rows", "columns")
    _hidden = traitlets.Int(7).tag(sync=True)
    only_in_python = traitlets.Int(5)

    def describe(self) -> str:
        return f"A counter of {self.label}."


@pytest.fixture
def counter():
    return Counter(table=np.eye(2, dtype=np.float32))


class Page(HTMLParser):
    """What a browser's parser finds in a piece of HTML: its tags, its text, its scripts' text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser hands them over
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text += data


def test_a_widget_s_own_state_goes_to_the_page_and_comes_back(counter):
    seen = []
    counter.observe(lambda change: seen.append(change["new"]), "count")
    other = Counter(table=[[0.0]], count=9)
    counter.set_state({"count": 8, "table": Array._encode(np.ones((1, 1), dtype=np.float32), None)})
    assert seen == [8]
    np.testing.assert_array_equal(counter.table, [[1.0]])
    assert set(counter.page_state()) == {"count", "label", "table"}
    assert (counter.page_state()["count"], other.page_state()["count"]) == (8, 9)


def test_static_html_is_one_placeholder_with_words_and_two_scripts(counter):
    page = Page(counter.static_html())
    assert page.tags == ["div", "p", "script", "script"]
    assert "A counter of steps." in page.text
    payload = json.loads(page.scripts[0])
    assert payload["module"] == "soft_lookup.js"
    assert payload["state"] == counter.page_state()
    css, module = zlib.decompress(base64.b64decode(payload["code"])).decode().split("\0")
    assert module == minify.string("text/javascript", module_source("soft_lookup.js"))
    # What the minifier leaves inside a block that asks for its container is made small, too.
    assert "\n" not in css
    assert len(css) < len(minify.string("text/css", stylesheet("soft_lookup.js")))


def test_a_state_of_any_text_comes_back_as_it_went_in_and_markup_stays_text(counter):
    for hostile in (HOSTILE, "<!--<script>", "\u2028\u2029\x00", '"\\', "&lt;/script&gt;"):
        counter.label = hostile
        page = Page(counter.static_html())
        assert page.tags == ["div", "p", "script", "script"]
        assert "<" not in page.scripts[0]
        assert json.loads(page.scripts[0])["state"]["label"] == hostile
        if "\0" not in hostile:
            assert f"A counter of {hostile}." in page.text


def test_a_state_that_is_not_finite_is_refused():
    class Measured(Counter):
        level = Data(float("nan"))

    with pytest.raises(ValueError, match="JSON"):
        Measured(table=np.eye(1, dtype=np.float32)).static_html()


def test_an_output_offers_the_live_view_the_page_and_the_words(counter):
    data, _ = counter._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == counter.static_html()
    assert data["text/plain"] == "A counter of steps."


def test_a_trait_may_not_take_a_name_that_ipywidgets_needs():
    with pytest.raises(TypeError, match=r"keys.*rename"):
        type("Bad", (Widget,), {"_module": "soft_lookup.js", "keys": traitlets.Int()})


def test_a_widget_must_describe_itself():
    class Silent(Widget):
        _module = "soft_lookup.js"

    with pytest.raises(TypeError, match=r"Silent must say in describe\(\)"):
        Silent().static_html()
