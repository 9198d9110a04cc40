"""Ask which model of lecture 13 tells jets apart best; write course_lib/data/jet_models.json.

    OMP_NUM_THREADS=1 python scripts/compare_jet_models.py [SEED ...]

Boosted trees on ten numbers, a deep set, and our Particle Transformer without and with the features
of pairs, five seeds each, judged by the jets to test with. Both transformers learn for as many
epochs; the deep set, which is quicker, for more. Runs that are in the file already are not done
again, so remove it to begin anew; several programs may work at it, each at seeds of its own. What
is in the file is told beside it, in jet_models.md.
"""

import itertools
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch
from provenance import provenance

from course_lib.jet_tagging import (
    COMPARED,
    TAGGERS,
    Judged,
    fit_forest,
    jet_inputs,
    jet_summary,
    judged,
    logits_of,
    train_tagger,
)
from course_lib.jets import Jets, load_jets
from course_lib.training import seed

COMMAND = "OMP_NUM_THREADS=1 python scripts/compare_jet_models.py"
KINDS = ("trees", *TAGGERS)
SEEDS = range(5)
EPOCHS = {"deep set": 20, "without pairs": 8, "with pairs": 8}
BATCH, RATE = 64, 2e-3
STANDARD = 1000


def forest(start: int, train: Jets, test: Jets) -> tuple[Judged, dict[str, Any]]:
    """Trees from one seed."""
    trees = fit_forest(train, seed=start)
    chance = torch.from_numpy(trees.predict_proba(jet_summary(test).numpy()))
    return judged(chance.log(), test.label), {}


def network(kind: str, start: int, train: Jets, test: Jets) -> tuple[Judged, dict[str, Any]]:
    """A network from one seed."""
    make, pairs = TAGGERS[kind]
    learned, asked = jet_inputs(train, pairs=pairs), jet_inputs(test, pairs=pairs)
    some = learned.some(slice(STANDARD))
    seed(start)
    model = make().standardized_like(some.features, some.pairs, real=some.real)
    train_tagger(
        model,
        learned,
        epochs=EPOCHS[kind],
        seed=start,
        batch=BATCH,
        learning_rate=RATE,
        progress=False,
    )
    used = [
        name for name, _ in model.named_parameters() if pairs or not name.startswith("embed_pairs")
    ]
    return judged(logits_of(model, asked), asked.label), {
        "parameters": sum(model.get_parameter(name).numel() for name in used),
        "epochs": EPOCHS[kind],
    }


def known() -> list[dict[str, Any]]:
    """The runs in the file."""
    return json.loads(COMPARED.read_text())["runs"] if COMPARED.exists() else []


def store(run: dict[str, Any]) -> None:
    """Add a run to those that are in the file by now, in order, once."""

    def place(each: dict[str, Any]) -> tuple[int, int]:
        return each["seed"], KINDS.index(each["kind"])

    others = [each for each in known() if place(each) != place(run)]
    runs = sorted([*others, run], key=place)
    about = provenance() | {"command": COMMAND, "batch": BATCH, "learning_rate": RATE}
    COMPARED.write_text(json.dumps(about | {"runs": runs}) + "\n")


def main(seeds: Sequence[int]) -> None:
    """Make the runs that are missing, and write after each."""
    torch.set_num_threads(1)
    train, _, test = load_jets()
    for start, kind in itertools.product(seeds, KINDS):
        if (kind, start) in {(run["kind"], run["seed"]) for run in known()}:
            continue
        began = time.process_time()
        if kind == "trees":
            result, told = forest(start, train, test)
        else:
            result, told = network(kind, start, train, test)
        found = {
            "processor_seconds": round(time.process_time() - began),
            "loss": round(result.loss, 4),
            "accuracy": round(result.accuracy, 4),
            "taken_for": result.taken_for.tolist(),
        }
        store({"kind": kind, "seed": start, **told, **found})
        print(kind, start, found["loss"], found["accuracy"], flush=True)


if __name__ == "__main__":
    main([int(given) for given in sys.argv[1:]] or SEEDS)
