"""Positions against plain loops and complex numbers, and against the claims made for them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from course_lib.attention import attention_weights, causal_mask
from course_lib.position import (
    BucketedBias,
    LearnedPosition,
    alibi_bias,
    relative_buckets,
    rotary,
    shift_matrix,
    sinusoidal,
    sinusoidal_at,
)

DTYPES = [torch.float32, torch.float64]
WIDTHS = st.integers(1, 8).map(lambda pairs: 2 * pairs)
SHIFTS = st.floats(-1000, 1000)


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator)


def assert_close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


# Sinusoids ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_sinusoids_are_those_of_the_paper(dtype: torch.dtype) -> None:
    expected = torch.zeros(50, 6, dtype=torch.float64)
    for t in range(50):
        for i in range(3):
            expected[t, 2 * i] = math.sin(t / 10_000 ** (2 * i / 6))
            expected[t, 2 * i + 1] = math.cos(t / 10_000 ** (2 * i / 6))
    table = sinusoidal(50, 6, dtype=dtype)
    assert table.dtype == dtype
    assert_close(table, expected.to(dtype), 1e-12 if dtype == torch.float64 else 1e-6)


def test_sinusoids_far_out_are_as_exact_as_near() -> None:
    # In float32 the angle 10⁶ alone is off by up to 0.03.
    (row,) = sinusoidal_at(torch.tensor([1_000_000]), 2)
    assert row.dtype == torch.float32
    assert_close(row[0].item() - math.sin(1e6), 0.0, 1e-7)


def test_sinusoids_have_the_asked_dtype_and_device() -> None:
    assert sinusoidal(3, 4).dtype == torch.get_default_dtype()
    assert sinusoidal(3, 4, dtype=torch.bfloat16).dtype == torch.bfloat16
    assert sinusoidal(3, 4, device="meta").device.type == "meta"
    assert sinusoidal_at(torch.arange(3), 4).dtype == torch.get_default_dtype()
    assert sinusoidal_at(torch.arange(3.0, dtype=torch.float64), 4).dtype == torch.float64
    assert shift_matrix(1, 4).dtype == torch.get_default_dtype()
    assert shift_matrix(1, 4, device="meta").device.type == "meta"
    assert sinusoidal(0, 4).shape == (0, 4)


def test_sinusoids_of_any_positions_take_batches_and_fractions() -> None:
    position = torch.tensor([[0.5, -3.0, 1e4], [2.0, 2.0, 0.0]], dtype=torch.float64)
    table = sinusoidal_at(position, 4, base=100)
    assert table.shape == (2, 3, 4)
    expected = [math.sin(-3), math.cos(-3), math.sin(-0.3), math.cos(-0.3)]
    assert_close(table[0, 1], torch.tensor(expected, dtype=torch.float64))
    assert torch.equal(table[1, 0], table[1, 1])


def test_sinusoids_can_be_differentiated_in_the_position() -> None:
    position = randn(5).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: sinusoidal_at(t, 6), (position,))


def test_no_two_of_ten_thousand_positions_share_their_sinusoids() -> None:
    table = sinusoidal(10_000, 16, dtype=torch.float64)
    neighbours = (table[1:] - table[:-1]).norm(dim=-1)
    assert neighbours.min() > 0.5
    assert len(torch.unique((1e6 * table).round(), dim=0)) == 10_000


# Claim: a shift is one linear map --------------------------------------------------------------


@given(WIDTHS, SHIFTS, st.floats(2, 1e5))
def test_one_matrix_shifts_the_sinusoids_of_every_position(
    d_model: int, offset: float, base: float
) -> None:
    position = torch.linspace(-100, 100, 41, dtype=torch.float64)
    shift = shift_matrix(offset, d_model, base=base, dtype=torch.float64)
    shifted = sinusoidal_at(position, d_model, base=base) @ shift.T
    assert_close(shifted, sinusoidal_at(position + offset, d_model, base=base), 1e-9)


def test_the_shift_is_the_only_linear_map_that_does_it() -> None:
    # Least squares recovers it from the table alone.
    table = sinusoidal(200, 8, dtype=torch.float64)
    found = torch.linalg.lstsq(table[:-7], table[7:]).solution.T
    assert_close(found, shift_matrix(7, 8, dtype=torch.float64), 1e-8)


@given(WIDTHS, SHIFTS, SHIFTS)
def test_shifts_are_orthogonal_and_add_up(d_model: int, one: float, other: float) -> None:
    first, second, both = (
        shift_matrix(offset, d_model, dtype=torch.float64) for offset in (one, other, one + other)
    )
    assert_close(first @ first.T, torch.eye(d_model, dtype=torch.float64))
    assert_close(first @ second, both, 1e-9)


@given(WIDTHS, SHIFTS)
def test_sinusoids_of_equal_distance_have_equal_dot_products(d_model: int, offset: float) -> None:
    position = torch.linspace(0, 50, 21, dtype=torch.float64)
    here, there = sinusoidal_at(position, d_model), sinusoidal_at(position + offset, d_model)
    dot = (here * there).sum(dim=-1)
    assert_close(dot, dot[:1].expand(21), 1e-9)


@given(WIDTHS, SHIFTS)
def test_rotary_with_the_opposite_sign_shifts_sinusoids(d_model: int, offset: float) -> None:
    table = sinusoidal(5, d_model, dtype=torch.float64)
    back = torch.full((5,), -offset, dtype=torch.float64)
    shift = shift_matrix(offset, d_model, dtype=torch.float64)
    assert_close(rotary(table, position=back), table @ shift.T)


# Rotary ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)], ids=str)
def test_rotary_multiplies_pairs_by_complex_numbers(
    batch: tuple[int, ...], dtype: torch.dtype
) -> None:
    x = randn(*batch, 5, 6, dtype=dtype)
    frequency = torch.tensor([10_000 ** (-2 * i / 6) for i in range(3)], dtype=torch.float64)
    turn = torch.exp(1j * torch.arange(5)[:, None] * frequency)
    expected = torch.view_as_complex(x.double().reshape(*batch, 5, 3, 2)) * turn
    turned = rotary(x)
    assert turned.dtype == dtype
    tolerance = 1e-12 if dtype == torch.float64 else 1e-6
    assert_close(turned, torch.view_as_real(expected).reshape(x.shape).to(dtype), tolerance)


@given(WIDTHS, SHIFTS, st.integers(0, 2**16))
def test_rotary_scores_depend_on_the_difference_of_positions_alone(
    d: int, offset: float, seed: int
) -> None:
    query, key = randn(6, d, seed=seed), randn(6, d, seed=seed + 1)
    position = torch.arange(6, dtype=torch.float64)
    score = rotary(query, position=position) @ rotary(key, position=position).T
    moved = rotary(query, position=position + offset) @ rotary(key, position=position + offset).T
    assert_close(moved, score, 1e-9)


def test_rotary_scores_of_one_query_and_key_form_diagonals() -> None:
    query, key = randn(1, 8).expand(7, 8), randn(1, 8, seed=1).expand(7, 8)
    score = rotary(query) @ rotary(key).T
    assert_close(score[1:, 1:], score[:-1, :-1])
    assert (score[0, 1:] - score[1:, 0]).abs().min() > 1e-3


@given(WIDTHS, SHIFTS, st.integers(0, 2**16))
def test_rotary_keeps_norms_and_can_be_undone(d: int, offset: float, seed: int) -> None:
    x = randn(4, d, seed=seed)
    position = offset * torch.arange(4, dtype=torch.float64)
    turned = rotary(x, position=position)
    assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert_close(rotary(turned, position=-position), x)


def test_rotary_leaves_the_token_at_position_0_alone() -> None:
    x = randn(3, 4)
    assert torch.equal(rotary(x)[0], x[0])
    assert not torch.allclose(rotary(x)[1], x[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_rotary_goes_on_where_a_cache_ended(dtype: torch.dtype) -> None:
    x = randn(2, 9, 4, dtype=dtype)
    rest = rotary(x[:, 6:], position=torch.arange(6, 9))
    assert torch.equal(rest, rotary(x)[:, 6:])


def test_rotary_has_right_gradients() -> None:
    x, position = randn(2, 3, 4).requires_grad_(), randn(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, t: rotary(x, position=t), (x, position))


# Learned positions -----------------------------------------------------------------------------


def test_learned_positions_add_the_row_of_each_position() -> None:
    learned, x = LearnedPosition(5, 3).double(), randn(2, 4, 3)
    assert torch.equal(learned(x), x + learned.weight[:4])
    position = torch.tensor([4, 0, 0, 2])
    assert torch.equal(learned(x, position=position), x + learned.weight[[4, 0, 0, 2]])


def test_learned_positions_learn_where_they_were_used() -> None:
    learned = LearnedPosition(5, 3)
    learned(torch.zeros(2, 4, 3)).sum().backward()
    assert learned.weight.grad[:, 0].tolist() == [2, 2, 2, 2, 0]


def test_learned_positions_begin_small_and_different() -> None:
    torch.manual_seed(0)
    weight = LearnedPosition(100, 64).weight
    assert 0.019 < weight.std() < 0.021
    assert abs(weight.mean()) < 0.001


# ALiBi -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 2, 3, 8, 16])
def test_the_slopes_of_alibi_start_at_their_ratio_and_end_at_one_256th(heads: int) -> None:
    slope = -alibi_bias(2, heads, dtype=torch.float64)[:, 1, 0]
    assert_close(slope[1:] / slope[:-1], slope[:1].expand(heads - 1))
    assert_close(slope[-1], torch.tensor(2.0**-8, dtype=torch.float64))


def test_the_slopes_of_eight_heads_are_those_of_the_paper() -> None:
    slope = -alibi_bias(2, 8)[:, 0, 1]
    assert torch.equal(slope, 1 / torch.tensor([2.0, 4, 8, 16, 32, 64, 128, 256]))


def test_alibi_costs_the_slope_for_every_place_of_distance() -> None:
    bias = alibi_bias(5, 4, dtype=torch.float64)
    for head in range(4):
        for s in range(5):
            for t in range(5):
                assert_close(bias[head, s, t].item(), -(2.0 ** (-2 * (head + 1))) * abs(s - t))


def test_behind_a_causal_mask_alibi_is_the_row_of_the_paper() -> None:
    # There each row is m (0, 1, 2, …), which differs by one number, and softmax does not see that.
    query, key = randn(6, 4), randn(6, 4, seed=1)
    (bias,) = alibi_bias(6, 1, dtype=torch.float64)
    theirs = 2.0**-8 * torch.arange(6, dtype=torch.float64).expand(6, 6)
    ours, paper = (
        attention_weights(query, key, mask=causal_mask(6), bias=b) for b in (bias, theirs)
    )
    assert_close(ours, paper)


def test_alibi_has_the_asked_dtype_and_device() -> None:
    assert alibi_bias(3, 4).dtype == torch.get_default_dtype()
    assert alibi_bias(3, 4, dtype=torch.float64, device="meta").device.type == "meta"
    assert alibi_bias(0, 4).shape == (4, 0, 0)


# Buckets ---------------------------------------------------------------------------------------


def bucket_by_hand(ahead: int, buckets: int, farthest: int) -> int:
    """The bucket of one pair, in whole numbers: n/e >= (f/e)^(j/e) without roots or logarithms."""
    half, exact, n = buckets // 2, buckets // 4, abs(ahead)
    found = n
    if n >= exact:
        steps = [j for j in range(exact) if n**exact * exact**j >= exact**exact * farthest**j]
        found = exact + steps[-1]
    return found + (half if ahead > 0 else 0)


@given(st.integers(1, 12).map(lambda parts: 4 * parts), st.integers(1, 200), st.integers(1, 60))
def test_buckets_are_those_of_whole_numbers(buckets: int, more: int, tokens: int) -> None:
    farthest = buckets // 4 + more
    found = relative_buckets(tokens, buckets=buckets, farthest=farthest)
    for s in (0, tokens // 2, tokens - 1):
        expected = [bucket_by_hand(t - s, buckets, farthest) for t in range(tokens)]
        assert found[s].tolist() == expected


def test_the_buckets_of_the_paper_begin_where_they_should() -> None:
    row = relative_buckets(200)[0, 1:].tolist()
    starts = [row.index(bucket) + 1 for bucket in range(17, 32)]
    # From 8 on a bucket is the factor 16^(1/8), the square root of 2, wider than the one before.
    assert starts == [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]


def test_buckets_know_left_from_right_and_nothing_of_the_place() -> None:
    found = relative_buckets(40)
    assert torch.equal(found[1:, 1:], found[:-1, :-1])
    later = torch.ones(40, 40, dtype=torch.bool).triu(1)
    assert torch.equal(found[later], found.T[later] + 16)
    assert (found.diagonal() == 0).all()


def test_a_bucketed_bias_gives_every_head_its_number_for_the_bucket() -> None:
    bias = BucketedBias(3, buckets=8, farthest=16)
    assert (bias(5) == 0).all()
    with torch.no_grad():
        bias.weight.copy_(randn(8, 3))
    bucket = relative_buckets(30, buckets=8, farthest=16)
    for s, t in ((0, 0), (4, 1), (1, 4), (0, 29)):
        assert torch.equal(bias(30)[:, s, t], bias.weight[bucket[s, t]])


def test_a_bucketed_bias_learns_where_it_was_used() -> None:
    bias = BucketedBias(2)
    bias(3).sum().backward()
    assert bias.weight.grad[:, 0].nonzero().flatten().tolist() == [0, 1, 2, 17, 18]
    assert bias.weight.grad[[0, 1, 2], 0].tolist() == [3, 2, 1]


# Bad input -------------------------------------------------------------------------------------

X = randn(2, 3, 4)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sinusoidal(-1, 4), ValueError, r"tokens is -1; expected 0 or more"),
        (lambda: sinusoidal(3, 5), ValueError, r"d_model is 5; expected an even .* 4 or 6"),
        (lambda: sinusoidal(3, 0), ValueError, r"d_model is 0; expected 2 or more"),
        (lambda: sinusoidal(3, 4, base=0), ValueError, r"base is 0; .* above 0"),
        (lambda: sinusoidal_at([1, 2], 4), TypeError, r"position is a list; .*as_tensor\(position"),
        (lambda: sinusoidal_at(torch.tensor(1.0), 4), ValueError, r"position has shape \(\)"),
        (lambda: shift_matrix(math.nan, 4), ValueError, r"offset is nan; expected a finite"),
        (lambda: shift_matrix(1, 3), ValueError, r"d_model is 3; expected an even"),
        (lambda: rotary(X[..., :3]), ValueError, r"d, the number of features of x, is 3; .*even"),
        (lambda: rotary(X.long()), TypeError, r"x has dtype torch.int64; .*x.float\(\)"),
        (lambda: rotary(X[0, 0]), ValueError, r"x has shape \(4,\); expected .* at least 2 axes"),
        (
            lambda: rotary(X, position=torch.arange(2)),
            ValueError,
            r"position has shape \(2,\); .*tokens = 3, as in x",
        ),
        (lambda: rotary(X, position=torch.ones(3) > 0), TypeError, r"dtype torch.bool; .*arange"),
        (lambda: rotary(X, position=2), TypeError, r"position is a int; expected a torch.Tensor"),
        (
            lambda: rotary(X, position=torch.arange(3, device="meta")),
            ValueError,
            r"position is on meta and x on cpu; .*to\('cpu'\)",
        ),
        (lambda: LearnedPosition(0, 4), ValueError, r"tokens is 0; expected 1 or more"),
        (lambda: LearnedPosition(4, 0), ValueError, r"d_model is 0; expected 1 or more"),
        (lambda: table(2)(X), ValueError, r"x has 3 tokens; expected 2 at most.*shorten the seq"),
        (
            lambda: table(5)(X[..., :3]),
            ValueError,
            r"x has shape \(2, 3, 3\); .*tokens, 4\); got 3",
        ),
        (lambda: table(5)(X.float()), TypeError, r"x has dtype torch.float32 and parameters has"),
        (
            lambda: table(5)(X, position=torch.arange(3, 6)),
            ValueError,
            r"position holds 5; expected 0 to 4.*build a LearnedPosition with more tokens",
        ),
        (
            lambda: table(5)(X, position=torch.arange(-1, 2)),
            ValueError,
            r"position holds -1; expected 0 to 4",
        ),
        (
            lambda: table(5)(X, position=torch.arange(3.0)),
            TypeError,
            r"position has dtype torch.float32; expected integers.*position.long\(\)",
        ),
        (lambda: alibi_bias(-2, 4), ValueError, r"tokens is -2; expected 0 or more"),
        (lambda: alibi_bias(3, 0), ValueError, r"heads is 0; expected 1 or more"),
        (lambda: relative_buckets(-3), ValueError, r"tokens is -3; expected 0 or more"),
        (lambda: relative_buckets(3, buckets=0), ValueError, r"buckets is 0; expected 4 or more"),
        (
            lambda: relative_buckets(3, buckets=10),
            ValueError,
            r"buckets is 10; expected a multiple of 4.*choose 8 or 12",
        ),
        (lambda: relative_buckets(3, farthest=8), ValueError, r"farthest is 8; expected 9 or more"),
        (lambda: BucketedBias(-1), ValueError, r"heads is -1; expected 1 or more"),
        (lambda: BucketedBias(2, buckets=6), ValueError, r"buckets is 6; expected a multiple of 4"),
        (lambda: BucketedBias(2)(-4), ValueError, r"tokens is -4; expected 0 or more"),
    ],
)
def test_bad_input_gets_a_message_that_helps(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def table(tokens: int) -> LearnedPosition:
    return LearnedPosition(tokens, 4).double()
