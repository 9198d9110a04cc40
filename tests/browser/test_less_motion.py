"""Readers who asked for less motion: no figure moves by itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bare import bare_page
from clock import rests
from hands import widgets
from kinds import WIDGETS
from playwright.sync_api import Page
from small_widgets import make

from course_lib import widgets as course_widgets

pytestmark = pytest.mark.usefixtures("plain_calls")

MOVING = [kind for kind in WIDGETS if "moving" in getattr(course_widgets, kind).class_traits()]


def test_what_begins_by_itself_stands_still_for_readers_who_asked_for_less_motion(
    open_page: Callable[..., Page], tmp_path: Path
):
    path = bare_page(tmp_path, *(make(kind, moving=True) for kind in MOVING))
    # All are in sight at once.
    page = open_page(path, clock=True, reduced_motion=True, height=20_000)
    assert len(widgets(page)) == len(MOVING) > 10
    assert rests(page)
