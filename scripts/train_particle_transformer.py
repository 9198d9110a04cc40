"""Train the Particle Transformer of lecture 13; write course_lib/data/particle_transformer.npz.

    OMP_NUM_THREADS=1 python scripts/train_particle_transformer.py

It learns from all jets of the side to learn from. Width, depth, rate and epochs were set by hand,
after one shorter run that was judged by the jets to choose by. The jets to test with are judged at
the end. What is in the file is told beside it, in particle_transformer.md.
"""

import json
import sys
import time

import numpy as np
import torch
from provenance import provenance

from course_lib.jet_tagging import (
    TAGGERS,
    WEIGHTS,
    jet_inputs,
    judged,
    logits_of,
    train_tagger,
)
from course_lib.jets import load_jets
from course_lib.training import parameter_count, seed

SEED, EPOCHS, BATCH, RATE = 0, 12, 64, 2e-3
STANDARD = 1000  # jets that say what mean and deviation the features have


def main(epochs: int = EPOCHS) -> None:
    """Train, store, judge as stored."""
    torch.set_num_threads(1)
    sides = load_jets()
    train = jet_inputs(sides.train)
    seed(SEED)
    some = train.some(slice(STANDARD))
    model = TAGGERS["with pairs"][0]().standardized_like(some.features, some.pairs, real=some.real)
    began, began_wall = time.process_time(), time.time()
    history = train_tagger(model, train, epochs=epochs, seed=SEED, batch=BATCH, learning_rate=RATE)
    took = {
        "processor_seconds": round(time.process_time() - began),
        "seconds": round(time.time() - began_wall),
    }
    state = {name: value.half() for name, value in model.state_dict().items()}
    model.load_state_dict({name: value.float() for name, value in state.items()})
    losses, accuracies = {}, {}
    for side, jets in sides._asdict().items():
        inputs = jet_inputs(jets)
        result = judged(logits_of(model, inputs), inputs.label)
        losses[side], accuracies[side] = round(result.loss, 4), round(result.accuracy, 4)
    about = provenance() | {
        **took,
        "seed": SEED,
        "epochs": epochs,
        "steps": len(history),
        "batch": BATCH,
        "learning_rate": RATE,
        "parameters": parameter_count(model),
        "loss": losses,
        "accuracy": accuracies,
    }
    np.savez_compressed(
        WEIGHTS,
        about=np.array(json.dumps(about)),
        **{name: value.numpy() for name, value in state.items()},
    )
    print(json.dumps(about, indent=1), f"{WEIGHTS.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
