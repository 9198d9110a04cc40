"""Prediction by hand: drawing, choosing, placing; and what the browser keeps of it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bare import Alone, bare_page
from displayed import agrees_with_course_lib
from hands import Finger, Hand, Keyboard, Mouse, centre, operate_every_control, snapshot, widgets
from kinds.prediction import DEPTH, chosen, make, placed
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of

from course_lib.widgets import Prediction
from course_lib.widgets.prediction import KNOTS

pytestmark = pytest.mark.usefixtures("plain_calls")

HANDS = [
    (Mouse, {}),
    (Keyboard, {}),
    (Finger, {"width": 390, "height": 844, "touch": True}),
]
of_every_hand = pytest.mark.parametrize(("hand", "window"), HANDS, ids=["mouse", "keys", "finger"])


def reveal(widget: Locator) -> None:
    widget.get_by_role("button", name=re.compile("Show me|Compare")).click()
    eventually(widget, lambda: assert_revealed(widget))


def assert_revealed(widget: Locator) -> None:
    assert widget.locator(".cw-p-answer").count() == 1
    agrees_with_course_lib(widget)


def verdict(widget: Locator) -> str:
    return " ".join(widget.locator(".cw-p-verdict").inner_text().split())


# Texts of the picture that reach over its edges.
OVER_THE_EDGE = """(el) => {
  const edges = el.querySelector("svg").getBoundingClientRect();
  const texts = [...el.querySelectorAll("svg text")].filter((text) => {
    const { left, right } = text.getBoundingClientRect();
    return left < edges.left || right > edges.right;
  });
  return texts.map((text) => text.textContent);
}"""


def smallest(guess: float) -> Prediction:
    return placed(truth=1e-6, between=(1e-6, 1e-3), unit="percentage points", guess=[guess])


def small_curve() -> Prediction:
    return Prediction.sketch(
        "How small does it get?",
        x=np.array([1e-6, 1e-4, 1e-3]),
        truth=np.array([1e-3, 1e-5, 1e-6]),
        up=(1e-6, 1e-3),
        across=(1e-6, 1e-3),
        xlog=True,
        ylog=True,
        answer="Very small.",
    )


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "given",
    [*map(smallest, (1e-6, 2.5e-6, 3e-5, 4e-4, 1e-3)), small_curve()],
    ids=["least", "less", "middle", "more", "most", "curve"],
)
def test_no_label_reaches_over_the_edge_of_its_picture(alone: Alone, given: Prediction, width: int):
    widget = alone(given, width=width)
    assert widget.evaluate(OVER_THE_EDGE) == []
    reveal(widget)
    assert widget.evaluate(OVER_THE_EDGE) == []


@of_every_hand
@pytest.mark.parametrize("kind", [placed, chosen])
def test_a_number_is_placed_and_an_option_is_chosen_by_any_hand(
    alone: Alone, kind: Callable[[], Prediction], hand: type[Hand], window: dict
):
    widget = alone(kind(), **window)
    before = snapshot(widget)
    operate_every_control(widget, hand(widget.page))
    widget.get_by_role("button", name="Reset").click()
    eventually(widget, lambda: assert_same(snapshot(widget), before))


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


def test_the_arrow_keys_draw_a_curve_from_where_it_ends(alone: Alone):
    widget = alone(make())
    widget.locator(".cw-p-pen").focus()
    press = widget.page.keyboard.press
    for _ in range(KNOTS):
        press("ArrowLeft")
    press("Shift+ArrowUp")
    assert state_of(widget)["guess"] == [60] * KNOTS
    for _ in range(KNOTS):
        press("ArrowRight")
    press("Shift+ArrowDown")
    np.testing.assert_allclose(state_of(widget)["guess"], np.linspace(60, 50, KNOTS), atol=0.1)
    agrees_with_course_lib(widget)
    said = widget.locator(".cw-p-pen").get_attribute("aria-label")
    assert "at layers = 32 you draw 50 %" in " ".join(said.split())


def test_a_guess_that_was_compared_is_locked_until_the_reader_guesses_again(alone: Alone):
    widget = alone(chosen())
    counted, lstm = (widget.get_by_role("button", name=name) for name in ("pairs", "LSTM"))
    lstm.click()
    expect(lstm).to_have_attribute("aria-pressed", "true")
    reveal(widget)
    assert verdict(widget) == (
        "You said an LSTM, with 1.93 nats. It is a transformer, with 1.88 nats: 0.05 nats apart."
    )
    counted.click(force=True)
    assert state_of(widget)["guess"] == [1]
    widget.get_by_role("button", name="Guess again").click()
    counted.click()
    eventually(widget, lambda: assert_same(state_of(widget)["guess"], [0]))
    agrees_with_course_lib(widget)


def test_the_right_choice_is_said_to_be_right(alone: Alone):
    widget = alone(chosen(wanted="largest", guess=[0]))
    reveal(widget)
    assert verdict(widget) == "You hit it: it is counting pairs, with 2.41 nats."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"guess": [20]},
            "You said 20 steps, it is 137 steps: too low by a factor of 6.85.",
        ),
        ({"guess": [137]}, "You hit it: it is 137 steps."),
        ({"guess": [132]}, "You hit it: it is 137 steps, you said 132 steps."),
        (
            {"guess": [120]},
            "Very close. You said 120 steps, it is 137 steps: too low by a factor of 1.14.",
        ),
        (
            {"truth": 63, "between": (0, 100), "log": False, "unit": "%", "guess": [80]},
            "You said 80 %, it is 63 %: too high by 17 percentage points.",
        ),
        (
            {"truth": 2.5e-5, "between": (1e-6, 1), "unit": "m", "guess": [1e-4]},
            "You said 1.0·10⁻⁴ m, it is 2.5·10⁻⁵ m: too high by a factor of 4.",
        ),
        ({}, "You looked without a guess. It is 137 steps."),
    ],
)  # fmt: skip
def test_the_verdict_is_a_sentence_in_the_quantity_s_own_unit(alone: Alone, given: dict, said: str):
    widget = alone(placed(**given))
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
    assert line.get_attribute("aria-valuetext") == "8 steps"


@pytest.mark.parametrize("width", [200, 390, 1920])
@pytest.mark.parametrize("kind", [make, placed, chosen])
def test_guess_and_truth_keep_within_the_window(
    alone: Alone, kind: Callable[[], Prediction], width: int
):
    widget = alone(kind(), width=width)
    reveal(widget)
    assert widget.evaluate("() => document.scrollingElement.scrollWidth") <= width


# What the browser keeps ------------------------------------------------------------------------

FORBIDDEN = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); } });"""
ABSENT = 'Object.defineProperty(window, "localStorage", { value: undefined });'
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException("full", "QuotaExceededError"); };"""
NONSENSE = ["{", "3", "null", "[]", '{"guess":[1,2]}', '{"guess":"x"}', '{"guess":[-7]}', "{}"]


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


def test_what_is_kept_names_the_page_and_the_question(
    open_page: Callable[..., Page], tmp_path: Path
):
    page = open_page(bare_page(tmp_path, placed(), chosen()))
    first, second = widgets(page)
    guessed(first)
    second.get_by_role("button", name="LSTM").click()
    keys = sorted(page.evaluate("() => Object.keys(localStorage)"))
    where = f"attention-course:guess:{tmp_path.name}/bare.html#"
    assert keys == [
        f"{where}how-many-steps-until-it-goes-over-the-top",
        f"{where}who-is-ahead",
    ]


@pytest.mark.parametrize("init", [FORBIDDEN, ABSENT, FULL], ids=["forbidden", "absent", "full"])
def test_where_nothing_can_be_kept_the_question_works_all_the_same(alone: Alone, init: str):
    widget = alone(placed(), init=init)
    guessed(widget)
    reveal(widget)
    assert "You said" in verdict(widget)
    assert state_of(reloaded(widget.page))["guess"] == []


@pytest.mark.parametrize("text", NONSENSE)
def test_what_was_kept_wrongly_is_left_aside(alone: Alone, text: str):
    widget = alone(placed())
    guessed(widget)
    [key] = widget.page.evaluate("() => Object.keys(localStorage)")
    widget.page.evaluate("([key, text]) => localStorage.setItem(key, text)", [key, text])
    widget = reloaded(widget.page)
    assert state_of(widget)["guess"] == []
    agrees_with_course_lib(widget)


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


def test_an_address_that_names_the_question_leads_to_it(
    open_page: Callable[..., Page], tmp_path: Path
):
    url = bare_page(tmp_path, make(), placed(), chosen())
    page = open_page(f"{url}#who-is-ahead", height=500)
    top = widgets(page)[2].bounding_box()["y"]
    assert 0 <= top < 500


def test_the_chart_shows_where_each_number_of_the_axis_stands(alone: Alone):
    widget = alone(make())
    labels = widget.locator(".cw-p-axes text").all_text_contents()
    assert {"1", "10", "20", "100", "layers", "right (%)"} <= set(labels)
    assert widget.locator(".cw-p-dots circle").count() == 0
    reveal(widget)
    assert widget.locator(".cw-p-dots circle").count() == len(DEPTH)


OVERLAPS = """(el) => {
  const boxes = [...el.querySelectorAll(".cw-p-axes text")].map((t) => t.getBoundingClientRect());
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.left < b.right &&
    b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
}"""


@pytest.mark.parametrize("between", [(1_000, 100_000), (0.0005, 0.02), (0.2, 5), (1, 1e9)])
def test_the_numbers_at_a_short_logarithmic_line_keep_apart(
    alone: Alone, between: tuple[float, float]
):
    widget = alone(placed(truth=between[0], between=between), width=390)
    labels = widget.locator(".cw-p-axes text").all_text_contents()
    assert len(labels) > 1
    assert widget.evaluate(OVERLAPS) == 0
