"""Each claim of lecture 2 holds for the library and falls to an implementation that is wrong."""

import math
from collections.abc import Callable

import pytest
import torch
from claims import claims, holds_and_falls
from einops import rearrange
from torch import Tensor

from course_lib import attention as library

pytestmark = pytest.mark.slow

LECTURE = "02_self_attention"


def weights_from(score: Callable, dim: int = -1) -> Callable:
    def weights(query: Tensor, key: Tensor, *, scale: float | None = None) -> Tensor:
        factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        return (factor * score(query, key)).softmax(dim)

    return weights


def dot(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT


def scaled_by_d(query: Tensor, key: Tensor, *, scale: float | None = None) -> Tensor:
    return (dot(query, key) * (scale or 1 / query.shape[-1])).softmax(-1)


def blended_by(weights: Callable) -> Callable:
    return lambda query, key, value: weights(query, key) @ value


class DealtOut(library.MultiHeadAttention):
    """Features are assigned to heads in turn, not in blocks."""

    def _split(self, x: Tensor) -> Tensor:
        return rearrange(x, "... tokens (d h) -> ... h tokens d", h=self.heads)


class Numbered(library.MultiHeadAttention):
    """Adds positions to tokens."""

    def forward(self, x: Tensor, **chosen: Tensor) -> Tensor:
        return super().forward(x + torch.arange(len(x))[:, None], **chosen)


class ProjectsTwice(library.MultiHeadAttention):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 0 * self.query(x)


class WithoutBias(library.MultiHeadAttention):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__(d_model, heads, bias=False)


WRONG = {
    "distance for the score": ("prop-mutual", {"attention_weights": weights_from(torch.cdist)}),
    "weights of another scale": ("prop-input-weights", {"attention": blended_by(scaled_by_d)}),
    "divided by d": ("prop-variance", {"attention_weights": scaled_by_d}),
    "softmax over one query": ("prop-saturation", {"attention_weights": weights_from(dot, dim=-2)}),
    "features dealt out": ("prop-heads", {"MultiHeadAttention": DealtOut}),
    "dealt out beside torch": ("prop-torch", {"MultiHeadAttention": DealtOut}),
    "no biases": ("prop-parameters", {"MultiHeadAttention": WithoutBias}),
    "numbered tokens": ("prop-equivariant", {"MultiHeadAttention": Numbered}),
    "mask of the future": ("prop-causal", {"causal_mask": lambda t: library.causal_mask(t).T}),
    "a projection too many": ("prop-cost", {"MultiHeadAttention": ProjectsTwice}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, lambda: vars(library))
