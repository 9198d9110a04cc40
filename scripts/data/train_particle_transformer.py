"""Train the Particle Transformer of lecture 13; write its weights into course_lib/data.

    OMP_NUM_THREADS=1 python scripts/data/train_particle_transformer.py

It trains on all training jets, and the weights of the last epoch are kept, in
particle_transformer.npz. The test jets are used only at the end. particle_transformer.md describes
the file.
"""

import json
import time

import numpy as np
import torch
from provenance import provenance
from torch import nn

from course_lib.models.stored import DATA
from course_lib.models.tagging import (
    TAGGERS,
    Inputs,
    evaluate,
    jet_inputs,
    load_jets,
    logits_of,
    train_tagger,
)
from course_lib.support.training import parameter_count, seed

SEED, EPOCHS, BATCH, RATE = 0, 12, 64, 2e-3
STANDARD = 1000  # jets for mean and deviation of the features


def told(model: nn.Module, inputs: Inputs) -> dict[str, float]:
    """Loss and accuracy."""
    result = evaluate(logits_of(model, inputs), inputs.label)
    return {"loss": round(result.loss, 4), "accuracy": round(result.accuracy, 4)}


def main() -> None:
    """Train, store, evaluate as stored."""
    torch.set_num_threads(1)
    sides = {side: jet_inputs(jets) for side, jets in load_jets()._asdict().items()}
    seed(SEED)
    some = sides["train"].some(slice(STANDARD))
    make, _ = TAGGERS["with pairs"]
    model = make().standardized_like(some.features, some.pairs, valid=some.valid)
    began, began_wall = time.process_time(), time.time()
    history = train_tagger(
        model, sides["train"], epochs=EPOCHS, seed=SEED, batch=BATCH, learning_rate=RATE
    )
    took = {
        "processor_seconds": round(time.process_time() - began),
        "seconds": round(time.time() - began_wall),
    }
    state = {name: value.half() for name, value in model.state_dict().items()}
    model.load_state_dict({name: value.float() for name, value in state.items()})
    found = {side: told(model, inputs) for side, inputs in sides.items()}
    about = provenance() | {
        **took,
        "seed": SEED,
        "epochs": EPOCHS,
        "steps": len(history),
        "batch": BATCH,
        "learning_rate": RATE,
        "parameters": parameter_count(model),
        "loss": {side: each["loss"] for side, each in found.items()},
        "accuracy": {side: each["accuracy"] for side, each in found.items()},
    }
    arrays = {name: value.numpy() for name, value in state.items()}
    path = DATA / "particle_transformer.npz"
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)
    print(json.dumps(about, indent=1), f"{path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
