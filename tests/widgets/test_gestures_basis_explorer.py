from typing import Any

import pytest
from agreement import agrees_with_course_lib
from clock import CLOCK, hurry, plays, rests, turn
from gestures import Finger, Mouse, centre, press, spot
from judges.basis_explorer import READ
from judges.scraped import number_in
from playwright.sync_api import Locator
from reading import state_of
from small_widgets import basis_field
from widget_page import Shown, open_folds, shows

from course_lib.models.rods import load_rod_field
from course_lib.widgets import BasisExplorer


def explorer(*, trained: bool = False, **given: object) -> BasisExplorer:
    field = load_rod_field() if trained else basis_field()
    return BasisExplorer(*field, **{"moving": False} | given)


shown = shows(explorer)


def node(widget: Locator, i: int) -> Locator:
    return widget.get_by_role("button", name=f"node {i} at")


def panel(widget: Locator, label: str) -> Locator:
    return widget.get_by_role("group", name=label)


def told(widget: Locator, name: str) -> Any:
    return widget.evaluate(READ)[name]


def test_a_node_stays_between_its_neighbours_and_an_end_at_its_end(shown: Shown):
    widget = shown()
    mouse = Mouse(widget.page)
    for i, (dx, dy), place in ((3, (2000, 20), (0.59, None)), (1, (200, -2000), (0, 1.5))):
        x, y = centre(node(widget, i))
        mouse.drag((x, y), (x + dx, y + dy))
        agrees_with_course_lib(widget)
        for found, wanted in zip(state_of(widget)["points"][i - 1].tolist(), place, strict=True):
            assert wanted is None or found == pytest.approx(wanted, abs=1e-3)
    # A press beside the nodes moves the query.
    widget.page.mouse.click(*spot(panel(widget, "Nodes with their values"), 0.9))
    agrees_with_course_lib(widget)
    assert state_of(widget)["query"] > 0.85


def test_a_swing_passes_what_is_too_cold_and_too_hot_and_a_hand_holds_it(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    for said in ("✗Too cold", "✓About right", "✗Too hot", "✓About right"):
        hurry(widget, 3)
        verdict = widget.locator(".cw-verdict")
        assert verdict.text_content().startswith(said)
        assert verdict.get_attribute("data-outcome") == ("good" if "✓" in said else "bad")
    hurry(widget, 0.3)
    assert told(widget, "warmth") == 0.014
    assert rests(widget)
    for role, name in (("slider", "Temperature"), ("button", "node 2 at")):
        press(widget, "Swing")
        turn(widget, 1)
        assert told(widget, "warmth") < 0.01
        widget.get_by_role(role, name=name).press("ArrowUp")
        assert rests(widget)
        assert not plays(widget)
        agrees_with_course_lib(widget)


def test_when_a_rod_is_first_seen_a_flame_warms_it_and_a_hand_puts_it_out(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    first = BasisExplorer(*basis_field()).load
    widget.get_by_role("radio", name="a rod").check()
    turn(widget, 2)
    assert told(widget, "flame") > 0
    assert told(widget, "warmth") == 0.014  # the swing is over
    agrees_with_course_lib(widget)
    open_folds(widget)
    widget.get_by_role("button", name="Conductivity").press("ArrowUp")
    assert rests(widget)
    assert told(widget, "flame") == 0
    agrees_with_course_lib(widget)
    assert (state_of(widget)["load"].numpy() == first).all()


def test_after_the_flame_a_plug_leads_the_trained_field_astray(shown: Shown):
    widget = shown(mode="rod", trained=True, page=CLOCK)
    assert rests(widget)
    press(widget, "Flame, plug")
    for seconds, way, said, named in (
        (2, 0.5, "✓It keeps up", "flame"),
        (2.6, 1.15, "✗It is led astray", "plug"),
    ):
        hurry(widget, seconds)
        assert told(widget, "flame") == pytest.approx(way, abs=0.03)
        assert widget.locator(".cw-verdict").text_content().startswith(said)
        assert widget.locator(".cw-b-guest").all_text_contents() == [named]
        agrees_with_course_lib(widget)
    hurry(widget, 4)
    assert rests(widget)
    assert widget.locator(".cw-b-guest").count() == 0


def test_a_mouse_draws_anywhere_on_a_curve_and_the_trained_field_follows(shown: Shown):
    widget, first = shown(mode="rod", trained=True), BasisExplorer(*basis_field())
    for name, trait in (("Conductivity", "log_conductivity"), ("Heat", "load")):
        before = told(widget, "lines")["learned"]
        x, y = spot(panel(widget, name), 0.7)
        Mouse(widget.page).drag((x, y), (x + 40, y - 30))
        agrees_with_course_lib(widget)
        assert told(widget, "lines")["learned"] != before
        drawn = state_of(widget)[trait].numpy()
        assert abs(drawn - getattr(first, trait)).max() > 0.5
    errors = [number_in(text) for text in told(widget, "error")]
    lines = widget.locator("[data-reading=error] > span").all_inner_texts()
    assert ["✓" in line for line in lines] == [error == min(errors) for error in errors]


def test_a_finger_pulls_the_ring_and_elsewhere_scrolls_the_page(shown: Shown):
    widget = shown(mode="rod", page={"width": 390, "height": 844, "touch": True})
    before = state_of(widget)["log_conductivity"]
    finger = Finger(widget.page)
    x, y = spot(panel(widget, "Conductivity"), 0.8)
    finger.drag((x, y), (x - 10, y - 30))
    assert (state_of(widget)["log_conductivity"] == before).all()
    ring = widget.get_by_role("button", name="Conductivity")
    ring.press("ArrowRight")  # moves along the curve and then off it
    assert (state_of(widget)["log_conductivity"] == before).all()
    x, y = centre(ring)
    finger.drag((x, y), (x, y - 30))
    agrees_with_course_lib(widget)
    assert (state_of(widget)["log_conductivity"] != before).any()


def test_without_heat_there_is_no_share_to_be_off_by(shown: Shown):
    widget = shown(mode="rod", load=[0.0] * 125)
    assert told(widget, "error") == ["no share of 0"] * 3
