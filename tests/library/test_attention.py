"""Attention against PyTorch's own, against plain loops, and against its mathematical properties."""

import math

import numpy as np
import pytest
import torch
from seeded_tensors import assert_close_for_its_dtype as assert_close
from seeded_tensors import gradients, randn
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import (
    MultiHeadAttention,
    attention,
    attention_weights,
    causal_mask,
    composite_memory,
    gated_memory,
    pooled_memory,
)

DTYPES = [torch.float32, torch.float64]
BATCHES = [(), (2, 3), (2, 0)]


def mask_with_a_key_for_all(*shape: int) -> Tensor:
    mask = randn(*shape, seed=7) > 0
    mask[..., 0] = True
    return mask


# The ladder of lecture 1, against loops in NumPy ---------------------------------------------


def test_composite_memory_fades_each_token_by_its_age() -> None:
    for dtype in DTYPES:
        for decay in [0, 0.3, 0.9, 1.0]:
            x = randn(2, 5, 3, dtype=dtype)
            expected = np.zeros((2, 3))
            for i in range(5):
                expected += decay ** (4 - i) * x[:, i].double().numpy()
            assert_close(composite_memory(x, decay), torch.from_numpy(expected).to(dtype))


def test_gated_memory_lets_each_token_in_by_its_own_gate() -> None:
    x, gate = randn(2, 5, 3), randn(2, 5)
    expected = np.zeros((2, 3))
    for b in range(2):
        for i in range(5):
            expected[b] += x[b, i].double().numpy() / (1 + math.exp(-gate[b, i]))
    assert_close(gated_memory(x, gate), torch.from_numpy(expected))


def test_pooled_memory_shares_one_unit_among_the_tokens() -> None:
    x, score = randn(2, 5, 3), randn(2, 5)
    expected = np.zeros((2, 3))
    for b in range(2):
        total = sum(math.exp(s) for s in score[b])
        for i in range(5):
            expected[b] += x[b, i].double().numpy() * math.exp(score[b, i]) / total
    assert_close(pooled_memory(x, score), torch.from_numpy(expected))


def test_ladder_has_right_gradients() -> None:
    x = randn(2, 3, 2).requires_grad_()
    score = randn(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: composite_memory(x, 0.5), (x,))
    assert torch.autograd.gradcheck(gated_memory, (x, score))
    assert torch.autograd.gradcheck(pooled_memory, (x, score))


# Attention against PyTorch's fused operator --------------------------------------------------

SITUATIONS = {
    "plain": {},
    "causal": {"mask": causal_mask(4)[-3:]},
    "mask for each batch": {"mask": mask_with_a_key_for_all(2, 3, 4)},
    "mask of keys": {"mask": mask_with_a_key_for_all(2, 1, 4)},
    "bias": {"bias": randn(3, 4)},
    "bias that hides a key": {"bias": torch.tensor([0.0, 1.0, -math.inf, 2.0]).expand(3, 4)},
    "mask and bias": {"mask": mask_with_a_key_for_all(3, 4), "bias": randn(2, 1, 4)},
    "scale": {"scale": 2},
    "all": {"mask": mask_with_a_key_for_all(3, 4), "bias": randn(2, 3, 4), "scale": 0.1},
}


def of_dtype(situation: str, dtype: torch.dtype) -> dict:
    given = dict(SITUATIONS[situation])
    if "bias" in given:
        given["bias"] = given["bias"].to(dtype).detach().clone().requires_grad_()
    return given


def fused(query: Tensor, key: Tensor, value: Tensor, given: dict) -> Tensor:
    """PyTorch's operator, with mask and bias combined here."""
    shape = (*query.shape[:-1], key.shape[-2])
    added = torch.zeros(shape, dtype=query.dtype) + given.get("bias", 0)
    if "mask" in given:
        hidden = ~given["mask"].broadcast_to(shape)
        added = added + torch.zeros(shape, dtype=query.dtype).masked_fill(hidden, -math.inf)
    scale = given.get("scale")
    return F.scaled_dot_product_attention(query, key, value, attn_mask=added, scale=scale)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_attention_and_its_gradients_equal_the_fused_operator(situation: str) -> None:
    for backend in ["reference", "torch"]:
        for dtype in DTYPES:
            given = of_dtype(situation, dtype)
            query, key = randn(2, 3, 5, dtype=dtype), randn(2, 4, 5, dtype=dtype)
            leaves = [x.requires_grad_() for x in (query, key, randn(2, 4, 6, dtype=dtype))]
            output, expected = attention(*leaves, **given, backend=backend), fused(*leaves, given)
            assert_close(output, expected)
            if "bias" in given:
                leaves.append(given["bias"])
            assert_close(gradients(output, *leaves), gradients(expected, *leaves))


def test_attention_takes_any_batch_even_an_empty_one() -> None:
    for backend in ["reference", "torch"]:
        for batch in BATCHES:
            query, key, value = randn(*batch, 3, 5), randn(*batch, 4, 5), randn(*batch, 4, 6)
            output = attention(query, key, value, mask=causal_mask(4)[-3:], backend=backend)
            assert_close(output, fused(query, key, value, {"mask": causal_mask(4)[-3:]}))


def test_without_queries_a_mask_may_hide_all_keys() -> None:
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    answer = attention(randn(2, 0, 3), randn(2, 4, 3), randn(2, 4, 5), mask=nothing)
    assert answer.shape == (2, 0, 5)


def test_grouped_attention_needs_an_axis_of_heads() -> None:
    x = randn(3, 4)
    with pytest.raises(ValueError, match=r"the last, with grouped=True, counts heads"):
        attention(x, x, x, grouped=True)


def test_grouped_attention_repeats_keys_and_values_for_neighbouring_heads() -> None:
    for backend in ["reference", "torch"]:
        for kv_heads in [1, 2, 6]:
            for batch in [(), (2, 3)]:
                leaves = [
                    randn(*batch, heads, tokens, 5).requires_grad_()
                    for heads, tokens in ((6, 3), (kv_heads, 4), (kv_heads, 4))
                ]
                given = {
                    "mask": mask_with_a_key_for_all(6, 3, 4),
                    "bias": randn(6, 3, 4),
                    "scale": 0.7,
                }
                output = attention(*leaves, **given, grouped=True, backend=backend)
                repeated = [x.repeat_interleave(6 // x.shape[-3], dim=-3) for x in leaves]
                expected = attention(*repeated, **given)
                assert_close(output, expected)
                assert_close(gradients(output, *leaves), gradients(expected, *leaves))


def test_scores_far_apart_give_weights_and_no_nan() -> None:
    key = torch.tensor([[1e4], [-1e4], [1e4]], dtype=torch.float64)
    weights = attention_weights(torch.tensor([[1e4]], dtype=torch.float64), key)
    assert weights.tolist() == [[0.5, 0.0, 0.5]]


def test_fully_masked_keys_have_no_effect() -> None:
    real = torch.tensor([[True, True, True, False], [True, True, False, False]])
    hidden = torch.zeros(2, 1, 1, 4, dtype=torch.float64).masked_fill(
        ~real[:, None, None], -math.inf
    )
    of_heads = real[:, None, None].expand(2, 6, 3, 4)
    for backend in ["reference", "torch"]:
        for given in ({"mask": real[:, None, None]}, {"bias": hidden}, {"mask": of_heads}):
            for bad in (math.nan, -math.inf):
                shapes = (2, 6, 3, 5), (2, 3, 4, 5), (2, 3, 4, 5)
                leaves = [randn(*shape).requires_grad_() for shape in shapes]
                query, key, value = leaves
                spoiled = [x.where(real[:, None, :, None], bad) for x in (key, value)]
                output, expected = (
                    attention(query, *both, **given, grouped=True, backend=backend)
                    for both in (spoiled, (key, value))
                )
                assert_close(output, expected)
                assert_close(gradients(output, *leaves), gradients(expected, *leaves))


def test_hidden_tokens_do_not_affect_heads_or_the_ladder() -> None:
    torch.manual_seed(0)
    heads, x = MultiHeadAttention(8, 2).double(), randn(3, 5, 8)
    real = torch.tensor([True, True, True, False, False])
    spoiled, score = x.where(real[:, None], math.nan), randn(3, 5).where(real, -math.inf)
    for memory in (pooled_memory, gated_memory):
        assert_close(memory(spoiled, score), memory(x, score))
    assert_close(composite_memory(spoiled.flip(-2), 0), x[:, 0])
    parameters = list(heads.parameters())
    for seen, blank in (((spoiled,), (x,)), ((x, spoiled), (x, x))):
        output = heads(*seen, mask=real.expand(5, 5))[:, :3]
        expected = heads(*blank, mask=real.expand(5, 5))[:, :3]
        assert_close(output, expected)
        assert_close(gradients(output, *parameters), gradients(expected, *parameters))


def test_causal_mask_shows_the_past_and_the_present() -> None:
    expected = [[j <= i for j in range(5)] for i in range(5)]
    assert causal_mask(5).tolist() == expected
    assert causal_mask(0).shape == (0, 0)
    assert causal_mask(2, device="meta").device.type == "meta"


# Properties -----------------------------------------------------------------------------------


def test_attention_weights_blend_the_values() -> None:
    query, key, value = randn(2, 3, 5), randn(2, 4, 5), randn(2, 4, 6)
    for situation in SITUATIONS:
        given = of_dtype(situation, torch.float64)
        weights = attention_weights(query, key, **given)
        assert_close(weights @ value, attention(query, key, value, **given))


# Many heads, against PyTorch's ---------------------------------------------------------------


def twins(*, bias: bool) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Our module and PyTorch's with the same parameters, biases not zero."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(8, 2, bias=bias).double()
    theirs = nn.MultiheadAttention(8, 2, bias=bias, batch_first=True, dtype=torch.float64)
    projections = ours.query, ours.key, ours.value
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
            theirs.out_proj.bias.copy_(ours.output.bias)
    return ours, theirs


def test_multi_head_attention_equals_pytorchs() -> None:
    x, mask = randn(3, 4, 8), mask_with_a_key_for_all(3, 2, 4, 4)
    ours, theirs = twins(bias=False)
    expected, weights = theirs(x, x, x, average_attn_weights=False)
    assert_close(ours(x), expected)
    assert_close(ours.weights(x), weights)
    ours, theirs = twins(bias=True)
    for ours_given, given in (
        ({"mask": mask}, {"attn_mask": (~mask).flatten(0, 1)}),
        ({"mask": mask[:, :1, :1]}, {"key_padding_mask": ~mask[:, 0, 0]}),
        ({"bias": randn(3, 2, 4, 4)}, {"attn_mask": randn(3, 2, 4, 4).flatten(0, 1)}),
    ):
        expected, weights = theirs(x, x, x, average_attn_weights=False, **given)
        assert_close(ours(x, **ours_given), expected)
        assert_close(ours.weights(x, **ours_given), weights)


def by_pytorch(ours: MultiHeadAttention, x: Tensor, context: Tensor, **given: Tensor) -> Tensor:
    """PyTorch's operator, which groups queries itself, between our projections."""

    def split(tokens: Tensor) -> Tensor:
        return tokens.unflatten(-1, (-1, 8)).transpose(-3, -2)

    query, key, value = split(ours.query(x)), split(ours.key(context)), split(ours.value(context))
    blended = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **given)
    return ours.output(blended.transpose(-3, -2).flatten(-2))


@pytest.mark.parametrize(
    ("kv_heads", "d_context", "masked"), [(1, None, True), (2, 5, False), (4, 5, True)]
)
def test_grouped_queries_and_their_gradients_equal_pytorchs(
    *, masked: bool, d_context: int | None, kv_heads: int
) -> None:
    torch.manual_seed(0)
    ours = MultiHeadAttention(32, 4, kv_heads=kv_heads, d_context=d_context).double()
    x = randn(3, 5, 32).requires_grad_()
    context = x if d_context is None else randn(3, 6, 5).requires_grad_()
    mask = mask_with_a_key_for_all(3, 4, 5, context.shape[1]) if masked else None
    output = ours(x, None if d_context is None else context, mask=mask)
    expected = by_pytorch(ours, x, context, attn_mask=mask)
    assert_close(output, expected)
    leaves = (x, *ours.parameters()) if d_context is None else (x, context, *ours.parameters())
    assert_close(gradients(output, *leaves), gradients(expected, *leaves))


def test_dropout_hides_weights_in_training_alone_and_keeps_their_mean() -> None:
    torch.manual_seed(0)
    ours = MultiHeadAttention(4, 2, dropout=0.5).double()
    x = randn(3, 4)
    calm = ours.eval()(x)
    assert torch.equal(ours(x), calm)
    ours.train()
    assert not torch.equal(ours(x), calm)
    assert torch.equal(ours.weights(x), ours.eval().weights(x))
    mean = ours.train()(x.expand(20_000, 3, 4)).mean(dim=0)
    torch.testing.assert_close(mean, calm, rtol=0, atol=0.02)
