"""The mathematics that widgets share, run in Chromium."""

import itertools
import math
from string import ascii_letters, ascii_uppercase

import numpy as np
import torch
from contourpy import contour_generator
from in_the_page import Javascript, Twice, alike, assert_close, tensor

from course_lib.widgets.kit.folding import folded
from course_lib.widgets.kit.traits import Array

NUMERICS, SCALE, ARRAY, TEXT = "maths/numerics.js", "kit/scale.js", "kit/array.js", "kit/text.js"
LETTERS = [chr(code) for code in range(0x20, 0x250)]
NAMES = [*LETTERS, "Zoe\u0308", "Anne\u2011Marie d’Arc", "ﬁn", "Анна", "½", "👩🏽"]
ENDS = tensor([0.1, 1000])


def scores(random: np.random.Generator) -> list:
    score = random.normal(scale=10 ** random.uniform(-2, 3), size=random.integers(1, 12))
    return [score, 10 ** random.uniform(-2, 1)]


def arrays(random: np.random.Generator) -> list:
    shape = random.integers(1, 5, size=random.integers(1, 5)).tolist()
    return [shape, random.normal(size=math.prod(shape)).astype(np.float32)]


def ends(random: np.random.Generator) -> list:
    low = random.choice([-16.0, -1e-7, 0.0, 0.3, 7e3])
    return [low, low + 10 ** random.uniform(-3, 6), int(random.integers(1, 13))]


def encoded(shape: list[int], values: torch.Tensor) -> dict:
    return Array._encode(values.numpy().reshape(shape), None)


def scaled(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return 20 + 80 * (values - low) / (high - low)


def round_numbers(low: float, high: float, wanted: int) -> np.ndarray:
    """All multiples in a range of the least round step of which no more than wanted fit in."""
    if not 0 < high - low < math.inf:
        return np.array([])
    steps = (factor * 10.0**power for power in range(-5, 8) for factor in (1, 2, 5))
    step = next(step for step in steps if step >= (high - low) / wanted * (1 - 1e-9))
    return step * np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)


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
    # With few different numbers, many are equal.
    Twice(
        NUMERICS,
        "ranking",
        lambda x: x.argsort(descending=True, stable=True),
        lambda random: [random.integers(4, size=9)],
        rtol=0,
    ),
    Twice(
        SCALE,
        "(x) => [linear, logarithmic].map((scale) => scale([0.1, 1000], [20, 100])(x))",
        lambda x: [scaled(x, *ENDS), scaled(math.log(x), *ENDS.log())],
        cases=[[x] for x in (0.1, 1, 550, 1000, 1e5)],
    ),
    Twice(
        SCALE,
        "ticks",
        round_numbers,
        ends,
        cases=[[1, 1, 5], [2, 1, 5], [0, math.inf, 5]],
        atol=1e-12,
    ),
    Twice(ARRAY, "encodeArray", encoded, arrays),
    Twice(
        ARRAY,
        "(shape, values) => [...decodeArray(encodeArray(shape, values)).values]",
        lambda _shape, values: values,
        arrays,
        rtol=0,
        atol=0,
    ),
    Twice(
        TEXT,
        "folded",
        folded,
        cases=list(itertools.product(NAMES, (ascii_uppercase, f"{ascii_letters} -ë"))),
    ),
)


def test_a_contour_crosses_each_edge_of_the_grid_where_the_field_does(
    javascript: Javascript, random: np.random.Generator
):
    fields = [random.normal(size=random.integers(2, 8, size=2)) for _ in range(60)]
    cases = [[field.ravel().tolist(), *field.shape, 0.1] for field in fields]
    found = javascript("maths/contour.js", "contourSegments", cases)
    for segments, field in zip(found, fields, strict=True):
        lines = contour_generator(z=field).lines(0.1)
        points = np.concatenate([*lines, np.zeros((0, 2))])
        ends = np.reshape(segments, (-1, 2, 2))
        assert len(ends) == sum(len(line) - 1 for line in lines)
        found, wanted = (np.unique(x.round(9), axis=0) for x in (ends.reshape(-1, 2), points))
        assert_close(found, wanted)
        # Each segment stays within one cell.
        assert (np.floor(ends.min(1)) >= np.ceil(ends.max(1)) - 1).all()


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
    assert javascript(TEXT, "number", [[x, 2] for x in told]) == list(told.values())
    # A mark of text direction is a character like others.
    turning = [["a\u202eb"], ["\u200f"], ["שלום"], [" "]]
    assert javascript(TEXT, "visible", turning) == ["a�b", "�", "שלום", "␣"]


def test_every_mark_of_an_axis_has_a_number_of_its_own(javascript: Javascript):
    ends = [[0, 3], [-1e-9, 1e-9], [12.344, 12.346], [58000.1, 58000.3], [2458000, 2459000]]
    found = javascript(SCALE, "ticks", [[*pair, 5] for pair in ends])
    told = "(found) => found.map((tick) => quantity(tick, '', digitsApart(found)))"
    for texts in javascript(TEXT, told, [[marks] for marks in found]):
        assert len(set(texts)) == len(texts) > 2


def test_party_memory_has_weights_for_scores_as_large_as_a_float32(javascript: Javascript):
    huge = float(np.finfo(np.float32).max)
    party = {"guests": 3, "arrived": 3, "decay": 0.5, "door": 0, "temperature": 0.05}
    scores = {(huge, -huge, huge): [1, 0, 1], (-huge, -huge, huge): [0, 0, 1]}
    for mode in ("gate", "softmax", "query"):
        for score, expected in scores.items():
            numbers = {"score": score, "gate": score, "keys": [[s] for s in score], "query": [huge]}
            [weights] = javascript("maths/memory.js", "memoryWeights", [[mode, party | numbers]])
            assert_close(weights, tensor(expected) / (1 if mode == "gate" else sum(expected)))


def test_the_mass_of_a_massless_particle_is_not_nan(javascript: Javascript):
    jets = "maths/jets.js"
    assert javascript(jets, "invariantMass", [[[1.0, 0.0, 0.0, 1.0 + 1e-12]]]) == [0]
    assert javascript(jets, "directionOf", [[[1, 0, 0, 0]]])[0]["eta"] == 0
