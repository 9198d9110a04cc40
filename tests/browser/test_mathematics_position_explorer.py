"""The mathematics of PositionExplorer's JavaScript, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.position_explorer import explained, sides_of
from torch import Tensor

from course_lib.position import rotary, shift_matrix, sinusoidal, sinusoidal_at


def features(random: np.random.Generator) -> int:
    return 2 * int(random.integers(1, 9))


def bases(random: np.random.Generator) -> float:
    return float(10 ** random.uniform(0, 5))


def places(random: np.random.Generator) -> float:
    """Whole positions and others, before the first one too."""
    place = random.uniform(-60, 60)
    return float(round(place) if random.integers(2) else place)


def test_a_row_of_the_table_in_the_page_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[places(random), features(random), bases(random)] for _ in range(DRAWS)]
    found = javascript("js/maths/position.js", "sinusoidRow", cases)
    for row, (position, d, base) in zip(found, cases, strict=True):
        assert_close(row, sinusoidal_at(tensor([position]), d, base=base)[0])


def test_the_frequencies_in_the_page_are_the_angles_by_which_one_position_turns(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[features(random), bases(random)] for _ in range(DRAWS)]
    found = javascript("js/maths/position.js", "pairFrequencies", cases)
    for frequency, (d, base) in zip(found, cases, strict=True):
        turned = rotary(tensor([[1.0, 0.0] * (d // 2)]), position=torch.tensor([1]), base=base)
        x, y = turned.unflatten(-1, (-1, 2))[0].mT
        assert_close(frequency, torch.atan2(y, x))


def turns(random: np.random.Generator) -> list[list[Any]]:
    rows = [random.normal(size=features(random)).tolist() for _ in range(DRAWS)]
    return [[row, places(random), bases(random)] for row in rows]


def test_a_turned_row_in_the_page_is_that_of_rotary(
    javascript: Javascript, random: np.random.Generator
):
    cases = turns(random)
    found = javascript("js/maths/position.js", "rotaryRow", cases)
    for turned, (row, position, base) in zip(found, cases, strict=True):
        assert_close(turned, rotary(tensor([row]), position=tensor([position]), base=base)[0])


def test_a_shifted_row_in_the_page_is_the_shift_matrix_times_the_row(
    javascript: Javascript, random: np.random.Generator
):
    cases = turns(random)
    found = javascript("js/maths/position.js", "shiftRow", cases)
    for shifted, (row, offset, base) in zip(found, cases, strict=True):
        matrix = shift_matrix(offset, len(row), base=base, dtype=torch.float64)
        assert_close(shifted, matrix @ tensor(row))


def states(random: np.random.Generator, kind: str) -> list[dict[str, Any]]:
    """What the widget may be given, of one kind."""
    drawn = []
    for _ in range(20):
        tokens, d = int(random.integers(2, 9)), features(random)
        arrays = {"learned": (tokens, d), "query": (d,), "key": (d,)}
        drawn.append(
            {name: tensor(random.normal(size=shape)) for name, shape in arrays.items()}
            | {"kind": kind, "tokens": tokens, "d_model": d, "base": bases(random)}
            | {"before": [], "stage": 0}
        )
    return drawn


def test_what_the_score_multiplies_in_the_page_is_what_course_lib_multiplies(
    javascript: Javascript, random: np.random.Generator
):
    cases, expected = [], []
    for kind in ("none", "sinusoidal", "learned", "rotary"):
        for state in states(random, kind):
            given = {"base": state["base"], "learned": state["learned"].tolist()}
            for name, side in zip(("query", "key"), sides_of(state), strict=True):
                x = state[name].tolist()
                cases += [[kind, x, position, given] for position in range(state["tokens"])]
                expected += list(side)
    found = javascript("js/maths/position.js", "positionRow", cases)
    for row, wanted in zip(found, expected, strict=True):
        assert_close(row, wanted)


def two_sides(random: np.random.Generator) -> list[tuple[Tensor, Tensor]]:
    drawn = []
    for _ in range(DRAWS):
        shape = int(random.integers(1, 9)), features(random)
        drawn.append((tensor(random.normal(size=shape)), tensor(random.normal(size=shape))))
    return drawn


def test_the_scores_in_the_page_are_the_product_of_the_matrices(
    javascript: Javascript, random: np.random.Generator
):
    drawn = two_sides(random)
    cases = [[queries.tolist(), keys.tolist()] for queries, keys in drawn]
    found = javascript("js/maths/position.js", "scoreMatrix", cases)
    for score, (queries, keys) in zip(found, drawn, strict=True):
        assert_close(score, queries @ keys.mT)


def test_the_pairs_in_the_page_add_up_to_the_score(
    javascript: Javascript, random: np.random.Generator
):
    drawn = [(queries[0], keys[0]) for queries, keys in two_sides(random)]
    cases = [[query.tolist(), key.tolist()] for query, key in drawn]
    found = javascript("js/maths/position.js", "pairScores", cases)
    for shares, (query, key) in zip(found, drawn, strict=True):
        assert_close(shares, (query * key).unflatten(0, (-1, 2)).sum(-1))
        assert_close(sum(shares), query @ key)


def test_the_differences_in_the_page_gather_the_diagonals(
    javascript: Javascript, random: np.random.Generator
):
    scores = [queries @ keys.mT for queries, keys in two_sides(random)]
    cases = [[score.tolist()] for score in scores]
    found = javascript("js/maths/position.js", "byDifference", cases)
    for gathered, score in zip(found, scores, strict=True):
        last = len(score) - 1
        # s − t = difference is the diagonal that lies so many places below the main one.
        diagonals = [score.diagonal(-difference) for difference in range(-last, last + 1)]
        assert [each["count"] for each in gathered] == [len(d) for d in diagonals]
        for name, of in (("least", Tensor.min), ("mean", Tensor.mean), ("most", Tensor.max)):
            assert_close([each[name] for each in gathered], [of(d) for d in diagonals])


def test_the_angle_between_hands_in_the_page_is_that_of_complex_numbers(
    javascript: Javascript, random: np.random.Generator
):
    drawn = random.normal(size=(DRAWS, 2, 2))
    found = javascript("js/maths/position.js", "handAngle", drawn.tolist())
    start, end = (drawn[:, i, 0] + 1j * drawn[:, i, 1] for i in range(2))
    assert_close(found, np.degrees(np.angle(end / start)))


def test_a_hand_without_length_makes_no_angle(javascript: Javascript):
    [found] = javascript("js/maths/position.js", "handAngle", [[[0, 0], [1, 2]]])
    assert found == 0


def test_the_third_of_three_neighbours_stands_between_or_beside_the_two(javascript: Javascript):
    cases = [[s, t, 6, wanted] for s in range(6) for t in range(6) for wanted in range(-1, 6)]
    for found, (s, t, tokens, wanted) in zip(
        javascript("js/maths/position.js", "thirdPlace", cases), cases, strict=True
    ):
        triples = [range(first, first + 3) for first in range(tokens - 2)]
        possible = {x for row in triples if s != t and {s, t} < set(row) for x in {*row} - {s, t}}
        assert found in possible or (found is None and not possible)
        assert found == wanted or wanted not in possible
    assert javascript("js/maths/position.js", "thirdPlace", [[0, 1, 2, 2]]) == [None]


def test_the_score_of_an_order_is_that_of_the_places_of_its_words(
    javascript: Javascript, random: np.random.Generator
):
    scores = random.normal(size=(7, 7))
    # In each order: where BITES stands, and where DOG does.
    where = [(1, 0), (1, 2), (0, 1), (0, 2), (2, 1), (2, 0)]
    cases = [[scores.tolist(), first] for first in range(5)]
    found = javascript("js/maths/position.js", "orderScores", cases)
    for row, (_, first) in zip(found, cases, strict=True):
        assert_close(row, [scores[first + s, first + t] for s, t in where])


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned", "rotary"])
def test_numbers_are_different_if_they_differ_by_more_than_the_tolerance(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    query, key = torch.from_numpy(random.normal(size=(2, 8, 1))).mT.expand(2, 3, 8)
    fixed, table = sinusoidal(3, 8, dtype=torch.float64), tensor(random.normal(size=(3, 8)))
    queries, keys = {
        "none": (query, key),
        "sinusoidal": (fixed, fixed),
        "learned": (table, table),
        "rotary": (rotary(query), rotary(key)),
    }[kind]
    score = queries @ keys.mT
    values = [float(score[s, t]) for s, t in [(1, 0), (1, 2), (0, 1), (0, 2), (2, 1), (2, 0)]]
    [found] = javascript("js/maths/position.js", "distinct", [[values, 1e-9]])
    assert found == {"none": 1, "sinusoidal": 2, "learned": 3, "rotary": 4}[kind]


def test_how_much_of_the_spread_of_scores_their_difference_explains(
    javascript: Javascript, random: np.random.Generator
):
    by_distance = [[float((s - t) ** 2) for t in range(6)] for s in range(6)]
    drawn = [tensor(random.normal(size=(n, n))) for n in range(2, 14)]
    mixed = [tensor(by_distance) + scores for scores in drawn if len(scores) == 6]
    found = javascript(
        "js/maths/position.js",
        "explainedByDifference",
        [[by_distance], *([scores.tolist()] for scores in drawn + mixed)],
    )
    assert found[0] == pytest.approx(1)
    assert_close(found[1:], [explained(scores) for scores in drawn + mixed])
    assert found[-1] > 0.5
