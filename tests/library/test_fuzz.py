"""No function of the library fails obscurely, returns nan or hangs for one bad argument."""

import pytest
from fuzz import faults


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_argument_is_accepted_or_refused_with_what_was_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    found, smallest, _ = faults(calls=2_500, seed=0)
    assert not found, "\n".join(f"{told}\n    {smallest[told]}" for told in found)
