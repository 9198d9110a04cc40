"""Four-momenta against closed forms and matrices, and in other frames."""

import math

import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded_tensors import assert_close
from torch import Tensor

from course_lib.jets import (
    boosted,
    boosted_along_beam,
    delta_phi,
    delta_r,
    four_momenta,
    invariant_mass,
    mass_squared,
    measured,
    rapidity,
    rotated_about_beam,
    transverse_momentum,
)

PARTICLES = st.lists(
    st.tuples(st.floats(0.5, 600), st.floats(-3, 3), st.floats(-3.1, 3.1), st.floats(0, 200)),
    min_size=2,
    max_size=6,
)
ANGLES = st.floats(-7, 7)
SHIFTS = st.floats(-2, 2)
VELOCITIES = st.tuples(*[st.floats(-0.55, 0.55)] * 3)


def doubles(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def made(particles: list[tuple[float, ...]]) -> Tensor:
    return four_momenta(*doubles(particles).unbind(1))


def boost_matrix(velocity: tuple[float, float, float]) -> Tensor:
    """The exponential of the generator, in the direction of the velocity."""
    speed = math.hypot(*velocity)
    generator = torch.zeros(4, 4, dtype=torch.float64)
    if speed:
        generator[0, 1:] = generator[1:, 0] = doubles(velocity) * math.atanh(speed) / speed
    return torch.from_numpy(scipy.linalg.expm(generator.numpy()))


@given(PARTICLES)
def test_measured_values_are_recovered(particles) -> None:
    momenta = made(particles)
    pt, eta, phi, mass = doubles(particles).unbind(1)
    found = measured(momenta)
    assert_close(found.pt, pt, 1e-9)
    assert_close(found.eta, eta, 1e-9)
    assert_close(delta_phi(found.phi, phi), torch.zeros_like(phi), 1e-9)
    # A mass is a difference of squares, so its error grows with the energy.
    assert_close(found.mass.square() / momenta[:, 0] ** 2, (mass / momenta[:, 0]) ** 2, 1e-12)


def test_along_the_beam_the_pseudorapidity_is_infinite_and_at_rest_it_is_0() -> None:
    along = torch.tensor([[5.0, 0.0, 0.0, 5.0], [5.0, 0.0, 0.0, -5.0], [1.0, 0.0, 0.0, 0.0]])
    assert measured(along).eta.tolist() == [math.inf, -math.inf, 0.0]
    assert rapidity(torch.zeros(4)).item() == 0


def test_rounding_never_gives_a_mass_of_nan() -> None:
    photons = four_momenta(*torch.rand(3, 500).unbind(0), torch.zeros(500))
    assert (mass_squared(photons) < 0).any()
    assert invariant_mass(photons).isfinite().all()


def test_where_there_is_no_direction_and_no_mass_gradients_are_finite() -> None:
    nothing, photon = torch.zeros(4), torch.tensor([5.0, 3.0, 4.0, 0.0])
    for momentum in (nothing, photon):
        for say in (lambda p: torch.stack(measured(p)), rapidity, lambda p: delta_r(p, p)):
            assert torch.autograd.functional.jacobian(say, momentum).abs().max() <= 1
    empty = torch.autograd.functional.jacobian(four_momenta, (torch.zeros(()),) * 4)
    assert torch.stack(empty).abs().max() == 1


@given(PARTICLES)
def test_rapidity_is_half_a_logarithm(particles) -> None:
    momenta = made(particles)
    energy, _, _, z = momenta.unbind(-1)
    assert_close(rapidity(momenta), 0.5 * ((energy + z) / (energy - z)).log(), 1e-9)


def test_azimuths_are_subtracted_the_short_way_round() -> None:
    first, second = torch.tensor([3.1, -3.1, 1.0, math.pi]), torch.tensor([-3.1, 3.1, 0.5, 0.0])
    expected = torch.tensor([6.2 - 2 * math.pi, 2 * math.pi - 6.2, 0.5, -math.pi])
    assert_close(delta_phi(first, second), expected, 1e-6)


@given(PARTICLES, VELOCITIES)
def test_a_boost_is_the_exponential_of_its_generator(particles, velocity) -> None:
    momenta = made(particles)
    assert_close(boosted(momenta, velocity), momenta @ boost_matrix(velocity).T, 1e-9)


@given(PARTICLES, SHIFTS)
def test_a_boost_along_the_beam_shifts_every_rapidity(particles, shift) -> None:
    momenta = made(particles)
    moved = boosted_along_beam(momenta, shift)
    assert_close(rapidity(moved), rapidity(momenta) + shift, 1e-8)
    assert_close(transverse_momentum(moved), transverse_momentum(momenta), 1e-9)


@given(PARTICLES, ANGLES)
def test_a_rotation_about_the_beam_adds_to_every_azimuth(particles, angle) -> None:
    momenta = made(particles)
    moved = rotated_about_beam(momenta, angle)
    turned = measured(moved).phi - measured(momenta).phi - angle
    assert_close(torch.sin(turned / 2), torch.zeros_like(turned), 1e-9)
    assert_close(moved[:, [0, 3]], momenta[:, [0, 3]])
