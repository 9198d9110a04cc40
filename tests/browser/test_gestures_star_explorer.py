"""StarExplorer by hand: periods found, nights hidden and lit up, a star that pulsates."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bare import bare_page
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE, SOME_FRAMES
from hands import Finger, Mouse, centre, widgets
from kinds.star_explorer import READ
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of
from small_widgets import astromer, watched_stars

from course_lib.widgets import StarExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
PERIODS = """async (el) => {
  const found = [];
  for (let i = 0; i < 20; i += 1) {
    await new Promise(requestAnimationFrame);
    found.push(Number(el.querySelector("[data-period]").dataset.period));
  }
  return found;
}"""
RADII = """async (el) => {
  const found = new Set();
  for (let i = 0; i < 40; i += 1) {
    await new Promise(requestAnimationFrame);
    found.add(el.querySelector(".cw-s-disc").getAttribute("r"));
  }
  return [...found].map(Number);
}"""


@pytest.fixture
def shown(open_page: Callable[..., Page], tmp_path: Path) -> Shown:
    """Opens a page with one StarExplorer, made of what is given, and gives that widget."""

    def shown(page: dict[str, Any] | None = None, **given: Any) -> Locator:
        standard = {"astromer": astromer(), "clock": "turns", "moving": False}
        widget = StarExplorer(watched_stars(), **standard | given)
        found = widgets(open_page(bare_page(tmp_path, widget), **page or {}))[0]
        centre(found.locator("[data-measure=time] svg"))
        return found

    return shown


def press(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name, exact=True).click()
    widget.evaluate(SOME_FRAMES)


def night_at(widget: Locator, night: int, panel: str = "time") -> tuple[float, float]:
    """Where the dot of a night stands in the window."""
    box = widget.locator(f"[data-measure={panel}] svg").bounding_box()
    state, page = state_of(widget), widget.evaluate(READ)
    star = state["star"]
    left, top, width, height = page[panel]["frame"]
    magnitude = state["magnitude"][star][: state["nights"][star]]
    room = 0.06 * (magnitude.max() - magnitude.min())
    bright, faint = magnitude.min() - room, magnitude.max() + room
    time = state["time"][star][: state["nights"][star]]
    share = (time[night] / time[-1] + 0.02) / 1.04
    if panel == "phase":
        share = (time[night] / page["period"] % 1) / 2
    down = (magnitude[night] - bright) / (faint - bright)
    return box["x"] + left + width * float(share), box["y"] + top + height * float(down)


def test_the_highest_peak_is_found_and_is_the_period_of_the_star(shown: Shown):
    widget = shown(period=3.0)
    press(widget, "Find it")
    found = state_of(widget)["period"]
    assert found == pytest.approx(watched_stars().period[0].item(), rel=0.01)
    agrees_with_course_lib(widget)


def test_a_press_in_the_periodogram_takes_the_highest_power_nearby(shown: Shown):
    widget = shown(period=3.0)
    highest = widget.evaluate(READ)["marks"][-1]
    panel = widget.locator("[data-measure=power]")
    centre(panel.locator("svg"))
    box = panel.locator(".cw-axes rect").bounding_box()
    x = box["x"] + box["width"] * highest / 5 + 2
    widget.page.mouse.click(x, box["y"] + box["height"] / 2)
    widget.evaluate(SOME_FRAMES)
    assert 1 / state_of(widget)["period"] == pytest.approx(highest, abs=0.011)
    agrees_with_course_lib(widget)


def test_arrow_keys_move_the_period_by_so_little_that_the_last_night_slides_a_part_of_a_turn(
    shown: Shown,
):
    widget = shown(period=0.7)
    slider = widget.get_by_role("slider", name="Period")
    slider.focus()
    days = float(state_of(widget)["time"][0].max())
    for key, sign in (("ArrowRight", 1), ("ArrowLeft", -1)):
        before = state_of(widget)["period"]
        widget.page.keyboard.press(key)
        widget.evaluate(SOME_FRAMES)
        after = state_of(widget)["period"]
        slid = days / before - days / after
        assert slid * sign == pytest.approx(0.05, rel=0.05)
        agrees_with_course_lib(widget)
    widget.page.keyboard.press("End")
    widget.evaluate(SOME_FRAMES)
    assert state_of(widget)["period"] == 100
    widget.page.keyboard.press("Home")
    widget.evaluate(SOME_FRAMES)
    assert state_of(widget)["period"] == pytest.approx(0.2)


@pytest.mark.parametrize("panel", ["time", "phase"])
def test_a_night_that_is_pointed_at_lights_up_in_both_panels(shown: Shown, panel: str):
    widget = shown()
    rings = widget.locator("circle[r='8'][fill=none]")
    assert rings.count() == 0
    centre(widget.locator(f"[data-measure={panel}] svg"))
    widget.page.mouse.move(*night_at(widget, 6, panel))
    expect(rings).to_have_count(3)
    expect(widget.locator(".cw-s-told")).to_contain_text("Night 7 of 14: day")
    agrees_with_course_lib(widget)
    widget.page.mouse.move(0, 0)
    expect(rings).to_have_count(0)


@pytest.mark.parametrize("panel", ["time", "phase"])
def test_a_click_hides_a_night_and_another_shows_it(shown: Shown, panel: str):
    widget = shown()
    centre(widget.locator(f"[data-measure={panel}] svg"))
    for hidden in ([6], []):
        widget.page.mouse.click(*night_at(widget, 6, panel))
        widget.evaluate(SOME_FRAMES)
        assert state_of(widget)["hidden"] == hidden
        assert state_of(widget)["night"] == 6
        agrees_with_course_lib(widget)


def test_a_drag_hides_a_span_and_the_same_drag_shows_it_again(shown: Shown):
    widget = shown()
    (x0, y), (x1, _) = night_at(widget, 3), night_at(widget, 7)
    y = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()["y"] + 4
    for hidden in ([3, 4, 5, 6, 7], []):
        Mouse(widget.page).drag((x0 - 1, y), (x1 + 1, y))
        widget.evaluate(SOME_FRAMES)
        assert state_of(widget)["hidden"] == hidden
        agrees_with_course_lib(widget)


def test_two_nights_stay_however_far_a_hand_drags(shown: Shown):
    widget = shown()
    box = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()
    y = box["y"] + 4
    Mouse(widget.page).drag((box["x"] + 1, y), (box["x"] + box["width"] - 1, y))
    widget.evaluate(SOME_FRAMES)
    assert 14 - len(state_of(widget)["hidden"]) >= 2
    agrees_with_course_lib(widget)


def test_a_finger_hides_a_span_and_scrolls_the_page_up_and_down(shown: Shown):
    widget = shown(page={"width": 390, "height": 600, "touch": True})
    (x0, _), (x1, _) = night_at(widget, 3), night_at(widget, 7)
    y = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()["y"] + 4
    finger = Finger(widget.page)
    finger.drag((x0 - 1, y), (x1 + 1, y))
    widget.evaluate(SOME_FRAMES)
    assert len(state_of(widget)["hidden"]) >= 4
    agrees_with_course_lib(widget)
    before, scrolled = state_of(widget)["hidden"], "() => scrollY"
    top = widget.page.evaluate(scrolled)
    finger.drag((x1, y + 20), (x1, y - 80))
    eventually(widget, lambda: assert_other(widget.page.evaluate(scrolled), top))
    assert state_of(widget)["hidden"] == before


def assert_other(value: float, before: float) -> None:
    assert value != before


def test_by_keyboard_a_night_is_chosen_hidden_and_shown(shown: Shown):
    widget = shown(night=3)
    widget.locator(".cw-s-night").focus()
    widget.page.keyboard.press("ArrowRight")
    widget.page.keyboard.press("Enter")
    widget.evaluate(SOME_FRAMES)
    assert (state_of(widget)["night"], state_of(widget)["hidden"]) == (4, [4])
    agrees_with_course_lib(widget)
    widget.page.keyboard.press(" ")
    widget.evaluate(SOME_FRAMES)
    assert state_of(widget)["hidden"] == []


def test_a_third_is_hidden_anew_at_each_press_and_all_are_shown_again(shown: Shown):
    widget = shown()
    expect(widget.get_by_role("button", name="Show all")).to_be_disabled()
    seen = []
    for _ in range(3):
        press(widget, "Hide a third")
        seen.append(tuple(state_of(widget)["hidden"]))
        assert len(seen[-1]) == round(14 / 3)
        agrees_with_course_lib(widget)
    assert len(set(seen)) > 1
    press(widget, "Show all")
    assert state_of(widget)["hidden"] == []


def test_the_page_says_who_is_nearest_and_that_the_model_knows_no_doubt(shown: Shown):
    widget = shown(hidden=[2, 5, 8], period=0.7)
    errors = widget.evaluate(READ)["errors"]
    assert set(errors) == {"astromer", "line", "waves"}
    assert float(errors["waves"]) < float(errors["line"])
    widget.get_by_text("How to use this figure").click()
    expect(widget.get_by_text("It says one number a night, and not how sure")).to_be_visible()


def test_only_a_clock_of_turns_hears_of_the_period(shown: Shown):
    for clock, hears in (("turns", True), ("days", False)):
        widget = shown(clock=clock, hidden=[2, 5, 8], period=0.7)
        before = widget.evaluate(READ)["time"]["guesses"]["astromer"]
        widget.evaluate("el => el.courseModel.set('period', 0.9)")
        widget.evaluate(SOME_FRAMES)
        agrees_with_course_lib(widget)
        assert (widget.evaluate(READ)["time"]["guesses"]["astromer"] != before) == hears


def test_without_a_model_the_page_says_so(shown: Shown):
    widget = shown(astromer=None, hidden=[2, 5])
    expect(widget.get_by_text("No ASTROMER is here.")).to_be_visible()
    agrees_with_course_lib(widget)


def test_another_star_comes_with_all_its_nights_and_the_period_stays(shown: Shown):
    widget = shown(period=2.5, night=13, hidden=[13])
    widget.get_by_label("Star", exact=True).select_option(label="Polaris")
    widget.evaluate(SOME_FRAMES)
    state = state_of(widget)
    assert (state["star"], state["night"], state["hidden"], state["period"]) == (2, -1, [], 2.5)
    agrees_with_course_lib(widget)


# What moves --------------------------------------------------------------------------------------


def test_at_first_sight_the_period_comes_from_a_wrong_one_to_its_own(shown: Shown):
    widget = shown(moving=True, period=0.7)
    periods = np.array(widget.evaluate(PERIODS))
    assert periods.max() > 0.7
    assert (np.diff(periods[periods.argmax() :]) <= 0).all()
    assert state_of(widget)["period"] == 0.7
    # A touch ends the guided part.
    press(widget, "Find it")
    found = widget.evaluate(PERIODS)
    assert set(found) == {state_of(widget)["period"]}
    press(widget, "❚❚ Pause")
    agrees_with_course_lib(widget)


def test_a_star_pulsates_until_it_is_paused(shown: Shown):
    widget = shown(page={"init": COUNT_FRAMES})
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    press(widget, "▶ Play")
    radii = widget.evaluate(RADII)
    assert len(radii) > 5
    assert max(radii) <= 34
    press(widget, "❚❚ Pause")
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)
    assert widget.evaluate(READ)["turn"] > 0


def test_for_readers_who_asked_for_less_motion_it_stands_still_until_they_play(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True})
    assert set(widget.evaluate(PERIODS)) == {state_of(widget)["period"]}
    assert len(widget.evaluate(RADII)) == 1
    press(widget, "▶ Play")
    assert len(widget.evaluate(RADII)) > 1


def test_what_a_reader_hears_names_the_star_its_period_and_the_errors(shown: Shown):
    widget = shown(hidden=[2, 5])
    heard = widget.locator(".cw-announcer")
    expect(heard).to_contain_text("Mira, folded at 0.700000 d.")
    expect(heard).to_contain_text(re.compile(r"2 nights hidden. Errors in magnitudes: ASTROMER \d"))
