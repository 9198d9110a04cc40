"""Train a Particle Transformer of lecture 13; write its weights into course_lib/data.

    OMP_NUM_THREADS=1 python scripts/train_particle_transformer.py
    OMP_NUM_THREADS=1 python scripts/train_particle_transformer.py --kind larger

The first writes particle_transformer.npz, which the live figure uses, the second
larger_particle_transformer.npz. Both learn from all jets of the side to learn from, and the weights
of the last epoch are kept. After each epoch of the larger one the jets to choose by are judged, and
the weights with the lowest loss on them so far are stored; they are what is kept. The jets to test
with are judged at the end. What is in the files is told beside them, in particle_transformer.md.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from provenance import provenance
from torch import Tensor, nn

from course_lib.jet_tagging import BUNDLED, Inputs, jet_inputs, judged, logits_of, train_tagger
from course_lib.jets import load_jets
from course_lib.training import parameter_count, seed

SEED, BATCH, RATE = 0, 64, 2e-3
STANDARD = 1000  # jets that say what mean and deviation the features have


class Plan(NamedTuple):
    """How many epochs a network learns, and whether the jets to choose by choose one of them."""

    epochs: int
    choose: bool


PLANS = {"with pairs": Plan(12, choose=False), "larger": Plan(24, choose=True)}


def told(model: nn.Module, inputs: Inputs) -> dict[str, float]:
    """Loss and accuracy."""
    result = judged(logits_of(model, inputs), inputs.label)
    return {"loss": round(result.loss, 4), "accuracy": round(result.accuracy, 4)}


class Chooser:
    """Looks at the jets to choose by after each epoch; stores the weights whenever it is best."""

    def __init__(self, model: nn.Module, inputs: Inputs, steps: int, path: Path) -> None:
        self.model, self.inputs, self.steps, self.path = model, inputs, steps, path
        self.rounds: list[dict[str, float]] = []
        self.state: dict[str, Tensor] = {}

    @property
    def best(self) -> int:
        """The epoch of the lowest loss so far, counted from 1; the first of several."""
        return 1 + min(range(len(self.rounds)), key=lambda k: self.rounds[k]["loss"])

    def __call__(self, step: int, loss: float) -> None:
        """Judge, and store, at the end of an epoch."""
        if (step + 1) % self.steps:
            return
        self.rounds.append(told(self.model, self.inputs))
        print(len(self.rounds), self.rounds[-1], "of the last batch", round(loss, 4), flush=True)
        if self.best == len(self.rounds):
            self.state = halved(self.model)
            store(self.path, {"unfinished": True, "rounds": self.rounds}, self.state)


def halved(model: nn.Module) -> dict[str, Tensor]:
    """The weights as they are stored."""
    return {name: value.half() for name, value in model.state_dict().items()}


def store(path: Path, about: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Write the file."""
    arrays = {name: value.numpy() for name, value in state.items()}
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


def main(kind: str, epochs: int) -> None:
    """Train, store, judge as stored."""
    torch.set_num_threads(1)
    make, path = BUNDLED[kind]
    sides = {side: jet_inputs(jets) for side, jets in load_jets()._asdict().items()}
    seed(SEED)
    some = sides["train"].some(slice(STANDARD))
    model = make().standardized_like(some.features, some.pairs, real=some.real)
    chooser = Chooser(model, sides["valid"], -(-len(sides["train"].label) // BATCH), path)
    began, began_wall = time.process_time(), time.time()
    history = train_tagger(
        model,
        sides["train"],
        epochs=epochs,
        seed=SEED,
        batch=BATCH,
        learning_rate=RATE,
        callback=chooser if PLANS[kind].choose else None,
    )
    took = {
        "processor_seconds": round(time.process_time() - began),
        "seconds": round(time.time() - began_wall),
    }
    state = chooser.state or halved(model)
    model.load_state_dict({name: value.float() for name, value in state.items()})
    found = {side: told(model, inputs) for side, inputs in sides.items()}
    about = provenance() | {
        **took,
        "seed": SEED,
        "epochs": epochs,
        "steps": len(history),
        "batch": BATCH,
        "learning_rate": RATE,
        "parameters": parameter_count(model),
        "loss": {side: each["loss"] for side, each in found.items()},
        "accuracy": {side: each["accuracy"] for side, each in found.items()},
    }
    if chooser.rounds:
        about |= {"rounds": chooser.rounds, "chosen": chooser.best}
    store(path, about, state)
    print(json.dumps(about, indent=1), f"{path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=PLANS, default="with pairs")
    parser.add_argument("--epochs", type=int)
    given = parser.parse_args()
    main(given.kind, given.epochs or PLANS[given.kind].epochs)
