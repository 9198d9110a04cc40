"""Learn rods by every means of lecture 3 and write course_lib/data/operators.json.

    OMP_NUM_THREADS=1 python scripts/compare_operators.py
    OMP_NUM_THREADS=1 python scripts/compare_operators.py --models DeepONet --seeds 0 1

The second form adds to the file, or replaces, what it names and leaves the rest as it is.

The input is the logarithm of the conductivity and the load at 16 sensors, the answer the
temperature of a rod at points where no training rod was ever looked at. Each seed draws its own
2,000 rods to learn from; all share the 500 rods on which strengths, lengths, rates and optimizers
are tuned, and the 500 that judge. Each network learns the rods of seed 0 with AdamW, and with Muon
for its inner matrices and AdamW for the rest; whichever errs less on the rods of the tuning is its
optimizer. What is in the file is told beside it, in operators.md.
"""

import argparse
import datetime as dt
import fcntl
import json
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy
import torch
from torch import Tensor, nn

from course_lib.basis import hat, interpolate
from course_lib.elliptic import Rods, random_rods
from course_lib.neural_field import INNER, CrossAttentionField
from course_lib.neural_operators import (
    DeepONet,
    FourierOperator,
    relative_errors,
    spline_matrix,
    train_operator,
)
from course_lib.operator_baselines import kernel_regression, ridge_kernels, solve_from_sensors
from course_lib.training import parameter_count, seed

DATA = Path(__file__).parents[1] / "course_lib" / "data" / "operators.json"
SENSORS, RODS, SEEDS, STEPS, BATCH, POINTS = 16, 2000, 5, 6000, 32, 32
RATES = (3e-3, 1e-2)
PLACES = torch.linspace(0, 1, SENSORS, dtype=torch.float64)
SEEN = torch.linspace(0, 1, 129, dtype=torch.float64)
FINE = torch.linspace(0, 1, 1025, dtype=torch.float64)
UNSEEN = torch.rand(200, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "cross-attention field": lambda: CrossAttentionField(32, 4, 2, d_z=2, d_hidden=64, finest=50),
    "DeepONet": lambda: DeepONet(SENSORS, d_z=2, width=72),
    "Fourier operator": lambda: FourierOperator(
        PLACES.float(), d_z=2, width=19, modes=10, layers=3, grid=48
    ),
}
INNER_MATRICES = {
    "cross-attention field": INNER,
    "DeepONet": tuple(f"{net}.{layer}.weight" for net in ("branch", "trunk") for layer in (2, 4)),
    "Fourier operator": (*(f"mixed.{layer}.weight" for layer in range(3)), "project.0.weight"),
}
ALONE, WITH_MUON = "AdamW", "Muon and AdamW"


@dataclass(frozen=True)
class Data:
    """Measured at sensors, and the temperatures at ``x``."""

    z: Tensor
    u: Tensor
    x: Tensor


def measured(rods: Rods) -> Tensor:
    """What the sensors read, ``(rods, sensors, 2)``."""
    return torch.stack([rods.log_conductivity(PLACES), rods.load(PLACES)], dim=-1)


def to_learn(start: int) -> Data:
    """The rods of a seed, on the mesh that is seen."""
    rods = random_rods(RODS, generator=torch.Generator().manual_seed(start))
    return Data(measured(rods), rods.solve(FINE)[:, ::8], SEEN)


def to_judge(start: int) -> Data:
    """500 rods, at points that are not seen."""
    rods = random_rods(500, generator=torch.Generator().manual_seed(start))
    return Data(measured(rods), read(FINE, rods.solve(FINE), UNSEEN), UNSEEN)


def read(nodes: Tensor, u: Tensor, x: Tensor) -> Tensor:
    """Many solutions between their nodes."""
    return interpolate(x, nodes, u.T).T


def error(answer: Tensor, data: Data) -> float:
    """The mean relative error."""
    return relative_errors(answer, data.u).mean().item()


# Simple models --------------------------------------------------------------------------------


def nearest(known: Data, asked: Data, *, neighbours: int) -> Tensor:
    """The mean of the nearest rods, over what was measured."""
    distance = torch.cdist(asked.z.flatten(1), known.z.flatten(1))
    near = distance.topk(neighbours, largest=False).indices
    return read(known.x, known.u[near].mean(1), asked.x)


def kernel_model(
    known: Data, asked: Data, *, kernel: str, length: float, strength: float
) -> Tensor:
    """Ridge regression with one of the two kernels."""
    u = kernel_regression(
        asked.z, known.z, known.u, ridge_kernels(length)[kernel], strength=strength
    )
    return read(known.x, u, asked.x)


def pca_ridge(known: Data, asked: Data, *, components: int, strength: float) -> Tensor:
    """Ridge regression from what was measured to the principal components of the solutions."""
    mean = known.u.mean(0)
    basis = torch.linalg.svd(known.u - mean, full_matrices=False).Vh[:components]
    coefficients = Data(known.z, (known.u - mean) @ basis.T, known.x)
    weight = known.u.square().mean() / known.u.square().mean(-1)
    one = torch.ones(len(known.z), 1, dtype=torch.float64)
    features = torch.cat([one, known.z.flatten(1)], dim=1)
    gram = features.T @ (weight[:, None] * features)
    gram = gram + strength * gram.diagonal().mean() * torch.eye(len(gram), dtype=torch.float64)
    found = torch.linalg.solve(gram, features.T @ (weight[:, None] * coefficients.u))
    ones = torch.ones(len(asked.z), 1, dtype=torch.float64)
    u = mean + torch.cat([ones, asked.z.flatten(1)], dim=1) @ found @ basis
    return read(known.x, u, asked.x)


SOLVERS = {
    "solver, linear between sensors": hat,
    "solver, spline between sensors": spline_matrix,
}
STRENGTHS = tuple(10.0**power for power in range(-7, 1))
LENGTHS = (1.0, 1.5, 2.0, 3.0, 4.0)
SIMPLE: dict[str, tuple[Callable, list[dict]]] = {
    "nearest rods": (nearest, [{"neighbours": n} for n in (1, 4, 8, 16, 32, 64)]),
    "PCA and ridge": (
        pca_ridge,
        [{"components": c, "strength": s} for c in (4, 8, 16) for s in STRENGTHS],
    ),
}
for kernel in ridge_kernels(1.0):
    SIMPLE[kernel] = (
        partial(kernel_model, kernel=kernel),
        [{"length": n, "strength": s} for n in LENGTHS for s in STRENGTHS[:-2]],
    )


def tuned(known: Data, held_out: Data) -> dict[str, dict]:
    """For each simple model the choice with the lowest error on the rods held out."""
    chosen = {}
    for name, (model, choices) in SIMPLE.items():
        found = [error(model(known, held_out, **choice), held_out) for choice in choices]
        best = int(np.argmin(found))
        chosen[name] = choices[best]
        print(f"{name:26} {choices[best]} held out {found[best]:.4f}", flush=True)
    return chosen


# Networks -------------------------------------------------------------------------------------


def batches(data: Data, start: int) -> Iterator[tuple[Tensor, ...]]:
    """Rods and points in random order, for ever."""
    random = torch.Generator().manual_seed(start)
    z, u, x = (tensor.float() for tensor in (data.z, data.u, data.x))
    place = PLACES.float().expand(BATCH, -1)
    while True:
        for part in torch.randperm(len(z), generator=random).split(BATCH):
            if len(part) < BATCH:
                continue
            at = torch.randperm(len(x), generator=random)[:POINTS]
            yield x[at].expand(BATCH, -1), place, z[part], u[part][:, at]


@torch.no_grad()
def answers(network: nn.Module, z: Tensor, x: Tensor) -> Tensor:
    """A network at the points of all rods."""
    parts = [
        network(x.float().expand(len(part), -1), PLACES.float().expand(len(part), -1), part.float())
        for part in z.split(100)
    ]
    return torch.cat(parts).double()


def trained(name: str, known: Data, start: int, *, steps: int, rate: float, optimizer: str) -> dict:
    """A network after its training, and how that went."""
    seed(start)
    network, began = NETWORKS[name](), time.process_time()
    history = train_operator(
        network,
        batches(known, start),
        steps=steps,
        learning_rate=rate,
        inner=INNER_MATRICES[name] if optimizer == WITH_MUON else (),
        progress=False,
    )
    return {
        "network": network,
        "optimizer": optimizer,
        "parameters": parameter_count(network),
        "loss": float(np.mean(history[-RODS // BATCH :])),
        "seconds": round(time.process_time() - began, 1),
    }


def best_rate(name: str, known: Data, held_out: Data, *, steps: int) -> float:
    """The learning rate of AdamW with the lowest error after a sixth of the steps."""
    found = {}
    for rate in RATES:
        done = trained(name, known, 0, steps=steps // 6, rate=rate, optimizer=ALONE)
        found[rate] = error(answers(done["network"], held_out.z, held_out.x), held_out)
    print(name, found, flush=True)
    return min(found, key=found.get)


# All of it ------------------------------------------------------------------------------------


def main() -> None:
    """Tune, learn, judge, and write after every model and seed."""
    every = [*SOLVERS, *SIMPLE, *NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=every, default=every)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(SEEDS)))
    parser.add_argument("--optimizer", choices=(ALONE, WITH_MUON), help="only this one")
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if len(sys.argv) == 1:
        DATA.unlink(missing_ok=True)
    held_out, test = to_judge(1001), to_judge(1002)
    about = {
        "sensors": SENSORS,
        "rods": RODS,
        "steps": given.steps,
        "batch": BATCH,
        "points": POINTS,
        "always zero": error(0 * test.u, test),
    }
    stored = json.loads(DATA.read_text()) if DATA.exists() else {"tuned": {}}
    choices = stored["tuned"]
    simple = [name for name in given.models if name in SIMPLE]
    if simple and any(name not in choices for name in simple):
        choices |= tuned(to_learn(0), held_out)
    for start in given.seeds:
        known = to_learn(start)
        for name in given.models:
            several = learned(name, known, start, choices=choices, given=given, held_out=held_out)
            for answer, done in several:
                judged = [error(answer(d), d) for d in (held_out, test)]
                row = {"seed": start, "model": name, "held_out": judged[0], "test": judged[1]}
                print(start, name, done.get("optimizer", ""), f"{judged[1]:.4f}", flush=True)
                choices |= write(row | done, choices.get(name), about)


def learned(
    name: str,
    known: Data,
    start: int,
    *,
    choices: dict,
    given: argparse.Namespace,
    held_out: Data,
) -> Iterator[tuple[Callable[[Data], Tensor], dict]]:
    """What answers, and how it was learned: once, or with each optimizer for the first seed."""
    if name in SOLVERS:
        yield lambda d: solve_from_sensors(d.x, PLACES, d.z, SOLVERS[name]), {}
    elif name in SIMPLE:
        yield lambda d: SIMPLE[name][0](known, d, **choices[name]), {}
    else:
        if name not in choices:
            choices[name] = {"rate": best_rate(name, known, held_out, steps=given.steps)}
        chosen = given.optimizer or (start and choices[name].get("optimizer"))
        for optimizer in (chosen,) if chosen else (ALONE, WITH_MUON):
            rate = choices[name]["rate"]
            done = trained(name, known, start, steps=given.steps, rate=rate, optimizer=optimizer)
            network = done.pop("network")
            yield lambda d, network=network: answers(network, d.z, d.x), done


def better(rows: list[dict], name: str) -> dict[str, str]:
    """The optimizer that errs less on the rods of the tuning, once both were tried on seed 0."""
    tried = {row["optimizer"]: row["held_out"] for row in rows if tries(row, name)}
    return {"optimizer": min(tried, key=tried.get)} if len(tried) > 1 else {}


def tries(row: dict, name: str) -> bool:
    """Whether a row is of the seed on which optimizers are chosen."""
    return row["model"] == name and row["seed"] == 0 and "optimizer" in row


def write(row: dict, choice: dict | None, about: dict) -> dict:
    """Put a row into the file, in place of one of its kind, and return what is tuned by now.

    Two processes may share the file: each row is put into what is there, under a lock.
    """
    same = ("model", "seed", "optimizer")
    with DATA.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        stored = json.loads(text) if text else {"commands": [], "tuned": {}, "rows": []}
        rows = [r for r in stored["rows"] if any(r.get(k) != row.get(k) for k in same)]
        order = [*SOLVERS, *SIMPLE, *NETWORKS]
        rows = sorted([*rows, row], key=lambda r: (r["seed"], order.index(r["model"])))
        choices = stored["tuned"]
        if choice is not None:
            choices[row["model"]] = choices.get(row["model"], {}) | choice
            choices[row["model"]] |= better(rows, row["model"])
        file.truncate(0)
        file.write(
            json.dumps(
                made() | about | commands(stored) | {"tuned": choices, "rows": rows}, indent=1
            )
        )
        file.write("\n")
    return choices


def commands(stored: dict) -> dict[str, list[str]]:
    """All that was called for what the file holds, in the order of the first row of each."""
    here = " ".join(
        [
            "OMP_NUM_THREADS=1 python",
            "scripts/compare_operators.py",
            *map(shlex.quote, sys.argv[1:]),
        ]
    )
    return {"commands": list(dict.fromkeys([*stored["commands"], here]))}


def made() -> dict:
    """Where and when."""
    return {
        "device": platform.machine(),
        "threads": torch.get_num_threads(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "scipy": scipy.__version__,
            "numpy": np.__version__,
        },
    }


if __name__ == "__main__":
    main()
