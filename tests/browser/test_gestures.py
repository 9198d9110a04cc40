"""What a single kind of widget does with the hand, and what all do when nobody looks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bare import bare_page
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import Finger, centre, widgets
from kinds import WIDGETS
from playwright.sync_api import Locator, Page
from reading import eventually, state_of
from torch import Tensor

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture
def shown(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Locator]:
    """Opens a page with one widget of a kind, and gives that widget."""

    def shown(kind: str, *, below: str = "", **options: object) -> Locator:
        return widgets(
            open_page(bare_page(tmp_path, WIDGETS[kind].make(), below=below), **options)
        )[0]

    return shown


def test_a_click_in_the_plane_brings_the_query_there(shown: Callable[..., Locator]):
    widget = shown("SoftLookup")
    plane = widget.locator(".cw-plane")
    centre(plane)
    box = plane.bounding_box()
    widget.page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 0.6 * box["height"])
    assert state_of(widget)["query"].tolist() == pytest.approx([0.75, -0.3], abs=0.02)
    agrees_with_course_lib(widget)


def test_a_query_dragged_out_of_the_plane_stops_at_its_rim(shown: Callable[..., Locator]):
    widget = shown("SoftLookup")
    page, query = widget.page, widget.locator(".cw-query")
    x, y = centre(query)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 800, steps=4)
    page.mouse.up()
    assert state_of(widget)["query"][1] == pytest.approx(1.5)
    agrees_with_course_lib(widget)


def test_a_finger_drags_a_handle_all_the_way_and_the_page_stays_where_it_is(
    shown: Callable[..., Locator],
):
    below = '<div style="height: 400vh"></div>'
    widget = shown("SoftLookup", width=390, height=844, touch=True, below=below)
    x, y = centre(widget.locator(".cw-query"))
    before, scrolled = state_of(widget)["query"], widget.page.evaluate("() => scrollY")
    Finger(widget.page).drag((x, y), (x, y - 90))
    moved = 90 / widget.locator(".cw-plane").bounding_box()["width"] * 3
    eventually(widget, lambda: assert_up(state_of(widget)["query"] - before, moved))
    assert widget.page.evaluate("() => scrollY") == scrolled
    agrees_with_course_lib(widget)


def assert_up(found: Tensor, expected: float) -> None:
    assert found.tolist() == pytest.approx([0, expected], abs=0.05)


def test_guests_arrive_one_by_one_until_all_are_there(shown: Callable[..., Locator]):
    widget = shown("PartyMemory", init=COUNT_FRAMES)
    play = widget.locator(".cw-party-arrivals button")
    name = play.inner_text()
    guests = len(state_of(widget)["names"])
    widget.evaluate(
        """(el) => {
          window.courseArrivals = [];
          el.courseModel.on("change:arrived", () =>
            window.courseArrivals.push(el.courseModel.get("arrived")));
        }"""
    )
    play.click()
    widget.page.wait_for_function("guests => courseArrivals.at(-1) === guests", arg=guests)
    assert widget.page.evaluate("() => courseArrivals") == list(range(1, guests + 1))
    agrees_with_course_lib(widget)
    assert play.inner_text() == name
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0


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
