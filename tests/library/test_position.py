"""Positions against plain loops and complex numbers."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn

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


def test_sinusoids_are_those_of_the_paper() -> None:
    for dtype in DTYPES:
        expected = torch.zeros(50, 6, dtype=torch.float64)
        for t in range(50):
            for i in range(3):
                expected[t, 2 * i] = math.sin(t / 10_000 ** (2 * i / 6))
                expected[t, 2 * i + 1] = math.cos(t / 10_000 ** (2 * i / 6))
        table = sinusoidal(50, 6, dtype=dtype)
        assert table.dtype == dtype
        assert_close(table, expected.to(dtype), 1e-12 if dtype == torch.float64 else 1e-6)


def test_sinusoids_at_large_positions_are_as_exact_as_at_small_ones() -> None:
    # In float32 the angle 10⁶ alone is off by up to 0.03.
    (row,) = sinusoidal_at(torch.tensor([1_000_000]), 2)
    assert row.dtype == torch.float32
    assert_close(row[0].item() - math.sin(1e6), 0.0, 1e-7)


def test_sinusoids_can_be_differentiated_in_the_position() -> None:
    position = randn(5).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: sinusoidal_at(t, 6), (position,))


@given(WIDTHS, SHIFTS, st.floats(2, 1e5))
def test_one_matrix_shifts_the_sinusoids_of_every_position(
    d_model: int, offset: float, base: float
) -> None:
    position = torch.linspace(-100, 100, 41, dtype=torch.float64)
    shift = shift_matrix(offset, d_model, base=base, dtype=torch.float64)
    shifted = sinusoidal_at(position, d_model, base=base) @ shift.T
    assert_close(shifted, sinusoidal_at(position + offset, d_model, base=base), 1e-9)


def test_rotary_multiplies_pairs_by_complex_numbers() -> None:
    for dtype in DTYPES:
        for batch in [(), (2,), (2, 3), (0,)]:
            x = randn(*batch, 5, 6, dtype=dtype)
            frequency = torch.tensor(
                [10_000 ** (-2 * i / 6) for i in range(3)], dtype=torch.float64
            )
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


def test_rotary_has_right_gradients() -> None:
    x, position = randn(2, 3, 4).requires_grad_(), randn(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, t: rotary(x, position=t), (x, position))


def test_learned_positions_add_the_row_of_each_position() -> None:
    learned, x = LearnedPosition(5, 3).double(), randn(2, 4, 3)
    assert torch.equal(learned(x), x + learned.weight[:4])
    position = torch.tensor([4, 0, 0, 2])
    assert torch.equal(learned(x, position=position), x + learned.weight[[4, 0, 0, 2]])


def test_the_slopes_of_alibi_start_at_their_ratio_and_end_at_one_256th() -> None:
    for heads in [1, 2, 3, 8, 16]:
        slope = -alibi_bias(2, heads, dtype=torch.float64)[:, 1, 0]
        assert_close(slope[1:] / slope[:-1], slope[:1].expand(heads - 1))
        assert_close(slope[-1], torch.tensor(2.0**-8, dtype=torch.float64))


def test_alibi_costs_the_slope_for_every_place_of_distance() -> None:
    bias = alibi_bias(5, 4, dtype=torch.float64)
    for head in range(4):
        for s in range(5):
            for t in range(5):
                assert_close(bias[head, s, t].item(), -(2.0 ** (-2 * (head + 1))) * abs(s - t))


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


def test_a_bucketed_bias_gives_every_head_its_number_for_the_bucket() -> None:
    bias = BucketedBias(3, buckets=8, farthest=16)
    assert (bias(5) == 0).all()
    with torch.no_grad():
        bias.weight.copy_(randn(8, 3))
    bucket = relative_buckets(30, buckets=8, farthest=16)
    for s, t in ((0, 0), (4, 1), (1, 4), (0, 29)):
        assert torch.equal(bias(30)[:, s, t], bias.weight[bucket[s, t]])
