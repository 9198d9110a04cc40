"""Train the networks of lecture 12 whose trajectories each have their own coupling.

    OMP_NUM_THREADS=1 python scripts/data/train_prompted_sympnets.py

Coupled oscillators, states 0.3 apart, with a coupling k that is drawn uniformly from [0.2, 2] for
each of 600 training and 100 test trajectories. All networks learn the next state. Some read the
first eight states of the trajectory, the prompt. Five kinds: a SympNet without context; one that is
given k; prompted SympNets whose encoder attends to the pairs of neighbours, or weighs all pairs
alike; and a perceptron without structure, with the encoder that attends. Five seeds of each are
trained together. The first 20 test trajectories go on for 1,000 steps. Writes
course_lib/data/prompted_sympnets.json with the results, and prompted_sympnets.npz with the weights
of the first seed for the lecture. The learning rate of each kind is the one of five that errs least
on 100 other trajectories, the mean over the seeds, after a fifth of the updates.
"""

import json
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from provenance import provenance
from scipy import stats
from torch import Tensor, nn

from course_lib.mechanics import CoupledOscillators, IntegrationError, integrate
from course_lib.models.stored import DATA
from course_lib.models.sympnets import PromptedSympNet, PromptEncoder
from course_lib.support.training import fit_side_by_side, parameter_count
from course_lib.symplectic import SympNet

RESULTS = DATA / "prompted_sympnets"
STEP, PROMPT, LENGTH, COUPLING = 0.3, 8, 60, (0.2, 2.0)
TRAJECTORIES, TESTS, STARTS, STEPS = 600, 100, 20, 1_000
SEEDS, UPDATES, TRIAL, BATCH = 5, 2000, 400, 128
RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2)
KEPT = ("SympNet", "attention")

Family = tuple[Tensor, Tensor, Tensor]
Picked = tuple[Tensor, Tensor]


def family(count: int, length: int, generator: torch.Generator) -> Family:
    """States STEP apart (count, length + 1, 2), q and p, each from its own k, and all k."""
    q, p = 2 * torch.rand(2, count, 2, generator=generator, dtype=torch.float64) - 1
    low, high = COUPLING
    k = low + (high - low) * torch.rand(count, generator=generator, dtype=torch.float64)
    runs = [
        integrate(CoupledOscillators(coupling=each), *start, dt=STEP / 10, steps=10 * length)
        for each, *start in zip(k.tolist(), q, p, strict=True)
    ]
    return torch.stack([run.q[::10] for run in runs]), torch.stack([run.p[::10] for run in runs]), k


class Told(nn.Module):
    """Replaces the encoder when k is given."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.read = nn.Sequential(
            nn.Linear(1, features), nn.Tanh(), nn.Linear(features, features), nn.Tanh()
        )

    def forward(self, k: Tensor) -> Tensor:
        """From k alone."""
        return self.read(k[..., None] - sum(COUPLING) / 2)


class Unstructured(nn.Module):
    """Baseline without structure: a perceptron of the state and the encoder's output."""

    def __init__(self, features: int, width: int = 48) -> None:
        super().__init__()
        self.encoder = PromptEncoder(2, dt=STEP, features=features)
        self.move = nn.Sequential(
            nn.Linear(4 + features, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 4),
        )

    def forward(self, q: Tensor, p: Tensor, *, context: tuple[Tensor, Tensor]) -> tuple:
        """The state plus the output of the perceptron."""
        return self.given(*context)(None, q, p, None)

    def given(self, *context: Tensor) -> Callable:
        """A stepper that reads this context once."""
        read = self.encoder(*context)

        def step(_system: object, q: Tensor, p: Tensor, _dt: object) -> tuple[Tensor, Tensor]:
            move = self.move(torch.cat([q, p, read], dim=-1))
            return q + move[..., :2], p + move[..., 2:]

        return step


class Blind(SympNet):
    """Baseline that ignores its context."""

    def forward(self, q: Tensor, p: Tensor, *, context: object = None) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """The same step for every k."""
        return super().forward(q, p)

    def given(self, *_: Tensor) -> Callable:
        """The same stepper for every context."""
        return lambda _system, q, p, _dt: self(q, p)


FEATURES = 32
KINDS: dict[str, Callable[[], nn.Module]] = {
    "SympNet": lambda: Blind(2),
    "attention": lambda: PromptedSympNet(2, encoder=PromptEncoder(2, dt=STEP)),
    "told k": lambda: PromptedSympNet(2, encoder=Told(FEATURES)),
    "no structure": lambda: Unstructured(FEATURES),
    "equal weights": lambda: PromptedSympNet(2, encoder=PromptEncoder(2, dt=STEP, pool="mean")),
}


def context_of(kind: str, data: Family, i: Tensor) -> tuple[Tensor, ...]:
    """The context of a network of this kind for trajectory i: k itself, or the first states."""
    q, p, k = data
    return (k[i],) if kind == "told k" else (q[i, :PROMPT], p[i, :PROMPT])


def missed(
    kind: str, network: nn.Module, data: Family, picked: Picked, *, shift: int = 0
) -> Tensor:
    """Mean squared error of the next state; ``shift`` swaps the contexts of trajectories."""
    q, p, _ = data
    i, t = picked
    context = context_of(kind, data, (i + shift) % len(q))
    new_q, new_p = network(q[i, t], p[i, t], context=context)
    return (new_q - q[i, t + 1]).square().mean() + (new_p - p[i, t + 1]).square().mean()


def train(kind: str, data: Family, rate: float, updates: int) -> list[nn.Module]:
    """Train networks of this kind from all seeds, by Adam with a cosine schedule."""
    networks = []
    for value in range(SEEDS):
        torch.manual_seed(value)
        networks.append(KINDS[kind]().double())
    pick = torch.Generator().manual_seed(0)
    q, p, _ = data

    def batches() -> Iterator[tuple]:
        while True:
            i = torch.randint(len(q), (SEEDS, BATCH), generator=pick)
            t = torch.randint(LENGTH, (SEEDS, BATCH), generator=pick)
            after = q[i, t + 1], p[i, t + 1]
            yield (q[i, t], p[i, t]), context_of(kind, data, i), after

    def loss(network: Callable, batch: tuple) -> Tensor:
        state, context, after = batch
        found = network(*state, context=context)
        return sum((a - b).square().mean() for a, b in zip(found, after, strict=True))

    fit_side_by_side(networks, loss, batches(), steps=updates, learning_rate=rate)
    return [network.requires_grad_(requires_grad=False) for network in networks]


def tried(kind: str, learn: Family, other: Family) -> dict[float, float]:
    """The held-out error after short trainings at each rate."""
    errors = {}
    for rate in RATES:
        networks = train(kind, learn, rate, TRIAL)
        mean = sum(missed(kind, each, other, everywhere(other)).item() for each in networks) / SEEDS
        errors[rate] = mean if math.isfinite(mean) else math.inf
    print(kind, errors, flush=True)
    return errors


def everywhere(data: Family) -> Picked:
    """Every trajectory at every time."""
    i, t = torch.meshgrid(torch.arange(len(data[0])), torch.arange(LENGTH), indexing="ij")
    return i.flatten(), t.flatten()


def energies(run_q: Tensor, run_p: Tensor, k: Tensor) -> Tensor:
    """The energy of each trajectory with its own k."""
    each = zip(k.tolist(), run_q, run_p, strict=True)
    return torch.stack([CoupledOscillators(coupling=k).energy(q, p) for k, q, p in each])


def judge(kind: str, network: nn.Module, test: Family, exact: Tensor) -> dict:
    """The held-out error, and errors over 1,000 steps from the end of the prompt.

    ``slope`` is that of |ΔE/E| against time, the mean over the starts; ``slope`` ± ``half`` is its
    90 % interval, that of two one-sided tests at 5 %. ``apart`` is the mean distance of the
    positions from the exact ones after so many steps.
    """
    first = torch.arange(STARTS)
    q, p, k = test
    step = network.given(*context_of(kind, test, first))
    start = q[first, PROMPT - 1], p[first, PROMPT - 1]
    with torch.inference_mode():
        try:
            run = integrate(CoupledOscillators(), *start, dt=STEP, steps=STEPS, method=step)
        except IntegrationError as error:
            run = error.trajectory
    energy = energies(run.q, run.p, k[first])
    off = (energy / energy[:, :1] - 1).abs()
    time_ = run.t - run.t.mean()
    slopes = (off * time_).sum(-1) / time_.square().sum()
    apart = (run.q[:, : exact.shape[1]] - exact[:, : run.q.shape[1]]).norm(dim=-1)
    return {
        "test": missed(kind, network, test, everywhere(test)).item(),
        "another": missed(kind, network, test, everywhere(test), shift=TESTS // 2).item(),
        "largest": off.amax(1).tolist(),
        "steps": off.shape[1] - 1,
        "slope": slopes.mean().item(),
        "half": stats.t.ppf(0.95, STARTS - 1) * slopes.std().item() / math.sqrt(STARTS),
        "apart": {
            str(count): apart[:, count].mean().item()
            for count in (100, 1000)
            if count < apart.shape[1]
        },
    }


def main() -> None:
    """Train every kind from every seed; write measurements after each kind, and weights."""
    torch.set_num_threads(1)
    began = time.perf_counter()
    generator = torch.Generator().manual_seed(10)
    learn, test, other = (
        family(count, LENGTH, generator) for count in (TRAJECTORIES, TESTS, TESTS)
    )
    starts = zip(test[2], test[0][:, PROMPT - 1], test[1][:, PROMPT - 1], strict=True)
    exact = torch.stack(
        [
            integrate(CoupledOscillators(coupling=k.item()), q, p, dt=STEP / 10, steps=10 * STEPS).q
            for k, q, p in list(starts)[:STARTS]
        ]
    )[:, ::10]
    rows, weights, trials = [], {}, {}
    for kind, make in KINDS.items():
        trials[kind] = tried(kind, learn, other)
        rate = min(trials[kind], key=trials[kind].get)
        networks = train(kind, learn, rate, UPDATES)
        if kind in KEPT:
            vector = nn.utils.parameters_to_vector(networks[0].parameters())
            weights[kind] = vector.float().numpy()
        for value, network in enumerate(networks):
            size = parameter_count(make())
            row = {"kind": kind, "seed": value, "parameters": size}
            rows.append(row | judge(kind, network, test, exact))
            shown = {key: rows[-1][key] for key in ("test", "another", "apart", "slope")}
            largest = sorted(rows[-1]["largest"])
            print(
                value,
                kind,
                shown,
                f"median {largest[STARTS // 2]:.3g} worst {largest[-1]:.3g}",
                f"after {time.perf_counter() - began:.0f} s",
                flush=True,
            )
        measured = provenance() | {
            "seconds": round(time.perf_counter() - began),
            "processor_seconds": round(time.process_time()),
            "updates": UPDATES,
            "trials": trials,
            "rows": rows,
        }
        RESULTS.with_suffix(".json").write_text(json.dumps(measured, indent=1) + "\n")
        with RESULTS.with_suffix(".npz").open("wb") as file:
            np.savez_compressed(file, **weights)


if __name__ == "__main__":
    main()
