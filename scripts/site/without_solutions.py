"""Copy the book's sources without their solutions, to build a site for a class.

Usage: python scripts/site/without_solutions.py FOLDER

Solutions are in ``{solution}`` blocks, or between a ``{solution-start}`` and a ``{solution-end}``
block. Both are removed, so neither pages nor downloaded notebooks contain them.
"""

import re
import shutil
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = re.compile(
    r"^(?P<fence>[`:]{3,})\{solution\}.*?^(?P=fence)[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
START = re.compile(r"^[`:]{3,}\{solution-start\}", re.MULTILINE)
END = re.compile(r"^[`:]{3,}\{solution-end\}", re.MULTILINE)


def strip_notebook(path: Path) -> None:
    """Take the solutions out of one notebook, in place."""
    notebook = nbformat.read(path, as_version=4)
    kept, inside = [], False
    for cell in notebook.cells:
        prose = cell.source if cell.cell_type == "markdown" else ""
        inside = inside or bool(START.search(prose))
        if not inside:
            if prose:
                cell.source = SOLUTION.sub("", prose).strip()
            if cell.source:
                kept.append(cell)
        inside = inside and not END.search(prose)
    if inside:
        sys.exit(f"{path.name}: a {{solution-start}} has no {{solution-end}}")
    notebook.cells = kept
    nbformat.write(notebook, path)


def copy_the_book(copy: Path) -> list[Path]:
    """Copy the sources of the book; return the notebooks of the copy."""
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("book", "lectures", "scripts/site"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, copy)
    return sorted((copy / "lectures").glob("*.ipynb"))


def main() -> None:
    """Write the copy that the command line names."""
    for path in copy_the_book(Path(sys.argv[1])):
        strip_notebook(path)


if __name__ == "__main__":
    main()
