"""Attempts at the exercises of lecture 1, right and wrong."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention


def numpy_softmax(score: Tensor) -> np.ndarray:
    score = score.numpy()
    grown = np.exp(score - score.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


RIGHT = {
    "softmax of torch": ("softmax", lambda score: score.softmax(-1)),
    "softmax in numpy": ("softmax", numpy_softmax),
    "softmax in a reversed view": ("softmax", lambda s: numpy_softmax(s.flip(-1))[..., ::-1]),
    "softmax in float64": ("softmax", lambda score: score.double().softmax(-1)),
    "soft lookup": ("soft_lookup", lambda q, k, v: (k @ q).softmax(0) @ v),
    "soft lookup by attention": (
        "soft_lookup",
        lambda q, k, v: attention.attention(q[None], k, v, scale=1.0)[0],
    ),
    "hard lookup": ("hard_lookup", lambda q, k, v: v[(k @ q).argmax()]),
    "hard lookup, last of the best": (
        "hard_lookup",
        lambda q, k, v: v.flip(0)[(k.flip(0) @ q).argmax()],
    ),
}


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "over the first axis": (
        "softmax",
        lambda score: score.softmax(0),
        "weights along the last axis sum to one",
        "score = tensor([[0., 0.]])",
        "last axis",
    ),
    "one total for all rows": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(),
        "weights along the last axis sum to one",
        "score = tensor([[0.],\n                  [0.]])",
        "one for each row",
    ),
    "total that lost its axis": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1),
        "a tensor of the right kind and shape",
        "of shape (2, 2) instead of (2, 1)",
        "shape of every intermediate result",
    ),
    "not divided": (
        "softmax",
        lambda score: score.exp(),
        "weights along the last axis sum to one",
        "score = tensor([1.])",
        "total",
    ),
    "sigmoid": (
        "softmax",
        lambda score: score.sigmoid(),
        "weights along the last axis sum to one",
        "score = tensor([0.])",
        "total",
    ),
    "log of the weights": (
        "softmax",
        lambda score: score.log_softmax(-1),
        "no weight is negative",
        "score = tensor([0., 0.])",
        "any number positive",
    ),
    "square instead of exponential": (
        "softmax",
        lambda score: (score**2 + 1) / (score**2 + 1).sum(-1, keepdim=True),
        "adding the same number",
        "score = tensor([0., 1.])",
        "differences",
    ),
    "normalised gates": (
        "softmax",
        lambda score: score.sigmoid() / score.sigmoid().sum(-1, keepdim=True),
        "adding the same number",
        "score = tensor([0., 1.])",
        "differences",
    ),
    "base two": (
        "softmax",
        lambda score: torch.exp2(score) / torch.exp2(score).sum(-1, keepdim=True),
        "ln 2",
        "score = tensor([0.0000, 0.6931])",
        "which base",
    ),
    "overflow": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1, keepdim=True),
        "scores as large as 10,000",
        "score = tensor([10000.])",
        "too large for a float",
    ),
    "zero over zero": (
        "softmax",
        lambda score: score / score.sum(-1, keepdim=True),
        "a tensor of the right kind and shape",
        "returned tensor([nan])",
        "divide by",
    ),
    "hard for soft lookup": (
        "soft_lookup",
        lambda q, k, v: v[(k @ q).argmax()],
        "the mean of the values",
        "keys = tensor([[0.],\n                 [0.]])",
        "Equal scores",
    ),
    "blend of keys": (
        "soft_lookup",
        lambda q, k, _: (k @ q).softmax(0) @ k,
        "a tensor of the right kind and shape",
        "of shape (1,) instead of (2,)",
        "shape",
    ),
    "scores not normalised": (
        "soft_lookup",
        lambda q, k, v: (k @ q) @ v,
        "with one key, its value comes back",
        "returned tensor([0.])",
        "sum to one",
    ),
    "signed weights that sum to one": (
        "soft_lookup",
        lambda q, k, v: (k @ q - (k @ q).mean() + 1 / len(k)) @ v,
        "between the smallest and the largest value",
        "returned",
        "leave the range",
    ),
    "place counts": (
        "soft_lookup",
        lambda q, k, v: (k @ q + torch.arange(len(k)) * q.norm()).softmax(0) @ v,
        "reversing the order of keys and values",
        "values = tensor([[0.],\n                   [1.]])",
        "not by where it stands",
    ),
    "cosine": (
        "soft_lookup",
        lambda q, k, v: F.cosine_similarity(k, q, dim=-1).softmax(0) @ v,
        "softmax of the dot products",
        "keys = tensor([[0.],\n                 [2.]])",
        "length of the key cancel",
    ),
    "scaled too soon": (
        "soft_lookup",
        lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v,
        "softmax of the dot products",
        "query = tensor([0., 1.])",
        "Lecture 2 does that",
    ),
    "worst key most": (
        "soft_lookup",
        lambda q, k, v: (-k @ q).softmax(0) @ v,
        "softmax of the dot products",
        "returned tensor([0.2689])",
        "sign of the scores",
    ),
    "soft for hard lookup": (
        "hard_lookup",
        lambda q, k, v: (k @ q).softmax(0) @ v,
        "one of the values",
        "returned tensor([0.5000])",
        "blends nothing",
    ),
    "worst key": (
        "hard_lookup",
        lambda q, k, v: v[(k @ q).argmin()],
        "wins over a key of zeros",
        "returned tensor([0.])",
        "fits worst",
    ),
    "nearest key": (
        "hard_lookup",
        lambda q, k, v: v[(k - q).norm(dim=-1).argmin()],
        "wins over the query itself",
        "keys = tensor([[1.],\n                 [2.]])",
        "pick the nearest",
    ),
    "smallest angle": (
        "hard_lookup",
        lambda q, k, v: v[F.cosine_similarity(k, q, dim=-1).argmax()],
        "wins over the query itself",
        "keys = tensor([[1.],\n                 [2.]])",
        "length cancel",
    ),
    "first two keys alone": (
        "hard_lookup",
        lambda q, k, v: v[(k[:2] @ q).argmax()],
        "no other key has a larger dot product",
        "values = tensor([[0.],\n                   [0.],\n                   [1.]])",
        "print them",
    ),
}
