"""No function of the library answers one wrong argument obscurely, with nan, or not at all."""

import pytest
from fuzz import faults


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_argument_is_refused_in_plain_words_or_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    found, smallest, _ = faults(calls=2_500, seed=0)
    assert not found, "\n".join(f"{told}\n    {smallest[told]}" for told in found)
