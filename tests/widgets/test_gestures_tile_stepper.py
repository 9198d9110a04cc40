"""Gestures on TileStepper: dragging and playing."""

import itertools

import numpy as np
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import Mouse, Point, centre, press
from judges.tile_stepper import visits_of
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from small_widgets import make
from widget_page import Shown, shows

from course_lib.widgets import TileStepper

shown = shows(lambda stepper=None, **given: stepper or make("TileStepper", **given), folded=True)


def point_in(widget: Locator, query: int, key: int) -> Point:
    """The middle of a score in the matrix."""
    state = state_of(widget)
    ground = widget.locator("[role=slider] > path").first
    centre(ground)
    box = ground.bounding_box()
    across, down = (key + 0.5) / len(state["key"]), (query + 0.5) / len(state["query"])
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def last_step(widget: Locator) -> int:
    return len(visits_of(state_of(widget)))


def test_a_click_selects_a_tile_and_a_drag_the_tiles_on_its_way(shown: Shown):
    widget = shown()
    tiles = visits_of(state_of(widget))
    [place] = [i + 1 for i, (rows, keys) in enumerate(tiles) if 5 in span(rows) and 4 in span(keys)]
    # The queries of a skipped tile are finished.
    finished = sum(rows == tiles[0][0] for rows, _ in tiles)
    for query, key, step in ((5, 4, place), (0, 10, finished)):
        widget.page.mouse.click(*point_in(widget, query, key))
        has(widget, step=step)
    widget.evaluate(NOTE_VALUES, "step")
    Mouse(widget.page).drag(point_in(widget, 9, 0), point_in(widget, 9, 10), steps=20)
    assert widget.evaluate(VALUES) == list(range(len(tiles) - 3, len(tiles) + 1))
    agrees_with_course_lib(widget)
    press(widget, "Next")
    has(widget, step=0)  # the first tile follows the last


def span(part: slice) -> range:
    return range(part.start, part.stop)


def test_it_plays_to_the_last_tile_and_then_stops(shown: Shown):
    widget = shown(page=CLOCK)
    won = widget.locator(".cw-tile-won")
    assert rests(widget)
    state = state_of(widget)
    widget.evaluate(NOTE_VALUES, "step")
    press(widget, "Play")
    turn(widget, 8)
    assert widget.evaluate(VALUES) == list(range(state["step"] + 1, last_step(widget) + 1))
    assert not plays(widget)
    assert rests(widget)
    agrees_with_course_lib(widget)
    verdict = widget.locator(".cw-tile-verdict").text_content()
    assert f"written: {len(state['query'])} of" in verdict
    assert won.get_attribute("data-outcome") == "good"
    tiled, naive = (
        widget.locator(f"[data-reading={side}-moved]").inner_text() for side in ("tiled", "naive")
    )
    assert won.inner_text() == f"✓ Same answer. Tiles carried {tiled} bytes, naive {naive}."


def test_on_opening_it_plays_until_the_reader_stops_it(shown: Shown):
    widget = shown(query_tile=5, key_tile=6, step=1, moving=True, page=CLOCK)
    turn(widget, 2)
    has(widget, step=2)
    widget.page.mouse.click(*point_in(widget, 0, 0))
    turn(widget, 4)
    has(widget, step=1)
    assert not plays(widget)


# The positions of the current tile's keys, and of the naive scores.
ON_THE_WAY = """(el) => ["[data-load=K]", "[data-layer=naive-trip]"].map((what) => {
  const drawn = el.querySelector(what);
  return drawn.getAttribute("d") ? drawn.getBBox().x : null;
})"""


def test_a_step_carries_its_keys_to_the_chip_while_naive_scores_come_and_go(shown: Shown):
    widget = shown(page=CLOCK)
    step, seen = state_of(widget)["step"], []
    press(widget, "Next")
    for _ in range(15):
        turn(widget, 0.1)
        seen.append(widget.evaluate(ON_THE_WAY))
    assert plays(widget)
    turn(widget, 0.2)
    assert not plays(widget)
    keys = [key for key, _ in seen]
    assert keys == sorted(keys)
    assert keys[-1] > keys[0] + 50
    naive = [x for _, x in seen if x is not None]
    steps = [b - a for a, b in itertools.pairwise(naive) if abs(b - a) > 1e-6]
    # Some rows of S arrive, and as many of P leave.
    assert sum(a * b < 0 for a, b in itertools.pairwise(steps)) == 1
    has(widget, step=step + 1)


def test_with_reduced_motion_it_shows_the_end_at_once(shown: Shown):
    widget = shown(page=CLOCK | {"reduced_motion": True})
    step = state_of(widget)["step"]
    press(widget, "Next")
    assert state_of(widget)["step"] == step + 1
    assert rests(widget)
    press(widget, "To the end")
    has(widget, step=last_step(widget))


def test_an_overfull_chip_is_drawn_over_the_rim_and_reported_until_the_run_ends(
    shown: Shown,
):
    query, key, value = np.random.default_rng(0).normal(size=(3, 12, 4))
    tiles = {"query_tile": 4, "key_tile": 4, "step": 1, "moving": False}
    # Queries, keys and values of 4 by 4 take 2 bytes each; scores, o, m and l take 4.
    widget = shown(TileStepper(query, key, value, **tiles, chip_bytes=256))
    won, tight = widget.locator(".cw-tile-won"), widget.locator(".cw-tile-tight")
    queries = widget.get_by_role("slider", name="Queries a tile")
    assert won.get_attribute("data-outcome") == "open"
    assert tight.count() == 0
    queries.press("ArrowRight")
    agrees_with_course_lib(widget)
    assert tight.all_text_contents() == ["304 of 256 bytes", "✗ does not fit"]
    expect(won).to_have_text("✗ A pair of tiles does not fit: 304 of 256 bytes.")
    send(widget, step=last_step(widget))
    agrees_with_course_lib(widget)
    assert won.get_attribute("data-outcome") == "bad"
    expect(won).to_have_text("✗ Same answer, but the pair of tiles does not fit: 304 of 256 bytes.")
    queries.press("ArrowLeft")
    expect(won).to_contain_text("✓ Same answer.")
    agrees_with_course_lib(widget)
