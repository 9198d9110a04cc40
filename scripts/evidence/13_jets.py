"""Evidence of lecture 13: numbers that distinguish jets, attention, and taggers compared.

make evidence N=13
"""

import copy
import dataclasses
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import QuantileTransformer
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.jets import (
    CLASSES,
    FEATURES,
    IMPACT,
    PARTICLES,
    SUMMARY,
    Jets,
    ParticleTransformer,
    boosted_along_beam,
    class_number,
    delta_r,
    jet_numbers,
    jet_summary,
    mass_squared,
    measured,
    without_itself,
)
from course_lib.jets.substructure import DISPLACED, SUBSTRUCTURE, distances
from course_lib.models.stored import DATA, contents
from course_lib.models.tagging import (
    TAGGERS,
    DeepSet,
    Evaluation,
    Inputs,
    evaluate,
    fit_forest,
    jet_inputs,
    kinds_alone,
    load_jets,
    load_tagger,
    logits_of,
    rejection,
    train_tagger,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, one_cycle, seed


@cache
def jets() -> Any:
    """The training, validation and test jets."""
    return load_jets()


@cache
def numbers(side: str, count: int) -> Tensor:
    """All observables of the first jets of a side, from the 48 particles that networks see."""
    some = getattr(jets(), side)[:count]
    return jet_numbers(dataclasses.replace(some, size=some.valid.sum(dim=1)))


def nats(logits: Tensor, label: Tensor) -> Tensor:
    """The cross-entropy of each jet."""
    return F.cross_entropy(logits, label.long(), reduction="none")


def mean_of(values: Any) -> Row:
    """The mean over jets or over seeds, and its standard error."""
    values = np.asarray(values, dtype=float)
    return {"mean": values.mean(), "error": values.std(ddof=1) / math.sqrt(len(values))}


def trees_say(jets: Jets, known: Tensor, asked: Tensor, **setting: Any) -> Tensor:
    """The log probabilities that boosted trees give to jets, from numbers of each jet."""
    forest = fit_forest(jets, summary=lambda _: known, **setting)
    return torch.from_numpy(forest.predict_proba(asked.numpy())).log()


def mean_over_particles(each: Tensor, valid: Tensor) -> Tensor:
    """The mean over the valid particles of each jet."""
    return (each * valid[..., None]).sum(1) / valid.sum(1, keepdim=True)


def plain(name: str) -> str:
    """A name without blanks."""
    return name.replace(" ", "_")


# Numbers that distinguish jets -------------------------------------------------------------------


@experiment(
    [
        {"learned": 500, "tested": 100, "rounds": 3},
        {"learned": 8750, "tested": 2500, "rounds": 100},
    ],
    within=0.02,
)
def growth(*, learned: int, tested: int, rounds: int) -> Row:
    """The test accuracy of boosted trees, by the numbers that they are given."""
    train, test = jets().train[:learned], jets().test[:tested]
    given, asked = numbers("train", learned), numbers("test", tested)

    def trees_on(columns: list[int], share: float = 1.0) -> Evaluation:
        on = given[:, columns], asked[:, columns]
        return evaluate(trees_say(train, *on, trees=rounds, share=share), test.label)

    found, seen = {}, []
    for name in ("mass", "particles", "ln D2", "displaced tracks"):
        seen.append(SUMMARY.index(name))
        found[f"growth_{plain(name)}"] = trees_on(seen).accuracy
    ten = [*range(len(SUMMARY))]
    no_tracks = [k for k in ten if SUMMARY[k] != "displaced tracks"]
    for name, columns in (
        ("ten", ten),
        ("no_tracks", no_tracks),
        ("all", [*range(given.shape[1])]),
    ):
        result = trees_on(columns, share=0.5)
        found |= {f"growth_{name}": result.accuracy, f"growth_loss_{name}": result.loss}
    direction = [
        torch.stack([jets_of.total[:, 1:3].norm(dim=1), measured(jets_of.total).eta.abs()], 1)
        for jets_of in (train, test)
    ]
    blind = HistGradientBoostingClassifier(max_iter=max(rounds // 2, 1), random_state=0)
    blind.fit(direction[0].numpy(), train.label.numpy())
    leak = blind.score(direction[1].numpy(), test.label.numpy())
    return found | {"leak": leak, "all_count": len(SUMMARY) + len(SUBSTRUCTURE)}


@experiment([{"count": 200}, {"count": 8750}], within=0.01)
def medians(*, count: int) -> Row:
    """Medians of the jets of each class, with the particles beyond the 48th and without."""
    some = jets().train[:count]
    summary = jet_summary(some)
    named = ("mass", "particles", "displaced tracks", "ln D2")
    measures = {plain(name): summary[:, SUMMARY.index(name)] for name in named}
    # The masses as clustered, all particles among them.
    measures["whole"] = contents("jets.npz")["axis"][:count, 3].double()
    miss, own = some.d0.abs(), mass_squared(jets().test.momenta).sum(1)
    found = {
        "own_share": (own / mass_squared(jets().test.total)).mean().item(),
        "more_all": (some.size > 48).double().mean().item(),
    }
    for k, what in enumerate(CLASSES):
        its, called = some.label == k, plain(what)
        for name, value in measures.items():
            found[f"{name}_{called}"] = float(np.median(value[its]))
        spread = np.subtract(*np.quantile(measures["mass"][its], (0.75, 0.25)))
        far = miss[its[:, None] & (miss > DISPLACED)]
        found |= {
            f"spread_{called}": float(spread),
            f"more_{called}": (some.size > 48)[its].double().mean().item(),
            f"flat_{called}": (far > 3 * IMPACT).double().mean().item(),
        }
    found["count_ratio"] = found["particles_gluon"] / found["particles_quark"]
    # A hadron of mass m and momentum p flies γβcτ = (p / m) cτ on average; in GeV and mm.
    higgs = some.total[some.label == class_number("H to bb"), 1:].norm(dim=1).median().item()
    return found | {"b_momentum": higgs / 3, "b_flight": higgs / 3 / 5.28 * 0.45}


@experiment([{"count": 10}, {"count": 40}], within=0.01)
def pseudorapidities(*, count: int) -> Row:
    """How differences of pseudorapidity of charged hadrons change if a jet is boosted by s = 1."""
    some = jets().test[:count]
    hadron = some.kind == PARTICLES.index("charged hadron")
    pairs = (hadron[:, :, None] & hadron[:, None, :]).triu(1)
    shift = measured(boosted_along_beam(some.momenta, 1.0)).eta - measured(some.momenta).eta
    change = (shift[:, :, None] - shift[:, None, :])[pairs].abs()
    apart = delta_r(some.momenta[:, :, None], some.momenta[:, None, :])[pairs]
    return {
        "eta_change_largest": change.max().item(),
        "eta_change_median": change.median().item(),
        "eta_typical": apart.median().item(),
    }


# What the network attends to -------------------------------------------------------------------


def logits_with(hook: Callable, inputs: Inputs) -> Tensor:
    """The logits if the hook changes the inputs of the attention in each particle block."""
    tagger, _ = load_tagger()
    for block in tagger.blocks:
        block.attention.register_forward_pre_hook(hook, with_kwargs=True)
    return logits_of(tagger, inputs, batch=len(inputs.label))


def heard(some: Jets, inputs: Inputs, **other: Any) -> Iterator[Row]:
    """Statistics of each block's attention to other particles, averaged over heads.

    ``other`` replaces arguments of the attention, such as its bias.
    """
    seen, far_apart = [], distances(some)

    def watch(layer: nn.Module, given: tuple, named: Row) -> None:
        seen.append(layer.weights(*given, **(named | other)).mean(1))

    logits_with(watch, inputs)
    for weights in seen:
        found = {name: [] for name in ("rise", "first", "near", "hard", "far")}
        for jet, N in enumerate(some.valid.sum(1).tolist()):
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
    """By block: how the weight depends on distance, and the weight of thirds of the others."""
    some = jets().test[:count]
    inputs = jet_inputs(some)
    blocks = list(heard(some, inputs))
    found = {name: [block[name] for block in blocks] for name in blocks[0]}
    deaf = [block["rise"] for block in heard(some, inputs, bias=None)]
    return found | {
        "far_least": min(found["rise"]),
        "far_most": max(found["rise"]),
        "deaf_least": min(deaf),
        "deaf_most": max(deaf),
        "nearest_first": max(found["first"]),
    }


def thirds(some: Jets) -> Iterator[tuple[str, Tensor]]:
    """For each particle the nearest third of the others, and so on, as masks."""
    apart = distances(some)
    pt = some.pt.double()[:, None].expand_as(apart)
    others = some.valid[:, :, None] & some.valid[:, None] & ~torch.eye(apart.shape[1], dtype=bool)
    many = (some.valid.sum(1) - 1)[:, None, None] // 3
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
    """The rise of the loss if particles cannot attend to a third of the others or themselves."""
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
    found = {f"without_{name}": mean_of(change) for name, change in rise.items()}
    return found | {"hardest_beyond_farthest": mean_of(rise["hardest"] - rise["farthest"])}


# The number of particles -------------------------------------------------------------------------


def logits_and_mean(inputs: Inputs, model: nn.Module) -> tuple[Tensor, Tensor]:
    """The logits, and the mean over particles of the output of the last particle block."""
    vectors = []
    keep = model.blocks[-1].register_forward_hook(lambda *given: vectors.append(given[-1]))
    logits = logits_of(model, inputs)
    keep.remove()
    return logits, mean_over_particles(torch.cat(vectors), inputs.valid)


@torch.no_grad()
def weight_on_itself(tagger: nn.Module, inputs: Inputs) -> Tensor:
    """The weight of the class token on itself in the first class block, by head."""
    return tagger.class_weights(inputs.features, inputs.pairs, valid=inputs.valid)[0][..., 0]


def told_by_line(asked: Tensor, number: Tensor, given: Tensor, known: Tensor) -> float:
    """The share of the number's variance that a linear fit to other jets explains."""
    asked, given = (F.pad(x.double(), (0, 1), value=1.0) for x in (asked, given))
    line = torch.linalg.lstsq(given, known, driver="gelsd").solution
    return 1 - ((number - asked @ line).var() / number.var()).item()


@experiment([{"count": 100}, {"count": 2500}], within=0.02)
def counting(*, count: int) -> Row:
    """The weight of the class token on itself, and the effect of holding it constant."""
    tagger, _ = load_tagger()
    test, validation = jets().test[:count], jets().valid[:count]
    every, learned = jet_inputs(test), jet_inputs(validation)
    first = jet_inputs(test[:400])
    seed(0)
    untrained = TAGGERS["with pairs"][0]().standardized_like(
        learned.features, learned.pairs, valid=learned.valid
    )
    weight, fresh = (weight_on_itself(it.eval(), first) for it in (tagger, untrained))
    many = first.valid.sum(1)
    by_count, by_count_fresh = (
        [np.corrcoef(many, head)[0, 1].item() for head in it.T] for it in (weight, fresh)
    )
    usual = weight.mean(0)[:, None, None]

    def held(attention: nn.Module, inputs: tuple, given: Row) -> tuple:
        # This bias on the token's own score sets its weight to the mean over 400 jets.
        own = attention.weights(*inputs, **given)[..., :1]
        others = torch.zeros(*own.shape[:-1], inputs[1].shape[-2] - 1)
        return inputs, given | {"bias": torch.cat([usual.logit() - own.logit(), others], -1)}

    fixed_tagger = copy.deepcopy(tagger)
    fixed_tagger.class_blocks[0].attention.register_forward_pre_hook(held, with_kwargs=True)
    now = weight_on_itself(fixed_tagger, first)
    free, mean_asked = logits_and_mean(every, tagger)
    fixed = logits_of(fixed_tagger, every)
    number, known = (each.valid.sum(1, keepdim=True).double() for each in (every, learned))
    fresh_asked, fresh_learned = (logits_and_mean(each, untrained)[1] for each in (every, learned))
    of_pt = every.features[..., FEATURES.index("ln pT/pT(jet)")].double().exp() * every.valid
    by_shares = number / of_pt.sum(1, keepdim=True)
    eta = measured(boosted_along_beam(test.momenta, 0.5)).eta
    moved = dataclasses.replace(test, eta=torch.where(test.valid, eta, 0).float())
    changed = logits_of(tagger, jet_inputs(moved)).argmax(1) != free.argmax(1)
    return {
        "token_least": weight.mean(0).min().item(),
        "token_most": weight.mean(0).max().item(),
        "by_count": by_count,
        "count_correlation": min(by_count),
        "fresh_least": max(by_count_fresh),
        "fresh_most": min(by_count_fresh),
        "fresh_apart": (fresh - 1 / (many[:, None] + 1)).abs().max().item(),
        "held_apart": (now - usual[:, 0, 0]).abs().max().item(),
        "count_free": evaluate(free, every.label).loss,
        "held_rise": mean_of(nats(fixed, every.label) - nats(free, every.label)),
        "told_untrained": told_by_line(fresh_asked, number, fresh_learned, known),
        "told_trained": told_by_line(
            mean_asked, number, logits_and_mean(learned, tagger)[1], known
        ),
        "told_shares": 1 - ((number - by_shares).var() / number.var()).item(),
        "boost_changes": int(changed.sum()),
        "feature_count": every.features.shape[-1],
    }


@experiment([{"starts": 2, "rounds": 1}, {"starts": 5, "rounds": 4}], within=0.05)
def who_counts(*, starts: int, rounds: int) -> Row:
    """Quark or gluon by kinds of particles: a token that attends to itself, one not, a sum."""
    learned, asked = kinds_alone(jets().train), kinds_alone(jets().test)
    if rounds == 1:
        learned = learned.some(slice(600))
    makers = {
        "outside": lambda: without_itself(ParticleTransformer(2, 16, 2, 1, 1)),
        "inside": lambda: ParticleTransformer(2, 16, 2, 1, 1),
        "sum": lambda: DeepSet(2, d_hidden=32),
    }
    found = {name: [] for name in makers}
    for name, make in makers.items():
        for start in range(starts):
            seed(start)
            model = make().standardized_like(learned.features, valid=learned.valid)
            train_tagger(model, learned, epochs=rounds, seed=start, progress=False)
            found[name].append(evaluate(logits_of(model, asked), asked.label).accuracy)
    averages = [mean_over_particles(it.features, it.valid) for it in (learned, asked)]
    trees = HistGradientBoostingClassifier(max_leaf_nodes=15, random_state=0)
    trees.fit(averages[0].numpy(), learned.label.numpy())
    many, others = (it.valid.sum(1) for it in (learned, asked))
    most = max(range(1, 48), key=lambda k: ((many > k) == learned.label).double().mean())
    return found | {
        "averages_right": trees.score(averages[1].numpy(), asked.label.numpy()),
        "rule_right": ((others > most) == asked.label).double().mean().item(),
        "always_quark": (asked.label == 0).double().mean().item(),
    }


@experiment(
    [{"learned": 400, "tested": 50, "rounds": 2}, {"learned": 8750, "tested": 2500, "rounds": 100}],
    within=0.02,
)
def fewer(*, learned: int, tested: int, rounds: int) -> Row:
    """Accuracies on jets cut to some of their particles: the network and boosted trees.

    The network was trained on whole jets, the trees on jets cut in the same way.
    """
    tagger, train, test = load_tagger()[0], jets().train[:learned], jets().test[:tested]

    def cut(some: Jets, first: int, last: int) -> Jets:
        names = ("pt", "eta", "phi", "kind", "charge", "d0", "dz")
        kept = {name: getattr(some, name)[:, first:last] for name in names}
        return dataclasses.replace(some, size=(kept["pt"] > 0).sum(1), **kept)

    found = {"of_48": evaluate(logits_of(tagger, jet_inputs(test)), test.label).accuracy}
    places = {f"of_{many}": (0, many) for many in (4, 8, 16, 32)}
    places |= {f"without_first_{many}": (many, 48) for many in (1, 4)}
    for name, place in places.items():
        known, asked = cut(train, *place), cut(test, *place)
        found[name] = evaluate(logits_of(tagger, jet_inputs(asked)), asked.label).accuracy
        chances = trees_say(known, jet_numbers(known), jet_numbers(asked), trees=rounds)
        found[f"trees_{name}"] = evaluate(chances, asked.label).accuracy
    return found


# Taggers compared --------------------------------------------------------------------------------

RIVALS = ("trees", "more trees", "tuned trees", "deep set", "without pairs", "with pairs")


@experiment()
def compared() -> Row:
    """Results of scripts/data/compare_jet_models.py, and differences of models by seed."""
    kept = json.loads((DATA / "jet_models.json").read_text())
    found, runs = {"tried_count": len(kept["tried"])}, {}
    for run in sorted(kept["runs"], key=lambda run: (run["epochs"], run["seed"])):
        runs.setdefault(run["kind"], {}).setdefault(run["epochs"], []).append(run)
    right, loss = {}, {}
    for kind in RIVALS:
        own, *_ = runs[kind].values()
        right[kind] = np.array([100 * run["accuracy"] for run in own])
        loss[kind] = np.array([run["loss"] for run in own])
        name = plain(kind)
        found |= {
            f"right_{name}": right[kind].tolist(),
            f"loss_{name}": loss[kind].tolist(),
            f"seconds_{name}": float(np.mean([run["processor_seconds"] for run in own])),
            f"rounds_{name}": own[0]["epochs"],
        }
    for rival in ("more trees", "deep set", "without pairs"):
        name = plain(rival)
        found[f"pairs_ahead_of_{name}"] = mean_of(right["with pairs"] - right[rival])
        found[f"{name}_below_pairs"] = mean_of(loss["with pairs"] - loss[rival])
    for kind in ("deep set", "without pairs", "with pairs"):
        _, longer, *_ = runs[kind].values()
        found[f"twice_{plain(kind)}"] = [run["loss"] for run in longer]
    seconds = {kind: found[f"seconds_{plain(kind)}"] for kind in RIVALS}
    (longest,) = runs["with pairs"][24]
    return found | {
        "pairs_below_without_pairs": mean_of(loss["without pairs"] - loss["with pairs"]),
        "right_error": max(mean_of(each)["error"] for each in right.values()),
        "loss_error": max(mean_of(each)["error"] for each in loss.values()),
        "pairs_cost": seconds["with pairs"] / seconds["without pairs"] - 1,
        "set_cost": seconds["deep set"] / seconds["with pairs"],
        "thrice_with_pairs": longest["loss"],
    }


@experiment([{"seeds": 1, "rounds": 4}, {"seeds": 2, "rounds": 200}], within=0.02)
def longer_trees(*, seeds: int, rounds: int) -> Row:
    """Boosted trees with twice the rounds at half the rate, on ten numbers and on all."""
    train, test = (jets().train[:1000], jets().test[:500]) if rounds < 10 else jets()[::2]
    known, asked = numbers("train", len(train)), numbers("test", len(test))
    found = {"twice_trees": [], "twice_more_trees": []}
    for name, columns in (("twice_trees", len(SUMMARY)), ("twice_more_trees", known.shape[1])):
        for start in range(seeds):
            given = known[:, :columns], asked[:, :columns]
            setting = {"seed": start, "trees": rounds, "learning_rate": 0.04}
            found[name].append(evaluate(trees_say(train, *given, **setting), test.label).loss)
    return found


def by_perceptron(learned: int, tested: int, epochs: int, start: int) -> Tensor:
    """The logits of a perceptron with two hidden layers on all jet observables."""
    known, asked = numbers("train", learned).numpy(), numbers("test", tested).numpy()
    scale = QuantileTransformer(output_distribution="normal", n_quantiles=300, random_state=0)
    given = torch.from_numpy(scale.fit_transform(known).clip(-3, 3)).float()
    seed(start)
    model = nn.Sequential(
        *(nn.Linear(given.shape[1], 256), nn.GELU(), nn.Dropout(0.5)),
        *(nn.Linear(256, 256), nn.GELU(), nn.Dropout(0.5)),
        nn.Linear(256, len(CLASSES)),
    )
    label = jets().train.label[:learned].long()
    rows = [part for _ in range(epochs) for part in torch.randperm(learned).split(64)]
    fit(
        model,
        lambda model, part: F.cross_entropy(model(given[part]), label[part]),
        rows,
        steps=len(rows),
        learning_rate=2e-3,
        optimizer=partial(torch.optim.AdamW, weight_decay=0.05),
        schedule=one_cycle,
        clip=1.0,
        progress=False,
    )
    with torch.no_grad():
        return model.eval()(torch.from_numpy(scale.transform(asked).clip(-3, 3)).float()).double()


@experiment(
    [
        {"learned": 500, "tested": 200, "epochs": 2, "seeds": 2},
        {"learned": 8750, "tested": 2500, "epochs": 20, "seeds": 5},
    ],
    within=0.02,
)
def perceptron(*, learned: int, tested: int, epochs: int, seeds: int) -> Row:
    """The accuracy and the loss of the perceptron on the test jets."""
    answers = [by_perceptron(learned, tested, epochs, start) for start in range(seeds)]
    results = [evaluate(logits, jets().test.label[:tested]) for logits in answers]
    return {
        "right_perceptron": [100 * it.accuracy for it in results],
        "loss_perceptron": [it.loss for it in results],
    }


def mean_of_chances(*answers: Tensor) -> Tensor:
    """The logarithm of the mean of probabilities."""
    return torch.stack([found.double().softmax(1) for found in answers]).mean(0).log()


def passed_in(logits: Tensor, wanted: str, others: tuple[str, ...], chosen: np.ndarray) -> Any:
    """How many background jets pass in each resample at a signal efficiency of one half."""
    label = jets().test.label[: len(logits)]
    rest = [class_number(name) for name in others]
    score = (logits[:, class_number(wanted)] - logits[:, rest].logsumexp(1)).numpy()[chosen]
    is_signal = (label == class_number(wanted)).numpy()[chosen]
    is_rest = torch.isin(label, torch.tensor(rest)).numpy()[chosen]
    cut = np.nanmedian(np.where(is_signal, score, np.nan), axis=1, keepdims=True)
    return ((score > cut) & is_rest).sum(1)


@cache
def by_trees(learned: int, tested: int, rounds: int) -> dict[str, Tensor]:
    """Test predictions of boosted trees on two numbers, ten and all."""
    train = jets().train[:learned]
    tried = json.loads((DATA / "jet_models.json").read_text())["tried"]
    setting = min(tried, key=lambda it: it["loss"])["setting"]
    setting |= {"trees": min(rounds, setting["trees"])}
    every = numbers("train", learned), numbers("test", tested)

    two = [SUMMARY.index(name) for name in ("mass", "particles")]
    usual = {"trees": min(rounds, 100)}
    return {
        "two": trees_say(train, *(some[:, two] for some in every), share=1.0, **usual),
        "ten": trees_say(train, *(some[:, : len(SUMMARY)] for some in every), **usual),
        "trees": trees_say(train, *every, **setting),
    }


def another_network(learned: int, epochs: int) -> nn.Module:
    """The network of the first figure, trained from another seed."""
    inputs = jet_inputs(jets().train[:learned])
    some = inputs.some(slice(1000))
    seed(1)
    model = TAGGERS["with pairs"][0]().standardized_like(
        some.features, some.pairs, valid=some.valid
    )
    train_tagger(model, inputs, epochs=epochs, seed=1, progress=False)
    return model


@experiment(
    [
        {"learned": 500, "tested": 800, "rounds": 2, "epochs": 1, "many": 20},
        {"learned": 8750, "tested": 2500, "rounds": 250, "epochs": 12, "many": 1000},
    ],
    within=0.05,
)
def verdict(*, learned: int, tested: int, rounds: int, epochs: int, many: int) -> Row:
    """The network and the other taggers on the same test jets, and on resamples of them."""
    test, every = jets().test[:tested], jet_inputs(jets().test[:tested])
    validation = jet_inputs(jets().valid[:tested])
    network = load_tagger()[0]
    answers = {"network": logits_of(network, every).double()}
    answers |= by_trees(learned, tested, rounds)
    answers["other"] = logits_of(another_network(learned, epochs), every).double()
    answers["perceptron"] = by_perceptron(learned, tested, 2 if epochs == 1 else 20, 0)
    said = logits_of(network, validation).double()
    temperature = min(
        np.linspace(0.5, 2, 61), key=lambda at: nats(said / at, validation.label).mean().item()
    )
    answers |= {
        "both": mean_of_chances(answers["network"], answers["trees"]),
        "networks": mean_of_chances(answers["network"], answers["other"]),
        "numbers": mean_of_chances(answers["perceptron"], answers["trees"]),
    }
    found = {"temperature": float(temperature)}
    loss = {name: nats(logits, test.label) for name, logits in answers.items()}
    right = {name: logits.argmax(1) == test.label for name, logits in answers.items()}
    for name in answers:
        found |= {
            f"verdict_loss_{name}": loss[name].mean().item(),
            f"verdict_right_{name}": right[name].double().mean().item(),
        }
    for name in ("ten", "trees"):
        ahead = right["network"].double() - right[name].double()
        found[f"network_ahead_of_{name}"] = mean_of(100 * ahead)
    for name in ("network", "trees", "networks", "numbers"):
        found[f"both_below_{name}"] = mean_of(loss[name] - loss["both"])
    found["numbers_below_trees"] = mean_of(loss["trees"] - loss["numbers"])
    found["networks_below_network"] = mean_of(loss["network"] - loss["networks"])
    taken = evaluate(answers["network"], test.label).confusion.double()
    for a, what in enumerate(CLASSES):
        for b, other in enumerate(CLASSES):
            share = taken[a, b] / taken[a].sum()
            found[f"{plain(what)}_as_{plain(other)}"] = share.item()
    chosen = np.random.default_rng(0).integers(tested, size=(many, tested))
    judges = ("network", "two", "ten", "trees")
    for wanted, others in (("W", ("quark", "gluon")), ("quark", ("gluon",))):
        passed = {name: passed_in(answers[name], wanted, others, chosen) for name in judges}
        given = {"signal": wanted, "background": others}
        numbers_of = [class_number(name) for name in others]
        found[f"background_{wanted}"] = int(torch.isin(test.label, torch.tensor(numbers_of)).sum())
        for name in judges:
            rejected = rejection(answers[name], test.label, **given)
            times = (passed[name] + 0.5) / (passed["network"] + 0.5)
            low, high = np.quantile(times, (0.025, 0.975)).tolist()
            found |= {
                f"{wanted}_{name}": rejected,
                f"{wanted}_{name}_passed": round(found[f"background_{wanted}"] / rejected),
                f"{wanted}_{name}_times": found.get(f"{wanted}_network", rejected) / rejected,
                f"{wanted}_{name}_low": low,
                f"{wanted}_{name}_high": high,
                f"{wanted}_{name}_passing": [
                    1 / rejection(answers[name], test.label, efficiency=float(e), **given)
                    for e in np.linspace(0.2, 0.98, 40)
                ],
            }
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


@experiment()
def few_jets() -> Row:
    """Results of scripts/data/compare_fine_tuning.py, by the number of training jets.

    Validation loss or accuracy chose the settings of each seed; leads are seed by seed.
    """
    tuning = json.loads((DATA / "jet_fine_tuning.json").read_text())
    pair = torch.tensor([class_number(tuning[name]) for name in ("new", "old")])
    found = {"few_particles": tuning["particles"]}
    for side in ("valid", "train"):
        found[f"few_{side}"] = int(torch.isin(getattr(jets(), side).label, pair).sum())

    def by_loss(run: Row) -> float:
        return run["valid"]["loss"]

    def by_right(run: Row) -> tuple[float, float]:
        return -run["valid"]["accuracy"], run["valid"]["loss"]

    for count, judge in itertools.product((100, 300, 1000, 3000), (by_loss, by_right)):
        right, loss = {}, {}
        for kind, name in LEARNERS.items():
            own = [run for run in tuning["runs"] if (run["kind"], run["jets"]) == (kind, count)]
            best = [min((run for run in own if run["seed"] == k), key=judge) for k in range(5)]
            right[name] = np.array([100 * run["test"]["accuracy"] for run in best])
            loss[name] = np.array([run["test"]["loss"] for run in best])
        end = f"{count}" if judge is by_loss else f"{count}_{judge.__name__}"
        found |= {f"{name}_{end}": mean_of(values) for name, values in right.items()}
        found |= {
            f"tuned_ahead_{end}": mean_of(right["tuned"] - right["scratch"]),
            f"tuned_below_{end}": mean_of(loss["scratch"] - loss["tuned"]),
            f"forest_ahead_{end}": mean_of(right["forest_all"] - right["tuned"]),
            f"forest_below_{end}": mean_of(loss["tuned"] - loss["forest_all"]),
            f"mass_below_{end}": mean_of(loss["tuned"] - loss["forest_mass"]),
        }
    return found


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
