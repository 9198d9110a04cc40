"""Checks in function bodies: input that passes; test_refusals.py has the rest."""

import math

import torch

from course_lib.support import checks

X = torch.zeros(2, 3, 4)


def test_good_input_passes_without_warnings() -> None:
    checks.check_floating(x=X, y=X[0])
    checks.check_shapes(query=(X, "*batch query d"), key=(X[:, :2], "*batch key d"))
    checks.check_scores(score=torch.tensor([-math.inf, 0.0]))
    checks.check_broadcasts("mask", X[:1, :, :1].bool(), (2, 3, 4))
    checks.check_visible(None, (2, 3, 4))
    checks.check_head_axis(X, mask=X[0].bool(), bias=None, other=X[None])
    checks.check_divides("heads", 3, "d_model", 12)
    checks.check_choice("norm", "pre", ("pre", "post"))


def test_dtypes_may_differ_under_autocast_alone() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        checks.check_floating(x=X, y=X.half())


def test_without_rows_nothing_needs_to_be_visible() -> None:
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    checks.check_visible(nothing, (2, 0, 4))
    checks.check_visible(nothing, (0, 3, 0))
