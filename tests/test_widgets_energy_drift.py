import dataclasses
import math

import numpy as np
import pytest
import torch
from small_widgets import payload

from course_lib import mechanics
from course_lib.mechanics import integrate
from course_lib.widgets import EnergyDrift
from course_lib.widgets.energy_drift import BINS, METHODS, NUMBERS, SCENES, stretches
from course_lib.widgets.programs import program_of, run_program
from course_lib.widgets.traits import Array

SYSTEMS = [getattr(mechanics, name)() for name in SCENES]
STEPS = 500


def vector(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def decoded(encoded):
    return Array._decode(encoded, None)


def swing(steps=STEPS, dt=0.1, start=1.2, method=mechanics.stoermer_verlet):
    pendulum = mechanics.Pendulum()
    return integrate(pendulum, vector(start), vector(0.0), dt=dt, steps=steps, method=method)


def relative_error(run):
    return (run.energy / run.energy[0] - 1).abs().numpy()


def drift_first(system, q, p, dt):
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def begin(total):
    """Where each stretch begins, and the last one ends: they grow, from one step on."""
    return [max(k, math.floor(total * (k / BINS) ** 2 + 1e-9)) for k in range(BINS + 1)]


def doubling(_system, q, p, _dt):
    return 2 * q, 2 * p


# What the page gets ---------------------------------------------------------------------------


def test_a_pendulum_swings_unless_another_system_is_given():
    widget = EnergyDrift()
    assert widget.system == "Pendulum"
    assert widget.methods == ["explicit_euler", "stoermer_verlet"]
    assert widget.steps == 10_000
    assert widget.rollouts == []


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_canonical_system_starts_where_its_scene_says(system):
    widget = EnergyDrift(system)
    scene = SCENES[type(system).__name__]
    assert np.array_equal(widget.q, np.float32(scene.q))
    assert np.array_equal(widget.p, np.float32(scene.p))
    assert widget.dt == scene.dt


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_scene_shows_a_bounded_orbit_inside_its_picture(system):
    scene = SCENES[type(system).__name__]
    assert len(scene.q) == len(scene.p) == system.dim
    assert len(scene.reach) == 2 * system.dim
    run = integrate(system, vector(*scene.q), vector(*scene.p), dt=scene.dt, steps=10_000)
    assert (torch.cat([run.q, run.p], -1).abs().amax(0) < vector(*scene.reach)).all()
    assert relative_error(run).max() < 0.01
    for plane in scene.planes:
        assert 0 <= plane["x"] < plane["y"] < 2 * system.dim
        assert len(plane["labels"]) == 2


def test_the_page_gets_all_systems_with_their_parameters():
    state = payload(EnergyDrift(mechanics.Pendulum(length=2.0)))["state"]
    given_ = {spec["name"]: spec for spec in state["systems"]}
    assert list(given_) == list(SCENES)
    assert given_["Pendulum"]["parameters"] == {"mass": 1.0, "length": 2.0, "gravity": 1.0}
    for system in SYSTEMS:
        if not isinstance(system, mechanics.Pendulum):
            name = type(system).__name__
            assert given_[name]["parameters"] == dataclasses.asdict(system)


def test_the_page_gets_every_integrator_by_its_name():
    state = payload(EnergyDrift())["state"]
    assert state["method_names"] == [list(pair) for pair in METHODS.items()]
    assert set(METHODS) == {stepper.__name__ for stepper in mechanics.STEPPERS}


def test_the_words_name_the_system_the_steps_and_the_integrators():
    words = EnergyDrift(methods=["runge_kutta_4"], dt=0.25, steps=2000).describe()
    for word in ("pendulum", "2000", "0.25", "Runge–Kutta 4"):
        assert word in words
    assert "Euler" not in words


def test_a_drift_without_rollouts_weighs_under_60_kilobytes():
    for system in SYSTEMS:
        assert len(EnergyDrift(system, methods=list(METHODS)).static_html().encode()) < 60_000


# Rollouts that were computed before -----------------------------------------------------------


def test_a_rollout_is_drawn_by_the_envelope_of_its_energy_error():
    run = swing(steps=5000, method=mechanics.explicit_euler)
    (drawn,) = EnergyDrift(rollouts={"given": run}).rollouts
    error = relative_error(run)
    low, high = decoded(drawn["low"]), decoded(drawn["high"])
    assert drawn["name"] == "given"
    assert len(low) == len(high) == BINS
    assert (low <= high).all()
    assert np.isclose(high.max(), error.max(), rtol=1e-6)
    assert low.min() == error.min() == 0
    starts = begin(len(error))
    for at in (0, 1, 100, BINS - 1):
        inside = error[starts[at] : starts[at + 1]]
        assert np.allclose([low[at], high[at]], [inside.min(), inside.max()], rtol=1e-6)
    assert np.isclose(drawn["largest"], error.max())
    assert np.isclose(drawn["last"], error[-1])
    assert drawn["taken"] == 5000


def test_a_rollout_is_drawn_by_some_of_its_states_from_the_first_on():
    run = swing(steps=5000)
    (drawn,) = EnergyDrift(rollouts={"given": run}).rollouts
    points = decoded(drawn["points"])
    states = torch.cat([run.q, run.p], -1).float().numpy()
    at = decoded(drawn["at"]).astype(int)
    assert NUMBERS / 2 < points.size <= NUMBERS
    assert np.array_equal(points, states[at])
    assert np.array_equal(at[:10], np.arange(10))
    assert np.diff(at[:50]).max() <= 2
    assert (np.diff(at) >= 1).all()
    assert at[-1] == 5000


def test_a_rollout_shorter_than_the_envelope_is_shown_as_it_is():
    run = swing(steps=3)
    (drawn,) = EnergyDrift(rollouts={"given": run}).rollouts
    assert np.allclose(decoded(drawn["low"]), relative_error(run), rtol=1e-6)
    assert np.array_equal(decoded(drawn["low"]), decoded(drawn["high"]))
    assert len(decoded(drawn["points"])) == 4
    assert drawn["taken"] == 3


def test_an_error_is_absolute_where_the_energy_starts_at_zero():
    run = swing(start=0.0, steps=200)
    shifted = run._replace(energy=run.energy + torch.linspace(0, 3, 201, dtype=torch.float64))
    (drawn,) = EnergyDrift(q=[0.0], rollouts={"given": shifted}).rollouts
    assert np.isclose(drawn["largest"], 3)


def test_rollouts_keep_their_order_and_their_names():
    runs = {"fine": swing(dt=0.01), "coarse": swing(dt=0.5)}
    state = payload(EnergyDrift(rollouts=runs))["state"]
    assert [rollout["name"] for rollout in state["rollouts"]] == ["fine", "coarse"]
    assert state["rollouts"][0]["largest"] < state["rollouts"][1]["largest"]


# Steppers of your own -------------------------------------------------------------------------


def test_a_stepper_of_your_own_is_integrated_as_the_library_does():
    widget = EnergyDrift(steps=STEPS, dt=0.2, steppers={"mine": drift_first})
    (drawn,) = widget.rollouts
    start = vector(*map(float, widget.q)), vector(*map(float, widget.p))
    run = integrate(mechanics.Pendulum(), *start, dt=0.2, steps=STEPS, method=drift_first)
    assert np.isclose(drawn["largest"], relative_error(run).max(), rtol=1e-9)
    assert np.isclose(drawn["last"], relative_error(run)[-1], rtol=1e-9)
    assert drawn["taken"] == STEPS


def test_a_plugged_in_stepper_of_the_library_agrees_with_integrate():
    widget = EnergyDrift(
        mechanics.Kepler(), steps=STEPS, steppers={"again": mechanics.runge_kutta_4}
    )
    start = (torch.from_numpy(part.astype(np.float64)) for part in (widget.q, widget.p))
    run = integrate(
        mechanics.Kepler(), *start, dt=widget.dt, steps=STEPS, method=mechanics.runge_kutta_4
    )
    assert np.isclose(widget.rollouts[0]["largest"], relative_error(run).max(), rtol=1e-9)


@pytest.mark.parametrize("changed", [{"dt": 0.5}, {"q": np.float32([2.0])}, {"p": np.float32([1])}])
def test_a_stepper_runs_again_when_the_setting_changes(changed):
    widget = EnergyDrift(steps=STEPS, steppers={"mine": drift_first})
    before = widget.rollouts[0]["largest"]
    widget.set_trait(*next(iter(changed.items())))
    again = EnergyDrift(steps=STEPS, steppers={"mine": drift_first}, **changed)
    assert widget.rollouts[0]["largest"] != before
    assert widget.rollouts == again.rollouts


def test_a_stepper_runs_again_when_the_page_changes_the_setting():
    widget = EnergyDrift(steps=STEPS, steppers={"mine": drift_first})
    heard = []
    widget.observe(lambda change: heard.append(change.new[0]["largest"]), ["rollouts"])
    widget.set_state({"dt": 0.4})
    assert widget.dt == 0.4
    assert heard == [widget.rollouts[0]["largest"]]


def test_a_new_system_starts_where_its_scene_does_if_the_old_state_does_not_fit():
    widget = EnergyDrift(steps=STEPS, steppers={"mine": drift_first})
    widget.system = "Kepler"
    scene = SCENES["Kepler"]
    assert (widget.q.tolist(), widget.p.tolist()) == (
        np.float32(scene.q).tolist(),
        np.float32(scene.p).tolist(),
    )
    assert widget.dt == scene.dt
    assert widget.rollouts[0]["points"]["shape"][1] == 4
    assert (
        widget.rollouts
        == EnergyDrift(mechanics.Kepler(), steps=STEPS, steppers={"mine": drift_first}).rollouts
    )


def test_a_state_that_fits_the_new_system_stays():
    widget = EnergyDrift(mechanics.HarmonicOscillator(), q=[0.7], p=[0.1])
    widget.system = "Pendulum"
    np.testing.assert_array_equal(widget.q, np.float32([0.7]))
    np.testing.assert_array_equal(widget.p, np.float32([0.1]))


def test_a_planet_does_not_start_in_the_sun_because_springs_rested_there():
    widget = EnergyDrift(mechanics.CoupledOscillators(), q=[0.0, 0.0], p=[1.0, 0.0], steps=STEPS)
    widget.plane = 1
    widget.system = "Kepler"
    np.testing.assert_array_equal(widget.q, np.float32(SCENES["Kepler"].q))
    widget.plane = 2
    widget.system = "Pendulum"
    assert widget.plane == 0


def test_a_page_that_changes_system_and_state_at_once_is_heard():
    widget = EnergyDrift(steps=STEPS, steppers={"mine": drift_first})
    start = {"q": np.float32([0.8, 0.1]), "p": np.float32([0.1, 1.2])}
    sent = {name: Array._encode(value, None) for name, value in start.items()}
    widget.set_state({"system": "Kepler", "dt": 0.01, **sent})
    for name, value in start.items():
        np.testing.assert_array_equal(getattr(widget, name), value)
    assert widget.dt == 0.01
    assert widget.rollouts[0]["points"]["shape"][1] == 4


def test_given_rollouts_stay_when_the_setting_changes():
    widget = EnergyDrift(rollouts={"given": swing()})
    before = widget.rollouts
    widget.dt = 0.7
    assert widget.rollouts == before


def test_only_steppers_follow_the_setting_and_only_with_a_kernel():
    assert EnergyDrift(steps=STEPS, steppers={"mine": drift_first}).rollouts_follow
    given_ = EnergyDrift(rollouts={"given": swing()})
    assert not given_.rollouts_follow
    with_kernel = EnergyDrift(steps=STEPS, steppers={"mine": drift_first})
    state = payload(with_kernel)["state"]
    assert state["rollouts_follow"] is False
    assert [rollout["name"] for rollout in state["rollouts"]] == ["mine"]
    assert with_kernel.rollouts_follow


def test_given_rollouts_and_steppers_are_shown_together():
    widget = EnergyDrift(steps=STEPS, rollouts={"given": swing()}, steppers={"mine": drift_first})
    assert [rollout["name"] for rollout in widget.rollouts] == ["given", "mine"]
    assert not widget.rollouts_follow


def looped(system, q, p, dt):
    """It goes on until nothing moves: how often depends on the numbers."""
    middle = p
    while (change := p - dt * system.grad_q(q, middle) - middle).abs().max() > 1e-12:
        middle = middle + change
    return q + dt * system.grad_p(q, middle), middle


def forgetful(system, q, p, dt, calls=[]):  # noqa: B006 - it is to remember
    calls.append(q)
    return (q, p) if len(calls) % 2 else drift_first(system, q, p, dt)


def test_a_stepper_of_sums_and_gradients_travels_as_a_program_of_them():
    widget = EnergyDrift(steps=STEPS, dt=0.2, steppers={"mine": drift_first, "looped": looped})
    (program,) = widget.programs
    assert program["name"] == "mine"
    assert [line[0] for line in program["lines"]] == ["grad_p", "*", "+", "grad_q", "*", "-"]
    q, p = vector(0.7), vector(-0.4)
    for found, wanted in zip(
        run_program(program, mechanics.Pendulum(), q, p, 0.3),
        drift_first(mechanics.Pendulum(), q, p, 0.3),
        strict=True,
    ):
        assert torch.equal(found, wanted)


def shifted(_system, q, p, _dt):
    return q + torch.ones(1), p


def bent(_system, q, p, _dt):
    return q.sin(), p


@pytest.mark.parametrize("stepper", [looped, forgetful, shifted, bent, mechanics.implicit_midpoint])
def test_what_is_not_the_same_sums_at_every_step_is_no_program(stepper):
    state = vector(1.2), vector(0.1)
    assert program_of(stepper, mechanics.Pendulum(), *state, 0.1) is None


def test_a_stepper_that_overflows_is_shown_as_far_as_it_came():
    widget = EnergyDrift(steps=2000, steppers={"doubling": doubling})
    (drawn,) = widget.rollouts
    assert 900 < drawn["taken"] < 1100
    assert EnergyDrift(steps=2000, steppers={"doubling": doubling}).static_html()


@pytest.mark.parametrize("at", [1, 50])
@pytest.mark.parametrize("value", [np.inf, np.nan, 1e308])
def test_a_rollout_that_blows_up_is_told_and_carries_finite_numbers(at, value):
    run = swing(steps=100, start=1e-160)
    energy = run.energy.clone()
    energy[0], energy[at:] = 1e-300, value
    lost = run._replace(energy=energy)
    widget = EnergyDrift(rollouts={"wild": lost, "calm": swing()})
    wild, calm = widget.rollouts
    assert (wild["lost"], wild["taken"]) == (True, at - 1)
    assert not calm["lost"]
    assert np.isfinite([wild["largest"], wild["last"]]).all()
    assert np.isfinite(decoded(wild["points"])).all()
    assert f"wild is lost at step {at}." in widget.describe()
    assert "calm is lost" not in widget.describe()
    assert widget.static_html()


def test_a_lost_run_leaves_the_rest_of_the_axis_empty():
    lost = EnergyDrift(steps=2000, steppers={"doubling": doubling}).rollouts[0]
    low, high = decoded(lost["low"]), decoded(lost["high"])
    shown = np.isfinite(high)
    assert len(low) == len(high) == BINS
    assert np.array_equal(shown, np.isfinite(low))
    assert np.array_equal(shown, np.array(begin(2001)[:-1]) <= lost["taken"])


def test_early_stretches_are_shorter_than_late_ones_and_none_is_empty():
    for total in (1, 7, 128, 129, 501, 2001, 10_001, 20_001):
        lengths = np.diff([*stretches(total), total])
        assert lengths.sum() == total
        assert (lengths > 0).all()
        assert lengths[0] == 1
        # The whole axis is drawn on some 600 pixels.
        assert lengths[-1] <= max(1, 0.016 * total)


def test_a_question_and_a_beginning_of_your_own_travel_with_it():
    state = payload(EnergyDrift(question="Who leaks?", calm=30))["state"]
    assert (state["question"], state["calm"]) == ("Who leaks?", 30)
    assert payload(EnergyDrift())["state"]["calm"] == 5
    with pytest.raises(ValueError, match=r"calm must lie between 0\.5 and 100"):
        EnergyDrift(calm=0)
    with pytest.raises(ValueError, match="question"):
        EnergyDrift(question="?" * 91)


def test_a_run_whose_energy_overflows_before_its_state_is_shown_up_to_there():
    euler = {"mine": mechanics.explicit_euler}
    widget = EnergyDrift(mechanics.HenonHeiles(), steps=STEPS, steppers=euler)
    (drawn,) = widget.rollouts
    assert 100 < drawn["taken"] < STEPS
    assert np.isfinite([drawn["largest"], drawn["last"]]).all()
    assert np.isfinite(decoded(drawn["points"])).all()
    assert widget.static_html()


def test_a_drift_with_four_rollouts_weighs_under_60_kilobytes():
    system = mechanics.CoupledOscillators()
    state = torch.tensor([1.0, 0.5], dtype=torch.float64)
    run = integrate(system, state, state, dt=0.3, steps=10_000)
    rollouts = {f"a learned model, number {i}": run for i in range(4)}
    widget = EnergyDrift(system, q=state, p=state, dt=0.3, rollouts=rollouts)
    assert len(widget.static_html().encode()) < 60_000


def test_a_drift_with_a_stepper_of_your_own_weighs_under_60_kilobytes():
    for system in SYSTEMS:
        widget = EnergyDrift(system, steps=STEPS, steppers={"mine": drift_first})
        assert len(widget.static_html().encode()) < 60_000


def test_steppers_may_be_shown_alone():
    widget = EnergyDrift(methods=[], steps=STEPS, steppers={"mine": drift_first})
    assert widget.methods == []
    assert [rollout["name"] for rollout in widget.rollouts] == ["mine"]
