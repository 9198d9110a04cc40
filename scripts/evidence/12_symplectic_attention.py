"""Evidence of lecture 12 beyond the networks that its page trains."""

import json
import math
import sys
from functools import cache

import torch
from torch import Tensor, nn

from course_lib.attention import attention
from course_lib.mechanics import (
    CoupledOscillators,
    RigidBody,
    Trajectory,
    implicit_midpoint,
    integrate,
    stoermer_verlet,
)
from course_lib.models.stored import DATA
from course_lib.models.sympnets import (
    STEP,
    SYSTEM,
    Perceptron,
    comes_next,
    learn,
    load_sympnet,
    reference,
    roll_out,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.symplectic import (
    LiePoissonNet,
    SymplecticTransformer,
    SympNet,
    VolumePreservingTransformer,
    attention_potential,
    symplectic_attention,
)

NO_DRIFT = 0.01
"""A total gain of energy below this counts as none."""


@cache
def data() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The trajectories and the new starts of the page."""
    draws = torch.Generator().manual_seed(10)
    return reference(200, 60, draws), reference(20, 3, draws)


def off(run: Trajectory) -> Tensor:
    """The relative energy error |ΔE/E| of each start at each time."""
    return (run.energy / run.energy[:, :1] - 1).abs()


def spread_out(count: int, points: int) -> Tensor:
    """Indices from 1 to count, evenly on a logarithmic axis."""
    return torch.logspace(0, math.log10(count), points).long().unique()


def one_term(z: Tensor, A: Tensor) -> Tensor:
    """2 Sᵀ Z A for the vector softmax: attention with an additional zero key, doubled."""
    keys = torch.cat([z @ A, torch.zeros_like(z[:1])])
    return 2 * attention(z, keys, keys, scale=1)


def both_terms(z: Tensor, A: Tensor) -> Tensor:
    """The gradient of the potential."""
    return symplectic_attention(z, A, softmax="vector")


@experiment([{"force": name, "step": step} for name in ("both", "one") for step in (0.05, 0.01)])
def let_go(*, force: str, step: float) -> Row:
    """The energy of three tokens in the potential of attention, under its gradient or one term."""
    random, double = torch.Generator().manual_seed(10), {"dtype": torch.float64}
    q, A = (torch.randn(*shape, generator=random, **double) for shape in ((3, 2), (2, 2)))
    A, p, states = (A + A.T) / 2, torch.zeros_like(q), [(q, torch.zeros_like(q))]
    pull = {"both": both_terms, "one": one_term}[force]
    push = q + pull(q, A)
    for _ in range(round(60 / step)):
        p = p - step / 2 * push
        q = q + step * p
        push = q + pull(q, A)
        p = p - step / 2 * push
        states.append((q, p))
    q, p = (torch.stack(part) for part in zip(*states, strict=True))
    bowl = (p.square() + q.square()).sum((-2, -1)) / 2
    energy = bowl + attention_potential(q, A, softmax="vector")
    error = (energy / energy[0] - 1).abs().cummax(0).values
    some = spread_out(len(error) - 1, 100)
    times = (step * some).tolist()
    return {"times": times, "errors": error[some].tolist(), "worst": error[-1].item()}


@cache
def networks(updates: int) -> tuple[nn.Module, nn.Module]:
    """The perceptron and the SympNet of the page."""
    options = {"last": 59, "updates": updates, "progress": False}
    loss = comes_next(data()[0])
    perceptron = learn(lambda: Perceptron(2), loss, **options)
    return perceptron, learn(lambda: SympNet(2), loss, **options)


@experiment([{"updates": 50}, {"updates": 1500}], within=0.05)
def swings(*, updates: int) -> Row:
    """500 steps from rest, near and far: a perceptron's energy drifts, a SympNet's oscillates."""
    angle = torch.arange(24, dtype=torch.float64)[:, None] * math.tau / 24
    way = torch.cat([angle.cos(), angle.sin()], dim=-1)
    pulled = torch.cat([0.3 * way, 2.5 * way])
    crept, swung = (
        roll_out(network, pulled, torch.zeros_like(pulled), steps=500)
        for network in networks(updates)
    )
    quiet, wide = (crept.energy[:, -1] / crept.energy[:, 0]).chunk(2)
    creeps = swung.energy[:, -100:].mean(1) / swung.energy[:, :100].mean(1) - 1
    still = torch.zeros_like(pulled)
    exact = integrate(SYSTEM, pulled, still, dt=STEP / 10, steps=5000, method=stoermer_verlet)
    behind = (swung.q - exact.q[:, ::10]).norm(dim=-1)[24:, -100:].amax(1) / 2.5
    return {
        "quiet_least": quiet.min().item(),
        "quiet_gain": quiet.median().item(),
        "wide_lost": (wide < 1).sum().item(),
        "swing_trembles": off(swung).max().item(),
        "swing_creeps": creeps.abs().max().item(),
        "widest_shown": data()[0][0].norm(dim=-1).max().item(),
        "behind": behind.median().item(),
    }


@experiment([{"updates": 50, "steps": 500}, {"updates": 1500, "steps": 10_000}], within=0.05)
def attractors(*, updates: int, steps: int) -> Row:
    """A perceptron's attractors from the 20 starts, and how much a step shrinks volumes there."""
    perceptron, _ = networks(updates)
    run = roll_out(perceptron, *(x[:, 3] for x in data()[1]), steps=steps)

    def step(z: Tensor) -> Tensor:
        return torch.cat(perceptron(*z.chunk(2)), dim=-1)

    states = torch.cat([run.q, run.p], dim=-1)[:, -500:].flatten(0, 1)
    M = torch.func.vmap(torch.func.jacrev(step))(states)
    volumes = torch.linalg.slogdet(M).logabsdet.unflatten(0, (-1, 500)).mean(1)
    began, ended = run.energy[:, 0], run.energy[:, -1]
    low = ended < 2 * ended.min()
    row = {}
    for name, some, form in (("low", low, ".2f"), ("high", ~low, ".0f")):
        if some.any():
            energies = began[some], ended[some]
            for when, energy in zip(("began", "ended"), energies, strict=True):
                least, most = energy.min().item(), energy.max().item()
                row |= {f"{when}_{name}_least": least, f"{when}_{name}_most": most}
            row |= {name: some.sum().item()}
            ends = " and ".join(f"{value:{form}}" for value in (least, most))
            row[f"ended_{name}"] = f"{row[name]} between {ends}"
            row |= {f"shrinks_{name}": -volumes[some].mean().expm1().item()}
    least, most = began.min().item(), began.max().item()
    row["began"] = f"{least:.1f} and {most:.1f}"
    return row | {"shrinks_least": -volumes.max().item()}


WINDOWS = [{"by": by, "updates": 1500, "steps": 10_000} for by in (4, 1)]


@experiment([{"by": 1, "updates": 50, "steps": 500}, *WINDOWS], within=0.05)
def windows_go_on(*, by: int, updates: int, steps: int) -> Row:
    """The energy of one state and of a window's total, for shifts by four states and by one."""
    loss = comes_next(data()[0], tokens=4, shift=by)
    options = {"last": 57 - by, "updates": updates, "progress": False}
    model = learn(lambda: SymplecticTransformer(2, blocks=1), loss, **options)
    energy = roll_out(model, *data()[1], shift=by, steps=steps).energy
    found = {"one": energy, "total": energy.sum(1)}
    row = {name: (e / e[..., :1] - 1).abs().max().item() for name, e in found.items()}
    return row | {
        "windows go on by": {1: "one state", 4: "four states"}[by],
        "one state": f"{100 * row['one']:.0f} %",
        "the total": f"{100 * row['total']:.1f} %",
    }


@cache
def seeds() -> dict[str, list[Row]]:
    """The results of benchmarks/symplectic_rollouts.py, by model, a row for each seed."""
    found: dict[str, list[Row]] = {}
    path = DATA / "benchmarks" / "symplectic_rollouts.json"
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        found.setdefault(row["model"], []).append(row)
    return found


def between(row: Row, name: str, form: str) -> str:
    """Format least and largest, or an empty text."""
    names = [key for key in (f"{name}_least", f"{name}_most") if key in row]
    return "–".join(dict.fromkeys(format(row[key], form) for key in names))


MODELS = (
    "Störmer–Verlet",
    "perceptron",
    "perceptron, thrice",
    "SympNet",
    "windows by one",
    "windows by four",
    "four layers",
    "four layers by four",
    "standard transformer",
)


@experiment([{"model": model} for model in MODELS])
def from_several_seeds(*, model: str) -> Row:
    """The range over seeds of the results of benchmarks/symplectic_rollouts.py."""
    rows = seeds()[model]
    length = 10_000 * STEP
    drifts = [(abs(row["slope"]) + row["half"]) * length for row in rows]
    summary = {"seeds": len(rows), "no_drift": sum(drift < NO_DRIFT for drift in drifts)}
    for key in ("largest", "median", "total", "held out", "apart", "parameters"):
        values = [row[key] for row in rows if key in row]
        if values:
            name = key.replace(" ", "_")
            summary |= {f"{name}_least": min(values), f"{name}_most": max(values)}
    return summary | {
        "|ΔE/E|": between(summary, "largest", ".2g"),
        "of total": between(summary, "total", ".2g"),
        "no drift": f"{summary['no_drift']}/{len(rows)}",
        "held-out error": between(summary, "held_out", ".1e"),
        "apart": between(summary, "apart", ".2g"),
        "size": between(summary, "parameters", ","),
    }


@experiment()
def seeds_compared() -> Row:
    """Attention on windows, and a perceptron that trains for longer, over the seeds."""
    alone, alone_by_four, by_one, longer, built = (
        from_several_seeds(model=model)
        for model in (
            "four layers",
            "four layers by four",
            "windows by one",
            "perceptron, thrice",
            "SympNet",
        )
    )
    pairs = zip(seeds()["perceptron"], seeds()["SympNet"], strict=True)
    ratios = [plain["held out"] / own["held out"] for plain, own in pairs]
    return {
        "alone_short": alone["largest_most"],
        "alone_long": alone_by_four["largest_most"],
        "lost_short": by_one["largest_least"],
        "lost_half": by_one["median_least"],
        "total_short": by_one["total_most"],
        "seeds": built["seeds"],
        "loss_ratio": f"{min(ratios):.1f} to {max(ratios):.1f}",
        "longer_off": between(longer, "largest", ".2g"),
        "longer_test": between(longer, "held_out", ".1e"),
        "sympnet_test": between(built, "held_out", ".1e"),
    }


@cache
def kinds() -> dict[str, list[Row]]:
    """The results of scripts/data/train_prompted_sympnets.py, by kind, a row for each seed."""
    found: dict[str, list[Row]] = {}
    path = DATA / "prompted_sympnets.json"
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        found.setdefault(row["kind"], []).append(row)
    return found


KINDS = ("SympNet", "attention", "told k", "no structure", "equal weights")


@experiment([{"kind": kind} for kind in KINDS])
def prompted(*, kind: str) -> Row:
    """Range and median over seeds of the results of scripts/data/train_prompted_sympnets.py."""
    rows = kinds()[kind]
    numbers = {
        "test": [row["test"] for row in rows],
        "another": [row["another"] for row in rows],
        "apart": [row["apart"]["100"] for row in rows],
        "largest": [torch.tensor(row["largest"]).quantile(0.5).item() for row in rows],
        "worst": [max(row["largest"]) for row in rows],
    }
    found = {}
    for name, values in numbers.items():
        middle = torch.tensor(values).median().item()
        found |= {f"{name}_least": min(values), f"{name}_most": max(values)}
        found |= {f"{name}_middle": middle}
    return found | {
        "size": f"{rows[0]['parameters']:,}",
        "a step": between(found, "test", ".0e"),
        "another's": between(found, "another", ".0e"),
        "apart": between(found, "apart", ".2f"),
        "|ΔE/E|": between(found, "largest", ".3f"),
        "worst": between(found, "worst", ".2f"),
    }


@experiment([{"steps": 300}, {"steps": 10_000}], within=0.01)
def sixteen_couplings(*, steps: int) -> Row:
    """The energy of 16 trajectories, each with its own coupling, with a prompt and without."""
    draws = torch.Generator().manual_seed(12)
    coupling = 0.2 + 1.8 * torch.rand(16, generator=draws, dtype=torch.float64)
    each = [CoupledOscillators(coupling=k) for k in coupling.tolist()]
    starts = 2 * torch.rand(2, 16, 2, generator=draws, dtype=torch.float64) - 1
    pairs = zip(each, *starts, strict=True)
    seen = [integrate(own, q, p, dt=STEP / 10, steps=70) for own, q, p in pairs]
    seen_q, seen_p = (torch.stack([getattr(run, x)[::10] for run in seen]) for x in "qp")
    blind, reading = load_sympnet("SympNet"), load_sympnet("attention")
    steppers = {
        "blind": lambda _system, q, p, _dt: blind(q, p),
        "read": reading.given(seen_q, seen_p),
    }
    some = spread_out(steps, 50)
    row = {"times": (STEP * some).tolist()}
    for name, stepper in steppers.items():
        eighth = seen_q[:, 7], seen_p[:, 7]
        with torch.inference_mode():
            run = integrate(SYSTEM, *eighth, dt=STEP, steps=steps, method=stepper)
        states = zip(each, run.q, run.p, strict=True)
        energy = torch.stack([own.energy(q, p) for own, q, p in states])
        error = (energy / energy[:, :1] - 1).abs().cummax(1).values
        middle = error.quantile(0.5, dim=0)
        row |= {name: error[:, some].tolist(), f"{name}_median": middle[some].tolist()}
        row |= {f"{name}_early": middle[steps // 10].item(), f"{name}_kept": middle[-1].item()}
    return row


@experiment(within=0.01)
def quiet_prompts() -> Row:
    """The start with the least energy is the worst for prompts; a larger prompt helps there."""
    drawn = torch.Generator().manual_seed(10)
    for count in (600, 100):
        first = 2 * torch.rand(2, count, 2, generator=drawn, dtype=torch.float64) - 1
        k = 0.2 + 1.8 * torch.rand(count, generator=drawn, dtype=torch.float64)
    tested = [CoupledOscillators(coupling=each) for each in k[:20].tolist()]
    quiet = min(range(20), key=lambda i: tested[i].energy(*first[:, i]).item())
    worst = [row["largest"].index(max(row["largest"])) for row in kinds()["attention"]]
    row = {"seeds_worst_there": sum(place == quiet for place in worst), "seeds": len(worst)}
    reading, own = load_sympnet("attention"), tested[quiet]
    for name, scale in (("own_prompt", 1), ("loud_prompt", 2.5)):
        near, far = (
            integrate(own, *(s * first[:, quiet]), dt=STEP / 10, steps=70) for s in (1, scale)
        )
        stepper = reading.given(far.q[None, ::10], far.p[None, ::10])
        with torch.inference_mode():
            state = near.q[None, -1], near.p[None, -1]
            run = integrate(own, *state, dt=STEP, steps=1000, method=stepper)
        row[name] = off(run).max().item()
    return row


@experiment()
def prompted_compared() -> Row:
    """The gains of reading a prompt, of knowing k, of structure, and of weighing pairs."""
    blind, read, told, free, equal = (prompted(kind=kind) for kind in KINDS)
    return {
        "read_gain": blind["test_middle"] / read["test_middle"],
        "told_gain": read["test_middle"] / told["test_middle"],
        "free_test": free["test_middle"],
        "read_test": read["test_middle"],
        "mean_test": equal["test_middle"],
        "free_lost": free["largest_middle"],
        "read_lost": read["largest_middle"],
        "least_worst": read["worst_least"],
        "blind_worst": blind["worst_most"],
        "told_worst": told["worst_most"],
    }


BODY = RigidBody()


def circles(first: float, spacing: float) -> Tensor:
    """Starts on two circles of the sphere."""
    alpha = torch.arange(first, math.tau, spacing, dtype=torch.float64)
    zero = torch.zeros_like(alpha)
    rows = [alpha.sin(), zero, alpha.cos()], [zero, alpha.sin(), alpha.cos()]
    return torch.cat([torch.stack(row, dim=-1) for row in rows])


def turning(z: Tensor, length: int) -> Tensor:
    """The motion from these starts, by the implicit midpoint rule with steps of 0.2."""
    return integrate(BODY, z, dt=0.2, steps=length, method=implicit_midpoint).q


@torch.no_grad()
def spin_on(model: nn.Module, z: Tensor, count: int) -> Tensor:
    """Roll out a map: (start, time, ...)."""
    states = [z]
    for _ in range(count):
        states.append(model(states[-1]))
    return torch.stack(states, dim=1)


def determinants(model: nn.Module, windows: Tensor) -> Tensor:
    """The determinants of the Jacobian of a map at some windows."""
    size = windows[0].numel()
    found = [torch.autograd.functional.jacobian(model, z).reshape(size, size) for z in windows]
    return torch.linalg.det(torch.stack(found))


@experiment([{"updates": 20, "steps": 120}, {"updates": 800, "steps": 3000}], within=0.05)
def rigid_body(*, updates: int, steps: int) -> Row:
    """Invariants of a rigid body under a Lie–Poisson network and volume-preserving attention."""
    spins, unseen = turning(circles(0.1, 0.05), 100), turning(circles(0.125, 0.6), 30)

    def next_spin(model: nn.Module, picked: tuple[Tensor, Tensor]) -> Tensor:
        i, t = picked
        return (model(spins[i, t]) - spins[i, t + 1]).square().mean()

    def next_spins(model: nn.Module, picked: tuple[Tensor, Tensor]) -> Tensor:
        i, t = picked[0][:, None], picked[1][:, None] + torch.arange(3)
        return (model(spins[i, t]) - spins[i, t + 3]).square().mean()

    options = {"updates": updates, "trajectories": len(spins), "progress": False}
    poisson = learn(lambda: LiePoissonNet(layers=6), next_spin, last=99, **options)
    volume = learn(lambda: VolumePreservingTransformer(3, blocks=3), next_spins, last=95, **options)
    windows = spin_on(volume, unseen[:, :3], steps // 3)
    runs = {
        "midpoint": turning(unseen[:, 2], steps),
        "poisson": spin_on(poisson, unseen[:, 2], steps),
        "volume": windows.flatten(1, 2)[:, 2:],
    }
    row = {}
    for name, z in runs.items():
        for letter, quantity in (("H", BODY.energy), ("kappa", BODY.casimir)):
            value = quantity(z)
            worst = (value / value[:, :1] - 1).abs().max(0).values[1:].cummax(0).values
            some = spread_out(len(worst), 60)
            row |= {
                f"{name}_{letter}_curve": worst[some - 1].clamp_min(1e-16).tolist(),
                f"{name}_{letter}": worst[-1].item(),
                f"{name}_times": (0.2 * some).tolist(),
            }
    with torch.no_grad():
        row["poisson_test"] = (poisson(unseen[:, :-1]) - unseen[:, 1:]).square().mean().item()
        pairs = ((unseen[:, t : t + 3], unseen[:, t + 3 : t + 6]) for t in range(26))
        missed = torch.stack([volume(before) - after for before, after in pairs])
        row["volume_test"] = missed.square().mean().item()
    dets = [determinants(volume, windows[:, t]) for t in (0, 1, 10, 100, 1000) if t <= steps // 3]
    return row | {"determinant_off": (torch.cat(dets) - 1).abs().max().item()}


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
