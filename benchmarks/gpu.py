"""Measure the kernels on the GPU of this machine, the most important first, until time is over.

    python -m benchmarks.gpu --minutes 8

needs a CUDA device, PyTorch, Triton, NumPy, einops and jaxtyping. First it compiles all that the
tuner may choose. Then it compares each kernel with float64 for each dtype, at a length that no
tile divides. Then a cell is a kernel on one shape: each peer is compared with float64, and timed in
turns with the others; its first call, which tunes, by itself. The file ``<device>.json`` is written
after each cell and keeps those that this run does not reach. What fails is a row with its error.
"""

import argparse
import json
import os
import re
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import patch

import torch
import triton
from torch import Tensor
from torch._functorch import config as functorch_config
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.runtime.autotuner import Autotuner
from triton.testing import do_bench

from benchmarks.report import SHOWN
from course_lib.attention import attention
from course_lib.kernels import flash_attention, flash_decoding, symplectic_flash, tiles
from course_lib.support.evidence import about
from course_lib.symplectic import attention_potential, symplectic_attention

Row = dict[str, Any]
Peer = Callable[..., Tensor]
Run = Callable[[], tuple[Tensor, ...]]
Case = tuple[list[Tensor], Peer, dict[str, Peer], dict[str, float]]
"""Inputs, the formula for float64, peers, and operations by direction, 0 where peers differ."""

OURS = "course_lib"
WORST = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}  # relative to float64
IN_A_BATCH, D_MODEL, TEXTS = 16384, 2048, 16  # tokens, features, texts decoded together
SHARE = 4  # query heads per key head, where they are grouped
TURNS, PATIENCE_S = 5, 120
COLD = 2**32
"""Bytes to overwrite before each run: more than any second-level cache holds, and so many that
Python has launched the run before they are written. The time is then the GPU's alone."""


@dataclass(frozen=True)
class Cell:
    """A kernel on one shape. If it is not timed, it takes the first tiles that fit.

    With ``same_bits`` algorithms are deterministic: attention's backward takes its two passes, and
    memory that nothing was written to is nan.
    """

    kernel: str
    variant: str
    dtype: str
    d: int
    tokens: int
    timed: bool = True
    same_bits: bool = False


def correctness() -> Iterator[Cell]:
    """Each kernel and dtype, at a length that no tile divides."""
    for dtype in WORST:
        untimed = partial(Cell, dtype=dtype, tokens=333, timed=False)
        for variant, d in (("full", 128), ("causal", 80), ("grouped causal", 64)):
            yield from (untimed("attention", variant, d=d, same_bits=x) for x in (False, True))
        for variant, d in (("general", 128), ("symmetric", 6)):
            yield untimed("symplectic", variant, d=d, same_bits=True)
        yield untimed("decode", "one query", d=128, same_bits=True)


LENGTHS = (1024, 2048, 4096, 8192, 16384)
TIMED = (
    ("attention", ("full", "causal"), "float16", 128, LENGTHS),
    ("symplectic", ("general", "symmetric"), "float16", 128, LENGTHS),
    ("attention", ("full", "causal"), "float16", 64, LENGTHS),
    ("symplectic", ("general", "symmetric"), "float16", 64, LENGTHS),
    ("attention", ("grouped causal",), "float16", 128, (4096, 16384)),
    ("decode", ("one query",), "float16", 128, (1024, 4096, 16384, 65536)),
    ("attention", ("full", "causal"), "bfloat16", 128, (4096, 16384)),
    ("attention", ("full", "causal"), "float16", 256, (4096, 16384)),
)
CELLS = [
    *correctness(),
    *(Cell(k, v, dtype, d, n) for k, vs, dtype, d, ns in TIMED for n in ns for v in vs),
]


# Inputs and peers ------------------------------------------------------------------------------


def prepare(cell: Cell, device: str) -> Case:
    """The case of a cell."""
    torch.manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, device=device).to(getattr(torch, cell.dtype))

    return (symplectic_case if cell.kernel == "symplectic" else attention_case)(cell, normal)


def attention_case(cell: Cell, normal: Peer) -> Case:
    """Attention as in a model of ``D_MODEL`` features, or one new query for each of many texts."""
    causal, decodes = cell.variant.endswith("causal"), cell.kernel == "decode"
    grouped = decodes or cell.variant.startswith("grouped")
    heads, batch = D_MODEL // cell.d, TEXTS if decodes else IN_A_BATCH // cell.tokens
    queries, keys = 1 if decodes else cell.tokens, cell.tokens
    if not cell.timed:
        heads, batch, keys = 2 * SHARE, 2, keys + 53
    kv_heads = heads // SHARE if grouped else heads
    query = normal(batch, heads, queries, cell.d)
    key, value = (normal(batch, kv_heads, keys, cell.d) for _ in range(2))
    mask = query.new_ones(queries, keys).bool().tril(keys - queries) if causal else None

    def exact(*inputs: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(*inputs, attn_mask=mask, enable_gqa=True)

    def fused(backend: SDPBackend, *inputs: Tensor) -> Tensor:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(*inputs, is_causal=causal, enable_gqa=grouped)

    ours = flash_decoding if decodes else partial(flash_attention, causal=causal)
    peers: dict[str, Peer] = {OURS: ours}
    if cell.timed:
        peers["eager"] = partial(attention, mask=mask, grouped=grouped)
        peers["torch flash"] = partial(fused, SDPBackend.FLASH_ATTENTION)
        peers["torch cuDNN"] = partial(fused, SDPBackend.CUDNN_ATTENTION)
    work = 4 * query.numel() * keys / (2 if causal else 1)  # masked pairs do not count
    operations = {"forward": 0} if decodes else {"forward": work, "backward": 2.5 * work}
    return [query, key, value], exact, peers, operations


def symplectic_case(cell: Cell, normal: Peer) -> Case:
    """Windows (batch, tokens, d) that share A, with scores of about 1."""
    symmetric = cell.variant == "symmetric"
    z = normal(IN_A_BATCH // cell.tokens if cell.timed else 2, cell.tokens, cell.d)
    A = normal(cell.d, cell.d).float() / cell.d
    A = ((A + A.mT) / 2 if symmetric else A).to(z.dtype)

    def exact(z: Tensor, A: Tensor) -> Tensor:
        potential = attention_potential(z, A, softmax="vector").sum()
        return torch.autograd.grad(potential, z, create_graph=True)[0]

    peers: dict[str, Peer] = {OURS: partial(symplectic_flash, symmetric=symmetric)}
    if cell.timed:
        options = {"softmax": "vector", "symmetric": symmetric, "backend": "reference"}
        peers["eager"] = partial(symplectic_attention, **options)
        torch.compiler.reset()
        peers["compiled"] = torch.compile(peers["eager"], dynamic=False)
    # The formula's products of tokens × tokens × d: three, or two for a symmetric A.
    work = (4 if symmetric else 6) * z.numel() * cell.tokens
    return [z, A], exact, peers, {"forward": work, "backward": 0}


# One cell --------------------------------------------------------------------------------------


class DeviceLostError(RuntimeError):
    """This process can run no more on the device, as after an illegal access."""


@contextmanager
def failing_alone(row: Row) -> Iterator[None]:
    """Write an error within into ``row``; only a lost device ends the run."""
    try:
        yield
    except Exception as reason:  # noqa: BLE001 - a peer may fail in any way of its own
        first_line = str(reason).strip().split("\n")[0][:200]
        row["failed"] = f"{type(reason).__name__}: {first_line}"
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except Exception as lost:
            raise DeviceLostError(row["failed"]) from lost


@contextmanager
def settings_of(cell: Cell) -> Iterator[None]:
    """Deterministic algorithms, and the first tiles that fit, where the cell wants them."""
    first_tiles = patch.object(tiles, "length_group", lambda _: tiles.UNTUNED)
    with nullcontext() if cell.timed else first_tiles:
        torch.use_deterministic_algorithms(cell.same_bits, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(mode=False)


def measure(cell: Cell, rows: list[Row], device: str = "cuda") -> None:
    """Append a row for each peer and direction: error and, if timed, time and memory."""
    inputs, formula, peers, directions = prepare(cell, device)

    def known(x: Tensor) -> Tensor:
        """What is compared: all, but of timed attention the heads that share the last keys."""
        whole = not cell.timed or x.dim() < len(tiles.AXES)
        return x if whole else x[-1:, -(x.shape[1] // inputs[1].shape[1]) :]

    def upstream(output: Tensor) -> Tensor:
        """A random gradient, known where results are compared: on zeros a GPU is faster."""
        whole = torch.randn_like(output)
        known(whole).copy_(gradient)
        return whole

    doubles = [known(x).double().requires_grad_() for x in inputs]
    output = formula(*doubles)
    gradient = torch.randn_like(output).to(inputs[0].dtype)
    gradients = torch.autograd.grad(output, doubles, gradient.double())
    exact = {"forward": [output.detach()], "backward": gradients}
    for direction, operations in directions.items():
        runs: list[tuple[Row, Run]] = []
        for name, peer in peers.items():
            row = asdict(cell) | {"peer": name, "direction": direction}
            rows.append(row)
            with failing_alone(row):
                begun = time.perf_counter()
                run = prepare_run(direction, peer, inputs, upstream)
                row["error"] = largest_error(map(known, run()), exact[direction])
                row["right"] = row["error"] < WORST[cell.dtype]
                row["first_call_s"] = time.perf_counter() - begun
                if cell.timed:
                    row["peak_mb"] = peak_memory(direction, peer, inputs)
                    runs.append((row, run))
        time_in_turns(runs)
        for row, _ in runs:
            if operations and "ms" in row:
                row["tflops"] = operations / row["ms"] / 1e9


def prepare_run(direction: str, peer: Peer, inputs: Sequence[Tensor], upstream: Peer) -> Run:
    """What is timed; before backward the forward pass is run."""

    def forward() -> tuple[Tensor]:
        with torch.no_grad():
            return (peer(*inputs),)

    if direction == "forward":
        return forward
    leaves = [x.detach().requires_grad_() for x in inputs]
    output = peer(*leaves)
    gradient = upstream(output)
    return lambda: torch.autograd.grad(output, leaves, gradient, retain_graph=True)


def largest_error(found: Iterable[Tensor], exact: Sequence[Tensor]) -> float:
    """The largest distance, relative to the exact result; nan if any is."""
    pairs = zip(found, exact, strict=True)
    errors = [(one.double() - two).norm() / two.norm() for one, two in pairs]
    return torch.stack(errors).max().item()


def peak_memory(direction: str, peer: Peer, inputs: Sequence[Tensor]) -> float:
    """The peak of additional memory in MB, of backward with its forward."""
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    prepare_run(direction, peer, inputs, torch.ones_like)()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def time_in_turns(runs: Sequence[tuple[Row, Run]]) -> None:
    """Write the median of each turn and of all into its row, in milliseconds."""
    for _ in range(TURNS):
        runs = [*runs[1:], *runs[:1]]  # A cool chip is faster, so another peer is first.
        for row, run in runs:
            if "failed" not in row:
                with failing_alone(row):
                    times = do_bench(run, warmup=5, rep=30, return_mode="all")
                    row["turns_ms"] = [*row.get("turns_ms", []), statistics.median(times)]
                    row["ms"] = statistics.median(row["turns_ms"])


def summary(row: Row) -> str:
    """A row as a line of text."""
    said = [f"{row[x]:9.3g} {x}" for x in ("ms", "tflops", "peak_mb", "error") if x in row]
    return f"  {row['direction']:8} {row['peer']:12}" + "".join([*said, row.get("failed", "")])


# All cells -------------------------------------------------------------------------------------


def compile_all() -> None:
    """Compile on all cores whatever the tuner may choose; only kernels without a choice run."""

    def compile_each(tuner: Any, *args: Any, warmup: bool, **launch: Any) -> None:  # noqa: ARG001
        tuner.warmup(*args, **launch)

    begun = time.perf_counter()
    kinds = {(c.kernel, c.variant, c.dtype, c.d, c.timed, c.same_bits): c for c in CELLS[::-1]}
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,
        triton.AsyncCompileMode(pool, ignore_errors=True),
        patch.object(Autotuner, "run", compile_each),
        # The mode holds for what this thread asks for.
        torch.autograd.set_multithreading_enabled(mode=False),
    ):
        for cell in list(kinds.values())[::-1]:
            # What fails here fails again when it is measured, and is reported then.
            with suppress(Exception), settings_of(cell):
                inputs, _, peers, directions = prepare(cell, "cuda")
                prepare_run([*directions][-1], peers[OURS], inputs, torch.ones_like)()
    print(f"compiled {len(kinds)} kinds in {time.perf_counter() - begun:.0f} s", flush=True)


def merge(path: Path, head: Row, cell: Cell, rows: Sequence[Row]) -> None:
    """Write the rows of a cell in place of those in the file; a row has the place of its run."""
    kept = json.loads(path.read_text()) if path.exists() else {"runs": [], "rows": []}
    runs = kept["runs"] if kept["runs"][-1:] == [head] else [*kept["runs"], head]
    others = [row for row in kept["rows"] if not asdict(cell).items() <= row.items()]
    rows = [*others, *(row | {"run": len(runs) - 1} for row in rows)]
    half = path.with_suffix(".part")  # nobody reads half a file
    half.write_text(json.dumps({**head, "runs": runs, "rows": rows}, indent=1) + "\n")
    half.replace(path)


def go_on(path: Path, head: Row, place: int, rows: list[Row], ends: float) -> None:
    """Keep the rows of a cell that did not end, and start again from the next, on a new device."""
    for row in rows[-1:]:
        row.setdefault("failed", f"no end after {PATIENCE_S} s")
    merge(path, head, CELLS[place], rows)
    rest = [f"--minutes={(ends - time.monotonic()) / 60:.2f}", f"--first={place + 1}"]
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks.gpu", *sys.argv[1:], *rest])  # noqa: S606


def measure_all(path: Path, head: Row, first: int, ends: float, device: str = "cuda") -> None:
    """Measure the cells from ``first`` on, until ``ends`` on the clock ``time.monotonic``."""
    for place, cell in enumerate(CELLS[first:], start=first):
        if time.monotonic() > ends:
            print(f"Time is over. Not measured: {len(CELLS) - place} cells, from {cell} on")
            return
        rows: list[Row] = []
        whole = asdict(cell) | {"peer": OURS, "direction": "both"}
        hangs = Timer(PATIENCE_S, go_on, (path, head, place, rows, ends))
        hangs.start()
        try:
            with failing_alone(whole), settings_of(cell):
                measure(cell, rows, device)
        except DeviceLostError:
            go_on(path, head, place, [*rows, whole], ends)
        finally:
            hangs.cancel()
        rows += [whole] * ("failed" in whole)
        merge(path, head, cell, rows)
        print(cell, *map(summary, rows), sep="\n", flush=True)


def main() -> None:
    """Compile, measure the cells, and end with an error if one of ours is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=8, help="when to stop")
    parser.add_argument("--output", type=Path, default=SHOWN, help="where the file is written")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    ends = time.monotonic() + 60 * chosen.minutes
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no CUDA device here; run this where there is one")
    # Backward is timed many times on one graph, so compiled peers must not reuse its buffers.
    functorch_config.donated_buffer = False
    cold = partial(torch.empty, COLD, dtype=torch.int8, device="cuda")
    triton.runtime.driver.active.get_empty_cache_for_benchmark = cold
    triton.runtime.driver.active.get_benchmarker = lambda: partial(do_bench, warmup=5, rep=25)
    left, right = (torch.randn(8192, 8192, device="cuda").half() for _ in range(2))
    product = do_bench(lambda: left @ right, return_mode="median")
    head = about(shlex.join(["python", "-m", "benchmarks.gpu", *sys.argv[1:]]))
    head |= {"device": torch.cuda.get_device_name(), "ceiling": 2 * 8192**3 / product / 1e9}
    cudnn = torch.backends.cudnn.version()
    head["versions"] |= {"triton": triton.__version__, "cuda": torch.version.cuda, "cudnn": cudnn}
    path = chosen.output / f"{re.sub('[^a-z0-9]+', '-', head['device'].lower())}.json"
    if not chosen.first:
        compile_all()
    measure_all(path, head, chosen.first, ends)
    ours = [row for row in json.loads(path.read_text())["rows"] if row["peer"] == OURS]
    sys.exit(any(not row.get("right") or "failed" in row for row in ours))


if __name__ == "__main__":
    main()
