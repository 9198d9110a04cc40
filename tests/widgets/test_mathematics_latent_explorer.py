import itertools
from typing import Any

import numpy as np
from in_the_page import Javascript, Twice, alike, assert_close
from scipy.stats import chi2

LATENT = "maths/latent.js"
Random = np.random.Generator


def codes(random: Random) -> list[Any]:
    a, *others = random.normal(size=(8, 5))
    return [np.array(others), a]


RADII = [0.0, 1e-3, 0.1, 1.0, 2.5, 3.9, 5.66, 8.0, 12.0, 20.0]
test_codes_and_their_prior_are_those_of_vectors_and_of_scipy = alike(
    Twice(LATENT, "nearest", lambda others, z: (others - z).norm(dim=1).argmin(), codes),
    Twice(
        LATENT,
        "atDistance",
        lambda z, radius: z * radius / z.norm(),
        lambda random: [random.normal(size=5), random.uniform(0.1, 10)],
    ),
    Twice(
        LATENT,
        "shareWithin",
        lambda radius, size: chi2.cdf(radius**2, size),
        cases=[*itertools.product(RADII, (1, 2, 3, 16, 17, 64))],
        rtol=1e-9,
        atol=0,
    ),
)


def test_a_point_moves_in_its_plane_alone(javascript: Javascript, random: Random):
    cases = []
    for size in (2, 3, 16) * 20:
        # Two orthogonal directions of length 1 each.
        plane = np.linalg.qr(random.normal(size=(size, 2)))[0].T.tolist()
        cases.append([random.normal(size=size).tolist(), plane, random.normal(size=2).tolist()])
    moved = javascript(LATENT, "movedTo", cases)
    on_plane = [[z, plane] for z, (_, plane, _) in zip(moved, cases, strict=True)]
    fallen = javascript(LATENT, "projected", on_plane)
    for found, place, (z, plane, wanted) in zip(moved, fallen, cases, strict=True):
        assert_close(place, wanted)
        directions, step = np.array(plane), np.subtract(found, z)
        assert_close(directions.T @ (directions @ step), step)
