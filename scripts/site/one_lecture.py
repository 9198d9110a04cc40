"""Copy the book's sources with one whole lecture, to build its page without running the others.

Usage: python scripts/site/one_lecture.py LECTURE FOLDER

Of the other lectures only the prose stays, as the target of references. Their cells' outputs and
their citations, which take seconds to set, are left out. Unchanged files keep their date, so that a
second build writes only the changed page.
"""

import filecmp
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from without_solutions import ROOT, copy_the_book

LEFT_OUT = re.compile(
    r"\{(?:glue|cite):?\w*\}`[^`]*`|^```\{bibliography\}.*?^```", re.DOTALL | re.MULTILINE
)
CACHE = Path("_build", ".jupyter_cache")


def leave_the_prose(path: Path) -> None:
    """Replace a notebook by a page of its prose, also in the links to it."""
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    path.with_suffix(".md").write_text(LEFT_OUT.sub("…", prose), encoding="utf-8")
    path.unlink()
    for page in [*path.parent.iterdir(), *path.parents[1].glob("book/*.md")]:
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(path.name, f"{path.stem}.md"), encoding="utf-8")


def files_of(folder: Path) -> set[Path]:
    """The files of a copy, without built ones."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in files if path.parts[0] != "_build"}


def renew(copy: Path, source: Path) -> None:
    """Bring a copy up to date without touching unchanged files."""
    for path in files_of(copy) - files_of(source):
        (copy / path).unlink()
    for path in files_of(source):
        old, new = copy / path, source / path
        if not (old.is_file() and filecmp.cmp(old, new, shallow=False)):
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, old)


def main() -> None:
    """Write the copy that the command line names."""
    lecture, copy = map(Path, sys.argv[1:])
    with TemporaryDirectory() as folder:
        for path in copy_the_book(Path(folder)):
            if path.name != lecture.name:
                leave_the_prose(path)
        renew(copy, Path(folder))
    # The book's own cache has the outputs.
    if not (copy / CACHE).exists():
        (copy / CACHE).parent.mkdir(exist_ok=True)
        (copy / CACHE).symlink_to(ROOT / CACHE)


if __name__ == "__main__":
    main()
