import math

import pytest
import torch

from course_lib.mechanics import (
    Kepler,
    LogarithmicHamiltonian,
    by_both_ends,
    integrate,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
    symplecticity_error,
)

# Parameters other than 1, to detect a missing one.
SUN = Kepler(mass=1.3, gravity=0.8)


def start(*batch, seed=0):
    generator = torch.Generator().manual_seed(seed)
    q = torch.rand(*batch, 2, generator=generator, dtype=torch.float64) + 0.3
    p = torch.rand(*batch, 2, generator=generator, dtype=torch.float64) - 0.5
    return q, p


def comet(e):
    numbers = (1 - e, 0.0), (0.0, math.sqrt((1 + e) / (1 - e)))
    return tuple(torch.tensor(pair, dtype=torch.float64) for pair in numbers)


def position_verlet(system, q, p, dt):
    q = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(q, p)
    return q + dt / 2 * system.grad_p(q, p), p


def test_the_gradients_are_those_of_autograd():
    clock = LogarithmicHamiltonian(SUN)
    q, p = (part.requires_grad_() for part in clock.extended(*start(20)))
    p = p + 0.1  # also off the zero level
    slope_q, slope_p = torch.autograd.grad(clock.energy(q, p).sum(), (q, p))
    torch.testing.assert_close(clock.grad_q(q, p), slope_q)
    torch.testing.assert_close(clock.grad_p(q, p), slope_p)


def test_at_the_start_it_is_zero_and_its_field_is_the_one_of_the_system_by_the_clock():
    clock, (q, p) = LogarithmicHamiltonian(SUN), start(20)
    extended = clock.extended(q, p)
    assert clock.energy(*extended).abs().max() < 1e-13
    depth = -SUN.energy(q, 0 * p)[:, None]
    velocity, force = clock.field(*extended)
    their_velocity, their_force = SUN.field(q, p)
    torch.testing.assert_close(velocity, torch.cat([their_velocity, 0 * depth + 1], -1) / depth)
    torch.testing.assert_close(force, torch.cat([their_force, 0 * depth], -1) / depth)


def test_a_comet_follows_the_equation_of_kepler():
    clock, e = LogarithmicHamiltonian(Kepler()), 0.9
    run = integrate(clock, *clock.extended(*comet(e)), dt=0.005, steps=1400, method=runge_kutta_4)
    anomaly, minor = run.t, math.sqrt(1 - e**2)
    known = [anomaly.cos() - e, minor * anomaly.sin(), anomaly - e * anomaly.sin()]
    torch.testing.assert_close(run.q, torch.stack(known, -1), rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", [symplectic_euler, stoermer_verlet, position_verlet])
def test_kicks_and_drifts_by_the_clock_are_symplectic_on_extended_states(method):
    clock = LogarithmicHamiltonian(SUN)
    state = clock.extended(*start())
    assert symplecticity_error(lambda q, p: method(clock, q, p, 0.3), *state) < 1e-13


def test_a_step_by_both_ends_can_be_reversed_or_is_refused():
    q, p = comet(0.9)
    there, turned = by_both_ends(Kepler(), q, p, 0.3)
    back, _ = by_both_ends(Kepler(), there, -turned, 0.3)
    torch.testing.assert_close(back, q, rtol=0, atol=1e-14)
    with pytest.raises(ArithmeticError, match="shorter dt"):
        by_both_ends(Kepler(), q, p, 1.0)
