"""Measure the gain of pre-training for few jets; write course_lib/data/jet_fine_tuning.json.

    OMP_NUM_THREADS=1 python scripts/data/compare_fine_tuning.py [SEED ...]

A Particle Transformer learns to distinguish quarks, gluons, tops and Higgs bosons. Then it gets a
new last layer and learns to distinguish W bosons, which are new to it, from quarks, by few
examples. The same network from scratch trains on the same examples for as many steps, and so do
trees, on ten numbers, on many and on the jet's mass alone: boosted, and a random forest, which
learns better from few. Steps and learning rates of networks, the least jets per leaf of a forest,
and the rounds of boosted trees are all tried and recorded, for a choice by validation jets. Only
the sixteen hardest particles of a jet are used, which is quick, and their original number is
hidden. Runs in the file are not repeated; to start over, remove it. Several processes may share the
seeds; a last one without seeds makes the missing runs. jet_fine_tuning.md describes the file.
"""

import copy
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from provenance import provenance
from sklearn.ensemble import RandomForestClassifier
from torch import Tensor, nn

from course_lib.jets import (
    SUMMARY,
    Jets,
    ParticleTransformer,
    class_number,
    jet_numbers,
    jet_summary,
)
from course_lib.models.stored import DATA
from course_lib.models.tagging import (
    Inputs,
    evaluate,
    fit_forest,
    jet_inputs,
    load_jets,
    logits_of,
    train_tagger,
)
from course_lib.support.training import seed

COMMAND = "OMP_NUM_THREADS=1 python scripts/data/compare_fine_tuning.py"
RESULTS = DATA / "jet_fine_tuning.json"
NEW, OLD = "W", "quark"
PARTICLES, BATCH, STANDARD = 16, 64, 1000
PRE_EPOCHS = 5
RATES = (5e-4, 2e-3)
STEPS = {100: (15, 30, 60, 150), 300: (30, 60, 150), 1000: (60, 150, 300), 3000: (300, 800)}
"""For each number of jets: the least numbers of steps of a network."""

MOST = 3000
"""With this many jets only the smaller rate is tried, the better one with fewer jets."""

LEAVES = (2, 5, 10, 20)
ROUNDS = (30, 100)
FOREST = 300  # trees
SUREST = 1e-4  # the least probability
SEEDS = range(5)
BOOSTED = ("trees", "more trees")
FORESTS = ("forest of mass", "forest", "more forest")
NETWORKS = ("from scratch", "fine-tuned")
D_MODEL, HEADS, LAYERS, CLASS_LAYERS = 48, 4, 3, 1


def network(classes: int) -> ParticleTransformer:
    """A network as in the lecture."""
    return ParticleTransformer(classes, D_MODEL, HEADS, LAYERS, CLASS_LAYERS, dropout=0.1)


def one_or_the_other(jets: Jets) -> Jets:
    """The jets of the two classes of the new task."""
    return jets[torch.isin(jets.label, torch.tensor([class_number(NEW), class_number(OLD)]))]


def hardest_alone(jets: Jets) -> Jets:
    """The hardest particles alone, which also set the number of particles."""
    kept = jets.hardest(PARTICLES)
    return replace(kept, size=kept.valid.sum(dim=1))


def relabelled(inputs: Inputs) -> Inputs:
    """Label 1 for the new particle, else 0."""
    return inputs._replace(label=(inputs.label == class_number(NEW)).long())


def told(logits: Tensor, label: Tensor) -> dict[str, float]:
    """Loss and accuracy."""
    found = evaluate(logits, label)
    return {"loss": round(found.loss, 4), "accuracy": round(found.accuracy, 4)}


def pretrained(start: int, train: Jets) -> ParticleTransformer:
    """A network trained on the other four classes."""
    others = jet_inputs(train[train.label != class_number(NEW)])
    label = others.label - (others.label > class_number(NEW)).long()
    some = others.some(slice(STANDARD))
    seed(start)
    model = network(4).standardized_like(some.features, some.pairs, valid=some.valid)
    train_tagger(model, others._replace(label=label), epochs=PRE_EPOCHS, seed=start, progress=False)
    return model


def numbers(kind: str, jets: dict[str, Jets]) -> dict[str, Tensor]:
    """The inputs of this kind of trees."""
    summary = jet_numbers if kind.startswith("more") else jet_summary
    mass = slice(SUMMARY.index("mass"), SUMMARY.index("mass") + 1)
    kept = mass if kind == "forest of mass" else slice(None)
    return {side: summary(some)[:, kept] for side, some in jets.items()}


def fitted(run: dict[str, Any], jets: Jets, given: Tensor) -> Any:
    """Trees fitted to these jets with the inputs ``given``."""
    if run["kind"] in BOOSTED:
        return fit_forest(jets, seed=run["seed"], trees=run["rounds"], summary=lambda _: given)
    forest = RandomForestClassifier(FOREST, min_samples_leaf=run["leaf"], random_state=run["seed"])
    return forest.fit(given.numpy(), jets.label.numpy())


def wanted(start: int) -> list[dict[str, Any]]:
    """The settings of all runs of one seed."""
    found: list[dict[str, Any]] = []
    for jets, longest in STEPS.items():
        run = {"seed": start, "jets": jets}
        found += [run | {"kind": kind, "rounds": grown} for kind in BOOSTED for grown in ROUNDS]
        found += [run | {"kind": kind, "leaf": leaf} for kind in FORESTS for leaf in LEAVES]
        found += [
            run | {"kind": kind, "steps": steps, "rate": rate}
            for kind in NETWORKS
            for steps in longest
            for rate in (RATES[:1] if jets == MOST else RATES)
        ]
    return found


def place(run: dict[str, Any]) -> tuple:
    """The sort key of a run in the file."""
    kind = (*BOOSTED, *FORESTS, *NETWORKS).index(run["kind"])
    size = run.get("rounds", 0) + run.get("leaf", 0) + run.get("steps", 0)
    return run["seed"], run["jets"], kind, size, run.get("rate")


class Learners:
    """All models of one seed; slow steps are done once and on demand."""

    def __init__(self, start: int) -> None:
        self.start = start
        sides = load_jets()._asdict()
        self.sides = {side: hardest_alone(all_of) for side, all_of in sides.items()}
        self.jets = {side: one_or_the_other(all_of) for side, all_of in self.sides.items()}
        generator = torch.Generator().manual_seed(start)
        self.order = torch.randperm(len(self.jets["train"]), generator=generator)
        self.new = {side: (some.label == class_number(NEW)) for side, some in self.jets.items()}
        self.numbers: dict[str, dict[str, Tensor]] = {}

    @cached_property
    def inputs(self) -> dict[str, Inputs]:
        """The inputs of networks."""
        return {side: relabelled(jet_inputs(found)) for side, found in self.jets.items()}

    @cached_property
    def known(self) -> ParticleTransformer:
        """The pre-trained network."""
        return pretrained(self.start, self.sides["train"])

    def made(self, run: dict[str, Any]) -> dict[str, Any]:
        """This run, with its results."""
        chosen = self.order[: run["jets"]]
        answers = self.by_network if run["kind"] in NETWORKS else self.by_trees
        logits, more = answers(run, chosen)
        result = {side: told(found, self.new[side].long()) for side, found in logits.items()}
        return run | more | result

    def by_trees(self, run: dict[str, Any], chosen: Tensor) -> tuple[dict[str, Tensor], dict]:
        """Log probabilities of the validation and the test jets."""
        if run["kind"] not in self.numbers:
            self.numbers[run["kind"]] = numbers(run["kind"], self.jets)
        given = self.numbers[run["kind"]]
        trees = fitted(run, self.jets["train"][chosen], given["train"][chosen])
        # Classes in the order of their numbers: quark before W. A forest may return 0.
        chance = {
            side: torch.from_numpy(trees.predict_proba(given[side].numpy())).clamp(min=SUREST)
            for side in ("valid", "test")
        }
        return {side: found.log() for side, found in chance.items()}, {}

    def by_network(self, run: dict[str, Any], chosen: Tensor) -> tuple[dict[str, Tensor], dict]:
        """Logits of the validation and the test jets."""
        few = self.inputs["train"].some(chosen)
        known = self.known if run["kind"] == "fine-tuned" else None
        seed(self.start)
        if known is not None:
            model = copy.deepcopy(known)
            model.read[1] = nn.Linear(D_MODEL, 2)
        else:
            model = network(2).standardized_like(few.features, few.pairs, valid=few.valid)
        epochs = math.ceil(run["steps"] / math.ceil(run["jets"] / BATCH))
        train_tagger(
            model,
            few,
            epochs=epochs,
            seed=self.start,
            batch=BATCH,
            learning_rate=run["rate"],
            progress=False,
        )
        logits = {side: logits_of(model, self.inputs[side]) for side in ("valid", "test")}
        return logits, {"epochs": epochs}


def known() -> list[dict[str, Any]]:
    """The runs in the file."""
    return json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []


def store(run: dict[str, Any]) -> None:
    """Add a run to the file, in order, once."""
    about = provenance() | {"command": COMMAND, "particles": PARTICLES, "batch": BATCH}
    about |= {"pre_epochs": PRE_EPOCHS, "new": NEW, "old": OLD, "trees": FOREST}
    others = [each for each in known() if place(each) != place(run)]
    together = sorted([*others, run], key=place)
    # Replaced as a whole, so that other processes never read half a file.
    whole = RESULTS.with_suffix(f".{os.getpid()}")
    whole.write_text(json.dumps(about | {"runs": together}) + "\n")
    whole.replace(RESULTS)


def main(seeds: Sequence[int]) -> None:
    """Make the missing runs, and write after each."""
    torch.set_num_threads(1)
    for start in seeds:
        done = set(map(place, known()))
        if not (missing := [run for run in wanted(start) if place(run) not in done]):
            continue
        began, learners = time.process_time(), Learners(start)
        for run in missing:
            store(found := learners.made(run))
            print(found, flush=True)
        print(start, round(time.process_time() - began), "s of processor time", flush=True)


if __name__ == "__main__":
    main([int(given) for given in sys.argv[1:]] or SEEDS)
