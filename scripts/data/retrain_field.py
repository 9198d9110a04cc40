"""Train the field of lecture 3 on another equation and write course_lib/data/retrained_field.json.

    OMP_NUM_THREADS=1 python scripts/data/retrain_field.py

The bundled field was trained on rods that keep their heat. These rods lose some to the air, and
only few are measured. Each seed draws its own; all share 300 rods for tuning the strengths and
lengths of all models but the field, and 300 test rods. operators.md describes the file.
"""

import json
import time
from collections.abc import Iterator

import numpy as np
import scipy
import torch
from provenance import provenance
from scipy.optimize import minimize_scalar
from torch import Tensor, nn

from course_lib.basis import (
    CrossAttentionField,
    interpolate,
    kernel_regression,
    random_rods,
    relative_errors,
    ridge_kernels,
    solve_from_sensors,
    spline_matrix,
    train_operator,
)
from course_lib.models.rods import load_rod_field
from course_lib.models.stored import DATA
from course_lib.support.training import seed

RESULTS = DATA / "retrained_field.json"
EXCHANGE, COUNTS, SEEDS, STEPS, BATCH, RATE, POINTS = 10.0, (25, 100, 400), 5, 300, 32, 1e-3, 32
LENGTHS, STRENGTHS = (1.0, 1.5, 2.0, 3.0, 4.0), tuple(10.0**power for power in range(-6, 1))
KERNELS = {
    "kernel ridge": ("kernel ridge", False),
    "kernel ridge, linear in f": ("kernel ridge, linear in f", False),
    "kernel ridge, linear in the old solution": ("kernel ridge, linear in f", True),
}
"""The kernel, and whether the solver's answer replaces the load."""
FINE = torch.linspace(0, 1, 1025, dtype=torch.float64)
SEEN = torch.linspace(0, 1, 129, dtype=torch.float64)
UNSEEN = torch.rand(200, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
PLACES = torch.linspace(0, 1, load_rod_field()[1]["sensors"], dtype=torch.float64)

# The old solution is used at as many points as the load: every fourth of the mesh.
AT_SENSORS = torch.arange(len(PLACES)) * 4


def read(nodes: Tensor, u: Tensor, x: Tensor) -> Tensor:
    """Interpolate solutions between their nodes."""
    return interpolate(x, nodes, u.T).T


def drawn(rods: int, start: int) -> tuple[Tensor, Tensor]:
    """The sensor readings, and the temperatures on the fine mesh."""
    found = random_rods(rods, generator=torch.Generator().manual_seed(start))
    z = torch.stack([found.log_conductivity(PLACES), found.load(PLACES)], dim=-1)
    return z, found.solve(FINE, q=EXCHANGE)


def batches(z: Tensor, u: Tensor, start: int) -> Iterator[tuple[Tensor, ...]]:
    """Endless batches of rods and points in random order."""
    random = torch.Generator().manual_seed(start)
    x, size = SEEN.float(), min(BATCH, len(z))
    while True:
        for part in torch.randperm(len(z), generator=random).split(size):
            at = torch.randperm(len(x), generator=random)[:POINTS]
            many = len(part), -1
            yield x[at].expand(many), PLACES.float().expand(many), z[part], u[part][:, at]


@torch.no_grad()
def answers(network: nn.Module, z: Tensor) -> Tensor:
    """The predictions of a network at points outside training."""
    many = len(z), -1
    x, place = UNSEEN.float().expand(many), PLACES.float().expand(many)
    return network(x, place, z.float()).double()


def retrained(field: CrossAttentionField, z: Tensor, u: Tensor, start: int) -> CrossAttentionField:
    """The field after a few steps on the measured rods."""
    supply = batches(z.float(), u.float(), start)
    train_operator(field, supply, steps=STEPS, learning_rate=RATE, progress=False)
    return field


def main() -> None:
    """Tune, train, test, and write after every seed."""
    torch.set_num_threads(1)
    began, rows, tuned = time.perf_counter(), [], {}
    about = load_rod_field()[1]
    (z_held, u_held), (z_test, u_test) = drawn(300, 1001), drawn(300, 1002)
    u_held, u_test = (read(FINE, u, UNSEEN) for u in (u_held, u_test))
    solved = {id(z): solve_from_sensors(SEEN, PLACES, z, spline_matrix) for z in (z_held, z_test)}

    def error(answer: Tensor, truth: Tensor = u_test) -> float:
        return relative_errors(answer, truth).mean().item()

    for start in range(SEEDS):
        for rods in COUNTS:
            z, u = drawn(rods, start)
            u = u[:, ::8]
            solved[id(z)] = solve_from_sensors(SEEN, PLACES, z, spline_matrix)

            def ridge(asked: Tensor, name: str, length: float, strength: float) -> Tensor:
                kernel = ridge_kernels(length)[KERNELS[name][0]]
                inputs = [
                    torch.stack([z[..., 0], solved[id(z)][:, AT_SENSORS]], dim=-1)
                    if KERNELS[name][1]
                    else z
                    for z in (asked, z)
                ]
                found = kernel_regression(*inputs, u, kernel, strength=strength)  # noqa: B023
                return read(SEEN, found, UNSEEN)

            here = {
                "solver, the old equation": error(read(SEEN, solved[id(z_test)], UNSEEN)),
                "field as it was": error(answers(load_rod_field()[0], z_test)),
            }
            for name in KERNELS:
                if (name, rods) not in tuned:
                    tries = [(a, b) for a in LENGTHS for b in STRENGTHS]
                    found = [error(ridge(z_held, name, *choice), u_held) for choice in tries]
                    tuned[name, rods] = tries[int(np.argmin(found))]
                here[name] = error(ridge(z_test, name, *tuned[name, rods]))
            few = read(SEEN, u, UNSEEN)
            fitted = minimize_scalar(
                lambda q: error(
                    solve_from_sensors(UNSEEN, PLACES, z, spline_matrix, q=q),  # noqa: B023
                    few,  # noqa: B023
                ),
                bounds=(0, 100),
                options={"xatol": 0.01},
            ).x
            guessed = solve_from_sensors(UNSEEN, PLACES, z_test, spline_matrix, q=float(fitted))
            here["solver, the term guessed"] = error(guessed)
            seed(start)
            here["field, trained on"] = error(
                answers(retrained(load_rod_field()[0], z, u, start), z_test)
            )
            if rods == COUNTS[1]:
                fresh = CrossAttentionField(**about["sizes"], finest=about["finest"])
                here["field, from nothing"] = error(answers(retrained(fresh, z, u, start), z_test))
            for model, value in here.items():
                rows.append({"model": model, "rods": rods, "seed": start, "test": value})
                print(f"{start} {rods:4} {model:40} {100 * value:.1f} %", flush=True)
        write(rows, tuned, time.perf_counter() - began)


def write(rows: list[dict], tuned: dict, seconds: float) -> None:
    """All results so far."""
    measured = provenance(scipy, np) | {
        "seconds": round(seconds),
        "exchange": EXCHANGE,
        "steps": STEPS,
        "batch": BATCH,
        "rate": RATE,
        "field": load_rod_field()[1]["command"],
        "tuned": [
            {"model": name, "rods": n, "tuned": choice} for (name, n), choice in tuned.items()
        ],
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
