from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_lib import attention


def sliced_heads(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


RIGHT = {
    "causal_mask": [attention.causal_mask, lambda tokens: np.tri(tokens, dtype=bool)],
    "attention": [attention.attention],
    "split_heads": [
        sliced_heads,
        lambda x, heads: x.requires_grad_().unflatten(-1, (heads, -1)).transpose(1, 2),
    ],
}


def dot_attention(scale: Callable, dim: int = -1) -> Callable:
    return lambda q, k, v: (q @ k.T * scale(q, k, v)).softmax(dim) @ v


def signed(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    score = query @ key.T
    return (score - score.mean(-1, keepdim=True) + 1 / len(key)) @ value


WRONG = {
    "causal_mask": ["answer transposed"],
    "attention": [
        signed,
        "query one more",
        "query the same for all",
        "key off by one",
        dot_attention(lambda *_: 1.0),
    ],
    "split_heads": [
        lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
    ],
}
