"""Execute the lectures with nbval, and cache their outputs for the book.

Usage: python scripts/site/execute_lectures.py [--cache CACHE] [--jobs N] LECTURE ...

A lecture with valid outputs in the cache is not run.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import kept_outputs
import nbformat
from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase
from output_cache import holds, record_of


def is_missing(cache: JupyterCacheBase, lecture: Path) -> bool:
    """Whether the cache lacks valid outputs of this lecture."""
    notebook = nbformat.read(lecture, as_version=4)
    record = record_of(cache, notebook)
    return record is None or not holds(record, notebook)


def main() -> int:
    """Execute the lectures of the command line that the cache lacks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path, default=Path("_build/.jupyter_cache"))
    parser.add_argument("--jobs", default="2", help="how many lectures run at a time")
    parser.add_argument("lectures", type=Path, nargs="+")
    given = parser.parse_args()
    cache = get_cache(given.cache)
    missing = [str(path) for path in given.lectures if is_missing(cache, path)]
    if not missing:
        return 0
    command = [
        *(sys.executable, "-m", "pytest", "--nbval-lax", "-n", given.jobs, "--dist", "loadfile"),
        *("--no-header", "-p", kept_outputs.__name__, "--keep-outputs", str(given.cache.resolve())),
    ]
    path = {"PYTHONPATH": str(Path(kept_outputs.__file__).parent)}
    done = subprocess.run([*command, *missing], env=os.environ | path, check=False)  # noqa: S603
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
