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


# What was tried, and the property that refuses it.
WRONG = {
    "total that lost its axis": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1),
        "a tensor of the right kind and shape",
    ),
    "not divided": ("softmax", lambda score: score.exp(), "weights along the last axis sum to one"),
    "log of the weights": ("softmax", lambda score: score.log_softmax(-1), "no weight is negative"),
    "square instead of exponential": (
        "softmax",
        lambda score: (score**2 + 1) / (score**2 + 1).sum(-1, keepdim=True),
        "adding the same number",
    ),
    "base two": (
        "softmax",
        lambda score: torch.exp2(score) / torch.exp2(score).sum(-1, keepdim=True),
        "ln 2",
    ),
    "overflow": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1, keepdim=True),
        "scores as large as 10,000",
    ),
    "hard for soft lookup": (
        "soft_lookup",
        lambda q, k, v: v[(k @ q).argmax()],
        "the mean of the values",
    ),
    "blend of keys": (
        "soft_lookup",
        lambda q, k, _: (k @ q).softmax(0) @ k,
        "a tensor of the right kind and shape",
    ),
    "scores not normalised": (
        "soft_lookup",
        lambda q, k, v: (k @ q) @ v,
        "with one key, its value comes back",
    ),
    "signed weights that sum to one": (
        "soft_lookup",
        lambda q, k, v: (k @ q - (k @ q).mean() + 1 / len(k)) @ v,
        "between the smallest and the largest value",
    ),
    "place counts": (
        "soft_lookup",
        lambda q, k, v: (k @ q + torch.arange(len(k)) * q.norm()).softmax(0) @ v,
        "reversing the order of keys and values",
    ),
    "cosine": (
        "soft_lookup",
        lambda q, k, v: F.cosine_similarity(k, q, dim=-1).softmax(0) @ v,
        "softmax of the dot products",
    ),
    "soft for hard lookup": (
        "hard_lookup",
        lambda q, k, v: (k @ q).softmax(0) @ v,
        "one of the values",
    ),
    "worst key": ("hard_lookup", lambda q, k, v: v[(k @ q).argmin()], "wins over a key of zeros"),
    "nearest key": (
        "hard_lookup",
        lambda q, k, v: v[(k - q).norm(dim=-1).argmin()],
        "wins over the query itself",
    ),
    "first two keys alone": (
        "hard_lookup",
        lambda q, k, v: v[(k[:2] @ q).argmax()],
        "no other key has a larger dot product",
    ),
}
