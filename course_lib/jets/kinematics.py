r"""Four-momenta: energy and momentum of particles, and their measured coordinates.

A four-momentum is $(E, p_x, p_y, p_z)$ in GeV, with $c = 1$, and the beam is the $z$-axis. What a
detector measures is the transverse momentum $p_T$, the azimuth $\varphi$ around the beam and the
pseudorapidity $\eta$, 0 across the beam and infinite along it.

The mass is a small difference of large squares, so take float64 where it matters: float32 cannot
hold that of a pion of 100 GeV. Bad input raises ``TypeError`` or ``ValueError`` with what was
given, what was expected and what to do.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.checks import check_finite, wants_gradient
from course_lib.support.contracts import checked


class Measured(NamedTuple):
    r"""A four-momentum in a detector's coordinates: $p_T$ and mass in GeV, angles in radians."""

    pt: Float[Tensor, "*batch"]
    eta: Float[Tensor, "*batch"]
    phi: Float[Tensor, "*batch"]
    mass: Float[Tensor, "*batch"]


# From measured coordinates to four-momenta and back ---------------------------------------------


@checked
def four_momenta(
    pt: Float[Tensor, "*batch"],
    eta: Float[Tensor, "*batch"],
    phi: Float[Tensor, "*batch"],
    mass: Float[Tensor, "*batch"],
) -> Float[Tensor, "*batch 4"]:
    r"""$p = (E,\ p_T\cos\varphi,\ p_T\sin\varphi,\ p_T\sinh\eta)$, $E^2 = m^2 + |\vec p|^2$.

    Raises ``ValueError`` for a negative $p_T$ or mass and for numbers that are not finite.
    Source: Particle Data Group (2024), "kinematics".
    """
    check_finite(pt=pt, eta=eta, phi=phi, mass=mass)
    check_not_negative("pt", pt)
    check_not_negative("mass", mass)
    energy = _root(mass.square() + (pt * eta.cosh()).square())
    return torch.stack([energy, pt * phi.cos(), pt * phi.sin(), pt * eta.sinh()], dim=-1)


@checked
def measured(momenta: Float[Tensor, "*batch 4"]) -> Measured:
    r"""The inverse of :func:`four_momenta`: $p_T$, $\eta$, $\varphi$ in $[-\pi, \pi]$ and mass.

    $\eta$ is infinite along the beam, and 0 for a particle at rest.
    """
    z = momenta[..., 3]
    pt = transverse_momentum(momenta)
    eta = (z / pt.masked_fill((pt == 0) & (z == 0), 1.0)).asinh()
    return Measured(pt, eta, _azimuth(momenta), invariant_mass(momenta))


@checked
def transverse_momentum(momenta: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch"]:
    r"""$p_T = \sqrt{p_x^2 + p_y^2}$."""
    return _hypot(momenta[..., 1], momenta[..., 2])


@checked
def mass_squared(momenta: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch"]:
    r"""$m^2 = E^2 - |\vec p|^2$, the same for all observers; rounding may leave it below 0."""
    return momenta[..., 0].square() - momenta[..., 1:].square().sum(dim=-1)


@checked
def invariant_mass(momenta: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch"]:
    r"""$m = \sqrt{E^2 - |\vec p|^2}$, 0 where rounding leaves less.

    Of several particles together, pass their sum.
    """
    return _root(mass_squared(momenta))


# How far apart two particles fly ----------------------------------------------------------------


@checked
def rapidity(momenta: Float[Tensor, "*batch 4"]) -> Float[Tensor, "*batch"]:
    r"""$y = \tfrac12 \ln\frac{E + p_z}{E - p_z} = \operatorname{arsinh}(p_z / m_T)$.

    $m_T^2 = E^2 - p_z^2$. A boost along the beam adds the same to the rapidity of every particle,
    so that differences stay; of a massless particle it is $\eta$. A momentum of 0 has rapidity 0.
    """
    energy, z = momenta[..., 0], momenta[..., 3]
    tiny = torch.finfo(momenta.dtype).tiny
    squared = ((energy - z) * (energy + z)).clamp(min=tiny).where(energy > 0, 1.0)
    return torch.asinh(z / squared.sqrt())


@checked
def delta_phi(
    first: Float[Tensor, "*#batch"], second: Float[Tensor, "*#batch"]
) -> Float[Tensor, "*batch"]:
    r"""The angle from ``second`` to ``first`` the short way round, in $[-\pi, \pi)$.

    Axes of size 1 are broadcast.
    """
    return torch.remainder(first - second + math.pi, 2 * math.pi) - math.pi


@checked
def delta_r(
    first: Float[Tensor, "*#batch 4"], second: Float[Tensor, "*#batch 4"]
) -> Float[Tensor, "*batch"]:
    r"""The distance $\Delta = \sqrt{(y_a - y_b)^2 + (\varphi_a - \varphi_b)^2}$ of two momenta.

    Axes of size 1 are broadcast. Boosts along the beam and rotations about it leave it as it is.
    Source: Cacciari, Salam and Soyez (2012).
    """
    azimuth = delta_phi(_azimuth(first), _azimuth(second))
    return _hypot(rapidity(first) - rapidity(second), azimuth)


# Other observers --------------------------------------------------------------------------------


@checked
def rotated_about_beam(
    momenta: Float[Tensor, "*batch 4"], angle: float
) -> Float[Tensor, "*batch 4"]:
    r"""The same momenta, with ``angle`` added to every azimuth."""
    energy, x, y, z = momenta.unbind(-1)
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.stack([energy, cos * x - sin * y, sin * x + cos * y, z], dim=-1)


@checked
def boosted_along_beam(
    momenta: Float[Tensor, "*batch 4"], shift: float
) -> Float[Tensor, "*batch 4"]:
    r"""The same momenta for an observer to whom every rapidity is larger by ``shift``."""
    return boosted(momenta, (0.0, 0.0, math.tanh(shift)))


@checked
def boosted(
    momenta: Float[Tensor, "*batch 4"], velocity: tuple[float, float, float]
) -> Float[Tensor, "*batch 4"]:
    r"""The boost that gives a particle at rest the ``velocity`` $\vec\beta$, with $c = 1$.

    $E' = \gamma(E + \vec\beta \cdot \vec p)$ and
    $\vec p\,' = \vec p + \vec\beta\,\gamma\,\big(E + \tfrac{\gamma}{\gamma + 1}\,
    \vec\beta \cdot \vec p\big)$, with $\gamma = (1 - \beta^2)^{-1/2}$. Raises ``ValueError`` unless
    $|\vec\beta| < 1$. Source: Jackson (1999), eq. 11.19.
    """
    beta = torch.tensor(velocity, dtype=momenta.dtype, device=momenta.device)
    squared = sum(component**2 for component in velocity)
    if not squared < 1:
        raise ValueError(
            f"velocity is {velocity}, of size {math.sqrt(squared)}; expected less than 1, the "
            "speed of light; choose a slower one"
        )
    gamma = 1 / math.sqrt(1 - squared)
    energy, along = momenta[..., :1], (momenta[..., 1:] * beta).sum(dim=-1, keepdim=True)
    momentum = momenta[..., 1:] + gamma * beta * (energy + gamma / (gamma + 1) * along)
    return torch.cat([gamma * (energy + along), momentum], dim=-1)


# What the functions above share -----------------------------------------------------------------


def check_not_negative(name: str, value: Tensor) -> None:
    """Raise ``ValueError`` for a number below 0."""
    if value.numel() and value.min() < 0:
        raise ValueError(
            f"{name} holds {value.min().item():g}; expected 0 or more, in GeV; "
            f"find it with {name} < 0"
        )


def _azimuth(momenta: Tensor) -> Tensor:
    x, y = momenta[..., 1], momenta[..., 2]
    return torch.atan2(y, x.masked_fill((x == 0) & (y == 0), 1.0))


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    """The root of x² + y²; where both are 0, the gradient is 0, not nan."""
    if not wants_gradient(x, y):
        return torch.hypot(x, y)
    nothing = (x == 0) & (y == 0)
    return torch.hypot(x.masked_fill(nothing, 1.0), y).masked_fill(nothing, 0.0)


def _root(square: Tensor) -> Tensor:
    """The root, 0 for numbers up to 0, where the gradient is 0, not infinite."""
    some = square > 0
    return square.where(some, 1.0).sqrt().where(some, 0.0)
