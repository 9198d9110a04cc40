"""What tells jets apart: ten numbers and their formulas, networks that learn, the bundled one."""

import itertools
import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, perturbed
from sklearn.metrics import roc_curve
from torch import nn
from torch.nn import functional as F

from course_lib.jet_tagging import (
    BUNDLED,
    COMPARED,
    SUMMARY,
    TAGGERS,
    DeepSet,
    Inputs,
    fit_forest,
    jet_inputs,
    jet_summary,
    judged,
    load_tagger,
    logits_of,
    mirrored,
    rejection,
    train_tagger,
)
from course_lib.jets import FEATURES, load_jets, pairwise_features
from course_lib.training import parameter_count

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
SIDES = load_jets()
FEW = SIDES.test[:12]


# Ten numbers ------------------------------------------------------------------------------------


def test_the_summary_of_a_jet_is_that_of_its_formulas() -> None:
    found = jet_summary(FEW)
    assert found.shape == (12, len(SUMMARY))
    for n in range(3):
        jet = FEW[n : n + 1]
        momenta = jet.momenta[jet.real]
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
            "lepton share": sum(s for s, k in zip(z, jet.kind[jet.real], strict=True) if k >= 3),
        }
        assert tuple(expected) == SUMMARY
        assert found[n].tolist() == pytest.approx(list(expected.values()), rel=1e-5)


@pytest.mark.slow
def test_trees_learn_and_a_seed_makes_a_difference() -> None:
    learned, asked = SIDES.train[:1000], SIDES.valid[:500]
    given_numbers = jet_summary(asked).numpy()
    first, again, other = (
        fit_forest(learned, seed=seed, trees=20).predict_proba(given_numbers) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert judged(torch.from_numpy(first).log(), asked.label).accuracy > 0.65


# Networks ---------------------------------------------------------------------------------------


def test_inputs_are_features_pairs_and_classes() -> None:
    inputs = jet_inputs(FEW)
    assert torch.equal(inputs.pairs, pairwise_features(FEW.momenta).float())
    assert torch.equal(inputs.real, FEW.real)
    assert torch.equal(inputs.label, FEW.label)
    without = jet_inputs(FEW, pairs=False)
    assert without.pairs is None
    assert torch.equal(without.features, inputs.features)
    assert len(without.some(slice(3)).label) == 3


@given(st.permutations(range(48)))
def test_a_deep_set_knows_no_order_and_no_empty_places(order) -> None:
    torch.manual_seed(0)
    model, inputs = perturbed(DeepSet(5, d_hidden=8), 0.3).double(), jet_inputs(FEW, pairs=False)
    features = torch.where(inputs.real[..., None], inputs.features.double(), 7.0)
    moved = model(features[:, order], real=inputs.real[:, order])
    assert_close(moved, model(inputs.features.double(), real=inputs.real), 1e-9)


@pytest.mark.parametrize("more", [1, 20])
def test_more_empty_places_change_no_answer_of_a_deep_set(more) -> None:
    torch.manual_seed(0)
    model, inputs = perturbed(DeepSet(5, d_hidden=8), 0.3).double(), jet_inputs(FEW, pairs=False)
    features = F.pad(inputs.features.double(), (0, 0, 0, more), value=7.0)
    padded = model(features, real=F.pad(inputs.real, (0, more), value=False))
    assert_close(padded, model(inputs.features.double(), real=inputs.real), 1e-9)


@pytest.mark.parametrize("full", [48, 16])
def test_a_deep_set_adds_up_what_each_particle_says(full) -> None:
    torch.manual_seed(0)
    model, features = DeepSet(5, d_hidden=8, full=full).double(), jet_inputs(FEW).features.double()
    real = FEW.real[0]
    said = [model.say(particle) for particle in features[0, real]]
    total = torch.stack(said).sum(0)
    expected = model.conclude(torch.cat([total / full, total / len(said)]))
    assert_close(model(features, real=FEW.real)[0], expected, 1e-9)


@pytest.mark.usefixtures("plain_calls")
def test_a_deep_set_refuses_empty_jets_and_other_features() -> None:
    with pytest.raises(ValueError, match=r"jet \(0,\) has no particles"):
        DeepSet(5)(torch.ones(1, 2, 15), real=torch.zeros(1, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"expected \(\*batch, particles, 15\)"):
        DeepSet(5)(torch.ones(1, 2, 14))


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
    apart = ~torch.eye(48, dtype=torch.bool) & FEW.real[:, :, None] & FEW.real[:, None]
    before, after = (pairwise_features(momenta)[apart] for momenta in (FEW.momenta, flipped))
    assert_close(after[:, :3], before[:, :3], 1e-6)
    assert_close(after[:, 3].exp(), before[:, 3].exp(), 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TAGGERS)
def test_every_network_learns_and_a_seed_makes_it_again(kind) -> None:
    make, pairs = TAGGERS[kind]
    inputs = jet_inputs(SIDES.train[:128].hardest(16), pairs=pairs)
    logits = []
    for _ in range(2):
        torch.manual_seed(0)
        model = make().standardized_like(inputs.features, inputs.pairs, real=inputs.real)
        before = judged(logits_of(model, inputs), inputs.label).loss
        history = train_tagger(model, inputs, epochs=8, batch=32, progress=False)
        logits.append(logits_of(model, inputs))
    assert len(history) == 32
    assert judged(logits[0], inputs.label).loss < 0.8 * before
    assert torch.equal(*logits)


def test_logits_do_not_depend_on_the_batch_and_the_mode_comes_back() -> None:
    model, inputs = TAGGERS["with pairs"][0](), jet_inputs(FEW)
    logits = logits_of(model, inputs, batch=5)
    assert model.training
    assert not logits.requires_grad
    assert_close(logits, logits_of(model, inputs), 1e-5)
    without = logits_of(model, inputs._replace(pairs=None), batch=5)
    assert without.shape == logits.shape
    assert not torch.equal(without, logits)


def test_judging_is_counting() -> None:
    chance = torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.2, 0.6, 0.2]])
    result = judged(chance.log(), torch.tensor([0, 1, 2, 1]))
    assert result.accuracy == 0.75
    assert result.loss == pytest.approx(-np.mean(np.log([0.7, 0.3, 0.7, 0.6])), abs=1e-6)
    assert result.taken_for.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_the_background_that_is_rejected_is_that_of_the_roc_curve() -> None:
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
    assert rejection(100 * F.one_hot(label, 5).float(), label, signal="top") == math.inf


def test_an_unknown_class_and_an_efficiency_above_1_are_refused() -> None:
    logits, label = torch.zeros(2, 5), torch.tensor([0, 2])
    with pytest.raises(ValueError, match="class is 'Z'; expected one of"):
        rejection(logits, label, signal="Z")
    with pytest.raises(ValueError, match=r"efficiency is 1.5; expected a finite number in"):
        rejection(logits, label, signal="W", efficiency=1.5)


# What comes with the course ---------------------------------------------------------------------


@pytest.fixture(scope="module", params=BUNDLED)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def bundled(kind: str) -> tuple:
    return load_tagger(kind)


@pytest.fixture(scope="module")
def asked() -> Inputs:
    return jet_inputs(SIDES.test)


@pytest.mark.slow
def test_a_bundled_network_has_the_loss_that_stands_beside_it(bundled, asked) -> None:
    model, about = bundled
    assert not model.training
    for side, inputs in (("test", asked), ("valid", jet_inputs(SIDES.valid))):
        result = judged(logits_of(model, inputs), inputs.label)
        assert result.loss == pytest.approx(about["loss"][side], abs=1e-3)
        assert result.accuracy == pytest.approx(about["accuracy"][side], abs=1e-3)


@pytest.mark.slow
def test_a_bundled_network_needs_what_pairs_say(bundled, asked) -> None:
    model, _ = bundled
    few = asked.some(slice(500))
    loss = judged(logits_of(model, few), few.label).loss
    assert judged(logits_of(model, few._replace(pairs=None)), few.label).loss > loss + 0.1


def test_what_is_known_of_the_training_is_stored(kind, bundled) -> None:
    model, about = bundled
    told = BUNDLED["with pairs"][1].with_suffix(".md").read_text(encoding="utf-8")
    assert [name for name in about if f"`{name}`" not in told] == []
    assert "train_particle_transformer.py" in about["command"]
    assert ("larger" in about["command"]) == (kind == "larger")
    assert about["parameters"] == parameter_count(model)
    assert BUNDLED[kind][1].stat().st_size < 2.5 * about["parameters"]
    assert about["epochs"] * math.ceil(len(SIDES.train) / about["batch"]) == about["steps"]
    assert set(about["loss"]) == set(about["accuracy"]) == set(SIDES._fields)


def test_the_larger_network_is_that_of_its_lowest_loss_on_the_jets_to_choose_by() -> None:
    _, about = load_tagger("larger")
    losses = [each["loss"] for each in about["rounds"]]
    assert len(losses) == about["epochs"]
    assert about["chosen"] == 1 + losses.index(min(losses))
    # What is stored is rounded to half precision.
    assert about["loss"]["valid"] == pytest.approx(min(losses), abs=1e-3)


def test_the_weights_of_the_lowest_loss_are_kept_and_stored(tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    script = runpy.run_path(str(SCRIPTS / "train_particle_transformer.py"))

    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.logits = nn.Parameter(torch.zeros(5))

        def forward(self, features, pairs, *, real):  # noqa: ARG002
            return self.logits.expand(len(features), 5)

    model, inputs = Constant(), jet_inputs(FEW)._replace(label=torch.zeros(12, dtype=torch.long))
    chooser = script["Chooser"](model, inputs, 2, tmp_path / "weights.npz")
    for epoch, of_the_right in enumerate((1.0, 3.0, 2.0, 3.0)):
        for step in (2 * epoch, 2 * epoch + 1):
            with torch.no_grad():
                model.logits[0] = of_the_right
            chooser(step, 0.0)
    assert len(chooser.rounds) == 4
    assert chooser.best == 2
    assert chooser.state["logits"].tolist() == [3, 0, 0, 0, 0]
    with np.load(tmp_path / "weights.npz") as stored:
        assert stored["logits"].tolist() == [3, 0, 0, 0, 0]
        assert len(json.loads(str(stored["about"]))["rounds"]) == 2


def test_the_larger_network_is_larger_and_learned_for_longer() -> None:
    smaller, larger = (load_tagger(kind)[1] for kind in ("with pairs", "larger"))
    assert larger["parameters"] > 2 * smaller["parameters"]
    runs = json.loads(COMPARED.read_text())["runs"]
    assert larger["epochs"] >= max(run["epochs"] for run in runs if run["kind"] == "with pairs")


def test_what_the_course_brings_for_jets_and_stars_is_small() -> None:
    data = COMPARED.parent
    names = ("jet*", "*particle_transformer*", "star*", "astromer*")
    assert sum(path.stat().st_size for name in names for path in data.glob(name)) < 6e6


def test_loading_draws_no_random_number() -> None:
    before = torch.random.get_rng_state()
    load_tagger()
    load_tagger("larger")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_kind_that_is_not_bundled_is_refused() -> None:
    with pytest.raises(ValueError, match="kind is 'deep set'; expected one of 'with pairs'"):
        load_tagger("deep set")


def test_the_comparison_is_described_and_adds_up() -> None:
    record = json.loads(COMPARED.read_text())
    told = COMPARED.with_suffix(".md").read_text(encoding="utf-8")
    runs = record["runs"]
    names = {*record, *(name for run in runs for name in run), *record["tried"][0]}
    assert [name for name in names if f"`{name}`" not in told] == []
    done = {(run["kind"], run["seed"], run["epochs"]) for run in runs}
    assert len(done) == len(runs)
    kinds = ("trees", "more trees", *TAGGERS)
    usual = {kind: min(run[2] for run in done if run[0] == kind) for kind in kinds}
    assert usual["with pairs"] == usual["without pairs"]
    longer = {(kind, seed, 2 * usual[kind]) for kind in kinds for seed in (0, 1)}
    tuned = {run for run in done if run[0] == "tuned trees"}
    assert done - tuned == longer | {(k, seed, usual[k]) for k in kinds for seed in range(5)}
    best = min(record["tried"], key=lambda each: each["loss"])["setting"]
    assert {rounds for _, _, rounds in tuned} == {best["trees"]}
    assert len(tuned) > 1
    for run in runs:
        counts = np.array(run["taken_for"])
        assert counts.sum(1).tolist() == torch.bincount(SIDES.test.label).tolist()
        assert counts.trace() / counts.sum() == pytest.approx(run["accuracy"], abs=1e-4)
        if "right" in run:
            packed = np.frombuffer(bytes.fromhex(run["right"]), np.uint8)
            right = torch.from_numpy(np.unpackbits(packed, count=len(SIDES.test))).bool()
            found = torch.bincount(SIDES.test.label[right])
            assert found.tolist() == counts.diagonal().tolist()


def test_the_runs_on_few_jets_are_described_and_all_there(monkeypatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    script = runpy.run_path(str(SCRIPTS / "compare_fine_tuning.py"))
    record = json.loads(script["RESULTS"].read_text())
    told = script["RESULTS"].with_suffix(".md").read_text(encoding="utf-8")
    runs = record["runs"]
    names = {*record, *(name for run in runs for name in run), "loss", "accuracy"}
    assert [name for name in names if f"`{name}`" not in told] == []
    wanted = [run for start in range(5) for run in script["wanted"](start)]
    assert sorted(map(script["place"], runs)) == sorted(map(script["place"], wanted))
    pair = torch.tensor([script["class_number"](record[name]) for name in ("new", "old")])
    there = {
        side: int(torch.isin(jets.label, pair).sum()) for side, jets in SIDES._asdict().items()
    }
    assert max(run["jets"] for run in runs) <= there["train"]
    for run in runs:
        for side in ("valid", "test"):
            right = run[side]["accuracy"] * there[side]
            assert right == pytest.approx(round(right), abs=0.06)
        if "steps" in run:
            a_round = math.ceil(run["jets"] / record["batch"])
            assert 0 <= run["epochs"] * a_round - run["steps"] < a_round
