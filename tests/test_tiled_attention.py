"""Attention in tiles: against the whole softmax, as a monoid of reports, and by counted loads."""

import itertools
import math
from functools import reduce

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib import tiled_attention as tiled
from course_lib.attention import attention, causal_mask
from course_lib.tiled_attention import (
    Partial,
    attention_flops,
    decoding_bytes,
    finish,
    flash_decoding,
    merge,
    naive_bytes,
    on_chip_bytes,
    partial_attention,
    register_bytes,
    shared_bytes,
    tile_plan,
    tiled_attention,
    tiled_bytes,
)

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
SEEDS = st.integers(0, 10_000)
SIZES = st.integers(1, 9)
TILINGS = st.fixed_dictionaries({"query_tile": SIZES, "key_tile": SIZES, "causal": st.booleans()})
SPREADS = st.sampled_from([0.1, 1.0, 30.0, 1e4])


def randn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def inputs(*batch: int, query: int, key: int, d: int = 3, d_value: int = 2, seed: int = 0):
    return (
        randn(*batch, query, d, seed=seed),
        randn(*batch, key, d, seed=seed + 1),
        randn(*batch, key, d_value, seed=seed + 2),
    )


def bottom_right(query: int, key: int) -> Tensor:
    return causal_mask(key)[key - query :]


def report(seed: int, *, queries: int = 4, spread: float = 1.0) -> Partial:
    """What two random keys say, with some queries that see none of them."""
    query, key, value = inputs(query=queries, key=2, seed=seed)
    return partial_attention(spread * query, key, value, mask=randn(queries, 2, seed=seed) > 0)


def assert_close(actual: Tensor, expected: Tensor) -> None:
    tolerance = TOLERANCE[expected.dtype]
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def assert_same_knowledge(first: Partial, second: Partial) -> None:
    for one, other in zip(first, second, strict=True):
        assert_close(one, other)


# One tile ---------------------------------------------------------------------------------------


def test_a_report_holds_maximum_total_and_output_as_plain_loops_find_them():
    query, key, value = inputs(query=3, key=5)
    found = partial_attention(query, key, value, scale=0.7)
    for i in range(3):
        scores = [0.7 * float(query[i] @ key[j]) for j in range(5)]
        weights = [math.exp(score - max(scores)) for score in scores]
        blend = sum(weight * value[j] for j, weight in enumerate(weights))
        assert float(found.maximum[i]) == pytest.approx(max(scores))
        assert float(found.total[i]) == pytest.approx(sum(weights))
        assert_close(found.output[i], blend)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)])
def test_one_tile_of_all_keys_finishes_as_attention(dtype: torch.dtype, batch: tuple[int, ...]):
    query, key, value = (x.to(dtype) for x in inputs(*batch, query=3, key=5))
    mask = torch.tensor([[True, False, True, True, False]]).expand(3, 5)
    expected = attention(query, key, value, mask=mask)
    assert_close(finish(partial_attention(query, key, value, mask=mask)), expected)


def test_a_query_that_sees_no_key_of_a_tile_gets_the_empty_report():
    query, key, value = inputs(query=2, key=3)
    mask = torch.tensor([[False, False, False], [True, False, True]])
    found = partial_attention(query, key, value, mask=mask)
    assert found.maximum[0] == -math.inf
    assert found.total[0] == 0
    assert not found.output[0].any()
    assert all(x[1].isfinite().all() for x in found)


def test_a_tile_without_keys_says_nothing():
    query, key, value = inputs(query=2, key=3)
    found = partial_attention(query, key[:0], value[:0])
    assert found.maximum.tolist() == [-math.inf, -math.inf]
    assert found.total.tolist() == [0, 0]
    assert found.output.shape == (2, 2)
    assert not found.output.any()


def test_scores_far_out_neither_overflow_nor_vanish():
    query, value = torch.tensor([[1.0], [-1.0]]), torch.tensor([[2.0], [3.0]])
    key = torch.tensor([[1e4], [-1e4]])
    tiles = [partial_attention(query, key[j : j + 1], value[j : j + 1]) for j in range(2)]
    assert finish(merge(*tiles)).tolist() == [[2.0], [3.0]]


# Reports form a commutative monoid --------------------------------------------------------------


@given(SEEDS, SEEDS, SEEDS, SPREADS)
def test_merging_is_associative(a: int, b: int, c: int, spread: float):
    first, second, third = (report(seed, spread=spread) for seed in (a, b, c))
    left = merge(merge(first, second), third)
    right = merge(first, merge(second, third))
    assert_same_knowledge(left, right)


@given(SEEDS, SEEDS, SPREADS)
def test_merging_is_commutative(a: int, b: int, spread: float):
    first, second = report(a, spread=spread), report(b, spread=spread)
    assert_same_knowledge(merge(first, second), merge(second, first))


@given(SEEDS)
def test_the_empty_report_changes_nothing(seed: int):
    query, key, value = inputs(query=4, key=1)
    empty = partial_attention(query, key[:0], value[:0])
    known = report(seed)
    assert_same_knowledge(merge(empty, known), known)
    assert_same_knowledge(merge(known, empty), known)
    assert_same_knowledge(merge(empty, empty), empty)


@given(SEEDS, st.lists(st.integers(1, 3), min_size=1, max_size=5), st.randoms(), SPREADS)
def test_any_split_of_the_keys_in_any_order_finishes_as_softmax(
    seed: int, lengths: list[int], random, spread: float
):
    query, key, value = inputs(query=3, key=sum(lengths), seed=seed)
    tiles = list(zip(key.split(lengths), value.split(lengths), strict=True))
    random.shuffle(tiles)
    reports = [partial_attention(spread * query, *tile) for tile in tiles]
    expected = F.scaled_dot_product_attention(spread * query, key, value)
    assert_close(finish(reduce(merge, reports)), expected)


# All tiles --------------------------------------------------------------------------------------


@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
def test_tiles_of_every_size_give_softmax_attention(
    query: int, key: int, query_tile: int, key_tile: int, seed: int
):
    q, k, v = inputs(2, query=query, key=key, seed=seed)
    found = tiled_attention(q, k, v, query_tile=query_tile, key_tile=key_tile)
    assert_close(found, F.scaled_dot_product_attention(q, k, v))


@given(SIZES, SIZES, SIZES, SIZES, SEEDS)
def test_causal_tiles_of_every_size_are_aligned_to_the_bottom_right(
    query: int, more: int, query_tile: int, key_tile: int, seed: int
):
    key = query + more - 1
    q, k, v = inputs(query=query, key=key, seed=seed)
    found = tiled_attention(q, k, v, query_tile=query_tile, key_tile=key_tile, causal=True)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=bottom_right(query, key))
    assert_close(found, expected)


def test_scale_takes_the_place_of_one_over_root_d():
    q, k, v = inputs(query=4, key=5)
    found = tiled_attention(q, k, v, query_tile=3, key_tile=2, scale=0.3)
    assert_close(found, F.scaled_dot_product_attention(q, k, v, scale=0.3))


@pytest.mark.parametrize("causal", [False, True])
def test_tiles_have_the_gradients_of_attention(causal: bool):  # noqa: FBT001 - from the list above
    q, k, v = (x.requires_grad_() for x in inputs(query=4, key=5))
    mask = bottom_right(4, 5) if causal else None
    found = tiled_attention(q, k, v, query_tile=3, key_tile=2, causal=causal)
    covector = randn(4, 2, seed=9)
    expected = torch.autograd.grad(attention(q, k, v, mask=mask), (q, k, v), covector)
    for one, other in zip(torch.autograd.grad(found, (q, k, v), covector), expected, strict=True):
        assert_close(one, other)


def test_no_queries_get_no_outputs():
    q, k, v = inputs(2, query=0, key=3)
    assert tiled_attention(q, k, v, query_tile=2, key_tile=2).shape == (2, 0, 2)


@given(SIZES, SIZES, TILINGS)
def test_a_plan_visits_each_visible_pair_once_and_no_tile_that_lies_in_the_future(
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


# Keys in parts -----------------------------------------------------------------------------------


@given(SIZES, SIZES, st.integers(1, 12), SEEDS)
def test_keys_dealt_out_in_any_number_of_parts_give_softmax_attention(
    query: int, key: int, parts: int, seed: int
):
    q, k, v = inputs(2, query=query, key=key, seed=seed)
    found = flash_decoding(q, k, v, parts=parts, scale=0.7)
    assert_close(found, F.scaled_dot_product_attention(q, k, v, scale=0.7))


def test_no_part_gets_more_than_its_share_of_the_keys_and_none_gets_one_twice():
    q, k, v = inputs(query=1, key=10)
    seen = []

    def instrumented(query: Tensor, key: Tensor, value: Tensor, **options) -> Partial:
        seen.append(key)
        return partial_attention(query, key, value, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiled, "partial_attention", instrumented)
        flash_decoding(q, k, v, parts=4)
    assert [len(part) for part in seen] == [3, 3, 2, 2]
    assert torch.equal(torch.cat(seen), k)


def test_reports_of_parts_are_merged_two_by_two():
    depth = {}

    def instrumented(first: Partial, second: Partial) -> Partial:
        found = merge(first, second)
        depth[id(found.total)] = 1 + max(depth.get(id(x.total), 0) for x in (first, second))
        kept.append(found)
        return found

    kept = []  # so that no id is given twice
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiled, "merge", instrumented)
        flash_decoding(*inputs(query=2, key=40), parts=13)
    assert max(depth.values()) == math.ceil(math.log2(13))


# Costs ------------------------------------------------------------------------------------------


@given(SIZES, SIZES, SIZES)
def test_flops_are_those_of_two_matrix_products(query: int, more: int, d: int):
    key = query + more - 1
    # For each pair a product and a sum for each feature, once for the score, once for the blend.
    for visible, causal in ((query * key, False), (int(bottom_right(query, key).sum()), True)):
        assert attention_flops(query, key, d, causal=causal) == visible * (2 * d + 2 * d)


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


def test_larger_tiles_of_queries_move_fewer_bytes_and_hold_more():
    sizes = [16, 32, 64, 128]
    moved = [tiled_bytes(4096, 4096, 64, query_tile=size) for size in sizes]
    held = [on_chip_bytes(64, query_tile=size, key_tile=64) for size in sizes]
    assert all(more > less for more, less in itertools.pairwise(moved))
    assert all(less < more for less, more in itertools.pairwise(held))


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


# Bad input --------------------------------------------------------------------------------------


def test_finish_refuses_a_query_that_saw_nothing(plain_calls: None):  # noqa: ARG001 - switches
    query, key, value = inputs(query=2, key=3)
    mask = torch.tensor([[True, False, False], [False, False, False]])
    with pytest.raises(ValueError, match=r"may look at nothing: in row \(1,\)"):
        finish(partial_attention(query, key, value, mask=mask))


BAD_CALLS = {
    "no key": (ValueError, "a query may look at nothing", {"key": 0}),
    "tile of no queries": (ValueError, "query_tile is 0; expected 1 or more", {"query_tile": 0}),
    "half a tile": (TypeError, "key_tile is 1.5, a float; expected an integer", {"key_tile": 1.5}),
    "more queries than keys": (
        ValueError,
        "there are 4 queries and 3 keys.*pass causal=False",
        {"query": 4, "key": 3, "causal": True},
    ),
    "negative scale": (ValueError, "scale is -1; expected a finite number above 0", {"scale": -1}),
}


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD_CALLS)
def test_tiled_attention_says_what_is_wrong(case: str):
    error, message, given = BAD_CALLS[case]
    options = {"query": 2, "key": 5, "query_tile": 2, "key_tile": 2, **given}
    q, k, v = inputs(query=options.pop("query"), key=options.pop("key"))
    with pytest.raises(error, match=message):
        tiled_attention(q, k, v, **options)


@pytest.mark.usefixtures("plain_calls")
def test_tensors_that_do_not_fit_together_are_refused():
    query, key, value = inputs(query=2, key=5)
    with pytest.raises(ValueError, match=r"value has shape \(4, 2\)"):
        partial_attention(query, key, value[1:])
    with pytest.raises(TypeError, match=r"key has dtype torch.float32 and query has \S+64"):
        partial_attention(query, key.float(), value)
    with pytest.raises(TypeError, match=r"expected torch.bool, True where a query"):
        partial_attention(query, key, value, mask=torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"second.maximum has shape \(3,\)"):
        merge(report(0), report(1, queries=3))
    with pytest.raises(TypeError, match=r"second.maximum has dtype torch.float32"):
        merge(report(0), Partial(*(x.float() for x in report(1))))
    with pytest.raises(TypeError, match=r"partial is a tuple; expected a Partial"):
        finish(tuple(report(0)))


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("count", "message"),
    [
        (lambda: attention_flops(4, 4, 0), "d is 0"),
        (lambda: attention_flops(5, 4, 8, causal=True), "5 queries and 4 keys"),
        (lambda: naive_bytes(-1, 4, 8), "query is -1"),
        (lambda: naive_bytes(4, 4, 8, bytes_each=0), "bytes_each is 0"),
        (lambda: tiled_bytes(4, 4, 8, query_tile=0), "query_tile is 0"),
        (lambda: on_chip_bytes(8, query_tile=4, key_tile=0), "key_tile is 0"),
        (lambda: shared_bytes(8, query_tile=4, key_tile=2, stages=0), "stages is 0"),
        (lambda: register_bytes(-1, query_tile=4, key_tile=2), "d is -1"),
        (lambda: decoding_bytes(1, 4, 8, parts=-2), "parts is -2"),
        (
            lambda: flash_decoding(*inputs(query=1, key=4), parts=0),
            "parts is 0; expected 1 or more",
        ),
        (lambda: flash_decoding(*inputs(query=1, key=0), parts=2), "a query may look at nothing"),
    ],
)
def test_costs_of_impossible_sizes_are_refused(count, message: str):
    with pytest.raises(ValueError, match=message):
        count()
