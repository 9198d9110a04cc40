"""The mathematics of EnergyDrift's JavaScript, run in Chromium, against course_lib."""

import dataclasses

import numpy as np
import pytest
from in_the_page import DRAWS, Javascript, assert_close, tensor

from course_lib import mechanics
from course_lib.widgets.energy_drift import METHODS

MECHANICS = "js/maths/mechanics.js"
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
    [found] = javascript(MECHANICS, "energyDrift", [[given]])
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
    [found] = javascript(MECHANICS, "energyDrift", [[given]])
    with pytest.raises(mechanics.IntegrationError) as escaped:
        mechanics.integrate(
            star, tensor(q), tensor(p), dt=dt, steps=100, method=mechanics.explicit_euler
        )
    # The energy overflows some steps before the state does.
    energy = escaped.value.trajectory.energy
    assert found["taken"] == int(energy.isfinite().long().cumprod(0).sum()) - 1
    assert found["taken"] < escaped.value.step
    assert np.isfinite(found["error"]).all()
    assert found["largest"] == max(found["error"])


def test_a_run_whose_error_outgrows_all_numbers_is_lost_and_not_infinite(javascript: Javascript):
    # The start's energy is tiny, so that the relative error overflows before the energy does.
    given = {"system": "HarmonicOscillator", "parameters": {"mass": 1, "stiffness": 1}}
    given |= {"method": "explicit_euler", "q": [1e-130], "p": [0], "dt": 1.0, "steps": 3000}
    [found] = javascript(MECHANICS, "energyDrift", [[given]])
    # Each step doubles the energy.
    assert found["taken"] == pytest.approx(1023, abs=1)
    assert found["largest"] == pytest.approx(2.0 ** found["taken"], rel=1e-6)


def test_a_start_without_a_finite_energy_has_no_run(javascript: Javascript):
    given = {
        "system": "Kepler",
        "parameters": {"mass": 1, "gravity": 1},
        "method": "stoermer_verlet",
    }
    given |= {"q": [0, 0], "p": [0, 1], "dt": 0.1, "steps": 100}
    [found] = javascript(MECHANICS, "energyDrift", [[given]])
    assert found["taken"] == -1
    assert list(found["error"]) == []
    assert javascript(MECHANICS, "stateAt", [[found, 2, 0]]) == [None]


def test_between_two_steps_a_state_lies_on_the_line_from_one_to_the_other(
    javascript: Javascript, random: np.random.Generator
):
    q, p = random.normal(size=(2, 9, 2))
    run = {"q": q.ravel().tolist(), "p": p.ravel().tolist(), "taken": 6}
    moments = [*random.uniform(0, 8, size=DRAWS).tolist(), 0, 3, 6]
    found = javascript(MECHANICS, "stateAt", [[run, 2, moment] for moment in moments])
    for state, moment in zip(found, moments, strict=True):
        if moment > run["taken"]:
            assert state is None
            continue
        for name, values in (("q", q), ("p", p)):
            exact = [np.interp(moment, range(9), values[:, i]) for i in range(2)]
            assert_close(state[name], exact)


def test_an_envelope_holds_the_least_and_the_largest_of_each_stretch(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        bins = int(random.integers(1, 9))
        length = int(random.integers(bins, 60))
        cases.append([random.normal(size=length).tolist(), length, bins])
    for found, (values, length, bins) in zip(
        javascript(MECHANICS, "envelope", cases), cases, strict=True
    ):
        for place in range(bins):
            stretch = [v for n, v in enumerate(values) if n * bins // length == place]
            assert found["low"][place] == min(stretch)
            assert found["high"][place] == max(stretch)
