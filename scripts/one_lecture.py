"""Copy the book's sources with one lecture whole, to build its page without running the others.

Usage: python scripts/one_lecture.py LECTURE FOLDER

Of the other lectures the prose stays, so that what the one refers to is there. Numbers that their
cells would have computed are dots.
"""

import re
import sys
from pathlib import Path

import nbformat
from without_solutions import copy_the_book

COMPUTED = re.compile(r"\{glue:?\w*\}`[^`]*`")


def leave_the_prose(path: Path) -> None:
    """Put a page of prose in the place of a notebook, also in the links to it."""
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    path.with_suffix(".md").write_text(COMPUTED.sub("…", prose), encoding="utf-8")
    path.unlink()
    for page in [*path.parent.iterdir(), *path.parents[1].glob("book/*.md")]:
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(path.name, f"{path.stem}.md"), encoding="utf-8")


def main() -> None:
    """Write the copy that the command line names."""
    lecture, copy = map(Path, sys.argv[1:])
    for path in copy_the_book(copy):
        if path.name != lecture.name:
            leave_the_prose(path)


if __name__ == "__main__":
    main()
