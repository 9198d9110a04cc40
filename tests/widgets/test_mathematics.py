"""The mathematics that widgets share, run in Chromium."""

import itertools
import math
from string import ascii_letters, ascii_uppercase

import numpy as np
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor

from course_lib.widgets.folding import folded
from course_lib.widgets.traits import Array

NUMERICS, SCALE, ARRAY = "js/maths/numerics.js", "js/scale.js", "js/array.js"
LETTERS = [chr(code) for code in range(0x20, 0x250)]
NAMES = [*LETTERS, "Zoe\u0308", "Anne\u2011Marie d’Arc", "ﬁn", "Анна", "½", "👩🏽"]
ENDS = tensor([0.1, 1000])
SCALED = [[value] for value in (0.1, 1, 550, 1000, 1e5)]


def scores(random: np.random.Generator) -> list:
    score = random.normal(scale=10 ** random.uniform(-2, 3), size=random.integers(1, 12))
    return [score, 10 ** random.uniform(-2, 1)]


def numbers(random: np.random.Generator) -> list:
    return [random.normal(size=random.integers(1, 30))]


def weights_and_rows(random: np.random.Generator) -> list:
    count = random.integers(1, 30)
    return [random.normal(size=count), random.normal(size=(count, 4))]


def two_vectors(random: np.random.Generator) -> list:
    return list(random.normal(size=(2, random.integers(1, 30))))


def few_numbers(random: np.random.Generator) -> list:
    return [random.integers(4, size=9)]


def arrays(random: np.random.Generator) -> list:
    shape = random.integers(1, 5, size=random.integers(1, 5))
    return [Array._encode(random.normal(size=shape).astype(np.float32), None)]


def matrices(random: np.random.Generator) -> list:
    sent = random.normal(size=random.integers(1, 5, size=2))
    return [Array._encode(sent.astype(np.float32), None)]


def shapes_and_values(random: np.random.Generator) -> list:
    shape = random.integers(1, 5, size=random.integers(1, 5)).tolist()
    return [shape, random.normal(size=math.prod(shape)).astype(np.float32)]


def decoded(sent: dict) -> dict:
    array = Array._decode(sent, None)
    return {"shape": array.shape, "values": array.ravel()}


def scaled(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return 20 + 80 * (values - low) / (high - low)


test_what_widgets_share_is_computed_as_in_python = alike(
    Twice(
        NUMERICS,
        "softmax",
        lambda score, temperature=1: torch.softmax(tensor(score) / temperature, -1),
        scores,
        cases=[[[0.0, 3.0]]],
    ),
    Twice(
        NUMERICS,
        "sigmoid",
        lambda x: torch.sigmoid(tensor(x)),
        lambda random: [random.normal(scale=5)],
        cases=[[x] for x in (0.0, -745.0, 745.0, -1e9, 1e9)],
    ),
    Twice(NUMERICS, "sum", torch.sum, numbers, rtol=0, atol=1e-12),
    Twice(NUMERICS, "mean", torch.mean, numbers, rtol=0, atol=1e-12),
    Twice(NUMERICS, "blend", torch.matmul, weights_and_rows),
    Twice(NUMERICS, "dot", torch.dot, two_vectors),
    # With few different numbers, many are equal.
    Twice(
        NUMERICS, "ranking", lambda x: x.argsort(descending=True, stable=True), few_numbers, rtol=0
    ),
    Twice(
        SCALE,
        "(x) => linear([0.1, 1000], [20, 100])(x)",
        lambda x: scaled(x, *ENDS),
        cases=SCALED,
    ),
    Twice(
        SCALE,
        "(x) => logarithmic([0.1, 1000], [20, 100])(x)",
        lambda x: scaled(math.log(x), *ENDS.log()),
        cases=SCALED,
    ),
    Twice(ARRAY, "decodeArray", decoded, arrays, rtol=0, atol=0),
    Twice(ARRAY, "decodeRows", lambda sent: Array._decode(sent, None), matrices, rtol=0, atol=0),
    Twice(
        ARRAY,
        "encodeArray",
        lambda shape, values: Array._encode(values.numpy().reshape(shape), None),
        shapes_and_values,
    ),
    Twice(
        "js/text.js",
        "folded",
        folded,
        cases=list(itertools.product(NAMES, (ascii_uppercase, f"{ascii_letters} -ë"))),
    ),
)


def test_a_contour_crosses_each_edge_of_the_grid_where_the_field_does(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(60):
        rows, columns = random.integers(2, 8, size=2).tolist()
        cases.append([random.normal(size=rows * columns).tolist(), rows, columns, random.normal()])
    for segments, (values, rows, columns, level) in zip(
        javascript("js/maths/contour.js", "contourSegments", cases), cases, strict=True
    ):
        field = np.reshape(values, (rows, columns)) - level
        expected = []
        # A zero on each edge whose ends differ in sign; an inner edge belongs to two cells.
        for (row, column), a in np.ndenumerate(field):
            if column + 1 < columns and a * (b := field[row, column + 1]) < 0:
                expected += [(column + a / (a - b), row)] * (2 if 0 < row < rows - 1 else 1)
            if row + 1 < rows and a * (b := field[row + 1, column]) < 0:
                expected += [(column, row + a / (a - b))] * (2 if 0 < column < columns - 1 else 1)
        found = np.reshape(segments, (-1, 2)).round(9)
        assert_close(sorted(found.tolist()), sorted(np.round(expected, 9).tolist()))
        # Each segment stays within one cell.
        ends = np.reshape(segments, (-1, 2, 2))
        assert (np.floor(ends.min(1)) >= np.ceil(ends.max(1)) - 1).all()


def test_ticks_are_all_round_numbers_of_a_range_and_about_as_many_as_wanted(
    javascript: Javascript, random: np.random.Generator
):
    lows = [-16.0, -1e-7, 0.0, 0.3, 7e3]
    cases = [[low, low + 10 ** random.uniform(-3, 6), n] for n in range(1, 13) for low in lows]
    for found, (low, high, wanted) in zip(javascript(SCALE, "ticks", cases), cases, strict=True):
        assert wanted / 2.6 <= len(found) + 1
        assert len(found) <= wanted + 1
        assert (np.array(found) >= low - 1e-6 * (high - low)).all()
        assert (np.array(found) <= high + 1e-6 * (high - low)).all()
        if len(found) > 1:
            step = found[1] - found[0]
            assert_close(np.diff(found) / step, np.ones(len(found) - 1))
            mantissa = step / 10 ** math.floor(math.log10(step) + 1e-6)
            assert min(abs(mantissa - factor) for factor in (1, 2, 5)) < 1e-5
            assert found[0] - step < low
            assert found[-1] + step > high
    # An empty range has none.
    nothing = [[1, 1, 5], [2, 1, 5], [0, math.inf, 5]]
    assert javascript(SCALE, "ticks", nothing) == [[], [], []]


def test_numbers_of_any_size_are_legible(javascript: Javascript):
    told = {
        1234.5: "1234.50",
        -0.25: "−0.25",
        -0.001: "0.00",
        1e30: "1.0·10³⁰",
        -3.4e38: "−3.4·10³⁸",
        math.inf: "∞",
        -math.inf: "−∞",
        math.nan: "not a number",
    }
    assert javascript("js/text.js", "number", [[x, 2] for x in told]) == list(told.values())


def test_every_mark_of_an_axis_has_a_number_of_its_own(javascript: Javascript):
    ends = [[0, 3], [-1e-9, 1e-9], [12.344, 12.346], [58000.1, 58000.3], [2458000, 2459000]]
    found = javascript(SCALE, "ticks", [[*pair, 5] for pair in ends])
    told = "(found) => found.map((tick) => quantity(tick, '', digitsApart(found)))"
    for texts in javascript("js/text.js", told, [[marks] for marks in found]):
        assert len(set(texts)) == len(texts) > 2


def test_a_mark_of_text_direction_is_a_character_like_others(javascript: Javascript):
    turning = [["a\u202eb"], ["\u200f"], ["שלום"], [" "]]
    assert javascript("js/text.js", "visible", turning) == ["a�b", "�", "שלום", "␣"]
