"""The head of every results file: machine, date, versions and command."""

import shlex
import sys
from pathlib import Path
from types import ModuleType

from course_lib.support.evidence import about


def provenance(*libraries: ModuleType) -> dict[str, object]:
    """Device, threads, date, versions of Python, torch and ``libraries``, and the command."""
    head = about(command())
    head["versions"] |= {library.__name__: library.__version__ for library in libraries}
    return head


def command() -> str:
    """What was typed."""
    program, *options = sys.argv
    return " ".join(
        [
            "OMP_NUM_THREADS=1 python",
            f"scripts/data/{Path(program).name}",
            *map(shlex.quote, options),
        ]
    )
