import numpy as np
import pytest
import torch
from small_widgets import payload, swing

from course_lib import mechanics
from course_lib.symplectic import SympNet
from course_lib.widgets import MechanicsStage
from course_lib.widgets.kit.runs import METHODS
from course_lib.widgets.kit.traits import Array
from course_lib.widgets.mechanics_stage.mechanics_stage import ALL_NUMBERS, SCENES

COUPLED = mechanics.CoupledOscillators()


def test_every_system_starts_where_its_scene_says_and_keeps_to_its_stage_over_the_whole_span():
    for name, scene in SCENES.items():
        system = getattr(mechanics, name)()
        stage = MechanicsStage(system)
        assert stage.dt == scene.dt
        np.testing.assert_array_equal(stage.z, np.float32(scene.z))
        spec = next(spec for spec in payload(stage)["state"]["systems"] if spec["name"] == name)
        method = getattr(mechanics, spec["first"][1])
        start = torch.tensor(scene.z, dtype=torch.float64)
        pair = start.tensor_split(2) if system.canonical else [start]
        steps = round(scene.span / scene.dt)
        run = mechanics.integrate(system, *pair, dt=scene.dt, steps=steps, method=method)
        states = torch.cat([run.q, run.p], -1)
        assert (states.abs().amax(0) <= torch.tensor(spec["reach"])).all()
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
    run = swing(5000, dt=0.25)
    states = torch.cat([run.q, run.p], -1).float().numpy()
    (drawn,) = MechanicsStage(rollouts={"mine": run}).rollouts
    assert (drawn["name"], drawn["dt"], drawn["lost"]) == ("mine", 0.25, False)
    shown = Array._decode(drawn["states"], None)
    np.testing.assert_array_equal(shown, states[: ALL_NUMBERS // 2])
    for value in (np.inf, np.nan):
        q = run.q.clone()
        q[40:] = value
        (drawn,) = MechanicsStage(rollouts={"wild": run._replace(q=q)}).rollouts
        assert drawn["lost"]
        np.testing.assert_array_equal(Array._decode(drawn["states"], None), states[:40])
    # They leave room only for integrators.
    assert MechanicsStage(rollouts=dict.fromkeys("ab", swing())).methods == ["explicit_euler"]


def test_networks_know_one_step_of_one_system_and_stand_beside_its_true_motion():
    network = SympNet(2)
    stage = MechanicsStage(COUPLED, dt=0.3, networks={"a": network})
    for name, value in (("system", "Kepler"), ("dt", 0.2)):
        with pytest.raises(ValueError, match=f"{name} is {value}, but the networks have learned"):
            setattr(stage, name, value)
        setattr(stage, name, getattr(stage, name))
    stage = MechanicsStage(COUPLED, networks={"a": network, "b": network})
    assert stage.methods == []
    assert "the true motion, a, b" in stage.describe()


def test_the_stage_knows_the_most_energy_that_its_networks_were_shown():
    q, p = 2 * torch.rand(2, 5, 7, 2, generator=torch.Generator().manual_seed(1)) - 1
    given = {"networks": {"a": SympNet(2)}, "methods": []}
    stage = MechanicsStage(COUPLED, **given, trained_on=(q, p))
    assert stage.trained == pytest.approx(float(COUPLED.energy(q.double(), p.double()).max()))
    assert MechanicsStage(COUPLED, **given).trained is None
    with pytest.raises(ValueError, match="trained_on has q of"):
        MechanicsStage(COUPLED, **given, trained_on=(q[..., :1], p))
