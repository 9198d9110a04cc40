"""What lecture 13 says of numbers that tell jets apart and of what the trained network attends to.

make evidence N=13
"""

import copy
import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.stats import norm, rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.evidence import Row, compute, experiment
from course_lib.four_momenta import boosted_along_beam, mass_squared, measured
from course_lib.jet_substructure import SUBSTRUCTURE, jet_numbers
from course_lib.jet_tagging import (
    COMPARED,
    DISPLACED,
    SUMMARY,
    TAGGERS,
    DeepSet,
    Inputs,
    distances,
    fit_forest,
    jet_inputs,
    jet_summary,
    judged,
    kinds_alone,
    load_tagger,
    logits_of,
    rejection,
    train_tagger,
)
from course_lib.jets import CLASSES, DATA, FEATURES, IMPACT, Jets, class_number, load_jets
from course_lib.particle_transformer import ParticleTransformer, without_itself
from course_lib.training import seed

DOUBLE = {"dtype": torch.float64}


@cache
def jets() -> Any:
    """The jets to train on, to validate and to test with."""
    return load_jets()


def nats(logits: Tensor, label: Tensor) -> Tensor:
    """The cross-entropy of each jet."""
    return F.cross_entropy(logits, label.long(), reduction="none")


def mean_and_error(change: Tensor) -> list[float]:
    """The mean over jets, and its standard error."""
    return [change.mean().item(), (change.std() / math.sqrt(len(change))).item()]


# Numbers that tell jets apart ------------------------------------------------------------------


@experiment([{"rounds": 3}, {"rounds": 100}], within=0.02)
def growth(*, rounds: int) -> Row:
    """How many test jets boosted trees name rightly, by the numbers that they see."""
    train, test = jets().train, jets().test
    summary = {"train": jet_summary(train), "test": jet_summary(test)}
    answer = test.label
    options = {"max_iter": rounds, "learning_rate": 0.08, "random_state": 0}

    def trees_on(columns: list[str], share: float = 1.0) -> Tensor:
        chosen = [SUMMARY.index(name) for name in columns]
        trees = HistGradientBoostingClassifier(max_leaf_nodes=15, max_features=share, **options)
        trees.fit(summary["train"][:, chosen].numpy(), train.label.numpy())
        return torch.from_numpy(trees.predict_proba(summary["test"][:, chosen].numpy())).log()

    found, known = {}, []
    for name in ("mass", "particles", "ln D2", "displaced tracks"):
        known.append(name)
        found[f"growth_{name}".replace(" ", "_")] = judged(trees_on(known), answer).accuracy
    forest = fit_forest(train, trees=rounds)
    all_ten = torch.from_numpy(forest.predict_proba(summary["test"].numpy())).log()
    numbers = jet_numbers(train), jet_numbers(test)
    forest = fit_forest(train, summary=lambda _: numbers[0], trees=rounds)
    all_numbers = torch.from_numpy(forest.predict_proba(numbers[1].numpy())).log()
    direction = [
        torch.stack([ten[:, SUMMARY.index("pT")], measured(part.total).eta.abs()], 1).numpy()
        for ten, part in ((summary["train"], train), (summary["test"], test))
    ]
    blind = HistGradientBoostingClassifier(**options | {"max_iter": max(rounds // 2, 1)})
    blind.fit(direction[0], train.label.numpy())
    rest = [name for name in SUMMARY if name != "displaced tracks"]
    no_tracks = trees_on(rest, share=0.5)
    worse = nats(no_tracks, answer) - nats(all_ten, answer)
    return found | {
        "growth_all": judged(all_ten, answer).accuracy,
        "growth_all_numbers": judged(all_numbers, answer).accuracy,
        "growth_no_tracks": judged(no_tracks, answer).accuracy,
        "loss_all": judged(all_ten, answer).loss,
        "loss_no_tracks": judged(no_tracks, answer).loss,
        "worse_without_tracks": mean_and_error(worse),
        "leak": blind.score(direction[1], answer.numpy()),
        "all_count": len(SUMMARY) + len(SUBSTRUCTURE),
    }


@experiment([{"count": 200}, {"count": 8750}], within=0.01)
def medians(*, count: int) -> Row:
    """What is typical of the jets of each class, with the particles beyond the 48th and without."""
    some = jets().train[:count]
    summary = jet_summary(some)
    measures = {
        "mass": summary[:, SUMMARY.index("mass")],
        "particles": summary[:, SUMMARY.index("particles")],
        "displaced_tracks": summary[:, SUMMARY.index("displaced tracks")],
        "ln_D2": summary[:, SUMMARY.index("ln D2")],
    }
    with np.load(DATA) as stored:  # the masses as clustered, all particles among them
        measures["whole"] = torch.from_numpy(stored["axis"][:count, 3].astype(float))
    miss, own = some.d0.abs(), mass_squared(jets().test.momenta).sum(1)
    found = {
        "own_share": (own / mass_squared(jets().test.total)).mean().item(),
        "more_all": (some.size > 48).double().mean().item(),
    }
    for k, what in enumerate(CLASSES):
        its, called = some.label == k, what.replace(" ", "_")
        for name, value in measures.items():
            found[f"{name}_{called}"] = float(np.median(value[its]))
        spread = np.subtract(*np.quantile(measures["mass"][its], (0.75, 0.25)))
        far = miss[its[:, None] & (miss > DISPLACED)]
        found |= {
            f"spread_{called}": float(spread),
            f"more_{called}": (some.size > 48)[its].double().mean().item(),
            f"long_{called}": (far > 5).double().mean().item(),
            f"flat_{called}": (far > 3 * IMPACT).double().mean().item(),
        }
    # A hadron of mass m and momentum p flies γβcτ = (p / m) cτ on average; in GeV and mm.
    higgs = some.total[some.label == class_number("H to bb"), 1:].norm(dim=1).median().item()
    return found | {"b_momentum": higgs / 3, "b_flight": higgs / 3 / 5.28 * 0.45}


# What the network attends to -------------------------------------------------------------------


def logits_with(hook: Callable, inputs: Inputs) -> Tensor:
    """The logits where the hook changes what each particle block's attention is given."""
    tagger, _ = load_tagger()
    for block in tagger.blocks:
        block.attention.register_forward_pre_hook(hook, with_kwargs=True)
    return logits_of(tagger, inputs, batch=len(inputs.label))


def heard(some: Jets, inputs: Inputs, **other: Any) -> Iterator[Row]:
    """What each block's attention, the mean of its heads, gives to the others.

    With another bias in these scores alone, if one is given.
    """
    seen, far_apart = [], distances(some)

    def watch(layer: nn.Module, given: tuple, named: Row) -> None:
        seen.append(layer.weights(*given, **(named | other)).mean(1))

    logits_with(watch, inputs)
    for weights in seen:
        found = {name: [] for name in ("rise", "first", "near", "hard", "far")}
        for jet, N in enumerate(some.real.sum(1).tolist()):
            others = ~np.eye(N, dtype=bool)
            of_pairs = weights[jet], far_apart[jet], some.pt[jet].expand_as(far_apart[jet])
            w, apart, pt = (value.numpy()[:N, :N][others].reshape(N, N - 1) for value in of_pairs)
            rank, far = (rankdata(value, axis=1) for value in (w, apart))
            rank, far = (value - value.mean(1, keepdims=True) for value in (rank, far))
            rise = (rank * far).sum(1) / np.sqrt((rank**2).sum(1) * (far**2).sum(1))
            found["rise"].append(rise)
            found["first"].append(w.argmax(1) == apart.argmin(1))
            for name, value in (("near", -apart), ("hard", pt), ("far", apart)):
                third = rankdata(value, axis=1, method="ordinal") > 2 * (N - 1) / 3
                found[name].append((w * third).sum(1) / w.sum(1))
        yield {name: float(np.concatenate(value).mean()) for name, value in found.items()}


@experiment([{"count": 5}, {"count": 100}], within=0.01)
def attended(*, count: int) -> Row:
    """By block: how the weight rises with distance, and what the thirds of the others get."""
    some = jets().test[:count]
    inputs = jet_inputs(some)
    blocks = list(heard(some, inputs))
    by_name = {name: [found[name] for found in blocks] for name in blocks[0]}
    return by_name | {"rise_without_U": [it["rise"] for it in heard(some, inputs, bias=None)]}


def thirds(some: Jets) -> Iterator[tuple[str, Tensor]]:
    """Which others are the nearest third of what a particle may look at, and so on."""
    apart = distances(some)
    pt = some.pt.double()[:, None].expand_as(apart)
    others = some.real[:, :, None] & some.real[:, None] & ~torch.eye(apart.shape[1], dtype=bool)
    many = (some.real.sum(1) - 1)[:, None, None] // 3
    by_chance = torch.rand(apart.shape, generator=seed(0))
    for name, value in (
        *(("nearest", -apart), ("farthest", apart)),
        *(("softest", -pt), ("hardest", pt), ("random", by_chance)),
    ):
        least = value.masked_fill(~others, -math.inf)
        place = least.argsort(dim=2, descending=True, stable=True).argsort(dim=2)
        yield name, (place < many) & others


@experiment([{"count": 20}, {"count": 500}], within=0.01)
def blinded(*, count: int) -> Row:
    """By how much the loss rises where no particle may look at a third of the others, or itself."""
    some = jets().test[:count]
    inputs = jet_inputs(some)
    before = nats(logits_of(load_tagger()[0], inputs), some.label)
    rise = {}
    for name, third in thirds(some):

        def blind(_: nn.Module, given: tuple, named: Row, third: Tensor = third) -> tuple:
            return given, named | {"mask": named["mask"] & ~third[:, None]}

        rise[name] = nats(logits_with(blind, inputs), some.label) - before

    def not_itself(_: nn.Module, given: tuple, named: Row) -> tuple:
        itself = torch.eye(given[0].shape[1], dtype=torch.bool)
        return given, named | {"mask": named["mask"] & ~itself}

    rise["itself"] = nats(logits_with(not_itself, inputs), some.label) - before
    rise["hardest_beyond_farthest"] = rise["hardest"] - rise["farthest"]
    return {name: mean_and_error(change) for name, change in rise.items()}


# Is the count needed? --------------------------------------------------------------------------


def logits_and_mean(inputs: Inputs, model: nn.Module) -> tuple[Tensor, Tensor]:
    """The logits, and the average over particles of what leaves the last particle block."""
    vectors = []
    keep = model.blocks[-1].register_forward_hook(lambda *given: vectors.append(given[-1]))
    logits = logits_of(model, inputs)
    keep.remove()
    mean = (torch.cat(vectors) * inputs.real[..., None]).sum(1) / inputs.real.sum(1, keepdim=True)
    return logits, mean


@torch.no_grad()
def weight_on_itself(tagger: nn.Module, inputs: Inputs) -> Tensor:
    """What the class token gives to itself in the first class block, by head."""
    return tagger.class_weights(inputs.features, inputs.pairs, real=inputs.real)[0][..., 0]


def told_by_line(asked: Tensor, number: Tensor, given: Tensor, known: Tensor) -> float:
    """The share of the number's variance that a line tells, fitted to other jets."""
    asked, given = (F.pad(x.double(), (0, 1), value=1.0) for x in (asked, given))
    line = torch.linalg.lstsq(given, known, driver="gelsd").solution
    return 1 - ((number - asked @ line).var() / number.var()).item()


@experiment([{"count": 100}, {"count": 2500}], within=0.02)
def counting(*, count: int) -> Row:
    """What the class token gives to itself, and what becomes of the answers if that is held."""
    tagger, _ = load_tagger()
    test, valid = jets().test[:count], jets().valid[:count]
    every, learned = jet_inputs(test), jet_inputs(valid)
    first = jet_inputs(test[:400])
    weight = weight_on_itself(tagger, first)
    by_count = [np.corrcoef(first.real.sum(1), weight[:, head])[0, 1] for head in range(4)]
    usual = weight.mean(0)[:, None, None]
    seed(0)
    untrained = TAGGERS["with pairs"][0]().standardized_like(
        learned.features, learned.pairs, real=learned.real
    )
    fresh = weight_on_itself(untrained.eval(), first)
    many = first.real.sum(1)
    alone = (1 / (many + 1))[:, None]

    def held(attention: nn.Module, inputs: tuple, given: Row) -> tuple:
        # What is added to the token's score on itself brings its weight to the mean of 400 jets.
        own = attention.weights(*inputs, **given)[..., :1]
        others = torch.zeros(*own.shape[:-1], inputs[1].shape[-2] - 1)
        return inputs, given | {"bias": torch.cat([usual.logit() - own.logit(), others], -1)}

    eta = measured(boosted_along_beam(test.momenta, 0.5)).eta
    moved = dataclasses.replace(test, eta=torch.where(test.real, eta, 0).float())
    free, mean_asked = logits_and_mean(every, tagger)
    _, mean_learned = logits_and_mean(learned, tagger)
    changed = logits_of(tagger, jet_inputs(moved)).argmax(1) != free.argmax(1)
    fixed_tagger = copy.deepcopy(tagger)
    fixed_tagger.class_blocks[0].attention.register_forward_pre_hook(held, with_kwargs=True)
    now = weight_on_itself(fixed_tagger, first)
    fixed = logits_of(fixed_tagger, every)
    rise = nats(fixed, every.label) - nats(free, every.label)
    of = {name: every.label == class_number(name) for name in CLASSES}
    of["all"] = torch.ones_like(every.label, dtype=torch.bool)

    def pairs_told(logits: Tensor) -> float:
        # In how many pairs of a quark and a gluon jet the quark has the higher score (the AUC).
        score = logits[:, class_number("quark")] - logits[:, class_number("gluon")]
        return (score[of["quark"]][:, None] > score[of["gluon"]]).double().mean().item()

    def mean_features(inputs: Inputs) -> Tensor:
        kept = inputs.features * inputs.real[..., None]
        return kept.sum(1) / inputs.real.sum(1, keepdim=True)

    def one_hot(inputs: Inputs) -> Tensor:
        return F.one_hot(inputs.label.long(), len(CLASSES))

    number, known = (each.real.sum(1, keepdim=True).double() for each in (every, learned))
    lines = {
        "class": (one_hot(every), one_hot(learned)),
        "features": (mean_features(every), mean_features(learned)),
        "untrained": [logits_and_mean(each, untrained)[1] for each in (every, learned)],
        "explained": (mean_asked, mean_learned),
    }
    explained = {
        f"count_{name}": told_by_line(asked, number, given, known)
        for name, (asked, given) in lines.items()
    }
    of_pt = every.features[..., FEATURES.index("ln pT/pT(jet)")].double().exp() * every.real
    guessed = number / of_pt.sum(1, keepdim=True)
    return explained | {
        "count_shares": 1 - ((number - guessed).var() / number.var()).item(),
        "count_full": (number == every.real.shape[1]).double().mean().item(),
        "feature_count": every.features.shape[-1],
        "on_itself": weight.mean(0).tolist(),
        "by_count": [float(value) for value in by_count],
        "by_count_untrained": [np.corrcoef(many, it)[0, 1].item() for it in fresh.T],
        "untrained_from_equal": (fresh - alone).abs().max().item(),
        "held_apart": (now - usual[:, 0, 0]).abs().max().item(),
        "boost_changes": int(changed.sum()),
        "loss": [judged(each, every.label).loss for each in (free, fixed)],
        "auc": [pairs_told(each) for each in (free, fixed)],
        **{f"held_{name}".replace(" ", "_"): mean_and_error(rise[its]) for name, its in of.items()},
    }


@experiment()
def beside_itself() -> Row:
    """How far attention is from e^u/(e^u + N − 1) on a particle among N equal ones."""
    layer = copy.deepcopy(load_tagger()[0]).double().blocks[0].attention
    extra, apart = torch.tensor(1.5, **DOUBLE), []
    for N in (2, 8, 48):
        alike = torch.randn(1, 1, layer.query.in_features, generator=seed(0), **DOUBLE)
        itself = torch.eye(N, **DOUBLE)
        given = layer.weights(alike.expand(1, N, -1), bias=extra * itself)[0]
        given = given.diagonal(dim1=1, dim2=2)
        apart.append((given - extra.exp() / (extra.exp() + N - 1)).abs().max().item())
    return {"apart": max(apart)}


@experiment(
    [{"start": 0, "epochs": 1}, *({"start": start, "epochs": 4} for start in range(5))],
    within=0.05,
)
def who_counts(*, start: int, epochs: int) -> Row:
    """Quark or gluon by kinds of particles: a token that sees itself, one that does not, a sum."""
    learned, asked = kinds_alone(jets().train), kinds_alone(jets().test)
    makers = {
        "outside": lambda: without_itself(ParticleTransformer(2, 16, 2, 1, 1)),
        "inside": lambda: ParticleTransformer(2, 16, 2, 1, 1),
        "sum": lambda: DeepSet(2, d_hidden=32),
    }
    found = {}
    for name, make in makers.items():
        seed(start)
        model = make().standardized_like(learned.features, real=learned.real)
        train_tagger(model, learned, epochs=epochs, seed=start, progress=False)
        found[f"right_{name}"] = judged(logits_of(model, asked), asked.label).accuracy
    many, others = (it.real.sum(1) for it in (learned, asked))
    rule = max(range(1, 48), key=lambda k: ((many > k) == learned.label).double().mean())
    right = ((others > rule) == asked.label).double().mean().item()
    return found | {"rule": rule, "right_rule": right}


@experiment([{"count": 50}, {"count": 2500}], within=0.02)
def fewer(*, count: int) -> Row:
    """How many test jets the network names rightly from their hardest particles alone."""
    tagger, test = load_tagger()[0], jets().test[:count]
    found = {}
    for many in (4, 8, 16, 24, 32):
        kept = test.hardest(many)
        kept = dataclasses.replace(kept, size=kept.real.sum(1))
        found[f"of_{many}"] = judged(logits_of(tagger, jet_inputs(kept)), test.label).accuracy
    return found


# The larger network and its rivals -------------------------------------------------------------


def mcnemar(ours: Tensor, theirs: Tensor) -> list[float]:
    """Jets that only one of two names rightly, and the difference in units of chance."""
    only_ours, only_theirs = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    either = max(only_ours + only_theirs, 1)
    return [only_ours, only_theirs, (only_ours - only_theirs) / math.sqrt(either)]


TIMES = ("", "twice_", "thrice_")


@experiment()
def compared() -> Row:
    """Of each learner, a number a seed, as trained and after twice the rounds; pairs of answers."""
    kept = json.loads(COMPARED.read_text())
    found, runs = {"tried": len(kept["tried"])}, {}
    for run in sorted(kept["runs"], key=lambda run: (run["kind"], run["epochs"], run["seed"])):
        runs.setdefault(run["kind"], {}).setdefault(run["epochs"], []).append(run)
    for kind, by_epochs in runs.items():
        name = kind.replace(" ", "_")
        for when, (epochs, own) in zip(TIMES, by_epochs.items(), strict=False):
            found |= {
                f"{when}epochs_{name}": epochs,
                f"{when}right_{name}": [100 * run["accuracy"] for run in own],
                f"{when}loss_{name}": [run["loss"] for run in own],
                f"{when}seconds_{name}": [run["processor_seconds"] for run in own],
            }
    label = jets().test.label

    def right_ones(kind: str, longer: int) -> Tensor:
        # Which test jets the run of the first seed named rightly: a bit for each.
        run = next(run for run in [*runs[kind].values()][longer] if run["seed"] == 0)
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(run["right"]), np.uint8))
        return torch.from_numpy(bits[: len(label)].astype(bool))

    ours = right_ones("with pairs", 1)
    found["only_deep_set"] = mcnemar(ours, right_ones("deep set", 1))
    found["only_more_trees"] = mcnemar(ours, right_ones("more trees", 0))
    # With more jets a lead grows as their number, chance as its root.
    sure = found["only_deep_set"][2]
    for power in (0.5, 0.8):
        needed = [
            ((norm.ppf(0.975) + norm.ppf(power)) / lead) ** 2 * len(label)
            for lead in (sure + 1, sure, sure - 1)
        ]
        found[f"needed_{100 * power:.0f}"] = needed
    parameters = {run["parameters"] for own in runs["with pairs"].values() for run in own}
    return found | {"parameters": parameters.pop()}


def mean_of(*answers: Tensor) -> Tensor:
    """The logarithm of the mean of probabilities."""
    return torch.stack([found.double().softmax(1) for found in answers]).mean(0).log()


def passed_in(logits: Tensor, wanted: str, others: tuple[str, ...], chosen: np.ndarray) -> Any:
    """How many background jets pass in each resample, where half of its signal jets do."""
    label = jets().test.label
    rest = [class_number(name) for name in others]
    score = (logits[:, class_number(wanted)] - logits[:, rest].logsumexp(1)).numpy()[chosen]
    is_signal = (label == class_number(wanted)).numpy()[chosen]
    is_rest = torch.isin(label, torch.tensor(rest)).numpy()[chosen]
    cut = np.nanmedian(np.where(is_signal, score, np.nan), axis=1, keepdims=True)
    return ((score > cut) & is_rest).sum(1)


@cache
def by_trees(learned: int, rounds: int) -> dict[str, Tensor]:
    """What boosted trees say of the test jets: on two numbers, ten and all, and told 48 at most."""
    train, test = jets().train[:learned], jets().test
    tried = json.loads(COMPARED.read_text())["tried"]
    setting = min(tried, key=lambda it: it["loss"])["setting"]
    setting |= {"trees": min(rounds, setting["trees"])}
    every = jet_numbers(train), jet_numbers(test)
    untold = [numbers.clone() for numbers in every]
    for numbers in untold:
        numbers[:, SUMMARY.index("particles")].clamp_(max=48)

    def say(numbers: tuple | list, **setting: Any) -> Tensor:
        forest = fit_forest(train, summary=lambda _: numbers[0], **setting)
        return torch.from_numpy(forest.predict_proba(numbers[1].numpy())).log()

    two = [SUMMARY.index(name) for name in ("mass", "particles")]
    usual = {"trees": min(rounds, 100)}
    return {
        "mass_number": say([numbers[:, two] for numbers in every], share=1.0, **usual),
        "ten_numbers": say([numbers[:, : len(SUMMARY)] for numbers in every], **usual),
        "tuned_trees": say(every, **setting),
        "untold": say(untold, **setting),
    }


@experiment(
    [
        {"learned": 500, "rounds": 2, "many": 20},
        {"learned": 8750, "rounds": 250, "many": 1000},
    ],
    within=0.05,
)
def verdict(*, learned: int, rounds: int, many: int) -> Row:
    """The larger network beside its rivals, all judged by the same test jets, and by resamples."""
    test, valid = jets().test, jets().valid
    asked, every = jet_inputs(valid), jet_inputs(test)
    models = {"first": load_tagger()[0], "larger": load_tagger("larger")[0]}
    said = {name: logits_of(model, asked).double() for name, model in models.items()}
    answers = {name: logits_of(model, every).double() for name, model in models.items()}
    answers |= by_trees(learned, rounds)
    # The temperature at which the larger network has the lowest loss on the validation jets.
    at = min(
        np.linspace(0.5, 2, 61),
        key=lambda at: nats(said["larger"] / at, valid.label).mean().item(),
    )
    answers |= {
        "calibrated": answers["larger"] / at,
        "both": mean_of(answers["larger"], answers["tuned_trees"]),
        "alike": mean_of(answers["larger"], answers["untold"]),
        "networks": mean_of(answers["larger"], answers["first"]),
    }
    right = {name: logits.argmax(1) == test.label for name, logits in answers.items()}
    gain = nats(said["first"], valid.label) - nats(said["larger"], valid.label)
    found = {"temperature": float(at), "valid_gain": mean_and_error(gain)}
    for name, logits in answers.items():
        of_each = nats(logits, test.label)
        found[f"loss_{name}"] = of_each.mean().item()
        found[f"right_{name}"] = right[name].double().mean().item()
        by_class = [right[name][test.label == k].double().mean().item() for k in range(5)]
        found[f"by_class_{name}"] = by_class
        found[f"larger_below_{name}"] = mean_and_error(
            of_each - nats(answers["larger"], test.label)
        )
        found[f"both_below_{name}"] = mean_and_error(of_each - nats(answers["both"], test.label))
        found[f"only_{name}"] = mcnemar(right["larger"], right[name]) if name != "larger" else []
        if name != "both":
            found[f"both_only_{name}"] = mcnemar(right["both"], right[name])
    chosen = np.random.default_rng(0).integers(len(test.label), size=(many, len(test.label)))
    judges = ("mass_number", "ten_numbers", "tuned_trees", "larger")
    for wanted, others in (("W", ("quark", "gluon")), ("quark", ("gluon",))):
        passed = {name: passed_in(answers[name], wanted, others, chosen) for name in judges}
        given = {"signal": wanted, "background": others}
        found[f"background_{wanted}"] = sum(
            int((test.label == class_number(k)).sum()) for k in others
        )
        for name in judges:
            found[f"rejection_{wanted}_{name}"] = rejection(answers[name], test.label, **given)
            found[f"curve_{wanted}_{name}"] = [
                rejection(answers[name], test.label, efficiency=float(e), **given)
                for e in np.linspace(0.2, 0.98, 40)
            ]
            times = (passed[name] + 0.5) / (passed["larger"] + 0.5)
            found[f"times_{wanted}_{name}"] = np.quantile(times, (0.025, 0.975)).tolist()
    return found


# Few jets --------------------------------------------------------------------------------------

LEARNERS = {
    "from scratch": "scratch",
    "fine-tuned": "tuned",
    "forest of mass": "forest_mass",
    "forest": "forest_ten",
    "more forest": "forest_all",
    "trees": "trees_ten",
    "more trees": "trees_all",
}


@experiment([{"count": count} for count in (100, 300, 1000, 3000)])
def few_jets(*, count: int) -> Row:
    """By learner, a number a seed: the test jets told rightly and the loss, as validation chose."""
    tuning = json.loads(COMPARED.with_name("jet_fine_tuning.json").read_text())
    runs = [run for run in tuning["runs"] if run["jets"] == count]
    pair = torch.tensor([class_number(tuning[name]) for name in ("new", "old")])
    most = max(run.get("steps", 0) for run in runs)
    found = {
        "particles": tuning["particles"],
        "seeds": len({run["seed"] for run in runs}),
        "valid": int(torch.isin(jets().valid.label, pair).sum()),
        "train": int(torch.isin(jets().train.label, pair).sum()),
        "most_steps": most,
        "most_rounds": max(run.get("epochs", 0) for run in runs),
    }
    judges = {
        "": lambda run: run["valid"]["loss"],
        "_by_accuracy": lambda run: (-run["valid"]["accuracy"], run["valid"]["loss"]),
    }
    for kind, name in LEARNERS.items():
        own = [run for run in runs if run["kind"] == kind]
        for by, judge in judges.items():
            chosen = [
                min((run for run in own if run["seed"] == start), key=judge)
                for start in range(found["seeds"])
            ]
            found[f"right_{name}{by}"] = [100 * run["test"]["accuracy"] for run in chosen]
            if not by:
                found[f"loss_{name}"] = [run["test"]["loss"] for run in chosen]
            if not by and "steps" in own[0]:
                found[f"steps_{name}"] = [run["steps"] for run in chosen]
                found[f"rounds_{name}"] = [run["epochs"] for run in chosen]
                longest = [run["test"]["loss"] for run in own if run["steps"] == most]
                found[f"longest_{name}"] = longest
    return found


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
