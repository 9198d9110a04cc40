"""The book ran each lecture as it stands today, and what it printed is what the notebook says.

`make book` ends at the first cell that fails, so no lecture runs a second time for its tests.
"""

from pathlib import Path

import nbformat
import pytest
from conftest import Folder
from course_site import LECTURES
from jupyter_cache import get_cache
from lecture_outputs import depends_on, record_of
from nbformat import NotebookNode
from strip_outputs import KEPT

OLDER = "the book did not run this lecture as it stands today; run `make book`"


def printed(cell: NotebookNode) -> str:
    """What a cell prints, without progress bars, and the value that it ends with, as text."""
    return "".join(
        output.text if output.output_type == "stream" else output.data["text/plain"]
        for output in cell.outputs
        if output.get("name") != "stderr"
    )


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_the_book_ran_the_lecture_and_printed_what_the_notebook_says(site: Folder, path: Path):
    cache = get_cache(site.path.parent / ".jupyter_cache")
    lecture = nbformat.read(path, as_version=4)
    record = record_of(cache, lecture)
    assert record is not None, OLDER
    assert record.data["depends_on"] == depends_on(lecture), OLDER
    _, run = cache.merge_match_into_notebook(lecture)
    for cell, ran in zip(lecture.cells, run.cells, strict=True):
        if KEPT in cell.metadata.get("tags", []):
            assert printed(ran) == printed(cell), cell.source
