"""Remove the outputs of notebooks, except those that tests compare.

Usage: python scripts/tools/strip_outputs.py NOTEBOOK…
"""

import sys
from pathlib import Path

import nbformat

KEPT = "nbval-check-output"
# JupyterLab writes these about the last run and view of a notebook.
TRANSIENT = ("execution", "collapsed", "scrolled", "trusted")


def strip(path: Path) -> bool:
    """Strip one notebook in place; return whether that changed it."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    for cell in notebook.cells:
        for name in TRANSIENT:
            cell.metadata.pop(name, None)
        # A folded set-up cell stays folded: a page folds it too.
        if cell.metadata.pop("jupyter", {}).get("source_hidden"):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if cell.cell_type != "code":
            continue
        kept = cell.outputs if KEPT in cell.metadata.get("tags", []) else []
        cell.outputs = [output for output in kept if output.get("name") != "stderr"]
        # For nbval, an output without a count belongs to a cell that never ran.
        cell.execution_count = 1 if cell.outputs else None
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = 1
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    after = nbformat.writes(notebook).rstrip("\n") + "\n"
    path.write_text(after, encoding="utf-8")
    return after != before


def main() -> None:
    """Strip the notebooks named on the command line."""
    for name in sys.argv[1:]:
        if strip(Path(name)):
            print(f"Stripped {name}.")


if __name__ == "__main__":
    main()
