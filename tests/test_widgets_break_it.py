"""BreakIt's Python side: a page carries the claims of its own lecture alone."""

import json
import re

import pytest

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it import CLAIMS
from course_lib.widgets.modules import module_source
from course_lib.widgets.page import with_current_code

HEAVIEST = 60_000


@pytest.mark.parametrize("name", {about.lecture: name for name, about in CLAIMS.items()}.values())
def test_a_strip_carries_the_claims_of_its_lecture_and_no_others(name: str):
    strip = BreakIt(name)
    for other, about in CLAIMS.items():
        carried = re.search(
            rf'^(?:"{other}"|{other}): (?:\{{|\w+\()', str(strip._esm), re.MULTILINE
        )
        assert bool(carried) == (about.lecture == CLAIMS[name].lecture)
    assert len(strip.static_html().encode()) < HEAVIEST
    assert CLAIMS[name].says in strip.describe()


def payloads(body: str) -> list[dict]:
    return [json.loads(text) for text in re.findall(r'application/json">([^<]*)<', body)]


def test_two_strips_of_a_lecture_share_their_code_and_those_of_two_lectures_do_not():
    shown = [BreakIt(name) for name in ("softmax-shares", "equal-lengths", "step-areas")]
    body = with_current_code("".join(strip.static_html() for strip in shown), pytest.fail)
    assert ["code" in payload for payload in payloads(body)] == [True, False, True]


def test_all_claims_together_are_those_of_python():
    text = module_source("break_it.js")
    assert [
        name for name in CLAIMS if not re.search(rf'^"?{name}"?: (?:\{{|\w+\()', text, re.M)
    ] == []
