import re

import pytest

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it import CLAIMS
from course_lib.widgets.modules import module_source

LECTURES = list({about.lecture: name for name, about in CLAIMS.items()}.items())


def carries(text: str, name: str) -> bool:
    return bool(re.search(rf'^(?:"{name}"|{name}): (?:\{{|\w+\()', text, re.MULTILINE))


@pytest.mark.parametrize(("lecture", "name"), LECTURES[::4])
def test_a_strip_has_the_claims_of_its_lecture_and_no_others(lecture: str, name: str):
    strip = BreakIt(name)
    for other, about in CLAIMS.items():
        assert carries(module_source("break_it.js"), other)
        assert carries(str(strip._esm), other) == (about.lecture == lecture), (name, other)
    assert CLAIMS[name].says in strip.describe()
