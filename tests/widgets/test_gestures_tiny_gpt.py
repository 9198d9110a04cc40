import math

import pytest
import torch
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import press
from in_the_page import uniform
from letters import bar, says
from playwright.sync_api import Locator, expect
from reading import send, state_of
from small_widgets import decoder
from widget_page import Shown, shows

from course_lib.generation import next_token_probabilities
from course_lib.widgets import TinyGPT
from course_lib.widgets.tiny_gpt.tiny_gpt import decoder_of

ALPHABET = "·abcde <"
BARS = "Letter to look at"
A_LETTER = 1.4  # seconds until the needle rests and the letter is in the text


KINDS_OF_DECODERS = [
    {"position": "none"},
    {"position": "sinusoidal", "tied": False},
    {"position": "learned", "norm": "post"},
    {"position": "rotary"},
]


def gpt(*, tokens: int = 10, kind: dict | None = None, **options: object) -> TinyGPT:
    model = decoder(len(ALPHABET), 12, tokens=tokens, **kind or {})
    with torch.no_grad():
        if not kind:
            # An end of text would come too soon for most of these tests.
            model.embedding.token.weight[0] -= 1.5 * model.norm.weight
    given = {"prompt": "bad", "start": "·", "stop": "·", "moving": False} | options
    return TinyGPT(model, ALPHABET, **given)


shown = shows(gpt)


def texts(widget: Locator) -> tuple[str, str]:
    state = state_of(widget)
    return state["prompt"], state["written"]


def test_every_place_of_a_text_and_every_order_is_what_course_lib_computes(shown: Shown):
    kinds = [{"kind": kind} for kind in KINDS_OF_DECODERS]
    for options in ({"start": None, "written": "ad·"}, {"prompt": "", "tokens": 1}, *kinds):
        widget = shown(**options)
        for order in ("alphabet", "probability"):
            for place in range(len("".join(texts(widget))) + 1):
                cuts = {"top_k": 3 + place % 6, "top_p": [1, 0.5, 0.05][place % 3]}
                send(widget, order=order, place=place, temperature=0.1 + place % 2, **cuts)
                agrees_with_course_lib(widget)


def test_typed_text_is_the_new_prompt_until_undo(shown: Shown):
    widget = shown(written="ce")
    field = widget.get_by_label("Type a beginning")
    field.press("End")
    widget.page.keyboard.type("a")
    # The text was written after another prompt.
    has(widget, prompt="bada", written="")
    press(widget, "Undo")
    has(widget, prompt="bad", written="ce")
    expect(field).to_have_value("bad")
    field.fill("abcdeabcde")
    says(widget, "You still see bad")
    has(widget, prompt="bad", written="ce")


def drawn(state: dict[str, object], text: str, u: float) -> str:
    """The first letter at which course_lib's cumulative probability exceeds u."""
    ids = torch.tensor([ALPHABET.index(letter) for letter in "·" + text])
    with torch.no_grad():
        logits = decoder_of(state["facts"], state["weights"]).double()(ids)[-1]
    settings = {name: state[name] for name in ("temperature", "top_k", "top_p")}
    sums = next_token_probabilities(logits, **settings).cumsum(0)
    return ALPHABET[int((sums <= u).sum())]


# The needle, and both ends of the highlighted letter, as shares of the strip.
NEEDLE = """(el) => {
  const strip = el.querySelector(".cw-t-strip");
  const needle = strip.querySelector(".cw-t-needle[visibility=visible]");
  const at = Number(needle.getAttribute("transform").match(/\\((\\S+) /)[1]);
  const lit = strip.querySelector(".cw-t-drawn").getAttribute("d").match(/M(\\S+) \\S+h(\\S+)v/);
  const [from, wide] = (lit ?? []).slice(1).map(Number);
  return [at, from, from + wide].map((x) => (x - 1) / (strip.viewBox.baseVal.width - 2));
}"""


def test_the_needle_rests_on_the_letter_of_the_seeds_next_number_and_undo_takes_it_back(
    shown: Shown,
):
    widget = shown(page=CLOCK, seed=5, temperature=1.3, top_p=0.9)
    undo = widget.get_by_role("button", name="Undo")
    assert undo.is_disabled()
    seen = [texts(widget)]
    for n in range(4):
        before, u = state_of(widget), uniform(5, n)
        press(widget, "One letter")
        turn(widget, 0.2)
        assert math.isnan(widget.evaluate(NEEDLE)[1])
        turn(widget, 0.7)
        at, start, end = widget.evaluate(NEEDLE)
        assert at == pytest.approx(u, abs=1e-4)
        assert start <= at < end
        assert texts(widget) == seen[-1]
        turn(widget, 0.6)
        # Another text starts after the end of one.
        kept = "" if before["written"].endswith("·") else before["written"]
        assert texts(widget)[1] == kept + drawn(before, before["prompt"] + kept, u)
        assert state_of(widget)["draws"] == n + 1
        seen.append(texts(widget))
        agrees_with_course_lib(widget)
    press(widget, "Clear")
    assert texts(widget) == ("bad", "")
    for expected in seen[::-1]:
        press(widget, "Undo")
        assert texts(widget) == expected
    agrees_with_course_lib(widget)
    assert undo.is_disabled()


def at_the_end(widget: Locator) -> str:
    prompt, written = texts(widget)
    assert written.endswith("·") or len(prompt + written) == 10
    assert not plays(widget)
    agrees_with_course_lib(widget)
    return written


def test_on_opening_it_writes_a_text_to_its_end_and_then_another_one(shown: Shown):
    given = {"prompt": "abcdeab", "moving": True, "seed": 3, "beginnings": {"beds": "bed"}}
    widget = shown(page=CLOCK, **given)
    turn(widget, A_LETTER / 2)
    widget.locator(".cw-t-text span").first.click()
    turn(widget, 2 * A_LETTER)
    # Any use stops the animation.
    assert texts(widget)[1] == ""
    press(widget, "Reset")
    written = []
    for start in ("▶ Write", "▶ Write", "beds"):
        press(widget, start)
        turn(widget, 10 * A_LETTER)
        written.append(at_the_end(widget))
        assert rests(widget)
    assert written[0] != written[1]
    assert texts(widget)[0] == "bed"
    again = shown(page=CLOCK, **given)
    turn(again, 10 * A_LETTER)
    # The same state writes the same text.
    has(again, written=written[0], draws=len(written[0]))


def test_pointing_at_a_bar_shows_its_numbers_and_a_click_chooses_that_letter(shown: Shown):
    widget = shown(written="ce", order="alphabet", place=1)
    page, readout = widget.page, widget.locator(".cw-l-readout")
    page.mouse.move(*bar(widget, BARS, 4))
    expect(readout).to_contain_text("d: ")
    agrees_with_course_lib(widget)
    assert state_of(widget)["option"] == -1
    page.mouse.click(*bar(widget, BARS, 4))
    # Text typed before that position stays, and the choice comes after it.
    has(widget, prompt="b", written="d")
    page.mouse.move(0, 0)
    for key in ("Home", "ArrowRight", "Enter"):
        widget.get_by_role("slider", name=BARS).press(key)
    has(widget, prompt="b", written="da", draws=0)
