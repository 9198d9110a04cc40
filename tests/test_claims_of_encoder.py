"""Each claim of lecture 6 holds for the library and falls to an implementation that is wrong."""

from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from claims import check, claims
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib import deep_stacks, masked_language_model, modern_block, spelling, transformer
from course_lib.attention import causal_mask
from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.training import seed
from course_lib.transformer_parts import Residual

LECTURE = "06_encoder"


def shaken(kind: type = MaskedLanguageModel) -> MaskedLanguageModel:
    """Two blocks with random weights, whose output depends on all that they see."""
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
    "real": REAL,
    "speller": shaken(),
    "large": shaken(),
    "normed": lambda x: F.layer_norm(x, x.shape[-1:]),
    "exact": lambda x: F.layer_norm(x, x.shape[-1:], eps=0.0),
}


class WayTwice(deep_stacks.StackedLayer):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x + self.f(x)


class NormOnTheWay(Residual):
    """Pre-norm that adds to the normed token; post-norm as it should be."""

    def forward(self, x: Tensor, layer: nn.Module) -> Tensor:
        if not self.pre:
            return super().forward(x, layer)
        normed = self.norm(x)
        return normed + layer(normed)


class NormInside(Residual):
    """Post-norm that norms what the layer gives and not the sum; pre-norm as it should be."""

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
    def forward(self, ids: Tensor, *, real: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(ids)


def hide_with(**changed: object) -> object:
    def wrong(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
        return masked_language_model.hide(ids, **options | changed)

    return wrong


def always_masked(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
    _, hidden = masked_language_model.hide(ids, **options)
    return ids.masked_fill(hidden, options["mask"]), hidden


def masks_at_random(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
    """The random ids are drawn from all, the mask among them."""
    seen, hidden = masked_language_model.hide(ids, **options)
    shown = hidden & (seen != options["mask"])
    odd = shown & (torch.rand(ids.shape) < 0.5)
    other = torch.randint(options["vocabulary"], ids.shape)
    return torch.where(odd, other, torch.where(shown, ids, seen)), hidden


def leaves_a_trace(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
    seen, hidden = masked_language_model.hide(ids, **options)
    seen = seen.clone()
    seen[..., 0] = torch.where(seen[..., 3] == options["mask"], ids[..., 3], seen[..., 0])
    return seen, hidden


class LeftOnly(MaskedLanguageModel):
    """An encoder that sees its left side alone."""

    def __init__(self, *sizes: int, **options: object) -> None:
        super().__init__(*sizes, **options)
        forward = self.encoder.forward

        def look_left(x: Tensor, *, mask: Tensor | None = None, **more: object) -> Tensor:
            left = causal_mask(x.shape[-2])
            return forward(x, mask=left if mask is None else mask & left, **more)

        self.encoder.forward = look_left


class WithMean(modern_block.RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean(-1, keepdim=True))


class Undivided(modern_block.RMSNorm):
    """The norm in place of the root of the mean."""

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(x, dim=-1) * self.weight


class OwnKeys(modern_block.ModernBlock):
    def __init__(self, *sizes: int, kv_heads: int, **options: object) -> None:  # noqa: ARG002
        super().__init__(*sizes, kv_heads=sizes[1], **options)


class AllWork(modern_block.MixtureOfExperts):
    """The shares are as they should be, and yet every expert is asked."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 0.01 * sum(expert(x) for expert in self.experts)


class Unnormed(MaskedLanguageModel):
    def logit_lens(self, ids: Tensor, *, real: Tensor | None = None) -> Tensor:
        return self.stream(ids, real=real) @ self.embedding.token.weight.T


class OneLate(MaskedLanguageModel):
    def logit_lens(self, ids: Tensor, *, real: Tensor | None = None) -> Tensor:
        found = super().logit_lens(ids, real=real)
        return torch.cat([found[1:], found[-1:]])


def stack_of(kind: type) -> object:
    return lambda _, layers, d: nn.Sequential(*(kind("way around only", d) for _ in range(layers)))


def bare(_: str, layers: int, d: int) -> nn.Sequential:
    return deep_stacks.deep_stack("bare", layers, d)


WRONG = {
    "no way around": ("prop-way-around", {"deep_stack": bare}),
    "the way twice": ("prop-way-around", {"deep_stack": stack_of(WayTwice)}),
    "a norm on the way": ("prop-loud", {"Residual": NormOnTheWay}),
    "a norm of what is added": ("prop-loud", {"Residual": NormInside}),
    "variance of a sample": (
        "prop-layer-norm",
        {"F": SimpleNamespace(layer_norm=lambda x, _, eps: layer_norm_of(correction=1)(x))},  # noqa: ARG005
    ),
    "mean left in": (
        "prop-layer-norm",
        {"F": SimpleNamespace(layer_norm=lambda x, _, eps: layer_norm_of(centre=False)(x))},  # noqa: ARG005
    ),
    "a way that is not clear": ("prop-clear", {"Residual": NormOnTheWay}),
    "a clear way with post-norm": ("prop-clear", {"Residual": NormInside}),
    "no bias": ("prop-size", {"EncoderBlock": Unbiased}),
    "padding in sight": ("prop-padding", {"speller": shaken(SeesPadding)}),
    "always the mask": ("prop-fate", {"hide": always_masked}),
    "the mask among the random ids": ("prop-fate", {"hide": masks_at_random}),
    "padding chosen": ("prop-fate", {"hide": hide_with(real=None)}),
    "a trace of the letter": ("prop-both-sides", {"hide": leaves_a_trace}),
    "nothing masked": ("prop-both-sides", {"hide": lambda ids, **_: (ids, ids >= 0)}),
    "one eye closed": ("prop-both-sides", {"speller": shaken(LeftOnly)}),
    "a mean taken away": ("prop-modern", {"RMSNorm": WithMean}),
    "a length of one": ("prop-modern", {"RMSNorm": Undivided}),
    "keys for each head": ("prop-modern", {"ModernBlock": OwnKeys}),
    "all experts work": ("prop-modern", {"MixtureOfExperts": AllWork}),
    "no norm in the lens": ("prop-lens", {"large": shaken(Unnormed)}),
    "one block late": ("prop-lens", {"large": shaken(OneLate)}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library(label: str) -> None:
    check(LECTURE, label, LIBRARY)


@pytest.mark.parametrize("case", WRONG)
def test_a_claim_falls_to_a_wrong_implementation(case: str) -> None:
    label, wrong = WRONG[case]
    with pytest.raises(AssertionError):
        check(LECTURE, label, LIBRARY | wrong)


def test_every_claim_falls_to_something() -> None:
    assert {label for label, _ in WRONG.values()} == set(claims(LECTURE))
