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


def test_the_first_figure_of_a_kind_carries_the_code_and_the_others_do_not():
    text, faults = bound(
        soft_lookup().static_html(), tile_stepper().static_html(), soft_lookup().static_html()
    )
    assert faults == []
    first, other, second = payloads(text)
    assert [first["code"], other["code"]] == [
        packed_code("soft_lookup.js"),
        packed_code("tile_stepper.js"),
    ]
    assert "code" not in second
    assert text.count("<p>before</p>") == 2


def test_the_stand_in_of_the_kernel_stands_once_in_a_page():
    text, _ = bound(*[soft_lookup().static_html()] * 2, tile_stepper().static_html())
    starts = [script.count("courseFigure=") for script in SCRIPTS.findall(text)[1::2]]
    assert starts == [1, 0, 0]
    assert text.count(page.START) == 3


def test_an_output_gets_the_code_of_today_and_keeps_its_state_and_its_words():
    output = soft_lookup(query=[0.25, -0.5]).static_html()
    old = with_payload(output, lambda payload: payload | {"code": "b2xk"})
    old = old.replace("courseFigure=", "courseFigure=yesterday=>")
    text, faults = bound(old)
    assert (without_names(text), faults) == (output, [])


def test_code_that_has_changed_since_the_output_is_what_the_page_gets(monkeypatch):
    output = soft_lookup().static_html()
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


def test_each_figure_of_a_page_has_a_name_and_others_of_its_kind_are_counted():
    text, _ = bound(*[soft_lookup().static_html(), tile_stepper().static_html()] * 2)
    assert re.findall(r'data-widget="(\w+)" id="([^"]*)"', text) == [
        ("SoftLookup", "fig-soft-lookup"),
        ("TileStepper", "fig-tile-stepper"),
        ("SoftLookup", "fig-soft-lookup-2"),
        ("TileStepper", "fig-tile-stepper-2"),
    ]


def test_a_page_that_is_bound_twice_stays_as_it_is():
    text, _ = bound(soft_lookup().static_html(), soft_lookup().static_html())
    assert bound(text) == (text, [])


def test_a_page_without_figures_stays_as_it_is():
    text = '<div class="cw"><script>1 < 2</script></div>'
    assert bound(text) == (text, [])


def less(payload, *names):
    return {name: value for name, value in payload.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda it: less(it, "format"), f"has the format 1, and this version reads {page.FORMAT}"),
        (lambda it: it | {"format": 99}, "has the format 99, and this version reads"),
        (lambda it: it | {"module": "gone.js"}, "has no module 'gone.js' any more"),
        (lambda it: it | {"module": "../widgets/soft_lookup.js"}, "has no module '../widgets/"),
        (lambda it: it | {"module": "<b>.js"}, "has no module '<b>.js' any more"),
        (lambda it: less(it, "module"), "has no module None any more"),
        (lambda it: [it], "has the format None"),
    ],
    ids=["old", "newer", "gone", "elsewhere", "markup", "nameless", "list"],
)
def test_an_output_that_cannot_start_says_so_in_its_place_and_above_its_words(change, message):
    widget = soft_lookup()
    text, faults = bound(with_payload(widget.static_html(), change), tile_stepper().static_html())
    broken, whole = text.split("<p>before</p>")
    assert broken.startswith('<div class="cw-host" data-widget="SoftLookup"><p role="alert">')
    assert f"This figure could not start: {faults[0].partition(': ')[2]}" in html.unescape(broken)
    assert html.escape(message) in broken
    assert html.escape(widget.describe()) in broken
    assert "<script" not in broken
    assert "<b>" not in broken
    assert len(faults) == 1
    assert "SoftLookup" in faults[0]
    assert message in faults[0]
    assert without_names(whole) == tile_stepper().static_html()


@pytest.mark.parametrize("kept", ["<div.*?</div>", r"<div.*?</div><script[^>]*>\{"])
def test_an_output_that_is_not_whole_says_so(kept):
    output = soft_lookup().static_html()
    text, faults = bound(re.match(kept, output)[0] + "</script><script></script>" * ("{" in kept))
    assert 'role="alert"' in text
    assert "is not whole; run its notebook again" in faults[0]
