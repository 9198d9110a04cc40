"""Write the results of a benchmark with the settings to repeat it."""

import json
import sys
from pathlib import Path

from course_lib.support.evidence import about

RESULTS = Path(__file__).parent / "results"
SHOWN = Path(__file__).parents[1] / "course_lib" / "data" / "benchmarks"
"""Results that lectures show are in the library, so that downloaded notebooks have them."""


def write(
    file: str,
    program: str,
    *,
    folder: Path = RESULTS,
    device: str | None = None,
    **measured: object,
) -> None:
    """Write ``<file>.json``: device, threads, date, versions, command, and ``measured``."""
    result = about(" ".join([f"python -m benchmarks.{program}", *sys.argv[1:]]))
    result |= measured if device is None else {"device": device} | measured
    folder.mkdir(exist_ok=True)
    path = folder / f"{file}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"written to {path}")
