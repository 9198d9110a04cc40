"""How far a guess is off, computed by Prediction's JavaScript in Chromium, against course_lib."""

import numpy as np
import pytest
from in_the_page import Javascript, assert_close

from course_lib.widgets import Prediction
from course_lib.widgets.prediction import KNOTS

pytestmark = pytest.mark.usefixtures("plain_calls")

CASES = 40
EXACT = ("across", "up", "x", "truth")


def as_the_page_has_it(widget: Prediction) -> dict[str, object]:
    state = {name: getattr(widget, name) for name in widget.page_state()}
    return state | {name: state[name].astype(float).tolist() for name in EXACT}


def assert_off_alike(javascript: Javascript, widgets: list[Prediction]) -> None:
    found = javascript("js/maths/guesses.js", "offBy", [[as_the_page_has_it(w)] for w in widgets])
    assert_close(found, [widget.off() for widget in widgets])
    assert len({round(off, 6) for off in found}) > 1


@pytest.mark.parametrize("logarithmic", [(), ("xlog",), ("ylog",), ("xlog", "ylog")])
def test_a_sketched_curve_is_as_far_off_as_python_says(
    javascript: Javascript, random: np.random.Generator, logarithmic: tuple[str, ...]
):
    def one() -> Prediction:
        points = random.integers(2, 40)
        x = np.cumsum(random.uniform(0.01, 3, size=points))
        return Prediction.sketch(
            "How?",
            x=x,
            truth=random.uniform(0.5, 90, size=points),
            across=(0.9 * float(x[0]), 1.3 * float(x[-1])),
            up=(0.25, 128.0),
            **dict.fromkeys(logarithmic, True),
            answer="So.",
            guess=random.uniform(0.5, 120, size=KNOTS).tolist(),
        )

    assert_off_alike(javascript, [one() for _ in range(CASES)])


@pytest.mark.parametrize("line", [{"log": False}, {"log": True}], ids=["linear", "logarithmic"])
def test_a_placed_number_is_as_far_off_as_python_says(
    javascript: Javascript, random: np.random.Generator, line: dict[str, bool]
):
    numbers = random.uniform(1, 500, size=(CASES, 2))
    given = {"between": (0.5, 512.0), "answer": "So."} | line
    assert_off_alike(
        javascript,
        [Prediction.place("How?", truth=a, guess=[float(b)], **given) for a, b in numbers],
    )


def test_a_choice_of_logarithmic_bars_is_off_by_a_factor(
    javascript: Javascript, random: np.random.Generator
):
    def one() -> Prediction:
        numbers = np.exp(random.uniform(-9, 9, size=random.integers(2, 8)))
        options = {f"option {i}": float(value) for i, value in enumerate(numbers)}
        guess = [int(random.integers(len(options)))]
        return Prediction.choose("Who?", options=options, log=True, guess=guess, answer="So.")

    widgets = [one() for _ in range(CASES)]
    assert_off_alike(javascript, widgets)
    values = [widget.truth.astype(float).tolist() for widget in widgets]
    ends = javascript("js/maths/guesses.js", "logarithmicEnds", [[v] for v in values])
    for each, (low, high) in zip(values, (e.values() for e in ends), strict=True):
        assert high == max(each)
        assert 1.999 < min(each) / low < 20.001
        assert np.log10(low) == pytest.approx(round(np.log10(low)), abs=1e-9)


@pytest.mark.parametrize("wanted", ["largest", "smallest"])
def test_a_choice_is_as_far_off_as_python_says_and_the_first_of_equals_is_right(
    javascript: Javascript, random: np.random.Generator, wanted: str
):
    def one() -> Prediction:
        numbers = random.integers(-3, 4, size=random.integers(2, 8))
        options = {f"option {i}": float(value) for i, value in enumerate(numbers)}
        guess = [int(random.integers(len(options)))]
        return Prediction.choose("Who?", options=options, wanted=wanted, guess=guess, answer="So.")

    widgets = [one() for _ in range(CASES)]
    assert_off_alike(javascript, widgets)
    states = [[as_the_page_has_it(widget)] for widget in widgets]
    assert javascript("js/maths/guesses.js", "rightOption", states) == [w.right for w in widgets]


def test_between_two_knots_a_curve_is_straight(javascript: Javascript, random: np.random.Generator):
    heights = random.uniform(size=7).tolist()
    places = random.uniform(-0.2, 1.2, size=CASES)
    found = javascript("js/maths/guesses.js", "between", [[heights, p] for p in places.tolist()])
    assert_close(found, np.interp(places, np.linspace(0, 1, 7), heights))


FLAT = {"heights": [0.5] * 5, "drawn": None}
LEFT = {"heights": [0.1, 0.2, 0.2, 0.2, 0.2], "drawn": [0, 1]}
WHOLE = {"heights": [0.1, 0.2, 0.3, 0.4, 0.5], "drawn": [0, 4]}


@pytest.mark.parametrize(
    ("curve", "strokes", "heights", "drawn"),
    [
        (FLAT, [[2, 0.5], [2, 0.5]], [0.5] * 5, [2, 2]),
        (FLAT, [[1, 0.2], [3, 0.6]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
        (FLAT, [[3, 0.6], [1, 0.2]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
        (WHOLE, [[1, 0.9], [1, 0.9]], [0.1, 0.9, 0.3, 0.4, 0.5], [0, 4]),
        (LEFT, [[1, 0.2], [3, 0.6]], [0.1, 0.2, 0.4, 0.6, 0.6], [0, 3]),
    ],
    ids=["a tap", "to the right", "to the left", "mended", "continued"],
)
def test_a_stroke_is_straight_and_what_is_not_drawn_yet_runs_on_level(
    javascript: Javascript, curve: dict, strokes: list, heights: list, drawn: list
):
    [found] = javascript("js/maths/guesses.js", "stroked", [[curve, *strokes]])
    assert_close(found["heights"], heights)
    assert found["drawn"] == drawn


def test_bars_that_are_all_alike_begin_at_a_round_number_below_the_smallest(
    javascript: Javascript, random: np.random.Generator
):
    alike = random.uniform(0.85, 1, size=(CASES, 4)) * random.uniform(0.01, 1e4, size=(CASES, 1))
    for values, ends in zip(
        alike,
        javascript("js/maths/guesses.js", "barEnds", [[v] for v in alike.tolist()]),
        strict=True,
    ):
        spread = values.max() - values.min()
        assert ends["cut"]
        assert ends["high"] == values.max()
        assert values.min() - 1.11 * spread < ends["low"] < values.min()
        assert ends["low"] > 0
    apart = [[0, 0, 0.5], [1, 2, 3], [-1, 1, 1.01], [5, 5, 5], [0.79, 1]]
    found = javascript("js/maths/guesses.js", "barEnds", [[values] for values in apart])
    assert [ends["low"] for ends in found] == [min(0, *values) for values in apart]
    assert not any(ends["cut"] for ends in found)


def test_a_number_has_no_more_digits_than_the_steps_of_its_line_allow(javascript: Javascript):
    given = [(0.0552, 0.01), (0.0552, 0.005), (3.2258, 1), (70.44, 5), (0.0552, 0)]
    found = javascript("js/maths/guesses.js", "inSteps", [list(pair) for pair in given])
    assert found == [0.055, 0.055, 3.2, 70, 0.0552]
    asked = Prediction.place("Where?", truth=0.0552, between=(0, 1), step=0.01, answer="So.")
    assert "Answer: 0.055." in asked.describe()
