"""How a benchmark writes what it measured: with all that is needed to repeat it."""

import datetime as dt
import json
import platform
import sys
from pathlib import Path

import torch

RESULTS = Path(__file__).parent / "results"
SHOWN = Path(__file__).parents[1] / "course_lib" / "data" / "benchmarks"
"""What a lecture shows is part of the library, so that a notebook taken away has it too."""


def write(
    file: str,
    program: str,
    *,
    folder: Path = RESULTS,
    device: str | None = None,
    **measured: object,
) -> None:
    """Write ``<file>.json``: device, threads, date, versions, command, and ``measured``."""
    result = {
        "device": platform.machine() if device is None else device,
        "threads": torch.get_num_threads(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": " ".join([f"python -m benchmarks.{program}", *sys.argv[1:]]),
        **measured,
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{file}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"written to {path}")
