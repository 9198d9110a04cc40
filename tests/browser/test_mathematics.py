"""The mathematics that widgets share, run in Chromium; and that no widget leaves any untested."""

import math
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from urllib.parse import quote

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from playwright.sync_api import Page

from course_lib.widgets.folding import folded
from course_lib.widgets.modules import module_source
from course_lib.widgets.traits import Array


def test_softmax_is_that_of_torch(javascript: Javascript, random: np.random.Generator):
    cases = [
        [
            random.normal(scale=10 ** random.uniform(-2, 3), size=random.integers(1, 12)).tolist(),
            10 ** random.uniform(-2, 1),
        ]
        for _ in range(DRAWS)
    ]
    for found, (score, temperature) in zip(
        javascript("js/maths/numerics.js", "softmax", cases), cases, strict=True
    ):
        assert_close(found, torch.softmax(tensor(score) / temperature, -1))


def test_softmax_without_a_temperature_has_temperature_one(javascript: Javascript):
    [found] = javascript("js/maths/numerics.js", "softmax", [[[0.0, math.log(3)]]])
    assert_close(found, [0.25, 0.75])


def test_sigmoid_is_that_of_torch_however_far_out(
    javascript: Javascript, random: np.random.Generator
):
    points = [*random.normal(scale=5, size=DRAWS).tolist(), 0.0, -745.0, 745.0, -1e9, 1e9]
    found = javascript("js/maths/numerics.js", "sigmoid", [[x] for x in points])
    assert_close(found, torch.sigmoid(tensor(points)))


def test_sum_and_mean_are_those_of_numpy(javascript: Javascript, random: np.random.Generator):
    cases = [[random.normal(size=count).tolist()] for count in (1, 2, 30)]
    for name in ("sum", "mean"):
        exact = [getattr(np, name)(values) for [values] in cases]
        assert javascript("js/maths/numerics.js", name, cases) == pytest.approx(exact, abs=1e-12)


def test_dot_and_blend_are_matrix_products(javascript: Javascript, random: np.random.Generator):
    weights = [random.normal(size=random.integers(1, 9)) for _ in range(DRAWS)]
    rows = [random.normal(size=(len(w), random.integers(1, 7))) for w in weights]
    blends = javascript(
        "js/maths/numerics.js",
        "blend",
        [[w.tolist(), r.tolist()] for w, r in zip(weights, rows, strict=True)],
    )
    dots = javascript(
        "js/maths/numerics.js",
        "dot",
        [[w.tolist(), r[:, 0].tolist()] for w, r in zip(weights, rows, strict=True)],
    )
    for blend, dot, w, r in zip(blends, dots, weights, rows, strict=True):
        assert_close(blend, w @ r)
        assert_close(dot, (w @ r)[0])


def test_a_contour_crosses_each_edge_of_the_grid_where_the_field_does(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        rows, columns = random.integers(2, 8, size=2).tolist()
        cases.append([random.normal(size=rows * columns).tolist(), rows, columns, random.normal()])
    for segments, (values, rows, columns, level) in zip(
        javascript("js/maths/contour.js", "contourSegments", cases), cases, strict=True
    ):
        field = np.reshape(values, (rows, columns)) - level
        expected = []
        # A zero on each edge whose ends differ in sign; an inner edge belongs to two cells.
        for row in range(rows):
            for column in range(columns):
                a = field[row, column]
                if column + 1 < columns and (a > 0) != (field[row, column + 1] > 0):
                    place = (column + a / (a - field[row, column + 1]), row)
                    expected += [place] * (2 if 0 < row < rows - 1 else 1)
                if row + 1 < rows and (a > 0) != (field[row + 1, column] > 0):
                    place = (column, row + a / (a - field[row + 1, column]))
                    expected += [place] * (2 if 0 < column < columns - 1 else 1)
        found = [tuple(end) for s in segments for end in (s[:2], s[2:])]
        assert len(found) == len(expected)
        assert_close(sorted(np.round(found, 9).tolist()), sorted(np.round(expected, 9).tolist()))
        # Each segment stays within one cell.
        for x0, y0, x1, y1 in segments:
            assert math.floor(min(x0, x1)) >= math.ceil(max(x0, x1)) - 1
            assert math.floor(min(y0, y1)) >= math.ceil(max(y0, y1)) - 1


@pytest.mark.parametrize("low", [-16.0, -1e-7, 0.0, 0.3, 7e3])
def test_ticks_are_all_round_numbers_of_a_range_and_about_as_many_as_wanted(
    javascript: Javascript, random: np.random.Generator, low: float
):
    cases = [[low, low + 10 ** random.uniform(-3, 6), n] for n in range(1, 13) for _ in range(8)]
    for found, (_, high, wanted) in zip(
        javascript("js/scale.js", "ticks", cases), cases, strict=True
    ):
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


@pytest.mark.parametrize("range_", [[1, 1], [2, 1], [0, math.inf]], ids=str)
def test_a_range_that_is_none_has_no_ticks(javascript: Javascript, range_: list[float]):
    assert javascript("js/scale.js", "ticks", [[*range_, 5]]) == [[]]


SCALED = """async ([address, name, values]) => {
  const scale = (await import(address))[name]([0.1, 1000], [20, 100]);
  return values.map(scale);
}"""


def test_a_scale_is_linear_in_the_value_or_in_its_logarithm(blank: Page):
    address = f"data:text/javascript;charset=utf-8,{quote(module_source('js/scale.js'))}"
    values = [0.1, 1, 550, 1000, 1e5]
    for name, of in (("linear", np.asarray), ("logarithmic", np.log)):
        low, high = of([0.1, 1000])
        found = blank.evaluate(SCALED, [address, name, values])
        assert_close(found, 20 + 80 * (of(values) - low) / (high - low))


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 4, 4)], ids=str)
def test_an_array_of_python_is_the_same_array_in_javascript(
    javascript: Javascript, random: np.random.Generator, shape: tuple[int, ...]
):
    sent = random.normal(size=shape).astype(np.float32)
    [there] = javascript("js/array.js", "decodeArray", [[Array._encode(sent, None)]])
    assert there["shape"] == list(shape)
    np.testing.assert_array_equal(np.float32(there["values"]).reshape(shape), sent)
    [back] = javascript("js/array.js", "encodeArray", [[list(shape), there["values"]]])
    np.testing.assert_array_equal(Array._decode(back, None), sent)


def test_a_matrix_of_python_arrives_row_by_row(javascript: Javascript):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    [rows] = javascript("js/array.js", "decodeRows", [[Array._encode(matrix, None)]])
    assert rows == matrix.tolist()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "1234.50"),
        (-0.25, "−0.25"),
        (-0.001, "0.00"),
        (1e30, "1.0·10³⁰"),
        (-3.4e38, "−3.4·10³⁸"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_a_number_can_be_read_however_large_it_is(javascript: Javascript, value: float, text: str):
    assert javascript("js/text.js", "number", [[value, 2]]) == [text]


@pytest.mark.parametrize("alphabet", [ascii_uppercase, ascii_lowercase, f"{ascii_letters} -ë"])
def test_a_name_is_folded_in_the_page_as_in_python(javascript: Javascript, alphabet: str):
    letters = [chr(code) for code in range(0x20, 0x250)]
    names = [
        *letters,
        "Anna Zoë",
        "Zoe\u0308",
        "Anne\u2011Marie d’Arc",
        "ﬁn",
        "Анна",
        "½",
        "👩🏽",
        "".join(letters),
    ]
    found = javascript("js/text.js", "folded", [[name, alphabet] for name in names])
    assert found == [folded(name, alphabet) for name in names]
