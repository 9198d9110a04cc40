"""The parts of a transformer in JavaScript, run in Chromium, against PyTorch and course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights
from course_lib.position import rotary, sinusoidal

pytestmark = pytest.mark.usefixtures("plain_calls")


def test_erf_and_gelu_are_those_of_torch_to_the_last_digits(
    javascript: Javascript, random: np.random.Generator
):
    x = [*random.normal(scale=3, size=DRAWS).tolist(), 0.0, 1e-300, 5.9, 6.1, -6.1, 40.0, -40.0]
    erf = javascript("js/maths/transformer.js", "erf", [[z] for z in x])
    gelu = javascript("js/maths/transformer.js", "gelu", [[z] for z in x])
    np.testing.assert_allclose(erf, torch.erf(tensor(x)), rtol=1e-13, atol=0)
    np.testing.assert_allclose(gelu, F.gelu(tensor(x)), rtol=1e-12, atol=1e-14)


def test_layer_norm_and_an_affine_map_are_those_of_torch(
    javascript: Javascript, random: np.random.Generator
):
    for _ in range(30):
        d, rows = random.integers(1, 12, size=2)
        x, weight, bias = random.normal(scale=3, size=(3, d)).tolist()
        [found] = javascript(
            "js/maths/transformer.js", "layerNorm", [[x, {"weight": weight, "bias": bias}]]
        )
        assert_close(found, F.layer_norm(tensor(x), (d,), tensor(weight), tensor(bias)))
        W, b = random.normal(size=(rows, d)), random.normal(size=rows)
        given = {"weight": W.ravel().tolist(), "bias": b.tolist()}
        for options, shift in ((given, tensor(b)), ({"weight": given["weight"]}, None)):
            [found] = javascript("js/maths/transformer.js", "affine", [[options, x]])
            assert_close(found, F.linear(tensor(x), tensor(W), shift))


def test_a_query_against_all_keys_is_attention_in_every_head(
    javascript: Javascript, random: np.random.Generator
):
    for _ in range(30):
        heads, d, tokens = random.integers(1, 6, size=3).tolist()
        query = tensor(random.normal(size=heads * d))
        keys, values = tensor(random.normal(size=(2, tokens, heads * d)))
        [found] = javascript(
            "js/maths/transformer.js",
            "attend",
            [[query.tolist(), keys.tolist(), values.tolist(), heads]],
        )
        split = [x.reshape(-1, heads, d).transpose(0, 1) for x in (query, keys, values)]
        assert_close(found["weights"], attention_weights(*split[:2])[:, 0])
        assert_close(found["blended"], attention(*split)[:, 0].flatten())


def test_sinusoids_and_rotary_turns_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    table = sinusoidal(50, 10, dtype=torch.float64)
    assert_close(
        javascript("js/maths/transformer.js", "sinusoids", [[t, 10] for t in range(50)]), table
    )
    for _ in range(30):
        heads, d = int(random.integers(1, 5)), 2 * int(random.integers(1, 5))
        x, t = tensor(random.normal(size=heads * d)), int(random.integers(64))
        [found] = javascript("js/maths/transformer.js", "turned", [[x.tolist(), heads, t]])
        expected = rotary(x.reshape(heads, 1, d), position=torch.tensor([t]))
        assert_close(found, expected.flatten())
