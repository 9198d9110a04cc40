"""Attempts at the exercises of lecture 6, right and wrong."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def normed(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def by_module(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    norm = nn.LayerNorm(len(weight))
    norm.load_state_dict({"weight": weight, "bias": bias})
    return norm(x)


def token_by_token(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    rows = []
    for token in x:
        centred = token - token.mean()
        rows.append(weight * centred / (centred.square().mean() + 1e-5).sqrt() + bias)
    return torch.stack(rows)


def norm(
    *,
    axis: int = -1,
    centre: bool = True,
    correction: int = 0,
    power: float = 0.5,
    epsilon: float = 1e-5,
    finish: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda z, w, b: w * z + b,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        centred = x - x.mean(axis, keepdim=True)
        count = x.shape[axis] - correction
        variance = centred.square().sum(axis, keepdim=True) / count
        z = (centred if centre else x) / (variance + epsilon) ** power
        return finish(z, weight, bias)

    return attempt


def stack(step: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(x: Tensor, weight: Tensor) -> Tensor:
        for matrix in weight:
            x = step(x, matrix)
        return x

    return attempt


def recursive(x: Tensor, weight: Tensor) -> Tensor:
    if len(weight) == 0:
        return x
    before = recursive(x, weight[:-1])
    return before + normed(before) @ weight[-1]


def with_a_norm_at_the_end(x: Tensor, weight: Tensor) -> Tensor:
    return normed(recursive(x, weight))


def side_by_side(x: Tensor, weight: Tensor) -> Tensor:
    return x + sum((normed(x) @ matrix for matrix in weight), torch.zeros_like(x))


RIGHT = {
    "layer norm of PyTorch": ("layer_norm", by_module),
    "layer norm token by token": ("layer_norm", token_by_token),
    "a loop": ("pre_norm_stack", stack(lambda x, matrix: x + normed(x) @ matrix)),
    "recursion": ("pre_norm_stack", recursive),
}

# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "batch norm": (
        "layer_norm",
        norm(axis=0),
        "normed by itself",
        "x = tensor([[ 0.,  1.],",
        "which axis",
    ),
    "all tokens at once": (
        "layer_norm",
        lambda x, weight, bias: (
            weight * (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt() + bias
        ),
        "normed by itself",
        "x = tensor(",
        "which axis",
    ),
    "no mean": (
        "layer_norm",
        norm(centre=False),
        "have mean 0",
        "x = tensor([[0., 1.]])",
        "taken away",
    ),
    "by the variance": (
        "layer_norm",
        norm(power=1.0),
        "have variance 1",
        "x = tensor([[0., 1.]])",
        "divide by the variance",
    ),
    "sample variance": (
        "layer_norm",
        norm(correction=1),
        "have variance 1",
        "x = tensor([[0., 1.]])",
        "an estimate from a sample",
    ),
    "no small number": (
        "layer_norm",
        norm(epsilon=0.0),
        "equal features becomes the bias",
        "returned tensor([[nan, nan]])",
        "dividing nothing",
    ),
    "bias before weight": (
        "layer_norm",
        norm(finish=lambda z, w, b: w * (z + b)),
        "becomes the bias",
        "bias = tensor([0., 1.])",
        "What is left",
    ),
    "no weight": (
        "layer_norm",
        norm(finish=lambda z, _, b: z + b),
        "the bias comes last",
        "weight = tensor([0., 0.])",
        "a weight of 0",
    ),
    "one more norm": (
        "pre_norm_stack",
        with_a_norm_at_the_end,
        "no layers changes nothing",
        "x = tensor([[0., 1.]])",
        "outside of your loop",
    ),
    "no way around": (
        "pre_norm_stack",
        stack(lambda x, matrix: normed(x) @ matrix),
        "add nothing change nothing",
        "returned tensor([[0., 0.]])",
        "Nothing of the token is left",
    ),
    "around the layer, through the norm": (
        "pre_norm_stack",
        stack(lambda x, matrix: normed(x) + normed(x) @ matrix),
        "add nothing change nothing",
        "x = tensor([[0., 1.]])",
        "no clear way",
    ),
    "post-norm": (
        "pre_norm_stack",
        stack(lambda x, matrix: normed(x + x @ matrix)),
        "add nothing change nothing",
        "x = tensor([[0., 1.]])",
        "no clear way",
    ),
    "norm of the branch": (
        "pre_norm_stack",
        stack(lambda x, matrix: x + normed(x @ matrix)),
        "the normed token",
        "x = tensor(",
        "before the matrix",
    ),
    "no norm": (
        "pre_norm_stack",
        stack(lambda x, matrix: x + x @ matrix),
        "the normed token",
        "x = tensor(",
        "Where is the norm",
    ),
    "matrix from the left": (
        "pre_norm_stack",
        stack(lambda x, matrix: x + normed(x) @ matrix.T),
        "the normed token",
        "x = tensor(",
        "what its matrix is applied to",
    ),
    "side by side": (
        "pre_norm_stack",
        side_by_side,
        "made of the token",
        "x = tensor(",
        "the first one gave",
    ),
}
