"""The mathematics of JetExplorer's JavaScript, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.jet_explorer import attention_weights_of
from small_widgets import jets, particle_transformer

from course_lib.attention import attention, attention_weights
from course_lib.four_momenta import (
    delta_phi,
    four_momenta,
    invariant_mass,
    mass_squared,
    measured,
    rapidity,
)
from course_lib.jets import MASSES, Jets, load_jets, pairwise_features, particle_features
from course_lib.widgets import JetExplorer
from course_lib.widgets.jet_explorer import COLUMNS

pytestmark = pytest.mark.usefixtures("plain_calls")

JETS, TRANSFORMER = "js/maths/jets.js", "js/maths/particle_transformer.js"
KINDS = len(MASSES)


@pytest.fixture(scope="module")
def real() -> list[Jets]:
    """Jets of all classes, each alone and without empty places; one of a particle, one of two."""
    listed = [load_jets().test[i : i + 1] for i in range(40)]
    listed = [jet.hardest(int(jet.real.sum())) for jet in listed]
    return [*listed, listed[0].hardest(1), listed[1].hardest(2)]


def particles_of(jet: Jets) -> list[dict[str, Any]]:
    """A jet as the page has it."""
    columns = {name: getattr(jet, name)[0].tolist() for name in (*COLUMNS, "kind", "charge")}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def random_momenta(random: np.random.Generator, count: int) -> torch.Tensor:
    kind = random.integers(KINDS, size=count)
    angles = [tensor(random.normal(size=count)) for _ in range(2)]
    return four_momenta(tensor(random.uniform(0.5, 90, count)), *angles, tensor(MASSES)[kind])


def test_four_momenta_are_those_of_course_lib_and_so_is_what_is_measured_of_them(
    javascript: Javascript, random: np.random.Generator
):
    pt, eta, phi = random.uniform([0.5, -3, -4], [300, 3, 4], size=(DRAWS, 3)).T
    kind = random.integers(KINDS, size=DRAWS)
    given = [
        [{"pt": a, "eta": b, "phi": c, "kind": int(k)}]
        for a, b, c, k in zip(pt, eta, phi, kind, strict=True)
    ]
    expected = four_momenta(*map(tensor, (pt, eta, phi)), tensor(MASSES)[kind])
    assert_close(javascript(JETS, "fourMomentum", given), expected)
    listed = [[momentum] for momentum in expected.tolist()]
    assert_close(javascript(JETS, "massSquared", listed), mass_squared(expected))
    assert_close(javascript(JETS, "rapidity", listed), rapidity(expected))
    for found, name in ((javascript(JETS, "directionOf", listed), n) for n in ("pt", "eta", "phi")):
        assert_close([one[name] for one in found], getattr(measured(expected), name))


def test_the_mass_of_several_is_that_of_their_sum(
    javascript: Javascript, random: np.random.Generator
):
    groups = [random_momenta(random, int(random.integers(1, 9))) for _ in range(DRAWS)]
    sums = javascript(JETS, "total", [[momenta.tolist()] for momenta in groups])
    expected = torch.stack([momenta.sum(dim=0) for momenta in groups])
    assert_close(sums, expected)
    found = javascript(JETS, "invariantMass", [[momentum] for momentum in expected.tolist()])
    assert_close(found, invariant_mass(expected))
    assert javascript(JETS, "invariantMass", [[[1.0, 0.0, 0.0, 1.0 + 1e-12]]]) == [0]


def test_at_rest_and_along_the_beam_directions_are_those_of_course_lib(javascript: Javascript):
    momenta = tensor([[1.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    found = javascript(JETS, "rapidity", [[momentum] for momentum in momenta.tolist()])
    assert_close(found, rapidity(momenta))
    assert javascript(JETS, "directionOf", [[[1, 0, 0, 0]]])[0]["eta"] == 0


def test_the_angle_between_two_goes_the_short_way_round(
    javascript: Javascript, random: np.random.Generator
):
    angles = random.uniform(-10, 10, size=(DRAWS, 2))
    found = javascript(JETS, "deltaPhi", angles.tolist())
    assert_close(found, delta_phi(*tensor(angles).T))
    assert np.abs(found).max() <= np.pi


def test_features_of_particles_are_those_of_course_lib(javascript: Javascript, real: list[Jets]):
    cases = [[particles_of(jet), jet.momenta[0].tolist()] for jet in real]
    for jet, found in zip(real, javascript(JETS, "particleFeatures", cases), strict=True):
        assert_close(found, particle_features(jet)[0])


def test_features_of_pairs_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator, real: list[Jets]
):
    momenta = [jet.momenta[0] for jet in real[-12:]]
    momenta += [random_momenta(random, int(random.integers(1, 9))) for _ in range(40)]
    found = javascript(JETS, "pairFeatures", [[one.tolist()] for one in momenta])
    for one, features in zip(momenta, found, strict=True):
        assert_close(features, pairwise_features(one))


def test_a_query_hears_what_is_added_to_its_scores(
    javascript: Javascript, random: np.random.Generator
):
    for _ in range(30):
        heads, d, tokens = random.integers(1, 6, size=3).tolist()
        query = tensor(random.normal(size=heads * d))
        keys, values = tensor(random.normal(size=(2, tokens, heads * d)))
        bias = tensor(random.normal(size=(heads, tokens)))
        given = [query.tolist(), keys.tolist(), values.tolist(), heads, bias.tolist()]
        [found] = javascript("js/maths/transformer.js", "attend", [given])
        split = [x.reshape(-1, heads, d).transpose(0, 1) for x in (query, keys, values)]
        given = {"bias": bias[:, None]}
        assert_close(found["weights"], attention_weights(*split[:2], **given)[:, 0])
        assert_close(found["blended"], attention(*split, **given)[:, 0].flatten())


@pytest.mark.parametrize("layers", [(1, 1), (3, 2)])
def test_a_model_answers_as_in_course_lib_and_looks_where_it_looks(
    javascript: Javascript, real: list[Jets], layers: tuple[int, int]
):
    sizes = dict(zip(("layers", "class_layers"), layers, strict=True))
    shown = JetExplorer(particle_transformer(12, heads=3, **sizes), jets())
    model = shown.network.double()
    [unpacked] = javascript(
        TRANSFORMER, "unpackParticleTransformer", [[shown.facts, shown.weights]]
    )
    for jet in real[-8:]:
        features, pairs = particle_features(jet).double(), pairwise_features(jet.momenta)
        [bias] = javascript(TRANSFORMER, "pairBias", [[unpacked, pairs[0].tolist()]])
        with torch.no_grad():
            expected = model.bias(pairs, like=features)
            assert_close(bias, expected[0].transpose(0, 1))
            [found] = javascript(TRANSFORMER, "answer", [[unpacked, features[0].tolist(), bias]])
            assert_close(found["logits"], model(features, pairs)[0])
            weights = attention_weights_of(model, features, pairs)
        assert_close(found["attention"], weights[:, 0].transpose(1, 2))


def test_a_bias_among_some_particles_is_that_of_a_jet_of_their_own(
    javascript: Javascript, random: np.random.Generator
):
    bias = random.normal(size=(6, 2, 6))
    there = [4, 0, 5]
    [found] = javascript(TRANSFORMER, "biasAmong", [[bias.tolist(), there]])
    assert_close(found, bias[there][:, :, there])
