"""Shapes and implementations of the GPU benchmark.

A slice is a named list of cells of a few minutes. Batch times tokens is 16k, and d_model 2048. A
multiplication and its addition count as two operations; masked pairs do not count.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.measured import OURS
from benchmarks.measuring import DIRECTIONS, Exact, Peer

IN_A_BATCH = 16384  # tokens
D_MODEL = 2048
LENGTHS = (1024, 2048, 4096, 8192, 16384)
SHARE = 4  # query heads per key head
TEXTS = 16  # texts that are decoded together


@dataclass(frozen=True)
class Cell:
    """One comparison: a kernel on one shape."""

    kernel: str
    variant: str
    dtype: str
    d: int
    tokens: int

    @property
    def row(self) -> dict[str, Any]:
        """The common entries of its rows."""
        return dict(vars(self))

    def __str__(self) -> str:
        return f"{self.kernel} {self.variant} {self.dtype} d={self.d} tokens={self.tokens}"


@dataclass(frozen=True)
class Case:
    """A cell with its inputs on a device."""

    inputs: Sequence[Tensor]
    shared: Sequence[bool]
    formula: Peer
    peers: dict[str, Peer]
    directions: Sequence[str]
    operations: dict[str, float]
    """By direction, without those whose operations depend on the implementation."""

    def exact(self) -> Exact:
        """The reference in float64."""
        return Exact(self.formula, self.inputs, self.shared)


def cells(
    kernel: str,
    variants: Iterable[str],
    d: int,
    lengths: Iterable[int] = LENGTHS,
    dtype: str = "float16",
) -> list[Cell]:
    """Cells of one kernel and head size, the shortest first."""
    return [Cell(kernel, variant, dtype, d, n) for n in lengths for variant in variants]


SLICES: dict[str, list[Cell]] = {
    "attention-128": cells("attention", ("full", "causal"), 128),
    "attention-64": cells("attention", ("full", "causal"), 64),
    "symplectic-64": cells("symplectic", ("general", "symmetric"), 64),
    "symplectic-128": cells("symplectic", ("general", "symmetric"), 128),
    "bfloat16": cells("attention", ("full", "causal"), 128, (4096, 16384), "bfloat16"),
    "attention-256": cells("attention", ("full", "causal"), 256, (4096, 16384)),
    "grouped": cells("attention", ("grouped causal",), 128, (4096, 16384)),
    "passes": cells("passes", ("full", "causal"), 128, (4096, 16384)),
    "decode": cells("decode", ("one query",), 128, (1024, 4096, 16384, 65536)),
}
"""The most important first."""


def prepare(cell: Cell, device: str = "cuda", shrink: int = 1) -> Case:
    """Inputs, formula and peers of a cell; ``shrink`` divides tokens and batch, for tests."""
    torch.manual_seed(0)
    small = replace(cell, tokens=max(1, cell.tokens // shrink))
    make: Callable[..., Case] = {
        "attention": attention_case,
        "decode": decode_case,
        "passes": passes_case,
        "symplectic": symplectic_case,
    }[cell.kernel]
    dtype = getattr(torch, cell.dtype)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make(small, normal, max(1, IN_A_BATCH // shrink**2 // small.tokens))


# Attention -------------------------------------------------------------------------------------


def attention_case(cell: Cell, normal: Callable[..., Tensor], batch: int) -> Case:
    """(batch, heads, tokens, d): full, causal, or causal with fewer heads of keys and values."""
    heads = D_MODEL // cell.d
    grouped, causal = cell.variant.startswith("grouped"), cell.variant.endswith("causal")
    kv_heads = heads // SHARE if grouped else heads
    inputs = [normal(batch, h, cell.tokens, cell.d) for h in (heads, kv_heads, kv_heads)]
    work = 4 * inputs[0].numel() * cell.tokens / (2 if causal else 1)
    return Case(
        inputs,
        (False, False, False),
        lambda *x: exact_attention(*x, causal=causal),
        attention_peers(inputs[0], causal=causal, grouped=grouped),
        DIRECTIONS,
        {"forward": work, "backward": 2.5 * work},
    )


def decode_case(cell: Cell, normal: Callable[..., Tensor], batch: int) -> Case:  # noqa: ARG001
    """One new query for each of ``TEXTS``, with a cache of grouped keys and values."""
    from course_lib.kernels import flash_decoding

    heads = D_MODEL // cell.d
    query = normal(TEXTS, heads, 1, cell.d)
    key, value = (normal(TEXTS, heads // SHARE, cell.tokens, cell.d) for _ in range(2))
    peers = attention_peers(query, causal=False, grouped=True)
    peers.pop("torch efficient", None)
    peers |= {OURS: flash_decoding, f"{OURS}, one part": peers[OURS]}
    return Case(
        (query, key, value),
        (False, False, False),
        lambda *x: exact_attention(*x, causal=False),
        peers,
        ("forward",),
        {},
    )


def passes_case(cell: Cell, normal: Callable[..., Tensor], batch: int) -> Case:
    """Backward in one pass, with atomic additions to query gradients, against two passes."""
    case = attention_case(cell, normal, batch)
    causal = cell.variant == "causal"
    peers: dict[str, Peer] = {
        OURS: case.peers[OURS],
        f"{OURS}, two passes": lambda *inputs: SameBits.apply(causal, *inputs),
    }
    return replace(case, peers=peers, directions=("backward",))


class SameBits(torch.autograd.Function):
    """Our attention with the deterministic backward."""

    @staticmethod
    def forward(ctx: Any, causal: bool, *inputs: Tensor) -> Tensor:  # noqa: FBT001 - autograd's way
        """The output."""
        import course_lib.kernels  # noqa: F401 - registers the operators

        ctx.options = {"causal": causal, "scale": inputs[0].shape[-1] ** -0.5}
        kept = torch.ops.course_lib.flash_attention(*inputs, **ctx.options)
        ctx.save_for_backward(*inputs, *kept)
        return kept[0]

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients, in two passes."""
        torch.use_deterministic_algorithms(mode=True)
        try:
            backward = torch.ops.course_lib.flash_attention_backward
            return None, *backward(upstream, *ctx.saved_tensors, **ctx.options)
        finally:
            torch.use_deterministic_algorithms(mode=False)


def attention_peers(like: Tensor, *, causal: bool, grouped: bool) -> dict[str, Peer]:
    """The implementations of attention, by name."""
    from course_lib.attention import attention, causal_mask
    from course_lib.kernels import flash_attention

    tokens, device = like.shape[-2], like.device
    mask = causal_mask(tokens, device=device) if causal else None

    def fused(backend: SDPBackend) -> Peer:
        def peer(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(
                    query, key, value, is_causal=causal, enable_gqa=grouped
                )

        return peer

    peers: dict[str, Peer] = {
        OURS: lambda q, k, v: flash_attention(q, k, v, causal=causal),
        "reference": lambda q, k, v: attention(q, k, v, mask=mask, grouped=grouped),
    }
    if not like.is_cuda:
        return peers
    return peers | {
        "torch flash": fused(SDPBackend.FLASH_ATTENTION),
        "torch cuDNN": fused(SDPBackend.CUDNN_ATTENTION),
        "torch efficient": fused(SDPBackend.EFFICIENT_ATTENTION),
        "FlexAttention": flex(tokens, causal=causal, grouped=grouped),
    }


def flex(tokens: int, *, causal: bool, grouped: bool) -> Peer:
    """PyTorch's compiler for attention, compiled at its first call."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled: list[Peer] = []

    def peer(*inputs: Tensor) -> Tensor:
        if not compiled:
            torch.compiler.reset()
            block_mask = None
            if causal:
                block_mask = create_block_mask(
                    lambda _batch, _head, query, key: query >= key, None, None, tokens, tokens
                )
            run = torch.compile(flex_attention, dynamic=False)
            compiled.append(lambda *x: run(*x, block_mask=block_mask, enable_gqa=grouped))
        return compiled[0](*inputs)

    return peer


def exact_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """The formula, for float64 inputs."""
    score = query @ key.mT / math.sqrt(query.shape[-1])
    if causal:
        future = torch.ones(score.shape[-2:], dtype=torch.bool, device=score.device).triu(1)
        score = score.masked_fill(future, -math.inf)
    return score.softmax(dim=-1) @ value


# Symplectic attention --------------------------------------------------------------------------


def symplectic_case(cell: Cell, normal: Callable[..., Tensor], batch: int) -> Case:
    """Windows (batch, tokens, d) that share A, with scores of about 1."""
    z = normal(batch, cell.tokens, cell.d)
    A = normal(cell.d, cell.d).float() / cell.d
    A = ((A + A.mT) / 2 if cell.variant == "symmetric" else A).to(z.dtype)
    # Forward, the formula's three products of a tokens × tokens with a tokens × d array. Backward,
    # the number of products depends on the peer, so only times compare.
    return Case(
        (z, A),
        (False, True),
        formula,
        symplectic_peers(z, symmetric=cell.variant == "symmetric"),
        DIRECTIONS,
        {"forward": 6 * z.numel() * cell.tokens},
    )


def symplectic_peers(like: Tensor, *, symmetric: bool) -> dict[str, Peer]:
    """The implementations of the gradient of the vector-softmax potential, by name."""
    from course_lib.kernels import symplectic_flash

    peers: dict[str, Peer] = {
        OURS: lambda z, A: symplectic_flash(z, A, symmetric=symmetric),
        "eager": formula,
        "autograd": by_autograd,
    }
    if like.is_cuda:
        torch.compiler.reset()
        peers["compiled"] = torch.compile(formula, dynamic=False)
    return peers


def log_partition(score: Tensor) -> Tensor:
    """The logarithm of 1 + the sum of exponentials of each column."""
    return F.pad(score, (0, 0, 1, 0)).logsumexp(dim=-2, keepdim=True)


def formula(z: Tensor, A: Tensor) -> Tensor:
    """The gradient as in lecture 12: S Z Aᵀ + Sᵀ Z A."""
    right = z @ A
    score = right @ z.mT
    S = (score - log_partition(score)).exp()
    return S @ (z @ A.mT) + S.mT @ right


def by_autograd(z: Tensor, A: Tensor) -> Tensor:
    """The gradient as PyTorch derives it from the potential."""
    differentiated_later = torch.is_grad_enabled()
    with torch.enable_grad():
        x = z if z.requires_grad and differentiated_later else z.detach().requires_grad_()
        potential = log_partition(x @ A @ x.mT).sum(dtype=torch.float32)
        return torch.autograd.grad(potential, x, create_graph=differentiated_later)[0]
