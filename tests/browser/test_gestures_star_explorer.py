"""StarExplorer by hand: periods found, nights hidden and lit up, a star that pulsates."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bare import bare_page
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, centre, widgets
from kinds.star_explorer import READ
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of
from small_widgets import astromer, watched_stars

from course_lib.widgets import StarExplorer
from course_lib.widgets.watched_stars import WatchedStars

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
PERIOD = """(el) => Number(el.querySelector("[data-period]").dataset.period)"""


@pytest.fixture
def shown(open_page: Callable[..., Page], tmp_path: Path) -> Shown:
    """Opens a page with one StarExplorer, made of what is given, and gives that widget."""

    def shown(page: dict[str, Any] | None = None, **given: Any) -> Locator:
        standard = {"astromer": astromer(), "clock": "turns", "moving": False}
        stars = given.pop("stars", None) or watched_stars()
        widget = StarExplorer(stars, **standard | given)
        found = widgets(open_page(bare_page(tmp_path, widget), **page or {}))[0]
        centre(found.locator("[data-measure=time] svg"))
        return found

    return shown


def press(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name, exact=True).click()
    observed(widget.page)


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
    press(widget, "Find it")
    highest = widget.evaluate(READ)["marks"][-1]
    widget.evaluate("el => el.courseModel.set('period', 3)")
    panel = widget.locator("[data-measure=power]")
    centre(panel.locator("svg"))
    box = panel.locator(".cw-axes rect").bounding_box()
    x = box["x"] + box["width"] * highest / 5 + 2
    widget.page.mouse.click(x, box["y"] + box["height"] / 2)
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
        after = state_of(widget)["period"]
        slid = days / before - days / after
        assert slid * sign == pytest.approx(0.05, rel=0.05)
        agrees_with_course_lib(widget)
    widget.page.keyboard.press("End")
    assert state_of(widget)["period"] == 100
    widget.page.keyboard.press("Home")
    assert state_of(widget)["period"] == pytest.approx(0.2)


def test_the_dial_turns_by_less_than_its_ends_and_a_press_takes_what_stands_there(shown: Shown):
    widget = shown(period=0.7)
    dial = widget.get_by_role("slider", name="Period")
    centre(dial)
    box = dial.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    Mouse(widget.page).drag(middle, (middle[0] - box["width"] / 4, middle[1]))
    assert state_of(widget)["period"] == pytest.approx(0.7 * 1.01, rel=1e-3)
    widget.page.mouse.click(box["x"] + box["width"] / 4, middle[1])
    assert state_of(widget)["period"] == pytest.approx(0.7 * 1.01 * 0.99, rel=1e-3)
    agrees_with_course_lib(widget)


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
        assert state_of(widget)["hidden"] == hidden
        assert state_of(widget)["night"] == 6
        agrees_with_course_lib(widget)


def test_a_drag_hides_a_span_and_the_same_drag_shows_it_again(shown: Shown):
    widget = shown()
    (x0, y), (x1, _) = night_at(widget, 3), night_at(widget, 7)
    y = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()["y"] + 4
    for hidden in ([3, 4, 5, 6, 7], []):
        Mouse(widget.page).drag((x0 - 1, y), (x1 + 1, y))
        assert state_of(widget)["hidden"] == hidden
        agrees_with_course_lib(widget)


def test_two_nights_stay_however_far_a_hand_drags(shown: Shown):
    widget = shown()
    box = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()
    y = box["y"] + 4
    Mouse(widget.page).drag((box["x"] + 1, y), (box["x"] + box["width"] - 1, y))
    assert 14 - len(state_of(widget)["hidden"]) >= 2
    agrees_with_course_lib(widget)


def test_a_finger_hides_a_span_and_scrolls_the_page_up_and_down(shown: Shown):
    widget = shown(page={"width": 390, "height": 600, "touch": True})
    (x0, _), (x1, _) = night_at(widget, 3), night_at(widget, 7)
    y = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()["y"] + 4
    finger = Finger(widget.page)
    finger.drag((x0 - 1, y), (x1 + 1, y))
    observed(widget.page)
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
    assert (state_of(widget)["night"], state_of(widget)["hidden"]) == (4, [4])
    agrees_with_course_lib(widget)
    widget.page.keyboard.press(" ")
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


def test_who_fills_in_is_told_when_nights_are_hidden_and_moves_nothing_on_a_wide_page(shown: Shown):
    widget = shown()
    height = "el => el.getBoundingClientRect().height"
    expect(widget.locator(".cw-s-errors")).to_have_count(0)
    expect(widget.locator("p.cw-s-scores")).to_contain_text("Who fills hidden nights in best?")
    before = widget.evaluate(height)
    press(widget, "Hide a third")
    expect(widget.locator(".cw-s-errors")).to_have_count(1)
    assert widget.evaluate(height) == before
    agrees_with_course_lib(widget)


def test_the_highest_peak_and_its_nearest_aliases_have_names(shown: Shown):
    widget = shown()
    press(widget, "Find it")
    page = widget.evaluate(READ)
    assert len(page["marks"]) == 5
    assert set(page["names"]) == {"highest", "−1", "+1", "−2", "+2"}
    agrees_with_course_lib(widget)


def test_the_highest_peak_is_marked_once_it_was_found_and_stays_so_for_this_star(shown: Shown):
    own = watched_stars().period[0].item()
    widget = shown(period=1.3)
    marks = widget.locator(".cw-s-mark")
    expect(marks).to_have_count(0)
    for period in (own, 1.3):
        widget.evaluate("(el, period) => el.courseModel.set('period', period)", period)
        expect(marks).to_have_count(5)
    press(widget, "Hide a third")
    expect(marks).not_to_have_count(0)
    agrees_with_course_lib(widget)
    widget.get_by_label("Star", exact=True).select_option(label="Polaris")
    expect(marks).to_have_count(0)
    agrees_with_course_lib(widget)
    press(widget, "Find it")
    expect(marks).not_to_have_count(0)
    press(widget, "Reset")
    expect(marks).to_have_count(0)


def test_the_page_says_who_is_nearest_and_that_the_model_has_a_band(shown: Shown):
    widget = shown(hidden=[2, 5, 8], period=0.7)
    errors = widget.evaluate(READ)["errors"]
    assert set(errors) == {"astromer", "line", "waves"}
    assert float(errors["waves"]) < float(errors["line"])
    widget.get_by_text("How to use this figure").click()
    expect(widget.get_by_text("is what its second readout says: 1.96 standard")).to_be_visible()


def test_only_a_clock_of_turns_hears_of_the_period(shown: Shown):
    for clock, hears in (("turns", True), ("days", False)):
        widget = shown(clock=clock, hidden=[2, 5, 8], period=0.7)
        before = widget.evaluate(READ)["time"]["guesses"]["astromer"]
        widget.evaluate("el => el.courseModel.set('period', 0.9)")
        agrees_with_course_lib(widget)
        assert (widget.evaluate(READ)["time"]["guesses"]["astromer"] != before) == hears


def test_without_a_model_the_page_says_so(shown: Shown):
    widget = shown(astromer=None, hidden=[2, 5])
    expect(widget.get_by_text("No ASTROMER is here.")).to_be_visible()
    agrees_with_course_lib(widget)


def test_another_star_comes_with_all_its_nights_and_no_period(shown: Shown):
    widget = shown(period=2.5, night=13, hidden=[13])
    widget.get_by_label("Star", exact=True).select_option(label="Polaris")
    state = state_of(widget)
    assert (state["star"], state["night"], state["hidden"], state["period"]) == (2, -1, [], 0.65)
    agrees_with_course_lib(widget)


def test_nights_are_seen_beside_drawings_that_give_all_lines_butt_ends(shown: Shown):
    widget = shown(hidden=[2])
    widget.page.add_style_tag(content="* { stroke-linecap: butt; }")
    for name in ("cw-s-seen", "cw-s-hidden"):
        ends = widget.locator(f".{name}").evaluate_all(
            "(all) => all.map((el) => getComputedStyle(el).strokeLinecap)"
        )
        assert set(ends) == {"round"}


# What moves --------------------------------------------------------------------------------------


def folded_at(widget: Locator) -> list[float]:
    """At which periods the nights are seen folded, each smaller, until the film has come to one."""
    found = []
    for seconds in (0.1, 0.5, 1, 2, 3):
        turn(widget, seconds)
        found.append(widget.evaluate(PERIOD))
    assert found == sorted(set(found), reverse=True)
    assert found[-1] == pytest.approx(state_of(widget)["period"])
    return found


def test_at_first_sight_the_season_is_folded_up_and_nobody_is_told_the_period(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    first, *_, last = folded_at(widget)
    assert first > 1
    assert last == 0.65
    agrees_with_course_lib(widget)


def test_what_is_found_is_come_to_from_the_period_in_hand(shown: Shown):
    widget = shown(moving=True, period=1.3, page={"clock": True})
    turn(widget, 7)  # the season is folded up first
    press(widget, "Find it")
    first, *_, last = folded_at(widget)
    assert first < 1.3
    assert last == pytest.approx(watched_stars().period[0].item(), rel=0.01)


def test_a_star_that_is_chosen_has_yet_to_be_found(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    press(widget, "Find it")
    widget.get_by_label("Star", exact=True).select_option(label="Algol")
    assert folded_at(widget)[-1] == 0.65


def test_a_period_is_called_found_or_an_alias_or_nothing(shown: Shown):
    own = watched_stars().period[0].item()
    for period, verdict in ((own, "Found"), (0.31, "Turn until")):
        expect(shown(period=period).locator(".cw-s-told strong")).to_contain_text(verdict)


def test_an_alias_is_called_so_once_the_reader_has_asked(shown: Shown):
    own = watched_stars().period[0].item()
    alias = own / (1 + own)
    widget = shown(period=alias)
    told = widget.locator(".cw-s-told strong")
    expect(told).not_to_contain_text("alias")
    press(widget, "Find it")
    expect(told).to_contain_text("Found")
    widget.evaluate("(el, period) => el.courseModel.set('period', period)", alias)
    expect(told).to_contain_text("An alias")


def test_a_star_shines_brighter_and_fainter_until_it_is_paused(shown: Shown):
    widget = shown(page={"clock": True})
    assert rests(widget)
    radius = widget.evaluate(READ)["radius"]
    press(widget, "▶ Play")
    lights = lights_of(widget)
    assert len(set(lights)) > 5
    assert 0.25 - 1e-9 <= min(lights) < max(lights) <= 1 + 1e-9
    assert widget.evaluate(READ)["radius"] == radius
    press(widget, "❚❚ Pause")
    assert rests(widget)
    agrees_with_course_lib(widget)
    assert widget.evaluate(READ)["turn"] > 0


def lights_of(widget: Locator) -> list[float]:
    """How bright its disc is at moments of a turn."""
    found = []
    for _ in range(8):
        turn(widget, 0.3)
        found.append(float(widget.locator(".cw-s-disc").get_attribute("fill-opacity")))
    return found


def test_of_a_binary_there_is_a_point_and_its_period_may_be_half_the_orbit(shown: Shown):
    own = watched_stars().period[1].item()
    widget = shown(star=1, period=own)
    assert widget.evaluate(READ)["radius"] == 3
    expect(widget.get_by_text("two stars, seen as one point")).to_be_visible()
    told = widget.locator(".cw-s-told strong")
    expect(told).to_contain_text("Found: the orbit’s period, or half of it.")
    agrees_with_course_lib(widget)
    expect(shown(star=0).get_by_text("two stars, seen as one point")).to_have_count(0)


def test_what_repeats_with_the_turns_has_a_band_over_the_whole_turn(shown: Shown):
    repeats = astromer(frequency=(1.0, 2.0, 3.0))
    for model, drawn in ((repeats, True), (astromer(), False)):
        widget = shown(astromer=model, hidden=[2, 5, 8], period=0.7)
        assert bool(widget.evaluate(READ)["doubt"]) == drawn
        agrees_with_course_lib(widget)
        press(widget, "Show all")
        assert widget.evaluate(READ)["doubt"] == ""
        agrees_with_course_lib(widget)
    widget = shown(astromer=repeats, clock="days", hidden=[2, 5, 8], period=0.7)
    assert widget.evaluate(READ)["doubt"] == ""
    agrees_with_course_lib(widget)


def test_a_band_of_the_model_follows_the_period_in_hand(shown: Shown):
    widget = shown(astromer=astromer(frequency=(1.0, 2.0)), hidden=[2, 5, 8], period=0.7)
    before = widget.evaluate(READ)["doubt"]
    widget.evaluate("el => el.courseModel.set('period', 0.9)")
    agrees_with_course_lib(widget)
    assert widget.evaluate(READ)["doubt"] != before


def test_without_a_prior_there_is_no_band(shown: Shown):
    few = watched_stars()
    page = shown(stars=WatchedStars(few.name, few.curves, few.period), hidden=[2, 5])
    assert page.evaluate(READ)["band"] == ""
    agrees_with_course_lib(page)


def test_for_readers_who_asked_for_less_motion_it_stands_still_until_they_play(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True, "clock": True})
    assert rests(widget)
    assert widget.evaluate(PERIOD) == state_of(widget)["period"]
    press(widget, "▶ Play")
    assert len(set(lights_of(widget))) > 1


def test_what_a_reader_hears_names_the_star_its_period_and_the_errors(shown: Shown):
    widget = shown(hidden=[2, 5], period=0.7)
    heard = widget.locator(".cw-announcer")
    expect(heard).to_contain_text("Mira, folded at 0.700000 d: three waves explain")
    expect(heard).to_contain_text(re.compile(r"2 nights hidden. Errors in magnitudes: ASTROMER \d"))


def test_who_listens_is_told_the_highest_peak_no_sooner_than_who_asks(shown: Shown):
    widget = shown(period=1.3)
    heard = widget.locator(".cw-announcer")
    expect(heard).to_contain_text("folded at 1.30000 d")
    expect(heard).not_to_contain_text("highest peak")
    press(widget, "Find it")
    expect(heard).to_contain_text("The highest peak of the periodogram is a period of")


# Notes what a reader hears from now on.
NOTE_HEARD = """(el) => {
  const region = el.querySelector(".cw-announcer");
  el.courseHeard = [];
  new MutationObserver(() => el.courseHeard.push(region.textContent))
    .observe(region, { childList: true });
}"""


def test_what_a_reader_does_is_told_while_the_star_shines_and_no_frame_of_its_film(shown: Shown):
    widget = shown(period=0.7, page={"clock": True})
    press(widget, "▶ Play")
    turn(widget, 1)
    widget.evaluate(NOTE_HEARD)
    turn(widget, 2)
    assert widget.evaluate("el => el.courseHeard") == []
    press(widget, "Hide a third")
    turn(widget, 1)
    widget.get_by_label("Star", exact=True).select_option(label="Polaris")
    turn(widget, 1)
    first, second = widget.evaluate("el => el.courseHeard")
    assert "5 nights hidden" in first
    assert "Polaris, folded at" in second
    assert widget.get_by_role("button", name="❚❚ Pause").is_visible()


def test_what_is_found_is_told_when_the_film_has_come_to_it(shown: Shown):
    widget = shown(moving=True, period=1.3, page={"clock": True})
    press(widget, "Find it")
    heard = widget.locator(".cw-announcer")
    turn(widget, 5)
    assert "its nights are being folded" in heard.inner_text()
    turn(widget, 2)
    assert "The highest peak of the periodogram is" in heard.inner_text()
    assert widget.get_by_role("button", name="❚❚ Pause").is_visible()
