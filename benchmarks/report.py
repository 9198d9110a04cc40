"""How a benchmark writes what it measured: with all that is needed to repeat it."""

import datetime as dt
import json
import platform
import sys
from pathlib import Path

import torch

RESULTS = Path(__file__).parent / "results"


def write(file: str, program: str, *, device: str | None = None, **measured: object) -> None:
    """Write ``results/<file>.json``: device, threads, date, versions, command, and ``measured``."""
    result = {
        "device": platform.machine() if device is None else device,
        "threads": torch.get_num_threads(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": " ".join([f"python -m benchmarks.{program}", *sys.argv[1:]]),
        **measured,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{file}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"written to {path}")
