"""What GateExplorer does while its reader types and points, for each kind of network."""

from collections.abc import Callable

import pytest
import torch
from bare import Alone
from displayed import agrees_with_course_lib
from hands import centre
from letters import says
from playwright.sync_api import Locator, expect
from reading import eventually, state_of

from course_lib import recurrent
from course_lib.widgets import GateExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def explorer(kind: str, *, units: int = 6, labels: int = 2, text: str = "maria") -> GateExplorer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        cell = getattr(recurrent, kind)(len(ALPHABET), units)
        readout = torch.nn.Linear(units, max(1, labels))
    with torch.no_grad():
        for parameter in (*cell.parameters(), *readout.parameters()):
            parameter.mul_(4)
    names = [f"label {i}" for i in range(labels)]
    opinion = {"readout": readout, "labels": names} if labels else {}
    return GateExplorer(cell, ALPHABET, text=text, **opinion)


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with one GateExplorer, and gives it."""

    return lambda kind="LSTM", *, width=1280, **given: alone(explorer(kind, **given), width=width)


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


def test_a_word_is_read_while_it_is_typed(shown: Callable[..., Locator]):
    widget = shown(text="a")
    field = widget.get_by_label("Type a word")
    field.click()
    widget.page.keyboard.press("End")
    for typed in ("an", "anna", "anna lisa"):
        widget.page.keyboard.type(typed[len(field.input_value()) :])
        assert state_of(widget)["text"] == typed
        assert state_of(widget)["letter"] == len(typed) - 1
        agrees_with_course_lib(widget)
    for _ in range(3):
        widget.page.keyboard.press("Backspace")
    assert state_of(widget)["text"] == "anna l"
    agrees_with_course_lib(widget)


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
    says(widget, "Below you still see maria.")
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
    widget.evaluate("el => el.courseModel.set('text', 'jo')")
    expect(widget.get_by_label("Type a word")).to_have_value("jo")
    agrees_with_course_lib(widget)


def test_pointing_previews_a_unit_and_a_letter_and_a_click_keeps_them(
    shown: Callable[..., Locator],
):
    widget = shown(text="maria")
    page, cells = widget.page, widget.get_by_role("slider")
    centre(cells)
    box = cells.bounding_box()

    def at(unit: int, letter: int) -> tuple[float, float]:
        return box["x"] + box["width"] * (letter + 0.5) / 5, box["y"] + box["height"] * (
            unit + 0.5
        ) / 6

    def looked_at(unit: int, letter: int) -> None:
        title = widget.locator("caption").inner_text()
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
    widget.get_by_role("slider").focus()
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
    widget.get_by_role("slider").evaluate(
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
    box = widget.get_by_role("slider").bounding_box()
    frame = root.bounding_box()
    assert frame["x"] < box["x"]
    assert box["x"] + box["width"] < frame["x"] + frame["width"]
