"""The mathematics of MechanicsStage's JavaScript, run in Chromium, against course_lib and SciPy."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor
from kinds.mechanics_stage import perceptron
from reading import decoded
from scipy.spatial.transform import Rotation
from small_widgets import seeded
from torch import Tensor

from course_lib import mechanics
from course_lib.symplectic import SympNet
from course_lib.widgets.mechanics_stage import _network

MECHANICS = "js/maths/mechanics.js"
LEARNED = "js/maths/learned_step.js"


def test_a_rigid_body_moves_in_the_page_as_in_course_lib(javascript: Javascript):
    body, start = mechanics.RigidBody(inertia=(1.7, 1.1, 0.8)), [0.3, 1.0, -0.4]
    methods = ["explicit_euler", "runge_kutta_4", "implicit_midpoint"]
    given = {"system": "RigidBody", "parameters": dataclasses.asdict(body)}
    given |= {"q": start, "p": [0, 0, 0], "dt": 0.1, "steps": 200}
    found_all = javascript(MECHANICS, "energyDrift", [[given | {"method": m}] for m in methods])
    for method, found in zip(methods, found_all, strict=True):
        stepper = getattr(mechanics, method)
        run = mechanics.integrate(body, tensor(start), dt=0.1, steps=200, method=stepper)
        assert found["taken"] == 200
        assert_close(np.reshape(found["q"], (-1, 3)), run.q)
        assert_close(found["energy"], run.energy)
        assert not np.any(found["p"])


def test_a_planet_stays_on_its_ellipse(javascript: Javascript, random: np.random.Generator):
    cases, runs = [], []
    while len(runs) < 5:
        system = mechanics.Kepler(mass=random.uniform(0.5, 2), gravity=random.uniform(0.5, 2))
        q, p = random.normal(size=(2, 2))
        start = tensor(q.tolist()), tensor(p.tolist())
        energy = float(system.energy(*start)) / system.mass
        turning = (q[0] * p[1] - q[1] * p[0]) / system.mass
        # Steep falls into the sun, and slow ones from afar, are hard for the integrator.
        if not (-1 < energy < -0.2 and 1 + 2 * energy * (turning / system.gravity) ** 2 < 0.4):
            continue
        cases.append([dataclasses.asdict(system), q.tolist(), p.tolist()])
        stepper = mechanics.runge_kutta_4
        runs.append(mechanics.integrate(system, *start, dt=4e-3, steps=1500, method=stepper))
    for ellipse, run in zip(javascript(MECHANICS, "keplerEllipse", cases), runs, strict=True):
        cos, sin = math.cos(ellipse["angle"]), math.sin(ellipse["angle"])
        x, y = (run.q - tensor(ellipse["centre"])).unbind(-1)
        along, across = x * cos + y * sin, y * cos - x * sin
        on = (along / ellipse["long"]) ** 2 + (across / ellipse["short"]) ** 2
        assert_close(on, torch.ones_like(on))
        focus = math.sqrt(ellipse["long"] ** 2 - ellipse["short"] ** 2)
        assert math.hypot(*ellipse["centre"]) == pytest.approx(focus, abs=1e-6)


def test_a_planet_that_is_free_has_no_ellipse(javascript: Javascript):
    away = [{"mass": 2.0, "gravity": 1.0}, [1.0, 0.0], [0.0, 2 * math.sqrt(2.0)]]
    bound = [{"mass": 2.0, "gravity": 1.0}, [1.0, 0.0], [0.0, 2.0]]
    found = javascript(MECHANICS, "keplerEllipse", [away, bound])
    assert found[0] is None
    assert found[1]["long"] == pytest.approx(1)
    assert found[1]["short"] == pytest.approx(1)


def test_a_rotation_turns_on_about_axes_of_its_own(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(50):
        rotation = Rotation.random(random_state=int(random.integers(2**31)))
        rate, time = random.normal(size=3), float(random.uniform(0, 3))
        cases.append([rotation.as_matrix().ravel().tolist(), rate.tolist(), time])
    cases.append([np.eye(3).ravel().tolist(), [0, 0, 0], 1.0])
    for found, (rotation, rate, time) in zip(
        javascript(MECHANICS, "turned", cases), cases, strict=True
    ):
        before = Rotation.from_matrix(np.reshape(rotation, (3, 3)))
        after = before * Rotation.from_rotvec(time * np.array(rate))
        assert_close(np.reshape(found, (3, 3)), after.as_matrix())


def test_a_rigid_body_stands_so_that_its_angular_momentum_keeps_its_direction_in_space(
    javascript: Javascript,
):
    body, dt, steps = mechanics.RigidBody(inertia=(1.6, 1.0, 0.8)), 0.004, 1000
    start = tensor([0.1, 1.0, 0.2])
    run = mechanics.integrate(body, start, dt=dt, steps=steps, method=mechanics.runge_kutta_4)
    inertia, given = list(body.inertia), {"q": run.q.flatten().tolist(), "taken": steps}
    [stands] = javascript(MECHANICS, "attitudes", [[inertia, given, dt]])
    stands = tensor(stands).reshape(-1, 3, 3)
    assert len(stands) == steps + 1
    assert (stands[-1] - stands[0]).abs().max() > 0.5
    in_space = torch.einsum("nij,nj->ni", stands, run.q)
    np.testing.assert_allclose(in_space, start.expand_as(in_space), atol=1e-5)

    middle = [7, 7.25, 8]
    rows = stands.reshape(-1, 9).tolist()
    found = javascript(
        MECHANICS, "attitudeAt", [[inertia, rows, given, dt, moment] for moment in middle]
    )
    before, between, after = (Rotation.from_matrix(np.reshape(x, (3, 3))) for x in found)
    assert_close(before.as_matrix(), stands[7])
    assert_close(after.as_matrix(), stands[8])
    turn = before.inv() * after
    part = Rotation.from_rotvec(0.25 * turn.as_rotvec())
    assert_close(between.as_matrix(), (before * part).as_matrix())


def test_the_glass_of_a_planet_is_full_where_it_is_free(javascript: Javascript):
    kepler, starts = {"name": "Kepler", "parameters": {}}, (-0.5, 0.3, 0.0)
    glasses = javascript(MECHANICS, "glassOf", [[kepler, start] for start in starts])
    for start, glass in zip(starts, glasses, strict=True):
        assert glass["rim"] == 0 if start < 0 else glass["rim"] > start
        assert glass["floor"] < start


def test_the_glass_of_a_pendulum_is_full_where_it_goes_over_the_top(javascript: Javascript):
    pendulum = mechanics.Pendulum(mass=2.0, length=1.5, gravity=3.0)
    spec = {"name": "Pendulum", "parameters": dataclasses.asdict(pendulum)}
    top = float(pendulum.energy(tensor([math.pi]), tensor([0.0])))
    low, high = javascript(MECHANICS, "glassOf", [[spec, 0.3 * top], [spec, 1.5 * top]])
    assert low == {"floor": 0, "rim": pytest.approx(top)}
    assert high == {"floor": 0, "rim": pytest.approx(3 * top)}


NETWORKS = [
    (seeded(SympNet, 2, layers=5, width=6), mechanics.CoupledOscillators(coupling=0.7)),
    (seeded(SympNet, 1, layers=2), mechanics.Pendulum()),
    (seeded(perceptron, 4, 7, 5, 4), mechanics.CoupledOscillators()),
    (seeded(perceptron, 2, 3, 2), mechanics.HarmonicOscillator(stiffness=2.0)),
]


def test_a_network_steps_in_the_page_as_in_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases, runs = [], []
    for network, system in NETWORKS:
        described = _network("mine", network, system)
        layers = [decoded(layer).tolist() for layer in described["layers"]]
        q, p = random.uniform(-1, 1, size=(2, system.dim))
        given = described | {"layers": layers, "dt": 0.3}
        cases.append([given, named(system), q.tolist(), p.tolist(), 30])
        exact = network.double()

        def step(_system: Any, q: Tensor, p: Tensor, _dt: float, exact: Any = exact) -> Any:
            if isinstance(exact, SympNet):
                return exact(q, p)
            z = torch.cat([q, p], -1)
            return (z + exact(z)).tensor_split(2, -1)

        with torch.no_grad():
            runs.append(
                mechanics.integrate(system, tensor(q), tensor(p), dt=0.3, steps=30, method=step)
            )
    for found, run in zip(javascript(LEARNED, "learnedRun", cases), runs, strict=True):
        assert found["taken"] == 30
        assert_close(np.reshape(found["q"], run.q.shape), run.q)
        assert_close(np.reshape(found["p"], run.p.shape), run.p)
        assert_close(found["energy"], run.energy)
        assert (run.q[-1] - run.q[0]).abs().max() > 1e-2


def named(system: mechanics.HamiltonianSystem) -> dict[str, Any]:
    return {"name": type(system).__name__, "parameters": dataclasses.asdict(system)}
