"""The mathematics of EnergyDrift's JavaScript, run in Chromium, against course_lib."""

import dataclasses
import itertools

import numpy as np
import pytest
from in_the_page import Javascript, assert_close, tensor

from course_lib import mechanics
from course_lib.widgets.energy_drift import BINS, METHODS, stretches
from course_lib.widgets.programs import program_of

MECHANICS = "js/maths/mechanics.js"
DRIFT = "js/maths/drift.js"
ORBITS = {
    # Regular orbits: in a chaotic one, rounding alone parts two computations.
    "HarmonicOscillator": (mechanics.HarmonicOscillator(mass=1.3, stiffness=0.7), [1.0], [0.2]),
    "Pendulum": (mechanics.Pendulum(mass=0.8, length=1.2, gravity=1.5), [1.2], [-0.3]),
    "CoupledOscillators": (mechanics.CoupledOscillators(), [1.0, 0.5], [0.0, 0.5]),
    "Kepler": (mechanics.Kepler(mass=1.1, gravity=0.9), [0.8, 0.1], [0.1, 1.2]),
    "HenonHeiles": (mechanics.HenonHeiles(strength=0.9), [0.1, 0.05], [0.1, 0.1]),
}


def test_runs_in_the_page_are_those_of_course_lib(javascript: Javascript):
    dt, steps = 0.02, 300
    runs, given = [], []
    for (system, (kind, q, p)), method in itertools.product(ORBITS.items(), METHODS):
        stepper = getattr(mechanics, method)
        runs.append(
            mechanics.integrate(kind, tensor(q), tensor(p), dt=dt, steps=steps, method=stepper)
        )
        case = {"system": system, "parameters": dataclasses.asdict(kind), "method": method}
        given.append([case | {"q": q, "p": p, "dt": dt, "steps": steps}])
    for run, found in zip(runs, javascript(MECHANICS, "energyDrift", given), strict=True):
        assert found["taken"] == steps
        assert_close(np.reshape(found["q"], run.q.shape), run.q)
        assert_close(np.reshape(found["p"], run.p.shape), run.p)
        assert_close(found["energy"], run.energy)
        assert_close(found["error"], ((run.energy - run.energy[0]) / run.energy[0]).abs())


def heun(system, q, p, dt):
    q_dot, p_dot = system.field(q, p)
    q_next, p_next = system.field(q + dt * q_dot, p + dt * p_dot)
    return q + dt / 2 * (q_dot + q_next), p + dt / 2 * (p_dot + p_next)


def fourth_order(system, q, p, dt):
    a = 1 / (2 - 2 ** (1 / 3))
    for part in (a, 1 - 2 * a, a):
        p = p - part * dt / 2 * system.grad_q(q, p)
        q = q + part * dt * system.grad_p(q, p)
        p = p - part * dt / 2 * system.grad_q(q, p)
    return q, p


def test_a_stepper_of_the_readers_own_goes_on_in_the_page_as_in_python(javascript: Javascript):
    dt, steps = 0.02, 100
    runs, given = [], []
    for (system, (kind, q, p)), stepper in itertools.product(ORBITS.items(), (heun, fourth_order)):
        program = program_of(stepper, kind, tensor(q), tensor(p), 0.5)  # of any step
        given.append([program, system, dataclasses.asdict(kind), q, p, dt, steps])
        runs.append(
            mechanics.integrate(kind, tensor(q), tensor(p), dt=dt, steps=steps, method=stepper)
        )
    found_all = javascript("js/maths/programs.js", "programRun", given)
    for run, found in zip(runs, found_all, strict=True):
        assert_close(np.reshape(found["q"], run.q.shape), run.q)
        assert_close(np.reshape(found["p"], run.p.shape), run.p)


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


def test_an_envelope_holds_the_least_and_the_largest_of_each_stretch(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(50):
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


def test_a_motion_that_quickens_is_at_its_end_in_time(javascript: Javascript):
    ends = [50.0, 400.0, 20_000.0, 40.0]
    *rates, none = javascript(MECHANICS, "quickening", [[end, 3.0, 14.0] for end in ends])
    exact = [3.0 * np.expm1(14.0 * rate) / rate for rate in rates]
    assert exact == pytest.approx(ends[:-1], rel=1e-9)
    assert none == pytest.approx(0, abs=1e-12)


def test_stretches_of_a_run_of_python_begin_where_python_says(
    javascript: Javascript, random: np.random.Generator
):
    totals = [1, 2, BINS, BINS + 1, 10_001, 20_001, *random.integers(1, 20_001, 50).tolist()]
    found = javascript(DRIFT, "stretches", [[total, min(BINS, total)] for total in totals])
    for starts, total in zip(found, totals, strict=True):
        assert starts == stretches(total).tolist()
    # A step lies in the last stretch that has begun.
    starts, steps = stretches(2001).tolist(), [0, 1, 7, 400, 1233, 2000]
    found = javascript(DRIFT, "stretchOf", [[starts, step] for step in steps])
    assert found == (np.searchsorted(starts, steps, side="right") - 1).tolist()


OUTCOMES = {
    "symplectic": ("stoermer_verlet", 0.1, "kept"),
    "symplectic, with a large error": ("symplectic_euler", 0.5, "kept"),
    "of high order": ("runge_kutta_4", 0.1, "creeps"),
    "of high order, with a large step": ("runge_kutta_4", 0.5, "gone"),
    "neither": ("explicit_euler", 0.1, "gone"),
    "neither, with a small step": ("explicit_euler", 0.001, "creeps"),
}


def test_who_keeps_the_energy_of_a_pendulum(javascript: Javascript):
    given, expected = [], []
    for method, dt, outcome in OUTCOMES.values():
        stepper, start = getattr(mechanics, method), (tensor([1.2]), tensor([0.0]))
        run = mechanics.integrate(mechanics.Pendulum(), *start, dt=dt, steps=2000, method=stepper)
        error = ((run.energy - run.energy[0]) / run.energy[0]).abs().numpy()
        for starts in (np.arange(2001), stretches(2001)):
            curve = {"high": np.maximum.reduceat(error, starts).tolist(), "starts": starts.tolist()}
            given.append([{**curve, "total": 2001}, float(error.max())])
            expected.append(outcome)
    # What rounding alone makes grow is kept.
    curve = {"high": [1e-15, 1e-13, 5e-12], "starts": [0, 10, 90], "total": 100}
    # What was large in the middle of the run alone is kept, too.
    bulge = {"high": [1e-3, 1e-1, 1e-3], "starts": [0, 10, 85], "total": 100}
    given += [[curve, 5e-12], [curve, 0.6], [bulge, 1e-1]]
    assert javascript(DRIFT, "keeping", given) == [*expected, "kept", "gone", "kept"]
