"""Ask which model of lecture 13 tells jets apart best; write course_lib/data/jet_models.json.

    OMP_NUM_THREADS=1 python scripts/compare_jet_models.py

Boosted trees on ten numbers, a deep set, and our Particle Transformer without and with the features
of pairs, five seeds each, judged by the jets to test with. Both transformers learn for as many
epochs; the deep set, which is quicker, for more. Runs that are in the file already are not done
again, so remove it to begin anew. What is in the file is told beside it, in jet_models.md.
"""

import json
import time
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

SEEDS = range(5)
EPOCHS = {"deep set": 20, "without pairs": 6, "with pairs": 6}
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


def main() -> None:
    """Make the runs that are missing, and write after each."""
    torch.set_num_threads(1)
    sides = load_jets()
    runs = json.loads(COMPARED.read_text())["runs"] if COMPARED.exists() else []
    done = {(run["kind"], run["seed"]) for run in runs}
    for start in SEEDS:
        for kind in ("trees", *TAGGERS):
            if (kind, start) in done:
                continue
            began = time.process_time()
            if kind == "trees":
                result, told = forest(start, sides.train, sides.test)
            else:
                result, told = network(kind, start, sides.train, sides.test)
            runs.append(
                {"kind": kind, "seed": start, **told}
                | {
                    "processor_seconds": round(time.process_time() - began),
                    "loss": round(result.loss, 4),
                    "accuracy": round(result.accuracy, 4),
                    "taken_for": result.taken_for.tolist(),
                }
            )
            print(kind, start, runs[-1]["loss"], runs[-1]["accuracy"], flush=True)
            record = provenance() | {"batch": BATCH, "learning_rate": RATE, "runs": runs}
            COMPARED.write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
