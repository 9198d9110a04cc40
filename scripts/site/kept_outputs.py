"""A pytest plugin: put the outputs of lectures under nbval into the book's cache.

    pytest --nbval-lax -p kept_outputs --keep-outputs CACHE LECTURE ...

The outputs of a lecture are kept once all its cells have passed.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jupyter_cache import get_cache
from output_cache import depends_on, keep

if TYPE_CHECKING:  # pytest imports and rewrites plugins later
    from nbval.plugin import IPyNbCell

BEFORE, BEGAN = pytest.StashKey[str](), pytest.StashKey[float]()
PASSED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the cache."""
    parser.addoption("--keep-outputs", type=Path, help="cache that keeps what notebooks give")


def pytest_runtest_setup(item: "IPyNbCell") -> None:
    """Record what the outputs of a lecture depend on before it begins."""
    lecture = item.parent
    if BEGAN not in lecture.stash:
        lecture.stash[BEFORE] = depends_on(lecture.nb)
        lecture.stash[BEGAN], lecture.stash[PASSED] = time.perf_counter(), 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: "IPyNbCell") -> object:
    """Collect the outputs of a passed cell; after the last one, cache them all."""
    result = yield
    lecture = item.parent
    lecture.stash[PASSED] += 1
    item.cell.outputs, item.cell.execution_count = item.test_outputs, lecture.stash[PASSED]
    if lecture.stash[PASSED] == sum(cell.cell_type == "code" for cell in lecture.nb.cells):
        seconds = time.perf_counter() - lecture.stash[BEGAN]
        cache = get_cache(item.config.option.keep_outputs)
        keep(cache, lecture.nb, lecture.path, seconds=seconds, before=lecture.stash[BEFORE])
    return result
