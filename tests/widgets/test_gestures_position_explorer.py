import numpy as np
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import Mouse, Point, centre, label_of, press, spot
from playwright.sync_api import Locator
from reading import NOTE_VALUES, VALUES, state_of
from small_widgets import make
from widget_page import Shown, shows

from course_lib.position import sinusoidal
from course_lib.widgets import PositionExplorer


def opened(explorer: PositionExplorer | None = None, **given: object) -> PositionExplorer:
    """The given widget, or one of all positions, with words four positions apart."""
    if explorer:
        return explorer
    table = np.random.default_rng(8).normal(size=(24, 6))
    apart = {"query_position": 16, "key_position": 12, "pair": 1}
    sizes = {"tokens": 24, "d_model": 6, "base": 100, "learned": table, "everything": True}
    return PositionExplorer(**sizes | apart | {"moving": False} | given)


shown = shows(opened)


def places(widget: Locator) -> tuple[int, int, int]:
    state = state_of(widget)
    return state["query_position"], state["key_position"], state["pair"]


def inside(widget: Locator, layer: str, across: float, down: float) -> Point:
    return spot(widget.locator(f"canvas[data-layer={layer}]"), across, down)


def choose(widget: Locator, kind: str) -> None:
    label_of(widget.locator(f"input[type=radio][value={kind}]")).click()


def test_positions_and_pairs_are_taken_in_the_tables_among_the_scores_and_on_the_clocks(
    shown: Shown,
):
    widget = shown()
    mouse = widget.page.mouse
    for layer, across, down, taken in [
        ("scores", 7.5 / 24, 18.5 / 24, (18, 7, 1)),
        ("queries", 5.5 / 6, 3.5 / 24, (3, 7, 2)),
        ("keys", 20.5 / 24, 0.5 / 6, (3, 20, 0)),
    ]:
        mouse.click(*inside(widget, layer, across, down))
        assert places(widget) == taken
        agrees_with_course_lib(widget)
    # A drag of the square stays among the positions.
    start, end = inside(widget, "scores", 20.5 / 24, 3.5 / 24), inside(widget, "scores", 1.5, 1.5)
    Mouse(widget.page).drag(start, end)
    assert places(widget) == (23, 23, 0)
    clocks = widget.locator(".cw-pos-clocks [role=slider]")
    mouse.click(*centre(clocks.locator("> g").nth(1)))
    assert places(widget)[2] == 1
    agrees_with_course_lib(widget)


def test_shifting_both_positions_changes_the_score_of_a_learned_table_alone(shown: Shown):
    widget = shown()
    shift = widget.get_by_role("slider", name="Shift both")
    for kind in ("none", "sinusoidal", "rotary", "learned"):
        choose(widget, kind)
        found = set()
        for start in (0, 7, 19):
            shift.fill(str(start))
            assert places(widget)[:2] == (start + 4, start)
            agrees_with_course_lib(widget)
            found.add(widget.locator("[data-reading=score]").text_content())
        assert len(found) == (3 if kind == "learned" else 1)
    # It ends with the later position.
    widget.get_by_role("slider", name="Key at t").press("Home")
    agrees_with_course_lib(widget)
    shift.press("ArrowRight")
    assert places(widget)[:2] == (23, 0)


def test_the_smallest_and_the_largest_fit_a_telephone(shown: Shown):
    smallest = {"query_position": 1, "key_position": 0, "pair": 0, "learned": None}
    for tokens, d_model in ((2, 2), (48, 32)):
        widget = shown(tokens=tokens, d_model=d_model, **smallest, page={"width": 390})
        assert widget.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        agrees_with_course_lib(widget)


def words(widget: Locator) -> str:
    """The words in their order, after the animation."""
    agrees_with_course_lib(widget)
    label = widget.locator(".cw-pos-sentence").get_attribute("aria-label")
    return label.partition(":")[0]


def test_words_are_swapped_chosen_and_dragged_and_the_page_says_what_that_does_to_the_score(
    shown: Shown,
):
    widget = shown(make("PositionExplorer"), page={"reduced_motion": True})
    choose(widget, "none")
    moved = widget.locator("[data-reading=moved]")
    momentary = widget.locator("[data-reading=momentary]")
    for name, order, place in [
        ("first", "BITES DOG MAN", (0, 1)),
        ("last", "BITES MAN DOG", (0, 2)),
        ("first", "MAN BITES DOG", (1, 2)),
    ]:
        press(widget, f"Swap the {name}")
        assert words(widget) == order
        assert places(widget)[:2] == place
        assert moved.text_content().endswith(": the same.")
    choose(widget, "rotary")
    agrees_with_course_lib(widget)
    before = momentary.text_content()
    press(widget, "Swap the last")
    assert words(widget) == "MAN DOG BITES"
    after = momentary.text_content()
    assert before != after
    assert moved.text_content() == f"Was {before}, is {after}."
    widget.page.mouse.click(*spot(widget.locator(".cw-pos-orders"), 1.5 / 6, 0.4))
    assert words(widget) == "MAN BITES DOG"
    dog, bites = (centre(widget.locator(f"[data-word={word}]")) for word in ("DOG", "BITES"))
    Mouse(widget.page).drag(dog, bites)
    assert words(widget) == "MAN DOG BITES"
    # The sentence moves as a whole and no farther than the positions.
    widget.get_by_role("slider", name="Shift both").press("End")
    assert words(widget) == "MAN DOG BITES"
    assert places(widget)[:2] == (23, 22)


def test_words_move_on_opening_and_through_all_orders_until_a_hand_moves_them(shown: Shown):
    widget = shown(PositionExplorer(tokens=20, d_model=4, kind="rotary"), page=CLOCK)
    assert plays(widget)
    widget.evaluate(NOTE_VALUES, "key_position")
    turn(widget, 12)
    assert not plays(widget)
    assert widget.evaluate(VALUES) == [2, 10, 8, 0]
    assert words(widget) == "DOG BITES MAN"
    assert widget.locator("[data-reading=moved]").text_content().endswith(": the same.")
    assert rests(widget)
    press(widget, "All six orders")
    orders = set()
    for _ in range(12):
        turn(widget, 1)
        orders.add(places(widget)[:2])
    assert not plays(widget)
    assert len(orders) == 6
    press(widget, "All six orders")
    turn(widget, 1)
    widget.get_by_role("slider", name="Shift both").press("ArrowRight")
    moved = places(widget)
    turn(widget, 3)
    assert not plays(widget)
    assert places(widget) == moved


def test_a_table_is_trained_moment_by_moment_and_nothing_is_decided_before_the_end(shown: Shown):
    row = sinusoidal(24, 6).numpy()
    sizes = {"tokens": 24, "d_model": 6, "learned": row, "before": [row / 8, row / 2]}
    widget = shown(PositionExplorer(kind="learned", everything=True, **sizes), page=CLOCK)
    has(widget, stage=0)
    widget.evaluate(NOTE_VALUES, "stage")
    turn(widget, 9)
    assert not plays(widget)
    assert widget.evaluate(VALUES) == [1, 2]
    assert rests(widget)
    slider = widget.get_by_role("slider", name="Training")
    found = widget.locator(".cw-verdict")
    for key, outcome in (("Home", "open"), ("ArrowRight", "open"), ("End", "good")):
        slider.press(key)
        agrees_with_course_lib(widget)
        assert found.get_attribute("data-outcome") == outcome
