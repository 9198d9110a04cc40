"""Attempts at the exercises of lecture 13, right and wrong."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib import four_momenta as library
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


def mass_of_two(
    *,
    along: Callable = torch.cosh,
    around: Callable = torch.cos,
    product: Callable = torch.mul,
    factor: float = 2.0,
    finish: Callable = torch.sqrt,
) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(first: Tensor, second: Tensor) -> Tensor:
        eta, phi = (first - second)[:, 1:].T
        square = factor * product(first[:, 0], second[:, 0]) * (along(eta) - around(phi))
        return finish(square.clamp(min=0))

    return attempt


def mass_by_momenta(first: Tensor, second: Tensor) -> Tensor:
    together = sum(
        library.four_momenta(*particles.double().T, torch.zeros(len(particles)).double())
        for particles in (first, second)
    )
    return library.invariant_mass(together).float()


def small_angles(first: Tensor, second: Tensor) -> Tensor:
    apart = first - second
    turn = torch.atan2(apart[:, 2].sin(), apart[:, 2].cos())
    return (first[:, 0] * second[:, 0]).sqrt() * torch.hypot(apart[:, 1], turn)


def turned_away(
    *,
    cut: Callable = lambda signal, _, keep: signal.sort(descending=True).values[keep - 1],
    passes: Callable = torch.ge,
    finish: Callable = lambda all_of, passed: all_of / passed,
) -> Callable[[Tensor, Tensor, int], Tensor]:
    def attempt(signal: Tensor, background: Tensor, keep: int) -> Tensor:
        passed = passes(background, cut(signal, background, keep)).sum()
        return finish(len(background), passed)

    return attempt


def log_kt(
    *,
    share: Callable = torch.minimum,
    distance: Callable = distance_of_library,
    finish: Callable = torch.log,
    smallest: float = SMALLEST,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
        i, j = torch.meshgrid(torch.arange(len(pt)), torch.arange(len(pt)), indexing="ij")
        at = torch.stack([y, phi], 1)
        apart = distance(at[i.flatten()], at[j.flatten()]).reshape(i.shape)
        return finish((share(pt[i], pt[j]) * apart).clamp(min=smallest))

    return attempt


def log_kt_of_library(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
    momenta = library.four_momenta(*(x.double() for x in (pt, y, phi, torch.zeros_like(pt))))
    return pairwise_features(momenta)[..., 1]


RIGHT = {
    "distance by sine and cosine": ("delta_r", between()),
    "distance of the library": ("delta_r", distance_of_library),
    "mass by cosh and cos": ("pair_mass", mass_of_two()),
    "mass by four-momenta": ("pair_mass", mass_by_momenta),
    "kT by directions": ("log_kt", log_kt()),
    "kT of the library": ("log_kt", log_kt_of_library),
    "rejection by sorting": ("rejection", turned_away()),
    "rejection by the kept ones": (
        "rejection",
        turned_away(cut=lambda signal, _, keep: signal.topk(keep).values.min()),
    ),
}

# What was tried, and the property that refuses it.
WRONG = {
    "azimuth subtracted": ("delta_r", between(azimuth=torch.sub), "either side of φ = π"),
    "absolute values subtracted": (
        "delta_r",
        between(azimuth=lambda a, b: a.abs() - b.abs()),
        "length of the hypotenuse",
    ),
    "signed": ("delta_r", between(together=torch.add), "with the same azimuth"),
    "small angles": ("pair_mass", small_angles, "all energy is mass"),
    "plus for minus": ("pair_mass", mass_of_two(around=lambda phi: -phi.cos()), "fly the same way"),
    "squared momentum": (
        "pair_mass",
        mass_of_two(product=lambda a, _: a * a),
        "the sum of both four-momenta",
    ),
    "logarithm of zero": ("log_kt", log_kt(smallest=0.0), "a particle and itself"),
    "logarithm to base 10": (
        "log_kt",
        lambda pt, y, phi: torch.where(
            torch.eye(len(pt), dtype=torch.bool),
            math.log(SMALLEST),
            log_kt(finish=torch.log10)(pt, y, phi),
        ),
        "logarithm of their distance",
    ),
    "the harder": ("log_kt", log_kt(share=torch.maximum), "the softer of the two"),
    "the long way": ("log_kt", log_kt(distance=between(azimuth=torch.sub)), "the short way round"),
    "a cut at a fixed score": ("rejection", turned_away(cut=lambda *_: 0.5), "increasing function"),
    "without ties": ("rejection", turned_away(passes=torch.gt), "for each that passes"),
}
