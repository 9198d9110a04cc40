"""What TinyGPT does while its reader types, writes, looks back and chooses otherwise."""

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bare import bare_page
from clock import rests, turn
from conftest import Watch
from hands import open_folds, widgets
from in_the_page import uniform
from kinds.tiny_gpt import displayed as tiny_gpt
from letters import bar, says
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets import TinyGPT
from course_lib.widgets.tiny_gpt import decoder_of

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "·abcde <"
BARS = "Letter to look at"
CLOCK = {"clock": True}
A_LETTER = 1.4  # seconds until the needle has chosen and the letter stands in the text


def gpt(alphabet: str = ALPHABET, *, tokens: int = 10, **options: object) -> TinyGPT:
    shape = {name: options.pop(name) for name in ("norm", "position") if name in options}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(13)
        model = Decoder(len(alphabet), 12, 2, 2, tokens=tokens, **shape)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.4 * torch.randn_like(parameter))
            # An end of text would come too soon for most of these tests.
            model.embedding.token.weight[0] -= 1.5 * model.norm.weight if "norm" not in shape else 0
    given = {"prompt": "bad", "start": "·", "stop": "·", "moving": False} | options
    return TinyGPT(model, alphabet, **given)


@pytest.fixture
def shown(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Locator]:
    """Opens a page with one TinyGPT, and gives it."""

    def shown(window: dict[str, object] | None = None, **options: object) -> Locator:
        page = open_page(bare_page(tmp_path, gpt(**options)), **(window or {}))
        [widget] = widgets(page)
        return widget

    return shown


def agrees(widget: Locator) -> None:
    eventually(widget, lambda: tiny_gpt(widget))


def push(widget: Locator, name: str) -> None:
    widget.get_by_role("button", name=name).click()


def texts(widget: Locator) -> tuple[str, str]:
    state = state_of(widget)
    return state["prompt"], state["written"]


@pytest.mark.parametrize(
    "options",
    [
        {"position": "rotary"},
        {"position": "sinusoidal", "norm": "post"},
        {"position": "none"},
        {"start": None},
        {"start": None, "stop": None, "tokens": 1, "prompt": "a"},
        {"prompt": "", "tokens": 1},
        {"prompt": ""},
        {"written": "ad·"},
        {"prompt": "abcdeabcd", "written": "e"},
    ],
    ids=str,
)
def test_every_place_of_a_text_and_every_order_is_what_course_lib_computes(
    shown: Callable[..., Locator], options: dict[str, object]
):
    widget = shown(**options)
    agrees(widget)
    for order in ("alphabet", "probability"):
        for place in range(len("".join(texts(widget))) + 1):
            settings = [("order", order), ("place", place), ("top_k", 3 + place % 6)]
            settings += [("top_p", [1, 0.5, 0.05][place % 3]), ("temperature", 0.1 + place % 5)]
            widget.evaluate(
                """(el, changes) => {
                  for (const [name, to] of changes) el.courseModel.set(name, to);
                }""",
                settings,
            )
            agrees(widget)


def test_the_bars_move_while_a_beginning_is_typed(shown: Callable[..., Locator]):
    widget = shown(prompt="")
    widget.get_by_label("Type a beginning").click()
    for letter in "bad cab":
        widget.page.keyboard.type(letter)
        agrees(widget)
    assert texts(widget) == ("bad cab", "")


def test_typing_takes_away_what_was_written_after_another_beginning(
    shown: Callable[..., Locator],
):
    widget = shown(written="ce")
    widget.get_by_label("Type a beginning").press("End")
    widget.page.keyboard.type("a")
    assert texts(widget) == ("bada", "")
    agrees(widget)
    push(widget, "Undo")
    assert texts(widget) == ("bad", "ce")
    expect(widget.get_by_label("Type a beginning")).to_have_value("bad")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("baX", "never seen X. It knows a b c d e ␣ <."),
        ("ba李", "never seen 李. It knows a b c d e ␣ <."),
        ("<img src=x>", "never seen i, m, g, s, r, =, x, >."),
        ("ba·", "· stands for the start or the end"),
        ("abcdeabcde", "That is 10 letters; the model has room for 9."),
    ],
)
def test_a_beginning_that_cannot_be_read_is_refused_in_words_and_not_run(
    shown: Callable[..., Locator], typed: str, words: str
):
    widget = shown()
    field = widget.get_by_label("Type a beginning")
    field.fill(typed)
    says(widget, words)
    says(widget, "You still see bad.")
    assert field.input_value() == typed
    assert field.get_attribute("aria-invalid") == "true"
    assert texts(widget) == ("bad", "")
    agrees(widget)
    field.fill("<<")
    says(widget, "")
    assert field.get_attribute("aria-invalid") == "false"
    agrees(widget)


def test_capitals_and_accents_are_read_as_letters_of_the_alphabet(shown: Callable[..., Locator]):
    widget = shown(prompt="")
    field = widget.get_by_label("Type a beginning")
    field.fill("Äc Bé")
    assert texts(widget) == ("ac be", "")
    assert field.input_value() == "Äc Bé"
    says(widget, "Read as ac␣be.")
    agrees(widget)


def test_an_empty_beginning_needs_a_start(shown: Callable[..., Locator]):
    widget = shown()
    widget.get_by_label("Type a beginning").fill("")
    says(widget, "")
    assert texts(widget) == ("", "")
    agrees(widget)
    widget = shown(start=None)
    widget.get_by_label("Type a beginning").fill("")
    says(widget, "Type at least one letter: the model has no mark of the start")
    assert texts(widget) == ("bad", "")
    agrees(widget)


def test_the_smallest_temperature_is_remarked_upon(shown: Callable[..., Locator]):
    widget = shown(temperature=0.1)
    agrees(widget)
    assert "the smallest temperature here" in widget.locator(".cw-l-readout + p").inner_text()


@pytest.mark.parametrize(
    ("trait", "value", "words"),
    [
        ("temperature", 0, "temperature is 0; expected a number from 0.1 to 5."),
        ("top_k", 0, "top_k is 0; expected a whole number from 1 to 8."),
        ("top_p", -1, "top_p is -1; expected a number from 0.05 to 1."),
        ("option", 1.5, "option is 1.5; expected a whole number from -1 to 7."),
        ("prompt", "baX", "The model has never seen X."),
        ("written", "badcabbad", "The text has 12 letters; expected 10 at most."),
    ],
)
def test_a_page_that_sets_what_cannot_be_drawn_is_told_so_in_words(
    shown: Callable[..., Locator], watch: Watch, trait: str, value: object, words: str
):
    widget = shown()
    widget.evaluate("(el, [trait, value]) => el.courseModel.set(trait, value)", [trait, value])
    expect(widget.get_by_role("alert")).to_contain_text(words)
    assert "NaN" not in widget.inner_html()
    push(widget, "Reset")
    expect(widget.get_by_role("alert")).to_have_count(0)
    agrees(widget)
    assert words in watch.errors[0]
    watch.errors.clear()


# The step of every row as the infinity of a bfloat16.
OVERFLOW = """(el) => {
  const weights = el.courseModel.get("weights");
  const infinite = [...atob(weights.steps)].map((_, i) => "\\x80\\x7f"[i % 2]).join("");
  el.courseModel.set("weights", { ...weights, steps: btoa(infinite) });
}"""


def test_a_model_whose_numbers_are_too_large_says_so_in_words(
    shown: Callable[..., Locator], watch: Watch
):
    widget = shown()
    widget.evaluate(OVERFLOW)
    expect(widget.get_by_role("alert")).to_contain_text("numbers are too large")
    assert "NaN" not in widget.inner_html()
    assert "too large" in watch.errors[0]
    watch.errors.clear()


def drawn(state: dict[str, object], text: str, u: float) -> str:
    """The letter at which the probabilities, as course_lib computes them, add up to more than u."""
    ids = torch.tensor([ALPHABET.index(letter) for letter in "·" + text])
    with torch.no_grad():
        logits = decoder_of(state["facts"], state["weights"]).double()(ids)[-1]
    settings = {name: state[name] for name in ("temperature", "top_k", "top_p")}
    sums = next_token_probabilities(logits, **settings).cumsum(0)
    return ALPHABET[int((sums <= u).sum())]


def draw_one(widget: Locator) -> None:
    """Let the needle go once, and wait until the letter that it chose has come."""
    draws = state_of(widget)["draws"]
    push(widget, "One letter")
    turn(widget, A_LETTER + 0.1)
    assert state_of(widget)["draws"] == draws + 1
    assert widget.get_by_role("button", name="▶ Write").is_visible()


# Where the needle stands, and from where to where the lit letter reaches, in shares of the strip.
NEEDLE = """(el) => {
  const strip = el.querySelector(".cw-t-strip");
  const needle = strip.querySelector(".cw-t-needle[visibility=visible]");
  const at = Number(needle.getAttribute("transform").match(/\\((\\S+) /)[1]);
  const lit = strip.querySelector(".cw-t-drawn").getAttribute("d").match(/M(\\S+) \\S+h(\\S+)v/);
  const [from, wide] = (lit ?? []).slice(1).map(Number);
  return [at, from, from + wide].map((x) => (x - 1) / (strip.viewBox.baseVal.width - 2));
}"""


def test_the_needle_swings_and_comes_to_rest_on_the_letter_that_is_written(
    shown: Callable[..., Locator],
):
    widget = shown(CLOCK, seed=5, temperature=1.3)
    before = state_of(widget)
    u = uniform(5, 0)
    push(widget, "One letter")
    sides = set()
    for seconds in (0.05, 0.2, 0.25):
        turn(widget, seconds)
        at, start, _ = widget.evaluate(NEEDLE)
        assert 0 <= at <= 1
        assert math.isnan(start)
        sides.add(at > u)
    assert sides == {True, False}
    turn(widget, 0.4)
    at, start, end = widget.evaluate(NEEDLE)
    assert at == pytest.approx(u, abs=1e-4)
    assert start <= at < end
    assert state_of(widget)["written"] == ""
    turn(widget, 0.6)
    assert state_of(widget)["written"] == drawn(before, before["prompt"], u)


def test_a_button_writes_after_its_beginning(shown: Callable[..., Locator]):
    widget = shown(CLOCK, beginnings={"cabs": "cab", "beds": "bed"}, seed=3, temperature=2)
    button = widget.get_by_role("button", name="beds")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    turn(widget, 10 * A_LETTER)
    at_the_end(widget)
    assert texts(widget)[0] == "bed"
    assert button.get_attribute("aria-pressed") == "true"
    agrees(widget)


def test_readers_who_asked_for_less_motion_get_letter_and_text_at_once(
    shown: Callable[..., Locator],
):
    still = CLOCK | {"reduced_motion": True}
    widget = shown(still, beginnings={"beds": "bed"}, seed=3, temperature=2)
    for name in ("beds", "▶ Write"):
        push(widget, name)
        turn(widget, 0.05)
        at_the_end(widget)
        agrees(widget)
        push(widget, "Clear")
    push(widget, "One letter")
    assert len(texts(widget)[1]) == 1
    agrees(widget)
    assert rests(widget)


def test_each_letter_is_drawn_with_the_next_number_of_the_seed(shown: Callable[..., Locator]):
    widget = shown(CLOCK, seed=5, temperature=1.3, top_p=0.9)
    for n in range(6):
        before = state_of(widget)
        draw_one(widget)
        after = state_of(widget)
        u = uniform(5, n)
        # After the end of a text another one begins.
        kept = "" if before["written"].endswith("·") else before["written"]
        assert after["written"] == kept + drawn(before, before["prompt"] + kept, u)
        assert after["draws"] == n + 1
        agrees(widget)


def written_to_the_end(widget: Locator) -> str:
    push(widget, "▶ Write")
    turn(widget, 10 * A_LETTER)
    at_the_end(widget)
    agrees(widget)
    return texts(widget)[1]


def at_the_end(widget: Locator) -> None:
    prompt, written = texts(widget)
    assert written.endswith("·") or len(prompt + written) == 10
    assert widget.get_by_role("button", name="▶ Write").is_visible()


def test_write_goes_on_to_the_end_and_the_same_state_writes_the_same_text(
    shown: Callable[..., Locator],
):
    first = written_to_the_end(shown(CLOCK, seed=3, temperature=2))
    again = shown(CLOCK, seed=3, temperature=2)
    assert written_to_the_end(again) == first
    assert "Write begins another one" in again.locator(".cw-t-remark").inner_text()
    assert written_to_the_end(again) != first
    assert rests(again)


def test_write_can_be_stopped(shown: Callable[..., Locator]):
    widget = shown(CLOCK, prompt="a", tokens=64)
    push(widget, "▶ Write")
    turn(widget, 3.5 * A_LETTER)
    push(widget, "■ Stop")
    held = texts(widget)
    assert len(held[1]) == 3
    turn(widget, 2 * A_LETTER)
    assert widget.get_by_role("button", name="▶ Write").is_visible()
    assert texts(widget) == held
    agrees(widget)


def test_undo_takes_back_letter_by_letter_and_brings_back_what_was_cleared(
    shown: Callable[..., Locator],
):
    widget = shown(CLOCK)
    undo, clear = (widget.get_by_role("button", name=name) for name in ("Undo", "Clear"))
    agrees(widget)
    assert undo.is_disabled()
    assert clear.is_disabled()
    seen = [texts(widget)]
    for _ in range(3):
        draw_one(widget)
        seen.append(texts(widget))
    push(widget, "Clear")
    assert texts(widget) == ("bad", "")
    for expected in seen[::-1]:
        push(widget, "Undo")
        assert texts(widget) == expected
        agrees(widget)
    assert undo.is_disabled()


def test_a_letter_that_is_clicked_shows_what_else_it_could_have_been(
    shown: Callable[..., Locator],
):
    widget = shown(written="ce")
    tiles = widget.locator(".cw-t-text span")
    tiles.nth(2).click()
    assert state_of(widget)["place"] == 1
    agrees(widget)
    assert "After b you typed a" in widget.locator(".cw-l-heading").first.inner_text()
    # The start was not chosen, so that a click on it means the first letter.
    tiles.nth(0).click()
    assert state_of(widget)["place"] == 0
    agrees(widget)
    tiles.nth(6).click()
    assert state_of(widget)["place"] == -1
    agrees(widget)


def test_arrow_keys_walk_along_the_text(shown: Callable[..., Locator]):
    widget = shown(written="ce")
    widget.get_by_role("slider", name="Letter whose choice is shown").focus()
    for key, place in [
        ("ArrowLeft", 4),
        ("ArrowLeft", 3),
        ("ArrowRight", 4),
        ("ArrowRight", -1),
        ("ArrowRight", -1),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("End", -1),
    ]:
        widget.page.keyboard.press(key)
        assert state_of(widget)["place"] == place
        agrees(widget)


def test_pointing_at_a_bar_tells_its_numbers_and_a_click_takes_that_letter_instead(
    shown: Callable[..., Locator],
):
    widget = shown(written="ce", order="alphabet", place=1)
    page, readout = widget.page, widget.locator(".cw-l-readout")
    page.mouse.move(*bar(widget, BARS, 4))
    expect(readout).to_have_text(re.compile("^d: "))
    agrees(widget)
    assert state_of(widget)["option"] == -1
    page.mouse.click(*bar(widget, BARS, 4))
    # What was typed before that place stays, and the choice comes after it.
    assert texts(widget) == ("b", "d")
    agrees(widget)
    page.mouse.move(0, 0)
    push(widget, "Undo")
    assert texts(widget) == ("bad", "ce")
    agrees(widget)


def test_a_letter_can_be_chosen_with_the_keyboard(shown: Callable[..., Locator]):
    widget = shown(order="alphabet")
    widget.get_by_role("slider", name="Letter to look at").focus()
    for key, option in [("Home", 0), ("ArrowRight", 1), ("ArrowUp", 2), ("ArrowLeft", 1)]:
        widget.page.keyboard.press(key)
        assert state_of(widget)["option"] == option
        agrees(widget)
    widget.page.keyboard.press("Enter")
    assert texts(widget) == ("bad", "a")
    assert state_of(widget)["draws"] == 0
    agrees(widget)


def test_a_letter_of_a_head_tells_how_hard_it_is_looked_at(shown: Callable[..., Locator]):
    widget = shown()
    letter = widget.locator(".cw-l-card").nth(3).locator("span").nth(2)
    letter.scroll_into_view_if_needed()
    letter.hover()
    line = widget.locator(".cw-l-look")
    expect(line).to_contain_text("Layer 2, head 2 looks at a (place 3 of 4) with weight 0.")
    weight = float(line.inner_text().rpartition(" ")[2].rstrip("."))
    share = float(letter.evaluate("el => el.style.getPropertyValue('--weight')"))
    assert weight == pytest.approx(share**2, abs=6e-4)


@pytest.mark.parametrize("width", [200, 390, 1920])
def test_ninety_six_letters_and_sixty_four_positions_fit_the_window(
    shown: Callable[..., Locator], width: int
):
    alphabet = "".join(map(chr, range(32, 127))) + "·"
    text = "".join(alphabet[3 * i % 95] for i in range(63))
    widget = shown({"width": width}, alphabet=alphabet, tokens=64, prompt=text)
    agrees(widget)
    root = widget.locator(".cw")
    assert root.evaluate("el => el.scrollWidth <= el.clientWidth")
    open_folds(widget)
    frame = root.bounding_box()
    for part in (".cw-t-text", ".cw-l-bars", ".cw-l-cards"):
        box = widget.locator(part).bounding_box()
        assert frame["x"] < box["x"]
        assert box["x"] + box["width"] < frame["x"] + frame["width"]


def test_at_first_sight_it_writes_one_text_and_then_waits(shown: Callable[..., Locator]):
    widget = shown(CLOCK, prompt="abcdeab", moving=True, seed=3)
    turn(widget, A_LETTER / 2)
    assert texts(widget)[1] == ""
    turn(widget, 10 * A_LETTER)
    at_the_end(widget)
    agrees(widget)
    assert state_of(widget)["draws"] == len(texts(widget)[1])
    assert rests(widget)
    push(widget, "Reset")
    assert texts(widget) == ("abcdeab", "")


def test_a_hand_ends_the_first_text(shown: Callable[..., Locator]):
    widget = shown(CLOCK, prompt="a", moving=True)
    turn(widget, A_LETTER / 2)
    assert widget.get_by_role("button", name="■ Stop").is_visible()
    widget.locator(".cw-t-text span").first.click()
    turn(widget, 2 * A_LETTER)
    assert widget.get_by_role("button", name="▶ Write").is_visible()
    assert texts(widget) == ("a", "")
    agrees(widget)


def test_nothing_is_written_for_readers_who_asked_for_less_motion(shown: Callable[..., Locator]):
    widget = shown(CLOCK | {"reduced_motion": True}, moving=True)
    assert rests(widget)
    assert texts(widget) == ("bad", "")
    agrees(widget)


def test_on_a_telephone_the_heads_are_folded_and_the_figure_is_short(shown: Callable[..., Locator]):
    alphabet = "".join(map(chr, range(32, 127))) + "·"
    beginnings = {f"Country {i}": chr(65 + i) for i in range(10)}
    widget = shown({"width": 358, "touch": True}, alphabet=alphabet, beginnings=beginnings)
    assert widget.locator(".cw").bounding_box()["height"] <= 1100
    assert not widget.locator(".cw-l-cards").is_visible()
    widget.get_by_text("Where each head looked").click()
    assert widget.locator(".cw-l-cards").is_visible()
