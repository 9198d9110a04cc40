"""Attempts at the exercises of lecture 7, right and wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.attention import causal_mask
from course_lib.generation import next_token_probabilities


def last_rows(tokens: int, before: int) -> Tensor:
    return causal_mask(before + tokens)[before:]


def by_places(tokens: int, before: int) -> Tensor:
    query = torch.arange(before, before + tokens)
    return torch.arange(before + tokens) <= query[:, None]


def token_by_token(probability: Tensor, p: float) -> Tensor:
    kept, together = torch.zeros(len(probability)), 0.0
    for place in probability.argsort(descending=True).tolist():
        if together < p:
            kept[place] = probability[place]
            together += probability[place].item()
    return kept / kept.sum()


def by_rank(probability: Tensor, p: float) -> Tensor:
    ranked, order = probability.sort(descending=True)
    kept = ranked * (ranked.cumsum(0) - ranked < p)
    return torch.zeros(len(probability)).scatter(0, order, kept / kept.sum())


def of_the_library(probability: Tensor, p: float) -> Tensor:
    return next_token_probabilities(probability.double().log(), top_p=p)


RIGHT = {
    "rows of the causal mask": ("cached_mask", last_rows),
    "mask by comparing places": ("cached_mask", by_places),
    "lower triangle moved": (
        "cached_mask",
        lambda tokens, before: torch.ones(tokens, before + tokens, dtype=torch.bool).tril(before),
    ),
    "top-p of the library": ("top_p", of_the_library),
    "top-p token by token": ("top_p", token_by_token),
    "top-p by rank": ("top_p", by_rank),
}


def ranked_cut(
    *,
    keep: Callable[[Tensor, float], Tensor] = lambda ranked, p: ranked.cumsum(0) - ranked < p,
    back: bool = True,
    rescale: Callable[[Tensor], Tensor] = lambda kept: kept / kept.sum(),
    descending: bool = True,
) -> Callable[[Tensor, float], Tensor]:
    def attempt(probability: Tensor, p: float) -> Tensor:
        ranked, order = probability.sort(descending=descending)
        cut = rescale(ranked * keep(ranked, p))
        return torch.zeros(len(probability)).scatter(0, order, cut) if back else cut

    return attempt


def down_to_nothing(probability: Tensor, p: float) -> Tensor:
    ranked, order = probability.sort(descending=True)
    kept = torch.zeros(len(probability)).scatter(0, order, ranked * (ranked.cumsum(0) <= p))
    return kept / kept.sum().clamp(min=1e-9)


# What was tried, and the property that refuses it.
WRONG = {
    "mask that forgets the cache": (
        "cached_mask",
        lambda tokens, before: torch.ones(tokens, before + tokens, dtype=torch.bool).tril(),
        "may look at itself",
    ),
    "mask of the new tokens alone": (
        "cached_mask",
        lambda tokens, before: torch.cat(
            [torch.zeros(tokens, before, dtype=torch.bool), causal_mask(tokens)], dim=1
        ),
        "all that the cache holds",
    ),
    "mask of cache and oneself": (
        "cached_mask",
        lambda tokens, before: torch.cat(
            [
                torch.ones(tokens, before, dtype=torch.bool),
                torch.eye(tokens, dtype=torch.bool),
            ],
            dim=1,
        ),
        "the new tokens before it",
    ),
    "no mask at all": (
        "cached_mask",
        lambda tokens, before: torch.ones(tokens, before + tokens, dtype=torch.bool),
        "look at a token after it",
    ),
    "mask without a cache": (
        "cached_mask",
        lambda tokens, _before: causal_mask(tokens),
        "right kind and shape",
    ),
    "top-p down to nothing": ("top_p", down_to_nothing, "sums to one"),
    "top-p that stays sorted": ("top_p", ranked_cut(back=False), "in reversed order"),
    "top-p by a new softmax": (
        "top_p",
        ranked_cut(rescale=lambda kept: kept.masked_fill(kept == 0, -torch.inf).softmax(0)),
        "keeps its proportions",
    ),
    "top-p of the least probable": ("top_p", ranked_cut(descending=False), "no smaller set"),
    "top-p as a threshold": (
        "top_p",
        lambda probability, p: (
            torch.where(
                (probability >= 1 - p) | (probability == probability.max()), probability, 0.0
            )
            / torch.where(
                (probability >= 1 - p) | (probability == probability.max()), probability, 0.0
            ).sum()
        ),
        "had p or more",
    ),
}
