import itertools
import math
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from seeded_tensors import randn

from course_lib.mechanics import (
    STEPPERS,
    CoupledOscillators,
    HamiltonianSystem,
    HarmonicOscillator,
    HenonHeiles,
    IntegrationError,
    Kepler,
    LogarithmicHamiltonian,
    Pendulum,
    RigidBody,
    explicit_euler,
    implicit_midpoint,
    integrate,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
    symplecticity_error,
    trajectories,
)

# Parameters other than 1, to detect a missing one.
SYSTEMS = (
    HarmonicOscillator(mass=1.3, stiffness=0.7),
    Pendulum(mass=1.3, length=0.7, gravity=1.9),
    CoupledOscillators(),
    Kepler(mass=1.3, gravity=0.8),
    HenonHeiles(strength=0.9),
)
by_stepper = pytest.mark.parametrize("method", STEPPERS, ids=lambda method: method.__name__)
SYMPLECTIC = (symplectic_euler, stoermer_verlet, implicit_midpoint)


def start(system, *batch):
    """A state of a regular orbit, far from the sun."""
    q, p = 0.2 * randn(*batch, system.dim, seed=1), 0.2 * randn(*batch, system.dim, seed=2)
    if isinstance(system, Kepler):
        q, p = q / 4, p / 4
        q[..., 0] += 1.0
        p[..., 1] += 0.9 * system.mass
    return q, p


def derivatives(system, q, p):
    q, p = q.clone().requires_grad_(), p.clone().requires_grad_()
    return torch.autograd.grad(system.energy(q, p).sum(), (q, p))


def reference(system, q, p, time):
    """The flow, by SciPy's eighth-order method at 1e-13."""

    def field(_, z):
        half = torch.from_numpy(z).reshape(2, -1)
        slope_q, slope_p = derivatives(system, half[0], half[1])
        return torch.cat([slope_p, -slope_q]).numpy()

    z = torch.cat([q, p]).numpy()
    end = solve_ivp(field, (0, time), z, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return torch.from_numpy(end)


@cache
def state_at_one(system):
    """The state at time 1 from :func:`start`."""
    return reference(system, *start(system), 1.0)


# Systems --------------------------------------------------------------------------------------


def test_closed_form_gradients_are_those_of_autograd():
    for system in SYSTEMS:
        q, p = randn(50, system.dim, seed=3), randn(50, system.dim, seed=4)
        slope_q, slope_p = derivatives(system, q, p)
        torch.testing.assert_close(system.grad_q(q, p), slope_q, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(system.grad_p(q, p), slope_p, rtol=1e-12, atol=1e-12)
        velocity, force = system.field(q, p)
        torch.testing.assert_close(velocity, slope_p, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(force, -slope_q, rtol=1e-12, atol=1e-12)


def test_energies_are_the_textbook_formulas():
    q, p = torch.tensor([0.6, -0.4]).double(), torch.tensor([0.3, 0.9]).double()
    (q1, q2), (p1, p2) = q.tolist(), p.tolist()
    coupled = {"mass1": 2, "mass2": 3, "stiffness1": 5, "stiffness2": 7, "coupling": 11}
    spring = 11 / (1 + math.exp(-q1)) * (q2 - q1) ** 2 / 2
    bend = 2 * (q1**2 * q2 - q2**3 / 3)
    for system, energy in (
        (HarmonicOscillator(mass=2, stiffness=3), p1**2 / 4 + 3 * q1**2 / 2),
        (Pendulum(mass=2, length=3, gravity=5), p1**2 / 36 + 30 * (1 - math.cos(q1))),
        (
            CoupledOscillators(**coupled),
            p1**2 / 4 + p2**2 / 6 + 5 * q1**2 / 2 + 7 * q2**2 / 2 + spring,
        ),
        (Kepler(mass=2, gravity=3), (p1**2 + p2**2) / 4 - 6 / math.hypot(q1, q2)),
        (HenonHeiles(strength=2), (p1**2 + p2**2 + q1**2 + q2**2) / 2 + bend),
    ):
        found = system.energy(q[: system.dim], p[: system.dim]).item()
        assert found == pytest.approx(energy), system.name


# Rigid body -----------------------------------------------------------------------------------


def test_the_rigid_body_moves_by_the_cross_product_of_its_two_gradients():
    body = RigidBody(inertia=(1.1, 2.3, 0.7), weights=(0.9, 1.2, 1.6))
    z = randn(20, 3).requires_grad_()
    (energy,) = torch.autograd.grad(body.energy(z).sum(), z)
    (casimir,) = torch.autograd.grad(body.casimir(z).sum(), z)
    torch.testing.assert_close(body.field(z), torch.linalg.cross(casimir, energy))


@given(st.lists(st.floats(-5, 5).filter(lambda x: x == 0 or abs(x) > 0.01), min_size=3, max_size=3))
def test_from_coefficients_keeps_its_coefficients_or_refuses_one_sign(coefficients):
    signs = {math.copysign(1, value) for value in coefficients if value}
    if len(signs) == 1:
        with pytest.raises(ValueError, match="one sign"):
            RigidBody.from_coefficients(*coefficients)
    else:
        body = RigidBody.from_coefficients(*coefficients)
        assert body.coefficients == pytest.approx(tuple(coefficients), abs=1e-9)


def test_implicit_midpoint_keeps_both_invariants_of_the_rigid_body():
    body, z = RigidBody(), randn(5, 3)
    orbit = integrate(body, z, dt=0.2, steps=100, method=implicit_midpoint)
    for kept in (orbit.energy, body.casimir(orbit.q)):
        torch.testing.assert_close(kept, kept[:, :1].expand_as(kept))


# Steppers -------------------------------------------------------------------------------------


FIRST_ORDER, FOURTH_ORDER = (explicit_euler, symplectic_euler), (runge_kutta_4,)


@by_stepper
def test_halving_the_step_divides_the_error_by_two_to_the_order(method):
    order = 1 if method in FIRST_ORDER else 4 if method in FOURTH_ORDER else 2
    for system in SYSTEMS:
        q, p = start(system)
        errors = []
        for steps in (64, 128):
            orbit = integrate(system, q, p, dt=1 / steps, steps=steps, method=method)
            end = torch.cat([orbit.q[-1], orbit.p[-1]])
            errors.append((end - state_at_one(system)).norm().item())
        assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_only_the_symplectic_steppers_are_symplectic():
    for system in SYSTEMS:
        q, p = start(system)
        error = {
            method.__name__: symplecticity_error(
                lambda q, p, system=system, method=method: method(system, q, p, 0.2), q, p
            )
            for method in STEPPERS
        }
        assert all(error[method.__name__] < 1e-12 for method in SYMPLECTIC)
        assert error["explicit_euler"] > 1e-3
        assert error["runge_kutta_4"] > 1e-9


@dataclass
class Twisted(HamiltonianSystem):
    """Its energy is no sum of a function of q and one of p."""

    name, dim = "twisted", 1

    def energy(self, q, p):
        return ((1 + q**2) * (1 + p**2) / 2).sum(dim=-1)

    def grad_q(self, q, p):
        return q * (1 + p**2)

    def grad_p(self, q, p):
        return p * (1 + q**2)


# integrate ------------------------------------------------------------------------------------


def starts(method):
    """One state and a batch for every system that the method supports."""
    yield from ((system, start(system, *batch)) for system in SYSTEMS for batch in ((), (2, 3)))
    yield Kepler(), start(Kepler(), 0)
    for batch in ((), (2, 3)):
        clock = LogarithmicHamiltonian(Kepler(mass=1.3, gravity=0.8))
        yield clock, clock.extended(*start(clock.system, *batch))
    if method not in (symplectic_euler, stoermer_verlet):
        yield RigidBody(), (randn(2, 3),)


@by_stepper
def test_the_recorded_loop_and_pytorch_give_the_same_trajectory(method, monkeypatch):
    def run():
        return [
            integrate(system, *z, dt=0.1, steps=5, method=method) for system, z in starts(method)
        ]

    recorded = run()
    monkeypatch.setattr(trajectories, "record", lambda *_: None)
    for fast, plain in zip(recorded, run(), strict=True):
        for left, right in zip(fast, plain, strict=True):
            torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-13)


def test_integrate_is_the_stepper_repeated():
    for method in STEPPERS:
        system = CoupledOscillators()
        q, p = start(system, 2)
        orbit = integrate(system, q, p, dt=0.3, steps=5, method=method)
        for i in range(5):
            torch.testing.assert_close((orbit.q[:, i], orbit.p[:, i]), (q, p))
            q, p = method(system, q, p, 0.3)
        torch.testing.assert_close((orbit.q[:, 5], orbit.p[:, 5]), (q, p))
        torch.testing.assert_close(orbit.t, 0.3 * torch.arange(6).double())
        torch.testing.assert_close(orbit.energy, system.energy(orbit.q, orbit.p))


def test_a_long_run_of_a_pendulum_calls_no_pytorch_per_step(monkeypatch):
    monkeypatch.setattr(torch, "stack", None)  # which a loop in PyTorch would call
    q, p = start(Pendulum())
    orbit = integrate(Pendulum(), q, p, dt=0.1, steps=100_000)
    assert orbit.q.shape == (100_001, 1)
    assert (orbit.energy / orbit.energy[0] - 1).abs().max() < 0.01


def test_integrate_passes_gradients_to_the_start():
    q, p = start(Pendulum())
    q.requires_grad_()
    orbit = integrate(Pendulum(), q, p, dt=0.01, steps=100)
    (slope,) = torch.autograd.grad(orbit.q[-1].sum(), q)
    ahead, behind = (
        reference(Pendulum(), q.detach() + shift, p, 1.0)[0] for shift in (1e-4, -1e-4)
    )
    assert slope.item() == pytest.approx((ahead - behind).item() / 2e-4, rel=1e-4)
    with torch.no_grad():
        assert not integrate(Pendulum(), q, p, dt=0.01, steps=2).q.requires_grad


# symplecticity_error --------------------------------------------------------------------------


def test_symplecticity_error_is_the_formula_on_a_linear_map():
    M, q, p = randn(4, 4), randn(2, seed=1), randn(2, seed=2)
    J = torch.tensor([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]]).double()
    error = (M.T @ J @ M - J).norm() / J.norm()
    flow = lambda q, p: (M @ torch.cat([q, p])).split(2)  # noqa: E731 - a map in one line
    assert symplecticity_error(flow, q, p) == pytest.approx(error.item(), rel=1e-12)


def test_a_batch_gives_the_root_mean_square_of_its_members():
    q, p = randn(4, 1), randn(4, 1, seed=1)

    def flow(q, p):
        return explicit_euler(Pendulum(), q, p, 0.5)

    each = torch.tensor([symplecticity_error(flow, *state) for state in zip(q, p, strict=True)])
    assert symplecticity_error(flow, q, p) == pytest.approx(each.square().mean().sqrt().item())


# Runs that end early -----------------------------------------------------------------------------


@pytest.mark.parametrize(("recorded", "batch"), [(True, ()), (False, (2,))])
def test_a_state_that_is_not_finite_ends_the_run_and_keeps_earlier_ones(
    recorded, batch, monkeypatch
):
    if not recorded:
        monkeypatch.setattr(trajectories, "record", lambda *_: None)
    escaping = torch.full((*batch, 2), 2.0, dtype=torch.float64)
    with pytest.raises(IntegrationError, match="step") as caught:
        integrate(HenonHeiles(), escaping, -escaping, dt=0.1, steps=60)
    error = caught.value
    assert error.time == pytest.approx(0.1 * error.step)
    assert error.trajectory.q.shape == (*batch, error.step, 2)
    assert error.trajectory.q.isfinite().all()
    assert torch.equal(error.trajectory.q[..., 0, :], escaping)
    q, p = error.trajectory.q[..., -1, :], error.trajectory.p[..., -1, :]
    next_q, next_p = stoermer_verlet(HenonHeiles(), q, p, 0.1)
    assert not (next_q.isfinite().all() and next_p.isfinite().all())


def test_a_step_whose_implicit_equation_has_no_solution_says_so():
    """The midpoint of a Kepler step has the distance r with r + (dt / 2r)² = |q + p dt / 2|."""
    q, p = torch.tensor([0.6, 0.0]).double(), torch.tensor([0.0, 1.5]).double()
    for dt in (0.5, 1.0):
        assert (q + p * dt / 2).norm() < 1.5 * (dt**2 / 2) ** (1 / 3)
        with pytest.raises(IntegrationError, match="equation is not solved"):
            integrate(Kepler(), q, p, dt=dt, steps=3, method=implicit_midpoint)


# Long steps and strange units -----------------------------------------------------------------

LONG = (  # sweeps do not contract here: systems, two states each, some at rest, and dt
    (HarmonicOscillator(stiffness=9.0), ([[1.0], [0.0]], [[0.0], [0.0]]), 0.7),
    (Pendulum(length=0.2, gravity=9.81), ([[1.2], [0.0]], [[0.0], [0.0]]), 0.5),
    (CoupledOscillators(), ([[1.0, 0.5], [0.0, 0.0]], [[0.0, 0.5], [0.0, 0.0]]), 4.0),
    (Kepler(), ([[0.75, 0.0], [0.0, 2.0]], [[0.0, 0.8], [0.1, 0.1]]), 0.5),
    (RigidBody(), ([[6.0, 10.0, -4.0], [0.0, 2.0, 0.0]],), 0.5),
    (Twisted(), ([[0.8], [0.0]], [[0.3], [0.0]]), 0.5),
)


@pytest.mark.parametrize(("system", "state", "dt"), LONG, ids=lambda x: getattr(x, "name", ""))
def test_long_steps_solve_the_equation_of_the_midpoint(system, state, dt, monkeypatch):
    for recorded in (True, False):
        if not recorded:
            monkeypatch.setattr(trajectories, "record", lambda *_: None)
        state = [torch.as_tensor(part).double() for part in state]
        run = integrate(system, *state, dt=dt, steps=1, method=implicit_midpoint)
        middle = [(part[:, 1:] + part[:, :-1]) / 2 for part in (run.q, run.p)]
        moved = torch.cat([run.q, run.p], -1).diff(dim=1)
        torch.testing.assert_close(moved, dt * torch.cat(system.field(*middle), -1))


@by_stepper
def test_no_result_depends_on_the_unit(method):
    """Lengths in units of 1e12 or 1e-12, or SI, momenta in others, masses and springs to match."""
    steps = (0.1, 2.5) if method is implicit_midpoint else (0.1,)  # the longer one uses no sweeps
    for dtype, size, dt in itertools.product((torch.float32, torch.float64), (1e-12, 1e12), steps):
        runs = []
        for q, p in ((1.0, 1.0), (size, size), (size, 1e-6 * size), (1e-10, 1e-24)):
            spring = HarmonicOscillator(mass=p / q, stiffness=p / q)
            start = torch.tensor([q], dtype=dtype), torch.tensor([0.0], dtype=dtype)
            run = integrate(spring, *start, dt=dt, steps=20, method=method)
            energy = run.energy[:, None] / p / q
            runs.append(torch.cat([run.q / q, run.p / p, energy], -1))
        rounding = 100 * torch.finfo(dtype).eps
        for run in runs[1:]:
            torch.testing.assert_close(run, runs[0], rtol=0, atol=rounding)


def test_the_pull_of_the_sun_does_not_depend_on_the_unit():
    near, far = torch.tensor([3.0, 4.0]), torch.tensor([3e14, 4e14])
    pull = Kepler(gravity=1e28).grad_q(far, far)
    torch.testing.assert_close(pull, Kepler().grad_q(near, near))
