"""Tiled attention against the whole softmax, merging of partial results, and counted loads."""

import math
from functools import reduce

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close_for_its_dtype as assert_close
from seeded_tensors import randn
from torch import Tensor
from torch.nn import functional as F

from course_lib import tiled_attention as tiled
from course_lib.attention import attention, causal_mask
from course_lib.tiled_attention import (
    Partial,
    TrafficMeter,
    attention_flops,
    decoding_bytes,
    finish,
    flash_decoding,
    kept_entries,
    merge,
    naive_bytes,
    on_chip_bytes,
    partial_attention,
    register_bytes,
    shared_bytes,
    tile_plan,
    tiled_attention,
    tiled_bytes,
    tiled_gradients,
)

SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 9)
TILINGS = st.fixed_dictionaries({"query_tile": SIZES, "key_tile": SIZES, "causal": st.booleans()})
SPREADS = st.sampled_from([0.1, 1.0, 30.0, 1e4])


few = settings(max_examples=25)


def inputs(*batch: int, query: int, key: int, d: int = 3, d_value: int = 2, seed: int = 0):
    return (
        randn(*batch, query, d, seed=seed),
        randn(*batch, key, d, seed=seed + 1),
        randn(*batch, key, d_value, seed=seed + 2),
    )


def bottom_right(query: int, key: int) -> Tensor:
    return causal_mask(key)[key - query :]


def report(seed: int, *, queries: int = 4, spread: float = 1.0) -> Partial:
    """The partial result of two random keys, with some queries that see none of them."""
    query, key, value = inputs(query=queries, key=2, seed=seed)
    return partial_attention(spread * query, key, value, mask=randn(queries, 2, seed=seed) > 0)


def test_a_partial_result_holds_maximum_total_and_output_of_plain_loops():
    query, key, value = inputs(query=3, key=5)
    found = partial_attention(query, key, value, scale=0.7)
    for i in range(3):
        scores = [0.7 * float(query[i] @ key[j]) for j in range(5)]
        weights = [math.exp(score - max(scores)) for score in scores]
        blend = sum(weight * value[j] for j, weight in enumerate(weights))
        assert float(found.maximum[i]) == pytest.approx(max(scores))
        assert float(found.total[i]) == pytest.approx(sum(weights))
        assert_close(found.output[i], blend)


def test_one_tile_of_all_keys_gives_attention():
    for dtype in [torch.float32, torch.float64]:
        for batch in [(), (2, 3), (0,)]:
            query, key, value = (x.to(dtype) for x in inputs(*batch, query=3, key=5))
            mask = torch.tensor([[True, False, True, True, False]]).expand(3, 5)
            expected = attention(query, key, value, mask=mask)
            key, value = (x.where(mask[0, :, None], math.nan) for x in (key, value))
            assert_close(finish(partial_attention(query, key, value, mask=mask)), expected)


def test_a_query_without_keys_in_a_tile_gets_the_empty_result():
    query, key, value = inputs(query=2, key=3)
    mask = torch.tensor([[False, False, False], [True, False, True]])
    found = partial_attention(query, key, value, mask=mask)
    assert found.maximum[0] == -math.inf
    assert found.total[0] == 0
    assert not found.output[0].any()
    assert all(x[1].isfinite().all() for x in found)


@few
@given(SEEDS, SEEDS, SEEDS, SPREADS)
def test_merging_is_associative(a: int, b: int, c: int, spread: float):
    first, second, third = (report(seed, spread=spread) for seed in (a, b, c))
    left = merge(merge(first, second), third)
    right = merge(first, merge(second, third))
    assert_close(left, right)


@few
@given(SEEDS, st.lists(st.integers(1, 3), min_size=1, max_size=5), st.randoms(), SPREADS)
def test_any_split_of_the_keys_in_any_order_gives_softmax_attention(
    seed: int, lengths: list[int], random, spread: float
):
    query, key, value = inputs(query=3, key=sum(lengths), seed=seed)
    tiles = list(zip(key.split(lengths), value.split(lengths), strict=True))
    random.shuffle(tiles)
    reports = [partial_attention(spread * query, *tile) for tile in tiles]
    expected = F.scaled_dot_product_attention(spread * query, key, value)
    assert_close(finish(reduce(merge, reports)), expected)


@few
@given(SIZES, SIZES, TILINGS, SEEDS)
def test_tiles_of_every_size_give_softmax_attention(query: int, more: int, tiling: dict, seed: int):
    key = query + more - 1
    q, k, v = inputs(2, query=query, key=key, seed=seed)
    mask = bottom_right(query, key) if tiling["causal"] else None
    found = tiled_attention(q, k, v, scale=0.3, **tiling)
    assert_close(found, F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3))


@few
@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
def test_gradients_in_tiles_are_those_of_autograd(
    query: int, key: int, query_tile: int, key_tile: int, seed: int
):
    given = [x.requires_grad_() for x in inputs(2, query=query, key=key, seed=seed)]
    gradient = randn(2, query, 2, seed=seed + 3)
    expected = torch.autograd.grad(attention(*given), given, gradient)
    sizes = {"query_tile": query_tile, "key_tile": key_tile}
    found = tiled_gradients(*(x.detach() for x in given), gradient, **sizes)
    assert_close(found, expected)


@few
@given(SIZES, SIZES, TILINGS)
def test_a_plan_visits_each_visible_pair_once_and_no_future_tile(
    query: int, more: int, tiling: dict
):
    key = query + more - 1
    visits = torch.zeros(query, key)
    visible = torch.ones(query, key, dtype=torch.bool)
    if tiling["causal"]:
        visible = bottom_right(query, key)
    for rows, tiles in tile_plan(query, key, **tiling):
        for columns in tiles:
            assert visible[rows, columns].any()
            visits[rows, columns] += 1
    assert (visits[visible] == 1).all()
    assert visits.max() == 1


@few
@given(SIZES, SIZES, st.integers(1, 12), SEEDS)
def test_keys_split_into_any_number_of_parts_give_softmax_attention(
    query: int, key: int, parts: int, seed: int
):
    q, k, v = inputs(2, query=query, key=key, seed=seed)
    found = flash_decoding(q, k, v, parts=parts, scale=0.7)
    assert_close(found, F.scaled_dot_product_attention(q, k, v, scale=0.7))


@few
@given(SIZES, SIZES, SIZES)
def test_flops_are_those_of_two_matrix_products(query: int, more: int, d: int):
    key = query + more - 1
    # For each pair a product and a sum for each feature, once for the score, once for the blend.
    for visible, causal in ((query * key, False), (int(bottom_right(query, key).sum()), True)):
        assert attention_flops(query, key, d, causal=causal) == visible * (2 * d + 2 * d)


@few
@given(SIZES, SIZES, SIZES, st.sampled_from([1, 2, 4]))
def test_naive_bytes_are_those_of_the_arrays_that_three_operators_read_and_write(
    query: int, key: int, d: int, bytes_each: int
):
    q, k, v = torch.zeros(query, d), torch.zeros(key, d), torch.zeros(key, d)
    s = q @ k.mT
    p = s.softmax(-1)
    moved = [q, k, s, s, p, p, v, p @ v]
    assert naive_bytes(query, key, d, bytes_each=bytes_each) == bytes_each * sum(
        array.numel() for array in moved
    )


@few
@given(SIZES, SIZES, TILINGS, st.sampled_from([1, 2, 4]))
def test_tiled_bytes_are_those_of_the_tiles_that_a_run_loads(
    query: int, more: int, tiling: dict, bytes_each: int
):
    key, d = query + more - 1, 3
    q, k, v = inputs(query=query, key=key, d=d, d_value=d)
    loaded = {}  # the tile of queries stays on chip while keys and values pass by
    passed = []

    def instrumented(
        query_tile: Tensor, key_tile: Tensor, value_tile: Tensor, **options
    ) -> Partial:
        loaded[query_tile.data_ptr()] = query_tile.numel()
        passed.append(key_tile.numel() + value_tile.numel())
        return partial_attention(query_tile, key_tile, value_tile, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiled, "partial_attention", instrumented)
        output = tiled_attention(q, k, v, **tiling)
    moved = sum(loaded.values()) + sum(passed) + output.numel()
    assert moved * bytes_each == tiled_bytes(query, key, d, bytes_each=bytes_each, **tiling)


@few
@given(SIZES, SIZES, SIZES, st.sampled_from([1, 2, 4]))
def test_decoding_bytes_are_those_of_the_arrays_that_the_parts_read_and_write(
    query: int, key: int, parts: int, bytes_each: int
):
    q, k, v = inputs(query=query, key=key, d=3, d_value=3)
    dealt = zip(k.tensor_split(parts), v.tensor_split(parts), strict=True)
    reports = [partial_attention(q, *part) for part in dealt]
    read = parts * q.numel() + k.numel() + v.numel() + q.numel()  # the output is like a query
    passed_on = sum(x.numel() for report in reports for x in report)
    expected = bytes_each * read + 2 * 4 * passed_on
    assert decoding_bytes(query, key, 3, parts=parts, bytes_each=bytes_each) == expected


def test_on_chip_bytes_are_those_of_the_arrays_that_a_tile_holds():
    q, k, v = (x.half() for x in inputs(query=5, key=3, d=4, d_value=4))
    s = (q @ k.mT).float()
    held = partial_attention(q.float(), k.float(), v.float())
    arrays = [q, k, v, s, *held]
    expected = sum(array.numel() * array.element_size() for array in arrays)
    assert on_chip_bytes(4, query_tile=5, key_tile=3) == expected
    in_registers = sum(array.numel() * array.element_size() for array in [s, *held])
    assert register_bytes(4, query_tile=5, key_tile=3) == in_registers
    assert shared_bytes(4, query_tile=5, key_tile=3) == expected - in_registers
    two_stages = shared_bytes(4, query_tile=5, key_tile=3, stages=2)
    assert two_stages == expected - in_registers + 2 * (k.numel() + v.numel())


def test_a_meter_counts_what_operators_read_and_write_and_no_view():
    a, b = torch.zeros(3, 4), torch.zeros(4, 5, dtype=torch.float64)
    with TrafficMeter() as meter:
        product = a.double() @ b.view(4, 5)
        product.mT.add_(1)
    converted, multiplied, added = 12 * 4 + 12 * 8, (12 + 20 + 15) * 8, (15 + 15) * 8
    assert meter.bytes == converted + multiplied + added
    assert meter.largest == 15
    assert meter.most == 12 + 15


def test_a_meter_counts_the_arrays_alive_at_a_time():
    x = torch.zeros(10)
    with TrafficMeter() as passing:
        for _ in range(4):
            x = x + 1
    with TrafficMeter() as keeping:
        kept = [x + 1 for _ in range(4)]
    assert len(kept) == 4
    assert passing.most == 20
    assert keeping.most == 40


def test_attention_keeps_its_inputs_and_its_weights_for_backward_each_once():
    query, key, value = torch.ones(5, 4), torch.ones(7, 4), torch.ones(7, 3)
    kept = kept_entries(attention, query, key, value)
    assert kept >= query.numel() + key.numel() + value.numel() + 5 * 7
    assert kept_entries(lambda x: x * x, query) == query.numel()
