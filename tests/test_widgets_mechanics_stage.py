import numpy as np
import pytest
import torch
from small_widgets import payload
from torch import nn

from course_lib import mechanics
from course_lib.symplectic import SympNet
from course_lib.widgets import MechanicsStage
from course_lib.widgets.energy_drift import METHODS
from course_lib.widgets.mechanics_stage import ALL_NUMBERS, SCENES
from course_lib.widgets.traits import Array


def state(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def swing(steps=200, dt=0.1):
    return mechanics.integrate(mechanics.Pendulum(), state(1.2), state(0.0), dt=dt, steps=steps)


def test_every_system_starts_where_its_scene_says_and_keeps_to_its_stage_over_the_whole_span():
    for name, scene in SCENES.items():
        system = getattr(mechanics, name)()
        stage = MechanicsStage(system)
        assert (stage.system, stage.dt) == (name, scene.dt)
        np.testing.assert_array_equal(stage.z, np.float32(scene.z))
        assert stage.methods[0] == "explicit_euler"
        assert len(stage.methods) == 2
        spec = next(spec for spec in payload(stage)["state"]["systems"] if spec["name"] == name)
        method = getattr(mechanics, spec["first"][1])
        q, p = state(*scene.z).split([system.dim, len(scene.z) - system.dim])
        steps = round(scene.span / scene.dt)
        run = mechanics.integrate(
            system, q, p if system.canonical else None, dt=scene.dt, steps=steps, method=method
        )
        states = torch.cat([run.q, run.p], -1)
        assert (states.abs().amax(0) <= state(*spec["reach"])).all()
        assert (run.energy / run.energy[0] - 1).abs().max() < 0.1


def test_a_new_system_brings_its_start_and_its_methods_if_the_old_do_not_fit():
    stage = MechanicsStage()
    offered = {spec["name"]: spec["methods"] for spec in payload(stage)["state"]["systems"]}
    free = ["explicit_euler", "runge_kutta_4", "implicit_midpoint"]
    assert offered.pop("RigidBody") == free
    assert all(methods == list(METHODS) for methods in offered.values())
    stage.system = "RigidBody"
    np.testing.assert_array_equal(stage.z, np.float32(SCENES["RigidBody"].z))
    assert (stage.dt, stage.methods) == (SCENES["RigidBody"].dt, ["explicit_euler"])
    stage = MechanicsStage(mechanics.HarmonicOscillator(), z=[0.7, 0.1])
    stage.system = "Pendulum"
    np.testing.assert_array_equal(stage.z, np.float32([0.7, 0.1]))


def test_a_rollout_travels_with_its_step_and_its_first_states_until_it_is_lost():
    run = swing(steps=5000, dt=0.25)
    (drawn,) = MechanicsStage(rollouts={"mine": run}).rollouts
    states = Array._decode(drawn["states"], None)
    assert (drawn["name"], drawn["dt"], drawn["lost"]) == ("mine", 0.25, False)
    assert len(states) == ALL_NUMBERS // 2
    expected = torch.cat([run.q, run.p], -1)[: len(states)].float().numpy()
    np.testing.assert_array_equal(states, expected)
    for value in (np.inf, np.nan, 1e300):
        q = run.q.clone()
        q[40:] = value
        (drawn,) = MechanicsStage(rollouts={"wild": run._replace(q=q)}).rollouts
        states = Array._decode(drawn["states"], None)
        assert drawn["lost"]
        np.testing.assert_array_equal(states, expected[:40])


def test_rollouts_leave_room_for_integrators_and_no_more():
    runs = {"a": swing(), "b": swing()}
    assert MechanicsStage(rollouts=runs).methods == ["explicit_euler"]
    assert MechanicsStage(rollouts=runs | {"c": swing()}).methods == []
    stage = MechanicsStage(rollouts=runs, methods=["stoermer_verlet"])
    with pytest.raises(ValueError, match="4 together"):
        stage.methods = ["stoermer_verlet", "runge_kutta_4"]


def test_a_network_travels_with_the_system_and_the_step_that_it_has_learned():
    network = SympNet(2, layers=3, width=4)
    stage = MechanicsStage(mechanics.CoupledOscillators(), dt=0.3, networks={"mine": network})
    (drawn,) = stage.networks
    assert (drawn["name"], drawn["kind"]) == ("mine", "SympNet")
    assert (drawn["system"], drawn["dt"]) == ("CoupledOscillators", 0.3)
    for encoded, layer in zip(drawn["layers"], network.layers, strict=True):
        rows = Array._decode(encoded, None)
        np.testing.assert_array_equal(rows[:, :2], layer.K.detach())
        np.testing.assert_array_equal(rows[:, 2:].T, torch.stack([layer.b, layer.a]).detach())


def test_a_perceptron_travels_too():
    system = mechanics.CoupledOscillators()
    network = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 4))
    (drawn,) = MechanicsStage(system, networks={"mine": network}).networks
    assert drawn["kind"] == "perceptron"
    for encoded, layer in zip(drawn["layers"], network[::2], strict=True):
        rows = Array._decode(encoded, None)
        np.testing.assert_array_equal(rows[:, :-1], layer.weight.detach())
        np.testing.assert_array_equal(rows[:, -1], layer.bias.detach())


def test_networks_know_one_step_of_one_system_and_stand_beside_its_true_motion():
    system, network = mechanics.CoupledOscillators(), SympNet(2)
    stage = MechanicsStage(system, dt=0.3, networks={"a": network})
    assert stage.methods == ["explicit_euler"]
    for name, value in (("system", "Kepler"), ("dt", 0.2)):
        with pytest.raises(ValueError, match=f"{name} is {value}, but the networks have learned"):
            setattr(stage, name, value)
        setattr(stage, name, getattr(stage, name))
    stage.z = [0.1, 0.2, 0.3, 0.4]
    stage = MechanicsStage(system, networks={"a": network, "b": network})
    assert stage.methods == []
    assert "the true motion, a, b" in stage.describe()


def test_the_stage_knows_the_most_energy_that_its_networks_were_shown():
    system = mechanics.CoupledOscillators()
    q, p = 2 * torch.rand(2, 5, 7, 2, generator=torch.Generator().manual_seed(1)) - 1
    stage = MechanicsStage(system, networks={"a": SympNet(2)}, trained_on=(q, p), methods=[])
    assert stage.trained == pytest.approx(float(system.energy(q.double(), p.double()).max()))
    assert MechanicsStage(system, networks={"a": SympNet(2)}, methods=[]).trained is None
    with pytest.raises(ValueError, match="trained_on has q of"):
        MechanicsStage(system, networks={"a": SympNet(2)}, trained_on=(q[..., :1], p))
