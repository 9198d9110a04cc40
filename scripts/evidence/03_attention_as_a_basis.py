"""Evidence of lecture 3: blends, a field that learned rods, and models of rods compared.

make evidence N=03
"""

import json
import math
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.basis import (
    Rods,
    hat,
    interpolate,
    random_rods,
    relative_errors,
    relu_network,
    relu_nodes,
    ridge_kernels,
    softmax_basis,
    solve_from_sensors,
    spline_matrix,
)
from course_lib.models.rods import load_rod_field, readings, temperatures
from course_lib.models.stored import DATA
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import seed

DOUBLE = {"dtype": torch.float64}
NETWORKS = ("cross-attention field", "DeepONet", "Fourier operator")
MODELS = (
    *("solver, spline between sensors", "solver, linear between sensors", "nearest rods"),
    *("PCA and ridge", "kernel ridge", "kernel ridge, linear in f", *NETWORKS),
)


@experiment([{"widths": [8]}, {"widths": [8, 8]}])
def bends(*, widths: list[int]) -> Row:
    """At how many places between −3 and 3 random ReLU networks bend, over fifty starts."""
    found = []
    for start in range(50):
        seed(start)
        found.append(len(relu_nodes(relu_network(*widths), -3, 3)) - 2)
    name = ("one", "two")[len(widths) - 1]
    ends = {f"{name}_least": min(found), f"{name}_most": max(found)}
    return {f"{name}_layer" + "s" * (len(widths) - 1): float(np.mean(found))} | ends


@experiment()
def hat_of_relus() -> Row:
    """Three units make the middle one of five hats, and bend at the five nodes."""
    spike = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1)).double()
    with torch.no_grad():
        spike[0].weight.fill_(1.0)
        spike[0].bias.copy_(torch.tensor([-0.25, -0.5, -0.75]))
        spike[2].weight.copy_(torch.tensor([[4.0, -8.0, 4.0]]))
        spike[2].bias.zero_()
        x, five = torch.linspace(0, 1, 101, **DOUBLE), torch.linspace(0, 1, 5, **DOUBLE)
        off = (spike(x[:, None])[:, 0] - hat(x, five)[:, 2]).abs().max().item()
    return {"spike_off": off, "spike_nodes": relu_nodes(spike, 0, 1).tolist()}


def wave(x: Tensor) -> Tensor:
    """The function that is blended."""
    return torch.sin(7 * x) + x


def mirrored(x: Tensor) -> Tensor:
    """The wave on [0, 1], reflected beyond the ends."""
    inside = x.clamp(0, 1)
    return 2 * wave(inside) - wave(2 * inside - x)


def logarithmic(h: float) -> float:
    """The temperature at which the ripple is smaller than the blur."""
    return 2 * h**2 * math.log(1 / h) / math.pi**2


BLENDS = {
    "hats": (None, 0, 1, 0),
    "fixed": (lambda _: 1e-3, 0.25, 0.75, 0),
    "ratio": (lambda h: 0.3 * h**2, 0.25, 0.75, 0),
    "log": (logarithmic, 0.25, 0.75, 0),
    "ends": (logarithmic, 0, 1, 0),
    "reflected": (logarithmic, 0, 1, 8),
}


def largest_error(blend: str, h: float) -> float:
    """The largest error of a blend of nodes h apart, with extra nodes beyond either end."""
    temperature, low, high, beyond = BLENDS[blend]
    nodes = h * torch.arange(-beyond, round(1 / h) + 1 + beyond, **DOUBLE)
    x = torch.linspace(low, high, 6001, **DOUBLE)
    basis = partial(softmax_basis, temperature=temperature(h)) if temperature else hat
    return (interpolate(x, nodes, mirrored(nodes), basis) - wave(x)).abs().max().item()


@experiment()
def last_halving() -> Row:
    """The errors of blends at h = 1/1024, and their order from the last halving of h."""
    found: Row = {}
    for name in BLENDS:
        before, after = (largest_error(name, 2.0**-k) for k in (9, 10))
        found |= {f"off_{name}": after, f"order_{name}": math.log2(before / after)}
    roots = []
    for count in (100, 400):
        nodes, x = (torch.linspace(0, 1, n + 1, **DOUBLE) for n in (count, 8000))
        roots.append((interpolate(x, nodes, nodes.sqrt()) - x.sqrt()).abs().max().item())
    found["order_root"] = math.log(roots[0] / roots[1], 4)
    return found | {"softmax_over_hats": found["off_reflected"] / found["off_hats"]}


@experiment([{"intervals": n} for n in (16, 256)])
def best_factor(*, intervals: int) -> Row:
    """The factor of h² ln(1/h)/π² at which the softmax errs least in the middle half."""
    nodes = torch.linspace(0, 1, intervals + 1, **DOUBLE)
    x = torch.linspace(0.25, 0.75, 2001, **DOUBLE)
    unit = math.log(intervals) / (intervals * math.pi) ** 2

    def error(factor: float) -> float:
        warm = partial(softmax_basis, temperature=factor * unit)
        return (interpolate(x, nodes, wave(nodes), warm) - wave(x)).abs().max().item()

    name = "best_coarse" if intervals == 16 else "best_fine"
    return {name: float(min(np.linspace(0.8, 2.4, 33), key=error))}


@experiment()
def noise() -> Row:
    """The mean sum of squared weights, for hats and for softmaxes of temperature c h²."""
    nodes = torch.linspace(0, 1, 17, **DOUBLE)
    x = torch.linspace(0.25, 0.75, 2001, **DOUBLE)
    bases = {"hats": hat} | {
        name: partial(softmax_basis, temperature=c / 16**2)
        for name, c in (("third", 0.3), ("one", 1), ("four", 4))
    }
    return {
        f"noise_{name}": basis(x, nodes).square().sum(1).mean().item()
        for name, basis in bases.items()
    }


# The field that learned rods -------------------------------------------------------------------


@cache
def judged() -> tuple[Rods, Tensor, Tensor]:
    """300 new rods, their sensor readings for the bundled field, and the sensors' positions."""
    rods = random_rods(300, generator=torch.Generator().manual_seed(77))
    places = torch.linspace(0, 1, load_rod_field()[1]["sensors"], **DOUBLE)
    return rods, readings(rods, places), places


@cache
def asked() -> tuple[Tensor, Tensor]:
    """200 random points, and a fine mesh for the reference solution."""
    return torch.rand(200, generator=seed(0), **DOUBLE), torch.linspace(0, 1, 1025, **DOUBLE)


def at_points(nodes: Tensor, u: Tensor) -> Tensor:
    """Temperatures at nodes, interpolated at the random points."""
    return interpolate(asked()[0], nodes, u.T).T


@experiment()
def weights_of_the_field() -> Row:
    """The reach, the weights and the values of the field, over 300 new rods."""
    field, about = load_rod_field()
    rods, z, places = judged()
    x = torch.linspace(0, 1, 201)
    here = places.float().expand(len(z), -1)
    with torch.no_grad():
        shares = field.weights(x.expand(len(z), -1), here, z)
        values = field.values(here, z)
    reach = (1 / shares.square().sum(-1)).mean((0, 2))
    largest = 100 * shares.amax((1, 2, 3)).quantile(torch.tensor([0.5, 0.95]))
    # A constant in all values of a head can be moved to another head without changing the answer.
    centred = (values - values.mean(-1, keepdim=True)).abs().amax((1, 2))
    hottest = rods.solve(x.double()).abs().amax(1)
    return {
        "bundled_sensors": about["sensors"],
        "bundled": 100 * about["error"],
        "bundled_rods": about["rods"],
        "bundled_steps": about["steps"],
        "even_share": 100 / about["sensors"],
        "least_reach": reach.min().item(),
        "most_reach": reach.max().item(),
        "hat_reach": (1 / hat(x.double(), places).square().sum(1)).mean().item(),
        "usual_weight": largest[0].item(),
        "rare_weight": largest[1].item(),
        "values_over_u": (centred / hottest).median().item(),
    }


def sums(y: Tensor) -> Tensor:
    """Running integrals over [0, 1] by the trapezoidal rule."""
    areas = (y[:, 1:] + y[:, :-1]).cumsum(1) / 2 / (y.shape[1] - 1)
    return F.pad(areas, (1, 0))


def by_two_sums(log_k: Tensor, f: Tensor) -> Tensor:
    """The exact solution on a line, u = C ∫ 1/k − ∫ F/k with F' = f."""
    inverse = (-log_k).exp()
    of_one, of_load = sums(inverse), sums(sums(f) * inverse)
    return of_load[:, -1:] / of_one[:, -1:] * of_one - of_load


def by_solver(z: Tensor) -> Tensor:
    """Finite elements, a spline between the sensors."""
    return solve_from_sensors(asked()[0], judged()[2], z.double(), spline_matrix)


def by_field(z: Tensor) -> Tensor:
    """The predictions of the bundled field."""
    return temperatures(load_rod_field()[0], z, asked()[0])


CASES = {
    "usual": {},
    "scaled": {"size": 3.0},
    "shifted": {"shift": 2.0},
    "wave_k": {"wave_k": 1.0},
    "wave_f": {"wave_f": 1.0},
}


@experiment([{"case": case} for case in CASES])
def astray(*, case: str) -> Row:
    """Errors in per cent of field and solver on rods unlike the training data."""
    change = {"shift": 0.0, "size": 1.0, "wave_k": 0.0, "wave_f": 0.0} | CASES[case]
    (rods, _, places), (_, fine) = judged(), asked()
    waves = torch.sin(20 * math.pi * fine)
    log_k = rods.log_conductivity(fine) + change["shift"] + change["wave_k"] * waves
    f = change["size"] * rods.load(fine) + change["wave_f"] * waves
    true = at_points(fine, by_two_sums(log_k, f))
    at_sensors = hat(places, fine)
    z = torch.stack([log_k @ at_sensors.T, f @ at_sensors.T], dim=-1)
    return {
        f"{name}_{case}": 100 * relative_errors(answer(z), true).mean().item()
        for name, answer in (("error", by_field), ("solver", by_solver))
    }


@experiment()
def bound_of_the_field() -> Row:
    """The bound of the field from its last norm, and its answers to huge and usual loads."""
    field, (_, z, _) = load_rod_field()[0], judged()
    norm, row = field.encoder.norm, field.value.weight.detach()
    size = (row * norm.weight).norm(dim=1) * math.sqrt(field.value.in_features)
    limit = size + (row @ norm.bias + field.value.bias).abs()
    huge = z.clone()
    huge[..., 1] *= 1e4
    most = {"huge": by_field(huge).abs().max().item(), "usual": by_field(z).abs().max().item()}
    return {"most_possible": limit.sum().item()} | {f"most_{load}": u for load, u in most.items()}


@experiment(within=1e6)  # times depend on the machine
def speed() -> Row:
    """Microseconds per rod, the least processor time of five runs: 300 rods at 200 points."""
    (rods, z, places), (points, fine) = judged(), asked()
    mesh, coarse = torch.linspace(0, 1, 257, **DOUBLE), torch.linspace(0, 1, 129, **DOUBLE)
    to_mesh, to_points = spline_matrix(mesh, places), hat(points, mesh)
    known = readings(random_rods(2000, generator=seed(1)), places).double()
    similar, from_seen = ridge_kernels(1.5)["kernel ridge, linear in f"], hat(points, coarse)
    learned = torch.randn(2000, 129, **DOUBLE)  # any coefficients take the same time

    def by_sums(z: Tensor) -> Tensor:
        log_k, f = (part @ to_mesh.T for part in z.double().unbind(-1))
        return by_two_sums(log_k, f) @ to_points.T

    def by_kernel(z: Tensor) -> Tensor:
        return similar(z.double(), known) @ learned @ from_seen.T

    def microseconds(answer: Callable[[Tensor], Any]) -> float:
        spans = []
        for _ in range(5):
            begun = time.thread_time()
            answer(z)
            spans.append(time.thread_time() - begun)
        return 1e6 * min(spans) / len(z)

    error = relative_errors(by_sums(z), at_points(fine, rods.solve(fine))).mean().item()
    answers = {"field": by_field, "solver": by_solver, "kernel": by_kernel, "sums": by_sums}
    return {name: microseconds(answer) for name, answer in answers.items()} | {
        "off_sums": 100 * error
    }


# Models of rods compared, summarised from longer scripts -----------------------------------------


def spread(errors: list[float]) -> Row:
    """Mean, deviation and range of errors over seeds, in per cent."""
    found = 100 * np.array(errors)
    ends = {"least": float(found.min()), "most": float(found.max())}
    return {"mean": float(found.mean()), "deviation": float(found.std(ddof=1)), **ends}


@cache
def compared() -> Row:
    """What ``scripts/data/compare_operators.py`` measured."""
    return json.loads((DATA / "operators.json").read_text(encoding="utf-8"))


@experiment([{"model": model} for model in MODELS])
def rods_learned(*, model: str) -> Row:
    """Errors of a model on new rods, from ``scripts/data/compare_operators.py``."""
    measured = compared()
    optimizer = measured["tuned"].get(model, {}).get("optimizer")
    rows = [row for row in measured["rows"] if row["model"] == model]
    taken = [row for row in rows if row.get("optimizer") == optimizer]
    found: Row = {"seeds": len(taken)} | spread([row["test"] for row in taken])
    if model in NETWORKS:
        alone = [row["test"] for row in rows if row["optimizer"] == "AdamW"]
        found["optimizer"] = optimizer
        found["alone"] = 100 * float(np.mean(alone))
        found["loss"] = 100 * float(np.mean([row["loss"] for row in taken]))
        found["parameters"] = taken[0]["parameters"]
    return found | {name: measured[name] for name in ("sensors", "rods", "steps")}


SAID = {
    "field": "cross-attention field",
    "deeponet": "DeepONet",
    "fourier": "Fourier operator",
    "linear": "solver, linear between sensors",
    "spline": "solver, spline between sensors",
    "kernel": "kernel ridge",
    "kernel_linear": "kernel ridge, linear in f",
    "nearest": "nearest rods",
    "pca": "PCA and ridge",
}


@experiment()
def rods_told() -> Row:
    """The errors of all models, under the names in the text."""
    rows = {key: rods_learned(model=model) for key, model in SAID.items()}
    found = {f"error_{key}": row["mean"] for key, row in rows.items()}
    for key in ("field", "deeponet", "fourier"):
        found |= {f"alone_{key}": rows[key]["alone"], f"loss_{key}": rows[key]["loss"]}
    sizes = [rows[key]["parameters"] for key in ("field", "deeponet", "fourier")]
    found |= {"fewest": min(sizes), "largest": max(sizes)}
    return found | {"field_spread": rows["field"]["deviation"]}


@cache
def retrained() -> list[Row]:
    """The rows of ``scripts/data/retrain_field.py``."""
    return json.loads((DATA / "retrained_field.json").read_text(encoding="utf-8"))["rows"]


ALONE = ("field, from nothing", "field as it was")
RETRAINED = (
    *("solver, the old equation", "kernel ridge", "kernel ridge, linear in f"),
    *("field, trained on", "kernel ridge, linear in the old solution", "solver, the term guessed"),
)


@experiment(
    [{"model": model, "rods": rods} for model in RETRAINED for rods in (25, 100, 400)]
    + [{"model": model, "rods": 100} for model in ALONE]
)
def law_unknown(*, model: str, rods: int) -> Row:
    """Errors on rods that lose heat, by training rods, from ``scripts/data/retrain_field.py``."""
    rows = [row for row in retrained() if (row["model"], row["rods"]) == (model, rods)]
    return {"seeds": len(rows)} | spread([row["test"] for row in rows])


@experiment()
def law_told() -> Row:
    """The errors on rods that lose heat, under the names in the text."""
    names = {"plain": RETRAINED[1], "ridge": RETRAINED[2], "tuned": RETRAINED[3]}
    names["corrected"] = RETRAINED[4]
    found: Row = {}
    for key, model in names.items():
        rows = {rods: law_unknown(model=model, rods=rods) for rods in (25, 100, 400)}
        found |= {f"{key}_{rods}": row["mean"] for rods, row in rows.items()}
        found[f"{key}_spread"] = max(row["deviation"] for row in rows.values())
    found["guessed_25"] = law_unknown(model=RETRAINED[5], rods=25)["mean"]
    others = {"stubborn": RETRAINED[0], "nothing_100": ALONE[0], "as_it_was": ALONE[1]}
    return found | {
        key: law_unknown(model=model, rods=100)["mean"] for key, model in others.items()
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
