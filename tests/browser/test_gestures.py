"""What a single kind of widget does with the hand, and what all do when nobody looks."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
import torch
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, centre
from kinds import WIDGETS
from playwright.sync_api import Locator
from reading import NOTE_VALUES, VALUES, eventually, state_of
from torch import Tensor

from course_lib.widgets import SoftLookup
from course_lib.widgets.traits import Array

pytestmark = pytest.mark.usefixtures("plain_calls")

WINDOW = 3.5  # how much of the plane SoftLookup shows, from side to side


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with one widget of a kind, and gives that widget."""

    return lambda kind, **options: alone(WIDGETS[kind].make(), **options)


def test_a_click_in_the_plane_brings_the_query_there(shown: Callable[..., Locator]):
    widget = shown("SoftLookup")
    plane = widget.locator(".cw-plane")
    centre(plane)
    box = plane.bounding_box()
    widget.page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.6 * box["height"])
    expected = [(0.75 - 0.5) * WINDOW, (0.5 - 0.6) * WINDOW]
    assert state_of(widget)["query"].tolist() == pytest.approx(expected, abs=0.02)
    agrees_with_course_lib(widget)


HEIGHTS_IN_A_ROW = """(el) => {
  const middle = (part) => {
    const text = document.createRange();
    text.selectNodeContents(part);
    const { top, bottom } = text.getBoundingClientRect();
    return (top + bottom) / 2;
  };
  return [...el.querySelectorAll(".cw-choices legend, .cw-choice:first-of-type label")].map(middle);
}"""


@pytest.mark.parametrize("kind", ["SoftLookup", "PartyMemory", "AttentionExplorer"])
def test_what_is_chosen_is_named_on_the_line_of_its_choices(
    shown: Callable[..., Locator], kind: str
):
    rows = shown(kind, width=704).evaluate(HEIGHTS_IN_A_ROW)
    assert len(rows) >= 2
    for name, choice in zip(rows[::2], rows[1::2], strict=True):
        assert name == pytest.approx(choice, abs=1)


@pytest.mark.parametrize("handle", ["query", "key Ben"])
@pytest.mark.parametrize("away", [(800, -800), (-800, 800)])
def test_what_is_dragged_out_of_the_plane_stops_within_it_and_is_seen_whole(
    shown: Callable[..., Locator], handle: str, away: tuple[int, int]
):
    widget = shown("SoftLookup")
    page = widget.page
    grip = widget.get_by_role("button", name=handle)
    x, y = centre(grip.locator("circle").first)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + away[0], y + away[1], steps=4)
    page.mouse.up()
    state = state_of(widget)
    place = state["query"] if handle == "query" else state["key_points"][1]
    assert place.tolist() == pytest.approx(
        [1.5 if part > 0 else -1.5 for part in (away[0], -away[1])]
    )
    agrees_with_course_lib(widget)
    plane = widget.locator(".cw-plane").bounding_box()
    for part in (grip.locator(":is(circle, path)").last, grip.locator("text")):
        box = part.bounding_box()
        for side, size in (("x", "width"), ("y", "height")):
            assert plane[side] <= box[side]
            assert box[side] + box[size] <= plane[side] + plane[size]


BOXED = "() => getComputedStyle(document.activeElement).outlineStyle !== 'none'"


@pytest.mark.parametrize("kind", ["SoftLookup", "BasisExplorer"])
def test_a_box_about_what_has_the_focus_is_for_the_keyboard_alone(
    shown: Callable[..., Locator], kind: str
):
    widget = shown(kind)
    handle = widget.locator(".cw-handle").nth(1)
    x, y = centre(handle.locator("circle").first)
    Mouse(widget.page).drag((x, y), (x + 20, y + 10))
    assert handle.evaluate("el => el === document.activeElement")
    assert not widget.page.evaluate(BOXED)
    widget.page.keyboard.press("ArrowRight")
    assert widget.page.evaluate(BOXED)
    widget = shown(kind, width=390, touch=True)
    handle = widget.locator(".cw-handle").nth(1)
    x, y = centre(handle.locator("circle").first)
    Finger(widget.page).drag((x, y), (x + 20, y + 10))
    assert not widget.page.evaluate(BOXED)


def test_at_a_low_temperature_the_least_relevant_keys_have_no_thread(
    shown: Callable[..., Locator],
):
    widget = shown("SoftLookup")
    widget.evaluate(
        """(el) => {
          el.courseModel.set("similarity", "cosine");
          el.courseModel.set("temperature", 0.02);
        }"""
    )
    agrees_with_course_lib(widget)
    assert widget.locator(".cw-plane line").count() == 1
    # Nor does a line of equal answers run up to a key, where it would look like a thread.
    holes = widget.locator("mask circle").evaluate_all(
        "circles => circles.map((e) => ['cx', 'cy'].map((name) => Number(e.getAttribute(name))))"
    )
    keys = state_of(widget)["key_points"]
    expected = torch.stack([keys[:, 0], -keys[:, 1]], -1) / WINDOW * 320 + 160
    assert torch.allclose(torch.tensor(holes, dtype=torch.float64), expected)


def test_a_finger_drags_a_handle_all_the_way_and_the_page_stays_where_it_is(
    shown: Callable[..., Locator],
):
    below = '<div style="height: 400vh"></div>'
    widget = shown("SoftLookup", width=390, height=844, touch=True, below=below)
    x, y = centre(widget.locator(".cw-query path"))
    before, scrolled = state_of(widget)["query"], widget.page.evaluate("() => scrollY")
    # What a finger takes beside its middle does not jump to the finger.
    Finger(widget.page).drag((x + 9, y + 7), (x + 9, y - 83))
    moved = 90 / widget.locator(".cw-plane").bounding_box()["width"] * WINDOW
    eventually(widget, lambda: assert_up(state_of(widget)["query"] - before, moved))
    assert widget.page.evaluate("() => scrollY") == scrolled
    agrees_with_course_lib(widget)


def wandering(**changes: object) -> SoftLookup:
    return SoftLookup(
        ["Ada", "Ben"], [[-0.9, 0.8], [1.0, 0.4]], [3.0, 40.0], query=[-0.2, 0.1], **changes
    )


def test_at_first_sight_the_query_wanders_once_and_comes_back_to_where_it_stood(alone: Alone):
    widget = alone(wandering(), clock=True)
    start = [-0.2, 0.1]
    turn(widget, 1)
    assert_far(state_of(widget)["query"], start)
    eventually(widget, lambda: assert_offers(widget, "Play"), seconds=30)
    assert state_of(widget)["query"].tolist() == pytest.approx(start)
    agrees_with_course_lib(widget)
    assert rests(widget)
    widget.get_by_role("button", name="Play").click()
    turn(widget, 1)
    assert_far(state_of(widget)["query"], start)


def assert_offers(widget: Locator, name: str) -> None:
    assert widget.get_by_role("button", name=name).is_visible()


def assert_far(query: Tensor, start: list[float]) -> None:
    assert float((query - torch.tensor(start)).norm()) > 0.1


@pytest.mark.parametrize("deed", ["pointer", "a guest", "key", "slider"])
def test_any_touch_ends_the_walk_and_the_query_stays_in_the_hand(alone: Alone, deed: str):
    widget = alone(wandering(), clock=True)
    turn(widget, 0.5)
    assert_offers(widget, "Pause")
    widget.page.keyboard.press("Tab")
    turn(widget, 0.1)
    assert_offers(widget, "Pause")
    if deed == "pointer":
        box = widget.locator(".cw-plane").bounding_box()
        widget.page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"])
        wanted = [0.4 * WINDOW, -0.4 * WINDOW]
    elif deed == "a guest":
        widget.page.mouse.move(
            *centre(widget.get_by_role("button", name="key Ben").locator("circle").first)
        )
        widget.page.mouse.down()
        wanted = state_of(widget)["query"].tolist()
    elif deed == "key":
        widget.get_by_role("button", name="query").press("ArrowUp")
        wanted = state_of(widget)["query"].tolist()
    else:
        widget.get_by_label("Temperature").press("ArrowRight")
        wanted = state_of(widget)["query"].tolist()
    turn(widget, 0.5)
    assert_offers(widget, "Play")
    assert state_of(widget)["query"].tolist() == pytest.approx(wanted, abs=0.02)
    agrees_with_course_lib(widget)


def test_the_query_stands_still_for_readers_who_asked_for_less_motion(alone: Alone):
    widget = alone(wandering(), reduced_motion=True, clock=True)
    assert rests(widget)
    assert_offers(widget, "Play")
    assert state_of(widget)["query"].tolist() == pytest.approx([-0.2, 0.1])


TEXT_BOXES = """(plane) => [...plane.querySelectorAll("text")].map((text) => {
  const { x, y, right, bottom } = text.getBoundingClientRect();
  return [x, y, right, bottom];
})"""


@pytest.mark.parametrize("key", [0, 1])
def test_no_label_covers_another_where_the_query_stands_on_a_key(alone: Alone, key: int):
    widget = alone(wandering(moving=False))
    place = state_of(widget)["key_points"][key].tolist()
    widget.evaluate("(el, query) => { el.courseModel.set('query', query); }", encoded(place))
    agrees_with_course_lib(widget)
    boxes = widget.locator(".cw-plane").evaluate(TEXT_BOXES)
    for one, other in itertools.combinations(boxes, 2):
        apart = [one[i] > other[i + 2] - 2 or other[i] > one[i + 2] - 2 for i in (0, 1)]
        assert any(apart)


def encoded(point: list[float]) -> dict[str, object]:
    return Array._encode(np.array(point, dtype=np.float32), None)


def assert_up(found: Tensor, expected: float) -> None:
    assert found.tolist() == pytest.approx([0, expected], abs=0.02)


def test_guests_arrive_one_by_one_until_all_are_there(shown: Callable[..., Locator]):
    widget = shown("PartyMemory", clock=True)
    play = widget.locator(".cw-party-arrivals button").first
    name = play.inner_text()
    guests = len(state_of(widget)["names"])
    widget.evaluate(NOTE_VALUES, "arrived")
    play.click()
    eventually(widget, lambda: assert_arrived(widget, guests), seconds=30)
    # The room is empty first.
    assert widget.evaluate(VALUES) == list(range(guests + 1))
    agrees_with_course_lib(widget)
    assert rests(widget)
    assert play.inner_text() == name


def assert_arrived(widget: Locator, guests: int) -> None:
    assert state_of(widget)["arrived"] == guests


def test_pointing_at_a_row_of_the_map_previews_its_query_and_a_click_keeps_it(
    shown: Callable[..., Locator],
):
    widget = shown("AttentionExplorer")
    page, slider = widget.page, widget.get_by_role("slider", name="Query token")
    cells = widget.locator(".cw-heat canvas")
    centre(cells)
    box = cells.bounding_box()

    def point_at(query: int, tokens: int) -> tuple[float, float]:
        return box["x"] + box["width"] / 2, box["y"] + box["height"] * (query + 0.5) / tokens

    def query_shown(query: int) -> None:
        assert slider.get_attribute("aria-valuenow") == str(query + 1)

    page.mouse.move(*point_at(3, 5))
    eventually(widget, lambda: query_shown(3))
    agrees_with_course_lib(widget)
    assert state_of(widget)["query"] == 0
    page.mouse.move(0, 0)
    eventually(widget, lambda: query_shown(0))
    page.mouse.click(*point_at(3, 5))
    page.mouse.move(0, 0)
    eventually(widget, lambda: query_shown(3))
    assert state_of(widget)["query"] == 3
    agrees_with_course_lib(widget)
