"""What GateExplorer does while its reader types and points, for each kind of network."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import centre
from letters import says
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, eventually, state_of

from course_lib import recurrent
from course_lib.widgets import GateExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def explorer(
    kind: str, *, units: int = 6, labels: int = 2, text: str = "maria", **given: bool
) -> GateExplorer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        cell = getattr(recurrent, kind)(len(ALPHABET), units)
        readout = torch.nn.Linear(units, max(1, labels))
    with torch.no_grad():
        for parameter in (*cell.parameters(), *readout.parameters()):
            parameter.mul_(4)
    names = [f"label {i}" for i in range(labels)]
    opinion = {"readout": readout, "labels": names} if labels else {}
    options = {"all_units": True, "moving": False} | given
    return GateExplorer(cell, ALPHABET, text=text, **opinion, **options)


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with one GateExplorer, and gives it."""

    def shown(
        kind: str = "LSTM", *, width: int = 1280, page: dict[str, Any] | None = None, **given: Any
    ) -> Locator:
        return alone(explorer(kind, **given), width=width, **(page or {}))

    return shown


@pytest.mark.parametrize(
    ("kind", "labels"), [("LSTM", 2), ("LSTM", 0), ("GRU", 3), ("GRU", 2), ("RNN", 6), ("RNN", 2)]
)
def test_every_quantity_in_every_order_is_what_course_lib_computes(
    shown: Callable[..., Locator], kind: str, labels: int
):
    widget = shown(kind, labels=labels)
    state = state_of(widget)
    for order in state["orders"]:
        for place, quantity in enumerate(state["quantities"]):
            widget.evaluate(
                """(el, changes) => {
                  for (const [name, to] of changes) el.courseModel.set(name, to);
                }""",
                [
                    ["order", order],
                    ["quantity", quantity],
                    ["unit", place % 6],
                    ["letter", place % 5],
                ],
            )
            agrees_with_course_lib(widget)
    for quantity in state["quantities"]:
        change = "(el, [name, to]) => el.courseModel.set(name, to)"
        widget.evaluate(change, ["quantity", quantity])
        widget.evaluate(change, ["all_units", False])
        agrees_with_course_lib(widget)


def test_a_word_is_read_while_it_is_typed(shown: Callable[..., Locator]):
    widget = shown(text="a", page={"clock": True})
    widget.evaluate(NOTE_VALUES, "letter")
    field = widget.get_by_label("Type a word")
    field.click()
    widget.page.keyboard.press("End")
    for typed in ("an", "anna", "anna lisa"):
        widget.page.keyboard.type(typed[len(field.input_value()) :])
        assert state_of(widget)["text"] == typed
        turn(widget, 8)
        assert widget.evaluate(VALUES) == list(range(1, len(typed)))
        assert_settled(widget)
        agrees_with_course_lib(widget)
    for _ in range(3):
        widget.page.keyboard.press("Backspace")
    assert state_of(widget)["text"] == "anna l"
    agrees_with_course_lib(widget)


def assert_settled(widget: Locator) -> None:
    assert float(widget.locator(".cw-g-vessel").get_attribute("data-share")) == 1


def test_enter_pours_the_whole_word_in_again(shown: Callable[..., Locator]):
    widget = shown(text="ada", page={"clock": True})
    widget.evaluate(NOTE_VALUES, "letter")
    widget.get_by_label("Type a word").press("Enter")
    turn(widget, 0.1)
    assert widget.get_by_role("button", name="Pause").is_visible()
    turn(widget, 6)
    assert widget.get_by_role("button", name="Read").is_visible()
    assert widget.evaluate(VALUES) == [0, 1, 2]
    assert_settled(widget)
    agrees_with_course_lib(widget)


def test_a_name_typed_over_another_pours_in_from_its_first_letter(shown: Callable[..., Locator]):
    widget = shown(text="maria", page={"clock": True})
    widget.evaluate(NOTE_VALUES, "letter")
    widget.get_by_label("Type a word").fill("otto")
    turn(widget, 8)
    assert widget.evaluate(VALUES) == [0, 1, 2, 3]
    assert_settled(widget)
    agrees_with_course_lib(widget)


def test_no_number_comes_before_the_water_has_settled(shown: Callable[..., Locator]):
    widget = shown(text="ada", moving=True, all_units=False, page={"clock": True})
    opinion = widget.locator(".cw-g-opinion")
    for seconds, told in ((1.2, "No letter yet"), (0.2, "Opinion after a")):
        turn(widget, seconds)
        assert told in opinion.inner_text()
        agrees_with_course_lib(widget)


def test_the_glass_tells_the_letter_whose_gates_it_shows(shown: Callable[..., Locator]):
    widget = shown(labels=2, all_units=False, page={"clock": True})
    glass = widget.locator(".cw-g-vessel")
    assert "after a" in glass.text_content()
    widget.get_by_role("button", name="Next letter").click()
    for told in ("reading m", "after m"):
        turn(widget, 1)
        assert told in glass.text_content()


def test_a_long_complaint_leaves_the_buttons_as_high_as_they_are(shown: Callable[..., Locator]):
    widget = shown(width=704)
    button = widget.get_by_role("button", name="Next letter")
    before = button.bounding_box()["height"]
    widget.get_by_role("textbox").fill("stra1ße")
    widget.get_by_text("never seen 1").wait_for()
    assert button.bounding_box()["height"] == before


def test_a_letter_typed_in_the_middle_is_the_one_that_is_looked_at(shown: Callable[..., Locator]):
    widget = shown(text="mria")
    widget.get_by_label("Type a word").click()
    widget.page.keyboard.press("Home")
    widget.page.keyboard.press("ArrowRight")
    widget.page.keyboard.type("a")
    assert state_of(widget)["text"] == "maria"
    assert state_of(widget)["letter"] == 1
    agrees_with_course_lib(widget)


@pytest.mark.parametrize(
    ("typed", "words"), [("<img src=x>", "never seen <, =, >."), ("", "at least one letter")]
)
def test_a_text_that_cannot_be_read_is_refused_in_words_and_not_run(
    shown: Callable[..., Locator], typed: str, words: str
):
    widget = shown(text="maria")
    field = widget.get_by_label("Type a word")
    field.fill(typed)
    says(widget, words)
    says(widget, "You still see maria.")
    assert field.input_value() == typed
    assert field.get_attribute("aria-invalid") == "true"
    assert state_of(widget)["text"] == "maria"
    agrees_with_course_lib(widget)
    field.fill("mario")
    says(widget, "")
    assert field.get_attribute("aria-invalid") == "false"
    agrees_with_course_lib(widget)


def test_a_text_set_from_outside_appears_in_the_field(shown: Callable[..., Locator]):
    widget = shown(text="maria")
    widget.evaluate("({ courseModel: m }) => { m.set('letter', 1); m.set('text', 'jo'); }")
    expect(widget.get_by_label("Type a word")).to_have_value("jo")
    agrees_with_course_lib(widget)


def test_pointing_previews_a_unit_and_a_letter_and_a_click_keeps_them(
    shown: Callable[..., Locator],
):
    widget = shown(text="maria")
    page, cells = widget.page, widget.get_by_role("slider", name="Letter and unit")
    centre(cells)
    box = cells.bounding_box()

    def at(unit: int, letter: int) -> tuple[float, float]:
        return box["x"] + box["width"] * (letter + 0.5) / 5, box["y"] + box["height"] * (
            unit + 0.5
        ) / 6

    def looked_at(unit: int, letter: int) -> None:
        title = widget.locator("caption").text_content()
        assert title.startswith(f"Unit {unit + 1} at letter {letter + 1} of 5")

    page.mouse.move(*at(3, 1))
    eventually(widget, lambda: looked_at(3, 1))
    agrees_with_course_lib(widget)
    assert (state_of(widget)["unit"], state_of(widget)["letter"]) == (0, 4)
    page.mouse.move(0, 0)
    eventually(widget, lambda: looked_at(0, 4))
    page.mouse.click(*at(3, 1))
    page.mouse.move(0, 0)
    eventually(widget, lambda: looked_at(3, 1))
    assert (state_of(widget)["unit"], state_of(widget)["letter"]) == (3, 1)


def test_arrow_keys_walk_along_the_letters_and_down_the_sorted_units(
    shown: Callable[..., Locator],
):
    widget = shown(text="maria")
    widget.evaluate("el => el.courseModel.set('order', 'memory')")
    agrees_with_course_lib(widget)
    names = widget.locator(".cw-g-units text").all_text_contents()
    order = [int(name) - 1 for name in names]
    assert order != sorted(order)
    widget.get_by_role("slider", name="Letter and unit").focus()
    start = order.index(0)
    for key, unit, letter in [
        ("ArrowLeft", order[start], 3),
        ("ArrowRight", order[start], 4),
        ("ArrowRight", order[start], 4),
        *[("ArrowUp", order[max(0, start - i)], 4) for i in range(1, 7)],
        *[("ArrowDown", order[min(5, i)], 4) for i in range(1, 7)],
        ("Home", order[5], 0),
        ("End", order[5], 4),
        ("Shift+ArrowUp", order[0], 4),
    ]:
        widget.page.keyboard.press(key)
        assert (state_of(widget)["unit"], state_of(widget)["letter"]) == (unit, letter)
    agrees_with_course_lib(widget)


def test_keys_that_come_within_one_frame_all_count(shown: Callable[..., Locator]):
    widget = shown(text="maria")
    widget.get_by_role("slider", name="Letter and unit").evaluate(
        """(el) => {
          for (const key of ["ArrowLeft", "ArrowDown", "ArrowLeft", "ArrowDown"])
            el.dispatchEvent(new KeyboardEvent("keydown", { key }));
        }"""
    )
    assert (state_of(widget)["unit"], state_of(widget)["letter"]) == (2, 2)
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("width", [390, 1920])
def test_sixty_four_units_and_twenty_four_letters_fit_the_window(
    shown: Callable[..., Locator], width: int
):
    widget = shown("GRU", units=64, text="abcdefghijklmnopqrstuvwx", width=width)
    agrees_with_course_lib(widget)
    root = widget.locator(".cw")
    assert root.evaluate("el => el.scrollWidth <= el.clientWidth")
    box = widget.get_by_role("slider", name="Letter and unit").bounding_box()
    frame = root.bounding_box()
    assert frame["x"] < box["x"]
    assert box["x"] + box["width"] < frame["x"] + frame["width"]


# A name as its reader writes it ------------------------------------------------------------------


def test_capitals_and_accents_are_read_as_letters_of_the_alphabet(shown: Callable[..., Locator]):
    widget = shown(text="a", page={"reduced_motion": True})
    field = widget.get_by_label("Type a word")
    field.fill("")
    field.focus()
    for typed, read in (("Z", "z"), ("Zo", "zo"), ("Zoë", "zoe")):
        widget.page.keyboard.insert_text(typed[-1])
        assert state_of(widget)["text"] == read
        assert field.input_value() == typed
        says(widget, f"Read as {read}.")
        agrees_with_course_lib(widget)
    field.press("Home")
    field.press("Delete")
    assert state_of(widget)["text"] == "oe"
    assert field.input_value() == "oë"
    agrees_with_course_lib(widget)
    field.fill("oe")
    says(widget, "")


def test_a_hyphen_within_a_name_is_passed_over(shown: Callable[..., Locator]):
    widget = shown(text="a", page={"reduced_motion": True})
    field = widget.get_by_label("Type a word")
    field.fill("")
    field.focus()
    for key, read in zip("jo-a", ("j", "jo", "jo", "joa"), strict=True):
        widget.page.keyboard.insert_text(key)
        assert state_of(widget)["text"] == read
        agrees_with_course_lib(widget)
    says(widget, "Read as joa.")
    assert field.get_attribute("aria-invalid") == "false"


# The letters pour in -----------------------------------------------------------------------------


def level(widget: Locator) -> tuple[int, float]:
    return (
        int(widget.get_by_role("slider", name="Letter").first.get_attribute("aria-valuenow")),
        float(widget.locator(".cw-g-water").get_attribute("data-level")),
    )


def test_on_opening_the_letters_pour_in_one_by_one_and_then_it_rests(
    shown: Callable[..., Locator],
):
    widget = shown(text="ada", moving=True, all_units=False, page={"clock": True})
    turn(widget, 0.7)
    for letter in (1, 2, 3):
        pouring = level(widget)
        turn(widget, 0.7)
        settled = level(widget)
        assert pouring[0] == settled[0] == letter
        assert pouring[1] != settled[1]
        agrees_with_course_lib(widget)
        turn(widget, 1.12)
    assert level(widget)[0] == 3
    assert rests(widget)
    widget.get_by_role("button", name="Read").click()
    turn(widget, 0.1)
    assert level(widget)[0] == 1


def test_a_reading_that_is_stopped_goes_on_where_it_was(shown: Callable[..., Locator]):
    widget = shown(moving=True, page={"clock": True})
    turn(widget, 2.5)
    widget.get_by_role("button", name="Pause").click()
    assert rests(widget)
    before = level(widget)
    widget.get_by_role("button", name="Read").click()
    turn(widget, 0.3)
    assert before[0] == level(widget)[0] == 2
    assert level(widget)[1] != before[1]


def test_a_hand_on_the_picture_stops_the_reading(shown: Callable[..., Locator]):
    widget = shown(moving=True, page={"clock": True})
    turn(widget, 2.5)
    assert widget.get_by_role("button", name="Pause").is_visible()
    widget.get_by_role("slider", name="Letter and unit").press("Home")
    turn(widget, 3)
    assert widget.get_by_role("button", name="Read").is_visible()
    assert level(widget)[0] == 1
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_readers_who_asked_for_less_motion_go_from_letter_to_letter(
    shown: Callable[..., Locator], kind: str
):
    page = {"reduced_motion": True, "clock": True}
    widget = shown(kind, moving=True, all_units=False, page=page)
    assert rests(widget)
    assert widget.get_by_role("button", name="Read").count() == 0
    for letter in (1, 2, 3):
        widget.get_by_role("button", name="Next letter").click()
        agrees_with_course_lib(widget)
        assert state_of(widget)["letter"] == letter - 1
        assert_settled(widget)


@pytest.mark.parametrize(("width", "most"), [(390, 900), (1280, 600)])
def test_the_figure_fits_a_screen_until_all_units_are_asked_for(
    shown: Callable[..., Locator], width: int, most: int
):
    widget = shown(units=32, all_units=False, labels=5, text="maker", width=width)
    agrees_with_course_lib(widget)
    assert widget.locator(".cw").bounding_box()["height"] < most
    assert widget.locator(".cw-g-rows").count() == 0
    widget.get_by_label("All units").check()
    agrees_with_course_lib(widget)
    assert widget.locator(".cw-g-units text").count() == 32


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_what_is_kept_and_what_leaks_make_one(alone: Alone, kind: str):
    cell = getattr(torch.nn, kind)(5, 4)
    widget = alone(GateExplorer(cell, "abcde", text="bead", moving=False))
    assert "forgotten ↓" in widget.locator(".cw-g-vessel").text_content()
    leaks = float(widget.locator("[data-reading=leaks]").text_content().split()[1])
    words = widget.locator(".cw-g-strong").all_text_contents()
    name = {"LSTM": "forget gate", "GRU": "update gate"}[kind]
    kept = next(float(word.split()[-1]) for word in words if word.startswith(name))
    assert leaks + kept == pytest.approx(1)
