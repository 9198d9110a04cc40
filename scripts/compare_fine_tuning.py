"""Ask what pre-training is worth for few jets; write course_lib/data/jet_fine_tuning.json.

    OMP_NUM_THREADS=1 python scripts/compare_fine_tuning.py [SEED ...]

A Particle Transformer learns to tell quarks, gluons, tops and Higgs bosons apart. Then it gets a
new last layer and learns to tell W bosons, which it has never seen, from quarks, by few examples.
The same network from scratch learns by the same examples for as many steps, and so do boosted
trees. Only the sixteen hardest particles of a jet are used, which is quick, and nobody is told how
many there were. Seeds that are in the file already are not done again; to begin anew, remove it.
What is in the file is told beside it, in jet_fine_tuning.md.
"""

import copy
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from provenance import provenance
from torch import Tensor, nn

from course_lib.jet_tagging import (
    Inputs,
    fit_forest,
    jet_inputs,
    jet_summary,
    judged,
    logits_of,
    train_tagger,
)
from course_lib.jets import Jets, class_number, load_jets
from course_lib.particle_transformer import ParticleTransformer
from course_lib.training import seed

COMMAND = "OMP_NUM_THREADS=1 python scripts/compare_fine_tuning.py"
RESULTS = Path(__file__).parents[1] / "course_lib" / "data" / "jet_fine_tuning.json"
NEW, OLD = "W", "quark"
PARTICLES, BATCH, STANDARD = 16, 64, 1000
PRE_EPOCHS, STEPS = 5, 150
JETS = (100, 300, 1000)
RATES = (2e-3, 5e-4)
SEEDS = range(5)
D_MODEL, HEADS, LAYERS, CLASS_LAYERS = 48, 4, 3, 1


def network(classes: int) -> ParticleTransformer:
    """As the one of the lecture."""
    return ParticleTransformer(classes, D_MODEL, HEADS, LAYERS, CLASS_LAYERS, dropout=0.1)


def one_or_the_other(jets: Jets) -> Jets:
    """The jets of the new particle and of the one that it is to be told from."""
    return jets[torch.isin(jets.label, torch.tensor([class_number(NEW), class_number(OLD)]))]


def hardest_alone(jets: Jets) -> Jets:
    """The hardest particles, as if there had been no others."""
    kept = jets.hardest(PARTICLES)
    return replace(kept, size=kept.real.sum(dim=1))


def relabelled(inputs: Inputs) -> Inputs:
    """1 for the new particle, else 0."""
    return inputs._replace(label=(inputs.label == class_number(NEW)).long())


def told(logits: Tensor, label: Tensor) -> dict[str, float]:
    """Loss and accuracy."""
    found = judged(logits, label)
    return {"loss": round(found.loss, 4), "accuracy": round(found.accuracy, 4)}


def pretrained(start: int, train: Jets) -> ParticleTransformer:
    """A network that knows the other four classes."""
    others = jet_inputs(train[train.label != class_number(NEW)])
    label = others.label - (others.label > class_number(NEW)).long()
    some = others.some(slice(STANDARD))
    seed(start)
    model = network(4).standardized_like(some.features, some.pairs, real=some.real)
    train_tagger(model, others._replace(label=label), epochs=PRE_EPOCHS, seed=start, progress=False)
    return model


def trees_run(start: int, count: int, jets: dict[str, Jets], order: Tensor) -> dict[str, Any]:
    """What boosted trees learn by the first so many jets in this order."""
    trees = fit_forest(jets["train"][order[:count]], seed=start)
    run = {"kind": "trees", "seed": start, "jets": count}
    for side in ("valid", "test"):
        # Classes in the order of their numbers: quark before W.
        chance = torch.from_numpy(trees.predict_proba(jet_summary(jets[side]).numpy()))
        run[side] = told(chance.log(), (jets[side].label == class_number(NEW)).long())
    return run


def runs_of(start: int) -> list[dict[str, Any]]:
    """All runs of one seed: trees, from scratch and fine-tuned, each by as many jets."""
    sides = {side: hardest_alone(all_of) for side, all_of in load_jets()._asdict().items()}
    jets = {side: one_or_the_other(all_of) for side, all_of in sides.items()}
    order = torch.randperm(len(jets["train"]), generator=torch.Generator().manual_seed(start))
    known = pretrained(start, sides["train"])
    inputs = {side: relabelled(jet_inputs(found)) for side, found in jets.items()}
    runs = []
    for count in JETS:
        few = inputs["train"].some(order[:count])
        runs.append(trees_run(start, count, jets, order))
        for kind in ("from scratch", "fine-tuned"):
            for rate in RATES:
                seed(start)
                if kind == "fine-tuned":
                    model = copy.deepcopy(known)
                    model.read[1] = nn.Linear(D_MODEL, 2)
                else:
                    model = network(2).standardized_like(few.features, few.pairs, real=few.real)
                epochs = math.ceil(STEPS / math.ceil(count / BATCH))
                train_tagger(
                    model,
                    few,
                    epochs=epochs,
                    seed=start,
                    batch=BATCH,
                    learning_rate=rate,
                    progress=False,
                )
                run = {"kind": kind, "seed": start, "jets": count, "rate": rate, "epochs": epochs}
                for side in ("valid", "test"):
                    run[side] = told(logits_of(model, inputs[side]), inputs[side].label)
                runs.append(run)
                print(run, flush=True)
    return runs


def known() -> list[dict[str, Any]]:
    """The runs in the file."""
    return json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []


def store(runs: list[dict[str, Any]]) -> None:
    """Add the runs of a seed to those that are in the file by now, in order."""
    about = provenance() | {"command": COMMAND, "particles": PARTICLES, "batch": BATCH}
    about |= {"pre_epochs": PRE_EPOCHS, "steps": STEPS, "rates": RATES, "new": NEW, "old": OLD}
    together = sorted([*known(), *runs], key=lambda run: run["seed"])
    RESULTS.write_text(json.dumps(about | {"runs": together}) + "\n")


def main(seeds: Sequence[int]) -> None:
    """Make the runs that are missing, and write after each seed."""
    torch.set_num_threads(1)
    for start in seeds:
        if start in {run["seed"] for run in known()}:
            continue
        began = time.process_time()
        store(runs_of(start))
        print(start, round(time.process_time() - began), "s of processor time", flush=True)


if __name__ == "__main__":
    main([int(given) for given in sys.argv[1:]] or SEEDS)
