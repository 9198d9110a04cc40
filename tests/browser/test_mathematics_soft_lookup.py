"""The mathematics of SoftLookup's JavaScript, run in Chromium, against course_lib."""

import math
from typing import Any

import numpy as np
import pytest
from in_the_page import DRAWS, Javascript, assert_close, tensor
from torch.nn import functional as F

from course_lib.attention import (
    attention,
    attention_weights,
)


def soft_lookups(random: np.random.Generator, similarity: str) -> list[list[Any]]:
    cases = []
    for _ in range(DRAWS):
        keys, d = random.integers(1, 9), random.integers(1, 5)
        query = random.uniform(-1.5, 1.5, size=d)
        cases.append(
            [
                query.tolist(),
                random.uniform(-1.5, 1.5, size=(keys, d)).tolist(),
                random.normal(scale=20, size=keys).tolist(),
                similarity,
                10 ** random.uniform(math.log10(0.02), 1),
            ]
        )
    return cases


@pytest.mark.parametrize("similarity", ["distance", "dot", "cosine"])
def test_a_soft_lookup_is_attention_with_its_similarity_as_score(
    javascript: Javascript, random: np.random.Generator, similarity: str
):
    cases = soft_lookups(random, similarity)
    answers = javascript("js/maths/lookup.js", "softLookup", cases)
    scores = javascript(
        "js/maths/lookup.js", "lookupScores", [[q, k, s] for q, k, _, s, _ in cases]
    )
    for answer, score, (*given, _, temperature) in zip(answers, scores, cases, strict=True):
        query, key, value = tensor(given[0])[None], tensor(given[1]), tensor(given[2])[:, None]
        bias = None
        if similarity == "distance":
            expected = -((query - key) ** 2).sum(-1)
            scale, bias = 2 / temperature, -(key**2).sum(-1)[None] / temperature
        elif similarity == "cosine":
            expected = F.cosine_similarity(query, key)
            query, key, scale = F.normalize(query), F.normalize(key), 1 / temperature
        else:
            expected, scale = (query @ key.mT)[0], 1 / temperature
        assert_close(score, expected)
        assert_close(answer["weights"], attention_weights(query, key, scale=scale, bias=bias)[0])
        assert_close(answer["value"], attention(query, key, value, scale=scale, bias=bias)[0, 0])


def test_the_cosine_with_a_query_of_no_length_is_zero_and_not_nan(javascript: Javascript):
    [found] = javascript(
        "js/maths/lookup.js", "lookupScores", [[[0, 0], [[1, 0], [0, 0]], "cosine"]]
    )
    assert found == [0, 0]
