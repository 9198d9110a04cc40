import torch
from torch import Tensor

from course_lib.attention import causal_mask
from course_lib.generation import next_token_probabilities


def last_rows(tokens: int, before: int) -> Tensor:
    return causal_mask(before + tokens)[before:]


def token_by_token(probability: Tensor, p: float) -> Tensor:
    kept, together = torch.zeros(len(probability)), 0.0
    for place in probability.argsort(descending=True).tolist():
        if together < p:
            kept[place] = probability[place]
            together += probability[place].item()
    return kept / kept.sum()


def of_the_library(probability: Tensor, p: float) -> Tensor:
    return next_token_probabilities(probability.double().log(), top_p=p)


RIGHT = {
    "cached_mask": [last_rows],
    "top_p": [of_the_library, token_by_token],
}


WRONG = {
    "cached_mask": [
        lambda tokens, before: (
            last_rows(tokens, before) & (torch.arange(before + tokens) >= before)
        ),
        lambda tokens, before: (
            last_rows(tokens, before)
            & (
                torch.eye(before + tokens).bool()[before:]
                | (torch.arange(before + tokens) < before)
            )
        ),
    ],
    "top_p": ["probability sorted", "probability squared", "p squared", "p rooted"],
}
