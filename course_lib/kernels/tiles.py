"""What both kernels share: how a tile is read and multiplied, and which configurations are tried.

A *tile* is a block of consecutive tokens of one head, small enough for the fast memory of one
processor. What sticks out of the sequence or of the features is read as zero. Functions under
``@triton.jit`` run on the GPU, or, where ``TRITON_INTERPRET=1`` was set before this module was
imported, in NumPy on the CPU; ``@no_type_check`` keeps Python's type checkers out of them.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor

from course_lib.checks import check_size

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
WIDEST = 256
HOPPER = (9, 0)
# Tensor descriptors let Hopper's copy engine fetch tiles. They are tried where this is set to 1.
DESCRIPTORS = os.environ.get("COURSE_LIB_DESCRIPTORS") == "1"

INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
# exp(x) is exp2(x log₂e), and powers of two are what a GPU computes directly.
LOG2_E = tl.constexpr(1.4426950408889634)


# On the GPU ------------------------------------------------------------------------------------


@no_type_check
@triton.jit
def of_head(pointer: tl.tensor, strides: tl.tuple, head: tl.tensor, heads: tl.tensor) -> tl.tensor:
    """Where one head's tokens begin; `head` counts the heads of all batches, in 64 bits."""
    return pointer + head // heads * strides[0] + head % heads * strides[1]


@no_type_check
@triton.jit
def open_tiles(
    pointer: tl.tensor,
    tokens: tl.tensor,
    stride: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    DESCRIPTORS: tl.constexpr,
) -> tl.tensor:
    """What `load_tile` reads from: a pointer, or a descriptor for Hopper's tensor copy engine."""
    if DESCRIPTORS:
        source = tl.make_tensor_descriptor(pointer, [tokens, D], [stride, 1], [ROWS, WIDTH])
    else:
        source = pointer
    return source


@no_type_check
@triton.jit
def load_tile(
    source: tl.tensor,
    start: tl.tensor,
    tokens: tl.tensor,
    stride: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    WHOLE: tl.constexpr,
) -> tl.tensor:
    """ROWS tokens from `start`, with zeros for whatever is missing; WHOLE says that none is."""
    if isinstance(source, tl.tensor_descriptor):
        tile = source.load([start, 0])
    else:
        row = tl.arange(0, ROWS)
        column = tl.arange(0, WIDTH)
        address = source + (start + row)[:, None] * stride + column[None, :]
        inside = (column < D)[None, :]
        if not WHOLE:
            inside = inside & (start + row < tokens)[:, None]
        if WHOLE and D == WIDTH:
            tile = tl.load(address)
        else:
            tile = tl.load(address, mask=inside, other=0.0)
    return tile


@no_type_check
@triton.jit
def store_tile(
    target: tl.tensor,
    tile: tl.tensor,
    start: tl.tensor,
    tokens: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
) -> None:
    """Write what of the tile belongs to the contiguous matrix (tokens, D)."""
    row = tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    address = target + (start + row)[:, None] * D + column[None, :]
    inside = (start + row < tokens)[:, None] & (column < D)[None, :]
    tl.store(address, tile.to(target.dtype.element_ty), mask=inside)


@no_type_check
@triton.jit
def matmul(
    left: tl.tensor, right: tl.tensor, total: tl.tensor, PRECISION: tl.constexpr
) -> tl.tensor:
    """Add left @ right to `total` in float32; `left` is rounded to the dtype of `right`.

    The interpreter would multiply the bit patterns of bfloat16, so there it is given float32.
    """
    left = left.to(right.dtype)
    if INTERPRETED and right.dtype == tl.bfloat16:
        left = left.to(tl.float32)
        right = right.to(tl.float32)
    return tl.dot(left, right, total, input_precision=PRECISION)


# Before the launch -----------------------------------------------------------------------------

# (BLOCK, STEP, warps, stages): a program owns BLOCK tokens, takes in STEP at a time, has 32 threads
# a warp, and fetches so many stages ahead. The last of each fits everywhere.
HALF_PRECISION = (
    (128, 128, 8, 2),
    (128, 64, 8, 3),
    (128, 64, 4, 3),
    (64, 64, 4, 3),
    (128, 64, 8, 2),
    (64, 64, 4, 2),
    (128, 32, 8, 2),
    (64, 32, 8, 2),
    (64, 32, 4, 2),
    (32, 32, 4, 2),
)
FULL_PRECISION = ((64, 32, 8, 2), (32, 32, 4, 2), (32, 16, 4, 2), (16, 16, 4, 1))
# float32 numbers a thread may hold, and a program, before the compiler spills them.
MOST_REGISTERS = 192
MOST_FRAGMENTS = 8192
# Lengths up to each of these are tuned apart.
LENGTHS = (1024, 4096)


def fitting(
    dtype: torch.dtype, width: int, shared_memory: int, *, own: int, taken: int, sums: int
) -> list[tuple[int, int, int, int]]:
    """The configurations that a processor with so many bytes of shared memory can hold.

    A program holds ``own`` tiles of BLOCK tokens and ``sums`` more in float32, and takes in
    ``taken`` tiles of STEP tokens.
    """
    full = dtype == torch.float32
    *shapes, smallest = FULL_PRECISION if full else HALF_PRECISION
    fits = []
    for block, step, warps, stages in shapes:
        shared = dtype.itemsize * width * (own * block + taken * stages * step)
        registers = (sums * block * width + own * block * step) / (32 * warps)
        # Without tensor cores every thread also holds whole rows of what it multiplies.
        fragments = sums * own * step * width if full else 0
        held = registers <= MOST_REGISTERS and fragments <= MOST_FRAGMENTS
        if held and shared <= shared_memory:
            fits.append((block, step, warps, stages))
    return [*fits[:6], smallest]


def tuned(kernel: Any, **tiles: int) -> Any:
    """The kernel under an autotuner, which times what fits the device and keeps the fastest.

    ``tiles`` is what :func:`fitting` asks for. The choice is kept on disk, so that a machine makes
    it once.
    """

    def prune(configs: Sequence[Any], given: Mapping[str, Any], **named: Any) -> list[Any]:
        like = next(value for value in given.values() if isinstance(value, Tensor))
        device = triton.runtime.driver.active.utils.get_device_properties(like.device.index)
        fits = fitting(like.dtype, named["WIDTH"], device["max_shared_mem"], **tiles)
        # The tensor copy engine wants rows of 16 bytes.
        rows_fit = named["D"] * like.element_size() % 16 == 0
        engine = rows_fit and torch.cuda.get_device_capability(like.device) >= HOPPER
        return [
            config
            for config in configs
            if _shape(config) in fits and (engine or not config.kwargs["DESCRIPTORS"])
        ]

    return triton.autotune(
        configs=_configurations(),
        key=["size", "D", "PRECISION", "CAUSAL", "SYMMETRIC"],
        prune_configs_by={"early_config_prune": prune},
        cache_results=True,
    )(kernel)


def _configurations() -> list[Any]:
    every = dict.fromkeys([*HALF_PRECISION, *FULL_PRECISION])
    shapes = [(32, 16, 4, 1)] if INTERPRETED else every
    return [
        triton.Config(
            {"BLOCK": block, "STEP": step, "DESCRIPTORS": descriptors},
            num_warps=warps,
            num_stages=stages,
        )
        for block, step, warps, stages in shapes
        for descriptors in ((False, True) if DESCRIPTORS and not INTERPRETED else (False,))
    ]


def _shape(config: Any) -> tuple[int, int, int, int]:
    return config.kwargs["BLOCK"], config.kwargs["STEP"], config.num_warps, config.num_stages


def settings(like: Tensor, tokens: int) -> dict[str, Any]:
    """What every launch needs besides its data."""
    # Backward runs in a thread of its own, so each launch says where descriptors find memory.
    if DESCRIPTORS:
        triton.set_allocator(_scratch)
    features = like.shape[-1]
    asked = getattr(torch.backends.cuda.matmul, "fp32_precision", "ieee")
    return {
        "size": sum(tokens > length for length in LENGTHS),
        "D": features,
        "WIDTH": max(16, triton.next_power_of_2(features)),
        "PRECISION": "tf32" if asked == "tf32" else "ieee",
    }


def programs(tokens: int, heads: int) -> Callable[[Mapping[str, int]], tuple[int]]:
    """The grid of a launch, once BLOCK is chosen: one program for every block of every head."""
    return lambda chosen: (triton.cdiv(tokens, chosen["BLOCK"]) * heads,)


def new(like: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """A contiguous tensor to write to, in the shape of ``like``."""
    return torch.empty_like(like, dtype=dtype, memory_format=torch.contiguous_format)


def _scratch(size: int, alignment: int, stream: int | None) -> Tensor:  # noqa: ARG001
    return torch.empty(size, dtype=torch.int8, device="cuda")


def readable(x: Tensor) -> Tensor:
    """``x``, or a copy where a tile could not be read: rows in one piece, within 32-bit offsets."""
    rows_whole = x.stride(-1) == 1
    near = x.shape[-2] * x.stride(-2) < 2**31
    steps = [step * x.element_size() for step in x.stride()[:-1]]
    aligned = not DESCRIPTORS or not any(step % 16 for step in [*steps, x.data_ptr()])
    return x if rows_whole and near and aligned else x.clone(memory_format=torch.contiguous_format)


def autocast_together(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors in autocast's dtype where autocast is on, as PyTorch's own attention does."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    return tuple(tensor.to(torch.get_autocast_dtype(kind)) for tensor in tensors)


def check_supported(x: Tensor, name: str, axes: str, *, narrowest: int) -> None:
    """Raise unless the kernels know the dtype, the sizes and the device of ``x``.

    ``axes`` names the last axes of ``x``, tokens and features. A dtype is a ``TypeError``, a size a
    ``ValueError``, a missing GPU a ``RuntimeError``.
    """
    if x.dtype not in DTYPES:
        raise TypeError(
            f"{name} has dtype {x.dtype}; expected torch.float16, torch.bfloat16 or torch.float32; "
            f"convert it with {name}.float(), or choose backend 'reference'"
        )
    tokens, features = x.shape[-2:]
    check_size(f"{axes}, the number of tokens of {name}", tokens)
    if not narrowest <= features <= WIDEST:
        raise ValueError(
            f"{name} has {features} features; expected {narrowest} to {WIDEST}; "
            "choose another head size, or backend 'reference' or 'torch'"
        )
    if not (x.is_cuda or INTERPRETED):
        raise RuntimeError(
            f"{name} is on {x.device}, and the Triton kernels need a CUDA device; move the tensors "
            f"with {name}.to('cuda'), choose backend 'reference' or 'torch', or, for small sizes, "
            "set TRITON_INTERPRET=1 before Python starts, which runs the kernels on the CPU"
        )
