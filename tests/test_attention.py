"""Attention against PyTorch's own, against plain loops, and against its mathematical properties."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
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
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
BATCHES = [(), (2,), (2, 3), (0,), (2, 0)]


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator)


def mask_with_a_key_for_all(*shape: int) -> Tensor:
    mask = randn(*shape, seed=7) > 0
    mask[..., 0] = True
    return mask


def assert_close(actual: Tensor, expected: Tensor) -> None:
    tolerance = TOLERANCE[expected.dtype]
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def gradients(output: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    # A fixed random covector: a plain sum would hide errors that cancel.
    return torch.autograd.grad(output, inputs, randn(*output.shape, dtype=output.dtype, seed=3))


# The ladder of lecture 1, against loops in NumPy ---------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("decay", [0, 0.3, 0.9, 1.0])
def test_composite_memory_fades_each_token_by_its_age(dtype: torch.dtype, decay: float) -> None:
    x = randn(2, 5, 3, dtype=dtype)
    expected = np.zeros((2, 3))
    for i in range(5):
        expected += decay ** (4 - i) * x[:, i].double().numpy()
    assert_close(composite_memory(x, decay), torch.from_numpy(expected).to(dtype))


def test_composite_memory_is_the_recurrence_of_forgetting() -> None:
    x = randn(6, 2)
    memory = torch.zeros(2, dtype=torch.float64)
    for token in x:
        memory = 0.7 * memory + token
    assert_close(composite_memory(x, 0.7), memory)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gated_memory_lets_each_token_in_by_its_own_gate(dtype: torch.dtype) -> None:
    x, gate = randn(2, 5, 3, dtype=dtype), randn(2, 5, dtype=dtype)
    expected = np.zeros((2, 3))
    for b in range(2):
        for i in range(5):
            expected[b] += x[b, i].double().numpy() / (1 + math.exp(-gate[b, i]))
    assert_close(gated_memory(x, gate), torch.from_numpy(expected).to(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_pooled_memory_shares_one_unit_among_the_tokens(dtype: torch.dtype) -> None:
    x, score = randn(2, 5, 3, dtype=dtype), randn(2, 5, dtype=dtype)
    expected = np.zeros((2, 3))
    for b in range(2):
        total = sum(math.exp(s) for s in score[b])
        for i in range(5):
            expected[b] += x[b, i].double().numpy() * math.exp(score[b, i]) / total
    assert_close(pooled_memory(x, score), torch.from_numpy(expected).to(dtype))


def test_pooled_memory_is_attention_with_one_query() -> None:
    query, x = randn(1, 4), randn(6, 4)
    expected = attention(query, x, x, scale=1.0)[0]
    assert_close(pooled_memory(x, x @ query[0]), expected)


def test_ladder_has_right_gradients() -> None:
    x = randn(2, 3, 2).requires_grad_()
    score = randn(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: composite_memory(x, 0.5), (x,))
    assert torch.autograd.gradcheck(gated_memory, (x, score))
    assert torch.autograd.gradcheck(pooled_memory, (x, score))


def test_ladder_takes_an_empty_batch_and_an_empty_past() -> None:
    assert composite_memory(randn(0, 4, 3), 0.5).shape == (0, 3)
    assert pooled_memory(randn(0, 4, 3), randn(0, 4)).shape == (0, 3)
    assert not composite_memory(randn(0, 3), 0.5).any()
    assert not gated_memory(randn(0, 3), randn(0)).any()


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
    """PyTorch's operator, with mask and bias combined here, on their own."""
    shape = (*query.shape[:-1], key.shape[-2])
    added = torch.zeros(shape, dtype=query.dtype) + given.get("bias", 0)
    if "mask" in given:
        hidden = ~given["mask"].broadcast_to(shape)
        added = added + torch.zeros(shape, dtype=query.dtype).masked_fill(hidden, -math.inf)
    scale = given.get("scale")
    return F.scaled_dot_product_attention(query, key, value, attn_mask=added, scale=scale)


@pytest.mark.parametrize("backend", ["reference", "torch"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_attention_and_its_gradients_equal_the_fused_operator(
    situation: str, dtype: torch.dtype, backend: str
) -> None:
    given = of_dtype(situation, dtype)
    query, key = randn(2, 3, 5, dtype=dtype), randn(2, 4, 5, dtype=dtype)
    leaves = [x.requires_grad_() for x in (query, key, randn(2, 4, 6, dtype=dtype))]
    output, expected = attention(*leaves, **given, backend=backend), fused(*leaves, given)
    assert_close(output, expected)
    if "bias" in given:
        leaves.append(given["bias"])
    for actual, wanted in zip(
        gradients(output, *leaves), gradients(expected, *leaves), strict=True
    ):
        assert_close(actual, wanted)


@pytest.mark.parametrize("backend", ["reference", "torch"])
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_attention_takes_any_batch_even_an_empty_one(batch: tuple[int, ...], backend: str) -> None:
    query, key, value = randn(*batch, 3, 5), randn(*batch, 4, 5), randn(*batch, 4, 6)
    output = attention(query, key, value, mask=causal_mask(4)[-3:], backend=backend)
    assert_close(output, fused(query, key, value, {"mask": causal_mask(4)[-3:]}))
    assert output.shape == (*batch, 3, 6)


@pytest.mark.parametrize("backend", ["reference", "torch"])
@pytest.mark.parametrize("kv_heads", [1, 2, 6])
@pytest.mark.parametrize("batch", [(), (2,), (0,), (2, 3)])
def test_grouped_attention_repeats_keys_and_values_for_neighbouring_heads(
    batch: tuple[int, ...], kv_heads: int, backend: str
) -> None:
    leaves = [
        randn(*batch, heads, tokens, 5).requires_grad_()
        for heads, tokens in ((6, 3), (kv_heads, 4), (kv_heads, 4))
    ]
    given = {"mask": mask_with_a_key_for_all(6, 3, 4), "bias": randn(6, 3, 4), "scale": 0.7}
    output = attention(*leaves, **given, grouped=True, backend=backend)
    repeated = [x.repeat_interleave(6 // x.shape[-3], dim=-3) for x in leaves]
    expected = attention(*repeated, **given)
    assert_close(output, expected)
    for actual, wanted in zip(
        gradients(output, *leaves), gradients(expected, *leaves), strict=True
    ):
        assert_close(actual, wanted)


@pytest.mark.parametrize("backend", ["reference", "torch"])
@pytest.mark.parametrize("keys", [0, 4])
def test_no_queries_get_no_answers(keys: int, backend: str) -> None:
    given = {"mask": torch.zeros(1, 1, dtype=torch.bool), "backend": backend}
    output = attention(randn(2, 0, 5), randn(2, keys, 5), randn(2, keys, 6), **given)
    assert output.shape == (2, 0, 6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_the_double_precision_result_rounded(dtype: torch.dtype) -> None:
    query, key, value = (randn(2, 4, 8, seed=s).to(dtype) for s in range(3))
    expected = fused(query.double(), key.double(), value.double(), {})
    output = attention(query, key, value)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected, rtol=0.02, atol=0.02)


def test_attention_passes_gradcheck_with_mask_and_bias() -> None:
    leaves = [randn(2, 3, seed=s).requires_grad_() for s in range(4)]
    mask = torch.tensor([[True, False], [True, True]])

    def masked(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        return attention(query, key, value, mask=mask, bias=bias[:, :2])

    assert torch.autograd.gradcheck(masked, leaves)


def test_hidden_keys_get_weight_zero_and_no_gradient() -> None:
    query, key = randn(4, 3), randn(4, 3).requires_grad_()
    weights = attention_weights(query, key, mask=causal_mask(4))
    assert not weights.triu(1).any()
    (slope,) = torch.autograd.grad(weights[:3].square().sum(), key)
    assert not slope[3].any()
    assert slope[:3].any()


def test_scores_far_apart_give_weights_and_no_nan() -> None:
    key = torch.tensor([[1e4], [-1e4], [1e4]], dtype=torch.float64)
    weights = attention_weights(torch.tensor([[1e4]], dtype=torch.float64), key)
    assert weights.tolist() == [[0.5, 0.0, 0.5]]


def test_causal_mask_shows_the_past_and_the_present() -> None:
    expected = [[j <= i for j in range(5)] for i in range(5)]
    assert causal_mask(5).tolist() == expected
    assert causal_mask(0).shape == (0, 0)
    assert causal_mask(2, device="meta").device.type == "meta"


# Properties -----------------------------------------------------------------------------------


@st.composite
def sequences(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of any small sizes; the numbers are small, so no weight underflows."""
    batch = draw(st.sampled_from([(), (2,), (2, 2)]))
    queries, keys, d, d_value = (draw(st.integers(1, 5)) for _ in range(4))
    shapes = (*batch, queries, d), (*batch, keys, d), (*batch, keys, d_value)
    seed = draw(st.integers(0, 2**16))
    size = draw(st.sampled_from([0.1, 1.0, 2.0]))
    return tuple(size * randn(*shape, seed=seed + i).clamp(-3, 3) for i, shape in enumerate(shapes))


@given(sequences())
def test_rows_of_attention_weights_sum_to_one(given: tuple[Tensor, Tensor, Tensor]) -> None:
    weights = attention_weights(*given[:2])
    assert (weights >= 0).all()
    assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


@given(sequences(), st.randoms(use_true_random=False))
def test_the_order_of_keys_and_values_changes_nothing(given: tuple, random: object) -> None:
    query, key, value = given
    order = list(range(key.shape[-2]))
    random.shuffle(order)
    shuffled = attention(query, key[..., order, :], value[..., order, :])
    assert_close(shuffled, attention(query, key, value))


@given(sequences(), st.randoms(use_true_random=False))
def test_self_attention_is_permutation_equivariant(given: tuple, random: object) -> None:
    x = given[0]
    order = list(range(x.shape[-2]))
    random.shuffle(order)
    permuted = x[..., order, :]
    assert_close(attention(permuted, permuted, permuted), attention(x, x, x)[..., order, :])


@given(sequences(), st.floats(-50, 50))
def test_the_same_number_added_to_a_row_of_scores_changes_nothing(
    given: tuple, shift: float
) -> None:
    query, key, value = given
    bias = torch.full((query.shape[-2], 1), shift, dtype=torch.float64)
    torch.testing.assert_close(
        attention(query, key, value, bias=bias), attention(query, key, value)
    )


@given(sequences())
def test_every_answer_lies_in_the_range_of_the_values(given: tuple[Tensor, Tensor, Tensor]) -> None:
    query, key, value = given
    # In every direction, not only along the axes: this is the convex hull.
    direction = randn(value.shape[-1], 16, seed=11)
    seen = attention(query, key, value) @ direction
    along = value @ direction
    assert (seen <= along.amax(dim=-2, keepdim=True) + 1e-9).all()
    assert (seen >= along.amin(dim=-2, keepdim=True) - 1e-9).all()


@given(sequences())
def test_attention_at_low_temperature_is_hard_lookup(given: tuple[Tensor, Tensor, Tensor]) -> None:
    query, key, value = given
    best = torch.einsum("...qd,...kd->...qk", query, key).argmax(dim=-1)
    expected = torch.take_along_dim(value, best[..., None], dim=-2)
    torch.testing.assert_close(attention(query, key, value, scale=1e9), expected)


@given(sequences())
def test_attention_at_high_temperature_is_the_mean(given: tuple[Tensor, Tensor, Tensor]) -> None:
    query, key, value = given
    mean = value.mean(dim=-2, keepdim=True).expand(*query.shape[:-1], -1)
    torch.testing.assert_close(attention(query, key, value, scale=1e-12), mean)


@given(sequences())
def test_the_scale_is_one_over_the_root_of_d(given: tuple[Tensor, Tensor, Tensor]) -> None:
    query, key, _ = given
    ratio = attention_weights(query, key).log()
    dot = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    torch.testing.assert_close(ratio - ratio[..., :1], dot - dot[..., :1])


# Many heads, against PyTorch's ---------------------------------------------------------------


def twins(
    d_model: int, heads: int, *, d_context: int | None = None, bias: bool, dtype: torch.dtype
) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and PyTorch's with the same parameters, biases not zero."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(d_model, heads, d_context=d_context, bias=bias).to(dtype)
    theirs = nn.MultiheadAttention(
        d_model, heads, bias=bias, kdim=d_context, vdim=d_context, batch_first=True, dtype=dtype
    )
    projections = ours.query, ours.key, ours.value
    with torch.no_grad():
        if theirs.in_proj_weight is None:
            for name, linear in zip("qkv", projections, strict=True):
                getattr(theirs, f"{name}_proj_weight").copy_(linear.weight)
        else:
            theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
            theirs.out_proj.bias.copy_(ours.output.bias)
        theirs.out_proj.weight.copy_(ours.output.weight)
    return ours, theirs


def parameter_gradients(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> list:
    """Pairs of gradients, ours and PyTorch's, of the same parameters."""
    if theirs.in_proj_weight is None:
        weights = [getattr(theirs, f"{name}_proj_weight").grad for name in "qkv"]
    else:
        weights = theirs.in_proj_weight.grad.chunk(3)
    linears = ours.query, ours.key, ours.value
    pairs = [(linear.weight.grad, weight) for linear, weight in zip(linears, weights, strict=True)]
    pairs.append((ours.output.weight.grad, theirs.out_proj.weight.grad))
    if theirs.in_proj_bias is not None:
        chunks = theirs.in_proj_bias.grad.chunk(3)
        pairs += [(linear.bias.grad, bias) for linear, bias in zip(linears, chunks, strict=True)]
        pairs.append((ours.output.bias.grad, theirs.out_proj.bias.grad))
    return pairs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False], ids=["with biases", "without biases"])
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
@pytest.mark.parametrize("d_context", [None, 8, 5])
def test_multi_head_attention_equals_pytorchs(
    *, d_context: int | None, masked: bool, bias: bool, dtype: torch.dtype
) -> None:
    ours, theirs = twins(8, 2, d_context=d_context, bias=bias, dtype=dtype)
    x = randn(3, 4, 8, dtype=dtype).requires_grad_()
    context = x if d_context is None else randn(3, 6, d_context, dtype=dtype).requires_grad_()
    mask = mask_with_a_key_for_all(4, context.shape[1]) if masked else None
    given = (x,) if d_context is None else (x, context)
    output, weights = ours(*given, mask=mask), ours.weights(*given, mask=mask)
    expected, expected_weights = theirs(
        x, context, context, attn_mask=None if mask is None else ~mask, average_attn_weights=False
    )
    assert_close(output, expected)
    assert_close(weights, expected_weights)
    for actual, wanted in zip(gradients(output, *given), gradients(expected, *given), strict=True):
        assert_close(actual, wanted)

    cotangent = randn(3, 4, 8, dtype=dtype, seed=3)
    ours(*given, mask=mask).backward(cotangent)
    theirs(x, context, context, attn_mask=None if mask is None else ~mask)[0].backward(cotangent)
    for actual, wanted in parameter_gradients(ours, theirs):
        assert_close(actual, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_mask_or_bias_for_each_head_equals_pytorchs(dtype: torch.dtype) -> None:
    ours, theirs = twins(8, 2, bias=True, dtype=dtype)
    x = randn(3, 4, 8, dtype=dtype)
    mask, bias = mask_with_a_key_for_all(3, 2, 4, 4), randn(3, 2, 4, 4, dtype=dtype)
    expected, _ = theirs(x, x, x, attn_mask=(~mask).flatten(0, 1))
    assert_close(ours(x, mask=mask), expected)
    expected, _ = theirs(x, x, x, attn_mask=bias.flatten(0, 1))
    assert_close(ours(x, bias=bias), expected)


def test_a_padding_mask_hides_keys_in_every_head() -> None:
    ours, theirs = twins(8, 2, bias=True, dtype=torch.float64)
    x, keep = randn(3, 4, 8), mask_with_a_key_for_all(3, 4)
    expected, _ = theirs(x, x, x, key_padding_mask=~keep)
    assert_close(ours(x, mask=keep[:, None, None, :]), expected)


def test_a_bias_for_all_heads_is_added_to_the_scores() -> None:
    ours, theirs = twins(8, 4, bias=True, dtype=torch.float64)
    x, bias = randn(3, 4, 8), randn(4, 4)
    assert_close(ours(x, bias=bias), theirs(x, x, x, attn_mask=bias)[0])


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_multi_head_attention_takes_any_batch(batch: tuple[int, ...]) -> None:
    ours = MultiHeadAttention(6, 3, d_context=5).double()
    x, context = randn(*batch, 4, 6), randn(*batch, 7, 5)
    mask = mask_with_a_key_for_all(*batch, 1, 4, 7)
    output, weights = ours(x, context, mask=mask), ours.weights(x, context, mask=mask)
    assert output.shape == (*batch, 4, 6)
    assert weights.shape == (*batch, 3, 4, 7)
    if batch and 0 not in batch:
        one = (0,) * len(batch)
        assert_close(output[one], ours(x[one], context[one], mask=mask[one]))


def test_multi_head_attention_is_permutation_equivariant() -> None:
    ours = MultiHeadAttention(6, 3).double()
    x, order = randn(2, 5, 6), [3, 0, 4, 2, 1]
    assert_close(ours(x[:, order]), ours(x)[:, order])


def grouped(heads: int, kv_heads: int, **options: object) -> MultiHeadAttention:
    """With eight query features a head."""
    torch.manual_seed(0)
    return MultiHeadAttention(8 * heads, heads, kv_heads=kv_heads, **options).double()


def by_pytorch(ours: MultiHeadAttention, x: Tensor, context: Tensor, **given: Tensor) -> Tensor:
    """PyTorch's operator, which groups queries itself, between our projections."""

    def split(tokens: Tensor) -> Tensor:
        return tokens.unflatten(-1, (-1, 8)).transpose(-3, -2)

    query, key, value = split(ours.query(x)), split(ours.key(context)), split(ours.value(context))
    blended = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **given)
    return ours.output(blended.transpose(-3, -2).flatten(-2))


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("d_context", [None, 5])
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
def test_grouped_queries_and_their_gradients_equal_pytorchs(
    *, masked: bool, d_context: int | None, kv_heads: int
) -> None:
    ours = grouped(4, kv_heads, d_context=d_context)
    x = randn(3, 5, 32).requires_grad_()
    context = x if d_context is None else randn(3, 6, 5).requires_grad_()
    mask = mask_with_a_key_for_all(3, 4, 5, context.shape[1]) if masked else None
    output = ours(x, None if d_context is None else context, mask=mask)
    expected = by_pytorch(ours, x, context, attn_mask=mask)
    assert_close(output, expected)
    leaves = (x, *ours.parameters()) if d_context is None else (x, context, *ours.parameters())
    for actual, wanted in zip(
        gradients(output, *leaves), gradients(expected, *leaves), strict=True
    ):
        assert_close(actual, wanted)


def test_as_many_key_heads_as_query_heads_are_plain_attention_to_the_last_bit() -> None:
    plain, ours = MultiHeadAttention(8, 2).double(), MultiHeadAttention(8, 2, kv_heads=2).double()
    ours.load_state_dict(plain.state_dict())
    x = randn(3, 4, 8)
    assert torch.equal(ours(x), plain(x))
    assert torch.equal(ours.weights(x), plain.weights(x))


@given(st.sampled_from([(1, 1), (2, 1), (4, 1), (4, 2), (6, 2), (6, 3)]), st.integers(0, 100))
def test_a_group_is_plain_attention_whose_keys_and_values_are_copies(
    heads: tuple[int, int], seed: int
) -> None:
    (queries, keys), copies = heads, heads[0] // heads[1]
    ours, plain = grouped(queries, keys), MultiHeadAttention(8 * queries, queries).double()
    state = ours.state_dict()
    for part in ("key", "value"):
        for kind in ("weight", "bias"):
            each = state[f"{part}.{kind}"].split(8)
            state[f"{part}.{kind}"] = torch.cat([head for head in each for _ in range(copies)])
    plain.load_state_dict(state)
    x = randn(2, 5, 8 * queries, seed=seed)
    assert_close(ours(x), plain(x))
    assert_close(ours.weights(x), plain.weights(x))


def test_one_key_head_is_one_memory_that_every_query_head_asks() -> None:
    ours, x = grouped(3, 1), randn(5, 24)
    key, value = ours.key(x), ours.value(x)
    heads = [attention(query, key, value) for query in ours.query(x).split(8, dim=-1)]
    assert_close(ours(x), ours.output(torch.cat(heads, dim=-1)))
    assert ours.key.weight.shape == ours.value.weight.shape == (8, 24)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_grouped_queries_take_any_batch_even_an_empty_one(batch: tuple[int, ...]) -> None:
    ours, x = grouped(4, 2), randn(*batch, 3, 32)
    assert ours.weights(x).shape == (*batch, 4, 3, 3)
    assert_close(ours(x), by_pytorch(ours, x, x))


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


def test_multi_head_attention_runs_under_autocast() -> None:
    ours = MultiHeadAttention(8, 2)
    x, bias = randn(2, 3, 8, dtype=torch.float32), randn(3, 3, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        output = ours(ours(x), bias=bias)
    torch.testing.assert_close(output.float(), ours(ours(x), bias=bias), rtol=0.1, atol=0.05)


# Bad input ------------------------------------------------------------------------------------

# Most bad input is refused by the shared checks, whose every message is in test_checks.py. Here one
# case for each check and argument shows that it is asked.

X = randn(2, 3, 4)
MASK = torch.ones(3, 3, dtype=torch.bool)
HIDES_THE_REST = torch.tensor([0, 0, -math.inf], dtype=torch.float64)[None]

BAD_ATTENTION = {
    "query": ((X.long(), X, X), {}, TypeError, r"query has dtype torch.int64"),
    "dtypes": ((X, X.float(), X.float()), {}, TypeError, r"key has dtype torch.float32 and query"),
    "dtype of values": ((X, X, X.float()), {}, TypeError, r"value has dtype torch.float32 and key"),
    "no features": ((X[..., :0], X[..., :0], X), {}, ValueError, r"d, the number of features .* 0"),
    "shape": (
        (X, X[..., :3], X),
        {},
        ValueError,
        r"key has shape \(2, 3, 3\).* d = 4, as in query",
    ),
    "keys": ((X, X, X[:, :2]), {}, ValueError, r"value has shape .* key = 3, as in key"),
    "mask": ((X, X, X), {"mask": MASK[:2]}, ValueError, r"mask has shape \(2, 3\); .*\(2, 3, 3\)"),
    "bias": ((X, X, X), {"bias": X[:, :2, :3]}, ValueError, r"bias has shape .*\(2, 3, 3\)"),
    "nothing to look at": (
        (X, X, X),
        {"mask": MASK.triu(), "bias": HIDES_THE_REST},
        ValueError,
        r"look at nothing: in row \(2,\)",
    ),
    "scale": ((X, X, X), {"scale": 0.0}, ValueError, r"scale is 0.0; .* above 0"),
    "fewer heads of keys": ((X, X[:1], X[:1]), {}, ValueError, r"key has shape \(1, 3, 4\)"),
    "groups": (
        (X, X[[0, 0, 0]], X[[0, 0, 0]]),
        {"grouped": True},
        ValueError,
        r"kv_heads is 3, which does not divide heads = 2",
    ),
    "no heads": ((X[0], X, X), {"grouped": True}, ValueError, r"query has shape \(3, 4\)"),
    "backend": ((X, X, X), {"backend": "jax"}, ValueError, r"backend is 'jax'; .*'reference'"),
}


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("backend", ["reference", "torch"])
@pytest.mark.parametrize("case", BAD_ATTENTION)
def test_bad_input_to_attention_gets_a_message_that_helps(case: str, backend: str) -> None:
    inputs, options, error, message = BAD_ATTENTION[case]
    with pytest.raises(error, match=message):
        attention(*inputs, **{"backend": backend, **options})


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    "case",
    [
        name
        for name, (_, options, _, message) in BAD_ATTENTION.items()
        if not {"backend", "grouped"} & options.keys() and not message.startswith("value")
    ],
)
def test_bad_input_to_attention_weights_gets_the_same_message(case: str) -> None:
    (query, key, _), options, error, message = BAD_ATTENTION[case]
    with pytest.raises(error, match=message):
        attention_weights(query, key, **options)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: composite_memory(X.long(), 0.5), TypeError, r"x has dtype torch.int64; .*x.float"),
        (
            lambda: composite_memory(X[0, 0], 0.5),
            ValueError,
            r"x has shape \(4,\); expected \(\*bat",
        ),
        (lambda: composite_memory(X, 1.1), ValueError, r"decay is 1.1; .* in \[0, 1\]"),
        (
            lambda: gated_memory(X, X[..., 0].float()),
            TypeError,
            r"gate has dtype torch.float32 and x",
        ),
        (lambda: gated_memory(X, X), ValueError, r"gate has shape \(2, 3, 4\)"),
        (lambda: pooled_memory(X, X[:, :2, 0]), ValueError, r"tokens = 3, as in x .* got 2"),
        (lambda: pooled_memory(X, X[..., 0] / 0), ValueError, r"score holds nan or \+inf"),
        (lambda: pooled_memory(X, -X[..., 0].abs() / 0), ValueError, r"nothing: in row \(0,\)"),
        (lambda: causal_mask(-1), ValueError, r"tokens is -1; expected 0 or more"),
    ],
)
def test_bad_input_to_the_ladder_gets_a_message_that_helps(
    call: object, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MultiHeadAttention(8, 3), ValueError, r"heads is 3, .* 8; .* from 1, 2, 4, 8"),
        (lambda: MultiHeadAttention(8, 2, d_context=0), ValueError, r"d_context is 0"),
        (
            lambda: MultiHeadAttention(8, 4, kv_heads=3),
            ValueError,
            r"kv_heads is 3, which does not divide heads = 4; .* choose kv_heads from 1, 2, 4",
        ),
        (lambda: MultiHeadAttention(8, 4, kv_heads=8), ValueError, r"kv_heads is 8, .* heads = 4"),
        (lambda: MultiHeadAttention(8, 4, kv_heads=0), ValueError, r"kv_heads is 0"),
        (lambda: MultiHeadAttention(8, 2, dropout=1.5), ValueError, r"dropout is 1.5; .*\[0, 1\]"),
        (lambda: mha()(X.float()), TypeError, r"x has dtype torch.float32 and parameters"),
        (lambda: mha()(X, X.float()), TypeError, r"context has dtype torch.float32"),
        (lambda: mha()(X[..., :3]), ValueError, r"x has shape \(2, 3, 3\); .*\*batch, query, 4"),
        (lambda: mha(d_context=5)(X), ValueError, r"context has shape .*key, 5\); got 4"),
        (lambda: mha()(X, X[:1]), ValueError, r"context has shape .*\*batch = \(2,\), as in x"),
        (
            lambda: mha()(X, mask=MASK.expand(2, 3, 3)),
            ValueError,
            r"mask has .*a head axis with mask.u",
        ),
        (
            lambda: mha()(X, bias=X[..., :3]),
            ValueError,
            r"bias has shape .*head axis with bias.unsqu",
        ),
        (lambda: mha()(X, mask=MASK.float()), TypeError, r"mask has dtype torch.float32"),
    ],
)
def test_bad_input_to_multi_head_attention_gets_a_message_that_helps(
    call: object, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def mha(d_context: int | None = None) -> MultiHeadAttention:
    return MultiHeadAttention(4, 2, d_context=d_context).double()
