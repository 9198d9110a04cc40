"""Subjets and their observables, against plain loops."""

import itertools
import math

import numpy as np
import pytest
import torch

from course_lib.jets import (
    delta_r,
    invariant_mass,
    jet_substructure,
    subjets,
)
from course_lib.jets.substructure import SUBSTRUCTURE
from course_lib.models.tagging import load_jets

SIDES = load_jets()
FEW = SIDES.test[:8]
FOUND = jet_substructure(FEW)


def column(name: str, found: torch.Tensor = FOUND) -> torch.Tensor:
    return found[:, SUBSTRUCTURE.index(name)]


def merged(momenta: list[torch.Tensor], count: int) -> list[torch.Tensor]:
    """The exclusive kT algorithm, one pair at a time."""
    momenta = list(momenta)
    while len(momenta) > count:

        def far(pair, momenta=momenta):
            a, b = (momenta[i] for i in pair)
            return min(a[1:3].norm(), b[1:3].norm()) * delta_r(a, b)

        a, b = min(itertools.combinations(range(len(momenta)), 2), key=far)
        together = momenta[a] + momenta[b]
        momenta = [p for i, p in enumerate(momenta) if i not in (a, b)] + [together]
    return momenta


@pytest.mark.slow
def test_cores_are_those_of_the_exclusive_kt_algorithm() -> None:
    few = FEW.hardest(12)  # a loop over all pairs is slow
    found = subjets(few, 3)
    for n in range(4):
        momenta = list(few.momenta[n])
        for count in (1, 2, 3):
            expected = sorted(p.tolist() for p in merged(momenta, count))
            assert np.allclose(sorted(found[count - 1][n].tolist()), expected)


def test_subjettiness_and_masses_are_those_of_their_formulas() -> None:
    few = FEW.hardest(10)
    table = jet_substructure(few)
    for n in range(3):
        momenta = few.momenta[n]
        pt = momenta[:, 1:3].norm(dim=1)
        cores = {count: merged(list(momenta), count) for count in (1, 2, 3)}
        tau = {
            count: sum(
                (z * min(delta_r(p, core) for core in axes)).item()
                for z, p in zip(pt / pt.sum(), momenta, strict=True)
            )
            for count, axes in cores.items()
        }
        pairs = sorted(invariant_mass(a + b) for a, b in itertools.combinations(cores[3], 2))
        soft, hard = sorted(core[1:3].norm() for core in cores[2])
        expected = {f"τ{count}": value for count, value in tau.items()} | {
            "τ2/τ1": tau[2] / tau[1],
            "τ3/τ2": tau[3] / tau[2],
            "lightest of 3 pairs": pairs[0],
            "heaviest of 3 pairs": pairs[2],
            "middle of 3 cores": sorted(map(invariant_mass, cores[3]))[1],
            "heavier of 2 cores": max(map(invariant_mass, cores[2])),
            "share of the softer of 2 cores": soft / (soft + hard),
        }
        for name, value in expected.items():
            assert column(name, table)[n].item() == pytest.approx(float(value)), name


def test_tracks_and_kinds_are_counted() -> None:
    jet = FEW[2:3]
    d0 = sorted(jet.d0.abs()[0].tolist(), reverse=True)
    assert column("|d0| of track 3")[2].item() == pytest.approx(d0[2])
    assert column("tracks with |d0| > 0.5 mm")[2] == sum(miss > 0.5 for miss in d0)
    photons = jet.kind[0] == 2
    assert column("number of photons")[2] == photons.sum()
    share = jet.pt[0] / jet.pt.sum()
    assert column("share of photons")[2].item() == pytest.approx(share[photons].sum().item())
    charge = abs(sum(math.sqrt(z) * q for z, q in zip(share, jet.charge[0].tolist(), strict=True)))
    assert column("size of the jet charge")[2].item() == pytest.approx(charge)
