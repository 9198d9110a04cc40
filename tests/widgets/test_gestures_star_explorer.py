import re

import pytest
from agreement import agrees_with_course_lib, has
from clock import CLOCK, observed, rests, turn
from gestures import Mouse, Point, centre, press, spot
from judges.star_explorer import READ, points_of
from playwright.sync_api import Locator, expect
from reading import send, state_of
from small_widgets import astromer, watched_stars
from widget_page import Shown, shows

from course_lib.widgets.star_explorer.watched_stars import WatchedStars

OWN = watched_stars().period.tolist()


shown = shows("StarExplorer", hidden=[], night=-1, period=0.65, folded=True)


def choose(widget: Locator, star: str) -> None:
    widget.get_by_label("Star", exact=True).select_option(label=star)


def dots(widget: Locator, panel: str = "time") -> list[Point]:
    svg = widget.locator(f"[data-measure={panel}] svg")
    centre(svg)
    box, places = svg.bounding_box(), points_of(widget.evaluate(READ)[panel]["seen"])
    return [(box["x"] + x, box["y"] + y) for x, y in places.tolist()]


def test_the_highest_peak_is_marked_with_its_aliases_once_it_was_found_and_a_press_takes_it(
    shown: Shown,
):
    widget = shown(period=3.0)
    marks, told = widget.locator(".cw-s-mark"), widget.locator(".cw-s-told strong")
    heard = widget.locator(".cw-announcer")
    alias = OWN[0] / (1 + OWN[0])
    send(widget, period=alias)
    expect(heard).to_contain_text("folded at")
    expect(told).not_to_contain_text("alias")
    expect(heard).not_to_contain_text("highest peak")
    expect(marks).to_have_count(0)
    press(widget, "Find it")
    has(widget, period=pytest.approx(OWN[0], rel=0.01))
    expect(told).to_contain_text("Found")
    expect(heard).to_contain_text("The highest peak of the periodogram is a period of")
    found = widget.evaluate(READ)
    assert set(found["names"]) == {"highest", "−1", "+1", "−2", "+2"}
    send(widget, period=alias)
    expect(told).to_contain_text("An alias")
    highest = found["marks"][-1]
    axes = widget.locator("[data-measure=power] .cw-axes rect")
    x, y = spot(axes, highest / 5)
    widget.page.mouse.click(x + 2, y)
    assert 1 / state_of(widget)["period"] == pytest.approx(highest, abs=0.011)
    agrees_with_course_lib(widget)
    choose(widget, "Polaris")
    expect(marks).to_have_count(0)


def test_arrow_keys_a_drag_and_a_press_turn_the_dial_a_little(shown: Shown):
    widget = shown(period=0.7)
    dial = widget.get_by_role("slider", name="Period")
    days = float(state_of(widget)["time"][0].max())
    dial.press("ArrowRight")
    # The last night slides a twentieth of a turn.
    slid = days / 0.7 - days / state_of(widget)["period"]
    assert slid == pytest.approx(0.05, rel=0.05)
    send(widget, period=0.7)
    x, y = centre(dial)
    quarter = dial.bounding_box()["width"] / 4
    Mouse(widget.page).drag((x, y), (x - quarter, y))
    has(widget, period=pytest.approx(0.7 * 1.01, rel=1e-3))
    widget.page.mouse.click(x - quarter, y)
    has(widget, period=pytest.approx(0.7 * 1.01 * 0.99, rel=1e-3))


def test_a_night_lights_up_in_both_panels_and_is_hidden_and_shown_by_a_click_or_a_key(shown: Shown):
    widget = shown()
    rings = widget.locator("circle[r='8'][fill=none]")
    spots = {panel: dots(widget, panel)[6] for panel in ("phase", "time")}
    for panel, hidden in (("time", [6]), ("phase", [])):
        widget.page.mouse.move(*spots[panel])
        expect(rings).to_have_count(3)
        expect(widget.locator(".cw-s-told")).to_contain_text("Night 7 of 14")
        widget.page.mouse.click(*spots[panel])
        has(widget, hidden=hidden)
    widget.page.mouse.move(0, 0)
    for key, hidden in (("ArrowRight", []), ("Enter", [7]), (" ", [])):
        widget.locator(".cw-s-night").press(key)
        has(widget, night=7, hidden=hidden)


def test_a_drag_hides_a_span_and_shows_it_again_but_two_nights_stay(shown: Shown):
    widget = shown()
    mouse = Mouse(widget.page)
    (x0, _), (x1, _) = dots(widget)[3:8:4]
    box = widget.locator("[data-measure=time] .cw-axes rect").bounding_box()
    y = box["y"] + 4
    for hidden in ([3, 4, 5, 6, 7], []):
        mouse.drag((x0 - 1, y), (x1 + 1, y))
        has(widget, hidden=hidden)
    mouse.drag((box["x"] + 1, y), (box["x"] + box["width"] - 1, y))
    assert 14 - len(state_of(widget)["hidden"]) >= 2
    agrees_with_course_lib(widget)


def test_each_press_hides_a_new_third_and_names_the_best_method(shown: Shown):
    widget = shown(period=0.7)
    height, seen = widget.bounding_box()["height"], set()
    for _ in range(3):
        press(widget, "Hide a third")
        observed(widget.page)
        seen.add(tuple(state_of(widget)["hidden"]))
        assert len(state_of(widget)["hidden"]) == round(14 / 3)
        agrees_with_course_lib(widget)
    assert len(seen) > 1
    assert widget.bounding_box()["height"] == height
    heard = widget.locator(".cw-announcer")
    expect(heard).to_contain_text("Ada, folded at 0.700000 d: three waves explain")
    expect(heard).to_contain_text(re.compile(r"5 nights hidden. Errors in magnitudes: ASTROMER \d"))
    send(widget, night=13)
    # Another star starts with all its nights and no period.
    choose(widget, "Polaris")
    has(widget, star=2, night=-1, hidden=[], period=0.65)


def test_the_model_uses_the_period_only_with_a_clock_of_turns(shown: Shown):
    repeats = {"astromer": astromer(frequency=(1.0, 2.0, 3.0))}
    for given, hears, band in [
        ({}, True, False),
        ({"clock": "days"}, False, False),
        # Models that are periodic in turns have a band over the whole turn.
        (repeats, True, True),
        (repeats | {"clock": "days"}, False, False),
    ]:
        widget = shown(hidden=[2, 5, 8], period=0.7, **given)
        before = widget.evaluate(READ)
        send(widget, period=0.9)
        agrees_with_course_lib(widget)
        after = widget.evaluate(READ)
        said = [page["time"]["guesses"]["astromer"] for page in (before, after)]
        assert (said[0] != said[1]) == hears
        assert bool(before["doubt"]) == (before["doubt"] != after["doubt"]) == band
    few = watched_stars()
    agrees_with_course_lib(shown(stars=WatchedStars(few.name, few.curves, few.period), hidden=[2]))
    widget = shown(astromer=None, hidden=[2, 5])
    expect(widget.get_by_text("No ASTROMER is here.")).to_be_visible()
    agrees_with_course_lib(widget)


def folded_at(widget: Locator, *moments: float) -> list[float]:
    """The periods at which the nights are drawn folded, decreasing, after more seconds."""
    found = []
    for seconds in moments:
        turn(widget, seconds)
        found.append(widget.evaluate(READ)["period"])
    assert found == sorted(set(found), reverse=True)
    return found


def test_the_season_is_folded_up_at_first_sight_and_when_a_period_is_found(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    # The period is not given away.
    assert folded_at(widget, 0.1, 1, 5)[0] > 1
    assert widget.evaluate(READ)["period"] == state_of(widget)["period"] == 0.65
    send(widget, period=1.3)
    press(widget, "Find it")
    first, *_, last = folded_at(widget, 0.1, 1, 5)
    assert 1 < first < 1.3
    assert last == state_of(widget)["period"] == pytest.approx(OWN[0], rel=0.01)
    turn(widget, 0.5)
    assert "The highest peak of the" in widget.locator(".cw-announcer").inner_text()


def test_a_star_shines_brighter_and_fainter_until_it_is_paused(shown: Shown):
    widget = shown(page=CLOCK)
    press(widget, "▶ Play")
    lights = set()
    for _ in range(8):
        turn(widget, 0.3)
        lights.add(float(widget.locator(".cw-s-disc").get_attribute("fill-opacity")))
    assert len(lights) > 5
    assert 0.25 - 1e-9 <= min(lights) < max(lights) <= 1 + 1e-9
    press(widget, "❚❚ Pause")
    assert rests(widget)
    assert widget.evaluate(READ)["turn"] > 0
