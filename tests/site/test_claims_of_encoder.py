"""Each claim of lecture 6 holds for the library and falls to an implementation that is wrong."""

from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib import transformer
from course_lib.attention import causal_mask
from course_lib.models import deep_stacks
from course_lib.models.words import spelling
from course_lib.support.training import seed
from course_lib.transformer import MaskedLanguageModel, Residual
from course_lib.transformer import masked as masked_language_model
from course_lib.transformer import modern as modern_block

pytestmark = pytest.mark.slow

LECTURE = "06_encoder"


def shaken(kind: type = MaskedLanguageModel) -> MaskedLanguageModel:
    """Two blocks with random weights, whose output depends on all visible tokens."""
    seed(0)
    size = len(spelling.LETTERS)
    model = kind(size, 16, heads=2, layers=2, tokens=spelling.LONGEST, position="rotary")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    return model


WORDS = spelling.dictionary_words()[: spelling.HELD_OUT + 20_000]
IDS, REAL = spelling.ids_of_words(WORDS)
LIBRARY = {
    **vars(deep_stacks),
    **vars(transformer),
    **vars(masked_language_model),
    **vars(modern_block),
    **vars(spelling),
    "Residual": Residual,
    "causal_mask": causal_mask,
    "deepcopy": deepcopy,
    "ids": IDS,
    "valid": REAL,
    "speller": shaken(),
    "large": shaken(),
    "normed": lambda x: F.layer_norm(x, x.shape[-1:]),
    "exact": lambda x: F.layer_norm(x, x.shape[-1:], eps=0.0),
}


class NormInside(Residual):
    """Post-norm that norms the layer's output instead of the sum; pre-norm is right."""

    def forward(self, x: Tensor, layer: nn.Module) -> Tensor:
        return super().forward(x, layer) if self.pre else x + self.norm(layer(x))


def layer_norm_of(*, centre: bool = True, correction: int = 0) -> object:
    def layer_norm(x: Tensor, _: object, eps: float = 1e-5) -> Tensor:
        variance = x.var(-1, keepdim=True, correction=correction)
        mean = x.mean(-1, keepdim=True) if centre else 0
        return (x - mean) / (variance + eps).sqrt()

    return lambda x: layer_norm(x, x.shape[-1:], eps=0.0)


class Unbiased(transformer.EncoderBlock):
    def __init__(self, *sizes: int, **options: object) -> None:
        super().__init__(*sizes, **options)
        self.mlp.expand.bias = None


class SeesPadding(MaskedLanguageModel):
    def forward(self, ids: Tensor, *, valid: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(ids)


def always_masked(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
    _, hidden = masked_language_model.hide(ids, **options)
    return ids.masked_fill(hidden, options["mask"]), hidden


class WithMean(modern_block.RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean(-1, keepdim=True))


class Unnormed(MaskedLanguageModel):
    def logit_lens(self, ids: Tensor, *, valid: Tensor | None = None) -> Tensor:
        return self.stream(ids, valid=valid) @ self.embedding.token.weight.T


def bare(_: str, layers: int, d: int) -> nn.Sequential:
    return deep_stacks.deep_stack("bare", layers, d)


WRONG = {
    "no way around": ("prop-way-around", {"deep_stack": bare}),
    "a norm of what is added": ("prop-loud", {"Residual": NormInside}),
    "variance of a sample": (
        "prop-layer-norm",
        {"F": SimpleNamespace(layer_norm=lambda x, _, eps: layer_norm_of(correction=1)(x))},  # noqa: ARG005
    ),
    "a clear way with post-norm": ("prop-clear", {"Residual": NormInside}),
    "no bias": ("prop-size", {"EncoderBlock": Unbiased}),
    "padding in sight": ("prop-padding", {"speller": shaken(SeesPadding)}),
    "always the mask": ("prop-fate", {"hide": always_masked}),
    "nothing masked": ("prop-both-sides", {"hide": lambda ids, **_: (ids, ids >= 0)}),
    "a mean taken away": ("prop-modern", {"RMSNorm": WithMean}),
    "no norm in the lens": ("prop-lens", {"large": shaken(Unnormed)}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, lambda: LIBRARY)
