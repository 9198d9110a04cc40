"""Cores of a jet and what is measured of them, against plain loops."""

import itertools
import math

import numpy as np
import pytest
import torch
from seeded import assert_close

from course_lib.four_momenta import delta_r, invariant_mass, rotated_about_beam
from course_lib.jet_substructure import SUBSTRUCTURE, jet_numbers, jet_substructure, subjets
from course_lib.jet_tagging import SUMMARY, distances, energy_correlations, fit_forest, jet_summary
from course_lib.jets import load_jets

SIDES = load_jets()
FEW = SIDES.test[:8]
FOUND = jet_substructure(FEW)


def column(name: str, found: torch.Tensor = FOUND) -> torch.Tensor:
    return found[:, SUBSTRUCTURE.index(name)]


def test_every_number_has_a_name_of_its_own() -> None:
    assert FOUND.shape == (len(FEW), len(SUBSTRUCTURE))
    assert len({*SUMMARY, *SUBSTRUCTURE}) == len(SUMMARY) + len(SUBSTRUCTURE)
    assert FOUND.isfinite().all()
    assert_close(jet_numbers(FEW), torch.cat([jet_summary(FEW), FOUND], dim=1), 1e-12)


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


def test_cores_are_those_of_the_exclusive_kt_algorithm() -> None:
    few = FEW.hardest(12)  # a loop over all pairs is slow
    found = subjets(few, 3)
    for n in range(4):
        momenta = list(few.momenta[n])
        for count in (1, 2, 3):
            expected = sorted(p.tolist() for p in merged(momenta, count))
            assert np.allclose(sorted(found[count - 1][n].tolist()), expected)


def test_one_core_is_the_jet_and_the_sum_of_cores_stays() -> None:
    for cores in subjets(FEW, 3):
        assert_close(cores.sum(1), FEW.total, 1e-9)


def test_a_jet_of_two_particles_has_no_three_cores() -> None:
    pair = FEW.hardest(2)
    one, two, three = subjets(pair, 3)
    assert_close(one[:, 0], pair.total, 1e-9)
    assert_close(two.sum(1), pair.total, 1e-9)
    assert (three == 0).all()
    assert jet_substructure(pair).isfinite().all()


def test_a_core_of_size_0_is_refused() -> None:
    with pytest.raises(ValueError, match="most is 0"):
        subjets(FEW, 0)


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


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_energy_correlations_take_distances_to_a_power(power: float) -> None:
    jet = FEW[:1].hardest(10)
    z = (jet.pt[0] / jet.pt.sum()).double()
    apart = distances(jet)
    ln_e2, ln_d2 = energy_correlations(z[None], apart, power=power)
    far, places = apart[0].tolist(), range(len(z))
    e2 = sum(z[a] * z[b] * far[a][b] ** power for a, b in itertools.combinations(places, 2))
    e3 = sum(
        z[a] * z[b] * z[c] * (far[a][b] * far[b][c] * far[a][c]) ** power
        for a, b, c in itertools.combinations(places, 3)
    )
    assert ln_e2.item() == pytest.approx(math.log(e2))
    assert ln_d2.item() == pytest.approx(math.log(e3 / e2**3))


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


def test_turning_a_jet_about_the_beam_changes_nothing() -> None:
    before = subjets(FEW, 3)
    moved = FEW[:]
    moved.__dict__["momenta"] = rotated_about_beam(FEW.momenta, 2.5)
    for here, there in zip(before, subjets(moved, 3), strict=True):
        assert_close(
            invariant_mass(there).sort(1).values, invariant_mass(here).sort(1).values, 1e-6
        )


@pytest.mark.slow
def test_trees_do_better_with_more_numbers() -> None:
    learned, asked = SIDES.train[:2000], SIDES.valid
    right = {}
    for summary in (jet_summary, jet_numbers):
        trees = fit_forest(learned, trees=40, summary=summary)
        right[summary] = (trees.predict(summary(asked).numpy()) == asked.label.numpy()).mean()
    assert right[jet_numbers] > right[jet_summary] + 0.01
