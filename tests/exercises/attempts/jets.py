"""Attempts at the exercises of lecture 13, right and wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.jets import kinematics as library
from course_lib.jets import pairwise_features

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


def mass_by_momenta(first: Tensor, second: Tensor) -> Tensor:
    together = sum(
        library.four_momenta(*particles.double().T, torch.zeros(len(particles)).double())
        for particles in (first, second)
    )
    return library.invariant_mass(together).float()


def turned_away(*, passes: Callable = torch.ge) -> Callable[[Tensor, Tensor, int], Tensor]:
    def attempt(signal: Tensor, background: Tensor, keep: int) -> Tensor:
        cut = signal.sort(descending=True).values[keep - 1]
        return len(background) / passes(background, cut).sum()

    return attempt


def by_the_kept(signal: Tensor, background: Tensor, keep: int) -> Tensor:
    return len(background) / (background >= signal.topk(keep).values.min()).sum()


def log_kt(
    *, share: Callable = torch.minimum, distance: Callable = distance_of_library
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
        i, j = torch.meshgrid(torch.arange(len(pt)), torch.arange(len(pt)), indexing="ij")
        at = torch.stack([y, phi], 1)
        apart = distance(at[i.flatten()], at[j.flatten()]).reshape(i.shape)
        return (share(pt[i], pt[j]) * apart).clamp(min=SMALLEST).log()

    return attempt


def log_kt_of_library(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
    momenta = library.four_momenta(*(x.double() for x in (pt, y, phi, torch.zeros_like(pt))))
    return pairwise_features(momenta)[..., 1]


RIGHT = {
    "delta_r": [between(), distance_of_library],
    "pair_mass": [mass_of_two, mass_by_momenta],
    "log_kt": [log_kt(), log_kt_of_library],
    "rejection": [turned_away(), by_the_kept],
}

WRONG = {
    "delta_r": [
        between(together=torch.add),
        between(azimuth=lambda a, b: a.abs() - b.abs()),
        between(azimuth=torch.sub),
    ],
    "pair_mass": [
        lambda first, second: mass_of_two(first, torch.cat([first[:, :1], second[:, 1:]], 1)),
    ],
    "log_kt": [
        "pt doubled",
        log_kt(share=torch.maximum),
        log_kt(distance=between(azimuth=torch.sub)),
    ],
    "rejection": ["signal squared", turned_away(passes=torch.gt)],
}
