import torch
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import press, spot
from judges.gate_explorer import READ
from letters import says
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from small_widgets import seeded
from widget_page import Shown, shows

from course_lib import recurrent
from course_lib.widgets import GateExplorer

ALPHABET = "abcdefghijklmnopqrstuvwxyz "


def explorer(kind: str = "LSTM", *, labels: int = 2, **given: object) -> GateExplorer:
    cell = seeded(getattr(recurrent, kind), len(ALPHABET), 6)
    names = [f"label {i}" for i in range(labels)]
    opinion = {"readout": seeded(torch.nn.Linear, 6, labels), "labels": names} if labels else {}
    options = {"all_units": True, "moving": False, "text": "maria"} | given
    return GateExplorer(cell, ALPHABET, **opinion, **options)


shown = shows(explorer, folded=True)


def test_every_quantity_in_every_order_is_what_course_lib_computes(shown: Shown):
    for kind, labels in (("LSTM", 0), ("GRU", 2), ("RNN", 6)):
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
        has(widget, text=text)
        widget.evaluate("el => { el.courseValues = []; }")

    widget.evaluate(NOTE_VALUES, "letter")
    field.press("End")
    widget.page.keyboard.type("nna")
    poured([1, 2, 3], "anna")
    field.press("Enter")
    poured([0, 1, 2, 3], "anna")
    # A letter typed in the middle is selected.
    field.press("Home")
    field.press("ArrowRight")
    field.press("o")
    turn(widget, 8)
    has(widget, text="aonna", letter=1)


def test_what_is_typed_is_read_folded_or_refused_and_not_run(shown: Shown):
    widget = shown(page={"reduced_motion": True})
    field = widget.get_by_label("Type a word")
    for typed, read, told in (
        ("<img src=x>", "maria", "You still see maria."),
        ("Zoë", "zoe", "Read as zoe."),
        ("Jo-A", "joa", "Read as joa."),  # a hyphen within a name is ignored
        ("", "joa", "You still see joa."),
    ):
        field.fill(typed)
        says(widget, told)
        assert field.input_value() == typed
        expect(field).to_have_attribute("aria-invalid", str("still" in told).lower())
        has(widget, text=read)
    send(widget, letter=1, text="jo")
    expect(field).to_have_value("jo")


def test_pointing_previews_a_unit_and_a_letter_and_a_click_keeps_them(shown: Shown):
    widget = shown()
    mouse, title = widget.page.mouse, widget.locator("caption")
    at = spot(widget.get_by_role("slider", name="Letter and unit"), 1.5 / 5, 3.5 / 6)
    for act, kept in ((mouse.move, (0, 4)), (mouse.click, (3, 1))):
        act(*at)
        expect(title).to_contain_text("Unit 4 at letter 2 of 5")
        has(widget, unit=kept[0], letter=kept[1])
        mouse.move(0, 0)
        expect(title).to_contain_text(f"Unit {kept[0] + 1} at letter {kept[1] + 1} of 5")


def glass(widget: Locator) -> tuple[int, float]:
    """The letter that is poured in, and the level of the water."""
    found = widget.evaluate(READ)
    return found["letter"] + 1, found["level"]


def test_letters_arrive_one_by_one_and_numbers_appear_when_the_water_has_settled(shown: Shown):
    widget = shown(text="ada", moving=True, all_units=False, page=CLOCK)
    opinion = widget.locator(".cw-g-opinion")
    turn(widget, 0.7)
    assert "No letter yet" in opinion.inner_text()
    for letter in (1, 2, 3):
        pouring = glass(widget)
        turn(widget, 0.7)
        settled = glass(widget)
        assert pouring[0] == settled[0] == letter
        assert pouring[1] != settled[1]
        agrees_with_course_lib(widget)
        assert f"after {'ada'[:letter]}" in opinion.inner_text()
        turn(widget, 1.12)
    assert rests(widget)
    press(widget, "Read")
    turn(widget, 2.5)
    press(widget, "Pause")
    assert rests(widget)
    letter, level = glass(widget)
    press(widget, "Read")
    turn(widget, 0.3)
    assert letter == glass(widget)[0] == 2
    assert level != glass(widget)[1]
    # A hand on the picture stops the animation.
    widget.get_by_role("slider", name="Letter").first.press("Home")
    turn(widget, 3)
    assert not plays(widget)
    assert glass(widget)[0] == 1
