"""Attempts at the exercises of lecture 15, right and wrong."""

import math

import numpy as np
import torch
from torch import Tensor

from course_lib.tiled_attention import Partial, merge, naive_bytes, tiled_bytes


def stepped(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    """One score after the other."""
    for s in score:
        higher = torch.maximum(maximum, s)
        total = (maximum - higher).exp() * total + (s - higher).exp()
        maximum = higher
    return torch.stack([maximum, total])


def by_logarithm(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    """Through the logarithm of the whole sum, which has no maximum."""
    higher = torch.maximum(maximum, score.max())
    level = torch.logsumexp(torch.cat([score, (maximum + total.log())[None]]), 0)
    return torch.stack([higher, (level - higher).exp()])


def of_the_library(first: Tensor, second: Tensor) -> Tensor:
    merged = merge(*(Partial(x[0], x[1], x[2:]) for x in (first, second)))
    return torch.cat([merged.maximum[None], merged.total[None], merged.output])


def mended(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    unit = maximum.nan_to_num(neginf=0.0)
    sums = (first[:1] - unit).exp() * first[1:] + (second[:1] - unit).exp() * second[1:]
    return torch.cat([maximum, sums])


def counted(query: int, key: int, d: int, query_tile: int) -> Tensor:
    tiled = tiled_bytes(query, key, d, query_tile=query_tile)
    return torch.tensor([naive_bytes(query, key, d), tiled], dtype=torch.float64)


RIGHT = {
    "online softmax": ("online_softmax", stepped),
    "online softmax by the logarithm": ("online_softmax", by_logarithm),
    "merge": ("merge_partials", mended),
    "merge of the library": ("merge_partials", of_the_library),
    "bytes": ("attention_bytes", counted),
    "bytes in numpy": ("attention_bytes", lambda *sizes: counted(*sizes).numpy()),
}


def step(shrink: object, *, own: bool = False) -> object:
    """A step whose old total is shrunk as given, its new scores relative to their own maximum."""

    def attempt(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
        higher = torch.maximum(maximum, score.max())
        new = (score - (score.max() if own else higher)).exp().sum()
        return torch.stack([higher, shrink(maximum - higher, total, new)])

    return attempt


def one_more_infinity(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    """Weighs the old total by its own maximum, which is -inf at the start."""
    higher = torch.maximum(maximum, score.max())
    return torch.stack(
        [higher, (total.log() + maximum - maximum - higher).exp() + (score - higher).exp().sum()]
    )


def newest(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    shrink = (maximum - score.max()).exp()
    return torch.stack([score.max(), shrink * total + (score - score.max()).exp().sum()])


def unsafe_step(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    higher = torch.maximum(maximum, score.max())
    whole = score.exp().sum() + (maximum.exp() * total if total else 0)
    return torch.stack([higher, whole / higher.exp()])


def merged(total: object, output: object) -> object:
    """A merge of the right maximum, whose total and blend are made as given."""

    def attempt(first: Tensor, second: Tensor) -> Tensor:
        maximum = torch.maximum(first[:1], second[:1])
        unit = maximum.nan_to_num(neginf=0.0)
        a, b = (first[:1] - unit).exp(), (second[:1] - unit).exp()
        return torch.cat(
            [maximum, total(a, b, first[1:2], second[1:2]), output(a, b, first, second)]
        )

    return attempt


def right_total(a: Tensor, b: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return a * first + b * second


def first_is_larger(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    shrink = (second[:1] - first[:1]).exp()
    return torch.cat([maximum, first[1:] + shrink * second[1:]])


def unsafe_merge(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    whole = first[:1].exp() * first[1:] + second[:1].exp() * second[1:]
    return torch.cat([maximum, whole / maximum.exp()])


def without_nothing(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    sums = (first[:1] - maximum).exp() * first[1:] + (second[:1] - maximum).exp() * second[1:]
    return torch.cat([maximum, sums])


def bytes_of(
    table: int = 4, *, each: float = 2.0, tiles: object = math.ceil, repeated: bool = False
) -> object:
    """A count with so many trips of the table, so many bytes a number, and tiles rounded so."""

    def attempt(query: int, key: int, d: int, query_tile: int) -> Tensor:
        small = 2 * query * d + 2 * key * d
        fetches = tiles(query / query_tile)
        tiled = small * fetches if repeated else 2 * query * d + 2 * key * d * fetches
        return each * torch.tensor([float(small + table * query * key), float(tiled)])

    return attempt


# What was tried, and the property that refuses it.
WRONG = {
    "the old total as it is": (
        "online_softmax",
        step(lambda _, total, new: total + new),
        "the total is the sum over old and new scores",
    ),
    "the newest maximum": (
        "online_softmax",
        newest,
        "the larger one of the old maximum and all new scores",
    ),
    "infinity minus infinity": ("online_softmax", one_more_infinity, "at the start"),
    "no maximum taken off": ("online_softmax", unsafe_step, "scores of a thousand do not overflow"),
    "sums added as they are": (
        "merge_partials",
        lambda first, second: torch.cat(
            [torch.maximum(first[:1], second[:1]), first[1:] + second[1:]]
        ),
        "the sum of weights is that over all keys",
    ),
    "maxima added": (
        "merge_partials",
        lambda first, second: first + second,
        "the maximum is the larger one of both",
    ),
    "the first is larger": (
        "merge_partials",
        first_is_larger,
        "the order of the two does not matter",
    ),
    "blends added as they are": (
        "merge_partials",
        merged(right_total, lambda _, __, first, second: first[2:] + second[2:]),
        "the blend of values is that over all keys",
    ),
    "no maximum taken off a report": (
        "merge_partials",
        unsafe_merge,
        "scores of a thousand do not overflow",
    ),
    "two that saw nothing": ("merge_partials", without_nothing, "a report on no keys"),
    "the table alone": (
        "attention_bytes",
        lambda query, key, d, query_tile: np.array(
            [8.0 * query * key, counted(query, key, d, query_tile)[1]]
        ),
        "each operator reads what it needs",
    ),
    "the output forgotten": (
        "attention_bytes",
        lambda query, key, d, query_tile: (
            counted(query, key, d, query_tile) - torch.tensor([0.0, 2.0 * query * d])
        ),
        "in one tile, every query, key, value and output moves exactly once",
    ),
    "queries with every tile": (
        "attention_bytes",
        bytes_of(repeated=True),
        "every tile of queries fetches all keys and values once more",
    ),
    "a part of a tile": (
        "attention_bytes",
        bytes_of(tiles=lambda ratio: ratio),
        "a last tile that is not full is a tile too",
    ),
    "whole numbers": (
        "attention_bytes",
        lambda *sizes: counted(*sizes).long(),
        "a tensor of the right kind and shape",
    ),
}
