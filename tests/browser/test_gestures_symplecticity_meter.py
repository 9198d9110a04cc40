"""SymplecticityMeter by hand: rounds that close, a machine that runs away, tokens let go."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bare import Alone
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, centre
from kinds.symplecticity_meter import READ, pairs
from playwright.sync_api import Locator
from reading import eventually, state_of

from course_lib.widgets import SymplecticityMeter

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
WINDOW = np.array([[-0.6, -1.0], [-0.3, -1.2], [0.9, -0.35]])
MATRIX = np.array([[-0.87, -1.08], [-1.08, 1.9]])
STEPS = "(el, count) => { for (let i = 0; i < count; i += 1) el.click(); }"
CLOCK = {"clock": True}
LAST = "[aria-label^='token 3']"


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one SymplecticityMeter, still unless told otherwise; gives that widget."""

    def shown(
        z: Any = WINDOW, A: Any = MATRIX, *, page: dict[str, Any] | None = None, **given: Any
    ) -> Locator:
        return alone(SymplecticityMeter(z, A, **{"moving": False} | given), **page or {})

    return shown


def steps(widget: Locator, count: int) -> None:
    """Press the button as often, and wait for the picture."""
    widget.get_by_role("button", name="Step").evaluate(STEPS, count)
    observed(widget.page)


def outcome(widget: Locator) -> tuple[str, str]:
    found = widget.evaluate(READ)
    return found["outcome"], found["title"]


def travelled(widget: Locator) -> float:
    return float(widget.evaluate(READ)["travelled"])


def time_of(widget: Locator) -> float:
    return float(widget.evaluate(READ)["time"])


def rounds(widget: Locator) -> float:
    return float(widget.evaluate(READ)["told"][0])


def plays(widget: Locator) -> bool:
    return "❚❚ Pause" in widget.get_by_role("button").all_inner_texts()


# How far the texts of the picture reach over its edges, in pixels.
OVER_THE_EDGE = """(el) => {
  const edges = el.querySelector(".cw-meter-stage").getBoundingClientRect();
  return [...el.querySelectorAll(".cw-meter-stage :is(text, .cw-tick)")].map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return Math.max(edges.left - left, right - edges.right, edges.top - top, bottom - edges.bottom);
  });
}"""
TURNS = np.linspace(0, 2 * np.pi, 48, endpoint=False)
RING = np.stack([np.cos(TURNS), np.sin(TURNS)], axis=-1)


@pytest.mark.parametrize("begin", range(0, 48, 6))
@pytest.mark.parametrize("size", [0.25, 2.5])
def test_what_stands_at_the_start_of_a_loop_keeps_within_the_picture(
    shown: Shown, begin: int, size: float
):
    middle = np.clip(3 * RING[begin], size - 2.5, 2.5 - size)
    widget = shown(loop=middle + size * np.roll(RING, -begin, axis=0), page={"width": 390})
    for _ in range(2):
        found = widget.evaluate(OVER_THE_EDGE)
        assert len(found) == 4
        assert max(found) <= 0
        steps(widget, 60)


# Round a loop ----------------------------------------------------------------------------------


def test_on_opening_the_token_goes_round_by_itself_and_gains_on_every_round(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    turn(widget, 1)
    assert plays(widget)
    turn(widget, 60)
    assert rounds(widget) >= 6
    assert rests(widget)
    assert not plays(widget)
    kind, title = outcome(widget)
    assert kind == "bad"
    assert re.fullmatch(r"Each round gives \d\.\d+", title)
    assert "perpetual motion" in widget.locator("[data-outcome]").inner_text()
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Play").click()
    turn(widget, 0.5)
    assert plays(widget)
    assert 0 < rounds(widget) < 1


@pytest.mark.parametrize(
    "given", [{"formula": "full"}, {"softmax": "matrix"}, {"formula": "full", "softmax": "matrix"}]
)
def test_success_is_said_and_ticked_when_the_loop_closes_without_work(
    shown: Shown, given: dict[str, str]
):
    widget = shown(**given)
    steps(widget, 10)
    assert outcome(widget) == ("open", "The first round")
    assert widget.locator(".cw-tick").count() == 0
    steps(widget, 30)
    assert outcome(widget) == ("good", "Closed: no work")
    assert widget.locator(".cw-meter-stage .cw-tick").count() == 1
    assert widget.locator("[data-outcome] .cw-tick").count() == 1
    assert widget.locator("[data-reading=asymmetry]").text_content() == "0.00"
    agrees_with_course_lib(widget)


# Heights of the figure and of the tick, and how far the sentence reaches over its box, in pixels.
VERDICT = """(el) => {
  const box = el.querySelector("[data-outcome]");
  const [edges, told] = [box, box.querySelector("p")].map((e) => e.getBoundingClientRect());
  const over = Math.max(edges.left - told.left, told.right - edges.right,
    edges.top - told.top, told.bottom - edges.bottom);
  const height = el.querySelector(".cw").getBoundingClientRect().height;
  return { height, over, tick: box.querySelector("svg")?.getBoundingClientRect().height };
}"""


@pytest.mark.parametrize("width", [756, 374])
def test_the_tick_leaves_the_figure_its_height_and_the_sentence_its_box(shown: Shown, width: int):
    widget = shown(formula="full", page={"width": width})
    before = widget.evaluate(VERDICT)
    assert before["over"] <= 0
    steps(widget, 40)
    assert outcome(widget)[0] == "good"
    after = widget.evaluate(VERDICT)
    assert after["height"] == before["height"]
    assert after["over"] <= 0
    assert after["tick"] == 20


def test_the_other_way_round_the_token_loses_turns_back_and_runs_away(shown: Shown):
    widget = shown()
    widget.get_by_role("button", name="Turn round").click()
    steps(widget, 25)
    assert travelled(widget) > 0
    taken = re.fullmatch(r"Each round takes (\d\.\d+)", outcome(widget)[1])[1]
    left = widget.locator(".cw-meter-left").text_content()
    assert re.fullmatch(rf"\s*1 round: −{taken}\d*\s*", left)
    assert "slower" in widget.locator("[data-outcome]").inner_text()
    agrees_with_course_lib(widget)
    steps(widget, 80)
    assert travelled(widget) < 0
    assert outcome(widget)[1] == f"Each round the other way gives {taken}"
    agrees_with_course_lib(widget)


def test_a_choice_begins_again_from_the_start(shown: Shown):
    widget = shown()
    steps(widget, 12)
    assert travelled(widget) > 0
    Mouse(widget.page).press(widget.get_by_text("both", exact=True))
    eventually(widget, lambda: np.testing.assert_equal(travelled(widget), 0.0))
    assert not plays(widget)


def test_the_loop_is_dragged_with_its_token_and_keeps_its_shape(shown: Shown):
    widget = shown()
    before = state_of(widget)["loop"]
    x, y = centre(widget.locator("[aria-label^='loop of token 3'] circle").first)
    scale = 5.5 / widget.locator(".cw-meter-stage").bounding_box()["width"]
    Mouse(widget.page).drag((x, y), (x - 60, y - 40))

    def has_moved() -> None:
        step = state_of(widget)["loop"] - before
        np.testing.assert_allclose(step, np.tile([-60 * scale, 40 * scale], (96, 1)), atol=0.02)

    eventually(widget, has_moved)
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("hand", ["mouse", "finger"])
def test_a_loop_of_ones_own_is_drawn_in_one_stroke(shown: Shown, hand: str):
    touch = hand == "finger"
    page = {"width": 390, "height": 844, "touch": True} if touch else {}
    widget = shown(page=page | {"below": '<div style="height: 300vh"></div>'})
    widget.get_by_role("button", name="Draw a loop").click()
    sheet = widget.locator(".cw-meter-sheet")
    x, y = centre(sheet)
    corners = [(x + dx, y + dy) for dx, dy in ((-80, -80), (80, -80), (80, 80), (-80, 80))]
    scrolled = widget.page.evaluate("() => scrollY")
    stroke(widget, corners, touch=touch)
    eventually(widget, lambda: np.testing.assert_equal(sheet.count(), 0))
    assert widget.page.evaluate("() => scrollY") == scrolled
    scale = 5.5 / widget.locator(".cw-meter-stage").bounding_box()["width"]
    loop = state_of(widget)["loop"]
    assert loop.mean(dim=0).tolist() == pytest.approx([0, 0], abs=0.1)
    assert loop.abs().max() == pytest.approx(80 * scale, rel=0.1)
    steps(widget, 3)
    agrees_with_course_lib(widget)


def stroke(widget: Locator, corners: list[tuple[float, float]], *, touch: bool) -> None:
    """One line through the corners and back to the first."""
    [first, *rest] = [*corners, corners[0]]
    if touch:
        finger = Finger(widget.page)
        finger._touch("touchStart", first)
        for corner in rest:
            finger._touch("touchMove", corner)
        finger._touch("touchEnd")
        return
    mouse = widget.page.mouse
    mouse.move(*first)
    mouse.down()
    for corner in rest:
        mouse.move(*corner, steps=6)
    mouse.up()


def test_a_dot_is_no_loop_and_the_sheet_waits_for_another(shown: Shown):
    widget = shown()
    before = state_of(widget)["loop"]
    widget.get_by_role("button", name="Draw a loop").click()
    widget.page.mouse.click(*centre(widget.locator(".cw-meter-sheet")))
    observed(widget.page)
    assert state_of(widget)["loop"].equal(before)
    widget.get_by_role("button", name="Draw nothing").click()
    eventually(
        widget, lambda: np.testing.assert_equal(widget.locator(".cw-meter-sheet").count(), 0)
    )


# Let go ----------------------------------------------------------------------------------------


def test_a_token_that_is_held_stops_all_and_all_go_on_when_it_is_let_go(shown: Shown):
    widget = shown(experiment="free", moving=True, page=CLOCK)
    turn(widget, 0.5)
    assert plays(widget)
    assert time_of(widget) > 0.5
    x, y = centre(widget.locator(LAST))
    mouse = widget.page.mouse
    mouse.move(x, y)
    mouse.down()
    before = pairs(widget.evaluate(READ)["places"])
    mouse.move(x + 20, y - 15, steps=3)
    assert rests(widget)
    assert not plays(widget)
    assert time_of(widget) == 0
    places = pairs(widget.evaluate(READ)["places"])
    np.testing.assert_allclose(places[:2], before[:2], atol=1e-5)
    assert not np.allclose(places[2], before[2], atol=0.1)
    mouse.up()
    turn(widget, 0.5)
    assert plays(widget)
    assert time_of(widget) > 0.5


@pytest.mark.parametrize(("formula", "kind"), [("full", "good"), ("shortcut", "bad")])
def test_free_tokens_keep_their_energy_if_the_force_has_one(shown: Shown, formula: str, kind: str):
    widget = shown(experiment="free", formula=formula)
    assert outcome(widget)[0] == "open"
    steps(widget, 80)
    assert outcome(widget)[0] == kind
    agrees_with_course_lib(widget)


# Everywhere ------------------------------------------------------------------------------------


def test_readers_who_asked_for_less_motion_find_it_still_and_step(shown: Shown):
    widget = shown(moving=True, page=CLOCK | {"reduced_motion": True})
    assert rests(widget)
    assert travelled(widget) == 0
    steps(widget, 4)
    assert rests(widget)
    assert travelled(widget) > 0
    widget.get_by_role("button", name="Turn round").click()
    assert rests(widget)
    assert travelled(widget) == 0
    agrees_with_course_lib(widget)


def test_tab_moves_nothing_that_was_paused(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    turn(widget, 0.5)
    widget.get_by_role("button", name="Pause").click()
    widget.locator(".cw-handle[tabindex]").first.focus()
    widget.page.keyboard.press("Tab")
    assert rests(widget)
    assert not plays(widget)


@pytest.mark.parametrize("experiment", ["loop", "free"])
def test_no_force_at_all_does_no_work(shown: Shown, experiment: str):
    widget = shown(A=np.zeros((2, 2)), experiment=experiment)
    steps(widget, 100)
    assert outcome(widget)[0] == "good"
    assert "NaN" not in widget.locator(".cw").evaluate("el => el.outerHTML")
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("experiment", ["loop", "free"])
@pytest.mark.parametrize("formula", ["full", "shortcut"])
def test_a_force_of_any_size_is_drawn_without_a_strange_number(
    shown: Shown, formula: str, experiment: str
):
    widget = shown(2 * WINDOW, 50 * MATRIX, formula=formula, experiment=experiment)
    steps(widget, 5)
    found = re.search("NaN|Infinity|undefined", widget.locator(".cw").evaluate("e => e.outerHTML"))
    assert found is None


def test_one_token_and_six_are_drawn(shown: Shown):
    for z in ([[0.5, -0.5]], np.linspace(-2, 2, 12).reshape(6, 2)):
        widget = shown(z)
        steps(widget, 5)
        agrees_with_course_lib(widget)


def test_in_a_column_of_200_pixels_nothing_sticks_out(shown: Shown):
    widget = shown(page={"width": 200})
    assert widget.page.evaluate("() => document.documentElement.scrollWidth") <= 200


COVERED = """(el) => {
  const words = el.querySelector(".cw-meter-left").getBoundingClientRect();
  return [...el.querySelectorAll("[aria-label^='token '] g > circle:first-child")].some((disc) => {
    const { left, right, top, bottom } = disc.getBoundingClientRect();
    return left < words.right && right > words.left && top < words.bottom && bottom > words.top;
  });
}"""


@pytest.mark.parametrize("width", [756, 374])
def test_what_is_left_is_told_where_no_token_is_held(shown: Shown, width: int):
    beside = [[-1.5, -0.4], [-1.4, -1.3], [-0.2, 0.0]]
    for window in (beside, [[1.9, 0.1], [1.2, -0.2], [0.0, 0.0]]):
        widget = shown(z=window, page={"width": width})
        assert not widget.evaluate(COVERED)
        steps(widget, 25)
        assert not widget.evaluate(COVERED)


def test_who_gets_a_machine_is_asked_what_takes_it_away(shown: Shown):
    widget = shown()
    before = widget.locator(".cw").bounding_box()
    steps(widget, 25)
    assert "does the machine still run?" in widget.locator(".cw-meter > .cw-hint").inner_text()
    assert widget.locator(".cw").bounding_box() == before


def test_on_a_telephone_the_picture_has_the_width_and_its_choices_stand_below(shown: Shown):
    widget = shown(page={"width": 390})
    stage = widget.locator(".cw-meter-stage").bounding_box()
    choices = widget.locator(".cw-meter-choices").bounding_box()
    assert choices["y"] >= stage["y"] + stage["height"]
    assert stage["width"] == pytest.approx(widget.locator(".cw-meter").bounding_box()["width"])
