"""The mathematics of PartyMemory's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor

from course_lib.attention import (
    attention,
    composite_memory,
    gated_memory,
    pooled_memory,
)


@pytest.mark.parametrize("mode", ["composite", "forgetting", "gate", "softmax", "query"])
def test_each_way_of_remembering_a_party_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator, mode: str
):
    parties, pictures = [], []
    for _ in range(DRAWS):
        guests, d = random.integers(1, 9), random.integers(1, 5)
        parties.append(
            {
                "guests": int(guests),
                "arrived": int(random.integers(1, guests + 1)),
                "decay": random.choice([0.0, 1.0, random.uniform()]),
                "door": random.uniform(-8, 8),
                "temperature": 10 ** random.uniform(-1, 1),
                "score": random.normal(scale=3, size=guests).tolist(),
                "gate": random.normal(scale=3, size=guests).tolist(),
                "keys": random.normal(size=(guests, d)).tolist(),
                "query": random.normal(size=d).tolist(),
            }
        )
        pictures.append(random.uniform(size=(guests, 16)).tolist())
    cases = [[mode, party] for party in parties]
    weights = javascript("js/maths/memory.js", "memoryWeights", cases)
    blends = [list(case) for case in zip(weights, pictures, strict=True)]
    memories = javascript("js/maths/numerics.js", "blend", blends)
    for weight, memory, party, picture in zip(weights, memories, parties, pictures, strict=True):
        arrived, temperature = party["arrived"], party["temperature"]
        x, score, gate, key = (
            tensor(numbers)[:arrived]
            for numbers in (picture, party["score"], party["gate"], party["keys"])
        )
        query = tensor(party["query"])[None]
        expected = {
            "composite": lambda x: composite_memory(x, 1),
            "forgetting": lambda x, party=party: composite_memory(x, party["decay"]),
            "gate": lambda x, gate=gate, party=party: gated_memory(x, gate + party["door"]),
            "softmax": lambda x, s=score, t=temperature: pooled_memory(x, s / t),
            "query": lambda x, q=query, k=key, t=temperature: attention(q, k, x, scale=1 / t)[0],
        }[mode]
        assert_close(memory, expected(x))
        assert_close(weight[:arrived], expected(torch.eye(arrived, dtype=torch.float64)))
        assert weight[arrived:] == [0] * (party["guests"] - arrived)


@pytest.mark.parametrize("mode", ["gate", "softmax", "query"])
def test_scores_as_large_as_a_float32_weigh_as_they_should(javascript: Javascript, mode: str):
    huge = float(np.finfo(np.float32).max)
    party = {"guests": 3, "arrived": 3, "decay": 0.5, "door": 0, "temperature": 0.05}
    for score, expected in [([huge, -huge, huge], [1, 0, 1]), ([-huge, -huge, huge], [0, 0, 1])]:
        numbers = {"score": score, "gate": score, "keys": [[s] for s in score], "query": [huge]}
        [weights] = javascript("js/maths/memory.js", "memoryWeights", [[mode, party | numbers]])
        total = 1 if mode == "gate" else sum(expected)
        assert_close(weights, tensor(expected) / total)


@pytest.mark.parametrize("mode", ["composite", "forgetting", "gate", "softmax", "query"])
def test_in_an_empty_room_every_guest_weighs_nothing(javascript: Javascript, mode: str):
    party = {"guests": 2, "arrived": 0, "decay": 0.5, "door": 1, "temperature": 0.5}
    numbers = {"score": [1, 2], "gate": [1, 2], "keys": [[1], [2]], "query": [1]}
    assert javascript("js/maths/memory.js", "memoryWeights", [[mode, party | numbers]]) == [[0, 0]]


def test_ink_of_every_pixel_leaves_after_the_start_and_has_landed_at_the_end(
    javascript: Javascript, random: np.random.Generator
):
    count, width = 24, 4
    for share, expected in [(0, 0), (1, 1)]:
        cases = [[j, count, width, share] for j in range(count)]
        assert javascript("js/party_memory/flight.js", "landed", cases) == [expected] * count
    shares = np.sort(random.uniform(size=DRAWS)).tolist()
    for j in range(count):
        cases = [[j, count, width, share] for share in shares]
        found = javascript("js/party_memory/flight.js", "landed", cases)
        assert found == sorted(found)
        assert found[0] >= 0
        assert found[-1] <= 1
