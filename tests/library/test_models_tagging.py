"""Jet taggers: ten numbers and their formulas, networks in training."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, perturbed
from sklearn.metrics import roc_curve
from torch.nn import functional as F

from course_lib.jets import (
    FEATURES,
    PARTICLES,
    SUMMARY,
    jet_summary,
    pairwise_features,
    particle_features,
)
from course_lib.models.tagging import (
    TAGGERS,
    DeepSet,
    evaluate,
    jet_inputs,
    kinds_alone,
    load_jets,
    logits_of,
    mirrored,
    rejection,
    train_tagger,
)

SIDES = load_jets()
FEW = SIDES.test[:12]


def test_the_summary_of_a_jet_is_that_of_its_formulas() -> None:
    found = jet_summary(FEW)
    assert found.shape == (12, len(SUMMARY))
    for n in range(3):
        jet = FEW[n : n + 1]
        momenta = jet.momenta[jet.valid]
        pt, eta_phi = momenta[:, 1:3].norm(dim=1), []
        for energy, x, y, z in [*momenta.tolist(), momenta.sum(0).tolist()]:
            rapidity = 0.5 * math.log((energy + z) / (energy - z))
            eta_phi.append((rapidity, math.atan2(y, x)))

        def far(a, b, eta_phi=eta_phi):
            dphi = eta_phi[a][1] - eta_phi[b][1]
            return math.hypot(
                eta_phi[a][0] - eta_phi[b][0], math.atan2(math.sin(dphi), math.cos(dphi))
            )

        z = (pt / pt.sum()).tolist()
        places = range(len(z))
        e2 = sum(z[a] * z[b] * far(a, b) for a, b in itertools.combinations(places, 2))
        e3 = sum(
            z[a] * z[b] * z[c] * far(a, b) * far(b, c) * far(a, c)
            for a, b, c in itertools.combinations(places, 3)
        )
        energy, *total = momenta.sum(0).tolist()
        expected = {
            "mass": math.sqrt(energy**2 - sum(p**2 for p in total)),
            "pT": math.hypot(*total[:2]),
            "particles": jet.size.item(),
            "width": sum(share * far(a, -1) for a, share in enumerate(z)),
            "pT dispersion": math.sqrt(sum(share**2 for share in z)),
            "hardest share": max(z),
            "ln e2": math.log(e2),
            "ln D2": math.log(e3 / e2**3),
            "displaced tracks": int((jet.d0.abs() > 0.1).sum()),
            "lepton share": sum(s for s, k in zip(z, jet.kind[jet.valid], strict=True) if k >= 3),
        }
        assert tuple(expected) == SUMMARY
        assert found[n].tolist() == pytest.approx(list(expected.values()), rel=1e-5)


@settings(max_examples=10)
@given(st.permutations(range(48)))
def test_a_deep_set_ignores_order_and_padding(order) -> None:
    torch.manual_seed(0)
    model, inputs = perturbed(DeepSet(5, d_hidden=8), 0.3).double(), jet_inputs(FEW, pairs=False)
    for noise in (7.0, math.nan):
        features = torch.where(inputs.valid[..., None], inputs.features.double(), noise)
        moved = model(features[:, order], valid=inputs.valid[:, order])
        assert_close(moved, model(inputs.features.double(), valid=inputs.valid), 1e-9)


def test_a_deep_set_sums_over_particles() -> None:
    for full in [48, 16]:
        torch.manual_seed(0)
        model, features = (
            DeepSet(5, d_hidden=8, full=full).double(),
            jet_inputs(FEW).features.double(),
        )
        valid = FEW.valid[0]
        said = [model.say(particle) for particle in features[0, valid]]
        total = torch.stack(said).sum(0)
        expected = model.conclude(torch.cat([total / full, total / len(said)]))
        assert_close(model(features, valid=FEW.valid)[0], expected, 1e-9)


def test_mirrors_turn_signs_and_leave_pairs_alone() -> None:
    features = jet_inputs(FEW).features
    random = torch.Generator().manual_seed(0)
    ratio = torch.where(features == 0, math.nan, mirrored(features, random) / features)
    for first, second in (("Δη", "tanh dz"), ("Δφ", "tanh d0")):
        signs = torch.cat([ratio[..., FEATURES.index(name)] for name in (first, second)], dim=1)
        mean = signs.nanmean(dim=1)
        assert sorted(set(mean.tolist())) == [-1, 1]
    others = [
        n for n, name in enumerate(FEATURES) if name not in {"Δη", "Δφ", "tanh d0", "tanh dz"}
    ]
    assert (ratio[..., others].nan_to_num(1.0) == 1).all()
    flipped = FEW.momenta * torch.tensor([1, 1, -1, -1])
    apart = ~torch.eye(48, dtype=torch.bool) & FEW.valid[:, :, None] & FEW.valid[:, None]
    before, after = (pairwise_features(momenta)[apart] for momenta in (FEW.momenta, flipped))
    assert_close(after[:, :3], before[:, :3], 1e-6)
    assert_close(after[:, 3].exp(), before[:, 3].exp(), 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["deep set", "with pairs"])
def test_a_network_learns_and_a_seed_makes_it_again(kind) -> None:
    make, pairs = TAGGERS[kind]
    inputs = jet_inputs(SIDES.train[:64].hardest(8), pairs=pairs)
    logits = []
    for _ in range(2):
        torch.manual_seed(0)
        model = make().standardized_like(inputs.features, inputs.pairs, valid=inputs.valid)
        before = evaluate(logits_of(model, inputs), inputs.label).loss
        history = train_tagger(model, inputs, epochs=6, batch=16, progress=False)
        logits.append(logits_of(model, inputs))
    assert len(history) == 24
    assert evaluate(logits[0], inputs.label).loss < 0.95 * before
    assert torch.equal(*logits)


def test_rejection_follows_from_the_roc_curve() -> None:
    random = torch.Generator().manual_seed(0)
    label = torch.randint(5, (4000,), generator=random)
    logits = torch.randn(4000, 5, generator=random) + F.one_hot(label, 5)
    chance = logits.softmax(1)
    compared = (label == 2) | (label < 2)
    score = (chance[:, 2] / chance[:, :3].sum(1))[compared]
    false, true, _ = roc_curve((label == 2)[compared], score, drop_intermediate=False)
    for efficiency in (0.3, 0.5, 0.9):
        found = rejection(logits, label, signal="W", efficiency=efficiency)
        assert found == pytest.approx(1 / np.interp(efficiency, true, false), rel=0.02)
        called = {"classes": ("QCD", "gg", "Wqq", "Tbqq", "Hbb"), "background": ("QCD", "gg")}
        again = rejection(logits, label, signal="Wqq", efficiency=efficiency, **called)
        assert again == found
    assert rejection(100 * F.one_hot(label, 5).float(), label, signal="top") == math.inf


def test_kinds_alone_gives_kinds_and_charges_and_nothing_else() -> None:
    some = SIDES.test[:40]
    inputs = kinds_alone(some, above=2.0)
    light = some[some.label < 2]
    assert (inputs.label == light.label).all()
    assert (inputs.valid == (light.pt > 2.0)).all()
    known = [k for k in range(len(FEATURES)) if (inputs.features[..., k] != 0).any()]
    assert {"charge", "photon"} <= {FEATURES[k] for k in known} <= {"charge", *PARTICLES}
    assert_close(inputs.features[..., known], particle_features(light)[..., known])
