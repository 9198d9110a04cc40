"""Attempts at the exercises of lecture 14, right and wrong."""

import torch
from torch import Tensor

from course_lib import astromer, light_curves


def phase_by_floor(time: Tensor, period: Tensor) -> Tensor:
    turns = time / period
    return turns - turns.floor()


def phase_by_angle(time: Tensor, period: Tensor) -> Tensor:
    angle = 2 * torch.pi * time.double() / period.double()
    turns = torch.atan2(angle.sin(), angle.cos()) / (2 * torch.pi)
    return torch.where(turns < -1e-9, turns + 1, turns.clamp(min=0))


def mask_night_for_night(real: Tensor, hidden: Tensor) -> Tensor:
    mask = torch.zeros(len(real), len(real), dtype=torch.bool)
    for night in range(len(real)):
        mask[:, night] = real[night] and not hidden[night]
    return mask


def error_night_for_night(predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> Tensor:
    total = ((predicted - magnitude).square() * hidden).sum()
    return (total / hidden.sum()).sqrt()


def mean_star_for_star(tokens: Tensor, real: Tensor) -> Tensor:
    return torch.stack([star[flags].mean(0) for star, flags in zip(tokens, real, strict=True)])


RIGHT = {
    "phase of the library": ("phase", light_curves.phase),
    "phase by the floor": ("phase", phase_by_floor),
    "phase by the angle": ("phase", phase_by_angle),
    "mask at once": ("visible_mask", lambda real, hidden: (real & ~hidden).expand(len(real), -1)),
    "mask night for night": ("visible_mask", mask_night_for_night),
    "error of the library": ("reconstruction_error", astromer.reconstruction_error),
    "error by sums": ("reconstruction_error", error_night_for_night),
    "mean star for star": ("mean_of_nights", mean_star_for_star),
}


def root_mean(square: Tensor) -> Tensor:
    return square.mean().sqrt()


def each_star_first(predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> Tensor:
    square = (predicted - magnitude).square() * hidden
    return root_mean(square.sum(1) / hidden.sum(1).clamp(min=1))


def mean_by_product(tokens: Tensor, real: Tensor) -> Tensor:
    return (tokens * real[..., None]).sum(1) / real.sum(1, keepdim=True)


# What was tried, and the property that refuses it.
WRONG = {
    "at the frequency": (
        "phase",
        lambda time, period: (time * period) % 1,
        "the share of the turn that has passed",
    ),
    "turns that go on": ("phase", lambda time, period: time / period, "a whole period later"),
    "remainder with a sign": (
        "phase",
        lambda time, period: torch.fmod(time / period, 1.0),
        "below 0",
    ),
    "mirrored": ("phase", lambda time, period: (time.abs() / period) % 1, "before the beginning"),
    "the other way round": (
        "visible_mask",
        lambda real, hidden: (~real | hidden).expand(len(real), -1),
        "every night looks at every night",
    ),
    "padding seen": (
        "visible_mask",
        lambda real, hidden: (~hidden).expand(len(real), -1),
        "nobody looks at padding",
    ),
    "padding only": (
        "visible_mask",
        lambda real, hidden: real.expand(len(real), -1),  # noqa: ARG005 - what it forgets
        "nobody looks at a hidden night",
    ),
    "hidden ones without a question": (
        "visible_mask",
        lambda real, hidden: real & ~hidden & ~hidden[:, None],
        "hidden nights look at the visible ones",
    ),
    "without the end": (
        "reconstruction_error",
        lambda predicted, magnitude, hidden: (predicted - magnitude)[hidden].square().mean(),
        "the RMS of all errors",
    ),
    "of all nights": (
        "reconstruction_error",
        lambda predicted, magnitude, hidden: root_mean(  # noqa: ARG005 - what it forgets
            (predicted - magnitude).square()
        ),
        "not hidden does not count",
    ),
    "star for star": ("reconstruction_error", each_star_first, "hidden nights alone"),
    "nights added up": (
        "mean_of_nights",
        lambda tokens, real: (tokens * real[..., None]).sum(1),
        "the mean over nights",
    ),
    "divided by the row": (
        "mean_of_nights",
        lambda tokens, real: (tokens * real[..., None]).mean(1),
        "padding of zeros",
    ),
    "padding counted": (
        "mean_of_nights",
        lambda tokens, real: tokens.sum(1) / real.sum(1, keepdim=True),
        "what stands in padding",
    ),
    "nothing times nan": ("mean_of_nights", mean_by_product, "infinity in padding"),
}
