"""BreakIt under a hand: it plays by itself, and a bend ends the run with a counterexample."""

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from bare import Alone, bare_page
from broken_claims import residual
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import widgets
from looks import SPILLED
from playwright.sync_api import Locator, Page
from reading import eventually

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it import CLAIMS

DONE = "The simplest found"
HOLD = re.compile(r"✓ ([\d,]+) of \1 hold")
# How many pixels of a canvas are green, as the dots of cases that hold.
GREEN = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4)
    count += data[i + 1] > data[i] + 40 && data[i + 1] > data[i + 2] + 20;
  return count;
}"""


def cases(strip: Locator) -> int:
    return int(strip.locator("output[aria-live]").inner_text().split()[0].replace(",", ""))


def bend(strip: Locator, *, switch: bool) -> None:
    control = strip.locator("[data-trait=bend]")
    if switch:
        control.press("Space")
    else:
        control.press("End")


def assert_broken(strip: Locator, name: str) -> None:
    eventually(strip, lambda: assert_says(strip, DONE))
    case = json.loads(strip.locator("[data-case]").get_attribute("data-case"))
    assert residual(name, case, 1) > CLAIMS[name].tolerance
    agrees_with_course_lib(strip)


def assert_says(strip: Locator, text: str | re.Pattern[str]) -> None:
    assert re.search(text, " ".join(strip.locator(".cw-break-words").inner_text().split()))


def test_cases_come_by_themselves_until_a_bend_breaks_the_claim(alone: Alone):
    strip = alone(BreakIt("there-and-back"), clock=True)
    turn(strip, 1)
    assert 20 < cases(strip) < 100
    assert strip.get_by_role("button", name="Pause").is_visible()
    bend(strip, switch=True)
    assert_broken(strip, "there-and-back")
    assert strip.get_by_role("button", name="Try cases").is_visible()
    bend(strip, switch=True)
    turn(strip, 1)
    assert_says(strip, HOLD)


def test_a_pause_stops_the_counter_and_play_goes_on(alone: Alone):
    strip = alone(BreakIt("softmax-shares"), clock=True)
    turn(strip, 0.5)
    strip.get_by_role("button", name="Pause").click()
    assert rests(strip)
    before = cases(strip)
    strip.get_by_role("button", name="Try cases").click()
    turn(strip, 1)
    assert cases(strip) > before


@pytest.mark.parametrize("name", CLAIMS)
def test_a_reader_who_asked_for_less_motion_gets_the_counterexample_at_once(
    alone: Alone, name: str
):
    strip = alone(BreakIt(name), reduced_motion=True)
    assert cases(strip) == 0
    strip.get_by_role("button", name="Step").click()
    eventually(strip, lambda: assert_says(strip, "✓ 20 of 20 hold"))
    bend(strip, switch=CLAIMS[name].switch)
    assert_broken(strip, name)


def test_the_way_to_the_smallest_counterexample_is_seen_from_picture_to_picture(alone: Alone):
    strip = alone(BreakIt("order-of-tiles", moving=False))
    pictures = strip.locator(".cw-break-frame")
    assert pictures.count() == 1
    bend(strip, switch=True)
    assert_broken(strip, "order-of-tiles")
    told = pictures.locator("> span:not(.cw-break-off)").all_inner_texts()
    off = pictures.locator(".cw-break-off").all_inner_texts()
    assert all(re.match(r"✗ off [\d.]+", by) for by in off)
    looks = pictures.locator("svg").evaluate_all("all => all.map((it) => it.innerHTML)")
    assert all(a != b for a, b in pairwise(looks[1:]))
    assert told[0].startswith("case ")
    assert set(told[1:-1]) <= {"simpler case"}
    assert told[-1] == "simplest case"


def test_the_cases_before_a_bend_stay_in_sight(alone: Alone):
    strip = alone(BreakIt("order-of-tiles", moving=False))
    strip.get_by_role("button", name="Step").click()

    def dots_in_sight() -> None:
        assert strip.locator("canvas").evaluate(GREEN) > 0

    eventually(strip, dots_in_sight)
    bend(strip, switch=True)
    assert_broken(strip, "order-of-tiles")
    eventually(strip, dots_in_sight)


def test_after_a_counterexample_a_step_tries_other_cases(alone: Alone):
    strip = alone(BreakIt("difference-alone", moving=False))
    bend(strip, switch=False)
    assert_broken(strip, "difference-alone")
    strip.get_by_role("button", name="Step").click()
    assert strip.evaluate("el => el.courseModel.get('seed')") == 1
    assert_broken(strip, "difference-alone")


@pytest.mark.parametrize("width", [200, 390, 1280])
def test_every_strip_stays_low_and_keeps_within_its_frame(
    open_page: Callable[..., Page], tmp_path: Path, width: int
):
    strips = [BreakIt(name, bend=1, moving=False) for name in CLAIMS]
    page = open_page(bare_page(tmp_path, *strips), width=width)
    for strip in widgets(page):
        strip.get_by_role("button", name="Step").click()
        eventually(strip, lambda strip=strip: assert_says(strip, DONE))
        assert strip.evaluate(SPILLED) == []
        height = strip.locator(".cw").bounding_box()["height"]
        assert width < 390 or height <= (400 if width < 600 else 260)


@pytest.mark.parametrize(("claim", "least"), [("softmax-shares", 24), ("adjoint", 150)])
def test_on_a_telephone_what_bends_the_claim_is_large_enough_for_a_finger(
    alone: Alone, claim: str, least: int
):
    strip = alone(BreakIt(claim, moving=False), width=390)
    control = strip.locator(".cw-break-bend")
    assert control.locator("input").bounding_box()["width"] >= least
    assert min(control.bounding_box()["height"], 32) == 32
