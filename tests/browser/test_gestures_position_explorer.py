"""What PositionExplorer does with the hand: positions are moved and shifted, clocks chosen."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import Point, centre, label_of, open_folds
from kinds.position_explorer import make, sides_of
from playwright.sync_api import Locator, expect
from reading import NOTE_STATES, STATES, state_of

from course_lib.position import sinusoidal
from course_lib.widgets import PositionExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")
# As they are to be seen, in pixels.
SIZES_OF_TYPE = """(texts) => texts.map((text) => {
  const { width } = text.ownerSVGElement.getBoundingClientRect();
  const scale = width / text.ownerSVGElement.viewBox.baseVal.width;
  return scale * parseFloat(getComputedStyle(text).fontSize);
})"""


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


def test_one_place_holds_one_word(shown: Callable[..., Locator]):
    widget = shown(opened(query_position=12, key_position=12, kind="learned"))
    agrees_with_course_lib(widget)
    assert widget.locator(".cw-pos-word").count() == 0
    told = widget.locator(".cw-pos-sentence")
    assert "One place holds one word" in told.text_content()
    assert told.get_attribute("aria-label").startswith("One place holds one word")
    expect(widget.get_by_role("button", name="Swap the first")).to_have_count(0)
    turn = widget.locator("[data-reading=turn]").text_content()
    assert turn == "It is the same place: the hand does not turn."
    widget.get_by_role("slider", name="Query at s").press("ArrowRight")
    agrees_with_course_lib(widget)
    assert widget.locator(".cw-pos-word").count() == 3


def test_on_a_telephone_the_square_can_be_held_and_its_clocks_be_read(
    shown: Callable[..., Locator],
):
    widget = shown(opened(), width=390)
    handle = widget.locator(".cw-pos-product [role=button]").bounding_box()
    assert min(handle["width"], handle["height"]) >= 24
    sizes = widget.locator(".cw-pos-clocks text").evaluate_all(SIZES_OF_TYPE)
    assert min(sizes) >= 10


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
    widget = shown(clock=True)
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    assert rests(widget)


def test_on_a_telephone_the_scores_have_room_against_their_difference(
    shown: Callable[..., Locator],
):
    chart = shown(trained(moving=False), width=390).locator(".cw-pos-chart")
    dots = chart.locator("[data-layer=every]").bounding_box()
    assert 95 < dots["height"] < 140
    sizes = chart.locator("text").evaluate_all(
        "(all) => all.map((e) => e.getScreenCTM().a * parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 10


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
    assert moved.text_content() == f"Was {before}, is {after}."
    assert before != after


@pytest.mark.parametrize(
    ("kind", "different"), [("none", 1), ("sinusoidal", 2), ("learned", 3), ("rotary", 4)]
)
def test_six_orders_have_as_many_scores_as_the_way_of_telling_order_can_tell(
    shown: Callable[..., Locator], kind: str, different: int
):
    widget = shown(make(), reduced_motion=True)
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


# Where the three words of the sentence are.
BOXES = """(el) => [...el.querySelectorAll(".cw-pos-word rect")].map((e) => {
  const { left, right, top, bottom } = e.getBoundingClientRect();
  return [left, right, top, bottom];
})"""


def cover(one: list[float], other: list[float]) -> bool:
    across = min(one[1], other[1]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[2], other[2])
    return across > 0.5 and down > 0.5


@pytest.mark.parametrize("width", [390, 1280])
def test_on_their_way_words_have_the_score_of_an_order_and_cover_no_other(
    shown: Callable[..., Locator], width: int
):
    widget = shown(make(), width=width, clock=True)
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    score = widget.locator("[data-reading=momentary]")
    # From the first order to the last of them two words go past the third.
    for key in ("ArrowRight", "End"):
        scores = [score.text_content()]
        widget.get_by_role("slider", name="Order of the words").press(key)
        for _ in range(9):
            turn(widget, 0.1)
            scores.append(score.text_content())
            pairs = combinations(widget.evaluate(BOXES), 2)
            assert not any(cover(one, other) for one, other in pairs)
        assert score.get_attribute("data-way") == "1"
        assert set(scores) == {scores[0], scores[-1]}


def test_on_opening_two_words_change_places_and_all_move_on_and_only_the_first_is_noticed(
    shown: Callable[..., Locator],
):
    explorer = PositionExplorer(tokens=20, d_model=4, kind="rotary")
    widget = shown(explorer, clock=True)
    assert pause(widget).is_visible()
    widget.evaluate(NOTE_STATES, ["query_position", "key_position"])
    turn(widget, 12)
    assert pause(widget).count() == 0
    assert widget.evaluate(STATES) == [[1, 2], [9, 10], [9, 8], [1, 0]]
    assert words(widget) == "DOG BITES MAN"
    assert widget.locator("[data-reading=moved]").text_content().endswith(": the same.")
    assert rests(widget)


def pause(widget: Locator) -> Locator:
    return widget.get_by_role("button", name="Pause")


def test_all_six_orders_are_gone_through_until_a_hand_moves_the_words(
    shown: Callable[..., Locator],
):
    widget = shown(PositionExplorer(tokens=8, d_model=4, moving=False), clock=True)
    every = widget.get_by_role("button", name="All six orders")
    widget.evaluate(NOTE_STATES, ["query_position", "key_position"])
    every.click()
    turn(widget, 11)
    assert pause(widget).count() == 0
    assert len({tuple(state) for state in widget.evaluate(STATES)}) == 6
    assert words(widget) == "DOG BITES MAN"
    every.click()
    turn(widget, 1)
    assert pause(widget).is_visible()
    widget.get_by_role("slider", name="Shift both").press("ArrowRight")
    moved = places(widget)
    turn(widget, 3)
    assert pause(widget).count() == 0
    assert places(widget) == moved
    agrees_with_course_lib(widget)


def trained(**given: Any) -> PositionExplorer:
    table = np.random.default_rng(3).normal(size=(12, 6))
    before = [table * k / 4 for k in (1, 2, 3)]
    sizes = {"tokens": 12, "d_model": 6, "learned": table, "before": before}
    return PositionExplorer(kind="learned", everything=True, **sizes, **given)


def test_a_table_is_trained_before_the_readers_eyes_moment_by_moment(
    shown: Callable[..., Locator],
):
    widget = shown(trained(), clock=True)
    assert state_of(widget)["stage"] == 0
    widget.evaluate(NOTE_STATES, ["stage"])
    turn(widget, 9)
    assert pause(widget).count() == 0
    assert widget.evaluate(STATES) == [[1], [2], [3]]
    agrees_with_course_lib(widget)
    assert rests(widget)
    slider = widget.get_by_role("slider", name="Training")
    for key, stage in (("Home", 0), ("ArrowRight", 1), ("End", 3)):
        slider.press(key)
        assert state_of(widget)["stage"] == stage
        agrees_with_course_lib(widget)


def test_a_table_that_has_found_the_row_is_a_success_and_is_seen_from_the_first_moment(
    shown: Callable[..., Locator],
):
    noise = np.random.default_rng(3).normal(size=(24, 6)) / 1000
    row = sinusoidal(24, 6).numpy()
    sizes = {"tokens": 24, "d_model": 6, "learned": row, "before": [noise]}
    widget = shown(PositionExplorer(kind="learned", everything=True, moving=False, **sizes))
    found = widget.locator("[data-reading=found]")
    assert found.text_content().startswith("✓ It has found out.")
    assert found.get_attribute("data-outcome") == "good"
    agrees_with_course_lib(widget)
    widget.get_by_role("slider", name="Training").press("Home")
    agrees_with_course_lib(widget)
    assert found.text_content().startswith("So far it does not know")
    assert found.get_attribute("data-outcome") == "open"


def test_training_is_seen_to_make_the_scores_grow_on_scales_that_stay(
    shown: Callable[..., Locator],
):
    row = sinusoidal(24, 6).numpy()
    sizes = {"tokens": 24, "d_model": 6, "learned": row, "before": [row / 8, row / 2]}
    widget = shown(PositionExplorer(kind="learned", everything=True, moving=False, **sizes))
    slider = widget.get_by_role("slider", name="Training")
    scales, heights = set(), []
    for key in ("Home", "ArrowRight", "End"):
        slider.press(key)
        agrees_with_course_lib(widget)
        scales.add(widget.locator("[data-reading=scale]").text_content())
        heights.append(widget.locator("[data-layer=every]").bounding_box()["height"])
    assert len(scales) == 1
    # A score is a product of two rows.
    assert heights[0] < heights[1] / 2 < heights[2] / 4


def test_nothing_is_decided_before_the_training_ends(shown: Callable[..., Locator]):
    row = sinusoidal(24, 6).numpy()
    sizes = {"tokens": 24, "d_model": 6, "learned": row, "before": [row / 4, row / 2]}
    widget = shown(PositionExplorer(kind="learned", everything=True, moving=False, **sizes))
    found = widget.locator("[data-reading=found]")
    slider = widget.get_by_role("slider", name="Training")
    for key in ("Home", "ArrowRight"):
        slider.press(key)
        expect(found).to_contain_text("So far it knows over half")
        expect(found).to_have_attribute("data-outcome", "open")
        agrees_with_course_lib(widget)
    slider.press("End")
    expect(found).to_contain_text("✓ It has found out")


def test_the_question_stands_above_the_controls_and_a_finger_has_the_whole_line_for_the_training(
    shown: Callable[..., Locator],
):
    widget = shown(trained(moving=False), width=390)
    asked = widget.locator(".cw-pos-found").bounding_box()
    kinds = widget.locator("fieldset.cw-choices").first.bounding_box()
    assert asked["y"] + asked["height"] <= kinds["y"]
    slider = widget.get_by_role("slider", name="Training").bounding_box()
    assert slider["width"] > 120
    button = widget.get_by_role("button", name="Train").bounding_box()
    assert slider["y"] > button["y"] + button["height"] - 1


@pytest.mark.parametrize("width", [390, 688, 1280, 1920])
def test_what_stands_at_the_scores_can_be_read(shown: Callable[..., Locator], width: int):
    widget = shown(trained(moving=False), width=width)
    sizes = widget.locator(".cw-pos-product text").evaluate_all(SIZES_OF_TYPE)
    assert min(sizes) >= 10


def test_a_hand_that_takes_the_training_has_it_to_itself(shown: Callable[..., Locator]):
    widget = shown(trained(moving=False), clock=True)
    widget.get_by_role("button", name="Train").click()
    turn(widget, 1)
    assert pause(widget).is_visible()
    widget.get_by_role("slider", name="Training").press("End")
    turn(widget, 3)
    assert pause(widget).count() == 0
    assert state_of(widget)["stage"] == 3
    agrees_with_course_lib(widget)


def test_readers_who_asked_for_less_motion_go_from_order_to_order(shown: Callable[..., Locator]):
    widget = shown(PositionExplorer(tokens=8, d_model=4), clock=True, reduced_motion=True)
    assert rests(widget)
    assert widget.get_by_role("button", name="All six orders").count() == 0
    for order in ("MAN BITES DOG", "BITES DOG MAN"):
        widget.get_by_role("button", name="Next order").click()
        assert words(widget) == order
        assert rests(widget)


@pytest.mark.parametrize(
    ("given", "width", "most"),
    [
        ({}, 390, 800),
        ({}, 704, 600),
        ({}, 1280, 600),
        ({"everything": True}, 390, 800),
        ({"everything": True}, 772, 600),
    ],
)
def test_the_figure_fits_a_screen_with_three_words_and_with_all_positions(
    alone: Alone, given: dict[str, bool], width: int, most: int
):
    widget = alone(PositionExplorer(moving=False, **given), width=width)
    agrees_with_course_lib(widget)
    assert widget.locator(".cw").bounding_box()["height"] < most


def test_what_is_read_aloud_does_not_tell_where_words_go_before_they_stand_there(
    shown: Callable[..., Locator],
):
    widget = shown(make(), clock=True)
    widget.get_by_role("button", name="Swap the first").click()
    for seconds, told in [
        (0.1, "The words move: the query of BITES at 1 and the key of DOG at 0"),
        (0.6, "The words move: the query of BITES at 0 and the key of DOG at 1"),
        (0.2, "BITES DOG MAN: the query of BITES at 0 and the key of DOG at 1"),
    ]:
        turn(widget, seconds)
        assert widget.locator(".cw-pos-sentence").get_attribute("aria-label").startswith(told)
