"""GraphDrum by hand: plucked with mouse, finger and keys, played, and drawn where it stands."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE, SOME_FRAMES
from hands import Finger, Mouse, Point
from kinds.graph_drum import LAWS, LIFT, READ, place_of, spec_of, state_at
from playwright.sync_api import Locator
from reading import decoded, eventually, state_of

from course_lib.graph_structure import Graph
from course_lib.widgets import GraphDrum

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
TWO_PIECES = {"edges": [[0, 1, 3], [1, 2, 4]], "places": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]]}
ROOM = 12  # pixels between two nodes of which neither hides the other
COLOUR = """(el, [law, places]) => {
  const canvas = el.querySelector(`[data-law=${law}] canvas`);
  const scale = canvas.width / canvas.nextElementSibling.viewBox.baseVal.width;
  const context = canvas.getContext("2d");
  return places.map(([x, y]) => [...context.getImageData(x * scale, y * scale, 1, 1).data]);
}"""
CHOICES = {
    "graph": lambda el: el.get_by_role("combobox", name="Graph").select_option("tree"),
    "start": lambda el: Mouse(el.page).press(el.get_by_text("an eigenmode")),
    "mode": lambda el: el.get_by_role("slider", name="Eigenmode").press("End"),
    "seed": lambda el: el.get_by_role("button", name="Other heights").click(),
    "stiffness": lambda el: el.get_by_role("slider", name="Stiffness").press("Home"),
    "stir": lambda el: el.get_by_role("slider", name="Stirred").press("End"),
}
STARTS_WITH = {"mode": "mode", "seed": "random"}
every_choice = pytest.mark.parametrize("choice", CHOICES)
BOXES = """(el) => [...el.querySelectorAll(".cw-drums .cw-layers")].map((picture) => {
  const [own, whole] = [picture, picture.parentElement].map((e) => e.getBoundingClientRect());
  return { left: own.left, top: own.top, begins: whole.top, ends: whole.bottom };
})"""
STRUCK_THROUGH = """(el) => {
  const chart = el.querySelector("[data-measure=chart] svg");
  const curves = [...chart.querySelectorAll("path[fill=none]")];
  const left = Math.min(...curves.map((curve) => curve.getBoundingClientRect().left));
  const marks = [...chart.querySelectorAll("text")].map((e) => e.getBoundingClientRect());
  const frame = chart.getBoundingClientRect();
  return {
    marks: marks.length,
    faulty: marks.filter((mark) => mark.right > left || mark.left < frame.left).length,
  };
}"""
ENDS = {  # of the colours, as widgets.css has them: down, at rest, up
    "light": [(0x0B, 0x66, 0xA8), (0xD0, 0xD7, 0xDE), (0xC0, 0x4C, 0x00)],
    "dark": [(0x58, 0xB0, 0xF0), (0x3D, 0x44, 0x4D), (0xFF, 0x9A, 0x52)],
}


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one GraphDrum, still unless told otherwise, and gives that widget."""

    def shown(*graph: Any, page: dict[str, Any] | None = None, **given: Any) -> Locator:
        drum = GraphDrum(*graph, **{"moving": False} | given)
        return alone(drum, **page or {})

    return shown


def time_of(widget: Locator) -> float:
    return widget.evaluate(READ)["time"]


def look_at_time(widget: Locator, share: float) -> None:
    """Put the slider of time there, as a hand does."""
    slider = widget.get_by_role("slider", name="Time")
    slider.evaluate(
        "(el, share) => { el.value = share * el.max; el.dispatchEvent(new Event('input')); }", share
    )
    widget.evaluate(SOME_FRAMES)


def has(widget: Locator, **traits: Any) -> None:
    def holds() -> None:
        state = state_of(widget)
        assert {name: state[name] for name in traits} == traits

    eventually(widget, holds)
    agrees_with_course_lib(widget)


def plays(widget: Locator, button: str = "❚❚ Pause") -> None:
    def holds() -> None:
        names = widget.get_by_role("button").all_inner_texts()
        assert button in names

    eventually(widget, holds)


def rests(widget: Locator) -> None:
    plays(widget, "▶ Play")


def spot_of(widget: Locator, law: str, node: int) -> Point:
    """Where a node of a drum stands in the window."""
    state, found = state_of(widget), widget.evaluate(READ)
    heights = torch.tensor(found["heights"], dtype=torch.float64)
    q, _ = state_at(state, law, heights, found["time"])
    x, y = place_of(decoded(spec_of(state)["places"])[node], q[node])
    svg = widget.locator(f"[data-law={law}] svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    return box["x"] + x * box["width"] / 320, box["y"] + y * box["width"] / 320


def test_on_opening_it_is_plucked_and_moving_until_its_end(shown: Shown):
    widget = shown("ring", moving=True, page={"init": COUNT_FRAMES})
    plays(widget)
    before = time_of(widget)
    widget.evaluate(SOME_FRAMES)
    assert time_of(widget) > before
    agrees_with_course_lib(widget)
    widget.evaluate("(el) => el.querySelector('[data-trait=speed]').focus()")
    widget.page.keyboard.press("End")
    rests(widget)
    end = float(widget.get_by_role("slider", name="Time").get_attribute("max"))
    assert time_of(widget) == pytest.approx(end)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Play").click()
    assert time_of(widget) < end


def test_readers_who_asked_for_less_motion_find_it_still_and_move_it_themselves(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True, "init": COUNT_FRAMES})
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert time_of(widget) == 0
    widget.get_by_role("button", name="Step").click()
    widget.evaluate(SOME_FRAMES)
    assert time_of(widget) > 0
    agrees_with_course_lib(widget)
    widget.page.mouse.click(*spot_of(widget, "heat", 8))
    has(widget, node=8, start="pluck")
    rests(widget)
    widget.get_by_role("button", name="Play").click()
    plays(widget)


def test_a_paused_drum_rests_and_reset_brings_back_the_first_moment(shown: Shown):
    widget = shown(moving=True, page={"init": COUNT_FRAMES})
    plays(widget)
    widget.get_by_role("button", name="Pause").click()
    rests(widget)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert time_of(widget) > 0
    widget.get_by_role("button", name="Reset").click()
    eventually(widget, lambda: np.testing.assert_equal(time_of(widget), 0.0))
    rests(widget)


def at_its_end(shown: Shown, choice: str, **given: Any) -> Locator:
    widget = shown("ring", start=STARTS_WITH.get(choice, "pluck"), **given)
    look_at_time(widget, 1)
    rests(widget)
    assert time_of(widget) > 0
    return widget


@every_choice
def test_a_choice_starts_a_drum_that_has_come_to_its_end(shown: Shown, choice: str):
    widget = at_its_end(shown, choice, moving=True)
    end, before = time_of(widget), state_of(widget)[choice]
    CHOICES[choice](widget)
    plays(widget)
    eventually(widget, lambda: np.testing.assert_array_less(0, time_of(widget)))
    assert time_of(widget) < end / 2
    assert state_of(widget)[choice] != before


@every_choice
@pytest.mark.parametrize(
    "still", [{"moving": False}, {"moving": True, "page": {"reduced_motion": True}}]
)
def test_a_choice_leaves_a_drum_at_rest_where_nothing_shall_move_by_itself(
    shown: Shown, still: dict[str, Any], choice: str
):
    widget = at_its_end(shown, choice, **still)
    CHOICES[choice](widget)
    eventually(widget, lambda: np.testing.assert_equal(time_of(widget), 0.0))
    widget.evaluate(SOME_FRAMES)
    assert time_of(widget) == 0
    rests(widget)
    agrees_with_course_lib(widget)


@every_choice
def test_a_choice_leaves_a_drum_moving_that_the_reader_has_started(shown: Shown, choice: str):
    widget = at_its_end(shown, choice, moving=False)
    widget.get_by_role("button", name="Play").click()
    CHOICES[choice](widget)
    eventually(widget, lambda: np.testing.assert_array_less(0, time_of(widget)))
    plays(widget)


@pytest.mark.parametrize("width", [1280, 1024, 820, 640])
def test_drums_side_by_side_stand_on_one_line(shown: Shown, width: int):
    boxes = shown(page={"width": width, "height": 844}).evaluate(BOXES)
    assert len({box["left"] for box in boxes}) == 3
    assert len({box["top"] for box in boxes}) == 1


@pytest.mark.parametrize("width", [390, 430, 600])
def test_drums_one_above_another_fit_one_screen(shown: Shown, width: int):
    boxes = shown(page={"width": width, "height": 844, "touch": True}).evaluate(BOXES)
    assert len({box["left"] for box in boxes}) == 1
    assert boxes[-1]["ends"] - boxes[0]["begins"] < 844


@pytest.mark.parametrize("width", [1280, 390])
def test_no_curve_strikes_through_a_mark_of_the_chart(shown: Shown, width: int):
    found = shown(stir=0.5, page={"width": width, "height": 844}).evaluate(STRUCK_THROUGH)
    assert found == {"marks": 3, "faulty": 0}


@pytest.mark.parametrize("law", LAWS)
def test_a_click_plucks_the_node_beneath_it_in_whichever_drum(shown: Shown, law: str):
    widget = shown(start="random")
    look_at_time(widget, 0.1)
    widget.page.mouse.click(*spot_of(widget, law, 12))
    has(widget, start="pluck", node=12, height=1)
    plays(widget)


def test_a_drag_pulls_a_node_as_far_as_the_hand_goes_and_letting_go_plays(shown: Shown):
    widget = shown(height=0.0)
    x, y = spot_of(widget, "wave", 30)
    scale = widget.locator("[data-law=wave] svg").bounding_box()["width"] / 320
    mouse = widget.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 3, y + 30 * scale, steps=4)
    place = decoded(spec_of(state_of(widget))["places"])[30]
    lifted = round(-30 / (LIFT / (1 + 0.2 * float(place[1]))), 2)
    eventually(widget, lambda: np.testing.assert_allclose(state_of(widget)["height"], lifted, 0.05))
    assert time_of(widget) == 0
    rests(widget)
    mouse.up()
    plays(widget)
    assert state_of(widget)["node"] == 30


def test_a_finger_plucks_by_a_tap_scrolls_by_a_swipe_and_pulls_by_the_ring(shown: Shown):
    widget = shown("ring", page={"width": 390, "height": 844, "touch": True})
    widget.page.touchscreen.tap(*spot_of(widget, "bracket", 20))
    has(widget, node=20, height=1)
    plays(widget)
    widget.get_by_role("button", name="Reset").click()
    has(widget, node=state_of(widget)["node"])
    before = state_of(widget)
    x, y = spot_of(widget, "wave", 27)
    Finger(widget.page).drag((x, y), (x, y - 200))
    widget.evaluate(SOME_FRAMES)
    assert str(state_of(widget)) == str(before)
    rests(widget)
    x, y = spot_of(widget, "wave", before["node"])
    Finger(widget.page).drag((x, y), (x, y + 90))
    eventually(widget, lambda: np.testing.assert_array_less(state_of(widget)["height"], 0.3))
    assert state_of(widget)["node"] == before["node"]
    plays(widget)


def test_arrow_keys_choose_and_pull_a_node_and_enter_lets_go(shown: Shown):
    widget = shown("path", node=3, height=0.5)
    ring = widget.get_by_role("button", name="Double bracket: node")
    for key in ("ArrowRight", "Shift+ArrowRight", "ArrowDown", "Shift+ArrowDown", "ArrowUp"):
        ring.press(key)
    has(widget, node=9, height=0)
    ring.press("Shift+ArrowLeft")
    for _ in range(3):
        ring.press("Shift+ArrowLeft")
        ring.press("Shift+ArrowDown")
    has(widget, node=0, height=-1)
    rests(widget)
    ring.press("Enter")
    plays(widget)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_node_is_drawn_where_its_height_lifts_it_in_the_colour_of_its_height(
    shown: Shown, theme: str
):
    widget = shown("ring", start="mode", mode=3)
    widget.evaluate("(_, theme) => { document.documentElement.dataset.theme = theme; }", theme)
    look_at_time(widget, 0.04)
    agrees_with_course_lib(widget)
    state, found = state_of(widget), widget.evaluate(READ)
    heights = torch.tensor(found["heights"], dtype=torch.float64)
    places = decoded(spec_of(state)["places"])
    down, rest, up = map(np.array, ENDS[theme])
    for law in LAWS:
        q, _ = state_at(state, law, heights, found["time"])
        spots = [place_of(place, height) for place, height in zip(places, q, strict=True)]
        drawn = np.array(widget.evaluate(COLOUR, [law, spots]))[:, :3]
        apart = torch.cdist(*2 * [torch.tensor(spots)]).fill_diagonal_(torch.inf).amin(0)
        assert (apart > ROOM).sum() > 12
        for node, colour in enumerate(drawn):
            if apart[node] < ROOM:
                continue  # a nearer node may hide it
            end, share = (up, q[node]) if q[node] > 0 else (down, -q[node])
            np.testing.assert_allclose(colour, rest + float(share) ** 0.6 * (end - rest), atol=4)


def test_the_curves_are_the_energies_and_the_cursor_stands_at_the_time(shown: Shown):
    widget = shown("molecule", stir=0.5)
    look_at_time(widget, 0.25)
    state, found = state_of(widget), widget.evaluate(READ)
    heights = torch.tensor(found["heights"], dtype=torch.float64)
    curves = widget.locator(".cw-layers[data-measure=chart] path[fill=none]")
    end = 4 * found["time"]
    unit = state_at(state, "wave", heights, 0)[1]
    for law, d in zip(LAWS, curves.evaluate_all(
        "(paths) => paths.filter((p) => p.getAttribute('stroke-width')).map((p) => "
        "p.getAttribute('d'))"
    ), strict=True):  # fmt: skip
        points = np.array([p.split() for p in d.removeprefix("M").split("L")], dtype=float)
        for x, y in points[[0, 7, 100, 240]]:
            energy = state_at(state, law, heights, end * x / points[-1, 0])[1]
            assert (80 - y) / 66 == pytest.approx(energy / unit, abs=2e-3)
    left, width = curves.last.evaluate(
        "(path) => [path.getBoundingClientRect().x, path.getBoundingClientRect().width]"
    )
    assert (found["cursor"] - left) / width == pytest.approx(0.25, abs=0.005)


@pytest.mark.parametrize("start", ["pluck", "mode", "random"])
@pytest.mark.parametrize(
    "own",
    [
        TWO_PIECES,
        {"edges": torch.zeros(2, 0, dtype=torch.int64), "places": [[0, 0], [3, 1]]},
        {"edges": [[0], [0]]},
        {"graph": Graph.complete(torch.zeros(9, 1))},
    ],
    ids=["two pieces", "no edges", "one node", "complete"],
)
def test_a_graph_of_ones_own_is_played_like_any_other(
    shown: Shown, own: dict[str, Any], start: str
):
    widget = shown(**own, start=start, stir=0.4)
    assert state_of(widget)["graph"] == "own"
    agrees_with_course_lib(widget)
    look_at_time(widget, 0.3)
    agrees_with_course_lib(widget)
    assert not re.search("NaN|Infinity|undefined", widget.locator(".cw").inner_html())
    widget.get_by_role("combobox", name="Graph").select_option("tree")
    has(widget, graph="tree")


def test_another_graph_keeps_nodes_and_modes_that_are_there(shown: Shown):
    widget = shown("drum", start="mode", mode=60, node=60)
    widget.get_by_role("combobox", name="Graph").select_option("molecule")
    has(widget, graph="molecule", mode=23)
    # Python may send a graph alone; its node and mode come in a message of their own.
    widget.evaluate("(el) => { el.courseModel.set('node', 23); el.courseModel.set('mode', 23); }")
    widget.evaluate("(el) => el.courseModel.set('graph', 'drum')")
    has(widget, graph="drum", node=23)
    Mouse(widget.page).press(widget.get_by_text("random heights"))
    widget.get_by_role("button", name="Other heights").click()
    has(widget, start="random", seed=2)
