"""The jets of lecture 13 match their description, and their features obey symmetries."""

import dataclasses
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close
from torch import Tensor

from course_lib.jets import (
    FEATURES,
    PAIR_FEATURES,
    PARTICLES,
    boosted_along_beam,
    pairwise_features,
    particle_features,
    rotated_about_beam,
)
from course_lib.jets.features import MASSES
from course_lib.models.tagging import load_jets, packed_miss, unpacked_miss

SIDES = load_jets()
FEW = SIDES.test[:40]


def joined(name: str) -> Tensor:
    return torch.cat([getattr(side, name) for side in SIDES])


def test_no_jet_is_on_two_sides_of_the_split() -> None:
    jets = [row.tobytes() for row in torch.cat([joined("pt"), joined("eta")], 1).numpy()]
    assert len(set(jets)) == len(jets)


def test_the_hardest_particle_is_first_and_empty_places_are_last() -> None:
    pt, valid = joined("pt"), torch.cat([side.valid for side in SIDES])
    assert (pt.diff(dim=1) <= 0).all()
    assert (valid.int().diff(dim=1) <= 0).all()
    assert (pt[valid] > 0.49).all()
    assert (pt[~valid] == 0).all()
    assert (joined("size") >= valid.sum(1)).all()


@settings(max_examples=20)
@given(st.floats(-50, 50))
def test_packing_loses_little_precision(millimetres) -> None:
    given_one = torch.tensor([millimetres])
    error = (unpacked_miss(packed_miss(given_one)) - given_one).abs().item()
    assert error < max(0.00051, 0.051 * math.hypot(millimetres, 0.01))


def test_the_features_of_a_particle_are_those_of_the_formula() -> None:
    jets, found = FEW, particle_features(FEW)
    total = jets.momenta.sum(1)
    for n, a in ((0, 0), (3, 1), (7, 5)):
        row = dict(zip(FEATURES, found[n, a].tolist(), strict=True))
        kind = int(jets.kind[n, a])
        pt, eta, phi = (float(getattr(jets, name)[n, a]) for name in ("pt", "eta", "phi"))
        energy = math.sqrt((pt * math.cosh(eta)) ** 2 + MASSES[kind] ** 2)
        jet_energy, x, y, z = total[n].tolist()
        jet_pt = math.hypot(x, y)
        deta, dphi = eta - math.asinh(z / jet_pt), phi - math.atan2(y, x)
        dphi = math.atan2(math.sin(dphi), math.cos(dphi))
        expected = [
            math.log(pt),
            math.log(energy),
            math.log(pt / jet_pt),
            math.log(energy / jet_energy),
            deta,
            dphi,
            math.hypot(deta, dphi),
            float(jets.charge[n, a]),
            *(float(kind == number) for number in range(len(PARTICLES))),
            math.tanh(float(jets.d0[n, a]) / 0.2),
            math.tanh(float(jets.dz[n, a]) / 0.2),
        ]
        assert list(row.values()) == pytest.approx(expected, abs=2e-5)


def test_empty_places_have_no_features() -> None:
    found = particle_features(FEW)
    assert found.shape == (40, 48, len(FEATURES))
    assert found.isfinite().all()
    assert (found[~FEW.valid] == 0).all()
    assert (~FEW.valid).any()


def test_the_features_of_a_pair_are_those_of_the_formula() -> None:
    jets = FEW
    found = pairwise_features(jets.momenta)
    assert found.shape == (40, 48, 48, len(PAIR_FEATURES))
    for n, a, b in ((0, 0, 1), (3, 4, 2), (9, 1, 7)):
        (ea, *pa), (eb, *pb) = jets.momenta[n, [a, b]].tolist()
        pta, ptb = math.hypot(*pa[:2]), math.hypot(*pb[:2])
        y = [0.5 * math.log((e + p[2]) / (e - p[2])) for e, p in ((ea, pa), (eb, pb))]
        dphi = math.atan2(pa[1], pa[0]) - math.atan2(pb[1], pb[0])
        delta = math.hypot(y[0] - y[1], math.atan2(math.sin(dphi), math.cos(dphi)))
        squared = (ea + eb) ** 2 - sum((i + j) ** 2 for i, j in zip(pa, pb, strict=True))
        softer = min(pta, ptb)
        expected = [delta, softer * delta, softer / (pta + ptb), squared]
        assert found[n, a, b].exp().tolist() == pytest.approx(expected, rel=1e-6)


def test_the_gradient_of_the_features_of_a_pair_is_that_of_differences() -> None:
    momenta = FEW[:1].momenta[:, :3].clone().requires_grad_()
    assert torch.autograd.gradcheck(pairwise_features, momenta)
    with_empty = FEW.momenta.clone().requires_grad_()
    pairwise_features(with_empty).sum().backward()
    assert with_empty.grad.isfinite().all()


def apart(features: Tensor) -> Tensor:
    """Pairs of different particles: for a particle with itself, rounding decides the logarithm."""
    return features[:, ~torch.eye(features.shape[1], dtype=torch.bool)]


HARD = FEW.hardest(8).momenta


@settings(max_examples=20)
@given(st.floats(-7, 7), st.floats(-2, 2))
def test_rotations_about_the_beam_and_boosts_along_it_change_no_feature_of_a_pair(
    angle, shift
) -> None:
    moved = boosted_along_beam(rotated_about_beam(HARD, angle), shift)
    before, after = apart(pairwise_features(HARD)), apart(pairwise_features(moved))
    assert_close(after[..., :3], before[..., :3], 1e-5)
    assert_close(after[..., 3].exp(), before[..., 3].exp(), 1e-5)


def test_small_integers_are_accepted() -> None:
    small = {name: getattr(FEW, name).to(torch.int8) for name in ("kind", "charge", "label")}
    jets = dataclasses.replace(FEW, **small)
    assert torch.equal(jets.momenta, FEW.momenta)
    assert torch.equal(particle_features(jets), particle_features(FEW))
