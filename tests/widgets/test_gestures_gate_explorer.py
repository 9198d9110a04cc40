"""Gestures on GateExplorer: typing and pointing, for each kind of network."""

import pytest
import torch
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import centre
from letters import says
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, eventually, send, state_of
from widget_page import Shown, shows

from course_lib import recurrent
from course_lib.widgets import GateExplorer

ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def explorer(kind: str = "LSTM", *, labels: int = 2, **given: object) -> GateExplorer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        cell = getattr(recurrent, kind)(len(ALPHABET), 6)
        readout = torch.nn.Linear(6, max(1, labels))
    with torch.no_grad():
        for parameter in (*cell.parameters(), *readout.parameters()):
            parameter.mul_(4)
    names = [f"label {i}" for i in range(labels)]
    opinion = {"readout": readout, "labels": names} if labels else {}
    options = {"all_units": True, "moving": False, "text": "maria"} | given
    return GateExplorer(cell, ALPHABET, **opinion, **options)


shown = shows(explorer, folded=True)


@pytest.mark.parametrize(("kind", "labels"), [("LSTM", 0), ("GRU", 2), ("RNN", 6)])
def test_every_quantity_in_every_order_is_what_course_lib_computes(
    shown: Shown, kind: str, labels: int
):
    widget = shown(kind, labels=labels)
    state = state_of(widget)
    for order in state["orders"]:
        for place, quantity in enumerate(state["quantities"]):
            send(widget, order=order, quantity=quantity, unit=place % 6, letter=place % 5)
            agrees_with_course_lib(widget)
    for quantity in state["quantities"]:
        send(widget, all_units=False, quantity=quantity)
        agrees_with_course_lib(widget)


def test_a_word_is_read_while_it_is_typed_and_poured_in_again_by_enter(shown: Shown):
    widget = shown(text="a", page=CLOCK)
    field = widget.get_by_label("Type a word")

    def poured(letters: list[int], text: str) -> None:
        turn(widget, 8)
        assert widget.evaluate(VALUES) == letters
        assert widget.locator(".cw-g-vessel").get_attribute("data-share") == "1"
        has(widget, text=text)
        widget.evaluate("el => { el.courseValues = []; }")

    widget.evaluate(NOTE_VALUES, "letter")
    field.click()
    widget.page.keyboard.press("End")
    widget.page.keyboard.type("nna")
    poured([1, 2, 3], "anna")
    field.press("Enter")
    turn(widget, 0.1)
    assert plays(widget)
    poured([0, 1, 2, 3], "anna")
    field.fill("otto")
    poured([0, 1, 2, 3], "otto")
    # A letter typed in the middle is selected.
    widget.page.keyboard.press("Home")
    widget.page.keyboard.press("ArrowRight")
    widget.page.keyboard.type("a")
    turn(widget, 8)
    has(widget, text="oatto", letter=1)


def test_what_is_typed_is_read_folded_or_refused_and_not_run(shown: Shown):
    widget = shown(page={"reduced_motion": True})
    field = widget.get_by_label("Type a word")
    for typed in ("<img src=x>", ""):
        field.fill(typed)
        says(widget, "You still see maria.")
        assert field.input_value() == typed
        expect(field).to_have_attribute("aria-invalid", "true")
        has(widget, text="maria")
    # A hyphen within a name is ignored.
    for typed, read in (("Zo", "zo"), ("Zoë", "zoe"), ("Jo-", "jo"), ("Jo-A", "joa")):
        field.fill(typed)
        says(widget, f"Read as {read}.")
        assert field.input_value() == typed
        expect(field).to_have_attribute("aria-invalid", "false")
        has(widget, text=read)
    send(widget, letter=1, text="jo")
    expect(field).to_have_value("jo")
    agrees_with_course_lib(widget)


def test_pointing_previews_a_unit_and_a_letter_and_a_click_keeps_them(shown: Shown):
    widget = shown()
    page, cells = widget.page, widget.get_by_role("slider", name="Letter and unit")
    centre(cells)
    box = cells.bounding_box()
    at = box["x"] + box["width"] * 1.5 / 5, box["y"] + box["height"] * 3.5 / 6

    def looked_at(unit: int, letter: int) -> None:
        title = widget.locator("caption").text_content()
        assert title.startswith(f"Unit {unit + 1} at letter {letter + 1} of 5")

    page.mouse.move(*at)
    eventually(widget, lambda: looked_at(3, 1))
    has(widget, unit=0, letter=4)
    page.mouse.move(0, 0)
    eventually(widget, lambda: looked_at(0, 4))
    page.mouse.click(*at)
    page.mouse.move(0, 0)
    eventually(widget, lambda: looked_at(3, 1))
    has(widget, unit=3, letter=1)


def level(widget: Locator) -> tuple[int, float]:
    return (
        int(widget.get_by_role("slider", name="Letter").first.get_attribute("aria-valuenow")),
        float(widget.locator(".cw-g-water").get_attribute("data-level")),
    )


def test_letters_arrive_one_by_one_and_numbers_appear_when_the_water_has_settled(
    shown: Shown,
):
    widget = shown(text="ada", moving=True, all_units=False, page=CLOCK)
    read, opinion = widget.get_by_role("button", name="Read"), widget.locator(".cw-g-opinion")
    turn(widget, 0.7)
    assert "No letter yet" in opinion.inner_text()
    for letter in (1, 2, 3):
        pouring = level(widget)
        turn(widget, 0.7)
        settled = level(widget)
        assert pouring[0] == settled[0] == letter
        assert pouring[1] != settled[1]
        agrees_with_course_lib(widget)
        assert f"after {'ada'[:letter]}" in opinion.inner_text()
        turn(widget, 1.12)
    assert rests(widget)
    read.click()
    turn(widget, 2.5)
    widget.get_by_role("button", name="Pause").click()
    assert rests(widget)
    before = level(widget)
    read.click()
    turn(widget, 0.3)
    assert before[0] == level(widget)[0] == 2
    assert level(widget)[1] != before[1]
    # A click on the picture stops the animation.
    widget.get_by_role("slider", name="Letter").first.press("Home")
    turn(widget, 3)
    assert read.is_visible()
    assert level(widget)[0] == 1
    agrees_with_course_lib(widget)
