"""The shared checks: what passes. What does not is in test_refusals.py."""

import math

import numpy as np
import pytest
import torch

from course_lib import checks

X = torch.zeros(2, 3, 4)
HALF = X.half()
KEYS = torch.ones_like(X, dtype=torch.bool)  # one query, the last of the second window, sees none
KEYS[1, 2] = False


def test_good_input_passes_without_a_word() -> None:
    assert checks.check_tensor(x=X, mask=X.bool()) is None
    assert checks.check_floating(x=X, y=X[0]) is None
    assert checks.check_mask(X.bool(), (2, 3, 4), query=X) is None
    assert checks.check_mask(X[:1, :, :1].bool(), (2, 3, 4), query=X) is None
    assert checks.check_bias(X[0], (2, 3, 4), query=X) is None
    assert checks.check_scores(score=torch.tensor([-math.inf, 0.0])) is None
    assert checks.check_visible(None, (2, 3, 4)) is None
    assert checks.check_mask_and_bias(None, None, (2, 3), query=X) is None
    assert checks.check_head_axis(X, mask=X[0].bool(), bias=None, other=X[None]) is None
    assert checks.check_divides("heads", 3, "d_model", 12) is None
    assert checks.check_choice("norm", "pre", ("pre", "post")) is None


def test_numbers_of_any_library_pass() -> None:
    for value in [0, 1, 0.5, np.float32(0.5), np.float64(1), np.int64(0)]:
        checks.check_number("decay", value, minimum=0, maximum=1)


def test_integers_of_any_library_are_sizes() -> None:
    for value in [1, 7, np.int64(3)]:
        checks.check_size("heads", value)


def test_shapes_that_agree_give_the_sizes_of_their_axes() -> None:
    sizes = checks.check_shapes(
        query=(X, "*batch query d"), key=(X[:, :2], "*batch key d"), gate=(X[0, 0], "d")
    )
    assert sizes == {"*batch": (2,), "query": 3, "d": 4, "key": 2}
    assert checks.check_shapes(x=(X[0], "*batch tokens 4")) == {"*batch": (), "tokens": 3}
    assert checks.check_shapes(x=(X, "*shape")) == {"*shape": (2, 3, 4)}


def test_of_equal_dtypes_nobody_asks_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every version of torch.compile can follow the question."""
    monkeypatch.setattr(torch.amp, "is_autocast_available", None)
    checks.check_floating(x=X, y=X)


def test_dtypes_may_differ_under_autocast_alone() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        checks.check_floating(x=X, y=HALF)


def test_without_rows_nothing_needs_to_be_visible() -> None:
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    checks.check_visible(nothing, (2, 0, 4))
    checks.check_visible(nothing, (0, 3, 0))


def test_a_number_that_hides_some_keys_leaves_the_others_visible() -> None:
    bias = torch.tensor([[0.0, -math.inf], [-math.inf, 0.0]])
    checks.check_mask_and_bias(None, bias, (2, 2), query=X)
    checks.check_mask_and_bias(torch.eye(2).bool(), bias, (2, 2), query=X)
