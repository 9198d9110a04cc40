"""Attempts at the exercises of lecture 13, right and wrong."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib import four_momenta as library
from course_lib.jets import pairwise_features

SMALLEST = 1e-8


def by_logarithm(momenta: Tensor, *, factor: float = 0.5, sign: int = 1, column: int = 3) -> Tensor:
    energy, along = momenta[:, 0], sign * momenta[:, column]
    return factor * ((energy + along) / (energy - along)).log()


def pseudorapidity(momenta: Tensor) -> Tensor:
    return torch.asinh(momenta[:, 3] / momenta[:, 1:3].norm(dim=1))


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


def mass(
    *, combine: Callable = torch.sub, finish: Callable = torch.sqrt
) -> Callable[[Tensor], Tensor]:
    def attempt(momenta: Tensor) -> Tensor:
        total = momenta.sum(0)
        return finish(combine(total[0].square(), total[1:].square().sum()).clamp(min=0))

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
    "rapidity of the library": ("rapidity", library.rapidity),
    "rapidity by a logarithm": ("rapidity", by_logarithm),
    "distance by sine and cosine": ("delta_r", between()),
    "distance of the library": ("delta_r", distance_of_library),
    "mass of the library": ("invariant_mass", lambda p: library.invariant_mass(p.sum(0))),
    "mass by squares": ("invariant_mass", mass()),
    "kT by directions": ("log_kt", log_kt()),
    "kT of the library": ("log_kt", log_kt_of_library),
}

# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "another column": (
        "rapidity",
        lambda p: by_logarithm(p, column=1),
        "straight across the beam",
        "momenta = tensor([[",
        "last of the",
    ),
    "upside down": (
        "rapidity",
        lambda p: by_logarithm(p, sign=-1),
        "the larger its rapidity",
        "momenta = tensor([[",
        "above the line",
    ),
    "without the half": (
        "rapidity",
        lambda p: by_logarithm(p, factor=1.0),
        "adds the same",
        "momenta = tensor([[",
        "factor is missing",
    ),
    "pseudorapidity": (
        "rapidity",
        lambda p: torch.asinh(p[:, 3] / (p[:, 1:3].norm(dim=1) + 1e-6)),
        "adds the same",
        "momenta = tensor([[",
        "",
    ),
    "a speed": (
        "rapidity",
        lambda p: p[:, 3] / p[:, 0],
        "adds the same",
        "momenta = tensor([[",
        "heavy particle",
    ),
    "azimuth subtracted": (
        "delta_r",
        between(azimuth=torch.sub),
        "either side of φ = π",
        "first = tensor([[",
        "short way round",
    ),
    "absolute values subtracted": (
        "delta_r",
        between(azimuth=lambda a, b: a.abs() - b.abs()),
        "length of the hypotenuse",
        "first = tensor([[",
        "right-angled",
    ),
    "squared distance": (
        "delta_r",
        between(together=lambda a, b: a**2 + b**2),
        "with the same azimuth",
        "first = tensor([[",
        "square of the distance",
    ),
    "signed": (
        "delta_r",
        between(together=torch.add),
        "with the same azimuth",
        "first = tensor([[",
        "Which sign",
    ),
    "around the corner": (
        "delta_r",
        between(together=lambda a, b: a.abs() + b.abs()),
        "length of the hypotenuse",
        "first = tensor([[",
        "cross the field",
    ),
    "the longer side": (
        "delta_r",
        between(together=lambda a, b: torch.maximum(a.abs(), b.abs())),
        "length of the hypotenuse",
        "first = tensor([[",
        "longer side",
    ),
    "folded at half a turn": (
        "delta_r",
        between(azimuth=lambda a, b: (a - b).abs() % math.pi),
        "either side of φ = π",
        "first = tensor([[",
        "short way round",
    ),
    "squared mass": (
        "invariant_mass",
        mass(finish=lambda square: square),
        "particles at rest",
        "momenta = tensor([[",
        "square of the mass",
    ),
    "plus for minus": (
        "invariant_mass",
        mass(combine=torch.add),
        "fly the same way",
        "momenta = tensor([[",
        "Which sign",
    ),
    "sum of masses": (
        "invariant_mass",
        lambda p: library.invariant_mass(p).sum(),
        "that fly apart",
        "momenta = tensor([[",
        "Add up the momenta",
    ),
    "energy alone": (
        "invariant_mass",
        lambda p: p[:, 0].sum(),
        "fly the same way",
        "momenta = tensor([[",
        "Which sign",
    ),
    "without pz": (
        "invariant_mass",
        lambda p: (p.sum(0)[0] ** 2 - p.sum(0)[1:3].square().sum()).clamp(min=0).sqrt(),
        "fly the same way",
        "momenta = tensor([[",
        "Which sign",
    ),
    "a mass for each": (
        "invariant_mass",
        library.invariant_mass,
        "right kind and shape",
        "instead of ()",
        "shape",
    ),
    "logarithm of zero": (
        "log_kt",
        log_kt(smallest=0.0),
        "a particle and itself",
        "pt = tensor([3.])",
        "in place of 0",
    ),
    "logarithm to base 10": (
        "log_kt",
        lambda pt, y, phi: torch.where(
            torch.eye(len(pt), dtype=torch.bool),
            math.log(SMALLEST),
            log_kt(finish=torch.log10)(pt, y, phi),
        ),
        "logarithm of their distance",
        "pt = tensor([1., 1.])",
        "base 10",
    ),
    "the harder": (
        "log_kt",
        log_kt(share=torch.maximum),
        "the softer of the two",
        "pt = tensor([3., 2.])",
        "harder of the two",
    ),
    "the sum": (
        "log_kt",
        log_kt(share=lambda a, b: (a + b) / 2),
        "the softer of the two",
        "pt = tensor([3., 2.])",
        "By which of the two",
    ),
    "the product": (
        "log_kt",
        log_kt(share=torch.mul),
        "the softer of the two",
        "pt = tensor([3., 3.])",
        "product",
    ),
    "who asks": (
        "log_kt",
        log_kt(share=lambda a, b: a + 0 * b),
        "the softer of the two",
        "pt = tensor([3., 2.])",
        "who asks",
    ),
    "the long way": (
        "log_kt",
        log_kt(distance=between(azimuth=torch.sub)),
        "the short way round",
        "pt = tensor([3., 3.])",
        "How far is it",
    ),
}
