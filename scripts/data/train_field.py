"""Train the field of lecture 3 that runs in the page: course_lib/data/rod_field.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_field.py

On one core; the file contains the time. Each rod is solved once by finite elements on a fine mesh,
and each step uses the solution at a few of its nodes. Muon (Jordan et al., 2024) trains the inner
matrices, AdamW the input and output layers, biases and norms: with AdamW alone the loss falls far
more slowly. The test on new rods is made once, at the end, with the weights rounded as stored.
"""

import argparse
import json
import time

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer

from course_lib.basis import CrossAttentionField, muon_and_adamw, random_rods
from course_lib.basis.field import INNER
from course_lib.models.stored import DATA
from course_lib.support.training import fit, parameter_count, seed, warmed_up

SEED, TEST_SEED, RODS, TEST_RODS = 0, 1, 20_000, 1000
SENSORS, NODES, POINTS = 32, 249, 16
SIZES = {"d_model": 32, "heads": 4, "layers": 2, "d_z": 2, "d_hidden": 64}
FINEST = 100  # about pi divided by the distance of two sensors
BATCH, STEPS = 64, 16_000
MUON_RATE, ADAMW_RATE, WEIGHT_DECAY = 0.01, 2e-3, 1e-3
LAST = 1000  # steps over which the last loss is taken


def measured(rods: int, source: int) -> tuple[Tensor, Tensor]:
    """The sensor readings of random rods, and the solutions on the fine mesh."""
    drawn = random_rods(rods, generator=torch.Generator().manual_seed(source))
    place = torch.linspace(0, 1, SENSORS, dtype=torch.float64)
    z = torch.stack([drawn.log_conductivity(place), drawn.load(place)], dim=-1)
    return z.float(), drawn.solve(torch.linspace(0, 1, NODES, dtype=torch.float64)).float()


def answer(field: CrossAttentionField, x: Tensor, z: Tensor) -> Tensor:
    """The field at the same points ``x`` for all rods."""
    place = torch.linspace(0, 1, SENSORS)
    return field(x.expand(len(z), -1), place.expand(len(z), -1), z)


def train(steps: int) -> tuple[CrossAttentionField, float, float]:
    """The field, its last loss, and the seconds of processor time that it took."""
    seed(SEED)
    z, u = measured(RODS, SEED)
    mesh, square = torch.linspace(0, 1, NODES), u.square().mean(dim=-1)
    field = CrossAttentionField(**SIZES, finest=FINEST)
    draws = ((torch.randint(RODS, (BATCH,)), torch.randint(NODES, (POINTS,))) for _ in range(steps))

    def loss(field: CrossAttentionField, draw: tuple[Tensor, Tensor]) -> Tensor:
        rod, node = draw
        missed = answer(field, mesh[node], z[rod]) - u[rod][:, node]
        return (missed.square().mean(dim=-1) / square[rod]).mean()

    def descents(_: object, lr: float) -> list[Optimizer]:
        return muon_and_adamw(
            field, INNER, muon_rate=MUON_RATE, adamw_rate=lr, weight_decay=WEIGHT_DECAY
        )

    start = time.process_time()
    options = {"learning_rate": ADAMW_RATE, "optimizer": descents, "schedule": warmed_up}
    history = fit(field, loss, draws, steps=steps, **options)
    return field.eval(), float(np.mean(history[-LAST:])), time.process_time() - start


def share_biases(field: CrossAttentionField) -> None:
    """Replace the value biases of the heads by their mean, which has the least rounding error.

    The weights of a head sum to one, so only the sum of the biases matters.
    """
    with torch.no_grad():
        field.value.bias.fill_(field.value.bias.mean())


def main() -> None:
    """Train, write the weights, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    field, loss, seconds = train(given.steps)
    share_biases(field)
    half = {name: value.half() for name, value in field.state_dict().items()}
    field.load_state_dict(half)
    z, u = measured(TEST_RODS, TEST_SEED)
    with torch.no_grad():
        missed = answer(field, torch.linspace(0, 1, NODES), z) - u
    about = {
        "command": f"OMP_NUM_THREADS=1 python scripts/data/train_field.py --steps {given.steps}",
        "seed": SEED,
        "rods": RODS,
        "steps": given.steps,
        "seconds": round(seconds),
        "torch": torch.__version__,
        "sensors": SENSORS,
        "sizes": SIZES,
        "finest": FINEST,
        "parameters": parameter_count(field),
        "loss": loss,
        "test": {"rods": TEST_RODS, "seed": TEST_SEED, "nodes": NODES},
        "error": (missed.norm(dim=-1) / u.norm(dim=-1)).mean().item(),
    }
    arrays = {name: value.numpy() for name, value in half.items()}
    np.savez_compressed(DATA / "rod_field.npz", about=np.array(json.dumps(about)), **arrays)
    print(json.dumps(about, indent=2))


if __name__ == "__main__":
    main()
