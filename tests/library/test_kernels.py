import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import torch
from interpreted_kernels import ON_GPU, add_by_descriptor, decoding, flash, symplectic, tiles
from torch.nn import functional as F
from triton.runtime.errors import OutOfResources
from triton.runtime.interpreter import InterpreterBuilder

from course_lib.attention import attention
from course_lib.symplectic import SymplecticAttention, symplectic_attention

pytestmark = pytest.mark.slow

flash_attention, symplectic_flash = flash.flash_attention, symplectic.symplectic_flash
flash_decoding = decoding.flash_decoding

DEVICE = "cuda" if ON_GPU else "cpu"
TUNERS = (
    *("flash._forward", "flash._query_gradient", "flash._key_value_gradient"),
    *("symplectic._columns", "symplectic._rows"),
    *("symplectic._columns_backward", "symplectic._rows_backward"),
)


def gpu(test):
    """Mark a test at real sizes, which needs a CUDA device."""
    return pytest.mark.gpu(pytest.mark.skipif(not ON_GPU, reason="needs a CUDA device")(test))


@pytest.fixture(autouse=True)
def _same_numbers_and_interpreter(monkeypatch):
    torch.manual_seed(0)
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.fixture(autouse=True)
def _smallest_tiles(request, monkeypatch):
    """Use small tiles on a GPU too, so that small cases have many.

    Tuning would compile for more than ten minutes.
    """
    if ON_GPU and not request.node.get_closest_marker("gpu"):
        for tuner in map(tuner_of, TUNERS):
            take_smallest_tiles(tuner, monkeypatch)


def take_smallest_tiles(tuner, monkeypatch):
    """Skip tuning, and use the last configuration from now on."""
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
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, scale=scale, enable_gqa=True
    )


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
    """Fill uninitialized memory with nan."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=before)


@pytest.fixture(params=[False, True], ids=["in turn", "overlapped"])
def tensor_descriptors(monkeypatch, request):
    """Read through tensor descriptors, and forward in both orders."""
    if ON_GPU:
        pytest.skip("on a GPU the tuner chooses; COURSE_LIB_DESCRIPTORS=0 forbids descriptors")
    for kernel in map(tuner_of, TUNERS):
        monkeypatch.setitem(kernel.configs[0].kwargs, name="DESCRIPTORS", value=True)
        if "OVERLAP" in kernel.configs[0].kwargs:
            monkeypatch.setitem(kernel.configs[0].kwargs, "OVERLAP", request.param)
    adds = "create_descriptor_reduce"
    monkeypatch.setattr(InterpreterBuilder, adds, add_by_descriptor, raising=False)
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
    """The results of ``run`` with each configuration of the tuner; None if none fits."""
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
        cwd=Path(__file__).parents[2],
    )


# Attention -------------------------------------------------------------------------------------


# The interpreter takes 32 tokens a program and 16 a step, and its time grows with the number of
# both. With 37 queries and 53 keys two programs meet tiles that all their queries see, tiles cut by
# the diagonal and tiles cut by the end. A dtype changes rounding, not tiles.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "error", "causal"), [(torch.float16, 2e-3, False), (torch.bfloat16, 1e-2, True)]
)
def test_attention_and_its_gradients_are_those_of_float64(dtype, error, causal):
    query = random(1, 2, 37, 16, dtype=dtype)
    key, value = random(1, 2, 53, 16, dtype=dtype), 2 * random(1, 2, 53, 16, dtype=dtype)
    assert max(attention_errors(query, key, value, causal=causal)) < error


def test_any_numbers_of_tokens_heads_and_features_are_accepted():
    for heads, kv_heads, queries, keys, d, causal in [
        (1, 1, 64, 64, 16, True),  # tiles that end with the sequence
        (1, 1, 35, 49, 16, False),  # one key past a tile
        (1, 1, 35, 49, 16, True),  # and a diagonal through no corner
        (1, 1, 31, 31, 16, True),
        (1, 1, 50, 7, 16, False),
        (1, 1, 1, 1, 16, True),
        (4, 1, 35, 49, 16, True),  # several query heads share keys and values
        (4, 2, 35, 49, 16, False),
        *((1, 1, 20, 35, d, True) for d in [17, 64, 100, 256]),
    ]:
        query = random(2 if heads > 1 else 1, heads, queries, d)
        key, value = (random(len(query), kv_heads, keys, d) for _ in range(2))
        scale = 0.05 if d == 17 else None
        assert max(attention_errors(query, key, value + 1, causal=causal, scale=scale)) < 1e-5


LAYOUTS = (
    lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    lambda x: torch.cat([x, x], dim=1)[:, ::2],
    lambda x: x[:1].expand(x.shape),
    lambda x: x.mT.contiguous().mT,
    lambda x: torch.cat([x, x], dim=2)[:, :, ::2],
)


@pytest.mark.slow
def test_any_strides_are_accepted():
    for lay in LAYOUTS:
        query, key, value = (lay(random(2, 2, tokens, 16)) for tokens in (3, 18, 18))
        assert max(attention_errors(query, key, value, causal=True)) < 1e-5


def test_upstream_gradients_may_have_any_strides():
    for kernel, inputs in (
        (flash_attention, [random(2, 2, 20, 16) for _ in range(3)]),
        (symplectic_flash, [random(2, 2, 20, 16), random(16, 16)]),
    ):
        for lay in (*LAYOUTS, lambda x: x[:1, :1, :1, :1].expand(x.shape)):
            upstream = lay(random(2, 2, 20, 16))
            found = differentiate(kernel, inputs, upstream)
            true = differentiate(kernel, inputs, upstream.contiguous())
            for one, other in zip(found[1:], true[1:], strict=True):
                torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("dtype", "causal"), [(torch.float16, True), (torch.float32, False)])
def test_scores_of_ten_thousand_leave_everything_finite(dtype, causal):
    query, key, value = (random(1, 1, 40, 16, dtype=dtype) for _ in range(3))
    key = 1e4 * key / (query @ key.mT).abs().max()
    found = differentiate(
        lambda *x: flash_attention(*x, causal=causal, scale=1), (query, key, value), value
    )
    assert all(x.isfinite().all() for x in found)


def test_keys_past_the_end_do_not_overflow_where_all_scores_are_low():
    query, key = 2 + random(1, 1, 20, 16), random(1, 1, 53, 16) - 2
    inputs = [x.half() for x in (query, key, random(1, 1, 53, 16))]
    found = differentiate(flash_attention, inputs, random(1, 1, 20, 16))
    assert all(x.isfinite().all() for x in found)


@pytest.mark.slow
@pytest.mark.usefixtures("poisoned")
def test_every_element_of_every_result_is_written():
    query, key, value = (random(2, 2, tokens, 24) for tokens in (37, 53, 53))
    assert torch.empty(3, device=DEVICE).isnan().all()
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5
    assert max(symplectic_errors(random(2, 37, 5), random(5, 5))) < 1e-5


def test_a_second_derivative_is_refused_with_the_backend_that_has_it():
    for kernel, *shapes in (
        (flash_attention, *3 * [(1, 1, 4, 16)]),
        (symplectic_flash, (1, 4, 16), (16, 16)),
    ):
        inputs = [random(*shape).requires_grad_() for shape in shapes]
        loss = kernel(*inputs).square().sum()
        (slope,) = torch.autograd.grad(loss, inputs[0], create_graph=True)
        with pytest.raises(RuntimeError, match="backend 'reference', which has all"):
            slope.sum().backward()


def test_an_empty_batch_gives_an_empty_output():
    for shape in [(0, 2), (2, 0)]:
        inputs = [random(*shape, 5, 16) for _ in range(3)]
        found = differentiate(flash_attention, inputs, inputs[0])
        assert all(x.shape == (*shape, 5, 16) for x in found)


def test_tensor_descriptors_read_the_same_tiles(tensor_descriptors):
    # Under a causal mask with as many keys as queries the first program sees no whole tile.
    for causal, keys in ((False, 53), (True, 37)):
        sizes = ((4, 37), (2, keys), (2, keys))
        query, key, value = (random(2, heads, tokens, 20) for heads, tokens in sizes)
        assert max(attention_errors(query, key, value, causal=causal)) < 1e-5
    assert max(symplectic_errors(random(2, 37, 8), random(8, 8))) < 1e-5
    query, key, value = (random(1, 1, tokens, 16).half() for tokens in (37, 53, 53))
    assert max(attention_errors(query, key, value)) < 2e-3
    assert {type(x) for x in tensor_descriptors} == {tiles.TensorDescriptor}
    # Gradients of queries are added up in single precision, by a descriptor of their own.
    assert {x.base.dtype for x in tensor_descriptors[-5:]} == {torch.float16, torch.float32}


def test_heads_that_start_together_miss_no_tile(monkeypatch):
    query, key, value = (random(1, heads, 70, 16) for heads in (4, 2, 2))
    true = differentiate(lambda *x: flash_attention(*x, causal=True), (query, key, value), query)
    monkeypatch.setattr(flash, "heads_together", lambda *_, **__: 3)
    found = differentiate(lambda *x: flash_attention(*x, causal=True), (query, key, value), query)
    for one, other in zip(found, true, strict=True):
        torch.testing.assert_close(one, other)


def test_the_backend_of_attention_is_the_kernel():
    for heads, kv_heads, queries, masked, learning in [
        ((), (), 5, True, False),
        ((3,), (3,), 5, False, False),
        ((2, 1, 3), (2, 1, 3), 5, True, True),
        ((2, 4), (2, 2), 5, False, True),
        ((2, 4), (2, 2), 1, False, False),
    ]:
        query = random(*heads, queries, 16).requires_grad_(learning)
        key, value = random(*kv_heads, 9, 16), random(*kv_heads, 9, 16)
        mask = torch.ones(5, 9, dtype=torch.bool, device=DEVICE).tril(4) if masked else None
        options = {"mask": mask, "scale": 0.3, "grouped": heads != kv_heads}
        found, true = (
            attention(query, key, value, backend=backend, **options)
            for backend in ("triton", "reference")
        )
        torch.testing.assert_close(found, true)
        assert found.requires_grad == learning


def test_the_kernel_runs_where_it_is_asked_for_and_two_passes_for_the_same_bits(monkeypatch):
    launches = {name: MagicMock() for name in ("_forward", "_query_gradient")}
    for name, launch in launches.items():
        launch.__getitem__.side_effect = getattr(flash, name).__getitem__
        monkeypatch.setattr(flash, name, launch)
    counts = []
    for same_bits in (False, True):
        monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda on=same_bits: on)
        x = random(1, 1, 20, 16)
        differentiate(partial(attention, backend="triton"), [x, x, x], x)
        counts.append([launch.__getitem__.call_count for launch in launches.values()])
    assert counts == [[1, 0], [2, 1]]
    assert flash._key_value_gradient.reset_to_zero == ["query_gradient"]


# One query -------------------------------------------------------------------------------------


def test_parts_of_the_keys_merge_to_the_attention_of_float64():
    for dtype, error, parts, keys in [
        (torch.float32, 1e-5, 1, 64),
        (torch.float32, 1e-5, 2, 65),
        (torch.float16, 2e-3, 7, 130),
        (torch.bfloat16, 1e-2, 100, 3),
    ]:
        query = random(2, 4, 1, 16, dtype=dtype)
        key, value = random(2, 2, keys, 16, dtype=dtype), random(2, 2, keys, 16, dtype=dtype) + 1
        found = flash_decoding(query, key, value, parts=parts)
        key, value = key.double(), value.double()
        assert distance(found, exact_attention(query.double(), key, value, causal=False)) < error


def test_one_query_may_have_any_heads_and_its_cache_any_strides():
    cases = [
        (random(1, heads, 1, d), *(random(1, kv_heads, 70, d) for _ in range(2)))
        for heads, kv_heads, d in [(1, 1, 16), (6, 2, 80), (20, 1, 256)]
    ]
    cases += [[lay(random(2, 2, tokens, 16)) for tokens in (1, 70, 70)] for lay in LAYOUTS]
    for query, key, value in cases:
        found = flash_decoding(query, key, value, scale=0.3)
        torch.testing.assert_close(found, flash_attention(query, key, value, scale=0.3))


# Symplectic attention --------------------------------------------------------------------------


def scores_of_one(d, dtype=torch.float32, *, symmetric=False):
    """A matrix A for which random tokens have scores of size 1."""
    A = random(d, d, size=1 / d)
    return ((A + A.mT) / 2 if symmetric else A).to(dtype)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "error", "symmetric"),
    [(torch.float32, 1e-5, True), (torch.float16, 2e-3, False), (torch.bfloat16, 1e-2, True)],
)
def test_the_gradient_and_its_derivatives_are_those_of_float64(dtype, error, symmetric):
    z = random(2, 37, 3, dtype=dtype)
    A = scores_of_one(3, dtype, symmetric=symmetric)
    assert max(symplectic_errors(z, A, symmetric=symmetric)) < error


def test_the_library_calls_the_kernel_on_request():
    for symmetric in [False, True]:
        z, A = random(2, 21, 6), scores_of_one(6, symmetric=symmetric)
        found = symplectic_attention(z, A, softmax="vector", backend="triton")
        assert torch.equal(found, symplectic_flash(z, A))
        true = symplectic_attention(z.double(), A.double(), softmax="vector", backend="reference")
        assert distance(found, true) < 1e-6


# Mixed precision scales the loss, so that small gradients do not vanish in float16.
def test_gradients_of_a_scaled_loss_do_not_overflow_on_the_way():
    for upstream, large, size in [(2e4, 1, 1), (2e4, 10, 0.3)]:
        z = random(20, 16, dtype=torch.float16, size=large)
        A = random(16, 16, dtype=torch.float16, size=size / 16)
        assert max(symplectic_errors(z, A, upstream=upstream)[:2]) < 1e-2


def test_an_upstream_gradient_that_overflowed_stays_visible():
    for value in [math.inf, math.nan]:
        z, A = random(20, 16, dtype=torch.float16), scores_of_one(16, torch.float16)
        upstream = torch.full_like(z, value)
        assert not any(
            x.isfinite().any() for x in differentiate(symplectic_flash, (z, A), upstream)[1:]
        )


def test_windows_have_any_number_of_features_and_axes():
    for shape in [(20, 1), (20, 40), (20, 256), (1, 4), (2, 1, 4), (0, 3, 4)]:
        z, A = random(*shape), scores_of_one(shape[-1])
        output, z_gradient, A_gradient = differentiate(symplectic_flash, (z, A), z)
        assert output.shape == z_gradient.shape == z.shape
        assert A_gradient.isfinite().all()
        if z.numel():
            assert max(symplectic_errors(z, A)) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "symmetric"), [(torch.float16, True), (torch.bfloat16, False)])
def test_symplectic_scores_of_ten_thousand_leave_everything_finite(dtype, symmetric):
    z, A = random(40, 16), scores_of_one(16, symmetric=symmetric)
    A = 1e4 * A / (z @ A @ z.mT).abs().max()
    inputs, upstream = (z.to(dtype), A.to(dtype)), random(40, 16, size=1e-2)
    found = differentiate(lambda *x: symplectic_flash(*x, symmetric=symmetric), inputs, upstream)
    assert all(x.isfinite().all() for x in found)
    # No entry of S exceeds 1, even with a coarsely rounded score.
    most = ((z @ A).abs() + (z @ A.mT).abs()).sum(dim=0)
    assert (found[0].abs() <= 1.02 * most).all()


# As operators of PyTorch -----------------------------------------------------------------------


def test_torch_compile_takes_the_operators_whole():
    def both(x, A):
        return flash_attention(x, x, x, causal=True)[0] + symplectic_flash(x[0], A)

    x, A = random(1, 2, 20, 16).requires_grad_(), random(16, 16).requires_grad_()
    eager, compiled = (
        [output := function(x, A), *torch.autograd.grad(output.sum(), (x, A))]
        for function in (both, torch.compile(both, backend="aot_eager", fullgraph=True))
    )
    assert all(torch.equal(one, other) for one, other in zip(eager, compiled, strict=True))


def test_autocast_gives_the_kernels_tensors_of_its_dtype():
    z, A = random(2, 20, 16).requires_grad_(), random(16, 16, size=0.1).requires_grad_()
    for kernel, *inputs in ((flash_attention, *3 * [z[None]]), (symplectic_flash, z, A)):
        with torch.autocast(DEVICE, torch.bfloat16):
            found = kernel(*inputs)
        assert found.dtype == torch.bfloat16
        assert torch.equal(found, kernel(*(x.bfloat16() for x in inputs)))
        (slope,) = torch.autograd.grad(found.sum(), z)
        assert slope.dtype == torch.float32


@gpu
def test_a_cuda_graph_is_replayed_with_other_inputs():
    x, z = random(2, 4, 200, 64).half().requires_grad_(), random(2, 200, 64).requires_grad_()
    A = scores_of_one(64)

    def run():
        outputs = flash_attention(x, x, x, causal=True), symplectic_flash(z, A)
        return *outputs, *torch.autograd.grad(sum(y.float().sum() for y in outputs), (x, z))

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()  # the tuner's trials cannot be captured
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = run()
    with torch.no_grad():
        x.mul_(-1.5)
        z.mul_(-1.5)
    graph.replay()
    for one, other in zip(found, run(), strict=True):
        assert distance(one, other.double()) < 2e-3


BITS = """
import hashlib, torch
from course_lib.kernels import flash_attention, symplectic_flash

torch.use_deterministic_algorithms(True)
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(2, 4, 2000 if device == "cuda" else 40, 64).to(device).half().requires_grad_()
A = (torch.randn(64, 64) / 64).to(device).half().requires_grad_()
output = flash_attention(x, x, x, causal=True) + symplectic_flash(x, A)
found = output, *torch.autograd.grad(output.float().square().sum(), (x, A))
print([hashlib.sha256(y.detach().cpu().numpy().tobytes()).hexdigest() for y in found])
"""


@gpu
def test_two_processes_give_the_same_bits_where_algorithms_are_deterministic():
    one, other = (run_python(BITS, CUBLAS_WORKSPACE_CONFIG=":4096:8") for _ in range(2))
    assert one.returncode == 0, one.stderr
    assert one.stdout == other.stdout


# Compilation for absent GPUs ---------------------------------------------------------------------

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

BLOCK, STEP, D = 64, 32, 64
half, full = MockTensor(torch.float16), MockTensor(torch.float32)
taken, added = half, full
if descriptors:
    x = torch.empty(2, 2, STEP, D)
    taken, added = (TensorDescriptor.from_tensor(y, [1, 1, STEP, D]) for y in (x.half(), x))

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
    (flash.forward_kernel, dict(forward, OVERLAP=descriptors)),
    (flash.delta_kernel, dict(shared, **named(half, "output", "gradient"), delta=full,
                              gradient_strides=one, heads=2, queries=100, BLOCK=64)),
    (flash.query_gradient_kernel,
     dict(back, **named(taken, "key", "value"), **named(half, "query", "gradient"),
          query_gradient=half)),
    (flash.key_value_gradient_kernel,
     dict(back, **named(taken, "query", "gradient"), query_gradient=added, ONE_PASS=descriptors,
          **named(half, "key", "value", "key_gradient", "value_gradient"))),
    (decoding.part_kernel,
     dict(shared | strides, **named(half, "query", "key", "value"), scale=0.5, kv_heads=2,
          **named(full, "blends", "logsumexps"), keys=100, parts=2, each=64, SHARE=2, ROWS=16,
          PRECISION="ieee", STEP=64)),
    (decoding.merge_kernel,
     dict(shared, **named(full, "blends", "logsumexps"), output=half, parts=2, SHARE=2)),
    (symplectic.column_kernel, dict(tokens, z=taken, w=half, logsumexp=full)),
    (symplectic.row_kernel,
     dict(tokens, z=half, w=taken, r=taken, logsumexp=full, gradient=half,
          SYMMETRIC=descriptors)),
    (symplectic.column_backward_kernel,
     dict(tokens, **named(taken, "z", "g"), **named(half, "w", "u"),
          **named(full, "logsumexp", "mean", "moved", "mixed"))),
    (symplectic.row_backward_kernel,
     dict(tokens, **named(half, "z", "g"), **named(taken, "w", "u"),
          **named(full, "logsumexp", "mean", "z_gradient"))),
]
for kernel, launch in launches:
    code = kernel.warmup(**launch, grid=(1,)).asm
    assert code["cubin"]
    parts = "wgmma", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"
    print(kernel.__name__, *(part in code["ptx"] for part in parts))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("capability", "descriptors"), [(80, False), (90, True)])
def test_the_kernels_compile_for_ampere_and_hopper(tmp_path, capability, descriptors):
    program = COMPILE.replace("sys.argv[1]", f"'{capability}'")
    program = program.replace("sys.argv[2]", f"'{descriptors}'")
    environment = {"TRITON_CACHE_DIR": str(tmp_path), "COURSE_LIB_DESCRIPTORS": str(+descriptors)}
    result = run_python(program, **environment)
    assert result.returncode == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert len(lines) == 10
    for name, tensor_cores, copy_engine, adding in lines:
        # A tile of one query for each head has too few rows for wgmma.
        multiplies = name not in {"delta_kernel", "part_kernel", "merge_kernel"}
        assert (tensor_cores == "True") == (multiplies and capability == 90), name
        assert (copy_engine == "True") == (multiplies and descriptors), name
        assert (adding == "True") == (descriptors and name == "key_value_gradient_kernel"), name


# Where the kernels cannot run ------------------------------------------------------------------


WITHOUT_GPU = """
import json, torch
from course_lib.attention import attention
from course_lib.kernels import flash_attention, symplectic_flash

x, answers = torch.ones(1, 1, 16, 16), {}
for name, call in {
    "flash_attention": lambda: flash_attention(x, x, x),
    "symplectic_flash": lambda: symplectic_flash(x, x[0, 0]),
    "attention": lambda: attention(x, x, x, backend="triton"),
}.items():
    try:
        call()
    except RuntimeError as error:
        answers[name] = str(error)
print(json.dumps(answers))
"""


@pytest.mark.slow
def test_without_a_gpu_or_the_interpreter_the_error_names_the_alternatives():
    result = run_python(WITHOUT_GPU, CUDA_VISIBLE_DEVICES="")
    assert result.returncode == 0, result.stderr
    answers = json.loads(result.stdout)
    for call, answer in answers.items():
        for part in ("is on cpu", "CUDA", "TRITON_INTERPRET=1", "'reference'", "'torch'"):
            assert part in answer, call
    assert len(answers) == 3


def test_without_triton_the_error_says_what_to_install():
    program = "import sys; sys.modules['triton'] = None; import course_lib.kernels"
    result = run_python(program)
    assert "pip install triton" in result.stderr
    assert "ModuleNotFoundError" in result.stderr


# At real sizes ---------------------------------------------------------------------------------


@gpu
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    ("dtype", "error", "causal", "d"),
    [
        (torch.float32, 1e-5, True, 64),
        (torch.float16, 2e-3, False, 128),
        (torch.bfloat16, 1e-2, True, 80),
        (torch.float16, 2e-3, True, 256),
    ],
)
def test_long_attention_is_that_of_float64(dtype, error, causal, d):
    query, key, value = (random(2, 3, tokens, d, dtype=dtype) for tokens in (2011, 4096, 4096))
    assert max(attention_errors(query, key, value, causal=causal)) < error


@gpu
@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize(
    ("dtype", "error", "symmetric", "tokens", "d"),
    [
        (torch.float32, 1e-5, True, 4096, 64),
        (torch.float16, 2e-3, False, 3001, 128),
        (torch.bfloat16, 1e-2, True, 2048, 6),
    ],
)
def test_a_long_window_has_the_gradient_of_float64(dtype, error, symmetric, tokens, d):
    z = random(2, tokens, d, dtype=dtype)
    A = scores_of_one(d, dtype, symmetric=symmetric)
    assert max(symplectic_errors(z, A, symmetric=symmetric)) < error


# The pass for queries alone is never tuned. With 16 heads and tokens that 16 divides the compiler
# finds what the benchmark will ask for, or has found it there.
@gpu
@pytest.mark.parametrize("name", [name for name in TUNERS if name != "flash._query_gradient"])
def test_every_configuration_of_the_tuner_is_right(name, monkeypatch):
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
@pytest.mark.parametrize("update", ["q", "p"])
def test_on_a_gpu_a_layer_of_symplectic_attention_holds_no_matrix_of_scores(update):
    tokens, d = 8192, 16
    layer = SymplecticAttention(d, update=update, softmax="vector").cuda()
    q, p = random(tokens, d), random(tokens, d)
    sum(part.sum() for part in layer(q, p)).backward()  # the tuner's trials need their own memory
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    sum(part.sum() for part in layer(q, p)).backward()
    assert torch.cuda.max_memory_allocated() - before < 4 * tokens**2 / 8
    exact = symplectic_attention(q.double(), layer.A.double(), softmax="vector")
    kernel = symplectic_attention(q, layer.A, softmax="vector")
    assert distance(kernel, exact) < 1e-5


MORE_THAN_32_BITS_COUNT = (1, 520, 32768, 128)


@gpu
def test_more_than_two_to_the_31_elements_are_addressed():
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
def test_more_heads_than_a_grid_has_rows():
    query, key, value = (random(35_000, 2, 20, 16) for _ in range(3))
    assert query.shape[:2].numel() > 65_535
    assert max(attention_errors(query, key, value, causal=True)) < 1e-5
    assert max(symplectic_errors(random(70_000, 20, 4), scores_of_one(4))) < 1e-5


@gpu
@pytest.mark.parametrize("keys", [1000, 65536])
def test_one_query_to_a_long_cache_is_that_of_float64(keys):
    query = random(4, 16, 1, 128, dtype=torch.float16)
    key, value = (random(4, 4, keys, 128, dtype=torch.float16) for _ in range(2))
    found = flash_decoding(query, key, value)
    key, value = key.double(), value.double()
    assert distance(found, exact_attention(query.double(), key, value, causal=False)) < 2e-3


def test_every_device_has_tiles_that_fit():
    big, small = (128, 64, 8, 2), (32, 32, 8, 2)
    fitting = partial(tiles.fitting, {128: (big, small)}, torch.float16, own=2, taken=2)
    assert fitting(128, 232448) == [big, small]
    assert fitting(128, 101376) == fitting(128, 1) == fitting(128, 150000, added=1) == [small]
    in_full = tiles.fitting({128: [big]}, torch.float32, 128, 232448, own=2, taken=2)
    assert big not in in_full
