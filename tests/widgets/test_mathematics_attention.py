"""SoftLookup, PartyMemory and AttentionExplorer, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
from in_the_page import Javascript, Twice, alike, assert_close, tensor
from torch import Tensor

from course_lib.attention import attention_weights, causal_mask

WEIGHTS = "maths/weights.js"
Random = np.random.Generator


def heads(random: Random) -> list[Any]:
    """A square of weights, some of them zero, a temperature, and whether to hide the future."""
    tokens = int(random.integers(1, 9))
    score = tensor(random.normal(scale=random.uniform(0.1, 8), size=(tokens, tokens)))
    hidden = tensor(random.uniform(size=(tokens, tokens))) < random.choice([0, 0.4])
    rows = score.masked_fill(hidden.fill_diagonal_(0), -np.inf).softmax(-1)
    return [rows.numpy(), 10 ** random.uniform(-1, 1), bool(random.integers(2))]


def changed(rows: Tensor, temperature: float, causal: Any) -> Tensor:
    nothing, tokens = rows.new_zeros(len(rows), 1), len(rows)
    mask = causal_mask(tokens) if causal else None
    return attention_weights(nothing, nothing, bias=rows.log() / temperature, mask=mask)


def two_films(random: Random) -> list[Any]:
    before, after = random.random((2, *random.integers(1, 4, size=random.integers(4, 6))))
    return [{"shape": before.shape, "values": before.ravel()}, {"values": after.ravel()}]


def largest_change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    shape, values = before["shape"], before["values"]
    flat = int((after["values"] - values).abs().argmax())
    axes = ("step", "layer", "head", "query", "key")[-len(shape) :]
    place = map(int, np.unravel_index(flat, shape))
    ends = {"from": values[flat], "to": after["values"][flat]}
    return {"step": 0} | dict(zip(axes, place, strict=True)) | ends


test_attention_explorer_weighs_as_in_course_lib = alike(
    Twice(
        WEIGHTS,
        """(rows, temperature, causal) => headRows(
          { shape: [1, 1, rows.length, rows.length], values: Float64Array.from(rows.flat()) },
          { step: 0, layer: 0, head: 0, temperature, causal })""",
        changed,
        heads,
    ),
    Twice(WEIGHTS, "largestChange", largest_change, two_films, rtol=0, atol=0),
)


def test_party_memory_has_weights_for_scores_as_large_as_a_float32(javascript: Javascript):
    huge = float(np.finfo(np.float32).max)
    party = {"guests": 3, "arrived": 3, "decay": 0.5, "door": 0, "temperature": 0.05}
    scores = {(huge, -huge, huge): [1, 0, 1], (-huge, -huge, huge): [0, 0, 1]}
    for mode in ("gate", "softmax", "query"):
        for score, expected in scores.items():
            numbers = {"score": score, "gate": score, "keys": [[s] for s in score], "query": [huge]}
            [weights] = javascript("maths/memory.js", "memoryWeights", [[mode, party | numbers]])
            assert_close(weights, tensor(expected) / (1 if mode == "gate" else sum(expected)))
