"""Shared by the kernels: how a tile is read and multiplied, and which configurations are tried.

A *tile* is a block of consecutive tokens of one head, small enough for the fast memory of one
processor. Entries beyond the sequence or the features are read as zero. Functions under
``@triton.jit`` run on the GPU, or, where ``TRITON_INTERPRET=1`` was set before this module was
imported, in NumPy on the CPU; ``@no_type_check`` hides them from Python's type checkers.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, no_type_check

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from course_lib.support.checks import check_size

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
WIDEST = 256
HOPPER = (9, 0)
AXES = ("batch", "heads", "tokens", "d")
# Hopper's copy engine fetches tiles by tensor descriptors; set this to 0 to do without it.
DESCRIPTORS = os.environ.get("COURSE_LIB_DESCRIPTORS") != "0"
ENGINE_WANTS = 16  # bytes: rows, strides and the first number are multiples of it
FARTHEST = 2**31  # numbers: offsets within a head have 32 bits

INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)
# exp(x) is exp2(x log₂e), and a GPU computes powers of two directly.
LOG2_E = tl.constexpr(1.4426950408889634)


# On the GPU ------------------------------------------------------------------------------------


@no_type_check
@triton.jit
def deal(tiles: tl.tensor, together: tl.tensor) -> tuple[tl.tensor, tl.tensor]:
    """The head and the tile of this program, with `tiles` tiles a head.

    Of each group of `together` heads the first tiles come first, one after the other.
    """
    heads = tl.num_programs(0) // tiles
    first = tl.program_id(0) // (tiles * together) * together
    place = tl.program_id(0) - first * tiles
    side_by_side = tl.minimum(together, heads - first)
    return (first + place % side_by_side).to(tl.int64), place // side_by_side


@no_type_check
@triton.jit
def of_head(source: tl.tensor, strides: tl.tuple, head: tl.tensor, heads: tl.tensor) -> tl.tensor:
    """The source of `load_tile` for one head; `head` counts the heads of all batches, in 64 bits.

    It is the address where the head's tokens begin, or a descriptor and the head's place in it.
    """
    if isinstance(source, tl.tensor):
        own = source + head // heads * strides[0] + head % heads * strides[1]
    else:
        own = (source, (head // heads).to(tl.int32), (head % heads).to(tl.int32))
    return own


@no_type_check
@triton.jit
def of_window(
    source: tl.tensor, window: tl.tensor, tokens: tl.tensor, D: tl.constexpr
) -> tl.tensor:
    """The source of `load_tile` for one of many contiguous windows."""
    return of_head(source, (tokens * D, 0), window, 1)


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
    """ROWS tokens from `start`, with zeros for missing ones; none is missing if WHOLE."""
    if isinstance(source, tl.tensor):
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
    else:
        tile = source[0].load([source[1], source[2], start, 0]).reshape([ROWS, WIDTH])
    return tile


@no_type_check
@triton.jit
def places(
    target: tl.tensor,
    start: tl.tensor,
    tokens: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor]:
    """The addresses of a tile in the contiguous matrix (tokens, D), and which lie inside."""
    row = start + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    address = target + row[:, None] * D + column[None, :]
    return address, (row < tokens)[:, None] & (column < D)[None, :]


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
    """Write the part of a tile inside the contiguous matrix (tokens, D)."""
    address, inside = places(target, start, tokens, D, WIDTH, ROWS)
    tl.store(address, tile.to(target.dtype.element_ty), mask=inside)


@no_type_check
@triton.jit
def add_tile(
    target: tl.tensor,
    tile: tl.tensor,
    start: tl.tensor,
    tokens: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
) -> None:
    """Add the part of a tile inside a contiguous matrix (tokens, D), atomically.

    `target` is the matrix, or a descriptor with which Hopper's copy engine adds the tile whole.
    """
    if isinstance(target, tl.tensor):
        address, inside = places(target, start, tokens, D, WIDTH, ROWS)
        tl.atomic_add(address, tile, mask=inside, sem="relaxed")
    else:
        target[0].atomic_add([target[1], target[2], start, 0], tile.reshape([1, 1, ROWS, WIDTH]))


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

# (BLOCK, STEP, warps, stages): a program owns BLOCK tokens, loads STEP at a time, has 32 threads a
# warp, and loads `stages` steps ahead.
Tile = tuple[int, int, int, int]
Tiles = Mapping[int, Sequence[Tile]]
# The tiles that kernels try were compiled for an H100 with Triton 3.6 and 3.7. With descriptors, so
# in half precision, none spills registers, unless a comment says so.
LARGE: Sequence[Tile] = (
    (128, 128, 8, 3),
    (128, 128, 8, 2),
    (128, 64, 8, 4),
    (128, 64, 8, 3),
    (64, 64, 4, 3),
    (128, 64, 8, 2),
)
MEDIUM: Sequence[Tile] = (*LARGE[2:], (64, 64, 4, 2), (128, 32, 8, 2))
# Without tensor cores a thread holds whole rows of what it multiplies.
FULL_PRECISION: Tiles = {
    64: ((32, 16, 8, 1), (16, 16, 8, 1)),
    128: ((32, 16, 8, 1), (16, 16, 8, 1)),
    256: ((16, 16, 8, 1),),
}
# Lengths up to each of these are tuned separately.
LENGTHS = (1024, 4096)
# In place of a length: take the first tiles that fit, without timing.
UNTUNED = -1


def fitting(
    tiles: Tiles,
    dtype: torch.dtype,
    width: int,
    shared_memory: int,
    *,
    own: int,
    taken: int,
    added: int = 0,
) -> list[Tile]:
    """The tiles that a processor with so many bytes of shared memory can hold, or the smallest.

    A program holds ``own`` tiles of BLOCK tokens and loads ``taken`` tiles of STEP tokens. Tiles
    ``added`` to global memory go through shared memory in float32.
    """
    given = FULL_PRECISION if dtype == torch.float32 else tiles
    shapes = next(given[most] for most in sorted(given) if width <= most)

    def shared(tile: Tile) -> int:
        block, step, _, stages = tile
        read = dtype.itemsize * (own * block + taken * stages * step)
        return width * (read + torch.float32.itemsize * added * step)

    return [tile for tile in shapes if shared(tile) <= shared_memory] or [min(shapes, key=shared)]


def tuned(
    kernel: Any,
    tiles: Tiles,
    *,
    taken: Sequence[str],
    own: int,
    adds_to: Sequence[str] = (),
    instead: Mapping[str, Tiles] | None = None,
) -> Any:
    """The kernel under an autotuner, which times the tiles that fit the device.

    ``tiles`` are by the greatest width of features that they are for; where the launch or the
    configuration has a flag of ``instead``, such as OVERLAP, its tiles are tried. ``taken`` names
    the tensors read tile by tile, ``adds_to`` those added to: a launch gives them by name, and
    where Hopper's copy engine can move their tiles, the kernel gets descriptors in their place.
    Tensors of ``adds_to`` are set to 0 between and after the trials. A kernel that may OVERLAP is
    tried both ways. The choice is kept on disk, so that a machine makes it once.
    """
    instead = instead or {}

    def prune(configs: Sequence[Any], _: Mapping[str, Any], **named: Any) -> list[Any]:
        like = named[taken[0]]
        device = triton.runtime.driver.active.utils.get_device_properties(like.device.index)
        capability = torch.cuda.get_device_capability(like.device)
        rows_fit = named["D"] * like.element_size() % ENGINE_WANTS == 0
        # Without tensor cores the engine's tiles change layout, and registers spill.
        half = like.dtype != torch.float32
        engine = DESCRIPTORS and half and rows_fit and capability >= HOPPER
        # Hopper's matrix products are asynchronous.
        overlap = engine and capability[0] == HOPPER[0]

        def tried(config: Any) -> list[Tile]:
            flags = named | config.kwargs
            return fitting(
                next((others for flag, others in instead.items() if flags.get(flag)), tiles),
                like.dtype,
                named["WIDTH"],
                device["max_shared_mem"],
                own=own,
                taken=len(taken),
                added=len(adds_to) if flags.get("ONE_PASS") else 0,
            )

        fitted = [
            config
            for config in configs
            if config.kwargs["DESCRIPTORS"] == engine
            and (overlap or not config.kwargs.get("OVERLAP"))
            and _shape(config) in tried(config)
        ]
        if named["size"] == UNTUNED:
            return [min(fitted, key=lambda config: tried(config).index(_shape(config)))]
        return fitted

    def describe(name: str) -> Callable[[Mapping[str, Any]], Any]:
        return lambda launch: (
            described(launch[name], launch["STEP"])
            if launch["DESCRIPTORS"] and (name in taken or launch["ONE_PASS"])
            else launch[name]
        )

    shapes = [
        tile for each in (tiles, *instead.values()) for given in each.values() for tile in given
    ]
    return triton.autotune(
        configs=_configurations(shapes, overlaps="OVERLAP" in instead),
        key=["size", "D", "PRECISION", "CAUSAL", "SYMMETRIC", "ONE_PASS"],
        reset_to_zero=list(adds_to),
        prune_configs_by={"early_config_prune": prune},
        cache_results=True,
    )(triton.heuristics({name: describe(name) for name in (*taken, *adds_to)})(kernel))


def _configurations(shapes: Sequence[Tile], *, overlaps: bool) -> list[Any]:
    kinds = [{"DESCRIPTORS": False}] if INTERPRETED else [{"DESCRIPTORS": x} for x in (True, False)]
    if overlaps:
        kinds = [kind | {"OVERLAP": overlap} for overlap in (False, True) for kind in kinds]
    every = [*shapes, *(tile for given in FULL_PRECISION.values() for tile in given)]
    return [
        triton.Config({"BLOCK": block, "STEP": step} | kind, num_warps=warps, num_stages=stages)
        for block, step, warps, stages in (
            [(32, 16, 4, 1)] if INTERPRETED else dict.fromkeys(every)
        )
        for kind in (kinds[:1] if INTERPRETED else kinds)
    ]


def _shape(config: Any) -> Tile:
    return config.kwargs["BLOCK"], config.kwargs["STEP"], config.num_warps, config.num_stages


def settings(like: Tensor, tokens: int) -> dict[str, Any]:
    """The arguments of every launch besides its data."""
    features = like.shape[-1]
    return {
        "size": length_group(tokens),
        "D": features,
        "WIDTH": width_of(features),
        "PRECISION": precision(),
    }


def length_group(tokens: int) -> int:
    """The group tuned together. Rounding depends on the tiles, so determinism forbids tuning."""
    if torch.are_deterministic_algorithms_enabled():
        return UNTUNED
    return sum(tokens > length for length in LENGTHS)


def width_of(features: int) -> int:
    """The width of a tile: a power of two, as Triton needs."""
    return max(16, triton.next_power_of_2(features))


def precision() -> str:
    """How float32 is multiplied: in full, unless PyTorch is set to allow TF32."""
    asked = getattr(torch.backends.cuda.matmul, "fp32_precision", "ieee")
    return "tf32" if asked == "tf32" else "ieee"


def programs(tokens: int, heads: int) -> Callable[[Mapping[str, int]], tuple[int]]:
    """The grid of a launch, once BLOCK is chosen: one program for every block of every head."""
    return lambda chosen: (triton.cdiv(tokens, chosen["BLOCK"]) * heads,)


def new(like: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """A contiguous tensor to write to, in the shape of ``like``."""
    return torch.empty_like(like, dtype=dtype, memory_format=torch.contiguous_format)


def described(x: Tensor, rows: int) -> Tensor | TensorDescriptor:
    """``x`` for Hopper's copy engine, in tiles of ``rows``; as it is if strides do not fit."""
    x = x if x.dim() == len(AXES) else x.unsqueeze(1)
    steps = [step * x.element_size() for step in x.stride()[:-1]]
    if min(steps) <= 0 or any(place % ENGINE_WANTS for place in [*steps, x.data_ptr()]):
        return x
    return TensorDescriptor.from_tensor(x, [1, 1, rows, width_of(x.shape[-1])])


def readable(x: Tensor) -> Tensor:
    """``x``, or a copy where a tile could not be read: rows in one piece, within 32-bit offsets."""
    rows_whole = x.stride(-1) == 1
    near = x.shape[-2] * x.stride(-2) < FARTHEST
    return x if rows_whole and near else x.clone(memory_format=torch.contiguous_format)


def heads_together(like: Tensor, numbers: int, *, causal: bool) -> int:
    """How many heads start with their longest rows, side by side.

    Short rows are then left for processors that end early, so the more heads the better, as long as
    the tiles that they read, ``numbers`` a head, stay in half of the second-level cache. Without a
    causal mask all rows are equally long, and heads follow each other.
    """
    # Many queries may share one short key, so that fewer than one number a head is read.
    each = max(1, numbers) * like.element_size()
    return max(1, _cache(like) // 2 // each) if causal else 1


def _cache(like: Tensor) -> int:
    """Bytes of the second-level cache."""
    return torch.cuda.get_device_properties(like.device).L2_cache_size if like.is_cuda else 0


def autocast_together(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors in autocast's dtype where autocast is on, as PyTorch's own attention does."""
    kind = tensors[0].device.type
    if not torch.is_autocast_enabled(kind):
        return tensors
    return tuple(tensor.to(torch.get_autocast_dtype(kind)) for tensor in tensors)


def refuse_second_derivative(*_: object) -> NoReturn:
    """The backward pass of a backward pass, which no kernel has."""
    raise RuntimeError(
        "a second derivative of a Triton kernel is needed; expected the first alone; choose "
        "backend 'reference', which has all"
    )


def check_supported(x: Tensor, name: str, axes: str, *, narrowest: int) -> None:
    """Raise unless the kernels take the dtype, the sizes and the device of ``x``.

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
    if tokens * features >= FARTHEST:
        raise ValueError(
            f"{name} has {tokens} tokens of {features} features; expected less than 2³¹ numbers a "
            "head; attend to fewer tokens, or choose backend 'torch'"
        )
    if not (x.is_cuda or INTERPRETED):
        raise RuntimeError(
            f"{name} is on {x.device}, and the Triton kernels need a CUDA device; move the tensors "
            f"with {name}.to('cuda'), choose backend 'reference' or 'torch', or, for small sizes, "
            "set TRITON_INTERPRET=1 before Python starts, which runs the kernels on the CPU"
        )
