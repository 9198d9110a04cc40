"""Attempts at the exercises of lecture 13, right and wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.jets import kinematics as library

SMALLEST = 1e-8


def between(
    *,
    azimuth: Callable = lambda a, b: torch.atan2((a - b).sin(), (a - b).cos()),
    together: Callable = torch.hypot,
) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda first, second: together(
        first[:, 0] - second[:, 0], azimuth(first[:, 1], second[:, 1])
    )


def distance_of_library(first: Tensor, second: Tensor) -> Tensor:
    def photons(directions: Tensor) -> Tensor:
        y, phi = directions.double().T
        return library.four_momenta(torch.ones_like(y), y, phi, torch.zeros_like(y))

    return library.delta_r(photons(first), photons(second))


def mass_of_two(first: Tensor, second: Tensor) -> Tensor:
    eta, phi = (first - second)[:, 1:].T
    return (2 * first[:, 0] * second[:, 0] * (eta.cosh() - phi.cos())).clamp(min=0).sqrt()


def turned_away(signal: Tensor, background: Tensor, keep: int) -> Tensor:
    cut = signal.sort(descending=True).values[keep - 1]
    return len(background) / (background >= cut).sum()


def log_kt(
    *, share: Callable = torch.minimum, distance: Callable = distance_of_library
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
        i, j = torch.meshgrid(torch.arange(len(pt)), torch.arange(len(pt)), indexing="ij")
        at = torch.stack([y, phi], 1)
        apart = distance(at[i.flatten()], at[j.flatten()]).reshape(i.shape)
        return (share(pt[i], pt[j]) * apart).clamp(min=SMALLEST).log()

    return attempt


RIGHT = {
    "delta_r": [between(), distance_of_library],
    "pair_mass": [mass_of_two],
    "log_kt": [log_kt()],
    "rejection": [turned_away],
}

WRONG = {
    "delta_r": [
        between(together=torch.add),
        between(azimuth=lambda a, b: a.abs() - b.abs()),
        between(azimuth=torch.sub),
    ],
    "pair_mass": ["answer rounded"],
    "log_kt": [
        "pt doubled",
        log_kt(share=torch.maximum),
        log_kt(distance=between(azimuth=torch.sub)),
    ],
    "rejection": ["signal squared"],
}
