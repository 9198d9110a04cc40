"""Gestures on BreakIt: it plays by itself, and a bend ends the run with a counterexample."""

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

from agreement import agrees_with_course_lib
from appearance import SPILLED
from clock import rests, turn
from gestures import press, widgets
from playwright.sync_api import Locator, Page
from reading import eventually, send, state_of
from widget_page import Alone, bare_page

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it.break_it import CLAIMS

PAINTED = """(canvas) => canvas.getContext("2d")
  .getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"""


def cases(strip: Locator) -> int:
    return int(strip.locator("output[aria-live]").inner_text().split()[0].replace(",", ""))


def bend(strip: Locator, *, switch: bool) -> None:
    strip.locator("[data-trait=bend]").press("Space" if switch else "End")


def assert_broken(strip: Locator) -> None:
    eventually(strip, lambda: assert_says(strip, "The simplest found"))
    agrees_with_course_lib(strip)


def assert_says(strip: Locator, text: str) -> None:
    assert re.search(text, " ".join(strip.locator(".cw-break-words").inner_text().split()))


def test_cases_come_by_themselves_until_a_bend_breaks_the_claim(alone: Alone):
    strip = alone(BreakIt("there-and-back"), clock=True)
    turn(strip, 1)
    assert 20 < cases(strip) < 100
    press(strip, "Pause")
    assert rests(strip)
    before = cases(strip)
    press(strip, "Try cases")
    turn(strip, 1)
    assert cases(strip) > before
    bend(strip, switch=True)
    assert_broken(strip)
    assert strip.get_by_role("button", name="Try cases").is_visible()
    bend(strip, switch=True)
    turn(strip, 1)
    assert_says(strip, r"✓ ([\d,]+) of \1 hold")


def test_every_claim_holds_and_with_reduced_motion_breaks_at_once(
    open_page: Callable[..., Page], tmp_path: Path
):
    strips = [BreakIt(name) for name in CLAIMS]
    page = open_page(bare_page(tmp_path, *strips), reduced_motion=True, width=390)
    for strip, about in zip(widgets(page), CLAIMS.values(), strict=True):
        assert cases(strip) == 0
        for _ in range(3):
            press(strip, "Step")
        eventually(strip, partial(assert_says, strip, "✓ 60 of 60 hold"))
        agrees_with_course_lib(strip)
        if about.slider:
            send(strip, bend=0.1)
            press(strip, "Step")
            assert_broken(strip)
        bend(strip, switch=bool(about.switch))
        assert_broken(strip)
        assert strip.evaluate(SPILLED) == []
        assert strip.locator(".cw").bounding_box()["height"] <= 520


def test_shrinking_to_the_smallest_counterexample_is_shown_with_earlier_cases(
    alone: Alone,
):
    strip = alone(BreakIt("order-of-tiles", moving=False))
    pictures = strip.locator(".cw-break-case")
    assert pictures.count() == 1
    press(strip, "Step")
    eventually(strip, lambda: assert_says(strip, "✓ 20 of 20 hold"))
    assert strip.locator("canvas").evaluate(PAINTED)
    bend(strip, switch=True)
    assert_broken(strip)
    looks = pictures.locator("svg").evaluate_all("all => all.map((it) => it.innerHTML)")
    assert all(a != b for a, b in pairwise(looks[1:]))
    told = pictures.locator("> span:first-of-type").all_inner_texts()
    assert told[0].startswith("case ")
    assert set(told[1:-1]) <= {"simpler case"}
    assert told[-1] == "simplest case"
    press(strip, "Step")  # to other cases
    assert state_of(strip)["seed"] == 1
    assert_broken(strip)
