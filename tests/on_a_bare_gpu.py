"""What the kernels' tests find in conftest.py elsewhere, where no types are checked at run time."""

import pytest


@pytest.fixture
def plain_calls() -> None:
    """Nothing to switch off."""
