import base64
import html
import json
import re
import zlib

import numpy as np
import pytest

from course_lib.widgets import SoftLookup, TileStepper, page
from course_lib.widgets.page import packed_code

# Widgets are made with lists, as a lecture makes them, not with what their signatures say exactly.
pytestmark = pytest.mark.usefixtures("plain_calls")

SCRIPTS = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)


def soft_lookup(**changes):
    return SoftLookup(["Ada", "Ben"], [[0.0, 0.5], [1.0, -1.0]], [1.0, 2.0], **changes)


def tile_stepper():
    return TileStepper(*np.random.default_rng(0).normal(size=(3, 8, 4)))


def bound(*outputs):
    """The page of these outputs, and what was complained about."""
    faults = []
    return page.with_current_code("<p>before</p>".join(outputs), faults.append), faults


def payloads(text):
    return [json.loads(script) for script in SCRIPTS.findall(text)[::2]]


def without_names(text):
    return re.sub(r' id="fig-[\w-]*"', "", text)


def unpacked(payload):
    return zlib.decompress(base64.b64decode(payload["code"])).decode().split("\0")


def with_payload(output, change):
    """An output whose payload was changed by hand."""
    [payload] = payloads(output)
    old = SCRIPTS.search(output)[1]
    return output.replace(old, json.dumps(change(payload)).replace("<", "\\u003c"))


def test_the_first_figure_of_a_kind_carries_the_code_and_the_first_of_all_the_kernel_s_stand_in():
    text, faults = bound(
        soft_lookup().static_html(), tile_stepper().static_html(), soft_lookup().static_html()
    )
    assert faults == []
    first, other, second = payloads(text)
    codes = [packed_code("soft_lookup.js"), packed_code("tile_stepper.js")]
    assert [first["code"], other["code"]] == codes
    assert "code" not in second
    starts = [script.count("courseFigure=") for script in SCRIPTS.findall(text)[1::2]]
    assert starts == [1, 0, 0]
    assert text.count(page.START) == 3
    assert re.findall(r'data-widget="(\w+)" id="([^"]*)"', text) == [
        ("SoftLookup", "fig-soft-lookup"),
        ("TileStepper", "fig-tile-stepper"),
        ("SoftLookup", "fig-soft-lookup-2"),
    ]
    assert bound(text) == (text, [])
    bare = '<div class="cw"><script>1 < 2</script></div>'
    assert bound(bare) == (bare, [])


def test_an_output_gets_the_code_of_today_and_keeps_its_state_and_its_words(monkeypatch):
    output = soft_lookup(query=[0.25, -0.5]).static_html()
    old = with_payload(output, lambda payload: payload | {"code": "b2xk"})
    text, faults = bound(old.replace("courseFigure=", "courseFigure=yesterday=>"))
    assert (without_names(text), faults) == (output, [])
    packed_code.cache_clear()
    with monkeypatch.context() as today:
        today.setattr(page, "module_source", lambda name: f"'{name} of today'")
        text, _ = bound(output)
    packed_code.cache_clear()
    assert unpacked(payloads(text)[0])[1] == '"soft_lookup.js of today"'
    assert '"js/host.js of today"' in text


def test_others_licences_travel_and_our_comments_do_not():
    _, module = unpacked(payloads(soft_lookup().static_html())[0])
    assert module.count("Copyright 2017 Google LLC | BSD-3-Clause */") == 2
    assert module.count("/*") == module.count("/*! lit-html")


def test_a_module_that_does_not_parse_is_named_and_every_page_says_so(monkeypatch):
    output = soft_lookup().static_html()
    packed_code.cache_clear()
    with monkeypatch.context() as today:
        broken = {"js/host.js": "1"} | {"soft_lookup.js": "export default {"}
        today.setattr(page, "module_source", broken.get)
        with pytest.raises(ValueError, match=r"soft_lookup\.js does not parse: .*line 1"):
            soft_lookup().static_html()
        text, faults = bound(output)
    assert 'role="alert"' in text
    assert "soft_lookup.js does not parse" in faults[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: {n: it[n] for n in it if n != "format"}, "has the format 1, and this version"),
        (lambda it: [it], "has the format None"),
        (lambda it: it | {"module": "../widgets/soft_lookup.js"}, "has no module '../widgets/"),
        (lambda it: it | {"module": "<b>.js"}, "has no module '<b>.js' any more"),
    ],
    ids=["old", "list", "elsewhere", "markup"],
)
def test_an_output_that_cannot_start_says_so_in_its_place_and_above_its_words(change, message):
    widget = soft_lookup()
    text, faults = bound(with_payload(widget.static_html(), change), tile_stepper().static_html())
    broken, whole = text.split("<p>before</p>")
    assert broken.startswith('<div class="cw-host" data-widget="SoftLookup"><p role="alert">')
    assert html.escape(message) in broken
    assert html.escape(widget.describe()) in broken
    assert "<script" not in broken
    assert "<b>" not in broken
    [fault] = faults
    assert "SoftLookup" in fault
    assert message in fault
    assert without_names(whole) == tile_stepper().static_html()


def test_an_output_that_is_not_whole_says_so():
    output = soft_lookup().static_html()
    for kept in ("<div.*?</div>", r"<div.*?</div><script[^>]*>\{"):
        cut = re.match(kept, output)[0] + "</script><script></script>" * ("{" in kept)
        text, faults = bound(cut)
        assert 'role="alert"' in text
        assert "is not whole; run its notebook again" in faults[0]
