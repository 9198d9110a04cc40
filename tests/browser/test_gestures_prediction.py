"""Prediction by hand: drawing, choosing, placing; and what the browser keeps of it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bare import Alone, bare_page
from clock import turn
from displayed import agrees_with_course_lib
from hands import Finger, Hand, Mouse, centre, operate_every_control, snapshot, widgets
from kinds.prediction import chosen, make, placed
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of

from course_lib.widgets import LiveFigure, Prediction
from course_lib.widgets.prediction import KNOTS

pytestmark = pytest.mark.usefixtures("plain_calls")

HANDS = [(Mouse, {}), (Finger, {"width": 390, "height": 844, "touch": True})]


def reveal(widget: Locator) -> None:
    widget.get_by_role("button", name=re.compile("Show me|Compare")).click()
    eventually(widget, lambda: assert_revealed(widget))


def assert_revealed(widget: Locator) -> None:
    assert widget.locator(".cw-p-answer").count() == 1
    agrees_with_course_lib(widget)


def verdict(widget: Locator) -> str:
    return " ".join(widget.locator(".cw-p-verdict").inner_text().split())


@pytest.mark.parametrize(("hand", "window"), HANDS, ids=["mouse", "finger"])
@pytest.mark.parametrize("kind", [placed, chosen])
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
    eventually(widget, lambda: assert_same(snapshot(widget), before))
    operate_every_control(widget, hand(widget.page))


def assert_same(found: str, expected: str) -> None:
    assert found == expected


def test_a_stroke_from_left_to_right_is_the_curve(alone: Alone):
    widget = alone(make())
    chart = widget.locator(".cw-p-pen rect")
    x, y = centre(chart)
    box = chart.bounding_box()
    left, right = box["x"] + 2, box["x"] + box["width"] - 2
    top, bottom = y - box["height"] / 4, y + box["height"] / 4
    mouse = widget.page.mouse
    mouse.move(left, top)
    mouse.down()
    mouse.move(right, bottom)
    mouse.up()
    eventually(widget, lambda: assert_long(state_of(widget)["guess"]))
    np.testing.assert_allclose(state_of(widget)["guess"], np.linspace(75, 25, KNOTS), atol=1.5)
    mouse.click(x, y - box["height"] / 2 + 2)
    guess = state_of(widget)["guess"]
    assert guess[KNOTS // 2] == pytest.approx(99, abs=1)
    assert guess[KNOTS // 2 + 1] == pytest.approx(25 + 50 * 11 / 24, abs=1.5)
    reveal(widget)


def assert_long(guess: list[float]) -> None:
    assert len(guess) == KNOTS


def test_a_guess_that_was_compared_is_locked_until_the_reader_guesses_again(alone: Alone):
    widget = alone(chosen())
    counted, lstm = (widget.get_by_role("button", name=name) for name in ("pairs", "LSTM"))
    lstm.click()
    expect(lstm).to_have_attribute("aria-pressed", "true")
    reveal(widget)
    assert verdict(widget) == (
        "✗ You said an LSTM, with 1.93 nats. It is a transformer, with 1.88 nats: 0.05 nats apart."
    )
    counted.click(force=True)
    assert state_of(widget)["guess"] == [1]
    widget.get_by_role("button", name="Guess again").click()
    counted.click()
    eventually(widget, lambda: assert_same(state_of(widget)["guess"], [0]))
    agrees_with_course_lib(widget)


VERDICTS = [
    (
        {"guess": [20]},
        "✗ You said 20 steps, it is 137 steps: too low by a factor of 6.85.",
    ),
    ({"guess": [137]}, "✓ You hit it: it is 137 steps."),
    (
        {"guess": [120]},
        (
            "≈ Close, within a factor of 2. You said 120 steps, it is 137 steps: "
            "too low by a factor of 1.14."
        ),
    ),
    (
        {"truth": 63, "between": (0, 100), "log": False, "unit": "%", "guess": [72]},
        (
            "≈ Close, within a tenth of the axis. You said 72 %, it is 63 %: "
            "too high by 9 percentage points."
        ),
    ),
    (
        {"truth": 1e-4, "between": (1e-10, 1), "unit": "m", "guess": [2.4e-4]},
        "✗ You said 2.4·10⁻⁴ m, it is 1.0·10⁻⁴ m: too high by a factor of 2.4.",
    ),
    (
        {"truth": 0.0552, "between": (0, 0.3), "log": False, "unit": "mag", "step": 0.01}
        | {"guess": [0.08]},
        (
            "≈ Close, within a tenth of the axis. You said 0.08 mag, it is 0.055 mag: "
            "too high by 0.025 mag."
        ),
    ),
    ({}, "You looked without a guess. It is 137 steps."),
]


def test_the_verdict_is_a_sentence_in_the_quantity_s_own_unit(
    open_page: Callable[..., Page], tmp_path: Path
):
    asked = [placed(**given) for given, _ in VERDICTS]
    asked.append(chosen(wanted="largest", guess=[0]))
    expected = [said for _, said in VERDICTS]
    expected.append("✓ You hit it: it is counting pairs, with 2.41 nats.")
    page = open_page(bare_page(tmp_path, *asked))
    for widget, said in zip(widgets(page), expected, strict=True):
        reveal(widget)
        assert verdict(widget) == said


def test_a_number_that_counts_moves_in_whole_steps(alone: Alone):
    widget = alone(placed(truth=3, between=(0, 8), log=False, step=1))
    line = widget.get_by_role("slider")
    line.focus()
    for _ in range(3):
        widget.page.keyboard.press("ArrowRight")
    assert state_of(widget)["guess"] == [7]
    widget.page.keyboard.press("End")
    widget.page.keyboard.press("End")
    assert state_of(widget)["guess"] == [8]
    expect(line).to_have_attribute("aria-valuetext", "8 steps")


# What the browser keeps ------------------------------------------------------------------------

FORBIDDEN = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); } });"""
ABSENT = 'Object.defineProperty(window, "localStorage", { value: undefined });'
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("full", "QuotaExceededError"); };"""
NONSENSE = ["{", "null", '{"guess":[1,2]}', '{"guess":"x"}', '{"guess":[-7]}']


def guessed(widget: Locator) -> None:
    line = widget.get_by_role("slider")
    line.focus()
    widget.page.keyboard.press("ArrowRight")


def reloaded(page: Page) -> Locator:
    page.reload()
    [widget] = widgets(page)
    expect(widget).to_have_attribute("data-alive", "true")
    return widget


def test_a_guess_survives_a_reload_and_reset_forgets_it(alone: Alone):
    widget = alone(placed())
    page = widget.page
    guessed(widget)
    guess = state_of(widget)["guess"]
    assert guess
    widget = reloaded(page)
    assert state_of(widget)["guess"] == guess
    assert state_of(widget)["revealed"] is False
    reveal(widget)
    widget = reloaded(page)
    assert state_of(widget)["revealed"] is True
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Reset").click()
    assert state_of(widget)["guess"] == []
    widget = reloaded(page)
    assert state_of(widget)["guess"] == []
    assert page.evaluate("() => localStorage.length") == 0


def test_where_nothing_can_be_kept_the_question_works_all_the_same(alone: Alone):
    for init in (FORBIDDEN, ABSENT, FULL):
        widget = alone(placed(), init=init)
        guessed(widget)
        reveal(widget)
        assert "You said" in verdict(widget)
        assert state_of(reloaded(widget.page))["guess"] == []


def test_what_was_kept_wrongly_is_left_aside(alone: Alone):
    widget = alone(placed())
    guessed(widget)
    page = widget.page
    [key] = page.evaluate("() => Object.keys(localStorage)")
    for text in NONSENSE:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [key, text])
        widget = reloaded(page)
        assert state_of(widget)["guess"] == [], text


def test_in_jupyter_the_kernel_keeps_the_guess_and_the_browser_nothing(
    open_page: Callable[..., Page], tmp_path: Path
):
    page = open_page(bare_page(tmp_path, placed()))
    [widget] = widgets(page)
    kept = widget.evaluate(
        """async (el) => {
          const { code, state } = JSON.parse(el.nextElementSibling.textContent);
          const stream = new Blob([Uint8Array.from(atob(code), (c) => c.charCodeAt(0))]).stream()
            .pipeThrough(new DecompressionStream("deflate"));
          const module = (await new Response(stream).text()).split("\\0")[1];
          const widget = await import(`data:text/javascript,${encodeURIComponent(module)}`);
          const model = { get: (name) => state[name], save_changes: () => {}, on: () => {},
            off: () => {}, send: () => {}, set: (name, value) => { state[name] = value; } };
          const home = document.createElement("div");
          document.body.append(home);
          widget.default.render({ model, el: home });
          home.querySelector("button").click();
          return [state.revealed, localStorage.length];
        }"""
    )
    assert kept == [True, 0]


# What a question covers on a page ----------------------------------------------------------------

FIGURE = "fig-live-root-d"
VEILED = ".guess-hides, .guess-waits"


@pytest.fixture
def lecture(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    """Opens a page as the book lays it out: a question, text, a figure, and the next heading."""
    cells = [
        f'<div class="cell"><div class="cell_output">{one.static_html()}</div></div>'
        for one in (placed(), LiveFigure("root-d"))
    ]
    text = f'<p id="try">Try it with <a href="#{FIGURE}?dimension=64">64 features</a>.</p>'
    printed = '<div class="cell"><div class="cell_output" id="printed"><pre>1.88</pre></div></div>'
    after = (
        printed + '<p id="told">Told.</p><div class="math notranslate" id="formula">1 + 1 = 2</div>'
        f'<h2>Next</h2><p id="later"><a href="#{FIGURE}?dimension=16">16'
    )
    (tmp_path / "lecture.html").write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lecture</title></head>'
        f"<body><main><h1>lecture</h1>{cells[0]}{text}{cells[1]}{after}</a></p></main></body></html>",
        encoding="utf-8",
    )
    address = (tmp_path / "lecture.html").as_uri()

    def opened(place: str = "", **window: object) -> Page:
        return open_page(address + place, **window)

    return opened


def plays(page: Page) -> bool:
    return page.get_by_role("button", name="Pause").count() == 1


def test_what_waits_for_the_guess_takes_no_focus_and_does_not_play(lecture: Callable[..., Page]):
    page = lecture(height=1400, clock=True)
    turn(page, 1)
    assert not plays(page)
    for name in ("#try", "#told", "#formula", f"#{FIGURE}", "#printed pre"):
        assert page.locator(name).evaluate("(el) => el.inert"), name
    assert page.locator("#printed").get_attribute("class") == "cell_output guess-waits"
    assert not page.locator("#later").evaluate("(el) => el.inert")
    page.get_by_role("button", name="Show me").focus()
    reached = set()
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.closest('[id]')?.id"))
    assert "later" in reached
    assert not reached & {"try", FIGURE}
    page.get_by_role("button", name="Show me").click()
    turn(page, 1)
    assert plays(page)
    assert page.locator("[inert], .guess-hides, .guess-waits").count() == 0
    page.get_by_role("button", name="Guess again").click()
    turn(page, 0.1)
    assert page.locator(VEILED).count() == 5


def test_what_waits_is_shown_anyway_as_the_question_shows_it(
    lecture: Callable[..., Page],
):
    page = lecture(height=1400)
    [question, _] = widgets(page)
    page.get_by_role("button", name="Show it anyway").last.click()
    expect(page.locator(f"[inert], .guess-fog, {VEILED}")).to_have_count(0)
    assert page.evaluate("() => document.activeElement.id") == "printed"
    eventually(question, lambda: assert_revealed(question))
    assert "You looked without a guess" in verdict(question)
    page.reload()
    expect(page.locator(".cw-p-answer")).to_have_count(1)
    expect(page.locator(VEILED)).to_have_count(0)
