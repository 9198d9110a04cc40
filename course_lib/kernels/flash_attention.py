r"""Attention in tiles: the output of softmax(QKᵀ/√d)V, without a (query, key) array in memory.

Forward, a program loops over the keys for BLOCK queries, STEP at a time, and keeps three: the
running maximum of the scores, the running sum of the weights, and the blend of the values so far.
Backward, the weights are computed once more from the log-sum-exp that forward kept. One pass owns
keys and adds to the gradients of the queries in any order of programs. Where
``torch.use_deterministic_algorithms`` is on there are two passes, so that no two programs
write to one place, and the tiles are not tuned, since rounding depends on them: on one kind of
GPU every run gives the same bits.
Source: Dao et al. (2022); Dao (2024); Milakov and Gimelshein (2018) for the running sum.
"""

import math
from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

from course_lib.kernels.tiles import (
    LARGE,
    LOG2_E,
    add_tile,
    autocast_together,
    check_supported,
    deal,
    heads_together,
    load_tile,
    matmul,
    new,
    of_head,
    programs,
    readable,
    refuse_second_derivative,
    settings,
    store_tile,
    tuned,
)
from course_lib.support.checks import check_causal, check_divides, check_shapes
from course_lib.support.contracts import Positive, checked

NARROWEST = 16


@checked
def flash_attention(
    query: Float[Tensor, "batch heads query d"],
    key: Float[Tensor, "batch kv_heads key d"],
    value: Float[Tensor, "batch kv_heads key d"],
    *,
    causal: bool = False,
    scale: Positive | None = None,
) -> Float[Tensor, "batch heads query d"]:
    r"""Blend the values by the weights, in tiles: $\mathrm{softmax}(QK^\top/\sqrt d)\,V$.

    Memory is linear in the tokens, forward and backward. ``d`` is 16 to 256; float16, bfloat16 or
    float32 (in full precision, unless ``torch.set_float32_matmul_precision`` allows TF32). Under
    ``causal`` the last query sees every key, and each query before it one key less. ``scale``
    (above 0) takes the place of $1/\sqrt d$. Where keys and values have fewer heads than queries,
    each serves ``heads // kv_heads`` query heads in a row (grouped-query attention). A ``d`` that
    is no power of two computes as the next one: 80 costs what 128 does. Raises ``TypeError`` for
    other dtypes, ``ValueError`` for other sizes and for a query that sees no key, ``RuntimeError``
    without a CUDA device. Source: Dao (2024), algorithms 1 and 2; Ainslie et al. (2023), section
    2.2, for the groups.
    """
    query, key, value = autocast_together(query, key, value)
    check_inputs(query, key, value)
    check_causal(query.shape[-2], key.shape[-2], causal=causal)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    output, _ = _attend(query, key, value, causal=causal, scale=scale)
    return output


def check_inputs(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise unless the kernels take these, also where ``@checked`` does not.

    They would read past the end of a tensor that does not fit, and ``@checked`` skips calls from
    :func:`course_lib.attention.attention`, which takes more, and those under ``torch.compile``.
    """
    check_shapes(
        query=(query, "batch heads query d"),
        key=(key, "batch kv_heads key d"),
        value=(value, "batch kv_heads key d"),
    )
    heads, kv_heads = query.shape[1], key.shape[1]
    if heads or kv_heads:
        check_divides("kv_heads", kv_heads, "heads", heads)
    check_supported(query, "query", "query", narrowest=NARROWEST)
    check_supported(key, "key", "key", narrowest=NARROWEST)


# Forward ---------------------------------------------------------------------------------------


@no_type_check
@triton.jit
def weigh(
    maximum: tl.tensor, total: tl.tensor, score: tl.tensor, scale: tl.tensor
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """The new maximum and total, the factor for sums so far, and the weights of a tile."""
    higher = tl.maximum(maximum, tl.max(score, 1) * scale)
    weight = tl.exp2(score * scale - higher[:, None])
    shrink = tl.exp2(maximum - higher)
    total = total * shrink + tl.sum(weight, 1)
    return higher, total, shrink, weight


@no_type_check
@triton.jit
def fold(
    maximum: tl.tensor,
    total: tl.tensor,
    blend: tl.tensor,
    score: tl.tensor,
    scale: tl.tensor,
    value: tl.tensor,
    PRECISION: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """One step of the online softmax: fold a tile of scores and values into the running three."""
    higher, total, shrink, weight = weigh(maximum, total, score, scale)
    blend = matmul(weight, value, blend * shrink[:, None], PRECISION)
    return higher, total, blend


@no_type_check
@triton.jit
def fold_behind(
    maximum: tl.tensor,
    total: tl.tensor,
    blend: tl.tensor,
    q: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    key_strides: tl.tuple,
    value_strides: tl.tuple,
    cut: tl.tensor,
    keys: tl.tensor,
    scale: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor]:
    """The tiles before `cut`, each folded in while the exponentials of the next are computed.

    Before the first tile comes one of weight 0. Weights are kept in float32: in half precision they
    would go through shared memory, and their product could not overlap.
    """
    shrink = tl.full([BLOCK], 1.0, tl.float32)
    weight = tl.zeros([BLOCK, STEP], tl.float32)
    blank = tl.zeros([BLOCK, STEP], tl.float32)
    for first in tl.range(0, cut, STEP):
        before = tl.maximum(first - STEP, 0)
        k = load_tile(key, first, keys, key_strides[2], D, WIDTH, STEP, True)
        v = load_tile(value, before, keys, value_strides[2], D, WIDTH, STEP, True)
        score = matmul(q, k.T, blank, PRECISION)
        blend = matmul(weight, v, blend * shrink[:, None], PRECISION)
        maximum, total, shrink, weight = weigh(maximum, total, score, scale)
    last = tl.maximum(cut - STEP, 0)
    v = load_tile(value, last, keys, value_strides[2], D, WIDTH, STEP, False)
    blend = matmul(weight, v, blend * shrink[:, None], PRECISION)
    return maximum, total, blend


@no_type_check
@triton.jit(do_not_specialize=["size", "together"])
def forward_kernel(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    output: tl.tensor,
    logsumexp: tl.tensor,
    query_strides: tl.tuple,
    key_strides: tl.tuple,
    value_strides: tl.tuple,
    heads: tl.tensor,
    queries: tl.tensor,
    keys: tl.tensor,
    scale: tl.tensor,
    together: tl.tensor,
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    SHARE: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,  # noqa: ARG001 - for the launch
    OVERLAP: tl.constexpr,
) -> None:
    """Blend the values for BLOCK queries of one head, and keep the log-sum-exp of their scores."""
    tiles = tl.cdiv(queries, BLOCK)
    head, tile = deal(tiles, together)
    if CAUSAL:  # the last queries see most keys: begin with them
        tile = tiles - 1 - tile
    start = tile * BLOCK
    query = of_head(query, query_strides, head, heads)
    key = of_head(key, key_strides, head // SHARE, heads // SHARE)
    value = of_head(value, value_strides, head // SHARE, heads // SHARE)

    # Query i sees the keys 0 ... i + ahead. All of BLOCK see the tiles before `cut` whole; those
    # from `cut` to `end` are cut by the diagonal or by the end of the sequence.
    ahead = keys - queries
    if CAUSAL:
        end = tl.minimum(keys, start + BLOCK + ahead)
        cut = tl.minimum(keys, start + 1 + ahead) // STEP * STEP
    else:
        end = keys
        cut = keys // STEP * STEP

    scale *= LOG2_E
    q = load_tile(query, start, queries, query_strides[2], D, WIDTH, BLOCK, False)
    maximum = tl.full([BLOCK], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    blend = tl.zeros([BLOCK, WIDTH], tl.float32)
    blank = tl.zeros([BLOCK, STEP], tl.float32)
    if OVERLAP:
        maximum, total, blend = fold_behind(
            *(maximum, total, blend, q, key, value, key_strides, value_strides, cut, keys, scale),
            *(D, WIDTH, PRECISION, BLOCK, STEP),
        )
    else:
        for first in tl.range(0, cut, STEP):
            k = load_tile(key, first, keys, key_strides[2], D, WIDTH, STEP, True)
            v = load_tile(value, first, keys, value_strides[2], D, WIDTH, STEP, True)
            score = matmul(q, k.T, blank, PRECISION)
            maximum, total, blend = fold(maximum, total, blend, score, scale, v, PRECISION)
    for first in tl.range(cut, end, STEP):
        k = load_tile(key, first, keys, key_strides[2], D, WIDTH, STEP, False)
        v = load_tile(value, first, keys, value_strides[2], D, WIDTH, STEP, False)
        column = first + tl.arange(0, STEP)
        visible = (column < keys)[None, :]
        if CAUSAL:
            row = start + tl.arange(0, BLOCK)
            visible = visible & (column[None, :] <= row[:, None] + ahead)
        score = tl.where(visible, matmul(q, k.T, blank, PRECISION), float("-inf"))
        maximum, total, blend = fold(maximum, total, blend, score, scale, v, PRECISION)

    row = start + tl.arange(0, BLOCK)
    store_tile(output + head * queries * D, blend / total[:, None], start, queries, D, WIDTH, BLOCK)
    tl.store(logsumexp + head * queries + row, maximum / LOG2_E + tl.log(total), mask=row < queries)


# Backward --------------------------------------------------------------------------------------


@no_type_check
@triton.jit
def delta_kernel(
    output: tl.tensor,
    gradient: tl.tensor,
    delta: tl.tensor,
    gradient_strides: tl.tuple,
    heads: tl.tensor,
    queries: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Row sums of output · gradient, which the gradient of every score of the row subtracts."""
    tiles = tl.cdiv(queries, BLOCK)
    head = (tl.program_id(0) // tiles).to(tl.int64)
    start = tl.program_id(0) % tiles * BLOCK
    output += head * queries * D
    gradient = of_head(gradient, gradient_strides, head, heads)
    o = load_tile(output, start, queries, D, D, WIDTH, BLOCK, False)
    g = load_tile(gradient, start, queries, gradient_strides[2], D, WIDTH, BLOCK, False)
    row = start + tl.arange(0, BLOCK)
    total = tl.sum(o.to(tl.float32) * g.to(tl.float32), 1)
    tl.store(delta + head * queries + row, total, mask=row < queries)


@no_type_check
@triton.jit(do_not_specialize=["size", "together"])
def query_gradient_kernel(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    gradient: tl.tensor,
    logsumexp: tl.tensor,
    delta: tl.tensor,
    query_gradient: tl.tensor,
    query_strides: tl.tuple,
    key_strides: tl.tuple,
    value_strides: tl.tuple,
    gradient_strides: tl.tuple,
    heads: tl.tensor,
    queries: tl.tensor,
    keys: tl.tensor,
    scale: tl.tensor,
    together: tl.tensor,
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    SHARE: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,  # noqa: ARG001 - for the launch
) -> None:
    """The gradient for BLOCK queries: one more loop over the keys, as in forward."""
    tiles = tl.cdiv(queries, BLOCK)
    head, tile = deal(tiles, together)
    if CAUSAL:
        tile = tiles - 1 - tile
    start = tile * BLOCK
    query = of_head(query, query_strides, head, heads)
    key = of_head(key, key_strides, head // SHARE, heads // SHARE)
    value = of_head(value, value_strides, head // SHARE, heads // SHARE)
    gradient = of_head(gradient, gradient_strides, head, heads)

    ahead = keys - queries
    if CAUSAL:
        end = tl.minimum(keys, start + BLOCK + ahead)
        cut = tl.minimum(keys, start + 1 + ahead) // STEP * STEP
    else:
        end = keys
        cut = keys // STEP * STEP

    row = start + tl.arange(0, BLOCK)
    q = load_tile(query, start, queries, query_strides[2], D, WIDTH, BLOCK, False)
    g = load_tile(gradient, start, queries, gradient_strides[2], D, WIDTH, BLOCK, False)
    level = tl.load(logsumexp + head * queries + row, mask=row < queries, other=0.0) * LOG2_E
    mean = tl.load(delta + head * queries + row, mask=row < queries, other=0.0)
    total = tl.zeros([BLOCK, WIDTH], tl.float32)
    blank = tl.zeros([BLOCK, STEP], tl.float32)
    for first in tl.range(0, cut, STEP):
        k = load_tile(key, first, keys, key_strides[2], D, WIDTH, STEP, True)
        v = load_tile(value, first, keys, value_strides[2], D, WIDTH, STEP, True)
        score = matmul(q, k.T, blank, PRECISION)
        weight = tl.exp2(score * (scale * LOG2_E) - level[:, None])
        change = weight * (matmul(g, v.T, blank, PRECISION) - mean[:, None])
        total = matmul(change, k, total, PRECISION)
    for first in tl.range(cut, end, STEP):
        k = load_tile(key, first, keys, key_strides[2], D, WIDTH, STEP, False)
        v = load_tile(value, first, keys, value_strides[2], D, WIDTH, STEP, False)
        column = first + tl.arange(0, STEP)
        visible = (column < keys)[None, :]
        if CAUSAL:
            visible = visible & (column[None, :] <= row[:, None] + ahead)
        score = tl.where(visible, matmul(q, k.T, blank, PRECISION), float("-inf"))
        weight = tl.exp2(score * (scale * LOG2_E) - level[:, None])
        change = weight * (matmul(g, v.T, blank, PRECISION) - mean[:, None])
        total = matmul(change, k, total, PRECISION)
    target = query_gradient + head * queries * D
    store_tile(target, total * scale, start, queries, D, WIDTH, BLOCK)


@no_type_check
@triton.jit
def add_share(
    query_gradient: tl.tensor,
    change: tl.tensor,
    key: tl.tensor,
    scale: tl.tensor,
    first: tl.tensor,
    queries: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    STEP: tl.constexpr,
    PRECISION: tl.constexpr,
) -> None:
    """What a tile of keys adds to the gradients of STEP queries; other programs add theirs."""
    share = matmul(change.T, key, tl.zeros([STEP, WIDTH], tl.float32), PRECISION)
    add_tile(query_gradient, share * scale, first, queries, D, WIDTH, STEP)


@no_type_check
@triton.jit(do_not_specialize=["size", "together"])
def key_value_gradient_kernel(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    gradient: tl.tensor,
    logsumexp: tl.tensor,
    delta: tl.tensor,
    query_gradient: tl.tensor,
    key_gradient: tl.tensor,
    value_gradient: tl.tensor,
    query_strides: tl.tuple,
    key_strides: tl.tuple,
    value_strides: tl.tuple,
    gradient_strides: tl.tuple,
    heads: tl.tensor,
    queries: tl.tensor,
    keys: tl.tensor,
    scale: tl.tensor,
    together: tl.tensor,
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    SHARE: tl.constexpr,
    ONE_PASS: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,  # noqa: ARG001 - for the launch
) -> None:
    """The gradients for BLOCK keys and their values: a loop over the queries that see them.

    Scores and weights lie transposed, (key, query). A query past the end is zero and so is its
    gradient, so it adds nothing. In ONE_PASS all programs add to the gradients of the queries too.
    """
    tiles = tl.cdiv(keys, BLOCK)
    head, tile = deal(tiles, together)
    start = tile * BLOCK
    key = of_head(key, key_strides, head, heads // SHARE)
    value = of_head(value, value_strides, head, heads // SHARE)

    # Key j is seen by the queries from j - ahead on. The tiles of queries from `begin` to `cut` are
    # cut by the diagonal; those after see all our keys.
    ahead = keys - queries
    begin, cut = 0, 0
    if CAUSAL:
        begin = tl.maximum(start - ahead, 0) // STEP * STEP
        cut = tl.minimum(tl.cdiv(tl.maximum(start + BLOCK - 1 - ahead, 0), STEP) * STEP, queries)

    k = load_tile(key, start, keys, key_strides[2], D, WIDTH, BLOCK, False)
    v = load_tile(value, start, keys, value_strides[2], D, WIDTH, BLOCK, False)
    key_total = tl.zeros([BLOCK, WIDTH], tl.float32)
    value_total = tl.zeros([BLOCK, WIDTH], tl.float32)
    blank = tl.zeros([BLOCK, STEP], tl.float32)
    gradient_size = tl.cast(queries, tl.int64) * D
    for whole in tl.static_range(0 if CAUSAL else 1, 2):
        low, high = (cut, queries) if whole else (begin, cut)
        # One loop passes over the queries of all heads that share our keys: two nested loops need
        # more registers than there are. Without a mask it always has a step: where a loop may have
        # none, the assembler runs the matrix products one by one.
        steps = tl.maximum(tl.cdiv(high - low, STEP), 0 if CAUSAL else 1)
        for step in tl.range(0, SHARE * steps):
            each = head * SHARE + (step // steps if SHARE > 1 else 0)
            first = low + (step % steps if SHARE > 1 else step) * STEP
            own_query = of_head(query, query_strides, each, heads)
            own_gradient = of_head(gradient, gradient_strides, each, heads)
            q = load_tile(own_query, first, queries, query_strides[2], D, WIDTH, STEP, False)
            g = load_tile(own_gradient, first, queries, gradient_strides[2], D, WIDTH, STEP, False)
            row = first + tl.arange(0, STEP)
            inside = row < queries
            level = tl.load(logsumexp + each * queries + row, mask=inside, other=0.0) * LOG2_E
            mean = tl.load(delta + each * queries + row, mask=inside, other=0.0)
            score = matmul(k, q.T, blank, PRECISION)
            if not whole:
                column = start + tl.arange(0, BLOCK)
                visible = column[:, None] <= row[None, :] + ahead
                score = tl.where(visible, score, float("-inf"))
            power = score * (scale * LOG2_E) - level[None, :]
            # A key past the end scores 0, and would overflow where all others score far less.
            weight = tl.exp2(tl.minimum(power, 0.0) if whole else power)
            value_total = matmul(weight, g, value_total, PRECISION)
            change = weight * (matmul(v, g.T, blank, PRECISION) - mean[None, :])
            key_total = matmul(change, q, key_total, PRECISION)
            if ONE_PASS:
                target = of_head(
                    query_gradient, (heads * gradient_size, gradient_size), each, heads
                )
                add_share(target, change, k, scale, first, queries, D, WIDTH, STEP, PRECISION)
    store_tile(value_gradient + head * keys * D, value_total, start, keys, D, WIDTH, BLOCK)
    store_tile(key_gradient + head * keys * D, key_total * scale, start, keys, D, WIDTH, BLOCK)


# The operator ----------------------------------------------------------------------------------

_WIDEST = ((128, 64, 8, 2), (64, 64, 8, 2), (128, 32, 8, 3), (128, 32, 8, 2), (64, 32, 8, 2))
_forward = tuned(
    forward_kernel,
    {128: LARGE, 256: _WIDEST},
    taken=["key", "value"],
    own=1,
    instead={"OVERLAP": {64: LARGE, 128: LARGE[2:], 256: _WIDEST}},
)
_query_gradient = tuned(
    query_gradient_kernel,
    {
        128: ((128, 64, 8, 3), (128, 64, 8, 2), (64, 64, 8, 2)),
        256: ((64, 64, 8, 2), (64, 32, 8, 3), (32, 32, 8, 2)),
    },
    taken=["key", "value"],
    own=2,
)
_key_value_gradient = tuned(
    key_value_gradient_kernel,
    {
        64: ((128, 64, 8, 3), (128, 64, 8, 2)),
        128: ((64, 64, 8, 3), (64, 64, 8, 2), (64, 32, 8, 2)),
        256: ((64, 32, 8, 2), (32, 32, 8, 2)),  # The first spills up to 72 bytes.
    },
    taken=["query", "gradient"],
    own=2,
    adds_to=["query_gradient"],
    instead={
        "ONE_PASS": {
            64: (*LARGE[2:4], *((64, 64, 4, 3), (64, 64, 4, 2), (128, 32, 8, 2))),
            128: (
                *((64, 64, 8, 3), (64, 64, 8, 2), (128, 32, 8, 3), (128, 32, 8, 2)),
                *((64, 32, 8, 3), (64, 32, 8, 2), (32, 16, 8, 2)),
            ),
            # The first spills up to 192 bytes; the others are too narrow for wgmma.
            256: ((64, 32, 8, 2), (32, 32, 8, 3), (32, 32, 8, 2)),
        }
    },
)


@torch.library.custom_op("course_lib::flash_attention", mutates_args=())
def _attend(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    """The output and, for backward, the log-sum-exp of each query's scores."""
    output = new(query)
    logsumexp = new(query[..., 0], torch.float32)
    if output.numel():
        query, key, value = readable(query), readable(key), readable(value)
        batch, heads, queries, d = query.shape
        kv_heads, keys = key.shape[1:3]
        past = 2 * keys * d * kv_heads // heads
        given = {"query": query, "key": key, "value": value}
        given |= {f"{name}_strides": x.stride()[:3] for name, x in given.items()}
        with torch.cuda.device_of(query):
            _forward[programs(queries, batch * heads)](
                **given,
                output=output,
                logsumexp=logsumexp,
                heads=heads,
                queries=queries,
                keys=keys,
                scale=scale,
                together=heads_together(query, past, causal=causal),
                SHARE=heads // kv_heads,
                CAUSAL=causal,
                **settings(query, max(queries, keys)),
            )
    return output, logsumexp


@_attend.register_fake
def _(query: Tensor, _key: Tensor, _value: Tensor, **_: bool | float) -> tuple[Tensor, Tensor]:
    return new(query), new(query[..., 0], torch.float32)


@torch.library.custom_op("course_lib::flash_attention_backward", mutates_args=())
def _attend_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    logsumexp: Tensor,
    *,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients for query, key and value."""
    one_pass = not torch.are_deterministic_algorithms_enabled()
    query_gradient = (
        torch.zeros(query.shape, dtype=torch.float32, device=query.device)
        if one_pass
        else new(query)
    )
    key_gradient, value_gradient = new(key), new(value)
    if output.numel():
        query, key, value, gradient = (readable(x) for x in (query, key, value, gradient))
        batch, heads, queries, d = query.shape
        kv_heads, keys = key.shape[1:3]
        delta = torch.empty_like(logsumexp)
        chosen = settings(query, max(queries, keys))
        tensors = {"query": query, "key": key, "value": value, "gradient": gradient}
        strides = {f"{name}_strides": x.stride()[:3] for name, x in tensors.items()}
        kept = {"logsumexp": logsumexp, "delta": delta, "query_gradient": query_gradient}
        sizes = {"heads": heads, "queries": queries, "keys": keys, "scale": scale}
        shared = {"SHARE": heads // kv_heads, "CAUSAL": causal, **chosen}
        given = {**tensors, **strides, **kept, **sizes, **shared}
        with torch.cuda.device_of(query):
            delta_kernel[(triton.cdiv(queries, 64) * batch * heads,)](
                output,
                gradient,
                delta,
                gradient.stride()[:3],
                heads,
                queries,
                D=d,
                WIDTH=chosen["WIDTH"],
                BLOCK=64,
            )
            past = 2 * queries * d * heads // kv_heads
            _key_value_gradient[programs(keys, batch * kv_heads)](
                **given,
                key_gradient=key_gradient,
                value_gradient=value_gradient,
                together=heads_together(query, past, causal=causal),
                ONE_PASS=one_pass,
            )
            # After the other, whose tuner sets the gradient of the queries to 0.
            if not one_pass:
                past = 2 * keys * d * kv_heads // heads
                _query_gradient[programs(queries, batch * heads)](
                    **given, together=heads_together(query, past, causal=causal)
                )
    return query_gradient.to(gradient.dtype), key_gradient, value_gradient


@_attend_backward.register_fake
def _(
    _gradient: Tensor, query: Tensor, key: Tensor, value: Tensor, *_: Tensor, **__: bool | float
) -> tuple[Tensor, Tensor, Tensor]:
    return tuple(new(x) for x in (query, key, value))


def _keep(
    ctx: Any,
    inputs: tuple[Tensor, ...],
    keyword_only_inputs: dict[str, bool | float],
    output: tuple[Tensor, Tensor],
) -> None:
    ctx.save_for_backward(*inputs, *output)
    ctx.settings = keyword_only_inputs


def _differentiate(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return _attend_backward(gradient, *ctx.saved_tensors, **ctx.settings)


_attend.register_autograd(_differentiate, setup_context=_keep)
_attend_backward.register_autograd(refuse_second_derivative)
