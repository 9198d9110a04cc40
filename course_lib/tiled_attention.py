r"""Attention tile by tile: the whole softmax from pieces, and the memory traffic of each way.

Softmax seems to need a whole row of scores at once. It does not: after some of the keys a report of
three things about each query is enough, the largest score, the sum of the weights and the blend of
the values. Two such reports merge into one. So attention may visit the keys in any order, in
tiles of any size, and keep no (query, key) array. This module is that algorithm in plain PyTorch;
:mod:`course_lib.kernels.flash_attention` is the same on a GPU. Last, :class:`TrafficMeter` counts
what a computation reads, writes and keeps.

Sequences are rows, ``(*batch, tokens, d)``. Under ``causal`` the last query sees every key, and
each query before it one key less.
Source: Milakov and Gimelshein (2018); Rabe and Staats (2021); Dao et al. (2022); Dao, Haziza, Massa
and Sizov (2023).
"""

import math
import weakref
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import torch
from einops import einsum
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from course_lib.attention import Mask, zero_unseen_keys
from course_lib.support.checks import (
    check_causal,
    check_floating,
    check_shapes,
    check_size,
    check_visible,
)
from course_lib.support.contracts import Count, Positive, Size, checked

FLOAT32_BYTES = 4


# The online softmax ----------------------------------------------------------------------------


class Partial(NamedTuple):
    r"""A report: the state of softmax attention after some keys.

    ``maximum`` $m = \max_j s_j$, ``total`` $\ell = \sum_j e^{s_j - m}$ and ``output``
    $o = \sum_j e^{s_j - m}\, v_j$, where $j$ runs over the keys seen so far. A query that has seen
    none has $m = -\infty$, $\ell = 0$, $o = 0$. Source: Rabe and Staats (2021), section 2.
    """

    maximum: Float[Tensor, "*batch query"]
    total: Float[Tensor, "*batch query"]
    output: Float[Tensor, "*batch query d"]


@checked
def partial_attention(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    value: Float[Tensor, "*batch key d_value"],
    *,
    mask: Mask | None = None,
    scale: Positive | None = None,
) -> Partial:
    r"""The report of one tile of keys: maximum, total and un-normalised output.

    The scores are $s = QK^\top/\sqrt d$; ``scale`` (above 0) takes the place of $1/\sqrt d$ and
    ``mask`` is True where a query may look. A query that sees no key of this tile gets the empty
    report, and so does every query of a tile without keys.
    Source: Dao et al. (2022), algorithm 1, lines 9 and 10.
    """
    check_size("d, the number of features of query", query.shape[-1])
    if mask is not None:
        key, value = zero_unseen_keys(mask, key, value)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    score = einsum(scale * query, key, "... query d, ... key d -> ... query key")
    if mask is not None:
        score = score.masked_fill(~mask, -math.inf)
    # amax refuses a row of no scores.
    maximum = score.amax(dim=-1) if key.shape[-2] else score.new_full(query.shape[:-1], -math.inf)
    weight = _exp_below(score, maximum[..., None])
    output = einsum(weight, value, "... query key, ... key d -> ... query d")
    return Partial(maximum, weight.sum(dim=-1), output)


@checked
def merge(first: Partial, second: Partial) -> Partial:
    r"""Join two reports: each is scaled to the larger maximum, then they add up.

    $m = \max(m_1, m_2)$, $\ell = e^{m_1 - m}\ell_1 + e^{m_2 - m}\ell_2$, and the same for $o$.
    Commutative, and associative up to rounding, so tiles may be visited in any order and in
    parallel; the empty report changes nothing. Raises ``ValueError`` for reports on different
    queries. Source: Milakov and Gimelshein (2018), section 3.1.
    """
    _check_reports(first=first, second=second)
    maximum = torch.maximum(first.maximum, second.maximum)
    shrink_first = _exp_below(first.maximum, maximum)
    shrink_second = _exp_below(second.maximum, maximum)
    total = shrink_first * first.total + shrink_second * second.total
    output = shrink_first[..., None] * first.output + shrink_second[..., None] * second.output
    return Partial(maximum, total, output)


@checked
def finish(partial: Partial) -> Float[Tensor, "*batch query d"]:
    r"""Divide once, at the end: $o / \ell$, the output of softmax attention over the keys seen.

    Raises ``ValueError`` for a query that saw nothing, since no distribution over nothing exists.
    Source: Dao (2024), section 3.1.
    """
    _check_reports(partial=partial)
    check_visible(partial.total[..., None] > 0, (*partial.total.shape, 1))
    return partial.output / partial.total[..., None]


def _exp_below(score: Tensor, maximum: Tensor) -> Tensor:
    """The exponential of score − maximum, and 0 where both are -inf: nothing was seen there."""
    return (score - maximum.masked_fill(maximum == -math.inf, 0.0)).exp()


# Tiles -----------------------------------------------------------------------------------------


@checked
def tile_plan(
    query: Count, key: Count, *, query_tile: Size, key_tile: Size, causal: bool = False
) -> list[tuple[slice, list[slice]]]:
    """The tiles of queries, in order, and with each the tiles of keys that it visits.

    The last tiles may be ragged. Under ``causal`` a tile of keys that lies wholly in the future of
    its queries is skipped. Raises ``ValueError`` for more queries than keys under ``causal``, since
    the first queries would see nothing.
    """
    check_causal(query, key, causal=causal)
    plan = []
    for start in range(0, query, query_tile):
        rows = slice(start, min(start + query_tile, query))
        end = rows.stop + key - query if causal else key
        columns = [slice(first, min(first + key_tile, key)) for first in range(0, end, key_tile)]
        plan.append((rows, columns))
    return plan


@checked
def tiled_attention(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    value: Float[Tensor, "*batch key d_value"],
    *,
    query_tile: Size,
    key_tile: Size,
    causal: bool = False,
    scale: Positive | None = None,
) -> Float[Tensor, "*batch query d_value"]:
    r"""Softmax attention that never holds more than ``query_tile`` × ``key_tile`` scores.

    Equal to $\mathrm{softmax}(QK^\top/\sqrt d)\,V$ up to rounding, for every size of the tiles.
    Raises ``ValueError`` as :func:`tile_plan` does, and where there is no key.
    Source: Dao et al. (2022), algorithm 1, with the loops in the order of Dao (2024).
    """
    _check_some(query, key)
    queries, keys = query.shape[-2], key.shape[-2]
    plan = tile_plan(queries, keys, query_tile=query_tile, key_tile=key_tile, causal=causal)
    output = [value.new_empty(*value.shape[:-2], 0, value.shape[-1])]
    for rows, tiles in plan:
        reports = (
            partial_attention(
                query[..., rows, :],
                key[..., columns, :],
                value[..., columns, :],
                mask=_seen(rows, columns, keys - queries, query.device) if causal else None,
                scale=scale,
            )
            for columns in tiles
        )
        output.append(finish(reduce(merge, reports)))
    return torch.cat(output, dim=-2)


@checked
def tiled_gradients(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    value: Float[Tensor, "*batch key d_value"],
    gradient: Float[Tensor, "*batch query d_value"],
    *,
    query_tile: Size,
    key_tile: Size,
) -> tuple[Tensor, Tensor, Tensor]:
    r"""The gradients for queries, keys and values, from the ``gradient`` $G$ for the output $O$.

    With $L$ the log-sum-exp of each row of $S = QK^\top/\sqrt d$ and $D$ the row sums of
    $G \odot O$: $P = e^{S - L}$, $\bar S = P \odot (G V^\top - D)$, and then
    $\bar Q = \bar S K/\sqrt d$, $\bar K = \bar S^\top Q/\sqrt d$, $\bar V = P^\top G$. No more than
    one tile of $P$ exists at a time. Raises ``ValueError`` as :func:`tiled_attention` does.
    Source: Dao et al. (2022), appendix B.4.
    """
    _check_some(query, key)
    scale = 1 / math.sqrt(query.shape[-1])
    plan = tile_plan(query.shape[-2], key.shape[-2], query_tile=query_tile, key_tile=key_tile)
    of_query, of_key, of_value = (torch.zeros_like(x) for x in (query, key, value))
    for rows, tiles in plan:
        q, g = query[..., rows, :], gradient[..., rows, :]
        reports = (partial_attention(q, key[..., c, :], value[..., c, :]) for c in tiles)
        report = reduce(merge, reports)
        level = report.maximum + report.total.log()
        mean = (g * finish(report)).sum(dim=-1)
        for columns in tiles:
            k, v = key[..., columns, :], value[..., columns, :]
            weight = (scale * q @ k.mT - level[..., None]).exp()
            slope = weight * (g @ v.mT - mean[..., None])
            of_query[..., rows, :] += scale * slope @ k
            of_key[..., columns, :] += scale * slope.mT @ q
            of_value[..., columns, :] += weight.mT @ g
    return of_query, of_key, of_value


def _seen(
    rows: slice, columns: slice, ahead: int, device: torch.device
) -> Bool[Tensor, "query key"]:
    """The causal mask of one tile, where query i sees the keys up to i + ``ahead``."""
    query = torch.arange(rows.start, rows.stop, device=device)
    key = torch.arange(columns.start, columns.stop, device=device)
    return key <= query[:, None] + ahead


@checked
def flash_decoding(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    value: Float[Tensor, "*batch key d_value"],
    *,
    parts: Size,
    scale: Positive | None = None,
) -> Float[Tensor, "*batch query d_value"]:
    r"""Softmax attention whose keys are dealt out in ``parts``, each to a program of its own.

    Equal to $\mathrm{softmax}(QK^\top/\sqrt d)\,V$ up to rounding. Parts differ by one key at most,
    and one without keys gives the empty report. The reports of $n$ parts are merged two by two,
    $\lceil \log_2 n \rceil$ times one after the other. Raises ``ValueError`` where there is no key.
    Source: Dao, Haziza, Massa and Sizov (2023).
    """
    _check_some(query, key)
    dealt = zip(key.tensor_split(parts, dim=-2), value.tensor_split(parts, dim=-2), strict=True)
    reports = [partial_attention(query, *part, scale=scale) for part in dealt]
    while len(reports) > 1:
        pairs = [reports[i : i + 2] for i in range(0, len(reports), 2)]
        reports = [reduce(merge, pair) for pair in pairs]
    return finish(reports[0])


# What it costs, for one head ---------------------------------------------------------------------


@checked
def attention_flops(query: Count, key: Count, d: Size, *, causal: bool = False) -> int:
    r"""Floating point operations of the two matrix products: $4\,T_q T_k\, d$.

    A multiply and an add for each feature of each (query, key) pair in $QK^\top$, and again in
    $PV$. Under ``causal`` only visible pairs count, $T_q T_k - T_q (T_q - 1)/2$ of them.
    Source: Dao (2024), section 4.1.
    """
    check_causal(query, key, causal=causal)
    pairs = query * key - (query * (query - 1) // 2 if causal else 0)
    return 4 * pairs * d


@checked
def naive_bytes(query: Count, key: Count, d: Size, *, bytes_each: Size = 2) -> int:
    r"""Bytes to and from memory, one operator after the other: $b\,(2T_q d + 2T_k d + 4T_q T_k)$.

    Read $Q$ and $K$, write $S$; read $S$, write $P$; read $P$ and $V$, write $O$; every array once.
    A causal mask saves none of this. Source: Dao et al. (2022), algorithm 0.
    """
    return bytes_each * (2 * query * d + 2 * key * d + 4 * query * key)


@checked
def tiled_bytes(
    query: Count,
    key: Count,
    d: Size,
    *,
    query_tile: Size,
    key_tile: Size = 64,
    bytes_each: Size = 2,
    causal: bool = False,
) -> int:
    r"""Bytes to and from memory in tiles: $b\,(2T_q d + 2d \sum_i c_i)$.

    $Q$ is read once and $O$ written once; each of the $\lceil T_q/B_q \rceil$ tiles of queries
    reads the $c_i$ keys and values that it visits. These are all $T_k$, or under ``causal`` whole
    tiles up to its last query: $c_i = \min(T_k, B_k \lceil e_i / B_k \rceil)$ with
    $e_i = \min(T_q, (i + 1) B_q) + T_k - T_q$. Source: Dao et al. (2022), theorem 2.
    """
    check_causal(query, key, causal=causal)
    visited = 0
    for start in range(0, query, query_tile):
        end = min(query, start + query_tile) + key - query if causal else key
        visited += min(key, math.ceil(end / key_tile) * key_tile)
    return bytes_each * (2 * query * d + 2 * visited * d)


@checked
def decoding_bytes(query: Count, key: Count, d: Size, *, parts: Size, bytes_each: Size = 2) -> int:
    r"""Bytes that :func:`flash_decoding` moves: $b\,((1 + n)\,T_q + 2T_k)\,d + 8n\,T_q\,(d + 2)$.

    Each of the $n$ parts reads the queries; keys, values and outputs move once. The reports,
    $d + 2$ numbers in float32 for each query and part, are written and read again.
    Source: Dao, Haziza, Massa and Sizov (2023).
    """
    passed = bytes_each * ((1 + parts) * query * d + 2 * key * d)
    return passed + 2 * FLOAT32_BYTES * parts * query * (d + 2)


@checked
def shared_bytes(
    d: Size, *, query_tile: Size, key_tile: Size, stages: Size = 1, bytes_each: Size = 2
) -> int:
    r"""Bytes of the inputs that a tile of queries holds: $b\,(B_q + 2nB_k)\,d$.

    Its queries, and the keys and values of $n$ ``stages``, one in use and the others being loaded.
    Source: Dao et al. (2022), algorithm 1, line 1.
    """
    return bytes_each * (query_tile + 2 * stages * key_tile) * d


@checked
def register_bytes(d: Size, *, query_tile: Size, key_tile: Size) -> int:
    r"""Bytes that a tile of queries computes with, in float32: $4B_q\,(B_k + d + 2)$.

    The tile of scores and the running output, maximum and total. A kernel needs registers for
    addresses and operands besides. Source: Dao et al. (2022), algorithm 1, lines 9 to 13.
    """
    return FLOAT32_BYTES * query_tile * (key_tile + d + 2)


@checked
def on_chip_bytes(d: Size, *, query_tile: Size, key_tile: Size, bytes_each: Size = 2) -> int:
    r"""Bytes that one tile of queries holds on chip: $b\,(B_q + 2B_k)\,d + 4B_q\,(B_k + d + 2)$.

    The sum of :func:`shared_bytes`, with one stage, and :func:`register_bytes`, however long the
    sequence is. A GPU has a memory of its own for each of the two.
    Source: Dao et al. (2022), algorithm 1, line 1.
    """
    tiles = {"query_tile": query_tile, "key_tile": key_tile}
    return shared_bytes(d, **tiles, bytes_each=bytes_each) + register_bytes(d, **tiles)


# What a computation carries --------------------------------------------------------------------


class TrafficMeter(TorchDispatchMode):
    """Counts the ``bytes`` that operators read and write, and the entries of their results.

    ``largest`` counts those of the largest array, ``most`` those that exist at the same time.
    ``with TrafficMeter() as meter: ...`` sees every operator of PyTorch, each as if it read all
    its arrays from memory and wrote all its results there. A view, such as a transpose, moves
    nothing. Source: Williams, Waterman and Patterson (2009), section 3.
    """

    bytes: int = 0
    largest: int = 0
    most: int = 0
    _alive: int = 0

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator, and count its inputs and results."""
        result = operator(*args, **(kwargs or {}))
        if not operator.is_view:
            read, made = _tensors((args, kwargs)), _tensors(result)
            self.bytes += sum(x.numel() * x.element_size() for x in read + made)
            for x in made:
                if not any(x is other for other in read):  # not changed in place
                    self._count(x.numel())
                    weakref.finalize(x, self._count, -x.numel())
        return result

    def _count(self, entries: int) -> None:
        self._alive += entries
        self.largest, self.most = max(self.largest, entries), max(self.most, self._alive)


def kept_entries(way: Callable[..., Any], *inputs: Tensor) -> int:
    """The entries of all arrays that ``way(*inputs)`` keeps for backward, each counted once."""
    kept: dict[int, Tensor] = {}

    def keep(x: Tensor) -> Tensor:
        kept[x.data_ptr()] = x
        return x

    with saved_tensors_hooks(keep, lambda x: x):
        way(*(x.detach().requires_grad_() for x in inputs))
    return sum(x.numel() for x in kept.values())


def _tensors(tree: Any) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor)]


# What the functions above share ------------------------------------------------------------------


def _check_some(query: Tensor, key: Tensor) -> None:
    """Raise without features to compare, and for queries without any key."""
    check_size("d, the number of features of query", query.shape[-1])
    check_visible(None, (*query.shape[:-1], key.shape[-2]))


def _check_reports(**reports: Partial) -> None:
    axes = {"maximum": "*query", "total": "*query", "output": "*query d"}
    parts = {f"{name}.{part}": getattr(reports[name], part) for name in reports for part in axes}
    check_floating(**parts)
    check_shapes(**{name: (part, axes[name.split(".")[1]]) for name, part in parts.items()})
