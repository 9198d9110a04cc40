import base64
import html
import json
import re
import zlib

import minify
import numpy as np
import pytest
import traitlets
from small_widgets import make, payload, payload_text

from course_lib.widgets import BreakIt
from course_lib.widgets.kit import page
from course_lib.widgets.kit.base import Widget
from course_lib.widgets.kit.modules import module_source, stylesheet
from course_lib.widgets.kit.page import packed_code
from course_lib.widgets.kit.traits import Array, Integer, Text

# Widgets take lists here, as in a lecture, not the exact types of their signatures.
SCRIPTS = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
SOFT, TILES = make("SoftLookup"), make("TileStepper")
HOSTILE = "</script><img src=x onerror=alert(1)><!-- ]]>"


class Counter(Widget):
    """The smallest widget: one of each kind of trait."""

    _module = "soft_lookup/soft_lookup.js"

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


def unpacked(payload):
    code = payload["code"].replace(".", "<")
    return zlib.decompress(base64.b85decode(code)).decode().split("\0")


def test_a_widget_s_own_state_goes_to_the_page_and_comes_back(counter):
    seen = []
    counter.observe(lambda change: seen.append(change["new"]), "count")
    counter.set_state({"count": 8, "table": Array._encode(np.ones((1, 1), dtype=np.float32), None)})
    assert seen == [8]
    np.testing.assert_array_equal(counter.table, [[1.0]])
    assert set(counter.page_state()) == {"count", "label", "table"}


def test_a_piece_carries_its_words_its_state_and_its_code_made_small(counter):
    assert "<p>A counter of steps.</p>" in counter.static_html()
    carried = payload(counter)
    assert carried["module"] == "soft_lookup/soft_lookup.js"
    assert carried["state"] == counter.page_state()
    css, module = unpacked(carried)
    assert module == minify.string("text/javascript", module_source("soft_lookup/soft_lookup.js"))
    # Others' licences travel, and our comments do not.
    assert module.count("Copyright 2017 Google LLC | BSD-3-Clause */") == 2
    assert module.count("/*") == module.count("/*! lit-html")
    # The content of a container query, which the minifier skips, is minified too.
    assert "\n" not in css
    assert len(css) < len(minify.string("text/css", stylesheet("soft_lookup/soft_lookup.js")))


def test_a_state_of_any_text_comes_back_as_it_went_in_and_markup_stays_text(counter):
    for hostile in (HOSTILE, "<!--<script>", "\u2028\u2029\x00", '"\\', "&lt;/script&gt;"):
        counter.label = hostile
        assert "<" not in payload_text(counter)
        assert payload(counter)["state"]["label"] == hostile
    assert "<p>A counter of &amp;lt;/script&amp;gt;.</p>" in counter.static_html()


def test_an_output_offers_the_live_view_the_page_and_the_words(counter):
    data, _ = counter._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == counter.static_html()
    assert data["text/plain"] == "A counter of steps."


def bound(*outputs):
    """The page of these outputs, and the warnings."""
    faults = []
    return page.with_current_code("<p>before</p>".join(outputs), faults.append), faults


def payloads(text):
    return [json.loads(script) for script in SCRIPTS.findall(text)[::2]]


def test_the_first_figure_of_a_kind_carries_the_code_and_the_first_of_all_the_kernel_s_stand_in():
    text, faults = bound(*(widget.static_html() for widget in (SOFT, TILES, SOFT)))
    assert faults == []
    codes = [
        packed_code("soft_lookup/soft_lookup.js"),
        packed_code("tile_stepper/tile_stepper.js"),
        None,
    ]
    assert [payload.get("code") for payload in payloads(text)] == codes
    starts = [script.count("courseFigure=") for script in SCRIPTS.findall(text)[1::2]]
    assert starts == [1, 0, 0]
    assert text.count(page.START) == 3
    names = ["fig-soft-lookup", "fig-tile-stepper", "fig-soft-lookup-2"]
    assert re.findall(r' id="([^"]*)"', text) == names
    assert bound(text) == (text, [])
    # Two strips of a lecture share their claims, and those of two lectures do not.
    strips = map(BreakIt, ("softmax-shares", "equal-lengths", "step-areas"))
    text, _ = bound(*(strip.static_html() for strip in strips))
    assert ["code" in payload for payload in payloads(text)] == [True, False, True]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: [it], "has the format None, and this version"),
        (lambda it: it | {"module": "../<b>.js"}, "has no module '../<b>.js' any more"),
        (None, "is not whole; run its notebook again"),
    ],
    ids=["list", "module", "cut"],
)
def test_an_output_that_cannot_start_says_so_in_its_place_and_above_its_words(change, message):
    output = SOFT.static_html()
    if change:
        changed = json.dumps(change(payload(SOFT))).replace("<", "\\u003c")
        given = output.replace(payload_text(SOFT), changed)
    else:
        given = re.match("<div.*?</div>", output)[0]
    text, faults = bound(given, TILES.static_html())
    broken, whole = text.split("<p>before</p>")
    assert broken.startswith('<div class="cw-host" data-widget="SoftLookup"><p role="alert">')
    assert html.escape(message) in broken
    assert html.escape(SOFT.describe()) in broken
    assert "<script" not in broken
    assert "<b>" not in broken
    [fault] = faults
    assert "SoftLookup" in fault
    assert message in fault
    assert re.sub(r' id="fig-[\w-]*"', "", whole) == TILES.static_html()
