import torch
from torch import Tensor

from course_lib import light_curves
from course_lib.light_curves import astromer


def mean_star_for_star(tokens: Tensor, valid: Tensor) -> Tensor:
    return torch.stack([star[flags].mean(0) for star, flags in zip(tokens, valid, strict=True)])


RIGHT = {
    "phase": [light_curves.phase],
    "visible_mask": [lambda valid, hidden: (valid & ~hidden).expand(len(valid), -1)],
    "reconstruction_error": [astromer.reconstruction_error],
    "mean_of_nights": [mean_star_for_star],
}


def each_star_first(predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> Tensor:
    square = (predicted - magnitude).square() * hidden
    return (square.sum(1) / hidden.sum(1).clamp(min=1)).mean().sqrt()


def mean_by_product(tokens: Tensor, valid: Tensor) -> Tensor:
    return (tokens * valid[..., None]).sum(1) / valid.sum(1, keepdim=True)


WRONG = {
    "phase": [
        lambda time, period: time / period,
        lambda time, period: torch.fmod(time / period, 1.0),
        "time without sign",
    ],
    "visible_mask": [
        "valid all",
        "hidden none",
        lambda valid, hidden: valid & ~hidden & ~hidden[:, None],
    ],
    "reconstruction_error": ["hidden all", each_star_first],
    "mean_of_nights": [
        "valid all",
        lambda tokens, valid: tokens.sum(1) / valid.sum(1, keepdim=True),
        mean_by_product,
    ],
}
