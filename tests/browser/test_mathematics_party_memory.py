"""The mathematics of PartyMemory's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor

from course_lib.attention import attention, composite_memory, gated_memory, pooled_memory

MEMORY = "js/maths/memory.js"
MODES = ["composite", "forgetting", "gate", "softmax", "query"]


@pytest.mark.parametrize("mode", MODES)
def test_each_way_of_remembering_a_party_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator, mode: str
):
    cases = []
    for _ in range(100):
        guests, d = random.integers(1, 9), random.integers(1, 5)
        party = {
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
        cases.append([mode, party])
    for weight, (_, party) in zip(javascript(MEMORY, "memoryWeights", cases), cases, strict=True):
        arrived, temperature = party["arrived"], party["temperature"]
        score, gate, key = (tensor(party[name])[:arrived] for name in ("score", "gate", "keys"))
        # What each guest adds to the memory is the memory of the unit vectors.
        x, query = torch.eye(arrived, dtype=torch.float64), tensor(party["query"])[None]
        if mode == "gate":
            expected = gated_memory(x, gate + party["door"])
        elif mode == "softmax":
            expected = pooled_memory(x, score / temperature)
        elif mode == "query":
            expected = attention(query, key, x, scale=1 / temperature)[0]
        else:
            expected = composite_memory(x, 1 if mode == "composite" else party["decay"])
        assert_close(weight[:arrived], expected)
        assert weight[arrived:] == [0] * (party["guests"] - arrived)


def test_scores_as_large_as_a_float32_and_an_empty_room_have_weights(javascript: Javascript):
    huge = float(np.finfo(np.float32).max)
    party = {"guests": 3, "arrived": 3, "decay": 0.5, "door": 0, "temperature": 0.05}
    for mode in MODES:
        numbers = {"score": [1, 2, 3], "gate": [1, 2, 3], "keys": [[1]] * 3, "query": [1]}
        empty = party | numbers | {"arrived": 0}
        assert javascript(MEMORY, "memoryWeights", [[mode, empty]]) == [[0, 0, 0]]
        if mode in {"composite", "forgetting"}:
            continue
        for score, expected in [
            ([huge, -huge, huge], [1, 0, 1]),
            ([-huge, -huge, huge], [0, 0, 1]),
        ]:
            numbers = {"score": score, "gate": score, "keys": [[s] for s in score], "query": [huge]}
            [weights] = javascript(MEMORY, "memoryWeights", [[mode, party | numbers]])
            total = 1 if mode == "gate" else sum(expected)
            assert_close(weights, tensor(expected) / total)


def test_ink_of_every_pixel_leaves_after_the_start_and_has_landed_at_the_end(
    javascript: Javascript,
):
    shares = np.linspace(0, 1, 101)
    for j in range(0, 24, 5):
        cases = [[j, 24, 4, share] for share in shares]
        found = javascript("js/party_memory/flight.js", "landed", cases)
        assert found == sorted(found)
        assert (found[0], found[-1]) == (0, 1)
