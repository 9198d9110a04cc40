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

# What was tried, and the property that refuses it.
WRONG = {
    "all tokens at once": (
        "layer_norm",
        lambda x, weight, bias: (
            weight * (x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt() + bias
        ),
        "normed by itself",
    ),
    "no mean": ("layer_norm", norm(centre=False), "have mean 0"),
    "by the variance": ("layer_norm", norm(power=1.0), "have variance 1"),
    "no small number": ("layer_norm", norm(epsilon=0.0), "equal features becomes the bias"),
    "bias before weight": (
        "layer_norm",
        norm(finish=lambda z, w, b: w * (z + b)),
        "becomes the bias",
    ),
    "no weight": ("layer_norm", norm(finish=lambda z, _, b: z + b), "the bias comes last"),
    "one more norm": ("pre_norm_stack", with_a_norm_at_the_end, "no layers changes nothing"),
    "no way around": (
        "pre_norm_stack",
        stack(lambda x, matrix: normed(x) @ matrix),
        "add nothing change nothing",
    ),
    "no norm": ("pre_norm_stack", stack(lambda x, matrix: x + x @ matrix), "the normed token"),
    "side by side": ("pre_norm_stack", side_by_side, "made of the token"),
}
