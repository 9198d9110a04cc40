from typing import Any

import numpy as np
from in_the_page import Javascript, Twice, alike, tensor
from torch import Tensor

from course_lib.jets import delta_phi, four_momenta, invariant_mass, measured, rapidity
from course_lib.jets.features import MASSES

JETS = "maths/jets.js"
Random = np.random.Generator


def particles(random: Random) -> list[Any]:
    pt, eta, phi = random.uniform([0.5, -3, -4], [300, 3, 4])
    return [{"pt": pt, "eta": eta, "phi": phi, "kind": int(random.integers(len(MASSES)))}]


def momentum(particle: dict[str, Any]) -> Tensor:
    *place, kind = (particle[name] for name in ("pt", "eta", "phi", "kind"))
    return four_momenta(*(tensor([x]) for x in place), tensor([MASSES[kind]]))[0]


def momenta(random: Random) -> list[Any]:
    return [momentum(*particles(random)).numpy()]


def direction(p: Tensor) -> dict[str, Tensor]:
    return {name: getattr(measured(p), name) for name in ("pt", "eta", "phi")}


# At rest, along the beam, and massless.
EDGES = [[tensor(p).numpy()] for p in ([1, 0, 0, 0], [2, 1, 0, 0], [1, 0, 0, 1])]
test_four_momenta_and_what_is_measured_of_them_are_those_of_course_lib = alike(
    Twice(JETS, "fourMomentum", momentum, particles),
    Twice(JETS, "rapidity", rapidity, momenta, cases=EDGES),
    Twice(JETS, "invariantMass", invariant_mass, momenta, cases=EDGES),
    Twice(JETS, "directionOf", direction, momenta),
    Twice(
        JETS,
        "deltaPhi",
        lambda a, b: delta_phi(tensor(a), tensor(b)),
        lambda random: [*random.uniform(-10, 10, size=2)],
    ),
)


def test_rounding_gives_no_nan_for_light_and_for_rest(javascript: Javascript):
    assert javascript(JETS, "invariantMass", [[[1.0, 0.0, 0.0, 1.0 + 1e-12]]]) == [0]
    assert javascript(JETS, "directionOf", [[[1, 0, 0, 0]]])[0]["eta"] == 0
