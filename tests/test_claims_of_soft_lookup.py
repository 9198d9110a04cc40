"""Each claim of lecture 1 holds for the library and falls to an implementation that is wrong."""

import math
from types import SimpleNamespace

import pytest
from claims import check, claims
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention as library

pytestmark = pytest.mark.slow
LECTURE = "01_soft_lookup"


def blend(weights: Tensor, x: Tensor) -> Tensor:
    return (weights[..., None, :] @ x)[..., 0, :]


# A memory of fixed size --------------------------------------------------------------------------


def averaged(x: Tensor, decay: float) -> Tensor:
    return library.composite_memory(x, decay) / x.shape[-2]


def median(x: Tensor, decay: float) -> Tensor:
    del decay
    return len(x) * x.median(-2).values


def oldest_first(x: Tensor, decay: float) -> Tensor:
    return library.composite_memory(x.flip(-2), decay)


def faded_at_once(x: Tensor, decay: float) -> Tensor:
    """The last guest has faded by one step already."""
    return decay * library.composite_memory(x, decay)


def without_fading(x: Tensor, decay: float) -> Tensor:
    del decay
    return x.sum(-2)


def straight_gate(x: Tensor, gate: Tensor) -> Tensor:
    """A ramp from 0 to 1 in place of the logistic function."""
    return blend((gate / 4 + 0.5).clamp(0, 1), x)


def competing_gate(x: Tensor, gate: Tensor) -> Tensor:
    return blend(gate.softmax(-1), x)


def gate_of_differences(x: Tensor, gate: Tensor) -> Tensor:
    """A gate that opens for those above the mean of the party."""
    return library.gated_memory(x, gate - gate.mean(-1, keepdim=True))


def shares_of_gates(x: Tensor, score: Tensor) -> Tensor:
    gate = score.sigmoid()
    return blend(gate / gate.sum(-1, keepdim=True), x)


def shares_of_sizes(x: Tensor, score: Tensor) -> Tensor:
    return blend(score.abs() / score.abs().sum(-1, keepdim=True), x)


def warmer(x: Tensor, score: Tensor) -> Tensor:
    return library.pooled_memory(x, score / 2)


def undivided(x: Tensor, score: Tensor) -> Tensor:
    return blend(score.exp(), x)


# Attention ---------------------------------------------------------------------------------------


def divided_by_scale(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    return library.attention_weights(query, key, scale=1 / scale)


def always_scaled(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    del scale
    return library.attention_weights(query, key)


def cosine(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    return library.attention_weights(query, F.normalize(key, dim=-1), scale=scale)


def far_is_near(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    return library.attention_weights(-query, key, scale=scale)


def without_bias(query: Tensor, key: Tensor, value: Tensor, **options: Tensor) -> Tensor:
    return library.attention(query, key, value, **options | {"bias": None})


def bias_scaled_too(query: Tensor, key: Tensor, value: Tensor, **options: Tensor) -> Tensor:
    bias = options.get("bias")
    scaled = None if bias is None else bias / math.sqrt(query.shape[-1])
    return library.attention(query, key, value, **options | {"bias": scaled})


def by_root(query: Tensor, key: Tensor, value: Tensor, **options: Tensor) -> Tensor:
    return library.attention(query, key, value, **options | {"scale": None})


def unequal_lengths(x: Tensor, dim: int) -> Tensor:
    """A normalisation that forgets the root of the sum of squares."""
    return x / x.square().sum(dim, keepdim=True)


WRONG = {
    "a mean for the sum": ("prop-composite", {"composite_memory": averaged}),
    "a median for the sum": ("prop-composite", {"composite_memory": median}),
    "the oldest first": ("prop-forgetting", {"composite_memory": oldest_first}),
    "faded at once": ("prop-forgetting", {"composite_memory": faded_at_once}),
    "no fading": ("prop-forgetting", {"composite_memory": without_fading}),
    "a straight gate": ("prop-gate", {"gated_memory": straight_gate}),
    "gates that compete": ("prop-gate", {"gated_memory": competing_gate}),
    "a gate that compares": ("prop-gate", {"gated_memory": gate_of_differences}),
    "a threshold that chooses": ("prop-threshold", {"gated_memory": competing_gate}),
    "no choice at all": ("prop-threshold", {"pooled_memory": library.gated_memory}),
    "shares of gates": ("prop-softmax", {"pooled_memory": shares_of_gates}),
    "shares of sizes": ("prop-softmax", {"pooled_memory": shares_of_sizes}),
    "another temperature": ("prop-softmax", {"pooled_memory": warmer}),
    "a softmax without its sum": ("prop-softmax", {"pooled_memory": undivided}),
    "gates that are shares": ("prop-softmax", {"gated_memory": competing_gate}),
    "outside by a missing sum": ("prop-hull", {"pooled_memory": undivided}),
    "gates inside": ("prop-hull", {"gated_memory": competing_gate}),
    "a composite inside": ("prop-hull", {"composite_memory": averaged}),
    "temperature for its inverse": ("prop-hard", {"attention_weights": divided_by_scale}),
    "one temperature": ("prop-hard", {"attention_weights": always_scaled}),
    "cosine for the score": ("prop-hard", {"attention_weights": cosine}),
    "the worst key": ("prop-hard", {"attention_weights": far_is_near}),
    "squares for lengths": (
        "prop-similarity",
        {"F": SimpleNamespace(normalize=unequal_lengths, cosine_similarity=F.cosine_similarity)},
    ),
    "attention by cosine": ("prop-similarity", {"attention_weights": cosine}),
    "no bias": ("prop-kernel", {"attention": without_bias}),
    "a scaled bias": ("prop-kernel", {"attention": bias_scaled_too}),
    "the scale of a transformer": ("prop-kernel", {"attention": by_root}),
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
