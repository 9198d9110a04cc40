"""The mathematics of PositionExplorer's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.position_explorer import sides_of
from torch import Tensor

from course_lib.position import rotary, shift_matrix, sinusoidal_at

POSITION = "js/maths/position.js"


def features(random: np.random.Generator) -> int:
    return 2 * int(random.integers(1, 9))


def bases(random: np.random.Generator) -> float:
    return float(10 ** random.uniform(0, 5))


def test_rows_and_their_turns_in_the_page_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for whole in (True, False) * (DRAWS // 2):
        # Positions before the first one too.
        place = random.uniform(-60, 60)
        row = random.normal(size=features(random)).tolist()
        cases.append([row, float(round(place) if whole else place), bases(random)])
    given = [[position, len(row), base] for row, position, base in cases]
    calls = {
        "sinusoidRow": given,
        "rotaryRow": cases,
        "shiftRow": cases,
        "pairFrequencies": [[d, base] for _, d, base in given],
    }
    found = [javascript(POSITION, name, call) for name, call in calls.items()]
    for case, sinusoid, turned, shifted, frequency in zip(cases, *found, strict=True):
        row, position, base = case
        d = len(row)
        assert_close(sinusoid, sinusoidal_at(tensor([position]), d, base=base)[0])
        assert_close(turned, rotary(tensor([row]), position=tensor([position]), base=base)[0])
        matrix = shift_matrix(position, d, base=base, dtype=torch.float64)
        assert_close(shifted, matrix @ tensor(row))
        one = rotary(tensor([[1.0, 0.0] * (d // 2)]), position=torch.tensor([1]), base=base)
        x, y = one.unflatten(-1, (-1, 2))[0].mT
        assert_close(frequency, torch.atan2(y, x))


def test_what_the_score_multiplies_in_the_page_is_what_course_lib_multiplies(
    javascript: Javascript, random: np.random.Generator
):
    cases, expected = [], []
    for kind in ("none", "sinusoidal", "learned", "rotary") * 5:
        tokens, d, base = int(random.integers(2, 9)), features(random), bases(random)
        shapes = {"learned": (tokens, d), "query": (d,), "key": (d,)}
        state = {name: tensor(random.normal(size=shape)) for name, shape in shapes.items()}
        state |= {"kind": kind, "tokens": tokens, "d_model": d, "base": base}
        given = {"base": base, "learned": state["learned"].tolist()}
        sides = sides_of(state | {"before": [], "stage": 0})
        for name, side in zip(("query", "key"), sides, strict=True):
            x = state[name].tolist()
            cases += [[kind, x, position, given] for position in range(tokens)]
            expected += list(side)
    found = javascript(POSITION, "positionRow", cases)
    for row, wanted in zip(found, expected, strict=True):
        assert_close(row, wanted)


def test_scores_their_pairs_and_their_differences_are_those_of_the_matrices(
    javascript: Javascript, random: np.random.Generator
):
    sizes = [(int(random.integers(1, 9)), features(random)) for _ in range(50)]
    drawn = [[tensor(random.normal(size=size)) for _ in range(2)] for size in sizes]
    cases = [[queries.tolist(), keys.tolist()] for queries, keys in drawn]
    scores = javascript(POSITION, "scoreMatrix", cases)
    pairs = javascript(POSITION, "pairScores", [[q[0], k[0]] for q, k in cases])
    differences = javascript(POSITION, "byDifference", [[score] for score in scores])
    found = zip(scores, pairs, differences, strict=True)
    for (queries, keys), (score, shares, gathered) in zip(drawn, found, strict=True):
        expected = queries @ keys.mT
        assert_close(score, expected)
        assert_close(shares, (queries[0] * keys[0]).unflatten(0, (-1, 2)).sum(-1))
        last = len(expected) - 1
        # s − t = difference is the diagonal that lies so many places below the main one.
        diagonals = [expected.diagonal(-difference) for difference in range(-last, last + 1)]
        assert [each["count"] for each in gathered] == [len(d) for d in diagonals]
        for name, of in (("least", Tensor.min), ("mean", Tensor.mean), ("most", Tensor.max)):
            assert_close([each[name] for each in gathered], [of(d) for d in diagonals])


def test_how_much_of_the_spread_of_scores_their_difference_explains(
    javascript: Javascript, random: np.random.Generator
):
    by_distance = tensor([[float((s - t) ** 2) for t in range(6)] for s in range(6)])
    drawn = [tensor(random.normal(size=(n, n))) for n in range(2, 14)]
    scores = [by_distance, by_distance + drawn[4], *drawn]
    found = javascript(POSITION, "explainedByDifference", [[x.tolist()] for x in scores])
    assert found[0] == pytest.approx(1)
    for share, score in zip(found, scores, strict=True):
        # Below the diagonal: what is left about the mean of each difference.
        below = [score.diagonal(-k) for k in range(1, len(score))]
        left = sum((x - x.mean()).square().sum() for x in below)
        values = torch.cat(below)
        spread = (values - values.mean()).square().sum()
        assert_close(share, 1 - left / spread if spread else 0)


def test_the_angle_between_hands_in_the_page_is_that_of_complex_numbers(
    javascript: Javascript, random: np.random.Generator
):
    drawn = random.normal(size=(DRAWS, 2, 2))
    # A hand without length makes no angle.
    *found, none = javascript(POSITION, "handAngle", [*drawn.tolist(), [[0, 0], [1, 2]]])
    start, end = (drawn[:, i, 0] + 1j * drawn[:, i, 1] for i in range(2))
    assert_close(found, np.degrees(np.angle(end / start)))
    assert none == 0


def test_the_third_of_three_neighbours_stands_between_or_beside_the_two(javascript: Javascript):
    cases = [[s, t, 6, wanted] for s in range(6) for t in range(6) for wanted in range(-1, 6)]
    for found, (s, t, tokens, wanted) in zip(
        javascript(POSITION, "thirdPlace", cases), cases, strict=True
    ):
        triples = [range(first, first + 3) for first in range(tokens - 2)]
        possible = {x for row in triples if s != t and {s, t} < set(row) for x in {*row} - {s, t}}
        assert found in possible or (found is None and not possible)
        assert found == wanted or wanted not in possible
    assert javascript(POSITION, "thirdPlace", [[0, 1, 2, 2]]) == [None]


def test_scores_of_orders_are_those_of_the_places_of_the_words_and_are_counted(
    javascript: Javascript, random: np.random.Generator
):
    scores = random.normal(size=(7, 7))
    # In each order: where BITES stands, and where DOG does.
    where = [(1, 0), (1, 2), (0, 1), (0, 2), (2, 1), (2, 0)]
    rows = javascript(POSITION, "orderScores", [[scores.tolist(), first] for first in range(5)])
    assert_close(rows, [[scores[i + s, i + t] for s, t in where] for i in range(5)])
    near = [[1.0, 1.0 + 1e-12, 2.0, 2.0, 1.0, 3.0], 1e-9]
    assert javascript(POSITION, "distinct", [near, [rows[0], 1e-9]]) == [3, 6]
