"""The mathematics that widgets share, run in Chromium."""

import math
from string import ascii_letters, ascii_uppercase
from urllib.parse import quote

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from playwright.sync_api import Page

from course_lib.widgets.folding import folded
from course_lib.widgets.modules import module_source
from course_lib.widgets.traits import Array

NUMERICS, SCALE = "js/maths/numerics.js", "js/scale.js"


def test_softmax_and_sigmoid_are_those_of_torch_however_far_out(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for count in random.integers(1, 12, size=DRAWS):
        scale, temperature = 10 ** random.uniform(-2, 3), 10 ** random.uniform(-2, 1)
        cases.append([random.normal(scale=scale, size=count).tolist(), temperature])
    found = javascript(NUMERICS, "softmax", cases)
    for weights, (score, temperature) in zip(found, cases, strict=True):
        assert_close(weights, torch.softmax(tensor(score) / temperature, -1))
    # Without a temperature it has the temperature one.
    assert_close(javascript(NUMERICS, "softmax", [[[0.0, math.log(3)]]]), [[0.25, 0.75]])
    points = [*random.normal(scale=5, size=DRAWS).tolist(), 0.0, -745.0, 745.0, -1e9, 1e9]
    found = javascript(NUMERICS, "sigmoid", [[x] for x in points])
    assert_close(found, torch.sigmoid(tensor(points)))


def test_sum_mean_dot_and_blend_are_those_of_numpy(
    javascript: Javascript, random: np.random.Generator
):
    weights = [random.normal(size=count) for count in (1, 2, 30)]
    rows = [random.normal(size=(len(w), 4)) for w in weights]
    for name, of in {"sum": np.sum, "mean": np.mean}.items():
        found = javascript(NUMERICS, name, [[w.tolist()] for w in weights])
        assert found == pytest.approx([of(w) for w in weights], abs=1e-12)
    pairs = list(zip(weights, rows, strict=True))
    blends = javascript(NUMERICS, "blend", [[w.tolist(), r.tolist()] for w, r in pairs])
    assert_close(blends, [w @ r for w, r in pairs])
    dots = javascript(NUMERICS, "dot", [[w.tolist(), r[:, 0].tolist()] for w, r in pairs])
    assert_close(dots, [w @ r[:, 0] for w, r in pairs])


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
    # A range that is none has none.
    nothing = [[1, 1, 5], [2, 1, 5], [0, math.inf, 5]]
    assert javascript(SCALE, "ticks", nothing) == [[], [], []]


SCALED = """async ([address, name, values]) => {
  const scale = (await import(address))[name]([0.1, 1000], [20, 100]);
  return values.map(scale);
}"""


def test_a_scale_is_linear_in_the_value_or_in_its_logarithm(blank: Page):
    address = f"data:text/javascript;charset=utf-8,{quote(module_source(SCALE))}"
    values = [0.1, 1, 550, 1000, 1e5]
    for name, of in (("linear", np.asarray), ("logarithmic", np.log)):
        low, high = of([0.1, 1000])
        found = blank.evaluate(SCALED, [address, name, values])
        assert_close(found, 20 + 80 * (of(values) - low) / (high - low))


def test_an_array_of_python_is_the_same_array_in_javascript(
    javascript: Javascript, random: np.random.Generator
):
    for shape in [(1,), (7,), (2, 3, 4, 4)]:
        sent = random.normal(size=shape).astype(np.float32)
        [there] = javascript("js/array.js", "decodeArray", [[Array._encode(sent, None)]])
        assert there["shape"] == list(shape)
        np.testing.assert_array_equal(np.float32(there["values"]).reshape(shape), sent)
        [back] = javascript("js/array.js", "encodeArray", [[list(shape), there["values"]]])
        np.testing.assert_array_equal(Array._decode(back, None), sent)
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows = javascript("js/array.js", "decodeRows", [[Array._encode(matrix, None)]])
    assert rows == [matrix.tolist()]


def test_a_number_can_be_read_however_large_it_is(javascript: Javascript):
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


def test_a_name_is_folded_in_the_page_as_in_python(javascript: Javascript):
    letters = [chr(code) for code in range(0x20, 0x250)]
    names = [*letters, "Zoe\u0308", "Anne\u2011Marie d’Arc", "ﬁn", "Анна", "½", "👩🏽"]
    cases = [[name, a] for name in names for a in (ascii_uppercase, f"{ascii_letters} -ë")]
    assert javascript("js/text.js", "folded", cases) == [folded(*case) for case in cases]
