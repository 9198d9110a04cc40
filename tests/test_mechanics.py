import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from course_lib import mechanics
from course_lib.mechanics import (
    STEPPERS,
    CoupledOscillators,
    HamiltonianSystem,
    HarmonicOscillator,
    HenonHeiles,
    IntegrationError,
    Kepler,
    Pendulum,
    RigidBody,
    explicit_euler,
    implicit_midpoint,
    integrate,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
    symplecticity_error,
    work_along,
)

# Parameters other than 1, so that a forgotten one shows.
SYSTEMS = (
    HarmonicOscillator(mass=1.3, stiffness=0.7),
    Pendulum(mass=1.3, length=0.7, gravity=1.9),
    CoupledOscillators(),
    Kepler(mass=1.3, gravity=0.8),
    HenonHeiles(strength=0.9),
)
by_system = pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
by_stepper = pytest.mark.parametrize("method", STEPPERS, ids=lambda method: method.__name__)
SYMPLECTIC = (symplectic_euler, stoermer_verlet, implicit_midpoint)


def points(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def start(system, *batch):
    """A state in the region where orbits are regular, the sun well away."""
    q, p = 0.2 * points(*batch, system.dim, seed=1), 0.2 * points(*batch, system.dim, seed=2)
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
    """Where :func:`start` has moved to at time 1."""
    return reference(system, *start(system), 1.0)


# Systems --------------------------------------------------------------------------------------


@by_system
def test_closed_form_gradients_are_those_of_autograd(system):
    q, p = points(50, system.dim, seed=3), points(50, system.dim, seed=4)
    slope_q, slope_p = derivatives(system, q, p)
    torch.testing.assert_close(system.grad_q(q, p), slope_q, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(system.grad_p(q, p), slope_p, rtol=1e-12, atol=1e-12)
    velocity, force = system.field(q, p)
    torch.testing.assert_close(velocity, slope_p, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(force, -slope_q, rtol=1e-12, atol=1e-12)


def test_energies_are_the_textbook_formulas():
    q, p = torch.tensor([0.6, -0.4]).double(), torch.tensor([0.3, 0.9]).double()
    (q1, q2), (p1, p2) = q.tolist(), p.tolist()

    def energy(system):
        return system.energy(q[: system.dim], p[: system.dim]).item()

    assert energy(HarmonicOscillator(mass=2, stiffness=3)) == pytest.approx(
        p1**2 / 4 + 3 * q1**2 / 2
    )
    assert energy(Pendulum(mass=2, length=3, gravity=5)) == pytest.approx(
        p1**2 / 36 + 30 * (1 - math.cos(q1))
    )
    assert energy(
        CoupledOscillators(mass1=2, mass2=3, stiffness1=5, stiffness2=7, coupling=11)
    ) == pytest.approx(
        p1**2 / 4
        + p2**2 / 6
        + 5 * q1**2 / 2
        + 7 * q2**2 / 2
        + 11 / (1 + math.exp(-q1)) * (q2 - q1) ** 2 / 2
    )
    assert energy(Kepler(mass=2, gravity=3)) == pytest.approx(
        (p1**2 + p2**2) / 4 - 6 / math.hypot(q1, q2)
    )
    assert energy(HenonHeiles(strength=2)) == pytest.approx(
        (p1**2 + p2**2 + q1**2 + q2**2) / 2 + 2 * (q1**2 * q2 - q2**3 / 3)
    )


def test_coupled_oscillators_take_far_positions_without_overflow():
    q = torch.tensor([[-1e4, 1.0], [1e4, 1.0]])
    assert CoupledOscillators().energy(q, q).isfinite().all()
    assert CoupledOscillators().grad_q(q, q).isfinite().all()


def test_a_system_of_your_own_integrates_and_agrees_with_the_built_in_one():
    class Mine(HamiltonianSystem):
        name, dim, separable = "mine", 1, True

        def energy(self, q, p):
            return ((q**2 + p**2) / 2).sum(dim=-1)

        def grad_q(self, q, p):  # noqa: ARG002 - the interface
            return q

        def grad_p(self, q, p):  # noqa: ARG002 - the interface
            return p

    q, p = points(3, 1), points(3, 1, seed=1)
    mine = integrate(Mine(), q, p, dt=0.1, steps=50)
    ours = integrate(HarmonicOscillator(), q, p, dt=0.1, steps=50)
    for left, right in zip(mine, ours, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-13, atol=1e-13)


# Rigid body -----------------------------------------------------------------------------------


def test_the_rigid_body_moves_by_the_cross_product_of_its_two_gradients():
    body = RigidBody(inertia=(1.1, 2.3, 0.7), weights=(0.9, 1.2, 1.6))
    z = points(20, 3).requires_grad_()
    (energy,) = torch.autograd.grad(body.energy(z).sum(), z)
    (casimir,) = torch.autograd.grad(body.casimir(z).sum(), z)
    torch.testing.assert_close(body.field(z), torch.linalg.cross(casimir, energy))


def test_a_rigid_body_with_moments_of_inertia_obeys_euler():
    body = RigidBody(inertia=(1.0, 2.0, 2 / 3))
    assert body.coefficients == pytest.approx((1.0, -0.5, -0.5))
    assert sum(body.coefficients) == pytest.approx(0.0)
    z = points(20, 3)
    turning = z / torch.tensor(body.inertia, dtype=z.dtype)
    torch.testing.assert_close(body.field(z), torch.linalg.cross(z, turning))


@given(st.lists(st.floats(-5, 5).filter(lambda x: x == 0 or abs(x) > 0.01), min_size=3, max_size=3))
def test_from_coefficients_gives_back_its_coefficients_or_refuses_one_sign(coefficients):
    signs = {math.copysign(1, value) for value in coefficients if value}
    if len(signs) == 1:
        with pytest.raises(ValueError, match="one sign"):
            RigidBody.from_coefficients(*coefficients)
    else:
        body = RigidBody.from_coefficients(*coefficients)
        assert body.coefficients == pytest.approx(tuple(coefficients), abs=1e-9)


def test_only_coefficients_of_sum_zero_keep_the_length_of_the_state():
    assert RigidBody.from_coefficients(1, -0.5, -0.5).weights == (1, 1, 1)
    assert RigidBody.from_coefficients(1, -0.5, -0.5).inertia == pytest.approx((1, 2, 2 / 3))
    assert RigidBody.from_coefficients(1, 0.5, -0.5).weights != (1, 1, 1)


def test_implicit_midpoint_keeps_both_invariants_of_the_rigid_body():
    body, z = RigidBody(), points(5, 3)
    orbit = integrate(body, z, dt=0.2, steps=500, method=implicit_midpoint)
    casimir = body.casimir(orbit.q)
    torch.testing.assert_close(orbit.energy, orbit.energy[:, :1].expand_as(orbit.energy))
    torch.testing.assert_close(casimir, casimir[:, :1].expand_as(casimir))
    assert orbit.p.shape == (5, 501, 0)
    straight = integrate(body, z, dt=0.2, steps=500, method=runge_kutta_4)
    assert (straight.energy / straight.energy[:, :1] - 1).abs().max() > 1e-6


# Steppers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "order"),
    [
        (explicit_euler, 1),
        (symplectic_euler, 1),
        (stoermer_verlet, 2),
        (runge_kutta_4, 4),
        (implicit_midpoint, 2),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@by_system
def test_halving_the_step_divides_the_error_by_two_to_the_order(system, method, order):
    q, p = start(system)
    errors = []
    for steps in (64, 128):
        orbit = integrate(system, q, p, dt=1 / steps, steps=steps, method=method)
        errors.append((torch.cat([orbit.q[-1], orbit.p[-1]]) - state_at_one(system)).norm().item())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@by_system
def test_only_the_symplectic_steppers_are_symplectic(system):
    q, p = start(system)
    error = {
        method.__name__: symplecticity_error(
            lambda q, p, method=method: method(system, q, p, 0.2), q, p
        )
        for method in STEPPERS
    }
    assert all(error[method.__name__] < 1e-12 for method in SYMPLECTIC)
    assert error["explicit_euler"] > 1e-3
    assert error["runge_kutta_4"] > 1e-9


def test_the_midpoint_rule_is_symplectic_for_a_system_that_is_not_separable():
    @dataclass
    class Twisted(HamiltonianSystem):
        name, dim = "twisted", 1

        def energy(self, q, p):
            return ((1 + q**2) * (1 + p**2) / 2).sum(dim=-1)

        def grad_q(self, q, p):
            return q * (1 + p**2)

        def grad_p(self, q, p):
            return p * (1 + q**2)

    q, p = points(1), points(1, seed=1)
    assert symplecticity_error(lambda q, p: implicit_midpoint(Twisted(), q, p, 0.1), q, p) < 1e-12
    with pytest.raises(ValueError, match=r"separable.*use implicit_midpoint"):
        stoermer_verlet(Twisted(), q, p, 0.1)


@by_system
def test_verlet_runs_back_when_the_momentum_is_turned(system):
    q, p = start(system, 4)
    out_q, out_p = stoermer_verlet(system, q, p, 0.1)
    back_q, back_p = stoermer_verlet(system, out_q, -out_p, 0.1)
    torch.testing.assert_close((back_q, -back_p), (q, p))


def test_energy_grows_drifts_and_oscillates_as_the_lecture_says():
    q, p = torch.tensor([1.5]).double(), torch.tensor([0.0]).double()
    error = {}
    for method in STEPPERS:
        energy = integrate(Pendulum(), q, p, dt=0.3, steps=2000, method=method).energy
        relative = energy / energy[0] - 1
        # How much farther out the energy is in the last tenth than it ever was in the first.
        error[method.__name__] = relative[-200:].abs().max() / relative[:200].abs().max()
    assert error["explicit_euler"] > 2
    assert error["runge_kutta_4"] > 5
    assert all(error[method.__name__] < 1.05 for method in SYMPLECTIC)


# integrate ------------------------------------------------------------------------------------


@by_stepper
@by_system
@pytest.mark.parametrize("batch", [(), (2, 3)], ids=["as floats", "as arrays"])
def test_the_recorded_loop_and_pytorch_give_the_same_trajectory(system, method, batch, monkeypatch):
    q, p = start(system, *batch)
    fast = integrate(system, q, p, dt=0.1, steps=5, method=method)
    monkeypatch.setattr(mechanics, "record", lambda *_: None)
    plain = integrate(system, q, p, dt=0.1, steps=5, method=method)
    for left, right in zip(fast, plain, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-13)


@by_stepper
def test_a_batch_of_no_trajectories_has_its_shape_in_either_loop(method, monkeypatch):
    q, p = start(Kepler(), 0)
    assert integrate(Kepler(), q, p, dt=0.1, steps=5, method=method).q.shape == (0, 6, 2)
    monkeypatch.setattr(mechanics, "record", lambda *_: None)
    assert integrate(Kepler(), q, p, dt=0.1, steps=5, method=method).q.shape == (0, 6, 2)


@pytest.mark.parametrize("method", [explicit_euler, runge_kutta_4, implicit_midpoint])
def test_the_recorded_loop_and_pytorch_agree_on_the_rigid_body(method, monkeypatch):
    z = points(2, 3)
    fast = integrate(RigidBody(), z, dt=0.1, steps=20, method=method)
    monkeypatch.setattr(mechanics, "record", lambda *_: None)
    plain = integrate(RigidBody(), z, dt=0.1, steps=20, method=method)
    for left, right in zip(fast, plain, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-13)


@by_stepper
def test_integrate_is_the_stepper_repeated(method):
    system = CoupledOscillators()
    q, p = start(system, 2)
    orbit = integrate(system, q, p, dt=0.3, steps=5, method=method)
    for i in range(5):
        torch.testing.assert_close((orbit.q[:, i], orbit.p[:, i]), (q, p))
        q, p = method(system, q, p, 0.3)
    torch.testing.assert_close((orbit.q[:, 5], orbit.p[:, 5]), (q, p))
    torch.testing.assert_close(orbit.t, 0.3 * torch.arange(6).double())
    torch.testing.assert_close(orbit.energy, system.energy(orbit.q, orbit.p))


def test_shapes_and_dtype_are_those_of_the_start():
    q, p = start(Kepler(), 2, 3)
    orbit = integrate(Kepler(), q.float(), p.float(), dt=0.1, steps=7)
    assert orbit.q.shape == orbit.p.shape == (2, 3, 8, 2)
    assert orbit.energy.shape == (2, 3, 8)
    assert orbit.t.shape == (8,)
    assert {part.dtype for part in orbit} == {torch.float32}
    assert integrate(Kepler(), q, p, dt=0.1, steps=0).q.shape == (2, 3, 1, 2)


def test_a_hundred_thousand_steps_of_a_pendulum_take_none_in_pytorch(monkeypatch):
    monkeypatch.setattr(mechanics, "_repeat", None)
    q, p = start(Pendulum())
    orbit = integrate(Pendulum(), q, p, dt=0.1, steps=100_000)
    assert orbit.q.shape == (100_001, 1)
    assert (orbit.energy / orbit.energy[0] - 1).abs().max() < 0.01


def test_a_subclass_that_changes_a_formula_is_obeyed():
    class Reversed(Pendulum):
        def grad_q(self, q, p):
            return -super().grad_q(q, p)

    q, p = torch.tensor([0.5]).double(), torch.tensor([0.0]).double()
    assert integrate(Reversed(), q, p, dt=0.1, steps=3).q[-1] > 0.5


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


def test_a_trajectory_shares_no_memory_with_its_start():
    q, p = start(Pendulum(), 4)
    kept = q.clone(), p.clone()
    orbit = integrate(Pendulum(), q, p, dt=0.1, steps=3)
    orbit.q.zero_()
    assert torch.equal(q, kept[0])
    assert torch.equal(p, kept[1])


def test_orbits_are_those_of_scipy():
    for system in SYSTEMS:
        q, p = start(system)
        orbit = integrate(system, q, p, dt=0.005, steps=600, method=runge_kutta_4)
        end = torch.cat([orbit.q[-1], orbit.p[-1]])
        np.testing.assert_allclose(end, reference(system, q, p, 3.0), rtol=1e-9, atol=1e-9)


# work_along -----------------------------------------------------------------------------------


def closed(path):
    return torch.cat([path, path[:1]])


def test_work_is_the_difference_of_the_energy_along_any_path_of_a_gradient():
    path = points(6, 3, 2)
    energy = lambda x: x.square().prod(-1).sum(-1)  # noqa: E731 - a formula in one line

    def gradient(x):
        return 2 * x * x.square().flip(-1)

    expected = energy(path) - energy(path[0])
    torch.testing.assert_close(work_along(gradient, path), expected, rtol=0, atol=1e-12)
    assert work_along(gradient, closed(path))[-1].abs() < 1e-12


def test_work_of_a_whirl_round_a_loop_is_twice_its_area():
    square = torch.tensor([[0, 0], [2, 0], [2, 3], [0, 3]], dtype=torch.float64)
    whirl = lambda x: torch.stack([-x[..., 1], x[..., 0]], dim=-1)  # noqa: E731
    assert work_along(whirl, closed(square)).tolist() == pytest.approx([0, 0, 6, 12, 12])
    assert work_along(whirl, closed(square.flip(0)))[-1] == pytest.approx(-12)


def test_work_along_a_line_is_the_integral_of_scipy():
    line = torch.tensor([0.5, 2.0], dtype=torch.float64)
    exact, _ = quad(lambda x: math.sin(3 * x) * math.exp(x), 0.5, 2.0)
    found = work_along(lambda x: (3 * x).sin() * x.exp(), line)
    assert found.tolist() == pytest.approx([0, exact], rel=1e-9)


def test_so_many_nodes_are_exact_for_polynomials_of_twice_their_degree():
    line = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert work_along(lambda x: 4 * x**3, line, nodes=2)[-1] == pytest.approx(1, rel=1e-12)
    assert work_along(lambda x: 5 * x**4, line, nodes=2)[-1] != pytest.approx(1, rel=1e-3)


def test_a_path_that_stays_where_it_is_takes_no_work():
    assert work_along(torch.ones_like, points(1, 2)).tolist() == [0]


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("path", "options", "error", "message"),
    [
        ([0.0, 1.0], {}, TypeError, "path is a list; expected a torch.Tensor"),
        (torch.tensor([[0, 1]]), {}, TypeError, "path has dtype torch.int64"),
        (torch.tensor(1.0), {}, ValueError, "path has shape"),
        (torch.zeros(0, 2), {}, ValueError, "the number of points of path is 0"),
        (torch.zeros(2, 2), {"nodes": 0}, ValueError, "nodes is 0"),
    ],
)
def test_a_path_that_is_none_is_refused(path, options, error, message):
    with pytest.raises(error, match=message):
        work_along(lambda x: x, path, **options)


@pytest.mark.usefixtures("plain_calls")
def test_a_force_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="force has shape"):
        work_along(lambda x: x.sum(-1), points(3, 2))


# symplecticity_error --------------------------------------------------------------------------


def test_symplecticity_error_is_the_formula_on_a_linear_map():
    M, q, p = points(4, 4), points(2, seed=1), points(2, seed=2)
    J = torch.tensor([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]]).double()
    error = (M.T @ J @ M - J).norm() / J.norm()
    flow = lambda q, p: (M @ torch.cat([q, p])).split(2)  # noqa: E731 - a map in one line
    assert symplecticity_error(flow, q, p) == pytest.approx(error.item(), rel=1e-12)


def test_a_window_is_one_point_of_the_product_space():
    q, p = points(3, 2), points(3, 2, seed=1)
    kick = points(3, 3)
    symmetric = kick + kick.T
    assert symplecticity_error(lambda q, p: (q, p + symmetric @ q), q, p) < 1e-15
    assert symplecticity_error(lambda q, p: (q, p + kick @ q), q, p) > 0.1


def test_a_batch_gives_the_root_mean_square_of_its_members():
    q, p = points(4, 1), points(4, 1, seed=1)

    def flow(q, p):
        return explicit_euler(Pendulum(), q, p, 0.5)

    each = torch.tensor([symplecticity_error(flow, *state) for state in zip(q, p, strict=True)])
    assert symplecticity_error(flow, q, p) == pytest.approx(each.square().mean().sqrt().item())


def test_symplecticity_error_works_without_gradients_and_on_a_map_that_ignores_its_input():
    q, p = points(2), points(2, seed=1)
    with torch.no_grad():
        assert symplecticity_error(lambda q, p: (p, -q), q, p) == 0
    assert symplecticity_error(lambda q, _: (q, q), q, p) == pytest.approx(1.0)


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_calls")
class TestBadInput:
    def test_q_and_p_of_different_shapes(self):
        with pytest.raises(ValueError, match=r"p has shape \(3, 1\)"):
            integrate(Pendulum(), points(2, 1), points(3, 1), dt=0.1, steps=1)
        with pytest.raises(ValueError, match=r"p has shape \(3, 1\)"):
            Pendulum().energy(points(2, 1), points(3, 1))

    def test_a_state_of_the_wrong_dimension(self):
        with pytest.raises(ValueError, match=r"q has shape \(3,\).*2"):
            stoermer_verlet(Kepler(), points(3), points(3), 0.1)

    def test_integers_are_no_state(self):
        with pytest.raises(TypeError, match=r"q has dtype torch.int64.*q\.float\(\)"):
            Pendulum().grad_q(torch.tensor([1]), torch.tensor([1]))

    def test_p_left_out_of_a_canonical_system(self):
        with pytest.raises(TypeError, match="p is a NoneType"):
            integrate(Pendulum(), points(1), dt=0.1, steps=1)

    @pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
    def test_parameters_that_are_not_positive(self, value):
        for make in (
            lambda: HarmonicOscillator(mass=value),
            lambda: Pendulum(length=value),
            lambda: CoupledOscillators(mass2=value),
            lambda: Kepler(gravity=value),
            lambda: HenonHeiles(strength=value),
            lambda: RigidBody(inertia=(1.0, value, 1.0)),
        ):
            with pytest.raises(ValueError, match="above 0"):
                make()

    def test_a_rigid_body_needs_three_moments(self):
        with pytest.raises(ValueError, match="pass three"):
            RigidBody(inertia=(1.0, 2.0))

    @pytest.mark.parametrize("dt", [0, -0.1, math.nan])
    def test_a_step_that_is_not_positive(self, dt):
        with pytest.raises(ValueError, match=r"dt is .* above 0"):
            integrate(Pendulum(), points(1), points(1), dt=dt, steps=1)
        with pytest.raises(ValueError, match=r"dt is .* above 0"):
            explicit_euler(Pendulum(), points(1), points(1), dt)

    def test_a_number_of_steps_that_is_none(self):
        with pytest.raises(TypeError, match=r"steps is 2\.5"):
            integrate(Pendulum(), points(1), points(1), dt=0.1, steps=2.5)
        with pytest.raises(ValueError, match="steps is -1"):
            integrate(Pendulum(), points(1), points(1), dt=0.1, steps=-1)

    def test_a_kepler_start_in_the_sun(self):
        with pytest.raises(ValueError, match=r"singular.*at some distance"):
            integrate(Kepler(), torch.zeros(2), torch.ones(2), dt=0.1, steps=1)

    def test_a_start_that_is_not_finite(self):
        with pytest.raises(ValueError, match="p holds nan or inf"):
            integrate(Pendulum(), points(1), points(1) / 0, dt=0.1, steps=1)

    def test_steppers_that_a_rigid_body_cannot_take(self):
        with pytest.raises(ValueError, match="use implicit_midpoint"):
            integrate(RigidBody(), points(3), dt=0.1, steps=1, method=symplectic_euler)
        with pytest.raises(ValueError, match="leave p out"):
            integrate(RigidBody(), points(3), points(3), dt=0.1, steps=1, method=runge_kutta_4)

    def test_a_flow_without_a_derivative_or_of_another_shape(self):
        with pytest.raises(ValueError, match=r"leave out detach\(\)"):
            symplecticity_error(lambda q, p: (q.detach(), p.detach()), points(2), points(2))
        with pytest.raises(ValueError, match="new_q has shape"):
            symplecticity_error(lambda q, p: (q[:1], p[:1]), points(2), points(2))
        with pytest.raises(ValueError, match="p has shape"):
            symplecticity_error(lambda q, p: (q, p), points(2), points(3))


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
def test_a_state_that_stops_being_finite_ends_the_run_and_keeps_what_there_is(
    recorded, batch, monkeypatch
):
    if not recorded:
        monkeypatch.setattr(mechanics, "record", lambda *_: None)
    escaping = torch.full((*batch, 2), 2.0, dtype=torch.float64)
    with pytest.raises(IntegrationError, match=r"Hénon.*step \d+, t = .*dt below 0.1") as caught:
        integrate(HenonHeiles(), escaping, -escaping, dt=0.1, steps=60)
    error = caught.value
    assert error.time == pytest.approx(0.1 * error.step)
    assert error.trajectory.q.shape == (*batch, error.step, 2)
    assert error.trajectory.q.isfinite().all()
    assert torch.equal(error.trajectory.q[..., 0, :], escaping)
    q, p = error.trajectory.q[..., -1, :], error.trajectory.p[..., -1, :]
    next_q, next_p = stoermer_verlet(HenonHeiles(), q, p, 0.1)
    assert not (next_q.isfinite().all() and next_p.isfinite().all())


@pytest.mark.parametrize("recorded", [True, False])
def test_a_fall_into_the_sun_ends_the_run(recorded, monkeypatch):
    if not recorded:
        monkeypatch.setattr(mechanics, "record", lambda *_: None)
    # A step of exactly this length lands on the singularity.
    q, p = torch.tensor([1.0, 0.0]).double(), torch.tensor([-7.875, 0.0]).double()
    with pytest.raises(IntegrationError) as caught:
        integrate(Kepler(), q, p, dt=0.125, steps=10, method=symplectic_euler)
    assert caught.value.step == 2
    assert torch.equal(caught.value.trajectory.q, torch.tensor([[1.0, 0.0], [0.0, 0.0]]).double())


def test_a_step_too_long_for_the_implicit_equation_says_so():
    q, p = torch.tensor([1.0]).double(), torch.tensor([0.0]).double()
    with pytest.raises(ArithmeticError, match="shorter dt"):
        implicit_midpoint(HarmonicOscillator(), q, p, 5.0)
    with pytest.raises(IntegrationError, match="did not settle"):
        integrate(HarmonicOscillator(), q, p, dt=5.0, steps=3, method=implicit_midpoint)
