"""BasisExplorer by hand: nodes moved, rods drawn, the temperature swinging by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import numpy as np
import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import Finger, Mouse, centre, spot
from kinds.basis_explorer import READ
from playwright.sync_api import Locator
from reading import NUMBER, eventually, state_of
from small_widgets import basis_field

from course_lib.rod_field import load_rod_field
from course_lib.widgets import BasisExplorer
from course_lib.widgets.basis_explorer import read_off

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one BasisExplorer, still unless told otherwise, and gives that widget."""

    def shown(
        page: dict[str, Any] | None = None, *, trained: bool = False, **given: Any
    ) -> Locator:
        field = load_rod_field() if trained else basis_field()
        return alone(BasisExplorer(*field, **{"moving": False} | given), **page or {})

    return shown


def node(widget: Locator, i: int) -> Locator:
    return widget.get_by_role("button", name=f"node {i} at")


def panel(widget: Locator, label: str) -> Locator:
    return widget.get_by_role("group", name=label)


def warmth(widget: Locator) -> float:
    return widget.evaluate(READ)["warmth"]


def errors(widget: Locator) -> list[float]:
    return [float(NUMBER.match(text)[0]) for text in widget.evaluate(READ)["error"]]


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


def assert_close(found: float, wanted: float) -> None:
    assert float(found) == pytest.approx(wanted, abs=1e-3)


def test_more_even_nodes_bring_hats_nearer_to_the_curve_and_not_a_softmax_that_stays_warm(
    shown: Shown,
):
    widget = shown(temperature=0.02)
    nodes = widget.get_by_role("slider", name="Even nodes")
    before = errors(widget)
    nodes.press("End")
    eventually(widget, lambda: assert_close(len(state_of(widget)["points"]), 16))
    agrees_with_course_lib(widget)
    assert (state_of(widget)["points"].numpy() == read_off_as_sent(16)).all()
    assert errors(widget)[0] < before[0] / 4
    assert errors(widget)[1] > before[1] / 4


def read_off_as_sent(count: int) -> Any:
    return BasisExplorer(*basis_field(), points=read_off(np.linspace(0, 1, count))).points


def test_a_press_beside_the_nodes_moves_the_query(shown: Shown):
    widget = shown()
    widget.page.mouse.click(*spot(panel(widget, "Nodes with their values"), 0.9))
    eventually(widget, lambda: assert_query_beyond(widget, 0.85))
    agrees_with_course_lib(widget)


def assert_query_beyond(widget: Locator, least: float) -> None:
    assert state_of(widget)["query"] > least


def test_the_temperature_swings_at_once_and_a_hand_on_its_slider_holds_it(shown: Shown):
    widget = shown(moving=True)
    eventually(widget, lambda: assert_warmer(widget, 0.04))
    agrees_with_course_lib(widget)
    widget.get_by_role("slider", name="Temperature").press("ArrowRight")
    eventually(widget, lambda: widget.get_by_role("button", name="Swing").wait_for())
    assert_close(warmth(widget) / state_of(widget)["temperature"], 1)
    agrees_with_course_lib(widget)


def assert_warmer(widget: Locator, least: float) -> None:
    assert warmth(widget) > least


def test_a_swing_ends_where_it_began_and_then_rests(shown: Shown):
    widget = shown(moving=True, page={"init": COUNT_FRAMES + FAST})
    eventually(widget, lambda: assert_warmer(widget, 0.03))
    widget.get_by_role("button", name="Swing").wait_for()
    assert warmth(widget) == 0.02
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0


# A clock that runs twenty times as fast.
FAST = """
  const own = performance.now.bind(performance);
  performance.now = () => 20 * own();
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => frame((time) => draw(20 * time));
"""


def test_nothing_swings_for_readers_who_asked_for_less_motion(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True, "init": COUNT_FRAMES})
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert warmth(widget) == 0.02


@pytest.mark.parametrize("name", ["Conductivity", "Heat"])
def test_a_mouse_draws_anywhere_on_a_curve_and_the_trained_field_follows(shown: Shown, name: str):
    widget = shown(mode="rod", trained=True)
    before = widget.evaluate(READ)["lines"]["learned"]
    x, y = spot(panel(widget, name), 0.7)
    Mouse(widget.page).drag((x, y), (x + 40, y - 30))
    agrees_with_course_lib(widget)
    assert widget.evaluate(READ)["lines"]["learned"] != before
    [trait, other] = ["log_conductivity", "load"][:: 1 if name == "Conductivity" else -1]
    first = BasisExplorer(*basis_field())
    state = state_of(widget)
    assert abs(state[trait].numpy() - getattr(first, trait)).max() > 0.5
    assert (state[other].numpy() == getattr(first, other)).all()


def test_a_finger_pulls_the_ring_and_elsewhere_scrolls_the_page(shown: Shown):
    widget = shown(mode="rod", page={"width": 390, "height": 844, "touch": True})
    before = state_of(widget)["log_conductivity"]
    finger = Finger(widget.page)
    x, y = spot(panel(widget, "Conductivity"), 0.8)
    finger.drag((x, y), (x - 10, y - 30))
    assert (state_of(widget)["log_conductivity"] == before).all()
    x, y = centre(widget.get_by_role("button", name="Conductivity"))
    finger.drag((x, y), (x, y - 30))
    eventually(widget, lambda: assert_changed(widget, before))
    agrees_with_course_lib(widget)


def assert_changed(widget: Locator, before: Any) -> None:
    assert (state_of(widget)["log_conductivity"] != before).any()


def test_a_trained_field_is_nearer_than_one_that_nobody_trained(shown: Shown):
    widget = shown(mode="rod", trained=True)
    for _ in range(4):
        widget.get_by_role("button", name="Another rod").click()
        agrees_with_course_lib(widget)
        assert errors(widget)[2] < 30
    assert min(errors(shown(mode="rod"))[2:]) > 60


def test_constant_stuff_under_constant_heat_is_a_parabola(shown: Shown):
    widget = shown(mode="rod")
    for name in ("Constant k", "Constant heat"):
        widget.get_by_role("button", name=name).click()
    agrees_with_course_lib(widget)
    line = widget.evaluate(READ)["lines"]["wanted"]
    top, foot = min(y for _, y in line), line[0][1]
    left, right = line[0][0], line[-1][0]
    for x, y in line:
        share = (x - left) / (right - left)
        assert (foot - y) / (foot - top) == pytest.approx(4 * share * (1 - share), abs=0.01)


def test_without_heat_there_is_no_share_to_be_off_by(shown: Shown):
    widget = shown(mode="rod", load=[0.0] * 125)
    assert widget.evaluate(READ)["error"] == ["no share of 0"] * 3


def test_each_head_has_weights_of_its_own_and_they_leave_the_answer_alone(shown: Shown):
    widget = shown(mode="rod", trained=True)
    before = widget.evaluate(READ)
    Mouse(widget.page).choose(widget.get_by_role("radio", name="2", exact=True))
    eventually(widget, lambda: assert_head(widget, 1))
    agrees_with_course_lib(widget)
    after = widget.evaluate(READ)
    assert after["lines"] == before["lines"]
    assert after["most"][:2] == before["most"][:2]
    assert after["most"][2] != before["most"][2]


def assert_head(widget: Locator, head: int) -> None:
    assert state_of(widget)["head"] == head


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("mode", ["nodes", "rod"])
def test_axe_finds_nothing_in_either_mode(shown: Shown, mode: str, theme: str):
    page = shown(mode=mode).page
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run('.cw')).violations.map((v) => v.id)")
    assert found == []
