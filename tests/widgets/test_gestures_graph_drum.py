from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import Finger, Mouse, Point, look_at_time, press, snapshot, spot, time_of, widgets
from in_the_page import tensor
from judges.graph_drum import LAWS, READ, state_at
from playwright.sync_api import Locator, Page
from reading import send, state_of
from widget_page import Shown, bare_page, shows

from course_lib.graph import Graph
from course_lib.widgets import GraphDrum

shown = shows(GraphDrum, moving=False)
ROOM = 12  # pixels between two nodes that do not overlap
COLOUR = """(el, [law, [x, y]]) => {
  const canvas = el.querySelector(`[data-law=${law}] canvas`);
  const scale = canvas.width / canvas.nextElementSibling.viewBox.baseVal.width;
  const drawn = canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1);
  return [...drawn.data].slice(0, 3);
}"""
CHOICES = {
    "graph": lambda el: el.get_by_role("combobox", name="Graph").select_option("tree"),
    "start": lambda el: Mouse(el.page).press(el.get_by_text("eigenmode", exact=True)),
    "mode": lambda el: el.get_by_role("slider", name="Eigenmode").press("End"),
    "stiffness": lambda el: el.get_by_role("slider", name="Stiffness").press("Home"),
    "stir": lambda el: el.get_by_role("slider", name="Stirred").press("End"),
}
# The colours of the dark theme, as widgets.css has them: down, at rest, up.
DARK = [(0x58, 0xB0, 0xF0), (0x8B, 0x94, 0x9E), (0xFF, 0x9A, 0x52)]


def end_of(widget: Locator) -> float:
    return float(widget.get_by_role("slider", name="Time").get_attribute("max"))


def heights_of(widget: Locator, law: str, time: float | None = None) -> Any:
    """The heights of the nodes of a drum and its energy at a time, by default the one shown."""
    found = widget.evaluate(READ)
    now = found["time"] if time is None else time
    return state_at(state_of(widget), law, tensor(found["heights"]), now)


def places_of(widget: Locator, node: int) -> dict[str, Point]:
    """The positions of a node, which becomes the marked one, in the drawings of all drums."""
    send(widget, node=node)
    turn(widget, 0.05)
    return {law: drum["ring"] for law, drum in widget.evaluate(READ)["drums"].items()}


def spot_of(widget: Locator, law: str, node: int) -> Point:
    """The position in the window of a node that lies as high as the marked one."""
    marked = state_of(widget)["node"]
    x, y = places_of(widget, node)[law]
    places_of(widget, marked)
    svg = widget.locator(f"[data-law={law}] svg")
    tall = svg.evaluate("(svg) => svg.viewBox.baseVal.height")
    return spot(svg, x / 320, y / tall)


def test_on_opening_it_is_plucked_and_plays_to_the_end_and_again(shown: Shown):
    widget = shown("ring", moving=True, page=CLOCK)
    hidden, names = widget.locator(".cw-future"), widget.locator(".cw-drum-name")
    verdict = widget.locator(".cw-verdict")
    turn(widget, 1)
    first = time_of(widget)
    turn(widget, 1)
    # Most of the heat is gone at first, so the start is slowed down.
    assert 0 < 1.5 * first < time_of(widget) - first
    agrees_with_course_lib(widget)
    assert (hidden.count(), names.count()) == (1, 0)
    assert verdict.get_attribute("data-outcome") == "open"
    turn(widget, 9)
    assert time_of(widget) == pytest.approx(end_of(widget))
    assert rests(widget)
    agrees_with_course_lib(widget)
    assert (hidden.count(), names.count() > 0) == (0, True)
    assert verdict.get_attribute("data-outcome") == "good"
    drums, told = widget.evaluate(READ)["drums"], verdict.inner_text()
    assert told.startswith("✓\nWave rings on: 100\u00a0%. ")
    assert all(drum["told"] in told for drum in drums.values())
    press(widget, "Play")
    turn(widget, 1)
    assert time_of(widget) == pytest.approx(first, rel=0.05)


def test_a_choice_restarts_a_drum_unless_motion_is_reduced(shown: Shown):
    for moving in (True, False):
        widget = shown("ring", moving=moving, page=CLOCK)
        for choice, choose in CHOICES.items():
            look_at_time(widget, 1)
            assert not plays(widget)
            before = state_of(widget)[choice]
            choose(widget)
            turn(widget, 0.5)
            assert plays(widget) == moving, choice
            assert state_of(widget)[choice] != before
            assert (0 < time_of(widget) < end_of(widget) / 9) if moving else time_of(widget) == 0


def test_a_drag_pulls_a_node_with_the_pointer_and_release_plays(shown: Shown):
    widget = shown(height=0.0, page=CLOCK)
    x, y = spot_of(widget, "wave", 30)
    end = x + 3, y + 40
    Mouse(widget.page).take((x, y), end)
    assert rests(widget)
    has(widget, node=30)
    assert time_of(widget) == 0
    assert state_of(widget)["height"] < -0.5
    assert spot_of(widget, "wave", 30)[1] == pytest.approx(end[1], abs=1)
    widget.page.mouse.up()
    turn(widget, 0.5)
    assert plays(widget)


def test_a_finger_plucks_by_a_tap_scrolls_by_a_swipe_and_pulls_by_the_ring(shown: Shown):
    page = CLOCK | {"width": 390, "height": 844, "touch": True}
    widget = shown("ring", height=0.0, page=page)
    widget.page.touchscreen.tap(*spot_of(widget, "bracket", 20))
    turn(widget, 0.5)
    has(widget, node=20, height=1)
    assert plays(widget)
    press(widget, "Reset")
    turn(widget, 0.5)
    before, node = snapshot(widget), state_of(widget)["node"]
    # The swipe comes last: the page goes on scrolling after it.
    for taken, far in ((node, 30), (27, -200)):
        x, y = spot_of(widget, "wave", taken)
        Finger(widget.page).drag((x, y), (x, y + far))
        turn(widget, 0.5)
        assert plays(widget) == (taken == node)
        assert (snapshot(widget) == before) == (taken != node)
        if taken == node:
            assert state_of(widget)["height"] < 0
            assert state_of(widget)["node"] == node
            press(widget, "Reset")
            turn(widget, 0.5)


def test_every_node_is_drawn_in_the_colour_of_its_height(shown: Shown):
    widget = shown("ring", start="mode", mode=3, page=CLOCK)
    widget.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    look_at_time(widget, 0.04)
    down, rest, up = map(np.array, DARK)
    heights = {law: heights_of(widget, law)[0] for law in LAWS}
    places = [places_of(widget, node) for node in range(len(heights["wave"]))]
    for law in LAWS:
        spots = tensor([place[law] for place in places])
        apart = torch.cdist(spots, spots).fill_diagonal_(torch.inf).amin(0)
        for node in (apart > ROOM).nonzero().flatten().tolist():  # a nearer node may hide one
            height = float(heights[law][node])
            expected = rest + abs(height) ** 0.6 * ((up if height > 0 else down) - rest)
            drawn = widget.evaluate(COLOUR, [law, places[node][law]])
            np.testing.assert_allclose(drawn, expected, atol=4)
        assert (apart > ROOM).sum() > 12


def test_the_curves_are_the_energies(shown: Shown):
    widget = shown("molecule", stir=0.5)
    look_at_time(widget, 0.25)
    paths = widget.locator("[data-measure=chart] path")
    drawn = paths.evaluate_all("(all) => all.map((path) => path.getAttribute('d'))")
    levels = [float(path[1:].split("H")[0].split()[1]) for path in drawn if "H" in path]
    curves = widget.locator("[data-measure=chart] path[stroke-width='3']")
    drawn = curves.evaluate_all("(all) => all.map((path) => path.getAttribute('d'))")
    end, unit = 4 * time_of(widget), heights_of(widget, "wave", 0)[1]
    for law, course in zip(LAWS, drawn, strict=True):
        points = [point.split() for point in course.removeprefix("M").split("L")]
        points = np.array(points, dtype=float)
        left, right = points[0, 0], points[-1, 0]
        for x, y in points[[0, 7, 100, 240]]:
            energy = heights_of(widget, law, end * (x - left) / (right - left))[1]
            share = (levels[0] - y) / (levels[0] - levels[2])
            assert share == pytest.approx(energy / unit, abs=2e-3)


def test_a_custom_graph_is_played_like_any_other(open_page: Callable[..., Page], tmp_path: Path):
    own = [
        {"edges": [[0, 1, 3], [1, 2, 4]], "places": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]]},
        {"edges": torch.zeros(2, 0, dtype=torch.int64), "places": [[0, 0], [3, 1]]},
        {"edges": [[0], [0]]},
        {"graph": Graph.complete(torch.zeros(9, 1))},
    ]
    drums = [GraphDrum(**graph, start="mode", stir=0.4, moving=False) for graph in own]
    for widget in widgets(open_page(bare_page(tmp_path, *drums))):
        assert state_of(widget)["graph"] == "own"
        widget.scroll_into_view_if_needed()
        for start in ("mode", "random", "pluck"):
            send(widget, start=start)
            look_at_time(widget, 0.3)
            agrees_with_course_lib(widget)
        widget.get_by_role("combobox", name="Graph").select_option("tree")
        has(widget, graph="tree")


def test_another_graph_keeps_existing_nodes_and_modes(shown: Shown):
    widget = shown("drum", start="mode", mode=60, node=60)
    widget.get_by_role("combobox", name="Graph").select_option("molecule")
    has(widget, graph="molecule", mode=23)
    # Python may send a graph alone; node and mode follow in another message.
    send(widget, node=23, mode=23)
    send(widget, graph="drum")
    has(widget, graph="drum", node=23)
    Mouse(widget.page).press(widget.get_by_text("random", exact=True))
    press(widget, "Other heights")
    has(widget, start="random", seed=2)
