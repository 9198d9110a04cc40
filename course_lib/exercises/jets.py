"""The checkers of lecture 13: rapidity, distance and mass of particles, and what a pair knows."""

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import four_momenta as library
from course_lib.checker import Attempt, Exercise, close, recognised
from course_lib.exercises.inputs import NUMBERS, SIZES, tensors
from course_lib.jets import SMALLEST

ZERO = (0.0,)
NEARLY_NONE = 0.01  # GeV: what rounding may leave of a mass of 0
POSITIVE = (1.0, 2.0, 3.0)
HARD = (3.0, 2.0, 5.0)
AWAY = (1.0, -1.0, 2.0)
SHIFTS = (1.0, -1.0, 0.5)
ANGLES = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0)  # all within half a turn of 0


@st.composite
def _momenta(
    draw: Callable,
    *,
    masses: tuple = POSITIVE,
    across: tuple = NUMBERS,
    along: tuple = NUMBERS,
) -> tuple[Tensor]:
    """Draw four-momenta of particles with these masses."""
    particles = draw(SIZES)
    momentum = torch.stack(
        [draw(tensors(particles, numbers=n)) for n in (across, across, along)], 1
    )
    mass = draw(tensors(particles, numbers=masses))
    energy = torch.sqrt(mass.square() + momentum.square().sum(1))
    return (torch.cat([energy[:, None], momentum], 1),)


rapidity = Exercise(
    "rapidity",
    "rapidity(momenta): the rapidity of each particle, half the logarithm of (E + pz) / (E − pz). "
    "Shapes: (particles, 4), the columns E, px, py and pz, to (particles,).",
    inputs=_momenta(),
    shape=lambda momenta: (len(momenta),),
)


@rapidity.property(
    "a particle that flies straight across the beam has rapidity 0",
    hint="Such a particle has pz = 0. What does your formula give there? And is pz the last of the "
    "four columns?",
    inputs=_momenta(along=ZERO),
)
def _(attempt: Attempt, momenta: Tensor) -> bool:
    return close(attempt(momenta), torch.zeros(len(momenta)))


@rapidity.property(
    "the faster a particle flies along the beam, the larger its rapidity",
    hint="With pz the rapidity should rise. Which of the two sums stands above the line?",
    inputs=_momenta(along=AWAY),
)
def _(attempt: Attempt, momenta: Tensor) -> bool:
    return bool((attempt(momenta).sign() == momenta[:, 3].sign()).all())


@rapidity.property(
    "a boost along the beam adds the same to the rapidity of every particle",
    hint="Take a heavy particle with pz = 1, and see what your formula makes of its energy. An "
    "angle alone does not know how heavy a particle is.",
    inputs=st.tuples(_momenta().map(lambda drawn: drawn[0]), st.sampled_from(SHIFTS)),
)
def _(attempt: Attempt, momenta: Tensor, shift: float) -> bool | str:
    moved = library.boosted_along_beam(momenta, shift)
    added = attempt(moved) - attempt(momenta)
    right = library.rapidity(moved) - library.rapidity(momenta)
    return close(added, right) or recognised(
        added,
        {
            "Every rapidity changes by twice as much as it should. Which factor is missing?": (
                2 * right
            ),
            "Pseudorapidity knows the direction alone. Put the energy in place of the momentum.": (
                _pseudorapidity(moved) - _pseudorapidity(momenta)
            ),
        },
    )


@rapidity.property(
    "the rapidity is what the formula says",
    hint="Take one particle, and compute its rapidity by hand.",
)
def _(attempt: Attempt, momenta: Tensor) -> bool:
    return close(attempt(momenta), library.rapidity(momenta))


def _pseudorapidity(momenta: Tensor) -> Tensor:
    return torch.asinh(momenta[:, 3] / library.transverse_momentum(momenta))


@st.composite
def _directions(
    draw: Callable, *, same_rapidity: bool = False, same_azimuth: bool = False, near: bool = False
) -> tuple[Tensor, Tensor]:
    """Draw two lists of directions, each a rapidity and an azimuth."""
    pairs = draw(SIZES)
    first, second = (
        torch.stack(
            [
                draw(tensors(pairs)),
                draw(tensors(pairs, numbers=ANGLES[:3] if near else ANGLES)),
            ],
            dim=1,
        )
        for _ in range(2)
    )
    if same_rapidity:
        second[:, 0] = first[:, 0]
    if same_azimuth:
        second[:, 1] = first[:, 1]
    return first, second


def _apart(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Differences of rapidity and of azimuth, the latter as they are subtracted."""
    return (first[:, 0] - second[:, 0]).abs(), (first[:, 1] - second[:, 1]).abs()


delta_r = Exercise(
    "delta_r",
    "delta_r(first, second): how far apart two directions are, Δ. Each row is a direction, its "
    "rapidity and its azimuth in radians, between −π and π. Shapes: (pairs, 2) twice to (pairs,).",
    inputs=_directions(),
    shape=lambda first, second: (len(first),),  # noqa: ARG005 - shown by name
)


@delta_r.property(
    "with the same azimuth it is the difference of rapidity, never negative",
    hint="Let the azimuths be equal. Which sign can a distance have?",
    inputs=_directions(same_azimuth=True),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    answer, (rapidity, _) = attempt(first, second), _apart(first, second)
    return close(answer, rapidity) or recognised(
        answer,
        {"This is the square of the distance.": rapidity.square()},
    )


@delta_r.property(
    "it is the length of the hypotenuse, not of the way around the corner",
    hint="Rapidity and azimuth are the two short sides of a right-angled triangle. How long is "
    "the third?",
    inputs=_directions(near=True),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    answer, sides = attempt(first, second), _apart(first, second)
    return close(answer, torch.hypot(*sides)) or recognised(
        answer,
        {
            "You add the two sides. Who may cross the field walks less.": sides[0] + sides[1],
            "You take the longer side for the whole.": torch.maximum(*sides),
        },
    )


@delta_r.property(
    "two particles on either side of φ = π are near each other",
    hint="One flies at 3 radians and one at −3. How far is it from the first to the second, the "
    "short way round?",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    rapidity, _ = _apart(first, second)
    turn = library.delta_phi(first[:, 1], second[:, 1])
    return close(attempt(first, second), torch.hypot(rapidity, turn))


@st.composite
def _photons(draw: Callable, *, apart: bool) -> tuple[Tensor]:
    """Draw two photons that fly the same way, or in opposite directions with the same energy."""
    direction = torch.zeros(3)
    direction[draw(st.sampled_from((0, 1, 2)))] = 1.0
    energy = draw(tensors(2, numbers=POSITIVE))
    if apart:
        energy[1] = energy[0]
    signs = torch.tensor([1.0, -1.0 if apart else 1.0])
    return (torch.cat([energy[:, None], (signs * energy)[:, None] * direction], 1),)


invariant_mass = Exercise(
    "invariant_mass",
    "invariant_mass(momenta): the mass of all particles together. Shapes: (particles, 4), the "
    "columns E, px, py and pz, to a single number, of shape ().",
    inputs=_momenta(),
    shape=lambda momenta: (),  # noqa: ARG005 - shown by name
)


@invariant_mass.property(
    "the mass of particles at rest is their energy",
    hint="With no momentum only energy is left. What does your formula make of it?",
    inputs=_momenta(across=ZERO, along=ZERO),
)
def _(attempt: Attempt, momenta: Tensor) -> bool | str:
    answer, energy = attempt(momenta), momenta[:, 0].sum()
    return close(answer, energy) or recognised(
        answer, {"This is the square of the mass.": energy.square()}
    )


@invariant_mass.property(
    "two photons that fly the same way have no mass",
    hint="Photons have E equal to the length of their momentum, and so has their sum if they fly "
    "the same way. Which sign has the momentum in your formula?",
    inputs=_photons(apart=False),
)
def _(attempt: Attempt, momenta: Tensor) -> bool:
    return bool(attempt(momenta).abs() < NEARLY_NONE)


@invariant_mass.property(
    "two photons that fly apart have a mass, though neither has one",
    hint="Their momenta cancel and their energies do not. Do you sum first, or last?",
    inputs=_photons(apart=True),
)
def _(attempt: Attempt, momenta: Tensor) -> bool | str:
    answer, energy = attempt(momenta), momenta[:, 0].sum()
    return close(answer, energy) or recognised(
        answer,
        {
            "You add up masses. Add up the momenta, and then take the mass.": torch.zeros(()),
        },
    )


@invariant_mass.property(
    "the square of the mass is that of the energy less that of the momentum",
    hint="Add all four-momenta up, column by column. Then square.",
)
def _(attempt: Attempt, momenta: Tensor) -> bool:
    return close(attempt(momenta), library.invariant_mass(momenta.sum(0)))


@st.composite
def _flights(
    draw: Callable, *, same_pt: bool = False, near: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw transverse momenta, rapidities and azimuths of particles that are apart."""
    particles = draw(SIZES)
    pt = draw(tensors(particles, numbers=(1.0,) if same_pt else HARD))
    y = torch.arange(particles).float()
    return pt, y, draw(tensors(particles, numbers=ANGLES[:3] if near else ANGLES))


def _log_kt(pt: Tensor, y: Tensor, phi: Tensor, *, share: Callable = torch.minimum) -> Tensor:
    """By the distance of the library, with another function of both transverse momenta."""
    directions = library.four_momenta(torch.ones_like(pt), y, phi, torch.zeros_like(pt))
    distance = library.delta_r(directions[:, None], directions[None])
    return (share(pt[:, None], pt[None]) * distance).clamp(min=SMALLEST).log()


log_kt = Exercise(
    "log_kt",
    "log_kt(pt, y, phi): ln kT of every two particles, the logarithm of the smaller of both "
    "transverse momenta times their distance Δ. What is below 1e-8 counts as 1e-8. Shapes: "
    "(particles,) three times to (particles, particles).",
    inputs=_flights(),
    shape=lambda pt, y, phi: (len(pt), len(pt)),  # noqa: ARG005 - shown by name
)


@log_kt.property(
    "a particle and itself have the logarithm of 1e-8",
    hint="A particle is no distance from itself, and the logarithm of 0 is not finite. What counts "
    "in place of 0?",
)
def _(attempt: Attempt, pt: Tensor, y: Tensor, phi: Tensor) -> bool:
    return close(attempt(pt, y, phi).diagonal(), torch.full((len(pt),), math.log(SMALLEST)))


@log_kt.property(
    "of equally hard particles it is the logarithm of their distance",
    hint="With every pT = 1 only the distance is left. Is it the distance, and the natural "
    "logarithm of it?",
    inputs=_flights(same_pt=True, near=True),
)
def _(attempt: Attempt, pt: Tensor, y: Tensor, phi: Tensor) -> bool | str:
    answer, right = attempt(pt, y, phi), _log_kt(pt, y, phi)
    off = ~torch.eye(len(pt), dtype=torch.bool)
    return close(answer[off], right[off]) or recognised(
        answer[off],
        {
            "This is the logarithm of the square of the distance.": 2 * right[off],
            "This is the distance, without the logarithm.": right[off].exp(),
            "This is a logarithm to base 10.": right[off] / math.log(10),
        },
    )


@log_kt.property(
    "the softer of the two particles decides",
    hint="Give one particle pT = 1 and the other 3. By which of the two do you multiply?",
    inputs=_flights(near=True),
)
def _(attempt: Attempt, pt: Tensor, y: Tensor, phi: Tensor) -> bool | str:
    answer, off = attempt(pt, y, phi), ~torch.eye(len(pt), dtype=torch.bool)

    def by(share: Callable) -> Tensor:
        return _log_kt(pt, y, phi, share=share)[off]

    return close(answer[off], by(torch.minimum)) or recognised(
        answer[off],
        {
            "You take the harder of the two.": by(torch.maximum),
            "You take the sum of the two.": by(torch.add),
            "You take the product of the two.": by(torch.mul),
            "You take the first of the two, so that the answer depends on who asks.": by(
                lambda first, second: first + 0 * second
            ),
            "You take the second of the two, so that the answer depends on who asks.": by(
                lambda first, second: 0 * first + second
            ),
        },
    )


@log_kt.property(
    "the angle is measured the short way round",
    hint="One particle flies at 3 radians and one at −3. How far is it from one to the other? "
    "delta_r has a checker of its own.",
)
def _(attempt: Attempt, pt: Tensor, y: Tensor, phi: Tensor) -> bool:
    return close(attempt(pt, y, phi), _log_kt(pt, y, phi))
