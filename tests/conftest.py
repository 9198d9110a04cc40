"""What all tests share."""

from collections.abc import Iterator
from typing import Any

import jaxtyping
import pytest
from hypothesis import settings

# The same examples in every run, on every machine: a test that fails, fails again.
settings.register_profile("course", derandomize=True, database=None, deadline=None, max_examples=50)
settings.load_profile("course")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Replace the scheduler that ``--dist`` names, where there is more than one worker."""
    from scheduler import FilesAndPages

    return FilesAndPages(config, log)


@pytest.fixture
def plain_calls() -> Iterator[None]:
    """Switch run-time type checking off, so that a test sees the messages of the library itself."""
    jaxtyping.config.update("jaxtyping_disable", True)  # noqa: FBT003 - jaxtyping's interface
    yield
    jaxtyping.config.update("jaxtyping_disable", False)  # noqa: FBT003
