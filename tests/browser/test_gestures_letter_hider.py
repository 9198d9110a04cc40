"""What LetterHider does while its reader types, hides, shows and looks."""

from collections.abc import Callable

import pytest
import torch
from addresses import go_to
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import centre, open_folds
from letters import bar, says
from playwright.sync_api import Locator, expect
from reading import state_of

from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.widgets import LetterHider
from course_lib.widgets.letter_hider import expected_letters, masked_model_of

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "ab·cde <"
BARS = "Letter whose numbers"


def hider(alphabet: str = ALPHABET, *, tokens: int = 10, **options: object) -> LetterHider:
    shape = {name: options.pop(name) for name in ("norm", "position") if name in options}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(14)
        model = MaskedLanguageModel(len(alphabet), 12, 2, 2, tokens=tokens, **shape)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.4 * torch.randn_like(parameter))
    given = {"mask": "·", "word": "bead cab", "guess_first": False, "heads": True} | options
    given = {"moving": False} | given
    return LetterHider(model, alphabet, **given)


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with one LetterHider and what is folded in it, and gives it."""

    def shown(window: dict[str, object] | None = None, **given: object) -> Locator:
        folded = given.pop("folded", False)
        widget = alone(hider(**given), **(window or {}))
        if not folded:
            open_folds(widget)
        return widget

    return shown


def chosen(widget: Locator) -> tuple[str, list[int], int]:
    state = state_of(widget)
    return state["word"], state["hidden"], state["place"]


def tile(widget: Locator, place: int) -> Locator:
    return widget.get_by_role("option").nth(place)


@pytest.mark.parametrize(
    "options",
    [
        {"position": "rotary"},
        {"position": "sinusoidal", "norm": "post"},
        {"position": "none"},
        {"word": "a", "tokens": 1},
        {"word": "<<<<"},
        {"alphabet": "x·y", "word": "xyyx"},
    ],
    ids=str,
)
def test_every_place_of_a_word_with_any_letters_hidden_is_what_course_lib_computes(
    shown: Callable[..., Locator], options: dict[str, object]
):
    widget = shown(**options)
    agrees_with_course_lib(widget)
    count = len(chosen(widget)[0])
    for hidden in ([], [0], list(range(count)), list(range(0, count, 2))):
        for place in {-1, 0, count // 2, count - 1}:
            widget.evaluate(
                """(el, [hidden, place]) => {
                  el.courseModel.set("hidden", hidden);
                  el.courseModel.set("place", place);
                }""",
                [hidden, place],
            )
            agrees_with_course_lib(widget)


def test_a_click_hides_a_letter_and_the_next_one_shows_it_again(shown: Callable[..., Locator]):
    widget = shown()
    for place, hidden in [(2, [2]), (2, []), (2, [2]), (0, [0, 2]), (7, [0, 2, 7])]:
        tile(widget, place).click()
        assert chosen(widget) == ("bead cab", hidden, place)
        agrees_with_course_lib(widget)


def test_a_click_on_another_hidden_letter_looks_at_it_first(shown: Callable[..., Locator]):
    widget = shown(hidden=[1, 4])
    agrees_with_course_lib(widget)
    for place, hidden in [(4, [1, 4]), (1, [1, 4]), (1, [4]), (4, [4]), (4, [])]:
        tile(widget, place).click()
        assert chosen(widget)[1:] == (hidden, place)
        agrees_with_course_lib(widget)


def test_letters_are_hidden_and_shown_with_the_keyboard(shown: Callable[..., Locator]):
    widget = shown()
    letters = widget.get_by_role("listbox")
    letters.focus()
    for key, hidden, place in [
        ("ArrowRight", [], 1),
        ("Enter", [1], 1),
        ("ArrowDown", [1], 2),
        ("Space", [1, 2], 2),
        ("End", [1, 2], 7),
        ("ArrowRight", [1, 2], 7),
        ("ArrowUp", [1, 2], 6),
        ("ArrowLeft", [1, 2], 5),
        ("Home", [1, 2], 0),
        ("Space", [0, 1, 2], 0),
        ("Enter", [1, 2], 0),
    ]:
        widget.page.keyboard.press(key)
        assert chosen(widget)[1:] == (hidden, place)
        agrees_with_course_lib(widget)
    active = letters.get_attribute("aria-activedescendant")
    assert tile(widget, 0).get_attribute("id") == active


def test_a_tap_beside_a_letter_means_the_nearest(shown: Callable[..., Locator]):
    widget = shown({"width": 390, "touch": True}, word="abcdeabcdeabc", tokens=13)
    centre(widget.get_by_role("listbox"))
    # The last row has room to its right, which belongs to its last letter.
    box = tile(widget, 12).bounding_box()
    frame = widget.get_by_role("listbox").bounding_box()
    right = min(box["x"] + box["width"] + 20, frame["x"] + frame["width"] - 2)
    assert right > box["x"] + box["width"]
    widget.page.touchscreen.tap(right, box["y"] + 20)
    assert chosen(widget)[1:] == ([12], 12)
    agrees_with_course_lib(widget)


def test_buttons_hide_vowels_all_letters_or_none(shown: Callable[..., Locator]):
    widget = shown()
    for name, hidden, place in [
        ("Hide vowels", [1, 2, 6], 1),
        ("Hide all", list(range(8)), 1),
        ("Show all", [], 1),
    ]:
        widget.get_by_role("button", name=name).click()
        assert chosen(widget)[1:] == (hidden, place)
        agrees_with_course_lib(widget)
    assert shown(alphabet="xyz·", word="xyz").get_by_role("button").all_inner_texts() == [
        "▶ Watch",
        "Hide all",
        "Show all",
        "Reset",
    ]


def surest(widget: Locator, word: str) -> int:
    """Where the model is surest of its first guess if that letter alone is hidden."""
    state = state_of(widget)
    ids = torch.tensor([state["alphabet"].index(letter) for letter in word])
    model = masked_model_of(state["facts"], state["weights"]).double()
    expected = expected_letters(model, ids, hidden=[], mask=state["mask"])
    return int(expected.max(-1).values.argmax())


def test_of_an_example_the_letter_is_hidden_of_which_the_model_is_surest(
    shown: Callable[..., Locator],
):
    widget = shown(words=["deed", "ab"], hidden=[0, 5], place=5, guess_first=True)
    for word in ("deed", "ab"):
        widget.get_by_role("button", name=word).click()
        place = surest(widget, word)
        assert chosen(widget) == (word, [place], place)
        agrees_with_course_lib(widget)
        # The reader guesses before the model's guess is told.
        assert_covered(widget)
        assert widget.get_by_label("Type a word").input_value() == word


GROWN = """(el) => Math.max(...el.querySelector(".cw-l-fill").getAttribute("d")
  .match(/v[-.\\d]+/g).map((v) => Math.abs(v.slice(1))))"""


def is_covered(widget: Locator) -> bool:
    """Whether the picture waits for the reader's guess."""
    return widget.get_by_role("listbox").get_attribute("data-covered") == "true"


def test_at_first_sight_three_others_are_hidden_their_bars_grow_and_then_the_reader_is_asked(
    shown: Callable[..., Locator],
):
    widget = shown({"clock": True}, hidden=[1], guess_first=True, moving=True)
    holes = widget.locator(".cw-h-hidden")
    turn(widget, 1.1)
    assert holes.count() == 1
    low = widget.evaluate(GROWN)
    turn(widget, 0.4)
    assert widget.evaluate(GROWN) > low + 1
    turn(widget, 2)
    assert holes.count() == 3
    assert tile(widget, 1).locator("b").inner_text() == "e"
    assert not is_covered(widget)
    turn(widget, 2)
    assert is_covered(widget)
    assert chosen(widget)[1] == [1]
    agrees_with_course_lib(widget)
    assert rests(widget)


def test_any_touch_ends_the_show_and_nothing_moves_any_more(shown: Callable[..., Locator]):
    widget = shown({"clock": True}, hidden=[1], guess_first=True, moving=True)
    turn(widget, 1.1)
    assert not is_covered(widget)
    widget.get_by_role("listbox").press("ArrowRight")
    assert rests(widget)
    assert is_covered(widget)
    assert chosen(widget)[1:] == ([1], 2)
    agrees_with_course_lib(widget)


def test_the_show_can_be_stopped_and_seen_again(shown: Callable[..., Locator]):
    widget = shown({"clock": True}, hidden=[1], guess_first=True, moving=True)
    watch, stop = (widget.get_by_role("button", name=name) for name in ("Watch", "Stop"))
    turn(widget, 1.1)
    stop.click()
    turn(widget, 1)
    assert is_covered(widget)
    watch.press("Enter")
    turn(widget, 1.1)
    assert not is_covered(widget)
    assert stop.evaluate("(button) => button === document.activeElement")
    stop.press("Enter")
    turn(widget, 1)
    assert is_covered(widget)
    assert chosen(widget)[1] == [1]


BELOW_THE_WINDOW = """new MutationObserver(() => {
  if (document.body) document.body.style.paddingTop = "200vh";
}).observe(document, { childList: true, subtree: true });"""


def test_the_show_waits_until_the_figure_is_seen(shown: Callable[..., Locator]):
    page = {"clock": True, "init": BELOW_THE_WINDOW}
    widget = shown(page, folded=True, hidden=[1], guess_first=True, moving=True)
    assert rests(widget)
    assert is_covered(widget)
    widget.get_by_role("listbox").evaluate("(e) => e.scrollIntoView({ block: 'center' })")
    turn(widget, 1.1)
    assert not is_covered(widget)


def test_nothing_is_shown_to_readers_who_asked_for_less_motion(shown: Callable[..., Locator]):
    page = {"reduced_motion": True, "clock": True}
    widget = shown(page, hidden=[1], guess_first=True, moving=True)
    assert rests(widget)
    assert is_covered(widget)
    agrees_with_course_lib(widget)


def test_no_key_looks_pressed_before_a_hand_is_there(shown: Callable[..., Locator]):
    widget = shown(hidden=[1], guess_first=True)
    ring = widget.locator(".cw-l-ring")
    widget.page.mouse.move(0, 0)
    expect(ring).to_be_hidden()
    widget.get_by_role("listbox").press("Tab")
    expect(ring).to_be_visible()


@pytest.mark.parametrize("width", [390, 704])
def test_a_word_of_ten_letters_stands_in_one_row(shown: Callable[..., Locator], width: int):
    widget = shown({"width": width}, word="abcdeabcde", hidden=[1, 5])
    tops = {tile(widget, t).bounding_box()["y"] for t in range(10)}
    assert len(tops) == 1


def test_what_is_hidden_stays_hidden_while_the_word_is_typed_further(
    shown: Callable[..., Locator],
):
    widget = shown(hidden=[1, 6], place=6)
    widget.get_by_label("Type a word").press("End")
    for key, word, hidden, place in [
        ("e", "bead cabe", [1, 6], 6),
        ("Backspace", "bead cab", [1, 6], 6),
        ("Backspace", "bead ca", [1, 6], 6),
        ("Backspace", "bead c", [1], 5),
        ("a", "bead ca", [1], 5),
    ]:
        widget.page.keyboard.press(key)
        assert chosen(widget) == (word, hidden, place)
        agrees_with_course_lib(widget)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "Type at least one letter."),
        ("ba1", "never seen 1. It knows a b c d e ␣ <."),
        ("<img src=x>", "never seen i, m, g, s, r, =, x, >."),
        ("ba·", "· stands for a hidden letter"),
        ("abcdeabcdea", "That is 11 letters; the model has room for 10."),
    ],
)
def test_a_word_that_cannot_be_read_is_refused_in_words_and_not_run(
    shown: Callable[..., Locator], typed: str, words: str
):
    widget = shown(hidden=[1])
    field = widget.get_by_label("Type a word")
    field.fill(typed)
    says(widget, words)
    says(widget, "You still see bead␣cab.")
    assert field.input_value() == typed
    assert field.get_attribute("aria-invalid") == "true"
    assert chosen(widget)[:2] == ("bead cab", [1])
    agrees_with_course_lib(widget)
    field.fill("<<")
    says(widget, "")
    assert field.get_attribute("aria-invalid") == "false"
    assert chosen(widget)[:2] == ("<<", [1])
    agrees_with_course_lib(widget)


def test_pointing_at_a_bar_tells_its_numbers_and_a_click_keeps_them(
    shown: Callable[..., Locator],
):
    widget = shown(hidden=[1])
    page, readout = widget.page, widget.locator(".cw-l-readout")
    # The bars leave the mask out, so the third is that of the fourth id.
    page.mouse.move(*bar(widget, BARS, 2))
    expect(readout).to_contain_text("c: ")
    agrees_with_course_lib(widget)
    assert state_of(widget)["option"] == -1
    page.mouse.click(*bar(widget, BARS, 2))
    assert state_of(widget)["option"] == 3
    page.mouse.move(0, 0)
    agrees_with_course_lib(widget)
    expect(readout).to_contain_text("c: ")
    tile(widget, 3).click()
    assert state_of(widget)["option"] == -1
    expect(readout).to_contain_text("d, the true letter: ")


def test_a_bar_can_be_chosen_with_the_keyboard(shown: Callable[..., Locator]):
    widget = shown(hidden=[1])
    widget.get_by_role("slider", name="Letter whose numbers").focus()
    # The mask, id 2, is stepped over.
    for key, option in [("Home", 0), ("ArrowRight", 1), ("ArrowUp", 3), ("End", 7), ("Enter", 7)]:
        widget.page.keyboard.press(key)
        assert state_of(widget)["option"] == option
        agrees_with_course_lib(widget)


def test_a_letter_of_a_head_tells_how_hard_it_is_looked_at(shown: Callable[..., Locator]):
    widget = shown(hidden=[1, 2])
    letter = widget.locator(".cw-l-card").nth(3).locator("span").nth(3)
    letter.scroll_into_view_if_needed()
    letter.hover()
    line = widget.locator(".cw-l-look")
    expect(line).to_contain_text("Layer 2, head 2 looks at d (place 4 of 8) with weight 0.")
    weight = float(line.inner_text().rpartition(" ")[2].rstrip("."))
    share = float(letter.evaluate("el => el.style.getPropertyValue('--weight')"))
    assert weight == pytest.approx(share**2, abs=6e-4)


@pytest.mark.parametrize("width", [60, 200, 390, 1920])
def test_the_longest_word_of_the_largest_alphabet_fits_the_window(
    shown: Callable[..., Locator], width: int
):
    alphabet = "".join(map(chr, range(64, 127))) + "·"
    word = "".join(alphabet[5 * i % 63] for i in range(24))
    hidden = list(range(0, 24, 2))
    widget = shown({"width": width}, alphabet=alphabet, tokens=24, word=word, hidden=hidden)
    agrees_with_course_lib(widget)
    widths = widget.locator(".cw-l-fill").evaluate(
        "path => path.getAttribute('d').match(/h[^v]*(?=v)/g).map((h) => Number(h.slice(1)))"
    )
    assert min(widths) > 0
    root = widget.locator(".cw")
    if width < 200:
        return  # narrower than a telephone, only the bars must hold
    assert root.evaluate("el => el.scrollWidth <= el.clientWidth")
    frame = root.bounding_box()
    for part in (".cw-h-word", ".cw-l-bars", ".cw-l-cards"):
        box = widget.locator(part).bounding_box()
        assert frame["x"] < box["x"]
        assert box["x"] + box["width"] < frame["x"] + frame["width"]


# A name as its reader writes it, and a guess before the bars -------------------------------------


def test_capitals_and_accents_are_read_as_letters_of_the_alphabet(shown: Callable[..., Locator]):
    widget = shown()
    field = widget.get_by_label("Type a word")
    field.fill("Béc")
    assert chosen(widget)[0] == "bec"
    assert field.input_value() == "Béc"
    says(widget, "Read as bec.")
    agrees_with_course_lib(widget)
    field.press("Home")
    field.press("Delete")
    assert chosen(widget)[0] == "ec"
    assert field.input_value() == "éc"
    agrees_with_course_lib(widget)


GUESS = "Letter that you think the model expects"


def assert_covered(widget: Locator, *, bars: bool = True) -> None:
    """A reader's guess is asked for where the bars would be, or else they are there."""
    expect(widget.get_by_role("slider", name=GUESS)).to_have_count(int(bars))


def test_the_bars_appear_once_the_reader_has_pressed_a_letter(shown: Callable[..., Locator]):
    widget = shown(hidden=[1], guess_first=True)
    assert_covered(widget)
    agrees_with_course_lib(widget)
    widget.page.mouse.click(*bar(widget, GUESS, 3))
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)
    verdict = widget.locator(".cw-h-verdict")
    expect(verdict).to_contain_text("You: d, its ")
    expect(verdict).to_contain_text(" of 1.")
    # A new sight is a new question; a place that is shown is none.
    tile(widget, 0).click()
    agrees_with_course_lib(widget)
    assert_covered(widget)
    widget.page.mouse.move(0, 0)
    widget.get_by_role("slider", name=GUESS).focus()
    for key in ("Home", "ArrowRight", "Enter"):
        widget.page.keyboard.press(key)
        agrees_with_course_lib(widget)
    expect(verdict).to_contain_text("You: b, its ")
    expect(verdict).to_contain_text(" of 2.")
    assert_covered(widget, bars=False)
    # Of the same sight the other letter is still to be guessed.
    tile(widget, 1).click()
    agrees_with_course_lib(widget)
    assert_covered(widget)


def test_each_hidden_letter_is_guessed_for_itself(shown: Callable[..., Locator]):
    widget = shown(hidden=[1, 4], guess_first=True)
    agrees_with_course_lib(widget)
    widget.page.mouse.click(*bar(widget, GUESS, 3))
    agrees_with_course_lib(widget)
    told = [tile(widget, t).locator("em").inner_text() for t in (1, 4)]
    assert told[0]
    assert not told[1]
    expect(widget.locator(".cw-h-score")).to_have_text("Its guess for letter 5 waits for yours.")
    tile(widget, 4).click()
    assert_covered(widget)
    agrees_with_course_lib(widget)
    widget.page.mouse.click(*bar(widget, GUESS, 0))
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)
    expect(widget.locator(".cw-h-verdict")).to_contain_text(" of 2.")
    expect(widget.locator(".cw-h-score")).to_contain_text(" of 2 first guesses")
    # What was foretold of the first stays told.
    tile(widget, 1).click()
    assert_covered(widget, bars=False)
    agrees_with_course_lib(widget)


def test_a_guess_that_is_the_first_of_the_model_is_counted(shown: Callable[..., Locator]):
    widget = shown(hidden=[2], guess_first=True)
    state = state_of(widget)
    word = torch.tensor([ALPHABET.index(letter) for letter in state["word"]])
    model = masked_model_of(state["facts"], state["weights"]).double()
    expected = expected_letters(model, word, hidden=[2], mask=state["mask"])[2]
    place = [id_ for id_ in range(len(ALPHABET)) if id_ != state["mask"]].index(
        int(expected.argmax())
    )
    widget.page.mouse.click(*bar(widget, GUESS, place))
    expect(widget.locator(".cw-h-verdict")).to_contain_text("its 1st guess. So far")
    expect(widget.locator(".cw-h-verdict")).to_contain_text("1 of 1.")
    widget.get_by_role("button", name="Reset").click()
    agrees_with_course_lib(widget)
    assert_covered(widget)


def test_a_link_that_sets_the_figure_leaves_what_the_reader_has_foreseen(
    shown: Callable[..., Locator],
):
    widget = shown(hidden=[1], guess_first=True)
    name, verdict = widget.get_attribute("id"), widget.locator(".cw-h-verdict")
    widget.page.mouse.click(*bar(widget, GUESS, 3))
    expect(verdict).to_contain_text(" of 1.")
    go_to(widget.page, f"{name}?hidden=1&place=1")
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)
    go_to(widget.page, f"{name}?hidden=2&place=2")
    agrees_with_course_lib(widget)
    assert_covered(widget)
    widget.page.mouse.click(*bar(widget, GUESS, 3))
    expect(verdict).to_contain_text(" of 2.")


def test_readers_who_do_not_want_to_guess_see_the_bars_at_once(shown: Callable[..., Locator]):
    widget = shown(hidden=[1], guess_first=True)
    widget.get_by_label("I guess first").uncheck()
    agrees_with_course_lib(widget)
    assert_covered(widget, bars=False)


def test_on_a_telephone_the_heads_stand_in_two_columns_and_the_bars_in_sight_of_the_letters(
    shown: Callable[..., Locator],
):
    widget = shown({"width": 390, "height": 844, "touch": True}, hidden=[1])
    agrees_with_course_lib(widget)
    lefts = {card.bounding_box()["x"] for card in widget.locator(".cw-l-card").all()}
    assert len(lefts) == 2
    word, bars = (widget.locator(part).bounding_box() for part in (".cw-h-word", ".cw-l-bars"))
    assert bars["y"] + bars["height"] - word["y"] < 844


@pytest.mark.parametrize(("width", "most"), [(390, 800), (704, 600)])
def test_letters_and_bars_fit_a_screen(shown: Callable[..., Locator], width: int, most: int):
    widget = shown(
        {"width": width},
        folded=True,
        alphabet="abcdefghijklmnopqrstuvwxyz·",
        word="question",
        hidden=[1],
        guess_first=True,
        heads=False,
        words=["knight", "silence"],
    )
    agrees_with_course_lib(widget)
    assert widget.locator(".cw").bounding_box()["height"] < most


@pytest.mark.parametrize("width", [390, 704])
def test_on_a_card_of_a_head_a_word_of_ten_letters_stands_in_one_row(
    shown: Callable[..., Locator], width: int
):
    widget = shown({"width": width}, word="abcdeabcde", hidden=[1])
    for card in widget.locator(".cw-l-card").all():
        letters = card.locator("span")
        assert letters.count() == 10
        tops = letters.evaluate_all("all => all.map((e) => e.getBoundingClientRect().top)")
        assert max(tops) - min(tops) < 1


@pytest.mark.parametrize(("width", "rows", "columns"), [(704, 2, 13), (390, 3, 9)])
def test_twenty_six_keys_stand_in_rows_where_their_bars_will_grow(
    shown: Callable[..., Locator], width: int, rows: int, columns: int
):
    alphabet = "abcdefghijklmnopqrstuvwxyz·"
    window = {"width": width}
    widget = shown(window, alphabet=alphabet, word="question", hidden=[1], guess_first=True)
    slimmest = widget.locator(".cw-l-keys").evaluate(
        "path => Math.min(...path.getAttribute('d').match(/h[.\\d]+/g).map((h) => h.slice(1)))"
    )
    # A finger hits no slimmer one.
    assert slimmest >= 28
    keys = widget.locator(".cw-l-keys").evaluate(
        "path => path.getAttribute('d').match(/M\\S+ \\S+(?=h)/g).map((m) => m.slice(1).split(' '))"
    )
    assert len(keys) == 26
    assert len({y for _, y in keys}) == rows
    assert len({x for x, _ in keys}) == columns
    covered_height = widget.locator(".cw-l-bars").bounding_box()["height"]
    widget.get_by_label("I guess first").uncheck()
    agrees_with_course_lib(widget)
    assert widget.locator(".cw-l-bars").bounding_box()["height"] == covered_height
