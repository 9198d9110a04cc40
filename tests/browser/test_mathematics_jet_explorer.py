"""The mathematics of JetExplorer's JavaScript, run in Chromium, against course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.jet_explorer import attention_weights_of
from small_widgets import jets, particle_transformer

from course_lib.four_momenta import (
    delta_phi,
    four_momenta,
    invariant_mass,
    mass_squared,
    measured,
    rapidity,
)
from course_lib.jets import MASSES, Jets, pairwise_features, particle_features
from course_lib.widgets import JetExplorer
from course_lib.widgets.jet_explorer import COLUMNS

pytestmark = pytest.mark.usefixtures("plain_calls")

JETS, TRANSFORMER = "js/maths/jets.js", "js/maths/particle_transformer.js"


def random_jets() -> list[Jets]:
    """Jets of several particles, of two and of one, each alone and without empty places."""
    drawn = jets((1, 2, 3, 5, 7, 9, 12), places=12)
    return [drawn[i : i + 1].hardest(size) for i, size in enumerate(drawn.size.tolist())]


def test_four_momenta_are_those_of_course_lib_and_so_is_what_is_measured_of_them(
    javascript: Javascript, random: np.random.Generator
):
    pt, eta, phi = random.uniform([0.5, -3, -4], [300, 3, 4], size=(DRAWS, 3)).T
    kind = random.integers(len(MASSES), size=DRAWS)
    rows = zip(pt, eta, phi, kind.tolist(), strict=True)
    given = [[dict(zip(("pt", "eta", "phi", "kind"), row, strict=True))] for row in rows]
    momenta = four_momenta(*map(tensor, (pt, eta, phi)), tensor(MASSES)[kind])
    assert_close(javascript(JETS, "fourMomentum", given), momenta)
    # At rest, along the beam, and as light itself; and the sums of several.
    edges = tensor([[1.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    groups = momenta.reshape(-1, 4, 4)
    sums = groups.sum(dim=1)
    assert_close(javascript(JETS, "total", [[group] for group in groups.tolist()]), sums)
    momenta = torch.cat([momenta, sums, edges])
    listed = [[momentum] for momentum in momenta.tolist()]
    assert_close(javascript(JETS, "massSquared", listed), mass_squared(momenta))
    assert_close(javascript(JETS, "rapidity", listed), rapidity(momenta))
    assert_close(javascript(JETS, "invariantMass", listed[:-3]), invariant_mass(momenta[:-3]))
    assert javascript(JETS, "invariantMass", [[[1.0, 0.0, 0.0, 1.0 + 1e-12]]]) == [0]
    directions = javascript(JETS, "directionOf", listed[:-3])
    for name in ("pt", "eta", "phi"):
        expected = getattr(measured(momenta[:-3]), name)
        assert_close([one[name] for one in directions], expected)
    assert javascript(JETS, "directionOf", [[[1, 0, 0, 0]]])[0]["eta"] == 0


def test_the_angle_between_two_goes_the_short_way_round(
    javascript: Javascript, random: np.random.Generator
):
    angles = random.uniform(-10, 10, size=(DRAWS, 2))
    found = javascript(JETS, "deltaPhi", angles.tolist())
    assert_close(found, delta_phi(*tensor(angles).T))
    assert np.abs(found).max() <= np.pi


def test_features_of_particles_and_of_pairs_are_those_of_course_lib(javascript: Javascript):
    drawn = random_jets()
    columns = (*COLUMNS, "kind", "charge")
    particles = [
        [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]
        for values in ([getattr(jet, name)[0].tolist() for name in columns] for jet in drawn)
    ]
    momenta = [jet.momenta[0].tolist() for jet in drawn]
    cases = list(map(list, zip(particles, momenta, strict=True)))
    alone = javascript(JETS, "particleFeatures", cases)
    pairs = javascript(JETS, "pairFeatures", [[one] for one in momenta])
    for jet, of_one, of_two in zip(drawn, alone, pairs, strict=True):
        assert_close(of_one, particle_features(jet)[0])
        assert_close(of_two, pairwise_features(jet.momenta)[0])


def test_a_model_answers_as_in_course_lib_and_looks_where_it_looks(
    javascript: Javascript, random: np.random.Generator
):
    shown = JetExplorer(particle_transformer(12, heads=3, layers=3, class_layers=2), jets())
    model, drawn = shown.network.double(), random_jets()
    [unpacked] = javascript(
        TRANSFORMER, "unpackParticleTransformer", [[shown.facts, shown.weights]]
    )
    told = [(particle_features(jet).double(), pairwise_features(jet.momenta)) for jet in drawn]
    biases = javascript(TRANSFORMER, "pairBias", [[unpacked, p[0].tolist()] for _, p in told])
    given = [[unpacked, f[0].tolist(), bias] for (f, _), bias in zip(told, biases, strict=True)]
    answers = javascript(TRANSFORMER, "answer", given)
    for (features, pairs), bias, found in zip(told, biases, answers, strict=True):
        with torch.no_grad():
            expected = model.bias(pairs, like=features)
            assert_close(bias, expected[0].transpose(0, 1))
            assert_close(found["logits"], model(features, pairs)[0])
            weights = attention_weights_of(model, features, pairs)
        assert_close(found["attention"], weights[:, 0].transpose(1, 2))
    bias, there = random.normal(size=(6, 2, 6)), [4, 0, 5]
    [found] = javascript(TRANSFORMER, "biasAmong", [[bias.tolist(), there]])
    assert_close(found, bias[there][:, :, there])
