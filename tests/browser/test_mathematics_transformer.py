"""The parts of a transformer in JavaScript, run in Chromium, against PyTorch and course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights
from course_lib.position import rotary, sinusoidal

pytestmark = pytest.mark.usefixtures("plain_calls")

TRANSFORMER = "js/maths/transformer.js"
CASES = 30


def test_erf_and_gelu_are_those_of_torch_to_the_last_digits(
    javascript: Javascript, random: np.random.Generator
):
    x = [*random.normal(scale=3, size=DRAWS).tolist(), 0.0, 1e-300, 5.9, 6.1, -6.1, 40.0, -40.0]
    erf = javascript(TRANSFORMER, "erf", [[z] for z in x])
    gelu = javascript(TRANSFORMER, "gelu", [[z] for z in x])
    np.testing.assert_allclose(erf, torch.erf(tensor(x)), rtol=1e-13, atol=0)
    np.testing.assert_allclose(gelu, F.gelu(tensor(x)), rtol=1e-12, atol=1e-14)


def test_layer_norm_and_an_affine_map_are_those_of_torch(
    javascript: Javascript, random: np.random.Generator
):
    sizes = random.integers(1, 12, size=(CASES, 2)).tolist()
    rows = [random.normal(scale=3, size=(3, d)).tolist() for d, _ in sizes]
    norms = [[x, {"weight": weight, "bias": bias}] for x, weight, bias in rows]
    for found, (x, weight, bias) in zip(
        javascript(TRANSFORMER, "layerNorm", norms), rows, strict=True
    ):
        assert_close(found, F.layer_norm(tensor(x), (len(x),), tensor(weight), tensor(bias)))
    cases, expected = [], []
    for (x, *_), (d, height) in zip(rows, sizes, strict=True):
        W, b = random.normal(size=(height, d)), random.normal(size=height)
        given = {"weight": W.ravel().tolist()}
        cases += [[given, x], [given | {"bias": b.tolist()}, x]]
        expected += [F.linear(tensor(x), tensor(W)), F.linear(tensor(x), tensor(W), tensor(b))]
    for found, wanted in zip(javascript(TRANSFORMER, "affine", cases), expected, strict=True):
        assert_close(found, wanted)


def test_a_query_against_all_keys_is_attention_in_every_head_with_what_is_added_to_its_scores(
    javascript: Javascript, random: np.random.Generator
):
    cases, expected = [], []
    for biased in (True, False) * CASES:
        heads, d, tokens = random.integers(1, 6, size=3).tolist()
        query = tensor(random.normal(size=heads * d))
        keys, values = tensor(random.normal(size=(2, tokens, heads * d)))
        bias = tensor(random.normal(size=(heads, tokens)))
        given = [query.tolist(), keys.tolist(), values.tolist(), heads]
        cases.append([*given, bias.tolist()] if biased else given)
        split = [x.reshape(-1, heads, d).transpose(0, 1) for x in (query, keys, values)]
        options = {"bias": bias[:, None]} if biased else {}
        weights = attention_weights(*split[:2], **options)[:, 0]
        expected.append((weights, attention(*split, **options)[:, 0].flatten()))
    for found, wanted in zip(javascript(TRANSFORMER, "attend", cases), expected, strict=True):
        assert_close(found["weights"], wanted[0])
        assert_close(found["blended"], wanted[1])


def test_sinusoids_and_rotary_turns_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    table = sinusoidal(50, 10, dtype=torch.float64)
    assert_close(javascript(TRANSFORMER, "sinusoids", [[t, 10] for t in range(50)]), table)
    cases = []
    for _ in range(CASES):
        heads, d = int(random.integers(1, 5)), 2 * int(random.integers(1, 5))
        cases.append([random.normal(size=heads * d).tolist(), heads, int(random.integers(64))])
    found = javascript(TRANSFORMER, "turned", cases)
    for turned, (x, heads, t) in zip(found, cases, strict=True):
        expected = rotary(tensor(x).reshape(heads, 1, -1), position=torch.tensor([t]))
        assert_close(turned, expected.flatten())
