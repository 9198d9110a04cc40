"""GraphDrum by hand: plucked with mouse, finger and keys, played, and drawn where it stands."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, Point, open_folds
from kinds.graph_drum import LAWS, READ, lift_of, place_of, spec_of, state_at
from playwright.sync_api import Locator, expect
from reading import decoded, eventually, state_of

from course_lib.graph_structure import Graph
from course_lib.widgets import GraphDrum

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
TWO_PIECES = {"edges": [[0, 1, 3], [1, 2, 4]], "places": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]]}
CLOCK = {"clock": True}
ROOM = 12  # pixels between two nodes of which neither hides the other
COLOUR = """(el, [law, places]) => {
  const canvas = el.querySelector(`[data-law=${law}] canvas`);
  const scale = canvas.width / canvas.nextElementSibling.viewBox.baseVal.width;
  const context = canvas.getContext("2d");
  return places.map(([x, y]) => [...context.getImageData(x * scale, y * scale, 1, 1).data]);
}"""
CHOICES = {
    "graph": lambda el: el.get_by_role("combobox", name="Graph").select_option("tree"),
    "start": lambda el: Mouse(el.page).press(el.get_by_text("eigenmode", exact=True)),
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
  const sides = (name) => curves.map((curve) => curve.getBoundingClientRect()[name]);
  const [left, right] = [Math.min(...sides("left")), Math.max(...sides("right"))];
  const marks = [...chart.querySelectorAll(".cw-drum-mark")].map((e) => e.getBoundingClientRect());
  const frame = chart.getBoundingClientRect();
  const names = [...chart.querySelectorAll(".cw-drum-name")].map((e) => e.getBoundingClientRect())
    .sort((one, other) => one.top - other.top);
  return {
    marks: marks.length,
    faulty: marks.filter((mark) => mark.right > left || mark.left < frame.left).length,
    names: names.length,
    cut: names.filter((name) => name.left < right || name.right > frame.right
      || name.top < frame.top || name.bottom > frame.bottom).length,
    crowded: names.slice(1).filter((name, i) => name.top < names[i].top + 12).length,
  };
}"""
# How many pixels of a law's drum have the colour of the swatch beside each law's name.
INKED = """(el, law) => {
  const canvas = el.querySelector(`[data-law=${law}] canvas`);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return Object.fromEntries([...el.querySelectorAll("[data-law]")].map((drum) => {
    const ink = getComputedStyle(drum.querySelector(".cw-swatch")).backgroundColor
      .match(/\\d+/g).map(Number);
    let pixels = 0;
    for (let i = 0; i < data.length; i += 4)
      pixels += Number(Math.hypot(...[0, 1, 2].map((k) => data[i + k] - ink[k])) < 6);
    return [drum.dataset.law, pixels];
  }));
}"""
ENDS = {  # of the colours, as widgets.css has them: down, at rest, up
    "light": [(0x0B, 0x66, 0xA8), (0x6E, 0x77, 0x81), (0xC0, 0x4C, 0x00)],
    "dark": [(0x58, 0xB0, 0xF0), (0x8B, 0x94, 0x9E), (0xFF, 0x9A, 0x52)],
}


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one GraphDrum, still unless told otherwise, and gives that widget."""

    def shown(*graph: Any, page: dict[str, Any] | None = None, **given: Any) -> Locator:
        drum = GraphDrum(*graph, **{"moving": False} | given)
        widget = alone(drum, **page or {})
        open_folds(widget)
        return widget

    return shown


def time_of(widget: Locator) -> float:
    return widget.evaluate(READ)["time"]


def look_at_time(widget: Locator, share: float) -> None:
    """Put the slider of time there, as a hand does."""
    moment = widget.get_by_role("slider", name="Time").evaluate(
        "(el, share) => { el.value = share * el.max; el.dispatchEvent(new Event('input')); "
        "return Number(el.value); }",
        share,
    )
    eventually(widget, lambda: np.testing.assert_allclose(time_of(widget), moment))


def end_of(widget: Locator) -> float:
    return float(widget.get_by_role("slider", name="Time").get_attribute("max"))


def has(widget: Locator, **traits: Any) -> None:
    def holds() -> None:
        state = state_of(widget)
        assert {name: state[name] for name in traits} == traits

    eventually(widget, holds)
    agrees_with_course_lib(widget)


def plays(widget: Locator) -> bool:
    return "❚❚ Pause" in widget.get_by_role("button").all_inner_texts()


def spot_of(widget: Locator, law: str, node: int) -> Point:
    """Where a node of a drum stands in the window."""
    state, found = state_of(widget), widget.evaluate(READ)
    heights = torch.tensor(found["heights"], dtype=torch.float64)
    q, _ = state_at(state, law, heights, found["time"])
    x, y = place_of(decoded(spec_of(state)["places"]), node, q[node])
    svg = widget.locator(f"[data-law={law}] svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    return box["x"] + x * box["width"] / 320, box["y"] + y * box["width"] / 320


def test_on_opening_it_is_plucked_and_moving_until_its_end(shown: Shown):
    widget = shown("ring", moving=True, page=CLOCK)
    turn(widget, 1)
    assert plays(widget)
    first = time_of(widget)
    turn(widget, 1)
    # Most of the heat is gone in the first moments: they take longer.
    assert 0 < 1.5 * first < time_of(widget) - first
    agrees_with_course_lib(widget)
    turn(widget, 9)
    assert time_of(widget) == pytest.approx(end_of(widget))
    assert rests(widget)
    assert not plays(widget)
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Play").click()
    turn(widget, 1)
    assert time_of(widget) == pytest.approx(first, rel=0.05)


def test_a_drum_moves_as_much_faster_as_its_speed_says(shown: Shown):
    widget, moments = shown("ring", page=CLOCK), []
    speed = widget.get_by_role("slider", name="Speed")
    for key in ("ArrowUp", "End"):  # 1.25 and 4
        look_at_time(widget, 0.1)
        speed.press(key)
        before = time_of(widget)
        widget.get_by_role("button", name="Play").click()
        turn(widget, 1)
        moments.append(time_of(widget) - before)
    assert moments[1] / moments[0] == pytest.approx(4 / 1.25, rel=0.02)


def test_readers_who_asked_for_less_motion_find_it_still_and_move_it_themselves(shown: Shown):
    widget = shown(moving=True, page=CLOCK | {"reduced_motion": True})
    assert rests(widget)
    assert time_of(widget) == 0
    widget.get_by_role("button", name="Step").click()
    assert rests(widget)
    assert time_of(widget) > 0
    agrees_with_course_lib(widget)
    widget.page.mouse.click(*spot_of(widget, "heat", 8))
    assert rests(widget)
    has(widget, node=8, start="pluck")
    widget.get_by_role("button", name="Play").click()
    turn(widget, 0.5)
    assert plays(widget)
    assert time_of(widget) > 0


def test_a_paused_drum_rests_and_reset_brings_back_the_first_moment(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    turn(widget, 1)
    widget.get_by_role("button", name="Pause").click()
    assert rests(widget)
    assert not plays(widget)
    assert time_of(widget) > 0
    widget.get_by_role("button", name="Reset").click()
    assert rests(widget)
    assert time_of(widget) == 0


def at_its_end(shown: Shown, choice: str, *, page: dict[str, Any] = CLOCK, **given: Any) -> Locator:
    widget = shown("ring", start=STARTS_WITH.get(choice, "pluck"), page=page, **given)
    look_at_time(widget, 1)
    assert not plays(widget)
    return widget


@every_choice
def test_a_choice_starts_a_drum_that_has_come_to_its_end(shown: Shown, choice: str):
    widget = at_its_end(shown, choice, moving=True)
    before = state_of(widget)[choice]
    CHOICES[choice](widget)
    turn(widget, 1)
    assert plays(widget)
    assert 0 < time_of(widget) < end_of(widget) / 9
    assert state_of(widget)[choice] != before


@every_choice
@pytest.mark.parametrize(
    "still", [{"moving": False}, {"moving": True, "page": CLOCK | {"reduced_motion": True}}]
)
def test_a_choice_leaves_a_drum_at_rest_where_nothing_shall_move_by_itself(
    shown: Shown, still: dict[str, Any], choice: str
):
    widget = at_its_end(shown, choice, **still)
    CHOICES[choice](widget)
    assert rests(widget)
    assert time_of(widget) == 0
    assert not plays(widget)
    agrees_with_course_lib(widget)


@every_choice
def test_a_choice_leaves_a_drum_moving_that_the_reader_has_started(shown: Shown, choice: str):
    widget = at_its_end(shown, choice, moving=False)
    widget.get_by_role("button", name="Play").click()
    turn(widget, 2)
    before = time_of(widget)
    CHOICES[choice](widget)
    turn(widget, 1)
    assert 0 < time_of(widget) < before
    assert plays(widget)


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
def test_no_curve_strikes_through_a_mark_of_the_chart_or_a_name_at_its_end(
    shown: Shown, width: int
):
    found = shown(stir=0.5, page={"width": width, "height": 844}).evaluate(STRUCK_THROUGH)
    assert found == {"marks": 3, "faulty": 0, "names": 3, "cut": 0, "crowded": 0}


@pytest.mark.parametrize("width", [1280, 390])
def test_where_all_energy_lies_on_the_nodes_no_name_is_cut_by_the_chart(shown: Shown, width: int):
    window = {"width": width, "height": 844}
    found = shown(start="mode", mode=1, page=window).evaluate(STRUCK_THROUGH)
    assert found == {"marks": 3, "faulty": 0, "names": 2, "cut": 0, "crowded": 0}


def test_the_drums_stay_where_they_are_whatever_the_start(shown: Shown):
    widget = shown(page={"width": 720})
    tops = []
    for start in ("pluck", "eigenmode", "random"):
        Mouse(widget.page).press(widget.get_by_text(start, exact=True))
        agrees_with_course_lib(widget)
        tops.append(widget.evaluate(BOXES)[0]["top"])
    assert max(tops) - min(tops) < 1


def test_the_page_says_of_what_the_shares_are_where_a_current_runs_at_the_start(shown: Shown):
    widget = shown()
    told = widget.locator(".cw-drum-end")
    expect(told).not_to_contain_text("the wave’s start")
    widget.get_by_role("slider", name="Stirred").press("End")
    expect(told).to_contain_text("100 % is the wave’s start; heat has no current.")


def test_the_page_says_when_the_clock_stops_and_then_which_drum_rings_on(shown: Shown):
    widget = shown("ring")
    assert f"stops at t = {end_of(widget):.1f}" in widget.locator(".cw-drum-end").inner_text()
    verdict = widget.locator(".cw-drum-verdict")
    expect(verdict).to_have_attribute("data-outcome", "open")
    expect(verdict).to_have_text("So far: heat 100 %, wave 100 %, bracket 100 %.")
    look_at_time(widget, 1)
    expect(verdict).to_have_attribute("data-outcome", "good")
    agrees_with_course_lib(widget)
    drums = widget.evaluate(READ)["drums"]
    heat, wave, bracket = (drums[law]["told"][0] for law in LAWS)
    assert wave == "100\u00a0%"
    told = verdict.inner_text()
    assert told.startswith(f"✓ Wave rings on: {wave}. ✗ ")
    assert heat in told
    assert bracket in told


def test_curves_of_heat_and_bracket_that_lie_together_have_one_name(shown: Shown):
    widget = shown()
    assert widget.locator(".cw-drum-name").all_text_contents() == ["Wave", "Heat, bracket"]
    look_at_time(widget, 1)
    expect(widget.locator(".cw-drum-verdict")).to_contain_text("Heat and bracket alike")
    widget.get_by_role("slider", name="Stirred").press("End")
    names = widget.locator(".cw-drum-name")
    expect(names).to_have_count(3)
    look_at_time(widget, 1)
    expect(widget.locator(".cw-drum-verdict")).to_contain_text("%, bracket")


def test_on_its_first_run_the_chart_shows_what_has_been_and_no_name_tells_the_end(shown: Shown):
    widget = shown("ring", moving=True, page=CLOCK)
    hidden, names = widget.locator(".cw-drum-unseen"), widget.locator(".cw-drum-name")
    turn(widget, 4)
    assert hidden.count() == 1
    assert names.count() == 0
    cursor = widget.locator(".cw-cursor").bounding_box()["x"]
    assert hidden.bounding_box()["x"] == pytest.approx(cursor, abs=1.5)
    look_at_time(widget, 1)
    assert hidden.count() == 0
    assert names.count() > 0
    look_at_time(widget, 0.5)
    assert hidden.count() == 0
    widget.get_by_role("radio", name="random").check()
    turn(widget, 0.1)
    assert hidden.count() == 1


def test_a_drum_in_which_no_spring_is_stretched_says_so(shown: Shown):
    widget = shown("ring", start="mode", mode=0)
    expect(widget.locator(".cw-drum-verdict")).to_contain_text("all three stand still")


@pytest.mark.parametrize("law", LAWS)
def test_a_click_plucks_the_node_beneath_it_in_whichever_drum(shown: Shown, law: str):
    widget = shown(start="random", page=CLOCK)
    look_at_time(widget, 0.1)
    widget.page.mouse.click(*spot_of(widget, law, 12))
    turn(widget, 0.5)
    has(widget, start="pluck", node=12, height=1)
    assert plays(widget)


def test_a_drag_pulls_a_node_as_far_as_the_hand_goes_and_letting_go_plays(shown: Shown):
    widget = shown(height=0.0, page=CLOCK)
    x, y = spot_of(widget, "wave", 30)
    scale = widget.locator("[data-law=wave] svg").bounding_box()["width"] / 320
    mouse = widget.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 3, y + 30 * scale, steps=4)
    _, lift, _ = lift_of(decoded(spec_of(state_of(widget))["places"]))
    lifted = round(-30 / float(lift[30]), 2)
    assert rests(widget)
    np.testing.assert_allclose(state_of(widget)["height"], lifted, 0.05)
    assert time_of(widget) == 0
    mouse.up()
    turn(widget, 0.5)
    assert plays(widget)
    assert state_of(widget)["node"] == 30


def test_a_finger_plucks_by_a_tap_scrolls_by_a_swipe_and_pulls_by_the_ring(shown: Shown):
    widget = shown("ring", page=CLOCK | {"width": 390, "height": 844, "touch": True})
    widget.page.touchscreen.tap(*spot_of(widget, "bracket", 20))
    turn(widget, 0.5)
    has(widget, node=20, height=1)
    assert plays(widget)
    widget.get_by_role("button", name="Reset").click()
    turn(widget, 0.5)
    before = state_of(widget)
    x, y = spot_of(widget, "wave", 27)
    Finger(widget.page).drag((x, y), (x, y - 200))
    turn(widget, 0.5)
    assert str(state_of(widget)) == str(before)
    assert not plays(widget)
    x, y = spot_of(widget, "wave", before["node"])
    Finger(widget.page).drag((x, y), (x, y + 90))
    turn(widget, 0.5)
    assert state_of(widget)["height"] < 0.3
    assert state_of(widget)["node"] == before["node"]
    assert plays(widget)


def test_arrow_keys_choose_and_pull_a_node_and_enter_lets_go(shown: Shown):
    widget = shown("path", node=3, height=0.5, page=CLOCK)
    ring = widget.get_by_role("button", name="Double bracket: node")
    for key in ("ArrowRight", "Shift+ArrowRight", "ArrowDown", "Shift+ArrowDown", "ArrowUp"):
        ring.press(key)
    has(widget, node=9, height=0)
    ring.press("Shift+ArrowLeft")
    for _ in range(3):
        ring.press("Shift+ArrowLeft")
        ring.press("Shift+ArrowDown")
    assert rests(widget)
    has(widget, node=0, height=-1)
    assert not plays(widget)
    ring.press("Enter")
    turn(widget, 0.5)
    assert plays(widget)


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
        spots = [place_of(places, node, height) for node, height in enumerate(q)]
        drawn = np.array(widget.evaluate(COLOUR, [law, spots]))[:, :3]
        apart = torch.cdist(*2 * [torch.tensor(spots)]).fill_diagonal_(torch.inf).amin(0)
        assert (apart > ROOM).sum() > 12
        for node, colour in enumerate(drawn):
            if apart[node] < ROOM:
                continue  # a nearer node may hide it
            end, share = (up, q[node]) if q[node] > 0 else (down, -q[node])
            np.testing.assert_allclose(colour, rest + float(share) ** 0.6 * (end - rest), atol=4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_currents_have_the_colour_of_their_own_law_and_of_no_other(shown: Shown, theme: str):
    widget = shown(stir=1.0)
    widget.evaluate("(_, theme) => { document.documentElement.dataset.theme = theme; }", theme)
    look_at_time(widget, 0.01)
    agrees_with_course_lib(widget)
    for law in LAWS:
        found = widget.evaluate(INKED, law)
        assert found.keys() == set(LAWS)
        assert {own for own, pixels in found.items() if pixels > 20} == {law} - {"heat"}


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
            assert (110 - y) / 96 == pytest.approx(energy / unit, abs=2e-3)
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
    Mouse(widget.page).press(widget.get_by_text("random", exact=True))
    widget.get_by_role("button", name="Other heights").click()
    has(widget, start="random", seed=2)
