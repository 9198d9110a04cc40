"""How fast the kernels are, beside what else computes the same, on the GPU of this machine.

    python benchmarks/attention.py

needs a CUDA device, PyTorch, Triton, einops and jaxtyping; Matplotlib draws the figure. Everything
is float16, batch times tokens is 16k, and attention has d_model 2048. In every cell each peer is
first compared with float64 and then timed in the same run, forward and backward apart: device
events, a cold second-level cache, the median of many runs. A multiplication and its addition count
as two operations; what a causal mask hides does not count. Writes ``<device>.json`` and the
figure beside it. ``--add`` keeps what earlier runs found in cells that this one leaves out.
"""

import argparse
import json
import math
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch._functorch import config as functorch_config
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ROOT = Path(__file__).resolve().parents[1]
TOKENS = 16384  # in a batch
D_MODEL = 2048
OURS = "course_lib"
WORST = 2e-3  # the relative error that float16 is allowed
Row = dict[str, Any]
Peer = Callable[..., Tensor]


def main() -> None:
    """Measure the chosen cells, write them down and show them."""
    chosen = arguments()
    if not torch.cuda.is_available():
        sys.exit(
            "benchmarks/attention.py times a GPU, and PyTorch sees no CUDA device here; run it on "
            "a machine with one. Without a GPU, 'make test' checks the kernels on the CPU."
        )
    if chosen.descriptors:
        os.environ["COURSE_LIB_DESCRIPTORS"] = "1"
    sys.path.insert(0, str(ROOT))
    torch.manual_seed(0)
    # Backward is timed many times on one graph, so compiled peers must not reuse its buffers.
    functorch_config.donated_buffer = False

    report = about()
    print(
        f"{report['device']}, {report['versions']}, matrix product {report['ceiling']:.0f} TFLOP/s"
    )
    rows = []
    for tokens in chosen.tokens:
        for d in chosen.d:
            for variant in (False, True):
                if "attention" in chosen.only:
                    rows += attention_cell(tokens, d, causal=variant)
                if "symplectic" in chosen.only:
                    rows += symplectic_cell(tokens, d, symmetric=variant)

    name = re.sub(r"\W+", "-", report["device"]).lower()
    target = chosen.output / f"{name}.json"
    if chosen.add and target.exists():
        cells = {cell(row) for row in rows}
        rows += [r for r in json.loads(target.read_text())["rows"] if cell(r) not in cells]
    report["rows"] = sorted(rows, key=lambda row: (*map(str, cell(row)[:-1]), row["tokens"]))
    chosen.output.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1) + "\n")
    print(tables(report))
    print(f"Wrote {target}")
    figure(report, target.with_suffix(".svg"))
    wrong = [row for row in rows if row["peer"] == OURS and not row.get("error", math.inf) < WORST]
    if wrong:
        sys.exit(f"{len(wrong)} cells of {OURS} failed, or are off by {WORST} or more")


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    lengths = [1024, 2048, 4096, 8192, 16384]
    parser.add_argument("--tokens", type=int, nargs="+", default=lengths)
    parser.add_argument("--d", type=int, nargs="+", default=[64, 128])
    parser.add_argument(
        "--only",
        nargs="+",
        choices=["attention", "symplectic"],
        default=["attention", "symplectic"],
    )
    parser.add_argument("--output", type=Path, default=ROOT / "course_lib" / "data" / "benchmarks")
    parser.add_argument("--add", action="store_true", help="keep cells of earlier runs")
    parser.add_argument(
        "--descriptors", action="store_true", help="let the autotuner try tensor descriptors"
    )
    return parser.parse_args()


# What is measured ------------------------------------------------------------------------------


def attention_cell(tokens: int, d: int, *, causal: bool) -> list[Row]:
    """Every peer on one shape: (batch, heads, tokens, d) of random float16."""
    shape = (TOKENS // tokens, D_MODEL // d, tokens, d)
    inputs = [torch.randn(shape, device="cuda", dtype=torch.float16) for _ in range(3)]
    work = 4 * math.prod(shape) * tokens / (2 if causal else 1)
    # One head is enough to compare: heads do not see each other.
    exact = Exact(lambda *x: exact_attention(*x, causal=causal), [x[:1, :1] for x in inputs])
    about_cell = {"kernel": "attention", "variant": "causal" if causal else "full"}
    about_cell |= {"d": d, "tokens": tokens}
    return [
        row | about_cell
        for name, peer in attention_peers(tokens, causal=causal).items()
        for row in measure(name, peer, inputs, exact, forward_work=work, backward_work=2.5 * work)
    ]


def attention_peers(tokens: int, *, causal: bool) -> dict[str, Peer]:
    """All that computes attention here, by name."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    from course_lib.attention import attention, causal_mask
    from course_lib.kernels import flash_attention

    mask = causal_mask(tokens, device="cuda") if causal else None
    block_mask = None
    if causal:
        block_mask = create_block_mask(
            lambda _batch, _head, query, key: query >= key, None, None, tokens, tokens
        )
    torch.compiler.reset()
    flex = torch.compile(flex_attention, dynamic=False)

    def fused(backend: SDPBackend) -> Peer:
        def peer(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(query, key, value, is_causal=causal)

        return peer

    return {
        OURS: lambda *x: flash_attention(*x, causal=causal),
        "reference": lambda *x: attention(*x, mask=mask),
        "torch flash": fused(SDPBackend.FLASH_ATTENTION),
        "torch cuDNN": fused(SDPBackend.CUDNN_ATTENTION),
        "torch efficient": fused(SDPBackend.EFFICIENT_ATTENTION),
        "FlexAttention": lambda *x: flex(*x, block_mask=block_mask),
    }


def exact_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """The formula, to be given float64."""
    score = query @ key.mT / math.sqrt(query.shape[-1])
    if causal:
        future = torch.ones(score.shape[-2:], dtype=torch.bool, device=score.device).triu(1)
        score = score.masked_fill(future, -math.inf)
    return score.softmax(dim=-1) @ value


def symplectic_cell(tokens: int, d: int, *, symmetric: bool) -> list[Row]:
    """Every peer on windows (batch, tokens, d) of random float16, scores about 1 in size."""
    z = torch.randn(TOKENS // tokens, tokens, d, device="cuda", dtype=torch.float16)
    A = torch.randn(d, d, device="cuda") / d
    A = ((A + A.mT) / 2 if symmetric else A).half()
    # The formula's three products of a tokens × tokens with a tokens × d array, whatever is done.
    work = 6 * z.numel() * tokens
    exact = Exact(lambda x: formula(x, A.double()), [z[:1]])
    about_cell = {"kernel": "symplectic", "variant": "symmetric" if symmetric else "general"}
    about_cell |= {"d": d, "tokens": tokens}
    return [
        row | about_cell
        for name, peer in symplectic_peers().items()
        for row in measure(name, peer, [z, A], exact, forward_work=work, backward_work=2.5 * work)
    ]


def symplectic_peers() -> dict[str, Peer]:
    """All that computes the gradient of the vector-softmax potential here, by name."""
    from course_lib.kernels import symplectic_flash

    torch.compiler.reset()
    return {
        OURS: symplectic_flash,
        "eager": formula,
        "compiled": torch.compile(formula, dynamic=False),
        "autograd": by_autograd,
    }


def log_partition(score: Tensor) -> Tensor:
    """The logarithm of 1 + the sum of exponentials of each column."""
    return F.pad(score, (0, 0, 1, 0)).logsumexp(dim=-2, keepdim=True)


def formula(z: Tensor, A: Tensor) -> Tensor:
    """The gradient as lecture 12 writes it: S Z Aᵀ + Sᵀ Z A."""
    right = z @ A
    score = right @ z.mT
    S = (score - log_partition(score)).exp()
    return S @ (z @ A.mT) + S.mT @ right


def by_autograd(z: Tensor, A: Tensor) -> Tensor:
    """The gradient as PyTorch derives it from the potential."""
    differentiated_later = torch.is_grad_enabled()
    with torch.enable_grad():
        x = z if z.requires_grad and differentiated_later else z.detach().requires_grad_()
        potential = log_partition(x @ A @ x.mT).sum(dtype=torch.float32)
        return torch.autograd.grad(potential, x, create_graph=differentiated_later)[0]


# How it is measured ----------------------------------------------------------------------------


class Exact:
    """Output and gradients in float64 for the first part of each input, to compare peers with."""

    def __init__(self, function: Peer, parts: list[Tensor]) -> None:
        self.upstream = torch.randn_like(parts[0])
        self.index = tuple(slice(0, size) for size in parts[0].shape)
        inputs = [part.double().requires_grad_() for part in parts]
        output = function(*inputs)
        gradients = torch.autograd.grad(output, inputs, self.upstream.double())
        self.output, self.gradients = output.detach(), gradients

    def upstream_like(self, output: Tensor) -> Tensor:
        """A gradient for the whole output, of which the compared part gets the known one."""
        upstream = torch.randn_like(output)
        upstream[self.index] = self.upstream
        return upstream

    def error(self, found: list[Tensor], true: list[Tensor]) -> float:
        """The largest relative error; nan where anything is."""
        parts = [one[self.index].double() for one in found[: len(true)]]
        distances = [(one - two).norm() / two.norm() for one, two in zip(parts, true, strict=True)]
        return torch.stack(distances).max().item()


def measure(
    name: str,
    peer: Peer,
    inputs: list[Tensor],
    exact: Exact,
    *,
    forward_work: float,
    backward_work: float,
) -> Iterator[Row]:
    """One row forward and one backward, or the reason why there is none."""
    for direction, work in (("forward", forward_work), ("backward", backward_work)):
        row: Row = {"peer": name, "direction": direction}
        try:
            row |= (forward if direction == "forward" else backward)(peer, inputs, exact)
            row["tflops"] = work / row["ms"] / 1e9
        except (RuntimeError, torch.OutOfMemoryError) as reason:  # a peer may lack a shape
            row["failed"] = str(reason).strip().split("\n")[0][:200]
        torch.cuda.empty_cache()
        yield row


def forward(peer: Peer, inputs: list[Tensor], exact: Exact) -> Row:
    """Error, memory and time of the output."""
    with torch.no_grad():
        error = exact.error([peer(*inputs)], [exact.output])
        with peak_memory() as peak:
            peer(*inputs)
        return {"error": error, "ms": median_time(lambda: peer(*inputs)), **peak}


def backward(peer: Peer, inputs: list[Tensor], exact: Exact) -> Row:
    """Error and time of the gradients, and the memory of both directions together."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    upstream = exact.upstream_like(inputs[0])
    error = exact.error(
        list(torch.autograd.grad(peer(*inputs), inputs, upstream)), list(exact.gradients)
    )
    with peak_memory() as peak:
        torch.autograd.grad(peer(*inputs), inputs, upstream)
    output = peer(*inputs)
    ms = median_time(lambda: torch.autograd.grad(output, inputs, upstream, retain_graph=True))
    return {"error": error, "ms": ms, **peak}


def median_time(run: Callable[[], object], *, budget_ms: float = 300.0) -> float:
    """Milliseconds of the middle one of 10 to 200 runs, the cache cold before each."""
    cache = torch.empty(2**28, dtype=torch.int8, device="cuda")

    def timed(runs: int) -> list[float]:
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
        for start, end in events:
            cache.zero_()
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in events]

    timed(2)
    once = statistics.median(timed(3))
    return statistics.median(timed(max(10, min(200, int(budget_ms / max(once, 1e-3))))))


@contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """How many MB the block needs at most, beyond what was there before it."""
    found: dict[str, float] = {}
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    yield found
    torch.cuda.synchronize()
    found["peak_mb"] = (torch.cuda.max_memory_allocated() - before) / 1e6


def about() -> Row:
    """The device, the versions, and the fastest matrix product of this run."""
    import triton

    left, right = (torch.randn(8192, 8192, device="cuda").half() for _ in range(2))
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\n")[0]
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "driver": driver,
    }
    return {
        "device": torch.cuda.get_device_name(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions,
        "command": shlex.join(["python", *sys.argv]),
        "dtype": "float16",
        "ceiling": 2 * 8192**3 / median_time(lambda: left @ right) / 1e9,
    }


# What is shown ---------------------------------------------------------------------------------


def cell(row: Row) -> tuple[str, str, str, int, int]:
    """What all peers of a comparison share."""
    return row["kernel"], row["direction"], row["variant"], row["d"], row["tokens"]


def groups(report: Row) -> dict[tuple[str, str, str, int], list[Row]]:
    """The rows of each kernel, direction, variant and d."""
    found: dict[tuple[str, str, str, int], list[Row]] = {}
    for row in report["rows"]:
        found.setdefault(cell(row)[:-1], []).append(row)
    return found


def tables(report: Row) -> str:
    """TFLOP/s of each peer, how many times as fast we are, and our share of the matrix product."""
    lines = []
    for (kernel, direction, variant, d), rows in groups(report).items():
        peers = list(dict.fromkeys(row["peer"] for row in rows))
        lines += ["", f"{kernel} {direction}, {variant}, d = {d}: TFLOP/s (ours / theirs)"]
        lines.append(
            "tokens".rjust(7) + "".join(peer.rjust(18) for peer in peers) + "   of product"
        )
        for tokens in sorted({row["tokens"] for row in rows}):
            here = {row["peer"]: row.get("tflops") for row in rows if row["tokens"] == tokens}
            ours = here.get(OURS)
            texts = [ratio(here.get(peer), ours) for peer in peers]
            share = f"{ours / report['ceiling']:13.0%}" if ours else ""
            lines.append(f"{tokens:7}" + "".join(text.rjust(18) for text in texts) + share)
        memory = {
            row["tokens"]: row["peak_mb"] for row in rows if row["peer"] == OURS and "ms" in row
        }
        lines.append("  MB " + ", ".join(f"{n}: {mb:.0f}" for n, mb in sorted(memory.items())))
    return "\n".join(lines)


def ratio(theirs: float | None, ours: float | None) -> str:
    """A peer's TFLOP/s and how many times as fast we are."""
    if theirs is None:
        return "-"
    return f"{theirs:.0f}" + (f" ({ours / theirs:.2f})" if ours else "")


def figure(report: Row, target: Path) -> None:
    """TFLOP/s against tokens, one panel for each kernel, direction, variant and d."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("No figure: Matplotlib is not installed")
        return
    mpl.use("svg")
    from matplotlib import pyplot as plt

    panels = groups(report)
    columns = 4
    height = math.ceil(len(panels) / columns)
    drawn, axes = plt.subplots(
        height, columns, figsize=(14, 3 * height), squeeze=False, layout="constrained"
    )
    for axis, (title, rows) in zip(axes.flat, panels.items(), strict=False):
        kernel, direction, variant, d = title
        axis.set_title(f"{kernel} {direction}, {variant}, d = {d}", fontsize=10)
        for peer in dict.fromkeys(row["peer"] for row in rows):
            points = [(r["tokens"], r["tflops"]) for r in rows if r["peer"] == peer and "ms" in r]
            width = 2.5 if peer == OURS else 1.2
            if points:
                axis.plot(*zip(*points, strict=True), "o-", label=peer, linewidth=width)
        axis.axhline(report["ceiling"], color="gray", linestyle=":", label="matrix product")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("tokens")
        axis.set_ylabel("TFLOP/s")
        axis.legend(fontsize=7)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    drawn.suptitle(f"{report['device']}, {report['date']}, float16")
    drawn.savefig(target)
    print(f"Wrote {target}")


if __name__ == "__main__":
    main()
