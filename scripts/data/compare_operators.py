"""Compare all models of rods of lecture 3 and write course_lib/data/operators.json.

    OMP_NUM_THREADS=1 python scripts/data/compare_operators.py
    OMP_NUM_THREADS=1 python scripts/data/compare_operators.py --models DeepONet --seeds 0 --to TRY

The input is the logarithm of the conductivity and the load at 16 sensors, the answer the
temperature of a rod at points that are not in the training data. Each seed draws its own 2,000
training rods; all share 500 rods for tuning strengths, lengths, rates and optimizers, and 500 test
rods. Each network trains with AdamW, and with Muon for its inner matrices and AdamW for the rest,
each at the rates that err least after a sixth of the steps; its optimizer is the one of the lower
tuning error with seed 0. operators.md describes the file.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import scipy
import torch
from provenance import provenance
from torch import Tensor, nn

from course_lib.basis import (
    CrossAttentionField,
    DeepONet,
    FourierOperator,
    Rods,
    hat,
    interpolate,
    kernel_regression,
    random_rods,
    relative_errors,
    ridge_kernels,
    solve_from_sensors,
    spline_matrix,
    train_operator,
)
from course_lib.basis.field import INNER
from course_lib.models.stored import DATA
from course_lib.support.training import parameter_count, seed

RESULTS = DATA / "operators.json"
SENSORS, RODS, SEEDS, STEPS, BATCH, POINTS = 16, 2000, 5, 6000, 32, 32
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
RATES = {
    ALONE: [{"learning_rate": rate} for rate in (1e-3, 3e-3, 1e-2)],
    WITH_MUON: [
        {"learning_rate": rate, "muon_rate": muon} for rate in (3e-3, 1e-2) for muon in (0.01, 0.03)
    ],
}


@dataclass(frozen=True)
class Data:
    """Sensor readings, and the temperatures at ``x``."""

    z: Tensor
    u: Tensor
    x: Tensor


def measured(rods: Rods) -> Tensor:
    """The sensor readings, ``(rods, sensors, 2)``."""
    return torch.stack([rods.log_conductivity(PLACES), rods.load(PLACES)], dim=-1)


@cache
def to_learn(start: int) -> Data:
    """The training rods of a seed, on the training mesh."""
    rods = random_rods(RODS, generator=torch.Generator().manual_seed(start))
    return Data(measured(rods), rods.solve(FINE)[:, ::8], SEEN)


def to_judge(start: int) -> Data:
    """500 test rods, at points outside the training mesh."""
    rods = random_rods(500, generator=torch.Generator().manual_seed(start))
    return Data(measured(rods), read(FINE, rods.solve(FINE), UNSEEN), UNSEEN)


def read(nodes: Tensor, u: Tensor, x: Tensor) -> Tensor:
    """Interpolate solutions between their nodes."""
    return interpolate(x, nodes, u.T).T


def error(answer: Tensor, data: Data) -> float:
    """The mean relative error."""
    return relative_errors(answer, data.u).mean().item()


# Simple models --------------------------------------------------------------------------------


def nearest(known: Data, asked: Data, *, neighbours: int) -> Tensor:
    """The mean of the nearest rods, by their readings."""
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
    """Ridge regression from the readings to the principal components of the solutions."""
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
    """Endless batches of rods and points in random order."""
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


def trained(name: str, known: Data, start: int, *, steps: int, optimizer: str, rates: dict) -> dict:
    """A trained network, and its training record."""
    seed(start)
    network, began = NETWORKS[name](), time.process_time()
    history = train_operator(
        network,
        batches(known, start),
        steps=steps,
        inner=INNER_MATRICES[name] if optimizer == WITH_MUON else (),
        progress=False,
        **rates,
    )
    return {
        "network": network,
        "optimizer": optimizer,
        "parameters": parameter_count(network),
        "loss": float(np.mean(history[-RODS // BATCH :])),
        "seconds": round(time.process_time() - began, 1),
    }


def best_rates(name: str, optimizer: str, held_out: Data, *, steps: int) -> dict:
    """The rates with the lowest error after a sixth of the steps."""
    found, known = [], to_learn(0)
    for rates in RATES[optimizer]:
        done = trained(name, known, 0, steps=steps // 6, optimizer=optimizer, rates=rates)
        found.append(error(answers(done["network"], held_out.z, held_out.x), held_out))
    print(name, optimizer, RATES[optimizer], found, flush=True)
    return RATES[optimizer][int(np.argmin(found))]


# The comparison ----------------------------------------------------------------------------------


def main() -> None:
    """Tune, train, test, and write after every model and seed."""
    every = [*SOLVERS, *SIMPLE, *NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=every, default=every)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(SEEDS)))
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    held_out, test = to_judge(1001), to_judge(1002)
    choices = tuned(to_learn(0), held_out)
    choices |= {
        name: {
            optimizer: best_rates(name, optimizer, held_out, steps=given.steps)
            for optimizer in RATES
        }
        for name in given.models
        if name in NETWORKS
    }
    rows: list[dict] = []
    for start, name in product(given.seeds, given.models):
        for answer, done in learned(name, start, choices.get(name), given.steps):
            judged = [error(answer(d), d) for d in (held_out, test)]
            rows.append({"seed": start, "model": name, "held_out": judged[0], "test": judged[1]})
            rows[-1] |= done
            print(start, name, done.get("optimizer", ""), f"{judged[1]:.4f}", flush=True)
        if name in NETWORKS and start == given.seeds[0]:
            tried = {row["optimizer"]: row["held_out"] for row in rows if row["model"] == name}
            choices[name]["optimizer"] = min(tried, key=tried.get)
        measured = provenance(scipy, np) | {
            "seconds": round(time.process_time()),
            "sensors": SENSORS,
            "rods": RODS,
            "steps": given.steps,
            "batch": BATCH,
            "points": POINTS,
            "always zero": error(0 * test.u, test),
            "tuned": choices,
            "rows": rows,
        }
        given.to.write_text(json.dumps(measured, indent=1) + "\n")


def learned(
    name: str, start: int, choice: dict | None, steps: int
) -> Iterator[tuple[Callable[[Data], Tensor], dict]]:
    """The models, each trained once or with each optimizer."""
    known = to_learn(start)
    if name in SOLVERS:
        yield lambda d: solve_from_sensors(d.x, PLACES, d.z, SOLVERS[name]), {}
    elif name in SIMPLE:
        yield lambda d: SIMPLE[name][0](known, d, **choice), {}
    else:
        for optimizer in RATES:
            rates = choice[optimizer]
            done = trained(name, known, start, steps=steps, optimizer=optimizer, rates=rates)
            network = done.pop("network")
            yield lambda d, network=network: answers(network, d.z, d.x), done


if __name__ == "__main__":
    main()
