"""Compare the taggers of lecture 13; write course_lib/data/jet_models.json.

    OMP_NUM_THREADS=1 python scripts/data/compare_jet_models.py [SEED ...]

Boosted trees on ten numbers and on many, a deep set, and our Particle Transformer without and with
the features of pairs, five seeds each, evaluated on the test jets. Both transformers train for as
many epochs; the deep set, which is quicker, for more; an epoch of the trees is one round of
boosting. With the first seeds each also trains twice as long, which shows whether it had converged,
and the transformer with pairs, with one seed, three times as long. Validation jets choose the
settings of the tuned trees, on many numbers. Each run stores its correct jets, so that two can be
compared jet by jet. Runs in the file are not repeated; to start over, remove it. Several processes
may share the seeds. jet_models.md describes the file.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from provenance import provenance
from torch import Tensor

from course_lib.jets import Jets, jet_numbers, jet_summary
from course_lib.models.stored import DATA
from course_lib.models.tagging import (
    TAGGERS,
    evaluate,
    fit_forest,
    jet_inputs,
    load_jets,
    logits_of,
    train_tagger,
)
from course_lib.support.training import seed

COMPARED = DATA / "jet_models.json"
COMMAND = "OMP_NUM_THREADS=1 python scripts/data/compare_jet_models.py"
FORESTS = {"trees": jet_summary, "more trees": jet_numbers, "tuned trees": jet_numbers}
KINDS = (*FORESTS, *TAGGERS)
SETTINGS = [
    {"trees": trees, "learning_rate": rate, "leaves": leaves, "share": share, "smallest": smallest}
    for trees, rate in ((100, 0.08), (150, 0.05), (250, 0.03))
    for leaves, smallest in ((15, 20), (8, 50))
    for share in (0.5, 0.2)
]
"""The settings of trees to choose from; the first is that of the untuned trees."""
SEEDS = range(5)
EPOCHS = {"trees": 100, "more trees": 100, "deep set": 20, "without pairs": 8, "with pairs": 8}
LONGER, LONGER_SEEDS = 2, range(2)
LONGEST = (0, "with pairs", 24)
"""Seed, kind and epochs of the only run of three times as many epochs."""
BATCH, RATE = 64, 2e-3
STANDARD = 1000


def forest(
    kind: str, start: int, epochs: int, train: Jets, test: Jets
) -> tuple[Tensor, dict[str, Any]]:
    """The log probabilities of trees from one seed."""
    grown = best()["setting"] if kind == "tuned trees" else {"trees": epochs}
    trees = fit_forest(train, seed=start, **grown, summary=FORESTS[kind])
    return torch.from_numpy(trees.predict_proba(FORESTS[kind](test).numpy())).log(), {}


def network(
    kind: str, start: int, epochs: int, train: Jets, test: Jets
) -> tuple[Tensor, dict[str, Any]]:
    """The logits of a network from one seed, and its number of parameters."""
    make, pairs = TAGGERS[kind]
    learned, asked = jet_inputs(train, pairs=pairs), jet_inputs(test, pairs=pairs)
    some = learned.some(slice(STANDARD))
    seed(start)
    model = make().standardized_like(some.features, some.pairs, valid=some.valid)
    train_tagger(
        model,
        learned,
        epochs=epochs,
        seed=start,
        batch=BATCH,
        learning_rate=RATE,
        progress=False,
    )
    used = [
        name for name, _ in model.named_parameters() if pairs or not name.startswith("embed_pairs")
    ]
    return logits_of(model, asked), {
        "parameters": sum(model.get_parameter(name).numel() for name in used)
    }


def tried(train: Jets, validation: Jets) -> list[dict[str, Any]]:
    """Each setting of trees, and loss and accuracy of the first seed on the validation jets."""
    given = {len(jets): jet_numbers(jets) for jets in (train, validation)}
    found = []
    for setting in SETTINGS:
        trees = fit_forest(train, **setting, summary=lambda jets: given[len(jets)])
        chance = torch.from_numpy(trees.predict_proba(given[len(validation)].numpy()))
        result = evaluate(chance.log(), validation.label)
        told = {"loss": round(result.loss, 4), "accuracy": round(result.accuracy, 4)}
        found.append({"setting": setting, **told})
        print(found[-1], flush=True)
    return found


def best() -> dict[str, Any]:
    """The setting of the lowest validation loss."""
    return min(stored()["tried"], key=lambda each: each["loss"])


def wanted(seeds: Sequence[int]) -> list[tuple[int, str, int]]:
    """Seed, kind and epochs of every run."""
    epochs = EPOCHS | {"tuned trees": best()["setting"]["trees"]}
    runs = [(start, kind, epochs[kind]) for start in seeds for kind in KINDS]
    again = [start for start in seeds if start in LONGER_SEEDS]
    runs += [(start, kind, LONGER * EPOCHS[kind]) for start in again for kind in EPOCHS]
    return runs + [LONGEST] * (LONGEST[0] in seeds)


def place(run: dict[str, Any]) -> tuple[int, int, int]:
    """The sort key of a run: its seed, its kind and its epochs."""
    return run["seed"], KINDS.index(run["kind"]), run["epochs"]


def stored() -> dict[str, Any]:
    """The contents of the file."""
    return json.loads(COMPARED.read_text()) if COMPARED.exists() else {"runs": []}


def store(**found: list[dict[str, Any]]) -> None:
    """Add this to the file."""
    about = provenance() | {"command": COMMAND, "batch": BATCH, "learning_rate": RATE}
    COMPARED.write_text(json.dumps(stored() | about | found) + "\n")


def store_run(run: dict[str, Any]) -> None:
    """Add a run to the file, in order, once."""
    others = [each for each in stored()["runs"] if place(each) != place(run)]
    store(runs=sorted([*others, run], key=place))


def main(seeds: Sequence[int]) -> None:
    """Make the missing runs, and write after each."""
    torch.set_num_threads(1)
    # No learner is told how many particles were left out.
    train, validation, test = (replace(jets, size=jets.valid.sum(dim=1)) for jets in load_jets())
    if "tried" not in stored():
        store(tried=tried(train, validation))
    for start, kind, epochs in wanted(seeds):
        if (start, KINDS.index(kind), epochs) in map(place, stored()["runs"]):
            continue
        began = time.process_time()
        make = forest if kind in FORESTS else network
        logits, told = make(kind, start, epochs, train, test)
        result, right = evaluate(logits, test.label), logits.argmax(dim=1) == test.label
        found = {
            "processor_seconds": round(time.process_time() - began),
            "loss": round(result.loss, 4),
            "accuracy": round(result.accuracy, 4),
            "taken_for": result.confusion.tolist(),
            "right": np.packbits(right.numpy()).tobytes().hex(),
        }
        store_run({"kind": kind, "seed": start, "epochs": epochs, **told, **found})
        print(kind, start, epochs, found["loss"], found["accuracy"], flush=True)


if __name__ == "__main__":
    main([int(given) for given in sys.argv[1:]] or SEEDS)
