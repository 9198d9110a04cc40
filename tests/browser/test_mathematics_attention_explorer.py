"""The mathematics of AttentionExplorer's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor

from course_lib.attention import attention_weights, causal_mask


def rows_of_weights(random: np.random.Generator) -> list[list[float]]:
    """Rows that sum to one, some of whose weights are zero."""
    rows = []
    for _ in range(DRAWS):
        score = tensor(random.normal(scale=random.uniform(0.1, 8), size=random.integers(1, 12)))
        hidden = torch.from_numpy(random.uniform(size=len(score)) < random.choice([0, 0.4]))
        hidden[random.integers(len(score))] = False
        rows.append(score.masked_fill(hidden, -torch.inf).softmax(-1).tolist())
    return rows


def test_retempered_weights_are_the_softmax_of_the_score_over_the_temperature(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[row, 10 ** random.uniform(-1, 1)] for row in rows_of_weights(random)]
    found = javascript("js/maths/weights.js", "retempered", cases)
    for weights, (row, temperature) in zip(found, cases, strict=True):
        assert_close(weights, torch.softmax(tensor(row).log() / temperature, -1))


def test_masked_weights_are_attention_under_the_causal_mask(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[row, int(random.integers(len(row)))] for row in rows_of_weights(random)]
    found = javascript("js/maths/weights.js", "masked", cases)
    for weights, (row, query) in zip(found, cases, strict=True):
        if sum(row[: query + 1]) == 0:
            assert weights is None
            continue
        nothing = torch.zeros(len(row), 1, dtype=torch.float64)
        expected = attention_weights(
            nothing[:1],
            nothing,
            bias=tensor(row).log()[None],
            mask=causal_mask(len(row))[query : query + 1],
        )
        assert_close(weights, expected[0])


def test_the_largest_weights_come_first_and_of_equals_the_earlier(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[random.integers(0, 4, size=9).tolist(), 5] for _ in range(DRAWS)]
    found = javascript("js/maths/weights.js", "largestFirst", cases)
    for order, (weights, count) in zip(found, cases, strict=True):
        assert order == np.argsort(-np.array(weights), kind="stable")[:count].tolist()


def test_the_largest_change_is_found_where_it_is(
    javascript: Javascript, random: np.random.Generator
):
    axes = ("step", "layer", "head", "query", "key")
    draws = [random.random((2, *random.integers(1, 4, size=count))) for count in (4, 5) * 5]
    cases = [
        [
            {"shape": before.shape, "values": before.ravel().tolist()},
            {"values": after.ravel().tolist()},
        ]
        for before, after in draws
    ]
    found = javascript("js/maths/weights.js", "largestChange", cases)
    for answer, (before, after) in zip(found, draws, strict=True):
        place = np.unravel_index(abs(after - before).argmax(), before.shape)
        named = dict(zip(reversed(axes), reversed(place), strict=False))
        assert answer == {"step": 0} | {name: int(i) for name, i in named.items()} | {
            "from": before[place],
            "to": after[place],
        }
