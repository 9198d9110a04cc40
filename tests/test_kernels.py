import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from interpreted import ON_GPU, decoding, flash, symplectic, tiles
from torch.nn import functional as F
from triton.runtime.errors import OutOfResources

from course_lib import tiled_attention
from course_lib.attention import attention
from course_lib.symplectic import SymplecticAttention, symplectic_attention

flash_attention, symplectic_flash = flash.flash_attention, symplectic.symplectic_flash
flash_decoding = decoding.flash_decoding

DEVICE = "cuda" if ON_GPU else "cpu"
TUNERS = (
    *("flash._forward", "flash._query_gradient", "flash._key_value_gradient"),
    *("symplectic._columns", "symplectic._rows"),
    *("symplectic._columns_backward", "symplectic._rows_backward"),
)
gpu = pytest.mark.skipif(not ON_GPU, reason="needs a CUDA device")
tolerance = pytest.mark.parametrize(
    ("dtype", "error"),
    [(torch.float32, 1e-5), (torch.float16, 2e-3), (torch.bfloat16, 1e-2)],
)


@pytest.fixture(autouse=True)
def _same_numbers_and_interpreter(monkeypatch):
    torch.manual_seed(0)
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.fixture(autouse=True)
def _smallest_tiles(request, monkeypatch):
    """On a GPU, too, small cases meet many tiles.

    Were they tuned, the compiler would take longer than the ten minutes that a command may have.
    """
    if ON_GPU and not request.node.get_closest_marker("gpu"):
        for tuner in map(tuner_of, TUNERS):
            take_smallest_tiles(tuner, monkeypatch)


def take_smallest_tiles(tuner, monkeypatch):
    """No trials, and the last configuration for whatever is asked from now on."""
    prune = tuner.prune_configs
    monkeypatch.setattr(tuner, "prune_configs", lambda named: prune(named)[-1:])
    monkeypatch.setattr(tuner, "cache", {})
    monkeypatch.setattr(tuner, "cache_results", False)
    monkeypatch.setattr(tuner, "do_bench", lambda *_, **__: (1.0, 1.0, 1.0))


def random(*shape, dtype=torch.float32, size=1.0):
    return (size * torch.randn(*shape)).to(DEVICE, dtype)


def distance(found, true):
    return ((found.double() - true).norm() / true.norm()).item()


def differentiate(function, inputs, upstream):
    """The output and the gradient for each input."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    output = function(*inputs)
    return [output, *torch.autograd.grad(output, inputs, upstream.to(output.dtype))]


def exact_attention(query, key, value, *, causal, scale=None):
    """PyTorch's attention in float64, the diagonal of its mask at the bottom right."""
    shape = (query.shape[-2], key.shape[-2])
    mask = torch.ones(shape, dtype=torch.bool, device=query.device)
    mask = mask.tril(shape[1] - shape[0]) if causal else mask
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)


def exact_gradient(z, A):
    """The gradient of the potential by autograd: a logsumexp over each column with one more 0."""
    if not z.requires_grad:
        z = z.detach().requires_grad_()
    score = z @ A @ z.mT
    column = torch.cat([torch.zeros_like(score[..., :1, :]), score], dim=-2)
    potential = column.logsumexp(dim=-2).sum()
    return torch.autograd.grad(potential, z, create_graph=True)[0]


def errors(function, exact, inputs, upstream):
    found = differentiate(function, inputs, upstream)
    true = differentiate(exact, [x.double() for x in inputs], upstream.double())
    return [distance(one, other) for one, other in zip(found, true, strict=True)]


def attention_errors(query, key, value, *, causal=False, scale=None):
    upstream = random(*query.shape, dtype=query.dtype)
    return errors(
        lambda *inputs: flash_attention(*inputs, causal=causal, scale=scale),
        lambda *inputs: exact_attention(*inputs, causal=causal, scale=scale),
        (query, key, value),
        upstream,
    )


def symplectic_errors(z, A, *, symmetric=False, upstream=1.0):
    return errors(
        lambda z, A: symplectic_flash(z, A, symmetric=symmetric),
        exact_gradient,
        (z, A),
        random(*z.shape, dtype=z.dtype, size=upstream),
    )


@pytest.fixture
def poisoned():
    """Fill whatever is allocated without a value with nan."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=before)


@pytest.fixture(params=[False, True], ids=["in turn", "overlapped"])
def tensor_descriptors(monkeypatch, request):
    """What the kernels read, now through tensor descriptors, and forward in both orders."""
    if ON_GPU:
        pytest.skip("on a GPU the tuner chooses; COURSE_LIB_DESCRIPTORS=0 forbids descriptors")
    for kernel in map(tuner_of, TUNERS):
        monkeypatch.setitem(kernel.configs[0].kwargs, name="DESCRIPTORS", value=True)
        if "OVERLAP" in kernel.configs[0].kwargs:
            monkeypatch.setitem(kernel.configs[0].kwargs, "OVERLAP", request.param)
    read = []
    describe = tiles.described
    monkeypatch.setattr(
        tiles, "described", lambda x, rows: read.append(describe(x, rows)) or read[-1]
    )
    return read


def tuner_of(name):
    module, _, attribute = name.partition(".")
    return getattr({"flash": flash, "symplectic": symplectic}[module], attribute)


def every_choice(tuner, monkeypatch, run):
    """What ``run`` gives with each configuration that the tuner would try; None if none fits."""
    prune, tried, found = tuner.prune_configs, [], {}

    def one(named):
        tried[:] = prune(named)
        return [tried[len(found)]]

    monkeypatch.setattr(tuner, "prune_configs", one)
    monkeypatch.setattr(tuner, "cache_results", False)
    while len(found) < max(1, len(tried)):
        monkeypatch.setattr(tuner, "cache", {})
        try:
            given = run()
        except OutOfResources:
            given = None
        found[tried[len(found)]] = given
    return found


def run_python(program, **environment):
    environment = {**os.environ, "TRITON_INTERPRET": "0", **environment}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )


# Attention -------------------------------------------------------------------------------------


# The interpreter takes 32 tokens a program and 16 a step, and its time grows with the number of
# both. With 37 queries and 53 keys two programs meet tiles that all their queries see, tiles cut by
# the diagonal and tiles cut by the end. A dtype changes rounding, not tiles.
@pytest.mark.slow
@tolerance
@pytest.mark.parametrize("causal", [False, True])
def test_attention_and_its_gradients_are_those_of_float64(dtype, error, causal):
    query = random(1, 2, 37, 16, dtype=dtype)
    key, value = random(1, 2, 53, 16, dtype=dtype), 2 * random(1, 2, 53, 16, dtype=dtype)
    assert max(attention_errors(query, key, value, causal=causal)) < error


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"),
    [
        pytest.param(64, 64, id="whole tiles"),
        pytest.param(35, 49, id="one key past a tile"),  # and a diagonal through no corner
        pytest.param(31, 31, id="one token short of a tile"),
    ],
)
def test_tiles_may_end_with_the_sequence_or_beside_it(causal, queries, keys):
    query, key, value = (random(1, 1, tokens, 16) for tokens in (queries, keys, keys))
    assert max(attention_errors(query, key, value + 1, causal=causal)) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("number", range(4))  # Hypothesis is not where a GPU is
def test_any_lengths_will_do(number, causal):
    generator = torch.Generator().manual_seed(number)
    queries, more = (1 + torch.randint(50, (2,), generator=generator)).tolist()
    query = random(1, 1, queries, 16)
    key, value = random(1, 1, queries + more, 16), random(1, 1, queries + more, 16) + 1
    assert max(attention_errors(query, key, value, causal=causal)[::3]) < 1e-5


def test_more_queries_than_keys_will_do_without_a_causal_mask():
    query, key, value = random(1, 1, 50, 16), random(1, 1, 7, 16), random(1, 1, 7, 16) + 1
    assert max(attention_errors(query, key, value)) < 1e-5


@pytest.mark.parametrize("causal", [False, True])
def test_a_single_key_hands_its_value_to_every_query(causal):
    query, key, value = random(2, 1, 1, 16), random(2, 1, 1, 16), random(2, 1, 1, 16)
    torch.testing.assert_close(flash_attention(query, key, value, causal=causal), value)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_keys_and_values_may_serve_several_heads_of_queries(causal, kv_heads):
    query = random(2, 4, 35, 16)
    key, value = random(2, kv_heads, 49, 16), random(2, kv_heads, 49, 16) + 1

    def repeated(query, key, value):
        key, value = (x.repeat_interleave(4 // kv_heads, dim=1) for x in (key, value))
        return exact_attention(query, key, value, causal=causal)

    found = errors(
        lambda *inputs: flash_attention(*inputs, causal=causal),
        repeated,
        (query, key, value),
        random(*query.shape),
    )
    assert max(found) < 1e-5


@pytest.mark.parametrize("d", [16, 17, 32, 48, 64, 100, 128, 256])
def test_every_head_size_will_do(d):
    query, key, value = (random(1, 1, tokens, d) for tokens in (20, 35, 35))
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5


def transposed(x):
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def sliced(x):
    return torch.cat([x, x], dim=1)[:, ::2]


def shared(x):
    return x[:1].expand(x.shape)


def feature_strided(x):
    return x.mT.contiguous().mT


def token_strided(x):
    return torch.cat([x, x], dim=2)[:, :, ::2]


@pytest.mark.slow
@pytest.mark.parametrize("lay", [transposed, sliced, shared, feature_strided, token_strided])
def test_any_strides_will_do(lay):
    query, key, value = (lay(random(2, 2, tokens, 16)) for tokens in (3, 18, 18))
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5


def test_tokens_too_far_apart_for_32_bits_are_brought_together():
    far = torch.empty_strided((1, 1, 2, 16), (2**32, 2**32, 2**31, 1), device="meta")
    assert tiles.readable(far).stride() == (32, 32, 16, 1)
    near = torch.empty_strided((1, 1, 2, 16), (2**32, 2**32, 2**20, 1), device="meta")
    assert tiles.readable(near) is near


@pytest.mark.usefixtures("plain_calls")
def test_a_head_whose_places_32_bits_cannot_count_is_refused():
    far = torch.ones((), device=DEVICE).expand(1, 1, 2**27, 16)
    near = torch.ones(1, 1, 1, 16, device=DEVICE)
    for call in (
        lambda: flash_attention(near, far, far),
        lambda: flash_attention(far, near, near),
        lambda: flash_decoding(near, far, far),
        lambda: symplectic_flash(far, near[0, 0].expand(16, 16)),
    ):
        with pytest.raises(ValueError, match="134217728 tokens of 16 features; expected less than"):
            call()


def test_an_upstream_gradient_without_memory_of_its_own_will_do():
    inputs = [random(1, 2, 20, 16) for _ in range(3)]
    ones = torch.ones((), device=DEVICE).expand(1, 2, 20, 16)
    found = differentiate(lambda *x: flash_attention(*x).sum(), inputs, ones[0, 0, 0, 0])
    true = differentiate(flash_attention, inputs, ones.contiguous())
    for one, other in zip(found[1:], true[1:], strict=True):
        torch.testing.assert_close(one, other)


def test_a_scale_takes_the_place_of_the_root():
    inputs = [random(1, 1, 20, 16) for _ in range(3)]
    assert max(attention_errors(*inputs, scale=0.05)) < 1e-5
    assert max(attention_errors(*inputs, scale=1)) < 1e-5


def test_the_kept_sum_is_the_logarithm_of_the_sum_of_exponentials():
    query, key, value = (random(1, 2, tokens, 16) for tokens in (20, 35, 35))
    _, found = flash._attend(query, key, value, causal=False, scale=0.25)
    torch.testing.assert_close(found, (0.25 * query @ key.mT).logsumexp(dim=-1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("causal", [False, True])
def test_scores_of_ten_thousand_leave_everything_finite(dtype, causal):
    query, key, value = (random(1, 1, 40, 16, dtype=dtype) for _ in range(3))
    key = 1e4 * key / (query @ key.mT).abs().max()
    found = differentiate(
        lambda *x: flash_attention(*x, causal=causal, scale=1), (query, key, value), value
    )
    assert all(x.isfinite().all() for x in found)


@pytest.mark.slow
@pytest.mark.usefixtures("poisoned")
def test_every_element_of_every_result_is_written():
    query, key, value = (random(2, 2, tokens, 24) for tokens in (37, 53, 53))
    assert torch.empty(3, device=DEVICE).isnan().all()
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5
    assert max(symplectic_errors(random(2, 37, 5), random(5, 5))) < 1e-5


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("causal", [False, True])
def test_two_passes_give_the_gradients_of_one(causal):
    query = random(1, 4, 35, 16)
    inputs = (query, random(1, 2, 49, 16), random(1, 2, 49, 16) + 1)
    two = differentiate(lambda *x: flash_attention(*x, causal=causal), inputs, query)
    torch.use_deterministic_algorithms(mode=False)
    one = differentiate(lambda *x: flash_attention(*x, causal=causal), inputs, query)
    for a, b in zip(one, two, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.slow
@pytest.mark.usefixtures("poisoned")
def test_two_runs_give_the_same_bits():
    inputs = [random(1, 2, 40, 16, dtype=torch.float16) for _ in range(3)]
    first, second = (differentiate(flash_attention, inputs, inputs[2]) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    z, A = random(40, 8), random(8, 8)
    first, second = (differentiate(symplectic_flash, (z, A), z) for _ in range(2))
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_an_empty_batch_gives_an_empty_output(shape):
    inputs = [random(*shape, 5, 16) for _ in range(3)]
    found = differentiate(flash_attention, inputs, inputs[0])
    assert all(x.shape == (*shape, 5, 16) for x in found)


def test_tensor_descriptors_read_the_same_tiles(tensor_descriptors):
    # Under a causal mask with as many keys as queries the first program sees no tile whole.
    for causal, keys in ((False, 53), (True, 37)):
        sizes = ((4, 37), (2, keys), (2, keys))
        query, key, value = (random(2, heads, tokens, 20) for heads, tokens in sizes)
        found = differentiate(
            lambda *x, causal=causal: flash_attention(*x, causal=causal), (query, key, value), query
        )
        true = differentiate(
            lambda *x, causal=causal: exact_attention(
                x[0], *(y.repeat_interleave(2, dim=1) for y in x[1:]), causal=causal
            ),
            [x.double() for x in (query, key, value)],
            query,
        )
        assert max(distance(*both) for both in zip(found, true, strict=True)) < 1e-5
    assert max(symplectic_errors(random(2, 37, 8), random(8, 8))) < 1e-5
    assert {type(x) for x in tensor_descriptors} == {tiles.TensorDescriptor}


def test_where_strides_do_not_fit_a_descriptor_the_address_is_kept(tensor_descriptors):
    query, key, value = (shared(random(2, 2, tokens, 16)) for tokens in (3, 18, 18))
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5
    assert any(isinstance(x, torch.Tensor) for x in tensor_descriptors)
    fits = random(2, 2, 18, 32)
    assert tiles.described(fits, 16).base is fits
    for one in (shared(fits), random(2, 2, 18, 18), fits[..., 1:17], fits[..., 1:]):
        assert tiles.described(one, 16) is one


def test_heads_that_start_together_miss_no_tile(monkeypatch):
    query, key, value = (random(1, heads, 70, 16) for heads in (4, 2, 2))
    true = differentiate(lambda *x: flash_attention(*x, causal=True), (query, key, value), query)
    monkeypatch.setattr(flash, "heads_together", lambda *_, **__: 3)
    found = differentiate(lambda *x: flash_attention(*x, causal=True), (query, key, value), query)
    for one, other in zip(found, true, strict=True):
        torch.testing.assert_close(one, other)


def test_more_queries_than_a_short_key_has_numbers_may_share_it():
    query, key, value = random(1, 64, 1, 16), random(1, 1, 1, 16), random(1, 1, 1, 16)
    found = flash_attention(query, key, value, causal=True)
    torch.testing.assert_close(found, value.expand(query.shape))


def test_heads_start_together_as_far_as_the_cache_holds_what_they_read(monkeypatch):
    monkeypatch.setattr(tiles, "_cache", lambda _: 50_000_000)
    like = random(1, dtype=torch.float16)
    numbers = 2 * 4096 * 128  # keys and values of a head, 2 MB
    assert tiles.heads_together(like, numbers, causal=True) == 11
    assert tiles.heads_together(like, 100 * numbers, causal=True) == 1
    assert tiles.heads_together(like, numbers, causal=False) == 1


def test_autocast_chooses_the_dtype_as_for_attention_of_pytorch():
    inputs = [random(1, 1, 20, 16) for _ in range(3)]
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        assert flash_attention(*inputs).dtype == torch.bfloat16
        assert F.scaled_dot_product_attention(*inputs).dtype == torch.bfloat16
        assert symplectic_flash(inputs[0], random(16, 16)).dtype == torch.bfloat16


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("masked", [False, True])
def test_the_backend_of_attention_is_the_kernel(batch, masked):
    query, key, value = (random(*batch, tokens, 16) for tokens in (5, 9, 9))
    mask = torch.ones(5, 9, dtype=torch.bool, device=DEVICE).tril(4) if masked else None
    found, true = (
        attention(query, key, value, mask=mask, scale=0.3, backend=backend)
        for backend in ("triton", "reference")
    )
    torch.testing.assert_close(found, true)


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("learning", [False, True])
def test_the_backend_takes_grouped_heads_and_single_queries(queries, learning):
    query = random(2, 4, queries, 16).requires_grad_(learning)
    key, value = random(2, 2, 9, 16), random(2, 2, 9, 16)
    found, true = (
        attention(query, key, value, grouped=True, backend=backend)
        for backend in ("triton", "reference")
    )
    torch.testing.assert_close(found, true)
    assert found.requires_grad == learning


@pytest.mark.parametrize("kind", ["mask", "bias"])
def test_the_backend_refuses_what_the_kernel_cannot_hide(kind):
    x, lower = random(5, 16), torch.ones(5, 5, device=DEVICE).tril()
    given = {"mask": lower.mT.bool()} if kind == "mask" else {"bias": lower}
    with pytest.raises(ValueError, match=f"given a {kind}.*'reference' or 'torch'"):
        attention(x, x, x, backend="triton", **given)


# One query -------------------------------------------------------------------------------------


@tolerance
@pytest.mark.parametrize(("parts", "keys"), [(1, 64), (2, 65), (3, 200), (7, 130), (100, 3)])
def test_parts_of_the_keys_merge_to_the_attention_of_float64(dtype, error, parts, keys):
    query = random(2, 4, 1, 16, dtype=dtype)
    key, value = random(2, 2, keys, 16, dtype=dtype), random(2, 2, keys, 16, dtype=dtype) + 1
    found = flash_decoding(query, key, value, parts=parts)
    key, value = (x.double().repeat_interleave(2, dim=1) for x in (key, value))
    assert distance(found, exact_attention(query.double(), key, value, causal=False)) < error


@pytest.mark.parametrize(("heads", "kv_heads", "d"), [(1, 1, 16), (6, 2, 80), (20, 1, 256)])
def test_one_query_may_have_any_heads(heads, kv_heads, d):
    query = random(1, heads, 1, d)
    key, value = random(1, kv_heads, 70, d), random(1, kv_heads, 70, d)
    found = flash_decoding(query, key, value, scale=0.3)
    torch.testing.assert_close(found, flash_attention(query, key, value, scale=0.3))


def test_parts_are_merged_as_the_lecture_merges_them():
    query, key, value = random(1, 2, 1, 16), random(1, 2, 300, 16), random(1, 2, 300, 16)
    found = flash_decoding(query, key, value, parts=3)
    torch.testing.assert_close(found, tiled_attention.flash_decoding(query, key, value, parts=3))


@pytest.mark.parametrize("parts", [1, 3])
def test_a_part_with_far_higher_scores_decides(parts):
    query, key, value = random(1, 1, 1, 16), random(1, 1, 192, 16), random(1, 1, 192, 16)
    key[..., 100, :] = 1e4 * query[..., 0, :]
    found = flash_decoding(query, key, value, parts=parts)
    torch.testing.assert_close(found[..., 0, :], value[..., 100, :])


@pytest.mark.parametrize("lay", [transposed, sliced, shared, feature_strided, token_strided])
def test_a_cache_may_have_any_strides(lay):
    query, key, value = (lay(random(2, 2, tokens, 16)) for tokens in (1, 70, 70))
    found = flash_decoding(query, key, value, parts=2)
    torch.testing.assert_close(found, flash_attention(query, key, value))


def test_short_caches_stay_whole_and_long_ones_are_dealt_out():
    like = random(1, 1, 1, 16)
    assert decoding._enough_parts(like, 1, 100) == 1
    assert decoding._enough_parts(like, 1, 100_000) > 1


@pytest.mark.usefixtures("plain_calls")
def test_decoding_refuses_what_it_cannot_take():
    query, key, value = random(1, 2, 1, 16), random(1, 2, 5, 16), random(1, 2, 5, 16)
    with pytest.raises(ValueError, match="query holds 5 tokens; expected 1"):
        flash_decoding(key, key, value)
    with pytest.raises(ValueError, match="parts is 0"):
        flash_decoding(query, key, value, parts=0)
    with pytest.raises(ValueError, match="requires a gradient"):
        flash_decoding(query, key.requires_grad_(), value)
    with pytest.raises(ValueError, match="kv_heads is 2, which does not divide"):
        flash_decoding(random(1, 3, 1, 16), key.detach(), value)
    with torch.no_grad():
        assert flash_decoding(query, key, value).isfinite().all()


# Symplectic attention --------------------------------------------------------------------------


def scores_of_one(d, dtype=torch.float32, *, symmetric=False):
    """A matrix A for which random tokens have scores of size 1."""
    A = random(d, d, size=1 / d)
    return ((A + A.mT) / 2 if symmetric else A).to(dtype)


@pytest.mark.slow
@tolerance
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_gradient_and_its_derivatives_are_those_of_float64(dtype, error, symmetric):
    z = random(2, 37, 3, dtype=dtype)
    A = scores_of_one(3, dtype, symmetric=symmetric)
    assert max(symplectic_errors(z, A, symmetric=symmetric)) < error


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("tokens", "d"), [(64, 16), (33, 24)])
def test_tiles_of_a_window_may_be_whole_or_not(symmetric, tokens, d):
    A = scores_of_one(d, symmetric=symmetric)
    assert max(symplectic_errors(random(tokens, d), A, symmetric=symmetric)) < 1e-5


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_kernel_is_the_vector_softmax_of_the_library(symmetric):
    z, A = random(2, 3, 21, 6), scores_of_one(6, symmetric=symmetric)
    true = symplectic_attention(z.double(), A.double(), softmax="vector")
    assert distance(symplectic_flash(z, A, symmetric=symmetric), true) < 1e-6


def test_a_promise_that_is_broken_is_not_checked():
    z, A = random(21, 6), scores_of_one(6)
    assert distance(symplectic_flash(z, A, symmetric=True), symplectic_flash(z, A).double()) > 0.1


def test_a_layer_with_a_symmetric_matrix_promises_it(monkeypatch):
    promised = []
    monkeypatch.setattr("course_lib.symplectic._kernel_takes", lambda *_: True)
    monkeypatch.setattr(
        "course_lib.kernels.symplectic_flash",
        lambda z, A, *, symmetric: promised.append((symmetric, torch.equal(A, A.mT))) or z,
    )
    for symmetric in (True, False):
        layer = SymplecticAttention(4, softmax="vector", symmetric=symmetric).to(DEVICE)
        layer(random(5, 4), random(5, 4))
    assert promised == [(True, True), (False, False)]


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_library_calls_the_kernel_where_it_is_asked_to(symmetric):
    z, A = random(2, 21, 6), scores_of_one(6, symmetric=symmetric)
    found = symplectic_attention(z, A, softmax="vector", backend="triton")
    assert torch.equal(found, symplectic_flash(z, A))
    true = symplectic_attention(z.double(), A.double(), softmax="vector", backend="reference")
    assert distance(found, true) < 1e-6


# Mixed precision scales the loss, lest small gradients vanish in float16.
@pytest.mark.parametrize("upstream", [1, 2e4])
@pytest.mark.parametrize(("large", "size"), [(1, 1), (10, 0.3)])
def test_gradients_of_a_scaled_loss_do_not_overflow_on_the_way(upstream, large, size):
    z = random(20, 16, dtype=torch.float16, size=large)
    A = random(16, 16, dtype=torch.float16, size=size / 16)
    assert max(symplectic_errors(z, A, upstream=upstream)[:2]) < 1e-2


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_without_room_they_would(monkeypatch):
    monkeypatch.setattr(symplectic, "_room", lambda g, *_: torch.ones((), device=g.device))
    z = random(20, 16, dtype=torch.float16, size=10)
    A = random(16, 16, dtype=torch.float16, size=0.3 / 16)
    upstream = random(20, 16, dtype=torch.float16, size=2e4)
    assert not differentiate(symplectic_flash, (z, A), upstream)[1].isfinite().all()


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_an_upstream_gradient_that_overflowed_stays_visible(value):
    z, A = random(20, 16, dtype=torch.float16), scores_of_one(16, torch.float16)
    upstream = torch.full_like(z, value)
    assert not any(
        x.isfinite().any() for x in differentiate(symplectic_flash, (z, A), upstream)[1:]
    )


@pytest.mark.parametrize("d", [1, 2, 40, 128, 256])
def test_every_number_of_features_will_do(d):
    assert max(symplectic_errors(random(20, d), scores_of_one(d))) < 1e-5


@pytest.mark.parametrize("shape", [(1, 4), (2, 1, 4), (5, 4), (0, 3, 4)])
def test_windows_come_in_any_number_of_axes(shape):
    z, A = random(*shape), random(4, 4)
    output, z_gradient, A_gradient = differentiate(symplectic_flash, (z, A), z)
    assert output.shape == z_gradient.shape == z.shape
    assert A_gradient.isfinite().all()
    if z.numel():
        assert max(symplectic_errors(z, A)) < 1e-5


def test_strided_windows_will_do():
    z, A = random(6, 2, 20).permute(1, 2, 0), random(6, 6).mT
    assert max(symplectic_errors(z, A)) < 1e-5


def test_the_derivative_is_symmetric_for_the_field_is_a_gradient():
    z, A = random(20, 6), scores_of_one(6)
    one, other = random(20, 6, size=2), random(20, 6)
    right = differentiate(symplectic_flash, (z, A), one)[1]
    left = differentiate(symplectic_flash, (z, A), other)[1]
    torch.testing.assert_close((right * other).sum(), (left * one).sum())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("symmetric", [False, True])
def test_symplectic_scores_of_ten_thousand_leave_everything_finite(dtype, symmetric):
    z, A = random(40, 16), scores_of_one(16, symmetric=symmetric)
    A = 1e4 * A / (z @ A @ z.mT).abs().max()
    inputs, upstream = (z.to(dtype), A.to(dtype)), random(40, 16, size=1e-2)
    found = differentiate(lambda *x: symplectic_flash(*x, symmetric=symmetric), inputs, upstream)
    assert all(x.isfinite().all() for x in found)
    # No entry of S exceeds 1, however coarsely its score was rounded.
    most = ((z @ A).abs() + (z @ A.mT).abs()).sum(dim=0)
    assert (found[0].abs() <= 1.02 * most).all()


# As operators of PyTorch -----------------------------------------------------------------------


@pytest.mark.slow
def test_pytorch_finds_no_fault_with_the_operators():
    query, key, value = (random(1, 1, 20, 16).requires_grad_() for _ in range(3))
    options = {"causal": True, "scale": 0.25}
    torch.library.opcheck(flash._attend, (query, key, value), options)
    z, A = (random(*shape).requires_grad_() for shape in ((2, 20, 16), (16, 16)))
    torch.library.opcheck(symplectic._gradient, (z, A), {"symmetric": False})
    with torch.no_grad():
        output, level = flash._attend(query, key, value, **options)
        arguments = (output, query, key, value, output, level)
        torch.library.opcheck(flash._attend_backward, arguments, options)
        newest = query[..., -1:, :]
        torch.library.opcheck(decoding._decode, (newest, key, value), {"parts": 2, "scale": 0.25})
        output, level = symplectic._gradient(z, A, symmetric=False)
        torch.library.opcheck(symplectic._gradient_backward, (output, z, A, level))


@pytest.mark.slow
def test_torch_compile_takes_the_operators_whole():
    # In a process of its own, for the compiler cannot see through run-time type checkers.
    program = """
import torch
from course_lib.kernels import flash_attention, symplectic_flash

def both(x, A):
    return flash_attention(x, x, x, causal=True)[0] + symplectic_flash(x[0], A)

x = torch.randn(1, 2, 20, 16, device=DEVICE, requires_grad=True)
A = torch.randn(16, 16, device=DEVICE, requires_grad=True)
for function in (both, torch.compile(both, backend="aot_eager", fullgraph=True)):
    output = function(x, A)
    print([t.double().sum().item() for t in (output, *torch.autograd.grad(output.sum(), (x, A)))])
"""
    result = run_python(
        program.replace("DEVICE", f"'{DEVICE}'"), TRITON_INTERPRET="0" if ON_GPU else "1"
    )
    eager, compiled = result.stdout.splitlines()
    assert eager == compiled


# Compiled for GPUs that need not be here -------------------------------------------------------

COMPILE = """
import importlib, sys, torch, triton
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor
from triton.tools.tensor_descriptor import TensorDescriptor

capability, descriptors = int(sys.argv[1]), sys.argv[2] == "True"

class NoDriver:
    class utils:
        get_device_properties = staticmethod(lambda device: {"max_shared_mem": 101376})

    get_current_target = staticmethod(lambda: GPUTarget("cuda", capability, 32))
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda device: 0)

triton.runtime.driver.set_active(NoDriver())
flash = importlib.import_module("course_lib.kernels.flash_attention")
symplectic = importlib.import_module("course_lib.kernels.symplectic_attention")
decoding = importlib.import_module("course_lib.kernels.flash_decoding")
tiles = importlib.import_module("course_lib.kernels.tiles")

BLOCK, STEP, D = 64, 32, 64
half, full = MockTensor(torch.float16), MockTensor(torch.float32)
taken = half
if descriptors:
    taken = TensorDescriptor.from_tensor(torch.empty(2, 2, STEP, D).half(), [1, 1, STEP, D])

def named(of, *names):
    return dict.fromkeys(names, of)

shared = dict(D=D, WIDTH=D)
tiled = dict(
    shared, size=0, PRECISION="ieee", BLOCK=BLOCK, STEP=STEP, DESCRIPTORS=descriptors
)
tokens = dict(tiled, tokens=100)
one, sizes = (8192, 4096, 64), dict(heads=2, queries=100, keys=100)
strides = named(one, "query_strides", "key_strides", "value_strides")
attend = dict(
    tiled | strides | sizes, logsumexp=full, scale=0.5, together=2, SHARE=2, CAUSAL=True
)
back = dict(attend, gradient_strides=one, delta=full)
forward = dict(attend, **named(taken, "key", "value"), **named(half, "query", "output"))
launches = [
    *((flash.forward_kernel, dict(forward, OVERLAP=overlap)) for overlap in (False, True)),
    (flash.delta_kernel, dict(shared, **named(half, "output", "gradient"), delta=full,
                              gradient_strides=one, heads=2, queries=100, BLOCK=64)),
    (flash.query_gradient_kernel,
     dict(back, **named(taken, "key", "value"), **named(half, "query", "gradient"),
          query_gradient=half)),
    *((flash.key_value_gradient_kernel,
       dict(back, **named(taken, "query", "gradient"), query_gradient=full,
            **named(half, "key", "value", "key_gradient", "value_gradient"), ONE_PASS=one_pass))
      for one_pass in (False, True)),
    (decoding.part_kernel,
     dict(shared | strides, **named(half, "query", "key", "value"), scale=0.5, kv_heads=2,
          **named(full, "blends", "logsumexps"), keys=100, parts=2, each=64, SHARE=2, ROWS=16,
          PRECISION="ieee", STEP=64)),
    (decoding.merge_kernel,
     dict(shared, **named(full, "blends", "logsumexps"), output=half, parts=2, SHARE=2)),
    (symplectic.column_kernel, dict(tokens, z=taken, w=half, logsumexp=full)),
    *((symplectic.row_kernel,
       dict(tokens, z=half, w=taken, r=taken, logsumexp=full, gradient=half, SYMMETRIC=symmetric))
      for symmetric in (False, True)),
    (symplectic.column_backward_kernel,
     dict(tokens, **named(taken, "z", "g"), **named(half, "w", "u"),
          **named(full, "logsumexp", "mean", "moved", "mixed"))),
    (symplectic.row_backward_kernel,
     dict(tokens, **named(half, "z", "g"), **named(taken, "w", "u"),
          **named(full, "logsumexp", "mean", "z_gradient"))),
]
torch.cuda.get_device_capability = lambda device: divmod(capability, 10)
for tuner in TUNERS:
    tuner.nargs = {}
    given = dict.fromkeys(tuner.fn.values, torch.ones(1, dtype=torch.float16))
    for d in (64, 20):
        tried = tuner.prune_configs(dict(given, size=0, D=d, WIDTH=64))
        print("tuner", [config.all_kwargs() for config in tried])
        [untuned] = tuner.prune_configs(dict(given, size=tiles.UNTUNED, D=d, WIDTH=64))
        assert untuned == tried[0]
    full_given = dict.fromkeys(tuner.fn.values, torch.ones(1))
    for config in tuner.prune_configs(dict(full_given, size=0, D=64, WIDTH=64)):
        assert not config.kwargs["DESCRIPTORS"]

for kernel, launch in launches:
    code = kernel.warmup(**launch, grid=(1,)).asm
    assert code["cubin"]
    print(kernel.__name__, "wgmma" in code["ptx"], "cp.async.bulk.tensor" in code["ptx"])
    if "OVERLAP" in launch:
        begun = code["ptx"].split("wgmma.commit_group")[1:]
        print("waits", *["ex2" in part.split("wgmma.wait_group")[0] for part in begun])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("capability", "descriptors"), [(80, False), (90, False), (90, True)])
def test_the_kernels_compile_for_ampere_and_hopper(tmp_path, capability, descriptors):
    program = COMPILE.replace("sys.argv[1]", f"'{capability}'")
    program = program.replace("sys.argv[2]", f"'{descriptors}'")
    program = program.replace("TUNERS", f"({', '.join(TUNERS)})")
    environment = {"TRITON_CACHE_DIR": str(tmp_path), "COURSE_LIB_DESCRIPTORS": str(+descriptors)}
    result = run_python(program, **environment)
    assert result.returncode == 0, result.stderr
    tuners = [line for line in result.stdout.splitlines() if line.startswith("tuner")]
    assert len(tuners) == 14
    # Rows of 20 numbers in half precision are no multiple of 16 bytes.
    assert ["'DESCRIPTORS': True" in line for line in tuners] == [descriptors, False] * 7
    assert ["'DESCRIPTORS': False" in line for line in tuners] == [not descriptors, True] * 7
    assert ["'OVERLAP': True" in line for line in tuners] == [descriptors, *[False] * 13]
    overlaps = [line for line in result.stdout.splitlines() if line.startswith("waits")]
    lines = [line.split() for line in result.stdout.splitlines()]
    lines = [words for words in lines if words[0] not in {"tuner", "waits"}]
    assert len(lines) == 13
    for name, tensor_cores, copy_engine in lines:
        # A tile of one query for each head has too few rows for wgmma.
        multiplies = name not in {"delta_kernel", "part_kernel", "merge_kernel"}
        assert (tensor_cores == "True") == (multiplies and capability == 90), name
        assert (copy_engine == "True") == (multiplies and descriptors), name
    # A product goes on while exponentials are computed: Hopper waits for it after them.
    assert ["True" in line for line in overlaps] == [False, capability == 90]


@pytest.mark.usefixtures("poisoned")
def test_where_the_same_bits_are_asked_for_nothing_is_tuned():
    x = random(1, 1, 20, 16)
    assert tiles.settings(x, 5000)["size"] == tiles.UNTUNED
    torch.use_deterministic_algorithms(mode=False)
    assert [tiles.settings(x, tokens)["size"] for tokens in (5, 1024, 1025, 5000)] == [0, 0, 1, 2]


class Tuner:
    """Three configurations, of which one does not fit."""

    def __init__(self):
        self.cache, self.cache_results = {"kept": "a"}, True

    def do_bench(self):
        raise AssertionError

    def prune_configs(self, named):
        return list(named["given"])

    def run(self, given):
        self.cache.setdefault("kept", self.prune_configs({"given": given})[0])
        if self.cache["kept"] == "b":
            raise OutOfResources(2, 1, "shared memory")
        return 2 * self.cache["kept"]


def test_every_choice_of_a_tuner_is_run_and_what_does_not_fit_is_told(monkeypatch):
    tuner = Tuner()
    found = every_choice(tuner, monkeypatch, lambda: tuner.run("abc"))
    assert found == {"a": "aa", "b": None, "c": "cc"}


def test_small_cases_take_the_smallest_tiles_of_a_tuner(monkeypatch):
    tuner = Tuner()
    take_smallest_tiles(tuner, monkeypatch)
    assert tuner.run("abc") == "cc"
    assert not tuner.cache_results
    monkeypatch.undo()
    assert tuner.run("abc") == "aa"


def test_what_is_added_to_others_takes_shared_memory_too():
    heaviest = {"own": 2, "taken": 2, "sums": 2}
    alone, adding = (tiles.fitting(torch.float16, 256, 232448, **heaviest, added=n) for n in (0, 1))
    assert (64, 64, 8, 2) in set(alone) - set(adding)  # 263,168 bytes when it was compiled
    assert (64, 32, 8, 2) in adding


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("width", [16, 64, 128, 256])
@pytest.mark.parametrize("shared_memory", [101376, 166912, 232448])  # RTX 3090, A100, H100
def test_every_device_has_a_configuration_that_fits(dtype, width, shared_memory):
    heaviest = {"own": 2, "taken": 2, "sums": 2}
    shapes = tiles.fitting(dtype, width, shared_memory, **heaviest)
    assert 1 <= len(set(shapes)) == len(shapes) <= 7
    for block, step, _, stages in shapes:
        assert dtype.itemsize * width * 2 * (block + stages * step) <= shared_memory


# Bad input -------------------------------------------------------------------------------------


def qkv(*, query=(1, 1, 4, 16), key=(1, 1, 4, 16), value=None, dtype=torch.float32):
    value = key if value is None else value
    return [torch.ones(shape, dtype=dtype, device=DEVICE) for shape in (query, key, value)]


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("inputs", "options", "kind", "message"),
    [
        (qkv(query=(1, 1, 4, 15), key=(1, 1, 4, 15)), {}, ValueError, "15 features.*16 to 256"),
        (qkv(query=(1, 1, 4, 257), key=(1, 1, 4, 257)), {}, ValueError, "257 features"),
        (qkv(dtype=torch.float64), {}, TypeError, r"torch\.float64.*torch\.float32.*reference"),
        (qkv(dtype=torch.int64), {}, TypeError, "expected floating point"),
        (qkv(query=(1, 1, 0, 16)), {}, ValueError, "number of tokens of query is 0"),
        (qkv(key=(1, 1, 0, 16)), {}, ValueError, "number of tokens of key is 0"),
        (qkv(query=(1, 4, 16)), {}, ValueError, "query has shape.*batch, heads, query, d"),
        (qkv(query=(3, 1, 4, 16), key=(2, 1, 4, 16)), {}, ValueError, "nothing is broadcast"),
        (qkv(query=(1, 2, 4, 16), value=(1, 2, 4, 16)), {}, ValueError, "kv_heads = 1"),
        (qkv(query=(1, 3, 4, 16), key=(1, 2, 4, 16)), {}, ValueError, "choose kv_heads from 1, 3"),
        (qkv(query=(1, 2, 4, 16), key=(1, 0, 4, 16)), {}, ValueError, "kv_heads is 0"),
        (qkv(value=(1, 1, 5, 16)), {}, ValueError, "key = 4"),
        (qkv(value=(1, 1, 4, 32)), {}, ValueError, "d = 16"),
        (qkv(query=(1, 1, 5, 16)), {"causal": True}, ValueError, "may look at nothing"),
        (qkv(), {"scale": 0}, ValueError, "scale is 0"),
        (qkv(), {"scale": math.nan}, ValueError, "scale is nan"),
        ([*qkv()[:2], None], {}, TypeError, "value is a NoneType"),
    ],
)
def test_attention_refuses_what_it_cannot_take(inputs, options, kind, message):
    with pytest.raises(kind, match=message):
        flash_attention(*inputs, **options)


@pytest.mark.usefixtures("plain_calls")
def test_both_kernels_refuse_mixed_dtypes_and_devices():
    query, key, value = qkv()
    z, A = query[0], torch.ones(16, 16, device=DEVICE)
    with pytest.raises(TypeError, match="expected one dtype"):
        flash_attention(query, key.half(), value)
    with pytest.raises(TypeError, match="expected one dtype"):
        symplectic_flash(z, A.half())
    with pytest.raises(ValueError, match="expected one device"):
        flash_attention(query, key.to("meta"), value)
    with pytest.raises(ValueError, match="expected one device"):
        symplectic_flash(z, A.to("meta"))


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("z", "A", "kind", "message"),
    [
        ((3, 0), (0, 0), ValueError, "0 features.*1 to 256"),
        ((3, 257), (257, 257), ValueError, "257 features"),
        ((0, 4), (4, 4), ValueError, "number of tokens of z is 0"),
        ((4,), (4, 4), ValueError, r"z has shape \(4,\)"),
        ((3, 4), (4, 5), ValueError, "A has shape.*expected"),
        ((3, 4), (5, 4), ValueError, "A has shape.*expected"),
        ((3, 4), (2, 4, 4), ValueError, "A has shape.*expected"),
    ],
)
def test_symplectic_attention_refuses_what_it_cannot_take(z, A, kind, message):
    with pytest.raises(kind, match=message):
        symplectic_flash(torch.ones(z, device=DEVICE), torch.ones(A, device=DEVICE))


@pytest.mark.usefixtures("plain_calls")
def test_symplectic_attention_refuses_float64():
    with pytest.raises(TypeError, match=r"torch\.float64.*reference"):
        symplectic_flash(torch.ones(3, 4).double(), torch.ones(4, 4).double())


WITHOUT_GPU = """
import importlib, json, pkgutil, runpy, sys
import course_lib

for found in pkgutil.iter_modules(course_lib.__path__):
    if found.name != "kernels":
        try:
            importlib.import_module(f"course_lib.{found.name}")
        except ModuleNotFoundError as missing:  # a machine with a GPU lacks what lectures need
            assert not missing.name.startswith(("course_lib", "triton"))
answers = {"triton is imported": "triton" in sys.modules}

import torch
from course_lib import tiled_attention
from course_lib.attention import attention
from course_lib.kernels import flash_attention, symplectic_flash

x = torch.ones(1, 1, 16, 16)
for name, call in {
    "flash_attention": lambda: flash_attention(x, x, x),
    "symplectic_flash": lambda: symplectic_flash(x, x[0, 0]),
    "attention": lambda: attention(x, x, x, backend="triton"),
    "benchmark": lambda: runpy.run_path("benchmarks/attention.py", run_name="__main__"),
}.items():
    try:
        call()
    except (RuntimeError, SystemExit) as error:
        answers[name] = str(error)
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def without_gpu():
    """What a process answers that sees neither a GPU nor the interpreter; it starts for seconds."""
    result = run_python(WITHOUT_GPU, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("call", ["flash_attention", "symplectic_flash", "attention"])
def test_without_a_gpu_or_the_interpreter_the_error_names_the_alternatives(call, without_gpu):
    for part in ("is on cpu", "CUDA", "TRITON_INTERPRET=1", "'reference'", "'torch'"):
        assert part in without_gpu[call]


def test_no_other_module_imports_triton(without_gpu):
    assert without_gpu["triton is imported"] is False


def test_the_benchmark_says_that_it_needs_a_gpu(without_gpu):
    assert "sees no CUDA device here" in without_gpu["benchmark"]


def test_without_triton_the_error_says_what_to_install():
    program = "import sys; sys.modules['triton'] = None; import course_lib.kernels"
    result = run_python(program)
    assert "pip install triton" in result.stderr
    assert "ModuleNotFoundError" in result.stderr


def test_an_older_triton_is_named_and_so_is_the_one_it_takes():
    program = "import triton; triton.__version__ = '3.3.1'; import course_lib.kernels"
    result = run_python(program)
    assert "given Triton 3.3.1; expected 3.4 or newer" in result.stderr


# At real sizes ---------------------------------------------------------------------------------


@gpu
@pytest.mark.gpu
@pytest.mark.usefixtures("poisoned")
@tolerance
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("d", [64, 128, 80, 256])
def test_long_attention_is_that_of_float64(dtype, error, causal, d):
    query, key, value = (random(2, 3, tokens, d, dtype=dtype) for tokens in (2011, 4096, 4096))
    assert max(attention_errors(query, key, value, causal=causal)) < error


@gpu
@pytest.mark.gpu
@pytest.mark.usefixtures("poisoned")
@tolerance
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("tokens", "d"), [(4096, 64), (3001, 128), (2048, 6)])
def test_a_long_window_has_the_gradient_of_float64(dtype, error, symmetric, tokens, d):
    z = random(2, tokens, d, dtype=dtype)
    A = scores_of_one(d, dtype, symmetric=symmetric)
    assert max(symplectic_errors(z, A, symmetric=symmetric)) < error


# The pass for queries alone is never tuned. With 16 heads and tokens that 16 divides the compiler
# finds what the benchmark will ask for, or has found it there.
@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in TUNERS if name != "flash._query_gradient"])
def test_whatever_the_tuner_may_choose_is_right(name, monkeypatch):
    half, tokens, d = torch.float16, 1008, 128
    if name.startswith("flash"):
        inputs = [random(1, 16, tokens, d, dtype=half) for _ in range(3)]
        run = partial(attention_errors, *inputs, causal=True)
    else:
        run = partial(symplectic_errors, random(2, tokens, d, dtype=half), scores_of_one(d, half))
    found = every_choice(tuner_of(name), monkeypatch, lambda: max(run()))
    fits = {config: error for config, error in found.items() if error is not None}
    assert len(fits) > len(found) / 2
    assert {str(config): error for config, error in fits.items() if not error < 2e-3} == {}


@gpu
@pytest.mark.gpu
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_long_runs_give_the_same_bits(dtype):
    query, key, value = (random(2, 4, 4096, 128, dtype=dtype) for _ in range(3))
    first = differentiate(lambda *x: flash_attention(*x, causal=True), (query, key, value), value)
    for _ in range(5):
        again = differentiate(
            lambda *x: flash_attention(*x, causal=True), (query, key, value), value
        )
        assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_extreme_scores_of_long_sequences_stay_finite(dtype):
    query, key, value = (random(1, 2, 4096, 64, dtype=dtype) for _ in range(3))
    key = 1e4 * key / (query @ key.mT).abs().max()
    found = differentiate(
        lambda *x: flash_attention(*x, causal=True, scale=1), (query, key, value), value
    )
    assert all(x.isfinite().all() for x in found)


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("kernel", ["attention", "symplectic"])
def test_memory_grows_no_faster_than_the_tokens(kernel):
    def peak(tokens):
        x = random(1, 1, tokens, 64, dtype=torch.float16)
        inputs = (x, x, x) if kernel == "attention" else (x, random(64, 64, dtype=torch.float16))
        function = flash_attention if kernel == "attention" else symplectic_flash
        differentiate(function, inputs, x)
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        differentiate(function, inputs, x)
        return torch.cuda.max_memory_allocated() - before

    assert peak(32768) < 2.5 * peak(16384)


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("update", ["q", "p"])
def test_on_a_gpu_a_layer_of_symplectic_attention_holds_no_matrix_of_scores(update):
    tokens, d = 8192, 16
    layer = SymplecticAttention(d, update=update, softmax="vector").cuda()
    q, p = random(tokens, d), random(tokens, d)
    sum(part.sum() for part in layer(q, p)).backward()  # the tuner's trials need memory of theirs
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    sum(part.sum() for part in layer(q, p)).backward()
    assert torch.cuda.max_memory_allocated() - before < 4 * tokens**2 / 8
    exact = symplectic_attention(q.double(), layer.A.double(), softmax="vector")
    kernel = symplectic_attention(q, layer.A, softmax="vector")
    assert distance(kernel, exact) < 1e-5


MORE_THAN_32_BITS_COUNT = (1, 520, 32768, 128)


@gpu
@pytest.mark.gpu
def test_more_than_two_to_the_31_elements_are_told_apart():
    if torch.cuda.get_device_properties(0).total_memory < 6e10:
        pytest.skip("needs 60 GB")
    assert math.prod(MORE_THAN_32_BITS_COUNT) > 2**31
    inputs = [torch.randn(MORE_THAN_32_BITS_COUNT, device=DEVICE, dtype=torch.float16)] * 3
    upstream = torch.randn_like(inputs[0])
    output, query_gradient, *_ = differentiate(flash_attention, inputs, upstream)
    last = [x[:, -1:].double() for x in inputs]
    last[0] = last[0][:, :, -64:]
    exact = differentiate(
        lambda *x: exact_attention(*x, causal=False), last, upstream[:, -1:, -64:].double()
    )
    assert distance(output[:, -1:, -64:], exact[0]) < 2e-3
    assert distance(query_gradient[:, -1:, -64:], exact[1]) < 2e-3


@gpu
@pytest.mark.gpu
def test_more_heads_than_a_grid_has_rows():
    query, key, value = (random(35_000, 2, 20, 16) for _ in range(3))
    assert query.shape[:2].numel() > 65_535
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5
    assert max(symplectic_errors(random(70_000, 20, 4), scores_of_one(4))) < 1e-5


SAME_BITS = """
import hashlib, torch
from course_lib.kernels import flash_attention, symplectic_flash

torch.use_deterministic_algorithms(True)
torch.manual_seed(0)
x = torch.randn(2, 4, 3000, 128, device="cuda", dtype=torch.float16, requires_grad=True)
A = torch.randn(128, 128, device="cuda", dtype=torch.float16) / 128
outputs = (flash_attention(x, x, x, causal=True), symplectic_flash(x, A))
gradients = torch.autograd.grad(sum(o.float().square().sum() for o in outputs), x)
for tensor in (*outputs, *gradients):
    print(hashlib.sha256(tensor.detach().cpu().numpy().tobytes()).hexdigest())
"""


@gpu
@pytest.mark.gpu
def test_two_processes_that_compile_anew_give_the_same_bits(tmp_path):
    cublas = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    first, second = (
        run_python(SAME_BITS, TRITON_CACHE_DIR=str(tmp_path / name), **cublas)
        for name in ("first", "second")
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert len(first.stdout.split()) == 3


BLOCK = """
import torch
from torch import nn
from course_lib.kernels import flash_attention

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(d), nn.LayerNorm(d)])
        self.project, self.join = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        split = self.project(self.norms[0](x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.permute(2, 0, 3, 1, 4)
        blended = flash_attention(query, key, value, causal=True)
        x = x + self.join(blended.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.norms[1](x))

torch.manual_seed(0)
block = Block(256, 4).cuda()
x = torch.randn(2, 300, 256, device="cuda", requires_grad=True)
for run in (block, torch.compile(block, fullgraph=True)):
    output = run(x)
    gradient = torch.autograd.grad(output.square().mean(), (x, *block.parameters()))
    print(*[t.double().norm().item() for t in (output, *gradient)])
"""


@gpu
@pytest.mark.gpu
def test_a_compiled_transformer_block_computes_the_same():
    result = run_python(BLOCK)
    assert result.returncode == 0, result.stderr
    eager, compiled = ([float(n) for n in line.split()] for line in result.stdout.splitlines())
    assert eager == pytest.approx(compiled, rel=1e-4)


@gpu
@pytest.mark.gpu
def test_a_cuda_graph_replays_the_kernels_on_new_data():
    x = random(1, 2, 500, 64, dtype=torch.float16).requires_grad_()
    A = scores_of_one(64, torch.float16)

    def run():
        output = flash_attention(x, x, x, causal=True) + symplectic_flash(x, A)
        return output, *torch.autograd.grad(output.float().square().sum(), x)

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        recorded = run()
    with torch.no_grad():
        x.copy_(random(1, 2, 500, 64, dtype=torch.float16))
    graph.replay()
    for found, true in zip(recorded, run(), strict=True):
        torch.testing.assert_close(found, true, rtol=2e-2, atol=2e-2)


@gpu
@pytest.mark.gpu
def test_under_autocast_the_gradients_come_in_the_dtype_of_the_inputs():
    inputs = [random(1, 2, 300, 64) for _ in range(3)]
    true = differentiate(lambda *x: exact_attention(*x, causal=False), inputs, inputs[0])
    with torch.autocast("cuda", dtype=torch.bfloat16):
        found = differentiate(flash_attention, inputs, inputs[0])
    assert [x.dtype for x in found[1:]] == [torch.float32] * 3
    assert all(distance(one, two.double()) < 2e-2 for one, two in zip(found, true, strict=True))


@gpu
@pytest.mark.gpu
@pytest.mark.parametrize("keys", [1000, 65536])
def test_one_query_to_a_long_cache_is_that_of_float64(keys):
    query = random(4, 16, 1, 128, dtype=torch.float16)
    key, value = (random(4, 4, keys, 128, dtype=torch.float16) for _ in range(2))
    found = flash_decoding(query, key, value)
    key, value = (x.double().repeat_interleave(4, dim=1) for x in (key, value))
    assert distance(found, exact_attention(query.double(), key, value, causal=False)) < 2e-3
