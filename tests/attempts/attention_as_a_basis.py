"""Attempts at the exercises of lecture 3, right and wrong."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_lib import basis as library


def tents(x: Tensor, nodes: Tensor) -> Tensor:
    """As the lecture draws them: the lower of a line that rises and a line that falls."""
    wall = torch.tensor([math.inf])
    before, after = torch.cat([-wall, nodes[:-1]]), torch.cat([nodes[1:], wall])
    rise = torch.nan_to_num((x[:, None] - before) / (nodes - before), nan=1.0)
    fall = torch.nan_to_num((after - x[:, None]) / (after - nodes), nan=1.0)
    return torch.minimum(rise, fall).clamp(min=0)


def by_numpy(x: Tensor, nodes: Tensor) -> Tensor:
    columns = [np.interp(x, nodes, value) for value in np.eye(len(nodes), dtype=np.float32)]
    return torch.as_tensor(np.stack(columns, axis=-1))


def by_sparsemax(x: Tensor, nodes: Tensor) -> Tensor:
    key, bias = library.hat_keys(nodes)
    return library.sparsemax(x[:, None] * key + bias)


def as_attention(x: Tensor, nodes: Tensor, temperature: float) -> Tensor:
    score = (2 * x[:, None] * nodes - nodes.square()) / temperature
    return score.softmax(dim=-1)


def stable(x: Tensor, nodes: Tensor, temperature: float) -> Tensor:
    score = -((x[:, None] - nodes) ** 2) / temperature
    gauss = (score - score.amax(-1, keepdim=True)).exp()
    return gauss / gauss.sum(-1, keepdim=True)


def multiplied(x: Tensor, p: float, noise: Tensor) -> Tensor:
    return x * (noise >= p) / (1 - p)


RIGHT = {
    "hat of the library": ("hat", library.hat),
    "hat as a tent": ("hat", tents),
    "hat by NumPy": ("hat", by_numpy),
    "hat by a sparsemax": ("hat", by_sparsemax),
    "softmax basis of the library": ("softmax_basis", library.softmax_basis),
    "softmax basis as attention": ("softmax_basis", as_attention),
    "softmax basis with care": ("softmax_basis", stable),
    "dropout by a product": ("dropout", multiplied),
    "dropout by a choice": (
        "dropout",
        lambda x, p, noise: torch.where(noise < p, torch.zeros(()), x / (1 - p)),
    ),
}


def shares(bend: Callable[[Tensor], Tensor], *, right: bool = False) -> Callable:
    """The two neighbours, the right one with a bent share."""

    def attempt(x: Tensor, nodes: Tensor) -> Tensor:
        after = torch.searchsorted(nodes, x, right=True).clamp(max=len(nodes) - 1)
        share = bend((x - nodes[after - 1]) / (nodes[after] - nodes[after - 1]))
        weights, row = torch.zeros(len(x), len(nodes)), torch.arange(len(x))
        weights[row, after] = 1 - share if right else share
        weights[row, after - 1] = share if right else 1 - share
        return weights

    return attempt


def half_open(x: Tensor, nodes: Tensor) -> Tensor:
    return library.hat(x, nodes) * (x < nodes[-1])[:, None]


def lagrange(x: Tensor, nodes: Tensor) -> Tensor:
    columns = []
    for i, node in enumerate(nodes):
        others = torch.cat([nodes[:i], nodes[i + 1 :]])
        columns.append(((x[:, None] - others) / (node - others)).prod(dim=-1))
    return torch.stack(columns, dim=-1)


def squared(x: Tensor, nodes: Tensor) -> Tensor:
    return library.hat(x, nodes) ** 2


def between_ends(x: Tensor, nodes: Tensor) -> Tensor:
    """Right at the nodes, but every other point is a blend of the two ends."""
    share = ((x - nodes[0]) / (nodes[-1] - nodes[0]))[:, None]
    ends = torch.eye(len(nodes))[[0, -1]]
    blended = (1 - share) * ends[0] + share * ends[1]
    return torch.where((x[:, None] == nodes).any(-1, keepdim=True), library.hat(x, nodes), blended)


def warm(score: Callable, *, axis: int = -1) -> Callable[[Tensor, Tensor, float], Tensor]:
    return lambda x, nodes, temperature: score(x[:, None], nodes, temperature).softmax(dim=axis)


def naive(x: Tensor, nodes: Tensor, temperature: float) -> Tensor:
    gauss = torch.exp(-((x[:, None] - nodes) ** 2) / temperature)
    return gauss / gauss.sum(-1, keepdim=True)


# What was tried, and the property that refuses it.
WRONG = {
    "the last interval is open": ("hat", half_open, "at a node, its own hat is 1"),
    "polynomials of Lagrange": ("hat", lagrange, "no weight is negative"),
    "hats squared": ("hat", squared, "sum to one"),
    "a blend of the two ends": ("hat", between_ends, "only the two nodes beside"),
    "a parabola": ("hat", shares(lambda share: share**2), "the blend at a point is the point"),
    "over the points": (
        "softmax_basis",
        warm(lambda x, nodes, tau: -((x - nodes) ** 2) / tau, axis=0),
        "the weights of every point sum to one",
    ),
    "the farthest first": (
        "softmax_basis",
        warm(lambda x, nodes, tau: (x - nodes) ** 2 / tau),
        "no node weighs more than the nearest",
    ),
    "without the square of the node": (
        "softmax_basis",
        warm(lambda x, nodes, tau: 2 * x * nodes / tau),
        "moving all points and all nodes",
    ),
    "distances not squared": (
        "softmax_basis",
        warm(lambda x, nodes, tau: -(x - nodes).abs() / tau),
        "minus the squared distance",
    ),
    "nothing left when cold": ("softmax_basis", naive, "a cold point far from all nodes"),
    "a mean of halves": (
        "dropout",
        lambda x, p, noise: 2 * x * (noise >= p),
        "with p = 0 nothing changes",
    ),
    "drops what it should keep": (
        "dropout",
        lambda x, p, noise: x * (noise < p) / max(p, 0.25) if p else x,
        "where the noise is less than p",
    ),
    "not lifted": ("dropout", lambda x, p, noise: x * (noise >= p), "averaged over a noise"),
    "whole rows": (
        "dropout",
        lambda x, p, noise: x * (noise.amin(-1, keepdim=True) >= p) / (1 - p),
        "by its own noise alone",
    ),
}
