import torch
from addresses import go_to
from agreement import agrees_with_course_lib, has
from clock import CLOCK, rests, turn
from gestures import press
from letters import bar, says
from playwright.sync_api import Locator, expect
from reading import state_of
from small_widgets import encoder
from widget_page import Shown, shows

from course_lib.widgets.letter_hider.letter_hider import expected_letters, masked_model_of

ALPHABET = "ab·cde <"
BARS = "Letter whose numbers"
GUESS = "Letter that you think the model expects"


PARTS = {"model": encoder(tokens=10), "alphabet": ALPHABET, "word": "bead cab", "words": []}
shown = shows("LetterHider", **PARTS, hidden=[], guess_first=False, heads=True)


def tile(widget: Locator, place: int) -> Locator:
    return widget.get_by_role("option").nth(place)


def expected_of(widget: Locator, word: str, hidden: list[int]) -> torch.Tensor:
    state = state_of(widget)
    ids = torch.tensor([state["alphabet"].index(letter) for letter in word])
    model = masked_model_of(state["facts"], state["weights"]).double()
    return expected_letters(model, ids, hidden=hidden, mask=state["mask"])


def test_a_click_selects_a_hidden_letter_and_the_next_one_shows_it(shown: Shown):
    widget = shown()
    for place, hidden in [(2, [2]), (2, []), (2, [2]), (7, [2, 7]), (2, [2, 7]), (2, [7])]:
        tile(widget, place).click()
        has(widget, word="bead cab", hidden=hidden, place=place)
    for name, hidden in [("vowels", [1, 2, 6]), ("Hide all", [*range(8)]), ("Show all", [])]:
        press(widget, name)
        has(widget, hidden=hidden, place=2)


def test_an_example_hides_the_letter_of_which_the_model_is_surest(shown: Shown):
    widget = shown(words=["deed", "ab"], hidden=[0, 5], place=5, guess_first=True)
    for word in ("deed", "ab"):
        press(widget, word)
        place = int(expected_of(widget, word, []).max(-1).values.argmax())
        has(widget, word=word, hidden=[place], place=place)
        # The reader guesses before the model's guess is shown.
        assert_covered(widget)


def is_covered(widget: Locator) -> bool:
    return widget.get_by_role("listbox").get_attribute("data-covered") == "true"


def test_a_show_hides_letters_in_turn_until_the_reader_stops_it_and_can_be_replayed(shown: Shown):
    widget = shown(page=CLOCK, hidden=[1], guess_first=True, moving=True)
    turn(widget, 1.1)
    assert not is_covered(widget)
    widget.get_by_role("listbox").press("ArrowRight")
    assert rests(widget)
    assert is_covered(widget)
    has(widget, hidden=[1], place=2)
    widget.get_by_role("button", name="Watch").press("Enter")
    turn(widget, 1.1)
    assert not is_covered(widget)
    widget.get_by_role("button", name="Stop").press("Enter")
    turn(widget, 1)
    assert is_covered(widget)
    press(widget, "Watch")
    turn(widget, 3.5)
    assert widget.locator(".cw-h-hidden").count() == 3
    turn(widget, 2)
    assert is_covered(widget)
    has(widget, hidden=[1])
    assert rests(widget)


def test_typed_text_is_read_or_refused_and_hidden_letters_stay_hidden(shown: Shown):
    widget = shown(hidden=[1, 6], place=6)
    field = widget.get_by_label("Type a word")
    field.press("End")
    for key, word, hidden, place in [
        ("e", "bead cabe", [1, 6], 6),
        ("Backspace", "bead cab", [1, 6], 6),
        ("Backspace", "bead ca", [1, 6], 6),
        ("Backspace", "bead c", [1], 5),
        ("a", "bead ca", [1], 5),
    ]:
        widget.page.keyboard.press(key)
        has(widget, word=word, hidden=hidden, place=place)
    field.fill("abcdeabcdea")
    says(widget, "You still see bead␣ca.")
    has(widget, word="bead ca", hidden=[1])


def test_a_click_on_a_bar_keeps_its_numbers_until_another_letter_is_chosen(shown: Shown):
    widget = shown(hidden=[1])
    # The bars leave the mask out, so the third is that of the fourth id.
    widget.page.mouse.click(*bar(widget, BARS, 2))
    has(widget, option=3)
    tile(widget, 3).click()
    has(widget, option=-1)


def assert_covered(widget: Locator, *, bars: bool = True) -> None:
    expect(widget.get_by_role("slider", name=GUESS)).to_have_count(int(bars))


def test_each_hidden_letter_is_guessed_for_itself_before_its_bars_appear(shown: Shown):
    widget = shown(hidden=[1, 4], guess_first=True)
    verdict, score = widget.locator(".cw-h-verdict"), widget.locator(".cw-h-score")
    widget.page.mouse.click(*bar(widget, GUESS, 3))
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)
    expect(verdict).to_contain_text("You: d, its ")
    expect(score).to_have_text("Its guess for letter 5 waits for yours.")
    tile(widget, 4).click()
    assert_covered(widget)
    for key in ("Home", "ArrowRight", "Enter"):
        widget.get_by_role("slider").first.press(key)
        agrees_with_course_lib(widget)
    expect(verdict).to_contain_text("You: b, its ")
    expect(score).to_contain_text(" of 2 first guesses")
    # The first guess stays; a new context is a new question.
    tile(widget, 1).click()
    assert_covered(widget, bars=False)
    tile(widget, 0).click()
    assert_covered(widget)
    widget.get_by_label("I guess first").uncheck()
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)


def test_a_right_guess_is_counted_and_a_link_keeps_earlier_guesses(shown: Shown):
    widget = shown(hidden=[2], guess_first=True)
    name, verdict = widget.get_attribute("id"), widget.locator(".cw-h-verdict")
    best = int(expected_of(widget, "bead cab", [2])[2].argmax())
    widget.page.mouse.click(*bar(widget, GUESS, best - (best > ALPHABET.index("·"))))
    expect(verdict).to_contain_text("its 1st guess. So far")
    expect(verdict).to_contain_text("1 of 1.")
    for hidden in (2, 1):
        go_to(widget.page, f"{name}?hidden={hidden}&place={hidden}")
        agrees_with_course_lib(widget)
        assert_covered(widget, bars=hidden == 1)
    press(widget, "Reset")
    agrees_with_course_lib(widget)
    assert_covered(widget)
