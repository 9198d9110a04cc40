"""BasisExplorer by hand: nodes moved, rods drawn, the temperature swinging by itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bare import Alone
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, centre, open_folds, spot
from kinds.basis_explorer import READ
from playwright.sync_api import Locator
from reading import NUMBER, eventually, state_of
from small_widgets import basis_field

from course_lib.rod_field import load_rod_field
from course_lib.widgets import BasisExplorer
from course_lib.widgets.basis_explorer import read_off

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one BasisExplorer, still unless told otherwise, and gives that widget."""

    def shown(
        page: dict[str, Any] | None = None, *, trained: bool = False, **given: Any
    ) -> Locator:
        field = load_rod_field() if trained else basis_field()
        widget = alone(BasisExplorer(*field, **{"moving": False} | given), **page or {})
        if given.get("mode") == "rod":
            open_folds(widget)
        return widget

    return shown


def node(widget: Locator, i: int) -> Locator:
    return widget.get_by_role("button", name=f"node {i} at")


def panel(widget: Locator, label: str) -> Locator:
    return widget.get_by_role("group", name=label)


def warmth(widget: Locator) -> float:
    return widget.evaluate(READ)["warmth"]


def errors(widget: Locator) -> list[float]:
    return [float(NUMBER.match(text)[0]) for text in widget.evaluate(READ)["error"]]


def hurry(widget: Locator, seconds: float) -> None:
    """Let time pass in the longest frames that a widget takes for one."""
    for _ in range(round(10 * seconds)):
        widget.page.clock.fast_forward(100)
    observed(widget.page)


def test_a_node_stays_between_its_neighbours_and_an_end_at_its_end(shown: Shown):
    widget = shown()
    mouse = Mouse(widget.page)
    x, y = centre(node(widget, 3))
    mouse.drag((x, y), (x + 2000, y + 20))
    eventually(widget, lambda: assert_close(state_of(widget)["points"][2, 0], 0.59))
    agrees_with_course_lib(widget)
    x, y = centre(node(widget, 1))
    mouse.drag((x, y), (x + 200, y - 2000))
    eventually(widget, lambda: assert_close(state_of(widget)["points"][0, 1], 1.5))
    assert state_of(widget)["points"][0, 0] == 0
    agrees_with_course_lib(widget)
    # A press beside the nodes moves the query.
    widget.page.mouse.click(*spot(panel(widget, "Nodes with their values"), 0.9))
    agrees_with_course_lib(widget)
    assert state_of(widget)["query"] > 0.85


def assert_close(found: float, wanted: float) -> None:
    assert float(found) == pytest.approx(wanted, abs=1e-3)


def test_the_question_is_answered_as_the_gaps_are(shown: Shown):
    for nodes, temperature, told in (
        (4, 0.0152, "✓ Beats the hats"),
        (6, 0.0152, "✓ About right"),
        (6, 0.001, "✗ Too cold"),
        (6, 0.05, "✗ Too hot"),
    ):
        widget = shown(points=read_off(np.linspace(0, 1, nodes)), temperature=temperature)
        agrees_with_course_lib(widget)
        answer = widget.locator(".cw-b-asks [data-outcome]")
        assert answer.get_attribute("data-outcome") == ("good" if told.startswith("✓") else "bad")
        assert answer.inner_text().startswith(told)


def test_a_swing_passes_what_is_too_cold_and_too_hot_and_a_hand_holds_it(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    for told in ("✗ Too cold", "✓ About right", "✗ Too hot", "✓ About right"):
        hurry(widget, 3)
        assert widget.locator(".cw-b-asks b").inner_text() == told
    swing = widget.get_by_role("button", name="Swing")
    hurry(widget, 0.3)
    assert warmth(widget) == 0.014
    assert rests(widget)
    for touch in ("Temperature", "Number of nodes", "node"):
        swing.click()
        turn(widget, 1)
        assert not swing.is_visible()
        assert warmth(widget) < 0.01
        agrees_with_course_lib(widget)
        if touch == "node":
            node(widget, 2).press("ArrowUp")
        else:
            widget.get_by_role("slider", name=touch).press("ArrowRight")
        assert rests(widget)
        assert swing.is_visible()
        agrees_with_course_lib(widget)


def flame(widget: Locator) -> float:
    return widget.evaluate(READ)["flame"]


def test_when_a_rod_is_first_seen_a_flame_warms_it_and_a_hand_puts_it_out(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    first = BasisExplorer(*basis_field()).load
    widget.get_by_role("radio", name="a rod").check()
    turn(widget, 2)
    assert flame(widget) > 0
    assert warmth(widget) == 0.014  # the swing is over
    agrees_with_course_lib(widget)
    open_folds(widget)
    widget.get_by_role("button", name="Conductivity").press("ArrowUp")
    assert rests(widget)
    assert flame(widget) == 0
    agrees_with_course_lib(widget)
    assert (state_of(widget)["load"].numpy() == first).all()
    for name in ("nodes and values", "a rod"):
        widget.get_by_role("radio", name=name).check()
        turn(widget, 0.1)
    assert flame(widget) == 0
    widget.get_by_role("button", name="Reset").click()
    assert state_of(widget)["mode"] == "nodes"


def test_after_the_flame_a_plug_leads_the_trained_field_astray(shown: Shown):
    widget = shown(mode="rod", trained=True, page={"clock": True})
    assert rests(widget)
    widget.get_by_role("button", name="Flame, plug").click()
    for seconds, way, told, named in (
        (2, 0.5, "✓ It keeps up", "flame"),
        (2.6, 1.15, "✗ It is led astray", "plug"),
    ):
        hurry(widget, seconds)
        assert flame(widget) == pytest.approx(way, abs=0.03)
        assert widget.locator(".cw-b-keeps").inner_text().startswith(told)
        assert widget.locator(".cw-b-guest").all_text_contents() == [named]
        agrees_with_course_lib(widget)
    hurry(widget, 4)
    assert rests(widget)
    assert widget.locator(".cw-b-guest").count() == 0


def test_a_mouse_draws_anywhere_on_a_curve_and_the_trained_field_follows(shown: Shown):
    widget, first = shown(mode="rod", trained=True), BasisExplorer(*basis_field())
    for name, trait in (("Conductivity", "log_conductivity"), ("Heat", "load")):
        before, state = widget.evaluate(READ)["lines"]["learned"], state_of(widget)
        x, y = spot(panel(widget, name), 0.7)
        Mouse(widget.page).drag((x, y), (x + 40, y - 30))
        agrees_with_course_lib(widget)
        assert widget.evaluate(READ)["lines"]["learned"] != before
        after = state_of(widget)
        assert {n for n in state if str(state[n]) != str(after[n])} == {trait}
        assert abs(after[trait].numpy() - getattr(first, trait)).max() > 0.5
    told = errors(widget)
    lines = widget.locator("[data-reading=error] > span").all_inner_texts()
    assert ["✓" in line for line in lines] == [error == min(told) for error in told]


def test_a_finger_pulls_the_ring_and_elsewhere_scrolls_the_page(shown: Shown):
    widget = shown(mode="rod", page={"width": 390, "height": 844, "touch": True})
    before = state_of(widget)["log_conductivity"]
    finger = Finger(widget.page)
    x, y = spot(panel(widget, "Conductivity"), 0.8)
    finger.drag((x, y), (x - 10, y - 30))
    assert (state_of(widget)["log_conductivity"] == before).all()
    ring = widget.get_by_role("button", name="Conductivity")
    ring.press("ArrowRight")  # goes along the curve and leaves it
    assert (state_of(widget)["log_conductivity"] == before).all()
    x, y = centre(ring)
    finger.drag((x, y), (x, y - 30))
    eventually(widget, lambda: assert_changed(widget, before))
    agrees_with_course_lib(widget)


def assert_changed(widget: Locator, before: Any) -> None:
    assert (state_of(widget)["log_conductivity"] != before).any()


def test_without_heat_there_is_no_share_to_be_off_by(shown: Shown):
    widget = shown(mode="rod", load=[0.0] * 125)
    assert widget.evaluate(READ)["error"] == ["no share of 0"] * 3
