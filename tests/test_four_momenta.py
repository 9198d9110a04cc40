"""Four-momenta against closed forms and matrices, and what other observers see."""

import math

import pytest
import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close
from torch import Tensor

from course_lib.four_momenta import (
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
    st.tuples(
        st.floats(0.5, 600),
        st.floats(-3, 3),
        st.floats(-3.1, 3.1),
        st.floats(0, 200),
    ),
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


# Between what is measured and what is conserved -------------------------------------------------


@given(PARTICLES)
def test_what_was_measured_comes_back(particles) -> None:
    momenta = made(particles)
    pt, eta, phi, mass = doubles(particles).unbind(1)
    found = measured(momenta)
    assert_close(found.pt, pt, 1e-9)
    assert_close(found.eta, eta, 1e-9)
    assert_close(delta_phi(found.phi, phi), torch.zeros_like(phi), 1e-9)
    # A mass is what two squares leave, so its error grows with the energy.
    assert_close(found.mass.square() / momenta[:, 0] ** 2, (mass / momenta[:, 0]) ** 2, 1e-12)


def test_a_particle_across_the_beam_is_read_off() -> None:
    momentum = four_momenta(*doubles([3.0, 0.0, math.pi / 2, 4.0]))
    assert_close(momentum, doubles([5.0, 0.0, 3.0, 0.0]))


def test_along_the_beam_the_pseudorapidity_is_infinite_and_at_rest_it_is_0() -> None:
    along = torch.tensor([[5.0, 0.0, 0.0, 5.0], [5.0, 0.0, 0.0, -5.0], [1.0, 0.0, 0.0, 0.0]])
    assert measured(along).eta.tolist() == [math.inf, -math.inf, 0.0]
    assert rapidity(torch.zeros(4)).item() == 0


def test_the_mass_of_two_massless_particles_is_that_of_the_closed_form() -> None:
    pt, eta, phi = doubles([[40.0, 55.0], [0.3, -1.1], [3.0, -2.9]])
    pair = four_momenta(pt, eta, phi, torch.zeros(2).double()).sum(0)
    expected = 2 * pt.prod() * (math.cosh(eta[0] - eta[1]) - math.cos(phi[0] - phi[1]))
    assert_close(mass_squared(pair), expected)
    assert_close(invariant_mass(pair), expected.sqrt())


def test_rounding_leaves_no_mass_that_is_no_number() -> None:
    photons = four_momenta(*torch.rand(3, 500).unbind(0), torch.zeros(500))
    assert (mass_squared(photons) < 0).any()
    assert invariant_mass(photons).isfinite().all()


# How far apart ----------------------------------------------------------------------------------


@given(PARTICLES)
def test_rapidity_is_half_a_logarithm(particles) -> None:
    momenta = made(particles)
    energy, _, _, z = momenta.unbind(-1)
    assert_close(rapidity(momenta), 0.5 * ((energy + z) / (energy - z)).log(), 1e-9)


@given(PARTICLES)
def test_without_mass_rapidity_is_pseudorapidity(particles) -> None:
    momenta = made([(pt, eta, phi, 0.0) for pt, eta, phi, _ in particles])
    assert_close(rapidity(momenta), measured(momenta).eta, 1e-9)


def test_azimuths_are_subtracted_the_short_way_round() -> None:
    first, second = torch.tensor([3.1, -3.1, 1.0, math.pi]), torch.tensor([-3.1, 3.1, 0.5, 0.0])
    expected = torch.tensor([6.2 - 2 * math.pi, 2 * math.pi - 6.2, 0.5, -math.pi])
    assert_close(delta_phi(first, second), expected, 1e-6)


def test_the_distance_does_not_jump_where_the_azimuth_does() -> None:
    zero = torch.zeros(2).double()
    across = four_momenta(zero + 1, zero, doubles([3.1, -3.1]), zero)
    assert delta_r(*across).item() == pytest.approx(2 * math.pi - 6.2)


def test_distances_broadcast() -> None:
    momenta = made([(1, 0, 0, 0), (2, 1, 1, 0), (3, -1, 2, 1)])
    apart = delta_r(momenta[:, None], momenta[None])
    assert apart.shape == (3, 3)
    assert_close(apart, apart.T)
    assert_close(apart[0, 1], doubles(2.0).sqrt())


# Other observers --------------------------------------------------------------------------------


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


def test_what_was_at_rest_moves_with_the_velocity_of_the_boost() -> None:
    at_rest = doubles([2.0, 0.0, 0.0, 0.0])
    energy, *momentum = boosted(at_rest, (0.6, 0.0, 0.0)).tolist()
    assert [p / energy for p in momentum] == pytest.approx([0.6, 0.0, 0.0])
    assert energy == pytest.approx(2.0 / 0.8)


# Bad input --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("values", "error", "told"),
    [
        ((-1.0, 0.0, 0.0, 0.0), ValueError, "pt holds -1; expected 0 or more, in GeV"),
        ((1.0, 0.0, 0.0, -2.0), ValueError, "mass holds -2; expected 0 or more, in GeV"),
        ((1.0, math.nan, 0.0, 0.0), ValueError, "eta holds nan or inf; expected finite"),
        ((1.0, 0.0, math.inf, 0.0), ValueError, "phi holds nan or inf; expected finite"),
    ],
)
def test_what_no_detector_measures_is_refused(values, error, told) -> None:
    with pytest.raises(error, match=told):
        four_momenta(*(torch.tensor([value]) for value in values))


@pytest.mark.usefixtures("plain_calls")
def test_shapes_and_types_are_checked() -> None:
    one, two = torch.ones(1), torch.ones(2)
    with pytest.raises(ValueError, match=r"eta has shape \(2,\); expected \(\*batch,\)"):
        four_momenta(one, two, one, one)
    with pytest.raises(ValueError, match=r"momenta has shape \(3,\); expected \(\*batch, 4\)"):
        rapidity(torch.ones(3))
    with pytest.raises(TypeError, match=r"first has dtype torch.int64; expected floating point"):
        delta_r(torch.ones(4, dtype=torch.int64), torch.ones(4))
    with pytest.raises(TypeError, match="expected one dtype"):
        delta_r(torch.ones(4), torch.ones(4).double())


def test_nothing_moves_as_fast_as_light() -> None:
    with pytest.raises(ValueError, match="expected less than 1, the speed of light"):
        boosted(torch.ones(4), (0.8, 0.6, 0.0))
    with pytest.raises(ValueError, match="expected less than 1, the speed of light"):
        boosted(torch.ones(4), (math.nan, 0.0, 0.0))
