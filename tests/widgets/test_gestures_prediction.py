"""Gestures on Prediction: drawing, choosing, placing; and what the browser stores."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from agreement import has
from browser_fixtures import all_alive
from clock import plays, turn
from gestures import Finger, Hand, Mouse, operate_every_control, snapshot, widgets
from judges.prediction import chosen, placed
from playwright.sync_api import Locator, Page, expect
from reading import state_of
from small_widgets import make
from widget_page import Alone, bare_page

from course_lib.widgets import LiveFigure, Prediction
from course_lib.widgets.kit.modules import module_source
from course_lib.widgets.prediction.prediction import KNOTS


def reveal(widget: Locator) -> None:
    widget.get_by_role("button", name=re.compile("Show me|Compare")).click()
    has(widget, revealed=True)


def verdict(widget: Locator) -> str:
    return " ".join(widget.locator(".cw-p-verdict").inner_text().split())


@pytest.mark.parametrize(
    ("kind", "hand", "window"),
    [(placed, Finger, {"width": 390, "height": 844, "touch": True}), (chosen, Mouse, {})],
)
def test_a_number_is_placed_and_an_option_is_chosen_and_neither_moves_what_stands_below(
    alone: Alone, kind: Callable[[], Prediction], hand: type[Hand], window: dict
):
    widget = alone(kind(), **window)
    foot = widget.get_by_role("button", name="Reset")
    before, place = snapshot(widget), foot.bounding_box()
    widget.locator("[role=slider], .cw-p-option").first.click()
    assert len(state_of(widget)["guess"]) == 1
    assert foot.bounding_box() == place
    reveal(widget)
    assert foot.bounding_box() == place
    foot.click()
    has(widget, guess=[], revealed=False)
    assert snapshot(widget) == before
    operate_every_control(widget, hand(widget.page))


def test_a_stroke_from_left_to_right_is_the_curve(alone: Alone):
    widget = alone(make("Prediction"))
    box = widget.locator(".cw-p-pen rect").bounding_box()
    left, right, quarter = box["x"] + 2, box["x"] + box["width"] - 2, box["height"] / 4
    start, end = (left, box["y"] + quarter), (right, box["y"] + 3 * quarter)
    Mouse(widget.page).drag(start, end, steps=1)
    has(widget, guess=pytest.approx(np.linspace(75, 25, KNOTS).tolist(), abs=1.5))
    reveal(widget)


def test_a_guess_that_was_compared_is_locked_until_the_reader_guesses_again(alone: Alone):
    widget = alone(chosen())
    counted, lstm = (widget.get_by_role("button", name=name) for name in ("pairs", "LSTM"))
    lstm.click()
    expect(lstm).to_have_attribute("aria-pressed", "true")
    reveal(widget)
    counted.click(force=True)
    has(widget, guess=[1])
    widget.get_by_role("button", name="Guess again").click()
    counted.click()
    has(widget, guess=[0])


def test_the_verdict_is_a_sentence_in_the_quantity_s_own_unit(
    open_page: Callable[..., Page], tmp_path: Path
):
    share = placed(truth=63, between=(0, 100), log=False, unit="%", guess=[72])
    tiny = placed(truth=1e-4, between=(1e-10, 1), unit="m", guess=[2.4e-4])
    asked = {
        "✗ You said 20 steps, it is 137 steps: too low by a factor of 6.85.": placed(guess=[20]),
        "✓ You hit it: it is 137 steps.": placed(guess=[137]),
        "≈ Close, within a factor of 2. You said 120 steps, it is 137 steps": placed(guess=[120]),
        "≈ Close, within a tenth of the axis. You said 72 %, it is 63 %: too high by 9 per": share,
        "✗ You said 2.4·10⁻⁴ m, it is 1.0·10⁻⁴ m: too high by a factor of 2.4.": tiny,
        "You looked without a guess. It is 137 steps.": placed(),
        "✗ You said an LSTM, with 1.93 nats. It is a transformer, with 1.88": chosen(guess=[1]),
    }
    page = open_page(bare_page(tmp_path, *asked.values()))
    for widget, said in zip(widgets(page), asked, strict=True):
        reveal(widget)
        assert verdict(widget).startswith(said)


def test_a_number_that_counts_moves_in_whole_steps(alone: Alone):
    widget = alone(placed(truth=3, between=(0, 8), log=False, step=1))
    line = widget.get_by_role("slider")
    for key, guess in (("ArrowRight", 5), ("ArrowRight", 6), ("End", 8), ("ArrowRight", 8)):
        line.press(key)
        has(widget, guess=[guess])
    expect(line).to_have_attribute("aria-valuetext", "8\xa0steps")


FORBIDDEN = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); } });"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("full", "QuotaExceededError"); };"""
NONSENSE = ["{", "null", '{"guess":[1,2]}', '{"guess":"x"}', '{"guess":[-7]}']


def guessed(widget: Locator) -> list[float]:
    widget.get_by_role("slider").press("ArrowRight")
    return state_of(widget)["guess"]


def reloaded(page: Page) -> Locator:
    page.reload()
    all_alive(page)
    return widgets(page)[0]


def test_a_guess_survives_a_reload_and_reset_forgets_it(alone: Alone):
    widget = alone(placed())
    page, guess = widget.page, guessed(widget)
    assert guess
    has(reloaded(page), guess=guess, revealed=False)
    reveal(widget)
    has(reloaded(page), guess=guess, revealed=True)
    widget.get_by_role("button", name="Reset").click()
    has(widget, guess=[])
    has(reloaded(page), guess=[])
    assert page.evaluate("() => localStorage.length") == 0


def test_without_storage_the_question_still_works(alone: Alone):
    for init in (FORBIDDEN, FULL):
        widget = alone(placed(), init=init)
        guessed(widget)
        reveal(widget)
        assert "You said" in verdict(widget)
        has(reloaded(widget.page), guess=[])


def test_invalid_stored_guesses_are_ignored(alone: Alone):
    widget = alone(placed())
    guessed(widget)
    page = widget.page
    [key] = page.evaluate("() => Object.keys(localStorage)")
    for text in NONSENSE:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [key, text])
        assert state_of(reloaded(page))["guess"] == [], text


def test_in_jupyter_the_kernel_stores_the_guess_and_the_browser_does_not(
    open_page: Callable[..., Page], tmp_path: Path
):
    page, widget = open_page(bare_page(tmp_path)), placed()
    kept = page.evaluate(
        """async ([module, state]) => {
          const widget = await import(`data:text/javascript,${encodeURIComponent(module)}`);
          const model = { get: (name) => state[name], save_changes: () => {}, on: () => {},
            off: () => {}, send: () => {}, set: (name, value) => { state[name] = value; } };
          const home = document.createElement("div");
          document.body.append(home);
          widget.default.render({ model, el: home });
          home.querySelector("button").click();
          return [state.revealed, localStorage.length];
        }""",
        [module_source(widget._module), widget.page_state()],
    )
    assert kept == [True, 0]


FIGURE = "fig-live-root-d"
VEILED = ".guess-hides, .guess-waits"


@pytest.fixture
def lecture(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Opens a page laid out as in the book: a question, text, a figure, and the next heading."""
    question, figure = (
        f'<div class="cell {tag}"><div class="cell_output">{one.static_html()}</div></div>'
        for one, tag in ((placed(), "tag_guess-covers-section"), (LiveFigure("root-d"), ""))
    )
    (tmp_path / "lecture.html").write_text(
        f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lecture</title></head>
        <body><main><h1>lecture</h1><section><h2>Question</h2>{question}
        <p id="try">Try it with <a href="#{FIGURE}?dimension=64">64 features</a>.</p>{figure}
        <div class="cell"><div class="cell_output" id="printed"><pre>1.88</pre></div></div>
        <p id="told">Told.</p><div class="math notranslate" id="formula">1 + 1 = 2</div>
        <section><h3>More of it</h3><p id="below">Told again.</p></section></section>
        <h2>Next</h2><p id="later"><a href="#{FIGURE}?dimension=16">16</a></p></main></body></html>
        """,
        encoding="utf-8",
    )
    return lambda **window: open_page((tmp_path / "lecture.html").as_uri(), **window)


def test_hidden_content_is_inert_and_does_not_play(lecture: Callable[..., Page]):
    page = lecture(height=1400, clock=True)
    show = page.get_by_role("button", name="Show me")
    turn(page, 1)
    assert not plays(page)
    for name in ("#try", "#told", "#formula", "#below", f"#{FIGURE}", "#printed pre"):
        assert page.locator(name).evaluate("(el) => el.inert"), name
    assert page.locator("#printed").get_attribute("class") == "cell_output guess-waits"
    assert not page.locator("#later").evaluate("(el) => el.inert")
    show.click()
    turn(page, 1)
    assert plays(page)
    assert page.locator(f"[inert], {VEILED}").count() == 0
    page.get_by_role("button", name="Guess again").click()
    turn(page, 0.1)
    assert page.locator(VEILED).count() == 6


def test_hidden_content_can_be_shown_without_a_guess(lecture: Callable[..., Page]):
    page = lecture(height=1400)
    question, _ = widgets(page)
    page.get_by_role("button", name="Show it anyway").last.click()
    expect(page.locator(f"[inert], .guess-fog, {VEILED}")).to_have_count(0)
    assert page.evaluate("() => document.activeElement.id") == "printed"
    has(question, guess=[], revealed=True)
    page.reload()
    expect(page.locator(".cw-p-answer")).to_have_count(1)
    expect(page.locator(VEILED)).to_have_count(0)
