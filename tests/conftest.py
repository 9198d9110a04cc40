"""What all tests share."""

from collections.abc import Iterator

import jaxtyping
import pytest
from hypothesis import settings

# The same examples in every run, on every machine: a test that fails, fails again.
settings.register_profile("course", derandomize=True, database=None, deadline=None, max_examples=50)
settings.load_profile("course")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What stays on one worker: a file, whose tests share fixtures; of tests of pages, one page.

    Pages are many and slow: a file of them on one worker would let the others wait at the end.
    """
    for item in items:
        page = item.callspec.params.get("page_path") if hasattr(item, "callspec") else None
        group = f"{item.path.stem} {page}" if page else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def plain_calls() -> Iterator[None]:
    """Switch run-time type checking off, so that a test sees the messages of the library itself."""
    jaxtyping.config.update("jaxtyping_disable", True)  # noqa: FBT003 - jaxtyping's interface
    yield
    jaxtyping.config.update("jaxtyping_disable", False)  # noqa: FBT003
