"""Compare the closed-form gradient of symplectic attention with autograd on its potential.

Time and peak memory, at growing window length, of three ways to the same tensor: the closed form,
autograd on the potential, and both again inside a training step, where autograd has to
differentiate its own derivative. Everything is measured in one run, so the ratios hold on a slow
machine too. Run from the root of the project::

    python -m benchmarks.symplectic [--device cuda] [--tokens 32 128 512]
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.report import write
from course_lib.symplectic import attention_potential, symplectic_attention

FEATURES = 16
BATCH = 8
ROUNDS = 15
# Silences the profiler's reports of starts and stops.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")


def closed_form(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """The gradient by its formula."""
    return symplectic_attention(z, A, softmax=softmax, backend="reference")


def autograd(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """The gradient by differentiating the potential, itself differentiable if ``A`` is."""
    z = z.detach().requires_grad_()
    potential = attention_potential(z, A, softmax=softmax).sum()
    return torch.autograd.grad(potential, z, create_graph=A.requires_grad)[0]


def train(gradient: Callable[..., Tensor], z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """The derivative in ``A`` of a loss on the gradient, as in the training of a layer."""
    A = A.detach().requires_grad_()
    return torch.autograd.grad(gradient(z, A, softmax).square().sum(), A)[0]


def seconds(ways: dict[str, Callable[[], Tensor]], device: str) -> dict[str, list[float]]:
    """The time of a call of each function, in rounds, so that load affects all of them."""

    def clock(run: Callable[[], Tensor], calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        if device == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - begin) / calls

    calls = {
        way: max(1, int(0.02 / min(clock(run, 1) for _ in range(3)))) for way, run in ways.items()
    }
    rounds = [{way: clock(run, calls[way]) for way, run in ways.items()} for _ in range(ROUNDS)]
    return {way: [times[way] for times in rounds] for way in ways}


def peak_bytes(run: Callable[[], Tensor], device: str) -> int:
    """The peak of additional memory of a call."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        watched.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    changes = sorted(
        (event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]"
    )
    held = peak = 0
    for _, change in changes:
        held += change
        peak = max(peak, held)
    return peak


def measure(tokens: int, softmax: str, device: str) -> dict:
    """One row of the table: both ways, plain and in training."""
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(BATCH, tokens, FEATURES, generator=generator).to(device)
    A = (torch.randn(FEATURES, FEATURES, generator=generator) / FEATURES).to(device)
    ways = {
        "closed form": lambda: closed_form(z, A, softmax),
        "autograd": lambda: autograd(z, A, softmax),
        "closed form, training": lambda: train(closed_form, z, A, softmax),
        "autograd, training": lambda: train(autograd, z, A, softmax),
    }
    torch.testing.assert_close(ways["closed form"](), ways["autograd"](), rtol=1e-3, atol=1e-4)
    row = {"tokens": tokens, "softmax": softmax}
    times = seconds(ways, device)
    for way, run in ways.items():
        # The fastest round is the least disturbed.
        row[way] = {"seconds": min(times[way]), "peak_bytes": peak_bytes(run, device)}
    for suffix in ("", ", training"):
        slow, fast = f"autograd{suffix}", f"closed form{suffix}"
        pairs = zip(times[slow], times[fast], strict=True)
        row[f"ratio{suffix}"] = {
            "seconds": statistics.median(one / other for one, other in pairs),
            "peak_bytes": row[slow]["peak_bytes"] / row[fast]["peak_bytes"],
        }
    return row


def table(rows: list[dict]) -> str:
    """The rows in columns: the closed form in absolute numbers, autograd as a multiple of it."""
    lines = [
        "                    closed form          autograd ÷ closed form",
        "softmax  tokens     ms       MiB      time  memory   time  memory (training)",
    ]
    for row in rows:
        closed, plain, training = row["closed form"], row["ratio"], row["ratio, training"]
        lines.append(
            f"{row['softmax']:8} {row['tokens']:6} {1e3 * closed['seconds']:8.3f} "
            f"{closed['peak_bytes'] / 2**20:8.2f} {plain['seconds']:8.2f} "
            f"{plain['peak_bytes']:7.2f} {training['seconds']:6.2f} {training['peak_bytes']:7.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write it with the settings to repeat it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--tokens", type=int, nargs="+", default=[4, 16, 64, 256, 1024])
    arguments = parser.parse_args()
    device = arguments.device
    # One thread: with more, each small operation waits for other programs.
    torch.set_num_threads(1)
    rows = [
        measure(tokens, softmax, device)
        for softmax in ("matrix", "vector")
        for tokens in arguments.tokens
    ]
    print(table(rows))
    write(
        f"symplectic-{device}",
        "symplectic",
        device=torch.cuda.get_device_name() if device == "cuda" else None,
        batch=BATCH,
        features=FEATURES,
        dtype="float32",
        rows=rows,
    )


if __name__ == "__main__":
    main()
