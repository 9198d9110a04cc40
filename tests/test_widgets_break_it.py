"""BreakIt's Python side: a page carries the claims of its own lecture alone."""

import json
import re

import pytest

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it import CLAIMS
from course_lib.widgets.modules import module_source
from course_lib.widgets.page import with_current_code


def carries(text: str, name: str) -> bool:
    return bool(re.search(rf'^(?:"{name}"|{name}): (?:\{{|\w+\()', text, re.MULTILINE))


def test_a_strip_carries_the_claims_of_its_lecture_and_no_others():
    assert all(carries(module_source("break_it.js"), name) for name in CLAIMS)
    for lecture, name in list({about.lecture: name for name, about in CLAIMS.items()}.items())[::4]:
        strip = BreakIt(name)
        for other, about in CLAIMS.items():
            assert carries(str(strip._esm), other) == (about.lecture == lecture), (name, other)
        assert CLAIMS[name].says in strip.describe()


def payloads(body: str) -> list[dict]:
    return [json.loads(text) for text in re.findall(r'application/json">([^<]*)<', body)]


def test_two_strips_of_a_lecture_share_their_code_and_those_of_two_lectures_do_not():
    shown = [BreakIt(name) for name in ("softmax-shares", "equal-lengths", "step-areas")]
    body = with_current_code("".join(strip.static_html() for strip in shown), pytest.fail)
    assert ["code" in payload for payload in payloads(body)] == [True, False, True]
