import re

import numpy as np
import pytest
from agreement import agrees_with_course_lib
from clock import CLOCK, observed, plays, rests, turn
from gestures import Finger, Mouse, centre, press
from judges.symplecticity_meter import READ, pairs
from playwright.sync_api import Locator, expect
from reading import eventually, state_of
from widget_page import Shown, shows

WINDOW = [[-0.6, -1.0], [-0.3, -1.2], [0.9, -0.35]]
MATRIX = [[-0.87, -1.08], [-1.08, 1.9]]
STEPS = "(el, count) => { for (let i = 0; i < count; i += 1) el.click(); }"


shown = shows("SymplecticityMeter", z=WINDOW, A=MATRIX)


def steps(widget: Locator, count: int) -> None:
    """Press the button ``count`` times, and wait for the picture."""
    widget.get_by_role("button", name="Step").evaluate(STEPS, count)
    observed(widget.page)


def told(widget: Locator, name: str) -> float:
    """A number of the picture: ``travelled`` along the loop, or the ``time``."""
    return float(widget.evaluate(READ)[name])


def judged(widget: Locator, outcome: str, title: str = "") -> None:
    found = widget.evaluate(READ)
    assert found["outcome"] == outcome
    assert re.match(title, found["title"])
    agrees_with_course_lib(widget)


def test_on_opening_the_token_goes_round_by_itself_and_gains_on_every_round(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    turn(widget, 1)
    press(widget, "Pause")
    assert rests(widget)
    widget.locator(".cw-handle[tabindex]").first.focus()
    widget.page.keyboard.press("Tab")
    assert rests(widget)  # Tab resumes nothing
    press(widget, "Play")
    for seconds, rounds in ((60, (6, 10)), (0.5, (0.01, 1))):
        turn(widget, seconds)
        assert rounds[0] <= float(widget.evaluate(READ)["told"][0]) < rounds[1]
        if seconds == 60:
            assert rests(widget)
            judged(widget, "bad", r"Each round gives \d\.\d+\.$")
            press(widget, "Play")


def test_success_is_announced_when_the_loop_closes_without_work(shown: Shown):
    for given in ({"formula": "full"}, {"softmax": "matrix"}):
        widget = shown(**given, page={"width": 374})
        steps(widget, 10)
        judged(widget, "open", "The first round")
        height = widget.locator(".cw").bounding_box()["height"]
        steps(widget, 30)
        judged(widget, "good", "Closed: no work")
        assert widget.locator(".cw-meter-stage .cw-tick").count() == 1
        assert widget.locator("[data-reading=asymmetry]").text_content() == "0.00"
        assert widget.locator(".cw").bounding_box()["height"] == height


def test_in_the_other_direction_the_token_loses_energy_turns_back_and_runs_away(shown: Shown):
    widget = shown()
    press(widget, "Turn round")
    steps(widget, 25)
    assert told(widget, "travelled") > 0
    judged(widget, "bad", r"Each round takes \d\.\d+\.$")
    taken = widget.evaluate(READ)["title"].split()[-1].removesuffix(".")
    left = widget.locator(".cw-meter-left").text_content()
    assert left.strip().startswith(f"1 round: −{taken}")
    steps(widget, 80)
    assert told(widget, "travelled") < 0
    judged(widget, "bad", rf"Each round the other way gives {taken}\.$")
    Mouse(widget.page).press(widget.get_by_text("both", exact=True))
    eventually(widget, lambda: np.testing.assert_equal(told(widget, "travelled"), 0.0))


def test_the_loop_is_dragged_with_its_token_and_keeps_its_shape(shown: Shown):
    widget = shown()
    before = state_of(widget)["loop"]
    press(widget, "Draw a loop")
    sheet = widget.locator(".cw-meter-sheet")
    widget.page.mouse.click(*centre(sheet))  # a dot is no loop, and the sheet keeps waiting
    observed(widget.page)
    assert state_of(widget)["loop"].equal(before)
    press(widget, "Cancel")
    x, y = centre(widget.locator("[aria-label^='loop of token 3'] circle").first)
    scale = 5.5 / widget.locator(".cw-meter-stage").bounding_box()["width"]
    Mouse(widget.page).drag((x, y), (x - 60, y - 40))
    agrees_with_course_lib(widget)
    step = state_of(widget)["loop"] - before
    np.testing.assert_allclose(step, np.tile([-60 * scale, 40 * scale], (96, 1)), atol=0.02)


def test_reset_takes_the_loop_out_of_the_hand(shown: Shown):
    widget = shown()
    before, mouse = state_of(widget)["loop"], widget.page.mouse
    x, y = centre(widget.locator("[aria-label^='loop of token 3'] circle").first)
    Mouse(widget.page).take((x, y), (x - 30, y))
    widget.get_by_role("button", name="Reset").dispatch_event("click")
    mouse.move(x - 60, y)
    mouse.up()
    assert state_of(widget)["loop"].equal(before)


def test_a_finger_draws_a_loop_in_one_stroke_without_scrolling(shown: Shown):
    page = {"width": 390, "height": 844, "touch": True}
    widget = shown(page=page | {"below": '<div style="height: 300vh"></div>'})
    press(widget, "Draw a loop")
    sheet = widget.locator(".cw-meter-sheet")
    x, y = centre(sheet)
    corners = [(x + dx, y + dy) for dx, dy in ((-80, -80), (80, -80), (80, 80), (-80, 80))]
    scrolled = widget.page.evaluate("() => scrollY")
    Finger(widget.page).stroke(*corners, corners[0])
    expect(sheet).to_have_count(0)
    assert widget.page.evaluate("() => scrollY") == scrolled
    scale = 5.5 / widget.locator(".cw-meter-stage").bounding_box()["width"]
    loop = state_of(widget)["loop"]
    assert loop.mean(dim=0).tolist() == pytest.approx([0, 0], abs=0.1)
    assert loop.abs().max() == pytest.approx(80 * scale, rel=0.1)
    agrees_with_course_lib(widget)


def test_holding_a_token_stops_all_and_release_resumes_them(shown: Shown):
    widget = shown(experiment="free", moving=True, page=CLOCK)
    turn(widget, 0.5)
    assert plays(widget)
    assert told(widget, "time") > 0.5
    x, y = centre(widget.locator("[aria-label^='token 3']"))
    before = pairs(widget.evaluate(READ)["places"])
    Mouse(widget.page).take((x, y), (x + 20, y - 15))
    assert rests(widget)
    assert told(widget, "time") == 0
    places = pairs(widget.evaluate(READ)["places"])
    np.testing.assert_allclose(places[:2], before[:2], atol=1e-5)
    assert not np.allclose(places[2], before[2], atol=0.1)
    widget.page.mouse.up()
    turn(widget, 0.5)
    assert plays(widget)
    assert told(widget, "time") > 0.5


def test_free_tokens_keep_their_energy_if_the_force_has_one(shown: Shown):
    for formula, kind in (("full", "good"), ("shortcut", "bad")):
        widget = shown(experiment="free", formula=formula)
        judged(widget, "open")
        steps(widget, 80)
        judged(widget, kind)


def test_no_force_does_no_work_and_shows_no_nan(shown: Shown):
    for experiment in ("loop", "free"):
        widget = shown(A=np.zeros((2, 2)), experiment=experiment)
        steps(widget, 100)
        judged(widget, "good")
