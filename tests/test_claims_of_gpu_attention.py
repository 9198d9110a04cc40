"""Each claim of lecture 15 holds for the library and falls to an implementation that is wrong."""

import importlib
import math

import pytest
import torch
from claims import check, claims
from torch import Tensor

from course_lib import attention as formula
from course_lib import symplectic
from course_lib import tiled_attention as library
from course_lib.tiled_attention import Partial

pytestmark = pytest.mark.slow
LECTURE = "15_gpu_attention"
ON_GPU = torch.cuda.is_available()
with pytest.MonkeyPatch.context() as patch:  # kernels learn where they run when they are imported
    if not ON_GPU:
        patch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton", reason="Triton is made for Linux")
    kernels = importlib.import_module("course_lib.kernels")


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")


# Counts ------------------------------------------------------------------------------------------


def half_the_flops(query: int, key: int, d: int) -> int:
    """A multiplication and its addition are one."""
    return library.attention_flops(query, key, d) // 2


def written_once(query: int, key: int, d: int, *, bytes_each: int) -> int:
    """Nobody reads back what was written."""
    whole = library.naive_bytes(query, key, d, bytes_each=bytes_each)
    return whole - 2 * bytes_each * query * key


# Reports -----------------------------------------------------------------------------------------


def added(first: Partial, second: Partial) -> Partial:
    """No side shrinks."""
    larger = torch.maximum(first.maximum, second.maximum)
    return Partial(larger, first.total + second.total, first.output + second.output)


def in_the_first_unit(first: Partial, second: Partial) -> Partial:
    """The maximum of the first report stays, whatever the second brings."""
    grow = (second.maximum - first.maximum).exp()
    output = first.output + grow[..., None] * second.output
    return Partial(first.maximum, first.total + grow * second.total, output)


def rounded(first: Partial, second: Partial) -> Partial:
    """The second report comes in half precision: the order matters."""
    return library.merge(first, Partial(*(x.half().to(x.dtype) for x in second)))


def forgotten_values(first: Partial, second: Partial) -> Partial:
    """The total shrinks, the output does not."""
    merged = library.merge(first, second)
    return merged._replace(output=first.output + second.output)


def undivided(partial: Partial) -> Tensor:
    return partial.output


def unscaled(query: Tensor, key: Tensor, value: Tensor, *, scale: float = 1.0) -> Partial:
    return library.partial_attention(query, key, value, scale=scale)


def never_subtracted(query: Tensor, key: Tensor, value: Tensor) -> Partial:
    weight = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    return Partial(0 * weight[:, 0], weight.sum(-1), weight @ value)


def mean_for_maximum(query: Tensor, key: Tensor, value: Tensor) -> Partial:
    score = query @ key.mT / math.sqrt(query.shape[-1])
    level = score.mean(-1)
    weight = (score - level[:, None]).exp()
    return Partial(level, weight.sum(-1), weight @ value)


# Tiles and parts ---------------------------------------------------------------------------------


def whole_table(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, **tiles: int) -> Tensor:
    del tiles
    ahead = torch.ones(len(query), len(key), dtype=torch.bool).tril(len(key) - len(query))
    return formula.attention(query, key, value, mask=ahead if causal else None)


def without_a_mask(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, **tiles) -> Tensor:
    del causal
    return library.tiled_attention(query, key, value, **tiles)


def first_sees_first(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, **tiles) -> Tensor:
    """The first query, not the last, is beside the first key."""
    if causal:
        key, value = key[: len(query)], value[: len(query)]
    return library.tiled_attention(query, key, value, causal=causal, **tiles)


def whole_tiles_alone(
    query: Tensor, key: Tensor, value: Tensor, *, query_tile: int, key_tile: int, causal: bool
) -> Tensor:
    """Keys in the last, ragged tile are forgotten."""
    if not causal and len(key) > key_tile:
        key, value = (x[: len(key) // key_tile * key_tile] for x in (key, value))
    tiles = {"query_tile": query_tile, "key_tile": key_tile}
    return library.tiled_attention(query, key, value, causal=causal, **tiles)


def mean_of_outputs(query: Tensor, key: Tensor, value: Tensor, *, parts: int) -> Tensor:
    dealt = zip(key.tensor_split(parts), value.tensor_split(parts), strict=True)
    found = [formula.attention(query, *part) for part in dealt if len(part[0])]
    return torch.stack(found).mean(0)


def not_dealt(query: Tensor, key: Tensor, value: Tensor, *, parts: int) -> Tensor:
    return library.flash_decoding(query, key, value, parts=min(parts, 1))


def equal_parts(query: Tensor, key: Tensor, value: Tensor, *, parts: int) -> Tensor:
    """The keys that are left when all have the same number are forgotten."""
    even = max(1, len(key) // parts) * parts
    return library.flash_decoding(query, key[:even], value[:even], parts=parts)


# Kernels -----------------------------------------------------------------------------------------


def flash(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False, scale: float | None = None
) -> Tensor:
    """Attention by the formula, as a kernel is called."""
    seen = torch.ones(query.shape[-2], key.shape[-2], device=query.device)
    seen = seen.tril(key.shape[-2] - query.shape[-2]).bool() if causal else None
    return formula.attention(query, key, value, mask=seen, scale=scale)


def flash_without_a_mask(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    del causal
    return flash(query, key, value)


def flash_without_a_scale(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    return flash(query, key, value, causal=causal, scale=1.0)


def flash_of_whole_tiles(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """Keys after the last sixteen that fill a tile are forgotten."""
    if causal or key.shape[-2] < 16:
        return flash(query, key, value, causal=causal)
    even = key.shape[-2] // 16 * 16
    return flash(query, key[..., :even, :], value[..., :even, :])


def flash_in_half(query: Tensor, key: Tensor, value: Tensor, *, causal: bool) -> Tensor:
    """Weights and products in half precision, even if the inputs have more."""
    halves = (x.to(torch.bfloat16) for x in (query, key, value))
    return flash(*halves, causal=causal).to(query.dtype)


class Detached(torch.autograd.Function):
    """The kernel, with a gradient for the values alone."""

    @staticmethod
    def forward(ctx, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, value)
        return kernels.flash_attention(query, key, value)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, _ = ctx.saved_tensors
        weights = formula.attention_weights(query, key)
        return 0 * query, 0 * key, weights.mT @ gradient


class Trembling(torch.autograd.Function):
    """Gradients that add up in another order each time."""

    @staticmethod
    def forward(ctx, *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs)
        return kernels.flash_attention(*inputs)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, ...]:
        with torch.enable_grad():
            inputs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
            found = torch.autograd.grad(kernels.flash_attention(*inputs), inputs, gradient)
        return tuple(x * (1 + 1e-7 * torch.randn_like(x)) for x in found)


def vector(z: Tensor, A: Tensor) -> Tensor:
    return symplectic.symplectic_attention(z, A, softmax="vector")


def without_the_one(z: Tensor, A: Tensor) -> Tensor:
    """Each column's softmax without its entry for nothing."""
    S = (z @ A @ z.mT).softmax(-2)
    return S @ z @ A.mT + S.mT @ z @ A


def one_term_doubled(z: Tensor, A: Tensor) -> Tensor:
    score = z @ A @ z.mT
    S = score.exp() / (1 + score.exp().sum(-2, keepdim=True))
    return 2 * S.mT @ z @ A


def symmetric_alone(z: Tensor, A: Tensor) -> Tensor:
    """The transpose in the first term is forgotten."""
    score = z @ A @ z.mT
    S = score.exp() / (1 + score.exp().sum(-2, keepdim=True))
    return (S + S.mT) @ z @ A


def first_query_skipped(*arguments: int, **tiles: int) -> list:
    return library.tile_plan(*arguments, **tiles)[1:] or [(slice(0, 1), [slice(0, 1)])]


def last_keys_skipped(*arguments: int, **tiles: int) -> list:
    plan = library.tile_plan(*arguments, **tiles)
    return [(rows, columns[:-1] or columns) for rows, columns in plan]


WRONG = {
    "an operation for two": ("prop-intensity", {"attention_flops": half_the_flops}),
    "a table that nobody reads": ("prop-intensity", {"naive_bytes": written_once}),
    "a merge that shrinks nothing": ("prop-merge", {"merge": added}),
    "a merge in the first unit": ("prop-merge", {"merge": in_the_first_unit}),
    "a merge that rounds one side": ("prop-merge", {"merge": rounded}),
    "a merge that shrinks the total alone": ("prop-merge", {"merge": forgotten_values}),
    "no division": ("prop-merge", {"finish": undivided}),
    "no scale": ("prop-merge", {"partial_attention": unscaled}),
    "nothing subtracted": ("prop-bounded", {"partial_attention": never_subtracted}),
    "the mean subtracted": ("prop-bounded", {"partial_attention": mean_for_maximum}),
    "a merge without bounds": ("prop-bounded", {"merge": in_the_first_unit}),
    "the whole table": ("prop-tiles", {"tiled_attention": whole_table}),
    "tiles without a mask": ("prop-tiles", {"tiled_attention": without_a_mask}),
    "a diagonal from the first key": ("prop-tiles", {"tiled_attention": first_sees_first}),
    "whole tiles alone": ("prop-tiles", {"tiled_attention": whole_tiles_alone}),
    "the mean of outputs": ("prop-decoding", {"flash_decoding": mean_of_outputs}),
    "one program for all keys": ("prop-decoding", {"flash_decoding": not_dealt}),
    "equal parts alone": ("prop-decoding", {"flash_decoding": equal_parts}),
    "parts that add up wrongly": ("prop-decoding", {"merge": added}),
    "a kernel without a mask": ("prop-flash-kernel", {"flash_attention": flash_without_a_mask}),
    "a kernel without a scale": ("prop-flash-kernel", {"flash_attention": flash_without_a_scale}),
    "a kernel of whole tiles": ("prop-flash-kernel", {"flash_attention": flash_of_whole_tiles}),
    "a kernel in half": ("prop-flash-kernel", {"flash_attention": flash_in_half}),
    "a plan without the first tile": ("prop-backward", {"tile_plan": first_query_skipped}),
    "a plan without the last keys": ("prop-backward", {"tile_plan": last_keys_skipped}),
    "a log-sum-exp of half the keys": ("prop-backward", {"merge": added}),
    "gradients for values alone": ("prop-flash-backward", {"flash_attention": Detached.apply}),
    "gradients that tremble": ("prop-flash-backward", {"flash_attention": Trembling.apply}),
    "a table for backward": ("prop-flash-backward", {"flash_attention": flash}),
    "a phantom that is merged wrongly": ("prop-phantom", {"merge": added}),
    "the scale of attention": (
        "prop-phantom",
        {"partial_attention": lambda q, k, v, **_: library.partial_attention(q, k, v)},
    ),
    "no phantom": ("prop-symplectic-kernel", {"symplectic_flash": without_the_one}),
    "one term": ("prop-symplectic-kernel", {"symplectic_flash": one_term_doubled}),
    "right if symmetric": ("prop-symplectic-kernel", {"symplectic_flash": symmetric_alone}),
    "a table in the layer": ("prop-symplectic-kernel", {"symplectic_flash": vector}),
    "a gradient of another energy": (
        "prop-symplectic-kernel",
        {"symplectic_attention": lambda z, A, **_: symplectic.symplectic_attention(z, A)},
    ),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library(label: str) -> None:
    check(LECTURE, label, {})


@pytest.mark.parametrize("case", WRONG)
def test_a_claim_falls_to_a_wrong_implementation(case: str) -> None:
    label, wrong = WRONG[case]
    with pytest.raises(AssertionError):
        check(LECTURE, label, wrong)


def test_every_claim_falls_to_something() -> None:
    assert {label for label, _ in WRONG.values()} == set(claims(LECTURE))
