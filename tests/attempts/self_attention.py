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


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "all may see all": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool),
        "no token may look at a token after it",
        "tokens = 2",
        "first row",
    ),
    "transposed": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(),
        "every token may look at the tokens before it",
        "tokens = 2",
        "Rows are queries",
    ),
    "True hides": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(1),
        "every token may look at itself",
        "tokens = 1",
        "the other way round",
    ),
    "past without present": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).tril(-1),
        "every token may look at itself",
        "tokens = 1",
        "present",
    ),
    "one step too far": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).tril(1),
        "no token may look at a token after it",
        "tokens = 2",
        "first row",
    ),
    "numbers for bool": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens).tril(),
        "a tensor of the right kind and shape",
        "of dtype torch.float32 instead of torch.bool",
        "comparison gives bool",
    ),
    "no scale": (
        "attention",
        dot_attention(lambda *_: 1.0),
        "softmax of the scaled dot products",
        "query = tensor([[0., 1.]])",
        "not to be scaled",
    ),
    "scaled by d": (
        "attention",
        dot_attention(lambda q, *_: 1 / q.shape[1]),
        "softmax of the scaled dot products",
        "query = tensor([[0., 1.]])",
        "divided by d",
    ),
    "scaled by the d of values": (
        "attention",
        dot_attention(lambda *inputs: inputs[2].shape[1] ** -0.5),
        "softmax of the scaled dot products",
        "query = tensor([[1.]])",
        "that of the values",
    ),
    "scaled by the number of keys": (
        "attention",
        dot_attention(lambda *inputs: len(inputs[1]) ** -0.5),
        "softmax of the scaled dot products",
        "query = tensor([[1.]])",
        "number of keys",
    ),
    "softmax over queries": (
        "attention",
        dot_attention(lambda q, *_: q.shape[1] ** -0.5, dim=0),
        "with one key, every query gets its value",
        "query = tensor([[0.],\n                  [0.]])",
        "Over which axis",
    ),
    "no softmax": (
        "attention",
        lambda q, k, v: q @ k.T @ v,
        "with one key, every query gets its value",
        "value = tensor([[1.]])",
        "sum to one",
    ),
    "key's place counts": (
        "attention",
        forgetful_attention,
        "reversing the order of keys and values",
        "value = tensor([[0.],\n                  [1.]])",
        "not by where it stands",
    ),
    "queries mixed": (
        "attention",
        crowd_attention,
        "reversing the order of the queries",
        "query = tensor([[0.],\n                  [1.]])",
        "one query know of the others",
    ),
    "reshape alone": (
        "split_heads",
        lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
        "row t holds features of token t alone",
        "x = tensor([[[0., 1.],\n               [2., 3.]]])",
        "knows nothing of tokens",
    ),
    "every other feature": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
        "first head holds the first features",
        "x = tensor([[[0., 1., 2., 3.]]])",
        "features 0 1 2 3",
    ),
    "first head for all": (
        "split_heads",
        lambda x, heads: sliced_heads(x, heads)[:, :1].expand(-1, heads, -1, -1),
        "every number of x is there once",
        "heads = 2",
        "repeat",
    ),
    "head axis in the wrong place": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (heads, -1)),
        "a tensor of the right kind and shape",
        "instead of",
        "shape",
    ),
}
