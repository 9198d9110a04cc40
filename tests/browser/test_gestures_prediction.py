"""Prediction by hand: drawing, choosing, placing; and what the browser keeps of it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bare import Alone, bare_page
from clock import turn
from displayed import agrees_with_course_lib
from hands import Finger, Hand, Keyboard, Mouse, centre, operate_every_control, snapshot, widgets
from kinds.prediction import DEPTH, chosen, make, placed
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of

from course_lib.widgets import LiveFigure, Prediction
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


@pytest.mark.parametrize("width", [390, 704])
@pytest.mark.parametrize("kind", [placed, chosen])
def test_neither_guess_nor_truth_moves_what_stands_below(
    alone: Alone, kind: Callable[[], Prediction], width: int
):
    widget = alone(kind(), width=width)
    foot = widget.get_by_role("button", name="Reset")
    before = foot.bounding_box()
    widget.locator("[role=slider], .cw-p-option").first.click()
    assert len(state_of(widget)["guess"]) == 1
    agrees_with_course_lib(widget)
    assert foot.bounding_box() == before
    reveal(widget)
    assert foot.bounding_box() == before


# What is drawn in the room for the answer, beside the hint: colours, pictures, contents.
DRAWN_BESIDE_THE_HINT = """(el) => {
  const sealed = el.querySelector(".cw-p-sealed:not([data-waits])");
  return [undefined, "::before", "::after"].flatMap((part) => {
    const { borderTopColor, backgroundColor, backgroundImage, content } =
      getComputedStyle(sealed, part);
    const nothing = ["rgba(0, 0, 0, 0)", "none", "normal"];
    const own = [borderTopColor, backgroundColor, backgroundImage];
    return (part ? [backgroundImage, content] : own).filter((one) => !nothing.includes(one));
  });
}"""


@pytest.mark.parametrize("kind", [make, placed, chosen])
@pytest.mark.parametrize("width", [340, 390, 704])
def test_the_room_for_the_answer_looks_empty_and_a_finger_is_told_of_no_keys(
    alone: Alone, kind: Callable[[], Prediction], width: int
):
    touch = width < 600
    widget = alone(kind(), width=width, touch=touch)
    assert widget.evaluate(DRAWN_BESIDE_THE_HINT) == []
    hint = widget.locator(".cw-p-sealed:not([data-waits]) .cw-hint").inner_text()
    assert ("With the keyboard: Tab to" in hint) == (not touch and kind is not chosen)


def test_a_press_leaves_no_ring_and_a_key_does(alone: Alone):
    widget = alone(placed())
    line = widget.get_by_role("slider")
    ring = "(e) => getComputedStyle(e).outlineStyle"
    line.click()
    assert line.evaluate(ring) == "none"
    widget.page.keyboard.press("Shift+Tab")
    widget.page.keyboard.press("Tab")
    assert line.evaluate(ring) == "solid"


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
        "✗ You said an LSTM, with 1.93 nats. It is a transformer, with 1.88 nats: 0.05 nats apart."
    )
    counted.click(force=True)
    assert state_of(widget)["guess"] == [1]
    widget.get_by_role("button", name="Guess again").click()
    counted.click()
    eventually(widget, lambda: assert_same(state_of(widget)["guess"], [0]))
    agrees_with_course_lib(widget)


ERRORS = {"fixed": 0.0122, "in proportion": 5.7e-4, "with a logarithm": 1.6e-5}


def test_what_is_apart_by_powers_of_ten_has_logarithmic_bars_of_which_all_are_seen(alone: Alone):
    asked = Prediction.choose(
        "Which errs least?", options=ERRORS, wanted="smallest", log=True, answer="So.", guess=[1]
    )
    widget = alone(asked)
    reveal(widget)
    agrees_with_course_lib(widget)
    assert verdict(widget) == (
        "✗ You said in proportion, with 5.7·10⁻⁴. It is with a logarithm, with 1.6·10⁻⁵: "
        "a factor of 35.6 apart."
    )
    assert "Logarithmic bars, from 1.0·10⁻⁶ on" in widget.inner_text()
    lengths = widget.locator(".cw-p-bar").evaluate_all(
        "bars => bars.map((bar) => Number(bar.style.getPropertyValue('--cw-length')))"
    )
    expected = np.log10(np.array(list(ERRORS.values())) / 1e-6)
    np.testing.assert_allclose(lengths, expected / expected.max(), atol=1e-5)
    assert min(lengths) > 0.2


def test_the_right_choice_is_said_to_be_right(alone: Alone):
    widget = alone(chosen(wanted="largest", guess=[0]))
    reveal(widget)
    assert verdict(widget) == "✓ You hit it: it is counting pairs, with 2.41 nats."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"guess": [20]},
            "✗ You said 20 steps, it is 137 steps: too low by a factor of 6.85.",
        ),
        ({"guess": [137]}, "✓ You hit it: it is 137 steps."),
        ({"guess": [132]}, "✓ You hit it: it is 137 steps, you said 132 steps."),
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
            {"truth": 63, "between": (0, 100), "log": False, "unit": "%", "guess": [80]},
            "✗ You said 80 %, it is 63 %: too high by 17 percentage points.",
        ),
        (
            {"truth": 2.5e-5, "between": (1e-6, 1), "unit": "m", "guess": [1e-4]},
            "✗ You said 1.0·10⁻⁴ m, it is 2.5·10⁻⁵ m: too high by a factor of 4.",
        ),
        (
            # A small share of a long logarithmic line is a large factor.
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
    expect(line).to_have_attribute("aria-valuetext", "8 steps")


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


STANDS_OVER_THE_AXIS = """(el) => {
  const gap = el.querySelector(".cw-p-off").getBoundingClientRect();
  return gap.left < el.querySelector(".cw-p-axes rect").getBoundingClientRect().left;
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_gap_at_the_first_number_stands_clear_of_the_axis_which_says_where_it_ends(
    alone: Alone, width: int
):
    curve = Prediction.sketch(
        "How many are left?",
        x=np.array([1.0, 8.0, 64.0]),
        truth=np.array([90.0, 40.0, 40.0]),
        up=(0, 100),
        xlog=True,
        unit="%",
        guess=[40.0] * KNOTS,
        answer="Few.",
    )
    widget = alone(curve, width=width)
    reveal(widget)
    assert widget.locator(".cw-p-off").text_content() == "50 points"
    assert not widget.evaluate(STANDS_OVER_THE_AXIS)
    assert "64" in widget.locator(".cw-p-axes text").all_text_contents()
    assert widget.evaluate(OVERLAPS) == 0


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


def test_who_is_sent_to_a_figure_is_not_asked_first(lecture: Callable[..., Page]):
    page = lecture(f"#{FIGURE}?dimension=64")
    assert page.locator("[inert]").count() == 0
    page = lecture()
    assert page.locator(VEILED).count() == 5
    page.locator("#later a").click()
    expect(page.locator("[inert]")).to_have_count(0)
    [_, figure] = widgets(page)
    assert state_of(figure)["dimension"] == 16


def test_a_question_that_is_asked_again_covers_its_answer_again(lecture: Callable[..., Page]):
    page = lecture()
    page.get_by_role("button", name="Show me").click()
    expect(page.locator("[inert]")).to_have_count(0)
    page.get_by_role("button", name="Guess again").click()
    expect(page.locator(VEILED)).to_have_count(5)


def test_what_waits_names_a_way_to_its_question(lecture: Callable[..., Page]):
    page = lecture(height=500)
    ways = page.get_by_role("button", name="Waits for your guess")
    assert ways.count() == 2  # over the figure and over what a cell prints
    page.get_by_role("button", name="Reset").first.focus()
    page.keyboard.press("Tab")
    expect(ways.first).to_be_focused()
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    line = page.get_by_role("slider", name="How many steps")
    expect(line).not_to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(line).to_be_focused()
    expect(line).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    [question, _] = widgets(page)
    assert len(state_of(question)["guess"]) == 1
    assert ways.count() == 2  # a guess is not yet the truth


@pytest.mark.parametrize("before", [guessed, None], ids=["guessed", "not guessed"])
def test_what_waits_is_shown_anyway_as_the_question_shows_it(
    lecture: Callable[..., Page], before: Callable[[Locator], None] | None
):
    page = lecture(height=1400)
    [question, _] = widgets(page)
    if before:
        before(question)
    page.get_by_role("button", name="Show it anyway").last.click()
    expect(page.locator(f"[inert], .guess-fog, {VEILED}")).to_have_count(0)
    assert page.evaluate("() => document.activeElement.id") == "printed"
    eventually(question, lambda: assert_revealed(question))
    assert ("You looked without a guess" in verdict(question)) == (before is None)
    page.reload()
    expect(page.locator(".cw-p-answer")).to_have_count(1)
    expect(page.locator(VEILED)).to_have_count(0)
