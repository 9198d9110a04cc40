"""EnergyDrift and MechanicsStage, run in Chromium, against course_lib and SciPy."""

import dataclasses
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor
from judges.energy_drift import trajectory
from judges.mechanics_stage import perceptron, tumbled
from reading import decoded
from scipy.spatial.transform import Rotation
from small_widgets import seeded
from torch import Tensor, nn

from course_lib import mechanics
from course_lib.symplectic import SympNet
from course_lib.widgets.energy_drift.energy_drift import BINS, stretches
from course_lib.widgets.kit.runs import METHODS
from course_lib.widgets.mechanics_stage.mechanics_stage import _network

MECHANICS, DRIFT = "maths/mechanics.js", "maths/drift.js"
Random = np.random.Generator

ORBITS = [
    # Regular orbits: in a chaotic one, rounding alone separates two computations.
    (mechanics.HarmonicOscillator(mass=1.3, stiffness=0.7), [1.0], [0.2]),
    (mechanics.Pendulum(mass=0.8, length=1.2, gravity=1.5), [1.2], [-0.3]),
    (mechanics.CoupledOscillators(), [1.0, 0.5], [0.0, 0.5]),
    (mechanics.Kepler(mass=1.1, gravity=0.9), [0.8, 0.1], [0.1, 1.2]),
    (mechanics.HenonHeiles(strength=0.9), [0.1, 0.05], [0.1, 0.1]),
]
# Its energy overflows some steps before its state does.
ESCAPE = (mechanics.HenonHeiles(), [0.0, 2.0], [0.0, 1.0])

# Implicit midpoint steps that sweeps do not find, or that do not exist at some step.
LONG = [
    ((mechanics.HarmonicOscillator(stiffness=9.0), [1.0], [0.0]), "implicit_midpoint", 0.7, 300),
    ((mechanics.Pendulum(length=0.2, gravity=9.81), [1.2], [0.0]), "implicit_midpoint", 0.5, 10),
    ((mechanics.CoupledOscillators(), [1.0, 0.5], [0.0, 0.5]), "implicit_midpoint", 4.0, 10),
    ((mechanics.Kepler(), [0.6, 0.0], [0.0, 1.5]), "implicit_midpoint", 0.5, 10),
    ((mechanics.Kepler(), [1.0, 0.0], [0.0, 1.0]), "implicit_midpoint", 0.5, 10),
    ((mechanics.HarmonicOscillator(), [1e-12], [0.0]), "implicit_midpoint", 0.1, 300),
]


def described(
    orbit: tuple[Any, list[float], list[float]], method: str, dt: float = 0.02, steps: int = 300
) -> list[Any]:
    kind, q, p = orbit
    given = {"system": type(kind).__name__, "parameters": dataclasses.asdict(kind)}
    return [given | {"method": method, "q": q, "p": p, "dt": dt, "steps": steps}]


def drift(given: dict[str, Any]) -> dict[str, Any]:
    fixed = {name: tuple(given[name]) for name in ("q", "p")}
    states, error = trajectory(**given | fixed | {"parameters": json.dumps(given["parameters"])})
    told = {"error": error, "taken": len(error) - 1, "largest": error.max()}
    if len(error) <= given["steps"]:
        return told
    q, p = (part.flatten() for part in states.tensor_split(2, -1))
    return told | {"q": q, "p": p}


NETWORKS = [
    (seeded(SympNet, 2, layers=5, width=6), mechanics.CoupledOscillators(coupling=0.7)),
    (seeded(perceptron, 4, 7, 5, 4), mechanics.CoupledOscillators()),
]


def learned_case(which: int) -> list[Any]:
    network, system = NETWORKS[which]
    about = _network("mine", network, system)
    about |= {"layers": [decoded(layer) for layer in about["layers"]], "dt": 0.3}
    named = {"name": type(system).__name__, "parameters": dataclasses.asdict(system)}
    q, p = np.random.default_rng(which).uniform(-1, 1, size=(2, system.dim))
    return [which, about, named, q, p, 30]


def step_of(network: nn.Module) -> Callable[..., Any]:
    def step(_system: Any, q: Tensor, p: Tensor, _dt: float) -> Any:
        if isinstance(network, SympNet):
            return network(q, p)
        z = torch.cat([q, p], -1)
        return (z + network(z)).tensor_split(2, -1)

    return step


@torch.no_grad()
def learned(which: int, _about: Any, _named: Any, q: Tensor, p: Tensor, steps: int) -> dict:
    network, system = NETWORKS[which]
    step = step_of(network.double())
    run = mechanics.integrate(system, q, p, dt=0.3, steps=steps, method=step)
    return {"q": run.q.flatten(), "p": run.p.flatten(), "energy": run.energy}


def stretches_of_numbers(random: Random) -> list[Any]:
    bins = int(random.integers(1, 9))
    length = int(random.integers(bins, 60))
    return [random.normal(size=length), length, bins]


def envelope(values: Tensor, length: int, bins: int) -> dict[str, list[Tensor]]:
    place = torch.arange(length) * bins // length
    parts = [values[place == one] for one in range(bins)]
    return {"low": [part.min() for part in parts], "high": [part.max() for part in parts]}


INERTIA, TURNING = (1.7, 1.1, 0.8), (0.3, 1.0, -0.4)
TUMBLES = ["explicit_euler", "runge_kutta_4", "implicit_midpoint"]
TUMBLE = """(method, moment, dt) => {
  const given = { method, system: "RigidBody", parameters: { inertia: INERTIA }, p: [0, 0, 0] };
  const run = energyDrift({ ...given, q: TURNING, dt, steps: 200 });
  const stands = attitudes(INERTIA, run, dt);
  return { q: run.q, stands, here: attitudeAt(INERTIA, stands, run, dt, moment) };
}"""
for name, value in {"INERTIA": INERTIA, "TURNING": TURNING}.items():
    TUMBLE = TUMBLE.replace(name, json.dumps(value))


def tumble(method: str, moment: float, dt: float) -> dict[str, Any]:
    states, stands = tumbled(INERTIA, TURNING, dt, 200, method)
    before = int(moment)
    rate = (states[before] + states[before + 1]) / 2 / tensor(INERTIA)
    here = stands[before] * Rotation.from_rotvec((moment - before) * dt * rate.numpy())
    matrices = [stand.as_matrix().ravel() for stand in (*stands, here)]
    return {"q": states.flatten(), "stands": matrices[:-1], "here": matrices[-1]}


PENDULUM = mechanics.Pendulum(mass=2.0, length=1.5, gravity=3.0)
OVER_THE_TOP = float(PENDULUM.energy(tensor([math.pi]), tensor([0.0])))
PENDULUM_SPEC = {"name": "Pendulum", "parameters": dataclasses.asdict(PENDULUM)}


def full_glass(_spec: Any, energy: float) -> dict[str, float]:
    """A glass is full at the energy of the top of the pendulum, or at twice the first energy."""
    return {"floor": 0, "rim": OVER_THE_TOP if energy < OVER_THE_TOP else 2 * energy}


test_runs_of_energy_drift_and_mechanics_stage_are_those_of_course_lib = alike(
    Twice(
        MECHANICS,
        "energyDrift",
        drift,
        cases=[
            *itertools.starmap(described, itertools.product(ORBITS, METHODS)),
            described(ESCAPE, "explicit_euler", 0.5, 100),
            *(described(*long) for long in LONG),
        ],
    ),
    Twice(
        "maths/learned_step.js",
        "(_, ...given) => learnedRun(...given)",
        learned,
        cases=[learned_case(which) for which in range(len(NETWORKS))],
    ),
    Twice(
        MECHANICS,
        TUMBLE,
        tumble,
        cases=[*itertools.product(TUMBLES, (7, 7.25), (0.1,)), (TUMBLES[-1], 7, 8.0)],
    ),
    Twice(MECHANICS, "envelope", envelope, stretches_of_numbers, rtol=0, atol=0),
    Twice(
        MECHANICS,
        "glassOf",
        full_glass,
        cases=[[PENDULUM_SPEC, share * OVER_THE_TOP] for share in (0.3, 1.5)],
    ),
    Twice(
        DRIFT,
        "(total) => stretches(total, Math.min(BINS, total))".replace("BINS", str(BINS)),
        lambda total: stretches(int(total)),
        lambda random: [random.integers(1, 20_001)],
        cases=[[total] for total in (1, 2, BINS, BINS + 1, 10_001, 20_001)],
        rtol=0,
    ),
)


OUTCOMES = {
    "symplectic": ("stoermer_verlet", 0.1, "kept"),
    "symplectic, with a large error": ("symplectic_euler", 0.5, "kept"),
    "of high order": ("runge_kutta_4", 0.1, "creeps"),
    "of high order, with a large step": ("runge_kutta_4", 0.5, "gone"),
    "neither": ("explicit_euler", 0.1, "gone"),
    "neither, with a small step": ("explicit_euler", 0.001, "creeps"),
}


def test_energy_drift_describes_which_integrators_keep_the_energy(javascript: Javascript):
    given, expected = [], []
    for method, dt, outcome in OUTCOMES.values():
        error = drift(*described((mechanics.Pendulum(), [1.2], [0.0]), method, dt, 2000))
        error = error["error"].numpy()
        for starts in (np.arange(2001), stretches(2001)):
            curve = {"high": np.maximum.reduceat(error, starts).tolist(), "starts": starts.tolist()}
            given.append([{**curve, "total": 2001}, float(error.max())])
            expected.append(outcome)
    # Growth by rounding alone counts as kept, and errors that are large only in the middle, too.
    curve = {"high": [1e-15, 1e-13, 5e-12], "starts": [0, 10, 90], "total": 100}
    bulge = {"high": [1e-3, 1e-1, 1e-3], "starts": [0, 10, 85], "total": 100}
    given += [[curve, 5e-12], [curve, 0.6], [bulge, 1e-1]]
    assert javascript(DRIFT, "keeping", given) == [*expected, "kept", "gone", "kept"]


def test_a_planet_of_mechanics_stage_stays_on_its_ellipse_if_it_is_bound(javascript: Javascript):
    orbits = [
        (mechanics.Kepler(), [1.0, 0.0], [0.0, 1.2]),
        (mechanics.Kepler(mass=0.8, gravity=1.3), [0.9, 0.4], [-0.3, 0.8]),
        (mechanics.Kepler(mass=2.0), [-0.5, 0.8], [-1.2, -0.8]),
    ]
    given = [[dataclasses.asdict(kepler), q, p] for kepler, q, p in orbits]
    found = javascript(MECHANICS, "keplerEllipse", given)
    for ellipse, (kepler, q, p) in zip(found, orbits, strict=True):
        steps = {"dt": 4e-3, "steps": 1500, "method": mechanics.runge_kutta_4}
        run = mechanics.integrate(kepler, tensor(q), tensor(p), **steps)
        x, y = (run.q - tensor(ellipse["centre"])).unbind(-1)
        cos, sin = math.cos(ellipse["angle"]), math.sin(ellipse["angle"])
        along, across = (x * cos + y * sin) / ellipse["long"], (y * cos - x * sin)
        assert_close(along**2 + (across / ellipse["short"]) ** 2, torch.ones(1501))
    # A planet of twice the energy that it needs to escape has none, and its glass is full.
    assert javascript(MECHANICS, "keplerEllipse", [[given[0][0], [1.0, 0.0], [0.0, 2.0]]]) == [None]
    kepler, starts = {"name": "Kepler", "parameters": {}}, (-0.5, 0.3, 0.0)
    glasses = javascript(MECHANICS, "glassOf", [[kepler, start] for start in starts])
    for start, glass in zip(starts, glasses, strict=True):
        assert glass["rim"] == 0 if start < 0 else glass["rim"] > start
        assert glass["floor"] < start
