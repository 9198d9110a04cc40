"""How far a guess is off, computed by Prediction's JavaScript in Chromium, against course_lib."""

import numpy as np
import pytest
from in_the_page import Javascript, assert_close

from course_lib.widgets import Prediction
from course_lib.widgets.prediction import KNOTS

pytestmark = pytest.mark.usefixtures("plain_calls")

CASES, FEW = 40, 12
EXACT = ("across", "up", "x", "truth")


def as_the_page_has_it(widget: Prediction) -> dict[str, object]:
    state = {name: getattr(widget, name) for name in widget.page_state()}
    return state | {name: state[name].astype(float).tolist() for name in EXACT}


def assert_off_alike(javascript: Javascript, widgets: list[Prediction]) -> None:
    found = javascript("js/maths/guesses.js", "offBy", [[as_the_page_has_it(w)] for w in widgets])
    assert_close(found, [widget.off() for widget in widgets])
    assert len({round(off, 6) for off in found}) > 1


def sketched(random: np.random.Generator, *logarithmic: str) -> Prediction:
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


def put(random: np.random.Generator, **line: bool) -> Prediction:
    truth, guess = random.uniform(1, 500, size=2)
    given = {"between": (0.5, 512.0), "answer": "So."} | line
    return Prediction.place("How?", truth=truth, guess=[float(guess)], **given)


def picked(random: np.random.Generator, **line: object) -> Prediction:
    numbers = random.integers(-3, 4, size=random.integers(2, 8)).astype(float)
    options = {
        f"option {i}": float(n) for i, n in enumerate(np.exp(numbers) if "log" in line else numbers)
    }
    guess = [int(random.integers(len(options)))]
    return Prediction.choose("Who?", options=options, guess=guess, answer="So.", **line)


def test_a_guess_is_as_far_off_as_python_says(javascript: Javascript, random: np.random.Generator):
    lines = [(), ("xlog",), ("ylog",), ("xlog", "ylog")]
    for ask in (
        *(lambda line=line: sketched(random, *line) for line in lines),
        lambda: put(random, log=False),
        lambda: put(random, log=True),
    ):
        assert_off_alike(javascript, [ask() for _ in range(FEW)])
    # The first of equals is right.
    for line in ({"log": True}, {"wanted": "largest"}, {"wanted": "smallest"}):
        asked = [picked(random, **line) for _ in range(CASES)]
        assert_off_alike(javascript, asked)
        states = [[as_the_page_has_it(widget)] for widget in asked]
        right = javascript("js/maths/guesses.js", "rightOption", states)
        assert right == [widget.right for widget in asked]


def test_logarithmic_bars_begin_at_a_power_of_ten_below_the_smallest(
    javascript: Javascript, random: np.random.Generator
):
    values = [np.exp(random.uniform(-9, 9, size=5)).tolist() for _ in range(CASES)]
    ends = javascript("js/maths/guesses.js", "logarithmicEnds", [[v] for v in values])
    for each, (low, high) in zip(values, (e.values() for e in ends), strict=True):
        assert high == max(each)
        assert 1.999 < min(each) / low < 20.001
        assert np.log10(low) == pytest.approx(round(np.log10(low)), abs=1e-9)


def test_between_two_knots_a_curve_is_straight(javascript: Javascript, random: np.random.Generator):
    heights = random.uniform(size=7).tolist()
    places = random.uniform(-0.2, 1.2, size=CASES)
    found = javascript("js/maths/guesses.js", "between", [[heights, p] for p in places.tolist()])
    assert_close(found, np.interp(places, np.linspace(0, 1, 7), heights))


FLAT = {"heights": [0.5] * 5, "drawn": None}
LEFT = {"heights": [0.1, 0.2, 0.2, 0.2, 0.2], "drawn": [0, 1]}
WHOLE = {"heights": [0.1, 0.2, 0.3, 0.4, 0.5], "drawn": [0, 4]}


STROKES = {
    "a tap": (FLAT, [[2, 0.5], [2, 0.5]], [0.5] * 5, [2, 2]),
    "to the right": (FLAT, [[1, 0.2], [3, 0.6]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
    "to the left": (FLAT, [[3, 0.6], [1, 0.2]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
    "mended": (WHOLE, [[1, 0.9], [1, 0.9]], [0.1, 0.9, 0.3, 0.4, 0.5], [0, 4]),
    "continued": (LEFT, [[1, 0.2], [3, 0.6]], [0.1, 0.2, 0.4, 0.6, 0.6], [0, 3]),
}


def test_a_stroke_is_straight_and_what_is_not_drawn_yet_runs_on_level(javascript: Javascript):
    cases = [[curve, *strokes] for curve, strokes, *_ in STROKES.values()]
    found = javascript("js/maths/guesses.js", "stroked", cases)
    for one, (_, _, heights, drawn) in zip(found, STROKES.values(), strict=True):
        assert_close(one["heights"], heights)
        assert one["drawn"] == drawn


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
