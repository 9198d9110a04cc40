from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import Mouse, Point, press, spot
from judges.tile_stepper import visits_of
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from small_widgets import drawn
from widget_page import Shown, shows

shown = shows("TileStepper", folded=True)


def point_in(widget: Locator, query: int, key: int) -> Point:
    state, ground = state_of(widget), widget.locator("[role=slider] > path").first
    return spot(ground, (key + 0.5) / len(state["key"]), (query + 0.5) / len(state["query"]))


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


def test_on_opening_it_plays_to_the_last_tile_unless_the_reader_stops_it(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    widget.evaluate(NOTE_VALUES, "step")
    turn(widget, 2)
    assert plays(widget)
    widget.page.mouse.click(*point_in(widget, 0, 0))
    turn(widget, 4)
    assert not plays(widget)
    has(widget, step=1)
    press(widget, "Play")
    turn(widget, 20)
    assert rests(widget)
    has(widget, step=last_step(widget))
    values = widget.evaluate(VALUES)
    assert values[values.index(1) :] == list(range(1, last_step(widget) + 1))
    won = widget.locator(".cw-verdict")
    assert won.get_attribute("data-outcome") == "good"
    tiled, naive = (
        widget.locator(f"[data-reading={side}-moved]").inner_text() for side in ("tiled", "naive")
    )
    assert won.inner_text() == f"✓\nSame answer. Tiles carried {tiled} bytes, naive {naive}."


def test_an_overfull_chip_is_drawn_over_the_rim_and_reported_until_the_run_ends(
    shown: Shown,
):
    parts = dict(zip(("query", "key", "value"), drawn(3, 12, 4), strict=True))
    tiles = {"query_tile": 4, "key_tile": 4, "step": 1, "causal": False}
    # Queries, keys and values of 4 by 4 take 2 bytes each; scores, o, m and l take 4.
    widget = shown(**parts, **tiles, chip_bytes=256)
    won, tight = widget.locator(".cw-verdict"), widget.locator(".cw-tile-tight")
    queries = widget.get_by_role("slider", name="Queries a tile")
    assert won.get_attribute("data-outcome") == "open"
    assert tight.count() == 0
    queries.press("ArrowRight")
    agrees_with_course_lib(widget)
    assert tight.all_text_contents() == ["304 of 256 bytes", "✗ does not fit"]
    expect(won).to_have_text("✗A pair of tiles does not fit: 304 of 256 bytes.")
    send(widget, step=last_step(widget))
    agrees_with_course_lib(widget)
    assert won.get_attribute("data-outcome") == "bad"
    expect(won).to_have_text("✗Same answer, but the pair of tiles does not fit: 304 of 256 bytes.")
    queries.press("ArrowLeft")
    expect(won).to_contain_text("✓Same answer.")
    agrees_with_course_lib(widget)
