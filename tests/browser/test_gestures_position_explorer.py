"""What PositionExplorer does with the hand: positions are moved and shifted, clocks chosen."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import Point, centre, label_of, open_folds
from kinds.position_explorer import make, sides_of
from playwright.sync_api import Locator, expect
from reading import eventually, state_of

from course_lib.widgets import PositionExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with the example, or with another PositionExplorer, and gives it."""

    def shown(explorer: PositionExplorer | None = None, **options: Any) -> Locator:
        widget = alone(explorer or opened(), **options)
        open_folds(widget)
        return widget

    return shown


def opened(**given: Any) -> PositionExplorer:
    """One that shows all positions, of words that stand four places apart."""
    table = np.random.default_rng(8).normal(size=(24, 6))
    apart = {"query_position": 16, "key_position": 12, "pair": 1}
    sizes = {"tokens": 24, "d_model": 6, "base": 100, "learned": table, "everything": True}
    return PositionExplorer(**sizes | apart | {"moving": False} | given)


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
    widget = shown(PositionExplorer(tokens=6, d_model=22, everything=True, moving=False))
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


SMALLEST = {"query_position": 1, "key_position": 0, "pair": 0}


@pytest.mark.parametrize("size", [(2, 2), (48, 32)], ids=["smallest", "largest"])
@pytest.mark.parametrize("width", [390, 1920])
def test_the_smallest_and_the_largest_fit_the_window(
    shown: Callable[..., Locator], size: tuple[int, int], width: int
):
    tokens, d_model = size
    widget = shown(opened(tokens=tokens, d_model=d_model, learned=None, **SMALLEST), width=width)
    assert widget.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    agrees_with_course_lib(widget)


def test_it_rests_while_nobody_touches_it(shown: Callable[..., Locator]):
    widget = shown(init=COUNT_FRAMES)
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0


# Three words -------------------------------------------------------------------------------------


def words(widget: Locator) -> str:
    """The words in their order, once they have arrived."""
    agrees_with_course_lib(widget)
    label = widget.locator(".cw-pos-sentence").get_attribute("aria-label")
    return label.partition(":")[0]


def test_neighbours_are_swapped_and_the_page_says_what_that_does_to_the_score(
    shown: Callable[..., Locator],
):
    widget = shown(make())
    assert words(widget) == "DOG BITES MAN"
    choose(widget, "none")
    moved = widget.locator("[data-reading=moved]")
    first, last = (widget.get_by_role("button", name=f"Swap the {n}") for n in ("first", "last"))
    for press, order, place in [
        (first, "BITES DOG MAN", (0, 1)),
        (last, "BITES MAN DOG", (0, 2)),
        (first, "MAN BITES DOG", (1, 2)),
    ]:
        press.click()
        assert words(widget) == order
        assert places(widget)[:2] == place
        assert moved.text_content().endswith(": the same.")
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    before = widget.locator("[data-reading=momentary]").text_content()
    last.click()
    assert words(widget) == "MAN DOG BITES"
    agrees_with_course_lib(widget)
    after = widget.locator("[data-reading=momentary]").text_content()
    assert moved.text_content() == f"The words moved. The score was {before} and is {after}."
    assert before != after


@pytest.mark.parametrize(
    ("kind", "different"), [("none", 1), ("sinusoidal", 2), ("learned", 3), ("rotary", 4)]
)
def test_six_orders_have_as_many_scores_as_the_way_of_telling_order_can_tell(
    shown: Callable[..., Locator], kind: str, different: int
):
    widget = shown(make())
    choose(widget, kind)
    chart = widget.get_by_role("slider", name="Order of the words")
    chart.press("Home")
    found = {}
    for key in [None, *["ArrowRight"] * 5]:
        if key:
            chart.press(key)
        order = words(widget)
        found[order] = widget.locator("[data-reading=momentary]").text_content()
    assert len(found) == 6
    assert len(set(found.values())) == different


def test_a_click_on_an_order_arranges_the_words_and_a_word_can_be_dragged(
    shown: Callable[..., Locator],
):
    widget = shown(make())
    centre(widget.locator(".cw-pos-orders"))
    box = widget.locator(".cw-pos-orders").bounding_box()
    widget.page.mouse.click(box["x"] + box["width"] * 1.5 / 6, box["y"] + 40)
    assert words(widget) == "MAN BITES DOG"
    dog, bites = (centre(widget.locator(f"[data-word={word}]")) for word in ("DOG", "BITES"))
    mouse = widget.page.mouse
    mouse.move(*dog)
    mouse.down()
    mouse.move(*bites, steps=4)
    mouse.up()
    assert words(widget) == "MAN DOG BITES"


def test_the_sentence_moves_as_a_whole_and_no_farther_than_the_positions(
    shown: Callable[..., Locator],
):
    widget = shown(make())
    widget.get_by_role("slider", name="Shift both").press("End")
    assert words(widget) == "DOG BITES MAN"
    assert places(widget)[:2] == (22, 21)
    widget.get_by_role("button", name="Swap the last").click()
    assert words(widget) == "DOG MAN BITES"
    assert places(widget)[:2] == (23, 21)


def test_on_opening_the_words_go_through_their_orders_once_and_then_rest(
    shown: Callable[..., Locator],
):
    widget = shown(PositionExplorer(tokens=8, d_model=4), init=COUNT_FRAMES)
    pause = widget.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    seen = set()

    def back_again() -> None:
        seen.add(places(widget)[:2])
        assert pause.count() == 0

    eventually(widget, back_again, frames=1500)
    assert len(seen) == 6
    assert words(widget) == "DOG BITES MAN"
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    widget.get_by_role("button", name="All six orders").click()
    eventually(widget, lambda: expect(pause).to_be_visible())
    widget.get_by_role("slider", name="Shift both").press("ArrowRight")
    expect(pause).to_have_count(0)
    agrees_with_course_lib(widget)


def test_readers_who_asked_for_less_motion_go_from_order_to_order(shown: Callable[..., Locator]):
    widget = shown(PositionExplorer(tokens=8, d_model=4), init=COUNT_FRAMES, reduced_motion=True)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert widget.get_by_role("button", name="All six orders").count() == 0
    for order in ("MAN BITES DOG", "BITES DOG MAN"):
        widget.get_by_role("button", name="Next order").click()
        assert words(widget) == order
        assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0


@pytest.mark.parametrize(
    ("given", "width", "most"),
    [
        ({}, 390, 1000),
        ({}, 704, 600),
        ({}, 1280, 600),
        ({"everything": True}, 390, 1100),
        ({"everything": True}, 772, 600),
    ],
)
def test_the_figure_fits_a_screen_with_three_words_and_with_all_positions(
    alone: Alone, given: dict[str, bool], width: int, most: int
):
    widget = alone(PositionExplorer(moving=False, **given), width=width)
    agrees_with_course_lib(widget)
    assert widget.locator(".cw").bounding_box()["height"] < most
