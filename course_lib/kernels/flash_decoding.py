r"""Attention of one query to many keys, which many programs share: FlashDecoding.

One query for each head keeps a GPU busy only if the keys are dealt out. A program reads one part of
the keys of one head for all queries that share this head, and reports its blend $o_i$ and the
log-sum-exp $L_i$ of its scores. Reports merge by weights that sum to one:

$$o = \sum_i \mathrm{softmax}(L)_i\, o_i.$$

Source: Dao, Haziza, Massa and Sizov (2023).
"""

import math
from typing import no_type_check

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

from course_lib.kernels.flash_attention import check_inputs, fold
from course_lib.kernels.tiles import (
    LOG2_E,
    autocast_together,
    load_tile,
    matmul,
    new,
    of_head,
    precision,
    readable,
    store_tile,
    width_of,
)
from course_lib.support.checks import check_shapes, wants_gradient
from course_lib.support.contracts import Positive, Size, checked

# Keys that a program loads at a time, and bytes: it loads keys and values of two more steps ahead.
MOST_KEYS, MOST_BYTES = 64, 2**14
# Parts shorter than this cost more to merge than they save.
SHORTEST = 256
PROGRAMS_EACH = 2


@checked
def flash_decoding(
    query: Float[Tensor, "batch heads 1 d"],
    key: Float[Tensor, "batch kv_heads key d"],
    value: Float[Tensor, "batch kv_heads key d"],
    *,
    parts: Size | None = None,
    scale: Positive | None = None,
) -> Float[Tensor, "batch heads 1 d"]:
    r"""One query for each head: $\mathrm{softmax}(QK^\top/\sqrt d)\,V$, the keys in ``parts``.

    ``parts`` are as many as keep the GPU busy, unless they are given. Sizes, dtypes, grouped heads,
    ``scale`` and errors are those of :func:`course_lib.kernels.flash_attention`; ``ValueError`` too
    for inputs that require a gradient, since there is none.
    Source: Dao, Haziza, Massa and Sizov (2023).
    """
    query, key, value = autocast_together(query, key, value)
    check_inputs(query, key, value)
    check_shapes(query=(query, "*batch 1 d"))
    if wants_gradient(query, key, value):
        raise ValueError(
            "an input requires a gradient; expected none, for decoding has no backward pass; "
            "use flash_attention, or torch.no_grad()"
        )
    if parts is None:
        batch, kv_heads, keys, _ = key.shape
        parts = _enough_parts(query, batch * kv_heads, keys)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    return _decode(query, key, value, parts=parts, scale=scale)


def _enough_parts(like: Tensor, heads: int, keys: int) -> int:
    """A few programs for each processor, as long as a part keeps ``SHORTEST`` keys."""
    processors = (
        torch.cuda.get_device_properties(like.device).multi_processor_count if like.is_cuda else 1
    )
    wanted = triton.cdiv(PROGRAMS_EACH * processors, max(1, heads))
    return max(1, min(wanted, keys // SHORTEST))


# On the GPU ------------------------------------------------------------------------------------


@no_type_check
@triton.jit
def part_kernel(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    blends: tl.tensor,
    logsumexps: tl.tensor,
    query_strides: tl.tuple,
    key_strides: tl.tuple,
    value_strides: tl.tuple,
    kv_heads: tl.tensor,
    keys: tl.tensor,
    parts: tl.tensor,
    each: tl.tensor,
    scale: tl.tensor,
    SHARE: tl.constexpr,
    ROWS: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    PRECISION: tl.constexpr,
    STEP: tl.constexpr,
) -> None:
    """The report on `each` keys of one head, for the SHARE queries that it serves."""
    head = (tl.program_id(0) // parts).to(tl.int64)
    part = tl.program_id(0) % parts
    query = query + head // kv_heads * query_strides[0] + head % kv_heads * SHARE * query_strides[1]
    key = of_head(key, key_strides, head, kv_heads)
    value = of_head(value, value_strides, head, kv_heads)
    begin = part * each
    end = tl.minimum(begin + each, keys)

    scale *= LOG2_E
    q = load_tile(query, 0, SHARE, query_strides[1], D, WIDTH, ROWS, False)
    maximum = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    blend = tl.zeros([ROWS, WIDTH], tl.float32)
    blank = tl.zeros([ROWS, STEP], tl.float32)
    for first in tl.range(begin, end, STEP):
        k = load_tile(key, first, end, key_strides[2], D, WIDTH, STEP, False)
        v = load_tile(value, first, end, value_strides[2], D, WIDTH, STEP, False)
        present = (first + tl.arange(0, STEP) < end)[None, :]
        score = tl.where(present, matmul(q, k.T, blank, PRECISION), float("-inf"))
        maximum, total, blend = fold(maximum, total, blend, score, scale, v, PRECISION)

    report = (head * parts + part) * SHARE
    row = tl.arange(0, ROWS)
    store_tile(blends + report * D, blend / total[:, None], 0, SHARE, D, WIDTH, ROWS)
    tl.store(logsumexps + report + row, maximum / LOG2_E + tl.log(total), mask=row < SHARE)


@no_type_check
@triton.jit
def merge_kernel(
    blends: tl.tensor,
    logsumexps: tl.tensor,
    output: tl.tensor,
    parts: tl.tensor,
    SHARE: tl.constexpr,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    """The output of one query: its reports, weighted by their share of the sum."""
    head = (tl.program_id(0) // SHARE).to(tl.int64)
    row = tl.program_id(0) % SHARE
    column = tl.arange(0, WIDTH)
    maximum = float("-inf")
    total = 0.0
    merged = tl.zeros([WIDTH], tl.float32)
    for part in tl.range(0, parts):
        report = (head * parts + part) * SHARE + row
        level = tl.load(logsumexps + report)
        blend = tl.load(blends + report * D + column, mask=column < D, other=0.0)
        higher = tl.maximum(maximum, level)
        shrink = tl.exp(maximum - higher)
        weight = tl.exp(level - higher)
        total = total * shrink + weight
        merged = merged * shrink + weight * blend
        maximum = higher
    target = output + tl.program_id(0).to(tl.int64) * D + column
    tl.store(target, (merged / total).to(output.dtype.element_ty), mask=column < D)


# The operator ----------------------------------------------------------------------------------


@torch.library.custom_op("course_lib::flash_decoding", mutates_args=())
def _decode(query: Tensor, key: Tensor, value: Tensor, *, parts: int, scale: float) -> Tensor:
    output = new(query)
    if output.numel():
        # A copy is cheap: the queries are few, and may lie far apart in memory.
        query, key, value = query.contiguous(), readable(key), readable(value)
        batch, heads, _, d = query.shape
        kv_heads, keys = key.shape[1:3]
        share = heads // kv_heads
        width = width_of(d)
        step = min(MOST_KEYS, MOST_BYTES // (key.element_size() * width))
        # Whole steps in every part, so that only the last is cut and none is empty.
        each = triton.cdiv(triton.cdiv(keys, parts), step) * step
        parts = triton.cdiv(keys, each)
        shape = (batch, kv_heads, parts, share)
        blends = torch.empty(*shape, d, dtype=torch.float32, device=query.device)
        logsumexps = torch.empty(shape, dtype=torch.float32, device=query.device)
        widths = {"SHARE": share, "D": d, "WIDTH": width}
        with torch.cuda.device_of(query):
            part_kernel[(batch * kv_heads * parts,)](
                *(query, key, value, blends, logsumexps),
                *(x.stride()[:3] for x in (query, key, value)),
                *(kv_heads, keys, parts, each, scale),
                ROWS=max(16, triton.next_power_of_2(share)),
                PRECISION=precision(),
                STEP=step,
                **widths,
            )
            merge_kernel[(batch * heads,)](blends, logsumexps, output, parts, **widths)
    return output


@_decode.register_fake
def _(query: Tensor, _key: Tensor, _value: Tensor, **_: int | float) -> Tensor:
    return new(query)
