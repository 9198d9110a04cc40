"""BreakIt under a hand: it plays by itself, and a bend ends the run with a counterexample."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bare import Alone, bare_page
from broken_claims import residual
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import widgets
from looks import SPILLED
from playwright.sync_api import Locator, Page, expect

from course_lib.widgets import BreakIt
from course_lib.widgets.break_it import CLAIMS

DONE = "The smallest found"


def cases(strip: Locator) -> int:
    return int(strip.locator("output[aria-live]").inner_text().split()[0].replace(",", ""))


def words(strip: Locator) -> Locator:
    return strip.locator(".cw-break-words")


def bend(strip: Locator, *, switch: bool) -> None:
    control = strip.locator("[data-trait=bend]")
    if switch:
        control.press("Space")
    else:
        control.press("End")


def assert_broken(strip: Locator, name: str) -> None:
    expect(words(strip)).to_contain_text(DONE)
    case = json.loads(strip.locator("[data-case]").get_attribute("data-case"))
    assert residual(name, case, 1) > CLAIMS[name].tolerance
    agrees_with_course_lib(strip)


def test_cases_come_by_themselves_until_a_bend_breaks_the_claim(alone: Alone):
    strip = alone(BreakIt("there-and-back"))
    expect(words(strip)).to_contain_text("1 case")
    expect(strip.get_by_role("button", name="Pause")).to_be_visible()
    bend(strip, switch=True)
    assert_broken(strip, "there-and-back")
    expect(strip.get_by_role("button", name="Try cases")).to_be_visible()
    bend(strip, switch=True)
    expect(words(strip)).to_contain_text("All hold.")


def test_a_pause_stops_the_counter_and_play_goes_on(alone: Alone):
    strip = alone(BreakIt("softmax-shares"), init=COUNT_FRAMES)
    strip.get_by_role("button", name="Pause").click()
    strip.page.evaluate(FRAMES_WHILE_IDLE)
    before = cases(strip)
    assert strip.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert cases(strip) == before
    strip.get_by_role("button", name="Try cases").click()
    expect(strip.locator("output[aria-live]")).not_to_have_text(f"{before} cases")


@pytest.mark.parametrize("name", CLAIMS)
def test_a_reader_who_asked_for_less_motion_gets_the_counterexample_at_once(
    alone: Alone, name: str
):
    strip = alone(BreakIt(name), reduced_motion=True)
    assert cases(strip) == 0
    strip.get_by_role("button", name="Step").click()
    expect(words(strip)).to_contain_text("20 cases")
    expect(words(strip)).to_contain_text("All hold.")
    bend(strip, switch=CLAIMS[name].switch)
    assert_broken(strip, name)


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
        expect(words(strip)).to_contain_text(DONE)
        assert strip.evaluate(SPILLED) == []
        height = strip.locator(".cw").bounding_box()["height"]
        assert width < 390 or height <= (320 if width < 600 else 190)
