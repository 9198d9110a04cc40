from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor
from judges.symplecticity_meter import Force, force_of, ride_to, round_trip, windows, work_along

ATTENTION = "js/maths/symplectic_attention.js"
FORCES = [(s, f) for s in ("vector", "matrix") for f in ("full", "shortcut")]
SPARE, ROUNDS = 0.3, 6


def ridden(
    javascript: Javascript, random: np.random.Generator, time: float
) -> list[tuple[dict[str, Any], torch.Tensor, torch.Tensor, Force]]:
    """Rides in random windows: the page's result, the window, the corners, and the force."""
    cases = []
    for force in 3 * FORCES:
        tokens, corners = random.integers(1, 5), random.integers(3, 40)
        window, A = random.normal(size=(tokens, 2)), random.normal(size=(2, 2))
        angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
        reach = random.uniform(0.5, 1.5, size=(corners, 1))
        wire = random.normal(size=2) + reach * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        cases.append([window.tolist(), A.tolist(), *force, wire.tolist()])
    found = javascript(ATTENTION, "bead", [[*case, SPARE, ROUNDS, time] for case in cases])
    return [
        (ride, tensor(z), tensor(ride["corners"]), force_of(tensor(A), softmax, formula))
        for ride, (z, A, softmax, formula, _) in zip(found, cases, strict=True)
    ]


def test_the_energy_of_a_bead_is_the_work_done_on_it(
    javascript: Javascript, random: np.random.Generator
):
    for ride, z, corners, force in ridden(javascript, random, 7.0):
        way, rounds = ride_to(corners, ride["s"])
        once_round = round_trip(force, z, corners)
        work = rounds * once_round[-1] + work_along(force, windows(z, way))[-1]
        assert_close(ride["need"], max(0.0, -float(once_round.min())))
        assert_close(ride["place"], way[-1])
        assert ride["work"] == pytest.approx(float(work), abs=2e-6)
        energy = ride["need"] + SPARE + ride["work"]
        if energy > 0.01:
            assert ride["v"] ** 2 / 2 == pytest.approx(energy, abs=1e-9)
