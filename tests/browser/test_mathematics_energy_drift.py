"""The mathematics of EnergyDrift's JavaScript, run in Chromium, against course_lib."""

import dataclasses

import numpy as np
import pytest
from in_the_page import DRAWS, Javascript, assert_close, tensor

from course_lib import mechanics
from course_lib.widgets.energy_drift import METHODS

ORBITS = {
    # Regular orbits: in a chaotic one, rounding alone parts two computations.
    "HarmonicOscillator": (mechanics.HarmonicOscillator(mass=1.3, stiffness=0.7), [1.0], [0.2]),
    "Pendulum": (mechanics.Pendulum(mass=0.8, length=1.2, gravity=1.5), [1.2], [-0.3]),
    "CoupledOscillators": (mechanics.CoupledOscillators(), [1.0, 0.5], [0.0, 0.5]),
    "Kepler": (mechanics.Kepler(mass=1.1, gravity=0.9), [0.8, 0.1], [0.1, 1.2]),
    "HenonHeiles": (mechanics.HenonHeiles(strength=0.9), [0.1, 0.05], [0.1, 0.1]),
}


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("system", sorted(ORBITS))
def test_a_thousand_steps_in_the_page_are_those_of_course_lib(
    javascript: Javascript, system: str, method: str
):
    kind, q, p = ORBITS[system]
    dt, steps = 0.02, 1000
    given = {"system": system, "parameters": dataclasses.asdict(kind), "method": method}
    given |= {"q": q, "p": p, "dt": dt, "steps": steps}
    [found] = javascript("energy_drift.js", "energyDrift", [[given]])
    stepper = getattr(mechanics, method)
    run = mechanics.integrate(kind, tensor(q), tensor(p), dt=dt, steps=steps, method=stepper)
    assert found["taken"] == steps
    assert_close(np.reshape(found["q"], (-1, kind.dim)), run.q)
    assert_close(np.reshape(found["p"], (-1, kind.dim)), run.p)
    assert_close(found["energy"], run.energy)
    assert_close(found["error"], ((run.energy - run.energy[0]) / run.energy[0]).abs())


def test_a_run_in_the_page_stops_where_the_state_stops_being_finite(javascript: Javascript):
    star, q, p, dt = mechanics.HenonHeiles(), [0.0, 2.0], [0.0, 1.0], 0.5
    given = {"system": "HenonHeiles", "parameters": dataclasses.asdict(star), "steps": 100}
    given |= {"method": "explicit_euler", "q": q, "p": p, "dt": dt}
    [found] = javascript("energy_drift.js", "energyDrift", [[given]])
    with pytest.raises(mechanics.IntegrationError) as escaped:
        mechanics.integrate(
            star, tensor(q), tensor(p), dt=dt, steps=100, method=mechanics.explicit_euler
        )
    # The energy overflows some steps before the state does.
    energy = escaped.value.trajectory.energy
    assert found["taken"] == int(energy.isfinite().long().cumprod(0).sum()) - 1
    assert found["taken"] < escaped.value.step
    assert np.isfinite(found["error"]).all()


def test_an_envelope_holds_the_least_and_the_largest_of_each_stretch(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        bins = int(random.integers(1, 9))
        length = int(random.integers(bins, 60))
        cases.append([random.normal(size=length).tolist(), length, bins])
    for found, (values, length, bins) in zip(
        javascript("energy_drift.js", "envelope", cases), cases, strict=True
    ):
        for place in range(bins):
            stretch = [v for n, v in enumerate(values) if n * bins // length == place]
            assert found["low"][place] == min(stretch)
            assert found["high"][place] == max(stretch)
