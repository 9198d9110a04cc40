from collections.abc import Callable

import torch
from torch import Tensor

SMALLEST = 1e-8


def short_way(a: Tensor, b: Tensor) -> Tensor:
    return torch.atan2((a - b).sin(), (a - b).cos())


def between(
    *, azimuth: Callable = short_way, together: Callable = torch.hypot
) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda first, second: together(
        first[:, 0] - second[:, 0], azimuth(first[:, 1], second[:, 1])
    )


def mass_of_two(first: Tensor, second: Tensor) -> Tensor:
    eta, phi = (first - second)[:, 1:].T
    return (2 * first[:, 0] * second[:, 0] * (eta.cosh() - phi.cos())).clamp(min=0).sqrt()


def turned_away(signal: Tensor, background: Tensor, keep: int) -> Tensor:
    cut = signal.sort(descending=True).values[keep - 1]
    return len(background) / (background >= cut).sum()


def log_kt(
    *, share: Callable = torch.minimum, azimuth: Callable = short_way
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    def attempt(pt: Tensor, y: Tensor, phi: Tensor) -> Tensor:
        i, j = torch.meshgrid(torch.arange(len(pt)), torch.arange(len(pt)), indexing="ij")
        at = torch.stack([y, phi], 1)
        apart = between(azimuth=azimuth)(at[i.flatten()], at[j.flatten()]).reshape(i.shape)
        return (share(pt[i], pt[j]) * apart).clamp(min=SMALLEST).log()

    return attempt


RIGHT = {
    "delta_r": [between()],
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
        log_kt(azimuth=torch.sub),
    ],
    "rejection": ["signal squared"],
}
