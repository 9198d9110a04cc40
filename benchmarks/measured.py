"""Results of the GPU benchmark: written after every cell, merged, printed.

A report is in ``<device>.json``. A cell is one comparison of all peers; measuring it again replaces
it and keeps the others. Each row names the run that measured it, with its date, versions and
command.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

OURS = "course_lib"
WORST = {"float16": 2e-3, "bfloat16": 1.6e-2}
"""The relative error against float64 that a dtype is allowed."""

CELL = ("kernel", "direction", "variant", "dtype", "d", "tokens")
Row = dict[str, Any]


class Report:
    """The file of one device: the rows of all runs, and the head of the last one."""

    def __init__(self, folder: Path, run: Row) -> None:
        name = re.sub(r"\W+", "-", run["device"]).lower()
        self.path = folder / f"{name}.json"
        before = self.read(self.path) if self.path.exists() else {}
        self.rows: list[Row] = before.get("rows", [])
        self.runs: list[Row] = [*before.get("runs", []), run]
        self.seconds: dict[str, float] = before.get("seconds", {})
        self.new: set[tuple[Any, ...]] = set()

    @staticmethod
    def read(path: Path) -> Row:
        """The report of earlier runs."""
        return json.loads(path.read_text())

    @property
    def content(self) -> Row:
        """The contents of the file."""
        used = sorted({row["run"] for row in self.rows} | {len(self.runs) - 1})
        places = {run: place for place, run in enumerate(used)}
        rows = [row | {"run": places[row["run"]]} for row in self.rows]
        rows.sort(key=lambda row: (*map(str, cell(row)[:-1]), row["tokens"]))
        runs = [self.runs[place] for place in used]
        return {**runs[-1], "runs": runs, "seconds": self.seconds, "rows": rows}

    def add(self, rows: list[Row]) -> None:
        """Replace the rows of one cell, and write the file."""
        rows = [row | {"run": len(self.runs) - 1} for row in rows]
        cells = {cell(row) for row in rows}
        self.new |= cells
        self.rows = [row for row in self.rows if cell(row) not in cells] + rows
        self.write()

    def took(self, name: str, seconds: float) -> None:
        """Store the time of a slice, for the plan of the next run."""
        self.seconds[name] = round(seconds, 1)
        self.write()

    def write(self) -> None:
        """Replace the file as a whole, so that nobody reads half a file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        half = self.path.with_suffix(".part")
        half.write_text(json.dumps(self.content, indent=1) + "\n")
        half.replace(self.path)

    def wrong(self) -> list[Row]:
        """Our rows of this run that failed, or exceed the error that their dtype allows."""
        ours = [row for row in self.rows if row["peer"] == OURS and cell(row) in self.new]
        return [
            row
            for row in ours
            if "failed" in row or not row.get("error", math.inf) < WORST[row["dtype"]]
        ]


def cell(row: Row) -> tuple[Any, ...]:
    """The entries that all peers of a comparison share."""
    return tuple(row[name] for name in CELL)


def groups(rows: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of each kernel, direction, variant, dtype and d."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(cell(row)[:-1], []).append(row)
    return found


def tables(report: Row) -> str:
    """The speed of each peer, how many times as fast we are, and our share of a matrix product.

    In TFLOP/s if the operations are known, else in milliseconds.
    """
    lines = []
    for (kernel, direction, variant, dtype, d), rows in groups(report["rows"]).items():
        peers = list(dict.fromkeys(row["peer"] for row in rows))
        counted = any("tflops" in row for row in rows)
        unit = "TFLOP/s" if counted else "ms"
        lines += ["", f"{kernel} {direction}, {variant}, {dtype}, d = {d}: {unit} (our speed-up)"]
        lines.append("tokens".rjust(8) + "".join(p.rjust(18) for p in peers) + "   of product")
        for tokens in sorted({row["tokens"] for row in rows}):
            here = {row["peer"]: row for row in rows if row["tokens"] == tokens}
            ours = here.get(OURS, {})
            texts = [speed(here.get(peer, {}), ours, counted=counted) for peer in peers]
            share = f"{ours['tflops'] / report['ceiling']:13.0%}" if "tflops" in ours else ""
            lines.append(f"{tokens:8}" + "".join(text.rjust(18) for text in texts) + share)
        ours = {row["tokens"]: row for row in rows if row["peer"] == OURS}
        memory = [
            f"{n}: {row['peak_mb']:.0f}" for n, row in sorted(ours.items()) if "peak_mb" in row
        ]
        lines.append("  our MB " + ", ".join(memory))
        lines += [
            f"  {row['peer']}, {row['tokens']}: {row['failed']}" for row in rows if "failed" in row
        ]
    return "\n".join(lines)


def speed(theirs: Row, ours: Row, *, counted: bool) -> str:
    """A peer's speed, and how many times as fast we are."""
    if "ms" not in theirs:
        return "-"
    text = f"{theirs['tflops']:.0f}" if counted else f"{theirs['ms']:.3g}"
    return text + (f" ({theirs['ms'] / ours['ms']:.2f})" if "ms" in ours else "")


def figure(report: Row, target: Path) -> None:
    """Speed against tokens, one panel for each kernel, direction, variant, dtype and d."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        print("No figure: Matplotlib is not installed")
        return
    mpl.use("svg")
    from matplotlib import pyplot as plt

    panels = groups(report["rows"])
    columns = 4
    height = math.ceil(len(panels) / columns)
    drawn, axes = plt.subplots(
        height, columns, figsize=(14, 3 * height), squeeze=False, layout="constrained"
    )
    for axis, (title, rows) in zip(axes.flat, panels.items(), strict=False):
        kernel, direction, variant, dtype, d = title
        axis.set_title(f"{kernel} {direction}, {variant}, {dtype}, d = {d}", fontsize=9)
        unit = "tflops" if any("tflops" in row for row in rows) else "ms"
        for peer in dict.fromkeys(row["peer"] for row in rows):
            points = [(r["tokens"], r[unit]) for r in rows if r["peer"] == peer and unit in r]
            width = 2.5 if peer == OURS else 1.2
            if points:
                axis.plot(*zip(*points, strict=True), "o-", label=peer, linewidth=width)
        if unit == "tflops":
            axis.axhline(report["ceiling"], color="gray", linestyle=":", label="matrix product")
        else:
            axis.set_yscale("log")
        axis.set_xscale("log", base=2)
        axis.set_xlabel("tokens")
        axis.set_ylabel("TFLOP/s" if unit == "tflops" else "ms")
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    drawn.suptitle(f"{report['device']}, {report['date']}")
    drawn.savefig(target)
    plt.close(drawn)
    print(f"Wrote {target}")
