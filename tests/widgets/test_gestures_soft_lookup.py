import pytest
from agreement import agrees_with_course_lib, has
from clock import plays, rests, turn
from gestures import Finger, Mouse, centre, press, spot
from playwright.sync_api import Locator
from reading import state_of
from small_widgets import make
from widget_page import Alone

WINDOW = 3.5  # the width of the visible plane
BOXED = "() => getComputedStyle(document.activeElement).outlineStyle !== 'none'"


def is_at(widget: Locator, expected: list[float]) -> None:
    has(widget, query=pytest.approx(expected, abs=0.02))


def test_a_click_brings_the_query_and_a_drag_out_of_the_plane_stops_within_it(alone: Alone):
    widget = alone(make("SoftLookup"))
    page, plane = widget.page, widget.locator(".cw-plane")
    page.mouse.click(*spot(plane, 0.75, 0.6))
    is_at(widget, [0.25 * WINDOW, -0.1 * WINDOW])
    for handle, away, edge in (("query", 800, [1.5, 1.5]), ("key Ben", -800, [-1.5, -1.5])):
        grip = widget.get_by_role("button", name=handle)
        x, y = centre(grip.locator("circle").first)
        Mouse(page).drag((x, y), (x + away, y - away))
        state = state_of(widget)
        place = state["query"] if handle == "query" else state["key_points"][1]
        assert place.tolist() == pytest.approx(edge)
        agrees_with_course_lib(widget)
        # It is entirely visible.
        box = plane.bounding_box()
        for part in (grip.locator(":is(circle, path)").last, grip.locator("text")):
            own = part.bounding_box()
            for side, size in (("x", "width"), ("y", "height")):
                assert box[side] <= own[side]
                assert own[side] + own[size] <= box[side] + box[size]
    # A focus ring is for the keyboard only.
    assert not page.evaluate(BOXED)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(BOXED)


def test_a_finger_drags_a_handle_all_the_way_and_the_page_stays_where_it_is(alone: Alone):
    below = '<div style="height: 400vh"></div>'
    widget = alone(make("SoftLookup"), width=390, height=844, touch=True, below=below)
    x, y = centre(widget.locator(".cw-query path"))
    (across, up), scrolled = state_of(widget)["query"].tolist(), "() => scrollY"
    before = widget.page.evaluate(scrolled)
    # A handle touched off its centre does not jump to the finger.
    Finger(widget.page).drag((x + 9, y + 7), (x + 9, y - 83))
    moved = 90 / widget.locator(".cw-plane").bounding_box()["width"] * WINDOW
    is_at(widget, [across, up + moved])
    assert widget.page.evaluate(scrolled) == before


def test_at_first_sight_the_query_wanders_once_and_comes_back_unless_a_hand_takes_it(alone: Alone):
    widget = alone(make("SoftLookup", moving=True), clock=True)
    start = make("SoftLookup").query.tolist()

    def wanders() -> None:
        turn(widget, 1)
        assert plays(widget)
        assert abs(state_of(widget)["query"].numpy() - start).max() > 0.1

    wanders()
    for _ in range(15):
        if plays(widget):
            turn(widget, 2)
    assert not plays(widget)
    is_at(widget, start)
    assert rests(widget)
    for end in ("a key", "the plane"):
        press(widget, "Play")
        wanders()
        if end == "a key":
            widget.get_by_role("button", name="query").press("ArrowUp")
        else:
            widget.page.mouse.click(*spot(widget.locator(".cw-plane"), 0.9, 0.9))
        held = state_of(widget)["query"].tolist()
        turn(widget, 0.5)
        assert not plays(widget)
        is_at(widget, held)
    is_at(widget, [0.4 * WINDOW, -0.4 * WINDOW])
