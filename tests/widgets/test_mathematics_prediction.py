import numpy as np
from in_the_page import Javascript, assert_close

from course_lib.widgets import Prediction
from course_lib.widgets.prediction.prediction import KNOTS

GUESSES = "maths/guesses.js"
CASES, FEW = 40, 12
EXACT = ("across", "up", "x", "truth")


def as_the_page_has_it(widget: Prediction) -> dict[str, object]:
    state = {name: getattr(widget, name) for name in widget.page_state()}
    return state | {name: state[name].astype(float).tolist() for name in EXACT}


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


def test_the_error_of_a_guess_equals_pythons(javascript: Javascript, random: np.random.Generator):
    lines = [(), ("xlog",), ("ylog",), ("xlog", "ylog")]
    asked = [sketched(random, *line) for line in lines for _ in range(FEW)]
    asked += [put(random, log=log) for log in (False, True) for _ in range(FEW)]
    # Of two that are equal, the first one is right.
    options = {"a": 0.5, "b": 4.0, "c": 4.0, "d": 1.0}
    chosen = [
        Prediction.choose("Who?", options=options, guess=[guess], answer="So.", **line)
        for line in ({"log": True}, {"wanted": "largest"}, {"wanted": "smallest"})
        for guess in range(4)
    ]
    states = [[as_the_page_has_it(widget)] for widget in (*asked, *chosen)]
    found = javascript(GUESSES, "offBy", states)
    assert_close(found, [widget.off() for widget in (*asked, *chosen)])
    right = javascript(GUESSES, "rightOption", states[len(asked) :])
    assert right == [widget.right for widget in chosen]


FLAT = {"heights": [0.5] * 5, "drawn": None}
LEFT = {"heights": [0.1, 0.2, 0.2, 0.2, 0.2], "drawn": [0, 1]}
WHOLE = {"heights": [0.1, 0.2, 0.3, 0.4, 0.5], "drawn": [0, 4]}


STROKES = [
    (FLAT, [[1, 0.2], [3, 0.6]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
    (FLAT, [[3, 0.6], [1, 0.2]], [0.2, 0.2, 0.4, 0.6, 0.6], [1, 3]),
    (WHOLE, [[1, 0.9], [1, 0.9]], [0.1, 0.9, 0.3, 0.4, 0.5], [0, 4]),
    (LEFT, [[1, 0.2], [3, 0.6]], [0.1, 0.2, 0.4, 0.6, 0.6], [0, 3]),
]


def test_a_stroke_runs_on_level_mends_a_curve_and_continues_it(javascript: Javascript):
    for curve, hand, heights, drawn in STROKES:
        [found] = javascript(GUESSES, "stroked", [[curve, *hand]])
        assert_close(found, {"heights": heights, "drawn": drawn})


def test_bars_that_are_all_alike_begin_at_a_round_number_below_the_smallest(
    javascript: Javascript, random: np.random.Generator
):
    alike = random.uniform(0.85, 1, size=(CASES, 4)) * random.uniform(0.01, 1e4, size=(CASES, 1))
    found = javascript(GUESSES, "barEnds", [[values] for values in alike.tolist()])
    for values, ends in zip(alike, found, strict=True):
        spread = values.max() - values.min()
        assert ends["cut"]
        assert ends["high"] == values.max()
        assert max(0, values.min() - 1.11 * spread) < ends["low"] < values.min()
    # On a logarithmic line all bars have a length.
    values = np.exp(random.uniform(-9, 9, size=(CASES, 5))).tolist()
    for each, ends in zip(
        values, javascript(GUESSES, "logarithmicEnds", [[v] for v in values]), strict=True
    ):
        assert 1.999 < min(each) / ends["low"] < 20.001
    apart = [[0, 0, 0.5], [-1, 1, 1.01], [5, 5, 5], [0.79, 1]]
    found = javascript(GUESSES, "barEnds", [[values] for values in apart])
    assert [ends["low"] for ends in found] == [min(0, *values) for values in apart]
