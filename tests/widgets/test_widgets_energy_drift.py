import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from small_widgets import payload, swing

from course_lib import mechanics
from course_lib.mechanics import integrate
from course_lib.widgets import EnergyDrift
from course_lib.widgets.energy_drift.energy_drift import BINS, NUMBERS, SCENES
from course_lib.widgets.energy_drift.programs import program_of, run_program
from course_lib.widgets.kit.runs import REACH
from course_lib.widgets.kit.traits import Array

SYSTEMS = [getattr(mechanics, name)() for name in SCENES]
STEPS = 500


def vector(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def decoded(encoded):
    return Array._decode(encoded, None)


def relative_error(run):
    return (run.energy / run.energy[0] - 1).abs().numpy()


def drift_first(system, q, p, dt):
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def mine(*system, **changes):
    return EnergyDrift(*system, **{"steps": STEPS, "steppers": {"mine": drift_first}} | changes)


def begin(total):
    """The starts of all stretches and the end of the last one; their lengths grow from one step."""
    return [max(k, math.floor(total * (k / BINS) ** 2 + 1e-9)) for k in range(BINS + 1)]


def test_every_system_starts_where_its_scene_says_on_a_bounded_orbit_inside_its_picture():
    for system in SYSTEMS:
        widget, reach = EnergyDrift(system), REACH[type(system).__name__]
        start = [torch.from_numpy(state).double() for state in (widget.q, widget.p)]
        run = integrate(system, *start, dt=widget.dt, steps=2000)
        assert (torch.cat([run.q, run.p], -1).abs().amax(0) < vector(*reach)).all()
        assert relative_error(run).max() < 0.01


def test_a_rollout_is_drawn_by_the_envelope_of_its_energy_error_and_some_of_its_states():
    run = swing(5000, method=mechanics.explicit_euler)
    (drawn,) = EnergyDrift(rollouts={"given": run}).rollouts
    error = relative_error(run)
    inside = [error[a:b] for a, b in pairwise(begin(len(error)))]
    np.testing.assert_allclose(decoded(drawn["low"]), [part.min() for part in inside], rtol=1e-6)
    np.testing.assert_allclose(decoded(drawn["high"]), [part.max() for part in inside], rtol=1e-6)
    assert np.allclose([drawn["largest"], drawn["last"]], [error.max(), error[-1]])
    assert (drawn["name"], drawn["taken"]) == ("given", 5000)
    points, at = decoded(drawn["points"]), decoded(drawn["at"]).astype(int)
    assert NUMBERS / 2 < points.size <= NUMBERS
    assert np.array_equal(points, torch.cat([run.q, run.p], -1).float().numpy()[at])
    assert (np.diff(at) >= 1).all()
    assert (at[0], at[-1]) == (0, 5000)
    # An error is absolute if the energy starts at zero.
    run = swing(start=0.0, steps=200)
    shifted = run._replace(energy=run.energy + torch.linspace(0, 3, 201, dtype=torch.float64))
    (drawn,) = EnergyDrift(q=[0.0], rollouts={"given": shifted}).rollouts
    assert np.isclose(drawn["largest"], 3)


def test_a_rollout_that_blows_up_is_reported_with_finite_numbers():
    run = swing(100, start=1e-160)
    for at, value in ((1, np.inf), (50, np.nan), (50, 1e308)):
        energy = run.energy.clone()
        energy[0], energy[at:] = 1e-300, value
        widget = EnergyDrift(rollouts={"wild": run._replace(energy=energy), "calm": swing()})
        wild, calm = widget.rollouts
        assert (wild["lost"], wild["taken"], calm["lost"]) == (True, at - 1, False)
        assert np.isfinite([wild["largest"], wild["last"]]).all()
        assert np.isfinite(decoded(wild["points"])).all()
        assert f"wild is lost at step {at}." in widget.describe()
        assert "calm is lost" not in widget.describe()
        assert widget.static_html()


def test_a_custom_stepper_is_integrated_as_in_the_library():
    system = mechanics.Kepler()
    widget = mine(system, methods=[])
    (drawn,) = widget.rollouts
    start = vector(*map(float, widget.q)), vector(*map(float, widget.p))
    error = relative_error(integrate(system, *start, dt=widget.dt, steps=STEPS, method=drift_first))
    assert np.allclose([drawn["largest"], drawn["last"]], [error.max(), error[-1]], rtol=1e-9)
    assert (drawn["name"], drawn["taken"], widget.methods) == ("mine", STEPS, [])


@pytest.mark.slow
def test_a_stepper_runs_again_when_the_page_changes_the_setting_and_given_rollouts_stay():
    for changed in ({"dt": 0.5}, {"q": np.float32([2.0])}, {"p": np.float32([1])}):
        widget, heard = mine(), []
        before = widget.rollouts[0]["largest"]
        widget.observe(heard.append, ["rollouts"])
        [(name, value)] = changed.items()
        widget.set_state({name: value if name == "dt" else Array._encode(value, None)})
        assert len(heard) == 1
        assert widget.rollouts[0]["largest"] != before
        assert widget.rollouts == mine(**changed).rollouts
    widget = mine(rollouts={"fine": swing(dt=0.01)})
    [before, _] = widget.rollouts
    widget.dt = 0.7
    assert [rollout["name"] for rollout in widget.rollouts] == ["fine", "mine"]
    assert widget.rollouts[0] == before
    assert not widget.rollouts_follow
    # Only steppers are run again, and only with a kernel.
    assert mine().rollouts_follow
    assert payload(mine())["state"]["rollouts_follow"] is False


def test_a_new_system_starts_where_its_scene_does_if_the_old_state_does_not_fit():
    # Springs may rest at the position of the sun.
    stepped = mine()
    for widget in (stepped, EnergyDrift(mechanics.CoupledOscillators(), q=[0, 0], p=[1, 0])):
        widget.system = "Kepler"
        scene = SCENES["Kepler"]
        np.testing.assert_array_equal([widget.q, widget.p], np.float32([scene.q, scene.p]))
        assert widget.dt == scene.dt
    assert stepped.rollouts == mine(mechanics.Kepler()).rollouts
    fits = EnergyDrift(mechanics.HarmonicOscillator(), q=[0.7], p=[0.1])
    fits.system = "Pendulum"
    np.testing.assert_array_equal([fits.q, fits.p], np.float32([[0.7], [0.1]]))


def looped(system, q, p, dt):
    """A stepper with a loop whose length depends on the numbers."""
    middle = p
    while (change := p - dt * system.grad_q(q, middle) - middle).abs().max() > 1e-12:
        middle = middle + change
    return q + dt * system.grad_p(q, middle), middle


def with_every_sign(system, q, p, dt):
    dq, dp = system.field(q, p)
    return 1 + q - (2 - dq * dt) / 3, 2 / (3 - p / 4) - -dp


def test_only_a_stepper_of_sums_and_gradients_is_sent_as_a_program():
    pendulum, q, p = mechanics.Pendulum(), vector(0.7), vector(-0.4)
    (program,) = mine(dt=0.2, steppers={"mine": drift_first, "looped": looped}).programs
    assert program["name"] == "mine"
    made = program_of(with_every_sign, pendulum, q, p, 0.3)
    found = run_program(made, pendulum, q, p, 0.2)
    assert all(map(torch.allclose, found, with_every_sign(pendulum, q, p, 0.2)))
    bent = lambda _system, q, p, _dt: (q.sin(), p)  # noqa: E731
    for stepper in (looped, bent, mechanics.implicit_midpoint):
        for unit in (1, 1e-9):
            start = vector(1.2 * unit), vector(0.1 * unit)
            assert program_of(stepper, pendulum, *start, 0.1) is None
