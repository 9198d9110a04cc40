"""The shared checks: what passes, what does not, and what the message says."""

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


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.float64(1), np.int64(0)])
def test_numbers_of_any_library_pass(value: float) -> None:
    checks.check_number("decay", value, minimum=0, maximum=1)


@pytest.mark.parametrize("value", [1, 7, np.int64(3)])
def test_integers_of_any_library_are_sizes(value: int) -> None:
    checks.check_size("heads", value)


def test_shapes_that_agree_give_the_sizes_of_their_axes() -> None:
    sizes = checks.check_shapes(
        query=(X, "*batch query d"), key=(X[:, :2], "*batch key d"), gate=(X[0, 0], "d")
    )
    assert sizes == {"*batch": (2,), "query": 3, "d": 4, "key": 2}
    assert checks.check_shapes(x=(X[0], "*batch tokens 4")) == {"*batch": (), "tokens": 3}
    assert checks.check_shapes(x=(X, "*shape")) == {"*shape": (2, 3, 4)}


def test_an_axis_named_twice_has_one_size() -> None:
    assert checks.check_shapes(matrix=(torch.zeros(3, 3), "row row")) == {"row": 3}
    with pytest.raises(ValueError, match=r"with row = 3, as in matrix of shape .* got 2"):
        checks.check_shapes(matrix=(torch.zeros(3, 2), "row row"))


def test_of_equal_dtypes_nobody_asks_autocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every version of torch.compile can follow the question."""
    monkeypatch.setattr(torch.amp, "is_autocast_available", None)
    checks.check_floating(x=X, y=X)


def test_dtypes_may_differ_under_autocast_alone() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        checks.check_floating(x=X, y=HALF)
    with pytest.raises(TypeError):
        checks.check_floating(x=X, y=HALF)


def test_without_rows_nothing_needs_to_be_visible() -> None:
    nothing = torch.zeros(1, 1, dtype=torch.bool)
    checks.check_visible(nothing, (2, 0, 4))
    checks.check_visible(nothing, (0, 3, 0))


def test_a_number_that_hides_some_keys_leaves_the_others_visible() -> None:
    bias = torch.tensor([[0.0, -math.inf], [-math.inf, 0.0]])
    checks.check_mask_and_bias(None, bias, (2, 2), query=X)
    checks.check_mask_and_bias(torch.eye(2).bool(), bias, (2, 2), query=X)
    with pytest.raises(ValueError, match=r"in row \(0,\)"):
        checks.check_mask_and_bias(~torch.eye(2).bool(), bias, (2, 2), query=X)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: checks.check_tensor(x=X.numpy()), TypeError, r"x is a numpy.ndarray; .*as_tensor"),
        (lambda: checks.check_tensor(x=None), TypeError, r"x is a NoneType; expected a torch.Te"),
        (
            lambda: checks.check_floating(x=X.int()),
            TypeError,
            r"x has dtype torch.int32; .*x.float",
        ),
        (lambda: checks.check_floating(x=X * 1j), TypeError, r"x has dtype torch.complex64"),
        (lambda: checks.check_floating(x=X, y=HALF), TypeError, r"y has dtype torch.float16 and x"),
        (lambda: checks.check_floating(x=X, y=X.to("meta")), ValueError, r"y is on meta and x on"),
        (
            lambda: shapes("tokens"),
            ValueError,
            r"x has shape \(2, 3, 4\); expected \(tokens,\), 1 ax",
        ),
        (lambda: shapes("a b c d"), ValueError, r"expected \(a, b, c, d\), 4 axes"),
        (lambda: shapes("*batch a b c d"), ValueError, r"\(\*batch, a, b, c, d\), at least 4 axes"),
        (lambda: shapes("*batch 5"), ValueError, r"expected \(\*batch, 5\); got 4"),
        (
            lambda: checks.check_shapes(x=(X[:1], "*batch a b"), y=(X, "*batch a b")),
            ValueError,
            r"y has shape .*with \*batch = \(1,\), as in x of shape .*; got \(2,\)",
        ),
        (
            lambda: checks.check_shapes(x=(X[0], "*batch a b"), y=(X, "*batch a b")),
            ValueError,
            r"\*batch = \(\), as in x of shape \(3, 4\)",
        ),
        (
            lambda: shapes("a b b"),
            ValueError,
            r"with b = 3, as in x .*; got 4",
        ),
        (lambda: mask(X), TypeError, r"mask has dtype torch.float32; .*True where.*mask.bool\(\)"),
        (lambda: mask(X.long()), TypeError, r"expected torch.bool, True where"),
        (lambda: mask([True]), TypeError, r"mask is a list"),
        (lambda: mask(X.bool()[:, :2]), ValueError, r"mask has shape \(2, 2, 4\); .*\(2, 3, 4\)"),
        (lambda: mask(X.bool()[0, 0]), ValueError, r"mask has shape \(4,\); .*two axes at least"),
        (lambda: mask(X.bool()[None]), ValueError, r"mask has shape \(1, 2, 3, 4\)"),
        (lambda: mask(X.bool().to("meta")), ValueError, r"mask is on meta and query on cpu"),
        (lambda: bias(X.bool()), TypeError, r"bias has dtype torch.bool; .* pass it as mask"),
        (lambda: bias(X.long()), TypeError, r"bias has dtype torch.int64"),
        (lambda: bias(HALF), TypeError, r"bias has dtype torch.float16 and query"),
        (lambda: bias(X + math.inf), ValueError, r"bias holds nan or \+inf; .*bias.isfinite"),
        (lambda: bias(X * math.nan), ValueError, r"bias holds nan or \+inf"),
        (lambda: bias(X[:, :2]), ValueError, r"bias has shape \(2, 2, 4\)"),
        (
            lambda: checks.check_visible(X.bool(), (2, 3, 4)),
            ValueError,
            r"in row \(0, 0\) every key",
        ),
        (lambda: checks.check_visible(None, (2, 3, 0)), ValueError, r"shape \(2, 3, 0\)"),
        (
            lambda: checks.check_mask_and_bias(KEYS, None, (2, 3, 4), query=X),
            ValueError,
            r"in row \(1, 2\) every key",
        ),
        (
            lambda: checks.check_mask_and_bias(None, KEYS.float().log(), (2, 3, 4), query=X),
            ValueError,
            r"in row \(1, 2\)",
        ),
        (
            lambda: checks.check_head_axis(X, mask=X),
            ValueError,
            r"2 axes.* or 4, .*unsqueeze\(-3\)",
        ),
        (lambda: number(1.5), ValueError, r"decay is 1.5; expected a finite number in \[0, 1\]"),
        (lambda: number(math.nan), ValueError, r"decay is nan"),
        (lambda: number("1"), TypeError, r"decay is a str; .*float\(decay\)"),
        (lambda: number(value=True), TypeError, r"decay is a bool"),
        (lambda: number(1j), TypeError, r"decay is a complex"),
        (lambda: number(torch.tensor(0.5)), TypeError, r"decay is a torch.Tensor"),
        (lambda: checks.check_number("lr", 0, positive=True), ValueError, r"lr is 0; .* above 0;"),
        (
            lambda: checks.check_number("q", math.inf),
            ValueError,
            r"q is inf; expected a finite number;",
        ),
        (lambda: number(-0.1), ValueError, r"decay is -0.1; expected a finite number in \[0, 1\]"),
        (lambda: checks.check_number("lr", -1, positive=True), ValueError, r"lr is -1; .* above 0"),
        (lambda: checks.check_size("heads", 0), ValueError, r"heads is 0; expected 1 or more"),
        (lambda: checks.check_size("heads", 2.0), TypeError, r"heads is 2.0, a float; .*truncated"),
        (lambda: checks.check_size("heads", value=True), TypeError, r"heads is True, a bool"),
        (
            lambda: checks.check_size("step", -1, minimum=0),
            ValueError,
            r"step is -1; expected 0 or m",
        ),
        (
            lambda: checks.check_divides("h", 4, "d", 6),
            ValueError,
            r"h is 4.* d = 6; .* 1, 2, 3, 6",
        ),
        (lambda: checks.check_divides("h", 0, "d", 6), ValueError, r"h is 0; expected 1 or more"),
        (lambda: checks.check_divides("h", 2.0, "d", 6), TypeError, r"h is 2.0, a float"),
        (lambda: checks.check_divides("h", 2, "d", 0), ValueError, r"d is 0; expected 1 or more"),
        (lambda: checks.check_choice("n", "x", ("a", "b")), ValueError, r"n is 'x'; .* 'a', 'b'"),
    ],
)
def test_bad_input_gets_a_message_that_helps(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def shapes(axes: str) -> None:
    checks.check_shapes(x=(X, axes))


def mask(value: object) -> None:
    checks.check_mask(value, (2, 3, 4), query=X)


def bias(value: object) -> None:
    checks.check_bias(value, (2, 3, 4), query=X)


def number(value: object) -> None:
    checks.check_number("decay", value, minimum=0, maximum=1)
