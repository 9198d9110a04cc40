"""Drop cached notebook outputs when the library or its requirements have changed.

The cache of Jupyter Book knows a notebook by its code alone. An output also depends on course_lib,
on its JavaScript and data, on measured results, and on the installed versions. This script keeps a
fingerprint of all of them beside the cache, and empties the cache when the fingerprint is another.
"""

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
FINGERPRINT = BUILD / ".outputs_depend_on"


def fingerprint() -> str:
    """A hash of the name and content of every file that an output depends on."""
    library = [path for path in (ROOT / "course_lib").rglob("*") if path.is_file()]
    library = [path for path in library if "__pycache__" not in path.parts]
    results = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
    digest = hashlib.sha256()
    for path in [ROOT / "requirements.txt", ROOT / "constraints.txt", *results, *sorted(library)]:
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def main() -> None:
    """Compare with the last build; drop what it left if it no longer holds."""
    now = fingerprint()
    if FINGERPRINT.exists() and FINGERPRINT.read_text() == now:
        return
    for stale in (".jupyter_cache", ".doctrees"):
        shutil.rmtree(BUILD / stale, ignore_errors=True)
    BUILD.mkdir(exist_ok=True)
    FINGERPRINT.write_text(now)


if __name__ == "__main__":
    main()
