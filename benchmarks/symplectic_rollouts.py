"""Energy drift of learned motion: the comparison of lecture 12, from several seeds.

Two coupled oscillators, states 0.3 apart. All models train on 200 trajectories of 60 steps and are
rolled out for 10,000 steps from 20 new starts. One state at a time: a perceptron, and SympNets of
eight and of four gradient layers; the shorter one also with steps of 1.2. Windows of four states: a
standard transformer and symplectic attention, whose windows shift by four steps of 0.3 at once, and
symplectic attention whose windows shift by one step. Symplectic attention is followed by four
gradient layers, so the SympNet of four is the same network without attention. Störmer-Verlet, which
is given the equations, is the reference. Run from the root of the project::

    python -m benchmarks.symplectic_rollouts [rates | models]

The perceptron is trained a second time, three times as long and at half the rate, so that its
held-out error is that of the SympNet. Given names of models, the program repeats only these and
keeps the other rows; each model has its own random numbers, so that the rows are those of a whole
run. With ``rates`` it prints the errors after trials of 400 updates on other trajectories instead,
from which the other learning rates were chosen.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from scipy import stats
from torch import Tensor, nn

from benchmarks.report import SHOWN, write
from course_lib.mechanics import integrate, stoermer_verlet
from course_lib.models.sympnets import (
    STEP,
    SYSTEM,
    Perceptron,
    StandardTransformer,
    States,
    missed,
    pieces,
    reference,
    roll_out,
)
from course_lib.support.training import fit_side_by_side, parameter_count
from course_lib.symplectic import SymplecticTransformer, SympNet

TOKENS, STEPS = 4, 10_000
TRAJECTORIES, LENGTH, STARTS, TESTS = 200, 60, 20, 100
SEEDS, UPDATES, TRIAL, BATCH = 5, 1500, 400, 64
TRIED = (3e-3, 1e-2, 2e-2)
DATA_SEED = 10
APART = 100  # steps after which the phase error is taken


@dataclass(frozen=True)
class Kind:
    """A model, its learning rate, its window and shift in states, and its updates."""

    make: Callable[[], nn.Module]
    rate: float
    tokens: int = 1
    shift: int = 1
    updates: int = UPDATES


KINDS = {
    "perceptron": Kind(lambda: Perceptron(2), 2e-2),
    "perceptron, thrice": Kind(lambda: Perceptron(2), 1e-2, updates=3 * UPDATES),
    "SympNet": Kind(lambda: SympNet(2), 2e-2),
    "windows by one": Kind(lambda: SymplecticTransformer(2, blocks=1), 2e-2, TOKENS, 1),
    "windows by four": Kind(lambda: SymplecticTransformer(2, blocks=1), 2e-2, TOKENS, TOKENS),
    "four layers": Kind(lambda: SympNet(2, layers=4), 2e-2),
    "four layers by four": Kind(lambda: SympNet(2, layers=4), 2e-2, 1, TOKENS),
    "standard transformer": Kind(lambda: StandardTransformer(2, TOKENS), 3e-3, TOKENS, TOKENS),
}


def train(kind: Kind, data: States, rate: float, updates: int) -> list[nn.Module]:
    """Train models of all seeds together on random pieces of the trajectories."""
    models = []
    for value in range(SEEDS):
        torch.manual_seed(value)
        models.append(kind.make().double())
    pick = torch.Generator().manual_seed(0)

    def batches() -> Iterator[tuple[States, States]]:
        while True:
            i = torch.randint(TRAJECTORIES, (SEEDS, BATCH), generator=pick)
            last = LENGTH + 2 - kind.tokens - kind.shift
            t = torch.randint(last, (SEEDS, BATCH), generator=pick)
            yield pieces(data, i, t, tokens=kind.tokens, shift=kind.shift)

    fit_side_by_side(models, missed, batches(), steps=updates, learning_rate=rate)
    return models


def held_out(kind: Kind, model: nn.Module, data: States) -> float:
    """The error on new trajectories, at all times."""
    last = LENGTH + 2 - kind.tokens - kind.shift
    i, t = torch.meshgrid(torch.arange(len(data[0])), torch.arange(last), indexing="ij")
    with torch.no_grad():
        times = {"tokens": kind.tokens, "shift": kind.shift}
        return missed(model, pieces(data, i.flatten(), t.flatten(), **times)).item()


def trend(off: Tensor, step: float) -> dict:
    """Mean slope of |ΔE/E| against time over the starts; ± ``half`` is its 90 % interval.

    Two one-sided tests at 5 % call a slope equivalent to none if that interval lies within a margin
    (Schuirmann, 1987).
    """
    time_ = step * torch.arange(off.shape[1], dtype=off.dtype)
    time_ -= time_.mean()
    slopes = (off * time_).sum(-1) / time_.square().sum()
    spread = slopes.std().item() / math.sqrt(len(slopes))
    half = stats.t.ppf(0.95, len(slopes) - 1) * spread
    return {"slope": slopes.mean().item(), "half": half}


def judge(kind: Kind, model: nn.Module, known: States, exact: Tensor) -> dict:
    """Errors over 10,000 steps in the energy of one state, of a window, and in the phase."""
    start = tuple(x if kind.tokens > 1 else x[:, -1] for x in known)
    run = roll_out(model, *start, shift=kind.shift, steps=STEPS)
    q, energy = run.q, run.energy
    found = {}
    if kind.tokens > 1:
        total = energy.sum(1)
        found["total"] = (total / total[:, :1] - 1).abs().max().item()
        q, energy = q[:, -1], energy[:, -1]  # the last token starts where the others' runs do
    off = (energy / energy[:, :1] - 1).abs()
    calls = APART // kind.shift
    if calls < q.shape[1]:
        found["apart"] = (q[:, calls] - exact).norm(dim=-1).mean().item()
    return found | {
        "largest": off.max().item(),
        "median": off.amax(1).median().item(),
        "time": kind.shift * STEP * (off.shape[1] - 1),
        **trend(off, kind.shift * STEP),
    }


def main(*what: str) -> None:
    """Train, roll out, print; write after each model, with the settings to repeat it."""
    torch.set_num_threads(1)
    began = time.perf_counter()
    generator = torch.Generator().manual_seed(DATA_SEED)
    learn = reference(TRAJECTORIES, LENGTH, generator)
    known = reference(STARTS, TOKENS - 1, generator)
    tests, other = (reference(TESTS, LENGTH, generator) for _ in range(2))
    if what == ("rates",):
        for name, kind in KINDS.items():
            for rate in TRIED:
                errors = [held_out(kind, each, other) for each in train(kind, learn, rate, TRIAL)]
                print(f"{name:22} {rate:6} {sum(errors) / SEEDS:.2e}", flush=True)
        return
    if unknown := set(what) - set(KINDS):
        raise ValueError(f"no models {sorted(unknown)}; choose from {list(KINDS)}")
    last = known[0][:, -1], known[1][:, -1]
    exact = integrate(SYSTEM, *last, dt=STEP / 10, steps=10 * APART).q[:, -1]
    verlet = integrate(SYSTEM, *last, dt=STEP, steps=STEPS, method=stoermer_verlet)
    off = (verlet.energy / verlet.energy[:, :1] - 1).abs()
    rows = [
        {
            "model": "Störmer–Verlet",
            "seed": None,
            "parameters": 0,
            "apart": (verlet.q[:, APART] - exact).norm(dim=-1).mean().item(),
            "largest": off.max().item(),
            "median": off.amax(1).median().item(),
            "time": STEP * STEPS,
            **trend(off, STEP),
        }
    ]
    order = [rows[0]["model"], *KINDS]
    if what:
        path = SHOWN / "symplectic_rollouts.json"
        earlier = json.loads(path.read_text(encoding="utf-8"))
        rows = [row for row in earlier["rows"] if row["model"] not in what]
    for name in what or KINDS:
        kind = KINDS[name]
        for value, model in enumerate(train(kind, learn, kind.rate, kind.updates)):
            rows.append(
                {
                    "model": name,
                    "seed": value,
                    "parameters": parameter_count(model),
                    "updates": kind.updates,
                    "held out": held_out(kind, model, tests),
                    **judge(kind, model, known, exact),
                }
            )
            print(rows[-1], f"after {time.perf_counter() - began:.0f} s", flush=True)
        write(
            "symplectic_rollouts",
            "symplectic_rollouts",
            folder=SHOWN,
            step=STEP,
            command="python -m benchmarks.symplectic_rollouts",
            repeated=list(what),
            starts=STARTS,
            dtype="float64",
            seconds=round(time.perf_counter() - began),
            rows=sorted(rows, key=lambda row: order.index(row["model"])),
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
