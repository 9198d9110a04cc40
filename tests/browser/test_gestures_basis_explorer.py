"""BasisExplorer by hand: nodes moved, rods drawn, the temperature swinging by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import numpy as np
import pytest
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, centre, open_folds, spot
from kinds.basis_explorer import READ
from looks import SPILLED
from playwright.sync_api import Locator, expect
from reading import NUMBER, eventually, state_of
from small_widgets import basis_field

from course_lib.rod_field import load_rod_field
from course_lib.widgets import BasisExplorer
from course_lib.widgets.basis_explorer import read_off

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one BasisExplorer, still unless told otherwise, and gives that widget."""

    def shown(
        page: dict[str, Any] | None = None, *, trained: bool = False, **given: Any
    ) -> Locator:
        field = load_rod_field() if trained else basis_field()
        widget = alone(BasisExplorer(*field, **{"moving": False} | given), **page or {})
        if given.get("mode") == "rod":
            open_folds(widget)
        return widget

    return shown


def node(widget: Locator, i: int) -> Locator:
    return widget.get_by_role("button", name=f"node {i} at")


def panel(widget: Locator, label: str) -> Locator:
    return widget.get_by_role("group", name=label)


def warmth(widget: Locator) -> float:
    return widget.evaluate(READ)["warmth"]


def errors(widget: Locator) -> list[float]:
    return [float(NUMBER.match(text)[0]) for text in widget.evaluate(READ)["error"]]


def test_a_node_stays_between_its_neighbours_and_an_end_at_its_end(shown: Shown):
    widget = shown()
    mouse = Mouse(widget.page)
    x, y = centre(node(widget, 3))
    mouse.drag((x, y), (x + 2000, y + 20))
    eventually(widget, lambda: assert_close(state_of(widget)["points"][2, 0], 0.59))
    agrees_with_course_lib(widget)
    x, y = centre(node(widget, 1))
    mouse.drag((x, y), (x + 200, y - 2000))
    eventually(widget, lambda: assert_close(state_of(widget)["points"][0, 1], 1.5))
    assert state_of(widget)["points"][0, 0] == 0
    agrees_with_course_lib(widget)


def assert_close(found: float, wanted: float) -> None:
    assert float(found) == pytest.approx(wanted, abs=1e-3)


def test_more_even_nodes_bring_hats_nearer_to_the_curve_and_not_a_softmax_that_stays_warm(
    shown: Shown,
):
    widget = shown(temperature=0.02)
    nodes = widget.get_by_role("slider", name="Number of nodes")
    before = errors(widget)
    nodes.press("End")
    eventually(widget, lambda: assert_close(len(state_of(widget)["points"]), 16))
    agrees_with_course_lib(widget)
    assert (state_of(widget)["points"].numpy() == read_off_as_sent(16)).all()
    assert errors(widget)[0] < before[0] / 4
    assert errors(widget)[1] > before[1] / 4


def read_off_as_sent(count: int) -> Any:
    return BasisExplorer(*basis_field(), points=read_off(np.linspace(0, 1, count))).points


@pytest.mark.parametrize(
    ("nodes", "temperature", "told"),
    [
        (4, 0.0152, "✓ Beats the hats"),
        (6, 0.0152, "✓ About right"),
        (6, 0.001, "✗ Too cold"),
        (6, 0.05, "✗ Too hot"),
    ],
)
def test_the_question_is_answered_as_the_gaps_are(
    shown: Shown, nodes: int, temperature: float, told: str
):
    widget = shown(points=read_off(np.linspace(0, 1, nodes)), temperature=temperature)
    agrees_with_course_lib(widget)
    answer = widget.locator(".cw-b-asks [data-outcome]")
    assert answer.get_attribute("data-outcome") == ("good" if told.startswith("✓") else "bad")
    assert answer.inner_text().startswith(told)
    node(widget, 2).press("ArrowDown")
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_number_of_the_temperature_keeps_clear_of_its_button(shown: Shown, width: int):
    widget = shown(temperature=0.00149, page={"width": width})
    number = widget.locator(".cw-b-warmth output").evaluate(
        "(el) => { const r = document.createRange(); r.selectNodeContents(el);"
        " return r.getBoundingClientRect().right; }"
    )
    button = widget.get_by_role("button", name="Swing").bounding_box()
    assert number < button["x"] - 4


def test_a_press_beside_the_nodes_moves_the_query(shown: Shown):
    widget = shown()
    widget.page.mouse.click(*spot(panel(widget, "Nodes with their values"), 0.9))
    eventually(widget, lambda: assert_query_beyond(widget, 0.85))
    agrees_with_course_lib(widget)


def assert_query_beyond(widget: Locator, least: float) -> None:
    assert state_of(widget)["query"] > least


def test_the_temperature_swings_at_once_and_a_hand_on_its_slider_holds_it(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    turn(widget, 1)
    assert warmth(widget) < 0.004
    agrees_with_course_lib(widget)
    widget.get_by_role("slider", name="Temperature").press("ArrowRight")
    turn(widget, 1)
    assert widget.get_by_role("button", name="Swing").is_visible()
    assert_close(warmth(widget) / state_of(widget)["temperature"], 1)
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("touch", ["a node", "their number", "a rod"])
def test_a_temperature_that_swings_is_held_for_what_is_compared(shown: Shown, touch: str):
    widget = shown(moving=True, page={"clock": True})
    turn(widget, 1)
    assert warmth(widget) < 0.01
    if touch == "a node":
        node(widget, 2).press("ArrowUp")
    elif touch == "their number":
        widget.get_by_role("slider", name="Number of nodes").press("End")
    else:
        widget.get_by_role("radio", name="a rod").check()
    turn(widget, 9)  # a flame goes along the rod first
    open_folds(widget)
    assert widget.get_by_role("button", name="Swing").is_visible()
    assert rests(widget)
    agrees_with_course_lib(widget)
    if touch == "a rod":
        assert warmth(widget) == 0.014
        assert "at τ = 0.014" in widget.locator("[data-reading=error]").inner_text().replace(
            "\u00a0", " "
        )


def test_a_swing_passes_what_is_too_cold_and_too_hot_and_ends_where_it_began(shown: Shown):
    widget = shown(moving=True, page={"clock": True})
    for told in ("✗ Too cold", "✓ About right", "✗ Too hot", "✓ About right"):
        turn(widget, 3)
        assert widget.locator(".cw-b-asks b").inner_text() == told
    turn(widget, 0.2)
    assert widget.get_by_role("button", name="Swing").is_visible()
    assert warmth(widget) == 0.014
    assert rests(widget)


def test_reset_in_a_rod_names_the_nodes_it_goes_back_to(shown: Shown):
    widget = shown()
    widget.get_by_role("radio", name="a rod").check()
    assert "to the 6 nodes, τ =\u00a00.014" in widget.locator(".cw-foot").inner_text()
    widget.get_by_role("button", name="Reset").click()
    assert state_of(widget)["mode"] == "nodes"


def test_nothing_swings_for_readers_who_asked_for_less_motion(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True, "clock": True})
    assert rests(widget)
    assert warmth(widget) == 0.014


def flame(widget: Locator) -> float:
    return widget.evaluate(READ)["flame"]


@pytest.mark.parametrize("way", ["a choice", "a link", "the first mode"])
def test_when_a_rod_is_first_seen_a_flame_warms_it_and_goes_out(shown: Shown, way: str):
    mode = "rod" if way == "the first mode" else "nodes"
    widget = shown(moving=True, mode=mode, page={"clock": True})
    if way == "a choice":
        widget.get_by_role("radio", name="a rod").check()
    elif way == "a link":
        widget.page.evaluate("() => { location.hash = 'fig-basis-explorer?mode=rod'; }")
    turn(widget, 2)
    assert flame(widget) > 0
    turn(widget, 7)
    assert flame(widget) == 0
    agrees_with_course_lib(widget)
    assert (state_of(widget)["load"].numpy() == BasisExplorer(*basis_field()).load).all()
    assert rests(widget)
    for name in ("nodes and values", "a rod"):
        widget.get_by_role("radio", name=name).check()
        turn(widget, 0.1)
    assert flame(widget) == 0


@pytest.mark.parametrize("moving", [True, False])
def test_after_the_flame_a_plug_leads_the_trained_field_astray_also_at_a_press(
    shown: Shown, *, moving: bool
):
    widget = shown(moving=moving, mode="rod", trained=True, page={"clock": True})
    if not moving:
        assert flame(widget) == 0
        widget.get_by_role("button", name="Flame, plug").click()
    for seconds, way, told in ((2, 0.5, "✓ It keeps up"), (2.6, 1.15, "✗ It is led astray")):
        turn(widget, seconds)
        assert flame(widget) == pytest.approx(way, abs=0.02)
        assert widget.locator(".cw-b-keeps").inner_text().startswith(told)
        agrees_with_course_lib(widget)


def test_a_hand_puts_the_flame_out_and_draws_on_the_rod_as_it_was(shown: Shown):
    widget = shown(moving=True, mode="rod", page={"clock": True})
    ring = widget.get_by_role("button", name="Conductivity")
    ring.focus()
    widget.page.keyboard.press("Shift")
    turn(widget, 1)
    assert flame(widget) > 0
    ring.press("ArrowUp")
    assert rests(widget)
    assert flame(widget) == 0
    agrees_with_course_lib(widget)
    assert (state_of(widget)["load"].numpy() == BasisExplorer(*basis_field()).load).all()


@pytest.mark.parametrize("page", [{"reduced_motion": True}, {}])
def test_no_flame_for_readers_of_less_motion_or_a_rod_that_is_not_to_move(
    shown: Shown, page: dict[str, Any]
):
    widget = shown(moving=bool(page), mode="rod", page={"clock": True} | page)
    assert rests(widget)
    assert flame(widget) == 0


def test_what_is_nearest_has_its_mark(shown: Shown):
    widget = shown(mode="rod", trained=True)
    told = errors(widget)
    lines = widget.locator("[data-reading=error] > span").all_inner_texts()
    assert ["✓" in line for line in lines] == [error == min(told) for error in told]


@pytest.mark.parametrize("name", ["Conductivity", "Heat"])
def test_a_mouse_draws_anywhere_on_a_curve_and_the_trained_field_follows(shown: Shown, name: str):
    widget = shown(mode="rod", trained=True)
    before = widget.evaluate(READ)["lines"]["learned"]
    x, y = spot(panel(widget, name), 0.7)
    Mouse(widget.page).drag((x, y), (x + 40, y - 30))
    agrees_with_course_lib(widget)
    assert widget.evaluate(READ)["lines"]["learned"] != before
    [trait, other] = ["log_conductivity", "load"][:: 1 if name == "Conductivity" else -1]
    first = BasisExplorer(*basis_field())
    state = state_of(widget)
    assert abs(state[trait].numpy() - getattr(first, trait)).max() > 0.5
    assert (state[other].numpy() == getattr(first, other)).all()


@pytest.mark.parametrize("steps", [5, 100])
def test_a_curve_ends_at_the_height_of_the_hand_that_drew_it(shown: Shown, steps: int):
    widget = shown(mode="rod")
    board = panel(widget, "Conductivity")
    (left, y), (right, _) = spot(board, 0.3), spot(board, 0.8)
    mouse = widget.page.mouse
    mouse.move(left, y - 20)
    mouse.down()
    mouse.move(right, y - 20, steps=steps)
    mouse.up()
    eventually(widget, lambda: assert_drawn_level(widget, 20 * 2 * 3.8 / 120))
    agrees_with_course_lib(widget)


def assert_drawn_level(widget: Locator, height: float) -> None:
    drawn = state_of(widget)["log_conductivity"].numpy()[40:85]
    assert abs(drawn - height).max() < 0.04


@pytest.mark.parametrize("mode", ["nodes", "rod"])
def test_a_hand_that_draws_across_labels_selects_no_text(shown: Shown, mode: str):
    widget = shown(mode=mode)
    page = widget.page
    page.evaluate("() => { window.drags = 0; ondragstart = () => { drags += 1; }; }")
    for board in widget.locator(".cw-layers:has(svg[role=group])").all():
        label = board.locator("text").first
        assert label.evaluate("(el) => el.textContent.length") > 0
        for _ in range(2):
            x, y = centre(label)
            Mouse(page).drag((x - 3, y), (x + 150, y + 15))
    assert page.evaluate("() => [getSelection().toString(), drags]") == ["", 0]


@pytest.mark.parametrize("width", [1280, 800, 700, 390])
def test_the_heaviest_weight_at_the_query_lies_within_each_panel(shown: Shown, width: int):
    widget = shown(mode="rod", trained=True, page={"width": width})
    boxes = widget.locator("[data-basis]").evaluate_all(
        """(panels) => panels.map((e) => {
          const [panel, dot] = [".cw-layers", "circle"].map((name) =>
            e.querySelector(name).getBoundingClientRect());
          const across = e.querySelector("svg").viewBox.baseVal.width;
          return [across - panel.width, dot.top - panel.top, panel.bottom - dot.bottom,
            dot.left - panel.left, panel.right - dot.right];
        })"""
    )
    assert len(boxes) == 3
    for stretched, *rooms in boxes:
        assert abs(stretched) < 1
        assert min(rooms) > 0


def test_on_paper_the_figure_tells_its_temperature_and_query_and_offers_no_button(shown: Shown):
    widget = shown(temperature=0.003, query=0.25)
    widget.page.emulate_media(media="print")
    told = widget.inner_text()
    assert "x = 0.25" in told.replace("\u00a0", " ")
    assert "τ = 0.00300" in told.replace("\u00a0", " ")
    assert widget.locator("button:visible, input:visible").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_slider_of_the_temperature_has_room(shown: Shown, width: int):
    widget = shown(page={"width": width})
    assert widget.get_by_role("slider", name="Temperature").bounding_box()["width"] > 100


def test_nothing_spills_out_of_a_narrow_card_of_the_book(shown: Shown):
    for width in range(320, 400, 20):
        assert shown(page={"width": width}).evaluate(SPILLED) == []


def test_on_a_telephone_the_errors_stand_below_the_curves_that_change_them(shown: Shown):
    widget = shown(mode="rod", page={"width": 390, "height": 844, "touch": True})
    ring = widget.get_by_role("button", name="Conductivity").bounding_box()
    error = widget.locator("[data-reading=error]").bounding_box()
    solution = panel(widget, "Temperature u along").bounding_box()
    assert 0 < error["y"] - ring["y"] < 330
    assert solution["y"] + solution["height"] - ring["y"] < 600


def test_the_ring_moves_along_a_curve_without_changing_it(shown: Shown):
    widget = shown(mode="rod")
    before = state_of(widget)["load"]
    ring = widget.get_by_role("button", name="Heat f")
    told = ring.get_attribute("aria-label")
    ring.press("ArrowRight")
    eventually(widget, lambda: assert_told_otherwise(ring, told))
    assert (state_of(widget)["load"] == before).all()


def assert_told_otherwise(ring: Locator, told: str | None) -> None:
    assert ring.get_attribute("aria-label") != told


def test_a_finger_pulls_the_ring_and_elsewhere_scrolls_the_page(shown: Shown):
    widget = shown(mode="rod", page={"width": 390, "height": 844, "touch": True})
    before = state_of(widget)["log_conductivity"]
    finger = Finger(widget.page)
    x, y = spot(panel(widget, "Conductivity"), 0.8)
    finger.drag((x, y), (x - 10, y - 30))
    assert (state_of(widget)["log_conductivity"] == before).all()
    x, y = centre(widget.get_by_role("button", name="Conductivity"))
    finger.drag((x, y), (x, y - 30))
    eventually(widget, lambda: assert_changed(widget, before))
    agrees_with_course_lib(widget)


def assert_changed(widget: Locator, before: Any) -> None:
    assert (state_of(widget)["log_conductivity"] != before).any()


def test_a_trained_field_is_nearer_than_one_that_nobody_trained(shown: Shown):
    widget = shown(mode="rod", trained=True)
    for _ in range(4):
        widget.get_by_role("button", name="Another rod").click()
        agrees_with_course_lib(widget)
        assert errors(widget)[2] < 30
    assert min(errors(shown(mode="rod"))[2:]) > 60


def test_constant_stuff_under_constant_heat_is_a_parabola(shown: Shown):
    widget = shown(mode="rod")
    for name in ("Constant k", "Constant heat"):
        widget.get_by_role("button", name=name).click()
    agrees_with_course_lib(widget)
    line = widget.evaluate(READ)["lines"]["wanted"]
    top, foot = min(y for _, y in line), line[0][1]
    left, right = line[0][0], line[-1][0]
    for x, y in line:
        share = (x - left) / (right - left)
        assert (foot - y) / (foot - top) == pytest.approx(4 * share * (1 - share), abs=0.01)


def test_without_heat_there_is_no_share_to_be_off_by(shown: Shown):
    widget = shown(mode="rod", load=[0.0] * 125)
    assert widget.evaluate(READ)["error"] == ["no share of 0"] * 3


def test_each_head_has_weights_of_its_own_and_they_leave_the_answer_alone(shown: Shown):
    widget = shown(mode="rod", trained=True)
    before = widget.evaluate(READ)
    Mouse(widget.page).choose(widget.get_by_role("radio", name="2", exact=True))
    eventually(widget, lambda: assert_head(widget, 1))
    agrees_with_course_lib(widget)
    after = widget.evaluate(READ)
    assert after["lines"] == before["lines"]
    assert after["most"][:2] == before["most"][:2]
    assert after["most"][2] != before["most"][2]


def assert_head(widget: Locator, head: int) -> None:
    assert state_of(widget)["head"] == head


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("mode", ["nodes", "rod"])
def test_axe_finds_nothing_in_either_mode(shown: Shown, mode: str, theme: str):
    page = shown(mode=mode).page
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
    page.evaluate(AXE)
    found = page.evaluate("async () => (await axe.run('.cw')).violations.map((v) => v.id)")
    assert found == []


def test_the_address_keeps_the_rod_whatever_is_drawn_on_it(shown: Shown):
    widget = shown()
    page = widget.page
    page.get_by_text("a rod, and the field that learned").click()
    page.wait_for_url("**#fig-basis-explorer?mode=rod")
    for name in ("Another rod", "Constant k"):
        widget.get_by_role("button", name=name).click()
    open_folds(widget)
    widget.get_by_role("slider", name="Query x").fill("0.25")
    page.wait_for_url("**#fig-basis-explorer?mode=rod&query=0.25")
    page.reload()
    eventually(widget, lambda: assert_rod_at(widget, 0.25))
    agrees_with_course_lib(widget)


def assert_rod_at(widget: Locator, query: float) -> None:
    state = state_of(widget)
    assert (state["mode"], state["query"]) == ("rod", query)


# In which panel, with which name, where and whether within it what goes along a rod is seen.
GUESTS = """(el) => [...el.querySelectorAll(".cw-b-guest")].map((name) => {
  const box = name.getBBox();
  const panel = name.closest("[data-measure]");
  const within = box.x >= 0 && box.y >= 0 && box.x + box.width <= panel.clientWidth &&
    box.y + box.height <= panel.clientHeight;
  return [`${panel.dataset.measure} ${name.textContent}`, Number(name.getAttribute("x")), within];
})"""


def test_what_goes_along_a_rod_bears_its_name_until_it_is_gone(shown: Shown):
    widget = shown(mode="rod", page={"clock": True})
    widget.get_by_role("button", name="Flame, plug").click()
    for named in ("load flame", "log_conductivity plug"):
        places = []
        for _ in range(4):
            turn(widget, 0.9)
            [[name, x, within]] = widget.evaluate(GUESTS)
            assert (name, within) == (named, True)
            places.append(x)
        assert places == sorted(set(places))
        turn(widget, 0.4)
    turn(widget, 0.1)
    assert widget.evaluate(GUESTS) == []


def test_a_rod_has_the_line_of_its_query_beside_the_weights_alone(shown: Shown):
    widget = shown(mode="rod")
    line = widget.locator("[data-measure=load] .cw-b-query")
    expect(line).not_to_have_css("display", "none")  # the weights are open
    widget.locator(".cw-fold:has(.cw-b-bases) summary").click()
    expect(line).to_have_css("display", "none")
    widget.get_by_label("nodes and values").check()
    expect(widget.locator("[data-measure=wide] .cw-b-query")).not_to_have_css("display", "none")


@pytest.mark.parametrize("width", [390, 756, 1280])
def test_no_answer_moves_the_picture_below_it(shown: Shown, width: int):
    places = set()
    for warmth in (0.0152, 0.001, 0.05):
        widget = shown(temperature=warmth, page={"width": width})
        answer = widget.locator(".cw-b-asks")
        places.add(round(answer.bounding_box()["height"], 1))
    assert len(places) == 1
