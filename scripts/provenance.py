"""The head of every results file: where, when and with what it was made."""

import datetime as dt
import platform
import shlex
import sys
from pathlib import Path
from types import ModuleType

import torch


def provenance(*libraries: ModuleType) -> dict[str, object]:
    """Device, threads, date, versions of Python, torch and ``libraries``, and the command."""
    return {
        "device": platform.machine(),
        "threads": torch.get_num_threads(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__}
        | {library.__name__: library.__version__ for library in libraries},
        "command": command(),
    }


def command() -> str:
    """What was typed."""
    program, *options = sys.argv
    return " ".join(
        ["OMP_NUM_THREADS=1 python", f"scripts/{Path(program).name}", *map(shlex.quote, options)]
    )
