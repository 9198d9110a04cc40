"""Drop what an earlier build left and what would no longer be right.

The cache of Jupyter Book knows a notebook by its code alone. An output also depends on course_lib,
on its JavaScript and data, on measured results, and on the installed versions. Sphinx knows a page
by its text alone. A page also depends on styles, scripts and the site's own extension. This script
keeps a fingerprint of either kind beside the build, and drops what has another one.
"""

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"

OUTPUTS_DEPEND_ON = ("requirements.txt", "constraints.txt", "benchmarks/results", "course_lib")
PAGES_DEPEND_ON = ("book/_static", "book/root", "scripts/site_extension.py")


def fingerprint(sources: Iterable[str]) -> str:
    """A hash of the name and content of every file among the sources and in their folders."""
    digest = hashlib.sha256()
    for source in sources:
        for path in sorted([ROOT / source, *(ROOT / source).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def drop_unless_unchanged(remembered: Path, sources: Iterable[str], stale: Iterable[str]) -> None:
    """Compare with the last build; drop what it left if it no longer holds."""
    now = fingerprint(sources)
    if remembered.exists() and remembered.read_text() == now:
        return
    for folder in stale:
        shutil.rmtree(BUILD / folder, ignore_errors=True)
    BUILD.mkdir(exist_ok=True)
    remembered.write_text(now)


if __name__ == "__main__":
    drop_unless_unchanged(
        BUILD / ".outputs_depend_on", OUTPUTS_DEPEND_ON, (".jupyter_cache", ".doctrees")
    )
    drop_unless_unchanged(BUILD / ".pages_depend_on", PAGES_DEPEND_ON, (".doctrees",))
