"""What PositionExplorer does with the hand: positions are moved and shifted, clocks chosen."""

from collections.abc import Callable

import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import Point, centre, label_of
from kinds.position_explorer import make, sides_of
from playwright.sync_api import Locator
from reading import state_of

from course_lib.widgets import PositionExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with the example, or with another PositionExplorer, and gives it."""

    return lambda explorer=None, **options: alone(explorer or make(), **options)


def places(widget: Locator) -> tuple[int, int, int]:
    state = state_of(widget)
    return state["query_position"], state["key_position"], state["pair"]


def inside(widget: Locator, layer: str, across: float, down: float) -> Point:
    """A point of one of the three matrices, in shares of its width and height."""
    canvas = widget.locator(f"canvas[data-layer={layer}]")
    centre(canvas)
    box = canvas.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def choose(widget: Locator, kind: str) -> None:
    label_of(widget.locator(f"input[type=radio][value={kind}]")).click()


def test_a_click_among_the_scores_takes_the_two_positions(shown: Callable[..., Locator]):
    widget = shown()
    widget.page.mouse.click(*inside(widget, "scores", 7.5 / 24, 18.5 / 24))
    assert places(widget) == (18, 7, 1)
    agrees_with_course_lib(widget)


def test_a_click_in_a_table_takes_its_position_and_its_pair(shown: Callable[..., Locator]):
    widget = shown()
    widget.page.mouse.click(*inside(widget, "queries", 5.5 / 6, 3.5 / 24))
    assert places(widget) == (3, 12, 2)
    widget.page.mouse.click(*inside(widget, "keys", 20.5 / 24, 0.5 / 6))
    assert places(widget) == (3, 20, 0)
    agrees_with_course_lib(widget)


def test_a_drag_of_the_square_stays_among_the_positions(shown: Callable[..., Locator]):
    widget = shown()
    mouse = widget.page.mouse
    mouse.move(*inside(widget, "scores", 12.5 / 24, 16.5 / 24))
    mouse.down()
    mouse.move(*inside(widget, "scores", 1.5, 1.5), steps=5)
    mouse.up()
    assert places(widget) == (23, 23, 1)
    agrees_with_course_lib(widget)


def test_a_click_on_a_clock_chooses_its_pair(shown: Callable[..., Locator]):
    widget = shown(PositionExplorer(tokens=6, d_model=22))
    clock = widget.locator(".cw-pos-clocks [role=slider] > g").nth(9)
    widget.page.mouse.click(*centre(clock))
    assert places(widget)[2] == 9
    agrees_with_course_lib(widget)


def test_the_arrow_keys_walk_from_clock_to_clock(shown: Callable[..., Locator]):
    widget = shown()
    clocks = widget.locator(".cw-pos-clocks [role=slider]")
    for key, pair in (("ArrowRight", 2), ("ArrowRight", 2), ("Home", 0), ("End", 2)):
        clocks.press(key)
        assert places(widget)[2] == pair
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "rotary", "learned"])
def test_shifting_both_positions_changes_the_score_of_a_learned_table_alone(
    shown: Callable[..., Locator], kind: str
):
    widget = shown()
    choose(widget, kind)
    shift = widget.get_by_role("slider", name="Shift both")
    corner = widget.locator("[data-reading=score]")
    found = set()
    for start in range(19):
        shift.fill(str(start))
        assert places(widget)[:2] == (start + 4, start)
        agrees_with_course_lib(widget)
        found.add(corner.text_content())
    queries, keys = sides_of(state_of(widget))
    expected = {f"{score:.2f}" for score in (queries @ keys.mT).diagonal(-4)[:19].tolist()}
    assert len(found) == len(expected)
    assert (len(found) == 1) == (kind != "learned")


def test_the_shift_ends_where_the_later_position_does(shown: Callable[..., Locator]):
    widget = shown()
    shift = widget.get_by_role("slider", name="Shift both")
    shift.press("End")
    assert places(widget)[:2] == (23, 19)
    widget.get_by_role("slider", name="Key at t").press("Home")
    agrees_with_course_lib(widget)
    shift.press("ArrowRight")
    assert places(widget)[:2] == (23, 0)
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("size", [(2, 2), (48, 32)], ids=["smallest", "largest"])
@pytest.mark.parametrize("width", [390, 1920])
def test_the_smallest_and_the_largest_fit_the_window(
    shown: Callable[..., Locator], size: tuple[int, int], width: int
):
    tokens, d_model = size
    widget = shown(PositionExplorer(tokens=tokens, d_model=d_model), width=width)
    assert widget.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    agrees_with_course_lib(widget)


def test_it_rests_while_nobody_touches_it(shown: Callable[..., Locator]):
    widget = shown(init=COUNT_FRAMES)
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
