"""Does the energy of learned motion drift? The comparison of lecture 12, from several seeds.

Two coupled oscillators, states 0.3 apart. Four kinds of map are trained on 200 trajectories and
go on by themselves for 10,000 steps from 20 starts that they have not seen: a standard transformer
and a symplectic one on windows of four states, a SympNet on single states, and a symplectic
transformer on single states with the first three states as a prompt. Störmer-Verlet, which knows
the equations, goes beside them. The recipe is the lecture's. Run from the root of the project::

    python -m benchmarks.symplectic_rollouts [--seeds 0 1 2 3 4]
"""

import argparse
import math
from collections.abc import Callable, Iterator

import torch
from einops import rearrange
from scipy import stats
from torch import Tensor, nn

from benchmarks.report import write
from course_lib.mechanics import CoupledOscillators, IntegrationError, integrate, stoermer_verlet
from course_lib.symplectic import SymplecticTransformer, SympNet
from course_lib.training import fit, parameter_count, seed

SYSTEM = CoupledOscillators()
STEP, TOKENS, STEPS = 0.3, 4, 10_000
TRAJECTORIES, LENGTH, STARTS = 200, 60, 20
UPDATES, BATCH = 1500, 64
DATA_SEED = 10

Window = tuple[Tensor, Tensor]
Picked = tuple[Tensor, Tensor]


class StandardTransformer(nn.Module):
    """Windows (starts, tokens, d) of q and p to the next window; nothing is built in."""

    def __init__(self, d: int, tokens: int, width: int = 16) -> None:
        super().__init__()
        self.embed = nn.Linear(2 * d, width)
        self.position = nn.Parameter(0.1 * torch.randn(tokens, width))
        block = nn.TransformerEncoderLayer(
            width, 4, dim_feedforward=2 * width, dropout=0, norm_first=True, batch_first=True
        )
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.read = nn.Linear(width, 2 * d)

    def forward(self, q: Tensor, p: Tensor) -> Window:
        """The window after (q, p)."""
        z = torch.cat([q, p], dim=-1)
        return (z + self.read(self.blocks(self.embed(z) + self.position))).chunk(2, dim=-1)


def reference(starts: int, length: int, generator: torch.Generator) -> Window:
    """States STEP apart, from random starts in [-1, 1]⁴, by a fine step."""
    q, p = 2 * torch.rand(2, starts, 2, generator=generator, dtype=torch.float64) - 1
    run = integrate(SYSTEM, q, p, dt=STEP / 10, steps=10 * length)
    return run.q[:, ::10], run.p[:, ::10]


def annealed(parameters: Iterator[nn.Parameter], lr: float) -> torch.optim.Optimizer:
    """Adam, with a learning rate that falls to zero along a cosine."""
    adam = torch.optim.Adam(parameters, lr=lr, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, UPDATES)
    adam.register_step_post_hook(lambda *_: schedule.step())
    return adam


def learn(
    make: Callable[[], nn.Module],
    loss: Callable[[nn.Module, Picked], Tensor],
    *,
    first_seed: int,
    last: int,
    learning_rate: float = 2e-2,
) -> nn.Module:
    """A model of that seed, trained on random (trajectory, time) up to the time ``last``."""
    pick = seed(first_seed)
    model = make().double()
    batches = [
        (
            torch.randint(TRAJECTORIES, (BATCH,), generator=pick),
            torch.randint(last + 1, (BATCH,), generator=pick),
        )
        for _ in range(UPDATES)
    ]
    fit(
        model,
        loss,
        batches,
        steps=UPDATES,
        learning_rate=learning_rate,
        optimizer=annealed,
        progress=False,
    )
    return model


def go_on(step: Callable[..., Window], q: Tensor, p: Tensor, *, every: int = 1) -> Tensor:
    """The energies (start, time) from the last known state on, ``every`` states at a time."""
    try:
        with torch.no_grad():
            run = integrate(SYSTEM, q, p, dt=every * STEP, steps=STEPS // every, method=step)
    except IntegrationError as error:
        run = error.trajectory
    if every == 1:
        return run.energy
    return rearrange(run.energy, "start token window -> start (window token)")[:, every - 1 :]


def judged(energy: Tensor) -> dict:
    """Largest |ΔE/E|, its median over the starts, and its mean slope against time.

    ``half`` is half the width of the slope's 95 % confidence interval over the starts.
    """
    off = (energy / energy[:, :1] - 1).abs()
    time = STEP * torch.arange(off.shape[1], dtype=off.dtype)
    time -= time.mean()
    slopes = (off * time).sum(-1) / time.square().sum()
    spread = slopes.std().item() / math.sqrt(len(slopes))
    return {
        "largest": off.max().item(),
        "median": off.max(1).values.median().item(),
        "steps": off.shape[1] - 1,
        "slope": slopes.mean().item(),
        "half": stats.t.ppf(0.975, len(slopes) - 1) * spread,
    }


def compare(first_seed: int, train: Window, known: Window) -> list[dict]:
    """Train and roll out every model from one seed."""

    def at(i: Tensor, t: Tensor) -> Window:
        return train[0][i, t], train[1][i, t]

    def miss(found: Window, wanted: Window) -> Tensor:
        return sum((a - b).square().mean() for a, b in zip(found, wanted, strict=True))

    def next_state(model: nn.Module, picked: Picked) -> Tensor:
        i, t = picked
        return miss(model(*at(i, t)), at(i, t + 1))

    def next_window(model: nn.Module, picked: Picked) -> Tensor:
        i, t = picked[0][:, None], picked[1][:, None] + torch.arange(TOKENS)
        return miss(model(*at(i, t)), at(i, t + TOKENS))

    def next_after_prompt(model: nn.Module, picked: Picked) -> Tensor:
        i, t = picked
        prompt = train[0][i, : TOKENS - 1], train[1][i, : TOKENS - 1]
        q, p = (x[:, None] for x in at(i, t))
        new_q, new_p = model(q, p, context=prompt)
        return miss((new_q[:, 0], new_p[:, 0]), at(i, t + 1))

    def learned(model: nn.Module) -> Callable[..., Window]:
        return lambda system, q, p, dt: model(q, p)  # noqa: ARG005 - one step is what it knows

    single, window = LENGTH - 1, LENGTH - 2 * TOKENS + 1
    last_known = known[0][:, -1], known[1][:, -1]
    models = {
        "standard transformer": learn(
            lambda: StandardTransformer(2, TOKENS),
            next_window,
            first_seed=first_seed,
            last=window,
            learning_rate=3e-3,
        ),
        "symplectic, windows": learn(
            lambda: SymplecticTransformer(2, blocks=1),
            next_window,
            first_seed=first_seed,
            last=window,
        ),
        "SympNet": learn(lambda: SympNet(2), next_state, first_seed=first_seed, last=single),
        "symplectic, prompt": learn(
            lambda: SymplecticTransformer(2, blocks=1),
            next_after_prompt,
            first_seed=first_seed,
            last=single,
        ),
    }

    def prompted(system: object, q: Tensor, p: Tensor, dt: float) -> Window:  # noqa: ARG001 - see above
        prompt = known[0][:, :-1], known[1][:, :-1]
        q, p = models["symplectic, prompt"](q[:, None], p[:, None], context=prompt)
        return q[:, 0], p[:, 0]

    energies = {
        name: go_on(learned(models[name]), *known, every=TOKENS)
        for name in ("standard transformer", "symplectic, windows")
    }
    energies["SympNet"] = go_on(learned(models["SympNet"]), *last_known)
    energies["symplectic, prompt"] = go_on(prompted, *last_known)
    return [
        {
            "model": name,
            "seed": first_seed,
            "parameters": parameter_count(models[name]),
            **judged(energy),
        }
        for name, energy in energies.items()
    ]


def table(rows: list[dict]) -> str:
    """One line a model and seed: the largest error, and the trend with its interval."""
    return "\n".join(
        f"{row['model']:22} {row['seed']!s:>5} {row['largest']:9.2g}   "
        f"slope {row['slope']:9.1e} ± {row['half']:.1e}"
        for row in sorted(rows, key=lambda row: row["model"])
    )


def main() -> None:
    """Train, roll out, print the table, write it with all that is needed to repeat it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(DATA_SEED)
    train = reference(TRAJECTORIES, LENGTH, generator)
    known = reference(STARTS, TOKENS - 1, generator)
    rows = []
    for first_seed in seeds:
        rows += compare(first_seed, train, known)
        for row in rows[-4:]:
            print(f"seed {first_seed} {row['model']:22} {row['largest']:.3g}", flush=True)
    exact = integrate(
        SYSTEM, known[0][:, -1], known[1][:, -1], dt=STEP, steps=STEPS, method=stoermer_verlet
    )
    rows.append({"model": "Störmer–Verlet", "seed": None, "parameters": 0, **judged(exact.energy)})
    print(table(rows))
    write(
        "symplectic_rollouts",
        "symplectic_rollouts",
        step=STEP,
        starts=STARTS,
        updates=UPDATES,
        dtype="float64",
        rows=rows,
    )


if __name__ == "__main__":
    main()
