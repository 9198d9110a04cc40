"""What TileStepper does with the hand: it is dragged, it plays, and it keeps its place."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import centre
from kinds.tile_stepper import in_tiles, make, visits_of
from playwright.sync_api import Locator
from reading import NOTE_VALUES, VALUES, state_of

from course_lib.widgets import TileStepper

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    return lambda **options: alone(make(), **options)


def point_in(widget: Locator, query: int, key: int) -> tuple[float, float]:
    """The middle of a score in the matrix."""
    state = state_of(widget)
    ground = widget.locator("[role=slider] > path").first
    centre(ground)
    box = ground.bounding_box()
    across, down = (key + 0.5) / len(state["key"]), (query + 0.5) / len(state["query"])
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def test_a_click_takes_the_tile_that_lies_there_and_a_drag_those_on_its_way(
    shown: Callable[..., Locator],
):
    widget = shown()
    tiles = visits_of(state_of(widget))
    mouse = widget.page.mouse
    mouse.click(*point_in(widget, 5, 4))
    [place] = [
        i + 1
        for i, (rows, columns) in enumerate(tiles)
        if rows.start <= 5 < rows.stop and columns.start <= 4 < columns.stop
    ]
    assert state_of(widget)["step"] == place
    agrees_with_course_lib(widget)
    mouse.click(*point_in(widget, 0, 10))  # a skipped tile: its queries are finished
    assert state_of(widget)["step"] == sum(rows == tiles[0][0] for rows, _ in tiles)
    agrees_with_course_lib(widget)
    widget.evaluate(NOTE_VALUES, "step")
    start, end = point_in(widget, 9, 0), point_in(widget, 9, 10)
    mouse.move(*start)
    mouse.down()
    mouse.move(*end, steps=20)
    mouse.up()
    assert widget.evaluate(VALUES) == list(range(len(tiles) - 3, len(tiles) + 1))
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Next").click()
    assert state_of(widget)["step"] == 0  # after the last tile comes the beginning


def test_it_plays_to_the_last_tile_and_then_rests(shown: Callable[..., Locator]):
    widget = shown(clock=True)
    assert rests(widget)
    tiles, start = len(visits_of(state_of(widget))), state_of(widget)["step"]
    widget.evaluate(NOTE_VALUES, "step")
    plays(widget).click()
    turn(widget, 8)
    assert widget.evaluate(VALUES) == list(range(start + 1, tiles + 1))
    assert plays(widget).is_visible()
    agrees_with_course_lib(widget)
    assert (
        f"written: {len(state_of(widget)['query'])} of"
        in widget.locator(".cw-tile-verdict").text_content()
    )
    won = widget.locator(".cw-tile-won")
    assert won.get_attribute("data-outcome") == "good"
    tiled, naive = (
        widget.locator(f"[data-reading={side}-moved]").inner_text() for side in ("tiled", "naive")
    )
    assert won.inner_text() == f"✓ Same answer. Tiles carried {tiled} bytes, naive {naive}."
    assert rests(widget)


def plays(widget: Locator) -> Locator:
    return widget.get_by_role("button", name="Play")


def test_on_opening_it_plays_until_a_hand_stops_it(alone: Alone):
    widget = alone(in_tiles(5, 6, step=1, moving=True), clock=True)
    turn(widget, 2)
    assert state_of(widget)["step"] == 2
    widget.page.mouse.click(*point_in(widget, 0, 0))
    turn(widget, 4)
    assert state_of(widget)["step"] == 1
    assert plays(widget).is_visible()
    agrees_with_course_lib(widget)


# Where the keys of the tile in hand are, and the naive scores.
ON_THE_WAY = """(el) => ["[data-load=K]", "[data-layer=naive-trip]"].map((what) => {
  const drawn = el.querySelector(what);
  return drawn.getAttribute("d") ? drawn.getBBox().x : null;
})"""


def test_a_step_carries_its_keys_to_the_chip_while_naive_scores_come_and_go(
    shown: Callable[..., Locator],
):
    widget = shown(clock=True)
    step, seen = state_of(widget)["step"], []
    widget.get_by_role("button", name="Next").click()
    for _ in range(15):
        turn(widget, 0.1)
        seen.append(widget.evaluate(ON_THE_WAY))
    assert not plays(widget).is_visible()
    turn(widget, 0.2)
    assert plays(widget).is_visible()
    keys = [key for key, _ in seen]
    assert keys == sorted(keys)
    assert keys[-1] > keys[0] + 50
    naive = [x for _, x in seen if x is not None]
    steps = [b - a for a, b in itertools.pairwise(naive) if abs(b - a) > 1e-6]
    # Some rows of S come, and as many of P go.
    assert sum(a * b < 0 for a, b in itertools.pairwise(steps)) == 1
    assert state_of(widget)["step"] == step + 1
    agrees_with_course_lib(widget)


def test_readers_who_asked_for_less_motion_are_taken_to_the_end_at_once(
    shown: Callable[..., Locator],
):
    widget = shown(reduced_motion=True, clock=True)
    step = state_of(widget)["step"]
    widget.get_by_role("button", name="Next").click()
    assert state_of(widget)["step"] == step + 1
    assert rests(widget)
    widget.get_by_role("button", name="To the end").click()
    assert state_of(widget)["step"] == len(visits_of(state_of(widget)))
    agrees_with_course_lib(widget)


def test_a_pair_that_does_not_fit_is_drawn_over_the_rim_and_said_until_the_run_has_ended(
    alone: Alone,
):
    query, key, value = np.random.default_rng(0).normal(size=(3, 12, 4))
    tiles = {"query_tile": 4, "key_tile": 4, "step": 1, "moving": False}
    # Queries, keys and values of 4 by 4 take 2 bytes each; scores, o, m and l take 4.
    widget = alone(TileStepper(query, key, value, **tiles, chip_bytes=256))
    won, tight = widget.locator(".cw-tile-won"), widget.locator(".cw-tile-tight")
    assert won.get_attribute("data-outcome") == "open"
    assert tight.count() == 0
    agrees_with_course_lib(widget)
    queries = widget.get_by_role("slider", name="Queries a tile")
    queries.press("ArrowRight")
    agrees_with_course_lib(widget)
    assert tight.all_text_contents() == ["304 of 256 bytes", "✗ does not fit"]
    for _ in range(state_of(widget)["step"], len(visits_of(state_of(widget)))):
        assert won.inner_text() == "✗ A pair of tiles does not fit: 304 of 256 bytes."
        widget.locator("[role=slider]").press("ArrowRight")
        agrees_with_course_lib(widget)
    assert (
        won.inner_text() == "✗ Same answer, but the pair of tiles does not fit: 304 of 256 bytes."
    )
    assert won.get_attribute("data-outcome") == "bad"
    queries.press("ArrowLeft")
    agrees_with_course_lib(widget)
    assert won.inner_text().startswith("✓ Same answer.")
