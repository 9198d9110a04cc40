"""Time our kernels against other implementations on the GPU of this machine.

    python benchmarks/attention.py                      # all slices, the most important first
    python benchmarks/attention.py --plan               # list slices and their times python
    benchmarks/attention.py attention-128        # one slice

needs a CUDA device, PyTorch, Triton, NumPy, einops and jaxtyping; Matplotlib draws the figure. In
every cell each peer is first compared with float64, in the first and the last head, and then timed
in turns with the others, forward and backward separately: device events, a cold second-level cache,
the median. The first call compiles and chooses tiles, and is timed separately; ``--compile``
compiles beforehand, on all cores. ``<device>.json`` is written after every cell, and keeps cells
that this run leaves out; ``--missing`` measures only cells that the file lacks. The figure is
beside it.
"""

import argparse
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import gpu_cells  # noqa: E402 - the program runs from any folder
from benchmarks.gpu_cells import SLICES, Cell  # noqa: E402
from benchmarks.measured import OURS, Report, cell, figure, tables  # noqa: E402
from benchmarks.measuring import Clock, DeviceLostError, chip, measure  # noqa: E402

GUESSED_COMPILE_S, GUESSED_ROW_S = 20.0, 1.5
"""Estimates without a file: seconds for each kernel, variant and direction, and for each row."""

PEERS = 6


def main() -> None:
    """Measure the chosen slices, write each cell, and print all."""
    chosen = arguments()
    if chosen.plan:
        print(plan(chosen.slices, seconds_known(chosen.output)))
        return
    if not torch.cuda.is_available():
        sys.exit(
            "benchmarks/attention.py times a GPU, and PyTorch sees no CUDA device here; run it on "
            "a machine with one. Without a GPU, 'make test' checks the kernels on the CPU."
        )
    if chosen.no_descriptors:
        os.environ["COURSE_LIB_DESCRIPTORS"] = "0"
    if chosen.only_compile is not None:
        compile_one(chosen.slices[0], chosen.only_compile)
        return
    if chosen.compile:
        compile_all(chosen.slices)
        return
    # Backward is timed many times on one graph, so compiled peers must not reuse its buffers.
    from torch._functorch import config as functorch_config

    functorch_config.donated_buffer = False

    clock = Clock()
    report = Report(chosen.output, about(clock))
    print(
        f"{report.runs[-1]['device']}, a matrix product at {report.runs[-1]['ceiling']:.0f} TFLOP/s"
    )
    lost = run_slices(report, chosen.slices, clock, missing=chosen.missing)
    print(tables(report.content))
    print(f"Wrote {report.path}")
    figure(report.content, report.path.with_suffix(".svg"))
    if lost:
        sys.exit(f"The device was lost: {lost}. Run again with --missing; finished cells are kept.")
    if wrong := report.wrong():
        sys.exit(f"{len(wrong)} rows of {OURS} failed, or are further off than their dtype allows")


def arguments() -> argparse.Namespace:
    """The command line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("slices", nargs="*", metavar="SLICE", help=", ".join(SLICES))
    parser.add_argument("--plan", action="store_true", help="list slices, and measure nothing")
    parser.add_argument("--compile", action="store_true", help="compile on all cores, and stop")
    parser.add_argument("--only-compile", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--missing", action="store_true", help="leave out cells in the file")
    parser.add_argument("--output", type=Path, default=ROOT / "course_lib" / "data" / "benchmarks")
    parser.add_argument(
        "--no-descriptors", action="store_true", help="keep Hopper's copy engine idle"
    )
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.slices if name not in SLICES]:
        parser.error(
            f"there is no slice {', '.join(unknown)}; expected some of {', '.join(SLICES)}"
        )
    chosen.slices = chosen.slices or list(SLICES)
    return chosen


def run_slices(
    report: Report, slices: list[str], clock: Any, *, missing: bool = False, **prepared: Any
) -> str:
    """Measure slice after slice; return the error by which the device was lost, if any."""
    for name in slices:
        begun = time.perf_counter()
        known = {cell(row)[0:1] + cell(row)[2:] for row in report.rows if "ms" in row}
        wanted = [one for one in SLICES[name] if not (missing and tuple(one.row.values()) in known)]
        for one in wanted:
            try:
                rows = measured(one, clock, **prepared)
            except DeviceLostError as lost:
                return f"in {one}, {lost}"
            except Exception as reason:  # noqa: BLE001 - a cell that fails is not the end
                first_line = str(reason).strip().split("\n")[0][:200]
                print(f"{one}: {type(reason).__name__}: {first_line}", flush=True)
                continue
            report.add(rows)
            print(f"{one}: {summary(rows)}", flush=True)
        if wanted == SLICES[name]:
            report.took(name, time.perf_counter() - begun)
    return ""


def measured(one: Cell, clock: Any, **prepared: Any) -> list[dict[str, Any]]:
    """The rows of one cell."""
    case = gpu_cells.prepare(one, **prepared)
    rows = []
    for row in measure(case.peers, case.inputs, case.exact(), clock, case.directions):
        operations = case.operations.get(row["direction"])
        if operations and "ms" in row:
            row["tflops"] = operations / row["ms"] / 1e9
        rows.append(row | one.row)
    return rows


def summary(rows: list[dict[str, Any]]) -> str:
    """Milliseconds of each peer, on a line."""
    said = [f"{r['peer']} {r['direction'][:4]} {r['ms']:.3g}" for r in rows if "ms" in r]
    said += [f"{r['peer']} {r['direction'][:4]} failed" for r in rows if "failed" in r]
    return ", ".join(said)


def about(clock: Clock) -> dict[str, Any]:
    """The device, the versions, and the fastest matrix product of this run."""
    import triton

    left, right = (torch.randn(8192, 8192, device="cuda").half() for _ in range(2))
    clock.times(lambda: left @ right, 5)
    product = statistics.median(clock.times(lambda: left @ right, 20))
    return {
        "device": torch.cuda.get_device_name(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "triton": triton.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        },
        "command": shlex.join(["python", *sys.argv]),
        "ceiling": 2 * 8192**3 / product / 1e9,
        "chip": chip(),
    }


# Estimated times ---------------------------------------------------------------------------------


def plan(slices: list[str], known: dict[str, float]) -> str:
    """The slices, their cells, and the minutes of each: measured before, or estimated."""
    lines, total = [], 0.0
    for name in slices:
        seconds = known.get(name, guessed(SLICES[name]))
        total += seconds
        source = "as it took last time" if name in known else "guessed"
        lines.append(f"{name:15} {len(SLICES[name]):3} cells {seconds / 60:6.1f} min, {source}")
    return "\n".join([*lines, f"{'together':15} {'':9} {total / 60:6.1f} min"])


def guessed(chosen: list[Cell]) -> float:
    """Estimated seconds of a slice on a new device."""
    kinds = {(one.kernel, one.variant, one.dtype, one.d) for one in chosen}
    directions = 1 if chosen[0].kernel in {"decode", "passes"} else 2
    rows = len(chosen) * directions * PEERS
    return len(kinds) * directions * GUESSED_COMPILE_S + rows * GUESSED_ROW_S


def seconds_known(folder: Path) -> dict[str, float]:
    """The seconds of each slice, if exactly one device has been measured."""
    reports = [Report.read(path) for path in folder.glob("*.json")]
    timed = [report["seconds"] for report in reports if "ceiling" in report]
    return timed[0] if len(timed) == 1 else {}


# Compilation -------------------------------------------------------------------------------------


def compile_all(slices: list[str]) -> None:
    """Compile our kernels for each kind of cell, each in its own process."""
    jobs = [(name, place) for name in slices for place in shortest_of_a_kind(SLICES[name])]
    begun = time.perf_counter()

    def run(job: tuple[str, int]) -> None:
        name, place = job
        command = [sys.executable, __file__, name, "--only-compile", str(place)]
        said = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        last = said.stderr.strip().split("\n")[-1][:200] if said.returncode else "compiled"
        print(f"{SLICES[name][place]}: {last}", flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, jobs))
    print(f"{len(jobs)} kinds in {time.perf_counter() - begun:.0f} s")


def shortest_of_a_kind(chosen: list[Cell]) -> list[int]:
    """The index of the first cell of each kind that compiles differently."""
    kinds: dict[tuple[Any, ...], int] = {}
    for place, one in enumerate(chosen):
        kinds.setdefault((one.kernel, one.variant, one.dtype, one.d), place)
    return list(kinds.values())


def compile_one(name: str, place: int) -> None:
    """Compile all tiles that the tuner may choose for one cell, without launching any."""
    from triton.runtime.autotuner import Autotuner

    def compile_tiles(tuner: Any, *args: Any, **launch: Any) -> None:
        tuner.warmup(*args, **{key: value for key, value in launch.items() if key != "warmup"})

    Autotuner.run = compile_tiles
    case = gpu_cells.prepare(SLICES[name][place])
    inputs = [x.requires_grad_() for x in case.inputs]
    output = case.peers[OURS](*inputs)
    if "backward" in case.directions:
        torch.autograd.grad(output, inputs, torch.ones_like(output))


if __name__ == "__main__":
    main()
