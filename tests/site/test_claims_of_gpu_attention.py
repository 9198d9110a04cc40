"""Each claim of lecture 15 holds for the library and falls to an implementation that is wrong."""

import importlib
import math
from functools import partial

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor

from course_lib import attention as formula
from course_lib import symplectic
from course_lib import tiled_attention as library
from course_lib.tiled_attention import Partial

pytestmark = pytest.mark.slow
LECTURE = "15_gpu_attention"
ON_GPU = torch.cuda.is_available()
with pytest.MonkeyPatch.context() as patch:  # kernels choose GPU or interpreter on import
    if not ON_GPU:
        patch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton", reason="Triton is made for Linux")
    kernels = importlib.import_module("course_lib.kernels")


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")


def added(first: Partial, second: Partial) -> Partial:
    """Adds outputs without rescaling either side."""
    larger = torch.maximum(first.maximum, second.maximum)
    return Partial(larger, first.total + second.total, first.output + second.output)


def never_subtracted(query: Tensor, key: Tensor, value: Tensor) -> Partial:
    weight = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    return Partial(0 * weight[:, 0], weight.sum(-1), weight @ value)


def without_a_mask(query: Tensor, key: Tensor, value: Tensor, *, causal: bool, **tiles) -> Tensor:
    del causal
    return library.tiled_attention(query, key, value, **tiles)


def not_dealt(query: Tensor, key: Tensor, value: Tensor, *, parts: int) -> Tensor:
    return library.flash_decoding(query, key, value, parts=min(parts, 1))


def flash(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False, scale: float | None = None
) -> Tensor:
    """Attention by the formula, with the signature of a kernel."""
    seen = torch.ones(query.shape[-2], key.shape[-2], device=query.device)
    seen = seen.tril(key.shape[-2] - query.shape[-2]).bool() if causal else None
    return formula.attention(query, key, value, mask=seen, scale=scale)


def vector(z: Tensor, A: Tensor) -> Tensor:
    return symplectic.symplectic_attention(z, A, softmax="vector")


def without_the_mean(query: Tensor, key: Tensor, value: Tensor, gradient: Tensor, **_: int):
    """The gradient of the weights as if a row need not sum to one."""
    score = query @ key.mT / math.sqrt(query.shape[-1])
    weight = score.softmax(-1)
    slope = weight * (gradient @ value.mT) / math.sqrt(query.shape[-1])
    return slope @ key, slope.mT @ query, weight.mT @ gradient


def with_a_table(query: Tensor, key: Tensor, value: Tensor, gradient: Tensor, **_: int):
    sizes = {"query_tile": len(query), "key_tile": len(key)}
    return library.tiled_gradients(query, key, value, gradient, **sizes)


WRONG = {
    "an operation for two": (
        "prop-intensity",
        {"attention_flops": lambda *n: library.attention_flops(*n) // 2},
    ),
    "no division": ("prop-merge", {"finish": lambda partial: partial.output}),
    "nothing subtracted": ("prop-bounded", {"partial_attention": never_subtracted}),
    "tiles without a mask": ("prop-tiles", {"tiled_attention": without_a_mask}),
    "one program for all keys": ("prop-decoding", {"flash_decoding": not_dealt}),
    "a kernel without a scale": (
        "prop-flash-kernel",
        {"flash_attention": partial(flash, scale=1.0)},
    ),
    "gradients without the mean": ("prop-backward", {"tiled_gradients": without_the_mean}),
    "gradients by a table": ("prop-backward", {"tiled_gradients": with_a_table}),
    "a table for backward": ("prop-flash-backward", {"flash_attention": flash}),
    "a phantom that is merged wrongly": ("prop-phantom", {"merge": added}),
    "a table in the layer": ("prop-symplectic-kernel", {"symplectic_flash": vector}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG)
