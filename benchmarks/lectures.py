"""Measure the time of *Run all* and the lines of code of each lecture.

    python -m benchmarks.lectures                 # all of them, one after the other
    python -m benchmarks.lectures 04 --cells 5    # one, and its five slowest cells

Seconds are processor time of the kernel and its children on one thread, so they hardly depend on
other load. Lines are the non-empty ones of code cells; hidden are lines of cells that the page does
not show.
"""

import argparse
import os
import sys
import time
from itertools import pairwise
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient
from nbformat import NotebookNode

from benchmarks.report import write

LECTURES = Path(__file__).parents[1] / "lectures"
HIDING = {"remove-cell", "remove-input"}
THREADS = 1
MOST_SECONDS, MOST_LINES, MOST_HIDDEN = 30, 450, 80


def lines_of(notebook: NotebookNode) -> tuple[int, int]:
    """Non-empty lines of code, and those of them that the page hides."""
    lines = hidden = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            own = sum(bool(line.strip()) for line in cell.source.splitlines())
            lines += own
            hidden += own if HIDING & set(cell.metadata.get("tags", [])) else 0
    return lines, hidden


def run(notebook: NotebookNode) -> tuple[list[float], float]:
    """Processor seconds of each cell, and the wall-clock seconds of *Run all*."""
    spent = [0.0]

    def note(**_: object) -> None:
        times = psutil.Process(client.km.provisioner.pid).cpu_times()
        spent.append(sum(times[:4]))

    client = NotebookClient(
        notebook,
        timeout=600,
        record_timing=False,
        resources={"metadata": {"path": str(LECTURES)}},
        on_cell_executed=note,
    )
    begun = time.perf_counter()
    client.execute()
    return [after - before for before, after in pairwise(spent)], time.perf_counter() - begun


def main() -> None:
    """Measure the chosen lectures, print them, and write the results of a run of all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("numbers", nargs="*", metavar="NN", help="which lectures; all if none")
    parser.add_argument("--cells", type=int, default=0, help="list this many of the slowest cells")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    rows, over = {}, []
    print(f"{'lecture':28} {'processor s':>11} {'clock s':>8} {'lines':>6} {'hidden':>6}")
    for path in sorted(LECTURES.glob("*.ipynb")):
        if given.numbers and path.stem.split("_")[0] not in given.numbers:
            continue
        notebook = nbformat.read(path, as_version=4)
        lines, hidden = lines_of(notebook)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        costs, clock = run(notebook)
        seconds = sum(costs)
        rows[path.stem] = {
            "processor_s": round(seconds, 1),
            "clock_s": round(clock, 1),
            "lines": lines,
            "hidden": hidden,
        }
        print(f"{path.stem:28} {seconds:11.1f} {clock:8.1f} {lines:6} {hidden:6}", flush=True)
        if seconds > MOST_SECONDS or lines > MOST_LINES or hidden > MOST_HIDDEN:
            over.append(path.stem)
        dearest = sorted(zip(costs, cells, strict=True), key=lambda pair: -pair[0])[: given.cells]
        for cost, cell in dearest:
            print(f"  {cost:6.1f} s  {cell.id}  {cell.source.strip().splitlines()[0][:80]}")
    if not given.numbers:
        write("lectures-cpu", "lectures", threads=THREADS, lectures=rows)
    if over:
        sys.exit(f"over {MOST_SECONDS} s, {MOST_LINES} lines or {MOST_HIDDEN} hidden: {over}")


if __name__ == "__main__":
    main()
