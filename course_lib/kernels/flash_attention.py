r"""Attention in tiles: the output of softmax(QKᵀ/√d)V, without a (query, key) array in memory.

Forward, a program takes BLOCK queries past the keys, STEP at a time, and keeps three things: the
running maximum of the scores, the running sum of the weights, and the blend of the values so far.
Backward, the weights are computed once more from the log-sum-exp that forward kept. No two programs
write to one place, so every run with the same BLOCK and STEP gives the same bits; other tiles round
otherwise.
Source: Dao et al. (2022); Dao (2024); Milakov and Gimelshein (2018) for the running sum.
"""

import math
from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

from course_lib.checks import check_floating, check_number, check_shapes
from course_lib.kernels.tiles import (
    LOG2_E,
    autocast_together,
    check_supported,
    load_tile,
    matmul,
    new,
    of_head,
    open_tiles,
    programs,
    readable,
    settings,
    store_tile,
    tuned,
)

NARROWEST = 16


def flash_attention(
    query: Float[Tensor, "batch heads query d"],
    key: Float[Tensor, "batch heads key d"],
    value: Float[Tensor, "batch heads key d"],
    *,
    causal: bool = False,
    scale: float | int | None = None,
) -> Float[Tensor, "batch heads query d"]:
    r"""Blend the values by the weights, in tiles: $\mathrm{softmax}(QK^\top/\sqrt d)\,V$.

    Memory is linear in the tokens, forward and backward. ``d`` is 16 to 256; float16, bfloat16 or
    float32 (in full precision, unless ``torch.set_float32_matmul_precision`` allows TF32). Under
    ``causal`` the last query sees every key, and each query before it one key less. ``scale``
    (above 0) takes the place of $1/\sqrt d$. Raises ``TypeError`` for other dtypes, ``ValueError``
    for other sizes and for a query that sees no key, ``RuntimeError`` without a CUDA device.
    Source: Dao (2024), algorithms 1 and 2.
    """
    check_floating(query=query, key=key, value=value)
    query, key, value = autocast_together(query, key, value)
    sizes = check_shapes(
        query=(query, "batch heads query d"),
        key=(key, "batch heads key d"),
        value=(value, "batch heads key d"),
    )
    check_supported(query, "query", "query", narrowest=NARROWEST)
    check_supported(key, "key", "key", narrowest=NARROWEST)
    if scale is not None:
        check_number("scale", scale, positive=True)
    if causal and sizes["query"] > sizes["key"]:
        raise ValueError(
            f"a query may look at nothing: there are {sizes['query']} queries and {sizes['key']} "
            "keys, and the last query sees the last key; expected a key for each query at least; "
            "drop the first queries, or pass causal=False"
        )
    scale = 1 / math.sqrt(sizes["d"]) if scale is None else float(scale)
    output, _ = _attend(query, key, value, causal=causal, scale=scale)
    return output


# Forward ---------------------------------------------------------------------------------------


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
    higher = tl.maximum(maximum, tl.max(score, 1) * scale)
    weight = tl.exp2(score * scale - higher[:, None])
    shrink = tl.exp2(maximum - higher)
    total = total * shrink + tl.sum(weight, 1)
    blend = matmul(weight, value, blend * shrink[:, None], PRECISION)
    return higher, total, blend


@no_type_check
@triton.jit(do_not_specialize=["size"])
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
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
) -> None:
    """Blend the values for BLOCK queries of one head, and keep the log-sum-exp of their scores."""
    tiles = tl.cdiv(queries, BLOCK)
    head = (tl.program_id(0) // tiles).to(tl.int64)
    tile = tl.program_id(0) % tiles
    if CAUSAL:  # the last queries see most keys: begin with them
        tile = tiles - 1 - tile
    start = tile * BLOCK
    query = of_head(query, query_strides, head, heads)
    key = of_head(key, key_strides, head, heads)
    value = of_head(value, value_strides, head, heads)
    key_tiles = open_tiles(key, keys, key_strides[2], D, WIDTH, STEP, DESCRIPTORS)
    value_tiles = open_tiles(value, keys, value_strides[2], D, WIDTH, STEP, DESCRIPTORS)

    # Query i sees the keys 0 ... i + ahead. All our queries see the tiles before `cut` whole; those
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
    for first in tl.range(0, cut, STEP):
        k = load_tile(key_tiles, first, keys, key_strides[2], D, WIDTH, STEP, True)
        v = load_tile(value_tiles, first, keys, value_strides[2], D, WIDTH, STEP, True)
        score = matmul(q, k.T, blank, PRECISION)
        maximum, total, blend = fold(maximum, total, blend, score, scale, v, PRECISION)
    for first in tl.range(cut, end, STEP):
        k = load_tile(key_tiles, first, keys, key_strides[2], D, WIDTH, STEP, False)
        v = load_tile(value_tiles, first, keys, value_strides[2], D, WIDTH, STEP, False)
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
    """Row sums of output · gradient: what every weight of a row loses because they sum to one."""
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
@triton.jit(do_not_specialize=["size"])
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
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
) -> None:
    """The gradient for BLOCK queries: past the keys once more, as forward went."""
    tiles = tl.cdiv(queries, BLOCK)
    head = (tl.program_id(0) // tiles).to(tl.int64)
    tile = tl.program_id(0) % tiles
    if CAUSAL:
        tile = tiles - 1 - tile
    start = tile * BLOCK
    query = of_head(query, query_strides, head, heads)
    key = of_head(key, key_strides, head, heads)
    value = of_head(value, value_strides, head, heads)
    gradient = of_head(gradient, gradient_strides, head, heads)
    key_tiles = open_tiles(key, keys, key_strides[2], D, WIDTH, STEP, DESCRIPTORS)
    value_tiles = open_tiles(value, keys, value_strides[2], D, WIDTH, STEP, DESCRIPTORS)

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
        k = load_tile(key_tiles, first, keys, key_strides[2], D, WIDTH, STEP, True)
        v = load_tile(value_tiles, first, keys, value_strides[2], D, WIDTH, STEP, True)
        score = matmul(q, k.T, blank, PRECISION)
        weight = tl.exp2(score * (scale * LOG2_E) - level[:, None])
        change = weight * (matmul(g, v.T, blank, PRECISION) - mean[:, None])
        total = matmul(change, k, total, PRECISION)
    for first in tl.range(cut, end, STEP):
        k = load_tile(key_tiles, first, keys, key_strides[2], D, WIDTH, STEP, False)
        v = load_tile(value_tiles, first, keys, value_strides[2], D, WIDTH, STEP, False)
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
@triton.jit(do_not_specialize=["size"])
def key_value_gradient_kernel(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    gradient: tl.tensor,
    logsumexp: tl.tensor,
    delta: tl.tensor,
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
    size: tl.tensor,  # noqa: ARG001 - for the autotuner
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
) -> None:
    """The gradients for BLOCK keys and their values: past the queries that see them.

    Scores and weights lie transposed, (key, query). A query past the end is zero and so is its
    gradient, so it adds nothing.
    """
    tiles = tl.cdiv(keys, BLOCK)
    head = (tl.program_id(0) // tiles).to(tl.int64)
    start = tl.program_id(0) % tiles * BLOCK
    query = of_head(query, query_strides, head, heads)
    key = of_head(key, key_strides, head, heads)
    value = of_head(value, value_strides, head, heads)
    gradient = of_head(gradient, gradient_strides, head, heads)
    logsumexp += head * queries
    delta += head * queries
    query_tiles = open_tiles(query, queries, query_strides[2], D, WIDTH, STEP, DESCRIPTORS)
    gradient_tiles = open_tiles(gradient, queries, gradient_strides[2], D, WIDTH, STEP, DESCRIPTORS)

    # Key j is seen by the queries from j - ahead on. The tiles of queries from `begin` to `cut` are
    # cut by the diagonal; those after see all our keys.
    ahead = keys - queries
    begin = 0
    cut = 0
    if CAUSAL:
        begin = tl.maximum(start - ahead, 0) // STEP * STEP
        cut = tl.minimum(tl.cdiv(tl.maximum(start + BLOCK - 1 - ahead, 0), STEP) * STEP, queries)

    k = load_tile(key, start, keys, key_strides[2], D, WIDTH, BLOCK, False)
    v = load_tile(value, start, keys, value_strides[2], D, WIDTH, BLOCK, False)
    key_total = tl.zeros([BLOCK, WIDTH], tl.float32)
    value_total = tl.zeros([BLOCK, WIDTH], tl.float32)
    blank = tl.zeros([BLOCK, STEP], tl.float32)
    if CAUSAL:
        for first in tl.range(begin, cut, STEP):
            q = load_tile(query_tiles, first, queries, query_strides[2], D, WIDTH, STEP, False)
            g = load_tile(
                gradient_tiles, first, queries, gradient_strides[2], D, WIDTH, STEP, False
            )
            row = first + tl.arange(0, STEP)
            level = tl.load(logsumexp + row, mask=row < queries, other=0.0) * LOG2_E
            mean = tl.load(delta + row, mask=row < queries, other=0.0)
            column = start + tl.arange(0, BLOCK)
            visible = column[:, None] <= row[None, :] + ahead
            score = tl.where(visible, matmul(k, q.T, blank, PRECISION), float("-inf"))
            weight = tl.exp2(score * (scale * LOG2_E) - level[None, :])
            value_total = matmul(weight, g, value_total, PRECISION)
            change = weight * (matmul(v, g.T, blank, PRECISION) - mean[None, :])
            key_total = matmul(change, q, key_total, PRECISION)
    for first in tl.range(cut, queries, STEP):
        q = load_tile(query_tiles, first, queries, query_strides[2], D, WIDTH, STEP, False)
        g = load_tile(gradient_tiles, first, queries, gradient_strides[2], D, WIDTH, STEP, False)
        row = first + tl.arange(0, STEP)
        level = tl.load(logsumexp + row, mask=row < queries, other=0.0) * LOG2_E
        mean = tl.load(delta + row, mask=row < queries, other=0.0)
        weight = tl.exp2(matmul(k, q.T, blank, PRECISION) * (scale * LOG2_E) - level[None, :])
        value_total = matmul(weight, g, value_total, PRECISION)
        change = weight * (matmul(v, g.T, blank, PRECISION) - mean[None, :])
        key_total = matmul(change, q, key_total, PRECISION)
    store_tile(value_gradient + head * keys * D, value_total, start, keys, D, WIDTH, BLOCK)
    store_tile(key_gradient + head * keys * D, key_total * scale, start, keys, D, WIDTH, BLOCK)


# The operator ----------------------------------------------------------------------------------

_forward = tuned(forward_kernel, own=1, taken=2, sums=1)
_query_gradient = tuned(query_gradient_kernel, own=2, taken=2, sums=1)
_key_value_gradient = tuned(key_value_gradient_kernel, own=2, taken=2, sums=2)


@torch.library.custom_op("course_lib::flash_attention", mutates_args=())
def _attend(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    """The output and, for backward, the log-sum-exp of each query's scores."""
    output = new(query)
    logsumexp = new(query[..., 0], torch.float32)
    if output.numel():
        query, key, value = readable(query), readable(key), readable(value)
        batch, heads, queries, _ = query.shape
        keys = key.shape[-2]
        tensors = (query, key, value, output, logsumexp)
        strides = [x.stride()[:3] for x in (query, key, value)]
        with torch.cuda.device_of(query):
            _forward[programs(queries, batch * heads)](
                *tensors,
                *strides,
                heads,
                queries,
                keys,
                scale,
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
    gradients = tuple(new(x) for x in (query, key, value))
    if output.numel():
        query, key, value, gradient = (readable(x) for x in (query, key, value, gradient))
        batch, heads, queries, d = query.shape
        keys = key.shape[-2]
        delta = torch.empty_like(logsumexp)
        chosen = settings(query, max(queries, keys))
        strides = [x.stride()[:3] for x in (query, key, value, gradient)]
        tensors = (query, key, value, gradient, logsumexp, delta)
        sizes = (heads, queries, keys, scale)
        with torch.cuda.device_of(query):
            delta_kernel[(triton.cdiv(queries, 64) * batch * heads,)](
                output,
                gradient,
                delta,
                strides[-1],
                heads,
                queries,
                D=d,
                WIDTH=chosen["WIDTH"],
                BLOCK=64,
            )
            _query_gradient[programs(queries, batch * heads)](
                *tensors, gradients[0], *strides, *sizes, CAUSAL=causal, **chosen
            )
            _key_value_gradient[programs(keys, batch * heads)](
                *tensors, *gradients[1:], *strides, *sizes, CAUSAL=causal, **chosen
            )
    return gradients


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
