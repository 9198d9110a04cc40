import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from interpreted import ON_GPU, flash, symplectic, tiles
from torch.nn import functional as F

from course_lib.attention import attention
from course_lib.symplectic import SymplecticAttention, symplectic_attention

flash_attention, symplectic_flash = flash.flash_attention, symplectic.symplectic_flash

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


def symplectic_errors(z, A):
    return errors(symplectic_flash, exact_gradient, (z, A), random(*z.shape, dtype=z.dtype))


@pytest.fixture
def poisoned():
    """Fill whatever is allocated without a value with nan."""
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=before)


@pytest.fixture
def tensor_descriptors(monkeypatch):
    """Let every kernel read its tiles through tensor descriptors."""
    if ON_GPU:
        pytest.skip("on a GPU set COURSE_LIB_DESCRIPTORS=1 for all tests")
    for name in TUNERS:
        module, _, attribute = name.partition(".")
        kernel = getattr({"flash": flash, "symplectic": symplectic}[module], attribute)
        monkeypatch.setitem(kernel.configs[0].kwargs, name="DESCRIPTORS", value=True)


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


@pytest.mark.slow
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


@pytest.mark.usefixtures("tensor_descriptors")
def test_tensor_descriptors_read_the_same_tiles():
    query, key, value = (random(1, 2, tokens, 20) for tokens in (37, 53, 53))
    for causal in (False, True):
        assert max(attention_errors(query, key, value, causal=causal)) < 1e-5
    assert max(symplectic_errors(random(2, 37, 8), random(8, 8))) < 1e-5


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


@pytest.mark.parametrize("kind", ["mask", "bias"])
def test_the_backend_refuses_what_the_kernel_cannot_hide(kind):
    x, lower = random(5, 16), torch.ones(5, 5, device=DEVICE).tril()
    given = {"mask": lower.mT.bool()} if kind == "mask" else {"bias": lower}
    with pytest.raises(ValueError, match=f"given a {kind}.*'reference' or 'torch'"):
        attention(x, x, x, backend="triton", **given)


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
    assert max(symplectic_errors(z, scores_of_one(3, dtype, symmetric=symmetric))) < error


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("tokens", "d"), [(64, 16), (33, 24)])
def test_tiles_of_a_window_may_be_whole_or_not(symmetric, tokens, d):
    assert max(symplectic_errors(random(tokens, d), scores_of_one(d, symmetric=symmetric))) < 1e-5


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_kernel_is_the_vector_softmax_of_the_library(symmetric):
    z, A = random(2, 3, 21, 6), scores_of_one(6, symmetric=symmetric)
    true = symplectic_attention(z.double(), A.double(), softmax="vector")
    assert distance(symplectic_flash(z, A), true) < 1e-6


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_library_calls_the_kernel_where_it_is_asked_to(symmetric):
    z, A = random(2, 21, 6), scores_of_one(6, symmetric=symmetric)
    found = symplectic_attention(z, A, softmax="vector", backend="triton")
    assert torch.equal(found, symplectic_flash(z, A))
    true = symplectic_attention(z.double(), A.double(), softmax="vector", backend="reference")
    assert distance(found, true) < 1e-6


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
    found = differentiate(symplectic_flash, (z.to(dtype), A.to(dtype)), random(40, 16, size=1e-2))
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
    torch.library.opcheck(symplectic._gradient, (z, A))
    with torch.no_grad():
        output, level = flash._attend(query, key, value, **options)
        arguments = (output, query, key, value, output, level)
        torch.library.opcheck(flash._attend_backward, arguments, options)
        output, level = symplectic._gradient(z, A)
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

half, full = MockTensor(torch.float16), MockTensor(torch.float32)
one, sizes = (8192, 4096, 64), (2, 100, 100)
shared = dict(D=64, WIDTH=64)
tiled = dict(shared, size=0, PRECISION="ieee", BLOCK=64, STEP=32, DESCRIPTORS=descriptors)
causal, general = dict(tiled, CAUSAL=True), dict(tiled, SYMMETRIC=False)
launches = [
    (flash.forward_kernel, (*[half] * 4, full, *[one] * 3, *sizes, 0.5), causal),
    (flash.delta_kernel, (half, half, full, one, 2, 100), dict(shared, BLOCK=64)),
    (flash.query_gradient_kernel,
     (*[half] * 4, full, full, half, *[one] * 4, *sizes, 0.5), causal),
    (flash.key_value_gradient_kernel,
     (*[half] * 4, full, full, half, half, *[one] * 4, *sizes, 0.5), causal),
    (symplectic.column_kernel, (half, half, full, 100), tiled),
    (symplectic.row_kernel, (half, half, half, full, half, 100), general),
    (symplectic.row_kernel, (half, half, half, full, half, 100), dict(general, SYMMETRIC=True)),
    (symplectic.column_backward_kernel, (*[half] * 4, *[full] * 4, 100), tiled),
    (symplectic.row_backward_kernel, (*[half] * 4, *[full] * 3, 100), tiled),
]
torch.cuda.get_device_capability = lambda device: divmod(capability, 10)
for tuner in TUNERS:
    tuner.nargs = {"pointer": torch.ones(1, dtype=torch.float16)}
    for d in (64, 20):
        print("tuner", [config.all_kwargs() for config in tuner.prune_configs(dict(D=d, WIDTH=64))])

for kernel, arguments, options in launches:
    code = kernel.warmup(*arguments, **options, grid=(1,)).asm
    assert code["cubin"]
    print(kernel.__name__, "wgmma" in code["ptx"], "cp.async.bulk.tensor" in code["ptx"])
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
    assert all("'DESCRIPTORS': False" in line for line in tuners)
    assert ["'DESCRIPTORS': True" in line for line in tuners] == [descriptors, False] * 7
    lines = [line.split() for line in result.stdout.splitlines() if line not in tuners]
    assert len(lines) == 9
    for name, tensor_cores, copy_engine in lines:
        multiplies = name != "delta_kernel"
        assert (tensor_cores == "True") == (multiplies and capability == 90), name
        assert (copy_engine == "True") == (multiplies and descriptors), name


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
        (qkv(query=(1, 2, 4, 16)), {}, ValueError, "heads = 2"),
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
        importlib.import_module(f"course_lib.{found.name}")
answers = {"triton is imported": "triton" in sys.modules}

import torch
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
    assert max(symplectic_errors(z, scores_of_one(d, dtype, symmetric=symmetric))) < error


@gpu
@pytest.mark.gpu
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
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.max_memory_allocated()
    sum(part.sum() for part in layer(q, p)).backward()
    assert torch.cuda.max_memory_allocated() - before < 4 * tokens**2 / 8
    exact = symplectic_attention(q.double(), layer.A.double(), softmax="vector")
    kernel = symplectic_attention(q, layer.A, softmax="vector")
    assert distance(kernel, exact) < 1e-5
