"""Attempts at the exercises of lecture 2, right and wrong."""

import numpy as np
import torch
from torch import Tensor

from course_lib import attention


def looped_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    rows = []
    for q in query:
        grown = torch.stack([(q @ k / len(q) ** 0.5).exp() for k in key])
        rows.append(sum(w * v for w, v in zip(grown / grown.sum(), value, strict=True)))
    return torch.stack(rows)


def sliced_heads(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


RIGHT = {
    "causal mask": ("causal_mask", attention.causal_mask),
    "causal mask in numpy": ("causal_mask", lambda tokens: np.tri(tokens, dtype=bool)),
    "attention": ("attention", attention.attention),
    "attention in loops": ("attention", looped_attention),
    "split heads": ("split_heads", sliced_heads),
    "split heads with gradient": (
        "split_heads",
        lambda x, heads: x.requires_grad_().unflatten(-1, (heads, -1)).transpose(1, 2),
    ),
}


def dot_attention(scale: object, dim: int = -1) -> object:
    return lambda q, k, v: (q @ k.T * scale(q, k, v)).softmax(dim) @ v


def forgetful_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    place = torch.arange(len(key))
    return (query @ key.T / query.shape[1] ** 0.5 + place * query.norm()).softmax(-1) @ value


def crowd_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    mixed = query + query[:1]
    return (mixed @ key.T / query.shape[1] ** 0.5).softmax(-1) @ value


# What was tried, and the property that refuses it.
WRONG = {
    "all may see all": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool),
        "no token may look at a token after it",
    ),
    "transposed": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(),
        "every token may look at the tokens before it",
    ),
    "True hides": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(1),
        "every token may look at itself",
    ),
    "numbers for bool": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens).tril(),
        "a tensor of the right kind and shape",
    ),
    "no scale": ("attention", dot_attention(lambda *_: 1.0), "softmax of the scaled dot products"),
    "no softmax": (
        "attention",
        lambda q, k, v: q @ k.T @ v,
        "with one key, every query gets its value",
    ),
    "key's place counts": (
        "attention",
        forgetful_attention,
        "reversing the order of keys and values",
    ),
    "queries mixed": ("attention", crowd_attention, "reversing the order of the queries"),
    "reshape alone": (
        "split_heads",
        lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
        "row t holds features of token t alone",
    ),
    "every other feature": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
        "first head holds the first features",
    ),
    "first head for all": (
        "split_heads",
        lambda x, heads: sliced_heads(x, heads)[:, :1].expand(-1, heads, -1, -1),
        "every number of x is there once",
    ),
    "head axis in the wrong place": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (heads, -1)),
        "a tensor of the right kind and shape",
    ),
}
