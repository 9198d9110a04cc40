"""The checkers of lecture 13: distance and mass of two particles, rejection by a tagger."""

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors
from course_lib.jets import SMALLEST
from course_lib.jets import kinematics as library

NEARLY_NONE = 0.05  # GeV: what rounding may leave of a mass of 0
HARD = (3.0, 2.0, 5.0)
FORWARD = (0.0, 1.0, -1.0)
RANKS = (0.0, 1.0, 2.0, 3.0, -1.0)
ANGLES = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0)  # all within half a turn of 0
NEAR, FAR = ANGLES[:3], ANGLES[-2:]  # two of the far ones may be more than half a turn apart


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
                draw(tensors(pairs, numbers=NEAR if near else ANGLES)),
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
            "You add the two sides. The hypotenuse is shorter.": sides[0] + sides[1],
            "You take the longer side alone.": torch.maximum(*sides),
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


# The mass of two ----------------------------------------------------------------------------------


@st.composite
def _photons(
    draw: Callable, *, same_way: bool = False, back_to_back: bool = False
) -> tuple[Tensor, Tensor]:
    """Draw two lists of massless particles, each a pT, a pseudorapidity and an azimuth."""
    pairs = draw(SIZES)
    first, second = (
        torch.stack([draw(tensors(pairs, numbers=n)) for n in (HARD, FORWARD, ANGLES)], dim=1)
        for _ in range(2)
    )
    if same_way:
        second[:, 1:] = first[:, 1:]
    if back_to_back:
        first[:, 1:], second[:, 1:] = 0.0, torch.tensor([0.0, math.pi])
        second[:, 0] = first[:, 0]
    return first, second


def _of_photons(first: Tensor, second: Tensor) -> Tensor:
    """The mass of each pair, by the four-momenta of the library in float64."""
    both = (particles.double().T for particles in (first, second))
    momenta = [library.four_momenta(*columns, torch.zeros_like(columns[0])) for columns in both]
    return library.invariant_mass(momenta[0] + momenta[1]).float()


def _at_small_angles(first: Tensor, second: Tensor) -> Tensor:
    turn = library.delta_phi(first[:, 2], second[:, 2])
    return (first[:, 0] * second[:, 0]).sqrt() * torch.hypot(first[:, 1] - second[:, 1], turn)


pair_mass = Exercise(
    "pair_mass",
    "pair_mass(first, second): the mass of two massless particles together. Each row is a "
    "particle, its transverse momentum, its pseudorapidity and its azimuth in radians. Shapes: "
    "(pairs, 3) twice to (pairs,).",
    inputs=_photons(),
    shape=lambda first, second: (len(first),),  # noqa: ARG005 - shown by name
)


@pair_mass.property(
    "two that fly the same way have no mass",
    hint="Let both directions be equal. Which difference in your formula becomes 0?",
    inputs=_photons(same_way=True),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    return bool((attempt(first, second).abs() < NEARLY_NONE).all())


@pair_mass.property(
    "back to back across the beam, all energy is mass",
    hint="Two photons of pT = 3 that fly apart have 6 GeV of energy and no momentum. What does "
    "your formula make of them?",
    inputs=_photons(back_to_back=True),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    answer, energy = attempt(first, second), 2 * first[:, 0]
    return close(answer, energy) or recognised(
        answer,
        {
            "This is the square of the mass.": energy.square(),
            "This is the rule for small angles. What do cosh and cos give for large ones?": (
                _at_small_angles(first, second)
            ),
        },
    )


@pair_mass.property(
    "the mass is that of the sum of both four-momenta",
    hint="m² = 2 (Ea Eb − pa · pb). Write E and p by pT, η and φ: what becomes of the products?",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    answer = attempt(first, second)
    return close(answer, _of_photons(first, second)) or recognised(
        answer,
        {
            "This is the rule for small angles. What do cosh and cos give for large ones?": (
                _at_small_angles(first, second)
            ),
        },
    )


# One feature of all pairs -------------------------------------------------------------------------


@st.composite
def _flights(
    draw: Callable, *, same_pt: bool = False, angles: tuple = ANGLES
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw transverse momenta, rapidities and azimuths of particles that are apart."""
    particles = draw(SIZES)
    pt = draw(tensors(particles, numbers=(1.0,) if same_pt else HARD))
    y = torch.arange(particles).float()
    return pt, y, draw(tensors(particles, numbers=angles))


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
    inputs=_flights(same_pt=True, angles=NEAR),
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
    "the smaller of the two momenta counts",
    hint="Give one particle pT = 1 and the other 3. By which of the two do you multiply?",
    inputs=_flights(angles=NEAR),
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
            "You take the first of the two, so that the answer depends on their order.": by(
                lambda first, second: first + 0 * second
            ),
            "You take the second of the two, so that the answer depends on their order.": by(
                lambda first, second: 0 * first + second
            ),
        },
    )


@log_kt.property(
    "the angle is measured the short way round",
    hint="One particle flies at 3 radians and one at −3. How far is it from one to the other? "
    "delta_r has a checker of its own.",
    inputs=_flights(angles=FAR),
)
def _(attempt: Attempt, pt: Tensor, y: Tensor, phi: Tensor) -> bool:
    return close(attempt(pt, y, phi), _log_kt(pt, y, phi))


# Rejection by a tagger ----------------------------------------------------------------------------


@st.composite
def _scores(draw: Callable, *, none_pass: bool = False) -> tuple[Tensor, Tensor, int]:
    """Draw scores of signal, all different, and of background, and how many signals to keep."""
    order = draw(st.permutations(RANKS))
    signal = torch.tensor(order[: draw(st.sampled_from((2, 3, 4)))])
    keep = draw(st.integers(1, len(signal) - 1))
    background = draw(tensors(draw(st.sampled_from((2, 3, 5))), numbers=RANKS))
    return signal, background - 10 if none_pass else background, keep


def _kept(signal: Tensor, background: Tensor, keep: int) -> Tensor:
    """Which background jets score as high as the last signal jet that is kept, or higher."""
    return background >= signal.sort(descending=True).values[keep - 1]


rejection = Exercise(
    "rejection",
    "rejection(signal, background, keep): the number of background jets for each that passes the "
    "cut which keeps `keep` signal jets. A jet as high as the last of these passes. Shapes: "
    "(signals,) and (backgrounds,) and an integer to a single number, of shape ().",
    inputs=_scores(),
    shape=lambda signal, background, keep: (),  # noqa: ARG005 - shown by name
)


@rejection.property(
    "an increasing function of all scores changes nothing",
    hint="Only the order of scores counts. Where is your cut, and from which scores?",
)
def _(attempt: Attempt, signal: Tensor, background: Tensor, keep: int) -> bool:
    before = attempt(signal, background, keep)
    return close(before, attempt((signal / 2).exp(), (background / 2).exp(), keep))


@rejection.property(
    "it is the number of background jets for each that passes",
    hint="Sort the signal jets, the highest first. The cut is the score of the last that is kept.",
)
def _(attempt: Attempt, signal: Tensor, background: Tensor, keep: int) -> bool | str:
    answer = attempt(signal, background, keep)
    passed = _kept(signal, background, keep).sum()
    above = (background > signal.sort(descending=True).values[keep - 1]).sum()
    together = torch.cat([signal, background])
    share = keep / len(signal)
    of_all = (background > together.quantile(1 - share)).sum()
    return close(answer, len(background) / passed) or recognised(
        answer,
        {
            "This is the share that passes. How many jets are there for each?": (
                passed / len(background)
            ),
            "This is how many fail the cut for each that passes. Count those that pass, too.": (
                (len(background) - passed) / passed
            ),
            "A background jet that scores as high as the last signal jet passes, too.": (
                len(background) / above
            ),
            "Your cut keeps a share of all jets. It is the signal that is to be kept.": (
                len(background) / of_all
            ),
        },
    )


@rejection.property(
    "where no background jet passes it is infinite",
    hint="Divide by the number that pass, as a tensor, and 0 gives infinity by itself.",
    inputs=_scores(none_pass=True),
)
def _(attempt: Attempt, signal: Tensor, background: Tensor, keep: int) -> bool:
    return bool(torch.isinf(attempt(signal, background, keep)))
